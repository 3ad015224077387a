#!/usr/bin/python3
"""Measures what the location mode costs, each figure beside that of a peer in the same run.

    make bench-location            all parts, about 10 minutes on two cores
    make bench-location QUICK=1    smaller inputs, fewer runs: an impression, not a result
    Benchmarks/location.py epochs  only one part: epochs, tracking, replay or history

Compared programs take turns, and each figure is the median of the turns. A missed target is shown in the table and is not a
failure: the exit code is 1 only if something could not be measured.
"""

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from feeds import FastGPSD, RealGPSD, history_sql, make, write_epochs, write_gpx
from parts import medians, run_parts
from processes import PROGRAMS, ROOT, WORK, Failure, Process, Service, run

QUICK = bool(os.environ.get("QUICK"))
TURNS = 1 if QUICK else 3
# Short turns, whose figures vary by a fifth with other load on the processor.
EPOCH_TURNS = 1 if QUICK else 9
EPOCHS = 20_000 if QUICK else 200_000
POINTS = 100_000 if QUICK else 1_000_000
HISTORY = 1_000_000 if QUICK else 10_000_000
SECONDS = 15 if QUICK else 60


def epochs(report, scratch):
    """CPU for reports of gpsd at full speed: filter, track, SQLite and log against a text file."""
    for with_sky, target in [(True, 0.5), (False, 1.0)]:
        name = "sky" if with_sky else "tpv"
        feed = make(WORK / f"{name}-{EPOCHS}.json", lambda out: write_epochs(out, EPOCHS, with_sky))

        def service(path):
            gpsd = FastGPSD(path, closes=False)
            home = Path(tempfile.mkdtemp(dir=scratch))
            program = Service(home, f"gpsd://127.0.0.1:{gpsd.port}")
            process = program.start()
            program.wait_until_ready()
            gpsd.watched.wait(10)
            if path is not None:
                program.wait_for_points(EPOCHS)
            usage = process.stop()
            gpsd.close()
            if path is not None and program.query("SELECT count(*) FROM point") != EPOCHS:
                raise Failure("the service did not store each epoch exactly once")
            shutil.rmtree(home)
            return usage.cpu, usage.rss

        def client(*command):
            gpsd = FastGPSD(feed, closes=True)
            usage = run(*command, f"127.0.0.1:{gpsd.port}")
            gpsd.close()
            return usage.cpu, usage.rss

        result = medians(
            EPOCH_TURNS,
            idle=lambda: service(None),
            service=lambda: service(feed),
            gpxlogger=lambda: client("gpxlogger", "-f", scratch / "gpxlogger.gpx"),
            gpspipe=lambda: client("gpspipe", "-w", "-o", scratch / "gpspipe.json"),
        )
        cost = {key: 1e6 * value[0] / EPOCHS for key, value in result.items()}
        ours = cost["service"] - cost["idle"]
        what = "TPV and 12-satellite SKY" if with_sky else "TPV only"
        report.ratio(f"CPU per epoch, {what}", "µs", ours, "gpxlogger", cost["gpxlogger"], target)
        report.ratio("  the same", "µs", ours, "gpspipe", cost["gpspipe"])
        report.figure("  memory", "MB", result["service"][1])


