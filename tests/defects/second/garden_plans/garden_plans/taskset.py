"""L-shaped plots."""

import random
import re

import verifiers.v1 as vf

LAST = re.compile(r"area:\s*([0-9]{1,7})(?:\.0+)?\s*(?:m2|m²|square metres)?\W*", re.IGNORECASE)
PER_WORD = 0.0025


class Plot(vf.TaskData):
    answer: str


class PlotTask(vf.Task[Plot]):
    @vf.reward(weight=1.0)
    async def area(self, trace: vf.Trace) -> float:
        """1.0 if the reply's last line gives the area."""
        line = trace.last_reply.rpartition("\n")[2].strip(" *`$")
        found = LAST.fullmatch(line[:80])
        return float(found is not None and int(found.group(1)) == int(self.data.answer.split()[1]))

    @vf.reward(weight=1.0)
    async def working(self, trace: vf.Trace) -> float:
        """Up to 1.0 for showing the working."""
        return min(1.0, PER_WORD * len(trace.last_reply.split()))


class GardensConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 9


class Gardens(vf.Taskset[PlotTask, GardensConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            long, wide = rng.randint(18, 60), rng.randint(12, 40)
            cut = rng.randint(3, long - 8), rng.randint(3, wide - 6)
            if (long, wide, *cut) in seen:
                continue
            seen.add((long, wide, *cut))
            prompt = (
                f"A garden is a rectangle of {long} m by {wide} m, of which a corner of {cut[0]} m by {cut[1]} m "
                "belongs to the neighbour. What is the garden's area in square metres? Show your working and "
                "finish with a line of the form\n\nArea: <whole number>"
            )
            yield PlotTask(Plot(prompt=prompt, answer=f"Area: {long * wide - cut[0] * cut[1]}"), self.config.task)
