"""Sweeps: a plan submitted once, and what became of its trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Any

import sqlalchemy as sa

from envwright.budget import Budget
from envwright.environment import Environment, Task
from envwright.record import digest
from envwright.store import schema
from envwright.store.engine import insert_or_keep
from envwright.store.worker import live_workers
from envwright.trial.part import Part
from envwright.trial.spec import TrialSpec

BATCH = 500


class SweepState(StrEnum):
    PLANNING = "planning"
    """Its trials are being submitted; one that stays so was cut off, and can be resumed."""
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    """Whoever ran it is gone, or was told to stop; it can be resumed."""
    SPENT = "spent"
    """Its budget is."""


@dataclass(frozen=True, slots=True)
class NewSweep:
    """What is said of a sweep as a whole when it is submitted."""

    id: str
    release: str
    worker: str | None = None
    """Who runs it and goes with it; None for whoever is there."""
    priority: int = 0
    labels: tuple[str, ...] = ()
    budget: Budget = Budget()
    until_certain: bool = False


def save_sweep(
    connection: sa.Connection,
    sweep: NewSweep,
    parts: Sequence[Part],
    environments: Sequence[Environment],
    now: datetime,
) -> None:
    """The sweep and its parts, without any trial yet."""
    kinds = {each.revision: each for each in environments}
    for each in kinds.values():
        seen = {"digest": each.revision, "kind": str(each.kind), "name": each.name}
        insert_missing(connection, schema.revision, [{**seen, "seen_at": now}])
    plans = [part.plan for part in parts]
    digests = [plan.digest for plan in plans]
    connection.execute(
        sa.insert(schema.sweep).values(
            id=sweep.id,
            revision=parts[0].revision,
            environment=", ".join(dict.fromkeys(part.environment for part in parts)),
            plan=[plan.model_dump(mode="json") for plan in plans],
            plan_digest=digests[0] if len(digests) == 1 else digest(digests),
            created_at=now,
            state=str(SweepState.PLANNING),
            release=sweep.release,
            worker=sweep.worker,
            priority=sweep.priority,
            labels=list(sweep.labels),
            budget=sweep.budget.model_dump(exclude_none=True),
            until_certain=sweep.until_certain,
        )
    )
    for n, part in enumerate(parts):
        row = {"sweep": sweep.id, "n": n, "revision": part.revision}
        connection.execute(sa.insert(schema.part).values(**row, part=part.model_dump(mode="json")))


def save_trials(
    connection: sa.Connection,
    sweep: str,
    environment: str,
    trials: Sequence[TrialSpec],
    now: datetime,
) -> None:
    """The sweep's trials; those that are there already keep what they have."""
    rows = [trial_row(spec, environment, now) for spec in trials]
    insert_missing(connection, schema.trial, rows)
    links = [{"sweep": sweep, "trial": row["id"]} for row in rows]
    insert_missing(connection, schema.sweep_trial, links)


def set_state(
    connection: sa.Connection,
    sweep: str,
    state: SweepState,
    why: str | None = None,
    *,
    among: Sequence[SweepState] = (SweepState.PLANNING, SweepState.RUNNING),
) -> bool:
    """False when it was in none of the states that lead there."""
    table = schema.sweep
    values: dict[str, Any] = {"state": str(state), "why": why}
    if state not in (SweepState.PLANNING, SweepState.RUNNING):
        values["finished_at"] = datetime.now(UTC)
    changed = connection.execute(
        sa.update(table)
        .where(table.c.id == sweep, table.c.state.in_([str(each) for each in among]))
        .values(values)
    )
    return changed.rowcount == 1


@dataclass(frozen=True, slots=True)
class SweepRow:
    id: str
    environment: str
    state: SweepState
    why: str | None
    release: str | None
    worker: str | None
    priority: int
    labels: tuple[str, ...]
    budget: Budget
    until_certain: bool
    created_at: datetime
    finished_at: datetime | None
    spent_tokens: int
    spent_usd: float
    killed: int


SWEEP = sa.select(schema.sweep).where(schema.sweep.c.id == sa.bindparam("of_sweep"))


def read_sweep(connection: sa.Connection, sweep: str) -> SweepRow | None:
    row = connection.execute(SWEEP, {"of_sweep": sweep}).one_or_none()
    return None if row is None else to_sweep(row)


def list_sweeps(connection: sa.Connection, limit: int, label: str | None = None) -> list[SweepRow]:
    table = schema.sweep
    rows = connection.execute(sa.select(table).order_by(table.c.created_at.desc()))
    found = (to_sweep(row) for row in rows)
    return list(islice((row for row in found if label is None or label in row.labels), limit))


def to_sweep(row: sa.Row[Any]) -> SweepRow:
    return SweepRow(
        id=row.id,
        environment=row.environment,
        state=SweepState(row.state),
        why=row.why,
        release=row.release,
        worker=row.worker,
        priority=row.priority,
        labels=tuple(row.labels or ()),
        budget=Budget.model_validate(row.budget or {}),
        until_certain=row.until_certain,
        created_at=row.created_at,
        finished_at=row.finished_at,
        spent_tokens=row.spent_tokens,
        spent_usd=row.spent_usd,
        killed=row.killed,
    )


