"""Workers: who is there, and what each is told when it says so."""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from envwright.queue.job import JobState
from envwright.queue.state import Pulse, Tickets, Times, Worker
from envwright.store import schema
from envwright.store.engine import insert_or_keep
from envwright.store.job import ACTIVE, put_back, release_due, running_tickets, unticketed
from envwright.store.queue import clock, healths

DEAD_AFTER_SECONDS = Times().dead_after
STRAY_AFTER_SECONDS = 5.0
"""How long a job waits with a ticket that is nowhere."""
FORGET_AFTER_SECONDS = 86400.0


def hello(connection: sa.Connection, worker: Worker) -> None:
    now = clock(connection)
    row = {"id": worker.id, "release": worker.release, "slots": worker.slots}
    row |= {"stays": worker.stays, "begun_at": now, "beat_at": now}
    connection.execute(insert_or_keep(connection, schema.worker), row)
    adopt(connection, worker.id)


def adopt(connection: sa.Connection, worker: str) -> None:
    """A process that had to start over under another name still runs its own sweep."""
    place = worker.partition("~")[0]
    table = schema.sweep
    connection.execute(
        sa.update(table)
        .where(table.c.worker.startswith(f"{place}~", autoescape=True))
        .values(worker=worker)
    )


def beat(connection: sa.Connection, worker: str) -> Pulse | None:
    """The worker is there; what it should know. None when others took it for dead."""
    table = schema.worker
    now = clock(connection)
    there = connection.execute(
        sa.update(table).where(table.c.id == worker, sa.not_(table.c.gone)).values(beat_at=now)
    )
    if there.rowcount != 1:
        return None
    job = schema.job
    waiting: dict[str, list[str]] = {}
    statement = (
        sa.select(job.c.queue, job.c.route)
        .where(job.c.state == str(JobState.WAITING), job.c.ready_at <= now)
        .group_by(job.c.queue, job.c.route)
        .order_by(sa.func.min(job.c.priority), sa.func.min(job.c.ready_at), job.c.route)
    )
    for row in connection.execute(statement):
        waiting.setdefault(row.queue, []).append(row.route)
    cancelled = connection.execute(
        sa.select(job.c.id).where(
            job.c.worker == worker, job.c.state == str(JobState.RUNNING), job.c.cancelled
        )
    )
    later = sa.case((job.c.ready_at > now, job.c.ready_at), else_=None)
    active = connection.execute(
        sa.select(job.c.route, sa.func.count().label("jobs"), sa.func.min(later).label("wake_at"))
        .where(job.c.state.in_(ACTIVE))
        .group_by(job.c.route)
    ).all()
    return Pulse(
        now=now,
        queues=healths(connection),
        waiting=waiting,
        cancelled=frozenset(cancelled.scalars()),
        left={row.route: row.jobs for row in active},
        wake_at=min((row.wake_at for row in active if row.wake_at is not None), default=None),
    )


def held_by(connection: sa.Connection, tickets: Tickets, worker: str) -> frozenset[str]:
    """Tickets that a worker took, and jobs that it runs."""
    running = running_tickets(connection, schema.job.c.worker == worker)
    return frozenset({*running, *tickets.held_by(connection, worker)})


def leave(connection: sa.Connection, tickets: Tickets, worker: str) -> None:
    table = schema.worker
    connection.execute(sa.update(table).where(table.c.id == worker).values(gone=True))
    put_back(connection, tickets, held_by(connection, tickets, worker))


def reap(
    connection: sa.Connection,
    tickets: Tickets,
    worker: str,
    is_gone: Callable[[str], bool],
    seconds: float | None = DEAD_AFTER_SECONDS,
) -> tuple[list[str], list[str]]:
    """Take over from workers that are dead: who they were, and the tickets that they held.

    Without `seconds` nobody is late. Not who has just died is looked for, but what nobody
    alive holds: whoever died while taking over, or claimed after being taken for dead, is
    no case of its own.
    """
    table = schema.worker
    now = clock(connection)
    rows = connection.execute(
        sa.select(table.c.id, table.c.beat_at)
        .where(sa.not_(table.c.gone), table.c.id != worker)
        .with_for_update(skip_locked=True)
    ).all()
    late = now - (seconds if seconds is not None else now)
    dead = [row.id for row in rows if row.beat_at < late or is_gone(row.id)]
    if dead:
        connection.execute(sa.update(table).where(table.c.id.in_(dead)).values(gone=True))
    live = list(connection.execute(sa.select(table.c.id).where(sa.not_(table.c.gone))).scalars())
    left = running_tickets(connection, schema.job.c.worker.not_in(live))
    left.update(tickets.held_by_none_of(connection, live))
    return dead, put_back(connection, tickets, left)


def stray(connection: sa.Connection, tickets: Tickets) -> list[str]:
    """Tickets that jobs wait with and that are nowhere."""
    return unticketed(connection, tickets, clock(connection) - STRAY_AFTER_SECONDS)


def mend(connection: sa.Connection, tickets: Tickets, stray: Sequence[str]) -> None:
    """Nothing waits for ever, whatever went wrong."""
    put_back(connection, tickets, stray)
    release_due(connection, tickets)


def live_workers(connection: sa.Connection) -> Sequence[sa.Row[Any]]:
    table = schema.worker
    since = clock(connection) - DEAD_AFTER_SECONDS
    return connection.execute(
        sa.select(table).where(sa.not_(table.c.gone), table.c.beat_at > since)
    ).all()


def forget(connection: sa.Connection) -> None:
    """Workers and complaints of yesterday."""
    before = clock(connection) - FORGET_AFTER_SECONDS
    table, complaint = schema.worker, schema.complaint
    connection.execute(sa.delete(table).where(table.c.gone, table.c.beat_at < before))
    connection.execute(sa.delete(complaint).where(complaint.c.at < before))
