"""EW103, EW104: what the code imports against what the package declares."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from envwright.finding import Severity, SourceCitation
from envwright.probe.code import Code, Module
from envwright.probe.found import Hit, Place, report
from envwright.probe.package.metadata import cite_project
from envwright.probe.package.package import Installed, Package
from envwright.probe.rule import Check, Report, Rule
from envwright.record import items, mapping

UNDECLARED = Rule(
    id="EW103",
    name="undeclared-dependency",
    defect="undeclared-dependency",
    check=Check.INTEGRITY,
    severity=Severity.FAIL,
    tries="Every import of the package is compared with its declared dependencies.",
    hit="A module is imported that no declared dependency brings, or only by chance.",
    why="It works on the author's machine and nowhere else, or until a dependency drops it.",
    exempt="The standard library, the package itself, imports under a guard with a fallback, "
    "type checking, and what the interface of verifiers itself is written in; what a declared "
    "package requires itself is told and no more.",
)
UNUSED = Rule(
    id="EW104",
    name="unused-dependency",
    defect="unused-dependency",
    check=Check.INTEGRITY,
    severity=Severity.INFO,
    tries="Every declared dependency is looked for among the imports.",
    hit="A dependency is declared and nothing of it is imported.",
    why="Every venv pays for it.",
    exempt="A package may be needed without being imported: a plugin, a program.",
)
SPOKEN = {"pydantic", "pydantic-core", "openai", "datasets", "typing-extensions", "verifiers"}
"""Whoever depends on verifiers has them for certain: its interface is made of their types."""
ALIASES = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "jwt": "pyjwt",
    "Levenshtein": "levenshtein",
    "PIL": "pillow",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
"""Modules whose distribution has another name, for where nothing is installed to look at."""


@dataclass(frozen=True, slots=True)
class Import:
    module: str
    """The top-level one."""
    home: Module
    node: ast.AST
    guarded: bool
    """Under `try` with a fallback, or for type checking alone."""


def dependency_reports(package: Package, installed: Installed | None, place: Place) -> list[Report]:
    """`installed` is what the environment's venv holds; None when there is none to look into."""
    found = list(imports_of(package.code))
    counts = len({each.module for each in found})
    undeclared = list(undeclared_hits(package, found, installed))
    return [
        report(UNDECLARED, undeclared, place, tried=counts, unit="imported modules"),
        report(
            UNUSED,
            unused_hits(package, found, installed),
            place,
            tried=len(package.declared),
            unit="dependencies",
        ),
    ]


def undeclared_hits(
    package: Package, found: list[Import], installed: Installed | None
) -> Iterator[Hit]:
    optional = mapping(package.project.get("optional-dependencies"))
    named = {word_of(str(d)) for group in optional.values() for d in items(group)}
    declared = package.declared | named
    own = own_names(package)
    seen: set[str] = set()
    for each in found:
        name = each.module
        if each.guarded or name in seen or name in own or is_standard(name):
            continue
        seen.add(name)
        owners = owners_of(name, installed)
        if owners & (declared | SPOKEN):
            continue
        if name == "verifiers" or canonicalize_name(name) in declared:
            continue
        cited: list[SourceCitation] = [each.home.cite(each.node)]
        if installed is None or name not in installed.modules:
            if installed is None and name in {w.replace("-", "_") for w in declared}:
                continue
            yield Hit(
                f"`{name}` is imported, and no dependency of the package brings it",
                cited,
                Severity.FAIL if installed is not None else Severity.WARN,
            )
        else:
            whose = " or ".join(sorted(owners))
            direct = owners & {n for each in declared for n in installed.needs.get(each, ())}
            by = "a declared one requires it" if direct else "another dependency happens to need it"
            yield Hit(
                f"`{name}` is imported and {whose} is not declared: it is there only because {by}",
                cited,
                Severity.INFO if direct else Severity.WARN,
            )


def unused_hits(
    package: Package, found: list[Import], installed: Installed | None
) -> Iterator[Hit]:
    if not package.code.modules:
        return
    used: set[str] = {"verifiers"}
    for each in found:
        used |= owners_of(each.module, installed) | {canonicalize_name(each.module)}
    unused = sorted(package.declared - used)
    if unused:
        yield Hit(f"declared and never imported: {', '.join(unused)}", [cite_project(package)])


def owners_of(module: str, installed: Installed | None) -> set[str]:
    guess: set[str] = {canonicalize_name(ALIASES.get(module, module))}
    if installed is None:
        return guess
    return set(installed.modules.get(module, frozenset())) or guess


def own_names(package: Package) -> set[str]:
    """The package's module, and whatever lies beside it."""
    start = f"{package.import_path}/" if package.import_path else ""
    inside = [p.removeprefix(start) for p in package.files if p.endswith(".py")]
    return {package.module, *(p.partition("/")[0].removesuffix(".py") for p in inside)}


def is_standard(module: str) -> bool:
    return module in sys.stdlib_module_names or module == "__future__"


def word_of(requirement: str) -> str:
    """The name at the beginning of a requirement that nobody has read yet."""
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "._-")), None)
    return canonicalize_name(requirement[:end])


def imports_of(code: Code) -> Iterator[Import]:
    for module in code.modules:
        yield from imports_in(module, module.tree, guarded=False)


def imports_in(module: Module, node: ast.AST, *, guarded: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        for name in named_by(module, child):
            yield Import(name.partition(".")[0], module, child, guarded)
        yield from imports_in(module, child, guarded=guarded or guards(module, child))


def named_by(module: Module, node: ast.AST) -> list[str]:
    """The modules that a statement or call imports, from the top."""
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(name), level=0):
            return [name]
        case ast.Call(args=[ast.Constant(value=str(name)), *_]) if is_loader(module, node):
            return [] if name.startswith(".") else [name]
        case _:
            return []


def guards(module: Module, node: ast.AST) -> bool:
    """Whether what stands in it may fail to be imported: of a fallback, the fallback too."""
    match node:
        case ast.Try(handlers=handlers):
            return any(map(catches_import, handlers))
        case ast.If(test=test):
            return is_a_guard(module, test)
        case ast.With(items=opened):
            return any(suppresses(module, each.context_expr) for each in opened)
        case _:
            return False


def is_loader(module: Module, call: ast.Call) -> bool:
    return module.dotted(call.func) in ("importlib.import_module", "builtins.__import__")


def catches_import(handler: ast.ExceptHandler) -> bool:
    caught = handler.type
    if caught is None:
        return not reraises(handler)
    names = {n.id for n in ast.walk(caught) if isinstance(n, ast.Name)}
    wide = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    return bool(names & wide) and not reraises(handler)


def reraises(handler: ast.ExceptHandler) -> bool:
    return any(isinstance(n, ast.Raise) for n in handler.body)


def is_a_guard(module: Module, test: ast.expr) -> bool:
    """`TYPE_CHECKING`, or a look whether the module is there."""
    for node in ast.walk(test):
        name = module.dotted(node) or ""
        if name.endswith(("TYPE_CHECKING", "find_spec", "sys.version_info", "sys.platform")):
            return True
    return False


def suppresses(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and module.dotted(node.func) == "contextlib.suppress"
