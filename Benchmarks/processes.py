"""Runs programs and measures them: processor time, memory, wakeups, syncs, wall time."""

import os
import signal
import socket
import sqlite3
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / ".build" / "release"
WORK = ROOT / ".build" / "bench"


class Failure(Exception):
    """The reason why something could not be measured."""


@dataclass(frozen=True)
class Usage:
    """The resources that a process used in its life, from wait4(2)."""

    cpu: float
    wall: float
    rss: float  # MB; at least that of this Python process, from which a child starts


class Process:
    """A child process. Its output goes to a file or is discarded."""

    running = []

    def __init__(self, *command, stdin=subprocess.DEVNULL, output=os.devnull, environment=None):
        self.command = [str(word) for word in command]
        self.began = time.monotonic()
        self.errors = tempfile.TemporaryFile()
        with open(output, "wb") as out:
            self.child = subprocess.Popen(
                self.command,
                stdin=stdin,
                stdout=out,
                stderr=self.errors,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )
        self.pid = self.child.pid
        Process.running.append(self)

    def wait(self, expected=(0,)):
        _, status, rusage = os.wait4(self.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        self.child.returncode = code
        Process.running.remove(self)
        if code not in expected:
            self.errors.seek(0)
            said = self.errors.read().decode(errors="replace").strip().splitlines()
            raise Failure(f"{' '.join(self.command)}: exit {code}: {said[-1] if said else 'no output'}")
        wall = time.monotonic() - self.began
        return Usage(rusage.ru_utime + rusage.ru_stime, wall, rusage.ru_maxrss / 1000)

    def stop(self, sent=signal.SIGTERM):
        """Ends the process by a signal and returns its usage."""
        self.child.send_signal(sent)
        # WNOWAIT leaves the usage for wait().
        options = os.WEXITED | os.WNOHANG | os.WNOWAIT
        wait_for(f"the end of {self.command[0]}", lambda: os.waitid(os.P_PID, self.pid, options), 30)
        return self.wait(expected=(0, -sent))

    @classmethod
    def end_all(cls):
        """Kills all processes that a failed measurement left."""
        for process in list(cls.running):
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(expected=(-signal.SIGKILL,))

    def cpu(self):
        """CPU seconds so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def voluntary_switches(self):
        """The voluntary context switches of all current threads."""
        return sum(wakeups for _, wakeups in self.threads().values())

    def threads(self):
        """The CPU seconds and the voluntary context switches of each thread by its number."""
        threads = {}
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                cpu = int((task / "schedstat").read_text().split()[0]) / 1e9
                lines = (task / "status").read_text().splitlines()
            except (FileNotFoundError, ProcessLookupError):
                continue  # the thread has just ended
            # Involuntary switches depend on other load on the machine.
            wakeups = sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches:"))
            threads[task.name] = cpu, wakeups
        return threads

    def memory(self):
        """The resident and the proportional memory in MB."""
        fields = {}
        for line in Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value = line.split(":")
            fields[name] = int(value.split()[0]) / 1000
        return fields["Rss"], fields["Pss"]

    def anonymous(self):
        """The memory in MB that only this process has and the system cannot drop."""
        text = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Anonymous:")) / 1000


def run(*command, output=os.devnull):
    """Runs a program to its end and returns its usage."""
    return Process(*command, output=output).wait()


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, seconds=120):
    """Polls in this process, not in the measured one, and returns the first true value of `condition`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise Failure(f"waited {seconds} s for {what}")
        time.sleep(0.02)
    return value


class Service:
    """A `backgrounderd` with a home of its own, as a user runs it: both modes, SQLite, and the log."""

    def __init__(self, home, source, *, distance_filter=0, sync_interval="1s"):
        self.home = Path(home)
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.yaml").write_text(
            "modes: [audio, location]\n"
            "location:\n"
            f"  source: {source}\n"
            "  usageDescription: Measures what tracking costs\n"
            f"  distanceFilter: {distance_filter}\n"
            "audio: {driver: 'null', queue: [], autoplay: false}\n"
            f"store: {{syncInterval: {sync_interval}, retention: 3650d}}\n"
        )

    @property
    def database(self):
        return self.home / "state" / "backgrounder.sqlite"

    def start(self, *tracer, environment=None):
        """Starts the service, under `tracer` if that is given."""
        return Process(*tracer, PROGRAMS / "backgrounderd", "--home", self.home, environment=environment)

    def dial(self):
        """Returns a connection to the control socket."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(str(self.home / "run" / "control.sock"))
        return connection

    def wait_until_ready(self):
        def answers():
            with socket.socket(socket.AF_UNIX) as probe:
                return probe.connect_ex(str(self.home / "run" / "control.sock")) == 0

        wait_for("the service", answers)

    def wait_for_points(self, count, seconds=300):
        """Waits for stored points. Reads the file, so that the service does no work for it."""
        wait_for("the database", self.database.exists)
        with self.connect() as database:
            newest = "SELECT ifnull(max(id), 0) FROM point"
            wait_for(f"{count} points", lambda: database.execute(newest).fetchone()[0] >= count, seconds)
        database.close()

    def logged_pages(self):
        """The number of pages in the database's log, which grows until it has 4,000."""
        return (self.database.with_name(self.database.name + "-wal").stat().st_size - 32) // (4096 + 24)

    def connect(self):
        return sqlite3.connect(self.database, isolation_level=None, timeout=10)

    def query(self, sql):
        database = self.connect()
        try:
            return database.execute(sql).fetchone()[0]
        finally:
            database.close()

    def command(self, *words):
        """Runs a `backgrounder` command against the running service and returns its usage."""
        return run(PROGRAMS / "backgrounder", *words, "--home", self.home)
