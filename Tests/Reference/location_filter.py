#!/usr/bin/env python3
"""An independent implementation of docs/behaviour.md, Location, to compare the service's filter with.

    location_filter.py gpx FILE [--accuracy LEVEL] [--filter METRES] [--maximum METRES] [--no-jitter-guard]
    location_filter.py gpsd FILE.jsonl [...]

It prints which fixes are accepted and why the others are not, as JSON. Readings of what the page leaves open:
- "last accepted" is the last delivered point, for times and speeds as for distances. A gap counts from the last fix
  that passed gate and time rules, delivered or not.
- One row of held fixes serves outOfOrder and implausible. Steps back of less than 2 s are never held, and they,
  duplicates and whatever an earlier rule refused leave the row alone. A held fix that does not follow from the one
  before it begins a new row with itself. The first point of a <trk> or <trkseg> ends the row.
- HDOP and GST count for fixes of their own device. A track's device is silent by the times of its fixes, since a file
  knows no other clock.
"""

import argparse
import json
import math
import sys
import time as wall
from collections import deque
from dataclasses import dataclass

from geodesic import distance
from readings import Damage, Fix, Noise, Sky, iso, milliseconds, read_gpsd, read_gpx

# Level: accepted up to so many metres, 3D needed.
LEVELS = {
    "bestForNavigation": (15.0, True),
    "best": (30.0, False),
    "nearestTenMeters": (30.0, False),
    "hundredMeters": (300.0, False),
    "kilometer": (3000.0, False),
    "threeKilometers": (math.inf, False),
}
DGPS, RTK_FIXED, RTK_FLOAT = 2, 3, 4
# From a radius that holds 95 % of a circular Gaussian to one that holds 63 %: √(−2 ln 0.05) / √2.
TO_63_PERCENT = 1.731


@dataclass
class Settings:
    """As a user sets them; `filter` and `maximum` in metres, 0 and None are none."""

    accuracy: str = "best"
    filter: float = 0.0
    maximum: float | None = None
    jitter_guard: bool = True

    def json(self):
        return {
            "desiredAccuracy": self.accuracy,
            "distanceFilter": self.filter,
            "maximumAccuracy": self.maximum,
            "jitterGuard": self.jitter_guard,
        }


@dataclass
class Point:
    """A fix that is valid, with its estimate."""

    fix: Fix
    accuracy: float | None
    source: str | None
    opens_segment: bool = False

    @property
    def time(self):
        return self.fix.time

    def json(self):
        values = {
            "index": self.fix.index,
            "latitude": self.fix.latitude,
            "longitude": self.fix.longitude,
            "timestamp": iso(self.time),
            "mode": self.fix.mode,
            "horizontalAccuracy": self.accuracy,
            "accuracySource": self.source,
            "speed": self.fix.speed,
            "course": self.fix.course,
            "altitude": self.fix.altitude,
            "segmentStart": self.opens_segment or None,
        }
        return {name: value for name, value in values.items() if value is not None}


def metres(a, b):
    return distance(a.fix.latitude, a.fix.longitude, b.fix.latitude, b.fix.longitude)


def is_plausible(earlier, later):
    """Whether something that moves can have come from `earlier` to `later`, which must be later."""
    speed = metres(earlier, later) / ((later.time - earlier.time) / 1000)
    reported = max(earlier.fix.speed or 0.0, later.fix.speed or 0.0)
    return not (speed > 120 and speed > 1.5 * reported)


class Estimator:
    """Metres on Core Location's scale (63 to 68 %) out of what gpsd or a file states."""

    def __init__(self):
        self.dilutions = deque(maxlen=2)
        self.noise = None

    def hear(self, report):
        if isinstance(report, Sky):
            self.dilutions.append(report)
        elif isinstance(report, Noise):
            self.noise = report

    def estimate(self, fix):
        """(metres, source), both None when unknown."""
        if not fix.is_live:
            if fix.stated_accuracy:
                return fix.stated_accuracy, "file"
            return (fix.hdop * 19.0 / TO_63_PERCENT, "model") if fix.hdop else (None, None)
        noise = self.noise
        if noise and self._belongs(noise, fix) and noise.latitude and noise.longitude and noise.time is not None:
            if abs(fix.time - noise.time) <= 1500:
                return math.hypot(noise.latitude, noise.longitude), "gst"
        if fix.eph:
            if not self._is_model(fix):
                return fix.eph, "receiver"
            radius = fix.eph
        elif fix.epx and fix.epy:
            radius = math.hypot(fix.epx, fix.epy)
        else:
            return None, None
        cap = {RTK_FIXED: 1.0, RTK_FLOAT: 2.0}.get(fix.status, math.inf)
        return min(radius / TO_63_PERCENT, cap), "model"

    def _is_model(self, fix):
        unit = 4.75 if fix.status == DGPS else 19.0
        for sky in self.dilutions:
            model = unit * sky.hdop
            if self._belongs(sky, fix) and abs(fix.eph - model) <= 0.01 * model:
                return True
        # gpsd's HDOP has two decimals.
        quantum = unit / 100
        return round(fix.eph / quantum) >= 1 and abs(fix.eph - round(fix.eph / quantum) * quantum) <= 0.0006

    @staticmethod
    def _belongs(report, fix):
        return report.device is None or fix.device is None or report.device == fix.device


