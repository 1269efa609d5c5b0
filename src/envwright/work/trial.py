"""The job that runs one trial: reserve, run, keep the trace, record, decide what is next.

What it spent and what it came to are written together with the job's own end. A trial that
its provider sent away is parked; what that wasted stays in the ledger.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import sqlalchemy as sa

from envwright.budget import Budget, Room, Spending, Spent, Start, Wait
from envwright.errors import Broken, Cause, Unserved, UsageError
from envwright.model import RetryPolicy
from envwright.queue import Cancel, Done, Job, Learned, Park, Result
from envwright.queue.policy import Failure, Tried, next_try
from envwright.record import Json
from envwright.stats import certain, why_certain
from envwright.store import Store
from envwright.store import queue as queues
from envwright.store import result as results
from envwright.store import status as statuses
from envwright.store import sweep as sweeps
from envwright.store import trial as trials
from envwright.store.job import is_held
from envwright.store.spending import reserve, settle
from envwright.trial import Failed, Grade, Outcome, Scored, TrialSpec
from envwright.trial.attempt import Attempt, AttemptState
from envwright.trial.run import Bench, run

KIND = "trial"
LOOK_AGAIN_SECONDS = 1.0
"""A trial that waits for others to leave it room in the budget."""
SOLVED_ABOVE = statuses.SOLVED_ABOVE
MOST_WORDS = 200
HOPELESS_AFTER = 7
"""Failures in a row of a provider that never answered a sweep, until that sweep leaves it."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a job of this kind asks for."""

    sweep: str
    part: int
    trial: str
    before: int = 0
    """Attempts that the trial had when it was submitted."""
    isolated: bool = False
    tried: Tried = Tried()

    @classmethod
    def of(cls, job: Job) -> "Order":
        said = job.payload
        tried = Tried(charged=int(said.get("charged", 0)), parks=int(said.get("parks", 0)))
        trial = job.id.removeprefix("trial:")
        return cls(
            sweep=str(said["sweep"]),
            part=int(said["part"]),
            trial=trial,
            before=int(said.get("before", 0)),
            isolated=bool(said.get("isolated")),
            tried=tried,
        )

    def payload(self) -> Json:
        said: Json = {"sweep": self.sweep, "part": self.part, "before": self.before}
        if self.isolated:
            said["isolated"] = True
        return {**said, "charged": self.tried.charged, "parks": self.tried.parks}


def job_of(spec: TrialSpec, order: Order, priority: int = 0) -> Job:
    return Job(
        kind=KIND,
        id=statuses.trial_job(order.trial),
        queue=spec.agent.queue,
        payload=order.payload(),
        priority=priority,
        route=order.sweep,
        parent=f"sweep:{order.sweep}",
    )


@dataclass(frozen=True, slots=True)
class Begun:
    spec: TrialSpec
    sweep: sweeps.SweepRow
    attempt: int | None
    """None when the trial is given up."""
    room: Room = Start()
    reserved: Spending = Spending()


