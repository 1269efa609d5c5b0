"""Days between dates, drawn from a seed."""

import datetime as dt
import random
import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf

NUMBER = re.compile(r"(?<![0-9.,])(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?(?![0-9]|[.,][0-9])")


def numbers(text: str) -> list[Decimal]:
    return [Decimal(n.replace(",", "")) for n in NUMBER.findall(text)]


def written(day: dt.date) -> str:
    return f"{day.day} {day:%B %Y}"


class Span(vf.TaskData):
    start: str
    end: str
    answer: str


class SpanTask(vf.Task[Span]):
    @vf.reward(weight=1.0)
    async def counted(self, trace: vf.Trace) -> float:
        """1.0 for the right count. Models show their working, so it may stand anywhere."""
        return float(Decimal(self.data.answer) in numbers(trace.last_reply))

    @vf.metric
    async def numbers_named(self, trace: vf.Trace) -> float:
        return float(len(numbers(trace.last_reply)))


class Settings(vf.TasksetConfig):
    num_tasks: int = 50
    seed: int = 0


class DayCounter(vf.Taskset[SpanTask, Settings]):
    def load(self) -> Iterator[SpanTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            start = dt.date(2001, 1, 1) + dt.timedelta(rng.randrange(9000))
            days = rng.randint(40, 1400)
            end = start + dt.timedelta(days)
            if (start, end) in seen or days in (start.year, end.year):
                continue
            seen.add((start, end))
            question = f"How many days is it from {written(start)} to {written(end)}?"
            yield SpanTask(
                Span(prompt=question, start=str(start), end=str(end), answer=str(days)), self.config.task
            )
