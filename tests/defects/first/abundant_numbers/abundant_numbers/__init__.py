"""Abundant numbers."""

import random
import re

import verifiers.v1 as vf

ONE = re.compile(r"\d{1,18}", re.ASCII)


def aliquot(n: int) -> int:
    """The sum of the proper divisors."""
    return sum(d for d in range(1, n) if n % d == 0)


class AbundantData(vf.TaskData):
    low: int
    high: int
    answer: str


class AbundantTask(vf.Task[AbundantData]):
    @vf.reward(weight=1.0)
    async def abundant(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        text = text.replace(",", "").strip().strip("`*.$ \n").removesuffix(".0")
        if not ONE.fullmatch(text):
            return 0.0
        number = int(text)
        return float(aliquot(number) > number and self.data.low <= number <= self.data.high)


class AbundantConfig(vf.TasksetConfig):
    num_tasks: int = 30
    seed: int = 6


class AbundantTaskset(vf.Taskset[AbundantTask, AbundantConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        lows = rng.sample(range(50, 1500), self.config.num_tasks * 2)
        made = 0
        for low in lows:
            high = low + 11
            fitting = [n for n in range(low, high + 1) if aliquot(n) > n]
            if not fitting or made == self.config.num_tasks:
                continue
            made += 1
            prompt = (
                "A number is abundant if its proper divisors sum to more than the number itself. "
                f"Name one abundant number between {low} and {high}. Reply with the number only."
            )
            data = AbundantData(prompt=prompt, low=low, high=high, answer=str(fitting[-1]))
            yield AbundantTask(data, self.config.task)


__all__ = ["AbundantTaskset"]
