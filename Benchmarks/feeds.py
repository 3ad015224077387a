"""Makes the inputs of the benchmarks: reports of gpsd, NMEA, track files, a year of history."""

import os
import socket
import sys
import threading
import time
from pathlib import Path

from processes import ROOT, Failure, Process, free_port, wait_for

EPOCH = 1_780_000_000  # 2026-05-28: gpsd moves dates before 2017


def iso(second):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(second))


def place(number):
    """The place after `number` seconds at 10 m/s north, and back before the pole. Successive places differ."""
    lap, step = divmod(number, 100_000)
    return 20 + 9e-5 * (step if lap % 2 == 0 else 100_000 - step), 11.5 + 1e-6 * (number % 7)


def make(path, write):
    """Creates the file at `path` by `write` unless it exists, completely or not at all, and returns the path."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        # In a process of its own: a measured child starts with the memory of this process.
        child = os.fork()
        if child == 0:
            try:
                with open(part, "w", encoding="ascii") as out:
                    write(out)
                os._exit(0)
            except BaseException as error:
                print(error, file=sys.stderr)
                os._exit(1)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            raise Failure(f"cannot write {path}")
        part.rename(path)
    return path


def write_epochs(out, count, with_sky):
    """Writes the reports of gpsd 3.22 for an NMEA receiver: one TPV per second, each after a SKY with 12 satellites."""
    satellites = ",".join(
        f'{{"PRN":{n},"gnssid":0,"svid":{n},"el":{7 * n:.1f},"az":{29 * n % 360:.1f},"ss":{30 + n:.1f},'
        f'"used":{"true" if n < 9 else "false"},"health":1}}'
        for n in range(1, 13)
    )
    for number in range(count):
        latitude, longitude = place(number)
        at = iso(EPOCH + number)
        if with_sky:
            out.write(
                f'{{"class":"SKY","device":"/dev/ttyUSB0","time":"{at}","xdop":0.56,"ydop":0.72,"vdop":1.12,"tdop":0.87,'
                f'"hdop":0.90,"gdop":1.69,"pdop":1.44,"nSat":12,"uSat":8,"satellites":[{satellites}]}}\r\n'
            )
        out.write(
            f'{{"class":"TPV","device":"/dev/ttyUSB0","mode":3,"time":"{at}","ept":0.005,"lat":{latitude:.9f},'
            f'"lon":{longitude:.9f},"altHAE":548.2000,"altMSL":502.1000,"alt":502.1000,"epx":8.512,"epy":10.944,'
            '"epv":25.760,"track":0.2500,"magtrack":3.6461,"magvar":3.4,"speed":10.000,"climb":0.000,"eps":21.89,'
            '"epc":51.52,"geoidSep":46.100,"eph":17.100,"sep":27.360}\r\n'
        )


def write_gpx(out, count):
    """Writes a track as loggers do."""
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" creator="Backgrounder\'s benchmark" ')
    out.write('xmlns="http://www.topografix.com/GPX/1/1">\n<trk><trkseg>\n')
    for number in range(count):
        latitude, longitude = place(number)
        out.write(
            f'<trkpt lat="{latitude:.8f}" lon="{longitude:.8f}"><ele>{500 + number % 97 / 10:.1f}</ele>'
            f"<time>{iso(EPOCH + number)[:-5]}Z</time><hdop>0.9</hdop></trkpt>\n"
        )
    out.write("</trkseg></trk></gpx>\n")


class FastGPSD:
    """A fake gpsd that sends a file to its client as fast as the client reads.

    At the end it closes the connection (`closes`; gpxlogger then ends) or keeps it open without sending.
    """

    def __init__(self, path, *, closes):
        self.path, self.closes = path, closes
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.watched = threading.Event()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        client, _ = self.listener.accept()
        with client:
            client.sendall(b'{"class":"VERSION","release":"3.22","rev":"3.22","proto_major":3,"proto_minor":14}\r\n')
            client.recv(4096)
            client.sendall(b'{"class":"DEVICES","devices":[{"class":"DEVICE","path":"/dev/ttyUSB0"}]}\r\n')
            self.watched.set()
            if self.path is not None:
                with open(self.path, "rb") as file:
                    client.sendfile(file)
            if self.closes:
                client.shutdown(socket.SHUT_WR)
            while client.recv(4096):
                pass

    def close(self):
        self.listener.close()


class RealGPSD:
    """The real gpsd, fed once a second with RMC, GGA, GSA and GSV over UDP."""

    def __init__(self):
        self.port, self.feed_port = free_port(), free_port(socket.SOCK_DGRAM)
        self.gpsd = Process("gpsd", "-N", "-n", "-S", self.port, f"udp://127.0.0.1:{self.feed_port}")
        wait_for("gpsd", lambda: socket.socket().connect_ex(("127.0.0.1", self.port)) == 0)
        script, track = ROOT / "Tests/Reference/nmea_feed.py", ROOT / "tracks/freeway-drive.gpx"
        self.feed = Process("/usr/bin/python3", script, "udp", "127.0.0.1", self.feed_port, track, "--now")

    def close(self):
        self.feed.stop()
        self.gpsd.stop()


def history_sql(count, last):
    """The SQL that fills the history with `count` points up to the second `last`: a trip of an hour every three hours."""
    hours = (count + 3599) // 3600
    begin = (last - hours * 10_800) * 1000
    points = f"""
        WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < {count}),
        point(n, time) AS (SELECT n, {begin} + 1000 * (n / 3600 * 10800 + 7200 + n % 3600) FROM number)
        INSERT INTO location (id, recorded, time, latitude, longitude, altitude, horizontalAccuracy, accuracySource,
            verticalAccuracy, speed, course, mode, segmentStart)
        SELECT n + 1, time, time, 48 + 9e-5 * (n % 3600) + 1e-7 * (n % 13), 11.5 + 1e-6 * (n % 7), 500 + n % 97 / 10.0,
            9.9, 'model', 25.8, 10.0, 0.25, 3, n % 3600 = 0 FROM point
        """
    trips = f"""
        WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < {hours}),
        trip(n, began, points) AS (
            SELECT n, {begin} + 1000 * (n * 10800 + 7200), min(3600, {count} - 3600 * n) FROM number
        )
        INSERT INTO trip (id, imported, recorded, began, ended, isOpen, distance, movingTime, topSpeed, minLatitude,
            minLongitude, maxLatitude, maxLongitude, points, speeds, firstPoint, lastPoint)
        SELECT n + 1, 0, began, began, began + 1000 * (points - 1), 0, 10 * (points - 1), points - 1, 10, 48, 11.5,
            48.33, 11.51, points, zeroblob(256), 3600 * n + 1, 3600 * n + points FROM trip
        """
    return points, trips
