"""Loan arithmetic: the loans, the replay of an account, and the reward."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

LINE = re.compile(r"[*_`> \t]*payments?[*_` \t]*[:=][*_` \t$]*([0-9]{1,15}|[0-9]{1,3}(?:,[0-9]{3}){1,4})(?:\.0+)?[*_`. \t$]*", re.I)


def named_payments(text: str) -> int | None:
    """The number on the last line of the form `Payments: N`, or None."""
    for line in reversed(text.splitlines()):
        if len(line) < 200 and (match := LINE.fullmatch(line)):
            return int(match.group(1).replace(",", ""))
    return None


def balance_after(months: int, principal: int, rate: int, payment: int) -> int:
    """What is owed, in cents, after so many payments; `rate` is in hundredths of a percent."""
    balance = principal
    for _ in range(months):
        interest = (balance * rate + 5_000) // 10_000
        balance = max(0, balance + interest - payment)
    return balance


class LoanData(vf.TaskData):
    """One loan, in cents and hundredths of a percent a month."""

    principal: int
    rate: int
    payment: int
    answer: str


class LoanTask(vf.Task[LoanData]):
    @vf.reward(weight=1.0)
    async def paid_off(self, trace: vf.Trace) -> float:
        """1.0 if the loan is paid off with exactly the named payment, else 0.0."""
        months = named_payments(trace.last_reply)
        if not months:
            return 0.0
        loan = (self.data.principal, self.data.rate, self.data.payment)
        return float(balance_after(months, *loan) == 0 and balance_after(months - 1, *loan) > 0)

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        """1.0 if the reply has a line with the number of payments."""
        return float(named_payments(trace.last_reply) is not None)


class LoanConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    """How many loans; no two are the same."""
    seed: int = 11
    """The same seed gives the same loans."""


class LoanTaskset(vf.Taskset[LoanTask, LoanConfig]):
    """Distinct loans that are paid off within a few years."""

    def load(self) -> Iterator[LoanTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple[int, int, int]] = set()
        while len(seen) < self.config.num_tasks:
            principal = rng.randrange(800, 9_000, 50) * 100
            rate = rng.randrange(40, 160, 10)
            payment = principal // rng.randint(7, 30) // 500 * 500 + 500
            loan = (principal, rate, payment)
            if loan in seen:
                continue
            seen.add(loan)
            count = 1
            while balance_after(count, *loan):
                count += 1
            data = LoanData(
                prompt=(
                    f"A loan of {principal / 100:,.2f} euros bears {rate / 100:.1f} % interest a month. "
                    "At the end of each month the interest on what is still owed is added, rounded to "
                    f"the cent (half a cent up), and then {payment / 100:,.2f} euros are paid; the last "
                    "payment may be smaller. With how many payments is the loan paid off? "
                    "End your reply with a line of the form `Payments: N`."
                ),
                principal=principal,
                rate=rate,
                payment=payment,
                answer=f"Payments: {count}",
            )
            yield LoanTask(data, self.config.task)
