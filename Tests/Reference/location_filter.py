#!/usr/bin/env python3
"""An independent implementation of docs/behaviour.md, Location, as a reference for the service's filter.

    location_filter.py gpx FILE [--accuracy LEVEL] [--filter METRES] [--maximum METRES] [--no-jitter-guard]
    location_filter.py gpsd FILE.jsonl [...]

It prints the accepted fixes and the reasons of the others as JSON. It interprets points that the page leaves open:
- "last accepted" is the last delivered point, for times, speeds and distances. A gap starts at the last fix that passed
  the gate and time rules, delivered or not.
- One row of held fixes serves outOfOrder and implausible. Steps back of less than 2 s are never held. They, duplicates
  and fixes that an earlier rule rejects do not change the row. A held fix that does not follow from the previous one
  begins a new row. The first point of a <trk> or <trkseg> ends the row.
- HDOP and GST apply to fixes of their own device. The silence of a track's device is measured by the times of its
  fixes, since a file has no other clock.
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

# By level: the greatest accepted error in metres, and whether a 3D fix is required.
LEVELS = {
    "bestForNavigation": (15.0, True),
    "best": (30.0, False),
    "nearestTenMeters": (30.0, False),
    "hundredMeters": (300.0, False),
    "kilometer": (3000.0, False),
    "threeKilometers": (math.inf, False),
}
DGPS, RTK_FIXED, RTK_FLOAT = 2, 3, 4
# The ratio of the 95 % radius of a circular Gaussian to its 63 % radius: √(−2 ln 0.05) / √2.
TO_63_PERCENT = 1.731


@dataclass
class Settings:
    """The settings of a user. `filter` and `maximum` are in metres; 0 and None mean unlimited."""

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
    """A valid fix with its estimated accuracy."""

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
    """Whether movement from `earlier` to `later` is plausible. `later` must be later."""
    speed = metres(earlier, later) / ((later.time - earlier.time) / 1000)
    reported = max(earlier.fix.speed or 0.0, later.fix.speed or 0.0)
    return not (speed > 120 and speed > 1.5 * reported)


class Estimator:
    """Estimates the accuracy in metres on the scale of Core Location (63 to 68 %) from values of gpsd or a file."""

    def __init__(self):
        self.dilutions = deque(maxlen=2)
        self.noise = None

    def hear(self, report):
        if isinstance(report, Sky):
            self.dilutions.append(report)
        elif isinstance(report, Noise):
            self.noise = report

    def estimate(self, fix):
        """(metres, source), both None if unknown."""
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
    """Decides fix by fix: `feed` returns the accepted point, or the reason of the rejection as a string."""

    def __init__(self, settings=None):
        self.settings = settings or Settings()
        self.estimator = Estimator()
        self.delivered = None  # the last delivered point
        self.passed = None  # the time of the last fix that passed the gate and time rules
        self.held = []  # the row that may become a relocation
        self.must_open = True  # for the first fix, also of a <trk> or <trkseg>, which is not compared with earlier ones
        self.was_away = False  # reconnected since the last fix that passed
        self.device = None
        self.device_time = None

    def hear(self, report):
        """Processes a report that is not a fix."""
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
            # Files usually lack an accuracy; a receiver without one has a poor fix.
            if maximum is not None or (point.fix.is_live and limit < math.inf):
                return "noAccuracy"
        elif point.accuracy > limit or (maximum is not None and point.accuracy > maximum):
            return "accuracy"
        return "accuracy" if needs_3d and point.fix.mode < 3 else None

    def _time(self, point):
        """(reason or None, whether the point is accepted as the third of a row)."""
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
    """The decisions on a sequence of reports in the form that the command prints."""
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
        raise argparse.ArgumentTypeError(f"{text} is not a length in metres")
    return value


def main():
    parser = argparse.ArgumentParser(description="Run the reference of the location filter.")
    parser.add_argument("kind", choices=["gpx", "gpsd"])
    parser.add_argument("file")
    parser.add_argument("--accuracy", choices=LEVELS, default="best")
    parser.add_argument("--filter", type=length, default=0.0, metavar="METRES")
    parser.add_argument("--maximum", type=length, metavar="METRES")
    parser.add_argument("--no-jitter-guard", action="store_true")
    parser.add_argument("--start", type=milliseconds, metavar="TIME", help="time of the points before the first time of a file")
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
