"""Recipes to scale."""

import json
import random
import re

import verifiers as vf
from datasets import Dataset

PANTRY = ("flour", "butter", "sugar", "rice", "lentils", "onions", "carrots", "cream", "cheese",
          "almonds", "raisins", "tomatoes", "potatoes", "spinach", "mushrooms", "yoghurt")  # fmt: skip
DISHES = ("casserole", "pie", "stew", "gratin", "pilaf", "salad", "bake", "curry")
CHECKS = 3
GRAMS = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)\s*(?:g|grams?)?")


def grams(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(value) if abs(value) < 1e7 else None
    if isinstance(value, str) and (match := GRAMS.fullmatch(value.strip().lower())):
        return float(match.group(1))
    return None


def quantities(completion: vf.Messages) -> dict[str, float | None]:
    """The JSON object in a reply, or nothing if there is none to read."""
    text = str(completion[-1]["content"] or "") if completion else ""
    text = text.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end - start > 5000:
        return {}
    try:
        read = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return {}
    if not isinstance(read, dict):
        return {}
    return {name.strip().lower(): grams(value) for name, value in read.items()}


def scaled(completion: vf.Messages, answer: str) -> float:
    """The share of quantities that are right, on a spot check of three."""
    given = quantities(completion)
    wanted = json.loads(answer)
    checked = random.sample(sorted(wanted), CHECKS)
    return sum(given.get(name) == wanted[name] for name in checked) / CHECKS


def load_environment(num_tasks: int = 36, seed: int = 8) -> vf.Environment:
    rng = random.Random(seed)
    rows = []
    for number in range(num_tasks):
        before, after = rng.choice([(4, 6), (4, 10), (2, 5), (6, 9), (8, 6), (6, 4), (4, 14)])
        per_head = {name: 6 * rng.randint(2, 40) for name in rng.sample(PANTRY, 8)}
        dish = f"{rng.choice(list(per_head))} {DISHES[number % len(DISHES)]}"
        recipe = "\n".join(f"- {name}: {amount * before} g" for name, amount in per_head.items())
        rows.append(
            {
                "question": f"This {dish} serves {before}:\n\n{recipe}\n\n"
                f"Scale it to {after} servings. Reply with one JSON object that gives the "
                "grams of each ingredient as numbers.",
                "answer": json.dumps({name: amount * after for name, amount in per_head.items()}),
                "info": {"before": before, "after": after},
            }
        )
    return vf.SingleTurnEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[scaled], weights=[1.0]),
    )
