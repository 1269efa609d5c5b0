"""Sweeps, as commands ask for them: plan, submit, work, watch, sum up."""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from envwright import __version__
from envwright.app.app import App
from envwright.app.plan import plan_all
from envwright.budget import Budget
from envwright.errors import Interrupted, UsageError
from envwright.gateway import ENVIRONMENT, Gateway
from envwright.host import Loaded
from envwright.options import SweepOptions
from envwright.queue.state import Worker
from envwright.record import Json
from envwright.store import result as results
from envwright.store import status as statuses
from envwright.store import sweep as sweeps
from envwright.store.address import shown_database
from envwright.store.queue import Parked, parked_for
from envwright.store.status import Counts
from envwright.store.sweep import NewSweep, SweepState
from envwright.trial.part import Cast, Part
from envwright.work import sweep as sweep_work
from envwright.work.result import SweepResult, sum_up, titles
from envwright.work.sweep import Planned
from envwright.work.trial import find_trial
from envwright.work.worker import (
    Tools,
    Workshop,
    check_releases,
    is_gone,
    worker_name,
    worker_place,
)

T = TypeVar("T")
SLOTS = 512
"""Trials at once of one worker, of all queues together."""
LOOK_SECONDS, LOOK_SHARE = 0.25, 10
"""How often a sweep is looked at: no less far apart, and so many times as long as a look takes."""
CANCEL_SECONDS = 15.0
"""How long a cancelled sweep's workers are waited for."""
STOPPED = "it was stopped"


@dataclass(slots=True)
class Watch:
    """How the edge follows a sweep."""

    planned: Callable[[str, int, int], None]
    """Told the sweep's id, how many trials it has and how many are scored already."""
    seen: Callable[[Mapping[tuple[str, str], Counts], Mapping[str, Parked]], None]
    """Told, again and again, how the trials of each environment and agent stand, and which
    queues hold them up."""
    stop: asyncio.Event


def new_sweep(app: App, options: SweepOptions, worker: str | None) -> NewSweep:
    return NewSweep(
        id=sweep_work.new_sweep_id(),
        release=__version__,
        worker=worker,
        priority=options.priority,
        labels=options.labels,
        budget=app.settings.file.budget,
        until_certain=options.until_certain,
    )


def limits_of(options: SweepOptions, planned: Sequence[Planned]) -> dict[str, int]:
    limits = sweep_work.limits_of(planned, options.limits)
    for run, each in zip(options.runs, planned, strict=False):
        if run.limit is not None:
            limits |= {agent.queue: run.limit for agent in each.part.plan.agents}
    return limits


async def submit(app: App, options: SweepOptions) -> str:
    """Queue a sweep for whatever workers there are; its id."""
    gateway = app.gateway()
    planned = await plan_all(app, options, gateway)
    for each in planned:
        if each.part.sandbox != "bubblewrap" or each.part.venv is not None:
            app.say("note: only workers with the same --sandbox and --venv can serve it")
            break
    new = new_sweep(app, options, None)
    limits = limits_of(options, planned)
    await sweep_work.submit(new, planned, limits, app.store, app.jobs, app.say)
    return new.id


async def run(app: App, options: SweepOptions, watch: Watch) -> SweepResult:
    """Submit a sweep, work on it in this process, and follow it to its end."""
    gateway = app.gateway()
    planned = await until(watch.stop, plan_all(app, options, gateway))
    return await run_planned(app, options, planned, gateway, watch)


async def run_planned(
    app: App, options: SweepOptions, planned: Sequence[Planned], gateway: Gateway, watch: Watch
) -> SweepResult:
    worker = Worker(worker_name(), SLOTS, stays=False, release=__version__)
    new = new_sweep(app, options, worker.id)
    async with at_work(app, worker):
        limits = limits_of(options, planned)
        submitting = sweep_work.submit(new, planned, limits, app.store, app.jobs, app.say)
        try:
            missing = await until(watch.stop, submitting)
        except Interrupted:
            await sweep_work.end_sweep(new.id, SweepState.STOPPED, STOPPED, app.store, app.jobs)
            raise
        await sweep_work.adopt(new.id, app.store, app.jobs)
    total = sum(len(each.trials) for each in planned)
    watch.planned(new.id, total, total - len(missing))
    workshop = workshop_of(app, gateway, worker, new.id)
    for each in planned:
        workshop.warm.lend(each.part, each.loaded)
    await work_and_watch(app, workshop, new.id, watch)
    return await result_of(app, new.id, workshop.engine.failures)


@asynccontextmanager
async def at_work(app: App, worker: Worker) -> AsyncGenerator[None]:
    """Others see that this worker is there; what dead ones left is taken care of first."""
    await app.jobs.hello(worker)

    async def beat() -> None:
        while True:
            await app.jobs.beat(worker.id)
            await asyncio.sleep(1.0)

    beating = asyncio.create_task(beat())
    try:
        await app.jobs.reap(worker.id, is_gone)
        await sweep_work.settle_orphans(app.store, app.jobs)
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)


