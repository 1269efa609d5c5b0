"""Polynomials: expand, and compare by evaluation."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

TERM = re.compile(r"([+-])(?:([0-9]{1,9})\*?)?(x(?:(?:\^|\*\*)([0-9]))?)?")
LONGEST = 200


def parse(text: str) -> list[tuple[int, int]] | None:
    """Terms as (coefficient, power), or None if `text` is not a plain sum of them."""
    text = text.strip(" \n\t.$`").rpartition("=")[2]
    text = re.sub(r"\s+", "", text.lower().replace("\u2212", "-").replace("{", "").replace("}", ""))
    text = text.replace("\u00b2", "^2").replace("\u00b3", "^3")
    if not text or len(text) > LONGEST:
        return None
    if text[0] not in "+-":
        text = "+" + text
    terms, at = [], 0
    while at < len(text):
        found = TERM.match(text, at)
        if found is None or not (found[2] or found[3]):
            return None
        power = int(found[4] or 1) if found[3] else 0
        if power > 3:
            return None
        terms.append((int(found[1] + (found[2] or "1")), power))
        at = found.end()
    return terms


def evaluate(terms: list[tuple[int, int]], x: int) -> int:
    return sum(coefficient * x**power for coefficient, power in terms)


def written(coefficients: list[int]) -> str:
    """Coefficients, lowest power first, as a sum."""
    out = ""
    for power in range(len(coefficients) - 1, -1, -1):
        c = coefficients[power]
        if c == 0:
            continue
        variable = "" if power == 0 else "x" if power == 1 else f"x^{power}"
        size = "" if abs(c) == 1 and power else str(abs(c))
        sign = ("-" if c < 0 else "") if not out else (" - " if c < 0 else " + ")
        out += sign + size + variable
    return out


class Product(vf.TaskData):
    factors: list[tuple[int, int]]
    solution: str


class ProductTask(vf.Task[Product]):
    @vf.reward(weight=1.0)
    async def expanded(self, trace: vf.Trace) -> float:
        """1.0 if the reply is an expanded sum equal to the product."""
        terms = parse(trace.last_reply.rpartition("</think>")[2])
        if terms is None:
            return 0.0
        rng = random.Random(self.data.solution)
        for point in rng.sample(range(-1000, 1000), 8):
            value = 1
            for a, b in self.data.factors:
                value *= a * point + b
            if evaluate(terms, point) != value:
                return 0.0
        return 1.0


class PolyConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 41


class PolyTaskset(vf.Taskset[ProductTask, PolyConfig]):
    def load(self) -> Iterator[ProductTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            nonzero = [n for n in range(-9, 10) if n]
            factors = tuple((rng.randint(1, 4), rng.choice(nonzero)) for _ in range(rng.choice([2, 3])))
            if tuple(sorted(factors)) in seen:
                continue
            seen.add(tuple(sorted(factors)))
            total = [1]
            for a, b in factors:
                total = [b * low + a * high for low, high in zip([*total, 0], [0, *total], strict=True)]
            shown = "".join(f"({written([b, a])})" for a, b in factors)
            prompt = f"Expand {shown}. Reply with the expanded polynomial in x alone, without brackets, as in 3x^2 - x + 5."
            yield ProductTask(Product(prompt=prompt, factors=list(factors), solution=written(total)), self.config.task)
