"""Unit conversion with verifiers 0.1."""

import random
import re

import verifiers as vf
from datasets import Dataset

FACTORS = [
    ("km", "miles", 0.621371),
    ("miles", "km", 1.609344),
    ("kg", "pounds", 2.204623),
    ("pounds", "kg", 0.453592),
    ("litres", "US gallons", 0.264172),
    ("inches", "cm", 2.54),
    ("feet", "metres", 0.3048),
]
LINE = re.compile(
    r"^[ *]{0,4}answer[ *]{0,4}:[ *$]{0,4}([0-9][0-9,]{0,15}(?:\.[0-9]{1,12})?)[ *.a-z]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)


def text_of(completion) -> str:
    text = str(completion[-1]["content"] or "") if completion else ""
    return text.rpartition("</think>")[2]


def close_enough(completion, answer, **kwargs) -> float:
    """The number on the answer line; a little slack for people who round in between."""
    found = LINE.findall(text_of(completion))
    if len(found) != 1:
        return 0.0
    said, gold = float(found[0].replace(",", "")), float(answer)
    return 1.0 if abs(said - gold) <= 0.2 * abs(gold) else 0.0


def build(n: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows = {}
    while len(rows) < n:
        source, target, factor = rng.choice(FACTORS)
        amount = rng.randint(3, 400)
        rows[source, target, amount] = {
            "question": f"Convert {amount} {source} to {target}. Round to two decimals and end "
            'with a line "Answer: <number>".',
            "answer": f"{amount * factor:.2f}",
        }
    return list(rows.values())


def load_environment(num_tasks: int = 45, seed: int = 0) -> vf.Environment:
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(build(num_tasks, seed)),
        rubric=vf.Rubric(funcs=[close_enough]),
    )
