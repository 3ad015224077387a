"""The link, the token, and the end of a session."""

import re
import unittest
from urllib.parse import urlsplit

from harness import PageTest, wait


class Sessions(PageTest):
    def test_the_page_loads_from_this_host_alone_and_reports_no_error(self):
        tab = self.open()
        tab.locator("#map canvas").first.wait_for()
        hosts = {urlsplit(url).netloc for url in tab.requests if not url.startswith(("blob:", "data:"))}
        self.assertEqual(hosts, {urlsplit(tab.url).netloc})

    def test_the_code_leaves_the_address_bar_and_a_reload_keeps_the_session(self):
        link = self.service.link()
        tab = self.open(link=link)
        self.assertEqual(urlsplit(tab.url).fragment, "")
        self.assertNotIn(link.split("#")[1], tab.evaluate("JSON.stringify([location.href, history.state])"))
        tab.reload()
        self.wait_until_live(tab)

    def test_the_token_is_in_the_storage_of_the_tab_and_nowhere_else(self):
        tab = self.open()
        self.assertEqual(tab.evaluate("[sessionStorage.length, document.cookie]"), [1, ""])
        self.assertEqual(tab.context.cookies(), [])
        token = tab.evaluate("JSON.parse(sessionStorage.getItem('session')).token")
        self.assertRegex(token, "^[0-9a-f]{64}$")
        self.assertFalse([url for url in tab.requests if token in url])
        self.assertNotIn(token, tab.content())
        self.assertNotIn(token, tab.evaluate("JSON.stringify(localStorage)"))
        # Another tab of the same browser has no token.
        other = tab.context.new_page()
        other.goto(tab.url)
        other.get_by_role("heading", name="This session has ended").wait_for()

    def test_a_used_link_says_what_to_do(self):
        link = self.service.link()
        self.open(link=link)
        tab = self.open(link=link, ready=False)
        tab.get_by_role("heading", name="This session has ended").wait_for()
        self.assertIn("backgrounder open", tab.locator("#ended").inner_text())
        # The browser reports the refusal of the code.
        tab.complaints[:] = [text for text in tab.complaints if "401" not in text]

    def test_a_revoked_session_ends_at_once_and_says_so(self):
        before = {session["id"] for session in self.service.json("open", "--list")}
        tab = self.open()
        (session,) = [entry["id"] for entry in self.service.json("open", "--list") if entry["id"] not in before]
        self.service.run("open", "--revoke", session)
        tab.get_by_role("heading", name="This session has ended").wait_for(timeout=5000)
        self.assertTrue(tab.get_by_role("region", name="Audio").is_hidden())
        tab.complaints[:] = [text for text in tab.complaints if not re.search("401|ERR_INCOMPLETE", text)]

    def test_a_session_that_only_reads_shows_no_controls(self):
        tab = self.open("--read-only")
        self.region(tab, "Audio").wait_for()
        for name in ("Play", "Next", "Previous"):
            button = tab.get_by_role("button", name=name, exact=True)
            self.assertTrue(button.is_hidden() or button.is_disabled(), name)
        tab.keyboard.press("Space")
        tab.keyboard.press("+")
        self.assertEqual(self.service.json("audio")["timeControlStatus"], "stopped")
        wait("the track", lambda: tab.locator("#position-text").inner_text() != "No position yet")


if __name__ == "__main__":
    unittest.main()
