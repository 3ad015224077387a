"""A service under test: its home, its process, its socket, and a receiver that feeds it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path


class Receiver(threading.Thread):
    """A fake gpsd that sends every client the fixes of a moving receiver, one each `interval` seconds."""

    def __init__(self, interval=0.02):
        super().__init__(daemon=True)
        self.interval = interval
        self.server = socket.create_server(("127.0.0.1", 0))
        self.port = self.server.getsockname()[1]
        self.lock = threading.Lock()
        self.count = 0
        self.start()

    def run(self):
        while True:
            client, _ = self.server.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        lines = [
            {"class": "VERSION", "release": "3.22", "rev": "3.22", "proto_major": 3, "proto_minor": 14},
            {"class": "DEVICES", "devices": [{"class": "DEVICE", "path": "/dev/gps0", "activated": 1.0}]},
            {"class": "WATCH", "enable": True, "json": True},
        ]
        try:
            self.say(client, lines)
            while True:
                time.sleep(self.interval)
                self.say(client, [self.fix()])
        except OSError:
            client.close()

    @staticmethod
    def say(client, lines):
        client.sendall(b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\r\n" for line in lines))

    def fix(self):
        with self.lock:
            self.count += 1
            count = self.count
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"
        return {
            "class": "TPV", "device": "/dev/gps0", "mode": 3, "time": stamp, "lat": 52.5 + count * 1e-6, "lon": 13.4,
            "alt": 34.0, "epx": 3.0, "epy": 3.0, "epv": 5.0, "speed": 5.0, "track": 0.0,
        }


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        # With a timeout, connecting fails immediately while the accept queue is full.
        self.sock.connect(self.path)
        self.sock.settimeout(self.timeout)


class Service:
    """`backgrounderd` with a home of its own."""

    def __init__(self, programs, home, configuration="", source="gpsd://127.0.0.1:1", prefix=(), environment=None):
        self.programs = Path(programs)
        self.home = Path(home)
        self.home.mkdir(parents=True, exist_ok=True)
        (self.home / "config.yaml").write_text(
            f"modes: [audio, location]\nlocation:\n  source: {source}\n  usageDescription: Torture\n"
            f'audio:\n  driver: "null"\n{configuration}'
        )
        # A power cut must not lose the configuration.
        os.sync()
        self.prefix = list(prefix)
        # Not --home: with a preloaded libfaketime the service does not get its arguments.
        self.environment = {**os.environ, "BACKGROUNDER_HOME": str(self.home), **(environment or {})}
        self.process = None
        self.errors = tempfile.TemporaryFile()

    @property
    def socket(self):
        return str(self.home / "run" / "control.sock")

    @property
    def database(self):
        return self.home / "state" / "backgrounder.sqlite"

    def start(self, limit=30):
        """Starts the service and returns the seconds until it answered."""
        began = time.monotonic()
        self.process = subprocess.Popen(
            [*self.prefix, str(self.programs / "backgrounderd")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors, env=self.environment,
        )
        while True:
            if self.process.poll() is not None:
                raise RuntimeError(f"the service ended with {self.process.returncode}: {self.last_line()}")
            try:
                self.get("/v1/status", timeout=5)
                return time.monotonic() - began
            except OSError:
                if time.monotonic() - began > limit:
                    raise
                time.sleep(0.005)

    def kill(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def stop(self, limit=15):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=limit)
        self.process = None
        return code

    def last_line(self):
        """The last line of its standard error."""
        self.errors.seek(0)
        said = self.errors.read().decode(errors="replace").strip().splitlines()
        return said[-1] if said else "no output"

    def request(self, method, path, body=None, timeout=30, headers=None):
        """The status and the body of the response."""
        connection = UnixConnection(self.socket, timeout)
        try:
            headers = {"Content-Type": "application/json", **(headers or {})} if body is not None else headers or {}
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def get(self, path, timeout=30):
        status, body = self.request("GET", path, timeout=timeout)
        if status != 200:
            raise RuntimeError(f"GET {path}: {status} {body[:200]}")
        return json.loads(body)

    def command(self, *words, check=True):
        return subprocess.run(
            [str(self.programs / "backgrounder"), "--home", str(self.home), *words],
            capture_output=True, text=True, timeout=120, check=check, env=self.environment,
        )

    def history(self):
        return [point["timestamp"] for point in self.get("/v1/track/history")]

    # Values of the kernel about the process.

    def resident(self):
        """The resident memory in kB."""
        return int(self.status_line("VmRSS"))

    def threads(self):
        return int(self.status_line("Threads"))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def processor_time(self):
        """The processor time in seconds."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def status_line(self, name):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(name + ":"):
                return line.split()[1]
        raise KeyError(name)


class Listener(threading.Thread):
    """Reads the event stream and records when each point arrived."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.connection = UnixConnection(service.socket, 60)
        self.connection.request("GET", "/v1/events")
        self.response = self.connection.getresponse()
        self.points = []
        self.start()

    def run(self):
        kind = None
        try:
            for line in self.response:
                if line.startswith(b"event: "):
                    kind = line[7:].strip()
                elif line.startswith(b"data: ") and kind == b"location":
                    self.points.append((time.monotonic(), json.loads(line[6:])["timestamp"]))
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # http.client raises AttributeError if the connection is closed in the meantime.

    def wait(self, count, limit=20):
        deadline = time.monotonic() + limit
        while len(self.points) < count:
            if time.monotonic() > deadline:
                raise RuntimeError(f"only {len(self.points)} of {count} points arrived within {limit} s")
            time.sleep(0.005)
