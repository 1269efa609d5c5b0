"""EW507: scoring that a reply can make endless.

Patterns are parsed, never run. A repeat of repeats is reported only where two ways to read
the same text are certain and something behind it can fail; what merely looks odd is not.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any, cast

from envwright.finding import Severity
from envwright.probe.code import Code, Method, Module
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.flow import NUMBER, REPLY, TRACE, Flow, Scope
from envwright.probe.source.scoring import own_nodes

sre: Any = re._parser  # pyright: ignore[reportAttributeAccessIssue]
"""The standard library's own parser of patterns; it has no public name."""

HANGS = Rule(
    id="EW507",
    name="hangs",
    defect="hangs",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="Patterns that are applied to the reply are parsed, and numbers that are read from it "
    "are followed to loops.",
    hit="A repeat of repeats that backtracks, or a loop as long as the model says.",
    why="One reply makes training stand still.",
    exempt="Patterns that read a text in one way only, and numbers that are bounded first.",
)
APPLIED = {"match", "fullmatch", "search", "findall", "finditer", "sub", "split", "subn"}
MANY = 16
"""Rounds: from there on a repeat counts as endless."""
ATTACKS = ("a", "0", " ", "a ", "-", "(", "\t", "x1")


def hang_hits(flow: Flow) -> Iterator[Hit]:
    seen: set[tuple[str, int]] = set()
    for scope in list(flow.scopes.values()):
        module = scope.method.module
        for node, what in [*slow_patterns(flow, scope), *long_loops(flow, scope)]:
            cited = module.cite(node)
            if (cited.path, cited.line) not in seen:
                seen.add((cited.path, cited.line))
                yield Hit(f"{scope.method.name} {what}", [cited])


def hang_replies(flow: Flow) -> tuple[str, ...]:
    """Replies that are worth scoring to prove it: long repeats, and an end that does not fit."""
    found = [p for s in list(flow.scopes.values()) for p in slow_patterns(flow, s)]
    return tuple(sign * 40 + "\x00!" for sign in ATTACKS) if found else ()


def slow_patterns(flow: Flow, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    for node in own_nodes(scope.method):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr not in APPLIED:
            continue
        pattern, text, place = pattern_of(flow.code, scope.method, node)
        if pattern is None or text is None or not flow.labels(scope, text) & {REPLY, TRACE}:
            continue
        if is_slow(pattern, whole=node.func.attr == "fullmatch"):
            yield place, f"applies {pattern[:60]!r} to the reply, which can backtrack for ever"


def pattern_of(
    code: Code, method: Method, node: ast.Call
) -> tuple[str | None, ast.expr | None, ast.AST]:
    """The pattern, what it is applied to, and where the pattern is written."""
    module = method.module
    assert isinstance(node.func, ast.Attribute)
    if module.dotted(node.func.value) in ("re", "regex"):
        last = 2 if node.func.attr in ("sub", "subn") else 1
        text = node.args[last] if len(node.args) > last else None
        return (code.text_of(module, node.args[0]) if node.args else None), text, node
    last = 1 if node.func.attr in ("sub", "subn") else 0
    text = node.args[last] if len(node.args) > last else None
    for home, made in compiled(code, method, node.func.value):
        if module.dotted(made.func) in ("re.compile", "regex.compile") and made.args:
            return code.text_of(home, made.args[0]), text, node
    return None, text, node


def compiled(code: Code, method: Method, node: ast.expr) -> Iterator[tuple[Module, ast.Call]]:
    """The call that made a pattern's object."""
    module = method.module
    if isinstance(node, ast.Call):
        yield module, node
    if isinstance(node, ast.Attribute):
        for home in code.modules:
            for each in home.nodes:
                match each:
                    case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as made) if (
                        name == node.attr
                    ):
                        yield home, made
                    case _:
                        pass
    if not isinstance(node, ast.Name):
        return
    made = module.constants.get(node.id)
    if isinstance(made, ast.Call):
        yield module, made
    for each in own_nodes(method):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as here) if (
                name == node.id
            ):
                yield module, here
            case _:
                pass
    dotted = module.imports.get(node.id, "")
    home_name, _, last = dotted.rpartition(".")
    for home in code.modules:
        if home.name == home_name and isinstance(home.constants.get(last), ast.Call):
            yield home, cast("ast.Call", home.constants[last])


