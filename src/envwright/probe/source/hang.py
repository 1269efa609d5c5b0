"""EW507: scoring that a reply can make endless.

Patterns are parsed, never run. A repeat of repeats is reported only where two ways to read
the same text are certain and something behind it can fail; what merely looks odd is not.
"""

import ast
from collections.abc import Iterable, Iterator

from envwright.finding import Severity
from envwright.probe.code import Code, Method, Module
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.flow import NUMBER, REPLY, TRACE, Flow, Scope
from envwright.probe.source.pattern import is_slow
from envwright.probe.source.scoring import own_nodes

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
    match node:
        case ast.Call():
            yield module, node
        case ast.Attribute(attr=name):
            for home in code.modules:
                yield from ((home, made) for made in made_in(home.nodes, name))
        case ast.Name(id=name):
            yield from ((module, made) for made in made_in(module.tree.body, name))
            yield from ((module, made) for made in made_in(own_nodes(method), name))
            home_name, _, last = module.imports.get(name, "").rpartition(".")
            for home in code.modules:
                if home.name == home_name:
                    yield from ((home, made) for made in made_in(home.tree.body, last))
        case _:
            pass


def made_in(nodes: Iterable[ast.AST], name: str) -> Iterator[ast.Call]:
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=said)], value=ast.Call() as made) if said == name:
                yield made
            case _:
                pass


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
        match node:
            case ast.Assign(targets=[ast.Name(id=said)], value=ast.Call(func=ast.Name(id="min"))):
                bounded = said == name
            case ast.Call(func=ast.Name(id="min")):
                bounded = name in names(node)
            case ast.Compare() if node.lineno <= line:
                itself = node is getattr(loop, "test", None) or loop in ast.walk(node)
                bounded = not itself and bounds(node, name)
            case _:
                continue
        if bounded:
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
