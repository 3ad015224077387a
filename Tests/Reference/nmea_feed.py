#!/usr/bin/env python3
"""Feeds a GPX track to gpsd as NMEA sentences of a receiver, one epoch per datagram.

    gpsd -N -n -S 2947 udp://127.0.0.1:2948
    nmea_feed.py udp 127.0.0.1 2948 tracks/freeway-drive.gpx --rate 10 --now --verbose

By default the dates are today's, because gpsd moves dates before 2017 by 1,024 weeks. The dilution is chosen so that
gpsd's error model returns the accuracy of the track (within 0.11 m). --epe states an error that gpsd passes on
unchanged. A multiple of 0.19 m looks like the model, so tests of the receiver's own errors use other values. --as-is
also sends points that go back in time.
"""

import argparse
import socket
import sys
import time

from readings import Damage, iso, milliseconds, read_gpx

KNOTS = 3600 / 1852
DAY = 86_400_000
# Number, elevation, azimuth, signal: a sky that suits any dilution of the track.
SATELLITES = [
    (2, 71, 48, 44), (5, 24, 301, 36), (7, 33, 184, 40), (13, 52, 263, 42),
    (15, 12, 132, 31), (20, 41, 95, 41), (24, 18, 226, 34), (30, 29, 12, 38),
]  # fmt: skip
# The accuracy if neither the track nor an option states one.
USUAL_ACCURACY = 10.0


def sentence(body):
    """The sentence with this body and its checksum."""
    checksum = 0
    for byte in body.encode("ascii"):
        checksum ^= byte
    return f"${body}*{checksum:02X}\r\n"


def angle(degrees, width, positive, negative):
    """Degrees and minutes. Nine decimals of a minute (2 micrometres) preserve the track."""
    whole, minutes = divmod(round(abs(degrees) * 60e9), 60_000_000_000)
    return f"{whole:0{width}d}{minutes // 10**9:02d}.{minutes % 10**9:09d},{positive if degrees >= 0 else negative}"


def epoch(fix, when, talker, epe):
    """The sentences of one fix. `when` is its time in milliseconds, `epe` the stated error in metres or None."""
    date = iso(when)
    clock, day = date[11:23].replace(":", ""), date[8:10] + date[5:7] + date[2:4]
    if fix.mode < 2:
        return (
            sentence(f"{talker}GSA,A,1,,,,,,,,,,,,,,,")
            + sentence(f"{talker}GGA,{clock},,,,,0,00,,,M,,M,,")
            + sentence(f"{talker}RMC,{clock},V,,,,,,,{day},,,N")
        )
    latitude, longitude = angle(fix.latitude, 2, "N", "S"), angle(fix.longitude, 3, "E", "W")
    # gpsd assumes a 95 % error of 19 m per unit of HDOP; 1.731 converts it to the 63 % of the track.
    hdop = max(0.01, (fix.stated_accuracy or USUAL_ACCURACY) * 1.731 / 19)
    used = [number for number, *_ in SATELLITES][: 8 if fix.mode == 3 else 3]
    slots = ",".join([str(number).zfill(2) for number in used] + [""] * (12 - len(used)))
    text = sentence(f"{talker}GSA,A,{fix.mode},{slots},{hdop * 1.7:.2f},{hdop:.2f},{hdop * 1.4:.2f}")
    for page in range(2):
        seen = [f"{n:02d},{e:02d},{a:03d},{s:02d}" for n, e, a, s in SATELLITES[page * 4 : page * 4 + 4]]
        text += sentence(f"{talker}GSV,2,{page + 1},{len(SATELLITES):02d},{','.join(seen)}")
    height = f"{fix.altitude:.2f}" if fix.altitude is not None and fix.mode == 3 else ""
    text += sentence(f"{talker}GGA,{clock},{latitude},{longitude},1,{len(used):02d},{hdop:.2f},{height},M,0.0,M,,")
    if epe is not None:
        text += sentence(f"PSRFEPE,{clock},A,{hdop:.2f},{epe:.3f},{epe * 1.6:.3f},0.5,2.0")
    speed = f"{fix.speed * KNOTS:.4f}" if fix.speed is not None else ""
    course = f"{fix.course:.3f}" if fix.course is not None else ""
    return text + sentence(f"{talker}RMC,{clock},A,{latitude},{longitude},{speed},{course},{day},,,A")


def usable(fixes, as_is):
    """The fixes that a receiver could have sent: with a position and a time, in order."""
    result = []
    for fix in fixes:
        position = fix.latitude, fix.longitude
        valid = None not in position and abs(fix.latitude) <= 90 and abs(fix.longitude) <= 180
        if (valid or fix.mode < 2) and fix.time is not None and (as_is or not result or fix.time > result[-1].time):
            result.append(fix)
    return result


def shift(first, options, now):
    """Milliseconds to add to the times of the track."""
    if options.begin is not None:
        return options.begin - first
    if options.now:
        return now - first
    return (now // DAY - first // DAY) * DAY


def error(text):
    return text if text == "track" else float(text)


def main():
    parser = argparse.ArgumentParser(description="Feeds a GPX track to gpsd as NMEA.")
    parser.add_argument("way", choices=["udp"])
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    parser.add_argument("track")
    parser.add_argument("--rate", type=float, default=1.0, metavar="N", help="epochs a second; 0: as fast as possible")
    parser.add_argument("--start", type=int, default=0, metavar="N", help="the first epoch to send")
    parser.add_argument("--count", type=int, metavar="N", help="the number of epochs")
    parser.add_argument("--talker", default="GP", help="GP, GN, ...")
    parser.add_argument("--epe", type=error, metavar="METRES", help="state this error (or: track)")
    parser.add_argument("--now", action="store_true", help="begin now, not at the track's time of day")
    parser.add_argument("--begin", type=milliseconds, metavar="TIME", help="the time of the first epoch sent")
    parser.add_argument("--as-is", action="store_true", help="send points that go back in time as well")
    parser.add_argument("--verbose", action="store_true", help="print each epoch's number, time and place")
    options = parser.parse_args()
    try:
        fixes = read_gpx(options.track, time.time_ns() // 1_000_000)
    except (OSError, Damage) as fault:
        print(f"{options.track}: {fault}", file=sys.stderr)
        return 1
    fixes = usable(fixes, options.as_is)[options.start :][: options.count]
    if not fixes:
        print(f"{options.track}: no epoch to send", file=sys.stderr)
        return 1
    moved = shift(fixes[0].time, options, time.time_ns() // 1_000_000)
    out = socket.socket(socket.AF_INET6 if ":" in options.host else socket.AF_INET, socket.SOCK_DGRAM)
    began = time.monotonic()
    for number, fix in enumerate(fixes):
        if options.rate > 0:
            # Relative to the start, so that the rate does not drift.
            time.sleep(max(0.0, began + number / options.rate - time.monotonic()))
        epe = fix.stated_accuracy if options.epe == "track" else options.epe
        when = fix.time + moved
        if options.verbose:
            place = f"{fix.latitude:.8f} {fix.longitude:.8f}" if fix.mode >= 2 else "no fix"
            # Printed before sending, so that the output of a killed program is complete.
            print(options.start + number, iso(when), place, flush=True)
        try:
            out.sendto(epoch(fix, when, options.talker, epe).encode("ascii"), (options.host, options.port))
        except ConnectionRefusedError:
            pass  # gpsd is not running; a receiver would not notice either
    return 0


if __name__ == "__main__":
    sys.exit(main())
