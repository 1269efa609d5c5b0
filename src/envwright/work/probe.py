"""Everything that is tried on an environment, and read of it, without a model: in one go.

files → package and source rules · two fresh loads → load rules · all rows → data rules ·
sampled tasks with their gold → replies, behaviour, episodes · datasets → contamination
"""

import json
import shlex
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from envwright.dataset import read_rows
from envwright.environment import Source, Task
from envwright.environment.egress import Egress
from envwright.errors import EnvironmentFailure, EnvwrightError, UsageError
from envwright.gateway import Gateway
from envwright.host import Loaded
from envwright.model import Model
from envwright.probe import contamination, source
from envwright.probe.bench import Bench, open_bench
from envwright.probe.case import Case, Sample
from envwright.probe.contamination import contamination_reports
from envwright.probe.data import data_reports, data_tries, split_values
from envwright.probe.data.own_check import Checked
from envwright.probe.forms import readers_in
from envwright.probe.found import Place
from envwright.probe.gold import bare, field_of, gold_in
from envwright.probe.merge import merge
from envwright.probe.package import (
    FILE_RULES,
    Package,
    failure_report,
    load_reports,
    package_reports,
    read_installed_modules,
    read_package,
)
from envwright.probe.package.load import LOADS
from envwright.probe.reading import bounded
from envwright.probe.reply import PROBES
from envwright.probe.rule import Report
from envwright.probe.rules import RULES
from envwright.probe.run import run_probes, unfinished
from envwright.probe.scoring import Told
from envwright.probe.source import slow_replies, source_reports
from envwright.record import Json
from envwright.trial.plan import draw

SEED = "probe"
"""Draws the tasks that replies are tried on: the same ones every time."""
MOST_TASKS, MOST_ENDLESS = 10_000, 1_000
"""Tasks whose rows are read, of many and of endless ones."""
MOST_OF_A_SPLIT = 2_000
FRESH_SEED = 1

LOADED = Report(rule=LOADS.id, tried=1, of=1, unit="loads")

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Probing:
    """What an environment is probed with."""

    loaded: Loaded
    gateway: Gateway
    address: str
    """As the user wrote it."""
    given: Json
    """Its arguments, as far as they were typed."""
    judge: Model | None = None
    """Whom environment code may ask."""
    gold_field: str | None = None
    count: int = 100
    """Tasks that replies are tried on."""
    against: tuple[str, ...] = ()
    """Datasets that its tasks must not be in."""
    site: Path | None = None
    """Where what it imports is installed."""
    prepare: Egress | None = None
    paid: Callable[[], Mapping[str, str]] = dict[str, str]
    """Task key → a reply that solved it before."""
    load: Callable[[Json], Awaitable[Loaded]] | None = None
    """The same environment with other arguments."""
    say: Say = lambda _: None

    @property
    def command(self) -> str:
        """The environment, ready for a shell."""
        args = [f"--arg {shlex.quote(f'{n}={said_of(v)}')}" for n, v in self.given.items()]
        return " ".join([shlex.quote(self.address), *args])

    @property
    def place(self) -> Place:
        return place_of(self.loaded.source, self.address, self.command)


def said_of(value: Any) -> str:
    """An argument's value as it is typed."""
    return value if isinstance(value, str) else json.dumps(value)


def place_of(source: Source, address: str, command: str) -> Place:
    """As the user wrote it, unless that names no folder: a Hub's package lies in our own."""
    return Place(address if Path(address).is_dir() else str(source.folder), command)


@dataclass(frozen=True, slots=True)
class Seen:
    """What probing showed."""

    reports: tuple[Report, ...]
    tasks: Sequence[Task] = ()
    """Whose rows were read."""
    gold_from: str | None = None
    no_gold: str | None = None
    """Why there is none."""
    scored: int = 0
    """Replies."""
    seconds: float = 0.0
    """That took."""
    notes: tuple[str, ...] = field(default=())


