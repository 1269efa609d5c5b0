"""Questions about the sheets; the golds are read off the same files."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

from torque_sheets.toolset import SHEETS, Workshop

TORQUE = re.compile(r"([0-9]{1,5})(?:\.0{1,3})? ?(?:Nm|N\u00b7m|newton metres|newton meters)?", re.IGNORECASE)


class TorqueData(vf.TaskData):
    machine: str
    part: str
    answer: str


class TorqueTask(vf.Task[TorqueData]):
    @vf.reward(weight=1.0)
    async def torque(self, trace: vf.Trace) -> float:
        """1.0 if the last message is the torque of the sheet."""
        reply = trace.last_reply.rsplit("</think>", 1)[-1].strip().strip("`*.").strip()
        match = TORQUE.fullmatch(reply)
        return float(match is not None and int(match[1]) == int(self.data.answer))


class TorqueConfig(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    """Where the tools run."""


class TorqueTaskset(vf.Taskset[TorqueTask, TorqueConfig]):
    def load(self) -> Iterator[TorqueTask]:
        rows = [
            (path.stem, *line.removesuffix(" Nm").split(": "))
            for path in sorted(SHEETS.iterdir())
            for line in path.read_text(encoding="utf-8").splitlines()[2:]
        ]
        random.Random(7).shuffle(rows)
        for machine, part, torque in rows:
            verb = "are" if part.endswith("s") else "is"
            data = TorqueData(
                prompt=(
                    f"How many newton metres {verb} the {part} of the {machine} tightened with? "
                    "Look it up in the maintenance sheets and reply with the number alone."
                ),
                machine=machine,
                part=part,
                answer=torque,
            )
            yield TorqueTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: TorqueConfig) -> list[vf.Toolset]:
        return [Workshop(config.tools)]
