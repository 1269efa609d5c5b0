"""Spans of dates, the tool that counts their working days, and the reward."""

import random
import re
from datetime import date, timedelta

import verifiers as vf
from datasets import Dataset

SYSTEM = (
    "You answer questions about working days. Always call the tool `workdays`; never count by "
    "hand or from memory."
)
LINE = re.compile(r"workdays: ?([0-9]{1,6})", re.IGNORECASE)


def count_workdays(first: date, last: date) -> int:
    weeks, rest = divmod((last - first).days + 1, 7)
    return weeks * 5 + sum((first + timedelta(days=i)).weekday() < 5 for i in range(rest))


def workdays(start: str, end: str) -> str:
    """Count the days from Monday to Friday between two dates, both included.

    Args:
        start: The first date, as YYYY-MM-DD.
        end: The last date, as YYYY-MM-DD.

    Returns:
        The number of working days.
    """
    try:
        first, last = date.fromisoformat(str(start).strip()), date.fromisoformat(str(end).strip())
    except ValueError:
        return "Both dates must have the form YYYY-MM-DD."
    if last < first:
        return "The end lies before the start."
    return str(count_workdays(first, last))


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def count(completion, answer: str) -> float:
    """1.0 if the last message commits to one number and it is the right one."""
    lines = (line.strip().strip("*`.") for line in said(completion).splitlines())
    given = [match[1] for line in lines if len(line) < 40 and (match := LINE.fullmatch(line))]
    return float(len(given) == 1 and int(given[0]) == int(answer))


def load_environment(num_tasks: int = 36, seed: int = 31, max_turns: int = 5) -> vf.Environment:
    rng = random.Random(seed)
    rows: dict[tuple[date, date], dict] = {}
    while len(rows) < num_tasks:
        first = date(2023, 1, 1) + timedelta(days=rng.randrange(900))
        last = first + timedelta(days=rng.randint(9, 160))
        rows[first, last] = {
            "question": (
                f"How many working days (Monday to Friday) are there from {first} to {last}, both "
                "included? Use the `workdays` tool and finish with a line of the form\n"
                "Workdays: <number>"
            ),
            "answer": str(count_workdays(first, last)),
        }
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(list(rows.values())),
        system_prompt=SYSTEM,
        tools=[workdays],
        rubric=vf.Rubric(funcs=[count]),
        max_turns=max_turns,
    )
