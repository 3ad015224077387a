#!/usr/bin/python3
"""Measures what the audio mode costs, each figure beside that of a peer in the same run.

    make bench-audio            all parts, about 8 minutes
    make bench-audio QUICK=1    shorter, one turn: an impression, not a result
    Benchmarks/audio.py playing only one part: playing, silence, resting or queue

Compared players play at the same time, each into its own pulseaudio. A missed target is shown in the table and is not a
failure: the exit code is 1 only if something could not be measured.
"""

import os
import shutil
import subprocess
import sys
import time

from parts import medians, run_parts
from processes import WORK, Failure, Process, run, wait_for
from sound import MPD, Player, SoundServer, bare_player, music

QUICK = bool(os.environ.get("QUICK"))
TURNS = 1 if QUICK else 3
SECONDS = 20 if QUICK else 60
REST = 10 if QUICK else 20
ITEMS = 100_000
FLOORS = 20  # measurements of decoding alone per turn
LENGTH = 300  # seconds of the item, more than any turn


class Meter:
    """CPU and wakeups of a process between two moments, except those of threads that end in between."""

    def __init__(self, process):
        self.process = process
        self.before = process.threads()
        self.began = time.monotonic()

    def read(self):
        """CPU seconds per minute, and wakeups per second."""
        seconds = time.monotonic() - self.began
        cpu, wakeups = self.taken()
        return 60 * cpu / seconds, wakeups / seconds

    def taken(self):
        """CPU seconds and wakeups so far."""
        pairs = [(now, self.before.get(name, (0, 0))) for name, now in self.process.threads().items()]
        return tuple(sum(now[field] - then[field] for now, then in pairs) for field in (0, 1))


def playing(report, scratch):
    """A minute of an MP3 through pulseaudio: Backgrounder, MPD, mpg123 and a bare player at the same time."""
    item = music(LENGTH)
    program = bare_player()
    names = ("ours", "mpg123", "mpd", "bare")

    def turn(number):
        home = scratch / f"turn-{number}"
        servers = {name: SoundServer(home / f"server-{name}") for name in names}
        at = {name: server.environment for name, server in servers.items()}
        output = f'type "pulse"\nname "sound"\nserver "{at["mpd"]["PULSE_SERVER"]}"'
        players = {
            "ours": Player(home / "ours", "pulse", [item], at["ours"]).process,
            "mpg123": Process("mpg123", "-q", "-o", "pulse", item, environment=at["mpg123"]),
            "mpd": MPD(home / "mpd", item, output, at["mpd"]).process,
            "bare": Process(
                program, item, LENGTH - 1, "pulse", environment={**at["bare"], "PULSE_LATENCY_MSEC": "300"}
            ),
        }
        for name, server in servers.items():
            wait_for(f"the sound of {name}", server.has_stream, 20)
        # A null sink consumes its first blocks irregularly.
        time.sleep(5)
        meters = [Meter(players[name]) for name in names]
        meters += [Meter(servers[name].process) for name in names]
        time.sleep(SECONDS)
        values = [value for meter in meters for value in meter.read()]
        memory = [value for name in names for value in players[name].memory()]
        for process in (*players.values(), *(server.process for server in servers.values())):
            process.stop()
        shutil.rmtree(home)
        return values + memory

    numbers = iter(range(TURNS))
    values = medians(TURNS, all=lambda: turn(next(numbers)))["all"]
    pairs = list(zip(values[::2], values[1::2]))
    player = dict(zip(names, pairs[:4]))
    server = dict(zip(names, pairs[4:8]))
    memory = dict(zip(names, pairs[8:]))
    peers = {"mpd": "MPD", "mpg123": "mpg123", "bare": "bare libao player"}
    for name, target in (("mpd", 0.7), ("mpg123", 0.9), ("bare", None)):
        report.ratio("CPU per minute, pulse", "s", player["ours"][0], peers[name], player[name][0], target)
    for name, target in (("mpg123", 0.75), ("mpd", None), ("bare", None)):
        report.ratio("Wakeups, pulse", "/s", player["ours"][1], peers[name], player[name][1], target)
    for name in ("mpd", "mpg123"):
        target = 1 if name == "mpd" else None
        report.ratio("Memory, resident", "MB", memory["ours"][0], peers[name], memory[name][0], target)
        report.ratio("  proportional", "MB", memory["ours"][1], peers[name], memory[name][1])
    for name in ("mpd", "mpg123"):
        report.ratio("CPU of the sound server per minute", "s", server["ours"][0], peers[name], server[name][0])
        report.ratio("Wakeups of the sound server", "/s", server["ours"][1], peers[name], server[name][1])