def parts_of(connection: sa.Connection, sweep: str) -> list[Part]:
    table = schema.part
    statement = sa.select(table.c.part).where(table.c.sweep == sweep).order_by(table.c.n)
    return [Part.model_validate(each) for each in connection.execute(statement).scalars()]


def find_sweep(connection: sa.Connection, prefix: str) -> list[str]:
    """Sweeps whose id begins so; two at the most, to see whether there is one."""
    table = schema.sweep
    statement = sa.select(table.c.id).where(table.c.id.startswith(prefix, autoescape=True))
    return list(connection.execute(statement.limit(2)).scalars())


def save_tasks(
    connection: sa.Connection, environment: Environment, args: dict[str, Any], tasks: Sequence[Task]
) -> None:
    """Rows as they were when trials were planned on them."""
    insert_missing(
        connection,
        schema.task,
        [
            {
                "revision": environment.revision,
                "args": digest(args),
                "index": task.index,
                "key": task.key,
                "row": task.row,
            }
            for task in tasks
        ],
    )


def trial_row(spec: TrialSpec, environment: str, now: datetime) -> dict[str, Any]:
    return {
        "id": spec.id,
        "revision": spec.revision,
        "environment": environment,
        "task_index": spec.index,
        "task_key": spec.key,
        "agent": str(spec.agent),
        "condition": str(spec.condition),
        "n": spec.n,
        "spec": spec.model_dump(mode="json"),
        "created_at": now,
    }


def insert_missing(
    connection: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]
) -> None:
    """Rows whose key is not there yet; in one order, so that two who insert never deadlock."""
    statement = insert_or_keep(connection, table)
    keys = [column.name for column in table.primary_key]
    ordered = sorted(rows, key=lambda row: [row[key] for key in keys])
    for start in range(0, len(ordered), BATCH):
        connection.execute(statement, ordered[start : start + BATCH])


def next_n(connection: sa.Connection, revision: str, agents: Sequence[str]) -> int:
    """The first repetition that no trial of these agents on this revision has had."""
    statement = sa.select(sa.func.max(schema.trial.c.n)).where(
        schema.trial.c.revision == revision, schema.trial.c.agent.in_(agents)
    )
    highest = connection.execute(statement).scalar()
    return 0 if highest is None else int(highest) + 1


def unscored(connection: sa.Connection, sweep: str) -> set[str]:
    """The sweep's trials that have no reward yet."""
    statement = (
        sa.select(schema.trial.c.id)
        .join(schema.sweep_trial, schema.sweep_trial.c.trial == schema.trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep)
        .where(schema.trial.c.outcome.is_distinct_from("scored"))
    )
    return set(connection.execute(statement).scalars())


def specs_of(connection: sa.Connection, sweep: str) -> dict[str, TrialSpec]:
    """Every trial of a sweep."""
    trial = schema.trial
    statement = (
        sa.select(trial.c.id, trial.c.spec)
        .join(schema.sweep_trial, schema.sweep_trial.c.trial == trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep)
        .order_by(trial.c.n, trial.c.task_index)
    )
    return {row.id: TrialSpec.model_validate(row.spec) for row in connection.execute(statement)}


def under_way(connection: sa.Connection) -> list[SweepRow]:
    table = schema.sweep
    statement = sa.select(table).where(table.c.state == str(SweepState.RUNNING))
    return [to_sweep(row) for row in connection.execute(statement)]


def take_orphans(connection: sa.Connection) -> list[str]:
    """Sweeps whose own worker is gone and that nobody else would serve.

    One that a worker which stays can serve belongs to no command from now on.
    """
    table, worker = schema.sweep, schema.worker
    alone = (
        sa.select(table.c.id)
        .join(worker, worker.c.id == table.c.worker, isouter=True)
        .where(table.c.state.in_([str(SweepState.PLANNING), str(SweepState.RUNNING)]))
        .where(table.c.worker.is_not(None))
        .where(sa.or_(worker.c.gone, worker.c.id.is_(None)))
    )
    orphans = list(connection.execute(alone).scalars())
    if not orphans or not any(each.stays for each in live_workers(connection)):
        return orphans
    connection.execute(sa.update(table).where(table.c.id.in_(orphans)).values(worker=None))
    return []


def add_killed(connection: sa.Connection, sweep: str, sandboxes: int) -> None:
    table = schema.sweep
    connection.execute(
        sa.update(table).where(table.c.id == sweep).values(killed=table.c.killed + sandboxes)
    )


def detach(connection: sa.Connection, sweep: str, budget: Budget) -> None:
    """It belongs to no command any more; whoever stays serves it, within this budget."""
    table = schema.sweep
    values = {"worker": None, "begun_at": None, "budget": budget.model_dump(exclude_none=True)}
    connection.execute(sa.update(table).where(table.c.id == sweep).values(values))


def last_with(connection: sa.Connection, trial: str) -> SweepRow | None:
    """The newest sweep with this trial that still has what is needed to run it."""
    table, link = schema.sweep, schema.sweep_trial
    statement = (
        sa.select(table)
        .join(link, link.c.sweep == table.c.id)
        .join(schema.part, schema.part.c.sweep == table.c.id)
        .where(link.c.trial == trial)
        .order_by(table.c.created_at.desc())
        .limit(1)
    )
    row = connection.execute(statement).first()
    return None if row is None else to_sweep(row)
