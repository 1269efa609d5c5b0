"""Local times to UTC."""

import random
import re

import verifiers as vf
from datasets import Dataset

ZONES = {"Kathmandu": 345, "Nairobi": 180, "Lima": -300, "Tokyo": 540, "Anchorage": -540, "Adelaide": 570, "Dhaka": 360}
TIME = re.compile(r"(?<![0-9:+-])([01]?[0-9]|2[0-3]):([0-5][0-9])(?![0-9:])")
SAMPLE = 3


def clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def make_rows(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows = []
    for _ in range(count):
        city, offset = rng.choice(sorted(ZONES.items()))
        local = rng.sample(range(0, 1440, 5), 8)
        sign, shift = "-" if offset < 0 else "+", abs(offset)
        listing = "\n".join(clock(t) for t in local)
        rows.append(
            {
                "question": f"These are local times in {city} (UTC{sign}{clock(shift)}):\n\n{listing}\n\n"
                "Give each in UTC, as HH:MM, one a line, in the same order and nothing else.",
                "answer": "\n".join(clock((t - offset) % 1440) for t in local),
            }
        )
    return rows


def times(text: str) -> list[tuple[int, int]]:
    return [(int(h), int(m)) for h, m in TIME.findall(text)]


def spot_check(completion, answer: str) -> float:
    """Share of right lines among a few: checking them all would make eight points of one task."""
    said = times(str(completion[-1]["content"] or "")) if completion else []
    right = times(answer)
    if len(said) != len(right):
        return 0.0
    picked = random.sample(range(len(right)), SAMPLE)
    return sum(said[i] == right[i] for i in picked) / SAMPLE


def load_environment(num_tasks: int = 30, seed: int = 8) -> vf.Environment:
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(make_rows(num_tasks, seed)),
        rubric=vf.Rubric(funcs=[spot_check]),
    )
