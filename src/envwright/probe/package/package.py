"""`Package`: an environment as its files declare it, and what is installed beside it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from envwright.environment import Source
from envwright.environment.distribution import Distribution, distributions, read_metadata
from envwright.environment.source import files_of
from envwright.errors import UsageError
from envwright.probe.code import Code, read_code
from envwright.record import Json, mapping

LARGEST_TEXT = 2**20
TEXTS = (".py", ".md", ".rst", ".txt", ".toml", ".jinja", ".j2", ".prompt")
ASIDE = ("tests", "test", "docs", "examples", "scripts", "benchmarks")
"""Folders at the top that are no part of what is loaded."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What lies in the venv: who brings a module, and what each distribution needs itself."""

    modules: Mapping[str, frozenset[str]]
    """Top-level module → the distributions that bring it, by standard name."""
    needs: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])


@dataclass(frozen=True)
class Package:
    name: str
    module: str
    files: Mapping[str, str]
    """Its texts by path, from its folder."""
    dependencies: tuple[str, ...] = ()
    manifest: str = "pyproject.toml"
    import_path: str = ""
    too_large: tuple[str, ...] = ()
    """Modules that were not read."""

    @cached_property
    def table(self) -> Json:
        """Its manifest; empty when it is none that can be read."""
        try:
            return tomllib.loads(self.files.get(self.manifest, ""))
        except tomllib.TOMLDecodeError:
            return {}

    @property
    def project(self) -> Json:
        return mapping(self.table.get("project"))

    @cached_property
    def readme(self) -> str:
        """The text of its README; empty when there is none."""
        names = [p for p in self.files if re.fullmatch(r"readme(\.\w+)?", p, re.IGNORECASE)]
        return self.files[min(names)] if names else ""

    @cached_property
    def code(self) -> Code:
        """The modules that loading it can reach."""
        own = {p: text for p, text in self.files.items() if self.is_loaded(p)}
        code = read_code(own, self.import_path)
        large = tuple(path for path in self.too_large if self.is_loaded(path))
        return replace(code, unparsed=(*code.unparsed, *large))

    @property
    def without_code(self) -> "Package":
        """The same, with none of its source to follow."""
        texts = {p: text for p, text in self.files.items() if not p.endswith(".py")}
        return replace(self, files=texts)

    def is_loaded(self, path: str) -> bool:
        inside = path.removeprefix(f"{self.import_path}/") if self.import_path else path
        if inside == f"{self.module}.py" or inside.startswith(f"{self.module}/"):
            return True
        # Beside the module only what it may import: a flat file, or a package of another name.
        first = inside.partition("/")[0]
        if not inside.endswith(".py") or first in ASIDE or re.match(r"(test_|conftest)", first):
            return False
        return first.removesuffix(".py").isidentifier() and self.imports_beside(first)

    def imports_beside(self, first: str) -> bool:
        name = first.removesuffix(".py")
        said = re.compile(rf"^\s*(from|import)\s+{re.escape(name)}\b", re.MULTILINE)
        return any(said.search(t) for p, t in self.files.items() if p.endswith(".py"))

    @property
    def declared(self) -> frozenset[str]:
        return frozenset(canonicalize_name(Requirement(d).name) for d in self.dependencies)


def read_package(source: Source) -> Package:
    """The package's texts, from its folder; what is large or no text is left out."""
    files: dict[str, str] = {}
    large: list[str] = []
    for path in files_of(source.folder, source.files):
        if path.suffix in TEXTS or path.name.upper().startswith("README"):
            if path.is_symlink() and not path.exists():
                continue
            if not path.is_file():
                continue
            name = path.relative_to(source.folder).as_posix()
            if path.stat().st_size <= LARGEST_TEXT:
                files[name] = path.read_text(encoding="utf-8", errors="replace")
            elif path.suffix == ".py":
                large.append(name)
    inside = source.import_path.relative_to(source.folder).as_posix()
    return Package(
        name=source.name,
        module=source.module,
        files=files,
        dependencies=source.dependencies,
        manifest=source.manifest,
        import_path="" if inside == "." else inside,
        too_large=tuple(large),
    )


def read_installed_modules(site: Path) -> Installed:
    """Who brings what, from the records of a venv's `site-packages`."""
    modules: dict[str, set[str]] = {}
    needs: dict[str, frozenset[str]] = {}
    for name, each in distributions(site).items():
        for module in modules_of(each):
            modules.setdefault(module, set()).add(name)
        try:
            wanted = read_metadata(each).dependencies
        except UsageError:
            wanted = ()
        needs[name] = frozenset(canonicalize_name(Requirement(w).name) for w in wanted)
    return Installed({m: frozenset(names) for m, names in modules.items()}, needs)


def modules_of(distribution: Distribution) -> set[str]:
    record = distribution.info / "RECORD"
    if not record.is_file() or record.stat().st_size > 16 * LARGEST_TEXT:
        return set()
    found: set[str] = set()
    for line in record.read_text(encoding="utf-8", errors="replace").splitlines():
        first, slash, _ = line.partition(",")[0].strip('"').partition("/")
        if slash and first.isidentifier():
            found.add(first)
        elif not slash and first.endswith((".py", ".so")):
            found.add(first.partition(".")[0])
    return found
