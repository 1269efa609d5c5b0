"""The readings: tenths of a millimetre per day, from April to September of one year."""

import random
from calendar import monthrange

YEAR = 2019
STATIONS = ("Aldbrook", "Cwm Hir", "Dunmore", "Fellside", "Greyholm", "Inverlee")
MONTHS = range(4, 10)


def season() -> dict[str, dict[int, dict[int, int]]]:
    """Station, month, day, reading. Dry days have no entry, as in the observer's book."""
    rng = random.Random(1860)
    book: dict[str, dict[int, dict[int, int]]] = {}
    for station in STATIONS:
        book[station] = {}
        for month in MONTHS:
            days = rng.sample(range(1, monthrange(YEAR, month)[1] + 1), rng.randint(6, 13))
            amounts = rng.sample(range(2, 320), len(days))
            book[station][month] = dict(sorted(zip(days, amounts, strict=True)))
    return book
