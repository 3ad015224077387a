"""Shared code of the benchmarks: parts that run by name, and jobs that take turns."""

import statistics
import sys
import tempfile
from pathlib import Path

from processes import WORK, Failure, Process
from report import Report


def medians(count, **jobs):
    """The medians of the results of each job, field by field. Each of the `count` turns runs every job once."""
    turns = {name: [] for name in jobs}
    for _ in range(count):
        for name, job in jobs.items():
            turns[name].append(job())
    return {name: [statistics.median(values) for values in zip(*results)] for name, results in turns.items()}


def run_parts(parts, names, *programs):
    """Runs the named parts, or all, and shows their table. Returns the exit code of the program.

    `programs` are the commands that print the versions of the peers.
    """
    parts = {part.__name__: part for part in parts}
    unknown = [name for name in names if name not in parts]
    if unknown:
        print(f"unknown part {unknown[0]}; the parts are {', '.join(parts)}", file=sys.stderr)
        return 64
    WORK.mkdir(parents=True, exist_ok=True)
    report = Report()
    report.describe_machine(*programs)
    failures = 0
    for name in names or parts:
        print(f"== {name}: {parts[name].__doc__}", file=sys.stderr)
        # Not in /tmp, which may be in memory, where a sync costs nothing.
        with tempfile.TemporaryDirectory(dir=WORK, prefix="run-") as scratch:
            try:
                parts[name](report, Path(scratch))
            except Failure as failure:
                print(f"{name}: {failure}", file=sys.stderr)
                failures += 1
            finally:
                Process.end_all()
    report.show()
    return 1 if failures else 0
