"""Tariffs, and what a formula is worth."""

import math
import random

import verifiers as vf
from datasets import Dataset

from taxi_tariffs.formula import Unreadable, evaluate, read

POINTS = 25


class FormulaParser(vf.Parser):
    """The text of the only `<formula>` tag after any thinking."""

    def parse_answer(self, completion) -> str:
        text = (super().parse_answer(completion) or "").rpartition("</think>")[2]
        if text.count("<formula>") != 1 or text.count("</formula>") != 1:
            return ""
        return text.partition("<formula>")[2].partition("</formula>")[0]


def fits(completion, answer, info, parser) -> float:
    """1.0 if the formula gives the fare at all drawn distances."""
    rng = random.Random(info["points_seed"])
    try:
        formula = read(parser.parse_answer(completion))
        right = read(answer)
        for _ in range(POINTS):
            d = info["from_km"] + rng.random() * 60
            if not math.isclose(evaluate(formula, d), evaluate(right, d), abs_tol=1e-6):
                return 0.0
    except (Unreadable, ArithmeticError):
        return 0.0
    return 1.0


def parses(completion, parser) -> float:
    """1.0 if the formula can be read and has a value."""
    try:
        return float(math.isfinite(evaluate(read(parser.parse_answer(completion)), 17.0)))
    except (Unreadable, ArithmeticError):
        return 0.0


def tariff(rng: random.Random) -> dict:
    base, per_km = rng.randrange(240, 620, 10) / 100, rng.randrange(95, 260, 5) / 100
    free, extra = rng.randint(1, 5), rng.randrange(50, 300, 25) / 100
    night = rng.choice((10, 20, 25))
    kind = rng.randrange(3)
    if kind == 0:
        words = f"The base fare is {base:.2f} and covers the first {free} km; each further km costs {per_km:.2f}."
        formula = f"{base} + {per_km} * (d - {free})"
    elif kind == 1:
        words = f"The base fare is {base:.2f} and each km costs {per_km:.2f}; luggage is {extra:.2f} in all."
        formula = f"{base} + {extra} + {per_km} * d"
    else:
        words = f"The base fare is {base:.2f} and each km costs {per_km:.2f}; at night all of it is {night} % dearer."
        formula = f"({base} + {per_km} * d) * (1 + {night} / 100)"
    how = {0: f"a ride of d km (more than {free})", 1: "a ride of d km with luggage", 2: "a ride of d km at night"}
    return {
        "question": f"{words} Fares are charged to the fraction of a km. Write the fare of {how[kind]} as a formula of "
        "numbers, d, + - * / and parentheses, with every multiplication written as *. End your reply with the "
        "formula between <formula> and </formula>.",
        "answer": formula,
        "info": {"points_seed": rng.randrange(2**31), "from_km": free},
    }


def load_environment(num_tasks: int = 32, seed: int = 0) -> vf.Environment:
    rng = random.Random(seed)
    rows: dict[str, dict] = {}
    while len(rows) < num_tasks:
        row = tariff(rng)
        rows.setdefault(row["question"], row)
    parser = FormulaParser()
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(list(rows.values())),
        parser=parser,
        rubric=vf.Rubric(funcs=[fits, parses], weights=[1.0, 0.0], parser=parser),
    )
