#!/usr/bin/env python3
"""Makes tracks/: four synthetic drives and walks, each with the expected decisions of the reference filter.

    make_tracks.py [DIRECTORY]        default: tracks/ of this checkout

The files are reproducible: the seeds are fixed, and Python guarantees the sequence of random.random.
"""

import json
import math
import random
import sys
from pathlib import Path
from xml.sax.saxutils import escape

import bad_fixes
from geodesic import step
from location_filter import Settings, run
from readings import OURS, iso, milliseconds, read_gpx

RUNS = {
    "default": Settings(filter=0),
    "filter": Settings(filter=10),
    "navigation": Settings("bestForNavigation", 0),
    "maximum": Settings(filter=0, maximum=10),
    "unguarded": Settings(filter=10, jitter_guard=False),
    "sparse": Settings(filter=100),
    "coarse": Settings("hundredMeters", 0),
}
# The runs that are informative for each track.
TELLING = {
    "freeway-drive": ("default", "navigation", "maximum", "sparse", "coarse"),
    "city-walk": ("default", "filter", "navigation", "maximum", "unguarded"),
    "tunnel-gap": ("default", "filter", "navigation", "maximum", "coarse"),
    "bad-fixes": ("default", "filter", "navigation", "maximum", "unguarded"),
}


class Noise:
    """A drifting error: a first-order Gauss-Markov process with a deviation and a time constant in seconds."""

    def __init__(self, chance, deviation, constant):
        self.chance, self.deviation = chance, deviation
        self.keep = math.exp(-1 / constant)
        self.value = deviation * normal(chance)

    def next(self):
        fresh = self.deviation * math.sqrt(1 - self.keep**2) * normal(self.chance)
        self.value = self.keep * self.value + fresh
        return self.value


def normal(chance):
    return math.sqrt(-2 * math.log(1 - chance.random())) * math.cos(2 * math.pi * chance.random())


class Mover:
    """A vehicle or walker that turns and changes its speed gradually, second by second."""

    def __init__(self, latitude, longitude, course, speed, agility, turning):
        self.latitude, self.longitude, self.course, self.speed = latitude, longitude, course, speed
        self.agility, self.turning = agility, turning  # seconds to reach a new speed; degrees per second
        self.travelled = 0.0

    def advance(self, speed, course):
        parts = 10
        for _ in range(parts):
            self.speed += (speed - self.speed) / self.agility / parts
            wish = math.remainder(course - self.course, 360) / 4
            self.course = (self.course + max(-self.turning, min(self.turning, wish)) / parts) % 360
            ahead, angle = self.speed / parts, math.radians(self.course)
            self.travelled += ahead
            self.latitude, self.longitude = step(
                self.latitude, self.longitude, ahead * math.sin(angle), ahead * math.cos(angle)
            )


def plan(rows, second):
    """The values of the last row (second, values...) at or before `second`."""
    return [row for row in rows if row[0] <= second][-1][1:]


# The tracks. Each is a list of points: latitude, longitude, seconds, and other values by element name.


