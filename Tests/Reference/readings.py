"""Reads fixes from a GPX file, and reports (fixes, HDOP, GST) from JSON lines of gpsd.

Nothing is filtered here. A missing or invalid value (empty text, a word, NaN, an impossible sign) is None.
"""

import json
import math
import re
from dataclasses import dataclass
from xml.parsers import expat

OURS = "https://backgrounder.example/gpx/1"
DIMENSIONS = {"none": 1, "2d": 2, "3d": 3, "dgps": 3, "pps": 3}
LONGEST_LINE = 64 * 1024


@dataclass
class Fix:
    """One fix as received. Degrees, metres, metres per second; `time` is in milliseconds since 1970."""

    index: int
    mode: int
    latitude: float | None = None
    longitude: float | None = None
    time: int | None = None
    altitude: float | None = None
    speed: float | None = None
    course: float | None = None
    is_live: bool = False
    # The first fix of a <trk> or <trkseg>.
    is_boundary: bool = False
    # Only in files.
    stated_accuracy: float | None = None
    hdop: float | None = None
    # Only from gpsd.
    device: str | None = None
    status: int = 0
    eph: float | None = None
    epx: float | None = None
    epy: float | None = None


@dataclass
class Sky:
    """The horizontal dilution of precision that gpsd uses in its next error models."""

    hdop: float
    device: str | None = None


@dataclass
class Noise:
    """A GST report: the standard deviations of the receiver in metres."""

    time: int | None
    latitude: float | None
    longitude: float | None
    device: str | None = None


class Damage(Exception):
    """The reason why a file could not be read to its end. `fixes` are those before the damage."""

    def __init__(self, message, line, fixes):
        super().__init__(f"line {line}: {message}")
        self.line, self.fixes = line, fixes


# Values


def number(value, low=-math.inf, high=math.inf):
    """The number of a text or a JSON value if it is between `low` and `high`, otherwise None."""
    if isinstance(value, str):
        if not re.fullmatch(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", value, re.ASCII):
            return None
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value) if low <= value <= high else None


def positive(value):
    """Like `number`, for an error, a dilution or a radius, where 0 or less means unknown."""
    result = number(value)
    return result if result is not None and result > 0 else None


ISO = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|z|[+-]\d\d(?::?\d\d)?)?)?\s*", re.ASCII
)


