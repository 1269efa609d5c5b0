"""Rectangles of tiles."""

import random
import re

import verifiers.v1 as vf
from pydantic import Field

LAYOUT = re.compile(r"(?<![0-9.,-])([0-9]{1,5})\s{0,3}(?:x|X|×|\*|by|\\times)\s{0,3}([0-9]{1,5})(?![0-9]|[.,][0-9])")


def divisors(n: int) -> list[int]:
    return [d for d in range(2, n) if n % d == 0]


class Tiles(vf.TaskData):
    tiles: int
    answer: str


class TileTask(vf.Task[Tiles]):
    @vf.reward(weight=1.0)
    async def fits(self, trace: vf.Trace) -> float:
        """1.0 for one layout that takes all tiles in two or more rows and columns."""
        said = LAYOUT.findall(trace.last_reply.rpartition("</think>")[2])
        if len(said) != 1:
            return 0.0
        rows, columns = map(int, said[0])
        return float(min(rows, columns) >= 2 and rows * columns == self.data.tiles)


class TileConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=200)
    seed: int = 53


class TileTaskset(vf.Taskset[TileTask, TileConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        pool = [n for n in range(150, 2000) if len(divisors(n)) >= 4]
        for tiles in rng.sample(pool, self.config.num_tasks):
            rows = rng.choice(divisors(tiles))
            prompt = (
                f"{tiles} square tiles are to fill a rectangle, none left over, with at least two rows and two columns. "
                "Name one possible layout in the form: rows x columns."
            )
            yield TileTask(Tiles(prompt=prompt, tiles=tiles, answer=f"{rows} x {tiles // rows}"), self.config.task)
