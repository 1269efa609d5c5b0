"""Reading and solving: arithmetic in fractions, without running anything."""

import ast
import operator
import re
from fractions import Fraction

SIGNS = re.compile(r"[0-9+*/() -]{1,120}")
OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(text: str) -> tuple[Fraction, list[int]] | None:
    """The value of an expression and the numbers in it; None if it is not one."""
    if not SIGNS.fullmatch(text):
        return None
    used: list[int] = []

    def value(node: ast.expr) -> Fraction:
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Constant) and type(node.value) is int:
            used.append(node.value)
            return Fraction(node.value)
        raise ValueError("not arithmetic")

    try:
        return value(ast.parse(text.strip(), mode="eval").body), sorted(used)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def solve(numbers: list[tuple[Fraction, str]]) -> str | None:
    """An expression of all numbers with the value 24, or None."""
    if len(numbers) == 1:
        return numbers[0][1] if numbers[0][0] == 24 else None
    for i, (a, left) in enumerate(numbers):
        for j, (b, right) in enumerate(numbers):
            if i == j:
                continue
            rest = [pair for k, pair in enumerate(numbers) if k not in (i, j)]
            made = [(a - b, f"({left} - {right})")]
            if i < j:
                made += [(a + b, f"({left} + {right})"), (a * b, f"({left} * {right})")]
            if b:
                made.append((a / b, f"({left} / {right})"))
            for pair in made:
                if found := solve([*rest, pair]):
                    return found
    return None
