"""Beds, frosts, and what a list of endangered plants is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from frost_watch.catalogue import HARDINESS, key
from frost_watch.toolset import Nursery

ASK = """Tonight the temperature will fall to {low} degrees Celsius. In the bed stand:

{bed}

Which of them will the frost kill? A plant dies if it is colder than the lowest temperature that it \
survives. Look the cultivars up in the nursery's catalogue. Then list those that will die, one per \
line, each after a dash, and nothing else after them."""


def listed(text: str) -> list[str]:
    """The entries of the list in the reply: what stands after a dash, a star or a bullet."""
    lines = (line.strip() for line in text.splitlines())
    return [key(line[1:]) for line in lines if line[:1] in ("-", "*", "\u2022") and line[1:].strip()]


class BedData(vf.TaskData):
    """One bed on one night."""

    low: int
    doomed: list[str]
    answer: str


class BedTask(vf.Task[BedData]):
    @vf.reward(weight=1.0)
    async def rescued(self, trace: vf.Trace) -> float:
        """Plants rightly named less plants wrongly named, as a share of those that die: 0 to 1."""
        doomed = {key(name) for name in self.data.doomed}
        named = listed(trace.last_reply)
        right = sum(name in doomed for name in named)
        wrong = len(named) - right
        return max(0.0, (right - wrong) / len(doomed))

    @vf.metric
    async def lookups(self, trace: vf.Trace) -> float:
        """How many catalogue entries were read."""
        return float(len(trace.tool_messages))


class FrostConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=200)
    """How many beds; no two are the same."""
    seed: int = 5
    """Which cultivars stand in which bed."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class FrostTaskset(vf.Taskset[BedTask, FrostConfig]):
    """Beds of six in which two or three plants die."""

    def load(self) -> Iterator[BedTask]:
        rng = random.Random(self.config.seed)
        names = sorted(HARDINESS)
        seen: set[tuple[int, ...]] = set()
        while len(seen) < self.config.num_tasks:
            bed = rng.sample(names, 6)
            low = -rng.randint(3, 15)
            doomed = [name for name in bed if HARDINESS[name] > low]
            night = (low, *sorted(map(names.index, bed)))
            if len(doomed) not in (2, 3) or night in seen:
                continue
            seen.add(night)
            data = BedData(
                prompt=ASK.format(low=low, bed="; ".join(bed)),
                low=low,
                doomed=doomed,
                answer="\n".join(f"- {name}" for name in doomed),
            )
            yield BedTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: FrostConfig) -> list[vf.Toolset]:
        return [Nursery(config.tools)]
