#!/usr/bin/python3
"""The small web server of the examples: a feed and a picture of the day, on loopback.

    GET  /feed.xml          RSS 2 with an item for each day; ETag, and 304 if nothing changed
    GET  /today             the path of today's picture, one line; ETag
    GET  /pictures/day-N.png
    POST /tomorrow          begin the next day: one more item, another picture

Prints its port. Exits when stdin is closed.
"""
import math
import os
import struct
import sys
import threading
import zlib
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HEADLINES = [
    "Harbour wall open again", "Ferry runs <b>every hour</b> on Sundays", "Seals counted: 1 < 2 in a day",
    "Caf\u00e9 on the mole has a new oven", "Lighthouse & fog horn, a guided tour", "Regatta: who won, and who sank",
]
FIRST_DAY = 1763622000  # 2025-11-20, 07:00 UTC: the same feed at each run


def feed(today, address):
    """The newest item first, as feeds have it."""
    def item(day):
        title = HEADLINES[(day - 1) % len(HEADLINES)].replace("&", "&amp;").replace("<", "&lt;")
        return (f"<item><title>{title}</title><link>{address}/news/{day}</link>"
                f'<guid isPermaLink="false">news-{day}</guid>'
                f"<pubDate>{formatdate(FIRST_DAY + day * 86400, usegmt=True)}</pubDate></item>\n")
    items = "".join(item(day) for day in range(today, 0, -1))
    return (f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>Harbour News</title>'
            f"<link>{address}/</link><description>Made up</description>\n{items}</channel></rss>\n").encode()


def picture(day, width=240, height=150):
    """A sun over the sea as a PNG: where the sun stands, and the colours, are the day's."""
    sun_x, sun_y = width * (0.2 + 0.15 * (day % 5)), height * (0.2 + 0.12 * (day * 3 % 4))
    warm = 0.5 + 0.5 * math.sin(day * 1.7)
    rows = []
    for y in range(height):
        row = bytearray([0])  # PNG's filter: none
        shade = y / height
        for x in range(width):
            wave = math.sin(x * 0.11 + day) + math.sin(x * 0.031 - day * 2)
            if y > height * 0.68 + wave * 3:
                ripple = 18 * math.sin(y * 0.9 + x * 0.2 * math.sin(y + day))
                color = (20 + 90 * warm * shade + ripple, 60 + 40 * warm + ripple, 110 + ripple)
            else:
                glow = math.exp(-(((x - sun_x) ** 2 + (y - sun_y) ** 2) / 500.0))
                color = (80 + 150 * warm * shade + 255 * glow, 130 + 40 * shade + 200 * glow,
                         215 - 130 * warm * shade + 60 * glow)
            row += bytes(max(0, min(255, int(value))) for value in color)
        rows.append(bytes(row))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    today = 3  # of all requests

    def answer(self, status, body=b"", kind="text/plain", tag=None):
        self.send_response(status)
        if tag:
            self.send_header("ETag", tag)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        today = Handler.today
        tag = f'"{self.path.strip("/")}-{today}"'
        if self.path in ("/feed.xml", "/today") and self.headers.get("If-None-Match") == tag:
            return self.answer(304, tag=tag)
        if self.path == "/feed.xml":
            return self.answer(200, feed(today, f"http://{self.headers['Host']}"), "application/rss+xml", tag)
        if self.path == "/today":
            return self.answer(200, f"/pictures/day-{today}.png\n".encode(), tag=tag)
        names = {f"/pictures/day-{day}.png": day for day in range(1, today + 1)}
        if self.path in names:
            return self.answer(200, picture(names[self.path]), "image/png", f'"picture-{names[self.path]}"')
        return self.answer(404, b"not here\n")

    def do_POST(self):
        if self.path != "/tomorrow":
            return self.answer(404, b"not here\n")
        Handler.today += 1
        return self.answer(200, f"day {Handler.today}\n".encode())

    def log_message(self, *_):
        pass


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
