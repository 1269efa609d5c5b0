"""Tides by the rule of twelfths: a verifiers 0.1 environment."""

import random
import re

import numpy as np
import verifiers as vf
from datasets import Dataset

TWELFTHS = (0, 1, 3, 6, 9, 11, 12)
PORTS = ("Saltmouth", "Port Arden", "Kilcree", "Nordhavn", "Lisbelle", "Cabo Frade", "Tern Island")
SYSTEM = (
    "You compute tides by the rule of twelfths: in the six hours from low to high water the tide rises "
    "by 1, 2, 3, 3, 2 and 1 twelfths of its range."
)
HEIGHT = re.compile(r"-?[0-9]{1,4}(?:\.[0-9]{1,6})?")


def heights_in(completion, parser) -> list[float]:
    """The numbers of the last line of the reply that has any."""
    text = parser.parse_answer(completion) or ""
    for line in reversed(text.strip().splitlines()):
        if found := HEIGHT.findall(line):
            return [float(number) for number in found]
    return []


def heights(completion, info, parser) -> float:
    """Share of the seven heights that are right to the centimetre."""
    said = heights_in(completion, parser)
    if len(said) != len(TWELFTHS):
        return 0.0
    return sum(abs(a - b) < 0.0101 for a, b in zip(said, info["heights"])) / len(TWELFTHS)


def curve(completion, info, parser) -> float:
    """How well the shape of the curve is met: the correlation with the true one, at least 0."""
    said = heights_in(completion, parser)
    if len(said) != len(TWELFTHS):
        return 0.0
    return max(float(np.corrcoef(said, info["heights"])[0, 1]), 0.0)


def load_environment(num_tasks: int = 36, seed: int = 12) -> vf.Environment:
    rng = random.Random(seed)
    rows: dict[tuple[int, int], dict] = {}
    while len(rows) < num_tasks:
        low, rise = rng.randint(20, 190), 12 * rng.randint(10, 55)
        port = rng.choice(PORTS)
        true = [round((low + rise * part / 12) / 100, 2) for part in TWELFTHS]
        rows[low, rise] = {
            "question": f"{port}: low water {low / 100:.2f} m, high water six hours later "
            f"{(low + rise) / 100:.2f} m. Give the height at low water and at the end of each of the "
            "six hours, in metres with two decimals: seven numbers on one line, separated by spaces, "
            "and nothing else on that line.",
            "answer": " ".join(f"{height:.2f}" for height in true),
            "info": {"heights": true},
        }
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(list(rows.values())),
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[heights, curve], weights=[0.8, 0.2], parser=parser),
    )
