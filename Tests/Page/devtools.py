"""Chromium by its DevTools protocol alone: unlike those of Playwright, its tabs can be hidden.

https://chromedevtools.github.io/devtools-protocol/
"""

import itertools
import json
import os
import shutil
import subprocess
import tempfile

from harness import CHROMIUM


class Browser:
    """A browser that is driven over two pipes. Messages end with a zero byte."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="chromium-")
        commands, self.commands = os.pipe()
        self.replies, replies = os.pipe()
        options = ["--headless=new", "--no-sandbox", "--remote-debugging-pipe", f"--user-data-dir={self.profile}"]

        def connect():
            # The browser reads commands from descriptor 3 and writes replies to 4.
            reading, writing = os.dup(commands), os.dup(replies)
            os.dup2(reading, 3)
            os.dup2(writing, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [CHROMIUM, *options, "about:blank"], preexec_fn=connect, close_fds=False, stderr=subprocess.DEVNULL
        )
        os.close(commands)
        os.close(replies)
        self.numbers = itertools.count(1)
        self.buffer = b""

    def send(self, method, session=None, **parameters):
        """Sends a command and returns its result."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.receive()
            if reply.get("id") == number:
                if "error" in reply:
                    raise Refusal(f"{method}: {reply['error']}")
                return reply["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.replies, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, url):
        """Opens a tab in the foreground."""
        target = self.send("Target.createTarget", url=url)["targetId"]
        return Tab(self, target, self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.commands)
        os.close(self.replies)
        shutil.rmtree(self.profile, ignore_errors=True)


class Refusal(AssertionError):
    """The browser does not do what a command asks for."""


class Tab:
    def __init__(self, browser, target, session):
        self.browser, self.target, self.session = browser, target, session

    def evaluate(self, expression):
        result = self.browser.send("Runtime.evaluate", self.session, expression=expression, returnByValue=True)
        return result["result"].get("value")

    def activate(self):
        self.browser.send("Target.activateTarget", targetId=self.target)

    @property
    def connection(self):
        """What the page says about its connection; None before it is loaded."""
        try:
            return self.evaluate("document.getElementById('connection')?.textContent")
        except Refusal:
            return None
