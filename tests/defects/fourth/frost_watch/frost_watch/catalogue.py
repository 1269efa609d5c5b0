"""The nursery's catalogue: made-up cultivars and the cold that they stand."""

import random

GENERA = ("Salvia", "Fuchsia", "Dahlia", "Penstemon", "Hebe", "Agapanthus", "Canna", "Phlox")
EPITHETS = ("Ember", "Lantern", "Tideline", "Marzipan", "Vesper", "Cobalt", "Harvest", "Quill")


def build() -> dict[str, int]:
    """Each cultivar with the lowest temperature, in degrees Celsius, that it survives."""
    rng = random.Random(1987)
    return {f"{genus} '{epithet}'": -rng.randint(0, 20) for genus in GENERA for epithet in EPITHETS}


HARDINESS = build()


def key(name: str) -> str:
    """A cultivar's name without case, quotes and needless spaces."""
    return " ".join("".join(c if c.isalnum() else " " for c in name.lower()).split())


BY_KEY = {key(name): name for name in HARDINESS}
