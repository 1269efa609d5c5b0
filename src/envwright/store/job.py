"""Jobs: put into their queues, claimed, settled, given back, cancelled. Each is one transaction.

A run of a job is known by its ticket. Whoever writes for it must still hold it: its number
and its worker are compared in the same statement that changes its state.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from envwright.queue.job import FINAL, Cancel, Done, Fail, Job, JobState, Park, Result
from envwright.queue.state import Tickets, read_ticket, ticket_named
from envwright.store import schema
from envwright.store.engine import insert_or_keep
from envwright.store.queue import clock, learn

BATCH = 500
EARLY_SECONDS = 0.05
"""What a job may start before its time: clocks are read at different moments."""
ACTIVE = tuple(str(state) for state in JobState if state not in FINAL)
FINAL_WORDS = tuple(str(state) for state in FINAL)
STARTABLE = (str(JobState.WAITING), str(JobState.RUNNING))
NOT_STARTED = (str(JobState.HELD), str(JobState.WAITING))

# What every run of a job executes is built once: that takes longer than the database does.
_id = sa.bindparam("of_id", type_=sa.String)
_run = sa.bindparam("of_run", type_=sa.Integer)
_worker = sa.bindparam("of_worker", type_=sa.String)
_this_run = sa.and_(schema.job.c.id == _id, schema.job.c.run == _run)
_running = schema.job.c.state == str(JobState.RUNNING)
_waiting = schema.job.c.state == str(JobState.WAITING)
_mine = sa.and_(schema.job.c.worker == _worker, _running)
_nobodys = sa.and_(_worker.is_(None), schema.job.c.state.in_(STARTABLE))
HELD_BY = sa.select(schema.job.c.id).where(_this_run, _mine).with_for_update()
CHANGE = sa.update(schema.job).where(_this_run, sa.or_(_mine, _nobodys)).returning(schema.job)
AGAIN = CHANGE.values(
    state=sa.case((schema.job.c.cancelled, str(JobState.CANCELLED)), else_=str(JobState.WAITING)),
    run=schema.job.c.run + 1,
)
CLAIM = (
    sa.update(schema.job)
    .where(
        _this_run,
        sa.or_(
            sa.and_(_waiting, schema.job.c.ready_at <= sa.bindparam("of_now")),
            sa.and_(_running, schema.job.c.worker == _worker),
        ),
    )
    .returning(schema.job)
)
EARLY = sa.select(schema.job).where(_this_run, _waiting)
HELD = (
    sa.select(schema.job)
    .where(schema.job.c.id == _id, schema.job.c.state == str(JobState.HELD))
    .with_for_update()
)
WAITED_FOR = (
    sa.delete(schema.job_after)
    .where(schema.job_after.c.waits_for == _id)
    .returning(schema.job_after.c.job)
)
STILL_WAITS = sa.select(sa.literal(1)).where(schema.job_after.c.job == _id).limit(1)


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
    state = JobState.HELD if after else JobState.WAITING
    ready_at = clock(connection) + delay_seconds
    added: dict[str, Job] = {}
    # In one order for all: two that submit the same jobs must not wait for each other.
    for job in sorted(jobs, key=lambda each: each.id):
        row = row_of(job, state, ready_at)
        # Asked for what it inserted: the number of rows is unknown on PostgreSQL.
        insert = insert_or_keep(connection, schema.job).returning(schema.job.c.id)
        if connection.execute(insert, row).scalar() is not None:
            added[job.id] = job
        elif again and (old := reopen(connection, job, state, ready_at)) is not None:
            added[job.id] = old
    for name in dict.fromkeys(job.id for job in jobs if job.id in added):
        if after:
            wait_for(connection, added[name], after)
        else:
            tickets.put(connection, added[name], delay_seconds)
    if after:
        lock(connection, after)
        for name in added:
            forget_ended(connection, schema.job_after.c.job == name)
        release(connection, tickets, added)
    return len(added)


def lock(connection: sa.Connection, names: Sequence[str]) -> None:
    """None of these jobs ends before this transaction does: who ends it sees what waits for it."""
    table = schema.job
    ordered = sorted(set(names))
    for start in range(0, len(ordered), BATCH):
        some = table.c.id.in_(ordered[start : start + BATCH])
        connection.execute(
            sa.select(table.c.id).where(some).order_by(table.c.id).with_for_update(read=True)
        )


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
    for name in sorted(held):
        # Locked first: of two that end at once, the later one sees that the other has.
        row = connection.execute(HELD, {"of_id": name}).one_or_none()
        if row is None or connection.execute(STILL_WAITS, {"of_id": name}).scalar() is not None:
            continue
        connection.execute(
            sa.update(schema.job)
            .where(schema.job.c.id == name)
            .values(state=str(JobState.WAITING), ready_at=clock(connection))
        )
        tickets.put(connection, to_job(row), 0.0)


def release_after(connection: sa.Connection, tickets: Tickets, ended: Iterable[str]) -> None:
    """What came after these jobs waits for them no longer, and may be due now."""
    held: set[str] = set()
    for name in sorted(ended):
        held.update(connection.execute(WAITED_FOR, {"of_id": name}).scalars())
    release(connection, tickets, held)


def release_due(connection: sa.Connection, tickets: Tickets) -> None:
    """Whatever is held and waits for nothing; there is none unless something went wrong."""
    table, after = schema.job, schema.job_after
    forget_ended(connection, sa.true())
    waits = sa.select(sa.literal(1)).where(after.c.job == table.c.id)
    statement = sa.select(table.c.id).where(
        table.c.state == str(JobState.HELD), sa.not_(waits.exists())
    )
    release(connection, tickets, list(connection.execute(statement).scalars()))


def forget_ended(connection: sa.Connection, which: sa.ColumnElement[bool]) -> None:
    """Nobody waits for what is final."""
    table, after = schema.job, schema.job_after
    ended = sa.select(sa.literal(1)).where(
        table.c.id == after.c.waits_for, table.c.state.in_(FINAL_WORDS)
    )
    connection.execute(sa.delete(after).where(which, ended.exists()))


def claim_job(connection: sa.Connection, tickets: Tickets, ticket: str, worker: str) -> Job | None:
    """The job of a ticket, running from now on; asked twice, the same is answered twice."""
    name, run = read_ticket(ticket)
    now = clock(connection)
    which = {"of_id": name, "of_run": run}
    values = {"state": str(JobState.RUNNING), "worker": worker, "begun_at": now}
    due = {"of_worker": worker, "of_now": now + EARLY_SECONDS}
    row = connection.execute(CLAIM, {**which, **due, **values}).one_or_none()
    if row is not None:
        return to_job(row)
    # Tickets come up by the clock of some worker, and that one was fast.
    early = connection.execute(EARLY, which).one_or_none()
    if early is not None:
        again(connection, tickets, to_job(early), None, max(0.0, early.ready_at - now), None)
    return None


def is_held(connection: sa.Connection, job: Job, worker: str) -> bool:
    """Whether this worker still runs the job; as long as the transaction lasts, if so."""
    mine = {"of_id": job.id, "of_run": job.run, "of_worker": worker}
    return connection.execute(HELD_BY, mine).first() is not None


def hold(
    connection: sa.Connection,
    change: sa.UpdateBase,
    job: Job,
    worker: str | None,
    values: dict[str, Any],
) -> sa.Row[Any] | None:
    """Change a job that this worker runs, or nobody does; None when it is another's by now."""
    whose = {"of_id": job.id, "of_run": job.run, "of_worker": worker}
    free = {"reserved_tokens": 0, "reserved_usd": 0.0}
    return connection.execute(change, {**free, **values, **whose}).one_or_none()


