"""Invoices drawn from a seed, and how an amount is read."""

import random
import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf
from pydantic import Field

CLIENTS = ("Nordwind Ltd", "Bakery Osei", "Studio Ferro", "Hotel Lindgren", "Atlas Cycles")
FIELDS = {
    "net": "Which net amount does the invoice state?",
    "vat": "Which amount of VAT does the invoice state?",
    "deposit": "Which deposit has been paid?",
    "due": "Which amount remains to be paid?",
}
AMOUNT = re.compile(
    r"(?:EUR|\u20ac)? ?([0-9]{1,3}(?:,[0-9]{3}){1,2}|[0-9]{1,9})(\.[0-9]{1,4})? ?(?:EUR|euros?|\u20ac)?",
    re.IGNORECASE,
)


def read(reply: str) -> Decimal | None:
    """The amount that a reply consists of; None if it is anything else."""
    text = reply.rsplit("</think>", 1)[-1].strip().strip("`*").strip().removesuffix(".")
    match = AMOUNT.fullmatch(text)
    return Decimal(match[1].replace(",", "") + (match[2] or "")) if match else None


class InvoiceData(vf.TaskData):
    field: str
    ground_truth: str


class InvoiceTask(vf.Task[InvoiceData]):
    @vf.reward(weight=1.0)
    async def amount(self, trace: vf.Trace) -> float:
        """1.0 if the reply is the amount that was asked for, and nothing else."""
        return float(read(trace.last_reply) == Decimal(self.data.ground_truth))


class InvoiceConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=2000)
    """How many invoices."""
    seed: int = 88
    """The same seed gives the same invoices."""


class InvoiceTaskset(vf.Taskset[InvoiceTask, InvoiceConfig]):
    def load(self) -> Iterator[InvoiceTask]:
        rng = random.Random(self.config.seed)
        fields = list(FIELDS)
        for index, number in enumerate(rng.sample(range(10_000, 99_999), self.config.num_tasks)):
            net = Decimal(rng.randrange(40_000, 900_000, 25)) / 100
            vat = (net * Decimal("0.19")).quantize(Decimal("0.01"))
            deposit = Decimal(rng.randrange(2_000, 30_000, 50)) / 100
            amounts = {"net": net, "vat": vat, "deposit": deposit, "due": net + vat - deposit}
            field = fields[index % len(fields)]
            data = InvoiceData(
                prompt=(
                    f"Invoice {number} for {rng.choice(CLIENTS)}\n"
                    f"Net amount: EUR {net:,.2f}\nVAT 19 %: EUR {vat:,.2f}\n"
                    f"Deposit received: EUR {deposit:,.2f}\nTo be paid: EUR {amounts['due']:,.2f}\n\n"
                    f"{FIELDS[field]} Reply with the amount alone."
                ),
                field=field,
                ground_truth=f"{amounts[field]:.2f}",
            )
            yield InvoiceTask(data, self.config.task)
