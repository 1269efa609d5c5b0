"""Journeys, and what a reply is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from branch_line.railway import STOPS, TERMINUS, clock, next_departure
from branch_line.toolset import Timetable


def arrival(reply: str) -> str:
    """The time on the line `ARRIVAL HH:MM` that ends a reply."""
    lines = [line for line in reply.splitlines() if line.strip(" `*\t")]
    words = lines[-1][:80].strip(" `*\t.").split() if lines else []
    if len(words) != 2 or words[0].rstrip(":").upper() != "ARRIVAL":
        return ""
    return words[1].zfill(5)


class JourneyData(vf.TaskData):
    station: str
    time: str
    answer: str


class JourneyTask(vf.Task[JourneyData]):
    @vf.reward(weight=1.0)
    async def arrives(self, trace: vf.Trace) -> float:
        """1.0 for the right time of arrival."""
        return float(arrival(trace.last_reply) == self.data.answer.split()[1])

    @vf.metric
    async def asked(self, trace: vf.Trace) -> float:
        """How many tool calls the agent made."""
        return float(sum(len(message.tool_calls or []) for message in trace.assistant_messages))


class BranchLineConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=400)
    """How many journeys."""
    seed: int = 0
    """Which journeys."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    """Where the timetable's server runs."""


class BranchLineTaskset(vf.Taskset[JourneyTask, BranchLineConfig]):
    """Distinct journeys by day."""

    def load(self) -> Iterator[JourneyTask]:
        rng = random.Random(self.config.seed)
        stations = [station for station in STOPS if station != TERMINUS]
        journeys = [(station, time) for station in stations for time in range(350, 1300, 7)]
        for station, time in rng.sample(journeys, self.config.num_tasks):
            arrives = next_departure(station, time) - STOPS[station] + STOPS[TERMINUS]
            data = JourneyData(
                prompt=f"A traveller is at {station} at {clock(time)} and takes the next train to "
                f"{TERMINUS}. When does the train get there? Look it up in the timetable, and end your "
                "reply with a line of the form\nARRIVAL HH:MM",
                station=station,
                time=clock(time),
                answer=f"ARRIVAL {clock(arrives)}",
            )
            yield JourneyTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: BranchLineConfig) -> list[vf.Toolset]:
        return [Timetable(config.tools)]
