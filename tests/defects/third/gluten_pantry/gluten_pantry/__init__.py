"""Which things of a pantry list contain gluten? A verifiers 0.1 environment."""

import random
import re

import verifiers as vf
from datasets import Dataset

GLUTEN = [
    "wheat flour", "semolina", "couscous", "bulgur", "rye bread", "barley malt", "spelt flakes",
    "seitan", "panko", "filo pastry", "orzo", "farro", "egg noodles", "pearl barley",
]
FREE = [
    "basmati rice", "quinoa", "buckwheat groats", "potato starch", "polenta", "chickpeas", "millet",
    "tapioca pearls", "almonds", "butter", "spinach", "red lentils", "coconut milk", "honey",
    "sunflower oil", "black beans",
]
SYSTEM = "You check pantry lists for guests with coeliac disease."


def body(completion, parser) -> str:
    return (parser.parse_answer(completion) or "").casefold()


def entries(text: str) -> list[str]:
    """The lines of a list without bullets, numbers and closing marks."""
    lines = (re.sub(r"^[0-9]{1,3}[.)]", "", line.strip(" \t-*\u2022")) for line in text.splitlines())
    return [line.strip(" .,;*`") for line in lines if line.strip(" .,;*`")]


def found(completion, info, parser) -> float:
    """Share of the gluten sources that were found; each safe thing listed takes one away."""
    text = body(completion, parser)
    hits = sum(bool(re.search(rf"\b{re.escape(thing)}\b", text)) for thing in info["gluten"])
    slips = len(set(info["free"]).intersection(entries(text)))
    return max(0.0, (hits - slips) / len(info["gluten"]))


def listed(completion, parser) -> float:
    """1.0 for a plain list: one thing per line, no sentences."""
    lines = entries(body(completion, parser))
    return float(bool(lines) and all(len(line.split()) <= 4 for line in lines))


def build(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[frozenset[str], dict] = {}
    while len(rows) < count:
        gluten = rng.sample(GLUTEN, rng.randint(2, 4))
        free = rng.sample(FREE, 8 - len(gluten))
        pantry = gluten + free
        rng.shuffle(pantry)
        rows[frozenset(pantry)] = {
            "question": f"In the pantry: {', '.join(pantry)}.\n\nWhich of these contain gluten? "
            "List them, one per line.",
            "answer": "\n".join(thing for thing in pantry if thing in gluten),
            "info": {"gluten": gluten, "free": free},
        }
    return list(rows.values())


def load_environment(num_tasks: int = 40, seed: int = 4) -> vf.Environment:
    parser = vf.MaybeThinkParser()
    return vf.SingleTurnEnv(
        dataset=Dataset.from_list(build(num_tasks, seed)),
        system_prompt=SYSTEM,
        parser=parser,
        rubric=vf.Rubric(funcs=[found, listed], weights=[0.9, 0.1], parser=parser),
    )