def is_slow(pattern: str, *, whole: bool) -> bool:
    """Whether a repeat of repeats can read one text in many ways and fail behind it."""
    try:
        parsed = list(sre.parse(pattern))
    except (re.error, RecursionError, OverflowError):
        return False
    return slow_in(parsed, can_fail=whole)


def slow_in(items: list[Any], *, can_fail: bool) -> bool:
    for place, (op, given) in enumerate(items):
        fails = can_fail or any(needs_something(each) for each in items[place + 1 :])
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            _, most, body = given
            inner = list(body)
            if int(most) >= MANY and fails and is_ambiguous(inner):
                return True
            if slow_in(inner, can_fail=fails):
                return True
        elif name == "SUBPATTERN":
            if slow_in(list(given[-1]), can_fail=fails):
                return True
        elif name == "BRANCH":
            if any(slow_in(list(each), can_fail=fails) for each in given[1]):
                return True
    return False


def needs_something(item: Any) -> bool:
    """Whether what follows can refuse a text: an anchor, a sign, a repeat of one at least."""
    op, given = item
    name = str(op)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return int(given[0]) > 0 and any(needs_something(each) for each in given[2])
    if name == "SUBPATTERN":
        return any(needs_something(each) for each in given[-1])
    if name == "BRANCH":
        return all(any(needs_something(i) for i in each) for each in given[1])
    return name != "GROUPREF_EXISTS"


def is_ambiguous(body: list[Any]) -> bool:
    """Whether a run of one sign can be cut into rounds in many ways."""
    body = flat(body)
    for op, given in body:
        if str(op) == "BRANCH" and sum(not flat(list(each)) for each in given[1]) > 1:
            return True
    if len(body) == 1 and str(body[0][0]) == "BRANCH":
        ways = [flat(list(each)) for each in body[0][1][1]]
        single = [signs(way) for way in ways if len(way) == 1 and is_plain(way[0])]
        meet = any(single[i] & single[j] for i in range(len(single)) for j in range(i))
        return meet or any(is_ambiguous(way) for way in ways)
    return any(
        all(may_be_nothing(item) or (is_plain(item) and sign in signs([item])) for item in body)
        and any(is_endless(item) and is_plain(item) and sign in signs([item]) for item in body)
        for sign in SAMPLE
    )


def is_plain(item: Any) -> bool:
    """One sign, or a repeat of one."""
    op, given = item
    if str(op) in ("MAX_REPEAT", "MIN_REPEAT"):
        inner = flat(list(given[2]))
        return len(inner) == 1 and is_plain(inner[0])
    return str(op) in ("LITERAL", "NOT_LITERAL", "ANY", "IN")


def flat(body: list[Any]) -> list[Any]:
    result: list[Any] = []
    for op, given in body:
        if str(op) == "SUBPATTERN":
            result += flat(list(given[-1]))
        else:
            result.append((op, given))
    return result


def is_endless(item: Any) -> bool:
    op, given = item
    return str(op) in ("MAX_REPEAT", "MIN_REPEAT") and int(given[1]) >= MANY


def may_be_nothing(item: Any) -> bool:
    op, given = item
    if str(op) in ("MAX_REPEAT", "MIN_REPEAT"):
        return int(given[0]) == 0
    return str(op) in ("AT", "ASSERT_NOT")


SAMPLE = [chr(c) for c in (*range(9, 14), *range(32, 127), 0xE9, 0x4E00)]


def signs(items: list[Any]) -> set[str]:
    """The signs that it can begin with, among a sample of them; all when that is not known."""
    if not items:
        return set()
    op, given = items[0]
    name = str(op)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return signs(flat(list(given[2]))[:1])
    if name == "SUBPATTERN":
        return signs(flat(list(given[-1]))[:1])
    if name == "LITERAL":
        return {chr(given)}
    if name == "NOT_LITERAL":
        return set(SAMPLE) - {chr(given)}
    if name == "ANY":
        return set(SAMPLE) - {"\n"}
    if name == "IN":
        return of_class(given)
    if name == "BRANCH":
        return set().union(*(signs(flat(list(each))[:1]) for each in given[1]))
    return set(SAMPLE)


