"""The keys of the page, and the way through it with the keyboard alone."""

import unittest

from harness import PageTest, wait
from playwright.sync_api import expect


class Keys(PageTest):
    def setUp(self):
        self.service.run("audio", "stop")
        self.tab = self.open()

    def playing(self):
        return self.service.json("audio")["timeControlStatus"] == "playing"

    def item(self):
        return self.service.json("audio")["currentItem"]["id"]

    def test_keys_control_the_player(self):
        self.tab.keyboard.press("Space")
        wait("sound", self.playing)
        first = self.item()
        self.tab.keyboard.press("n")
        wait("the next item", lambda: self.item() != first)
        self.tab.keyboard.press("p")
        wait("the item before", lambda: self.item() == first)
        self.tab.keyboard.press("Space")
        wait("silence", lambda: not self.playing())
        self.service.run("audio", "seek", "0")
        self.tab.keyboard.press("ArrowRight")
        wait("10 s forward", lambda: self.service.json("audio")["elapsed"] >= 9)
        self.tab.keyboard.press("ArrowLeft")
        wait("10 s back", lambda: self.service.json("audio")["elapsed"] < 2)
        self.service.run("audio", "volume", "50")
        expect(self.tab.get_by_role("slider", name="Volume")).to_have_value("50")
        self.tab.keyboard.press("+")
        wait("a higher volume", lambda: self.service.json("audio")["volume"] == 55)
        self.tab.keyboard.press("-")
        wait("a lower volume", lambda: self.service.json("audio")["volume"] == 50)

    def test_slash_searches_the_log_and_keys_write_into_fields(self):
        self.tab.keyboard.press("/")
        search = self.tab.get_by_role("searchbox", name="Search")
        expect(search).to_be_focused()
        self.tab.keyboard.type("n p +- ?/")
        expect(search).to_have_value("n p +- ?/")
        self.assertFalse(self.playing())
        expect(self.tab.get_by_role("dialog", name="Keys")).to_be_hidden()

    def test_question_mark_shows_the_keys_and_escape_closes_them(self):
        self.tab.keyboard.press("?")
        expect(self.tab.get_by_role("dialog", name="Keys")).to_be_visible()
        self.tab.keyboard.press("Space")
        self.tab.keyboard.press("Escape")
        expect(self.tab.get_by_role("dialog", name="Keys")).to_be_hidden()
        self.assertFalse(self.playing())

    def test_every_control_is_reached_with_tab_and_shows_its_focus(self):
        self.service.run("fetch", "add", "disk", "--exec", "df", "--if-absent")
        expect(self.region(self.tab, "Fetch")).to_contain_text("disk")
        wanted = self.tab.evaluate(
            """[...document.querySelectorAll('button, input, select, a[href], [tabindex="0"]')]
               .filter((element) => element.checkVisibility({ visibilityProperty: true }) && !element.disabled)
               .map((element) => element.id || element.textContent).length"""
        )
        reached, hidden = set(), []
        for _ in range(wanted * 2 + 20):
            self.tab.keyboard.press("Tab")
            entry = self.tab.evaluate(
                """(() => { const element = document.activeElement;
                  if (!element || element === document.body) return null;
                  element.dataset.number ??= String(Math.random());
                  const style = getComputedStyle(element);
                  const shows = style.outlineStyle !== 'none' || style.boxShadow !== 'none';
                  return [element.dataset.number, element.id || element.textContent, shows]; })()"""
            )
            if not entry:
                continue
            reached.add(entry[0])
            if not entry[2]:
                hidden.append(entry[1])
        self.assertGreaterEqual(len(reached), wanted)
        self.assertEqual(hidden, [])


if __name__ == "__main__":
    unittest.main()
