"""What the panels show, and what their controls do to the service."""

import re
import unittest

from harness import ROOT, PageTest, wait
from playwright.sync_api import expect


class Panels(PageTest):
    def setUp(self):
        self.service.run("audio", "stop")
        self.service.run("queue", "clear")
        self.service.run("queue", "add", ROOT / "media/morning-tune.mp3", ROOT / "media/quiet-waltz.mp3")
        self.service.run("location", "filter", "0")
        self.tab = self.open()

    def button(self, name):
        return self.tab.get_by_role("button", name=name, exact=True)

    def test_every_region_and_control_has_its_name(self):
        for name in ("Location", "Audio", "Tasks", "Fetch", "Transfers", "Push", "Places", "Log"):
            expect(self.region(self.tab, name)).to_be_visible()
        for name in ("Position", "Volume"):
            expect(self.tab.get_by_role("slider", name=name, exact=True)).to_be_visible()
        for name in ("Now playing", "Current position", "Connection"):
            expect(self.status_of(self.tab, name)).to_have_count(1)
        for name in ("Play", "Next", "Previous", "Stop tracking"):
            expect(self.button(name)).to_be_visible()

    def test_the_position_is_text_in_decimal_degrees_and_moves(self):
        position = self.status_of(self.tab, "Current position")
        expect(position).to_have_text(re.compile(r"-?\d+\.\d{4,}, -?\d+\.\d{4,}"))
        first = position.inner_text()
        expect(position).not_to_have_text(first)

    def test_tracking_stops_and_starts(self):
        self.button("Stop tracking").click()
        wait("the end of tracking", lambda: not self.service.json("location")["updating"])
        self.button("Start tracking").click()
        wait("tracking", lambda: self.service.json("location")["updating"])
        expect(self.button("Stop tracking")).to_be_visible()

    def test_accuracy_and_filter_change(self):
        self.tab.get_by_role("combobox", name="Accuracy").select_option("hundredMeters")
        wait("the level", lambda: self.service.json("location")["desiredAccuracy"] == "hundredMeters")
        distance = self.tab.get_by_role("spinbutton", name="Distance filter (m)")
        distance.fill("25")
        distance.press("Enter")
        wait("the filter", lambda: self.service.json("location")["distanceFilter"] == 25)
        distance.blur()
        self.service.run("location", "filter", "0")
        expect(distance).to_have_value("0")
        self.service.run("location", "accuracy", "best")
        expect(self.tab.get_by_role("combobox", name="Accuracy")).to_have_value("best")

    def test_the_player_follows_the_page_and_the_page_follows_the_player(self):
        self.button("Play").click()
        wait("sound", lambda: self.service.json("audio")["timeControlStatus"] == "playing")
        expect(self.button("Pause")).to_be_visible()
        playing = self.status_of(self.tab, "Now playing")
        title = self.service.json("audio")["currentItem"]["title"]
        expect(playing).to_have_text(title)
        self.button("Next").click()
        wait("the next item", lambda: self.service.json("audio")["currentItem"]["title"] != title)
        expect(playing).not_to_have_text(title)
        self.button("Previous").click()
        expect(playing).to_have_text(title)
        self.service.run("audio", "pause")
        expect(self.button("Play")).to_be_visible()

    def test_the_sliders_seek_and_set_the_volume(self):
        self.service.run("audio", "play")
        self.service.run("audio", "pause")
        self.tab.get_by_role("slider", name="Volume").fill("35")
        wait("the volume", lambda: self.service.json("audio")["volume"] == 35)
        self.service.run("audio", "volume", "80")
        expect(self.tab.get_by_role("slider", name="Volume")).to_have_value("80")
        self.tab.get_by_role("slider", name="Position").fill("7")
        wait("the position", lambda: abs(self.service.json("audio")["elapsed"] - 7) < 1)

    def test_items_of_the_queue_move_and_leave(self):
        rows = self.tab.locator("#queue > li")
        before = [item["id"] for item in self.service.json("queue")]
        expect(rows).to_have_count(len(before))
        rows.nth(1).get_by_role("button", name=re.compile("^Move .* up")).click()
        wait("the move", lambda: [item["id"] for item in self.service.json("queue")][:2] == [before[1], before[0]])
        last = rows.nth(len(before) - 1)
        last.get_by_role("button", name=re.compile("^Remove")).click()
        wait("the removal", lambda: len(self.service.json("queue")) == len(before) - 1)
        expect(rows).to_have_count(len(before) - 1)
        self.service.run("queue", "clear")
        expect(rows).to_have_count(0)

    def test_songs_of_the_library_are_added_and_announced(self):
        self.service.run("queue", "clear")
        self.button("Add from library").click()
        dialog = self.tab.get_by_role("dialog", name="Library")
        song = dialog.get_by_role("listitem").filter(has_text="Morning Tune")
        song.get_by_role("button", name=re.compile("^Add")).click()
        wait("the item", lambda: [item.get("title") for item in self.service.json("queue")] == ["Morning Tune"])
        song.get_by_role("button", name=re.compile("^Announce")).click()
        wait("the announcement", lambda: "announcement" in self.service.json("audio"))
        dialog.get_by_role("button", name="Close").click()
        expect(self.tab.locator("#queue > li")).to_have_count(1)

    def test_tasks_count_down_and_end(self):
        number = int(self.service.run("task", "begin", "upload", "--budget", "60s", "--", "sleep", "300"))
        tasks = self.region(self.tab, "Tasks")
        expect(tasks).to_contain_text("upload")
        tasks.get_by_role("button", name=re.compile("^End")).first.click()
        state = lambda: [task["state"] for task in self.service.json("task", "list") if task["id"] == number]
        wait("the end", lambda: state() == ["ended"])

    def test_fetches_show_their_content_as_text(self):
        self.service.run("fetch", "add", "disk", "--exec", "echo '<b>free</b>'")
        self.service.run("fetch", "run", "disk")
        fetch = self.region(self.tab, "Fetch")
        expect(fetch).to_contain_text("disk")
        fetch.get_by_role("button", name=re.compile("^(Show|Open|Read)")).first.click()
        expect(self.tab.get_by_role("dialog").locator("pre")).to_have_text(re.compile("<b>free</b>"))

    def test_the_log_is_searched(self):
        search = self.tab.get_by_role("searchbox", name="Search")
        search.fill("page began")
        expect(self.tab.locator("#log-rows > li").first).to_contain_text("of the page began")

    def test_trips_and_places_are_listed(self):
        self.service.run("track", "import", "tracks/city-walk.gpx")
        self.service.run("place", "add", "Depot", "--at", "37.33,-122.03", "--radius", "200")
        tab = self.open()
        option = tab.get_by_role("combobox", name="Track").locator("option")
        wait("the trips", lambda: option.count() > 3)
        tab.get_by_role("combobox", name="Track").select_option(index=3)
        expect(tab.locator("#speed-chart svg")).to_be_visible()
        expect(self.region(tab, "Places")).to_contain_text("Depot")
        tab.get_by_role("combobox", name="Track").select_option("Period")
        tab.get_by_label("From").fill("2026-05-09T00:00")
        with tab.expect_response(re.compile(r"/v1/track/line\?.*since=2026-05-.*until=2026-05-")) as reply:
            tab.get_by_label("Until").fill("2026-05-10T00:00")
        segments = reply.value.json()["segments"]
        # The map shows where that trip was.
        self.assertAlmostEqual(segments[0][0][0], 53.54, delta=0.05)


if __name__ == "__main__":
    unittest.main()
