"""A sweep: planned once, submitted to the queues, ended when its last trial is.

Only trials without a `Scored` outcome are run; what an earlier sweep measured counts for
this one, and a trial that another sweep runs already is waited for, not run twice.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from envwright.environment import Environment, Task
from envwright.environment.egress import Mode
from envwright.errors import UsageError
from envwright.host import Loaded
from envwright.queue import CONTROL, Done, Job, Park, Result
from envwright.queue.job import CONTROL_LIMIT
from envwright.store import Store, schema
from envwright.store import result as results
from envwright.store import status as statuses
from envwright.store import sweep as sweeps
from envwright.store import trial as trials
from envwright.store.revision import keep_revision
from envwright.store.sweep import NewSweep, SweepRow, SweepState
from envwright.trial import TrialSpec
from envwright.trial.part import Cast, Part
from envwright.trial.plan import Plan, trials_of
from envwright.trial.seat import Seating, check_judge, seat_all
from envwright.work.request import Request
from envwright.work.trial import LOOK_AGAIN_SECONDS, Order, ignore, job_of

if TYPE_CHECKING:
    from envwright.store.state import JobStore

KIND = "sweep"
HOST_LIMIT = 32
"""Trials at once of agents that ask no model."""
AT_ONCE = 500
MOST_TRIALS = 1_000_000
"""Of one environment in a sweep: all of them are planned at once, in memory."""
GONE = "the command that ran it is gone"


@dataclass(frozen=True, slots=True)
class Planned:
    """One environment of a sweep, with its trials by id."""

    part: Part
    loaded: Loaded
    tasks: Sequence[Task]
    trials: Mapping[str, TrialSpec]


def seating_of(request: Request, environment: Environment, cast: Cast) -> Seating:
    check_judge(environment, cast.judge)
    return seat_all(environment, request.seat, cast.seats, cast.judge)


def plan_trials(
    request: Request, loaded: Loaded, cast: Cast, tasks: Sequence[Task], store: Store
) -> tuple[Plan, dict[str, TrialSpec]]:
    """The plan, and its trials by id."""
    refuse_too_many(len(tasks) * len(request.agents) * request.trials)
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
        cap=request.cap,
        venv=loaded.venv,
        egress=loaded.permit.egress if loaded.permit.egress.mode is not Mode.NONE else None,
        secrets=tuple(sorted(loaded.permit.secrets.values)),
        prepared=loaded.prepared,
    )
    names = [str(agent) for agent in request.agents]
    first = store.read(sweeps.next_n, revision, names) if request.fresh else 0
    return plan, {spec.id: spec for spec in trials_of(plan, revision, first)}


def refuse_too_many(trials: int) -> None:
    if trials > MOST_TRIALS:
        raise UsageError(
            f"{trials:,} trials are more than a sweep may have ({MOST_TRIALS:,})",
            hint="lower --trials, or choose tasks with -n",
        )


def new_sweep_id() -> str:
    """Sorts by time: seconds in hex, then chance."""
    return f"{int(datetime.now(UTC).timestamp()):08x}{secrets.token_hex(4)}"


def limits_of(planned: Sequence[Planned], given: Mapping[str, int]) -> dict[str, int]:
    """Queue → trials at once; the models of judges and seats have queues too."""
    limits: dict[str, int] = {}
    for each in planned:
        for agent in each.part.plan.agents:
            limits.setdefault(agent.queue, HOST_LIMIT)
        limits |= {model.name: model.limit for model in each.part.asked}
    return {**limits, **{name: limit for name, limit in given.items() if name in limits}}


async def submit(
    new: NewSweep,
    planned: Sequence[Planned],
    limits: Mapping[str, int],
    store: Store,
    state: "JobStore",
    say: Callable[[str], None],
) -> set[str]:
    """Keep the sweep and put what is missing of it into the queues; the trials that are."""
    await store.blobs.check()
    for each in planned:
        await keep_revision(store.blobs, each.loaded.source)
    now = datetime.now(UTC)
    parts = [each.part for each in planned]
    environments = [each.loaded.environment for each in planned]
    await store.write_soon(sweeps.save_sweep, new, parts, environments, now)
    for each in planned:
        environment = each.loaded.environment
        await store.write_soon(sweeps.save_tasks, environment, each.part.args, each.tasks)
        specs = list(each.trials.values())
        for start in range(0, len(specs), AT_ONCE):
            some = specs[start : start + AT_ONCE]
            await store.write_soon(sweeps.save_trials, new.id, environment.name, some, now)
    await state.ensure_queue(CONTROL, CONTROL_LIMIT)
    for name, limit in limits.items():
        await state.ensure_queue(name, limit)
    sweep = await read_sweep(store, new.id)
    return await enqueue(sweep, [each.trials for each in planned], store, state, say)


async def enqueue(
    sweep: SweepRow,
    planned: Sequence[Mapping[str, TrialSpec]],
    store: Store,
    state: "JobStore",
    say: Callable[[str], None],
    only: Set[str] | None = None,
) -> set[str]:
    """Put a sweep's trials without a reward into the queues, and its end behind them."""
    # Until all is queued it is not running: its end, should that come up first, waits.
    resumable = [each for each in SweepState if each is not SweepState.RUNNING]
    await store.write_soon(sweeps.set_state, sweep.id, SweepState.PLANNING, among=resumable)
    missing = await asyncio.to_thread(store.read, sweeps.unscored, sweep.id)
    missing = missing if only is None else missing & only
    before = await asyncio.to_thread(store.read, trials.attempts_before, sorted(missing))
    jobs = [
        job_of(spec, Order(sweep.id, n, trial, before.get(trial, 0)), sweep.priority)
        for n, part in enumerate(planned)
        for trial, spec in part.items()
        if trial in missing
    ]
    for start in range(0, len(jobs), AT_ONCE):
        await state.submit(jobs[start : start + AT_ONCE], 0.0, (), again=True)
        if len(jobs) > 10 * AT_ONCE:
            say(f"{min(start + AT_ONCE, len(jobs))} of {len(jobs)} trials are queued")
    end = Job(kind=KIND, id=f"sweep:{sweep.id}", queue=CONTROL, route=sweep.id)
    planning = [SweepState.PLANNING]
    running = partial(sweeps.set_state, sweep=sweep.id, state=SweepState.RUNNING, among=planning)
    await state.submit_last(end, [job.id for job in jobs], lambda c: ignore(running(c)))
    return missing