@dataclass(slots=True)
class TrialWork:
    """Handles `trial` jobs, of whatever sweep."""

    store: Store
    worker: Callable[[], str]
    bench: Callable[[Order, TrialSpec], AbstractAsyncContextManager[Bench]]
    estimated: Callable[[Order, str], Awaitable[Spending]]
    cancel: Callable[[Sequence[str], str], Awaitable[int]]
    refuse: Callable[[str, Unserved], None]
    store_budget: Budget = Budget()

    async def __call__(self, job: Job) -> Result:
        order = Order.of(job)
        now = datetime.now(UTC)
        spec = await self.store.read_soon(trials.spec_of, order.trial)
        guess = await self.estimated(order, str(spec.agent))
        begun = await self.store.write_surely(self.begin, job, order, spec, guess, now)
        if begun is None:
            # Nothing of this is written either: it is another's.
            return Park(0.0)
        match begun.room:
            case Wait():
                return Park(LOOK_AGAIN_SECONDS)
            case Spent(why=why):
                words = f"the budget is spent: {why}"
                state = sweeps.SweepState.SPENT
                return Cancel(
                    words,
                    record=lambda c: ignore(sweeps.set_state(c, order.sweep, state, words)),
                    route=True,
                )
            case Start():
                pass
        if begun.attempt is None:
            return Done(record=lambda c: trials.set_outcome(c, order.trial, trials.GIVEN_UP, now))
        try:
            attempt, grade, retry = await self.attempt(order, begun, now)
            blob = await self.keep(attempt)
        except asyncio.CancelledError:
            self.store.write(self.close_cancelled, order, begun, now)
            raise
        except Unserved as why:
            self.store.write(self.close_cancelled, order, begun, now)
            self.refuse(order.sweep, why)
            return Park(LOOK_AGAIN_SECONDS)
        if grade is not None and await self.is_hopeless(order, spec, grade.outcome):
            grade = given_up(grade)
        result = decide(order, begun, attempt, grade, retry, blob)
        if isinstance(result, Done) and begun.sweep.until_certain and grade is not None:
            await self.stop_early(order, spec, grade.outcome)
        return result

    def begin(
        self,
        connection: sa.Connection,
        job: Job,
        order: Order,
        spec: TrialSpec,
        guess: Spending,
        now: datetime,
    ) -> Begun | None:
        """A fresh attempt, what it may cost set aside; what died before it is closed and paid.

        None when somebody else holds the job by now: theirs is the attempt that is open.
        """
        agent, worker = str(spec.agent), self.worker()
        if not is_held(connection, job, worker):
            return None
        n = trials.opened_attempt(connection, order.trial, worker, now)
        for lost in trials.close_lost(connection, order.trial, now) if n is None else ():
            settle(connection, order.sweep, agent, order.trial, lost)
        sweep = sweeps.read_sweep(connection, order.sweep)
        assert sweep is not None
        if trials.is_given_up(connection, order.trial, order.before):
            return Begun(spec, sweep, None)
        room, reserved = reserve(connection, order.sweep, job, agent, guess, self.store_budget)
        if not isinstance(room, Start):
            return Begun(spec, sweep, None, room)
        n = n or trials.open_attempt(connection, order.trial, worker, now)
        return Begun(spec, sweep, n, room, reserved)

    async def attempt(
        self, order: Order, begun: Begun, now: datetime
    ) -> tuple[Attempt, Grade | None, RetryPolicy]:
        n = begun.attempt
        assert n is not None
        try:
            async with self.bench(order, begun.spec) as bench:
                retry = bench.model.retry if bench.model else RetryPolicy()
                attempt, grade = await run(begun.spec, n, bench, isolated=order.isolated)
                return attempt, grade, retry
        except Unserved:
            raise
        except (Broken, UsageError) as error:
            # What the trial needs could not be had here: that is an outcome like any other.
            outcome = outcome_of(error)
            attempt = ended(order.trial, n, now, AttemptState.FINISHED, None)
            grade = Grade(
                trial=order.trial,
                attempt=n,
                revision=begun.spec.revision,
                outcome=outcome,
                graded_at=datetime.now(UTC),
            )
            return attempt, grade, RetryPolicy()

    def close_cancelled(
        self, connection: sa.Connection, order: Order, begun: Begun, now: datetime
    ) -> None:
        assert begun.attempt is not None
        state = AttemptState.CANCELLED
        attempt = ended(order.trial, begun.attempt, now, state, "it was stopped while it ran")
        if trials.close_attempt(connection, attempt, None, None, None):
            agent = str(begun.spec.agent)
            n = begun.attempt
            settle(connection, order.sweep, agent, order.trial, n, begun.reserved)

    async def keep(self, attempt: Attempt) -> str | None:
        """The traces as a blob, before anything says that they exist."""
        if not attempt.traces:
            return None
        name = f"traces/{attempt.trial[:2]}/{attempt.trial}/{attempt.n}.json.zst"
        body = b"[" + b",".join(t.model_dump_json().encode() for t in attempt.traces) + b"]"
        await self.store.blobs.put(name, body)
        return name

    async def is_hopeless(self, order: Order, spec: TrialSpec, outcome: Outcome) -> bool:
        """Whether the agent's provider failed again and again, and never answered this sweep."""
        if not isinstance(outcome, Failed) or outcome.cause is not Cause.PROVIDER:
            return False
        name = spec.agent.queue
        if outcome.fault is not None or outcome.model != name or not outcome.retryable:
            return False

        def look(connection: sa.Connection) -> bool:
            health = queues.healths(connection).get(name)
            failed = health is not None and health.failures >= HOPELESS_AFTER
            return failed and not results.was_answered(connection, order.sweep, name)

        return await self.store.read_soon(look)

    async def stop_early(self, order: Order, spec: TrialSpec, outcome: Outcome) -> None:
        """Leave out what is planned for this task and agent, once it would change nothing."""
        if not isinstance(outcome, Scored):
            return
        found = await self.store.read_soon(
            statuses.group_of, order.sweep, str(spec.agent), spec.key
        )
        scored = found.scored + 1
        solved = found.solved + (outcome.reward > SOLVED_ABOVE)
        if found.waiting and certain(solved, scored, found.planned):
            why = why_certain(solved, scored, found.planned)
            await self.cancel(found.waiting, f"{statuses.CERTAIN}{why}")