class LocationFilter:
    """Decides fix by fix: `feed` gives the accepted point, or the reason of the refusal as a string."""

    def __init__(self, settings=None):
        self.settings = settings or Settings()
        self.estimator = Estimator()
        self.delivered = None  # the last delivered point
        self.passed = None  # the time of the last one that passed gate and time rules
        self.held = []  # the row that may become a relocation
        self.must_open = True  # the first after start, and of a <trk> or <trkseg>: compared with nothing
        self.was_away = False  # reconnected since the last one that passed
        self.device = None
        self.device_time = None

    def hear(self, report):
        """A report that is no fix."""
        self.estimator.hear(report)

    def reconnected(self):
        self.was_away = True

    def feed(self, fix):
        if fix.is_boundary:
            self.must_open, self.held = True, []
        if reason := self._invalid(fix):
            return reason
        if self._is_foreign(fix):
            return "device"
        point = Point(fix, *self.estimator.estimate(fix))
        if reason := self._gate(point):
            return reason
        reason, is_relocation = self._time(point)
        if reason:
            return reason
        self.held = []
        point.opens_segment = self.must_open or is_relocation or self._follows_gap(point)
        self.passed, self.was_away = point.time, False
        if not point.opens_segment and (reason := self._movement(point)):
            return reason
        self.delivered, self.must_open = point, False
        if fix.device != self.device:
            self.device, self.device_time = fix.device, fix.time
        return point

    @staticmethod
    def _invalid(fix):
        if fix.mode < 2:
            return "noFix"
        latitude, longitude = fix.latitude, fix.longitude
        if latitude is None or longitude is None or abs(latitude) > 90 or abs(longitude) > 180:
            return "invalid"
        return "invalid" if fix.time is None or fix.mode > 3 else None

    def _is_foreign(self, fix):
        if self.device is None or fix.device == self.device:
            self.device_time = fix.time
            return False
        return fix.time - self.device_time < 10_000

    def _gate(self, point):
        limit, needs_3d = LEVELS[self.settings.accuracy]
        maximum = self.settings.maximum
        if point.accuracy is None:
            # A file says nothing of accuracy by nature; a receiver that does not has none.
            if maximum is not None or (point.fix.is_live and limit < math.inf):
                return "noAccuracy"
        elif point.accuracy > limit or (maximum is not None and point.accuracy > maximum):
            return "accuracy"
        return "accuracy" if needs_3d and point.fix.mode < 3 else None

    def _time(self, point):
        """(reason or None, whether it is accepted as the third of a row)."""
        if self.must_open or self.delivered is None:
            return None, False
        later = point.time - self.delivered.time
        if later == 0:
            return "duplicate", False
        if -2000 < later < 0:
            return "outOfOrder", False
        if later > 0 and is_plausible(self.delivered, point):
            return None, False
        reason = "outOfOrder" if later < 0 else "implausible"
        if self.held and point.time == self.held[-1].time:
            return reason, False
        if self.held and point.time > self.held[-1].time and is_plausible(self.held[-1], point):
            self.held.append(point)
        else:
            self.held = [point]
        return (None, True) if len(self.held) == 3 else (reason, False)

    def _follows_gap(self, point):
        if point.fix.device != self.delivered.fix.device:
            return True
        gap = point.time - self.passed
        return gap > 60_000 or (self.was_away and gap > 10_000)

    def _movement(self, point):
        settings = self.settings
        if settings.filter <= 0:
            return None
        moved = metres(self.delivered, point)
        if moved < settings.filter:
            return "distance"
        stands = point.fix.speed is None or point.fix.speed < 0.5
        guards = settings.jitter_guard and settings.accuracy != "bestForNavigation"
        a, b = self.delivered.accuracy, point.accuracy
        if not (guards and stands) or a is None or b is None:
            return None
        return "jitter" if moved <= 2 * math.hypot(a, b) else None


def run(reports, settings=None):
    """The decisions on a sequence of reports, as the object that the command prints."""
    chain = LocationFilter(settings)
    accepted, rejected = [], []
    for report in reports:
        if not isinstance(report, Fix):
            chain.hear(report)
            continue
        decision = chain.feed(report)
        if isinstance(decision, Point):
            accepted.append(decision.json())
        else:
            rejected.append({"index": report.index, "reason": decision})
    return {
        "settings": chain.settings.json(),
        "received": len(accepted) + len(rejected),
        "accepted": accepted,
        "rejected": rejected,
    }


def length(text):
    value = 0.0 if text == "none" else float(text)
    if not (math.isfinite(value) and value >= 0):
        raise argparse.ArgumentTypeError(f"{text} is no length in metres")
    return value


def main():
    parser = argparse.ArgumentParser(description="The reference of the location filter.")
    parser.add_argument("kind", choices=["gpx", "gpsd"])
    parser.add_argument("file")
    parser.add_argument("--accuracy", choices=LEVELS, default="best")
    parser.add_argument("--filter", type=length, default=0.0, metavar="METRES")
    parser.add_argument("--maximum", type=length, metavar="METRES")
    parser.add_argument("--no-jitter-guard", action="store_true")
    parser.add_argument("--start", type=milliseconds, metavar="TIME", help="of points before a file's first time")
    options = parser.parse_args()
    settings = Settings(options.accuracy, options.filter, options.maximum or None, not options.no_jitter_guard)
    start = options.start if options.start is not None else wall.time_ns() // 1_000_000
    code = 0
    try:
        reports = read_gpx(options.file, start) if options.kind == "gpx" else read_gpsd(options.file)
    except Damage as damage:
        print(f"{options.file}: {damage}", file=sys.stderr)
        reports, code = damage.fixes, 1
    json.dump(run(reports, settings), sys.stdout, indent=1, sort_keys=True)
    print()
    return code


if __name__ == "__main__":
    sys.exit(main())
