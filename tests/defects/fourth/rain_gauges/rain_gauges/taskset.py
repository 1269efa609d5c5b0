"""Questions to the observer's book: a total, or the amount of the wettest day."""

import re
from calendar import month_name
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf
from pydantic import Field

from rain_gauges.readings import MONTHS, STATIONS, YEAR, season
from rain_gauges.toolset import GaugeTools

RAIN = re.compile(r"<rain>\s*([0-9]{1,5}(?:\.[0-9]{1,6})?)\s*(?:mm|millimet(?:er|re)s?)?\s*</rain>")

QUESTIONS = {
    "total": "How many millimetres of rain fell at {station} in {month} {year} altogether?",
    "wettest": "How many millimetres fell at {station} on the wettest day of {month} {year}?",
}


class RainData(vf.TaskData):
    station: str
    month: int
    kind: str
    answer: str


class RainTask(vf.Task[RainData]):
    @vf.reward(weight=1.0)
    async def measured(self, trace: vf.Trace) -> float:
        """1.0 if the final reply holds one <rain> tag and the right amount is in it."""
        reply = trace.last_reply.lower()
        amounts = RAIN.findall(reply)
        if len(amounts) != 1 or reply.count("<rain>") != 1:
            return 0.0
        return float(Decimal(amounts[0]) == Decimal(self.data.answer))

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        """How many results of tools there were."""
        return float(len(trace.tool_messages))


class RainConfig(vf.TasksetConfig):
    num_tasks: int = Field(48, ge=1, le=72)
    """How many questions, 72 at the most."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class RainGauges(vf.Taskset[RainTask, RainConfig]):
    """Two questions for every station and month, station by station."""

    def load(self) -> Iterator[RainTask]:
        book = season()
        asked = [(s, m, kind) for m in MONTHS for s in STATIONS for kind in QUESTIONS]
        for station, month, kind in asked[: self.config.num_tasks]:
            amounts = list(book[station][month].values())
            tenths = sum(amounts) if kind == "total" else max(amounts)
            question = QUESTIONS[kind].format(station=station, month=month_name[month], year=YEAR)
            data = RainData(
                prompt=f"{question} Look it up with the gauge tools, and give the number inside "
                "<rain></rain> tags, once, when you have it.",
                station=station,
                month=month,
                kind=kind,
                answer=f"{tenths / 10:.1f}",
            )
            yield RainTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: RainConfig) -> list[vf.Toolset]:
        return [GaugeTools(config.tools)]
