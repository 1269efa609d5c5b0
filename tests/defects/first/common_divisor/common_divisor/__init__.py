"""Greatest common divisors."""

import math
import random
import re
from decimal import Decimal

import verifiers.v1 as vf

BOX = re.compile(r"\\boxed\{([^{}]{0,40})\}")
NUMBER = re.compile(r"[0-9]{1,12}(\.0+)?")


def as_number(text: str) -> Decimal | None:
    text = text.replace(",", "").replace("$", "").strip().rstrip(".")
    return Decimal(text) if NUMBER.fullmatch(text) else None


class GcdData(vf.TaskData):
    answer: str


class GcdTask(vf.Task[GcdData]):
    @vf.reward(weight=1.0)
    async def boxed_answer(self, trace: vf.Trace) -> float:
        gold = Decimal(self.data.answer)
        for content in BOX.findall(trace.last_reply or ""):
            if as_number(content) == gold:
                return 1.0
        return 0.0


class GcdConfig(vf.TasksetConfig):
    num_tasks: int = 48
    seed: int = 3


class GcdTaskset(vf.Taskset[GcdTask, GcdConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            g = rng.randint(2, 40)
            a, b = g * rng.randint(2, 30), g * rng.randint(2, 30)
            if a == b or (a, b) in seen:
                continue
            seen.add((a, b))
            yield GcdTask(
                GcdData(
                    prompt=f"Find the greatest common divisor of {a} and {b}. "
                    "Put your final answer in \\boxed{}.",
                    answer=str(math.gcd(a, b)),
                ),
                self.config.task,
            )


__all__ = ["GcdTaskset"]
