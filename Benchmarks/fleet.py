#!/usr/bin/python3
"""Measures a fleet with a real broker: losses, repetitions, backlogs, the cost of a point, commands and the collector.

    make bench-fleet            # or python3 Benchmarks/fleet.py rounds
"""

import bisect
import datetime
import http.server
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from disk import Disk
from parts import run_parts
from processes import PROGRAMS, Process, Service, run, wait_for
from servers import MOSQUITTO, Collector, Consumer, Database, JetStream, Link, Mosquitto, Tap

QUICK = bool(os.environ.get("QUICK"))


def track(scratch, count, name="track.gpx"):
    """A track with a point each second, all in different places."""
    file = scratch / name
    with file.open("w") as out:
        out.write('<gpx version="1.1" creator="bench" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>\n')
        for number in range(count):
            clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_790_000_000 + number))
            place = f'lat="{48 + number % 20_000 * 1e-5:.5f}" lon="{11 + number // 20_000 * 1e-2:.5f}"'
            out.write(f"<trkpt {place}><time>{clock}</time></trkpt>\n")
        out.write("</trkseg></trk></gpx>\n")
    return file


def make_service(scratch, source, port=None, publish="startWithin: 0s"):
    """A service with a publisher to `port`, if there is one."""
    service = Service(scratch / "home", source)
    if port:
        broker = f'brokers: {{office: {{mqtt: "mqtt://127.0.0.1:{port}", machine: bus12}}}}'
        with (service.home / "config.yaml").open("a") as file:
            file.write(f"publish: {{{publish}, {broker}}}\n")
    return service


