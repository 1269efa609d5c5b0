"""Journey times."""

import random

import verifiers.v1 as vf


class TravelData(vf.TaskData):
    km: int
    kmh: int
    expected: float


class TravelTask(vf.Task[TravelData]):
    @vf.reward(weight=1.0)
    async def near(self, trace: vf.Trace) -> float:
        """Between 0 and 1: how near the estimate is, as a ratio."""
        text = (trace.last_reply or "").rpartition("</think>")[2].strip().strip("`*$. \n").lower()
        text = text.removesuffix("minutes").removesuffix("min").replace(",", "")
        try:
            said = float(text)
        except ValueError:
            return 0.0
        if said <= 0:
            return 0.0
        gold = self.data.expected
        return (min(said, gold) / max(said, gold)) ** 60


class TravelConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 1


class TravelTaskset(vf.Taskset[TravelTask, TravelConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        pairs = [
            (minutes * kmh // 60, kmh, minutes)
            for kmh in (12, 15, 20, 24, 30, 40, 48)
            for minutes in range(5, 60, 5)
            if minutes * kmh % 60 == 0
        ]
        for km, kmh, minutes in rng.sample(pairs, min(self.config.num_tasks, len(pairs))):
            data = TravelData(
                prompt=f"How many minutes does it take to travel {km} km at {kmh} km/h? "
                "Reply with the number of minutes only.",
                km=km,
                kmh=kmh,
                expected=minutes,
            )
            yield TravelTask(data, self.config.task)


__all__ = ["TravelTaskset"]
