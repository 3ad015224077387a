"""Measures the live page in Chromium, and what it costs the service.

    make bench-page            # or .build/page-tools/bin/python Benchmarks/page.py weight
"""

import gzip
import http.client
import json
import os
import random
import sys
import time
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

from feeds import ROOT
from parts import run_parts
from processes import PROGRAMS, Service, wait_for

os.environ["PROGRAMS"] = str(PROGRAMS)
sys.path.append(str(ROOT / "Tests" / "Page"))
from devtools import Browser  # noqa: E402
from harness import CHROMIUM  # noqa: E402

QUICK = bool(os.environ.get("QUICK"))
WALK = f"gpx:{ROOT}/tracks/city-walk.gpx"
DRIVE = f"gpx:{ROOT}/tracks/freeway-drive.gpx"


class Page:
    """A service with an open page."""

    def __init__(self, scratch, source, prepare=None):
        self.service = Service(scratch / "home", source)
        if prepare:
            self.start()
            self.process.stop()
            prepare(self.service.connect())
        self.start()

    def start(self):
        self.process = self.service.start()
        self.service.wait_until_ready()

    def call(self, method, path, body=None):
        connection = http.client.HTTPConnection("localhost")
        connection.sock = self.service.dial()
        connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read() or "null")

    def link(self):
        return self.call("POST", "/v1/web/codes", {})["links"][-1]


class Chromium:
    """A browser with one tab, whose traffic is counted."""

    def __enter__(self):
        self.playwright = sync_playwright().start()
        self.browser = self.playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        self.tab = self.browser.new_page(viewport={"width": 1600, "height": 1000}, reduced_motion="reduce")
        self.devtools = self.tab.context.new_cdp_session(self.tab)
        self.devtools.send("Network.enable")
        self.devtools.send("Performance.enable")
        self.bytes, self.urls = 0, []
        self.devtools.on("Network.loadingFinished", self.count)
        self.tab.on("request", lambda request: self.urls.append(request.url))
        return self

    def __exit__(self, *_):
        self.browser.close()
        self.playwright.stop()

    def count(self, event):
        self.bytes += event["encodedDataLength"]

    def open(self, link):
        """Opens the page and returns the seconds until it is live."""
        began = time.monotonic()
        self.tab.goto(link)
        expect(self.tab.get_by_role("status", name="Connection")).to_have_text("Live", timeout=20_000)
        return time.monotonic() - began

    def heap(self):
        """MB of JavaScript objects after a collection."""
        self.devtools.send("HeapProfiler.collectGarbage")
        metrics = self.devtools.send("Performance.getMetrics")["metrics"]
        return next(metric["value"] for metric in metrics if metric["name"] == "JSHeapUsedSize") / 1e6

    def cpu(self):
        """The CPU seconds of the tab's renderer and of all of the browser's processes."""
        infos = self.browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
        renderers = [info["cpuTime"] for info in infos if info["type"] == "renderer"]
        return max(renderers), sum(info["cpuTime"] for info in infos)


def weight(report, scratch):
    """what the browser loads"""
    page = Page(scratch, f"{WALK}?rate=1")
    with Chromium() as browser:
        live = browser.open(page.link())
        browser.tab.locator("#map canvas").first.wait_for()
        browser.tab.wait_for_timeout(1000)
        load = browser.tab.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart") / 1000
        hosts = {urlsplit(url).netloc for url in browser.urls if url.startswith("http")}
        scripts = [url for url in browser.urls if url.endswith(".js")]
        sizes = {}
        for url in scripts:
            reply = browser.tab.request.get(url, headers={"Accept-Encoding": "identity"})
            sizes[urlsplit(url).path] = len(gzip.compress(reply.body(), 9))
        own = sum(size for path, size in sizes.items() if path.startswith("/page/")) / 1000
        leaflet = sizes["/leaflet/leaflet.js"] / 1000
        report.limit(f"JavaScript in {len(sizes) - 1} files, gzip", "kB", own, 40, "Leaflet", leaflet)
        report.limit("first load with the base map", "kB", browser.bytes / 1000, 350, "", 0)
        report.limit("first load until its load event", "s", load, 0.5, "", 0)
        report.figure("first load until it is live", "s", live)
        report.limit("other hosts", "", len(hosts) - 1, 0, "", 0)


