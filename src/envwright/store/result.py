"""What became of a sweep's trials, and what they cost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from envwright.errors import Cause
from envwright.store import schema

BATCH = 500
MOST_FAILURES = 10_000


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """What a table of results needs of one trial."""

    environment: str
    agent: str
    task_key: str
    outcome: str | None
    reward: float | None
    cause: Cause | None
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float | None
    """Of all its attempts; None when the price of any call is unknown."""


def summaries(connection: sa.Connection, sweep: str) -> Iterator[TrialSummary]:
    call, trial = schema.model_call, schema.trial
    spent = (
        sa.select(
            call.c.trial,
            sa.func.sum(call.c.input_tokens).label("input"),
            sa.func.sum(call.c.output_tokens).label("output"),
            sa.func.sum(call.c.cached_tokens).label("cached"),
            sa.func.sum(call.c.cost_usd).label("cost"),
            unpriced().label("unpriced"),
        )
        .where(
            call.c.trial.in_(
                sa.select(schema.sweep_trial.c.trial).where(schema.sweep_trial.c.sweep == sweep)
            )
        )
        .group_by(call.c.trial)
        .subquery()
    )
    statement = (
        sa.select(
            trial.c.environment,
            trial.c.agent,
            trial.c.task_key,
            trial.c.outcome,
            trial.c.reward,
            trial.c.cause,
            spent.c.input,
            spent.c.output,
            spent.c.cached,
            spent.c.cost,
            spent.c.unpriced,
        )
        .join(schema.sweep_trial, schema.sweep_trial.c.trial == trial.c.id)
        .outerjoin(spent, spent.c.trial == trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep)
    )
    for row in connection.execute(statement):
        yield TrialSummary(
            environment=row.environment,
            agent=row.agent,
            task_key=row.task_key,
            outcome=row.outcome,
            reward=row.reward,
            cause=Cause(row.cause) if row.cause else None,
            input_tokens=row.input or 0,
            output_tokens=row.output or 0,
            cached_tokens=row.cached or 0,
            cost_usd=None if row.unpriced else (row.cost or 0.0),
        )


@dataclass(frozen=True, slots=True)
class Apart:
    """What one agent's trials cost beside the agent itself, at one seat."""

    environment: str
    agent: str
    seat: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cost_usd: float | None
    """None when the price of any call is unknown."""


def spent_apart(connection: sa.Connection, sweep: str, seats: Sequence[str]) -> list[Apart]:
    """By agent and seat: what others than the agent spent in the sweep's trials."""
    call, trial = schema.model_call, schema.trial
    statement = (
        sa.select(
            trial.c.environment,
            trial.c.agent,
            call.c.seat,
            sa.func.sum(call.c.input_tokens).label("input"),
            sa.func.sum(call.c.output_tokens).label("output"),
            sa.func.sum(call.c.cached_tokens).label("cached"),
            sa.func.sum(call.c.cost_usd).label("cost"),
            unpriced().label("unpriced"),
        )
        .join(trial, trial.c.id == call.c.trial)
        .join(schema.sweep_trial, schema.sweep_trial.c.trial == trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep, call.c.seat.in_(seats))
        .group_by(trial.c.environment, trial.c.agent, call.c.seat)
        .order_by(trial.c.environment, trial.c.agent, call.c.seat)
    )
    return [
        Apart(
            environment=row.environment,
            agent=row.agent,
            seat=row.seat,
            input_tokens=row.input or 0,
            output_tokens=row.output or 0,
            cached_tokens=row.cached or 0,
            cost_usd=None if row.unpriced else (row.cost or 0.0),
        )
        for row in connection.execute(statement)
    ]


def unpriced() -> sa.ColumnElement[int]:
    """How many calls were paid for at a price that is not known.

    An answer was paid for, whether or not the provider said how much of one it was.
    """
    call = schema.model_call
    billed = sa.or_(call.c.status == 200, call.c.input_tokens.is_not(None))
    return sa.func.sum(sa.case((sa.and_(billed, call.c.cost_usd.is_(None)), 1), else_=0))


