"""Distances and steps on the WGS84 ellipsoid.

Vincenty's inverse formulae ("Direct and inverse solutions of geodesics on the ellipsoid", Survey Review XXIII, 1975).
They do not converge for nearly antipodal points; the great circle is used there, which is within 0.6 %.
"""

import math

EQUATOR = 6378137.0
FLATTENING = 1 / 298.257223563
POLE = EQUATOR * (1 - FLATTENING)
MEAN_RADIUS = (2 * EQUATOR + POLE) / 3


def distance(latitude1, longitude1, latitude2, longitude2):
    """Metres between two points in degrees. The points may be on different sides of the date line."""
    if (latitude1, longitude1) == (latitude2, longitude2):
        return 0.0
    metres = _vincenty(latitude1, longitude1, latitude2, longitude2)
    return great_circle(latitude1, longitude1, latitude2, longitude2) if metres is None else metres


def great_circle(latitude1, longitude1, latitude2, longitude2):
    """Metres on a sphere of the mean radius (haversine)."""
    phi1, phi2 = math.radians(latitude1), math.radians(latitude2)
    half_phi, half_lambda = (phi2 - phi1) / 2, math.radians(longitude2 - longitude1) / 2
    chord = math.sin(half_phi) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lambda) ** 2
    return 2 * MEAN_RADIUS * math.asin(min(1.0, math.sqrt(chord)))


def step(latitude, longitude, east, north):
    """The point `east` and `north` metres away. For steps of up to a few hundred metres, not near the poles."""
    phi = math.radians(latitude)
    squared = FLATTENING * (2 - FLATTENING)
    w = 1 - squared * math.sin(phi) ** 2
    meridian, vertical = EQUATOR * (1 - squared) / w**1.5, EQUATOR / math.sqrt(w)
    return latitude + math.degrees(north / meridian), longitude + math.degrees(east / (vertical * math.cos(phi)))


def _vincenty(latitude1, longitude1, latitude2, longitude2):
    difference = math.radians(math.remainder(longitude2 - longitude1, 360.0))
    u1 = math.atan((1 - FLATTENING) * math.tan(math.radians(latitude1)))
    u2 = math.atan((1 - FLATTENING) * math.tan(math.radians(latitude2)))
    sin1, cos1, sin2, cos2 = math.sin(u1), math.cos(u1), math.sin(u2), math.cos(u2)
    lam = difference
    for _ in range(200):
        sin_lam, cos_lam = math.sin(lam), math.cos(lam)
        sin_sigma = math.hypot(cos2 * sin_lam, cos1 * sin2 - sin1 * cos2 * cos_lam)
        if sin_sigma == 0:
            return 0.0
        cos_sigma = sin1 * sin2 + cos1 * cos2 * cos_lam
        sigma = math.atan2(sin_sigma, cos_sigma)
        sin_alpha = cos1 * cos2 * sin_lam / sin_sigma
        cos2_alpha = 1 - sin_alpha * sin_alpha
        # On the equator the term is 0.
        cos_2m = cos_sigma - 2 * sin1 * sin2 / cos2_alpha if cos2_alpha > 1e-15 else 0.0
        c = FLATTENING / 16 * cos2_alpha * (4 + FLATTENING * (4 - 3 * cos2_alpha))
        bracket = cos_2m + c * cos_sigma * (2 * cos_2m * cos_2m - 1)
        previous, lam = lam, difference + (1 - c) * FLATTENING * sin_alpha * (sigma + c * sin_sigma * bracket)
        if abs(lam) > math.pi:
            return None
        if abs(lam - previous) < 1e-13:
            break
    else:
        return None
    u_squared = cos2_alpha * (EQUATOR * EQUATOR - POLE * POLE) / (POLE * POLE)
    a = 1 + u_squared / 16384 * (4096 + u_squared * (-768 + u_squared * (320 - 175 * u_squared)))
    b = u_squared / 1024 * (256 + u_squared * (-128 + u_squared * (74 - 47 * u_squared)))
    inner = cos_sigma * (2 * cos_2m * cos_2m - 1)
    inner -= b / 6 * cos_2m * (4 * sin_sigma * sin_sigma - 3) * (4 * cos_2m * cos_2m - 3)
    return POLE * a * (sigma - b * sin_sigma * (cos_2m + b / 4 * inner))
