#!/usr/bin/python3
"""Measures how long short commands take, from their start to their end, beside curl and mpc on the same running service.

Each turn runs every command once, so both sides see the same load of the machine.

    make bench-commands            # or Benchmarks/commands.py status
"""

import os
import sys
import time

from feeds import ROOT
from parts import medians, run_parts
from processes import PROGRAMS, Failure, Service, free_port

TURNS = 20 if os.environ.get("QUICK") else 200
BACKGROUNDER = str(PROGRAMS / "backgrounder")


class Machine:
    """A service that tracks a drive and plays a queue, with a server for mpc and a task in hand."""

    def __init__(self, home):
        self.home = home
        port = free_port()
        self.service = Service(home, f"gpx:{ROOT}/tracks/city-walk.gpx?rate=10")
        songs = [str(path) for path in sorted((ROOT / "media").glob("*.mp3"))]
        configuration = home / "config.yaml"
        configuration.write_text(
            configuration.read_text().replace("queue: []", f"queue: {songs}")
            + f"mpd: {{listen: ['127.0.0.1:{port}']}}\n"
        )
        self.service.start()
        self.service.wait_until_ready()
        self.service.wait_for_points(5)
        self.service.command("audio", "repeat", "on")
        self.service.command("audio", "play")
        self.service.command("fetch", "add", "tide", "--url", "https://127.0.0.1:1/")
        self.mpc = ("mpc", "-q", "-h", "127.0.0.1", "-p", str(port))

    def backgrounder(self, *words):
        return BACKGROUNDER, *words, "--home", str(self.home)

    def curl(self, path, *options):
        socket = str(self.home / "run" / "control.sock")
        return "curl", "-sf", *options, "--unix-socket", socket, f"http://localhost/v1/{path}"


def timed(*command):
    """A job that runs the command and returns its time in milliseconds."""
    quiet = [(os.POSIX_SPAWN_OPEN, descriptor, os.devnull, os.O_RDWR, 0) for descriptor in (0, 1, 2)]

    def job():
        start = time.perf_counter()
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
        _, status = os.waitpid(pid, 0)
        milliseconds = 1000 * (time.perf_counter() - start)
        if status != 0:
            raise Failure(f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}")
        return (milliseconds,)

    return job


def compare(report, figure, ours, peer, theirs, target=1):
    times = medians(TURNS, ours=timed(*ours), theirs=timed(*theirs))
    report.ratio(figure, "ms", times["ours"][0], peer, times["theirs"][0], target)


def small(report, scratch):
    """Commands that read or change one thing, each beside the client that asks for the same."""
    machine = Machine(scratch / "home")
    compare(report, "status", machine.backgrounder("status"), "curl", machine.curl("status"))
    compare(report, "status --format json", machine.backgrounder("status", "--format", "json"), "curl", machine.curl("status"))
    compare(report, "track --last 5", machine.backgrounder("track", "--last", "5"), "curl", machine.curl("track?last=5"))
    post = ("-X", "POST", "-H", "Content-Type: application/json", "-d", "{}")
    following = machine.backgrounder("audio", "next")
    compare(report, "audio next", following, "curl", machine.curl("audio/next", *post))
    compare(report, "audio next", following, "mpc", (*machine.mpc, "next"), None)
    # What the completion of bash runs for `backgrounder fetch show <TAB>`.
    words = ("backgrounder", "--home", str(machine.home), "fetch", "show", "")
    completion = (BACKGROUNDER, "---completion", "fetch", "show", "--", "positional@0", str(len(words) - 1), "0", *words)
    compare(report, "a completion", completion, "curl", machine.curl("status"))


def alone(report, scratch):
    """Commands that need no service."""
    compare(report, "--version", (BACKGROUNDER, "--version"), "curl", ("curl", "--version"))
    compare(report, "--help", (BACKGROUNDER, "--help"), "curl", ("curl", "--help"))


if __name__ == "__main__":
    sys.exit(run_parts([small, alone], sys.argv[1:], ("curl", "--version")))
