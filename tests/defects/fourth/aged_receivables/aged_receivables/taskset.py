"""Receivables: the lists and what naming the overdue ones is worth."""

import random
import re
from collections.abc import Iterator
from datetime import date, timedelta

import verifiers.v1 as vf
from pydantic import Field

CUSTOMERS = (
    "Adler Optics", "Birch & Sons", "Calder Mills", "Dunmore Tiles", "Elmet Dairy",
    "Farrow Print", "Gale Marine", "Holt Joinery", "Ivel Seeds", "Jarrow Steel",
)  # fmt: skip
NUMBER = re.compile(r"\bINV[- ]?(\d{4})\b", re.IGNORECASE)


class ReceivablesData(vf.TaskData):
    report_date: str
    invoices: list[str]
    answer: str
    """The overdue invoices, separated by commas."""


class ReceivablesTask(vf.Task[ReceivablesData]):
    @vf.reward(weight=1.0)
    async def found(self, trace: vf.Trace) -> float:
        """The share of the overdue invoices that the reply names."""
        overdue = set(NUMBER.findall(self.data.answer))
        named = set(NUMBER.findall(trace.last_reply))
        return len(overdue & named) / len(overdue)

    @vf.metric
    async def invoices_named(self, trace: vf.Trace) -> float:
        """How many invoices the reply names."""
        return float(len(set(NUMBER.findall(trace.last_reply))))


class ReceivablesConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    seed: int = 7


class ReceivablesTaskset(vf.Taskset[ReceivablesTask, ReceivablesConfig]):
    def load(self) -> Iterator[ReceivablesTask]:
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            today = date(2024, 1, 15) + timedelta(days=rng.randrange(600))
            numbers = rng.sample(range(1000, 9999), 7)
            kinds = ["overdue"] * rng.randint(2, 3) + ["paid"] * 2
            kinds += ["open"] * (7 - len(kinds))
            rng.shuffle(kinds)
            lines, overdue = [], []
            for number, kind, customer in zip(numbers, kinds, rng.sample(CUSTOMERS, 7)):
                late = kind == "overdue" or (kind == "paid" and rng.random() < 0.7)
                days = rng.randint(1, 60)
                due = today - timedelta(days=days) if late else today + timedelta(days=days)
                amount = rng.randint(80, 4000)
                paid = amount if kind == "paid" else 0
                lines.append(
                    f"INV-{number} | {customer} | due {due.isoformat()} | "
                    f"amount {amount} | paid {paid}"
                )
                if kind == "overdue":
                    overdue.append(f"INV-{number}")
            listing = "\n".join(lines)
            data = ReceivablesData(
                prompt=f"Receivables on {today.isoformat()}:\n\n{listing}\n\n"
                "Which of these invoices are overdue and unpaid on that day? "
                "Give their numbers in full, INV- included.",
                report_date=today.isoformat(),
                invoices=[f"INV-{number}" for number in numbers],
                answer=", ".join(overdue),
            )
            yield ReceivablesTask(data, self.config.task)
