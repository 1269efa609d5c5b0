"""Tasks from the book's entries."""

import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf
from pydantic import Field

from kinematics_drills.book import entries

BOX = re.compile(r"\\boxed\{([^{}]{0,80})(?:\{[^{}]{0,40}\}){0,2}[^{}]{0,20}\}")
NUMBER = re.compile(r"[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,12}(?:\.[0-9]{1,9})?")
UNIT = re.compile(r"(?:\\?[,; ~$]|\\text|\\mathrm|\\frac|m|meters?|metres?|/|s)*")


def read(box: str) -> Decimal | None:
    """The number at the start of the box, if nothing but a unit follows."""
    box = box.strip().lstrip("$ ")
    match = NUMBER.match(box)
    if match is None or not UNIT.fullmatch(box[match.end() :].strip()):
        return None
    return Decimal(match[0].replace(",", ""))


class DrillData(vf.TaskData):
    answer: str


class DrillTask(vf.Task[DrillData]):
    @vf.reward(weight=1.0)
    async def boxed(self, trace: vf.Trace) -> float:
        """1.0 if the only box of the reply holds the result."""
        boxes = BOX.findall(trace.last_reply.rsplit("</think>", 1)[-1])
        return float(len(boxes) == 1 and read(boxes[0]) == Decimal(self.data.answer))


class DrillConfig(vf.TasksetConfig):
    per_chapter: int = Field(20, ge=1, le=200)
    """Problems per chapter."""
    seed: int = 5
    """The same seed gives the same problems."""


class DrillTaskset(vf.Taskset[DrillTask, DrillConfig]):
    def load(self) -> Iterator[DrillTask]:
        for entry in entries(self.config.per_chapter, self.config.seed):
            problem, _, _ = entry["text"].partition("Solution:")
            data = DrillData(
                prompt=f"{problem.strip()}\n\nPut the final number in \\boxed{{}}.",
                answer=str(entry["value"]),
            )
            yield DrillTask(data, self.config.task)
