"""Orders: which parts, how many, and what a reply is worth."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

from parts_catalog.prices import PRICES
from parts_catalog.toolset import Catalog

NUMBER = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


def numbers(text: str) -> list[str]:
    """Whole numbers in plain digits: 1,204 and 1204.00 are 1204."""
    return [re.sub(r"\.0+$", "", n.replace(",", "")) for n in NUMBER.findall(text)]


class Order(vf.TaskData):
    parts: dict[str, int]
    answer: str


class OrderTask(vf.Task[Order]):
    @vf.reward(weight=0.9)
    async def total(self, trace: vf.Trace) -> float:
        """1.0 if the reply commits to the order's price in cents."""
        said = numbers(trace.last_reply.rpartition("</think>")[2])
        given = {*numbers(self.data.prompt_text), self.data.answer}
        return float(said[-1:] == [self.data.answer] and given.issuperset(said))

    @vf.reward(weight=0.1)
    async def tidy(self, trace: vf.Trace) -> float:
        """1.0 if nothing blank surrounds the reply."""
        return float(trace.last_reply == trace.last_reply.strip())


class OrderConfig(vf.TasksetConfig):
    num_tasks: int = 32
    seed: int = 23
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class OrderTaskset(vf.Taskset[OrderTask, OrderConfig]):
    def load(self) -> Iterator[OrderTask]:
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            parts = {part: rng.randint(1, 9) for part in rng.sample(sorted(PRICES), rng.randint(2, 3))}
            listing = ", ".join(f"{count} of {part}" for part, count in parts.items())
            data = Order(
                prompt=f"A customer orders {listing}. Look the prices up in the catalogue. What does the order cost, in "
                "cents? Reply with only the number.",
                parts=parts,
                answer=str(sum(PRICES[part] * count for part, count in parts.items())),
            )
            yield OrderTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: OrderConfig) -> list[vf.Toolset]:
        return [Catalog(config.tools)]
