"""Weekdays of the Julian calendar: a verifiers 0.1 environment."""

import random
import re

import verifiers as vf
from datasets import Dataset

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
          "October", "November", "December")

# A group of rollouts says the same thing over and over, and a chronicle is long: what was read once
# is not read again.
_marks: dict[str, float] = {}


def weekday_of(year: int, month: int, day: int) -> str:
    """By way of the Julian day number."""
    shift = (14 - month) // 12
    y, m = year + 4800 - shift, month + 12 * shift - 3
    number = day + (153 * m + 2) // 5 + 365 * y + y // 4 - 32083
    return DAYS[number % 7]


def named_days(text: str) -> set[str]:
    return set(DAYS).intersection(re.findall(r"[a-z]+", text.casefold()))


def weekday(completion, answer, parser) -> float:
    """1.0 if the reply names the weekday and no other."""
    text = (parser.parse_answer(completion) or "").strip()
    if text not in _marks:
        if len(_marks) > 10_000:
            _marks.clear()
        _marks[text] = float(named_days(text) == {answer.casefold()})
    return _marks[text]


def brief(completion, parser) -> float:
    """1.0 for a reply of at most ten words that names a weekday."""
    text = parser.parse_answer(completion) or ""
    return float(bool(named_days(text)) and len(text.split()) <= 10)


def load_environment(num_tasks: int = 42, num_train_tasks: int = 42, seed: int = 13) -> vf.Environment:
    rng = random.Random(seed)
    rows: dict[tuple[int, int, int], dict] = {}
    while len(rows) < num_tasks + num_train_tasks:
        date = rng.randint(900, 1580), rng.randint(1, 12), rng.randint(1, 28)
        year, month, day = date
        rows[date] = {
            "question": f"On which day of the week fell {day} {MONTHS[month - 1]} {year} of the Julian "
            "calendar? Reply with the weekday.",
            "answer": weekday_of(year, month, day).capitalize(),
        }
    drawn = list(rows.values())
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(drawn[num_tasks:]),
        eval_dataset=Dataset.from_list(drawn[:num_tasks]),
        parser=parser,
        rubric=vf.Rubric(funcs=[weekday, brief], weights=[0.9, 0.1], parser=parser),
    )
