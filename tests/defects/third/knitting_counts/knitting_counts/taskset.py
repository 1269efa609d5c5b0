"""Shawls that grow by a few stitches every other row, and how many stitches they have."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

YARNS = ("merino", "alpaca", "linen", "mohair", "cotton", "silk", "Shetland wool", "hemp")


class ShawlData(vf.TaskData):
    cast_on: int
    rows: int
    grows: int
    answer: str


class ShawlTask(vf.Task[ShawlData]):
    """A reply may explain itself and ends with the number of stitches."""

    @vf.reward(weight=1.0)
    async def stitches(self, trace: vf.Trace) -> float:
        """1.0 if the reply ends with the number of stitches."""
        words = trace.last_reply.split()
        return float(bool(words) and words[-1].rstrip(".") == self.data.answer)


class KnittingConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    """How many shawls."""
    seed: int = 3
    """The same seed gives the same shawls."""


class KnittingTaskset(vf.Taskset[ShawlTask, KnittingConfig]):
    """Shawls of a few thousand stitches."""

    def load(self) -> Iterator[ShawlTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple[int, int, int]] = set()
        while len(seen) < self.config.num_tasks:
            cast_on, rows, grows = rng.randint(31, 79), 2 * rng.randint(20, 45), rng.choice((2, 4, 6))
            if (cast_on, rows, grows) in seen:
                continue
            seen.add((cast_on, rows, grows))
            # Rows 1 and 2 have what was cast on, 3 and 4 have `grows` more, and so on.
            total = sum(cast_on + grows * (row // 2) for row in range(rows))
            prompt = (
                f"A shawl of {rng.choice(YARNS)} has {rows} rows. The first two rows have {cast_on} "
                f"stitches each, the next two have {grows} more each than those, the next two again "
                f"{grows} more each, and so on to the end. How many stitches are in the whole shawl?"
            )
            data = ShawlData(
                prompt=prompt, cast_on=cast_on, rows=rows, grows=grows, answer=str(total)
            )
            yield ShawlTask(data, self.config.task)