def settle_job(
    connection: sa.Connection, tickets: Tickets, job: Job, worker: str, result: Result
) -> bool:
    """What a run came to, and all that it wants written; nothing when the job was taken away."""
    now = clock(connection)
    if isinstance(result, Park):
        row = again(connection, tickets, job, worker, result.seconds, result.payload)
    else:
        row = hold(connection, CHANGE, job, worker, end_of(result, now))
    if row is None:
        return False
    if result.record is not None:
        result.record(connection)
    if isinstance(result, Done | Park) and (learned := result.learned) is not None:
        learn(connection, job.queue, learned, began_at=row.begun_at or now, now=now)
    if isinstance(result, Done) and result.follow_ups:
        submit_jobs(connection, tickets, result.follow_ups)
    if not isinstance(result, Park):
        ended = [job.id, *cancel_neighbours(connection, tickets, job, result)]
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
    connection: sa.Connection, tickets: Tickets, job: Job, result: Done | Fail | Cancel
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
    return cancel_waiting(connection, tickets, which, why)


def again(
    connection: sa.Connection,
    tickets: Tickets,
    job: Job,
    worker: str | None,
    seconds: float,
    payload: dict[str, Any] | None,
) -> sa.Row[Any] | None:
    """The job waits for its next run; cancelled, when that was asked for meanwhile."""
    now = clock(connection)
    values = {"worker": None, "ready_at": now + seconds}
    values |= {"payload": job.payload if payload is None else payload}
    row = hold(connection, AGAIN, job, worker, values)
    if row is not None and not row.cancelled:
        tickets.put(connection, to_job(row), seconds)
    elif row is not None:
        which = schema.job.c.id == job.id
        connection.execute(sa.update(schema.job).where(which).values(ended_at=now))
        release_after(connection, tickets, [job.id])
    return row


