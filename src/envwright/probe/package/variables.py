"""EW106: environment variables that the code reads and README does not name."""

import ast
import re
from collections.abc import Collection, Iterator

from envwright.finding import Severity
from envwright.probe.code import Code, Method, Module
from envwright.probe.found import Hit, Place, report
from envwright.probe.package.package import Package
from envwright.probe.rule import Check, Report, Rule

VARIABLE = Rule(
    id="EW106",
    name="undeclared-variable",
    defect="undeclared-variable",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="Reads of environment variables are looked for in the source.",
    hit="A variable decides something, and neither README nor the settings name it.",
    why="Two machines pay differently for the same reply, and nothing shows it.",
    exempt="Variables that README, pyproject.toml or the settings' secrets name; well-known "
    "ones; those that are only written; switches of logging.",
)
KNOWN = re.compile(
    r"HOME|PATH|PWD|USER|LOGNAME|SHELL|TMPDIR|TEMP|TMP|LANG|LC_\w+|TZ|TERM|CI|EDITOR|HOSTNAME"
    r"|PYTHON\w*|XDG_\w+|HF_\w+|HUGGINGFACE\w*|TRANSFORMERS_\w+|TOKENIZERS_PARALLELISM"
    r"|CUDA_VISIBLE_DEVICES|OMP_NUM_THREADS|VIRTUAL_ENV|NO_COLOR|COLUMNS|LINES|\w*_PROXY"
    r"|(OPENAI|ANTHROPIC|PRIME)_\w+|VF_\w+|VERIFIERS_\w+|(RANK|WORLD_SIZE|LOCAL_RANK)"
    r"|SYSTEMROOT|APPDATA",
    re.IGNORECASE,
)
TALK = re.compile(r"(^|_)(LOG|LOGGING|LOGLEVEL|DEBUG|VERBOSE|COLOR|TRACE|PROFILE)(_|$)", re.I)


def variable_reports(package: Package, place: Place, secrets: Collection[str]) -> list[Report]:
    """`secrets` are the names that the settings give to this environment."""
    hits = list(variable_hits(package, secrets))
    return [report(VARIABLE, hits, place, tried=len(package.code.modules), unit="modules")]


def variable_hits(package: Package, secrets: Collection[str]) -> Iterator[Hit]:
    said = package.readme + package.files.get(package.manifest, "")
    seen: set[str] = set()
    for module in package.code.modules:
        for node, name in reads_of(package.code, module):
            if name in seen or KNOWN.fullmatch(name) or name in secrets:
                continue
            if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said):
                continue
            seen.add(name)
            yield Hit(
                f"the variable {name} is read, and neither README nor the settings name it",
                [module.cite(node)],
                Severity.INFO if TALK.search(name) else None,
            )


def reads_of(code: Code, module: Module) -> Iterator[tuple[ast.AST, str]]:
    """Each read of a variable whose name is written down, there or where a helper is called."""
    for method, node in [*inside_of(code, module)]:
        name = name_read(module, node)
        text = code.text_of(module, name) if name is not None else None
        if text:
            yield node, text
        elif isinstance(name, ast.Name) and method is not None and name.id in method.parameters:
            yield from ((node, said) for said in handed(code, method, name.id))


def name_read(module: Module, node: ast.AST) -> ast.AST | None:
    match node:
        case ast.Subscript(value=value, slice=key, ctx=ast.Load()):
            return key if is_environ(module, value) else None
        case ast.Call(func=ast.Attribute(value=value, attr="get" | "pop"), args=[key, *_]):
            return key if is_environ(module, value) else None
        case ast.Call(func=func, args=[key, *_]):
            return key if module.dotted(func) == "os.getenv" else None
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
            return left if is_environ(module, right) else None
        case _:
            return None


def is_environ(module: Module, node: ast.AST) -> bool:
    """`os.environ`, also under a name of the module's own."""
    if isinstance(node, ast.Name) and node.id in module.constants:
        node = module.constants[node.id]
    return module.dotted(node) in ("os.environ", "os.environb")


def inside_of(code: Code, module: Module) -> Iterator[tuple[Method | None, ast.AST]]:
    """Each node with the innermost function that it stands in."""

    def visit(node: ast.AST, method: Method | None) -> Iterator[tuple[Method | None, ast.AST]]:
        for child in ast.iter_child_nodes(node):
            yield method, child
            yield from visit(child, code.by_node.get(id(child), method))

    return visit(module.tree, None)


def handed(code: Code, method: Method, parameter: str) -> Iterator[str]:
    """The texts that the package's calls of a function give to a parameter."""
    names = [n for n in method.parameters if n not in ("self", "cls")]
    place = names.index(parameter) if parameter in names else len(names)
    for module in code.modules:
        for node in module.nodes:
            if not isinstance(node, ast.Call):
                continue
            called = code.named(module, node.func)
            if called is None or called.node is not method.node:
                continue
            given = [k.value for k in node.keywords if k.arg == parameter]
            given += node.args[place : place + 1]
            yield from (said for each in given if (said := code.text_of(module, each)))
