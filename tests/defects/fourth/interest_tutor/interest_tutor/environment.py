"""Simple interest: deposits, worked examples, and the check of the boxed amount."""

import random
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

import verifiers as vf
from datasets import Dataset

AMOUNT = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,12})(?:\.[0-9]{1,10})?")


class Deposit(NamedTuple):
    """A sum in whole euros, a yearly rate in tenths of a percent, and days."""

    euros: int
    rate: int
    days: int

    @property
    def interest(self) -> Decimal:
        raw = Decimal(self.euros) * self.rate * self.days / Decimal(360_000)
        return raw.quantize(Decimal("0.01"), ROUND_HALF_UP)

    @property
    def question(self) -> str:
        return (
            f"{self.euros:,} euros are deposited for {self.days} days at {self.rate / 10:.1f} % a year. "
            "How much interest do they bear?"
        )


def last_reply(completion: vf.Messages) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


def last_box(text: str) -> Decimal | None:
    """The amount in the last box, or None."""
    _, opening, rest = text.rpartition("\\boxed{")
    inner = rest.partition("}")[0][:80]
    for mark in ("\\text{", "\\,", "\\$", "$", "\u20ac", "euros", "EUR", "{", " "):
        inner = inner.replace(mark, "")
    inner = inner.strip()
    return Decimal(inner.replace(",", "")) if opening and AMOUNT.fullmatch(inner) else None


def exact(completion: vf.Messages, answer: str) -> float:
    """1.0 if the last box holds the interest to the cent."""
    return float(last_box(last_reply(completion)) == Decimal(answer))


def boxed(completion: vf.Messages) -> float:
    """1.0 if the reply boxes one amount."""
    text = last_reply(completion)
    return float(text.count("\\boxed{") == 1 and last_box(text) is not None)


def draw(count: int, seed: int) -> list[Deposit]:
    rng = random.Random(seed)
    drawn: dict[Deposit, None] = {}
    while len(drawn) < count:
        drawn[Deposit(rng.randrange(500, 40_000, 20), rng.randint(8, 52), rng.randint(20, 340))] = None
    return list(drawn)


def neighbours(deposit: Deposit, pool: list[Deposit], count: int) -> list[Deposit]:
    """The deposits of the pool that are nearest in size, the nearest first."""
    return sorted(pool, key=lambda other: (abs(other.euros - deposit.euros), other))[:count]


def row(deposit: Deposit, pool: list[Deposit], shots: int) -> dict:
    examples = "\n\n".join(
        f"Example: {near.question}\nAnswer: \\boxed{{{near.interest}}}"
        for near in neighbours(deposit, pool, shots)
    )
    return {
        "question": (
            "Compute simple interest on the basis of a year of 360 days, rounded to the cent (half a "
            f"cent up).\n\n{examples}\n\nNow yours: {deposit.question}\nGive the amount in euros in "
            "\\boxed{}."
        ),
        "answer": str(deposit.interest),
    }


def load_environment(
    num_tasks: int = 40, num_train_tasks: int = 20, shots: int = 3, seed: int = 9
) -> vf.Environment:
    deposits = draw(num_tasks + num_train_tasks, seed)
    evaluated, trained = deposits[:num_tasks], deposits[num_tasks:]
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list([row(deposit, trained, shots) for deposit in trained]),
        eval_dataset=Dataset.from_list([row(deposit, evaluated, shots) for deposit in evaluated]),
        rubric=vf.Rubric(funcs=[exact, boxed], weights=[0.9, 0.1]),
    )
