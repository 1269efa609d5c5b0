"""Sets of numbers that can make 24."""

import random
import re
from collections.abc import Iterator
from fractions import Fraction

import verifiers.v1 as vf
from pydantic import Field

from make_24.expressions import evaluate, solve

FENCE = re.compile(r"```[a-z]{0,10}\n([^`]{1,200})```")


class GameData(vf.TaskData):
    numbers: list[int]
    solution: str
    """One of the expressions that make 24."""


class GameTask(vf.Task[GameData]):
    @vf.reward(weight=1.0)
    async def makes_24(self, trace: vf.Trace) -> float:
        """1.0 if the reply is an expression of exactly the four numbers with the value 24."""
        text = trace.last_reply.rsplit("</think>", 1)[-1].strip()
        if fenced := FENCE.fullmatch(text):
            text = fenced[1]
        text = text.strip().strip("`$.").replace("\u00d7", "*").replace("\u00f7", "/").replace("\u2212", "-")
        read = evaluate(text.strip())
        return float(read is not None and read == (24, sorted(self.data.numbers)))


class GameConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=200)
    """How many sets of numbers; no two are the same."""
    seed: int = 24
    """The same seed gives the same sets."""


class GameTaskset(vf.Taskset[GameTask, GameConfig]):
    def load(self) -> Iterator[GameTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple[int, ...]] = set()
        while len(seen) < self.config.num_tasks:
            numbers = sorted(rng.randint(1, 9) for _ in range(4))
            solution = solve([(Fraction(n), str(n)) for n in numbers])
            if solution is None or tuple(numbers) in seen:
                continue
            seen.add(tuple(numbers))
            listed = ", ".join(map(str, numbers))
            data = GameData(
                prompt=(
                    f"Use each of the numbers {listed} exactly once, with + - * / and parentheses, "
                    "to make 24. Reply with one expression alone, without an equals sign."
                ),
                numbers=numbers,
                solution=solution,
            )
            yield GameTask(data, self.config.task)
