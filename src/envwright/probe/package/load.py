"""EW107 to EW110: whether it loads, the same twice, with tasks of one shape."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from envwright.environment import Task
from envwright.finding import Severity, SourceCitation, TaskCitation
from envwright.probe.found import Hit, Place, quote, report, skipped
from envwright.probe.package.dependencies import UNDECLARED
from envwright.probe.package.metadata import cite_project
from envwright.probe.package.network import NETWORK
from envwright.probe.package.package import Package
from envwright.probe.package.unsteady import unsteady_source
from envwright.probe.package.variables import VARIABLE
from envwright.probe.rule import Check, Extent, Report, Rule

LOADS = Rule(
    id="EW107",
    name="does-not-load",
    defect="does-not-load",
    check=Check.INTEGRITY,
    severity=Severity.FAIL,
    tries="It is loaded in a process of its own.",
    hit="Loading raises, hangs or ends the process.",
    why="Nothing can be trained on it.",
)
NO_TASKS = Rule(
    id="EW108",
    name="no-tasks",
    defect="no-tasks",
    check=Check.INTEGRITY,
    severity=Severity.FAIL,
    tries="Its tasks are counted.",
    hit="There are none.",
    why="Nothing can be trained on it.",
)
UNSTEADY = Rule(
    id="EW109",
    name="load-not-deterministic",
    defect="load-not-deterministic",
    check=Check.INTEGRITY,
    severity=Severity.FAIL,
    tries="It is loaded in two fresh processes with the same arguments and other hash seeds, "
    "and the tasks' keys are compared in order; its source is read for the order of a folder and "
    "for dice that the clock seeds.",
    hit="Other tasks, or the same in another order, here or on another machine or day.",
    why="No two runs measure the same, and a trial cannot be graded again.",
    exempt="A seed among the arguments with a fixed default.",
)
SCHEMA = Rule(
    id="EW110",
    name="rows-of-other-shapes",
    defect="rows-of-other-shapes",
    check=Check.INTEGRITY,
    severity=Severity.INFO,
    tries="The fields of all rows and their types are compared.",
    hit="A field has another type on a few tasks than on the others.",
    why="A reward that reads the field may take a text for a number.",
    exempt="Fields that some tasks leave out: an optional field is a field.",
)
DICE = re.compile(
    r"\brandom\.(random|shuffle|sample|choice|choices|randint|uniform)\(|np\.random\.\w+\("
    r"|random\.Random\(\)|\btime\.time\(|datetime\.now\(|\bset\(|\blistdir\(|\bglob\(|\bhash\(|uuid4"
)


def failure_report(package: Package, failure: str, place: Place) -> list[Report]:
    """What a failure to load is called, by its own words: `failure` is all that was said.

    A missing package, variable or network has a rule of its own; that one is reported.
    """
    rule, what = cause_of(failure)
    said = " ".join(failure.strip().splitlines()[-1:])[:300]
    hit = Hit(f"it does not load: {what or said}", [cite_failure(package, failure)], Severity.FAIL)
    return [report(rule, [hit], place, tried=1, unit="loads")]


def cause_of(failure: str) -> tuple[Rule, str | None]:
    missing = re.findall(r"(?:ModuleNotFoundError: |No module named )'([\w.]+)'", failure)
    missing += re.findall(r"No module named '([\w.]+)'", failure)
    if missing:
        return UNDECLARED, f"there is no module {missing[-1]!r}, and no dependency brings it"
    if named := re.findall(r"os\.environ\[[\"'](\w+)[\"']\]", failure):
        return VARIABLE, f"the variable {named[-1]} is not set"
    if re.search(
        r"gaierror|ConnectError|ConnectionError|MaxRetryError|Name or service not", failure
    ):
        return NETWORK, "it reaches for a host while it loads, and has no network"
    return LOADS, None


def cite_failure(package: Package, failure: str) -> SourceCitation:
    """The last line of the package's own code in the traceback."""
    for name, line in reversed(re.findall(r'File "([^"]+)", line (\d+)', failure)):
        own = [p for p in package.files if name.endswith(f"/{p}")]
        lines = package.files[own[0]].splitlines() if own else []
        if 0 < int(line) <= len(lines) and lines[int(line) - 1].strip():
            text = lines[int(line) - 1].strip()[:200]
            return SourceCitation(path=own[0], line=int(line), quote=text)
    return cite_project(package)


