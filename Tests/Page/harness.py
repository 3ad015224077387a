"""The real service and the real browser of the page's tests.

PROGRAMS is the folder of backgrounder and backgrounderd (default .build/debug), CHROMIUM the browser (default
/usr/bin/chromium).
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = Path(os.environ.get("PROGRAMS", ROOT / ".build/debug"))
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")


def wait(what, condition, within=10.0):
    """Returns the first true result of `condition`, which is asked twenty times a second."""
    deadline = time.monotonic() + within
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {within} s: {what}")
        time.sleep(0.05)


class Service:
    """A service with a home of its own. `close` ends it."""

    def __init__(self, source=f"gpx:{ROOT}/tracks/freeway-drive.gpx?rate=5", music=None, modes="[audio, location]"):
        self.home = Path(tempfile.mkdtemp(prefix="page-test-"))
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("BACKGROUNDER_")
        } | {"BACKGROUNDER_HOME": str(self.home)}
        music = music or ROOT / "media"
        (self.home / "config.yaml").write_text(
            f"modes: {modes}\n"
            f'location: {{source: "{source}", usageDescription: Shows the page}}\n'
            f'audio: {{driver: "null", musicDirectory: "{music}", queue: ["{music}"], autoplay: false}}\n'
        )
        self.run("start")

    def run(self, *arguments, code=0):
        command = [PROGRAMS / "backgrounder", *map(str, arguments)]
        result = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        assert result.returncode == code, f"{arguments}: {result.returncode} {result.stderr}"
        return result.stdout

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--format", "json"))

    @property
    def status(self):
        return self.json("status")

    @property
    def pid(self):
        return self.status["pid"]

    def link(self, *options):
        return self.run("open", "--no-browser", *options).split()[-1]

    def close(self):
        subprocess.run([PROGRAMS / "backgrounder", "stop"], env=self.environment, capture_output=True, timeout=30)
        shutil.rmtree(self.home, ignore_errors=True)


class PageTest(unittest.TestCase):
    """A test with a service and a browser, which its class starts once."""

    options = {}
    arguments = []

    @classmethod
    def setUpClass(cls):
        cls.service = Service(**cls.options)
        cls.addClassCleanup(cls.service.close)
        cls.playwright = sync_playwright().start()
        cls.addClassCleanup(cls.playwright.stop)
        cls.browser = cls.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *cls.arguments])
        cls.addClassCleanup(cls.browser.close)

    def open(self, *link_options, link=None, ready=True, **context):
        """Opens the page in a browser profile of its own and returns the tab.

        Whatever the console reports and whatever other hosts are asked fails the test.
        """
        profile = self.browser.new_context(**context)
        self.addCleanup(profile.close)
        tab = profile.new_page()
        self.watch(tab)
        tab.goto(link or self.service.link(*link_options))
        if ready:
            self.wait_until_live(tab)
        return tab

    def watch(self, tab):
        tab.complaints, tab.requests = [], []
        tab.on("console", lambda message: message.type in ("error", "warning") and tab.complaints.append(message.text))
        tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.on("request", lambda request: tab.requests.append(request.url))
        self.addCleanup(lambda: self.assertEqual(tab.complaints, []))

    def wait_until_live(self, tab, within=10):
        expect(self.status_of(tab, "Connection")).to_have_text("Live", timeout=within * 1000)

    def region(self, tab, name):
        return tab.get_by_role("region", name=name, exact=True)

    def status_of(self, tab, name):
        return tab.get_by_role("status", name=name, exact=True)
