"""EW504: a judgement that cannot be read earns.

The functions that read a judge's answer are walked through as if the judge had said nothing
of what they look for: an apology, half a JSON, nothing at all. What they return then is the
default. Values that do not follow from that stay unknown, and unknown is never reported.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from envwright.finding import Severity
from envwright.probe.code import Code, Method
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.flow import asks_judge, chain, made_of
from envwright.probe.source.scoring import Role, Root

DEFAULT_PAYS = Rule(
    id="EW504",
    name="judge-default-pays",
    defect="judge-default-pays",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="The code that reads a judge's answer is followed for an answer that holds nothing "
    "it looks for, for one that is no JSON, and for a judge that raises.",
    hit="It returns half of the reward or more.",
    why="The model learns to confuse the judge.",
    exempt="Code that raises, or pays nothing, when it cannot read the judgement.",
)
PAYS = 0.5
MOST_PATHS = 400


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


def default_hits(code: Code, roots: list[Root]) -> Iterator[Hit]:
    seen: set[tuple[str, int]] = set()
    parsed: set[int] = set()
    # A judge's own reader says what it found; only who asks it says what that is worth.
    readers = [r for r in roots if r.role is Role.JUDGE and r.method.node.name == "parse"]
    others = [r for r in roots if r not in readers and r.method.node.name != "build_messages"]
    for root in [*others, *readers]:
        if root.role is Role.METRIC or id(root.method.node) in parsed:
            continue
        said = root.method.parameters if root in readers else []
        for mood in Mood:
            walk = Walk(code, mood)
            ends = walk.run(root.method, {name: SAID for name in said if name != "self"})
            parsed |= walk.parsed
            for end in ends:
                method = walk.homes.get(id(end.node), root.method)
                cited = method.module.cite(end.node)
                if pays(end) and (cited.path, cited.line) not in seen:
                    seen.add((cited.path, cited.line))
                    said_so = (
                        f"{method.name} returns {end.value.known!r} when the judge {HOW[mood]}"
                    )
                    yield Hit(said_so, [cited])


HOW = {
    Mood.GARBLED: "says nothing of what is looked for",
    Mood.EMPTY_JSON: "leaves out what is looked for",
    Mood.RAISED: "fails",
}


def pays(end: Returned) -> bool:
    value = end.value.known
    if end.value.kind is not Kind.KNOWN or not (end.default or end.value.by_default):
        return False
    return isinstance(value, int | float) and value >= PAYS


class Walk:
    def __init__(self, code: Code, mood: Mood) -> None:
        self.code = code
        self.mood = mood
        self.paths = 0
        self.homes: dict[int, Method] = {}
        self.parsed: set[int] = set()
        """Judges' own readers that a reward goes through."""
        self.depth = 0
        self.raised = False
        """Whether some path since then ended in an exception."""

    def run(self, method: Method, given: dict[str, Value]) -> list[Returned]:
        """All ways out of a function, as far as they are known."""
        ends: list[Returned] = []
        rest = self.block(method, method.node.body, [State(tuple(given.items()))], ends)
        for node in (end.node for end in ends):
            self.homes.setdefault(id(node), method)
        ends += [Returned(Value(Kind.KNOWN), method.node, state.default) for state in rest]
        return ends

    def block(
        self, method: Method, body: list[ast.stmt], states: list[State], ends: list[Returned]
    ) -> list[State]:
        for statement in body:
            after: list[State] = []
            for state in states:
                self.paths += 1
                if self.paths > MOST_PATHS:
                    return []
                try:
                    after += self.statement(method, statement, state, ends)
                except Unreadable:
                    self.raised = True
            states = list(dict.fromkeys(after))
        return states

    def statement(
        self, method: Method, node: ast.stmt, state: State, ends: list[Returned]
    ) -> list[State]:
        match node:
            case ast.Return(value=value):
                made = self.value(method, value, state) if value else Value(Kind.KNOWN)
                ends.append(Returned(made, node, state.default))
                return []
            case ast.Raise():
                raise Unreadable
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                return [state.bound(name, self.value(method, value, state))]
            case ast.Assign(value=value):
                self.value(method, value, state)
                return [unbound(state, node)]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                return [state.bound(name, self.value(method, value, state))]
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                made = arithmetic(op, state.get(name), self.value(method, value, state))
                return [state.bound(name, made)]
            case ast.Expr(value=value):
                self.value(method, value, state)
                return [state]
            case ast.If(test=test, body=body, orelse=orelse):
                return self.branch(method, test, body, orelse, state, ends)
            case ast.Try():
                return self.attempt(method, node, state, ends)
            case ast.With(body=body) | ast.AsyncWith(body=body):
                return self.block(method, body, [state], ends)
            case ast.For() | ast.While() | ast.AsyncFor():
                # A loop over what is there may run or not; retries end as their last round does.
                once = self.loop(method, node, state, ends)
                return [*once, state]
            case ast.Match():
                return [state]
            case _:
                return [state]

    def loop(
        self,
        method: Method,
        node: ast.For | ast.While | ast.AsyncFor,
        state: State,
        ends: list[Returned],
    ) -> list[State]:
        inside = state
        if isinstance(node, ast.For | ast.AsyncFor) and isinstance(node.target, ast.Name):
            inside = state.bound(node.target.id, UNKNOWN)
        return self.block(method, node.body, [inside], ends)

    def branch(
        self,
        method: Method,
        test: ast.expr,
        body: list[ast.stmt],
        orelse: list[ast.stmt],
        state: State,
        ends: list[Returned],
    ) -> list[State]:
        value = self.value(method, test, state)
        if value.kind is Kind.KNOWN:
            chosen = state.chosen() if value.by_default else state
            return self.block(method, body if value.known else orelse, [chosen], ends)
        if value.kind is Kind.SAID:
            state = state.chosen()
        return [
            *self.block(method, body, [state], ends),
            *self.block(method, orelse, [state], ends),
        ]

    def attempt(
        self, method: Method, node: ast.Try, state: State, ends: list[Returned]
    ) -> list[State]:
        before, self.raised = self.raised, False
        after = self.block(method, [*node.body, *node.orelse], [state], ends)
        if self.raised and node.handlers:
            self.raised = before
            for handler in node.handlers:
                after += self.block(method, handler.body, [state.chosen()], ends)
        else:
            self.raised = self.raised or before
        return self.block(method, node.finalbody, after, ends)

    def value(self, method: Method, node: ast.expr | None, state: State) -> Value:
        match node:
            case None:
                return Value(Kind.KNOWN)
            case ast.Constant(value=known):
                return Value(Kind.KNOWN, known)
            case ast.Name(id=name):
                bound = state.get(name)
                return bound if bound is not UNKNOWN else self.constant(method, node)
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.value(method, value, state)
            case ast.Attribute(value=value, attr=attr):
                base = self.value(method, value, state)
                if attr == "parsed" and isinstance(base.known, Value):
                    return base.known
                if base.kind is Kind.KNOWN and base.known is None and base.by_default:
                    raise Unreadable
                return base if base.kind in (Kind.SAID, Kind.TABLE) else UNKNOWN
            case ast.Subscript(value=value, slice=key):
                return self.item(self.value(method, value, state), self.value(method, key, state))
            case ast.UnaryOp(op=op, operand=operand):
                return unary(op, self.value(method, operand, state))
            case ast.BinOp(left=left, op=op, right=right):
                return arithmetic(
                    op, self.value(method, left, state), self.value(method, right, state)
                )
            case ast.BoolOp(op=op, values=values):
                return both(op, [self.value(method, v, state) for v in values])
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return compared(
                    op, self.value(method, left, state), self.value(method, right, state)
                )
            case ast.IfExp(test=test, body=body, orelse=orelse):
                chosen = self.value(method, test, state)
                if chosen.kind is not Kind.KNOWN:
                    return UNKNOWN
                made = self.value(method, body if chosen.known else orelse, state)
                return default(made) if chosen.by_default else made
            case ast.Call():
                return self.call(method, node, state)
            case ast.Dict() | ast.List() | ast.Tuple() | ast.Set():
                return UNKNOWN
            case ast.GeneratorExp() | ast.ListComp():
                return self.each_of(method, node, state)
            case _:
                return UNKNOWN

    def constant(self, method: Method, node: ast.Name) -> Value:
        made = method.module.constants.get(node.id)
        return Value(Kind.KNOWN, made.value) if isinstance(made, ast.Constant) else UNKNOWN

    def each_of(self, method: Method, node: ast.GeneratorExp | ast.ListComp, state: State) -> Value:
        """`any(word in said for word in WORDS)`: what holds for one holds for each."""
        for part in node.generators:
            source = self.value(method, part.iter, state)
            for name in (n.id for n in ast.walk(part.target) if isinstance(n, ast.Name)):
                inner = SAID if source.kind is Kind.SAID else Value(Kind.KNOWN, "…")
                state = state.bound(name, inner)
        return self.value(method, node.elt, state)

    def item(self, base: Value, key: Value) -> Value:
        if base.kind is Kind.TABLE or (base.kind is Kind.KNOWN and base.by_default):
            raise Unreadable
        if base.kind is Kind.SAID:
            # Of a split text there is a first and a last piece, whatever it was split at.
            if isinstance(key.known, int) and key.known not in (0, -1):
                raise Unreadable
            return base
        if key.kind is Kind.SAID:
            raise Unreadable
        return UNKNOWN

    def call(self, method: Method, node: ast.Call, state: State) -> Value:
        args = [self.value(method, a, state) for a in node.args]
        name = method.module.dotted(node.func) or ""
        if asks_judge(self.code, method, node):
            if self.mood is Mood.RAISED:
                raise Unreadable
            return self.judged(method, node)
        own = self.code.called(method, node)
        if own is not None:
            return self.inline(own, node, args, method, state)
        if isinstance(node.func, ast.Attribute):
            base = self.value(method, node.func.value, state)
            made = self.of_method(node.func.attr, base, args)
            if made is not None:
                return made
        return self.of_name(name, args)

    def judged(self, method: Method, node: ast.Call) -> Value:
        """What a judge's call gives: its text, and what its own `parse` makes of it."""
        parse = self.parse_of(method, node)
        if parse is None:
            return SAID
        self.parsed.add(id(parse.node))
        return Value(
            Kind.SAID, self.inline(parse, ast.Call(node.func, [], []), [SAID], method, State())
        )

    def parse_of(self, method: Method, node: ast.Call) -> Method | None:
        """The `parse` of the package's judge that is asked here."""
        known = [
            m for m in self.code.methods if m.node.name == "parse" and self.code.is_a(m, "Judge")
        ]
        head = chain(node.func).partition(".")[0]
        said = made_of(method, node.func)
        named = [m for m in known if m.owner is not None and m.owner.name in said]
        own = [m for m in known if m.owner is method.owner and head == "self"]
        return next(iter([*named, *own, *(known if len(known) == 1 else [])]), None)

    def inline(
        self, own: Method, node: ast.Call, args: list[Value], caller: Method, state: State
    ) -> Value:
        names = own.parameters
        if own.owner is not None and names[:1] in (["self"], ["cls"]):
            names = names[1:]
        given = dict(zip(names, args, strict=False))
        for keyword in node.keywords:
            if keyword.arg in names:
                given[str(keyword.arg)] = self.value(caller, keyword.value, state)
        if self.depth >= 4 or own.node is caller.node:
            return UNKNOWN
        self.depth += 1
        try:
            ends = self.run(own, given)
        finally:
            self.depth -= 1
        if not ends:
            raise Unreadable
        made = {default(e.value) if e.default else e.value for e in ends}
        said = [v for v in made if v.by_default or v.kind in (Kind.SAID, Kind.TABLE)]
        if len(made) == 1:
            return next(iter(made))
        return said[0] if len(said) == 1 else UNKNOWN

    def of_method(self, name: str, base: Value, args: list[Value]) -> Value | None:
        """A method of the judge's text or table, or one that is given it."""
        spoken = any(a.kind is Kind.SAID for a in args)
        if base.kind is Kind.TABLE and name in ("get", "pop"):
            return default(args[1]) if len(args) > 1 else Value(Kind.KNOWN, None, True)
        if base.kind is Kind.SAID:
            if name in ("startswith", "endswith", "isdigit", "isnumeric", "isdecimal"):
                return Value(Kind.KNOWN, False, True)
            if name in ("find", "rfind"):
                return Value(Kind.KNOWN, -1, True)
            if name == "count":
                return Value(Kind.KNOWN, 0, True)
            if name in ("index", "json"):
                raise Unreadable
            return base
        if base.kind is Kind.KNOWN and base.known is None and base.by_default:
            raise Unreadable
        if not spoken:
            return None
        if name in ("search", "match", "fullmatch"):
            return Value(Kind.KNOWN, None, True)
        if name in ("findall", "finditer"):
            return Value(Kind.KNOWN, (), True)
        if name == "get":
            return default(args[1]) if len(args) > 1 else Value(Kind.KNOWN, None, True)
        if name in ("loads", "model_validate_json", "literal_eval", "safe_load"):
            if self.mood is Mood.EMPTY_JSON:
                return Value(Kind.TABLE)
            raise Unreadable
        if name in ("sub", "subn", "unescape"):
            return SAID
        return None

    def of_name(self, name: str, args: list[Value]) -> Value:
        first = args[0] if args else UNKNOWN
        if name in ("builtins.float", "builtins.int", "decimal.Decimal"):
            if first.kind is Kind.SAID:
                raise Unreadable
            if first.kind is Kind.KNOWN and first.known is None and first.by_default:
                raise Unreadable
        if name in ("builtins.str", "builtins.list", "builtins.repr") and first.kind is Kind.SAID:
            return first
        if name == "builtins.any" and first.kind is Kind.KNOWN and first.by_default:
            return first
        if name in SAFE and all(a.kind is Kind.KNOWN for a in args):
            try:
                made = SAFE[name](*(a.known for a in args))
            except (TypeError, ValueError, ArithmeticError):
                return UNKNOWN
            return Value(Kind.KNOWN, made, any(a.by_default for a in args))
        return UNKNOWN


SAFE = {
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


def unbound(state: State, node: ast.Assign) -> State:
    for target in node.targets:
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