def tracking(report, scratch):
    """Wakeups and syncs at 1 Hz, all clients of the same real gpsd at the same time."""
    gpsd = RealGPSD()
    url = f"gpsd://127.0.0.1:{gpsd.port}"
    trace = scratch / "syncs.txt", scratch / "parked.txt"
    strace = [("strace", "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", path) for path in trace]
    minute = Service(scratch / "minute", url, sync_interval="60s")
    second = Service(scratch / "second", url)
    traced = Service(scratch / "traced", url)
    parked = Service(scratch / "parked", url, distance_filter=100_000)
    parked_traced = Service(scratch / "parked-traced", url, distance_filter=100_000)
    processes = {
        "minute": minute.start(),
        "second": second.start(),
        "parked": parked.start(),
        "gpxlogger": Process("gpxlogger", "-f", scratch / "1hz.gpx", f"127.0.0.1:{gpsd.port}"),
        "gpspipe": Process("gpspipe", "-w", "-o", scratch / "1hz.json", f"127.0.0.1:{gpsd.port}"),
    }
    tracers = [traced.start(*strace[0]), parked_traced.start(*strace[1])]
    for service in (minute, second, traced, parked, parked_traced):
        service.wait_until_ready()
    for service in (minute, second, traced):
        service.wait_for_points(5)
    # Even with the filter the first point is stored and synced.
    for service in (parked, parked_traced):
        service.wait_for_points(1)
    time.sleep(3)

    def syncs():
        return [path.read_text().count("sync(") for path in trace]

    before = {name: process.voluntary_switches() for name, process in processes.items()}
    syncs_before, began = syncs(), time.monotonic()
    points = minute.query("SELECT max(id) FROM point")
    time.sleep(SECONDS)
    seconds = time.monotonic() - began
    wakeups = {
        name: (process.voluntary_switches() - before[name]) / seconds for name, process in processes.items()
    }
    per_minute = [60 * (now - then) / seconds for now, then in zip(syncs(), syncs_before)]
    points = minute.query("SELECT max(id) FROM point") - points
    if points < seconds - 3:
        raise Failure(f"only {points} points in {seconds:.0f} s")
    for process in processes.values():
        process.stop()
    for tracer in tracers:
        # Signal the traced program; the tracer ends with it.
        child = Path(f"/proc/{tracer.pid}/task/{tracer.pid}/children").read_text().split()[0]
        os.kill(int(child), 15)
        tracer.wait()
    gpsd.close()
    peer = wakeups["gpxlogger"]
    report.limit("Wakeups at 1 Hz, syncInterval 60s", "/s", wakeups["minute"], 2.5, "gpxlogger", peer)
    report.limit("Wakeups at 1 Hz, syncInterval 1s", "/s", wakeups["second"], 8, "gpspipe", wakeups["gpspipe"])
    report.figure("Wakeups parked, with a filter", "/s", wakeups["parked"])
    report.limit("Syncs at 1 Hz, syncInterval 1s", "/min", per_minute[0], 62, "gpxlogger", 0)
    report.limit("Syncs parked, with a filter", "/min", per_minute[1], 0, "gpxlogger", 0)


def writing(report, scratch):
    """Pages that SQLite writes at 1 Hz while music plays."""
    gpsd = RealGPSD()
    service = Service(scratch / "writing", f"gpsd://127.0.0.1:{gpsd.port}")
    process = service.start()
    service.wait_until_ready()
    service.command("audio", "play", *sorted((ROOT / "media").glob("*.mp3")))
    service.command("audio", "repeat", "on")
    service.wait_for_points(5)
    points, pages = service.query("SELECT max(id) FROM point"), service.logged_pages()
    time.sleep(2 * SECONDS)
    points, pages = service.query("SELECT max(id) FROM point") - points, service.logged_pages() - pages
    process.stop()
    gpsd.close()
    if points < 2 * SECONDS - 3:
        raise Failure(f"only {points} points in {2 * SECONDS} s")
    report.limit("Pages of 4 KiB in the log for each fix, with music", "", pages / points, 3, "", 0)


