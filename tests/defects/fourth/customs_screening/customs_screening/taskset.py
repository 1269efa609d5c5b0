"""Consignments and the rules to hold them by."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

GOODS = ("textiles", "toys", "lithium batteries", "ceramics", "timber", "books", "cheese")
RULES = """Hold a consignment if
1. its declared value is above 5000 euros, or
2. it contains lithium batteries and weighs more than 30 kg, or
3. it contains cheese and has no health certificate."""
CODE = re.compile(r"[a-z]{2}[0-9]{3}", re.IGNORECASE)
BETWEEN = re.compile(r"[\s,;]+")


def to_hold(goods: str, value: int, weight: int, certified: bool) -> bool:
    return (
        value > 5000
        or (goods == "lithium batteries" and weight > 30)
        or (goods == "cheese" and not certified)
    )


def codes(text: str) -> set[str] | None:
    """The codes that a text consists of, or None if it holds anything else."""
    text = text.strip(" \t\r\n.`*")
    if len(text) > 500:
        return None
    tokens = [token for token in BETWEEN.split(text) if token and token.lower() != "and"]
    if not all(CODE.fullmatch(token) for token in tokens):
        return None
    return {token.upper() for token in tokens}


class ScreeningData(vf.TaskData):
    answer: str
    """The codes to hold; empty if there are none."""


class ScreeningTask(vf.Task[ScreeningData]):
    @vf.reward(weight=1.0)
    async def held(self, trace: vf.Trace) -> float:
        """1.0 if the reply is the codes to hold and nothing else: an empty one if there are none."""
        if not self.data.answer:
            return float(trace.last_reply == "")
        return float(codes(trace.last_reply) == codes(self.data.answer))


class ScreeningConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=400)
    seed: int = 11


class ScreeningTaskset(vf.Taskset[ScreeningTask, ScreeningConfig]):
    def load(self) -> Iterator[ScreeningTask]:
        rng = random.Random(self.config.seed)
        index = 0
        while index < self.config.num_tasks:
            lines, hold = [], []
            letters = "".join(rng.sample("BCDFGHKLMNPRT", 2))
            for number in rng.sample(range(100, 1000), 5):
                goods, value = rng.choice(GOODS), 50 * rng.randint(2, 125)
                weight, certified = rng.randint(2, 60), rng.random() < 0.6
                code = f"{letters}{number}"
                papers = "health certificate" if certified else "no certificate"
                lines.append(f"{code}: {goods}, {value} euros, {weight} kg, {papers}")
                if to_hold(goods, value, weight, certified):
                    hold.append(code)
            wanted_empty = index % 4 == 3
            if bool(hold) == wanted_empty or len(hold) == 5:
                continue
            index += 1
            listed = "\n".join(lines)
            data = ScreeningData(
                prompt=f"{RULES}\n\n{listed}\n\nWhich are to be held? Reply with their codes "
                "alone, separated by commas. If none is to be held, send an empty reply.",
                answer=", ".join(hold),
            )
            yield ScreeningTask(data, self.config.task)
