"""Trials that ran elsewhere: each episode is kept once, whatever it is called and how often."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from envwright.record import digest
from envwright.store import schema
from envwright.store.call import insert_calls
from envwright.store.sweep import insert_missing, trial_row
from envwright.store.trial import close_attempt, open_attempt
from envwright.trial import Grade, TrialSpec
from envwright.trial.attempt import Attempt, AttemptState
from envwright.trial.recorded import KIND, Recorded


@dataclass(frozen=True, slots=True)
class Kept:
    """An episode with its traces written, ready for its rows."""

    recorded: Recorded
    blob: str | None


def worker_of(identity: str) -> str:
    """Who made an imported attempt: the episode itself."""
    return f"{KIND}:{identity}"


def known_episodes(connection: sa.Connection, identities: Sequence[str]) -> set[str]:
    """Those of these that are kept already."""
    workers = {worker_of(identity): identity for identity in identities}
    statement = sa.select(schema.attempt.c.worker).where(schema.attempt.c.worker.in_(workers))
    return {workers[worker] for worker in connection.execute(statement).scalars()}


def save_recorded(
    connection: sa.Connection, batch: Sequence[Kept], now: datetime
) -> list[Recorded]:
    """Rows of those that are not kept yet; these are returned."""
    revisions = {kept.recorded.revision: kept.recorded.environment for kept in batch}
    insert_missing(
        connection,
        schema.revision,
        [
            {"digest": revision, "kind": str(KIND), "name": name, "seen_at": now}
            for revision, name in revisions.items()
        ],
    )
    # Who imports the same revision meanwhile waits here, then finds these episodes known.
    table = schema.revision
    connection.execute(
        sa.select(table.c.digest)
        .where(table.c.digest.in_(revisions))
        .order_by(table.c.digest)
        .with_for_update()
    )
    known = known_episodes(connection, [kept.recorded.identity for kept in batch])
    fresh: list[Recorded] = []
    for kept in batch:
        if kept.recorded.identity not in known:
            known.add(kept.recorded.identity)
            save_one(connection, kept, now)
            fresh.append(kept.recorded)
    return fresh


def save_one(connection: sa.Connection, kept: Kept, now: datetime) -> None:
    recorded = kept.recorded
    spec = TrialSpec(
        revision=recorded.revision,
        index=place_task(connection, recorded),
        key=recorded.key,
        agent=recorded.agent,
        sampling=recorded.sampling,
        args=recorded.args,
        n=next_repetition(connection, recorded),
    )
    trial = spec.id
    connection.execute(sa.insert(schema.trial).values(trial_row(spec, recorded.environment, now)))
    n = open_attempt(connection, trial, worker_of(recorded.identity), recorded.started_at)
    attempt = Attempt(
        trial=trial,
        n=n,
        state=AttemptState.FINISHED,
        started_at=recorded.started_at,
        ended_at=recorded.ended_at,
    )
    grade = Grade(
        trial=trial,
        attempt=n,
        revision=recorded.revision,
        outcome=recorded.outcome,
        findings=recorded.findings,
        graded_at=recorded.ended_at,
    )
    close_attempt(connection, attempt, kept.blob, grade, recorded.outcome)
    calls = [(trial, n, call) for trace in recorded.traces for call in trace.calls]
    if calls:
        insert_calls(connection, calls)


def next_repetition(connection: sa.Connection, recorded: Recorded) -> int:
    table = schema.trial
    statement = sa.select(sa.func.max(table.c.n)).where(
        table.c.revision == recorded.revision,
        table.c.task_key == recorded.key,
        table.c.agent == str(recorded.agent),
    )
    highest = connection.execute(statement).scalar()
    return 0 if highest is None else int(highest) + 1


def place_task(connection: sa.Connection, recorded: Recorded) -> int:
    """The task's index: the record's own, unless there is none or another task has it."""
    table = schema.task
    ours = sa.and_(table.c.revision == recorded.revision, table.c.args == digest(recorded.args))
    at = sa.select(table.c.key).where(ours, table.c.index == recorded.index)
    taken = connection.execute(at).scalar() if recorded.index is not None else None
    if recorded.index is not None and taken == recorded.key:
        return recorded.index
    index = recorded.index
    if index is None or taken is not None:
        same = sa.select(sa.func.min(table.c.index)).where(ours, table.c.key == recorded.key)
        if (found := connection.execute(same).scalar()) is not None:
            return int(found)
        last = connection.execute(sa.select(sa.func.max(table.c.index)).where(ours)).scalar()
        index = 0 if last is None else int(last) + 1
    row = {"index": index, "key": recorded.key, "row": recorded.row}
    row |= {"revision": recorded.revision, "args": digest(recorded.args)}
    connection.execute(sa.insert(table).values(row))
    return index
