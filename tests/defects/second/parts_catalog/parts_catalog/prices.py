"""The catalogue: prices that nobody could guess, the same on every load."""

import random

_rng = random.Random("parts-catalog 2024")
PRICES = {
    f"{kind}-{number}": _rng.randint(35, 9800)
    for kind in ("BR", "FT", "GK", "LM", "VX")
    for number in _rng.sample(range(100, 999), 12)
}
