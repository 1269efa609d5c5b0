"""The depot, the tool that searches it, and what an answer is worth."""

import random
import re

import verifiers as vf
from datasets import Dataset

GRAMS = re.compile(r"([0-9]{1,3}(?:,[0-9]{3}){1,2}|[0-9]{1,9})(?:\\.0{1,3})? ?(?:g|grams?)?", re.IGNORECASE)


def stock(seed: int) -> dict[str, dict]:
    rng = random.Random(seed)
    numbers = rng.sample(range(100_000, 999_999), 120)
    return {
        f"PX{number}": {
            "shelf": f"{rng.choice('ABCDEF')}{rng.randint(1, 40)}",
            "size": rng.choice(("S", "M", "L")),
            "grams": rng.randint(120, 19_999),
        }
        for number in numbers
    }


DEPOT = stock(seed=64)


def track(parcel: str) -> str:
    """Find a parcel in the depot.

    Args:
        parcel: The parcel's number, for instance PX123456.

    Returns:
        Its shelf, size and weight.
    """
    found = DEPOT.get(str(parcel).strip().upper())
    if found is None:
        return f"No parcel {parcel!r} in this depot."
    return f"shelf {found['shelf']}, size {found['size']}, weight {found['grams']} g"


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def weight(completion, answer: str) -> float:
    """1.0 if the last message is the joint weight."""
    text = said(completion).strip().strip("`*.").strip()
    match = GRAMS.fullmatch(text)
    return float(match is not None and int(match[1].replace(",", "")) == int(answer))


def lookups(completion) -> float:
    """How often the tool was called, 10 at the most."""
    calls = 0
    for message in completion or []:
        if message["role"] == "assistant":
            calls += len(message.get("tool_calls") or [])
    return float(min(calls, 10))


def brief(completion) -> float:
    """1.0 if the last message has one to three words."""
    return float(1 <= len(said(completion).split()) <= 3)


def load_environment(num_tasks: int = 32, max_turns: int = 8) -> vf.Environment:
    numbers = list(DEPOT)
    pairs = list(zip(numbers[::2], numbers[1::2]))[:num_tasks]
    rows = [
        {
            "question": (
                f"How many grams do the parcels {a} and {b} weigh together? Look them up in the "
                "depot; each lookup costs a little. Then reply with the number of grams alone."
            ),
            "answer": str(DEPOT[a]["grams"] + DEPOT[b]["grams"]),
        }
        for a, b in pairs
    ]
    return vf.ToolEnv(
        eval_dataset=Dataset.from_list(rows),
        tools=[track],
        rubric=vf.Rubric(funcs=[weight, lookups, brief], weights=[2.0, -0.05, 0.0]),
        max_turns=max_turns,
    )
