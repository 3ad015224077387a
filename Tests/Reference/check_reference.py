#!/usr/bin/env python3
"""Tests the reference against docs/behaviour.md, rule by rule, and the samples against the reference."""

import ctypes
import ctypes.util
import json
import random
import re
import tempfile
import unittest
from pathlib import Path

import bad_fixes
import make_tracks
from geodesic import distance, step
from location_filter import LocationFilter, Point, Settings, run
from readings import Damage, Fix, Noise, Sky, gpsd_report, iso, milliseconds, read_gpx
from trips import trips

TRACKS = Path(__file__).resolve().parents[2] / "tracks"
HOME = (48.0, 11.0)
START = milliseconds("2026-06-01T12:00:00Z")


def fix(second, east=0.0, north=0.0, accuracy=5.0, **known):
    """A point of a file, metres away from home and seconds after the start."""
    latitude, longitude = step(*HOME, east, north)
    values = {"index": 0, "mode": 3, "latitude": latitude, "longitude": longitude, "stated_accuracy": accuracy}
    return Fix(**values | {"time": START + round(second * 1000), "speed": 12.0} | known)


def live(second, **known):
    """A fix of gpsd."""
    return fix(second, accuracy=None, **{"is_live": True, "device": "/dev/one", "eph": 8.0} | known)


def outcomes(reports, settings=None):
    """A word for each fix: the reason of its rejection, `in`, or `new` if it opens a segment."""
    chain, words = LocationFilter(settings), []
    for report in reports:
        if not isinstance(report, Fix):
            chain.hear(report)
            continue
        decision = chain.feed(report)
        words.append(("new" if decision.opens_segment else "in") if isinstance(decision, Point) else decision)
    return words


class Geodesics(unittest.TestCase):
    def test_known_distances_are_exact_to_the_millimetre(self):
        flinders = -(37 + 57 / 60 + 3.72030 / 3600), 144 + 25 / 60 + 29.52440 / 3600
        buninyong = -(37 + 39 / 60 + 10.15610 / 3600), 143 + 55 / 60 + 35.38390 / 3600
        self.assertAlmostEqual(distance(*flinders, *buninyong), 54972.271, places=3)
        self.assertAlmostEqual(distance(0, 0, 0, 1), 111319.4908, places=4)
        self.assertAlmostEqual(distance(90, 0, -90, 0), 20003931.4586, places=4)
        self.assertAlmostEqual(distance(10, 179.9, 10, -179.9), distance(10, 0, 10, 0.2), places=6)

    def test_antipodal_points_have_a_distance(self):
        self.assertAlmostEqual(distance(0, 0, 0.5, 179.7) / 19936288.579, 1, places=2)

    def test_it_agrees_with_libgps_within_a_tenth_of_a_millimetre(self):
        theirs = ctypes.CDLL(ctypes.util.find_library("gps")).earth_distance
        theirs.restype, theirs.argtypes = ctypes.c_double, [ctypes.c_double] * 4
        chance = random.Random(1)
        for _ in range(5000):
            latitude, longitude = 178 * chance.random() - 89, 360 * chance.random() - 180
            size = 10 ** (6 * chance.random() - 6)
            other = latitude + size * (2 * chance.random() - 1), longitude + size * (2 * chance.random() - 1)
            self.assertAlmostEqual(distance(latitude, longitude, *other), theirs(latitude, longitude, *other), places=4)


class Times(unittest.TestCase):
    def test_a_time_is_read_in_every_form(self):
        for text, meant in {
            "2014-12-22T04:05:13Z": "2014-12-22T04:05:13.000Z",
            " 2014-12-22T04:05:13.9996Z\n": "2014-12-22T04:05:14.000Z",
            "2014-12-22T04:05:13,5": "2014-12-22T04:05:13.500Z",
            "2014-12-22T06:05:13.334+02:00": "2014-12-22T04:05:13.334Z",
            "2014-12-21T20:05:13-0800": "2014-12-22T04:05:13.000Z",
            "2016-12-31T23:59:60Z": "2017-01-01T00:00:00.000Z",
            "2024-02-29": "2024-02-29T00:00:00.000Z",
            "0000-03-01T00:00:00Z": "0000-03-01T00:00:00.000Z",
        }.items():
            self.assertEqual(iso(milliseconds(text)), meant)

    def test_an_invalid_time_is_none(self):
        for text in ("", "yesterday", "2026-02-30T00:00:00Z", "2026-13-01", "2026-06-01T24:00:00Z", None, 5):
            self.assertIsNone(milliseconds(text))


