"""The papers of one day: where pallets were put in the morning, and who moved them since."""

import random

SEED = 77
PALLETS = 36


def bay(rng: random.Random) -> str:
    return f"{rng.choice('ABCDEFGH')}-{rng.randint(1, 40):02}"


def write() -> tuple[dict[str, str], dict[str, str]]:
    """The papers by their paths, and the last bay of each pallet."""
    rng = random.Random(SEED)
    names = [f"P-{number}" for number in rng.sample(range(100, 999), PALLETS)]
    place = {name: bay(rng) for name in names}
    papers = {
        "intake/morning.txt": "\n".join(f"{name} stored in {place[name]}" for name in names),
    }
    for shift in ("day", "evening"):
        lines = []
        for name in rng.sample(names, PALLETS // 2):
            old = place[name]
            while place[name] == old:
                place[name] = bay(rng)
            lines.append(f"{name} from {old} to {place[name]}")
        papers[f"moves/{shift}.txt"] = "\n".join(lines)
    papers["notices/readme.txt"] = (
        "The day shift comes after the morning's intake, the evening shift after the day shift."
    )
    return papers, place