def silence(report, scratch):
    """The paced null driver against decoding alone: the cost of queue, store and threads."""
    item = music(LENGTH)
    program = bare_player()
    player = Player(scratch / "null", "null", [item])
    mpd = MPD(scratch / "mpd", item, 'type "null"\nname "silence"\nsync "yes"')
    wait_for("the start", lambda: player.elapsed() > 2)

    def floor():
        time.sleep(SECONDS / FLOORS)
        return (run(program, item, 60).cpu - run(program, item, 0).cpu,)

    def turn():
        player.ask("POST", "/v1/audio/seek", {"to": 0})
        run("mpc", "-h", mpd.address, "seek", "0")
        time.sleep(3)  # until the read-ahead is full again
        meters = Meter(player.process), Meter(mpd.process)
        # Repeated throughout the turn: the speed of the processor varies from second to second.
        alone = medians(FLOORS, floor=floor)["floor"]
        return alone + [value for meter in meters for value in meter.read()]

    floor_cpu, cpu, wakeups, *theirs = medians(TURNS, all=turn)["all"]
    report.limit("Wakeups, null driver", "/s", wakeups, 4, "MPD", theirs[1])
    report.ratio("CPU per minute, null driver", "s", cpu, "decoding alone", floor_cpu, 1.5)
    report.ratio("  the same", "s", cpu, "MPD", theirs[0])
    player.process.stop()
    mpd.process.stop()


def resting(report, scratch):
    """Wakeups while nothing is playing."""
    item = music(LENGTH)
    server = SoundServer(scratch / "server")
    player = Player(scratch / "ours", "pulse", [item], server.environment)
    output = f'type "pulse"\nname "sound"\nserver "{server.environment["PULSE_SERVER"]}"'
    mpd = MPD(scratch / "mpd", item, output, server.environment)
    wait_for("the start", lambda: player.elapsed() > 1)
    for word, request in (("paused", "pause"), ("stopped", "stop")):
        player.ask("POST", f"/v1/audio/{request}", {})
        run("mpc", "-h", mpd.address, request)
        # Wait for the effects of the command: the device, a sync, idle threads, and the connection's deadline at 10 s.
        time.sleep(12)
        meters = Meter(player.process), Meter(mpd.process)
        time.sleep(REST)
        ours, theirs = (meter.taken()[1] for meter in meters)
        report.limit(f"Wakeups in {REST} s, {word}", "", ours, 0, "MPD", theirs)
    for process in (player.process, mpd.process, server.process):
        process.stop()


def queue(report, scratch):
    """A hundred thousand items, and the time to skip and move among them."""
    folder = WORK / f"items-{ITEMS}"
    if not (folder / "done").exists():
        print(f"Making {ITEMS:,} files in {folder} ...", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "music").mkdir(parents=True)
        subprocess.run(
            ["sox", "-R", "-D", "-n", "-r", "8000", "-c", "1", "-b", "16", folder / "item.wav", "synth", "0.05", "sine", "440"],
            check=True,
        )
        content = (folder / "item.wav").read_bytes()
        for number in range(ITEMS):
            (folder / "music" / f"{number}.wav").write_bytes(content)
        (folder / "done").touch()
    player = Player(scratch / "ours", "null")
    began = player.process.memory()[0]
    start = time.monotonic()
    items = player.ask("POST", "/v1/queue", {"items": [str(folder / "music")]})
    seconds = time.monotonic() - start
    if len(items) != ITEMS:
        raise Failure(f"{len(items)} items were added, not {ITEMS}")
    report.limit(f"Adding {ITEMS:,} items", "s", seconds, 2, "", 0)
    report.limit("  memory for them", "MB", player.process.memory()[0] - began, 60, "", 0)

    def timed(method, path, body=None):
        start = time.monotonic()
        player.ask(method, path, body)
        return (1000 * (time.monotonic() - start),)

    player.ask("POST", "/v1/audio/play", {})
    last, first = items[-1]["id"], items[0]["id"]
    times = medians(
        5,
        next=lambda: timed("POST", "/v1/audio/next", {}),
        move=lambda: timed("PATCH", f"/v1/queue/{last}", {"position": 0}),
        back=lambda: timed("PATCH", f"/v1/queue/{first}", {"position": ITEMS - 1}),
        status=lambda: timed("GET", "/v1/audio"),
    )
    for name in ("next", "move", "status"):
        report.limit(f"  {name}", "ms", times[name][0], 50, "", 0)
    player.process.stop()


if __name__ == "__main__":
    versions = (("mpg123", "--version"), ("mpd", "--version"), ("pulseaudio", "--version"))
    sys.exit(run_parts([playing, silence, resting, queue], sys.argv[1:], *versions))
