#!/usr/bin/env python3
"""Finds the trips in a history from all of its points together: trips.py < history.json

The input are the points of `track history --format json` in the order in which they were accepted.
"""

import json
import math
import sys

from geodesic import distance
from readings import iso, milliseconds

RADIUS, STOP, GAP, STANDING = 50.0, 600.0, 600.0, 0.5


def seconds(a, b):
    return (milliseconds(b["timestamp"]) - milliseconds(a["timestamp"])) / 1000


def metres(a, b):
    return distance(a["latitude"], a["longitude"], b["latitude"], b["longitude"])


def implied(a, b):
    """The speed from one point to the next, or None if distance or duration are unknown."""
    if b.get("segmentStart") or seconds(a, b) == 0:
        return None
    return metres(a, b) / seconds(a, b)


def stands(points, index):
    speed = points[index].get("speed")
    if speed is None:
        speed = implied(points[index - 1], points[index])
    return speed is not None and speed < STANDING


def unbroken(points):
    """The points split into pieces without a gap and without a step back in time."""
    pieces = []
    for point in points:
        if pieces and 0 <= seconds(pieces[-1][-1], point) <= GAP:
            pieces[-1].append(point)
        else:
            pieces.append([point])
    return pieces


def stop(points, index):
    """The stop after `index` as indices: the place, the arrival, and the point that confirms the stop."""
    place = index
    for later in range(index + 1, len(points)):
        if metres(points[place], points[later]) > RADIUS:
            place = later
        elif seconds(points[place], points[later]) >= STOP:
            standing = (near for near in range(place + 1, later) if stands(points, near))
            return place, next(standing, place), later
    return None


def ranges(points):
    """The first and last index of each trip in an unbroken piece, and whether it is in progress."""
    anchor, first, index, found = 0, 0, 1, []
    while index < len(points):
        if metres(points[anchor], points[index]) > RADIUS:
            if points[index].get("segmentStart"):
                anchor = first = index
            else:
                end = stop(points, index)
                if end is None:
                    return found + [(first, len(points) - 1, True)]
                found.append((first, end[1], False))
                anchor, first, index = end[0], end[2], end[2]
        elif stands(points, index):
            first = index
        index += 1
    return found


def describe(points, in_progress):
    steps = list(zip(points, points[1:]))
    way = sum(metres(a, b) for a, b in steps if not b.get("segmentStart"))
    moving = sum(
        seconds(a, b)
        for a, b in steps
        if (implied(a, b) or 0) >= STANDING and b.get("speed", STANDING) >= STANDING
    )
    reported = [point["speed"] for point in points if "speed" in point]
    speeds = [implied(a, b) or 0 for a, b in steps if seconds(a, b) >= 1]
    duration = seconds(points[0], points[-1])
    longitudes = [math.remainder(point["longitude"] - points[0]["longitude"], 360) for point in points]
    return {
        "start": iso(milliseconds(points[0]["timestamp"])),
        "end": iso(milliseconds(points[-1]["timestamp"])),
        "distance": way,
        "duration": duration,
        "movingTime": moving,
        "averageSpeed": way / duration if duration else 0,
        "topSpeed": max(reported or speeds or [0]),
        "bounds": {
            "minLatitude": min(point["latitude"] for point in points),
            "minLongitude": points[0]["longitude"] + min(longitudes),
            "maxLatitude": max(point["latitude"] for point in points),
            "maxLongitude": points[0]["longitude"] + max(longitudes),
        },
        "points": len(points),
        "inProgress": in_progress,
    }


def trips(points):
    pieces = unbroken(points)
    return [
        describe(piece[first : last + 1], going and piece is pieces[-1])
        for piece in pieces
        for first, last, going in ranges(piece)
    ]


if __name__ == "__main__":
    json.dump(trips(json.load(sys.stdin if len(sys.argv) < 2 else open(sys.argv[1]))), sys.stdout, indent=1)
