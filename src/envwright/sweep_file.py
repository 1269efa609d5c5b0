"""`-c sweep.toml`: a sweep in a file, environments × agents × trials. Flags win over it.

What can be told without a network is told here, with the line and the key of the
mistake. Nothing of a sweep's tasks is known yet, nor whether a key works.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue

from envwright.agent import AgentKind, AgentSpec
from envwright.budget import Budget
from envwright.errors import UsageError
from envwright.model.local import LOCAL_NAME
from envwright.options import LOWEST_PRIORITY, Flags, RunOptions, SweepOptions
from envwright.record import Record, canonical_json
from envwright.settings import ModelTable, Settings
from envwright.toml import Document, read_document
from envwright.trial import Condition, Sampling


def as_table(value: Any) -> Any:
    """An environment that is listed by its name alone."""
    return {"name": value} if isinstance(value, str) else value


def as_text(value: Any) -> Any:
    """An index, as a task is named on the command line."""
    return str(value) if type(value) is int else value


# TOML has one value for a key: `models` is a list of names or a table of tables.
def list_or_nothing(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, list) else ()


def table_or_nothing(value: Any) -> Any:
    return {} if isinstance(value, list) else value


def runnable(condition: Condition) -> Condition:
    if condition is not Condition.PLAIN:
        raise ValueError(f"trials under {condition} cannot be run yet, only under plain")
    return condition


Keys = tuple[str | int, ...]
"""Where something stands in the file."""
Text = Annotated[str, Field(min_length=1)]
Count = Annotated[int, Field(ge=1, strict=True)]


class Choice(Record):
    """What the file says for all environments, and each of them may say for itself."""

    trials: Count | None = None
    """Per task and agent; 1 by default."""
    agents: tuple[Text, ...] = ()
    """Who attempts: `"chat:MODEL"`, `"oracle"`, `"noop"` or `"scripted:FILE"`."""
    tasks: Count | None = None
    """How many; by default all."""
    task: tuple[Annotated[Text, BeforeValidator(as_text)], ...] = ()
    """These, by index or key, in place of `tasks`."""
    seat: Text | None = None
    """The seat to measure, where there are several."""
    judge: Text | None = None
    """The model that environment code may ask."""


class SweepEnvironment(Choice):
    """`[[environments]]`, or its name alone in a list"""

    name: Text
    """As on the command line; a folder that is not in the working directory may lie beside the
    file."""
    args: dict[str, JsonValue] = {}
    """Its arguments; `--arg` wins."""


class SweepTables(Choice):
    """All that a sweep file may say."""

    environments: tuple[Annotated[SweepEnvironment, BeforeValidator(as_table)], ...] = ()
    """`["examples/sums", …]`, or a `[[environments]]` for each; there, `trials`, `agents`, `tasks`,
    `task`, `seat` and `judge` are its own."""
    models: Annotated[tuple[Text, ...], BeforeValidator(list_or_nothing)] = ()
    """Short for agents: `["MODEL"]` is `["chat:MODEL"]`. Or, as tables, what models are:
    `[models."MODEL"]` as in `envwright.toml`, over it key by key."""
    tables: Annotated[dict[str, ModelTable], BeforeValidator(table_or_nothing)] = Field(
        default={}, validation_alias="models"
    )
    conditions: tuple[Annotated[Condition, AfterValidator(runnable)], ...] = (Condition.PLAIN,)
    """Only `"plain"` can be run."""
    priority: int = Field(default=0, ge=0, le=LOWEST_PRIORITY, strict=True)
    """Of its trials among those of other sweeps: lower goes first."""
    labels: tuple[Text, ...] = ()
    """Words to find the sweep by."""
    until_certain: bool = Field(default=False, strict=True)
    """No more trials of a task once more would hardly change the verdict on it."""
    fresh: bool = Field(default=False, strict=True)
    """New trials, whatever is there already."""
    gold_field: Text | None = None
    """The row's field that `oracle` answers with."""
    seat_models: dict[str, Text] = {}
    """Who plays seats that are not measured: `{ user = "MODEL" }`."""
    sampling: Sampling = Sampling()
    """As in `envwright.toml`, over it key by key."""
    budget: Budget | None = None
    """As in `envwright.toml`, over it key by key."""
    limits: dict[str, Count] = {}
    """Trials at once by queue: `{ "MODEL" = 8, oracle = 4 }`; wins over a model's own `limit`."""


def read_sweep(path: Path | None, flags: Flags, settings: Settings) -> SweepOptions:
    """The sweep that the file and the flags ask for; `UsageError` when they ask for none."""
    if path is None:
        return merge(SweepTables(), flags, None)
    document = read_document(path)
    tables = document.parse(SweepTables)
    check_selection(document, tables)
    check_names(document, tables, flags, settings.under(tables.tables, None))
    return merge(tables, flags, path)


def choices_in(tables: SweepTables) -> Iterator[tuple[Keys, Choice]]:
    yield (), tables
    for n, environment in enumerate(tables.environments):
        yield ("environments", n), environment


def agents_in(tables: SweepTables) -> Iterator[tuple[Keys, str]]:
    for n, name in enumerate(tables.models):
        yield ("models", n), f"{AgentKind.CHAT}:{name}"
    for keys, choice in choices_in(tables):
        for n, agent in enumerate(choice.agents):
            yield (*keys, "agents", n), agent


