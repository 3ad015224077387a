#!/usr/bin/python3
"""Measures the decisions about places, beside the rule of peers (inside if the distance is less than the radius), the geometry
beside shapely and pyproj, and the cost of a fix with 100,000 places.

    make bench-places            # or Benchmarks/places.py stand
"""

import json
import os
import subprocess
import sys

from feeds import ROOT
from parts import run_parts
from processes import PROGRAMS, Failure

SCALE = "0.05" if os.environ.get("QUICK") else "1"
PEERS = "peers' rule"


def run(*command, output=None):
    done = subprocess.run([str(word) for word in command], stdout=output or subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{command[0]}: exit {done.returncode}")
    return done.stdout


def figures(part, *words):
    return json.loads(run(PROGRAMS / "places-benchmark", part, SCALE, *words))


def count(report, figure, ours, limit, theirs=None):
    """Adds a count that should be at most `limit`."""
    beside = "" if theirs is None else f"{PEERS} {theirs:,}"
    report.add(figure, f"{ours:,}", beside, "", f"≤ {limit:,}", "yes" if ours <= limit else "NO")


def geometry(report, scratch):
    """distances, crossings and validity of random shapes, beside shapely"""
    cases, answers = scratch / "cases.json", scratch / "answers.json"
    with cases.open("w") as file:
        run(PROGRAMS / "places-benchmark", "cases", SCALE, output=file)
    with answers.open("w") as file:
        run("/usr/bin/python3", ROOT / "Tests" / "Reference" / "places.py", cases, output=file)
    found = figures("compare", answers)
    report.add("random distances compared with shapely's", f"{found['distances']:,}", "", "", "", "")
    count(report, "distances on the wrong side", found["wrongSides"], 0)
    report.limit("greatest error up to 1 km from a boundary", "m", found["nearError"], 0.2, "", 0)
    report.limit("greatest error farther away, in millionths", "", 1e6 * found["farError"], 100, "", 0)
    count(report, f"wrong crossings of {found['crossings']}", found["wrongCrossings"], 0)
    report.limit("greatest error of a crossing", "m", found["crossingError"], 1, "", 0)
    report.limit("greatest error of a radius", "%", 100 * found["radiusError"], 1, "", 0)
    count(report, f"rings judged wrongly, {found['invalidRings']} of them invalid", found["wrongRings"], 0)
    count(report, "boxes that miss a position inside", found["wrongBounds"], 0)


def stand(report, _):
    """standing near a boundary"""
    found = figures("stand")
    per_1000_hours = 1000 / found["hours"]
    report.limit(
        f"false pairs in 1,000 hours, in {found['hours']:,.0f} hours", "", found["pairs"] * per_1000_hours, 1, PEERS,
        found["peers"] * per_1000_hours,
    )


def visits(report, _):
    """visits of small circles, on foot and by car"""
    for row in figures("visits"):
        name = f"R = {row['radius']} m: wrong visits of {row['count']:,}"
        if row["radius"] < 20:
            report.add(name, f"{row['wrong']:,}", f"{PEERS} {row['peers']:,}", "", "", "")
        else:
            count(report, name, row["wrong"], row["count"] // 1000, row["peers"])


def latency(report, _):
    """seconds from a crossing to its event"""
    for row in figures("latency"):
        name = f"R = {row['radius']} m, {row['speed']} m/s: 95 of 100"
        report.limit(f"{name} enters", "s", row["enter"], 3, "", 0)
        report.limit(f"{name} leaves", "s", row["leave"], 6, "", 0)


def passes(report, _):
    """passing a circle of 30 m at 30 m/s with a fix every 10 s"""
    found = figures("passes")
    count(report, f"missed of {found['count']:,} passes", found["missed"], 0, found["peers"])


def stops(report, _):
    """announcements 25 s before the stops of a bus line"""
    found = figures("stops")
    report.limit("90 of 100 announcements are in time within", "s", found["error"], 3, "", 0)
    for name in ("wrong", "repeated", "missed"):
        count(report, f"{name} announcements at {found['count']:,} stops", found[name], 0)


def routes(report, _):
    """announcements 25 s before the stops of routes in a city"""
    for row in figures("routes"):
        report.limit(f"{row['name']}: 90 of 100 announcements are in time within", "s", row["error"], 3, "", 0)
        for name in ("wrong", "repeated", "missed"):
            count(report, f"{row['name']}: {name} events at {row['stops']:,} stops", row[name], 0)


def cost(report, scratch):
    """what a fix costs with 100,000 places"""
    found = figures("cost", scratch / "places.sqlite")
    for row in found["drives"]:
        more = row["time"] - row["without"]
        if "announced" in row["name"]:
            report.figure(f"CPU of a fix {row['name']}, more than without places", "µs", more)
        else:
            report.limit(f"CPU of a fix {row['name']}, more than without places", "µs", more, 5, "", 0)
    report.limit("memory for 100,000 places, with SQLite's cache of 2 MB", "MB", found["memory"], 12, "", 0)
    report.figure("checking and storing 100,000 places", "s", found["filling"])


if __name__ == "__main__":
    sys.exit(run_parts([geometry, stand, visits, latency, passes, stops, routes, cost], sys.argv[1:]))
