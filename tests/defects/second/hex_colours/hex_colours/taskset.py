"""Colours in hexadecimal notation, to be written in decimal."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

TRIPLE = re.compile(r"(?:rgb)?\(?([0-9]{1,3}) ?, ?([0-9]{1,3}) ?, ?([0-9]{1,3})\)?")


class ColourData(vf.TaskData):
    colour: str
    expected: str


class ColourTask(vf.Task[ColourData]):
    @vf.reward(weight=1.0)
    async def channels(self, trace: vf.Trace) -> float:
        """1.0 if the reply is the three channels in decimal."""
        reply = trace.last_reply.rsplit("</think>", 1)[-1].strip().strip("`*.").strip().lower()
        match = TRIPLE.fullmatch(reply)
        return float(match is not None and [int(c) for c in match.groups()] == [int(c) for c in self.data.expected.split(",")])


class ColourConfig(vf.TasksetConfig):
    num_tasks: int = Field(32, ge=1, le=1000)
    """How many colours."""
    seed: int = 6
    """The same seed gives the same colours."""


class ColourTaskset(vf.Taskset[ColourTask, ColourConfig]):
    def load(self) -> Iterator[ColourTask]:
        rng = random.Random(self.config.seed)
        for value in rng.sample(range(256**3), self.config.num_tasks):
            red, green, blue = value.to_bytes(3, "big")
            data = ColourData(
                prompt=(
                    f"Write the colour #{value:06x} with decimal channels. Reply with the three "
                    "numbers alone, in the form r,g,b."
                ),
                colour=f"#{value:06x}",
                expected=f"{red},{green},{blue}",
            )
            yield ColourTask(data, self.config.task)
