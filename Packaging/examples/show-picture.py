#!/usr/bin/python3
"""Shows a PNG of the examples' server on a terminal: half-block characters of two pixels each, in 24-bit colour.

    show-picture.py FILE [COLUMNS]
"""
import struct
import sys
import zlib


def pixels(path):
    """Width, height and rows. Reads only what the server writes: 8-bit RGB without filters."""
    with open(path, "rb") as file:
        data = file.read()
    position, packed = 8, b""
    width, height = struct.unpack(">II", data[16:24])
    while position < len(data):
        length, kind = struct.unpack(">I4s", data[position:position + 8])
        if kind == b"IDAT":
            packed += data[position + 8:position + 8 + length]
        position += length + 12
    raw, stride = zlib.decompress(packed), width * 3 + 1
    return width, height, [raw[y * stride + 1:(y + 1) * stride] for y in range(height)]


def main():
    width, height, rows = pixels(sys.argv[1])
    columns = min(width, int(sys.argv[2]) if len(sys.argv) > 2 else 60)
    step = width / columns

    def color(x, y):
        at = int(x * step) * 3
        return ";".join(str(value) for value in rows[min(height - 1, int(y * step))][at:at + 3])
    for y in range(0, int(height / step) - 1, 2):
        print("".join(f"\x1b[38;2;{color(x, y)}m\x1b[48;2;{color(x, y + 1)}m\u2580" for x in range(columns)) + "\x1b[0m")


if __name__ == "__main__":
    main()
