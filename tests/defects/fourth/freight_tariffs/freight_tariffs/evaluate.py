"""Arithmetic in x, without eval: a parser's tree and four operations on fractions."""

import ast
import operator
from fractions import Fraction
from functools import lru_cache

LONGEST = 200
OPERATIONS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


class NotArithmetic(ValueError):
    """The text is no expression of the permitted kind."""


@lru_cache(maxsize=256)
def parse(text: str) -> ast.expr:
    """The tree of an expression. The same text has the same tree, so it may be kept."""
    if len(text) > LONGEST:
        raise NotArithmetic("too long")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotArithmetic("no expression") from error


def evaluate(node: ast.expr, x: Fraction) -> Fraction:
    """The value of a tree at x."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Fraction(str(node.value))
    if isinstance(node, ast.Name) and node.id in ("x", "X"):
        return x
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = evaluate(node.operand, x)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](evaluate(node.left, x), evaluate(node.right, x))
    raise NotArithmetic(type(node).__name__)


def value(text: str, x: int) -> Fraction | None:
    """The value of a text at x, or None if it has none."""
    try:
        return evaluate(parse(text), Fraction(x))
    except (ValueError, ZeroDivisionError, RecursionError):
        return None
