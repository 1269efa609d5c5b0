"""Trips of three legs each."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from road_atlas.roads import TOWNS, leg
from road_atlas.toolset import Atlas

KM = re.compile(r"<km>([^<>]*)</km>", re.IGNORECASE)


class TripData(vf.TaskData):
    stops: list[str]
    answer: str


class TripTask(vf.Task[TripData]):
    @vf.reward(weight=1.0)
    async def total(self, trace: vf.Trace) -> float:
        """1.0 if the last tag holds the sum of the legs; "412 km" is as good as "412"."""
        tags = KM.findall(trace.last_reply)
        if not tags:
            return 0.0
        return float(tags[-1].strip().startswith(self.data.answer))

    @vf.metric
    async def lookups(self, trace: vf.Trace) -> float:
        """How many answers the atlas gave."""
        return float(len(trace.tool_messages))


class TripConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=200)
    seed: int = 21
    atlas: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class TripTaskset(vf.Taskset[TripTask, TripConfig]):
    def load(self) -> Iterator[TripTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple[str, ...]] = set()
        while len(seen) < self.config.num_tasks:
            stops = tuple(rng.sample(TOWNS, 4))
            if stops in seen:
                continue
            seen.add(stops)
            total = sum(leg(a, b) or 0 for a, b in zip(stops, stops[1:]))
            data = TripData(
                prompt=(
                    f"A lorry drives from {stops[0]} by way of {stops[1]} and {stops[2]} to "
                    f"{stops[3]}. Look the three legs up in the atlas, add them, and close with "
                    "the whole distance in kilometres as a plain number in tags: <km>...</km>"
                ),
                stops=list(stops),
                answer=str(total),
            )
            yield TripTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: TripConfig) -> list[vf.Toolset]:
        return [Atlas(config.atlas)]