async def probe(probing: Probing) -> Seen:
    """`EnvironmentFailure` when it cannot even be read."""
    loaded = probing.loaded
    total = loaded.environment.tasks.count
    tasks = await read_tasks(loaded)
    package = read_package(loaded.source)
    files = read_files(probing, package)
    sources, has_ended = read_source(package, probing.place)
    if not has_ended:
        # Nobody else tries to read it.
        package = package.without_code
    again = await keys_twice(probing, tasks)
    loads = load_reports(package, tasks, again, probing.place)
    # Of all that there are, also those that were not read.
    loads = [e.model_copy(update={"of": total}) if e.unit == "tasks" else e for e in loads]
    reports = [*files, LOADED, *loads]
    async with open_bench(loaded, tasks, probing.gateway, judge=probing.judge) as bench:
        sampled = spread(bench.tasks, probing.count)
        bench, gold = await find_golds(probing, bench, sampled, package)
        sample = replace(gold, name=probing.command)
        checked = await bench.check_golds(sampled)
        probing.say(f"probing {len(sample.cases)} of {counted(total)} tasks")
        suspected = slow_replies(package)
        probed = await run_probes(bench, sample, PROBES, probing.say, suspected, package.code)
        cases = all_cases(tasks, sample, probing.gold_field)
        told: Told = {}
        if bench.unscorable is None:
            told = await bench.scorer.score(data_tries(cases))
    reports += probed.reports
    reports += data_reports(
        cases,
        probing.place,
        environment=loaded.environment,
        total=total,
        told={**probed.told, **told},
        splits=await read_splits(probing, package),
        checked=checked,
    )
    reports += [*sources, *compare(probing, tasks)]
    return Seen(
        reports=tuple(merge(reports, RULES)),
        tasks=tasks,
        gold_from=sample.gold_from,
        no_gold=None if sample.gold_from else no_gold(checked),
        scored=probed.scored,
        seconds=probed.seconds,
        notes=() if sample.gold_from else (HOW_TO_GOLD,),
    )


async def find_golds(
    probing: Probing, bench: Bench, tasks: Sequence[Task], package: Package
) -> tuple[Bench, Sample]:
    """The tasks with their gold, and the bench that scores them as an episode would."""
    paid = probing.paid()
    solved = {task.index: paid[task.key] for task in tasks if task.key in paid}
    readers = readers_in(package.code)

    async def sample_on(bench: Bench) -> Sample:
        return await bench.sample(
            tasks, gold_field=probing.gold_field, solved=solved, readers=readers
        )

    sample = await sample_on(bench)
    if await bench.is_told_alone(sample, readers):
        return bench, sample
    probing.say("a reply earns another reward in an episode than by itself: all are played")
    bench = bench.in_episodes()
    return bench, replace(await sample_on(bench), is_played=True)


async def read_tasks(loaded: Loaded) -> list[Task]:
    total = loaded.environment.tasks.count
    return await loaded.tasks(0, MOST_ENDLESS if total is None else min(total, MOST_TASKS))


async def check_field(loaded: Loaded, field: str | None) -> None:
    """A name that was mistyped is told before anything is spent on it."""
    if field is None:
        return
    tasks = await read_tasks(loaded)
    if not tasks or any(field_of(task.row, field) for task in tasks):
        return
    there = ", ".join(sorted({name for task in tasks for name in task.row})[:20])
    raise UsageError(f"--gold-field {field!r} is in no row", hint=f"the rows have: {there}")


HOW_TO_GOLD = (
    "for a gold, name the row's field with --gold-field, or solve tasks first with -m: "
    "without one reward_design is a WARN at best"
)


def no_gold(checked: Sequence[Checked]) -> str:
    said = "no row has a field for it, and no trial of this revision solved a task"
    if held := sum(one.valid is True for one in checked):
        said += f" (Task.validate confirms {held} of {len(checked)} golds, and tells no reply)"
    return said


def counted(total: int | None) -> str:
    return "endless" if total is None else str(total)


