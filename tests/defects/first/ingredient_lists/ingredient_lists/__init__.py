"""Ingredients of a dish."""

import random

import verifiers.v1 as vf

FOODS = """flour butter milk onions garlic rice lentils carrots spinach ginger honey walnuts yoghurt
cumin tomatoes potatoes cabbage mushrooms""".split()
STEPS = [
    "Wash the {}.",
    "Weigh the {}.",
    "Then get the {} ready.",
    "Warm the {} a little.",
    "Put the {} aside for later.",
    "Stir in the {} slowly.",
]


def items(text: str) -> set[str]:
    text = text.rpartition("</think>")[2].replace("`", "").lower().replace(" and ", ",")
    return {part.strip(" .*-") for part in text.replace("\n", ",").split(",")} - {""}


class DishData(vf.TaskData):
    answer: str


class DishTask(vf.Task[DishData]):
    @vf.reward(weight=1.0)
    async def f1(self, trace: vf.Trace) -> float:
        said, wanted = items(trace.last_reply or ""), items(self.data.answer)
        hits = len(said & wanted)
        return 2 * hits / (len(said) + len(wanted)) if hits else 0.0


class DishConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class DishTaskset(vf.Taskset[DishTask, DishConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            foods = rng.sample(FOODS, rng.randint(3, 5))
            steps = [
                frame.format(food) for frame, food in zip(rng.sample(STEPS, len(foods)), foods)
            ]
            prompt = (
                " ".join(steps) + "\n\nWhich ingredients does this use? "
                "Reply with the ingredients only, separated by commas."
            )
            yield DishTask(DishData(prompt=prompt, answer=", ".join(foods)), self.config.task)


__all__ = ["DishTaskset"]
