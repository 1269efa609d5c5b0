"""The invented country: its towns and the roads between them."""

import random

TOWNS = ("Anselm", "Brackwater", "Corvey", "Dunholt", "Estermark", "Fallow", "Grenn", "Hadrow",
         "Ismere", "Jorvald", "Kestrel", "Lindow")  # fmt: skip


def _survey() -> dict[frozenset[str], int]:
    rng = random.Random("atlas of 1931")
    return {
        frozenset((a, b)): rng.randint(41, 297)
        for i, a in enumerate(TOWNS)
        for b in TOWNS[i + 1 :]
    }


ROADS = _survey()


def leg(a: str, b: str) -> int | None:
    """The length in km, or None if the towns are unknown or the same."""
    return ROADS.get(frozenset((a.strip().title(), b.strip().title())))