def milliseconds(text):
    """Milliseconds since 1970 of an ISO 8601 time. Without a zone it is UTC; second 60 is the next second."""
    match = ISO.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    year, month, day = (int(part) for part in match.group(1, 2, 3))
    hour, minute, second = (int(part or 0) for part in match.group(4, 5, 6))
    fraction, zone = match.group(7) or "0", match.group(8)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    lengths = [31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if not (1 <= month <= 12 and 1 <= day <= lengths[month - 1] and hour < 24 and minute < 60 and second <= 60):
        return None
    before = year - 1
    days = 365 * year + (before // 4 - before // 100 + before // 400 + 1 if year else 0)
    days += sum(lengths[: month - 1]) + day - 1 - 719528  # 719528 days from year 0 to 1970
    offset = 0
    if zone and zone not in "Zz":
        hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
        if hours > 23 or minutes > 59:
            return None
        offset = (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)
    thousandths = (int(fraction[:4].ljust(4, "0")) + 5) // 10
    return (((days * 24 + hour) * 60 + minute - offset) * 60 + second) * 1000 + thousandths


def iso(time):
    """Returns a time in the notation of docs/api.md."""
    days, rest = divmod(time, 86_400_000)
    # 400 Gregorian years have 146,097 days.
    cycle, left = divmod(days + 719528, 146_097)
    year = 400 * cycle
    length = 366
    while left >= length:
        left -= length
        year += 1
        length = 366 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 365
    month = 1
    for month, size in enumerate([31, length - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], 1):
        if left < size:
            break
        left -= size
    clock = "%02d:%02d:%02d.%03d" % (rest // 3_600_000, rest // 60_000 % 60, rest // 1000 % 60, rest % 1000)
    return f"{year:04d}-{month:02d}-{left + 1:02d}T{clock}Z"


# GPX


def read_gpx(path, start):
    """The `trkpt` fixes of a GPX 1.0 or 1.1 file. Fixes before the first time in the file are one second apart, beginning
    at `start` (milliseconds). Raises Damage with the fixes before the damage."""
    fixes, state = [], {"point": None, "text": "", "boundary": True, "timed": False, "tracks": False}

    def begin(name, attributes):
        local = name.rsplit(" ", 1)[-1]
        state["text"] = ""
        if local in ("trk", "trkseg"):
            state["boundary"] = True
        elif local == "trkpt":
            state["point"] = {"attributes": attributes, "values": {}}

    def end(name):
        namespace, _, local = name.rpartition(" ")
        point = state["point"]
        if local == "trkpt" and point:
            fixes.append(_gpx_fix(point, len(fixes), state, start))
            state["point"], state["boundary"] = None, False
        elif point and local in ("ele", "time", "fix", "hdop", "accuracy", "speed", "course"):
            # Our extension takes precedence over others with the same name.
            if namespace == OURS or local not in point["values"]:
                point["values"][local] = state["text"]
        state["text"] = ""

    def text(data):
        state["text"] += data

    def doctype(*_):
        raise Damage("a DOCTYPE is refused", parser.CurrentLineNumber, fixes)

    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    with open(path, "rb") as file:
        try:
            parser.ParseFile(file)
        except expat.ExpatError as error:
            raise Damage(expat.ErrorString(error.code), error.lineno, fixes) from error
    return fixes


def _gpx_fix(point, index, state, start):
    attributes, values = point["attributes"], point["values"]
    time = milliseconds(values.get("time"))
    if time is not None:
        state["timed"] = True
    elif not state["timed"]:
        time = start + index * 1000
    return Fix(
        index=index,
        mode=DIMENSIONS.get(values.get("fix", "").strip().lower(), 3),
        latitude=number(attributes.get("lat")),
        longitude=number(attributes.get("lon")),
        time=time,
        altitude=number(values.get("ele")),
        speed=number(values.get("speed"), low=0),
        course=number(values.get("course"), 0, 360),
        is_boundary=state["boundary"],
        stated_accuracy=positive(values.get("accuracy")),
        hdop=positive(values.get("hdop")),
    )


# gpsd


def read_gpsd(path):
    """The reports in a file of gpsd JSON lines as written by `gpspipe -w`: Fix (TPV), Sky and Noise (GST)."""
    reports, count = [], 0
    with open(path, "rb") as file:
        for line in file:
            if len(line) > LONGEST_LINE:
                continue
            try:
                message = json.loads(line)
            except ValueError:
                continue
            report = gpsd_report(message, count) if isinstance(message, dict) else None
            count += isinstance(report, Fix)
            if report:
                reports.append(report)
    return reports


def gpsd_report(message, index):
    """The report in a message of gpsd, or None if it has another class or no useful values."""
    kind, device = message.get("class"), message.get("device")
    if kind == "SKY":
        hdop = positive(message.get("hdop"))
        return Sky(hdop, device) if hdop else None
    if kind == "GST":
        return Noise(
            milliseconds(message.get("time")), positive(message.get("lat")), positive(message.get("lon")), device
        )
    if kind != "TPV":
        return None
    altitudes = (number(message.get(name)) for name in ("altMSL", "altHAE", "alt"))
    return Fix(
        index=index,
        mode=int(number(message.get("mode")) or 0),
        latitude=number(message.get("lat")),
        longitude=number(message.get("lon")),
        time=milliseconds(message.get("time")),
        altitude=next((altitude for altitude in altitudes if altitude is not None), None),
        speed=number(message.get("speed"), low=0),
        course=number(message.get("track"), 0, 360),
        is_live=True,
        device=device,
        status=int(number(message.get("status")) or 0),
        eph=positive(message.get("eph")),
        epx=positive(message.get("epx")),
        epy=positive(message.get("epy")),
    )