def workshop_of(app: App, gateway: Gateway, worker: Worker, sweep: str | None) -> Workshop:
    async def cast(part: Part) -> Cast:
        app.give_keys(gateway, part.asked)
        return await app.models_of(part)

    async def load(part: Part) -> Loaded:
        app.give_keys(gateway, part.asked)
        return await app.load_part(part, gateway)

    tools = Tools(
        load=load,
        cast=cast,
        unserved=app.unserved,
        say=app.say,
        store_budget=app.settings.file.store.budget,
    )
    return Workshop(app.store, app.jobs, gateway, tools, worker, sweep)


async def work_and_watch(app: App, workshop: Workshop, sweep: str, watch: Watch) -> None:
    over = asyncio.Event()
    working = asyncio.create_task(workshop.run(over, drain=True))
    watching = asyncio.create_task(follow(app, sweep, watch))
    stopped = asyncio.create_task(watch.stop.wait())
    try:
        await asyncio.wait({working, watching, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        over.set()
        for task in (watching, stopped):
            task.cancel()
        await asyncio.gather(watching, stopped, return_exceptions=True)
        try:
            await working
            await look(app, sweep, watch)
        finally:
            lost = not watching.cancelled() and watching.exception() is not None
            ended = working.cancelled() or working.exception() is not None
            if watch.stop.is_set() or ended or lost:
                await sweep_work.end_sweep(sweep, SweepState.STOPPED, STOPPED, app.store, app.jobs)
    if lost:
        watching.result()


async def follow(app: App, sweep: str, watch: Watch) -> None:
    """Until the sweep is over. Of a large one, to look takes long: it is looked at less often."""
    while True:
        looked = time.monotonic()
        row = await sweep_work.read_sweep(app.store, sweep)
        await look(app, sweep, watch)
        if row.state not in (SweepState.PLANNING, SweepState.RUNNING):
            return
        pause = max(LOOK_SECONDS, LOOK_SHARE * (time.monotonic() - looked))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(watch.stop.wait(), pause)
            return


async def look(app: App, sweep: str, watch: Watch) -> None:
    counts = await asyncio.to_thread(app.store.read, statuses.count_trials, sweep)
    parked = await asyncio.to_thread(app.store.read, parked_for, sweep)
    watch.seen(counts, parked)


async def work(app: App, stop: asyncio.Event, *, slots: int, drain: bool) -> None:
    """Work on whatever is queued."""
    await app.check_sandbox()
    await app.store.blobs.check()
    check_releases(app.store, __version__)
    worker = Worker(worker_name(), slots, stays=True, release=__version__)
    workshop = workshop_of(app, app.gateway(), worker, None)
    async with at_work(app, worker):
        pass
    await workshop.run(stop, drain=drain)


async def introduce(app: App, slots: int) -> str:
    """What this worker is, in a line."""
    where = shown_database(app.store.engine.url)
    return f"worker {worker_place()}: envwright {__version__}, {slots} slots, store {where}"


async def watch(app: App, text: str, watch: Watch) -> SweepResult:
    """Follow a sweep that others work on."""
    row = sweep_work.find_sweep(app.store, text)
    await follow(app, row.id, watch)
    return await result_of(app, row.id)


async def cancel(app: App, text: str) -> Json:
    """End a sweep, and wait until nothing of it runs."""
    row = sweep_work.find_sweep(app.store, text)
    if row.state not in (SweepState.PLANNING, SweepState.RUNNING):
        raise UsageError(f"sweep {row.id} is {row.state} already", hint="there is nothing to end")
    before = row.killed
    words = "it was cancelled"
    waiting, running = await sweep_work.end_sweep(
        row.id, SweepState.CANCELLED, words, app.store, app.jobs
    )
    left = running
    for _ in range(round(CANCEL_SECONDS / LOOK_SECONDS) if running else 0):
        counts = await asyncio.to_thread(app.store.read, statuses.count_trials, row.id)
        left = sum(each.running for each in counts.values())
        row = await sweep_work.read_sweep(app.store, row.id)
        if not left and row.killed > before:
            break
        await asyncio.sleep(LOOK_SECONDS)
    killed = row.killed - before
    said = {"sweep": row.id, "waiting": waiting, "running": running}
    return {**said, "killed": killed, "left": left}


async def resume(app: App, text: str, more: Budget) -> tuple[str, int]:
    """Put back what has no reward; how many trials that are."""
    row = sweep_work.find_sweep(app.store, text)
    if row.release != __version__:
        raise UsageError(
            f"sweep {row.id} was submitted by envwright {row.release}, and this is {__version__}",
            hint="run its command again",
        )
    if row.state is SweepState.RUNNING:
        raise UsageError(
            f"sweep {row.id} is running", hint=f"see `envwright sweep status {row.id}`"
        )
    await app.store.write_soon(sweeps.detach, row.id, row.budget.under(more))
    queued = await sweep_work.resume(row, app.store, app.jobs, app.say)
    return row.id, len(queued)


async def retry(app: App, text: str) -> tuple[str, str]:
    """Put back one trial that failed: its id, and the sweep that it is queued in."""
    row = find_trial(app.store, text)
    if row.outcome is None or row.outcome["kind"] != "failed":
        state = "was scored" if row.outcome else "has no outcome yet"
        raise UsageError(
            f"trial {row.id[:12]} {state}", hint="only a trial that failed is tried again"
        )
    sweep = await asyncio.to_thread(app.store.read, sweeps.last_with, row.id)
    if sweep is None or sweep.release != __version__:
        raise UsageError(
            f"trial {row.id[:12]} is in no sweep of this release", hint="run its command again"
        )
    await app.store.write_soon(sweeps.detach, sweep.id, sweep.budget)
    await sweep_work.resume(sweep, app.store, app.jobs, app.say, only={row.id})
    return row.id, sweep.id


def list_sweeps(app: App, count: int, label: str | None) -> list[Json]:
    rows = app.store.read(sweeps.list_sweeps, count, label)
    unknown = app.store.read(results.of_unknown_cost, [row.id for row in rows])
    return [
        {
            "sweep": row.id,
            "environment": row.environment,
            "state": str(row.state),
            "why": row.why,
            "labels": list(row.labels),
            "priority": row.priority,
            "created_at": row.created_at.isoformat(),
            "spent_tokens": row.spent_tokens,
            "spent_usd": None if row.id in unknown else row.spent_usd,
        }
        for row in rows
    ]


async def status(app: App, text: str) -> Json:
    """How a sweep stands, as one object."""
    row = sweep_work.find_sweep(app.store, text)
    counts = await asyncio.to_thread(app.store.read, statuses.count_trials, row.id)
    called = titles(counts)
    agents = {called[name]: counted(each) for name, each in counts.items()}
    result = await result_of(app, row.id)
    for name, found in result.agents.items():
        agents.setdefault(name, counted(Counts()))["mean_reward"] = found.mean_reward
    total = counted(sum(counts.values(), Counts()))
    unknown = await asyncio.to_thread(app.store.read, results.of_unknown_cost, [row.id])
    return {
        "sweep": row.id,
        "state": str(row.state),
        "why": row.why,
        "environment": row.environment,
        "labels": list(row.labels),
        **total,
        "spent_tokens": row.spent_tokens,
        "spent_usd": None if unknown else row.spent_usd,
        "wasted_tokens": await asyncio.to_thread(app.store.read, results.wasted_tokens, row.id),
        "agents": agents,
    }


def counted(counts: Counts) -> Json:
    return {
        "total": counts.total,
        "scored": counts.scored,
        "solved": counts.solved,
        "failed": dict(sorted(counts.failed.items())),
        "waiting": counts.waiting,
        "running": counts.running,
        "parked": counts.parked,
        "cancelled": counts.cancelled,
    }


async def result_of(app: App, sweep: str, failures: Sequence[str] = ()) -> SweepResult:
    """What a sweep came to, from the store alone."""
    store = app.store
    await store.flush()
    parts = await asyncio.to_thread(store.read, sweeps.parts_of, sweep)
    agents = {(part.environment, str(agent)): agent for part in parts for agent in part.plan.agents}
    played = dict.fromkeys(seat for part in parts for seat in part.plan.played)
    summaries = await asyncio.to_thread(
        lambda: store.read(lambda c: list(results.summaries(c, sweep)))
    )
    apart = store.read(results.spent_apart, sweep, [ENVIRONMENT, *played])
    counts = store.read(statuses.count_trials, sweep)
    row = await sweep_work.read_sweep(store, sweep)
    broken = dict.fromkeys([*failures, *store.read(statuses.broken_jobs, sweep)])
    return sum_up(sweep, agents, summaries, apart, counts).model_copy(
        update={
            "why": store.read(results.failure_counts, sweep),
            "closed": store.read(statuses.closed_queues, sweep),
            "failures": tuple(broken),
            "state": row.state,
            "stopped_by": row.why,
        }
    )


async def until(stop: asyncio.Event, work: Coroutine[Any, Any, T]) -> T:
    """The work's result, unless the user stops it first."""
    preparing = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(stop.wait())
    await asyncio.wait({preparing, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if not preparing.done():
        preparing.cancel()
        await asyncio.gather(preparing, return_exceptions=True)
        raise Interrupted("stopped before the first trial")
    return preparing.result()
