"""Queues: one row each, shared by all workers; times are the database's own."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from envwright.errors import Cause, Fault, UsageError
from envwright.queue.job import JobState, Learned, QueueStats
from envwright.queue.policy import Failure, Health
from envwright.store import schema
from envwright.store.engine import insert_or_keep

LATELY_SECONDS = 600.0
NEWS_SECONDS = 0.5
FOREVER_SECONDS = 100 * 365 * 86400.0


QUEUE = sa.select(schema.queue).where(schema.queue.c.name == sa.bindparam("of_name"))


def clock(connection: sa.Connection) -> float:
    """Now, as the database sees it: the same for every machine that shares it."""
    if connection.dialect.name == "sqlite":
        return time.time()
    now = sa.text("select extract(epoch from clock_timestamp())")
    return float(connection.execute(now).scalar_one())


def to_health(row: sa.Row[Any]) -> Health:
    return Health(
        limit=row.limit,
        live_limit=row.live_limit,
        parked_until=row.parked_until,
        failures=row.failures,
        trying=row.trying,
        eased_at=row.eased_at,
    )


def health_columns(health: Health) -> dict[str, Any]:
    return {
        "limit": health.limit,
        "live_limit": health.live_limit,
        "parked_until": health.parked_until,
        "failures": health.failures,
        "trying": health.trying,
        "eased_at": health.eased_at,
    }


def healths(connection: sa.Connection) -> dict[str, Health]:
    return {row.name: to_health(row) for row in connection.execute(sa.select(schema.queue))}


LOCK_QUEUE = (
    sa.select(schema.queue).where(schema.queue.c.name == sa.bindparam("called")).with_for_update()
)


def lock_queue(connection: sa.Connection, name: str) -> sa.Row[Any] | None:
    return connection.execute(LOCK_QUEUE, {"called": name}).one_or_none()


def set_health(connection: sa.Connection, name: str, health: Health, **more: Any) -> None:
    table = schema.queue
    values = {**health_columns(health), **more}
    connection.execute(sa.update(table).where(table.c.name == name).values(values))


def ensure_queue(connection: sa.Connection, name: str, limit: int) -> None:
    """One with this limit; a limit that a person set stays."""
    fresh = {"name": name, "eased_at": 0.0, **health_columns(Health.fresh(limit))}
    connection.execute(insert_or_keep(connection, schema.queue), fresh)
    row = lock_queue(connection, name)
    if row is not None and not row.pinned and row.limit != limit:
        set_health(connection, name, to_health(row).with_limit(limit))


def known_queue(connection: sa.Connection, name: str) -> sa.Row[Any]:
    if (row := lock_queue(connection, name)) is not None:
        return row
    names = connection.execute(sa.select(schema.queue.c.name).order_by(schema.queue.c.name))
    listed = ", ".join(names.scalars()) or "none yet"
    raise UsageError(f"there is no queue {name!r}", hint=f"there are: {listed}")


def set_limit(connection: sa.Connection, name: str, limit: int) -> None:
    row = known_queue(connection, name)
    set_health(connection, name, to_health(row).with_limit(limit), pinned=True)


def park_queue(connection: sa.Connection, name: str, seconds: float, why: str | None) -> None:
    row = known_queue(connection, name)
    until = clock(connection) + min(seconds, FOREVER_SECONDS)
    table = schema.queue
    connection.execute(
        sa.update(table)
        .where(table.c.name == name)
        .values(parked_until=max(row.parked_until, until), why=why)
    )


def open_queue(connection: sa.Connection, name: str) -> None:
    row = known_queue(connection, name)
    set_health(connection, name, Health.fresh(row.limit), why=None)


def complain(connection: sa.Connection, name: str, seconds: float, fault: Fault) -> None:
    """The provider asked to wait: all of its queue does."""
    now = clock(connection)
    connection.execute(sa.insert(schema.complaint).values(queue=name, at=now, fault=str(fault)))
    failure = Failure(Cause.PROVIDER, retryable=True, fault=fault, retry_after_seconds=seconds)
    words = f"its provider asks to wait ({fault})"
    learn(connection, name, Learned(failure, seconds, words), began_at=now, now=now)


def learn(
    connection: sa.Connection, name: str, learned: Learned, *, began_at: float, now: float
) -> None:
    """What a run, or a single call, taught of its queue."""

    def lesson(before: Health) -> Health:
        if learned.failure is None:
            return before.after_success(began_at, now)
        return before.after_failure(learned.failure, learned.seconds, now, learned.retry)

    # A queue that is well learns nothing from a success, and nobody waits for its row.
    row = connection.execute(QUEUE, {"of_name": name}).one_or_none()
    if row is None or lesson(to_health(row)) == to_health(row):
        return
    if (row := lock_queue(connection, name)) is None:
        return
    before, after = to_health(row), lesson(to_health(row))
    # Who was sent away because it is parked already has nothing new to say.
    if after.parked_until > before.parked_until + NEWS_SECONDS and learned.words is not None:
        set_health(connection, name, after, why=learned.words)
    elif after != before:
        set_health(connection, name, after)


@dataclass(frozen=True, slots=True)
class Parked:
    """Why nothing of a queue starts, and for how many seconds."""

    seconds: float
    why: str


def parked_for(connection: sa.Connection, sweep: str) -> dict[str, Parked]:
    """Queues that hold up a sweep."""
    now, table, job = clock(connection), schema.queue, schema.job
    waiting = sa.exists().where(
        job.c.route == sweep, job.c.queue == table.c.name, job.c.state == str(JobState.WAITING)
    )
    rows = connection.execute(sa.select(table).where(table.c.parked_until > now, waiting))
    return {row.name: Parked(row.parked_until - now, row.why or "parked") for row in rows}


def queue_stats(connection: sa.Connection) -> dict[str, QueueStats]:
    """Every queue as it is now: what runs, waits, is parked."""
    now = clock(connection)
    table = schema.job
    active = (JobState.HELD, JobState.WAITING, JobState.RUNNING)
    statement = (
        sa.select(
            table.c.queue,
            table.c.state,
            (table.c.ready_at > now).label("later"),
            sa.func.count().label("jobs"),
        )
        .where(table.c.state.in_([str(state) for state in active]))
        .group_by(table.c.queue, table.c.state, "later")
    )
    counts: dict[str, Counter[str]] = {}
    for row in connection.execute(statement):
        kind = "parked" if row.state == JobState.WAITING and row.later else row.state
        counts.setdefault(row.queue, Counter())[kind] += row.jobs
    found: dict[str, QueueStats] = {}
    for row in connection.execute(sa.select(schema.queue).order_by(schema.queue.c.name)):
        count = counts.get(row.name, Counter())
        health = to_health(row)
        shut = health.room(now) == 0
        found[row.name] = QueueStats(
            health=health,
            running=count["running"],
            waiting=0 if shut else count["waiting"],
            parked=count["parked"] + (count["waiting"] if shut else 0),
            held=count["held"],
            why=row.why,
        )
    return found


def complaints_lately(connection: sa.Connection) -> Mapping[str, int]:
    """Queue → how often its provider asked to wait in the last ten minutes."""
    table = schema.complaint
    statement = (
        sa.select(table.c.queue, sa.func.count())
        .where(table.c.at > clock(connection) - LATELY_SECONDS)
        .group_by(table.c.queue)
    )
    return {name: count for name, count in connection.execute(statement)}


def ended_lately(connection: sa.Connection) -> Mapping[str, float]:
    """Queue → jobs that ended per minute, of those within ten."""
    table, now = schema.job, clock(connection)
    statement = (
        sa.select(table.c.queue, sa.func.count(), sa.func.min(table.c.begun_at))
        .where(table.c.ended_at > now - LATELY_SECONDS)
        .where(table.c.state != str(JobState.CANCELLED))
        .group_by(table.c.queue)
    )
    return {
        name: count * 60.0 / min(LATELY_SECONDS, max(1.0, now - (first or now)))
        for name, count, first in connection.execute(statement)
    }