def of_unknown_cost(connection: sa.Connection, sweeps: Sequence[str]) -> set[str]:
    """Those of these sweeps in whose trials a call was paid for at a price that is not known."""
    call, link = schema.model_call, schema.sweep_trial
    statement = (
        sa.select(link.c.sweep)
        .join(call, call.c.trial == link.c.trial)
        .where(link.c.sweep.in_(sweeps))
        .group_by(link.c.sweep)
        .having(unpriced() > 0)
    )
    return set(connection.execute(statement).scalars())


def failure_counts(connection: sa.Connection, sweep: str, most: int = 5) -> dict[str, int]:
    """Why trials failed: the cause and the last line of its detail, the most frequent first."""
    trial = schema.trial
    statement = (
        sa.select(trial.c.agent, trial.c.result)
        .join(schema.sweep_trial, schema.sweep_trial.c.trial == trial.c.id)
        .where(schema.sweep_trial.c.sweep == sweep, trial.c.outcome == "failed")
        .limit(MOST_FAILURES)
    )
    counts: Counter[str] = Counter()
    for row in connection.execute(statement):
        lines = str(row.result["detail"]).strip().splitlines() or ["no detail"]
        counts[f"{row.agent}: {row.result['cause']}: {lines[-1].strip()[:300]}"] += 1
    return dict(counts.most_common(most))


def scored_among(connection: sa.Connection, trials: Sequence[str]) -> set[str]:
    """Which of these trials have a reward already."""
    found: set[str] = set()
    for start in range(0, len(trials), BATCH):
        statement = sa.select(schema.trial.c.id).where(
            schema.trial.c.id.in_(trials[start : start + BATCH]),
            schema.trial.c.outcome == "scored",
        )
        found.update(connection.execute(statement).scalars())
    return found


def mean_tokens(
    connection: sa.Connection, revision: str, agent: str
) -> tuple[float, float, int] | None:
    """Input and output tokens of a scored trial of this agent on this revision, and of how many."""
    call, trial = schema.model_call, schema.trial
    statement = (
        sa.select(
            sa.func.sum(call.c.input_tokens),
            sa.func.sum(call.c.output_tokens),
            sa.func.count(sa.distinct(trial.c.id)),
        )
        .join(trial, trial.c.id == call.c.trial)
        .where(trial.c.revision == revision, trial.c.agent == agent, trial.c.outcome == "scored")
    )
    total_in, total_out, count = connection.execute(statement).one()
    return (total_in / count, total_out / count, count) if count and total_in is not None else None


def spent_by_model(connection: sa.Connection) -> dict[str, float | None]:
    """Model → what all its calls cost; None when the price of any is unknown."""
    call = schema.model_call
    statement = sa.select(
        call.c.model, sa.func.sum(call.c.cost_usd).label("cost"), unpriced().label("unpriced")
    ).group_by(call.c.model)
    return {
        row.model: None if row.unpriced else (row.cost or 0.0)
        for row in connection.execute(statement)
    }


def wasted_tokens(connection: sa.Connection, sweep: str) -> int:
    """What attempts took that came to nothing: parked, lost, stopped or tried again."""
    call, link, attempt = schema.model_call, schema.sweep_trial, schema.attempt
    last = (
        sa.select(attempt.c.trial, sa.func.max(attempt.c.n).label("n"))
        .group_by(attempt.c.trial)
        .subquery()
    )
    tokens = sa.func.coalesce(call.c.input_tokens, 0) + sa.func.coalesce(call.c.output_tokens, 0)
    statement = (
        sa.select(sa.func.coalesce(sa.func.sum(tokens), 0))
        .select_from(link)
        .join(last, last.c.trial == link.c.trial)
        .join(call, sa.and_(call.c.trial == link.c.trial, call.c.attempt < last.c.n))
        .where(link.c.sweep == sweep)
    )
    return int(connection.execute(statement).scalar_one())


def was_answered(connection: sa.Connection, sweep: str, model: str) -> bool:
    """Whether the model answered any call of a sweep's trials."""
    call, link = schema.model_call, schema.sweep_trial
    statement = (
        sa.select(sa.literal(1))
        .select_from(link)
        .join(call, call.c.trial == link.c.trial)
        .where(link.c.sweep == sweep, call.c.model == model, call.c.status == 200)
        .limit(1)
    )
    return connection.execute(statement).scalar() is not None
