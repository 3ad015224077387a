"""The table of figures, and the machine on which they were measured."""

import os
import platform
import subprocess
from pathlib import Path


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def version(*command):
    """The first line that a version command prints."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().splitlines()[0]


class Report:
    """Rows of figure, our value, the peer's value, their ratio, the target, and whether it was met."""

    HEAD = ("figure", "Backgrounder", "peer", "ratio", "target", "met")

    def __init__(self):
        self.rows = []

    def ratio(self, figure, unit, ours, peer, theirs, target=None):
        """Adds a figure that should be at most `target` times that of the peer."""
        ratio = ours / theirs
        aim = ("", "") if target is None else (f"≤ {target:g} of it", "yes" if ratio <= target else "NO")
        self.add(figure, f"{number(ours)} {unit}", f"{peer} {number(theirs)} {unit}", f"{ratio:.2f}", *aim)

    def limit(self, figure, unit, ours, limit, peer, theirs):
        """Adds a figure that should be at most `limit`, regardless of the peer."""
        ratio = f"{ours / theirs:.2f}" if theirs else ""
        met = "yes" if ours <= limit else "NO"
        beside = f"{peer} {number(theirs)} {unit}" if peer else ""
        self.add(figure, f"{number(ours)} {unit}", beside, ratio, f"≤ {limit:g} {unit}".strip(), met)

    def figure(self, figure, unit, ours):
        """Adds a figure without a target."""
        self.add(figure, f"{number(ours)} {unit}", "", "", "", "")

    def add(self, *cells):
        self.rows.append(cells)
        print("  ".join(cell for cell in cells if cell), flush=True)

    def describe_machine(self, *programs):
        """Prints the machine and the versions of the programs, which are version commands."""
        processor = next(
            (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
            platform.machine(),
        )
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
        load = Path("/proc/loadavg").read_text().split()[0]
        print(f"{processor}, {os.cpu_count()} cores, {memory:.0f} GB; {system}, Linux {platform.release()}; load {load}")
        print("; ".join(version(*program) for program in (*programs, ("swift", "--version"))), flush=True)

    def show(self):
        """Prints the table in Markdown."""
        table = [self.HEAD, *self.rows]
        widths = [max(len(row[column]) for row in table) for column in range(len(self.HEAD))]
        print()
        for index, row in enumerate(table):
            print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
            if index == 0:
                print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