@dataclass(slots=True)
class SweepWork:
    """Handles `sweep` jobs: when the last trial is final, so is the sweep."""

    store: Store
    state: "JobStore"

    async def __call__(self, job: Job) -> Result:
        sweep = await read_sweep(self.store, job.route)
        if sweep.state is SweepState.PLANNING or await self.goes_on(sweep):
            return Park(LOOK_AGAIN_SECONDS)
        return Done(record=lambda c: ignore(sweeps.set_state(c, sweep.id, SweepState.DONE)))

    async def goes_on(self, sweep: SweepRow) -> bool:
        """Whether trials are left: another sweep, which ran them for this one too, gave them up."""
        if sweep.state is not SweepState.RUNNING:
            return False
        await take_over(sweep, self.store, self.state)
        counts = await asyncio.to_thread(self.store.read, statuses.count_trials, sweep.id)
        return any(each.open for each in counts.values())


async def read_sweep(store: Store, name: str) -> SweepRow:
    row = await asyncio.to_thread(store.read, sweeps.read_sweep, name)
    assert row is not None
    return row


def find_sweep(store: Store, text: str) -> SweepRow:
    """The sweep whose id begins so; `UsageError` when there is none, or several."""
    found = store.read(sweeps.find_sweep, text)
    if len(found) != 1:
        problem = "names several sweeps" if found else "is no sweep"
        raise UsageError(f"{text!r} {problem}", hint="see `envwright sweep list`")
    row = store.read(sweeps.read_sweep, found[0])
    assert row is not None
    return row


async def resume(
    sweep: SweepRow,
    store: Store,
    state: "JobStore",
    say: Callable[[str], None],
    only: Set[str] | None = None,
) -> set[str]:
    """Put back what has no reward, or only these of it."""
    parts = await asyncio.to_thread(store.read, sweeps.parts_of, sweep.id)
    if not parts:
        raise UsageError(
            f"sweep {sweep.id} was kept by an older release, without what it needs to run",
            hint="run its command again",
        )
    known = await asyncio.to_thread(store.read, sweeps.specs_of, sweep.id)
    planned: list[dict[str, TrialSpec]] = [{} for _ in parts]
    for trial, spec in known.items():
        n = next(i for i, part in enumerate(parts) if covers(part, spec))
        planned[n][trial] = spec
    return await enqueue(sweep, planned, store, state, say, only)


def covers(part: Part, spec: TrialSpec) -> bool:
    same = part.revision == spec.revision and part.plan.args == spec.args
    return same and (spec.index, spec.key) in part.plan.tasks and spec.agent in part.plan.agents


async def end_sweep(
    sweep: str, to: SweepState, why: str, store: Store, state: "JobStore"
) -> tuple[int, int]:
    """Stop or cancel: how many trials had not begun, and how many run and are ended soon."""
    await store.write_soon(sweeps.set_state, sweep, to, why)
    table = schema.job
    ended = await state.cancel_where((table.c.route == sweep) & (table.c.kind == "trial"), why)
    await hand_over(store, state)
    return ended


async def hand_over(store: Store, state: "JobStore") -> None:
    """Trials that one sweep gave up and another still wants are put back for that one."""
    for sweep in await asyncio.to_thread(store.read, sweeps.under_way):
        await take_over(sweep, store, state)


async def take_over(sweep: SweepRow, store: Store, state: "JobStore") -> None:
    if await asyncio.to_thread(store.read, statuses.stuck_trials, sweep.id):
        await resume(sweep, store, state, lambda _: None)


async def adopt(sweep: str, store: Store, state: "JobStore") -> None:
    """Trials that wait in sweeps which nobody works on are this sweep's from now on."""
    if waiting := await asyncio.to_thread(store.read, statuses.neglected_jobs, sweep):
        await state.cancel(waiting, "another sweep runs it")
        await take_over(await read_sweep(store, sweep), store, state)


async def settle_orphans(store: Store, state: "JobStore") -> list[str]:
    """Sweeps whose command is gone: whoever stays serves them, else they are stopped."""
    stopped = await store.write_soon(sweeps.take_orphans)
    for sweep in stopped:
        await end_sweep(sweep, SweepState.STOPPED, GONE, store, state)
    return stopped


def history_of(
    store: Store, revision: str, agents: Sequence[str]
) -> dict[str, tuple[float, float, int]]:
    """Agent → tokens in and out of a scored trial, and of how many."""
    found = {agent: store.read(results.mean_tokens, revision, agent) for agent in agents}
    return {agent: each for agent, each in found.items() if each is not None}
