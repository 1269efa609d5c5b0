"""A small evaluator of formulas: it walks the syntax tree, nothing is executed."""

import ast
import operator
from collections.abc import Callable

OPERATORS: dict[type, Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


class Unreadable(ValueError):
    """Not a formula in `d`."""


def evaluate(node: ast.AST, d: float) -> float:
    """The formula's value for `d` kilometres."""
    match node:
        case ast.Expression():
            return evaluate(node.body, d)
        case ast.Constant() if type(node.value) in (int, float):
            return float(node.value)
        case ast.Name(id="d"):
            return d
        case ast.UnaryOp(op=ast.USub()):
            return -evaluate(node.operand, d)
        case ast.BinOp() if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](evaluate(node.left, d), evaluate(node.right, d))
    raise Unreadable


def read(text: str) -> ast.Expression:
    """Parse a formula; an equals sign with a name before it may lead it."""
    text = text.rpartition("=")[2].strip(" `$\n\t").lower()
    if not text or len(text) > 200:
        raise Unreadable
    try:
        return ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Unreadable from error
