"""Distances, crossings and areas of places by shapely and pyproj.

usage: places.py CASES

CASES is a JSON file: {"cases": [{"shape", "positions", "ways"}], "rings": [ring]}. Prints {"cases": [{"distances", "crossings",
"radius"}], "valid": [bool]}: signed metres to the boundary, the fractions at which each way enters and leaves the shape, the radius of a circle of the same area, and whether each ring is valid by itself.

A position's surroundings are projected around it (azimuthal equidistant). Edges are divided into pieces of at most 2 km along the
geodesic first.
"""

import json
import math
import multiprocessing
import sys

from pyproj import Geod, Proj
from shapely.geometry import LinearRing, LineString, Point, Polygon

GEOD = Geod(ellps="WGS84")
PIECE = 2000


def projected(projection, points):
    xs, ys = projection([point[0] for point in points], [point[1] for point in points])
    return list(zip(xs, ys))


def divided(points):
    """The points with further ones on edges that are longer than PIECE."""
    result = points[:1]
    for (lon1, lat1), (lon2, lat2) in zip(points, points[1:]):
        length = GEOD.inv(lon1, lat1, lon2, lat2)[2]
        pieces = int(length // PIECE)
        if pieces:
            result += [list(point) for point in GEOD.npts(lon1, lat1, lon2, lat2, pieces)]
        result.append([lon2, lat2])
    return result


def around(point):
    return Proj(proj="aeqd", lon_0=point[0], lat_0=point[1], ellps="WGS84")


def signed_distance(shape, parts, position):
    if shape["type"] == "circle":
        return shape["radius"] - GEOD.inv(*position, shape["longitude"], shape["latitude"])[2]
    projection = around(position)
    flat = [projected(projection, part) for part in parts]
    origin = Point(0, 0)
    distance = min(LineString(part).distance(origin) for part in flat)
    if shape["type"] == "line":
        return shape["width"] / 2 - distance
    inside = sum(Polygon(part).contains(origin) for part in flat) % 2
    return distance if inside else -distance


def surface(shape, parts, projection):
    """The shape in a projection."""
    if shape["type"] == "circle":
        ring = [
            GEOD.fwd(shape["longitude"], shape["latitude"], 360 * step / 720, shape["radius"])[:2] for step in range(720)
        ]
        return Polygon(projected(projection, ring))
    flat = [projected(projection, part) for part in parts]
    if shape["type"] == "line":
        return LineString(flat[0]).buffer(shape["width"] / 2, 90)
    area = Polygon()
    for part in flat:
        area = area.symmetric_difference(Polygon(part))
    return area


def crossings(shape, parts, way):
    """The fractions of the way at which it enters and leaves the shape; nothing if an end is inside."""
    (lon1, lat1), (lon2, lat2) = way
    middle = GEOD.npts(lon1, lat1, lon2, lat2, 1)[0]
    projection = around(middle)
    start, end = projected(projection, way)
    area = surface(shape, parts, projection)
    if area.contains(Point(start)) or area.contains(Point(end)):
        return []
    line = LineString([start, end])
    common = line.intersection(area)
    pieces = [piece for piece in getattr(common, "geoms", [common]) if piece.length > 0]
    return sorted(sorted(line.project(Point(point), normalized=True) for point in piece.coords) for piece in pieces)


def radius(shape, parts):
    if shape["type"] == "circle":
        return shape["radius"]
    if shape["type"] == "line":
        return shape["width"] / 2
    area = 0
    for number, part in enumerate(parts):
        flat = around(part[0])
        ring = Polygon(projected(flat, part))
        others = [Polygon(projected(flat, other)) for index, other in enumerate(parts) if index != number]
        depth = sum(other.contains(ring.representative_point()) and other.area > ring.area for other in others)
        size = abs(GEOD.polygon_area_perimeter([p[0] for p in part], [p[1] for p in part])[0])
        area += -size if depth % 2 else size
    return math.sqrt(area / math.pi)


def solve(case):
    shape = case["shape"]
    if shape["type"] == "polygon":
        parts = [divided(ring + ring[:1]) for ring in shape["rings"]]
    elif shape["type"] == "line":
        parts = [divided(shape["points"])]
    else:
        parts = []
    return {
        "distances": [signed_distance(shape, parts, position) for position in case["positions"]],
        "crossings": [crossings(shape, parts, way) for way in case["ways"]],
        "radius": radius(shape, parts),
    }


def is_valid(ring):
    if len({tuple(point) for point in ring}) < 3:
        return False
    flat = projected(around(ring[0]), ring)
    return Polygon(flat).is_valid and LinearRing(flat).is_simple


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        task = json.load(file)
    with multiprocessing.Pool() as pool:
        cases = pool.map(solve, task["cases"], chunksize=50)
        valid = pool.map(is_valid, task["rings"], chunksize=100)
    json.dump({"cases": cases, "valid": valid}, sys.stdout)


if __name__ == "__main__":
    main()
