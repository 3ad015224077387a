"""What an office of a fleet has: brokers, PostgreSQL and collectors, and the links to them."""

import json
import os
import pwd
import re
import selectors
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections import deque
from pathlib import Path

from processes import PROGRAMS, ROOT, Process, free_port, run, wait_for

MOSQUITTO = "/usr/sbin/mosquitto"
NATS = ROOT / ".build" / "nats" / "bin" / "nats-server"


class Broker:
    """A broker that keeps the messages of durable sessions, also while it is stopped."""

    def __init__(self, *command):
        self.command = command
        self.start()

    def start(self):
        self.process = Process(*self.command)

        def answers():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", self.port)) == 0

        wait_for(self.command[0], answers)

    def stop(self, sent=signal.SIGTERM):
        self.process.stop(sent)


class Mosquitto(Broker):
    """Saves its messages at its end, and each `saves` seconds. A kill takes later ones."""

    def __init__(self, scratch, saves=1800):
        self.port = free_port()
        configuration = scratch / "mosquitto.conf"
        configuration.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\npersistence true\n"
            f"persistence_location {scratch}/\nautosave_interval {saves}\n"
            "max_queued_messages 0\nmax_inflight_messages 2000\nlog_type none\n"
        )
        super().__init__(MOSQUITTO, "-c", configuration)


class JetStream(Broker):
    """NATS, which writes each message into a file before it acknowledges it."""

    def __init__(self, scratch):
        self.port = free_port()
        configuration = scratch / "nats.conf"
        configuration.write_text(
            f'server_name: office\nlisten: "127.0.0.1:{free_port()}"\njetstream {{ store_dir: "{scratch}/jetstream" }}\n'
            f'mqtt {{ host: "127.0.0.1", port: {self.port} }}\n'
        )
        super().__init__(NATS, "-c", configuration, "-l", scratch / "nats.log")


class Consumer:
    """A durable subscription; it begins before anything is published."""

    def __init__(self, broker, scratch):
        self.file = scratch / "messages"
        words = ["-h", "127.0.0.1", "-p", broker.port, "-c", "-i", "consumer", "-q", "1", "-t", "owntracks/#"]
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
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
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
                        # Delayed acknowledgements would hold back small segments; a link has none of its own.
                        key.fileobj.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
                        waiting.append((time.monotonic() + self.delay, key.data, data))
                    while waiting and waiting[0][0] <= time.monotonic():
                        _, target, data = waiting.popleft()
                        self.forward(target, data)
            except OSError:
                self.end(near, far)

    def forward(self, target, data):
        target.sendall(data)

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


class Tap(Link):
    """A link that records the keys of the points which it gives to the broker."""

    KEY = re.compile(rb'"_id":"([0-9a-f]{8}-[0-9]+)"')

    def __init__(self, port):
        # The end of the last data of each connection, in which a key can begin.
        self.keys, self.rest = [], {}
        super().__init__(port)

    def forward(self, target, data):
        super().forward(target, data)
        if target.getpeername()[1] == self.target:
            data = self.rest.get(target, b"") + data
            found = list(self.KEY.finditer(data))
            self.keys += [match[1] for match in found]
            self.rest[target] = data[found[-1].end() :] if found else data[-64:]


class Database:
    """A PostgreSQL server with an empty database."""

    def __init__(self, scratch):
        programs = max(Path("/usr/lib/postgresql").glob("*/bin"))
        self.port, data = free_port(), scratch / "postgres"
        data.mkdir()
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"] if os.getuid() == 0 else []
        if user:
            # The folders above must be open for the other user.
            for folder in [data, *data.parents][:3]:
                os.chmod(folder, 0o755)
            os.chown(data, pwd.getpwnam("postgres").pw_uid, -1)
        run(*user, programs / "initdb", "-D", data / "data", "-A", "trust", "-U", "postgres", "--no-sync")
        options = ["-k", data, "-p", self.port, "-c", "listen_addresses=127.0.0.1", "-c", "max_wal_size=4GB"]
        self.command = [*user, programs / "postgres", "-D", data / "data", *options]
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/postgres"
        self.start()

    def start(self):
        self.process = Process(*self.command)
        wait_for("PostgreSQL", lambda: self.psql("SELECT 1").returncode == 0)

    def kill(self):
        """Kills all its processes."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(expected=(-signal.SIGKILL,))

    def psql(self, sql, **options):
        return subprocess.run(["psql", "-qXAtc", sql, self.url], capture_output="stdout" not in options, **options)

    def query(self, sql):
        answer = self.psql(sql, text=True)
        answer.check_returncode()
        return answer.stdout.strip()


class Collector:
    """A `backgrounder fleet collect`."""

    def __init__(self, broker, database):
        self.port = free_port()
        addresses = ["--mqtt", f"mqtt://127.0.0.1:{broker.port}", "--postgres", database.url]
        self.command = ["fleet", "collect", *addresses, "--metrics", f"127.0.0.1:{self.port}"]
        self.start()
        # It is durable, so the broker keeps the points of the time without a collector.
        wait_for("the subscription", lambda: self.metric('backgrounder_collector_up{peer="broker"}') == 1)

    def start(self):
        self.process = Process(PROGRAMS / "backgrounder", *self.command)

    def stop(self, sent=signal.SIGTERM):
        self.process.stop(sent)

    def metric(self, name):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as reply:
                text = reply.read().decode()
        except OSError:
            return 0
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name)), 0)
