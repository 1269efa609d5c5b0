"""Leap years."""

import calendar
import random

import verifiers.v1 as vf


class LeapData(vf.TaskData):
    year: int
    ground_truth: str


class LeapTask(vf.Task[LeapData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return float(text.strip().strip("`*.!\"' \n").lower() == self.data.ground_truth)


class LeapConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class LeapTaskset(vf.Taskset[LeapTask, LeapConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        half = self.config.num_tasks // 2
        leap = [year for year in range(1600, 2400) if calendar.isleap(year)]
        other = [year for year in range(1600, 2400) if not calendar.isleap(year) and year % 2 == 0]
        years = rng.sample(leap, half) + rng.sample(other, half)
        rng.shuffle(years)
        for year in years:
            prompt = (
                f"Is {year} a leap year in the Gregorian calendar? Reply with yes or no, one word."
            )
            truth = "yes" if calendar.isleap(year) else "no"
            yield LeapTask(LeapData(prompt=prompt, year=year, ground_truth=truth), self.config.task)


__all__ = ["LeapTaskset"]
