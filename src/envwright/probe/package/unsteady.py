"""What makes loads differ that two loads on one machine and one day do not show.

The order of a folder, and dice that are seeded with the day or the process. Read from the
functions that loading goes through; what is sorted afterwards, or only looked up by its
name, is left alone.
"""

import ast
from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Code, Method, Module
from envwright.probe.found import Hit
from envwright.probe.source.scoring import own_nodes

LOADERS = {"load", "load_environment", "load_tasks", "load_dataset", "get_dataset", "build_dataset"}
LISTINGS = {"os.listdir", "os.scandir", "glob.glob", "glob.iglob"}
LISTED = {"glob", "rglob", "iterdir"}
SEEDED = {"random.Random", "random.seed", "numpy.random.default_rng", "numpy.random.seed"}
CLOCK = {
    *("datetime.date.today", "datetime.datetime.now", "datetime.datetime.today", "os.getpid"),
    *("datetime.datetime.utcnow", "time.time", "time.time_ns", "socket.gethostname", "os.uname"),
    *("platform.node", "uuid.getnode", "time.localtime", "time.gmtime", "time.strftime"),
}


def unsteady_source(code: Code) -> Iterator[Hit]:
    for method in loading(code):
        nodes = [*own_nodes(method)]
        for node in nodes:
            if isinstance(node, ast.Call) and is_seeded_by_chance(method.module, node):
                said = "its dice are seeded with the clock or the process"
                yield Hit(said, [method.module.cite(node)], Severity.WARN)
        if any(sorts(node) for node in nodes):
            continue
        for place in filter(None, map(kept_in_order, nodes)):
            if lists_folder(method.module, place):
                said = "its tasks come in the order in which a folder happens to be listed"
                yield Hit(said, [method.module.cite(place)], Severity.WARN)


def loading(code: Code) -> list[Method]:
    """The functions that loading begins with, and those of the package that they call."""
    waiting = [m for m in code.methods if m.node.name in LOADERS]
    seen: dict[int, Method] = {}
    while waiting:
        method = waiting.pop()
        if id(method.node) in seen:
            continue
        seen[id(method.node)] = method
        calls = (node for node in own_nodes(method) if isinstance(node, ast.Call))
        waiting += [own for call in calls if (own := code.called(method, call)) is not None]
    return list(seen.values())


def is_seeded_by_chance(module: Module, call: ast.Call) -> bool:
    if module.dotted(call.func) not in SEEDED:
        return False
    inside = (n for arg in call.args for n in ast.walk(arg) if isinstance(n, ast.Call))
    return any(module.dotted(each.func) in CLOCK for each in inside)


def kept_in_order(node: ast.AST) -> ast.expr | None:
    """What is gone through one by one to make a list, or to yield."""
    match node:
        case ast.ListComp(generators=[first, *_]):
            return first.iter
        case ast.For(iter=source, body=body):
            inner = [n for statement in body for n in ast.walk(statement)]
            keeps = any(isinstance(n, ast.Yield | ast.YieldFrom) or appends(n) for n in inner)
            return source if keeps else None
        case ast.Call(func=ast.Name(id="list"), args=[source]):
            return source
        case _:
            return None


def appends(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="append" | "extend")):
            return True
        case _:
            return False


def lists_folder(module: Module, node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="enumerate" | "list"), args=[inner, *_]):
            return lists_folder(module, inner)
        case ast.Call(func=ast.Attribute(attr=attr) as func):
            return attr in LISTED or module.dotted(func) in LISTINGS
        case ast.Call(func=func):
            return module.dotted(func) in LISTINGS
        case _:
            return False


def sorts(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="sorted") | ast.Attribute(attr="sort" | "shuffle")):
            return True
        case _:
            return False
