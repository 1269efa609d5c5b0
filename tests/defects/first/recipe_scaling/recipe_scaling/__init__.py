"""Recipes for more guests."""

import verifiers.v1 as vf
import yaml

RECIPES = yaml.safe_load("""
bread: {guests: 4, flour: 500, yeast: 12, butter: 20}
pancakes: {guests: 2, flour: 150, sugar: 18, butter: 30}
risotto: {guests: 3, rice: 240, parmesan: 66, onion: 90}
crumble: {guests: 5, apples: 800, sugar: 75, oats: 120}
soup: {guests: 6, lentils: 360, carrots: 270, celery: 150}
""")


def digits(text: str) -> str:
    text = text.rpartition("</think>")[2].strip().strip("`*$. \n").lower().replace(",", "")
    text = text.removesuffix("grams").removesuffix("gram").removesuffix("g").strip()
    return text.removesuffix(".0")


class RecipeData(vf.TaskData):
    recipe: str
    target: str


class RecipeTask(vf.Task[RecipeData]):
    @vf.reward(weight=1.0)
    async def scaled(self, trace: vf.Trace) -> float:
        return float(digits(trace.last_reply or "") == self.data.target)


class RecipeTaskset(vf.Taskset[RecipeTask, vf.TasksetConfig]):
    def load(self):
        for name, recipe in RECIPES.items():
            base = recipe["guests"]
            for ingredient, grams in recipe.items():
                if ingredient == "guests":
                    continue
                for factor in (2, 3, 5):
                    prompt = (
                        f"A recipe for {name} takes {grams} g of {ingredient} for {base} guests. "
                        f"How many grams are needed for {base * factor} guests? "
                        "Reply with the number of grams only."
                    )
                    data = RecipeData(prompt=prompt, recipe=name, target=str(grams * factor))
                    yield RecipeTask(data, self.config.task)


__all__ = ["RecipeTaskset"]
