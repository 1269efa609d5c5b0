"""Invoice totals."""

import random
import re
from decimal import Decimal

import verifiers.v1 as vf

GOODS = ["chairs", "desks", "lamps", "shelves", "monitors", "cables", "keyboards", "boxes"]
AMOUNT = re.compile(r"[0-9]{1,12}(\.[0-9]{1,6})?")


def normalise(text: str) -> str:
    """'$1,204.5' becomes '1204.50'; the empty text if it is no amount."""
    text = text.rpartition("</think>")[2].strip().strip("`*").strip()
    text = text.replace("$", "").replace(",", "").replace("USD", "").strip().rstrip(".")
    return f"{Decimal(text):.2f}" if AMOUNT.fullmatch(text) else ""


class InvoiceData(vf.TaskData):
    lines: list[str]
    answer: str


class InvoiceTask(vf.Task[InvoiceData]):
    @vf.reward(weight=1.0)
    async def exact_total(self, trace: vf.Trace) -> float:
        return float(normalise(trace.last_reply or "") == self.data.answer)


class InvoiceConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class InvoiceTaskset(vf.Taskset[InvoiceTask, InvoiceConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for number in range(self.config.num_tasks):
            total, lines = Decimal(0), []
            for goods in rng.sample(GOODS, rng.randint(3, 5)):
                count, price = rng.randint(1, 12), Decimal(rng.randint(150, 9900)) / 100
                total += count * price
                lines.append(f"{count} {goods} at ${price:.2f}")
            prompt = (
                f"Invoice {1000 + number}:\n" + "\n".join(lines) + "\n\nWhat is the total? "
                "Reply with the amount only, in dollars with two decimals."
            )
            data = InvoiceData(prompt=prompt, lines=lines, answer=f"{total:,.2f}")
            yield InvoiceTask(data, self.config.task)


__all__ = ["InvoiceTaskset"]
