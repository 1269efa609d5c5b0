"""A few containers on a deck: which moment heels the ship, and to which side?"""

import json
import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from stowage_moments.toolset import Calculator

FENCE = re.compile(r"\A```(?:json)?\s{0,4}([^`]{0,400})```\Z")
PRICE, MOST = 0.02, 5


def read(reply: str) -> tuple[float, str] | None:
    """The moment and side of a reply that is one JSON object, bare or fenced."""
    reply = reply.strip()
    if len(reply) > 500:
        return None
    fenced = FENCE.match(reply)
    try:
        found = json.loads(fenced[1] if fenced else reply)
        return float(found["moment"]), str(found["side"]).strip().lower()
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None


class PlanData(vf.TaskData):
    boxes: list[tuple[int, int, str]]
    answer: str


class PlanTask(vf.Task[PlanData]):
    """Total between -0.1 and 1.0; a right answer is worth at least 0.9."""

    @vf.reward(weight=1.0)
    async def balanced(self, trace: vf.Trace) -> float:
        """1.0 if both the moment and the side are right."""
        return float(read(trace.last_reply) == read(self.data.answer))

    @vf.reward(weight=-1.0)
    async def calculator_cost(self, trace: vf.Trace) -> float:
        """0.02 for each use of the calculator, 0.1 at the most."""
        return PRICE * min(len(trace.tool_messages), MOST)


class PlanConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=300)
    """How many plans."""
    seed: int = 20
    """The same seed gives the same plans."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class StowageMoments(vf.Taskset[PlanTask, PlanConfig]):
    """Plans of three or four containers that do not balance out."""

    def load(self) -> Iterator[PlanTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            boxes = tuple(
                (rng.randint(3, 28), rng.randint(2, 14), rng.choice(("port", "starboard")))
                for _ in range(rng.choice((3, 4)))
            )
            moment = sum(t * arm * (1 if side == "port" else -1) for t, arm, side in boxes)
            if moment == 0 or boxes in seen:
                continue
            seen.add(boxes)
            listed = "\n".join(f"- {t} tonnes, {arm} m to {side}" for t, arm, side in boxes)
            data = PlanData(
                prompt=(
                    f"Containers on deck, with their distances from the centre line:\n{listed}\n\n"
                    "Which moment in tonne-metres heels the ship, and to which side? You may work "
                    "it out in your head, or use the desk calculator, of which each use costs "
                    "0.02 points. Your final reply is only a JSON object with the keys "
                    '"moment" (a positive number) and "side" ("port" or "starboard").'
                ),
                boxes=list(boxes),
                answer=json.dumps(
                    {"moment": abs(moment), "side": "port" if moment > 0 else "starboard"}
                ),
            )
            yield PlanTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: PlanConfig) -> list[vf.Toolset]:
        return [Calculator(config.tools)]
