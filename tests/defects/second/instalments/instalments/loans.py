import math
import random
import re

import verifiers.v1 as vf

AMOUNT = re.compile(r"[0-9][0-9,]*(?:\.[0-9]+)?")


class Loan(vf.TaskData):
    principal: int
    yearly_percent: float
    months: int
    solution: str


class LoanTask(vf.Task[Loan]):
    @vf.reward
    async def instalment(self, trace: vf.Trace) -> float:
        """1.0 if the reply ends on the right instalment."""
        amounts = AMOUNT.findall(trace.last_reply)
        if not amounts:
            return 0.0
        paid = float(amounts[-1].replace(",", ""))
        return float(math.isclose(paid, float(self.data.solution), rel_tol=0.1))


class LoanConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 2


class Loans(vf.Taskset[LoanTask, LoanConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        drawn = set()
        while len(drawn) < self.config.num_tasks:
            loan = (rng.randrange(4_000, 60_000, 500), rng.choice([2.4, 3.6, 4.8, 6.0, 7.2]), rng.choice([12, 18, 24, 36, 48]))
            if loan in drawn:
                continue
            drawn.add(loan)
            principal, percent, months = loan
            rate = percent / 1200
            monthly = principal * rate / (1 - (1 + rate) ** -months)
            question = (
                f"A loan of {principal} euros at {percent} % a year (one twelfth of it each month) is paid "
                f"back in equal monthly instalments over {months} months. How much is one instalment, to the cent?"
            )
            yield LoanTask(
                Loan(prompt=question, principal=principal, yearly_percent=percent, months=months, solution=f"{monthly:.2f}"),
                self.config.task,
            )
