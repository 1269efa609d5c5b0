"""A sweep: select tasks, plan, run what has no reward yet, and sum up.

Only trials without a `Scored` outcome are run; what an earlier sweep measured counts
for this one. Results come from the store, never from memory.
"""

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from envwright.agent import AgentKind, AgentSpec, Assignment
from envwright.agent.script import Script
from envwright.budget import Budget
from envwright.environment import Environment, Task
from envwright.environment.egress import Mode
from envwright.errors import UsageError
from envwright.gateway import ENVIRONMENT, Gateway
from envwright.host import Loaded
from envwright.model import Model
from envwright.queue import MemoryEngine
from envwright.store import Store
from envwright.store import sweep as sweeps
from envwright.store import trial as trials
from envwright.trial import Limits, Outcome, Sampling, TrialSpec
from envwright.trial.plan import Plan, draw, trials_of
from envwright.trial.run import Bench
from envwright.trial.seat import Seating, check_judge, seat_all
from envwright.work.result import SweepResult, sum_up
from envwright.work.trial import KIND, TrialWork, is_alive, job_of

HOST_LIMIT = 32
"""Trials at once of agents that ask no model."""
SEARCHED_FOR_KEY = 100_000
DRAWN_AMONG = 1_000
"""Tasks of an endless environment that a seed draws among, unless more are wanted."""


@dataclass(frozen=True, slots=True)
class Request:
    """What the user asked for."""

    agents: tuple[AgentSpec, ...]
    tasks: int | None = None
    trials: int = 1
    selected: tuple[str, ...] = ()
    task_seed: str | None = None
    """Draws the tasks; without one they are the first."""
    sampling: Sampling = Sampling()
    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    seat: str | None = None
    """The one to measure; None where there is no choice."""
    fresh: bool = False
    limits: Limits = Limits()
    budget: Budget = Budget()
    limit: int | None = None
    """Trials at once of every model, in place of its own."""
    queue_limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Trials at once by queue, in place of its own."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Who the names stand for."""

    models: Mapping[str, Model]
    scripts: Mapping[str, Script]
    judge: Model | None = None
    seats: Mapping[str, Model] = field(default_factory=dict[str, Model])
    """Models that were named for seats."""


@dataclass(slots=True)
class Watch:
    """How the edge follows a sweep."""

    planned: Callable[[str, Sequence[TrialSpec], set[str]], None]
    ended: Callable[[TrialSpec, Outcome], None]
    stop: asyncio.Event


async def select_tasks(loaded: Loaded, request: Request) -> list[Task]:
    """The tasks that the request names; `UsageError` when it names none."""
    count = loaded.environment.tasks
    name = loaded.environment.name
    if request.selected:
        return served([await find_task(loaded, text) for text in request.selected], name)
    if count.infinite and request.tasks is None:
        raise UsageError(f"environment {name!r} has endless tasks", hint="say how many with -n")
    wanted = request.tasks if request.tasks is not None else count.count or 0
    if request.task_seed is None:
        tasks = await loaded.tasks(0, wanted)
    else:
        among = max(DRAWN_AMONG, wanted) if count.count is None else count.count
        tasks = [
            task
            for place in draw(request.task_seed, among, wanted)
            for task in await loaded.tasks(place, place + 1)
        ]
    if not tasks:
        raise UsageError(f"environment {name!r} has no tasks", hint="check its arguments")
    if count.infinite and len(tasks) < wanted:
        raise UsageError(
            f"environment {name!r} sets INFINITE = True, and ends after {len(tasks)} tasks",
            hint=f"ask for no more than that: -n {len(tasks)}",
        )
    return served(tasks, name)


def served(tasks: list[Task], name: str) -> list[Task]:
    """These tasks; `UsageError` when one of them cannot be run here."""
    for task in tasks:
        if task.unserved is not None:
            raise UsageError(
                f"task {task.index} of environment {name!r}: {task.unserved}",
                hint="choose others with --task",
            )
    return tasks


def seating_of(request: Request, environment: Environment, cast: Cast) -> Seating:
    check_judge(environment, cast.judge)
    return seat_all(environment, request.seat, cast.seats, cast.judge)


async def find_task(loaded: Loaded, text: str) -> Task:
    """A task by its index, or by the beginning of its key."""
    name, count = loaded.environment.name, loaded.environment.tasks
    if text.isdecimal() and len(text) < 8:
        found = await loaded.tasks(int(text), int(text) + 1)
        if found:
            return found[0]
        raise UsageError(f"environment {name!r} has no task {text}", hint=f"it has {count.count}")
    if len(text) < 4:
        raise UsageError(
            f"--task {text!r} is neither an index nor the beginning of a key",
            hint="give an index, or 4 characters of a key at least",
        )
    searched = SEARCHED_FOR_KEY if count.count is None else count.count
    matches: dict[str, Task] = {}
    for start in range(0, searched, 5000):
        batch = await loaded.tasks(start, min(searched, start + 5000))
        for task in batch:
            if task.key.startswith(text):
                matches.setdefault(task.key, task)
        if not batch or (matches and count.infinite):
            break
    if len(matches) == 1:
        return next(iter(matches.values()))
    problem = "names several tasks" if matches else "names no task"
    raise UsageError(f"--task {text!r} {problem} of {name!r}", hint="see `envwright env tasks`")


