"""Weekly rainfall."""

import math
import random

import verifiers.v1 as vf

SCALE = 0.5
STATIONS = ("Bergen", "Cork", "Hilo", "Debundscha", "Quibdo", "Tofino")


class Week(vf.TaskData):
    station: str
    readings: list[int]
    mean: str


class WeekTask(vf.Task[Week]):
    @vf.reward(weight=1.0)
    async def closeness(self, trace: vf.Trace) -> float:
        """exp(-distance / 0.5 mm): 1.0 if exact, next to nothing a few millimetres off."""
        text = trace.last_reply.rpartition("</think>")[2].strip().rstrip(".").removesuffix("mm")
        try:
            estimate = float(text.replace(",", ""))
        except ValueError:
            return 0.0
        return math.exp(-abs(estimate - float(self.data.mean)) / SCALE)


class RainfallConfig(vf.TasksetConfig):
    num_tasks: int = 36
    seed: int = 30


class Rainfall(vf.Taskset[WeekTask, RainfallConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            station, base = rng.choice(STATIONS), rng.randint(5, 140)
            readings = [base + rng.randint(0, 60) for _ in range(7)]
            prompt = (
                f"The gauge at {station} read {', '.join(map(str, readings))} mm on the seven days of a week. What was the "
                "mean, in mm, to one decimal? Reply with the number alone."
            )
            data = Week(prompt=prompt, station=station, readings=readings, mean=f"{sum(readings) / 7:.1f}")
            yield WeekTask(data, self.config.task)
