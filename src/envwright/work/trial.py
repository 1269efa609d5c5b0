"""The job that runs one trial: claim, run, keep the trace, record, decide what is next."""

import asyncio
import os
import random
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from envwright.model import RetryPolicy
from envwright.queue import Done, Job, Park, Result
from envwright.queue.policy import Again, Failure, Tried, next_try
from envwright.record import Json, mapping
from envwright.store import Store
from envwright.store import trial as trials
from envwright.trial import Failed, Grade, Outcome, Scored, TrialSpec
from envwright.trial.attempt import Attempt, AttemptState
from envwright.trial.run import Bench, run

KIND = "trial"


@dataclass(slots=True)
class TrialWork:
    """Handles `trial` jobs of one sweep."""

    store: Store
    specs: Mapping[str, TrialSpec]
    bench_of: Callable[[TrialSpec], Bench]
    ended: Callable[[TrialSpec, Outcome], None]
    exhausted: Callable[[], str | None]
    """Which cap of the sweep's budget is reached, in words."""

    async def __call__(self, job: Job) -> Result:
        if (reached := self.exhausted()) is not None:
            return Done(close_queue=f"the budget is spent: {reached}")
        spec = self.specs[job.id]
        bench = self.bench_of(spec)
        isolated = bool(job.payload.get("isolated"))
        now = datetime.now(UTC)
        n = await self.store.write_soon(trials.open_attempt, job.id, worker_name(), now)
        try:
            attempt, grade = await run(spec, n, bench, isolated=isolated)
            blob = await self.keep(attempt)
        except asyncio.CancelledError:
            self.store.write(trials.close_attempt, cancelled(job.id, n, now), None, None, None)
            raise
        if grade is None:
            await self.store.write_soon(trials.close_attempt, attempt, blob, None, None)
            return Park(0.0, payload={**job.payload, "isolated": True})
        again = again_after(grade, tried(job), bench)
        final = grade.outcome if again is None else None
        await self.store.write_soon(trials.close_attempt, attempt, blob, grade, final)
        if again is not None:
            return Park(again.seconds, payload={**job.payload, "tried": asdict(again.tried)})
        self.ended(spec, grade.outcome)
        if isinstance(grade.outcome, Failed) and grade.outcome.refused:
            return Done(close_queue=grade.outcome.detail)
        return Done()

    async def keep(self, attempt: Attempt) -> str | None:
        """The traces as a blob, before anything says that they exist."""
        if not attempt.traces:
            return None
        name = f"traces/{attempt.trial[:2]}/{attempt.trial}/{attempt.n}.json.zst"
        body = b"[" + b",".join(t.model_dump_json().encode() for t in attempt.traces) + b"]"
        await self.store.blobs.put(name, body)
        return name


def tried(job: Job) -> Tried:
    return Tried(**mapping(job.payload.get("tried")))


def again_after(grade: Grade, before: Tried, bench: Bench) -> Again | None:
    """When the trial is tried again; None when this grade is its last."""
    outcome = grade.outcome
    if isinstance(outcome, Scored):
        return None
    failure = Failure(outcome.cause, outcome.retryable, outcome.fault, outcome.retry_after_seconds)
    retry = bench.model.retry if bench.model else RetryPolicy()
    return next_try(failure, before, random.random(), retry)


def cancelled(trial: str, n: int, started_at: datetime) -> Attempt:
    return Attempt(
        trial=trial,
        n=n,
        state=AttemptState.CANCELLED,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        problem="the sweep was stopped",
    )


def job_of(spec: TrialSpec, trial: str) -> Job:
    payload: Json = {}
    return Job(kind=KIND, id=trial, queue=spec.agent.queue, payload=payload)


def worker_name() -> str:
    """This process, so that others can tell whether it is still there."""
    return f"{os.uname().nodename}:{os.getpid()}:{started_ticks(os.getpid())}"


def is_alive(worker: str) -> bool:
    """Whether a worker still runs; one of another machine is taken to."""
    node, pid, ticks = worker.rsplit(":", 2)
    return node != os.uname().nodename or started_ticks(int(pid)) == ticks


def started_ticks(pid: int) -> str:
    """When a process began, in the kernel's ticks: a reused pid is another process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]
