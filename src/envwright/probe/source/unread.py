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
SOME = "…"
"""One of several, whichever."""


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


COPIES = {f"builtins.{n}" for n in ("str", "list", "repr", "tuple", "set", "sorted", "frozenset")}
QUANTIFIERS = {"builtins.any", "builtins.all", "builtins.sum"}
MUTATORS = {"append", "extend", "add", "update", "insert", "setdefault", "pop", "remove", "discard"}


def default(value: Value) -> Value:
    return Value(value.kind, value.known, True) if value.kind is Kind.KNOWN else value


def unbound(state: State, node: ast.stmt) -> State:
    """Nothing is known of the names that it gives a value to, or a part of one."""
    for each in ast.walk(node):
        match each:
            case (
                ast.Name(id=name, ctx=ast.Store())
                | ast.Subscript(value=ast.Name(id=name), ctx=ast.Store())
            ):
                state = state.bound(name, UNKNOWN)
            case _:
                pass
    return state


def changed(state: State, node: ast.expr) -> State:
    """Nothing is known of a list that something was put into."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr)) if attr in MUTATORS:
            return state.bound(name, UNKNOWN)
        case _:
            return state


def is_instance(value: Value, kinds: str) -> Value:
    """What `isinstance` says of nothing, of an empty list and of a table."""
    missing = value.kind is Kind.KNOWN and value.by_default
    if value.kind is Kind.TABLE:
        return Value(Kind.KNOWN, True, True) if "dict" in kinds else UNKNOWN
    if missing and value.known is None:
        return Value(Kind.KNOWN, "None" in kinds, True)
    if missing and isinstance(value.known, tuple) and "list" in kinds:
        return Value(Kind.KNOWN, True, True)
    return UNKNOWN


def quantified(name: str, value: Value) -> Value:
    """`any`, `all` and `sum` over nothing, or over what is false for each."""
    if isinstance(value.known, tuple):
        made: Any = 0 if name.endswith("sum") else name.endswith("all")
        return UNKNOWN if value.known else Value(Kind.KNOWN, made, True)
    if name.endswith("sum"):
        return UNKNOWN if value.known else Value(Kind.KNOWN, 0, True)
    return Value(Kind.KNOWN, bool(value.known), True)


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
            case ast.In() | ast.NotIn() if isinstance(right, tuple) and (not right or left != SOME):
                return (left in right) is isinstance(op, ast.In)
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


def given_text(mood: Mood, name: str, args: list[Value]) -> Value | None:
    """What reads a text and finds nothing in it."""
    if name in ("search", "match", "fullmatch"):
        return Value(Kind.KNOWN, None, True)
    if name in ("findall", "finditer"):
        return Value(Kind.KNOWN, (), True)
    if name == "get":
        return default(args[1]) if len(args) > 1 else Value(Kind.KNOWN, None, True)
    if name in ("loads", "model_validate_json", "literal_eval", "safe_load"):
        if mood is Mood.EMPTY_JSON:
            return Value(Kind.TABLE)
        raise Unreadable
    return SAID if name in ("sub", "subn", "unescape") else None


def of_name(name: str, args: list[Value]) -> Value:
    """A function of the language."""
    first = args[0] if args else UNKNOWN
    if name in ("builtins.float", "builtins.int", "decimal.Decimal"):
        if first.kind is Kind.SAID:
            raise Unreadable
        if first.kind is Kind.KNOWN and first.known is None and first.by_default:
            raise Unreadable
    if name in COPIES and (first.kind is Kind.SAID or isinstance(first.known, tuple)):
        return first
    if name in QUANTIFIERS and first.kind is Kind.KNOWN and first.by_default:
        return quantified(name, first)
    if name in SAFE and all(a.kind is Kind.KNOWN and a.known != SOME for a in args):
        try:
            made = SAFE[name](*(a.known for a in args))
        except (TypeError, ValueError, ArithmeticError):
            return UNKNOWN
        return Value(Kind.KNOWN, made, any(a.by_default for a in args))
    return UNKNOWN
