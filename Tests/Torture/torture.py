#!/usr/bin/python3
"""Exposes a running service to the faults of machines in the field, and prints a table of the results.

    Tests/Torture/torture.py PROGRAMS [TRIAL ...]

PROGRAMS is the folder of backgrounder and backgrounderd. Each TRIAL is a name in the table; by default all are run. QUICK=1 runs
short forms, SOAK_MINUTES=N sets the length of the soak. Mounts and other users need root. Exits with 1 if a trial failed, and
names each trial that could not be run here.
"""

import concurrent.futures
import itertools
import json
import os
import random
import resource
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Benchmarks"))

from disk import Disk
from processes import Failure as Unavailable
from service import Listener, Receiver, Service, UnixConnection

QUICK = os.environ.get("QUICK") == "1"
SYNC_INTERVAL = 0.1  # seconds


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise Unavailable(f"{command[0]}: {result.stderr.strip().splitlines()[-1:]}")
    return result.stdout


def is_whole(database):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    finally:
        connection.close()


def configuration(*lines):
    return "".join(line + "\n" for line in (f"store:\n  syncInterval: {int(SYNC_INTERVAL * 1000)}ms", *lines))


def power_cuts(programs, folder):
    """After a power cut, points that were reported before the last sync interval are stored, and nothing is damaged."""
    rounds = 5 if QUICK else 200
    disk = Disk(folder)
    receiver = Receiver()
    service = Service(programs, disk.path / "home", configuration(), receiver_url(receiver))
    lost = corrupt = told = 0
    slowest = worst = 0.0
    generator = random.Random(1)
    try:
        for _ in range(rounds):
            slowest = max(slowest, service.start())
            listener = Listener(service)
            listener.wait(5)
            time.sleep(generator.uniform(0.1, 0.6))
            points = list(listener.points)  # before the cut: points during the cut may be reported and still be lost
            cut = time.monotonic()
            disk.cut_power()
            service.kill()
            disk.unmount()
            disk.mount()
            slowest = max(slowest, service.start())
            stored = set(service.history())
            missing = [cut - at for at, stamp in points if stamp not in stored]
            told += len(points)
            worst = max([worst, *missing])
            # Committing, syncing and sending the event also take time.
            lost += sum(age > SYNC_INTERVAL + 0.15 for age in missing)
            corrupt += service.get("/v1/health")["state"] != "ok"
            service.kill()
            corrupt += not is_whole(service.database)
    finally:
        service.kill()
        disk.unmount()
    text = f"{rounds} cuts, {told} points reported: {lost} lost that were older than syncInterval, the oldest lost {worst * 1000:.0f} ms, " \
        f"{corrupt} corrupt, slowest start {slowest:.2f} s"
    return lost == 0 and corrupt == 0 and slowest < 1, text


def failing_calls(programs, folder):
    """One writing system call fails, at each of the first 300 calls: the service continues or names the reason why not, and
    nothing is damaged."""
    if not shutil.which("strace"):
        raise Unavailable("strace is not installed")
    places = range(1, 300, 60) if QUICK else range(1, 301)
    calls = "write,pwrite64,fdatasync,fsync,ftruncate,rename,unlink,fallocate"
    receiver = Receiver()

    def one(place):
        home = Path(folder) / f"failing-{place}"
        error = ["EIO", "ENOSPC"][place % 2]
        # Only on files: writes to an eventfd do not fail.
        state = home / "state" / "backgrounder.sqlite"
        files = [state, f"{state}-wal", f"{state}-shm", f"{state}-position", home / "backgrounder.log", state.parent, home / "run"]
        prefix = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={calls}", "-e", f"inject={calls}:error={error}:when={place}"]
        prefix += [word for file in files for word in ("-P", str(file))]
        service = Service(programs, home, configuration(), receiver_url(receiver), prefix=prefix)
        outcome = "continued"
        try:
            service.start(limit=60)
            time.sleep(1)
            service.get("/v1/status", timeout=10)
        except RuntimeError:
            said = service.last_line()
            outcome = "refused to start with a reason" if said.startswith("backgrounderd: cannot ") else f"ENDED: {said}"
        finally:
            if service.process:
                subprocess.run(["pkill", "-KILL", "-P", str(service.process.pid)])
                service.process.wait()
                service.process = None
        again = Service(programs, home, configuration(), receiver_url(receiver))
        again.start()
        again.kill()
        whole = is_whole(again.database)
        shutil.rmtree(home, ignore_errors=True)
        return outcome, whole

    outcomes = {}
    damaged = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for outcome, whole in pool.map(one, places):
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            damaged += not whole
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    return damaged == 0 and "ENDED" not in said, f"{len(places)} places: {said}; {damaged} damaged"


