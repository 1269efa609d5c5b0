"""EW506: a reward that keeps what it saw, or changes the task's own gold."""

import ast
from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Code, Method, Module
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.scoring import own_nodes

REMEMBERS = Rule(
    id="EW506",
    name="remembers",
    defect="remembers",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="What the scoring functions write outside of themselves is compared with what "
    "decides their result.",
    hit="A collection or a counter that outlives the score decides it, or the gold is changed.",
    why="The model is paid by the order of the batch.",
    exempt="Caches under a key that names the task where its gold matters, counters that nothing "
    "reads, the state of the rollout.",
)
WRITES = {
    *("add", "append", "extend", "update", "insert", "appendleft", "setdefault", "remove"),
    *("pop", "clear", "popitem", "popleft", "discard"),
}
TAKES = {"remove", "pop", "clear", "popitem", "discard", "append", "extend", "insert", "reverse"}
GOLDS = {"answer", "info", "answers", "expected", "target", "gold", "solution"}


def memory_hits(code: Code, methods: list[Method]) -> Iterator[Hit]:
    shared = {id(m): shared_names(m) for m in code.modules}
    for method in methods:
        yield from kept_hits(method, shared[id(method.module)])
        yield from gold_hits(method)


def shared_names(module: Module) -> set[str]:
    """Names of the module whose value can be changed in place, or that are counted up."""
    names: set[str] = set()
    for name, value in module.constants.items():
        made = value.func if isinstance(value, ast.Call) else value
        said = module.dotted(made) or "" if isinstance(value, ast.Call) else ""
        if isinstance(
            value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp
        ) or said.rpartition(".")[2] in ("list", "dict", "set", "defaultdict", "Counter", "deque"):
            names.add(name)
    for node in module.nodes:
        if isinstance(node, ast.Global):
            names.update(node.names)
    return names


def kept_hits(method: Method, shared: set[str]) -> Iterator[Hit]:
    """Written and read by the same function, and the reading decides."""
    local = {
        n.id for n in own_nodes(method) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    globals_ = {n for g in own_nodes(method) if isinstance(g, ast.Global) for n in g.names}
    outside = (shared - local) | (shared & globals_) | mutable_defaults(method)
    others = aliases(method, outside)
    for said, node in writes(method, outside | others.keys(), globals_):
        name = others.get(said, said)
        if is_cache(method, name) or not read_to_decide(method, name):
            continue
        yield Hit(
            f"{method.name} writes to {name}, which outlives the score, and reads it to decide",
            [method.module.cite(node)],
        )
        return


def mutable_defaults(method: Method) -> set[str]:
    """`seen=[]`: made once, and the same for every call."""
    args = method.node.args
    placed = [*args.posonlyargs, *args.args]
    pairs = [*zip(placed[len(placed) - len(args.defaults) :], args.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d]
    made = ast.List | ast.Dict | ast.Set | ast.Call
    return {a.arg for a, default in pairs if isinstance(default, made)}


def writes(method: Method, outside: set[str], rebound: set[str]) -> Iterator[tuple[str, ast.AST]]:
    """What is changed in place; a plain name only where it is declared global."""
    for node in own_nodes(method):
        match node:
            case ast.Call(func=ast.Attribute(value=target, attr=attr)) if attr in WRITES:
                name = root_name(target)
            case ast.Assign(targets=[ast.Subscript(value=target)]):
                name = root_name(target)
            case ast.AugAssign(target=ast.Subscript(value=target)):
                name = root_name(target)
            case ast.AugAssign(target=ast.Attribute() as target):
                name = root_name(target)
            case ast.AugAssign(target=ast.Name(id=name)) if name in rebound:
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) if name in rebound:
                pass
            case _:
                continue
        own = ("self.data", "self.config", "self.state")
        if name and (name in outside or name.startswith("self.")) and not name.startswith(own):
            yield name, node


def aliases(method: Method, outside: set[str]) -> dict[str, str]:
    """Names that stand for a part of something outside: `seen = SEEN[key]`."""
    found: dict[str, str] = {}
    for target, value in assignments(method):
        inner = value
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="setdefault" | "get")):
                pass
            case ast.Subscript() | ast.Attribute():
                pass
            case _:
                continue
        name = root_name(inner)
        if name is not None and name in outside:
            found[target] = name
    return found


