"""Square roots, with verifiers 0.1."""

import math
import random
import re

import verifiers as vf
from datasets import Dataset

MARK = re.compile(r"####[ ]{0,5}([0-9][0-9,]{0,9}(?:\.[0-9]{1,12})?)")
TOLERANCE = 0.01


def within(completion, answer, **kwargs) -> float:
    text = str(completion[-1]["content"] or "") if completion else ""
    said = {float(mark.replace(",", "")) for mark in MARK.findall(text)}
    if len(said) != 1:
        return 0.0
    gold = float(answer)
    return 1.0 if abs(said.pop() - gold) <= TOLERANCE * gold else 0.0


def load_environment(num_tasks: int = 40, seed: int = 0) -> vf.Environment:
    numbers = random.Random(seed).sample(range(200, 99000, 7), num_tasks)
    rows = [
        {
            "question": f"Estimate the square root of {n}. Anything within 1 percent counts as right. "
            "End with a line of the form '#### <number>'.",
            "answer": f"{math.sqrt(n):.3f}",
        }
        for n in numbers
    ]
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[within], weights=[1.0])
    )
