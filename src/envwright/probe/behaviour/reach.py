"""What a reward's own code can see and look for, as far as its source shows.

Read as data: nothing of it is run. Where a name is reached in a way that is not followed, the
answer is the careful one.
"""

import ast
from collections.abc import Iterator

from envwright.probe.code import Code, Method
from envwright.probe.source.match import matched_by

OF_THE_TASK = frozenset(("self", "cls", "answer", "info", "task", "prompt", "question", "parser"))
"""Parameters that no turn and no tool changes."""
READS_THE_LAST = frozenset(("parse_answer", "parse"))
PROGRAMS = frozenset(("subprocess", "multiprocessing", "pexpect", "docker"))
"""Modules that start them."""
STARTS = {
    "os": frozenset(("system", "popen", "fork")),
    "asyncio": frozenset(("create_subprocess_exec", "create_subprocess_shell")),
}
MOST_TEXTS = 40
LONGEST = 200


def reads_the_reply_alone(code: Code, name: str) -> bool:
    """Whether a reward sees the last reply and its task, and nothing that happened before it."""
    found = [method for method in code.methods if method.node.name == name]
    return len(found) == 1 and sees_no_turns(code, found[0], None, 0)


def sees_no_turns(code: Code, method: Method, watched: set[str] | None, depth: int) -> bool:
    """`watched` are the parameters that hold the episode; at first all but the task's."""
    args = method.node.args
    if depth > 3 or (watched is None and args.vararg is not None):
        return False
    names = {*method.parameters} - OF_THE_TASK if watched is None else watched
    if args.kwarg is not None:
        names |= {args.kwarg.arg}
    parents = {id(c): node for node in ast.walk(method.node) for c in ast.iter_child_nodes(node)}
    return all(
        is_last_reply(code, method, node, parents, depth)
        for node in ast.walk(method.node)
        if isinstance(node, ast.Name) and node.id in names
    )


def is_last_reply(
    code: Code, method: Method, node: ast.Name, parents: dict[int, ast.AST], depth: int
) -> bool:
    """Whether the episode is only looked at for its last reply here."""
    match parents.get(id(node)):
        case ast.Attribute(attr="last_reply"):
            return True
        case ast.Subscript(slice=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1))):
            return True
        case ast.If() | ast.IfExp() | ast.BoolOp():
            return True
        case ast.Call(func=ast.Name(id="isinstance")):
            return True
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in READS_THE_LAST:
            return True
        case ast.Call() as call if node in call.args:
            helper = code.called(method, call)
            if helper is None or helper.node is method.node:
                return False
            taken = [name for name in helper.parameters if name not in ("self", "cls")]
            at = call.args.index(node)
            return at < len(taken) and sees_no_turns(code, helper, {taken[at]}, depth + 1)
        case _:
            return False


def starts_programs(code: Code) -> bool:
    """Whether any of it does, so that its time is also theirs."""
    return any(starts(node) for module in code.modules for node in ast.walk(module.tree))


def starts(node: ast.AST) -> bool:
    match node:
        case ast.Import(names=names):
            return any(each.name.partition(".")[0] in PROGRAMS for each in names)
        case ast.ImportFrom(module=str(module), level=0):
            return module.partition(".")[0] in PROGRAMS
        case ast.Attribute(attr=attr, value=ast.Name(id=name)):
            return attr in STARTS.get(name, ())
        case _:
            return False


def looked_for(code: Code, name: str) -> list[str]:
    """Texts that a reward's own code speaks of, its expressions as a text that they match."""
    texts: dict[str, None] = {}
    for method in (each for each in code.methods if each.node.name == name):
        for text in texts_of(code, method, 0):
            texts.setdefault(matched_by(text)[:LONGEST])
    return [text for text in texts if text.strip()][:MOST_TEXTS]


def texts_of(code: Code, method: Method, depth: int) -> Iterator[str]:
    module = method.module
    for node in (each for part in method.node.body for each in ast.walk(part)):
        named = module.constants.get(node.id) if isinstance(node, ast.Name) else None
        for each in ast.walk(named) if named is not None else (node,):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                yield each.value
        if isinstance(node, ast.Call) and depth < 2:
            helper = code.called(method, node)
            if helper is not None and helper.node is not method.node:
                yield from texts_of(code, helper, depth + 1)