class Estimates(unittest.TestCase):
    def estimate(self, a_fix, *reports):
        chain = LocationFilter()
        for report in reports:
            chain.hear(report)
        return chain.estimator.estimate(a_fix)

    def test_a_gst_of_the_same_epoch_takes_precedence(self):
        self.assertEqual(self.estimate(live(0), Noise(START - 1500, 3.0, 4.0, "/dev/one")), (5.0, "gst"))
        self.assertEqual(self.estimate(live(0), Noise(START - 1501, 3.0, 4.0, "/dev/one")), (8.0, "receiver"))
        self.assertEqual(self.estimate(live(0), Noise(START, None, 4.0, "/dev/one"))[1], "receiver")
        self.assertEqual(self.estimate(live(0), Noise(START, 3.0, 4.0, "/dev/two"))[1], "receiver")

    def test_the_model_of_gpsd_is_recognised_by_dilution_and_by_steps(self):
        self.assertEqual(self.estimate(live(0, eph=9.5)), (9.5 / 1.731, "model"))
        self.assertEqual(self.estimate(live(0, eph=9.5005))[1], "model")
        self.assertEqual(self.estimate(live(0, eph=9.501))[1], "receiver")
        self.assertEqual(self.estimate(live(0, eph=8.02), Sky(0.42))[1], "model")
        self.assertEqual(self.estimate(live(0, eph=8.07), Sky(0.42))[1], "receiver")
        self.assertEqual(self.estimate(live(0, eph=8.02), Sky(0.42), Sky(2.0))[1], "model")
        self.assertEqual(self.estimate(live(0, eph=8.02), Sky(0.42), Sky(2.0), Sky(3.0))[1], "receiver")

    def test_the_model_has_another_unit_with_dgps(self):
        self.assertEqual(self.estimate(live(0, eph=4.75, status=2)), (4.75 / 1.731, "model"))
        self.assertEqual(self.estimate(live(0, eph=0.0475 * 101, status=2))[1], "model")
        self.assertEqual(self.estimate(live(0, eph=0.0475 * 101))[1], "receiver")

    def test_real_time_kinematics_limit_only_the_model(self):
        self.assertEqual(self.estimate(live(0, eph=13.3, status=3)), (1.0, "model"))
        self.assertEqual(self.estimate(live(0, eph=13.3, status=4)), (2.0, "model"))
        self.assertEqual(self.estimate(live(0, eph=8.0, status=3)), (8.0, "receiver"))

    def test_the_errors_of_the_axes_are_the_last_resort(self):
        self.assertEqual(self.estimate(live(0, eph=None, epx=3.0, epy=4.0)), (5.0 / 1.731, "model"))
        self.assertEqual(self.estimate(live(0, eph=None, epx=3.0)), (None, None))

    def test_a_file_states_an_accuracy_or_a_dilution(self):
        self.assertEqual(self.estimate(fix(0, accuracy=4.0, hdop=9.0)), (4.0, "file"))
        self.assertEqual(self.estimate(fix(0, accuracy=None, hdop=1.2)), (1.2 * 19.0 / 1.731, "model"))

    def test_values_that_are_not_positive_are_ignored(self):
        tpv = gpsd_report({"class": "TPV", "mode": 3, "eph": 0, "speed": -1, "epx": -2.0, "track": 400}, 0)
        self.assertEqual((tpv.eph, tpv.epx, tpv.speed, tpv.course), (None, None, None, None))
        self.assertIsNone(gpsd_report({"class": "SKY", "hdop": 0}, 0))


