"""The log: pages by path, and what was landed by whom."""

import random

SHIPS = ("Aurora", "Brigid", "Cormorant", "Dorothea", "Esperance", "Fulmar", "Gannet", "Halcyon")
GOODS = ("tea", "oranges", "nails", "lamp oil", "wool", "glass")
YEARS = (1886, 1887, 1888)
Landing = tuple[str, str, str, int]


def write(seed: int) -> tuple[dict[str, str], list[Landing]]:
    """All pages, and all landings as (path, ship, goods, crates)."""
    rng = random.Random(seed)
    pages: dict[str, str] = {}
    landings: list[Landing] = []
    for year in YEARS:
        for month in range(1, 13):
            path = f"{year}/{month:02d}"
            lines = []
            for ship in rng.sample(SHIPS, 4):
                goods, crates = rng.choice(GOODS), rng.randint(12, 480)
                lines.append(f"{ship}, from sea: {crates} crates of {goods}. Dues paid.")
                landings.append((path, ship, goods, crates))
            pages[path] = f"Log of the harbour, {path}\n" + "\n".join(lines)
    return pages, landings