def access(report, scratch):
    """rules of axe"""
    page = Page(scratch, f"{WALK}?rate=1")
    with Chromium() as browser:
        found = 0
        for width in (360, 1600):
            tab = browser.browser.new_context(viewport={"width": width, "height": 900}, bypass_csp=True).new_page()
            tab.goto(page.link())
            expect(tab.get_by_role("status", name="Connection")).to_have_text("Live")
            found += sum(len(rule["nodes"]) for rule in Axe().run(tab).response["violations"])
        report.limit("axe violations at 360 and 1600 px", "", found, 0, "", 0)


def fill(database, count):
    """Stores drives of a bus in and around the city of the walk."""
    generator = random.Random(5)
    latitude, longitude, heading, now = 53.544, 9.985, 0.0, 1_700_000_000_000
    rows = []
    for number in range(1, count + 1):
        opens = number % 2000 == 1
        now += 3_600_000 if opens else 1000
        heading += generator.gauss(0, 3)
        if generator.random() < 0.01:
            heading += generator.choice((-90, 90))
        latitude += 8e-5 * (1 if heading % 360 < 180 else -1) * generator.random()
        longitude += 1.2e-4 * (1 if (heading + 90) % 360 < 180 else -1) * generator.random()
        latitude, longitude = min(max(latitude, 53.3), 53.8), min(max(longitude, 9.6), 10.4)
        rows.append((number, now, now, latitude, longitude, 4.5, "epx", 8.0, heading % 360, 3, opens))
    columns = (
        "id, recorded, time, latitude, longitude, horizontalAccuracy, accuracySource, speed, course, mode, segmentStart"
    )
    database.execute("BEGIN")
    database.execute("DELETE FROM location")
    database.execute("DELETE FROM recentLocation")
    database.executemany(f"INSERT INTO location ({columns}) VALUES ({', '.join('?' * 11)})", rows)
    database.execute("COMMIT")
    database.close()


def history(report, scratch):
    """a history of a million points, beside the same points as JSON"""
    count = 100_000 if QUICK else 1_000_000
    page = Page(scratch, f"{WALK}?rate=1", lambda database: fill(database, count))
    with Chromium() as browser:
        browser.open(page.link())
        browser.tab.locator("#map canvas").first.wait_for()
        browser.tab.wait_for_timeout(500)
        def draw(action):
            """Returns the seconds until the line is drawn, its kB on the wire and its vertices."""
            before, began = browser.bytes, time.monotonic()
            with browser.tab.expect_response(lambda reply: "/v1/track/line" in reply.url) as reply:
                action()
            reply.value.finished()
            browser.tab.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            segments = reply.value.json()["segments"]
            return time.monotonic() - began, (browser.bytes - before) / 1000, sum(map(len, segments))

        draw(lambda: browser.tab.get_by_role("combobox", name="Track").select_option("All"))
        # Each level shows four times the area, up to the whole history.
        levels = [draw(browser.tab.get_by_role("button", name="Zoom out").click) for _ in range(9)]
        ours, size, vertices = (max(values) for values in zip(*levels))
        heap = browser.heap()
    began = time.monotonic()
    connection = http.client.HTTPConnection("localhost")
    connection.sock = page.service.dial()
    connection.request("GET", "/v1/track/history")
    answer, received = connection.getresponse(), 0
    while piece := answer.read(1 << 20):
        received += len(piece)
    theirs = time.monotonic() - began
    name = f"{count:,} points"
    note = "of 9 levels, with a wait of 0.2 s"
    report.limit(f"{name}: zoomed until drawn, slowest {note}", "s", ours, 0.7, "as JSON, not drawn", theirs)
    report.limit(f"{name}: on the wire, largest", "kB", size, 100, "as JSON", received / 1000)
    report.figure(f"{name}: vertices, most", "", vertices)
    report.limit(f"{name}: heap of the page", "MB", heap, 50, "", 0)


