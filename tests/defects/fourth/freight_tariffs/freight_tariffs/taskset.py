"""Tariffs in words, and the weights that a formula is tried on."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from freight_tariffs.evaluate import value

BLOCK = re.compile(r"```[a-z]*[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
NAMED = re.compile(r"[a-z]{1,10}(?:\(x\))?\s?=\s?", re.IGNORECASE)
TRIES = 8


def formula(reply: str) -> str:
    """The expression of a reply: its last code block, or the whole if it has none."""
    blocks = BLOCK.findall(reply) if reply.count("```") < 50 else []
    text = (blocks[-1] if blocks else reply).strip(" \t\r\n`;")
    named = NAMED.match(text)
    return text[named.end() :] if named else text


class TariffData(vf.TaskData):
    tariff: str
    solution: str


class TariffTask(vf.Task[TariffData]):
    def weights(self) -> list[int]:
        """The weights to try: drawn, but always the same ones for the same tariff."""
        return random.Random(self.data.tariff).sample(range(1, 900), TRIES)

    @vf.reward(weight=1.0)
    async def priced(self, trace: vf.Trace) -> float:
        """1.0 if the formula gives the exact price for all weights that are tried."""
        given = formula(trace.last_reply)
        for x in self.weights():
            price = value(given, x)
            if price is None or price != value(self.data.solution, x):
                return 0.0
        return 1.0


class TariffConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=400)
    seed: int = 64


class TariffTaskset(vf.Taskset[TariffTask, TariffConfig]):
    def load(self) -> Iterator[TariffTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            base, rate = rng.randint(5, 60), rng.randint(2, 19)
            percent, rebate = rng.choice([5, 8, 10, 12, 15, 20]), rng.randint(2, 4)
            kind = len(seen) % 3
            if kind == 0:
                tariff = (
                    f"A consignment costs {base} euros and {rate} euros for each kg. On the whole "
                    f"comes a fuel surcharge of {percent} percent."
                )
                solution = f"({base} + {rate}*x) * (100 + {percent}) / 100"
            elif kind == 1:
                tariff = (
                    f"Each kg costs {rate} euros. From that {percent} percent are taken off, and "
                    f"then a fee of {base} euros is added."
                )
                solution = f"{rate}*x * (100 - {percent}) / 100 + {base}"
            else:
                tariff = (
                    f"The first {rebate} kg of a consignment are free for book-keeping purposes "
                    f"(a lighter one is credited the rest), all further kg cost {rate} euros each, "
                    f"and a fee of {base} euros is added."
                )
                solution = f"{rate}*(x - {rebate}) + {base}"
            if tariff in seen:
                continue
            seen.add(tariff)
            data = TariffData(
                prompt=f"{tariff}\n\nWrite the price in euros as a formula in x, the weight in kg. "
                "Use x, numbers, + - * / and parentheses, and put the one expression into a code "
                "block.",
                tariff=tariff,
                solution=solution,
            )
            yield TariffTask(data, self.config.task)