def publisher(service):
    """The status of the publisher."""
    with service.dial() as connection:
        connection.sendall(b"GET /v1/publish HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        reply = b""
        while piece := connection.recv(1 << 16):
            reply += piece
    return json.loads(reply.partition(b"\r\n\r\n")[2])[0]


def wait_until_sent(service, seconds=300):
    def is_sent():
        try:
            return publisher(service)["backlog"] == 0
        except (OSError, ValueError, IndexError):
            return False

    wait_for("the end of the backlog", is_sent, seconds)


def rounds(report, scratch):
    """cuts of the link, ends of the broker, and kills of the service"""
    count = 10 if QUICK else 200
    generator = random.Random(3)
    broker = Mosquitto(scratch)
    consumer = Consumer(broker, scratch)
    link = Link(broker.port)
    service = make_service(scratch, f"gpx:{track(scratch, 200_000)}?rate=100", link.port)
    process = service.start()
    service.wait_until_ready()
    done = Counter()
    for _ in range(count):
        time.sleep(generator.uniform(0, 1.5))
        event = generator.choice(["cut", "cut", "kill", "broker", "stop"])
        done[event] += 1
        if event == "cut":
            link.cut()
        elif event == "broker":
            broker.stop()
            time.sleep(generator.uniform(0, 1))
            broker.start()
        else:
            process.stop(signal.SIGKILL if event == "kill" else signal.SIGTERM)
            process = service.start()
            service.wait_until_ready()
    run(PROGRAMS / "backgrounder", "location", "stop", "--home", service.home)
    wait_until_sent(service)
    stored = service.query("SELECT count(*) FROM point WHERE id > 0")
    database = service.connect()
    sql = (
        "SELECT (SELECT name FROM generation WHERE firstPoint <= point.id ORDER BY firstPoint DESC LIMIT 1), id "
        "FROM point WHERE id > 0"
    )
    expected = set(database.execute(sql).fetchall())
    database.close()
    # The first points may be older than the publisher.
    wait_for("the consumer", lambda: stored in (number for _, number in consumer.keys()), 60)
    time.sleep(2)
    keys = consumer.keys()
    received = set(keys)
    begun = min(number for _, number in received)
    lost = [key for key in expected - received if key[1] >= begun]
    events = ", ".join(f"{number} × {name}" for name, number in sorted(done.items()))
    report.limit(f"{count} rounds ({events}), {len(received):,} points: lost", "", len(lost), 0, "", 0)
    report.limit("the same: received keys that the history does not have", "", len(received - expected), 0, "", 0)
    # At a rate of faults far above that of any link.
    repeats = len(keys) - len(received)
    report.limit("the same: repeats on the wire, for each fault", "", repeats / count, 32, "", 0)
    share = 100 * repeats / len(received)
    report.limit("the same: repeats on the wire, of all points", "%", share, 0.5, "", 0)
    report.limit("the same: most copies of one point", "", max(Counter(keys).values()), 3, "", 0)


class Machine:
    """A service whose disk can lose its power, at a link to a broker that can be cut."""

    def __init__(self, scratch, broker):
        self.disk = Disk(scratch)
        self.link = Tap(broker.port)
        # With the adaptive pace, the publisher would be behind, and have sent none of the points that a power cut takes.
        source, publish = f"gpx:{track(scratch, 200_000)}?rate=100", "startWithin: 0s, pace: 10000"
        self.service = make_service(self.disk.path, source, self.link.port, publish)
        # A power cut must not lose the configuration.
        os.sync()
        # The points before the last power cut, and those that power cuts took.
        self.before, self.taken = set(), set()
        self.start()

    def start(self):
        self.process = self.service.start()
        self.service.wait_until_ready()
        self.taken |= self.before - self.points()
        self.before = set()

    def kill(self):
        self.process.stop(signal.SIGKILL)

    def cut_power(self):
        self.process.child.send_signal(signal.SIGSTOP)
        self.before = self.points()
        self.disk.cut_power()
        self.kill()
        self.disk.unmount()
        self.disk.mount()

    def points(self):
        """The keys of the points, and what they are."""
        generation = "SELECT name FROM generation WHERE firstPoint <= point.id ORDER BY firstPoint DESC LIMIT 1"
        place = "CAST(round(latitude * 1e6) AS INTEGER), CAST(round(longitude * 1e6) AS INTEGER)"
        database = self.service.connect()
        try:
            return set(database.execute(f"SELECT ({generation}), id, time, {place} FROM point WHERE id > 0"))
        finally:
            database.close()


def arrived(database):
    """The points in a database, as `Machine.points` has them."""
    place = "round(ST_Y(point::geometry) * 1e6)::int, round(ST_X(point::geometry) * 1e6)::int"
    time = "round(extract(epoch FROM time) * 1000)::bigint"
    rows = database.query(f"SELECT generation, n, {time}, {place} FROM location").splitlines()
    return {(generation, *map(int, numbers)) for generation, *numbers in (row.split("|") for row in rows)}


def faults(report, scratch):
    """kills of broker, collector, database and service, power cuts of the machine, and cuts of the link"""
    count = 20 if QUICK else 200
    for kind, rounds in ("NATS", count), ("mosquitto", count // 2):
        folder = scratch / kind
        folder.mkdir()
        broker = JetStream(folder) if kind == "NATS" else Mosquitto(folder, saves=1)
        database = Database(folder)
        collector = Collector(broker, database)
        machine = Machine(folder, broker)
        try:
            done, moments = face_faults(broker, database, collector, machine, rounds)
            run(PROGRAMS / "backgrounder", "location", "stop", "--home", machine.service.home)
            wait_until_sent(machine.service)
            report_repeats(report, f"{rounds} rounds with {kind} ({done})", machine.link.keys, moments)
            check_database(report, machine, database, kind == "mosquitto")
        finally:
            Process.end_all()
            machine.disk.unmount()


def face_faults(broker, database, collector, machine, rounds):
    """Ends one or two parts in each round, and starts them again. Returns how often each fault occurred, and when."""
    generator = random.Random(5)
    ends = {
        "kills of the broker": (lambda: broker.stop(signal.SIGKILL), broker.start),
        "of the collector": (lambda: collector.stop(signal.SIGKILL), collector.start),
        "of the database": (database.kill, database.start),
        "of the service": (machine.kill, machine.start),
        "power cuts": (machine.cut_power, machine.start),
        "cuts of the link": (machine.link.cut, lambda: None),
    }
    done, moments = Counter(), []
    for _ in range(rounds):
        time.sleep(generator.uniform(0, 2))
        names = generator.sample(list(ends), generator.choice([1, 1, 2]))
        if {"of the service", "power cuts"} <= set(names):
            names.remove("of the service")
        done.update(names)
        moments.append((len(machine.link.keys), "power cuts" in names))
        for name in names:
            ends[name][0]()
        time.sleep(generator.uniform(0, 1))
        for name in names:
            ends[name][1]()
    return ", ".join(f"{done[name]} {name}" for name in ends), moments


def report_repeats(report, name, keys, moments):
    """Reports the repeats on the wire after faults at these `moments`, which are positions in `keys` and whether power was cut.

    The progress of the last `store.syncInterval` is lost with the power.
    """
    counts, seen = [0 for _ in moments], set()
    starts = [start for start, _ in moments]
    for position, key in enumerate(keys):
        if key in seen:
            counts[bisect.bisect(starts, position) - 1] += 1
        seen.add(key)
    cuts = [count for count, (_, is_power_cut) in zip(counts, moments) if is_power_cut]
    others = [count for count, (_, is_power_cut) in zip(counts, moments) if not is_power_cut]
    report.limit(f"{name}: most repeats after one without a power cut", "", max(others), 32, "", 0)
    report.limit("the same: repeats after those without, of all points sent", "%", 100 * sum(others) / len(seen), 0.5, "", 0)
    report.figure("the same: repeats after a power cut, mean", "", statistics.mean(cuts))
    report.figure("the same: repeats after power cuts, of all points sent", "%", 100 * sum(cuts) / len(seen))
    report.figure("the same: most copies of one point", "", max(Counter(keys).values()))


def check_database(report, machine, database, needs_rewind):
    """Compares the history with the database."""
    expected = machine.points()
    # The first points may be older than the publisher.
    begun = min(n for _, n, *_ in arrived(database))

    def lost():
        # NATS sends a message again 30 s after a collector has died with it.
        deadline = time.monotonic() + 90
        while (lost := {point for point in expected - arrived(database) if point[1] >= begun}) and time.monotonic() < deadline:
            time.sleep(1)
        return len(lost)

    if needs_rewind:
        report.figure("the same: lost by the broker before `publish rewind`", "", lost())
        run(PROGRAMS / "backgrounder", "publish", "rewind", "office", "2000-01-01", "--home", machine.service.home)
        wait_until_sent(machine.service)
    report.limit(f"the same: lost of {len(expected):,} points", "", lost(), 0, "", 0)
    found = arrived(database)
    report.limit("the same: points that the history never had", "", len(found - expected - machine.taken), 0, "", 0)
    duplicates = "SELECT count(*) - count(DISTINCT (machine, generation, n)) FROM location"
    report.limit("the same: duplicates in the database", "", int(database.query(duplicates)), 0, "", 0)
    reused = len(found) - len({n for _, n, *_ in found})
    report.figure("the same: ids that a power cut took and new points have", "", reused)


def fill(service, source):
    """Replays the whole source without a publisher."""
    process = service.start()
    service.wait_until_ready()
    lines = source.read_text().count("<trkpt")
    service.wait_for_points(lines)
    process.stop()


def backlog(report, scratch):
    """the pace of a backlog, on loopback and over a round trip of 200 ms"""
    count = 2_000 if QUICK else 20_000
    source = track(scratch, count)
    broker = Mosquitto(scratch)
    for name, delay, points, goal in (("on loopback", 0, count, 500), ("at a round trip of 200 ms", 0.1, 1_000, 95)):
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        fill(make_service(folder, f"gpx:{source}?rate=max"), source)
        link = Link(broker.port, delay)
        pace = send_backlog(folder, source, min(points, count - 1), "--mqtt", f"mqtt://127.0.0.1:{link.port}")
        report.add(f"backlog {name}, points a second", f"{pace:,.0f}", "", "", f"≥ {goal}", "yes" if pace >= goal else "NO")
    folder = scratch / "posted"
    folder.mkdir()
    fill(make_service(folder, f"gpx:{source}?rate=max"), source)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pace = send_backlog(folder, source, min(4_000, count - 1), "--http", f"http://127.0.0.1:{server.server_port}/")
    server.shutdown()
    report.figure("backlog posted to a web server in Python, points a second", "", pace)


class Receiver(http.server.BaseHTTPRequestHandler):
    """A web server that takes every point."""

    protocol_version = "HTTP/1.1"
    # Otherwise each reply waits for an acknowledgement of the one before.
    disable_nagle_algorithm = True

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def send_backlog(folder, source, points, *target):
    """Sends a stored track until `points` are acknowledged, and returns the points a second."""
    service = make_service(folder, f"gpx:{source}?rate=max")
    with (service.home / "config.yaml").open("a") as file:
        file.write("publish: {startWithin: 0s, pace: 10000}\n")
    process = service.start()
    service.wait_until_ready()
    words = ["publish", "add", "office", *target, "--machine", "bus12"]
    run(PROGRAMS / "backgrounder", *words, "--since", "2000-01-01", "--home", service.home)
    wait_for("a connection", lambda: publisher(service)["state"] == "connected")
    began, before = time.monotonic(), publisher(service)["acknowledged"]
    wait_for("the backlog", lambda: publisher(service)["acknowledged"] >= points, 300)
    pace = (publisher(service)["acknowledged"] - before) / (time.monotonic() - began)
    process.stop()
    return pace


def line_cost(broker, rate, seconds):
    """The processor time of mosquitto_pub for a message of the size of a point, in microseconds."""
    words = ["-h", "127.0.0.1", "-p", broker.port, "-q", "1", "-t", "owntracks/fleet/peer", "-l"]
    process = Process("mosquitto_pub", *words, stdin=subprocess.PIPE)

    def send(count):
        for _ in range(count):
            process.child.stdin.write(b"x" * 200 + b"\n")
            process.child.stdin.flush()
            time.sleep(1 / rate)

    def cpu():
        return sum(seconds for seconds, _ in process.threads().values())

    send(rate)
    before = cpu()
    send(rate * seconds)
    figure = 1e6 * (cpu() - before) / (rate * seconds)
    process.child.stdin.close()
    process.wait()
    return figure


def publisher_threads(process):
    """The threads of the publishers, as keys of `threads()`."""
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return [task.name for task in tasks if (task / "comm").read_text() == "publish\n"]


def cpu_of_point(folder, rate, seconds, port=None):
    """The microseconds of processor time for each point, of the service and of its publisher's thread, and its memory."""
    folder.mkdir()
    service = make_service(folder, f"gpx:{track(folder, rate * (seconds + 20))}?rate={rate}", port)
    process = service.start()
    service.wait_until_ready()
    time.sleep(5)
    own = publisher_threads(process)

    def look():
        threads = process.threads()
        seconds = sum(seconds for seconds, _ in threads.values()), sum(threads[name][0] for name in own)
        return service.query("SELECT max(id) FROM point"), *seconds

    before = look()
    time.sleep(seconds)
    points, *figures = (after - before for after, before in zip(look(), before))
    memory = process.anonymous()
    process.stop()
    return *(1e6 * figure / points for figure in figures), memory


def cost(report, scratch):
    """the processor time of a point, and the memory"""
    seconds, times = (5, 1) if QUICK else (20, 7)
    broker = Mosquitto(scratch)
    runs = {None: [], broker.port: []}
    # In turn, because the processor's speed changes by more than the difference.
    for number in range(times):
        for port, figures in runs.items():
            figures.append(cpu_of_point(scratch / f"{number}-{port}", 100, seconds, port))
    (alone, _, memory), (both, own, more) = (map(statistics.median, zip(*figures)) for figures in runs.values())
    name = f"processor time of a point at 100 Hz, publisher's thread, median of {times}"
    report.limit(name, "µs", own, 15, "a line that mosquitto_pub -l sends", line_cost(broker, 100, seconds))
    report.figure("the same at 1 Hz", "µs", cpu_of_point(scratch / "slow", 1, 3 * seconds, broker.port)[1])
    report.figure(f"processor time of the service for a point without a publisher, median of {times}", "µs", alone)
    report.figure("what a publisher adds to it", "µs", both - alone)
    report.limit("memory, less that without", "MB", more - memory, 2, "without", memory)


def wakeups(report, scratch):
    """wakeups at 1 Hz"""
    seconds, times = (20, 1) if QUICK else (40, 5)
    source = track(scratch, seconds + 60)
    broker = Mosquitto(scratch)
    runs = {None: [], broker.port: []}
    # In turn, because those of the rest of the service change from run to run.
    for number in range(times):
        for port, figures in runs.items():
            folder = scratch / f"{number}-{port}"
            folder.mkdir()
            service = make_service(folder, f"gpx:{source}?rate=1", port)
            process = service.start()
            service.wait_until_ready()
            time.sleep(10)
            own = publisher_threads(process)
            before = process.threads()
            time.sleep(seconds)
            counts = {thread: count - before.get(thread, (0, 0))[1] for thread, (_, count) in process.threads().items()}
            process.stop()
            ours = sum(counts.get(thread, 0) for thread in own)
            figures.append((ours / seconds, (sum(counts.values()) - ours) / seconds))
    (_, alone), (own, others) = (map(statistics.mean, zip(*figures)) for figures in runs.values())
    low, high = min(runs[None])[1], max(runs[None])[1]
    name = f"wakeups a second at 1 Hz, less those without, mean of {times}"
    report.limit(name, "", own + others - alone, 1, f"without, {low:.2f} to {high:.2f}:", alone)
    report.figure("those of the publisher's thread", "", own)


def begun(service, count):
    """The times at which the first samples of `count` announcements were played, as the log has them, and their number."""
    log = (service.home / "backgrounder.log").read_text()
    lines = [line for line in log.splitlines() if " Announcement: " in line]
    return [datetime.datetime.fromisoformat(line.split()[0]).timestamp() for line in lines[-count:]], len(lines)


def announcements(report, scratch):
    """from a command until the first sample, and a group that plays together"""
    count, size = (5, 3) if QUICK else (40, 8)
    broker = Mosquitto(scratch)
    services = []
    for number in range(size):
        folder = scratch / str(number)
        folder.mkdir()
        service = Service(folder / "home", f"gpx:{track(scratch, 1000)}?rate=1")
        items = service.home / "items"
        items.mkdir(parents=True)
        run("sox", "-n", "-r", 44100, "-c", 2, items / "ping.wav", "synth", "0.2", "sine", "880")
        with (service.home / "config.yaml").open("a") as file:
            entry = f'{{mqtt: "mqtt://127.0.0.1:{broker.port}", machine: bus{number}, groups: [all]}}'
            file.write(f"publish: {{startWithin: 0s, brokers: {{office: {entry}}}}}\nfleet: {{items: items}}\n")
        service.process = service.start()
        service.wait_until_ready()
        wait_for("a connection", lambda: publisher(service)["state"] == "connected")
        services.append(service)
    first = services[0]
    send = [PROGRAMS / "backgrounder", "fleet", "announce", "--broker", f"mqtt://127.0.0.1:{broker.port}", "ping.wav"]
    delays = []
    for number in range(count):
        began = time.time()
        run(*send, "--to", "bus0", "--wait", "20s")
        wait_for("the announcement", lambda: begun(first, 1)[1] > number)
        delays.append(begun(first, 1)[0][0] - began)
    delays.sort()
    report.figure("from the start of `fleet announce` until the first sample, median", "ms", 1000 * delays[count // 2])
    report.limit("the same, p95", "ms", 1000 * delays[int(count * 0.95)], 500, "", 0)
    before = [begun(service, 1)[1] for service in services]
    run(*send, "--group", "all", "--at", "+3s", "--wait", "8s")
    for service, earlier in zip(services, before):
        wait_for("the announcement", lambda: begun(service, 1)[1] > earlier)
    times = [begun(service, 1)[0][0] for service in services]
    spread = 1000 * (max(times) - min(times))
    report.limit(f"a group of {size} with --at: from the first to the last", "ms", spread, 1000, "", 0)
    for service in services:
        service.process.stop()


class Namespace:
    """A network of its own. Needs root."""

    def __init__(self):
        self.holder = Process("unshare", "-n", "sleep", "infinity")
        path = Path(f"/proc/{self.holder.pid}/ns/net")
        wait_for("the namespace", lambda: path.readlink() != Path("/proc/self/ns/net").readlink())
        self.enter = ["nsenter", "-t", self.holder.pid, "-n"]
        self.ip("link", "set", "lo", "up")

    def ip(self, *words):
        run(*self.enter, "ip", *words)


def returns(report, scratch):
    """from the return of the default route until the broker has a new position, as root"""
    rounds, size = (2, 2) if QUICK else (10, 5)
    machines, office = Namespace(), Namespace()
    machines.ip("link", "add", "d0", "type", "veth", "peer", "name", "d1")
    machines.ip("link", "set", "d1", "netns", office.holder.pid)
    machines.ip("addr", "add", "198.51.100.1/24", "dev", "d0")
    machines.ip("link", "set", "d0", "up")
    office.ip("addr", "add", "198.51.100.2/24", "dev", "d1")
    office.ip("link", "set", "d1", "up")
    office.ip("addr", "add", "203.0.113.7/32", "dev", "lo")
    route = ["route", "add", "default", "via", "198.51.100.2"]
    machines.ip(*route)
    configuration, messages = scratch / "mosquitto.conf", scratch / "messages"
    configuration.write_text("listener 1883 203.0.113.7\nallow_anonymous true\nuser root\nlog_type none\n")
    Process(*office.enter, MOSQUITTO, "-c", configuration)
    time.sleep(1)
    words = ["-h", "203.0.113.7", "-t", "backgrounder/v1/+/live", "-F", "%U %t"]
    Process(*office.enter, "mosquitto_sub", *words, output=messages)
    for number in range(size):
        folder = scratch / str(number)
        folder.mkdir()
        service = Service(folder / "home", f"gpx:{track(folder, 20_000)}?rate=1")
        with (service.home / "config.yaml").open("a") as file:
            entry = f'{{mqtt: "mqtt://203.0.113.7", machine: bus{number}}}'
            file.write(f"publish: {{startWithin: 0s, brokers: {{office: {entry}}}}}\n")
        service.start(*machines.enter)
        service.wait_until_ready()

    def arrivals(since):
        """The seconds from `since` until the first position of each machine."""
        first = {}
        for line in messages.read_text().splitlines():
            clock, _, topic = line.partition(" ")
            if topic and float(clock) > since:
                first.setdefault(topic, float(clock) - since)
        return list(first.values())

    generator = random.Random(4)
    for name, shortest, longest in (("more than 12 s", 12, 60), ("2 to 10 s", 2, 10)):
        delays = []
        for _ in range(rounds):
            began = time.time()
            wait_for("all machines", lambda: len(arrivals(began)) == size)
            machines.ip("route", "del", "default")
            time.sleep(generator.uniform(shortest, longest))
            machines.ip(*route)
            returned = time.time()
            wait_for("all machines", lambda: len(arrivals(returned)) == size)
            delays += arrivals(returned)
        delays.sort()
        label = f"{len(delays)} times without a route for {name}: from its return until a new position"
        report.figure(f"{label}, median", "s", delays[len(delays) // 2])
        report.limit("the same, p95", "s", delays[int(len(delays) * 0.95)], 2, "", 0)


class Storm:
    """Many machines on one mosquitto, in a network of their own, and what arrives. Needs root."""

    HOSTS = [f"10.77.0.{number}" for number in range(1, 6)]

    def __init__(self, scratch):
        self.points, self.positions, self.network = scratch / "points", scratch / "positions", Namespace()
        for host in self.HOSTS:
            self.network.ip("addr", "add", f"{host}/32", "dev", "lo")
        # A machine needs four descriptors, and the broker one for each.
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
        self.configuration = scratch / "mosquitto.conf"
        self.configuration.write_text(
            # The office is at the broker, and has a listener of its own. Without an address, mosquitto would ask the kernel for it at
            # its start. That takes seconds while many machines begin to watch the routes of this kernel.
            "listener 1883 0.0.0.0\nlistener 1884 127.0.0.1\nallow_anonymous true\nuser root\npersistence true\n"
            f"persistence_location {scratch}/\nmax_queued_messages 0\nmax_inflight_messages 2000\nlog_type none\n"
        )
        self.simulators = []
        # When each host could be reached again.
        self.restored = {host: [] for host in self.HOSTS}
        self.start()
        common = ["mosquitto_sub", "-h", "127.0.0.1", "-p", 1884]
        durable = ["-c", "-i", "collector", "-q", "1", "-t", "owntracks/#", "-F", "%t %p"]
        Process(*self.network.enter, *common, *durable, output=self.points)
        Process(*self.network.enter, *common, "-t", "backgrounder/v1/+/live", "-F", "%U %t %p", output=self.positions)
        time.sleep(1)

    def start(self):
        self.broker = Process(*self.network.enter, MOSQUITTO, "-c", self.configuration)
        words = [str(word) for word in self.network.enter]
        probe = [*words, "mosquitto_pub", "-h", "127.0.0.1", "-p", "1884", "-t", "probe", "-n"]
        for times in self.restored.values():
            times.append(time.time())
        wait_for("mosquitto", lambda: subprocess.run(probe, capture_output=True).returncode == 0)

    def cut(self, host, seconds):
        self.network.ip("addr", "del", f"{host}/32", "dev", "lo")
        time.sleep(seconds)
        self.network.ip("addr", "add", f"{host}/32", "dev", "lo")
        self.restored[host].append(time.time())

    def simulate(self, first, count, backlog=0):
        words = [*self.network.enter, PROGRAMS / "fleet-simulator", first, count, backlog, 1883, *self.HOSTS]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "start_new_session": True}
        simulator = subprocess.Popen([str(word) for word in words], **options)
        self.simulators.append(simulator)
        # Real machines have processors of their own, so their threads do not delay the broker. Linux divides the time among sessions
        # (sched(7), "The autogroup feature").
        Path(f"/proc/{simulator.pid}/autogroup").write_text("19")

    def end(self):
        for simulator in self.simulators:
            simulator.kill()
            simulator.wait()

    def delays(self, begun, over):
        """The seconds from each fix, or from the return of the link after it, until the position arrived in this time."""
        delays = []
        for line in self.positions.read_text().splitlines():
            clock, _, rest = line.partition(" ")
            topic, _, text = rest.partition(" ")
            if text.endswith("}") and begun < float(clock) < over:
                host = self.HOSTS[int(topic.split("/")[2].removeprefix("bus")) % len(self.HOSTS)]
                earlier = [moment for moment in self.restored[host] if moment < float(clock)]
                delays.append(float(clock) - max([json.loads(text)["tst"], *earlier]))
        return sorted(delays)

    def stop_fixes(self):
        """Ends the fixes, and returns how many points each machine has."""
        for simulator in self.simulators:
            simulator.stdin.close()
        lines = [line.split() for simulator in self.simulators for line in self.lines(simulator)]
        return {machine: int(count) for machine, count in lines}

    @staticmethod
    def lines(simulator):
        count = int(simulator.args[6])
        return [simulator.stdout.readline() for _ in range(count)]

    def arrived(self):
        """The numbers of points that have arrived, with repetitions, by machine."""
        numbers = {}
        for line in self.points.read_text().splitlines():
            topic, _, text = line.partition(" ")
            if text.endswith("}"):
                numbers.setdefault(topic.rpartition("/")[2], []).append(int(text.partition('"n":')[2].partition(",")[0]))
        return numbers


def storm(report, scratch):
    """10,000 machines with a fix every 10 s: a fifth cut off at a time, ends of the broker, an hour's backlog of 1,000"""
    count, late, unit = (300, 30, 15) if QUICK else (9_000, 1_000, 40)
    fleet = Storm(scratch)
    try:
        phases = []

        def phase(name, body):
            began = time.time()
            body()
            phases.append((name, began, time.time()))

        def cut_each():
            for host in fleet.HOSTS:
                fleet.cut(host, unit / 2)
                time.sleep(unit / 2)

        def restart():
            fleet.broker.stop()
            fleet.start()
            time.sleep(unit)

        def kill():
            # It saves the durable sessions: without them it would acknowledge points after its start and drop them.
            os.kill(fleet.broker.pid, signal.SIGUSR1)
            time.sleep(5)
            fleet.broker.stop(signal.SIGKILL)
            fleet.start()
            time.sleep(unit)

        def return_late():
            fleet.simulate(count, late, 360)
            time.sleep(3 * unit)

        # For each connection, libmosquitto calls sigaction(2), in which Linux goes through all threads of a process.
        for part in range(30):
            fleet.simulate(part * count // 30, count // 30)
        time.sleep(unit)
        phase("no fault", lambda: time.sleep(unit))
        phase("a fifth cut off at a time", cut_each)
        phase("a restart of the broker", restart)
        phase("a kill of the broker", kill)
        phase(f"{late:,} return after an hour", return_late)
        expected = fleet.stop_fixes()
        total = sum(expected.values())

        def missing():
            arrived = fleet.arrived()
            return sum(len(set(range(1, known + 1)) - set(arrived.get(machine, []))) for machine, known in expected.items())

        deadline = time.monotonic() + 300
        while (lost := missing()) and time.monotonic() < deadline:
            time.sleep(5)
        report.limit(f"{count + late:,} machines, {total:,} points: lost", "", lost, 0, "", 0)
        repeats = sum(len(numbers) for numbers in fleet.arrived().values()) - (total - lost)
        report.figure("the same: repeats on the wire, of all points", "%", 100 * repeats / total)
        for name, begun, over in phases:
            delays = fleet.delays(begun, over)
            label = f"from a fix, or the return of the link, until the position, {name}: p95 of {len(delays):,}"
            report.limit(label, "s", delays[int(len(delays) * 0.95)], 5, "", 0)
    finally:
        fleet.end()


def collector(report, scratch):
    """points a second into PostgreSQL, beside COPY of the same points"""
    count, machines = (20_000, 10) if QUICK else (400_000, 100)
    broker, database = Mosquitto(scratch), Database(scratch)
    office = Collector(broker, database)
    office.stop()
    each, lines = count // machines, scratch / "lines"
    for machine in range(machines):
        with lines.open("w") as file:
            for number in range(each):
                tst, place = 1_795_000_000 + number, f'"lat":{48 + number * 1e-5:.6f},"lon":{11 + machine * 1e-2:.6f}'
                key = f'"bg":{{"g":"5a5a5a5a","n":{number + 1},"ms":0,"seg":0}}'
                rest = f'"acc":5,"alt":520,"vac":8,"vel":50,"cog":90,"tid":"12","created_at":{tst}'
                file.write(f'{{"_type":"location","_id":"5a5a5a5a-{number + 1}","tst":{tst},{place},{rest},{key}}}\n')
        send = ["mosquitto_pub", "-h", "127.0.0.1", "-p", str(broker.port), "-q", "1", "-l"]
        with lines.open() as file:
            subprocess.run([*send, "-t", f"owntracks/fleet/bus{machine}"], stdin=file, check=True)
    database.query("CHECKPOINT")
    began = time.monotonic()
    office.start()
    while office.metric('backgrounder_collector_points_total{result="stored"}') < count:
        time.sleep(0.2)
    pace = count / (time.monotonic() - began)
    office.stop()
    columns, copied = "machine, generation, n, time, point, accuracy, speed, course, altitude, segment", scratch / "copied"
    database.query("CREATE TABLE peer (LIKE location INCLUDING ALL)")
    with copied.open("wb") as file:
        database.psql(f"COPY (SELECT {columns} FROM location) TO STDOUT", stdout=file)
    database.query("CHECKPOINT")
    began = time.monotonic()
    with copied.open("rb") as file:
        database.psql(f"COPY peer ({columns}) FROM STDIN", stdin=file)
    peer = count / (time.monotonic() - began)
    name = f"{count:,} points from the broker into PostgreSQL, a second"
    report.add(name, f"{pace:,.0f}", "COPY alone", f"{peer:,.0f}", "≥ 20,000", "yes" if pace >= 20_000 else "NO")


if __name__ == "__main__":
    parts = [rounds, faults, backlog, cost, wakeups, announcements, returns, storm, collector]
    sys.exit(run_parts(parts, sys.argv[1:], [MOSQUITTO, "-h"]))
