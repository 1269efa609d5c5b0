"""Recipes drawn from a seed."""

import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from recipe_scaling.grading import amounts, share

DISHES = {
    "flatbread": ("flour", "water", "yeast", "olive oil"),
    "lentil soup": ("lentils", "carrots", "onions", "stock", "tomatoes"),
    "apple crumble": ("apples", "flour", "butter", "sugar"),
    "risotto": ("rice", "stock", "onions", "parmesan", "butter"),
    "potato salad": ("potatoes", "gherkins", "mayonnaise", "celery"),
    "granola": ("oats", "honey", "almonds", "raisins", "coconut"),
}
SCALES = ((4, 6), (4, 10), (2, 5), (2, 7), (4, 3), (4, 14))


class RecipeData(vf.TaskData):
    wanted: dict[str, int]
    solution: str


class RecipeTask(vf.Task[RecipeData]):
    @vf.reward(weight=1.0)
    async def amounts(self, trace: vf.Trace) -> float:
        """The share of right amounts, 1.0 for all of them."""
        return share(amounts(trace.last_reply), self.data.wanted)


class RecipeConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=len(DISHES) * len(SCALES))
    """How many recipes; each is a dish with a pair of servings."""
    seed: int = 4
    """The same seed gives the same recipes."""


class RecipeTaskset(vf.Taskset[RecipeTask, RecipeConfig]):
    def load(self) -> Iterator[RecipeTask]:
        rng = random.Random(self.config.seed)
        pairs = [(dish, scale) for dish in DISHES for scale in SCALES]
        rng.shuffle(pairs)
        for dish, (base, servings) in pairs[: self.config.num_tasks]:
            recipe = {name: 20 * rng.randint(2, 40) for name in DISHES[dish]}
            wanted = {name: grams * servings // base for name, grams in recipe.items()}
            listed = "\n".join(f"- {name}: {grams} g" for name, grams in recipe.items())
            data = RecipeData(
                prompt=(
                    f"Recipe for {dish}, {base} servings:\n{listed}\n\nScale it to {servings} "
                    "servings. Reply with only a JSON object that maps each ingredient to its "
                    "grams as a number."
                ),
                wanted=wanted,
                solution=json.dumps(wanted),
            )
            yield RecipeTask(data, self.config.task)
