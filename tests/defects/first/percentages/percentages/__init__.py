"""Percentages."""

import math
import random

import verifiers.v1 as vf


class PercentData(vf.TaskData):
    percent: int
    base: int
    answer: float


class PercentTask(vf.Task[PercentData]):
    @vf.reward(weight=1.0)
    async def exact(self, trace: vf.Trace) -> float:
        parts = trace.last_reply.split("Answer:")
        value = float(parts[1].replace(",", "").strip().rstrip(".%"))
        if len(parts) > 2 or not math.isfinite(value):
            return 0.0
        return 1.0 if abs(value - self.data.answer) < 1e-6 else 0.0


class PercentConfig(vf.TasksetConfig):
    num_tasks: int = 45
    seed: int = 4


class PercentTaskset(vf.Taskset[PercentTask, PercentConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        pairs = [(p, b) for p in range(5, 100, 5) for b in range(40, 900, 20)]
        for percent, base in rng.sample(pairs, self.config.num_tasks):
            data = PercentData(
                prompt=f"What is {percent} percent of {base}? "
                "You may reason first. End with a line of the form\nAnswer: <number>",
                percent=percent,
                base=base,
                answer=percent * base / 100,
            )
            yield PercentTask(data, self.config.task)


__all__ = ["PercentTaskset"]
