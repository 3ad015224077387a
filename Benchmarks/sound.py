"""Sound servers, players and their music."""

import http.client
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

from processes import PROGRAMS, ROOT, WORK, Failure, Process, run, wait_for


def music(seconds):
    """An MP3 of 192 kbit/s with sweeping sines and noise, which is of medium difficulty to decode."""
    path = WORK / f"music-{seconds}.mp3"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        waves = ["synth", seconds, "sine", "220-1760", "synth", "pinknoise", "mix", "gain", "-6"]
        sound = ["sox", "-R", "-D", "-n", "-r", "44100", "-c", "2", "-b", "16", "-t", "wav", "-", *waves]
        with subprocess.Popen([str(word) for word in sound], stdout=subprocess.PIPE) as source:
            lame = ["lame", "--quiet", "-b", "192", "-", str(part)]
            if subprocess.run(lame, stdin=source.stdout, check=False).returncode != 0:
                raise Failure(f"cannot create {path}")
        part.rename(path)
    return path


def bare_player():
    """The minimal player, compiled from its source."""
    program, source = WORK / "bare_player", ROOT / "Benchmarks" / "bare_player.c"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        run("cc", "-O2", "-o", program, source, "-lmpg123", "-lao")
    return program


class SoundServer:
    """A pulseaudio for one player, so that its costs are those of that player. Its sink is silent."""

    def __init__(self, home):
        self.home = Path(home)
        self.home.mkdir(parents=True)
        self.environment = {
            "HOME": str(self.home),
            "XDG_RUNTIME_DIR": str(self.home),
            "PULSE_SERVER": f"unix:{self.home / 'socket'}",
        }
        self.process = Process(
            "pulseaudio",
            "-n",
            "--daemonize=no",
            "--use-pid-file=no",
            "--exit-idle-time=-1",
            "--load=module-null-sink sink_name=silent rate=44100 format=s16le channels=2",
            f"--load=module-native-protocol-unix socket={self.home / 'socket'} auth-anonymous=1",
            environment=self.environment,
        )
        ask = ["pactl", "info"]
        variables = {**os.environ, **self.environment}
        wait_for("pulseaudio", lambda: subprocess.run(ask, env=variables, capture_output=True).returncode == 0, 20)

    def has_stream(self):
        ask = ["pactl", "list", "short", "sink-inputs"]
        done = subprocess.run(ask, env={**os.environ, **self.environment}, capture_output=True)
        return bool(done.stdout.strip())


class Player:
    """A `backgrounderd` with only the audio mode, as a kiosk runs it, with SQLite and the log."""

    def __init__(self, home, driver, queue=(), environment=None):
        self.home = Path(home)
        self.home.mkdir(parents=True)
        (self.home / "config.yaml").write_text(
            "modes: [audio]\n"
            f"audio: {{driver: '{driver}', queue: {json.dumps([str(path) for path in queue])}}}\n"
        )
        self.process = Process(PROGRAMS / "backgrounderd", "--home", self.home, environment=environment)
        socket_path = str(self.home / "run" / "control.sock")

        def answers():
            with socket.socket(socket.AF_UNIX) as probe:
                return probe.connect_ex(socket_path) == 0

        wait_for("the service", answers)

    def ask(self, method, path, body=None):
        """The response of the service to a request."""
        connection = http.client.HTTPConnection("localhost", timeout=120)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(self.home / "run" / "control.sock"))
        headers = {"Content-Type": "application/json", "Connection": "close"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.status >= 300:
            raise Failure(f"{method} {path}: {response.status} {text[:200].decode(errors='replace')}")
        return json.loads(text) if text else None

    def elapsed(self):
        return self.ask("GET", "/v1/audio").get("elapsed") or 0


class MPD:
    """The music player daemon with one output, configured as in its manual."""

    def __init__(self, home, item, output, environment=None):
        home = Path(home)
        (home / "music").mkdir(parents=True)
        (home / "playlists").mkdir()
        shutil.copy(item, home / "music" / "item.mp3")
        self.address = home / "mpd.socket"
        (home / "mpd.conf").write_text(
            f'music_directory "{home}/music"\nplaylist_directory "{home}/playlists"\n'
            f'db_file "{home}/database"\nstate_file "{home}/state"\nlog_file "{home}/log"\n'
            f'bind_to_address "{self.address}"\nzeroconf_enabled "no"\n'
            f"audio_output {{\n{output}\n}}\n"
        )
        self.process = Process("mpd", "--no-daemon", home / "mpd.conf", environment=environment)
        wait_for("MPD", self.address.exists, 20)
        for words in (["update", "--wait"], ["add", "item.mp3"], ["play"]):
            run("mpc", "-h", self.address, *words)
