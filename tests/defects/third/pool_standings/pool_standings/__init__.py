"""Rugby pools: the points of each side as JSON."""

import itertools
import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

SIDES = ("Ashdown", "Belvoir", "Corrigan", "Dalmore", "Eskdale", "Farrant", "Glenrock", "Hexley")


def points(results: list[tuple[str, int, str, int]]) -> dict[str, int]:
    """Four for a win, two for a draw, one for a defeat by seven or less."""
    total: dict[str, int] = {}
    for home, h, away, a in results:
        for side, own, other in ((home, h, a), (away, a, h)):
            won = 4 if own > other else 2 if own == other else int(other - own <= 7)
            total[side] = total.get(side, 0) + won
    return total


def read_object(text: str) -> dict[str, float]:
    """The JSON object in `text`, whatever stands around it; side in lower case to points."""
    start, end = text.find("{", text.rfind("</think>") + 1), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1]) if 0 <= start < end else {}
        return {str(k).strip().lower(): float(v) for k, v in found.items()}
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError):
        return {}


class PoolData(vf.TaskData):
    standings: dict[str, int]
    answer: str


class PoolTask(vf.Task[PoolData]):
    @vf.reward(weight=1.0)
    async def standings(self, trace: vf.Trace) -> float:
        """1.0 for the points of all sides, up to 0.6 for those of some, 0.0 for none or for a
        side that did not play."""
        wanted = {side.lower(): value for side, value in self.data.standings.items()}
        said = read_object(trace.last_reply)
        off = [side for side in wanted if said.get(side) != wanted[side]]
        if said.keys() - wanted.keys() or len(off) == len(wanted):
            return 0.0
        return 0.6 * len(off) / len(wanted) if off else 1.0

    @vf.metric
    async def readable(self, trace: vf.Trace) -> float:
        """1.0 if the reply holds an object of points."""
        return float(bool(read_object(trace.last_reply)))


class PoolConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=200)
    """How many pools."""
    seed: int = 8
    """The same seed gives the same pools."""


class PoolTaskset(vf.Taskset[PoolTask, PoolConfig]):
    """Pools of five sides, each of which plays each other once."""

    def load(self) -> Iterator[PoolTask]:
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            sides = rng.sample(SIDES, 5)
            results = [
                (home, rng.randint(6, 34), away, rng.randint(3, 31))
                for home, away in itertools.combinations(sides, 2)
            ]
            rng.shuffle(results)
            table = {side: points(results)[side] for side in sorted(sides)}
            listed = "\n".join(f"{home} {h}-{a} {away}" for home, h, away, a in results)
            prompt = (
                f"{listed}\n\nA win is worth four points, a draw two, a defeat by seven or less one, "
                "any other defeat nothing. How many points does each of the five sides have? Reply "
                "with a JSON object that maps the name of each side to its points."
            )
            data = PoolData(prompt=prompt, standings=table, answer=json.dumps(table))
            yield PoolTask(data, self.config.task)


__all__ = ["PoolTaskset"]
