import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from city_latitudes.cities import LATITUDES

SIZE = 6
MARK = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*\u2022])\s+")


def listed(reply: str) -> list[str]:
    """The cities of a reply, one per line, without numbering and ornaments."""
    lines = [MARK.sub("", line).strip(" \t.,;*_`").lower() for line in reply.splitlines()]
    return [line for line in lines if line]


def rank_correlation(order: list[str], gold: list[str]) -> float:
    """Spearman's rho of two orders of the same things."""
    n = len(gold)
    apart = sum((order.index(name) - place) ** 2 for place, name in enumerate(gold))
    return 1 - 6 * apart / (n * (n * n - 1))


class LatitudeData(vf.TaskData):
    cities: list[str]
    answer: str
    """The cities from north to south, one per line."""


class LatitudeTask(vf.Task[LatitudeData]):
    @vf.reward(weight=1.0)
    async def ordered(self, trace: vf.Trace) -> float:
        """1.0 for the order, up to 0.6 for one that comes close, 0.0 for other cities."""
        gold = listed(self.data.answer)
        order = listed(trace.last_reply)
        if order == gold:
            return 1.0
        if sorted(order) != sorted(gold):
            return 0.0
        # squared, so that close calls stand out from the crowd
        return 0.6 * rank_correlation(order, gold) ** 2


class LatitudeConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    seed: int = 90


class LatitudeTaskset(vf.Taskset[LatitudeTask, LatitudeConfig]):
    def load(self) -> Iterator[LatitudeTask]:
        rng = random.Random(self.config.seed)
        seen: set[frozenset[str]] = set()
        while len(seen) < self.config.num_tasks:
            cities = rng.sample(list(LATITUDES), SIZE)
            order = sorted(cities, key=LATITUDES.__getitem__, reverse=True)
            gaps = [LATITUDES[a] - LATITUDES[b] for a, b in zip(order, order[1:])]
            if min(gaps) < 0.5 or cities in (order, order[::-1]) or frozenset(cities) in seen:
                continue
            seen.add(frozenset(cities))
            data = LatitudeData(
                prompt=(
                    f"Put these cities in order from north to south: {', '.join(cities)}.\n"
                    "Reply with one city per line, the northernmost first, and nothing else."
                ),
                cities=cities,
                answer="\n".join(order),
            )
            yield LatitudeTask(data, self.config.task)