def full_disk(programs, folder):
    """A full disk is reported within 2 s, all counts add up, and the waiting points are stored once there is space."""
    seconds = 3 if QUICK else 120
    disk = Path(folder) / "full"
    disk.mkdir()
    run("mount", "-t", "tmpfs", "-o", "size=24m", "none", str(disk))
    receiver = Receiver()
    service = Service(programs, disk / "home", configuration(), receiver_url(receiver))
    ballast = disk / "ballast"
    try:
        service.start()
        Listener(service).wait(20)
        began = time.monotonic()
        with open(ballast, "wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        while service.get("/v1/health")["state"] != "failing":
            if time.monotonic() - began > 5:
                return False, "not reported within 5 s"
            time.sleep(0.02)
        delay = time.monotonic() - began
        refused, _ = service.request("POST", "/v1/queue", json.dumps({"items": [str(ROOT / "media")]}))
        wrong = 0
        while time.monotonic() - began < seconds:
            location = service.get("/v1/location")
            wrong += location["received"] != location["accepted"] + sum(location["rejected"].values())
            time.sleep(0.1)
        before = service.get("/v1/location")
        ballast.unlink()
        while service.get("/v1/health")["state"] != "ok" or service.get("/v1/location")["waiting"]:
            if time.monotonic() - began > seconds + 20:
                return False, "points still wait 20 s after there was space"
            time.sleep(0.05)
        stored = len(service.history())
        after = service.get("/v1/location")
        complete = stored + after["dropped"] + after["waiting"] >= before["accepted"]
        code = service.stop()
        whole = is_whole(service.database)
    finally:
        service.kill()
        run("umount", "-l", str(disk))
    text = f"reported after {delay:.2f} s; {before['waiting']} points waited {seconds} s, {after['dropped']} dropped, all others stored: " \
        f"{complete}; a queue change got {refused}; {wrong} wrong sums; exit {code}"
    return delay < 2 and refused == 503 and wrong == 0 and complete and code == 0 and whole, text


def read_only(programs, folder):
    """The file system becomes read-only, as after a disk error, and is mounted again."""
    disk = Disk(folder, options="loop,errors=remount-ro")
    receiver = Receiver()
    service = Service(programs, disk.path / "home", configuration(), receiver_url(receiver))
    try:
        service.start()
        listener = Listener(service)
        listener.wait(20)
        device = os.stat(disk.path).st_dev
        name = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve().name
        trigger = Path(f"/sys/fs/ext4/{name}/trigger_fs_error")
        if not trigger.exists():
            raise Unavailable(f"{trigger} does not exist")
        time.sleep(SYNC_INTERVAL + 0.3)
        stored = len(service.history())
        began = time.monotonic()
        trigger.write_text("1")
        while service.get("/v1/health")["state"] != "failing":
            if time.monotonic() - began > 5:
                return False, "not reported within 5 s"
            time.sleep(0.02)
        delay = time.monotonic() - began
        time.sleep(0.5)
        location = service.get("/v1/location")
        doctor = service.command("doctor", check=False).returncode
        service.kill()
        disk.unmount()
        disk.mount()
        service.start()
        after = len(service.history())
    finally:
        service.kill()
        disk.unmount()
    text = f"reported after {delay:.2f} s, doctor exits {doctor}, {location['waiting']} points waited; {stored} points before, {after} after"
    unsynced = int((SYNC_INTERVAL + 0.15) / receiver.interval)
    return delay < 2 and doctor == 1 and location["waiting"] > 0 and after >= stored - unsynced, text


def import_track(service, folder, points):
    """Fills the history with a line to the north with one point a second."""
    track = Path(folder) / "long.gpx"
    with open(track, "w") as file:
        file.write('<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>\n')
        for number in range(points):
            file.write(f'<trkpt lat="{50 + number * 1e-4:.6f}" lon="13.4"><time>{track_time(number)}</time></trkpt>\n')
        file.write("</trkseg></trk></gpx>\n")
    service.command("track", "import", "--raw", str(track))


def track_time(number):
    """The time of point `number` of an imported track."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_760_000_000 + number))


def damaged_pages(programs, folder):
    """One page of a database of 50,000 points is overwritten: only its rows are lost, and the damage is reported.

    The first rounds damage the first page and the interior pages of the points, the others random pages."""
    rounds = 3 if QUICK else 50
    original = Path(folder) / "original"
    points = 50_000
    service = Service(programs, original)
    service.start()
    import_track(service, folder, points)
    service.stop()
    page_size = 4096
    pages = service.database.stat().st_size // page_size
    with sqlite3.connect(f"file:{service.database}?mode=ro", uri=True) as database:
        above = [row[0] for row in database.execute("SELECT pageno FROM dbstat WHERE name = 'location' AND pagetype = 'internal'")]
        most = database.execute("SELECT max(ncell) FROM dbstat WHERE name = 'location' AND pagetype = 'leaf'").fetchone()[0]
    database.close()
    generator = random.Random(2)
    worst = silent = failed = doubled = 0
    numbers = ([0] + [page - 1 for page in above])[: max(2, rounds // 2)]
    numbers += [generator.randrange(1, pages) for _ in range(rounds - len(numbers))]
    for page in numbers:
        home = Path(folder) / "damaged"
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(original, home, ignore=shutil.ignore_patterns("run"))
        with open(home / "state" / "backgrounder.sqlite", "r+b") as file:
            file.seek(page * page_size)
            file.write(generator.randbytes(page_size))
        damaged = Service(programs, home)
        try:
            damaged.start()
            for _ in range(2):
                history = damaged.history()
                lost = points - len(set(history))
                doubled = max(doubled, len(history) - len(set(history)))
                if lost and damaged.get("/v1/health")["state"] == "ok":
                    silent += 1
                worst = max(worst, lost)
                # The next start repairs the damage.
                damaged.stop()
                damaged.start()
        except (OSError, RuntimeError, ValueError):
            failed += 1
        finally:
            damaged.kill()
    text = f"{rounds} pages of {pages}: the worst lost {worst} of {points} points (a page has {most}), {silent} silent losses, " \
        f"{failed} unreadable, {doubled} points returned twice"
    return worst <= most and silent == 0 and failed == 0 and doubled == 0, text


def clock_jumps(programs, folder):
    """The system clock jumps while the service runs and before it starts: no point is deleted."""
    candidates = list(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    if not candidates:
        raise Unavailable("libfaketime is not installed")
    library = str(candidates[0])
    offsets = [3600, -3600, 86_400 * 400, -86_400 * 400] if QUICK else [
        3600, -3600, 86_400 * 400, -86_400 * 400, 86_400 * 7300, -86_400 * 3650, 30, -30,
    ]
    lost = slow = 0
    for number, offset in enumerate(offsets):
        receiver = Receiver()
        clock = Path(folder) / f"clock-{number}"
        clock.write_text("+0\n")
        environment = {
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1", "DONT_FAKE_MONOTONIC": "1",
        }
        service = Service(programs, Path(folder) / f"jump-{number}", configuration(), receiver_url(receiver), environment=environment)
        try:
            service.start()
            Listener(service).wait(150)
            before = len(service.history())
            clock.write_text(f"{offset:+}\n")
            Listener(service).wait(10)
            service.command("audio", "volume", "50")
            lost += len(service.history()) < before
            service.stop()
            before = before + 10
            slow += service.start() > 5
            service.command("audio", "volume", "60")
            time.sleep(0.3)
            lost += len(service.history()) < before
        finally:
            service.kill()
    return lost == 0 and slow == 0, f"{len(offsets)} jumps, while running and at the start: {lost} with lost points, {slow} slow starts"


def good_client(service, requests):
    """The 99th percentile of the times of requests, each on a connection of its own, and the number of failures."""
    times = []
    failures = 0
    for _ in range(requests):
        began = time.monotonic()
        try:
            service.get("/v1/status", timeout=10)
        except (OSError, RuntimeError, ValueError):
            failures += 1
        times.append(time.monotonic() - began)
        time.sleep(0.01)
    times.sort()
    return times[len(times) * 99 // 100], failures


def crowd(programs, folder, name, join, descriptors=None, prepare=None):
    """The effects of the clients of `join` on a good client and on the machine."""
    prefix = ["prlimit", f"--nofile={descriptors}:{descriptors}"] if descriptors else []
    receiver = Receiver(interval=1)
    service = Service(programs, Path(folder) / name, configuration(), receiver_url(receiver), prefix=prefix)
    try:
        service.start()
        good_client(service, 20)
        if prepare:
            prepare(service)
        time.sleep(2)
        resident = service.resident()
        sockets = join(service)
        time.sleep(1)
        seconds = 3 if QUICK else 15
        began, used = time.monotonic(), service.processor_time()
        time.sleep(seconds)
        processor = (service.processor_time() - used) / (time.monotonic() - began)
        slowest, failures = good_client(service, 50 if QUICK else 300)
        grown = service.resident() - resident
        for each in sockets:
            each.close()
        released = None
        began = time.monotonic()
        while time.monotonic() - began < (20 if QUICK else 60):
            kept = service.resident() - resident
            released = kept if released is None else min(released, kept)
            if kept < 4096:
                break
            time.sleep(0.5)
    finally:
        service.kill()
    text = f"p99 of a good client {slowest * 1000:.0f} ms, {failures} failed, CPU {processor * 100:.1f} %, {grown / 1024:.1f} MB more, " \
        f"{released / 1024:.1f} MB not released"
    # The short form may run a debug build, which takes several times as long.
    limit, most = (1, 0.5) if QUICK else (0.1, 0.05)
    return slowest < limit and failures == 0 and processor < most and grown < 20 << 10 and released < 8 << 10, text


def connect(service):
    client = socket.socket(socket.AF_UNIX)
    client.connect(service.socket)
    client.settimeout(5)
    return client


def connections(programs, folder):
    """1,000 connections that never send a request."""
    return crowd(programs, folder, "connections", lambda service: [connect(service) for _ in range(1000)])


def half_requests(programs, folder):
    """500 connections that send half a request."""

    def join(service):
        clients = [connect(service) for _ in range(500)]
        for client in clients:
            try:
                client.sendall(b"GET /v1/status HTTP/1.1\r\nHost: loc")
            except OSError:
                pass
        return clients

    return crowd(programs, folder, "half", join)


def readers(programs, folder):
    """256 readers of the event stream."""

    def join(service):
        clients = []
        for _ in range(256):
            client = UnixConnection(service.socket, 10)
            client.request("GET", "/v1/events")
            clients.append(client)
        return clients

    return crowd(programs, folder, "readers", join)


def deaf_readers(programs, folder):
    """60 readers (20 in the short form) that subscribe to the time every 10 ms and never read."""

    def play(service):
        service.command("queue", "add", str(ROOT / "media"))
        service.command("audio", "repeat", "on", check=False)
        service.command("audio", "play")

    def join(service):
        clients = []
        for _ in range(20 if QUICK else 60):
            client = UnixConnection(service.socket, 10)
            client.request("GET", "/v1/events?observe=10ms&attach=1")
            clients.append(client)
        return clients

    return crowd(programs, folder, "deaf", join, prepare=play)


def few_descriptors(programs, folder):
    """64 descriptors and 300 connections that never send a request."""
    return crowd(programs, folder, "few", lambda service: [connect(service) for _ in range(300)], descriptors=64)


def users(programs, folder):
    """Three users on the socket of a service that runs as root."""
    if os.getuid() != 0:
        raise Unavailable("only root can become other users")
    service = Service(programs, Path(folder) / "users", configuration("control:\n  group: games\n  execute: [daemon]"))
    os.chmod(folder, 0o755)
    os.chmod(service.home, 0o755)

    def ask(user, groups, path, body):
        result = subprocess.run(
            ["setpriv", f"--reuid={user}", "--regid=65534", *groups, "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "--unix-socket",
             service.socket, "-H", "Content-Type: application/json", *(["-d", body] if body else []), f"http://localhost{path}"],
            capture_output=True, text=True,
        )
        return int(result.stdout)

    member, stranger = ["--groups=60"], ["--clear-groups"]
    task = json.dumps({"name": "id", "command": ["id"]})
    try:
        service.start()
        answers = {
            "a member reads": (ask(54321, member, "/v1/status", None), 200),
            "a member controls": (ask(54321, member, "/v1/audio/pause", "{}"), 200),
            "a member executes": (ask(54321, member, "/v1/tasks", task), 403),
            "an executor executes": (ask(1, member, "/v1/tasks", task), 201),
            "a stranger reads": (ask(54321, stranger, "/v1/status", None), 0),
            "root executes": (ask(0, stranger, "/v1/tasks", task), 201),
        }
    finally:
        service.kill()
    wrong = [f"{who}: {got}" for who, (got, expected) in answers.items() if got != expected]
    return not wrong, f"{len(answers)} requests, {len(wrong)} wrong answers {'; '.join(wrong)}".strip()


def browsers(programs, folder):
    """Requests that a web page can make a browser send."""
    service = Service(programs, Path(folder) / "browsers", configuration())
    task = json.dumps({"name": "id", "command": ["id"]})
    attacks = [
        {"Host": "evil.example"}, {"Host": "127.0.0.1.evil.example"}, {"Host": "192.168.0.7:80"}, {"Origin": "http://evil.example"},
        {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
    ]
    try:
        service.start()
        statuses = [service.request("POST", "/v1/tasks", task, headers=headers)[0] for headers in attacks]
        statuses += [service.request("GET", "/v1/status", headers=headers)[0] for headers in attacks]
        kinds = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]
        typed = [service.request("POST", "/v1/tasks", task, headers={"Content-Type": kind})[0] for kind in kinds]
        attached = service.request("GET", "/v1/events?attach=1", headers={"Origin": "http://localhost"})[0]
        begun = len(service.get("/v1/tasks"))
    finally:
        service.kill()
    good = set(statuses) == {403} and set(typed) == {415} and attached == 403 and begun == 0
    return good, f"{len(statuses)} foreign hosts and pages got {set(statuses)}, {len(typed)} other bodies got {set(typed)}, attaching got {attached}; {begun} tasks began"


def secrets(programs, folder):
    """Secrets in the environment and in files appear in no response, log, database or argument list."""
    planted = {name: f"planted-{name}-{random.Random(name).getrandbits(64):x}" for name in ["environment", "password", "bearer"]}
    environment = {"SECRET_TOKEN": planted["environment"], "BACKGROUNDER_MPD_PASSWORD": planted["password"]}
    service = Service(programs, Path(folder) / "secrets", configuration(), environment=environment)
    credentials = service.home / "credentials"
    credentials.write_text(f"bearer = {planted['bearer']}\n")
    credentials.chmod(0o600)
    found = []
    try:
        service.start()
        service.command("task", "begin", "environment", "--", "/usr/bin/env")
        service.command(
            "fetch", "add", "secret", "--url", "https://127.0.0.1:1/", "--interval", "1h", "--credentials", str(credentials), check=False
        )
        service.command("fetch", "run", "secret", check=False)
        time.sleep(1)
        answers = {path: service.request("GET", path)[1] for path in ("/v1/status", "/v1/tasks", "/v1/tasks/1/log", "/v1/fetch")}
        arguments = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in os.listdir("/proc") if pid.isdigit() and exists(pid))
        service.stop()
    finally:
        service.kill()
    places = {**answers, "argument lists": arguments}
    for path in service.home.rglob("*"):
        if path.is_file() and path != credentials:
            places[str(path.relative_to(service.home))] = path.read_bytes()
    for name, secret in planted.items():
        found += [f"{name} in {place}" for place, content in places.items() if secret.encode() in content]
    return not found, f"{len(planted)} secrets in {len(places)} places: {'; '.join(found) or 'none found'}"


def exists(pid):
    return os.access(f"/proc/{pid}/cmdline", os.R_OK)


def description(programs, folder):
    """Requests that schemathesis generates from openapi.yaml."""
    environment = Path(folder) / "schemathesis"
    import venv

    try:
        venv.create(environment, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"cannot create a virtual environment: {error}") from error
    installation = subprocess.run([environment / "bin" / "pip", "install", "-q", "schemathesis"], capture_output=True, text=True)
    if installation.returncode:
        raise Unavailable("cannot install schemathesis")
    service = Service(programs, Path(folder) / "description", configuration())
    try:
        service.start()
        forward = TCPForward(service.socket)
        # Excludes requests that end the service or never finish.
        command = [
            str(environment / "bin" / "schemathesis"), "run", str(ROOT / "Packaging" / "openapi.yaml"), "--url", forward.url,
            "--exclude-path", "/v1/stop", "--exclude-path", "/v1/events", "--max-examples", "5" if QUICK else "50",
            "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
            "--workers", "1", "--no-color", "--request-timeout", "30", "--seed", "1",
        ]
        result = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        alive = service.process.poll() is None
    finally:
        service.kill()
    (ROOT / ".build" / "schemathesis.log").write_text(result.stdout + result.stderr)
    last = [line for line in result.stdout.splitlines() if line.strip()][-1:]
    return result.returncode == 0 and alive, f"exit {result.returncode}: {' '.join(last).strip('= ')}"


class TCPForward:
    """Forwards connections of a TCP port to the Unix socket."""

    def __init__(self, path):
        import threading

        self.path = path
        self.server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.server.getsockname()[1]}"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        import threading

        while True:
            client, _ = self.server.accept()
            try:
                target = socket.socket(socket.AF_UNIX)
                target.connect(self.path)
            except OSError:
                client.close()
                continue
            for a, b in ((client, target), (target, client)):
                threading.Thread(target=self.copy, args=(a, b), daemon=True).start()

    @staticmethod
    def copy(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def soak(programs, folder):
    """The service tracks, plays and answers for a while, and its memory, descriptors and threads do not grow.

    SQLite caches up to 2 MB of pages, and an export reads 1,000 points at a time. Both grow with a short history, so this one is
    long from the beginning, and each export has the same size."""
    minutes = float(os.environ.get("SOAK_MINUTES", "0.3" if QUICK else "5"))
    receiver = Receiver(interval=0.2)
    service = Service(programs, Path(folder) / "soak", configuration(), receiver_url(receiver))
    samples = []
    try:
        service.start()
        import_track(service, folder, 5_000 if QUICK else 50_000)
        since, until = track_time(0), track_time(2_000)
        service.command("queue", "add", str(ROOT / "media"))
        service.command("audio", "play")
        end = time.monotonic() + minutes * 60
        began = time.monotonic()
        while time.monotonic() < end:
            listener = Listener(service)
            for _ in range(10):
                service.get("/v1/status")
                service.request("PATCH", "/v1/audio", json.dumps({"volume": random.randrange(40, 60)}))
            service.request("GET", f"/v1/track/history?format=gpx&since={since}&until={until}")
            listener.connection.close()
            samples.append((time.monotonic() - began, service.resident(), service.descriptors(), service.threads()))
            time.sleep(0.5)
    finally:
        service.kill()
    print(f"{'seconds':>8} {'RSS kB':>8} {'fds':>5} {'threads':>8}")
    for sample in samples[:: max(1, len(samples) // 12)]:
        print(f"{sample[0]:8.0f} {sample[1]:8} {sample[2]:5} {sample[3]:8}")
    half = samples[len(samples) // 2 :]
    # The median of the slopes between all pairs of samples is robust against a single step, such as one more thread.
    slope = statistics.median((b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.combinations(half, 2))
    descriptors = max(sample[2] for sample in half) - min(sample[2] for sample in half)
    text = f"{minutes:g} min: {half[-1][1] / 1024:.1f} MB, {slope:+.2f} kB/s in the second half, descriptors vary by {descriptors}, {half[-1][3]} threads"
    return descriptors < 12 and (QUICK or slope < 2), text


def receiver_url(receiver):
    return f"gpsd://127.0.0.1:{receiver.port}"


TRIALS = [
    power_cuts, failing_calls, full_disk, read_only, damaged_pages, clock_jumps, connections, half_requests, readers, deaf_readers,
    few_descriptors, users, browsers, secrets, description, soak,
]


def main():
    programs, *names = sys.argv[1:]
    programs = Path(programs).resolve()
    # The crowds need more descriptors than the usual limit of a shell.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192), hard))
    results = []
    for trial in TRIALS:
        if names and trial.__name__ not in names:
            continue
        folder = Path(tempfile.mkdtemp(prefix=f"torture-{trial.__name__}-"))
        began = time.monotonic()
        try:
            good, text = trial(programs, folder)
            verdict = "ok" if good else "FAILED"
        except Unavailable as reason:
            verdict, text = "not run", str(reason)
        except Exception:
            verdict, text = "FAILED", traceback.format_exc().strip().splitlines()[-1]
            traceback.print_exc()
        results.append((verdict, trial.__name__, time.monotonic() - began, text))
        print("{:8} {:16} {:6.0f} s  {}".format(*results[-1]), flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    print()
    for result in results:
        print("{:8} {:16} {:6.0f} s  {}".format(*result))
    sys.exit(any(result[0] == "FAILED" for result in results))


if __name__ == "__main__":
    main()
