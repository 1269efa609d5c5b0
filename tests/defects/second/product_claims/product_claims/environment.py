"""Claims drawn in pairs, one true and one false."""

import random

import verifiers as vf
from datasets import Dataset


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def word(completion) -> str:
    return said(completion).strip().strip("`*\"'.!").strip().lower()


def calibrated(completion, answer: str) -> float:
    """1.0 for the right answer, 0.0 for a pass, -1.0 for everything else."""
    reply = word(completion)
    if reply == "pass":
        return 0.0
    return 1.0 if reply == answer else -1.0


def passed(completion) -> float:
    """1.0 if the model passed."""
    return float(word(completion) == "pass")


def draw(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[tuple[int, int], dict] = {}
    while len(rows) < count:
        a, b = rng.randint(112, 989), rng.randint(13, 98)
        if (a, b) in rows:
            continue
        truth = len(rows) % 2 == 0
        off = rng.randint(1, a * b // 20)
        bound = a * b - off if truth else a * b + off
        rows[a, b] = {
            "question": (
                f"Is {a} x {b} greater than {bound}? Reply with one word: yes, no, or pass. A "
                "right answer counts +1, a wrong one -1, a pass 0."
            ),
            "answer": "yes" if truth else "no",
        }
    drawn = list(rows.values())
    rng.shuffle(drawn)
    return drawn


def load_environment(num_tasks: int = 40, seed: int = 8) -> vf.Environment:
    if num_tasks < 2 or num_tasks % 2:
        raise ValueError("num_tasks must be even, so that yes and no are balanced")
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(draw(num_tasks, seed)),
        rubric=vf.Rubric(funcs=[calibrated, passed], weights=[1.0, 0.0]),
    )
