"""Polynomials to differentiate, and the comparison of a reply with the derivative."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from derivative_drill.expression import PRIME, Unreadable, evaluate

LINE = re.compile(r"(?:f ?['\u2019\u2032] ?\(x\)|df/dx|y['\u2019\u2032])\s*=(.+)")


def written(coefficients: list[int]) -> str:
    """A polynomial as text, the highest power first; `coefficients` begin with the constant."""
    text = ""
    for power in range(len(coefficients) - 1, -1, -1):
        factor = coefficients[power]
        if factor:
            number = "" if abs(factor) == 1 and power else str(abs(factor))
            letter = "" if power == 0 else "x" if power == 1 else f"x^{power}"
            star = "*" if number and letter else ""
            sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
            text += f"{sign}{number}{star}{letter}"
    return text or "0"


def product(left: list[int], right: list[int]) -> list[int]:
    result = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return result


def last_expression(text: str) -> str:
    """What stands after the equals sign on the last line; empty if it has another form."""
    for line in reversed(text.splitlines()):
        line = line.strip(" \t*`$.") if len(line) < 1000 else "?"
        if line:
            match = LINE.fullmatch(line)
            return match.group(1) if match else ""
    return ""


class PolynomialData(vf.TaskData):
    """A polynomial and its derivative."""

    polynomial: str
    derivative: str


class PolynomialTask(vf.Task[PolynomialData]):
    def values(self, expression: str) -> list[int]:
        rng = random.Random(f"points for {self.data.polynomial}")
        return evaluate(expression, [rng.randrange(PRIME) for _ in range(8)])

    @vf.reward(weight=1.0)
    async def equal(self, trace: vf.Trace) -> float:
        """1.0 if the last line gives the derivative in any form."""
        wanted = self.values(last_expression(self.data.derivative))
        try:
            return float(self.values(last_expression(trace.last_reply)) == wanted)
        except Unreadable:
            return 0.0

    @vf.metric
    async def parsed(self, trace: vf.Trace) -> float:
        """1.0 if the last line holds an expression that can be read."""
        try:
            return float(bool(self.values(last_expression(trace.last_reply))))
        except Unreadable:
            return 0.0


class PolynomialConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=500)
    """How many polynomials; no two are the same."""
    seed: int = 12
    """The same seed gives the same polynomials."""


class DerivativeTaskset(vf.Taskset[PolynomialTask, PolynomialConfig]):
    """Products of a linear and a quadratic or cubic factor."""

    def load(self) -> Iterator[PolynomialTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            left = [rng.choice((-7, -5, -3, -2, 1, 2, 4, 6)), rng.randint(1, 5)]
            right = [rng.randint(-6, 6) for _ in range(rng.randint(2, 3))] + [rng.randint(1, 4)]
            text = f"({written(left)})*({written(right)})"
            if text in seen or not any(right[:-1]):
                continue
            seen.add(text)
            expanded = product(left, right)
            derivative = [power * factor for power, factor in enumerate(expanded)][1:]
            data = PolynomialData(
                prompt=(
                    f"Differentiate f(x) = {text}. Any correct form will do; write it with whole "
                    "numbers, x, + - * / ^ and brackets. End your reply with a line of the form "
                    "f'(x) = ..."
                ),
                polynomial=text,
                derivative=f"f'(x) = {written(derivative)}",
            )
            yield PolynomialTask(data, self.config.task)