class Gate(unittest.TestCase):
    def test_a_level_accepts_errors_up_to_its_limit(self):
        for level, limit in [("bestForNavigation", 15), ("best", 30), ("nearestTenMeters", 30), ("hundredMeters", 300),
                             ("kilometer", 3000)]:  # fmt: skip
            settings = Settings(level)
            fixes = [fix(0, accuracy=limit), fix(1, accuracy=limit + 0.01)]
            self.assertEqual(outcomes(fixes, settings), ["new", "accuracy"])
        self.assertEqual(outcomes([fix(0, accuracy=1e6)], Settings("threeKilometers")), ["new"])

    def test_navigation_needs_a_3d_fix(self):
        self.assertEqual(outcomes([fix(0, mode=2)], Settings("bestForNavigation")), ["accuracy"])
        self.assertEqual(outcomes([fix(0, mode=2)]), ["new"])

    def test_the_maximum_is_strict(self):
        words = outcomes([fix(0, accuracy=10), fix(1, accuracy=10.1), fix(2, accuracy=None)], Settings(maximum=10))
        self.assertEqual(words, ["new", "accuracy", "noAccuracy"])

    def test_unknown_accuracy_is_rejected_from_a_receiver_but_not_from_a_file(self):
        self.assertEqual(outcomes([fix(0, accuracy=None), live(1, eph=None)]), ["new", "noAccuracy"])
        self.assertEqual(outcomes([live(1, eph=None)], Settings("threeKilometers")), ["new"])
        self.assertEqual(outcomes([fix(0, accuracy=None)], Settings("bestForNavigation")), ["new"])

    def test_an_invalid_position_is_rejected_first(self):
        faults = [{"mode": 1, "latitude": None}, {"mode": 0}, {"mode": 4}, {"latitude": None}, {"latitude": 90.1},
                  {"longitude": -180.1}, {"time": None}]  # fmt: skip
        words = [outcomes([fix(0) if not fault else Fix(**vars(fix(0)) | fault)])[0] for fault in faults]
        self.assertEqual(words, ["noFix", "noFix", "invalid", "invalid", "invalid", "invalid", "invalid"])


class Time(unittest.TestCase):
    def test_the_same_time_is_a_duplicate_and_an_earlier_one_out_of_order(self):
        self.assertEqual(outcomes([fix(0), fix(0), fix(-1.999), fix(1)]), ["new", "duplicate", "outOfOrder", "in"])

    def test_small_steps_back_are_never_accepted(self):
        self.assertEqual(outcomes([fix(10), fix(8.1), fix(8.2), fix(8.3), fix(8.4)])[1:], ["outOfOrder"] * 4)

    def test_three_that_agree_move_the_clock_back(self):
        words = outcomes([fix(10), fix(6), fix(7), fix(8), fix(9)])
        self.assertEqual(words, ["new", "outOfOrder", "outOfOrder", "new", "in"])

    def test_three_that_agree_relocate(self):
        words = outcomes([fix(0), fix(1, 900), fix(2, 912), fix(3, 924), fix(4, 936)])
        self.assertEqual(words, ["new", "implausible", "implausible", "new", "in"])

    def test_a_repeated_time_neither_counts_nor_ends_a_row(self):
        words = outcomes([fix(0), fix(1, 900), fix(1, 5000), fix(2, 912), fix(2, 912), fix(3, 924)])
        self.assertEqual(words, ["new"] + ["implausible"] * 4 + ["new"])

    def test_a_fix_that_fits_the_track_ends_a_row(self):
        words = outcomes([fix(0), fix(1, 900), fix(2, 912), fix(3, 36), fix(4, 936), fix(5, 948)])
        self.assertEqual(words, ["new", "implausible", "implausible", "in", "implausible", "implausible"])

    def test_a_fix_that_an_earlier_rule_rejects_does_not_change_a_row(self):
        between = [fix(2, mode=1), fix(2, accuracy=99), fix(0), fix(-1)]
        words = outcomes([fix(0), fix(1, 900), *between, fix(3, 912), fix(4, 924)])[2:]
        self.assertEqual(words, ["noFix", "accuracy", "duplicate", "outOfOrder", "implausible", "new"])

    def test_a_fix_that_does_not_follow_begins_a_new_row(self):
        words = outcomes([fix(0), fix(1, 900), fix(2, -9000), fix(3, -8990), fix(4, -8980)])
        self.assertEqual(words, ["new", "implausible", "implausible", "implausible", "new"])
        words = outcomes([fix(0), fix(3, 900), fix(2, 912), fix(2.5, 918), fix(2.7, 920)])
        self.assertEqual(words, ["new", "implausible", "implausible", "implausible", "new"])

    def test_one_row_serves_both_reasons(self):
        words = outcomes([fix(10), fix(0, 900), fix(10.5, 912), fix(11, 924)])
        self.assertEqual(words, ["new", "outOfOrder", "implausible", "new"])

    def test_a_reported_speed_explains_a_distance(self):
        self.assertEqual(outcomes([fix(0), fix(1, 119.9)]), ["new", "in"])
        self.assertEqual(outcomes([fix(0), fix(1, 240, speed=161.0)]), ["new", "in"])
        self.assertEqual(outcomes([fix(0, speed=161.0), fix(1, 240, speed=None)]), ["new", "in"])
        self.assertEqual(outcomes([fix(0), fix(1, 240, speed=159.0)]), ["new", "implausible"])


