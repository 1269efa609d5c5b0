"""One invoice per task: base freight, a bunker surcharge in per cent, a rate, a total in euros."""

import random
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

import verifiers.v1 as vf
from pydantic import Field

from freight_invoices.rates import BOOKING_DAY, CURRENCIES, reference_rates

CENT = Decimal("0.01")
ROUTES = (
    "Rotterdam to Singapore", "Bergen to Halifax", "Hamburg to Yokohama", "Felixstowe to Houston",
    "Antwerp to Santos", "Gdansk to Busan", "Valencia to New York", "Le Havre to Colombo",
)
BOXED = re.compile(r"\\boxed\s*\{([^{}]{0,60})\}")
EUROS = re.compile(r"[0-9]+(?:\.[0-9]+)?|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


class InvoiceData(vf.TaskData):
    currency: str
    freight: int
    surcharge: int
    rate: str
    answer: str


class InvoiceTask(vf.Task[InvoiceData]):
    @vf.reward(weight=1.0)
    async def booked(self, trace: vf.Trace) -> float:
        """1.0 if the reply has a single box and the total in euros is in it, to the cent."""
        boxes = BOXED.findall(trace.last_reply)
        if len(boxes) != 1:
            return 0.0
        inner = re.sub(r"\\text|\\,|EUR|euros?|[€$\s\\]", "", boxes[0], flags=re.IGNORECASE)
        if not EUROS.fullmatch(inner):
            return 0.0
        return float(Decimal(inner.replace(",", "")) == Decimal(self.data.answer))

    @vf.metric
    async def boxed(self, trace: vf.Trace) -> float:
        """1.0 if there is a box at all."""
        return float(bool(BOXED.search(trace.last_reply)))


class InvoiceConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=1000)
    """How many invoices."""
    seed: int = 11
    """The same seed gives the same invoices."""


class FreightInvoices(vf.Taskset[InvoiceTask, InvoiceConfig]):
    """Distinct invoices; the rate stands on the invoice, so that nothing has to be known."""

    def load(self) -> Iterator[InvoiceTask]:
        rates = reference_rates()
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            currency = rng.choice(CURRENCIES)
            freight = rng.randint(120, 980) * (1000 if currency == "JPY" else 10)
            surcharge = rng.randint(4, 19)
            route = rng.choice(ROUTES)
            if (invoice := (currency, freight, surcharge, route)) in seen:
                continue
            seen.add(invoice)
            total = Decimal(freight) * (100 + surcharge) / 100 / rates[currency]
            data = InvoiceData(
                prompt=(
                    f"Freight invoice, {route}, booked on {BOOKING_DAY}: base freight {currency} "
                    f"{freight:,}, bunker surcharge {surcharge} % of the base freight. One euro "
                    f"is {rates[currency]} {currency}. What is the total in euros, rounded half "
                    "up to the cent? Put it in \\boxed{} at the end of your reply."
                ),
                currency=currency,
                freight=freight,
                surcharge=surcharge,
                rate=str(rates[currency]),
                answer=str(total.quantize(CENT, ROUND_HALF_UP)),
            )
            yield InvoiceTask(data, self.config.task)
