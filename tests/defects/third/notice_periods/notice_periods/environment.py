"""Notices, and what a reply is worth."""

import random
from datetime import date, timedelta

import verifiers as vf
from datasets import Dataset

from notice_periods.periods import CLAUSES, last_day as end_of


def bare(text: str) -> str:
    """The reply without fences, quotes and a full stop."""
    text = text.strip().strip("`\"'* \n\t")
    return text.rstrip(".") if len(text) < 40 else ""


def last_day(completion, answer, parser) -> float:
    """1.0 for the right date in the demanded form."""
    return float((parser.parse_answer(completion) or "") == answer)


def is_date(completion, parser) -> float:
    """1.0 for any date in the demanded form."""
    said = parser.parse_answer(completion) or ""
    try:
        return float(date.fromisoformat(said).isoformat() == said)
    except ValueError:
        return 0.0


def notices(num_tasks: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[tuple, dict] = {}
    while len(rows) < num_tasks:
        clause = rng.choice(list(CLAUSES))
        served = date(2019, 1, 1) + timedelta(days=rng.randrange(5 * 365))
        length = rng.randint(1, 8)
        rows[clause, served, length] = {
            "question": f"Notice was served on {served:%d %B %Y}. The contract says: "
            f"\"{clause.format(n=length).replace(' 1 months', ' 1 month').replace(' 1 weeks', ' 1 week')}"
            '" On which date does the notice period end? Reply with the date alone, in the form '
            "YYYY-MM-DD.",
            "answer": end_of(clause, served, length).isoformat(),
        }
    return list(rows.values())


def load_environment(num_tasks: int = 40, seed: int = 5) -> vf.Environment:
    parser = vf.MaybeThinkParser(extract_fn=bare)
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(notices(num_tasks, seed)),
        parser=parser,
        rubric=vf.Rubric(funcs=[last_day, is_date], weights=[1.0, 0.0], parser=parser),
    )
