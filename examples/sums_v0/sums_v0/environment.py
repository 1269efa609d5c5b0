"""Single-turn addition: how the problems are drawn, and what a reply is worth."""

import random
import re
from decimal import Decimal

import verifiers as vf
from datasets import Dataset

# A numeral is taken whole, so that "112" and "12.5" are never read as 12. A minus sign after a
# digit is a subtraction, not a sign.
NUMERAL = re.compile(r"(?:(?<![0-9])[-\u2212])?[0-9][0-9,.]*")
PLAIN = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")


def numbers(text: str) -> list[Decimal | str]:
    """The numbers that `text` names, in order; a malformed one ("1,2") stands for itself."""
    found: list[Decimal | str] = []
    for match in NUMERAL.finditer(text):
        numeral = match.group().rstrip(",.").replace("\u2212", "-")
        found.append(Decimal(numeral.replace(",", "")) if PLAIN.fullmatch(numeral) else numeral)
    return found


def last_reply(completion: vf.Messages) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


def correct(completion: vf.Messages, answer: str, info: dict) -> float:
    """1.0 if the last number in the reply is the sum and all others stand in the question.

    So an echo of the question and a list of guesses earn nothing, wherever the sum is in it.
    No term is the sum, since there are at least two and all are positive.
    """
    named = numbers(last_reply(completion))
    total = Decimal(answer)
    allowed = {total, *map(Decimal, info["terms"])}
    return float(named[-1:] == [total] and allowed.issuperset(named))


def answered(completion: vf.Messages) -> float:
    """1.0 if the reply holds any number at all: tells a refusal from a wrong sum."""
    return float(bool(numbers(last_reply(completion))))


def draw(count: int, seed: int, terms: int, max_term: int) -> list[dict]:
    """Distinct problems, in an order that depends on the seed alone; the order of terms counts."""
    rng = random.Random(seed)
    problems: dict[tuple[int, ...], dict] = {}
    while len(problems) < count:
        drawn = tuple(rng.randint(1, max_term) for _ in range(terms))
        asked = " + ".join(map(str, drawn))
        problems[drawn] = {
            "question": f"What is the result of {asked}? Please reply with only the number.",
            "answer": str(sum(drawn)),
            "info": {"terms": list(drawn)},
        }
    return list(problems.values())


def load_environment(
    num_tasks: int = 100,
    num_train_tasks: int = 20,
    seed: int = 0,
    terms: int = 2,
    max_term: int = 11,
) -> vf.Environment:
    wanted = num_tasks + num_train_tasks
    if terms < 2 or min(num_tasks, num_train_tasks) < 1 or wanted > max_term**terms:
        raise ValueError(
            f"{wanted} problems of {terms} terms are asked for, but only {max_term**terms} differ: "
            "raise max_term or terms (at least 2)"
        )
    drawn = draw(wanted, seed, terms, max_term)
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(drawn[num_tasks:]),
        eval_dataset=Dataset.from_list(drawn[:num_tasks]),
        rubric=vf.Rubric(funcs=[correct, answered], weights=[1.0, 0.0]),
    )
