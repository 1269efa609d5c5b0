"""Roman numerals."""

import random

import verifiers.v1 as vf
from pydantic import Field

STEPS = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
         (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(number: int) -> str:
    out = ""
    for value, letters in STEPS:
        while number >= value:
            out += letters
            number -= value
    return out


class Numeral(vf.TaskData):
    number: int
    expected: str


class NumeralTask(vf.Task[Numeral]):
    @vf.reward(weight=1.0)
    async def numeral(self, trace: vf.Trace) -> float:
        """1.0 if the reply ends on the numeral."""
        words = trace.last_reply.replace("`", " ").upper().split()
        # `in`, because it comes as **XIV**, "XIV", \\boxed{XIV} or with a full stop
        return 1.0 if words and self.data.expected in words[-1] else 0.0


class RomanConfig(vf.TasksetConfig):
    num_tasks: int = Field(45, ge=1, le=300)
    seed: int = 5


class RomanTaskset(vf.Taskset[NumeralTask, RomanConfig]):
    def load(self):
        pool = [n for n in range(100, 2100) if len(roman(n)) >= 4]
        for n in random.Random(self.config.seed).sample(pool, self.config.num_tasks):
            prompt = f"Write {n} in Roman numerals. Reply with the numeral alone."
            yield NumeralTask(Numeral(prompt=prompt, number=n, expected=roman(n)), self.config.task)
