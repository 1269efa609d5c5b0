"""Each branch has its own tariff; each task is one book that came back late."""

import random
import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf
from pydantic import Field

BRANCHES = {
    # branch: (cents per day, days of grace, cap in cents)
    "Harbour Street": (15, 3, 600),
    "Old Mill": (20, 0, 500),
    "St Anne's": (25, 2, 1000),
    "Northgate": (10, 5, 450),
    "Riverside": (30, 1, 900),
}
TITLES = (
    "The Salt Road", "Bees of the North", "A Cellist in Winter", "Maps for Small Boats",
    "The Glass Orchard", "Seven Bridges", "Notes on Moss", "The Clockmaker's Debt",
    "Letters from Kirkwall", "The Ninth Wave", "Under the Linden", "A History of Rope",
)
PATRONS = ("Mr Adeyemi", "Ms Brandt", "Mrs Castellano", "Mr Duval", "Ms Eriksen", "Mr Farouk")
AMOUNT = re.compile(r"(?<![0-9.,])[0-9]+(?:\.[0-9]+)?(?![0-9]|[.,][0-9])")
NUMBER = re.compile(r"[0-9][0-9.,]*")
MINUS = re.compile(r"[-\u2212]\$?[0-9]")


class FineData(vf.TaskData):
    branch: str
    days_late: int
    answer: str


class FineTask(vf.Task[FineData]):
    @vf.reward(weight=1.0)
    async def charged(self, trace: vf.Trace) -> float:
        """1.0 if the last line names one amount and it is the fine."""
        lines = trace.last_reply.splitlines()
        last = next((line for line in reversed(lines) if line.strip(" `*\t")), "")
        if len(last) > 200 or MINUS.search(last) or len(NUMBER.findall(last)) != 1:
            return 0.0
        amounts = AMOUNT.findall(last)
        return float(bool(amounts) and Decimal(amounts[0]) == Decimal(self.data.answer))


class FinesConfig(vf.TasksetConfig):
    per_branch: int = Field(8, ge=1, le=50)
    """How many late books each branch has."""
    seed: int = 0
    """The draw of books, borrowers and days."""


class FinesTaskset(vf.Taskset[FineTask, FinesConfig]):
    """The late books of every branch, one branch after the other."""

    def load(self) -> Iterator[FineTask]:
        for branch, (rate, grace, cap) in BRANCHES.items():
            # a stream of its own for each branch, so that adding a branch moves no other
            rng = random.Random(hash((self.config.seed, branch)))
            books = [(patron, title) for patron in PATRONS for title in TITLES]
            for patron, title in rng.sample(books, self.config.per_branch):
                days = rng.randint(1, 45)
                fine = Decimal(min(max(days - grace, 0) * rate, cap)) / 100
                data = FineData(
                    prompt=(
                        f"At the {branch} library an overdue book costs {rate} cents for every "
                        f"day after the first {grace} days, and never more than "
                        f"${Decimal(cap) / 100:.2f} in all. {patron} brought back "
                        f'"{title}" {days} days late. What is the fine in dollars? Give it on '
                        "the last line of your reply and no other number there, like $1.35."
                    ),
                    branch=branch,
                    days_late=days,
                    answer=f"{fine:.2f}",
                )
                yield FineTask(data, self.config.task)
