"""Jobs: put into their queues, claimed, settled, given back, cancelled. Each is one transaction.

A run of a job is known by its ticket. Whoever writes for it must still hold it: its number
and its worker are compared in the same statement that changes its state.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from envwright.queue.job import FINAL, Cancel, Done, Fail, Job, JobState, Park, Result
from envwright.queue.state import Tickets, read_ticket, ticket_of
from envwright.store import schema
from envwright.store.engine import insert_or_keep
from envwright.store.queue import clock, learn

BATCH = 500
ACTIVE = tuple(str(state) for state in JobState if state not in FINAL)
FINAL_WORDS = tuple(str(state) for state in FINAL)
NOT_STARTED = (str(JobState.HELD), str(JobState.WAITING))


def to_job(row: sa.Row[Any]) -> Job:
    return Job(
        kind=row.kind,
        id=row.id,
        queue=row.queue,
        payload=row.payload,
        priority=row.priority,
        route=row.route,
        parent=row.parent,
        run=row.run,
    )


def submit_jobs(
    connection: sa.Connection,
    tickets: Tickets,
    jobs: Sequence[Job],
    delay_seconds: float = 0.0,
    after: Sequence[str] = (),
    *,
    again: bool = False,
) -> int:
    """How many are new; with `again` those that are final wait once more."""
    now = clock(connection)
    state = JobState.HELD if after else JobState.WAITING
    fresh: dict[str, Job] = {}
    # In one order, so that two who submit the same never wait for each other.
    for job in sorted(jobs, key=lambda each: each.id):
        row = row_of(job, state, now + delay_seconds)
        if connection.execute(insert_or_keep(connection, schema.job), row).rowcount:
            fresh[job.id] = job
        elif again and (old := reopen(connection, job, state, now + delay_seconds)) is not None:
            fresh[job.id] = old
    for job in jobs:
        if (placed := fresh.get(job.id)) is None:
            continue
        if after:
            wait_for(connection, placed, after)
        else:
            tickets.put(connection, placed, delay_seconds)
    if after:
        release(connection, tickets, fresh)
    return len(fresh)


def row_of(job: Job, state: JobState, ready_at: float) -> dict[str, Any]:
    return {
        "id": job.id,
        "kind": job.kind,
        "queue": job.queue,
        "route": job.route,
        "parent": job.parent,
        "payload": job.payload,
        "priority": job.priority,
        "state": str(state),
        "run": job.run,
        "ready_at": ready_at,
    }


def reopen(connection: sa.Connection, job: Job, state: JobState, ready_at: float) -> Job | None:
    """A job that is final, as new; None when it is not final."""
    table = schema.job
    values = row_of(job, state, ready_at) | {"run": table.c.run + 1, "cancelled": False}
    values |= {"why": None, "worker": None, "begun_at": None, "ended_at": None}
    row = connection.execute(
        sa.update(table)
        .where(table.c.id == job.id, table.c.state.in_(FINAL_WORDS))
        .values(values)
        .returning(table)
    ).one_or_none()
    return None if row is None else to_job(row)


def wait_for(connection: sa.Connection, job: Job, after: Sequence[str]) -> None:
    table = schema.job_after
    connection.execute(sa.delete(table).where(table.c.job == job.id))
    rows = [{"job": job.id, "waits_for": each} for each in sorted(set(after))]
    for start in range(0, len(rows), BATCH):
        connection.execute(insert_or_keep(connection, table), rows[start : start + BATCH])


def release(connection: sa.Connection, tickets: Tickets, held: Iterable[str]) -> None:
    """Put those of these jobs into their queues that wait for nothing any more."""
    table, after = schema.job, schema.job_after
    waited = table.alias("waited")
    for name in sorted(held):
        # Locked first: of two that end at once, the later one sees that the other has.
        row = connection.execute(
            sa.select(table)
            .where(table.c.id == name, table.c.state == str(JobState.HELD))
            .with_for_update()
        ).one_or_none()
        if row is None:
            continue
        open_ones = (
            sa.select(sa.literal(1))
            .select_from(after.outerjoin(waited, waited.c.id == after.c.waits_for))
            .where(after.c.job == name)
            .where(sa.or_(waited.c.id.is_(None), waited.c.state.in_(ACTIVE)))
            .limit(1)
        )
        if connection.execute(open_ones).scalar() is None:
            now = clock(connection)
            connection.execute(
                sa.update(table)
                .where(table.c.id == name)
                .values(state=str(JobState.WAITING), ready_at=now)
            )
            tickets.put(connection, to_job(row), 0.0)


def release_after(connection: sa.Connection, tickets: Tickets, ended: Sequence[str]) -> None:
    """What came after these jobs may be due now."""
    held: set[str] = set()
    for start in range(0, len(ended), BATCH):
        table = schema.job_after
        some = ended[start : start + BATCH]
        statement = sa.select(table.c.job).where(table.c.waits_for.in_(some)).distinct()
        held.update(connection.execute(statement).scalars())
    release(connection, tickets, held)


def claim_job(connection: sa.Connection, ticket: str, worker: str) -> Job | None:
    name, run = read_ticket(ticket)
    table = schema.job
    row = connection.execute(
        sa.update(table)
        .where(table.c.id == name, table.c.run == run, table.c.state == str(JobState.WAITING))
        .values(state=str(JobState.RUNNING), worker=worker, begun_at=clock(connection))
        .returning(table)
    ).one_or_none()
    return None if row is None else to_job(row)


def hold(
    connection: sa.Connection, job: Job, worker: str, values: dict[str, Any]
) -> sa.Row[Any] | None:
    """Change a job that this worker runs; None when it is not its own any more."""
    table = schema.job
    return connection.execute(
        sa.update(table)
        .where(table.c.id == job.id, table.c.run == job.run)
        .where(table.c.worker == worker, table.c.state == str(JobState.RUNNING))
        .values({"reserved_tokens": 0, "reserved_usd": 0.0, **values})
        .returning(table)
    ).one_or_none()


def settle_job(
    connection: sa.Connection, tickets: Tickets, job: Job, worker: str, result: Result
) -> bool:
    """What a run came to, and all that it wants written; nothing when the job was taken away."""
    now = clock(connection)
    if isinstance(result, Park):
        row = again(connection, tickets, job, worker, result.seconds, result.payload)
    else:
        row = hold(connection, job, worker, end_of(result, now))
    if row is None:
        return False
    if result.record is not None:
        result.record(connection)
    if isinstance(result, Done | Park) and (learned := result.learned) is not None:
        learn(connection, job.queue, learned, began_at=row.begun_at or now, now=now)
    if isinstance(result, Done) and result.follow_ups:
        submit_jobs(connection, tickets, result.follow_ups)
    if not isinstance(result, Park):
        ended = [job.id, *cancel_neighbours(connection, job, result)]
        release_after(connection, tickets, ended)
    return True


def end_of(result: Done | Fail | Cancel, now: float) -> dict[str, Any]:
    match result:
        case Done():
            return {"state": str(JobState.DONE), "ended_at": now}
        case Fail(error=error):
            return {"state": str(JobState.FAILED), "ended_at": now, "why": error}
        case Cancel(why=why):
            return {"state": str(JobState.CANCELLED), "ended_at": now, "why": why}


def cancel_neighbours(
    connection: sa.Connection, job: Job, result: Done | Fail | Cancel
) -> list[str]:
    """Those of its route that the result leaves no chance, if any."""
    table = schema.job
    match result:
        case Done(close=str(why)):
            which = sa.and_(table.c.route == job.route, table.c.queue == job.queue)
        case Cancel(why=why, route=True):
            which = sa.and_(table.c.route == job.route, table.c.kind == job.kind)
        case _:
            return []
    return cancel_waiting(connection, which, why)


def again(
    connection: sa.Connection,
    tickets: Tickets,
    job: Job,
    worker: str,
    seconds: float,
    payload: dict[str, Any] | None,
) -> sa.Row[Any] | None:
    """The job waits for its next run; cancelled, when that was asked for meanwhile."""
    now = clock(connection)
    table = schema.job
    waits = sa.case((table.c.cancelled, str(JobState.CANCELLED)), else_=str(JobState.WAITING))
    values: dict[str, Any] = {"state": waits, "run": table.c.run + 1, "worker": None}
    values |= {"ready_at": now + seconds, "payload": payload or job.payload}
    row = hold(connection, job, worker, values)
    if row is not None and not row.cancelled:
        tickets.put(connection, to_job(row), seconds)
    elif row is not None:
        connection.execute(sa.update(table).where(table.c.id == job.id).values(ended_at=now))
        release_after(connection, tickets, [job.id])
    return row


def give_back_job(connection: sa.Connection, tickets: Tickets, job: Job, worker: str) -> bool:
    return again(connection, tickets, job, worker, 0.0, None) is not None


def cancel_waiting(connection: sa.Connection, which: sa.ColumnElement[bool], why: str) -> list[str]:
    """End those of them that were not started; their tickets are refused when they come up."""
    table = schema.job
    return list(
        connection.execute(
            sa.update(table)
            .where(which, table.c.state.in_(NOT_STARTED))
            .values(
                state=str(JobState.CANCELLED),
                cancelled=True,
                why=why,
                ended_at=clock(connection),
            )
            .returning(table.c.id)
        ).scalars()
    )


def cancel_jobs(
    connection: sa.Connection, tickets: Tickets, which: sa.ColumnElement[bool], why: str
) -> tuple[int, int]:
    """How many did not run yet and are cancelled, and how many run and will be ended."""
    table = schema.job
    ended = cancel_waiting(connection, which, why)
    running = connection.execute(
        sa.update(table)
        .where(which, table.c.state == str(JobState.RUNNING), sa.not_(table.c.cancelled))
        .values(cancelled=True, why=why)
    ).rowcount
    release_after(connection, tickets, ended)
    return len(ended), running


def tickets_of(connection: sa.Connection, ids: Sequence[str]) -> list[str]:
    table = schema.job
    found: list[str] = []
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        rows = connection.execute(sa.select(table).where(table.c.id.in_(some)))
        found += [ticket_of(to_job(row)) for row in rows]
    return found


def put_back_all(connection: sa.Connection, tickets: Tickets, workers: Sequence[str]) -> list[str]:
    """What these dead workers ran waits again; the tickets that they held."""
    table = schema.job
    rows = connection.execute(
        sa.select(table)
        .where(table.c.worker.in_(workers), table.c.state == str(JobState.RUNNING))
        .order_by(table.c.id)
        .with_for_update()
    ).all()
    for row in rows:
        again(connection, tickets, to_job(row), row.worker, 0.0, None)
    return [ticket_of(to_job(row)) for row in rows]
