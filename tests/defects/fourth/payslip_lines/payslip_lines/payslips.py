"""One payslip per task; the rules stand in the prompt, the reply ends with the net pay."""

import random
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

import verifiers.v1 as vf
from pydantic import Field

from payslip_lines.tables import Table, current

CENT = Decimal("0.01")
JOBS = ("fitter", "cook", "bus driver", "nurse", "bookbinder", "gardener", "clerk", "welder")
NET = re.compile(r"net pay\s*[:=]\s*(\S.{0,40})", re.IGNORECASE)
MONEY = re.compile(r"([0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)(\.[0-9]+)?")


class Payslip(vf.TaskData):
    job: str
    hours: int
    wage: str
    net: str


def cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)


def net_pay(hours: int, wage: Decimal, table: Table) -> Decimal:
    gross = cents(wage * min(hours, 160) + wage * table.overtime * max(hours - 160, 0))
    pension = cents(gross * table.pension / 100)
    social = cents(min(gross, Decimal(table.cap)) * table.social / 100)
    return gross - pension - social


class PayslipTask(vf.Task[Payslip]):
    @vf.reward(weight=1.0)
    async def paid(self, trace: vf.Trace) -> float:
        """1.0 if one line `Net pay: ...` is in the reply and its amount is right to the cent."""
        lines = (line.strip(" \t*_`") for line in trace.last_reply.splitlines())
        named = [found[1] for line in lines if (found := NET.fullmatch(line))]
        if len(named) != 1:
            return 0.0
        amount = named[0].strip(" *_`.").removesuffix("euros").removesuffix("EUR")
        amount = amount.replace("€", "").strip()
        if not MONEY.fullmatch(amount):
            return 0.0
        return float(Decimal(amount.replace(",", "")) == Decimal(self.data.net))


class PayslipConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=500)
    """How many payslips."""
    seed: int = 4
    """The same seed gives the same employees."""


class Payslips(vf.Taskset[PayslipTask, PayslipConfig]):
    """Distinct employees; a third of them worked overtime, some earn more than the cap."""

    def load(self) -> Iterator[PayslipTask]:
        year, table = current()
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            job = rng.choice(JOBS)
            hours = rng.choice((120, 140, 152, 160, 166, 171, 178))
            wage = Decimal(rng.randint(1450, 3300)) / 100
            if (job, hours, wage) in seen:
                continue
            seen.add((job, hours, wage))
            data = Payslip(
                prompt=(
                    f"A {job} worked {hours} hours this month at {wage:.2f} euros an hour. Hours "
                    f"above 160 are paid {table.overtime} times. By the table of {year}, "
                    f"{table.pension} % of the gross pay goes to the pension, and {table.social} "
                    f"% of the gross pay up to {table.cap:,} euros to social insurance; nothing "
                    "else is taken off. Each amount is rounded half up to the cent. What is paid "
                    "out? Give it on one line of its own that begins with `Net pay:`."
                ),
                job=job,
                hours=hours,
                wage=f"{wage:.2f}",
                net=f"{net_pay(hours, wage, table):.2f}",
            )
            yield PayslipTask(data, self.config.task)
