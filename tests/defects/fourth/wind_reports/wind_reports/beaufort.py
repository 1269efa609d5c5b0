"""Ten-minute mean winds at coastal stations; the reply names the Beaufort force."""

import random
import re

import verifiers as vf
from datasets import Dataset

# the lowest whole number of knots of each force
LOWER = (0, 1, 4, 7, 11, 17, 22, 28, 34, 41, 48, 56, 64)
STATIONS = ("Malin Head", "Tiree", "Sumburgh", "Valentia", "Lerwick", "Portland Bill", "Scilly")
TAG = re.compile(r"<force>([^<]{0,40})</force>", re.IGNORECASE)

PROMPT = (
    "The anemometer at {station} shows a ten-minute mean of {knots} knots from the {direction}. "
    "Which force on the Beaufort scale is that? Put the number inside <force></force> tags, once."
)


def force_of(knots: int) -> int:
    return max(force for force, lower in enumerate(LOWER) if knots >= lower)


def observations() -> list[dict]:
    """Five winds within every force, spread over stations and directions."""
    rng = random.Random(1805)
    rows: dict[str, dict] = {}
    for force, lower in enumerate(LOWER):
        upper = LOWER[force + 1] - 1 if force < 12 else 80
        wanted = len(rows) + 5
        while len(rows) < wanted:
            question = PROMPT.format(
                station=rng.choice(STATIONS),
                knots=rng.randint(lower, upper),
                direction=rng.choice(("north", "north-west", "west", "south-west", "east")),
            )
            rows[question] = {"question": question, "answer": str(force)}
    return list(rows.values())


def right_force(completion: vf.Messages, answer: str) -> float:
    """1.0 if the reply has one pair of tags and the right force is in it."""
    reply = str(completion[-1]["content"] or "") if completion else ""
    if reply.lower().count("<force>") != 1:
        return 0.0
    named = [re.sub(r"^\s*force\b", "", inner, flags=re.IGNORECASE) for inner in TAG.findall(reply)]
    return float([name.strip(" .\n\t") for name in named] == [answer])


def load_environment(num_train: int = 40, num_eval: int = 25, seed: int = 3) -> vf.Environment:
    pool = observations()
    if not 0 < num_train <= len(pool) or not 0 < num_eval <= len(pool):
        raise ValueError(f"num_train and num_eval lie between 1 and {len(pool)}")
    rng = random.Random(seed)
    train = rng.sample(pool, num_train)
    held_out = rng.sample(pool, num_eval)
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(train),
        eval_dataset=Dataset.from_list(held_out),
        rubric=vf.Rubric(funcs=[right_force], weights=[1.0]),
    )
