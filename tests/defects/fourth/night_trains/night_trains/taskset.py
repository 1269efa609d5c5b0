"""Train times: the lines, the exercises and the check."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

# From, to, departure in minutes after midnight, minutes on the way.
LINES = (
    ("Zürich", "Hamburg", 1262, 641),
    ("Wien", "Bruxelles", 1173, 857),
    ("Stockholm", "Berlin", 994, 968),
    ("Roma", "Palermo", 1380, 719),
)
DELAYS = range(7, 47, 5)
TIME = re.compile(r"(?<![0-9:])([0-9]{1,2})[:.]([0-9]{2})(?![0-9:])")


def clock(minutes: int) -> str:
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def named_times(text: str) -> set[str]:
    """The times on the last line of the reply that is neither blank nor a fence."""
    for line in reversed(text.splitlines()):
        if line.strip().strip("`"):
            return {clock(int(h) * 60 + int(m)) for h, m in TIME.findall(line[:500]) if int(h) < 24 and int(m) < 60}
    return set()


class TrainData(vf.TaskData):
    """One train on one night."""

    line: str
    arrival: str


class TrainTask(vf.Task[TrainData]):
    @vf.reward(weight=1.0)
    async def on_time(self, trace: vf.Trace) -> float:
        """1.0 if the last line names the arrival and no other time."""
        return float(named_times(trace.last_reply) == {self.data.arrival})

    @vf.metric
    async def timed(self, trace: vf.Trace) -> float:
        """1.0 if there is a time on the last line."""
        return float(bool(named_times(trace.last_reply)))


class TrainConfig(vf.TasksetConfig):
    num_tasks: int = Field(50, ge=1)
    """How many exercises."""
    seed: int = 4
    """The same seed gives the same exercises."""


class TrainTaskset(vf.Taskset[TrainTask, TrainConfig]):
    """A numbered sheet of exercises."""

    def load(self) -> Iterator[TrainTask]:
        rng = random.Random(self.config.seed)
        for number in range(1, self.config.num_tasks + 1):
            start, end, departure, duration = rng.choice(LINES)
            delay = rng.choice(DELAYS)
            data = TrainData(
                prompt=(
                    f"Exercise {number}. The night train from {start} to {end} leaves at "
                    f"{clock(departure)} and takes {duration // 60} h {duration % 60:02d} min. Tonight "
                    f"it loses {delay} minutes on the way. When does it arrive? Give the time as HH:MM "
                    "on the 24-hour clock, alone on the last line."
                ),
                line=f"{start}-{end}",
                arrival=clock(departure + duration + delay),
            )
            yield TrainTask(data, self.config.task)