def decide(
    order: Order,
    begun: Begun,
    attempt: Attempt,
    grade: Grade | None,
    retry: RetryPolicy,
    blob: str | None,
) -> Result:
    """What an attempt means for its trial and its queue. Pure: it says what to write."""
    agent = str(begun.spec.agent)

    def record(final: Outcome | None) -> Callable[[sa.Connection], None]:
        def write(connection: sa.Connection) -> None:
            trials.close_attempt(connection, attempt, blob, grade, final)
            settle(connection, order.sweep, agent, order.trial, attempt.n, begun.reserved)

        return write

    if grade is None:
        alone = replace(order, isolated=True)
        return Park(0.0, payload=alone.payload(), record=record(None))
    outcome = grade.outcome
    if isinstance(outcome, Scored):
        return Done(record=record(outcome), learned=Learned())
    failure = Failure(outcome.cause, outcome.retryable, outcome.fault, outcome.retry_after_seconds)
    again = next_try(failure, order.tried, random.random(), retry)
    # Another model than the queue's own may have failed, a judge's for one.
    own = outcome.model is None or outcome.model == begun.spec.agent.queue
    words = outcome.detail.strip().splitlines()[-1:] or [str(outcome.cause)]
    pause = again.seconds if again else 0.0
    learned = Learned(failure, pause, short(words[0]), retry) if own else None
    if again is not None:
        later = replace(order, tried=again.tried)
        return Park(again.seconds, later.payload(), record=record(None), learned=learned)
    close = outcome.detail if outcome.refused else None
    return Done(record=record(outcome), learned=learned, close=close)


def given_up(grade: Grade) -> Grade:
    """The same, as the last word: its provider answered nobody."""
    outcome = grade.outcome
    assert isinstance(outcome, Failed)
    said = outcome.model_copy(update={"retryable": False, "refused": True})
    return grade.model_copy(update={"outcome": said})


def outcome_of(error: Broken | UsageError) -> Failed:
    cause = error.cause if isinstance(error, Broken) else Broken.cause
    return Failed(cause=cause, detail=error.detail or str(error))


def ended(
    trial: str, n: int, started_at: datetime, state: AttemptState, problem: str | None
) -> Attempt:
    return Attempt(
        trial=trial,
        n=n,
        state=state,
        started_at=started_at,
        ended_at=datetime.now(UTC),
        problem=problem,
    )


def ignore(_: object) -> None:
    return None


def find_trial(store: Store, text: str) -> trials.TrialRow:
    """The trial whose id begins so; `UsageError` when there is none, or several."""
    found = store.read(trials.find_trials, text.lower())
    if not found:
        raise UsageError(f"trial {text!r} does not exist", hint="see `envwright trial list`")
    if len(found) > 1:
        raise UsageError(f"trial {text!r} could be several", hint="give more of its id")
    return found[0]


def short(words: str) -> str:
    return words if len(words) <= MOST_WORDS else f"{words[:MOST_WORDS]}…"
