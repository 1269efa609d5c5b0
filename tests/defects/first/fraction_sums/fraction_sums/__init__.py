"""Sums of fractions."""

import random
import re
from fractions import Fraction

import verifiers.v1 as vf

BOX = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]{0,20}\}){0,60})\}")
FRAC = re.compile(r"\\[dt]?frac\{([0-9]{1,6})\}\{([0-9]{1,6})\}")
PLAIN = re.compile(r"([0-9]{1,6})\s{0,3}/\s{0,3}([0-9]{1,6})|([0-9]{1,6})")


def boxed(text: str) -> tuple[int, int] | None:
    """Numerator and denominator of what is boxed, if all boxes agree."""
    contents = set(BOX.findall(text.rpartition("</think>")[2]))
    if len(contents) != 1:
        return None
    content = FRAC.sub(r"\1/\2", contents.pop().strip().strip("$"))
    match = PLAIN.fullmatch(content.strip())
    if match is None:
        return None
    a, b, whole = match.groups()
    return (int(whole), 1) if whole else (int(a), int(b))


class FractionData(vf.TaskData):
    answer: str


class FractionTask(vf.Task[FractionData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        said = boxed(trace.last_reply or "")
        if said is None or said[1] == 0:
            return 0.0
        return float(Fraction(*said) == Fraction(self.data.answer))

    async def reduced(self, trace: vf.Trace) -> float:
        """Metric: 1.0 if the fraction is in lowest terms."""
        said = boxed(trace.last_reply or "")
        if said is None or said[1] == 0:
            return 0.0
        return float(Fraction(*said).denominator == said[1])


class FractionConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class FractionTaskset(vf.Taskset[FractionTask, FractionConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            b, d = rng.randint(2, 12), rng.randint(2, 12)
            a, c = rng.randint(1, b - 1), rng.randint(1, d - 1)
            total = Fraction(a, b) + Fraction(c, d)
            if (a, b, c, d) in seen or total.denominator == 1:
                continue
            seen.add((a, b, c, d))
            prompt = f"What is {a}/{b} + {c}/{d}? Give the result as a fraction a/b in \\boxed{{}}."
            yield FractionTask(FractionData(prompt=prompt, answer=str(total)), self.config.task)


__all__ = ["FractionTaskset"]
