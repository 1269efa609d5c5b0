"""What sweeps spend: reserved before a trial starts, settled from the ledger after it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from envwright.budget import Budget, Room, Spending, Start, reservation, settled
from envwright.queue.job import Job, JobState
from envwright.record import mapping
from envwright.store import schema
from envwright.store.queue import clock
from envwright.store.result import unpriced

UNLIMITED = Budget()
NOTHING = Spending()
BUDGET_LOCK = 0x62756467
"""Any number, the same for all."""


SWEEP = sa.select(schema.sweep).where(schema.sweep.c.id == sa.bindparam("of_sweep"))
LOCKED_SWEEP = SWEEP.with_for_update()


@dataclass(frozen=True, slots=True)
class Purse:
    """A sweep's budget and what became of it."""

    begun: bool
    """Whether its time runs."""
    budget: Budget
    spent: Spending
    largest: Mapping[str, Spending]
    """Agent → the most that one of its trials took."""


def purse_of(connection: sa.Connection, sweep: str, *, lock: bool = False) -> Purse:
    row = connection.execute(LOCKED_SWEEP if lock else SWEEP, {"of_sweep": sweep}).one()
    begun = clock(connection) - row.begun_at if row.begun_at is not None else 0.0
    return Purse(
        begun=row.begun_at is not None,
        budget=Budget.model_validate(row.budget) if row.budget else UNLIMITED,
        spent=Spending(
            tokens=row.spent_tokens,
            cost_usd=row.spent_usd,
            known_usd=row.spent_usd,
            wall_seconds=max(0.0, begun),
        ),
        largest={
            agent: Spending.model_validate(each) for agent, each in mapping(row.largest).items()
        },
    )


def reserve(
    connection: sa.Connection,
    sweep: str,
    job: Job,
    agent: str,
    estimated: Spending,
    store_budget: Budget = UNLIMITED,
) -> tuple[Room, Spending]:
    """Set aside what a trial may cost; that it does not fit is said, and nothing is set aside."""
    if store_budget != UNLIMITED:
        lock_store(connection)
    purse = purse_of(connection, sweep)
    if not purse.begun:
        begin_clock(connection, sweep)
    if purse.budget == UNLIMITED and store_budget == UNLIMITED:
        return Start(), NOTHING
    purse = purse_of(connection, sweep, lock=True)
    wanted = reservation(purse.budget.of_trial(), purse.largest.get(agent), estimated)
    room = purse.budget.room(purse.spent, reserved_in(connection, sweep), wanted)
    if isinstance(room, Start) and store_budget != UNLIMITED:
        room = store_budget.room(spent_in_store(connection), reserved_in(connection), wanted)
    if isinstance(room, Start):
        table = schema.job
        connection.execute(
            sa.update(table)
            .where(table.c.id == job.id)
            .values(reserved_tokens=wanted.tokens, reserved_usd=wanted.cost_usd or 0.0)
        )
    return room, wanted if isinstance(room, Start) else NOTHING


def begin_clock(connection: sa.Connection, sweep: str) -> None:
    """A sweep's time runs from its first trial."""
    table = schema.sweep
    connection.execute(
        sa.update(table)
        .where(table.c.id == sweep, table.c.begun_at.is_(None))
        .values(begun_at=clock(connection))
    )


def reserved_in(connection: sa.Connection, sweep: str | None = None) -> Spending:
    table = schema.job
    statement = sa.select(
        sa.func.coalesce(sa.func.sum(table.c.reserved_tokens), 0),
        sa.func.coalesce(sa.func.sum(table.c.reserved_usd), 0.0),
    ).where(table.c.state == str(JobState.RUNNING))
    if sweep is not None:
        statement = statement.where(table.c.route == sweep)
    tokens, usd = connection.execute(statement).one()
    return Spending(tokens=tokens, cost_usd=usd, known_usd=usd)


def spent_in_store(connection: sa.Connection) -> Spending:
    """By every sweep of it, as they were settled."""
    table = schema.sweep
    tokens, usd = connection.execute(
        sa.select(
            sa.func.coalesce(sa.func.sum(table.c.spent_tokens), 0),
            sa.func.coalesce(sa.func.sum(table.c.spent_usd), 0.0),
        )
    ).one()
    return Spending(tokens=int(tokens), cost_usd=usd, known_usd=usd)


def lock_store(connection: sa.Connection) -> None:
    """Who sets aside for one sweep of the store waits for who does for another."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(BUDGET_LOCK)))


def totals(call: sa.Table) -> tuple[sa.ColumnElement[Any], ...]:
    tokens = sa.func.coalesce(call.c.input_tokens, 0) + sa.func.coalesce(call.c.output_tokens, 0)
    return (
        sa.func.coalesce(sa.func.sum(tokens), 0).label("tokens"),
        sa.func.coalesce(sa.func.sum(call.c.cost_usd), 0.0).label("usd"),
        unpriced().label("unpriced"),
    )


def to_spending(row: sa.Row[Any]) -> Spending:
    return Spending(
        tokens=row.tokens, cost_usd=None if row.unpriced else row.usd, known_usd=row.usd
    )


SPENT = sa.select(*totals(schema.model_call)).where(
    schema.model_call.c.trial == sa.bindparam("of_trial"),
    schema.model_call.c.attempt == sa.bindparam("number"),
)
COUNT_SPENT = (
    sa.update(schema.sweep)
    .where(schema.sweep.c.id == sa.bindparam("of_sweep"))
    .values(
        spent_tokens=schema.sweep.c.spent_tokens + sa.bindparam("tokens"),
        spent_usd=schema.sweep.c.spent_usd + sa.bindparam("usd"),
        largest=sa.bindparam("most"),
    )
)


def settle(
    connection: sa.Connection,
    sweep: str,
    agent: str,
    trial: str,
    attempt: int,
    reserved: Spending = NOTHING,
) -> None:
    """Count what an attempt spent, as the ledger has it, against its sweep.

    Where the ledger does not know the cost, what was reserved is counted.
    """
    row = connection.execute(SPENT, {"of_trial": trial, "number": attempt}).one()
    spent = to_spending(row)
    if not spent.tokens and not row.unpriced:
        return
    purse = purse_of(connection, sweep, lock=True)
    seen = purse.largest.get(agent) or Spending()
    counted = settled(reserved, spent) if reserved.cost_usd else spent
    most = Spending(
        tokens=max(seen.tokens, counted.tokens),
        cost_usd=max(seen.known_usd, counted.known_usd),
        known_usd=max(seen.known_usd, counted.known_usd),
    )
    largest = {**purse.largest, agent: most}
    connection.execute(
        COUNT_SPENT,
        {
            "of_sweep": sweep,
            "tokens": counted.tokens,
            "usd": counted.known_usd,
            "most": {name: each.model_dump() for name, each in largest.items()},
        },
    )
