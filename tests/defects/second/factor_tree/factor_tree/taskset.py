"""Numbers as products of primes."""

import math
import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

PRIMES = [p for p in range(2, 60) if all(p % d for d in range(2, p))]
SHAPE = re.compile(r"^(?:[0-9]+\s*[x×*·]?\s*)+$")


def side(reply: str) -> str:
    """What stands right of the last equals sign, without a closing full stop."""
    return reply.rpartition("</think>")[2].rpartition("=")[2].strip(" .\n$`").replace("\\times", "x").replace("\\cdot", "x")


class Composite(vf.TaskData):
    number: int
    answer: str


class FactorTask(vf.Task[Composite]):
    @vf.reward(weight=0.9)
    async def product(self, trace: vf.Trace) -> float:
        """1.0 if the factors are prime and multiply to the number."""
        factors = re.findall(r"[0-9]+", side(trace.last_reply))
        if not 2 <= len(factors) <= 20 or any(len(f) > 4 for f in factors):
            return 0.0
        values = [int(f) for f in factors]
        return float(set(values) <= set(PRIMES) and math.prod(values) == self.data.number)

    @vf.reward(weight=0.1)
    async def shape(self, trace: vf.Trace) -> float:
        """1.0 if the reply is a product and nothing else."""
        return float(SHAPE.match(side(trace.last_reply)) is not None)


class FactorConfig(vf.TasksetConfig):
    num_tasks: int = Field(50, ge=1, le=400)
    seed: int = 17


class FactorTaskset(vf.Taskset[FactorTask, FactorConfig]):
    def load(self) -> Iterator[FactorTask]:
        rng = random.Random(self.config.seed)
        drawn: dict[int, list[int]] = {}
        while len(drawn) < self.config.num_tasks:
            factors = sorted(rng.choices(PRIMES[:9], k=rng.randint(3, 5)))
            drawn.setdefault(math.prod(factors), factors)
        for number, factors in drawn.items():
            prompt = (
                f"Write {number} as a product of primes. Reply with the product alone, every factor written out "
                "and an x between them, as in 2 x 2 x 61."
            )
            yield FactorTask(Composite(prompt=prompt, number=number, answer=" x ".join(map(str, factors))), self.config.task)