def drawing(report, scratch):
    """ten fixes a second, and a day of fixes"""
    page = Page(scratch, f"{DRIVE}?rate=10")
    seconds = 5 if QUICK else 15
    with Chromium() as browser:
        browser.open(page.link())
        browser.tab.wait_for_timeout(2000)
        before = browser.cpu()
        browser.tab.wait_for_timeout(seconds * 1000)
        after = browser.cpu()
        share = [100 * (b - a) / seconds for a, b in zip(before, after)]
        report.limit("10 fixes a second: the tab's share of a core", "%", share[0], 10, "", 0)
        report.figure("10 fixes a second: all of the browser, which draws without a graphics card", "%", share[1])


def day(report, scratch):
    """the heap over a day of fixes, at 200 a second"""
    count = 4_000 if QUICK else 86_400
    track = scratch / "day.gpx"
    with track.open("w") as out:
        out.write('<gpx version="1.1" creator="bench" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>\n')
        for number in range(count):
            clock = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_790_000_000 + number))
            place = f'lat="{48 + number % 20_000 * 1e-5:.5f}" lon="{11 + number // 20_000 * 1e-2:.5f}"'
            out.write(f"<trkpt {place}><time>{clock}</time></trkpt>\n")
        out.write("</trkseg></trk></gpx>\n")
    page = Page(scratch, f"gpx:{track}?rate=200")
    with Chromium() as browser:
        browser.open(page.link())
        page.service.wait_for_points(count // 10, 600)
        first = browser.heap()
        page.service.wait_for_points(count - 300, 900)
        last = browser.heap()
    report.limit(f"heap after {count:,} fixes, less that after a tenth", "MB", last - first, 2, "then", first)


def cost(report, scratch):
    """what a page costs the service"""
    page = Page(scratch, f"{WALK}?rate=0.01")
    time.sleep(3)
    before, before_shared = page.process.anonymous(), page.process.memory()[1]
    browser = Browser()
    try:
        tab = browser.open(page.link())
        wait_for("the page", lambda: tab.connection == "Live")
        time.sleep(3)
        during, during_shared = page.process.anonymous(), page.process.memory()[1]
        browser.open("about:blank")
        wait_for("the hidden page", lambda: tab.evaluate("document.visibilityState") == "hidden")
        wait_for("the end of its stream", lambda: page.call("GET", "/v1/status")["attached"] == 0, 60)
        time.sleep(15)
        page.call("PATCH", "/v1/location", {"updating": False})
        # Idle threads end, and the sockets of the browser close.
        time.sleep(20)
        seconds = 20 if QUICK else 60
        before_switches = page.process.threads()
        time.sleep(seconds)
        # Threads may have ended.
        hidden = sum(
            switches - before_switches.get(thread, (0, 0))[1] for thread, (_, switches) in page.process.threads().items()
        )
        page.call("PATCH", "/v1/audio", {"volume": 23})
        tab.activate()
        began = time.monotonic()
        wait_for("the page", lambda: tab.evaluate("document.getElementById('volume').value") == "23", 10)
        current = time.monotonic() - began
    finally:
        browser.close()
    report.limit("memory of the service with a page, less that without", "MB", during - before, 2, "without", before)
    report.figure("the same with the pages of the program that the system may drop", "MB", during_shared - before_shared)
    report.limit(f"wakeups of the service in {seconds} s while the page is hidden", "", hidden, 0, "", 0)
    report.limit("visible again until current", "s", current, 1, "", 0)


def tabs(report, scratch):
    """twenty tabs"""
    page = Page(scratch, f"{WALK}?rate=1")
    with Chromium() as browser:
        browser.open(page.link())
        session = browser.tab.evaluate("sessionStorage.getItem('session')")
        # The tabs of one browser, with the session of the first one.
        context = browser.browser.new_context()
        context.add_init_script(f"sessionStorage.setItem('session', {session!r})")
        all_tabs = [context.new_page() for _ in range(20)]
        for tab in all_tabs:
            tab.goto(browser.tab.url)
        browser.tab.close()
        live = 0
        for tab in all_tabs:
            try:
                expect(tab.get_by_role("status", name="Connection")).to_have_text("Live", timeout=20_000)
                live += 1
            except AssertionError:
                pass
    report.add("live tabs of 20", f"{live}", "", "", "20", "yes" if live == 20 else "NO")


if __name__ == "__main__":
    sys.exit(run_parts([weight, access, history, drawing, day, cost, tabs], sys.argv[1:], [CHROMIUM, "--version"]))
