"""Clock problems: all pairs of a start and a duration, of which each split takes a sample."""

import random
import re

import verifiers as vf
from datasets import Dataset

STARTS = ("06:25", "08:40", "09:55", "11:10", "12:45", "14:50", "16:05", "17:35", "19:20", "20:58", "22:15", "23:30")
DURATIONS = (35, 50, 75, 95, 130, 155, 170, 205, 245, 290, 330, 415)
TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})")


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def read(completion) -> str | None:
    match = TIME.fullmatch(said(completion).strip().strip("`*.").strip())
    return f"{int(match[1]):02d}:{match[2]}" if match else None


def on_time(completion, answer: str) -> float:
    """1.0 if the reply is the right time."""
    return float(read(completion) == answer)


def clocklike(completion) -> float:
    """1.0 if the reply is a time."""
    return float(read(completion) is not None)


def problem(start: str, minutes: int) -> dict:
    hours, rest = divmod(minutes, 60)
    total = int(start[:2]) * 60 + int(start[3:]) + minutes
    length = f"{hours} h {rest} min" if hours else f"{rest} min"
    return {
        "question": (
            f"It is {start}. Which time is it {length} later? Use the 24-hour clock and reply "
            "with HH:MM alone."
        ),
        "answer": f"{total // 60 % 24:02d}:{total % 60:02d}",
    }


def sample(count: int, seed: int) -> Dataset:
    pool = [problem(start, minutes) for start in STARTS for minutes in DURATIONS]
    return Dataset.from_list(random.Random(seed).sample(pool, count))


def load_environment(num_train: int = 60, num_eval: int = 40, seed: int = 0) -> vf.Environment:
    return vf.SingleTurnEnv(
        dataset=sample(num_train, seed),
        eval_dataset=sample(num_eval, seed + 1),
        rubric=vf.Rubric(funcs=[on_time, clocklike], weights=[1.0, 0.0]),
    )
