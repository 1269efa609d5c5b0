"""Distances between surveyed points."""

import math
import random
import re
from decimal import Decimal

import verifiers.v1 as vf

NUMBER = re.compile(r"(?<![0-9.,])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?![0-9]|[.,][0-9])")
TOLERANCE = Decimal("0.02")
MAXIMUM = 5.0


def numbers(text: str) -> list[Decimal]:
    return [Decimal(n.replace(",", "")) for n in NUMBER.findall(text)]


class Sight(vf.TaskData):
    start: tuple[int, int]
    end: tuple[int, int]
    target: str


class SightTask(vf.Task[Sight]):
    @vf.reward(weight=1.0)
    async def points(self, trace: vf.Trace) -> float:
        """5.0 within the stated 2 %, else 0.0; declared range 0 to 5."""
        said = numbers(trace.last_reply.rpartition("</think>")[2])
        given = set(map(Decimal, (*self.data.start, *self.data.end)))
        own = {n for n in said if n not in given}
        if len(own) != 1 or said[-1] not in own:
            return 0.0
        truth = Decimal(self.data.target)
        return MAXIMUM if abs(said[-1] - truth) <= TOLERANCE * truth else 0.0


class SurveyConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 61


class SurveyTaskset(vf.Taskset[SightTask, SurveyConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        made = 0
        while made < self.config.num_tasks:
            start, end = ((rng.randint(100, 4000), rng.randint(100, 4000)) for _ in range(2))
            length = math.dist(start, end)
            if length < 300 or any(abs(c - length) < 0.05 * length for c in (*start, *end)):
                continue
            made += 1
            prompt = (
                f"Point P lies at ({start[0]} m east, {start[1]} m north), point Q at ({end[0]} m east, {end[1]} m north). How far "
                "apart are they, in metres? Reply with the number alone; anything off by at most two percent counts."
            )
            yield SightTask(Sight(prompt=prompt, start=start, end=end, target=f"{length:.2f}"), self.config.task)
