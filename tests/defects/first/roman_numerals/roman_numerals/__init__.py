"""Roman numerals, with verifiers 0.1."""

import random

import verifiers as vf
from datasets import Dataset

SYMBOLS = [
    (1000, "M"),
    (900, "CM"),
    (500, "D"),
    (400, "CD"),
    (100, "C"),
    (90, "XC"),
    (50, "L"),
    (40, "XL"),
    (10, "X"),
    (9, "IX"),
    (5, "V"),
    (4, "IV"),
    (1, "I"),
]
POOL = range(14, 1934, 32)


def roman(n: int) -> str:
    out = ""
    for value, symbol in SYMBOLS:
        while n >= value:
            out, n = out + symbol, n - value
    return out


def correct(completion, answer, **kwargs) -> float:
    text = str(completion[-1]["content"] or "") if completion else ""
    said = text.rpartition("</think>")[2].strip().strip("`*$. \n")
    return 1.0 if said.replace(",", "").removesuffix(".0") == answer else 0.0


def draw(count: int, seed: int) -> Dataset:
    numbers = random.Random(seed).sample(POOL, count)
    return Dataset.from_list(
        [
            {
                "question": f"Write the Roman numeral {roman(n)} in ordinary digits. "
                "Reply with the number only.",
                "answer": str(n),
            }
            for n in numbers
        ]
    )


def load_environment(
    num_train: int = 40, num_eval: int = 30, train_seed: int = 1, eval_seed: int = 2
) -> vf.Environment:
    return vf.SingleTurnEnv(
        dataset=draw(num_train, train_seed),
        eval_dataset=draw(num_eval, eval_seed),
        rubric=vf.Rubric(funcs=[correct]),
    )
