"""EW508: the gold is put where the agent works; EW509: a reward that nothing runs."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Code, Function, Method
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.scoring import MARKS, REPLIES, mark_of, own_nodes

IN_VIEW = Rule(
    id="EW508",
    name="answer-in-view",
    defect="answer-in-view",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="What an environment's setup writes into the agent's workspace is read.",
    hit="The gold is written there before the agent begins.",
    why="The model learns where the key lies.",
    exempt="What is written when the agent is done: tests that are brought along for scoring.",
)
NEVER = Rule(
    id="EW509",
    name="never-scored",
    defect="never-scored",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="Functions that look like rewards are looked for among those that are registered.",
    hit="One takes a reply, returns a number, is described as a score, and nothing names it; or "
    "another of the same name stands in its place.",
    why="The author believes in a number that is not there.",
    exempt="Helpers that something calls, hooks, and what nothing describes as a reward.",
)
SETUPS = {"setup", "setup_state", "reset", "prepare", "on_start", "start", "init_state"}
WRITERS = {"write", "write_text", "write_bytes", "upload", "put", "write_file", "writelines"}
GOLDS = {"answer", "solution", "expected", "gold", "ground_truth", "target", "label", "answers"}
SCORES = re.compile(
    r"\b(rewards?|scores?|bonus|penalty|points?|pays?|paid|earns?|credit|grades?|marks?"
    r"|\d(\.\d+)? (if|when|for)|full marks)\b",
    re.I,
)
HOOKS = {
    *("score", "parse", "evaluate", "validate", "setup", "finalize", "env_response"),
    *("is_completed", "build_messages", "load_environment", "stop", "respond", "run", "launch"),
}


def view_hits(code: Code) -> Iterator[Hit]:
    for method in code.methods:
        if method.node.name not in SETUPS:
            continue
        golds = gold_names(method)
        for node in own_nodes(method):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr not in WRITERS or is_talk(node.func.value):
                continue
            handed = [*node.args, *(k.value for k in node.keywords)]
            told = [a for a in handed if tells_gold(a, golds)]
            if told:
                yield Hit(
                    f"{method.name} writes {ast.unparse(told[0])[:60]} to where the agent works",
                    [method.module.cite(node)],
                )


def is_talk(node: ast.expr) -> bool:
    return ast.unparse(node).startswith(("sys.", "log", "trace", "self.trace"))


def gold_names(method: Method) -> set[str]:
    """Names that were given the gold."""
    names: set[str] = set()
    for _ in range(2):
        for node in own_nodes(method):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if tells_gold(
                    value, names
                ):
                    names.add(name)
                case _:
                    pass
    return names


def tells_gold(node: ast.AST, names: set[str]) -> bool:
    for each in ast.walk(node):
        match each:
            case ast.Name(id=name) if name in names:
                return True
            case ast.Attribute(value=value, attr=attr) if attr in GOLDS:
                if ast.unparse(value).split(".")[-1] in ("data", "task", "row", "info"):
                    return True
            case ast.Subscript(value=value, slice=ast.Constant(value=str(key))) if key in GOLDS:
                if ast.unparse(value).split(".")[-1] in ("state", "row", "info", "task", "data"):
                    return True
            case ast.Call(func=ast.Attribute(value=value, attr="model_dump" | "model_dump_json")):
                if ast.unparse(value).endswith("data") and not leaves_out(each):
                    return True
            case _:
                pass
    return False


def leaves_out(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and any(
        k.arg in ("exclude", "include") for k in call.keywords
    )


def never_hits(code: Code, readme: str) -> Iterator[Hit]:
    used = names_mentioned(code)
    for method in code.methods:
        name = method.node.name
        if not looks_like_reward(code, method) or is_marked(method) or used[name] or name in HOOKS:
            continue
        if is_described(method, readme):
            yield Hit(
                f"{method.name} looks like a reward, and nothing registers or calls it",
                [method.module.cite(method.node)],
            )
    yield from shadowed_hits(code)
    yield from overridden_hits(code)


def looks_like_reward(code: Code, method: Method) -> bool:
    parameters = set(method.parameters)
    says_reply = bool(parameters & {*REPLIES, "trace"}) and not name_is_private(method)
    if not says_reply:
        return False
    in_task = method.owner is None or code.is_a(method, "Task") or code.is_a(method, "Rubric")
    return in_task and returns_number(method.node)


def name_is_private(method: Method) -> bool:
    return method.node.name.startswith("__")


def returns_number(node: Function) -> bool:
    said = node.returns
    if said is not None:
        return isinstance(said, ast.Name) and said.id in ("float", "int")
    returned = [n.value for n in ast.walk(node) if isinstance(n, ast.Return)]
    return bool(returned) and all(is_numeric(value) for value in returned)


def is_numeric(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value=value):
            return isinstance(value, int | float)
        case ast.Call(func=ast.Name(id="float" | "int" | "min" | "max" | "round")):
            return True
        case ast.IfExp(body=body, orelse=orelse):
            return is_numeric(body) and is_numeric(orelse)
        case ast.BinOp():
            return True
        case _:
            return False


def is_marked(method: Method) -> bool:
    return bool(method.node.decorator_list)


def is_described(method: Method, readme: str) -> bool:
    said = ast.get_docstring(method.node) or ""
    name = method.node.name
    spoken = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", readme) is not None
    return spoken or bool(SCORES.search(said)) or bool(SCORES.search(name.replace("_", " ")))


def names_mentioned(code: Code) -> Counter[str]:
    """How often each name is spoken of, other than where it is defined or exported."""
    counts: Counter[str] = Counter()
    idle = {id(node) for method in code.methods for node in idle_nodes(method)}
    for module in code.modules:
        for node in module.nodes:
            match node:
                case ast.Name() | ast.Attribute() if id(node) in idle:
                    pass
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    counts[name] += 1
                case ast.Call(func=func, args=args):
                    # `getattr(self, "name")`
                    if (module.dotted(func) or "").endswith("getattr"):
                        texts = [a.value for a in args if isinstance(a, ast.Constant)]
                        counts.update(t for t in texts if isinstance(t, str))
                case _:
                    pass
    return counts


def idle_nodes(method: Method) -> Iterator[ast.AST]:
    """What stands in a rubric that is made and given to nobody."""
    nodes = [*own_nodes(method)]
    read = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=func) as made):
                if name not in read and ast.unparse(func).endswith("Rubric"):
                    yield from ast.walk(made)
            case _:
                pass


def overridden_hits(code: Code) -> Iterator[Hit]:
    """A reward of a base whose name is used again without the mark that makes it one."""
    for method in code.methods:
        if method.owner is None or method.node.decorator_list or not returns_number(method.node):
            continue
        bases = {name.rpartition(".")[2] for name in code.bases(method.module, method.owner)}
        for module, base in (each for name in bases for each in code.classes_named(name)):
            for node in base.body:
                if not isinstance(node, Function) or node.name != method.node.name:
                    continue
                if {mark_of(module, d) for d in node.decorator_list} & MARKS:
                    yield Hit(
                        f"{method.name} takes the place of a reward of {base.name} and is none "
                        "itself: neither runs",
                        [method.module.cite(method.node)],
                    )


def shadowed_hits(code: Code) -> Iterator[Hit]:
    """Two rewards of one name in one place: the second is the only one."""
    for module in code.modules:
        for place in [module.tree, *module.classes.values()]:
            first: dict[str, Function] = {}
            for node in place.body:
                if not isinstance(node, Function):
                    continue
                marks = {mark_of(module, d) for d in node.decorator_list} & MARKS
                earlier = first.get(node.name)
                if earlier is not None and marks:
                    yield Hit(
                        f"{node.name} is defined twice, and the first one never runs",
                        [module.cite(earlier), module.cite(node)],
                    )
                if marks:
                    first[node.name] = node
