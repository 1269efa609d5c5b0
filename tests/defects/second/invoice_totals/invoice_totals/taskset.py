import random
import re
from decimal import Decimal

import verifiers.v1 as vf

TOTAL = re.compile(r"TOTAL:\s*([0-9.,]+)", re.IGNORECASE)
ITEMS = ("hinge", "door handle", "paint tin", "brush", "sandpaper roll", "wood screw box", "drill bit", "work glove pair")


def amount(text: str) -> Decimal | None:
    """The amount of the last total in `text`, None if it states none."""
    found = TOTAL.findall(text)
    return Decimal(found[-1].replace(",", "")) if found else None


class Invoice(vf.TaskData):
    answer: str


class InvoiceTask(vf.Task[Invoice]):
    @vf.reward(weight=1.0)
    async def total(self, trace: vf.Trace) -> float:
        return float(amount(trace.last_reply) == amount(self.data.answer))

    @vf.metric
    async def has_total(self, trace: vf.Trace) -> float:
        return float(TOTAL.search(trace.last_reply) is not None)


class InvoiceConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 21


class Invoices(vf.Taskset[InvoiceTask, InvoiceConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for number in range(self.config.num_tasks):
            lines, total = [], 0
            for item in rng.sample(ITEMS, rng.randint(3, 5)):
                count, cents = rng.randint(1, 12), rng.randrange(95, 4000, 5)
                total += count * cents
                lines.append(f"{count} x {item} at {cents / 100:.2f}")
            prompt = (
                f"Invoice {1000 + number}\n" + "\n".join(lines) + "\n\nAdd it up. End with a line of the form\n\nTOTAL: <amount>"
            )
            yield InvoiceTask(Invoice(prompt=prompt, answer=f"TOTAL: {total / 100:.2f}"), self.config.task)