def give_back_job(connection: sa.Connection, tickets: Tickets, job: Job, worker: str) -> bool:
    return again(connection, tickets, job, worker, 0.0, None) is not None


def cancel_waiting(
    connection: sa.Connection, tickets: Tickets, which: sa.ColumnElement[bool], why: str
) -> list[str]:
    """End those of them that were not started, and take their tickets away."""
    table = schema.job
    rows = connection.execute(
        sa.update(table)
        .where(which, table.c.state.in_(NOT_STARTED))
        .values(
            state=str(JobState.CANCELLED),
            cancelled=True,
            why=why,
            ended_at=clock(connection),
        )
        .returning(table.c.id, table.c.run)
    ).all()
    tickets.drop(connection, [ticket_named(row.id, row.run) for row in rows])
    return [row.id for row in rows]


def cancel_jobs(
    connection: sa.Connection, tickets: Tickets, which: sa.ColumnElement[bool], why: str
) -> tuple[int, int]:
    """How many did not run yet and are cancelled, and how many run and will be ended."""
    table = schema.job
    # Locked first: one that is put back or claimed meanwhile would be missed.
    connection.execute(
        sa.select(table.c.id)
        .where(which, table.c.state.in_(ACTIVE))
        .order_by(table.c.id)
        .with_for_update()
    )
    ended = cancel_waiting(connection, tickets, which, why)
    running = connection.execute(
        sa.update(table)
        .where(which, table.c.state == str(JobState.RUNNING), sa.not_(table.c.cancelled))
        .values(cancelled=True, why=why)
    ).rowcount
    release_after(connection, tickets, ended)
    return len(ended), running


def put_back(connection: sa.Connection, tickets: Tickets, held: Iterable[str]) -> list[str]:
    """Nobody works on these tickets: what they stand for waits again, under new ones."""
    table = schema.job
    held = sorted(held)
    for ticket in held:
        name, run = read_ticket(ticket)
        which = sa.and_(table.c.id == name, table.c.run == run)
        row = connection.execute(sa.select(table).where(which).with_for_update()).one_or_none()
        if row is not None:
            again(connection, tickets, to_job(row), None, 0.0, None)
    tickets.drop(connection, held)
    return held


def running_tickets(connection: sa.Connection, which: sa.ColumnElement[bool]) -> set[str]:
    table = schema.job
    running = sa.select(table.c.id, table.c.run).where(
        table.c.state == str(JobState.RUNNING), which
    )
    return {ticket_named(row.id, row.run) for row in connection.execute(running)}


def unticketed(connection: sa.Connection, tickets: Tickets, since: float) -> list[str]:
    """Tickets that jobs wait with since then, and that are nowhere or spent."""
    table = schema.job
    ticket = table.c.id.concat("#").concat(sa.cast(table.c.run, sa.String))
    waiting = sa.select(table.c.id, table.c.run).where(
        table.c.state == str(JobState.WAITING),
        table.c.ready_at < since,
        tickets.missing(connection, ticket),
    )
    return [ticket_named(row.id, row.run) for row in connection.execute(waiting)]
