"""Positions of ports in degrees, north and east positive."""

import math

PORTS = {
    "Rotterdam": (51.95, 4.14),
    "Santos": (-23.98, -46.29),
    "Singapore": (1.26, 103.84),
    "Durban": (-29.87, 31.03),
    "Halifax": (44.65, -63.57),
    "Yokohama": (35.44, 139.66),
    "Fremantle": (-32.05, 115.74),
    "Valparaiso": (-33.03, -71.63),
    "Mumbai": (18.94, 72.84),
    "Reykjavik": (64.15, -21.94),
    "Auckland": (-36.84, 174.77),
    "Dakar": (14.68, -17.43),
}
RADIUS = 3440.065  # nautical miles


def great_circle(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """By the haversine formula."""
    a, b, c, d = map(math.radians, (lat1, lon1, lat2, lon2))
    h = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * RADIUS * math.asin(min(1.0, math.sqrt(h)))
