"""How a sweep stands: each of its trials is counted once."""

from collections import Counter
from dataclasses import dataclass, field, fields

import sqlalchemy as sa

from envwright.queue.job import JobState
from envwright.store import schema
from envwright.store.queue import clock
from envwright.store.sweep import SweepState
from envwright.store.worker import live_workers

CERTAIN = "certain: "
"""Begins the reason why a trial was left out: its task's verdict would not change."""
SOLVED_ABOVE = 0.5


@dataclass(slots=True)
class Counts:
    """Trials of one agent."""

    total: int = 0
    scored: int = 0
    solved: int = 0
    failed: Counter[str] = field(default_factory=Counter[str])
    """Cause → trials."""
    waiting: int = 0
    running: int = 0
    parked: int = 0
    cancelled: int = 0
    certain: int = 0
    """Of the cancelled, those that were not needed."""

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )

    @property
    def open(self) -> int:
        return self.waiting + self.running + self.parked


def trial_job(trial: str) -> str:
    """The job that runs a trial; there is one at a time."""
    return f"trial:{trial}"


def count_trials(connection: sa.Connection, sweep: str) -> dict[tuple[str, str], Counts]:
    """(Environment, agent) → how its trials stand."""
    trial, job, queue = schema.trial, schema.job, schema.queue
    now = clock(connection)
    later = sa.or_(job.c.ready_at > now, queue.c.parked_until > now)
    certain = sa.and_(
        job.c.state == str(JobState.CANCELLED), job.c.why.startswith(CERTAIN, autoescape=True)
    )
    solved = sa.case((trial.c.reward > SOLVED_ABOVE, 1), else_=0)
    columns = (
        trial.c.environment,
        trial.c.agent,
        trial.c.outcome,
        trial.c.cause,
        job.c.state,
        sa.case((later, 1), else_=0).label("later"),
        sa.case((certain, 1), else_=0).label("certain"),
    )
    statement = (
        sa.select(*columns, sa.func.count().label("trials"), sa.func.sum(solved).label("solved"))
        .select_from(schema.sweep_trial)
        .join(trial, trial.c.id == schema.sweep_trial.c.trial)
        .outerjoin(job, job.c.id == sa.literal("trial:") + trial.c.id)
        .outerjoin(queue, queue.c.name == job.c.queue)
        .where(schema.sweep_trial.c.sweep == sweep)
        .group_by(*columns)
        .order_by(trial.c.environment, trial.c.agent)
    )
    planning = (
        connection.execute(
            sa.select(schema.sweep.c.state).where(schema.sweep.c.id == sweep)
        ).scalar()
        == SweepState.PLANNING
    )
    found: dict[tuple[str, str], Counts] = {}
    for row in connection.execute(statement):
        counts = found.setdefault((row.environment, row.agent), Counts())
        counts.total += row.trials
        match row.state:
            case JobState.RUNNING:
                counts.running += row.trials
            case JobState.WAITING | JobState.HELD:
                counts.parked += row.trials if row.later else 0
                counts.waiting += 0 if row.later else row.trials
            case _ if row.outcome == "scored":
                counts.scored += row.trials
                counts.solved += row.solved or 0
            case _ if row.outcome == "failed":
                counts.failed[row.cause] += row.trials
            case None if planning:
                counts.waiting += row.trials
            case _:
                counts.cancelled += row.trials
                counts.certain += row.trials if row.certain else 0
    return found


def stuck_trials(connection: sa.Connection, sweep: str) -> list[tuple[str, str]]:
    """Trials of a sweep that nothing will run: (id, agent); another sweep took them with it."""
    trial, job = schema.trial, schema.job
    statement = (
        sa.select(trial.c.id, trial.c.agent)
        .select_from(schema.sweep_trial)
        .join(trial, trial.c.id == schema.sweep_trial.c.trial)
        .outerjoin(job, job.c.id == sa.literal("trial:") + trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep)
        .where(trial.c.outcome.is_(None))
        .where(sa.or_(job.c.id.is_(None), job.c.state == str(JobState.CANCELLED)))
        .where(sa.or_(job.c.route.is_(None), job.c.route != sweep))
    )
    return [(row.id, row.agent) for row in connection.execute(statement)]


def neglected_jobs(connection: sa.Connection, sweep: str) -> list[str]:
    """Jobs of a sweep's trials that wait in other sweeps, while there is nobody to do them."""
    if any(each.stays for each in live_workers(connection)):
        return []
    job, other = schema.job, schema.sweep.alias("other")
    statement = (
        sa.select(job.c.id)
        .select_from(schema.sweep_trial)
        .join(job, job.c.id == sa.literal("trial:") + schema.sweep_trial.c.trial)
        .join(other, other.c.id == job.c.route)
        .where(schema.sweep_trial.c.sweep == sweep, other.c.id != sweep)
        .where(other.c.worker.is_(None), job.c.state == str(JobState.WAITING))
    )
    return list(connection.execute(statement).scalars())


@dataclass(frozen=True, slots=True)
class Group:
    """Trials of one agent on one task in a sweep."""

    planned: int
    scored: int
    solved: int
    waiting: tuple[str, ...]
    """Jobs that were not started."""


def group_of(connection: sa.Connection, sweep: str, agent: str, key: str) -> Group:
    trial, job = schema.trial, schema.job
    statement = (
        sa.select(trial.c.id, trial.c.outcome, trial.c.reward, job.c.state)
        .select_from(schema.sweep_trial)
        .join(trial, trial.c.id == schema.sweep_trial.c.trial)
        .outerjoin(job, job.c.id == sa.literal("trial:") + trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep)
        .where(trial.c.agent == agent, trial.c.task_key == key)
    )
    rows = connection.execute(statement).all()
    rewards = [row.reward for row in rows if row.outcome == "scored"]
    return Group(
        planned=len(rows),
        scored=len(rewards),
        solved=sum(reward > SOLVED_ABOVE for reward in rewards),
        waiting=tuple(trial_job(row.id) for row in rows if row.state == JobState.WAITING),
    )


def closed_queues(connection: sa.Connection, sweep: str) -> dict[str, str]:
    """Queues of a sweep that were closed to it, and why."""
    table = schema.job
    statement = (
        sa.select(table.c.queue, table.c.why)
        .where(table.c.route == sweep, table.c.state == str(JobState.CANCELLED))
        .where(table.c.kind == "trial", table.c.why.is_not(None))
        .distinct()
    )
    return {
        row.queue: row.why
        for row in connection.execute(statement)
        if not row.why.startswith(CERTAIN)
    }


def broken_jobs(connection: sa.Connection, sweep: str) -> list[str]:
    """What our own code failed at."""
    table = schema.job
    statement = sa.select(table.c.kind, table.c.id, table.c.why).where(
        table.c.route == sweep, table.c.state == str(JobState.FAILED)
    )
    return [f"{row.kind} {row.id[:20]}: {row.why}" for row in connection.execute(statement)]