def other_models_in(tables: SweepTables) -> Iterator[tuple[Keys, str]]:
    for keys, choice in choices_in(tables):
        if choice.judge is not None:
            yield (*keys, "judge"), choice.judge
    for seat, name in tables.seat_models.items():
        yield ("seat_models", seat), name


def check_selection(document: Document, tables: SweepTables) -> None:
    seen: dict[bytes, int] = {}
    for n, each in enumerate(tables.environments):
        same = canonical_json([str(folder_of(each.name, document.path) or each.name), each.args])
        if same in seen:
            words = f"{each.name!r} with the same arguments is number {seen[same]} already"
            raise document.mistake(("environments", n), words, "leave one of them out")
        seen[same] = n
    for keys, choice in choices_in(tables):
        if choice.tasks is not None and choice.task:
            raise document.mistake((*keys, "task"), "tasks says how many already")


def check_names(document: Document, tables: SweepTables, flags: Flags, settings: Settings) -> None:
    """Refuse names that stand for nothing: a mistake is one even where a flag replaces it."""
    queues = {str(kind) for kind in AgentKind if not kind.needs_model}
    queues |= {AgentSpec.parse(agent).queue for agent in flags.agents}
    for keys, text in agents_in(tables):
        with at(document, *keys):
            agent = AgentSpec.parse(text)
            if agent.kind.needs_model and flags.endpoint is None:
                check_model(agent.queue, settings)
        queues.add(agent.queue)
    for keys, name in other_models_in(tables):
        with at(document, *keys):
            check_model(name, settings)
    for name in tables.limits.keys() - queues:
        with at(document, "limits", name):
            check_model(name, settings)


@contextmanager
def at(document: Document, *keys: str | int) -> Generator[None]:
    """What is wrong with a name, said with its place."""
    try:
        yield
    except UsageError as error:
        raise document.mistake(keys, error.message, error.hint) from error


def check_model(name: str, settings: Settings) -> None:
    if name != LOCAL_NAME:
        settings.model(name)


def folder_of(name: str, file: Path | None) -> Path | None:
    """The folder of this name: in the working directory, else beside the file."""
    places = [Path(name).expanduser(), *([file.parent / name] if file else [])]
    return next((place.resolve() for place in places if place.is_dir()), None)


def merge(tables: SweepTables, flags: Flags, path: Path | None) -> SweepOptions:
    """The flags over the file."""
    where = f"{path}: " if path else ""
    environments = environments_of(tables, flags.environment, path)
    if not environments:
        hint = "name a folder or OWNER/NAME@VERSION, or give environments in a file with -c"
        raise UsageError(f"{where}which environment?", hint=hint)
    runs = tuple(run_of(each, tables, flags, path) for each in environments)
    if not all(run.agents for run in runs):
        hint = "give -m MODEL or --agent KIND[:MODEL], or agents in a file with -c"
        raise UsageError(f"{where}who attempts?", hint=hint)
    budget = Budget().under(tables.budget).under(flags.budget)
    return SweepOptions(
        runs=runs,
        budget=budget if budget != Budget() else None,
        priority=tables.priority if flags.priority is None else flags.priority,
        limits={} if flags.limit else tables.limits,
        labels=unique(flags.labels or tables.labels),
        until_certain=flags.until_certain or tables.until_certain,
        models=tables.tables,
    )


def environments_of(
    tables: SweepTables, typed: str | None, path: Path | None
) -> tuple[SweepEnvironment, ...]:
    """Those of the file; where one is typed, it is chosen among them or stands in their place."""
    if typed is None:
        return tables.environments
    if not typed.strip():
        return ()
    wanted = folder_of(typed, None) or typed
    same = [
        each for each in tables.environments if (folder_of(each.name, path) or each.name) == wanted
    ]
    # What was typed is looked at where it is resolved, not here.
    return tuple(same) or (SweepEnvironment.model_construct(name=typed),)


def run_of(
    environment: SweepEnvironment, tables: SweepTables, flags: Flags, path: Path | None
) -> RunOptions:
    """One environment of it: the flags, else its own words, else the file's."""
    chat = tuple(f"{AgentKind.CHAT}:{name}" for name in tables.models)
    tasks, selected = next(
        (
            chosen
            for chosen in (
                (flags.tasks, flags.selected),
                (environment.tasks, environment.task),
                (tables.tasks, tables.task),
            )
            if any(chosen)
        ),
        (None, ()),
    )
    beside = None if Path(environment.name).exists() else folder_of(environment.name, path)
    return RunOptions(
        environment=str(beside) if beside else environment.name,
        agents=unique(flags.agents or environment.agents or (*chat, *tables.agents)),
        venv=flags.venv,
        tasks=tasks,
        trials=flags.trials or environment.trials or tables.trials or 1,
        selected=selected,
        task_seed=flags.task_seed,
        gold_field=flags.gold_field or tables.gold_field,
        endpoint=flags.endpoint,
        key_env=flags.key_env,
        judge=flags.judge or environment.judge or tables.judge,
        seat=flags.seat or environment.seat or tables.seat,
        seat_models={**tables.seat_models, **flags.seat_models},
        sampling=tables.sampling.under(flags.sampling),
        limit=flags.limit,
        fresh=flags.fresh or tables.fresh,
        args={**environment.args, **flags.args},
    )


def unique(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words))
