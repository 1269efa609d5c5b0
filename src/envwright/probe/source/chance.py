"""EW505: a reward that throws dice, or looks at the clock or at the order of a set."""

import ast
from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Method
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.flow import CHANCE, Flow, Scope, is_chance
from envwright.probe.source.judge_prompt import asks
from envwright.probe.source.scoring import Role, Root, own_nodes

CHANCES = Rule(
    id="EW505",
    name="not-deterministic",
    defect="not-deterministic",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="Dice, the clock and the order of sets are followed to what a reward returns.",
    hit="The reward depends on them.",
    why="The same reply earns differently at another time: the model learns noise.",
    exempt="Seeded dice, names of temporary files, fences of judges, time limits.",
)


def chance_hits(flow: Flow, roots: list[Root]) -> Iterator[Hit]:
    """`flow` must have been run with `chances`."""
    paying = {id(r.method.node) for r in roots if r.role is Role.REWARD}
    if not paying:
        return
    seen: set[tuple[str, int]] = set()
    for scope in list(flow.scopes.values()):
        method = scope.method
        if asks(flow, method) or seeds(method):
            continue
        for node, what in [*dice(scope), *unordered(method)]:
            cited = method.module.cite(node)
            if (cited.path, cited.line) in seen or not decides(flow, scope, node, what):
                continue
            seen.add((cited.path, cited.line))
            yield Hit(f"{method.name} depends on {what}", [cited])


def dice(scope: Scope) -> Iterator[tuple[ast.AST, str]]:
    module = scope.method.module
    for node in own_nodes(scope.method):
        if isinstance(node, ast.Call) and is_chance(module, node):
            name = module.dotted(node.func) or ""
            if name == "builtins.hash" and is_numeric(node):
                continue
            if name in ("builtins.id", "os.getpid", "uuid.uuid1", "uuid.uuid4"):
                continue
            clock = name.startswith(("time.", "datetime."))
            what = "the hash of a text" if name == "builtins.hash" else "unseeded dice"
            yield node, "the clock" if clock else what


def is_numeric(node: ast.Call) -> bool:
    return bool(node.args) and isinstance(node.args[0], ast.Constant)


def seeds(method: Method) -> bool:
    """Whether it sets the seed before it throws."""
    calls = (n for n in own_nodes(method) if isinstance(n, ast.Call))
    named = {method.module.dotted(call.func) for call in calls if call.args}
    return bool(named & {"random.seed", "numpy.random.seed"})


def decides(flow: Flow, scope: Scope, node: ast.AST, what: str) -> bool:
    """Whether the value reaches what the function returns, or a condition of a return."""
    if what == "the order of a set":
        return True
    if CHANCE in scope.returns:
        return True
    ifs = [each for each in own_nodes(scope.method) if isinstance(each, ast.If)]
    leaving = [each for each in ifs if any(isinstance(n, ast.Return) for n in ast.walk(each))]
    if any(CHANCE in flow.labels(scope, each.test) for each in leaving):
        return True
    match node:
        case ast.Call(func=func, args=[ast.Name(), *_]):
            # It changes its argument in place, and returns nothing.
            return (scope.method.module.dotted(func) or "").endswith("shuffle")
        case _:
            return False


def unordered(method: Method) -> Iterator[tuple[ast.AST, str]]:
    """The "first" of a set of texts."""
    sets = set_names(method)
    measured = {
        n.args[0].id
        for n in own_nodes(method)
        if isinstance(n, ast.Call)
        and isinstance(n.func, ast.Name)
        and n.func.id == "len"
        and n.args
        and isinstance(n.args[0], ast.Name)
    }
    for node in own_nodes(method):
        match node:
            case ast.Call(
                func=ast.Name(id="next"), args=[ast.Call(func=ast.Name(id="iter"), args=[of]), *_]
            ):
                pass
            case ast.Call(func=ast.Attribute(value=of, attr="pop"), args=[]):
                pass
            case ast.Subscript(
                value=ast.Call(func=ast.Name(id="list" | "tuple"), args=[of]),
                slice=ast.Constant() | ast.Slice() | ast.UnaryOp(),
            ):
                pass
            case _:
                continue
        name = of.id if isinstance(of, ast.Name) else None
        if (name in sets and name not in measured) or is_set(of):
            yield node, "the order of a set"


def set_names(method: Method) -> set[str]:
    kinds: dict[str, list[bool]] = {}
    for node in own_nodes(method):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                kinds.setdefault(name, []).append(is_set(value))
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                kinds.setdefault(name, []).append(is_set(value))
            case _:
                pass
    return {name for name, each in kinds.items() if all(each)}


def is_set(node: ast.AST) -> bool:
    match node:
        case ast.Set() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id="set" | "frozenset"), args=[_, *_]):
            return True
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.Sub() | ast.BitOr(), right=right):
            return is_set(left) and is_set(right)
        case _:
            return False
