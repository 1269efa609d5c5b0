"""Questions about the timetable."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from railway_desk.timetable import STATIONS, TIMETABLE, clock
from railway_desk.toolset import Railway

ELEMENT = re.compile(r"<time>([^<>]{0,20})</time>")


class QuestionData(vf.TaskData):
    answer: str


class QuestionTask(vf.Task[QuestionData]):
    @vf.reward(weight=1.0)
    async def departure(self, trace: vf.Trace) -> float:
        """1.0 if the last message commits to one time and it is the right one."""
        times = ELEMENT.findall(trace.last_reply.rsplit("</think>", 1)[-1])
        return float(len(times) == 1 and times[0].strip().zfill(5) == self.data.answer)


class RailwayConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=100)
    """How many questions; no two are the same."""
    seed: int = 9
    """The same seed gives the same questions."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    """Where the tools run."""


class RailwayTaskset(vf.Taskset[QuestionTask, RailwayConfig]):
    def load(self) -> Iterator[QuestionTask]:
        rng = random.Random(self.config.seed)
        asked: set[tuple[str, str, int]] = set()
        while len(asked) < self.config.num_tasks:
            origin, goal = rng.sample(STATIONS, 2)
            hour = rng.randint(6, 19)
            times = [at for at, to in TIMETABLE[origin] if to == goal and at > hour * 60]
            if not times or (origin, goal, hour) in asked:
                continue
            asked.add((origin, goal, hour))
            data = QuestionData(
                prompt=(
                    f"When does the first train from {origin} to {goal} leave after {hour:02d}:00? "
                    "Look it up in the timetable and give the time as HH:MM between <time> and "
                    "</time>."
                ),
                answer=clock(times[0]),
            )
            yield QuestionTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: RailwayConfig) -> list[vf.Toolset]:
        return [Railway(config.tools)]
