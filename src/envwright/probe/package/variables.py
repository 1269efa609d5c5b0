"""EW106: environment variables that the code reads and README does not name."""

import ast
import re
from collections.abc import Collection, Iterator

from envwright.finding import Severity
from envwright.probe.code import Code, Module
from envwright.probe.found import Hit, report
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


def variable_reports(package: Package, address: str, secrets: Collection[str]) -> list[Report]:
    """`secrets` are the names that the settings give to this environment."""
    hits = list(variable_hits(package, secrets))
    return [report(VARIABLE, hits, address, tried=len(package.code.modules), unit="modules")]


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
    """Each read of a variable whose name is written down."""
    for node in module.nodes:
        name: ast.AST | None = None
        match node:
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()):
                name = key if module.dotted(value) == "os.environ" else None
            case ast.Call(func=func, args=[key, *_]):
                called = module.dotted(func)
                reads = ("os.getenv", "os.environ.get", "os.environ.pop", "os.environb.get")
                name = key if called in reads else None
            case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[right]):
                name = left if module.dotted(right) == "os.environ" else None
            case _:
                pass
        text = code.text_of(module, name) if name is not None else None
        if text:
            yield node, text
