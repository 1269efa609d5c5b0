"""What code knows of an answer that it cannot read: values, and the operations on them."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Mood(StrEnum):
    """What became of the judge's answer."""

    GARBLED = "garbled"
    EMPTY_JSON = "empty JSON"
    RAISED = "raised"


class Kind(StrEnum):
    KNOWN = "known"
    SAID = "said"
    """The judge's own text, or a piece of it."""
    TABLE = "table"
    """Its JSON, with nothing in it that is looked for."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Value:
    kind: Kind
    known: Any = None
    by_default: bool = False
    """It follows from the answer's not being readable."""


UNKNOWN = Value(Kind.UNKNOWN)
SAID = Value(Kind.SAID)


class Unreadable(Exception):
    """What environment code would see as an exception, because the answer cannot be read."""


@dataclass(frozen=True, slots=True)
class Returned:
    value: Value
    node: ast.AST
    default: bool


@dataclass(frozen=True, slots=True)
class State:
    names: tuple[tuple[str, Value], ...] = ()
    default: bool = False
    """Whether the path was chosen because the answer cannot be read."""

    def get(self, name: str) -> Value:
        return dict(self.names).get(name, UNKNOWN)

    def bound(self, name: str, value: Value) -> "State":
        return State(tuple({**dict(self.names), name: value}.items()), self.default)

    def chosen(self) -> "State":
        return State(self.names, True)


SAFE: dict[str, Callable[..., Any]] = {
    "builtins.float": float,
    "builtins.int": int,
    "builtins.bool": bool,
    "builtins.min": min,
    "builtins.max": max,
    "builtins.abs": abs,
    "builtins.round": round,
    "builtins.len": len,
}


def default(value: Value) -> Value:
    return Value(value.kind, value.known, True) if value.kind is Kind.KNOWN else value


def unbound(state: State, node: ast.stmt) -> State:
    """Nothing is known of the names that it gives a value to."""
    for target in ast.iter_child_nodes(node):
        for each in ast.walk(target):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                state = state.bound(each.id, UNKNOWN)
    return state


def unary(op: ast.unaryop, value: Value) -> Value:
    if value.kind is not Kind.KNOWN:
        return value if isinstance(op, ast.Not) and value.kind is Kind.SAID else UNKNOWN
    if isinstance(op, ast.Not):
        return Value(Kind.KNOWN, not value.known, value.by_default)
    if isinstance(op, ast.USub) and isinstance(value.known, int | float):
        return Value(Kind.KNOWN, -value.known, value.by_default)
    return UNKNOWN


def both(op: ast.boolop, values: list[Value]) -> Value:
    """`and`/`or` as far as they are decided."""
    decisive = isinstance(op, ast.Or)
    for value in values:
        if value.kind is Kind.KNOWN and bool(value.known) is decisive:
            return value
    if all(value.kind is Kind.KNOWN for value in values):
        return Value(Kind.KNOWN, values[-1].known, any(v.by_default for v in values))
    said = [value for value in values if value.kind in (Kind.SAID, Kind.TABLE)]
    return said[0] if said else UNKNOWN


def compared(op: ast.cmpop, left: Value, right: Value) -> Value:
    """No word that is looked for is in the answer, and it equals none."""
    spoken = Kind.SAID in (left.kind, right.kind)
    missing = any(v.kind is Kind.KNOWN and v.by_default for v in (left, right))
    none = [v for v in (left, right) if v.kind is Kind.KNOWN and v.known is None]
    if spoken and len(none) == 1:
        return Value(Kind.KNOWN, isinstance(op, ast.IsNot | ast.NotEq), False)
    if spoken or Kind.TABLE in (left.kind, right.kind):
        if isinstance(op, ast.In | ast.Eq | ast.Is):
            return Value(Kind.KNOWN, False, True)
        if isinstance(op, ast.NotIn | ast.NotEq | ast.IsNot):
            return Value(Kind.KNOWN, True, True)
        return UNKNOWN
    if left.kind is Kind.KNOWN and right.kind is Kind.KNOWN:
        made = compare(op, left.known, right.known)
        return UNKNOWN if made is None else Value(Kind.KNOWN, made, missing)
    return UNKNOWN


def compare(op: ast.cmpop, left: Any, right: Any) -> bool | None:
    try:
        match op:
            case ast.Is() | ast.Eq():
                return left == right
            case ast.IsNot() | ast.NotEq():
                return left != right
            case ast.Lt():
                return left < right
            case ast.LtE():
                return left <= right
            case ast.Gt():
                return left > right
            case ast.GtE():
                return left >= right
            case _:
                return None
    except TypeError:
        return None


def arithmetic(op: ast.operator, left: Value, right: Value) -> Value:
    if left.kind is not Kind.KNOWN or right.kind is not Kind.KNOWN:
        return left if left.kind is Kind.SAID else UNKNOWN
    a, b = left.known, right.known
    if not (isinstance(a, int | float) and isinstance(b, int | float)):
        return UNKNOWN
    by_default = left.by_default or right.by_default
    try:
        match op:
            case ast.Add():
                return Value(Kind.KNOWN, a + b, by_default)
            case ast.Sub():
                return Value(Kind.KNOWN, a - b, by_default)
            case ast.Mult():
                return Value(Kind.KNOWN, a * b, by_default)
            case ast.Div():
                return Value(Kind.KNOWN, a / b, by_default)
            case _:
                return UNKNOWN
    except ArithmeticError:
        return UNKNOWN


def is_any(case: ast.match_case) -> bool:
    """`case _:`, or a name that takes whatever is left."""
    return isinstance(case.pattern, ast.MatchAs) and not case.pattern.pattern and not case.guard


def taken(cases: list[ast.match_case], value: Value) -> list[ast.match_case]:
    """The cases that may be gone into: of what cannot be read only the one for the rest."""
    if value.kind is Kind.UNKNOWN or (value.kind is Kind.KNOWN and not value.by_default):
        return cases
    return [case for case in cases if is_any(case)][:1]


def of_text(name: str, said: Value) -> Value:
    """A method of a text that is nothing of what anybody looks for."""
    if name in ("startswith", "endswith", "isdigit", "isnumeric", "isdecimal"):
        return Value(Kind.KNOWN, False, True)
    if name in ("find", "rfind"):
        return Value(Kind.KNOWN, -1, True)
    if name == "count":
        return Value(Kind.KNOWN, 0, True)
    if name in ("index", "json"):
        raise Unreadable
    return said
