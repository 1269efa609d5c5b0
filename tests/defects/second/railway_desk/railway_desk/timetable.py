"""The timetable: drawn once from a fixed seed, shared by the tools and the tasks."""

import random

STATIONS = ("Ostwick", "Fenmoor", "Harrowgate", "Linsey", "Caldbeck", "Thornby", "Marlow End")


def _draw() -> dict[str, list[tuple[int, str]]]:
    rng = random.Random(1907)
    table = {}
    for station in STATIONS:
        trains = {
            rng.randrange(5 * 60, 23 * 60): rng.choice([s for s in STATIONS if s != station])
            for _ in range(60)
        }
        table[station] = sorted(trains.items())
    return table


TIMETABLE = _draw()


def clock(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
