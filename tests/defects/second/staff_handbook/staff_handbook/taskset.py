"""Questions about the handbook."""

import json
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf

from staff_handbook.toolset import Handbook

QUESTIONS = Path(__file__).with_name("questions.json")


class FactData(vf.TaskData):
    gold: str


class FactTask(vf.Task[FactData]):
    @vf.reward(weight=1.0)
    async def fact(self, trace: vf.Trace) -> float:
        """1.0 if the last message is the number that the handbook gives."""
        reply = trace.last_reply.rsplit("</think>", 1)[-1]
        return float(reply.strip().strip("`*.").strip() == self.data.gold)


class HandbookConfig(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    """Where the tools run."""


class HandbookTaskset(vf.Taskset[FactTask, HandbookConfig]):
    def load(self) -> Iterator[FactTask]:
        for row in json.loads(QUESTIONS.read_text(encoding="utf-8")):
            data = FactData(
                prompt=(
                    f"According to the staff handbook: {row['ask']} Reply with the number alone, "
                    "in digits."
                ),
                gold=row["gold"],
            )
            yield FactTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: HandbookConfig) -> list[vf.Toolset]:
        return [Handbook(config.tools)]
