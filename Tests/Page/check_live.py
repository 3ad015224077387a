"""Whether the page is current and says so, when it counts as attached, and how tabs share a stream."""

import os
import re
import signal
import subprocess
import time
import unittest

from devtools import Browser
from harness import ROOT, PageTest, Service, wait
from playwright.sync_api import expect


def connections(port):
    """Returns the connections of browsers to a port of this machine."""
    command = ["ss", "-Htn", "state", "established", "sport", "=", f":{port}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


class Currency(PageTest):
    def test_a_service_that_no_longer_answers_is_noticed_and_the_page_says_since_when(self):
        tab = self.open()
        pid = self.service.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            expect(self.status_of(tab, "Connection")).to_have_text(re.compile(r"Not live since \d"), timeout=45_000)
        finally:
            os.kill(pid, signal.SIGCONT)
        self.wait_until_live(tab, within=35)
        tab.complaints.clear()

    def test_a_killed_service_is_noticed_at_once_and_the_page_continues_with_the_next(self):
        tab = self.open()
        os.kill(self.service.pid, signal.SIGKILL)
        expect(self.status_of(tab, "Connection")).to_have_text(re.compile(r"Not live since \d"), timeout=2000)
        self.service.run("start")
        self.wait_until_live(tab)
        self.service.run("audio", "volume", "42")
        expect(tab.get_by_role("slider", name="Volume")).to_have_value("42")
        tab.complaints.clear()

    def test_a_page_that_nobody_uses_for_a_minute_does_not_count_as_attached(self):
        tab = self.open(ready=False, link="about:blank")
        tab.clock.install()
        tab.goto(self.service.link())
        self.wait_until_live(tab)
        wait("attachment", lambda: self.service.status["attached"] == 1)
        tab.clock.fast_forward(61_000)
        tab.wait_for_timeout(1000)
        wait("the end of the attachment", lambda: self.service.status["attached"] == 0)
        expect(self.status_of(tab, "Connection")).to_have_text("Live")
        tab.mouse.move(50, 50)
        tab.wait_for_timeout(500)
        wait("attachment", lambda: self.service.status["attached"] == 1)
        # Following the position counts as use.
        tab.get_by_role("button", name="Follow the position").click()
        tab.clock.fast_forward(120_000)
        tab.wait_for_timeout(1000)
        self.assertEqual(self.service.status["attached"], 1)


class Tabs(PageTest):
    # So slow that no tab asks for other places.
    options = {"source": f"gpx:{ROOT}/tracks/city-walk.gpx?rate=0.1"}

    def test_twenty_tabs_share_a_stream_and_survive_the_tab_that_reads_it(self):
        first = self.open()
        session = first.evaluate("sessionStorage.getItem('session')")
        port = first.url.split(":")[2].split("/")[0]
        tabs = [first]
        for _ in range(19):
            tab = first.context.new_page()
            self.watch(tab)
            tab.add_init_script(f"sessionStorage.setItem('session', {session!r})")
            tab.goto(first.url)
            tabs.append(tab)
        for tab in tabs:
            self.wait_until_live(tab, within=20)
        self.service.run("audio", "volume", "31")
        for tab in tabs:
            expect(tab.get_by_role("slider", name="Volume")).to_have_value("31")
        self.assertEqual(self.service.status["attached"], 1)
        # The service closes other connections when they are idle.
        wait("a single connection", lambda: len(connections(port)) == 1, within=20)
        tabs.pop(0).close()
        self.service.run("audio", "volume", "32")
        for tab in tabs:
            expect(tab.get_by_role("slider", name="Volume")).to_have_value("32", timeout=10_000)
            self.wait_until_live(tab)


class Hidden(unittest.TestCase):
    def test_a_hidden_page_closes_its_stream_after_half_a_minute_and_is_current_within_a_second_of_coming_back(self):
        service = Service(modes="[]")
        self.addCleanup(service.close)
        browser = Browser()
        self.addCleanup(browser.close)
        page = browser.open(service.link())
        wait("the page", lambda: page.connection == "Live")
        wait("attachment", lambda: service.status["state"] == "active")
        browser.open("about:blank")
        wait("the hidden page", lambda: page.evaluate("document.visibilityState") == "hidden")
        began = time.monotonic()
        wait("the suspended service", lambda: service.status["state"] == "suspended", within=40)
        self.assertGreater(time.monotonic() - began, 25)
        port = page.evaluate("location.port")
        wait("the end of all connections", lambda: not connections(port), within=20)
        service.run("audio", "volume", "23")
        page.activate()
        began = time.monotonic()
        wait("the current volume", lambda: page.evaluate("document.getElementById('volume').value") == "23", within=3)
        self.assertEqual(page.connection, "Live")
        self.assertLess(time.monotonic() - began, 3)


if __name__ == "__main__":
    unittest.main()