def freeway_drive():
    """A car, 1 Hz: on to a freeway, west and then north-west along the hills, with some traffic and a few bridges."""
    chance = random.Random(37_33482105)
    golden = [(15.90, 255.94), (17.21, 255.59), (18.27, 257.34), (19.27, 257.70)]
    car = Mover(37.33482105, -122.03350886, *reversed(golden[0]), agility=9, turning=1.6)
    courses = [
        (0, 258), (16, 264), (40, 277), (75, 291), (110, 286), (150, 296), (195, 308), (240, 301), (290, 313),
        (345, 322), (385, 311), (430, 303), (480, 294), (520, 305), (575, 318), (620, 327), (670, 316), (720, 306),
        (765, 311), (810, 324), (860, 332), (905, 320), (950, 312),
    ]  # fmt: skip
    speeds = [
        (0, 23), (20, 27), (95, 28.5), (170, 26.5), (230, 29), (305, 24), (335, 19), (372, 17.5), (400, 23),
        (440, 28), (540, 27), (600, 29), (690, 25.5), (735, 22), (770, 27.5), (880, 28.5), (960, 25),
    ]  # fmt: skip
    # Second, duration, metres of error: bridges, a cutting, a long underpass.
    shadows = [(141, 3, 9), (300, 4, 13), (301, 2, 19), (470, 22, 10.5), (655, 5, 24), (656, 3, 47), (802, 3, 17)]
    east, north = Noise(chance, 0.8, 90), Noise(chance, 0.8, 90)
    first, quiet = (east.value, north.value), Noise(chance, 0.45, 40)
    points = []
    for second in range(1000):
        speed, course = golden[second] if second < len(golden) else (
            max(15.0, car.speed + 0.08 * normal(chance)), (car.course + 0.25 * normal(chance)) % 360)  # fmt: skip
        shadow = max([metres for begin, size, metres in shadows if begin <= second < begin + size], default=0)
        accuracy = 5.0 if second < 20 else max(3.8, 5.2 + quiet.next(), shadow * (1 + 0.04 * normal(chance)))
        worse = 1 if accuracy < 10 else accuracy / 8
        latitude, longitude = step(
            car.latitude, car.longitude, (east.value - first[0]) * worse, (north.value - first[1]) * worse
        )
        ground = 72 + 0.004 * car.travelled + 18 * math.sin(car.travelled / 2300) + 7 * math.sin(car.travelled / 830)
        points.append((latitude, longitude, second, {
            "ele": f"{ground:.1f}", "accuracy": f"{accuracy:.2f}", "verticalAccuracy": f"{accuracy * 1.6:.2f}",
            "speed": f"{speed:.2f}", "course": f"{course:.2f}"}))  # fmt: skip
        east.next(), north.next()
        # The first seconds are given: the car moves as reported.
        given = golden[second + 1] if second + 1 < len(golden) else None
        if given:
            car.speed, car.course = given
            car.advance(*given)
        else:
            car.advance(plan(speeds, second)[0] + 0.9 * math.sin(second / 23), plan(courses, second)[0])
    return points


def city_walk():
    """On foot, 1 Hz: four corners and three stops, errors of 5 m an axis that drift within a minute."""
    chance = random.Random(535439)
    walker = Mover(53.54387, 9.98112, 97, 1.2, agility=1.5, turning=45)
    legs = [
        (0, 97, 1.42), (135, 97, 0), (375, 97, 1.40), (490, 8, 1.45), (580, 8, 0), (760, 8, 1.38), (820, 96, 1.44),
        (920, 186, 1.35), (970, 186, 0), (1330, 186, 1.43), (1400, 274, 1.4),
    ]  # fmt: skip
    east, north, street = Noise(chance, 5, 60), Noise(chance, 5, 60), Noise(chance, 0.8, 45)
    points = []
    for second in range(1500):
        course, speed = plan(legs, second)
        latitude, longitude = step(walker.latitude, walker.longitude, east.next(), north.next())
        # Between high buildings, and once under a bridge.
        accuracy = max(5.2, 7.1 + street.next() + (4.5 if 835 <= second < 910 else 0))
        if 1360 <= second < 1368:
            accuracy += 27
        known = {"ele": f"{6.5 + 1.5 * math.sin(second / 200):.1f}", "accuracy": f"{accuracy:.2f}"}
        if speed:
            known["speed"] = f"{max(0.0, walker.speed + 0.07 * normal(chance)):.2f}"
            known["course"] = f"{(walker.course + 4 * normal(chance)) % 360:.1f}"
        elif second < 580 or second >= 970:
            # The receiver reports a small speed while standing, but none at the second stop.
            known["speed"] = f"{min(0.42, abs(0.13 * normal(chance))):.2f}"
        points.append((latitude, longitude, second, known))
        walker.advance(speed, course)
    return points


def tunnel_gap():
    """A car, 1 Hz: a long tunnel (95 s without a fix), a short one (38 s), then 75 s of fixes too poor to be used."""
    chance = random.Random(599075)
    car = Mover(59.90812, 10.72904, 84, 13, agility=8, turning=3)
    courses = [(0, 84), (90, 92), (150, 101), (290, 88), (390, 70), (450, 62), (560, 75), (650, 95), (740, 82)]
    speeds = [(0, 14), (60, 17), (120, 18.5), (300, 16), (420, 18), (520, 12), (600, 9), (690, 14)]
    # Second, and the accuracy that the receiver states from then on.
    stated = [
        (0, 4.5), (128, 7), (134, 11), (138, 16), (141, 24), (144, 38), (147, 64), (150, None), (245, 72), (247, 44),
        (249, 27), (252, 18), (256, 11), (262, 6.5), (270, 4.8), (398, 9), (402, 21), (405, None), (443, 28),
        (445, 17), (449, 8), (456, 4.6), (590, 12), (600, 26), (606, 41), (640, 55), (681, 22), (686, 9), (692, 5),
    ]  # fmt: skip
    flat = (144, 150), (245, 249)  # too few satellites for the height
    east, north, quiet = Noise(chance, 0.7, 40), Noise(chance, 0.7, 40), Noise(chance, 0.3, 30)
    points = []
    for second in range(780):
        metres = plan(stated, second)[0]
        drift, calm = (east.next(), north.next()), quiet.next()
        if metres:
            accuracy = max(3.5, metres * (1 + 0.05 * normal(chance)) + calm)
            latitude, longitude = step(car.latitude, car.longitude, *(value * accuracy / 5 for value in drift))
            known = {"fix": "3d", "accuracy": f"{accuracy:.2f}", "speed": f"{car.speed + 0.1 * normal(chance):.2f}"}
            known["course"] = f"{(car.course + 0.4 * normal(chance)) % 360:.1f}"
            if any(begin <= second < end for begin, end in flat):
                known["fix"] = "2d"
            else:
                known["ele"] = f"{9 + 6 * math.cos(car.travelled / 900):.1f}"
            points.append((latitude, longitude, second, known))
        car.advance(plan(speeds, second)[0], plan(courses, second)[0])
    return points