class Segments(unittest.TestCase):
    def test_a_gap_of_more_than_a_minute_opens_a_segment(self):
        self.assertEqual(outcomes([fix(0), fix(60), fix(120.001)]), ["new", "in", "new"])

    def test_the_gap_counts_from_the_last_fix_that_passed_even_if_not_delivered(self):
        words = outcomes([fix(0), fix(50, 1), fix(100, 2), fix(161, 3)], Settings(filter=10))
        self.assertEqual(words, ["new", "distance", "distance", "new"])
        words = outcomes([fix(0), fix(50, accuracy=99), fix(100)])
        self.assertEqual(words, ["new", "accuracy", "new"])

    def test_a_part_of_a_file_is_not_compared_with_earlier_ones(self):
        words = outcomes([fix(0), fix(-500, 1e5, is_boundary=True, accuracy=99), fix(-499, 1e5), fix(-498, 1e5)])
        self.assertEqual(words, ["new", "accuracy", "new", "in"])

    def test_a_reconnect_opens_a_segment_after_ten_seconds(self):
        for second, word in [(10, False), (10.1, True)]:
            chain = LocationFilter()
            chain.feed(fix(0))
            chain.reconnected()
            self.assertEqual(chain.feed(fix(second)).opens_segment, word)


class Devices(unittest.TestCase):
    def test_a_track_keeps_its_device_until_that_is_silent(self):
        other = {"device": "/dev/two"}
        words = outcomes([live(0, eph=None, **other), live(1), live(2, **other), live(11, **other), live(12)])
        self.assertEqual(words, ["noAccuracy", "new", "device", "new", "device"])

    def test_a_rejected_fix_breaks_the_silence(self):
        other = {"device": "/dev/two"}
        words = outcomes([live(0), live(9, eph=99.0), live(11, **other), live(19, **other)])
        self.assertEqual(words, ["new", "accuracy", "device", "new"])


class Movement(unittest.TestCase):
    def test_the_distance_counts_from_the_last_delivered_point(self):
        words = outcomes([fix(second, 4 * second) for second in range(7)], Settings(filter=10))
        self.assertEqual(words, ["new", "distance", "distance", "in", "distance", "distance", "in"])

    def test_the_guard_requires_more_than_twice_the_errors_when_standing(self):
        for speed, guard, level, word in [(0.0, True, "best", "jitter"), (None, True, "best", "jitter"),
                                          (0.5, True, "best", "in"), (0.0, False, "best", "in"),
                                          (0.0, True, "bestForNavigation", "in")]:  # fmt: skip
            settings = Settings(level, 10, jitter_guard=guard)
            self.assertEqual(outcomes([fix(0), fix(1, 14, speed=speed)], settings), ["new", word])
        self.assertEqual(outcomes([fix(0), fix(1, 14.2, speed=0.0)], Settings(filter=10)), ["new", "in"])
        self.assertEqual(outcomes([fix(0), fix(1, 11, accuracy=None, speed=0.0)], Settings(filter=10)), ["new", "in"])
        self.assertEqual(outcomes([fix(0), fix(1, 1, speed=0.0)]), ["new", "in"])


