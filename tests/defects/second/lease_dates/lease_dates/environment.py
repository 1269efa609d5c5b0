"""Leases drawn from a seed; the calendar does the rest."""

import random
import re
from datetime import date, timedelta

import verifiers as vf
from datasets import Dataset
from dateutil.relativedelta import relativedelta

ELEMENT = re.compile(r"<date>([^<>]{0,40})</date>")


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def end_date(completion, answer: str) -> float:
    """1.0 if the reply commits to one date and it is the right one."""
    dates = ELEMENT.findall(said(completion))
    return float(len(dates) == 1 and dates[0].strip() == answer)


def draw(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    leases: dict[tuple[date, int], dict] = {}
    while len(leases) < count:
        start = date(2018, 1, 1) + timedelta(days=rng.randrange(2500))
        months = rng.choice((1, 3, 5, 6, 9, 11, 13, 18, 25, 30))
        leases[start, months] = {
            "question": (
                f"A lease starts on {start.isoformat()} and runs for {months} calendar months. On "
                "which date does the next tenant's lease start, if it follows at once? The day of "
                "the month stays the same; where the month has no such day, its last day counts. "
                "Give the date as YYYY-MM-DD between <date> and </date>."
            ),
            "answer": (start + relativedelta(months=months)).isoformat(),
        }
    return list(leases.values())


def load_environment(num_tasks: int = 40, seed: int = 17) -> vf.Environment:
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(draw(num_tasks, seed)),
        rubric=vf.Rubric(funcs=[end_date], weights=[1.0]),
    )
