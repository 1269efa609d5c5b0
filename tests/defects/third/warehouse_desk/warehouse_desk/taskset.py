"""One question for each pallet; the last move counts."""

import re
from collections.abc import Iterator

import verifiers.v1 as vf

from warehouse_desk.papers import write
from warehouse_desk.toolset import Desk

BAY = re.compile(r"\b([A-H]) ?[-\u2013] ?0?([0-9]{1,2})\b")
FREE_CALLS = 6
CAP = 10


class PalletData(vf.TaskData):
    pallet: str
    answer: str


class PalletTask(vf.Task[PalletData]):
    @vf.reward(weight=1.0)
    async def located(self, trace: vf.Trace) -> float:
        """1.0 if the last message names the bay and no other."""
        text = trace.last_reply.rpartition("</think>")[2].upper()
        named = {(row, int(number)) for row, number in BAY.findall(text)}
        row, number = self.data.answer.split("-")
        return float(named == {(row, int(number))})

    @vf.reward(weight=-0.02)
    async def rummaging(self, trace: vf.Trace) -> float:
        """How many tools were called beyond the sixth call, ten at the most: a small price."""
        calls = sum(len(message.tool_calls or []) for message in trace.assistant_messages)
        return float(min(CAP, max(0, calls - FREE_CALLS)))


class WarehouseConfig(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class WarehouseTaskset(vf.Taskset[PalletTask, WarehouseConfig]):
    """Thirty-six pallets, most of which were moved since the morning."""

    def load(self) -> Iterator[PalletTask]:
        for pallet, place in write()[1].items():
            prompt = (
                f"In which bay is pallet {pallet} at the end of the evening shift? The papers on the "
                "desk tell; look them up with the tools, and reply with the bay, such as J-07."
            )
            yield PalletTask(PalletData(prompt=prompt, pallet=pallet, answer=place), self.config.task)

    @classmethod
    def toolsets(cls, config):
        return [Desk(config.tools)]
