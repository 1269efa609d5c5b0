"""Recipes, scaled ones, and what is wrong with a reply."""

import random
import re
from collections.abc import Iterator
from fractions import Fraction

import verifiers.v1 as vf
from pydantic import Field

from recipe_scaling.toolset import Calculator

LARDER = {
    "flour": "g", "sugar": "g", "butter": "g", "milk": "ml", "cream": "ml", "eggs": "pieces",
    "rice": "g", "stock": "ml", "onions": "pieces", "carrots": "pieces", "lentils": "g",
    "cheese": "g", "tomatoes": "pieces", "yoghurt": "ml", "walnuts": "g", "apples": "pieces",
}
DISHES = ("bake", "stew", "pie", "gratin", "casserole", "soup")
LINE = re.compile(r"([A-Za-z]{1,30}) ?: ?([0-9]{1,6}(?:[./][0-9]{1,6})?) ?([A-Za-z]{0,12})\.?")


def parse(reply: str) -> dict[str, Fraction]:
    """Ingredient to amount, from the lines of the form `flour: 250 g`."""
    read: dict[str, Fraction] = {}
    for line in reply.rpartition("</think>")[2].splitlines():
        match = LINE.fullmatch(line.strip(" \t-*\u2022`"))
        if match and not match[2].endswith("/0"):
            try:
                read[match[1].lower()] = Fraction(match[2])
            except ZeroDivisionError:
                continue
    return read


def complaints(reply: str, wanted: dict[str, str]) -> list[str]:
    """What a cook would say against a shopping list."""
    said = parse(reply)
    found: list[str] = []
    if not said:
        return found
    for name, amount in wanted.items():
        if name not in said:
            found.append(f"{name} is missing")
        elif said[name] != Fraction(amount):
            found.append(f"{name}: {said[name]} for {amount}")
    found += [f"{name} is not in the recipe" for name in said if name not in wanted]
    return found


class RecipeData(vf.TaskData):
    wanted: dict[str, str]
    solution: str


class RecipeTask(vf.Task[RecipeData]):
    @vf.reward(weight=1.0)
    async def scaled(self, trace: vf.Trace) -> float:
        """1.0 less an equal share for each complaint, from 0 to 1."""
        against = complaints(trace.last_reply, self.data.wanted)
        return max(0.0, 1.0 - len(against) / len(self.data.wanted))


class RecipeConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=300)
    """How many recipes."""
    seed: int = 31
    """The same seed gives the same recipes."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class RecipeTaskset(vf.Taskset[RecipeTask, RecipeConfig]):
    """Recipes for four that are wanted for some other number."""

    def load(self) -> Iterator[RecipeTask]:
        rng = random.Random(self.config.seed)
        for number in range(self.config.num_tasks):
            names = rng.sample(sorted(LARDER), 5)
            guests = rng.choice((2, 6, 8, 10, 14))
            base = {
                name: rng.randrange(2, 11, 2) if LARDER[name] == "pieces" else rng.randrange(80, 600, 20)
                for name in names
            }
            wanted = {name: amount * guests // 4 for name, amount in base.items()}
            listed = "\n".join(f"{name}: {amount} {LARDER[name]}" for name, amount in base.items())
            prompt = (
                f"{names[0].capitalize()} and {names[1]} {DISHES[number % len(DISHES)]}, for 4:\n\n"
                f"{listed}\n\nScale the recipe for {guests}. Reply with the list of ingredients in the "
                "same form, one per line. The calculator is there if you want it."
            )
            solution = "\n".join(f"{name}: {amount} {LARDER[name]}" for name, amount in wanted.items())
            data = RecipeData(
                prompt=prompt, wanted={k: str(v) for k, v in wanted.items()}, solution=solution
            )
            yield RecipeTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config):
        return [Calculator(config.tools)]
