"""Other sites, other ports and hostile texts, in a real browser. docs/security.md lists the attacks."""

import contextlib
import functools
import http.server
import json
import shutil
import socketserver
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from harness import ROOT, PageTest
from playwright.sync_api import expect

# Each way of a site to reach the page's server. What a way brings is collected in `loot`.
ATTACKS = """async (target) => {
  const loot = [];
  const late = (time) => new Promise((done) => setTimeout(done, time));
  const attempt = async (name, body) => {
    try { if (await Promise.race([body(), late(1500)])) loot.push(name); } catch { /* refused */ }
  };
  const get = (path, options) => fetch(target + path, options);
  const post = (path, options) => fetch(target + path, { method: 'POST', body: '{}', ...options });
  const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"volume":1}' };
  await attempt('fetch', async () => (await get('/v1/status')).ok);
  await attempt('credentials', async () => (await get('/v1/status', { credentials: 'include' })).ok);
  await attempt('read the page', async () => (await (await get('/')).text()).length);
  await attempt('change', async () => (await fetch(target + '/v1/audio', { ...json, method: 'PATCH' })).ok);
  await attempt('text', async () => (await post('/v1/audio/play', { headers: { 'Content-Type': 'text/plain' } })).ok);
  await attempt('beacon', async () => { navigator.sendBeacon(target + '/v1/audio/play', '{}'); return false; });
  await attempt('no-cors', async () => { await post('/v1/audio/play', { mode: 'no-cors' }); return false; });
  const opens = (source) => new Promise((done) => {
    source.onmessage = source.onopen = () => done(true);
    source.onerror = () => done(false);
  });
  await attempt('event source', () => opens(new EventSource(target + '/v1/events')));
  await attempt('web socket', () => opens(new WebSocket(target.replace('http', 'ws') + '/v1/events')));
  const element = (name, url, attribute) => attempt(name, () => new Promise((done) => {
    const made = document.createElement(name);
    made.onload = () => done(true); made.onerror = () => done(false);
    if (name === 'link') made.rel = 'stylesheet';
    made[attribute] = target + url; document.body.append(made); }));
  await element('img', '/page/icon-192.png', 'src');
  await element('script', '/page/main.js', 'src');
  await element('link', '/page/page.css', 'href');
  await attempt('form', async () => { const form = document.createElement('form');
    form.method = 'POST'; form.action = target + '/v1/audio/play'; form.target = 'sink'; form.enctype = 'text/plain';
    const field = document.createElement('input'); field.name = '{"x":"'; field.value = '"}'; form.append(field);
    document.body.append(form); form.submit(); return false; });
  await attempt('opened window', async () => {
    const opened = window.open(target + '/');
    await late(800);
    return opened.document.body.textContent.length > 0;
  });
  return loot;
}"""