CATEGORIES = {
    "CATEGORY_DIGIT": str.isdigit,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda sign: sign.isalnum() or sign == "_",
}


def of_class(given: Any) -> set[str]:
    found: set[str] = set()
    negated = False
    for op, value in given:
        name = str(op)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            found.add(chr(value))
        elif name == "RANGE":
            found |= {s for s in SAMPLE if value[0] <= ord(s) <= value[1]}
        elif name == "CATEGORY":
            said = str(value)
            test = CATEGORIES.get(said.replace("_NOT_", "_"))
            if test is not None:
                inside = {s for s in SAMPLE if test(s)}
                found |= set(SAMPLE) - inside if "_NOT_" in said else inside
    return set(SAMPLE) - found if negated else found


def long_loops(flow: Flow, scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    """Loops and powers whose size is a number that the reply names."""
    module = scope.method.module
    for node in own_nodes(scope.method):
        sizes: list[ast.expr] = []
        match node:
            case ast.For(iter=ast.Call(func=ast.Name(id="range"), args=args)):
                sizes = args
            case ast.comprehension(iter=ast.Call(func=ast.Name(id="range"), args=args)):
                sizes = args
            case ast.Call(func=func, args=args) if module.dotted(func) in (
                "math.factorial",
                "math.comb",
                "math.perm",
            ):
                sizes = args
            case ast.While(test=ast.Compare(left=left, comparators=[right])):
                sizes = [right] if not isinstance(right, ast.Constant) else []
                sizes += [left] if shrinks_slowly(node, left) else []
            case _:
                continue
        named = [s for s in sizes if NUMBER in flow.labels(scope, s)]
        if named and not any(
            is_bounded(scope.method, name, node) for s in named for name in names(s)
        ):
            yield node, "runs as long as a number in the reply says"


def shrinks_slowly(node: ast.While, left: ast.expr) -> bool:
    """`n -= 1`: as many rounds as the number is large."""
    names_ = set(names(left))
    return any(
        isinstance(n, ast.AugAssign)
        and isinstance(n.op, ast.Sub)
        and isinstance(n.target, ast.Name)
        and n.target.id in names_
        and isinstance(n.value, ast.Constant)
        for n in ast.walk(node)
    )


def names(node: ast.AST) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]


def is_bounded(method: Method, name: str, loop: ast.AST) -> bool:
    """Whether the function looks at how large it is, before."""
    line: int = getattr(loop, "lineno", 10**9)
    for node in own_nodes(method):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
            if name in names(node) or any(
                isinstance(a, ast.Assign)
                and name in [t.id for t in a.targets if isinstance(t, ast.Name)]
                and a.value is node
                for a in own_nodes(method)
            ):
                return True
        if not isinstance(node, ast.Compare) or node.lineno > line:
            continue
        inside = node is getattr(loop, "test", None) or loop in ast.walk(node)
        if not inside and bounds(node, name):
            return True
    return False


def bounds(node: ast.Compare, name: str) -> bool:
    """`n > LIMIT`, `1 <= n <= 9`, `n == gold`, `n in allowed`; not `n < 2`, which bounds below."""
    sides = [node.left, *node.comparators]
    for left, op, right in zip(sides, node.ops, sides[1:], strict=False):
        here, there = is_name(left, name), is_name(right, name)
        small = (
            isinstance(right, ast.Constant) and isinstance(right.value, int) and right.value <= 3
        )
        if here and isinstance(op, ast.Gt | ast.GtE) and not small:
            return True
        if here and isinstance(op, ast.Lt | ast.LtE) and not small:
            return True
        if there and isinstance(op, ast.Lt | ast.LtE) and not isinstance(left, ast.BinOp):
            return len(node.ops) == 1 and not isinstance(left, ast.Constant)
        if (
            (here or there)
            and isinstance(op, ast.Eq | ast.NotEq | ast.In | ast.NotIn)
            and not small
        ):
            return True
    return False


def is_name(node: ast.AST, name: str) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="int" | "abs" | "float" | "len"), args=[inner]):
            return is_name(inner, name)
        case _:
            pass
    return isinstance(node, ast.Name) and node.id == name
