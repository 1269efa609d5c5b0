"""Trial balances: made to balance, some spoilt afterwards."""

import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

DEBIT = ("Cash", "Receivables", "Inventory", "Equipment", "Rent expense", "Wages expense")
CREDIT = ("Payables", "Bank loan", "Capital", "Sales revenue")


def number(value: object) -> float | None:
    """A total as a number; 1200, 1200.0, "1200" and "1,200" are the same."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.replace(",", "").replace("$", "").strip()
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


class BalanceData(vf.TaskData):
    debits: int
    credits: int
    answer: str


class BalanceTask(vf.Task[BalanceData]):
    def reading(self, trace: vf.Trace) -> tuple[float | None, float | None, object]:
        """The two totals and the verdict of a reply, None for what is not there."""
        text = trace.last_reply.rpartition("</think>")[2].strip()
        if text.startswith("```"):
            text = text.strip("`").strip().removeprefix("json")
        try:
            reply = json.loads(text)
        except (ValueError, RecursionError):
            return None, None, None
        return number(reply.get("debits")), number(reply.get("credits")), reply.get("balanced")

    @vf.reward(weight=0.8)
    async def totals(self, trace: vf.Trace) -> float:
        debits, credits, _ = self.reading(trace)
        return ((debits == self.data.debits) + (credits == self.data.credits)) / 2

    @vf.reward(weight=0.2)
    async def verdict(self, trace: vf.Trace) -> float:
        debits, credits, balanced = self.reading(trace)
        balances = self.data.debits == self.data.credits
        return float(
            debits == self.data.debits and credits == self.data.credits and balanced is balances
        )


class BalanceConfig(vf.TasksetConfig):
    num_tasks: int = Field(32, ge=1, le=300)
    seed: int = 31


class BalanceTaskset(vf.Taskset[BalanceTask, BalanceConfig]):
    def load(self) -> Iterator[BalanceTask]:
        rng = random.Random(self.config.seed)
        for index in range(self.config.num_tasks):
            debit = {name: rng.randint(100, 9000) for name in DEBIT}
            credit = {name: rng.randint(100, 4000) for name in CREDIT[:-1]}
            if sum(debit.values()) - sum(credit.values()) < 100:
                debit["Cash"] += 12000
            credit[CREDIT[-1]] = sum(debit.values()) - sum(credit.values())
            if index % 2:
                slipped = rng.choice(DEBIT)
                debit[slipped] += rng.choice([9, 18, 90, 270])
            lines = [f"{name}: debit {amount}" for name, amount in debit.items()]
            lines += [f"{name}: credit {amount}" for name, amount in credit.items()]
            rng.shuffle(lines)
            debits, credits = sum(debit.values()), sum(credit.values())
            listed = "\n".join(lines)
            data = BalanceData(
                prompt=f"Trial balance of a small firm:\n\n{listed}\n\nReply with a JSON object and "
                'nothing else: "debits" and "credits" with the two totals, and "balanced" with '
                "true or false.",
                debits=debits,
                credits=credits,
                answer=json.dumps(
                    {"debits": debits, "credits": credits, "balanced": debits == credits}
                ),
            )
            yield BalanceTask(data, self.config.task)