def plan_trials(
    request: Request, loaded: Loaded, cast: Cast, tasks: Sequence[Task], store: Store
) -> tuple[Plan, dict[str, TrialSpec]]:
    """The plan, and its trials by id."""
    revision = loaded.environment.revision
    seating = seating_of(request, loaded.environment, cast)
    plan = Plan(
        tasks=tuple((task.index, task.key) for task in tasks),
        agents=request.agents,
        trials=request.trials,
        sampling=request.sampling,
        args=request.args,
        judge=cast.judge.content if cast.judge else None,
        seat=seating.measured if len(loaded.environment.seats) > 1 else None,
        played={name: model.content for name, model in seating.played.items()},
        limits=request.limits,
        cap=request.budget.of_trial(),
        venv=loaded.venv,
        egress=loaded.permit.egress if loaded.permit.egress.mode is not Mode.NONE else None,
        secrets=tuple(sorted(loaded.permit.secrets.values)),
        prepared=loaded.prepared,
    )
    names = [str(agent) for agent in request.agents]
    first = store.read(sweeps.next_n, revision, names) if request.fresh else 0
    return plan, {spec.id: spec for spec in trials_of(plan, revision, first)}


async def run_sweep(
    request: Request, loaded: Loaded, cast: Cast, store: Store, gateway: Gateway, watch: Watch
) -> SweepResult:
    environment = loaded.environment
    tasks = await select_tasks(loaded, request)
    plan, planned = plan_trials(request, loaded, cast, tasks, store)
    sweep = new_sweep_id()
    now = datetime.now(UTC)

    def save() -> set[str]:
        lost = store.write(trials.close_lost, is_alive, now)
        store.write(sweeps.save_sweep, sweep, environment, plan, list(planned.values()), now)
        store.write(sweeps.save_tasks, environment, request.args, tasks)
        # What took its worker with it time and again is reported, not started once more.
        given_up = {trial for trial in lost if store.read(trials.is_given_up, trial)}
        return store.read(sweeps.unscored, sweep) - given_up

    await store.blobs.check()
    missing = await asyncio.to_thread(save)
    watch.planned(sweep, list(planned.values()), missing)
    engine = MemoryEngine()
    for agent in request.agents:
        model = cast.models.get(agent.queue)
        own = request.queue_limits.get(agent.queue) or (model.limit if model else HOST_LIMIT)
        engine.ensure_queue(agent.queue, request.limit or own)
    for trial, spec in planned.items():
        if trial in missing:
            engine.submit(job_of(spec, trial))
    begun = time.monotonic()

    def exhausted() -> str | None:
        spent = gateway.spent.plus(0, 0.0, time.monotonic() - begun)
        return request.budget.exceeded(spent)

    bench_of = bencher(request, loaded, cast, gateway)
    work = TrialWork(store, planned, bench_of, watch.ended, exhausted)
    await engine.run({KIND: work}, watch.stop)
    closed = {name: stats.closed for name, stats in engine.stats().items() if stats.closed}
    await store.flush()
    summaries = await asyncio.to_thread(
        lambda: store.read(lambda c: list(sweeps.summaries(c, sweep)))
    )
    why = store.read(sweeps.failure_counts, sweep)
    apart = store.read(sweeps.spent_apart, sweep, [ENVIRONMENT, *plan.played])
    result = sum_up(sweep, request.agents, summaries, apart, closed, tuple(engine.failures))
    return result.model_copy(update={"why": why})


def bencher(
    request: Request, loaded: Loaded, cast: Cast, gateway: Gateway
) -> Callable[[TrialSpec], Bench]:
    played = seating_of(request, loaded.environment, cast).played

    def bench_of(spec: TrialSpec) -> Bench:
        agent = spec.agent
        script = cast.scripts.get(agent.subject or "") if agent.kind is AgentKind.SCRIPTED else None
        return Bench(
            hosts=loaded.pool,
            gateway=gateway,
            model=cast.models.get(agent.subject or "") if agent.kind.needs_model else None,
            judge=cast.judge,
            limits=request.limits,
            assignment=Assignment(
                agent=agent, turns=request.limits.turns, wall_seconds=request.limits.wall_seconds
            ),
            replies=script.replies_for(spec.index, spec.key) if script else [],
            played=played,
        )

    return bench_of


def new_sweep_id() -> str:
    """Sorts by time: seconds in hex, then chance."""
    return f"{int(datetime.now(UTC).timestamp()):08x}{secrets.token_hex(4)}"
