"""Whether a tool only reckons: what it answers follows from its arguments and nothing else.

Read from the source, on the safe side: whatever is not known to be without data of its own
(tables, files, fields of an object, the clock, dice, other programs) is taken to have some.
"""

import ast
import builtins
import re
from collections.abc import Iterator, Sequence

from envwright.finding import SourceCitation
from envwright.probe.code import Code, Method
from envwright.probe.source.scoring import own_nodes

PURE = {
    *("math", "cmath", "datetime", "calendar", "decimal", "fractions", "statistics", "operator"),
    *("re", "string", "json", "ast", "itertools", "functools", "collections", "typing", "textwrap"),
    *("unicodedata", "numbers", "abc", "dataclasses", "enum", "html", "difflib", "bisect", "heapq"),
}
REACHES_OUT = {
    *("open", "input", "eval", "exec", "compile", "globals", "locals", "vars", "getattr"),
    *("__import__", "hash", "id"),
}
CLOCK = {"now", "today", "utcnow", "time", "localtime", "gmtime"}
UNIT = re.compile(
    r"([kcmdµun]?m|mi|in|ft|yd|nmi|[kmµ]?g|t|lb|oz|st|[mcd]?l|gal|pt|qt|cup|tbsp|tsp|[cfk]|s|min|h|d"
    r"|hr|[kmg]?b|[kmgt]i?b|[km]?j|k?cal|k?wh|ha|acre|rad|deg|[kmh]?pa|bar|atm|psi|mph|kmh|km/h|m/s"
    r"|(kilo|centi|milli|deci|micro)?(met(er|re)|gram|lit(er|re))|mile|inch(es)?|foot|feet|yard"
    r"|pound|ounce|stone|ton(ne)?|gallon|pint|quart|celsius|fahrenheit|kelvin|second|minute|hour"
    r"|day|week|month|year)s?",
    re.I,
)
DEEPEST = 6


def only_reckon(code: Code, tools: Sequence[str]) -> bool:
    """Whether every tool was found in the source and has nothing but its arguments."""
    found = [tool_named(code, name) for name in tools]
    return bool(found) and all(each is not None and reckons(code, each) for each in found)


def tool_named(code: Code, name: str) -> Method | None:
    """The one function of that name; of a toolset its prefix is left away."""
    exact = [m for m in code.methods if m.node.name == name]
    ends = [m for m in code.methods if m.owner and name.endswith(f"_{m.node.name}")]
    found = exact or ends
    return found[0] if len(found) == 1 else None


def reckons(code: Code, method: Method, depth: int = 0) -> bool:
    if depth > DEEPEST:
        return False
    local = {*method.parameters, *assigned_in(method), "self", "cls"}
    for node in own_nodes(method):
        match node:
            case ast.Global() | ast.Nonlocal() | ast.Import() | ast.ImportFrom():
                return False
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr):
                own = code.method(method, attr)
                if own is None or not reckons(code, own, depth + 1):
                    return False
            case ast.Attribute(attr=attr) if attr in CLOCK:
                return False
            case ast.Name(id=name, ctx=ast.Load()) if name not in local:
                if not is_plain(code, method, name, depth):
                    return False
            case _:
                pass
    return True


def is_plain(code: Code, method: Method, name: str, depth: int) -> bool:
    """Whether a name that is not the function's own stands for no data."""
    module = method.module
    if name in module.constants:
        return holds_no_data(module.constants[name])
    if name in module.functions:
        return reckons(code, code.by_node[id(module.functions[name])], depth + 1)
    if name in module.imports:
        origin = module.imports[name]
        own = code.function(origin)
        if own is not None:
            return reckons(code, own, depth + 1)
        return origin.partition(".")[0] in PURE
    return hasattr(builtins, name) and name not in REACHES_OUT


def assigned_in(method: Method) -> Iterator[str]:
    for node in own_nodes(method):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case _:
                pass


def holds_no_data(node: ast.expr) -> bool:
    """Numbers, patterns, operators by their sign, units: nothing that had to be looked up."""
    match node:
        case ast.Constant() | ast.Name() | ast.Attribute() | ast.Lambda():
            return True
        case ast.UnaryOp() | ast.BinOp():
            return all(
                isinstance(n, ast.Constant | ast.operator | ast.unaryop | ast.UnaryOp | ast.BinOp)
                for n in ast.walk(node)
            )
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re"), attr="compile")):
            return True
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return all(is_sign(part) for part in parts)
        case ast.Dict(keys=keys, values=values):
            units = all(isinstance(k, ast.Constant) and UNIT.fullmatch(str(k.value)) for k in keys)
            return units or all(is_sign(value) for value in values)
        case _:
            return False


def is_sign(node: ast.expr) -> bool:
    """An operator or a function by its name, or a text of a letter or two."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and len(node.value) <= 2
    return isinstance(node, ast.Name | ast.Attribute | ast.Lambda)


COUNTS = re.compile(
    r"tool_?(call|rubric|use|result|message|role|arg)|tool$|calls?$|called|uses$|used$|turns?$"
    r"|steps?$|trajectory|nodes$|branches|messages$|responses$|^role$|^env_response$|^stateful",
    re.I,
)
"""Names under which code learns whether a tool was called."""


def ignored_tool(code: Code, tools: Sequence[str]) -> SourceCitation | None:
    """The first tool, if nothing besides the tools could ask what was called.

    On the safe side, too: a name that may be about calls is taken to be.
    """
    own = [method for name in tools if (method := tool_named(code, name)) is not None]
    inside = {id(n) for method in own for n in ast.walk(method.node)}
    nodes = (n for module in code.modules for n in module.nodes if id(n) not in inside)
    if not own or any(may_count(node, tools) for node in nodes):
        return None
    return own[0].module.cite(own[0].node)


def may_count(node: ast.AST, tools: Sequence[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len" | "enumerate"), args=[ast.Name(id="completion"), *_]):
            return True
        case ast.Name(id=said) | ast.Attribute(attr=said) | ast.arg(arg=said):
            pass
        case ast.FunctionDef(name=said) | ast.AsyncFunctionDef(name=said):
            pass
        case ast.Constant(value=str(said)):
            pass
        case _:
            return False
    return said not in tools and " " not in said and COUNTS.search(said) is not None