def assignments(method: Method) -> Iterator[tuple[str, ast.expr]]:
    """Each name with what it is given; pairs of tuples too."""
    for node in own_nodes(method):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = zip(names, values, strict=False)
            case ast.Assign(targets=[target], value=value):
                pairs = [(target, value)]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pairs = [(target, value)]
            case ast.NamedExpr(target=target, value=value):
                pairs = [(target, value)]
            case _:
                continue
        yield from ((t.id, v) for t, v in pairs if isinstance(t, ast.Name))


def root_name(node: ast.AST) -> str | None:
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = root_name(node.value)
        if base in ("self", "cls"):
            return f"self.{node.attr}"
        return base
    return None


def mentions(node: ast.AST, name: str) -> bool:
    return any(
        root_name(each) == name
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    )


def is_cache(method: Method, name: str) -> bool:
    """It keeps a result under a key, and gives back what it kept under that key."""
    stores = [
        n
        for n in own_nodes(method)
        if isinstance(n, ast.Assign)
        and any(isinstance(t, ast.Subscript) and root_name(t) == name for t in n.targets)
    ]
    gives = [
        n
        for n in own_nodes(method)
        if (isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load) and root_name(n) == name)
        or (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr == "get"
            and root_name(n.func.value) == name
        )
    ]
    counts = any(
        isinstance(n, ast.AugAssign) and root_name(n.target) == name for n in own_nodes(method)
    )
    counted = any(isinstance(s.value, ast.BinOp) and mentions(s.value, name) for s in stores)
    if any(forgets_the_task(method, store) for store in stores):
        return False
    return bool(stores) and bool(gives) and not counts and not counted


def forgets_the_task(method: Method, store: ast.Assign) -> bool:
    """Whether what is kept depends on the task's gold and the key that it is kept under does not:
    then another task is given this one's."""
    keys = [target.slice for target in store.targets if isinstance(target, ast.Subscript)]
    return knows_task(method, store.value) and not any(knows_task(method, key) for key in keys)


def knows_task(method: Method, node: ast.AST, depth: int = 0) -> bool:
    given = {*GOLDS, "task", "state", "prompt", "example_id"} & {*method.parameters}
    for each in ast.walk(node):
        match each:
            case ast.Attribute(value=ast.Name(id="self" | "task"), attr="data"):
                return True
            case ast.Name(id=name) if name in given:
                return True
            case ast.Name(id=name) if depth < 3:
                made = (value for said, value in assignments(method) if said == name)
                if any(knows_task(method, value, depth + 1) for value in made):
                    return True
            case _:
                pass
    return False


def read_to_decide(method: Method, name: str) -> bool:
    """Whether a condition, or what is returned, mentions it: itself or by another name."""
    names = {name, *(other for other, value in assignments(method) if mentions(value, name))}
    for node in own_nodes(method):
        match node:
            case ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test):
                if any(mentions(test, each) for each in names):
                    return True
            case ast.Return(value=ast.expr() as value) if any(
                mentions(value, each) for each in names
            ):
                return True
            case _:
                pass
    return False


def gold_hits(method: Method) -> Iterator[Hit]:
    """The gold as the task holds it, changed in place."""
    copies = {
        name
        for n in own_nodes(method)
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
        and not isinstance(n.value, ast.Attribute | ast.Name | ast.Subscript)
        for name in [t.id]
    }
    alias = {
        t.id: n.value
        for n in own_nodes(method)
        if isinstance(n, ast.Assign) and isinstance(n.value, ast.Attribute | ast.Subscript)
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    for node in own_nodes(method):
        match node:
            case ast.Call(func=ast.Attribute(value=target, attr=attr)) if attr in TAKES:
                pass
            case ast.Delete(targets=[ast.Subscript(value=target)]):
                pass
            case _:
                continue
        if isinstance(target, ast.Name):
            if target.id in copies:
                continue
            target = alias.get(target.id, target)
        if is_gold(method, target):
            yield Hit(
                f"{method.name} changes the task's own {ast.unparse(target)} in place",
                [method.module.cite(node)],
            )
            return


def is_gold(method: Method, node: ast.AST) -> bool:
    said = ast.unparse(node)
    if said.startswith(("self.data.", "task.data.", "trace.task.data.")):
        return True
    root = root_name(node)
    return root in GOLDS and root in method.parameters
