"""Kepler's third law: from the size of an orbit to its period."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

NUMBER = re.compile(r"([-\u2212]?[0-9]{1,9}(?:\.[0-9]{1,6})?)(?: ?\\?,? ?(?:\\text\{)? ?(?:a|yr|years?)\}?)?")


def boxed(reply: str) -> str:
    """What stands in the last \\boxed{} of a reply."""
    start = reply.rfind("\\boxed{")
    if start < 0:
        return ""
    depth, begin = 1, start + len("\\boxed{")
    for place in range(begin, min(len(reply), begin + 200)):
        depth += {"{": 1, "}": -1}.get(reply[place], 0)
        if not depth:
            return reply[begin:place].strip().strip("$ ")
    return ""


class OrbitData(vf.TaskData):
    axis: float
    answer: str


class OrbitTask(vf.Task[OrbitData]):
    @vf.reward(weight=1.0)
    async def period(self, trace: vf.Trace) -> float:
        """How close the boxed period comes: the ratio of the smaller to the greater, sharpened.

        From 0 to 1; a period that is 1 % off is worth 0.93 and one that is 10 % off 0.48.
        """
        match = NUMBER.fullmatch(boxed(trace.last_reply).replace("{,}", "").replace(",", ""))
        if not match:
            return 0.0
        said, true = float(match[1].replace("\u2212", "-")), float(self.data.answer)
        return (min(said, true) / max(said, true)) ** 7


class OrbitConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=1000)
    """How many orbits."""
    seed: int = 29
    """The same seed gives the same orbits."""


class OrbitTaskset(vf.Taskset[OrbitTask, OrbitConfig]):
    """Minor planets between the Earth and the Kuiper belt."""

    def load(self) -> Iterator[OrbitTask]:
        rng = random.Random(self.config.seed)
        axes: set[int] = set()
        while len(axes) < self.config.num_tasks:
            hundredths = rng.randint(110, 5500)
            if hundredths in axes:
                continue
            axes.add(hundredths)
            axis = hundredths / 100
            prompt = (
                f"A minor planet circles the Sun on an orbit with a semi-major axis of {axis:.2f} "
                "astronomical units. What is its period in years? Give it to two decimals in "
                "\\boxed{}; the closer, the better it is marked."
            )
            data = OrbitData(prompt=prompt, axis=axis, answer=f"{axis**1.5:.2f}")
            yield OrbitTask(data, self.config.task)


__all__ = ["OrbitTaskset"]