# Files


def trkpt(latitude, longitude, time, known):
    """One line with the elements in the order of GPX 1.1. Texts are written unchanged; None omits an attribute."""
    attributes = {"lat": latitude, "lon": longitude}
    line = "<trkpt" + "".join(f' {name}="{value}"' for name, value in attributes.items() if value is not None) + ">"
    if "ele" in known:
        line += f"<ele>{known['ele']}</ele>"
    if time is not None:
        line += f"<time>{time}</time>"
    for name in ("cmt", "fix", "hdop"):
        if name in known:
            line += f"<{name}>{escape(known[name])}</{name}>"
    ours = [name for name in ("accuracy", "verticalAccuracy", "speed", "course") if name in known]
    if ours:
        inside = "".join(f"<b:{name}>{known[name]}</b:{name}>" for name in ours)
        line += f"<extensions>{inside}</extensions>"
    return line + "</trkpt>"


def gpx(name, description, tracks):
    """A complete file from tracks, each a list of segments, each a list of lines."""
    body = "".join(
        f"<trk><name>{escape(name)}</name>\n"
        + "".join("<trkseg>\n" + "".join(line + "\n" for line in segment) + "</trkseg>\n" for segment in track)
        + "</trk>\n"
        for track in tracks
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<gpx version="1.1" creator="Backgrounder" xmlns="http://www.topografix.com/GPX/1/1"\n'
        f'     xmlns:b="{OURS}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\n'
        '     xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd">\n'
        f"<metadata><name>{escape(name)}</name><desc>{escape(description)}</desc></metadata>\n{body}</gpx>\n"
    )


def simple(name, maker, begin):
    """A file with one segment. Its description is the docstring of `maker`."""
    start = milliseconds(begin)
    lines = [
        trkpt(f"{latitude:.8f}", f"{longitude:.8f}", iso(start + second * 1000), known)
        for latitude, longitude, second, known in maker()
    ]
    return gpx(name, maker.__doc__, [[lines]])


def expected(path):
    """The decisions of the reference for each run, with one array per line."""
    compact = {"separators": (",", ":")}
    runs = []
    for name in TELLING[path.stem]:
        result = run(read_gpx(path, 0), RUNS[name])
        accepted = [point["index"] for point in result["accepted"]]
        starts = [point["index"] for point in result["accepted"] if point.get("segmentStart")]
        runs.append(
            f'{{"settings":{json.dumps(result["settings"], **compact)},"received":{result["received"]},\n'
            f'"accepted":{json.dumps(accepted, **compact)},\n"segmentStarts":{json.dumps(starts, **compact)},\n'
            f'"rejected":{json.dumps(result["rejected"], **compact)}}}'
        )
    return f'{{"track":"{path.name}","runs":[\n' + ",\n".join(runs) + "\n]}\n"


def files():
    """Name and text of each track."""
    return {
        "freeway-drive.gpx": simple("Freeway drive", freeway_drive, "2014-12-22T04:05:13Z"),
        "city-walk.gpx": simple("City walk", city_walk, "2026-05-09T09:30:00Z"),
        "tunnel-gap.gpx": simple("Tunnel and gap", tunnel_gap, "2026-03-14T17:12:40Z"),
        "bad-fixes.gpx": gpx("Bad fixes", bad_fixes.__doc__, bad_fixes.tracks(trkpt)),
    }


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "tracks"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        path = folder / name
        path.write_text(text)
        path.with_name(path.stem + ".expected.json").write_text(expected(path))


if __name__ == "__main__":
    main()
