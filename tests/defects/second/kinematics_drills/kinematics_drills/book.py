"""The book: entries as the publisher delivers them, problem and worked solution in one text."""

import random


def uniform_motion(rng: random.Random, count: int) -> list[dict]:
    """Chapter 1: distance at a constant speed."""
    entries: dict[tuple[int, int], dict] = {}
    while len(entries) < count:
        speed, time = rng.randint(3, 38), rng.randint(6, 55)
        who = rng.choice(("cyclist", "tram", "ferry", "runner", "lorry"))
        entries[speed, time] = {
            "text": (
                f"A {who} moves at a constant {speed} m/s for {time} s. How far does it get, in "
                f"metres? Solution: s = v t = {speed} m/s x {time} s = {speed * time} m."
            ),
            "value": speed * time,
        }
    return list(entries.values())


def accelerated_motion(rng: random.Random, count: int) -> list[dict]:
    """Chapter 2: final speed under a constant acceleration."""
    entries: dict[tuple[int, int, int], dict] = {}
    while len(entries) < count:
        start, gain, time = rng.randint(2, 19), rng.randint(2, 9), rng.randint(4, 27)
        who = rng.choice(("sledge", "train", "rocket car", "lift", "bobsleigh"))
        entries[start, gain, time] = {
            "text": (
                f"A {who} starts with {start} m/s and gains {gain} m/s every second. What is its "
                f"speed after {time} s, in m/s? Soln: v = v0 + a t = {start} m/s + {gain} m/s2 x "
                f"{time} s = {start + gain * time} m/s."
            ),
            "value": start + gain * time,
        }
    return list(entries.values())


def entries(per_chapter: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    return uniform_motion(rng, per_chapter) + accelerated_motion(rng, per_chapter)