def load_reports(
    package: Package,
    tasks: Sequence[Task],
    keys: tuple[Sequence[str], Sequence[str]] | str,
    place: Place,
) -> list[Report]:
    """`keys` are those of two loads in fresh processes, in order, or why there was one."""
    none = [] if tasks else [Hit("it loads, and has no tasks", [cite_project(package)])]
    reports = [report(NO_TASKS, none, place, tried=len(tasks), unit="tasks")]
    if isinstance(keys, str):
        reports.append(skipped(UNSTEADY, keys, Extent.UNFINISHED))
    else:
        hits = list(unsteady_hits(package, *keys, tasks)) or list(unsteady_source(package.code))
        compared = max(map(len, keys))
        reports.append(report(UNSTEADY, hits, place, tried=compared, unit="tasks"))
    shapes = list(shape_hits(tasks))
    reports.append(report(SCHEMA, shapes, place, tried=len(tasks), unit="tasks"))
    return reports


def unsteady_hits(
    package: Package, first: Sequence[str], second: Sequence[str], tasks: Sequence[Task]
) -> Iterator[Hit]:
    if list(first) == list(second):
        return
    differs = sum(a != b for a, b in zip(first, second, strict=False))
    differs += abs(len(first) - len(second))
    shared = sum((Counter(first) & Counter(second)).values())
    longest = max(len(first), len(second))
    if Counter(first) == Counter(second):
        what = f"the same {len(first)} tasks come in another order ({differs} at another place)"
    else:
        what = f"{longest - shared} of {longest} tasks are others"
        if len(first) != len(second):
            what += f" ({len(first)} at first, then {len(second)})"
    yield Hit(
        f"loaded twice in fresh processes, {what}", [cite_dice(package, first, second, tasks)]
    )


def cite_dice(
    package: Package, first: Sequence[str], second: Sequence[str], tasks: Sequence[Task]
) -> SourceCitation | TaskCitation:
    """The line that may explain it; else the first task that differs."""
    for module in package.code.modules:
        for number, line in enumerate(module.lines, 1):
            if DICE.search(line) and not line.lstrip().startswith("#"):
                return SourceCitation(path=module.path, line=number, quote=line.strip()[:200])
    places = (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
    place = next(places, None)
    if place is not None and place < len(tasks) and quote(tasks[place].prompt):
        task = tasks[place]
        return TaskCitation(key=task.key, field="prompt", quote=quote(task.prompt))
    return cite_project(package)


def shape_hits(tasks: Sequence[Task]) -> Iterator[Hit]:
    types: dict[str, dict[str, list[Task]]] = {}
    for task in tasks:
        for name, value in task.row.items():
            if value is not None:
                types.setdefault(name, {}).setdefault(type_of(value), []).append(task)
    for name, kinds in types.items():
        if len(kinds) < 2:
            continue
        counts = {kind: len(of) for kind, of in kinds.items()}
        odd = min(kinds, key=lambda kind: counts[kind])
        task = kinds[odd][0]
        shown = quote(str(task.row[name])) or "(empty)"
        listed = ", ".join(f"{kind} on {n}" for kind, n in counts.items())
        yield Hit(
            f"the field {name} is {listed} tasks",
            [TaskCitation(key=task.key, field=name, quote=shown)],
        )


def type_of(value: object) -> str:
    match value:
        case bool():
            return "yes/no"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "a table"
