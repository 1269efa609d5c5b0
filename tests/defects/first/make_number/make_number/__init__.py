"""Reach a target with three numbers."""

import random
import re

import verifiers.v1 as vf

SHAPES = ["({a} + {b}) * {c}", "{a} * {b} + {c}", "{a} * {b} - {c}", "{a} * ({b} - {c})"]


class CountdownData(vf.TaskData):
    numbers: list[int]
    goal: int
    solution: str


class CountdownTask(vf.Task[CountdownData]):
    @vf.reward(weight=1.0)
    async def reaches(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2].strip().strip("`$. \n")
        text = text.replace("×", "*").replace("−", "-").split("=")[0].strip()
        used = sorted(re.findall(r"[0-9]+", text))
        if used != sorted(map(str, self.data.numbers)):
            return 0.0
        try:
            return float(eval(text) == self.data.goal)
        except Exception:
            return 0.0


class CountdownConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class CountdownTaskset(vf.Taskset[CountdownTask, CountdownConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            a, b, c = rng.sample(range(2, 13), 3)
            shape = rng.choice(SHAPES)
            solution = shape.format(a=a, b=b, c=c)
            goal = {0: (a + b) * c, 1: a * b + c, 2: a * b - c, 3: a * (b - c)}[SHAPES.index(shape)]
            if goal <= 0 or (a, b, c, goal) in seen:
                continue
            seen.add((a, b, c, goal))
            prompt = (
                f"Use each of the numbers {a}, {b} and {c} exactly once, with +, -, * and "
                f"parentheses, to make {goal}. Reply with the expression only."
            )
            data = CountdownData(prompt=prompt, numbers=[a, b, c], goal=goal, solution=solution)
            yield CountdownTask(data, self.config.task)


__all__ = ["CountdownTaskset"]
