import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

ASSETS = ("a delivery van", "a lathe", "a printing press", "a forklift", "a bakery oven",
          "a cold store", "a crane", "a milking robot", "a server room", "a kiln")  # fmt: skip
NUMBER = re.compile(r"\d+(?:\.\d+)?")


class BookValueData(vf.TaskData):
    price: int
    residual: int
    life: int
    years: int
    ground_truth: str


class BookValueTask(vf.Task[BookValueData]):
    @vf.reward(weight=1.0)
    async def value(self, trace: vf.Trace) -> float:
        """1.0 if the last number is the book value."""
        found = NUMBER.findall(trace.last_reply)
        return float(bool(found) and found[-1] == self.data.ground_truth)


class BookValueConfig(vf.TasksetConfig):
    num_tasks: int = Field(50, ge=1, le=500)
    seed: int = 12


class BookValueTaskset(vf.Taskset[BookValueTask, BookValueConfig]):
    def load(self) -> Iterator[BookValueTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple[int, ...]] = set()
        while len(seen) < self.config.num_tasks:
            life = rng.randint(4, 10)
            residual = 100 * rng.randint(10, 60)
            price = residual + 50 * life * rng.randint(20, 150)
            years = rng.randint(2, life - 1)
            if (price, residual, life, years) in seen:
                continue
            seen.add((price, residual, life, years))
            data = BookValueData(
                prompt=(
                    f"A firm buys {rng.choice(ASSETS)} for {price} euros. It is depreciated in a "
                    f"straight line over {life} years to a residual value of {residual} euros. "
                    f"What is its book value after {years} years?"
                ),
                price=price,
                residual=residual,
                life=life,
                years=years,
                ground_truth=str(price - (price - residual) // life * years),
            )
            yield BookValueTask(data, self.config.task)
