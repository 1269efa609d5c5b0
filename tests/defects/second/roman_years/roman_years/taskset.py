"""Years to write as Roman numerals, and how a reply is read."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

YEARS = (
    476, 622, 732, 800, 843, 962, 1066, 1077, 1096, 1204, 1215, 1291, 1347, 1415, 1431, 1453, 1492,
    1517, 1555, 1588, 1618, 1648, 1683, 1755, 1776, 1789, 1804, 1815, 1848, 1871, 1914, 1945, 1969,
    1989,
)
STEPS = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)
ELEMENT = re.compile(r"<numeral>([^<>]{0,60})</numeral>")


def roman(year: int) -> str:
    out = ""
    for value, letters in STEPS:
        while year >= value:
            out += letters
            year -= value
    return out


class YearData(vf.TaskData):
    year: int
    answer: str


class YearTask(vf.Task[YearData]):
    @vf.reward(weight=1.0)
    async def numeral(self, trace: vf.Trace) -> float:
        """1.0 if the reply's only `<numeral>` element holds the numeral of the year."""
        given = ELEMENT.findall(trace.last_reply.rsplit("</think>", 1)[-1])
        return float(len(given) == 1 and given[0].strip() == self.data.answer)


class RomanConfig(vf.TasksetConfig):
    num_tasks: int = Field(50, ge=1)
    """How many tasks."""
    seed: int = 11
    """The same seed gives the same tasks."""


class RomanTaskset(vf.Taskset[YearTask, RomanConfig]):
    def load(self) -> Iterator[YearTask]:
        rng = random.Random(self.config.seed)
        for number in range(1, self.config.num_tasks + 1):
            year = rng.choice(YEARS)
            data = YearData(
                prompt=(
                    f"({number}) Write the year {year} as a Roman numeral. Put the numeral, in "
                    "upper case, between <numeral> and </numeral>."
                ),
                year=year,
                answer=roman(year),
            )
            yield YearTask(data, self.config.task)
