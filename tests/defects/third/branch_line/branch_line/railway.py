"""The line: stations with their minutes from the first one, and departures."""

STOPS = {
    "Alderholt": 0,
    "Mill Lane": 7,
    "Crossways": 12,
    "Fenny Abbas": 21,
    "Stoke Gifford Halt": 26,
    "Wharf Road": 38,
    "Seaport": 47,
}
TERMINUS = "Seaport"
# departures at Alderholt, in minutes after midnight
DEPARTURES = [346, 391, 428, 475, 533, 611, 702, 788, 859, 927, 971, 1012, 1066, 1131, 1219, 1304]


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def minutes(time: str) -> int:
    hours, _, rest = time.partition(":")
    return int(hours) * 60 + int(rest)


def next_departure(station: str, after: int) -> int:
    """When the first train at or after `after` leaves `station`."""
    return min(start + STOPS[station] for start in DEPARTURES if start + STOPS[station] >= after)
