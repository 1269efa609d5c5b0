"""Weekdays."""

import datetime as dt
import random
from functools import lru_cache

import verifiers.v1 as vf

DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


@lru_cache(maxsize=4096)
def accepted(iso: str) -> frozenset[str]:
    """The names of a date's weekday."""
    day = DAYS[dt.date.fromisoformat(iso).weekday()]
    return frozenset({day, day[:3]})


class WeekdayData(vf.TaskData):
    date: str
    weekday: str


class WeekdayTask(vf.Task[WeekdayData]):
    @vf.reward(weight=1.0)
    async def right_day(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return float(text.strip().strip("`*.!\"' \n").lower() in accepted(self.data.date))


class WeekdayConfig(vf.TasksetConfig):
    num_tasks: int = 42
    seed: int = 0


class WeekdayTaskset(vf.Taskset[WeekdayTask, WeekdayConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for offset in rng.sample(range(20000), self.config.num_tasks):
            date = dt.date(1970, 1, 1) + dt.timedelta(days=offset)
            data = WeekdayData(
                prompt=f"Which weekday was or is {date.isoformat()}? Reply with its English name only.",
                date=date.isoformat(),
                weekday=DAYS[date.weekday()].capitalize(),
            )
            yield WeekdayTask(data, self.config.task)


__all__ = ["WeekdayTaskset"]