class Files(unittest.TestCase):
    def read(self, body, head='<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">'):
        with tempfile.NamedTemporaryFile("w", suffix=".gpx") as file:
            file.write(f"{head}<trk><trkseg>{body}")
            file.flush()
            return read_gpx(file.name, START)

    def test_points_before_the_first_time_are_a_second_apart(self):
        timed = "<time>2026-06-01T13:00:00Z</time>"
        points = [f'<trkpt lat="1" lon="2">{time}</trkpt>' for time in ("", "<time>soon</time>", timed, "")]
        fixes = self.read("".join(points) + "</trkseg></trk></gpx>")
        self.assertEqual([fix.time for fix in fixes], [START, START + 1000, START + 3_600_000, None])

    def test_known_dialects_are_read(self):
        garmin = '<x:e xmlns:x="http://www.garmin.com/xmlschemas/TrackPointExtension/v2"><x:speed>3</x:speed></x:e>'
        ours = '<b:speed xmlns:b="https://backgrounder.example/gpx/1">4</b:speed>'
        bodies = [f"<extensions>{garmin}</extensions>", f"<extensions>{ours}{garmin}</extensions>", "<speed>5</speed>"]
        fixes = self.read("".join(f'<trkpt lat="1" lon="2">{b}</trkpt>' for b in bodies) + "</trkseg></trk></gpx>")
        self.assertEqual([fix.speed for fix in fixes], [3, 4, 5])

    def test_damage_keeps_the_points_before_it_and_names_its_line(self):
        with self.assertRaises(Damage) as caught:
            self.read('<trkpt lat="1" lon="2"/>\n<trkpt lat="1" lon="3"/>\n<trkpt lat="1" lon=4')
        self.assertEqual((len(caught.exception.fixes), caught.exception.line), (2, 3))
        with self.assertRaises(Damage):
            self.read("</trkseg></trk></gpx>", head="<!DOCTYPE gpx><gpx>")


class Trips(unittest.TestCase):
    def history(self, *legs):
        """Points one second apart. Each leg has a duration in seconds and a speed to the east."""
        east, second, points = 0.0, 0, []
        for duration, speed in legs:
            for _ in range(duration):
                latitude, longitude = step(*HOME, east, 0)
                time = iso(START + second * 1000)
                points.append({"latitude": latitude, "longitude": longitude, "timestamp": time, "speed": speed})
                east, second = east + speed, second + 1
        return points

    def test_a_trip_runs_from_the_last_standing_point_to_the_first_one_of_a_stop(self):
        found = trips(self.history((100, 0), (200, 10), (700, 0), (50, 10)))
        self.assertEqual([trip["points"] for trip in found], [202, 51])
        self.assertEqual([trip["inProgress"] for trip in found], [False, True])
        self.assertAlmostEqual(found[0]["distance"], 2000, delta=1)

    def test_a_short_stop_is_part_of_a_trip(self):
        self.assertEqual(len(trips(self.history((100, 10), (590, 0), (100, 10)))), 1)

    def test_wandering_is_not_a_trip(self):
        self.assertEqual(trips(self.history(*[(4, 10), (4, -10)] * 50)), [])


class Samples(unittest.TestCase):
    def test_each_comment_in_the_bad_fixes_states_the_decision(self):
        path = TRACKS / "bad-fixes.gpx"
        fixes, comments = read_gpx(path, 0), re.findall("<cmt>(.*?)</cmt>", path.read_text())
        for name in make_tracks.TELLING[path.stem]:
            chain = LocationFilter(make_tracks.RUNS[name])
            for point, comment in zip(fixes, comments, strict=True):
                decision = chain.feed(point)
                got = ("accepted", decision.opens_segment) if isinstance(decision, Point) else (decision, False)
                self.assertEqual(got, bad_fixes.expectation(comment, name), f"{name}, point {point.index}: {comment}")

    def test_every_fix_is_counted_once(self):
        for path in sorted(TRACKS.glob("*.gpx")):
            fixes = read_gpx(path, 0)
            for settings in make_tracks.RUNS.values():
                result = run(fixes, settings)
                indices = [entry["index"] for entry in result["accepted"] + result["rejected"]]
                self.assertEqual(sorted(indices), list(range(len(fixes))))

    def test_the_samples_match_the_output_of_their_scripts(self):
        for name, text in make_tracks.files().items():
            self.assertEqual((TRACKS / name).read_text(), text, name)
        for path in sorted(TRACKS.glob("*.gpx")):
            stored = path.with_name(path.stem + ".expected.json").read_text()
            self.assertEqual(stored, make_tracks.expected(path))
            self.assertEqual(json.loads(stored)["track"], path.name)


if __name__ == "__main__":
    unittest.main()
