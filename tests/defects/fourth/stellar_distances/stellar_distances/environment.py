"""Distance modulus problems: how they are drawn and how near a reply comes."""

import json
import random

import verifiers as vf
from datasets import Dataset

FULL, NONE = 0.01, 0.10  # relative errors of full marks and of none


def last_reply(completion: vf.Messages) -> str:
    return str(completion[-1]["content"] or "") if completion else ""


def named_distance(text: str) -> float | None:
    """The distance in the last JSON object of the reply; None if there is none to read."""
    opened, closed = text.rfind("{"), text.rfind("}")
    if not 0 <= opened < closed:
        return None
    try:
        found = json.loads(text[opened : closed + 1])
        return float(found["distance_pc"])
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def closeness(completion: vf.Messages, info: dict) -> float:
    """1.0 within 1 % of the distance, then in a straight line down to 0.0 at 10 %."""
    distance = named_distance(last_reply(completion))
    if distance is None:
        return 0.0
    error = abs(distance - info["distance_pc"]) / info["distance_pc"]
    if error <= FULL:
        return 1.0
    return max((NONE - error) / (NONE - FULL), 0.0)


def readable(completion: vf.Messages) -> float:
    """1.0 if a distance could be read from the reply."""
    return float(named_distance(last_reply(completion)) is not None)


def draw(count: int, seed: int) -> list[dict]:
    """Distinct pairs of magnitudes, in tenths."""
    rng = random.Random(seed)
    stars: dict[tuple[int, int], dict] = {}
    while len(stars) < count:
        apparent, absolute = rng.randint(10, 140), rng.randint(-60, 90)
        if not 5 <= apparent - absolute <= 120:
            continue
        distance = 10 ** ((apparent - absolute + 50) / 50)
        rounded = float(f"{distance:.5g}")
        stars[apparent, absolute] = {
            "question": (
                f"A star has an apparent magnitude of {apparent / 10} and an absolute magnitude of "
                f"{absolute / 10}. Neglecting extinction, how many parsecs away is it? An error of "
                'up to 1 % is accepted. Reply with a JSON object: {"distance_pc": <number>}'
            ),
            "answer": json.dumps({"distance_pc": rounded}),
            "info": {"distance_pc": distance},
        }
    return list(stars.values())


def load_environment(
    num_tasks: int = 36, num_train_tasks: int = 14, seed: int = 3
) -> vf.Environment:
    stars = draw(num_tasks + num_train_tasks, seed)
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(stars[num_tasks:]),
        eval_dataset=Dataset.from_list(stars[:num_tasks]),
        rubric=vf.Rubric(funcs=[closeness, readable], weights=[1.0, 0.0]),
    )
