"""Every fault that a file can hold. Each point's comment says what becomes of it: with the default settings, then, where
they decide otherwise, with filter (10 m), navigation (bestForNavigation), maximum (10 m), unguarded (10 m, no guard)."""

from geodesic import step
from readings import iso, milliseconds

BASE = (48.13700000, 11.57500000)
START = milliseconds("2026-06-01T12:00:00Z")
PACE = 12.0  # metres a second, eastward


def at(second, expectation, east=None, north=0.0, **known):
    """A point `second` after the start, by default where a car of that pace is then. `known` has attributes and elements
    by name; None omits a default one."""
    latitude, longitude = step(*BASE, PACE * second if east is None else east, north)
    values = {"lat": f"{latitude:.8f}", "lon": f"{longitude:.8f}", "time": iso(START + round(second * 1000))}
    values |= {"fix": "3d", "accuracy": "5.00", "speed": f"{PACE:.2f}", "course": "90.00", "cmt": expectation} | known
    return values


BROKEN = [
    at(0, "accepted, opens a segment"),
    at(1, "accepted"),
    at(2, "noFix", fix="none"),
    at(3, "invalid", lat=""),
    at(3, "invalid", lon="11,5755"),
    at(3, "invalid", lat=None),
    at(3, "invalid", lat="95.0"),
    at(3, "invalid", lon="-200.5"),
    at(3, "invalid", lat="NaN"),
    at(3, "invalid", lon="1e400"),
    at(4, "accepted"),
    at(5, "invalid", time=None),
    at(5, "invalid", time="yesterday"),
    at(5, "invalid", time="2026-02-30T12:00:05Z"),
    # Missing accuracy of several kinds, and poor accuracy
    at(5, "accepted; maximum: noAccuracy", accuracy=None),
    at(6, "accepted; maximum: accuracy", accuracy=None, hdop="1.2"),  # 1.2 × 19 / 1.731 = 13.2 m
    at(7, "accepted; maximum: noAccuracy", accuracy=None, hdop="0"),
    at(8, "accepted; maximum: noAccuracy", accuracy="-5"),
    at(9, "accuracy", accuracy="45.00"),
    at(10, "accepted; navigation: accuracy; maximum: accuracy", accuracy="20.00"),
    at(11, "accepted; navigation: accuracy", accuracy="6.00", fix="2d"),
    # Time
    at(12, "accepted", accuracy="4.00", fix="dgps"),
    at(12, "duplicate"),
    at(12, "duplicate", east=200),
    at(12, "duplicate", time="2026-06-01T12:00:12.000400000Z"),
    at(11.5, "outOfOrder"),
    at(10.001, "outOfOrder"),
    at(13, "accepted", time="2026-06-01T14:00:13+02:00"),
    # A jump of one point
    at(14, "implausible", north=5000),
    at(15, "accepted"),
    # A jump that three points confirm; a repeated time counts once
    at(16, "implausible", north=5000),
    at(17, "implausible", north=5000),
    at(17, "implausible", north=5003),
    at(18, "accepted, opens a segment", north=5000),
    at(19, "accepted", north=5000),
    # A second jump interrupts the first; points that an earlier rule rejects and small steps back do not end a row
    at(20, "implausible", north=20000),
    at(21, "implausible"),
    at(22, "implausible"),
    at(23, "accuracy", accuracy="500.00"),
    at(18.5, "outOfOrder", north=5000),
    at(19, "duplicate", north=5000),
    at(24, "accepted, opens a segment"),
    at(25, "accepted"),
    # A clock that goes back for two points, and one that stays back
    at(-3574, "outOfOrder", east=PACE * 26),
    at(-3573, "outOfOrder", east=PACE * 27),
    at(28, "accepted"),
    at(-3571, "outOfOrder", east=PACE * 29),
    at(-3570, "outOfOrder", east=PACE * 30),
    at(-3569, "accepted, opens a segment", east=PACE * 31),
    at(-3568, "accepted", east=PACE * 32),
    # Impossible values count as unknown; a jump that the speed explains is accepted
    at(-3567, "accepted; filter: jitter", east=PACE * 33, speed="-3"),  # 12 m, twice the errors are 14.1 m
    at(-3566, "accepted", east=PACE * 34, course="400", ele="high"),
    at(-3565, "accepted", east=PACE * 34 + 800, speed="900"),
    at(-3564, "accepted", east=PACE * 34 + 812),
    # Standing
    at(-3563, "accepted; filter: distance; unguarded: distance", east=PACE * 34 + 816, speed="0.10"),
    at(-3562, "accepted; filter: jitter", east=PACE * 34 + 824, speed="0.10"),
    at(-3561, "accepted; unguarded: distance", east=PACE * 34 + 827, speed="0.10"),
    at(-3560, "accepted; filter: jitter", east=PACE * 34 + 839, speed=None),
    at(-3559, "accepted", east=PACE * 34 + 851),
    # 60 s are not a gap, a little more is
    at(-3499, "accepted; filter: distance; unguarded: distance", east=PACE * 34 + 853),
    at(-3438.999, "accepted, opens a segment", east=PACE * 34 + 854),
]
SECOND_SEGMENT = [
    # Far away and in the past, but the first point of a new segment that passes is not compared with earlier ones
    at(-8000, "accuracy", east=0, north=-50000, accuracy="80.00"),
    at(-7999, "accepted, opens a segment", east=0, north=-50000),
    at(-7998, "accepted", east=12, north=-50000),
]
SECOND_TRACK = [
    at(100, "noFix", fix="none", lat="0", lon="0"),
    at(101, "accepted, opens a segment", lat="0", lon="0"),
    at(102, "accepted", lat="0.0002", lon="-0.0000001"),
    at(103, "accepted", lat="+.0004", lon=" 0 ", fix="7d"),
]
DATE_LINE = [
    at(200, "accepted, opens a segment", lat="-17.0", lon="179.9999"),
    at(201, "accepted", lat="-17.0", lon="-179.9999"),
    at(202, "accepted", lat="-17.0", lon="-179.9997", speed="0.00"),  # 21.3 m, more than the errors
    at(203, "invalid", lat="-17.0", lon="180.0001"),
]


def tracks(line):
    """The tracks of the file as lists of segments of lines. `line` makes a line of (lat, lon, time, elements)."""

    def lines(points):
        result = []
        for point in points:
            known = {name: value for name, value in point.items() if value is not None}
            position = known.pop("lat", None), known.pop("lon", None), known.pop("time", None)
            result.append(line(*position, known))
        return result

    return [[lines(BROKEN), lines(SECOND_SEGMENT)], [lines(SECOND_TRACK), lines(DATE_LINE)]]


def expectation(comment, run):
    """The result that a point's comment states for a run: (accepted or the reason, whether it opens a segment)."""
    general, *special = comment.split("; ")
    for part in special:
        name, _, text = part.partition(": ")
        if name == run:
            general = text
    word, _, note = general.partition(", ")
    return word, note == "opens a segment"
