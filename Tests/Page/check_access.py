"""Accessibility and the sizes of screens."""

import itertools
import unittest

from axe_playwright_python.sync_playwright import Axe
from harness import PageTest
from playwright.sync_api import expect


class Access(PageTest):
    options = {"modes": "[audio, location, fetch, remote-notification]"}

    def prepare(self):
        self.service.run("task", "begin", "upload", "--", "sleep", "60")
        self.service.run("fetch", "add", "disk", "--exec", "df", "--if-absent")
        self.service.run("fetch", "run", "disk")
        self.service.run("place", "add", "Depot", "--at", "37.33,-122.03", "--radius", "200")
        self.service.run("push", "add", "home", "--mqtt", "mqtt://127.0.0.1:1", "--topic", "t", "--if-absent")

    def violations(self, tab):
        # The page's policy lets nobody add a script, so axe is added through the debugger.
        results = Axe().run(tab, options={"resultTypes": ["violations"]})
        return [
            f"{rule['id']}: {node['html'][:120]} {node['failureSummary']}"
            for rule in results.response["violations"]
            for node in rule["nodes"]
        ]

    def test_axe_finds_nothing_at_any_size_and_in_both_schemes(self):
        self.prepare()
        for (width, height), scheme in itertools.product([(360, 740), (1600, 1000)], ["light", "dark"]):
            with self.subTest(width=width, scheme=scheme):
                look = {"color_scheme": scheme, "reduced_motion": "reduce"}
                tab = self.open(viewport={"width": width, "height": height}, bypass_csp=True, **look)
                expect(self.region(tab, "Tasks")).to_contain_text("upload")
                self.assertEqual(self.violations(tab), [])
                tab.keyboard.press("?")
                for dialog in ("Keys", "Library"):
                    if dialog == "Library":
                        tab.get_by_role("button", name="Add from library").click()
                    expect(tab.get_by_role("dialog", name=dialog)).to_be_visible()
                    self.assertEqual(self.violations(tab), [], dialog)
                    tab.keyboard.press("Escape")
                tab.context.close()

    def test_nothing_is_wider_than_the_screen(self):
        for width in (320, 360, 768, 1600):
            tab = self.open(viewport={"width": width, "height": 740})
            expect(self.region(tab, "Audio")).to_be_visible()
            self.assertLessEqual(tab.evaluate("document.documentElement.scrollWidth"), width)
            tab.context.close()

    def test_nothing_moves_with_reduced_motion(self):
        tab = self.open(reduced_motion="reduce")
        moving = tab.evaluate(
            """[...document.querySelectorAll('*')].filter((element) => {
              const style = getComputedStyle(element);
              return style.transitionDuration.split(',').concat(style.animationDuration.split(','))
                .some((time) => parseFloat(time) > 0.011); }).map((element) => element.id || element.className)"""
        )
        self.assertEqual(moving, [])

    def test_the_page_can_be_installed(self):
        tab = self.open()
        manifest = tab.evaluate("fetch('/page/manifest.webmanifest').then((reply) => reply.json())")
        sizes = {icon["sizes"] for icon in manifest["icons"]}
        self.assertTrue({"192x192", "512x512"} <= sizes)
        self.assertEqual(manifest["display"], "standalone")
        session = tab.context.new_cdp_session(tab)
        errors = {error["errorId"] for error in session.send("Page.getInstallabilityErrors")["installabilityErrors"]}
        # A test's profile counts as incognito.
        self.assertEqual(errors - {"in-incognito"}, set())


if __name__ == "__main__":
    unittest.main()
