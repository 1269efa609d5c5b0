"""Income statements of small firms: what is left at the end of the year?"""

import random
import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf
from pydantic import Field

INCOME = ("sales of goods", "repair services", "rent received", "licence fees", "grants")
COSTS = ("materials", "wages", "rent paid", "insurance", "depreciation", "interest", "advertising")
FIRMS = ("Harbour Bakery", "Lindqvist Joinery", "Osei Textiles", "Petrov Cycles", "Marlow Print",
         "Tanaka Ceramics", "Duarte Vineyards", "Nkemelu Optics")
# Books write a figure in many ways: 1,250 or 1250.00, with a currency, a sign or brackets.
FIGURE = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


def figure(text: str) -> Decimal | None:
    """The one figure in `text`, or None."""
    found = FIGURE.findall(text)
    return Decimal(found[0].replace(",", "")) if len(found) == 1 else None


def between(text: str, tag: str) -> str:
    head, opened, tail = text.rpartition(f"<{tag}>")
    inner, closed, _ = tail.partition(f"</{tag}>")
    return inner if opened and closed else ""


class StatementData(vf.TaskData):
    """An income statement and its bottom line; a loss is negative."""

    firm: str
    expected: str


class StatementTask(vf.Task[StatementData]):
    @vf.reward(weight=1.0)
    async def bottom_line(self, trace: vf.Trace) -> float:
        """1.0 if the figure between the tags is the net result."""
        said = figure(between(trace.last_reply, "net"))
        return float(said is not None and said == figure(self.data.expected))


class StatementConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=300)
    seed: int = 21


class StatementTaskset(vf.Taskset[StatementTask, StatementConfig]):
    """Statements of which about half end with a loss."""

    def load(self) -> Iterator[StatementTask]:
        rng = random.Random(self.config.seed)
        for number in range(self.config.num_tasks):
            firm, year = FIRMS[number % len(FIRMS)], 1985 + number // len(FIRMS)
            income = {name: rng.randrange(4000, 30000, 50) for name in rng.sample(INCOME, 3)}
            costs = {name: rng.randrange(2000, 22000, 50) for name in rng.sample(COSTS, 4)}
            net = sum(income.values()) - sum(costs.values())
            if not net:
                costs["bank charges"], net = 150, -150
            lines = [f"  {name}: {value:,}" for name, value in income.items()]
            lines += ["Costs"] + [f"  {name}: {value:,}" for name, value in costs.items()]
            statement = "\n".join(["Income", *lines])
            prompt = (
                f"{firm}, {year}\n\n{statement}\n\nWhat is the net result of the year? Work it out and "
                "end with the figure between <net> and </net>: positive for a profit, negative for a "
                "loss."
            )
            yield StatementTask(StatementData(prompt=prompt, firm=firm, expected=str(net)),
                                self.config.task)


__all__ = ["StatementTaskset"]
