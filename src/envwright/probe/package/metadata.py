"""EW101, EW102: what a registry of environments wants of a package."""

import re
import shlex
from collections.abc import Iterator

from packaging.version import InvalidVersion, Version

from envwright.finding import Severity, SourceCitation
from envwright.probe.found import Hit, Place, report
from envwright.probe.package.package import Package
from envwright.probe.rule import Check, Report, Rule
from envwright.record import Json, items, mapping

METADATA = Rule(
    id="EW101",
    name="missing-metadata",
    defect="missing-metadata",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="The [project] table and the README are read.",
    hit="No version, description, tags or README, or one that is empty or a placeholder.",
    why="A registry refuses it, and nobody can tell what is trained on.",
    exempt="A short text is a text.",
)
BUILD = Rule(
    id="EW102",
    name="module-not-built",
    defect="missing-metadata",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="The build tables are compared with the module that is imported.",
    hit="The wheel's packages are listed, and the environment's module is not among them.",
    why="It loads from its folder and is empty once it is installed.",
    exempt="Without a list the build backend finds the module by its name.",
)
FILLER = {
    *("a", "add", "an", "and", "brief", "description", "env", "environment", "fixme", "for"),
    *("goes", "here", "insert", "my", "n/a", "na", "new", "none", "of", "package", "placeholder"),
    *("project", "short", "some", "tbd", "the", "this", "todo", "write", "xxx", "your"),
    *("custom", "generic", "rl", "simple", "verifiers"),
}
"""The words of templates: a description of nothing else describes nothing."""
SCAFFOLD = re.compile(
    r"replace (this|the placeholders|with)|add your description|your (environment )?description"
    r"|<(short|one-sentence|describe|description|your|list of|links?|brief|comma|split|what|name"
    r"|train|e\.g)\b[^>\n]*>"
    r"|\bTODO\b|\blorem ipsum\b|describe (your|the) (environment|task) here",
    re.IGNORECASE,
)
GAP = re.compile(r"(placeholder|your|my|some|todo|tbd|xxx|tag)[-_ ]?(tags?)?[-_ ]?\d*", re.I)
"""A tag that a scaffold left."""
SHORTEST_README = 5
"""Words beside its headings."""


def metadata_reports(package: Package, place: Place) -> list[Report]:
    return [
        report(METADATA, metadata_hits(package, place), place, tried=1, unit="package"),
        report(BUILD, build_hits(package), place, tried=1, unit="package"),
    ]


def metadata_hits(package: Package, place: Place) -> Iterator[Hit]:
    if package.manifest != "pyproject.toml" or not package.project:
        return  # An installed package's METADATA: a registry took it already.
    cited, folder = [cite_project(package)], shlex.quote(place.folder)
    command = f"ls {folder} && cat {folder}/{package.manifest}"
    missing = list(missing_of(package))
    if missing:
        yield Hit(f"the package has {', '.join(missing)}", cited, command=command)
    if not package.project.get("license") and not has_license(package):
        yield Hit("the package has no license", cited, Severity.INFO, command)


def missing_of(package: Package) -> Iterator[str]:
    project, readme = package.project, package.readme
    name = str(project.get("name") or "")
    description = project.get("description")
    if not isinstance(description, str) or not description.strip():
        yield "no description"
    elif is_placeholder(description, name):
        yield f"a placeholder for a description ({description.strip()!r})"
    if not has_version(project):
        yield "no version"
    tags = [str(tag).strip() for tag in tags_of(package) if str(tag).strip()]
    if not tags:
        yield "no tags"
    elif gaps := [tag for tag in tags if GAP.fullmatch(tag)]:
        yield f"a placeholder among its tags ({gaps[0]!r})"
    if not readme.strip():
        yield "no README"
    elif is_empty_readme(readme):
        yield "a README that says nothing"


def is_placeholder(text: str, name: str) -> bool:
    """Nothing but the words of a template, or the package's own name again."""
    bare = re.sub(r"[\W_]+", " ", text).strip().lower()
    if bare == re.sub(r"[\W_]+", " ", name).strip().lower():
        return True
    words = set(re.findall(r"[\w/]+", text.lower()))
    return words <= FILLER or bool(SCAFFOLD.search(text))


def is_empty_readme(text: str) -> bool:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    body = " ".join(lines)
    said = re.findall(r"\w+", body)
    if len(said) < SHORTEST_README or {word.lower() for word in said} <= FILLER:
        return True
    # A scaffold with most of its gaps left open says no more than an empty file.
    return len(SCAFFOLD.findall(text)) >= 3


def has_version(project: Json) -> bool:
    if "version" in items(project.get("dynamic")):
        return True
    try:
        return bool(Version(str(project.get("version") or "")))
    except InvalidVersion:
        return False


def tags_of(package: Package) -> list[object]:
    """Where packages put them: `tags`, the standard's `keywords`, or a table of a tool's."""
    tools = mapping(package.table.get("tool")).values()
    places = [package.project.get("tags"), package.project.get("keywords")]
    places += [mapping(tool).get("tags") for tool in tools]
    return [tag for place in places for tag in items(place)]


def has_license(package: Package) -> bool:
    stems = ("license", "licence", "copying")
    said = [str(c) for c in items(package.project.get("classifiers"))]
    named = any(p.lower().startswith(stems) for p in package.files)
    return named or any(c.startswith("License ::") for c in said)


def cite_project(package: Package) -> SourceCitation:
    """The line that opens the table, or the one that speaks of the description."""
    lines = package.files.get(package.manifest, "").splitlines()
    for wanted in (r"\s*description\s*=", r"\s*\[project\]", r"\s*\S"):
        for number, line in enumerate(lines, 1):
            if re.match(wanted, line):
                return SourceCitation(path=package.manifest, line=number, quote=line.strip()[:200])
    return SourceCitation(path=package.manifest, line=1, quote="(empty)")


def build_hits(package: Package) -> Iterator[Hit]:
    hatch = mapping(mapping(package.table.get("tool")).get("hatch"))
    build = mapping(hatch.get("build"))
    wheel = mapping(mapping(build.get("targets")).get("wheel"))
    listed = [
        str(each)
        for table in (wheel, build)
        for key in ("packages", "include", "only-include")
        for each in items(table.get(key))
    ]
    forced = {**mapping(build.get("force-include")), **mapping(wheel.get("force-include"))}
    if not listed or forced or mapping(wheel.get("sources")):
        return
    if not any(holds_module(each, package.module) for each in listed):
        said = ", ".join(listed)
        yield Hit(
            f"the wheel is built from {said}, and the module {package.module} is not in it",
            [cite_build(package)],
        )


def holds_module(pattern: str, module: str) -> bool:
    stem = re.sub(r"^(\./|/)?(src/)?", "", pattern).strip("/")
    first = stem.partition("/")[0]
    return first in (module, f"{module}.py", "", "*", "**", "*.py") or pattern.strip("/") == "src"


def cite_build(package: Package) -> SourceCitation:
    lines = package.files.get(package.manifest, "").splitlines()
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(packages|include|only-include)\s*=", line):
            return SourceCitation(path=package.manifest, line=number, quote=line.strip()[:200])
    return cite_project(package)
