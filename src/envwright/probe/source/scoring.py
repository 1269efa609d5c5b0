"""Which functions of a package score: rewards, metrics, judges, and all that they call."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from envwright.probe.code import Code, Method, Module

MARKS = {"reward", "metric", "group_reward", "group_metric"}
ADDERS = {"add_reward_func", "add_metric", "add_reward_funcs"}
REPLIES = {"completion", "completions", "reply", "response", "prediction", "output", "generation"}


class Role(StrEnum):
    REWARD = "reward"
    METRIC = "metric"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class Root:
    """A function that the framework calls to score."""

    method: Method
    role: Role


def roots_of(code: Code) -> list[Root]:
    listed = set(listed_names(code))
    found: list[Root] = []
    for method in code.methods:
        name = method.node.name
        marks = {mark_of(method.module, d) for d in method.node.decorator_list} & MARKS
        if marks:
            metric = all("metric" in mark for mark in marks if mark)
            found.append(Root(method, Role.METRIC if metric else Role.REWARD))
        elif code.is_a(method, "Judge") and name in ("parse", "score", "build_messages"):
            found.append(Root(method, Role.JUDGE))
        elif name in listed or "completion" in method.parameters:
            found.append(Root(method, Role.REWARD))
    return found


def mark_of(module: Module, node: ast.expr) -> str | None:
    bare = node.func if isinstance(node, ast.Call) else node
    match bare:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return (module.dotted(bare) or name).rpartition(".")[2]
        case _:
            return None


def listed_names(code: Code) -> Iterator[str]:
    """Functions that are handed to a rubric by name."""
    for module in code.modules:
        for node in module.nodes:
            if not isinstance(node, ast.Call):
                continue
            match node.func:
                case ast.Attribute(attr=called) | ast.Name(id=called):
                    pass
                case _:
                    continue
            if called in ADDERS or called.endswith("Rubric"):
                handed = [*node.args, *(k.value for k in node.keywords if k.arg in RUBRIC_ARGS)]
                for each in handed:
                    yield from names_in(module, each)


RUBRIC_ARGS = ("funcs", "reward_funcs", "func", "metrics")


def names_in(module: Module, node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Name) and node.id not in module.functions:
        assigned = [
            each.value
            for each in module.nodes
            if isinstance(each, ast.Assign)
            and any(isinstance(t, ast.Name) and t.id == node.id for t in each.targets)
        ]
        for value in assigned:
            if not isinstance(value, ast.Name):
                yield from names_in(module, value)
        return
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case _:
                pass


def reached_from(code: Code, roots: list[Root]) -> list[Method]:
    """The roots, and every function of the package that they call by name."""
    waiting = [root.method for root in roots]
    seen: dict[int, Method] = {}
    while waiting:
        method = waiting.pop()
        if id(method.node) in seen:
            continue
        seen[id(method.node)] = method
        for node in own_nodes(method):
            if isinstance(node, ast.Call):
                called = [
                    code.called(method, node),
                    *(code.named(method.module, a) for a in node.args),
                ]
                waiting += [each for each in called if each is not None]
    return list(seen.values())


def own_nodes(method: Method) -> Iterator[ast.AST]:
    """What stands in a function, without the functions inside of it."""
    waiting: list[ast.AST] = list(method.node.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            waiting += list(ast.iter_child_nodes(node))