class Site:
    """A web server of an attacker."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="site-")
        Path(self.folder, "index.html").write_text("<!doctype html><title>Site</title><iframe name=sink></iframe>")
        handler = functools.partial(QuietHandler, directory=self.folder)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server.server_port

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        shutil.rmtree(self.folder)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Attacks(PageTest):
    arguments = ["--host-resolver-rules=MAP evil.test 127.0.0.1"]

    def setUp(self):
        self.site = Site()
        self.addCleanup(self.site.close)
        self.service.run("audio", "stop")
        self.service.run("audio", "volume", "70")
        # A page is open in the same browser, as it would be.
        self.page = self.open()
        self.port = int(self.page.url.split(":")[2].split("/")[0])

    def attack(self, site, target):
        tab = self.page.context.new_page()
        tab.goto(site)
        return tab.evaluate(ATTACKS, target)

    def expect_nothing_changed(self):
        audio = self.service.json("audio")
        self.assertEqual((audio["volume"], audio["timeControlStatus"]), (70, "stopped"))
        self.assertEqual(self.service.status["attached"], 1)

    def test_another_port_of_the_same_host_gets_nothing(self):
        loot = self.attack(f"http://127.0.0.1:{self.site.port}/", f"http://127.0.0.1:{self.port}")
        self.assertEqual(loot, [])
        self.expect_nothing_changed()

    def test_another_host_gets_nothing(self):
        loot = self.attack(f"http://evil.test:{self.site.port}/", f"http://127.0.0.1:{self.port}")
        self.assertEqual(loot, [])
        self.expect_nothing_changed()

    def test_a_name_that_is_rebound_to_this_machine_gets_nothing(self):
        # The browser takes both for one origin: only the Host tells them apart.
        tab = self.page.context.new_page()
        reply = tab.goto(f"http://evil.test:{self.port}/")
        self.assertEqual(reply.status, 421)
        statuses = tab.evaluate(
            """() => Promise.all(['/v1/status', '/page/main.js', '/v1/web/page'].map(async (path) =>
               (await fetch(path)).status))"""
        )
        self.assertEqual(statuses, [421, 421, 421])
        self.expect_nothing_changed()

    def test_the_page_cannot_be_framed(self):
        tab = self.page.context.new_page()
        tab.goto(f"http://127.0.0.1:{self.site.port}/")
        with tab.expect_event("framenavigated") as navigated:
            tab.evaluate("(port) => { document.querySelector('iframe').src = `http://127.0.0.1:${port}/`; }", self.port)
        self.assertTrue(navigated.value.url.startswith("chrome-error:"), navigated.value.url)

    def test_a_script_in_the_page_could_not_reach_another_host(self):
        # Evaluated by the debugger, which the policy cannot stop; what it then loads, it can.
        blocked = self.page.evaluate(
            """async (other) => { const refused = [];
            try { await fetch(other); } catch { refused.push('fetch'); }
            await new Promise((done) => { const image = new Image(); image.onload = done;
              image.onerror = () => { refused.push('img'); done(); }; image.src = other; });
            try { document.body.innerHTML = '<b>x</b>'; } catch { refused.push('innerHTML'); }
            try { eval('1'); } catch { refused.push('eval'); }
            return refused; }""",
            f"http://127.0.0.1:{self.site.port}/",
        )
        self.assertEqual(blocked, ["fetch", "img", "innerHTML", "eval"])
        self.page.complaints.clear()


# Runs if it is ever taken for markup.
HOSTILE = "<img src=x onerror=window.stolen=1><script>window.stolen=1</script>"


class Receiver(socketserver.StreamRequestHandler):
    """A gpsd whose texts are hostile."""

    def handle(self):
        fix = {"class": "TPV", "device": HOSTILE, "mode": 3, "lat": 37.33, "lon": -122.03, "eph": 5, "speed": 1.0}
        reports = [
            {"class": "VERSION", "release": HOSTILE, "rev": HOSTILE, "proto_major": 3, "proto_minor": 14},
            {"class": "DEVICES", "devices": [{"class": "DEVICE", "path": HOSTILE, "driver": HOSTILE}]},
            {"class": "ERROR", "message": HOSTILE},
        ]
        with contextlib.suppress(OSError):
            for report in reports:
                self.send(report)
            while True:
                self.send(fix | {"time": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())})
                time.sleep(1)

    def send(self, report):
        self.wfile.write(json.dumps(report, separators=(",", ":")).encode() + b"\r\n")


class Texts(PageTest):
    @classmethod
    def setUpClass(cls):
        gpsd = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Receiver)
        gpsd.daemon_threads = True
        threading.Thread(target=gpsd.serve_forever, daemon=True).start()
        cls.addClassCleanup(gpsd.server_close)
        cls.addClassCleanup(gpsd.shutdown)
        folder = Path(tempfile.mkdtemp(prefix="hostile-"))
        cls.addClassCleanup(shutil.rmtree, folder)
        # A name of a file cannot have a slash.
        name = HOSTILE.replace("/", "∕") + ".mp3"
        command = ["sox", str(ROOT / "media/welcome-announcement.wav"), "-C", "64", str(folder / "plain.mp3")]
        subprocess.run(command, check=True, capture_output=True)
        shutil.copy(folder / "plain.mp3", folder / name)
        tags = ["-metadata", f"title={HOSTILE}", "-metadata", f"artist={HOSTILE}", "-metadata", f"album={HOSTILE}"]
        copy = ["ffmpeg", "-loglevel", "error", "-i", folder / "plain.mp3", "-codec", "copy"]
        subprocess.run([*copy, *tags, folder / "tagged.mp3"], check=True)
        source = f"gpsd://127.0.0.1:{gpsd.server_address[1]}"
        cls.options = {"modes": "[audio, location, fetch]", "music": folder, "source": source}
        super().setUpClass()

    def test_hostile_texts_are_shown_as_text(self):
        service = self.service
        feed = service.home / "feed.xml"
        escaped = HOSTILE.replace("&", "&amp;").replace("<", "&lt;")
        feed.write_text(
            f"<rss version='2.0'><channel><title>{escaped}</title><item><title>{escaped}</title>"
            f"<guid>1</guid><description>{escaped}</description></item></channel></rss>"
        )
        service.run("fetch", "add", "news", "--exec", f"cat {feed}")
        service.run("fetch", "run", "news")
        service.run("task", "begin", "show", "--", "printf", "%s\\n", HOSTILE)
        note = ["--property", f"note={HOSTILE}"]
        service.run("place", "add", HOSTILE, "--at", "37.33,-122.03", "--radius", "5000", *note)
        service.run("place", "add", "Here", "--at", "37.33,-122.05", "--radius", "50000", "--tag", "x")
        service.run("audio", "play")
        tab = self.open()
        expect(self.region(tab, "Audio")).to_contain_text("onerror")
        expect(self.region(tab, "Places")).to_contain_text("onerror")
        expect(self.region(tab, "Tasks")).to_contain_text("onerror")
        tab.get_by_role("button", name="Add from library").click()
        expect(tab.get_by_role("dialog", name="Library")).to_contain_text("onerror")
        tab.keyboard.press("Escape")
        tab.get_by_role("button", name="Output show").click()
        expect(tab.get_by_role("dialog").locator("pre")).to_contain_text("onerror")
        tab.keyboard.press("Escape")
        tab.get_by_role("button", name="Open news").click()
        expect(tab.get_by_role("dialog").last).to_contain_text("onerror")
        tab.keyboard.press("Escape")
        search = tab.get_by_role("searchbox", name="Search")
        for text in ("onerror", "gpsd"):
            search.fill(text)
            expect(tab.locator("#log-rows")).to_contain_text("onerror")
        self.assertIsNone(tab.evaluate("window.stolen ?? null"))
        self.assertEqual(tab.locator("img[src='x'], main script").count(), 0)


if __name__ == "__main__":
    unittest.main()