def compare(probing: Probing, tasks: Sequence[Task]) -> list[Report]:
    """The tasks against the datasets that were named; one that breaks off leaves the rest be."""
    if not probing.against:
        return []
    rows = (row for address in probing.against for row in read_rows(address))
    total = probing.loaded.environment.tasks.count
    try:
        return contamination_reports(tasks, rows, probing.place, total=total)
    except UsageError as error:
        probing.say(f"error: {error}")
        return [*unfinished(contamination.RULES, str(error))]


def read_source(package: Package, place: Place) -> tuple[list[Report], bool]:
    """What its code shows, and whether reading it came to an end."""
    return bounded(
        lambda: (source_reports(package, place), True),
        lambda why: ([*unfinished(source.RULES, why)], False),
    )


def probe_failure(source: Source, error: EnvironmentFailure, address: str) -> Seen:
    """What is seen of an environment that does not load: its files, and how it failed."""
    package = read_package(source)
    place = place_of(source, address, shlex.quote(address))
    failed = failure_report(package, f"{error.detail or ''}\n{error.message}", place)
    named = {report.rule for report in failed}
    files = bounded_files(lambda: package_reports(package, place))
    sources, _ = read_source(package, place)
    others = [each for each in (*files, *sources) if each.rule not in named]
    return Seen(tuple(merge([*failed, *others], RULES)))


def read_files(probing: Probing, package: Package) -> list[Report]:
    permit = probing.loaded.permit
    return bounded_files(
        lambda: package_reports(
            package,
            probing.place,
            installed=read_installed_modules(probing.site) if probing.site else None,
            egress=permit.egress,
            prepare=probing.prepare,
            secrets=permit.secrets.values,
        )
    )


def bounded_files(read: Callable[[], list[Report]]) -> list[Report]:
    return bounded(read, lambda why: [*unfinished(FILE_RULES, why)])


async def keys_twice(probing: Probing, tasks: Sequence[Task]) -> tuple[list[str], list[str]] | str:
    """The tasks' keys of two fresh processes under other hashes."""
    try:
        async with probing.loaded.afresh(FRESH_SEED) as fresh:
            again = await fresh.tasks(0, len(tasks))
    except EnvwrightError as error:
        return f"it did not load a second time: {error}"
    return [task.key for task in tasks], [task.key for task in again]


def spread(tasks: Sequence[Task], count: int) -> list[Task]:
    """So many of them, drawn across all by a fixed seed."""
    return [tasks[place] for place in draw(SEED, len(tasks), count)]


def all_cases(tasks: Sequence[Task], sample: Sample, field: str | None) -> list[Case]:
    """Every task that was read, in order: the sampled ones as they are known by now, the
    others with their gold in the same words."""
    known = {case.task.index: case for case in sample.cases}
    frames = Counter(
        (before, behind)
        for case in sample.cases
        if case.gold and case.said
        for before, found, behind in [case.said.partition(case.gold)]
        if found
    )
    before, behind = frames.most_common(1)[0][0] if frames else ("", "")

    def case_of(task: Task) -> Case:
        gold = bare(gold_in(task, field_of(task.row, field)), sample.form) or None
        return Case(task, gold, None if gold is None else f"{before}{gold}{behind}")

    return [known.get(task.index) or case_of(task) for task in tasks]


async def read_splits(probing: Probing, package: Package) -> dict[str, Sequence[Task]] | None:
    """The tasks under each value of the argument that chooses a split."""
    choices = split_values(probing.loaded.environment.args, package.code)
    if not choices or probing.load is None:
        return None
    name, values = next(iter(choices.items()))
    found: dict[str, Sequence[Task]] = {}
    for value in values:
        try:
            loaded = await probing.load({**probing.loaded.args, name: value})
            try:
                label = value if isinstance(value, str) else f"{name}={str(value).lower()}"
                found[label] = await loaded.tasks(0, MOST_OF_A_SPLIT)
            finally:
                await loaded.pool.close()
        except EnvwrightError:
            # A word of its source that is no split after all.
            continue
    return found
