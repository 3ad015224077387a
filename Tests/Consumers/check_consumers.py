"""Programs that receive the points of a machine, unchanged: NATS with JetStream, RabbitMQ and Home Assistant.

    make test-consumers
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Benchmarks"))

from fleet import make_service, publisher, track, wait_until_sent
from processes import PROGRAMS, Process, Service, free_port, run, wait_for
from servers import Consumer, Mosquitto

TOOLS = Path(sys.executable).parent


class NATS:
    """Three nodes that keep each message three times."""

    def __init__(self, scratch):
        self.scratch = scratch
        self.ports = [{name: free_port() for name in ("client", "mqtt", "cluster")} for _ in range(3)]
        self.port = self.ports[0]["mqtt"]
        self.nodes = [self.start(number) for number in range(3)]

    def start(self, number):
        folder = self.scratch / f"node{number}"
        folder.mkdir(exist_ok=True)
        ports = self.ports[number]
        routes = ", ".join(f'"nats-route://127.0.0.1:{other["cluster"]}"' for other in self.ports)
        (folder / "nats.conf").write_text(
            f'server_name: node{number}\nlisten: "127.0.0.1:{ports["client"]}"\n'
            f'jetstream {{ store_dir: "{folder}/jetstream" }}\nmqtt {{ host: "127.0.0.1", port: {ports["mqtt"]} }}\n'
            f'cluster {{ name: test, listen: "127.0.0.1:{ports["cluster"]}", routes: [{routes}] }}\n'
        )
        return Process(TOOLS / "nats-server", "-c", folder / "nats.conf", "-l", folder / "log")

    def kill(self, number):
        self.nodes[number].stop(signal.SIGKILL)

    def restart(self, number):
        self.nodes[number] = self.start(number)


class RabbitMQ:
    """Two nodes of a cluster."""

    TOOLS = Path("/usr/lib/rabbitmq/bin")

    def __init__(self, scratch):
        self.scratch, self.mapper = scratch, free_port()
        self.ports = [{name: free_port() for name in ("amqp", "mqtt", "nodes")} for _ in range(2)]
        self.port = self.ports[0]["mqtt"]
        self.nodes = [self.start(number) for number in range(2)]
        for number in range(2):
            self.wait(number)
        for words in (["stop_app"], ["join_cluster", "node0@localhost"], ["start_app"]):
            self.control(1, *words)

    def environment(self, number):
        folder = self.scratch / f"node{number}"
        folder.mkdir(exist_ok=True)
        return {
            "HOME": str(self.scratch),
            "ERL_EPMD_PORT": str(self.mapper),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_DIST_PORT": str(self.ports[number]["nodes"]),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_MNESIA_BASE": str(folder),
            "RABBITMQ_NODENAME": f"node{number}@localhost",
            "RABBITMQ_NODE_PORT": str(self.ports[number]["amqp"]),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
        }

    def start(self, number):
        environment, folder = self.environment(number), self.scratch / f"node{number}"
        (folder / "plugins").write_text("[rabbitmq_mqtt].")
        (folder / "rabbitmq.conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.ports[number]['amqp']}\n"
            f"mqtt.listeners.tcp.1 = 127.0.0.1:{self.ports[number]['mqtt']}\n"
            "mqtt.allow_anonymous = true\nmqtt.default_user = guest\nmqtt.default_pass = guest\n"
        )
        return Process(self.TOOLS / "rabbitmq-server", environment=environment)

    def control(self, number, *words):
        environment = {**os.environ, **self.environment(number)}
        done = subprocess.run([self.TOOLS / "rabbitmqctl", *words], env=environment, capture_output=True, text=True)
        return done.returncode == 0

    def wait(self, number):
        wait_for(f"node {number}", lambda: self.control(number, "await_startup", "--timeout", "60"))

    def restart(self, number):
        self.control(number, "stop")
        self.nodes[number].wait()
        self.nodes[number] = self.start(number)
        self.wait(number)

    def end(self):
        """Ends the nodes, and the port mapper that they have started in the background."""
        Process.end_all()
        words = ["epmd", "-port", str(self.mapper), "-kill"]
        wait_for("the port mapper", lambda: b"Killed" in subprocess.run(words, capture_output=True).stdout)


class HomeAssistant:
    """Home Assistant with its integrations MQTT and OwnTracks. It publishes the states that it keeps."""

    WEBHOOK = "0123456789abcdef"

    def __init__(self, scratch, broker_port):
        folder, self.port = scratch / "homeassistant", free_port()
        (folder / ".storage").mkdir(parents=True)
        (folder / "configuration.yaml").write_text(
            "homeassistant: {latitude: 0, longitude: 0}\n"
            f"http: {{server_host: 127.0.0.1, server_port: {self.port}}}\n"
            "mqtt_statestream: {base_topic: states, publish_attributes: true}\nlogger: {default: info}\n"
        )
        entries = [
            ("mqtt", {"broker": "127.0.0.1", "port": broker_port}),
            ("owntracks", {"webhook_id": self.WEBHOOK, "secret": "", "cloudhook": False}),
        ]
        common = {"version": 1, "minor_version": 1, "options": {}, "source": "user", "unique_id": None}
        common |= {"pref_disable_new_entities": False, "pref_disable_polling": False, "disabled_by": None}
        entries = [{"entry_id": name, "domain": name, "title": name, "data": data, **common} for name, data in entries]
        storage = {"version": 1, "minor_version": 1, "key": "core.config_entries", "data": {"entries": entries}}
        (folder / ".storage/core.config_entries").write_text(json.dumps(storage))
        self.file, birth = scratch / "states", scratch / "birth"
        words = ["mosquitto_sub", "-h", "127.0.0.1", "-p", broker_port]
        Process(*words, "-t", "states/device_tracker/#", "-v", output=self.file)
        Process(*words, "-t", "homeassistant/status", output=birth)
        Process(TOOLS / "hass", "--skip-pip", "-c", folder)
        wait_for("Home Assistant", lambda: "online" in birth.read_text())

    def place(self, entity):
        """The newest position of a tracked device; `None` without one."""
        values = {}
        for line in self.file.read_text().splitlines():
            topic, _, value = line.partition(" ")
            values[topic] = value
        names = [f"states/device_tracker/{entity}/{name}" for name in ("latitude", "longitude")]
        return tuple(float(values[name]) for name in names) if all(name in values for name in names) else None


class Consumers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(Process.end_all)
        self.scratch = Path(folder.name)

    def start(self, port):
        self.service = make_service(self.scratch, f"gpx:{track(self.scratch, 20_000)}?rate=50", port)
        self.service.start()
        self.service.wait_until_ready()

    def wait_for_points(self, count):
        goal = publisher(self.service)["acknowledged"] + count
        wait_for("points", lambda: publisher(self.service)["acknowledged"] >= goal)

    def check_arrival(self, consumer):
        run(PROGRAMS / "backgrounder", "location", "stop", "--home", self.service.home)
        wait_until_sent(self.service)
        stored = self.service.query("SELECT max(id) FROM point WHERE id > 0")
        wait_for("the last point", lambda: stored in (number for _, number in consumer.keys()))
        time.sleep(1)
        numbers = [number for _, number in consumer.keys()]
        # The first points may be older than the publisher.
        self.assertEqual(set(numbers), set(range(min(numbers), stored + 1)))
        newest = min(numbers) - 1
        for number in numbers:
            self.assertLessEqual(number, newest + 1, "the order")
            newest = max(newest, number)
        print(f"{self.id().rpartition('.')[2]}: {stored} points, {len(numbers) - len(set(numbers))} repeats")

    def test_nats_receives_every_point_over_kills_of_nodes(self):
        cluster = NATS(self.scratch)
        time.sleep(5)
        consumer = Consumer(type("Node", (), {"port": cluster.ports[2]["mqtt"]}), self.scratch)
        self.start(cluster.port)
        self.wait_for_points(100)
        self.check_commands(cluster.ports[2]["mqtt"])
        cluster.kill(1)
        time.sleep(3)
        cluster.restart(1)
        self.wait_for_points(100)
        # The node that the machine is connected to.
        cluster.kill(0)
        time.sleep(3)
        self.assertEqual(publisher(self.service)["state"], "waiting")
        cluster.restart(0)
        self.wait_for_points(100)
        self.check_commands(cluster.ports[1]["mqtt"])
        self.check_arrival(consumer)

    def test_rabbitmq_receives_every_point_over_restarts_of_a_node(self):
        cluster = RabbitMQ(self.scratch)
        self.addCleanup(cluster.end)
        consumer = Consumer(type("Node", (), {"port": cluster.ports[1]["mqtt"]}), self.scratch)
        self.start(cluster.port)
        self.wait_for_points(100)
        self.check_commands(cluster.ports[1]["mqtt"])
        cluster.restart(0)
        self.wait_for_points(100)
        self.check_commands(cluster.ports[1]["mqtt"])
        self.check_arrival(consumer)

    def check_commands(self, port):
        """Commands over another node of the cluster, and that the machine executes them."""
        for words in (["status"], ["volume", "30"], ["fetch", "missing"]):
            sent = ["--broker", f"mqtt://127.0.0.1:{port}", "--to", "bus12", "--wait", "10s", "--format", "json"]
            send = [PROGRAMS / "backgrounder", "fleet", "send", *sent, *words]
            done = subprocess.run(send, capture_output=True, text=True)
            result = "refused" if "missing" in words else "done"
            self.assertIn(result, done.stdout, f"{words}: {done}")

    def check_home_assistant(self, broker_port):
        home = HomeAssistant(self.scratch, broker_port)
        # Its points have an accuracy, without which Home Assistant ignores them.
        self.service = Service(self.scratch / "home", f"gpx:{ROOT}/tracks/freeway-drive.gpx?rate=50")
        mqtt = f'{{mqtt: "mqtt://127.0.0.1:{broker_port}", machine: bus12, homeAssistant: true}}'
        webhook = f"http://127.0.0.1:{home.port}/api/webhook/{home.WEBHOOK}"
        http = f'{{http: "{webhook}", machine: bus12, owntracks: ann/bike}}'
        with (self.service.home / "config.yaml").open("a") as file:
            file.write(f"publish: {{startWithin: 0s, brokers: {{a: {mqtt}, b: {http}}}}}\n")
        self.service.start()
        self.service.wait_until_ready()
        wait_for("points", lambda: publisher(self.service)["acknowledged"] > 100)
        run(PROGRAMS / "backgrounder", "location", "stop", "--home", self.service.home)
        wait_until_sent(self.service)
        columns = "latitude", "longitude"
        place = [self.service.query(f"SELECT {name} FROM point ORDER BY id DESC LIMIT 1") for name in columns]
        # Over discovery, as OwnTracks over MQTT, and as OwnTracks over HTTP.
        for entity in ("bus12", "fleet_bus12", "ann_bike"):

            def is_there():
                shown = home.place(entity)
                return shown and all(abs(a - b) < 2e-6 for a, b in zip(shown, place))

            wait_for(f"{place} at {entity}, not {home.place(entity)}", is_there, 20)

    def test_home_assistant_shows_the_newest_position(self):
        self.check_home_assistant(Mosquitto(self.scratch).port)

    def test_home_assistant_at_nats(self):
        cluster = NATS(self.scratch)
        time.sleep(5)
        self.check_home_assistant(cluster.port)

    def test_home_assistant_at_rabbitmq(self):
        # RabbitMQ passes retained messages to no subscription with wildcards, so Home Assistant starts before the machine.
        cluster = RabbitMQ(self.scratch)
        self.addCleanup(cluster.end)
        self.check_home_assistant(cluster.port)


if __name__ == "__main__":
    unittest.main()
