#!/usr/bin/python3
"""Measures publishing to a real broker: losses, repetitions, the pace of a backlog, and the cost of a point.

    make bench-fleet            # or python3 Benchmarks/fleet.py rounds
"""

import json
import os
import random
import selectors
import signal
import socket
import sys
import threading
import time
from collections import Counter, deque

from parts import run_parts
from processes import PROGRAMS, Process, Service, free_port, run, wait_for

QUICK = bool(os.environ.get("QUICK"))
MOSQUITTO = "/usr/sbin/mosquitto"


class Broker:
    """A mosquitto that keeps the messages of durable sessions."""

    def __init__(self, scratch):
        self.port = free_port()
        self.configuration = scratch / "mosquitto.conf"
        self.configuration.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\npersistence true\n"
            f"persistence_location {scratch}/\nmax_queued_messages 0\nlog_type none\n"
        )
        self.start()

    def start(self):
        self.process = Process(MOSQUITTO, "-c", self.configuration)

        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for("mosquitto", answers)

    def stop(self):
        self.process.stop()


class Consumer:
    """A durable subscription; it begins before anything is published."""

    def __init__(self, broker, scratch):
        self.file = scratch / "messages"
        words = ["-h", "127.0.0.1", "-p", broker.port, "-c", "-i", "collector", "-q", "1", "-t", "owntracks/#"]
        self.process = Process("mosquitto_sub", *words, output=self.file)
        time.sleep(1)

    def keys(self):
        """The keys of the points in the order of their arrival."""
        lines = self.file.read_text().splitlines()
        return [(point["g"], point["n"]) for point in (json.loads(line)["bg"] for line in lines if line.endswith("}"))]


class Link:
    """A TCP link to the broker with a delay, which can be cut."""

    def __init__(self, port, delay=0.0):
        self.target, self.delay = port, delay
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs, self.lock = [], threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            near, _ = self.listener.accept()
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            with self.lock:
                self.pairs.append((near, far))
            threading.Thread(target=self.carry, args=(near, far), daemon=True).start()

    def carry(self, near, far):
        waiting = deque()
        with selectors.DefaultSelector() as selector:
            selector.register(near, selectors.EVENT_READ, far)
            selector.register(far, selectors.EVENT_READ, near)
            try:
                while True:
                    patience = max(0, waiting[0][0] - time.monotonic()) if waiting else None
                    for key, _ in selector.select(patience):
                        data = key.fileobj.recv(1 << 16)
                        if not data:
                            raise OSError("the end")
                        waiting.append((time.monotonic() + self.delay, key.data, data))
                    while waiting and waiting[0][0] <= time.monotonic():
                        _, target, data = waiting.popleft()
                        target.sendall(data)
            except OSError:
                self.end(near, far)

    def end(self, *ends):
        for end in ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def cut(self):
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass


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
    broker = Broker(scratch)
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
    # At a pace and a rate of faults far above those of any link.
    repeats = len(keys) - len(received)
    report.limit("the same: repeats on the wire, for each fault", "", repeats / count, 20, "", 0)
    report.figure("the same: repeats on the wire, of all points", "%", 100 * repeats / len(received))
    report.limit("the same: most copies of one point", "", max(Counter(keys).values()), 3, "", 0)


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
    broker = Broker(scratch)
    for name, delay, points, goal in (("on loopback", 0, count, 500), ("at a round trip of 200 ms", 0.1, 1_000, 95)):
        folder = scratch / name.replace(" ", "-")
        folder.mkdir()
        fill(make_service(folder, f"gpx:{source}?rate=max"), source)
        link = Link(broker.port, delay)
        service = make_service(folder, f"gpx:{source}?rate=max")
        with (service.home / "config.yaml").open("a") as file:
            file.write("publish: {startWithin: 0s, pace: 10000}\n")
        process = service.start()
        service.wait_until_ready()
        words = ["publish", "add", "office", "--mqtt", f"mqtt://127.0.0.1:{link.port}", "--machine", "bus12"]
        run(PROGRAMS / "backgrounder", *words, "--since", "2000-01-01", "--home", service.home)
        wait_for("a connection", lambda: publisher(service)["state"] == "connected")
        began, before = time.monotonic(), publisher(service)["acknowledged"]
        wait_for("the backlog", lambda: publisher(service)["acknowledged"] >= min(points, count - 1), 300)
        pace = (publisher(service)["acknowledged"] - before) / (time.monotonic() - began)
        report.add(f"backlog {name}, points a second", f"{pace:,.0f}", "", "", f"≥ {goal}", "yes" if pace >= goal else "NO")
        process.stop()


def cost(report, scratch):
    """the processor time of a point, and the memory"""
    rate, seconds = 100, 10 if QUICK else 60
    source = track(scratch, rate * (seconds + 20))
    broker = Broker(scratch)
    figures = []
    for name, port in (("without", None), ("with", broker.port)):
        folder = scratch / name
        folder.mkdir()
        service = make_service(folder, f"gpx:{source}?rate={rate}", port)
        process = service.start()
        service.wait_until_ready()
        time.sleep(5)
        before = process.cpu(), service.query("SELECT max(id) FROM point")
        time.sleep(seconds)
        after = process.cpu(), service.query("SELECT max(id) FROM point")
        figures.append((1e6 * (after[0] - before[0]) / (after[1] - before[1]), process.anonymous()))
        process.stop()
    (alone, memory), (both, more) = figures
    report.limit(f"processor time of a point at {rate} Hz, less that without", "µs", both - alone, 15, "without", alone)
    report.limit("memory, less that without", "MB", more - memory, 2, "without", memory)


def wakeups(report, scratch):
    """wakeups at 1 Hz"""
    seconds = 20 if QUICK else 60
    source = track(scratch, seconds + 60)
    broker = Broker(scratch)
    figures = []
    for name, port in (("without", None), ("with", broker.port)):
        folder = scratch / name
        folder.mkdir()
        service = make_service(folder, f"gpx:{source}?rate=1", port)
        process = service.start()
        service.wait_until_ready()
        time.sleep(10)
        before = process.threads()
        time.sleep(seconds)
        after = process.threads()
        figures.append(sum(count - before.get(thread, (0, 0))[1] for thread, (_, count) in after.items()) / seconds)
        process.stop()
    alone, both = figures
    report.limit("wakeups a second at 1 Hz, less those without", "", both - alone, 1, "without", alone)


if __name__ == "__main__":
    sys.exit(run_parts([rounds, backlog, cost, wakeups], sys.argv[1:], [MOSQUITTO, "-h"]))