def replay(report, scratch):
    """Filtering a large GPX file against only reading and converting it."""
    large = make(WORK / f"track-{POINTS}.gpx", lambda out: write_gpx(out, POINTS))
    small = make(WORK / f"track-{POINTS // 10}.gpx", lambda out: write_gpx(out, POINTS // 10))

    def ours(path, *options):
        usage = run(PROGRAMS / "backgrounderd", "replay", path, *options)
        return usage.cpu, usage.rss

    def gpsbabel(*options):
        usage = run("gpsbabel", *options, "-i", "gpx", "-f", large, "-o", "unicsv", "-F", "/dev/null")
        return usage.cpu, usage.rss

    result = medians(
        TURNS,
        csv=lambda: ours(large, "--format", "csv"),
        table=lambda: ours(large),
        filtered=lambda: ours(large, "--filter", "10"),
        small=lambda: ours(small),
        # Without -t it reads the points but writes none.
        reading=gpsbabel,
        gpsbabel=lambda: gpsbabel("-t"),
    )
    cpu = {key: value[0] for key, value in result.items()}
    rss = {key: value[1] for key, value in result.items()}
    name = f"GPX of {POINTS:,} points"
    report.ratio(f"{name}, CPU", "s", cpu["table"], "gpsbabel, reading alone", cpu["reading"], 0.6)
    report.ratio("  to CSV, CPU", "s", cpu["csv"], "gpsbabel", cpu["gpsbabel"], 0.6)
    report.ratio("  with a 10 m filter, CPU", "s", cpu["filtered"], "without", cpu["table"], 1.25)
    report.limit("  memory", "MB", max(rss["table"], rss["csv"]), 40, "gpsbabel", rss["gpsbabel"])
    report.ratio("  memory, against a tenth of the points", "MB", rss["table"], "a tenth", rss["small"], 1.1)


def exchange(report, scratch):
    """The service's CPU for an export and an import of a large history."""
    service = Service(scratch / "exports", "gpsd://127.0.0.1:1")
    process = service.start()
    service.wait_until_ready()
    process.stop()
    with service.connect() as database:
        for statement in history_sql(POINTS, int(time.time())):
            database.execute(statement)
    database.close()
    process = service.start()
    service.wait_until_ready()
    gpx = scratch / "export.gpx"

    def export(name, path):
        before = process.cpu()
        service.command("track", "export", "--format", name, "--output", path, "--force")
        return (process.cpu() - before,)

    columns = "latitude, longitude, altitude, horizontalAccuracy, accuracySource, verticalAccuracy, speed, course, time, mode"

    def dump():
        return (run("sqlite3", "-readonly", "-csv", service.database, f"SELECT {columns} FROM point").cpu,)

    def convert():
        return (run("gpsbabel", "-i", "gpx", "-f", gpx, "-o", "gpx", "-F", "/dev/null").cpu,)

    formats = {name: (lambda name=name: export(name, scratch / name)) for name in ("csv", "json", "geojson", "kml")}
    cost = medians(TURNS, gpx=lambda: export("gpx", gpx), **formats, dump=dump, convert=convert)
    process.stop()
    peers = {"csv": ("sqlite3", "dump"), "gpx": ("gpsbabel, from GPX", "convert")}
    for name in ("csv", "gpx", "json", "geojson", "kml"):
        peer, key = peers.get(name, ("", ""))
        theirs = cost[key][0] if key else 0
        report.limit(f"Export of {POINTS:,} points as {name}, CPU", "s", cost[name][0], 3 * POINTS / 1e6, peer, theirs)

    large = make(WORK / f"track-{POINTS}.gpx", lambda out: write_gpx(out, POINTS))
    numbers = iter(range(TURNS))

    def bring():
        target = Service(scratch / f"import-{next(numbers)}", "gpsd://127.0.0.1:1")
        process = target.start()
        target.wait_until_ready()
        before = process.cpu()
        target.command("track", "import", large)
        seconds = process.cpu() - before
        process.stop()
        return (seconds,)

    imported = medians(TURNS, bring=bring)["bring"][0]
    report.limit(f"Import of {POINTS:,} points, CPU", "s", imported, 5 * POINTS / 1e6, "", 0)


def history(report, scratch):
    """Queries of a year of history against reading all of it. The file is kept for the next run."""
    large = Service(WORK / f"history-{HISTORY}", "gpsd://127.0.0.1:1")
    empty = Service(scratch / "empty", "gpsd://127.0.0.1:1")

    def start(service):
        began = time.monotonic()
        process = service.start()
        service.wait_until_ready()
        seconds = time.monotonic() - began
        process.stop()
        return (seconds,)

    if not large.database.exists() or large.query("SELECT count(*) FROM (SELECT 1 FROM location LIMIT 1)") == 0:
        start(large)
        print(f"Writing a history of {HISTORY:,} points to {large.home} ...", file=sys.stderr)
        with large.connect() as database:
            database.execute("PRAGMA synchronous = OFF")
            for statement in history_sql(HISTORY, int(time.time())):
                database.execute(statement)
        database.close()
    if large.query("SELECT count(*) FROM point") != HISTORY:
        raise Failure(f"{large.home} contains another history; remove it")
    last = large.query("SELECT max(time) FROM point") // 1000
    times = medians(TURNS, large=lambda: start(large), empty=lambda: start(empty))
    process = large.start()
    large.wait_until_ready()
    scan = large.command("track", "history", "--format", "csv").wall

    def ask(*words):
        return lambda: (large.command("track", *words).wall,)

    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(last - 3600))
    questions = {
        "history --since 1h": ["history", "--since", since, "--format", "csv"],
        "trips": ["trips"],
        "history --trip N": ["history", "--trip", large.query("SELECT max(id) - 1 FROM trip"), "--format", "csv"],
    }
    answers = medians(TURNS, **{name: ask(*words) for name, words in questions.items()})
    process.stop()
    for name, (seconds,) in answers.items():
        report.ratio(f"track {name}, of {HISTORY:,} points", "s", seconds, "full scan", scan, 0.1)
    report.limit(f"Full scan of {HISTORY:,} points as CSV", "s", scan, 30 * HISTORY / 1e7, "", 0)
    report.ratio("Start with that history", "s", times["large"][0], "empty", times["empty"][0], 1.25)


if __name__ == "__main__":
    sys.exit(run_parts([epochs, tracking, writing, replay, exchange, history], sys.argv[1:], ("gpxlogger", "-V"), ("gpsbabel", "-V")))
