"""Trials, their attempts and grades. A trace is written before its outcome; nothing is replaced."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from envwright.errors import Cause
from envwright.store import schema
from envwright.trial.attempt import Attempt, AttemptState
from envwright.trial.outcome import Failed, Grade, Outcome, Scored
from envwright.trial.spec import TrialSpec

BATCH = 500
LOST_ATTEMPTS = 3
"""So many lost in a row and the trial is given up as our failure."""
GIVEN_UP = Failed(
    cause=Cause.OURS, detail=f"{LOST_ATTEMPTS} attempts in a row were lost with their worker"
)


# What every trial asks for is built once: to build a statement costs more than to run it.
OF_TRIAL = schema.attempt.c.trial == sa.bindparam("of_trial")
IS_RUNNING = schema.attempt.c.state == str(AttemptState.RUNNING)
LOCK_TRIAL = (
    sa.select(schema.trial.c.id)
    .where(schema.trial.c.id == sa.bindparam("of_trial"))
    .with_for_update()
)
OPEN_ATTEMPT = (
    sa.insert(schema.attempt)
    .values(
        trial=sa.bindparam("of_trial"),
        n=sa.select(sa.func.coalesce(sa.func.max(schema.attempt.c.n), 0))
        .where(OF_TRIAL)
        .scalar_subquery()
        + 1,
        state=str(AttemptState.RUNNING),
        worker=sa.bindparam("by_worker"),
        started_at=sa.bindparam("now"),
    )
    .returning(schema.attempt.c.n)
)
CLOSE_ATTEMPT = (
    sa.update(schema.attempt)
    .where(OF_TRIAL, schema.attempt.c.n == sa.bindparam("number"), IS_RUNNING)
    .values(
        state=sa.bindparam("to_state"),
        ended_at=sa.bindparam("now"),
        blob=sa.bindparam("its_blob"),
        problem=sa.bindparam("its_problem"),
    )
)
CLOSE_LOST = (
    sa.update(schema.attempt)
    .where(OF_TRIAL, IS_RUNNING)
    .values(
        state=str(AttemptState.LOST), ended_at=sa.bindparam("now"), problem="its worker is gone"
    )
    .returning(schema.attempt.c.n)
)
LAST_STATES = (
    sa.select(schema.attempt.c.state)
    .where(OF_TRIAL, schema.attempt.c.n > sa.bindparam("before"))
    .order_by(schema.attempt.c.n.desc())
    .limit(LOST_ATTEMPTS)
)
OPENED = sa.select(schema.attempt.c.n).where(
    OF_TRIAL,
    schema.attempt.c.worker == sa.bindparam("by_worker"),
    schema.attempt.c.started_at == sa.bindparam("now"),
    schema.attempt.c.state == str(AttemptState.RUNNING),
)
INSERT_GRADE = sa.insert(schema.grade)
SET_OUTCOME = (
    sa.update(schema.trial)
    .where(schema.trial.c.id == sa.bindparam("of_trial"))
    .where(schema.trial.c.outcome.is_distinct_from("scored"))
    .values(
        outcome=sa.bindparam("to_outcome"),
        reward=sa.bindparam("its_reward"),
        cause=sa.bindparam("its_cause"),
        result=sa.bindparam("its_result"),
        finished_at=sa.bindparam("now"),
    )
)
SPEC = sa.select(schema.trial.c.spec).where(schema.trial.c.id == sa.bindparam("of_trial"))


def open_attempt(connection: sa.Connection, trial: str, worker: str, now: datetime) -> int:
    """The number of a fresh attempt, written before it starts."""
    lock_trial(connection, trial)
    values = {"of_trial": trial, "by_worker": worker, "now": now}
    return connection.execute(OPEN_ATTEMPT, values).scalar_one()


def lock_trial(connection: sa.Connection, trial: str) -> None:
    """Until the transaction ends nobody else counts this trial's attempts."""
    connection.execute(LOCK_TRIAL, {"of_trial": trial})


def close_attempt(
    connection: sa.Connection,
    attempt: Attempt,
    blob: str | None,
    grade: Grade | None,
    final: Outcome | None,
) -> bool:
    """End an attempt; with `final` the trial too. False when someone else has ended it."""
    ended = connection.execute(
        CLOSE_ATTEMPT,
        {
            "of_trial": attempt.trial,
            "number": attempt.n,
            "to_state": str(attempt.state),
            "now": attempt.ended_at,
            "its_blob": blob,
            "its_problem": attempt.problem,
        },
    )
    if ended.rowcount != 1:
        return False
    if grade is not None:
        connection.execute(
            INSERT_GRADE,
            {
                "trial": grade.trial,
                "attempt": grade.attempt,
                "revision": grade.revision,
                "n": grade.n,
                "outcome": grade.outcome.model_dump(mode="json"),
                "findings": [finding.model_dump(mode="json") for finding in grade.findings],
                "graded_at": grade.graded_at,
            },
        )
    if final is not None:
        set_outcome(connection, attempt.trial, final, attempt.ended_at or datetime.now(UTC))
    return True


def set_outcome(connection: sa.Connection, trial: str, outcome: Outcome, now: datetime) -> None:
    """The trial's outcome; one that is scored already is never replaced."""
    scored = isinstance(outcome, Scored)
    connection.execute(
        SET_OUTCOME,
        {
            "of_trial": trial,
            "to_outcome": outcome.kind,
            "its_reward": outcome.reward if scored else None,
            "its_cause": None if scored else str(outcome.cause),
            "its_result": outcome.model_dump(mode="json"),
            "now": now,
        },
    )


def opened_attempt(connection: sa.Connection, trial: str, worker: str, now: datetime) -> int | None:
    """The attempt that this worker opened at this very moment, should it ask twice."""
    values = {"of_trial": trial, "by_worker": worker, "now": now}
    return connection.execute(OPENED, values).scalar()


def close_lost(connection: sa.Connection, trial: str, now: datetime) -> list[int]:
    """Close what earlier runs of this trial left open: their worker is gone, none is charged.

    Only whoever holds the trial's job calls this, and a job is held by one.
    """
    return sorted(connection.execute(CLOSE_LOST, {"of_trial": trial, "now": now}).scalars())


def is_given_up(connection: sa.Connection, trial: str, before: int = 0) -> bool:
    """Whether its last attempts were all lost, not counting those up to `before`."""
    states = list(connection.execute(LAST_STATES, {"of_trial": trial, "before": before}).scalars())
    return states == [str(AttemptState.LOST)] * LOST_ATTEMPTS


def attempts_before(connection: sa.Connection, trials: Sequence[str]) -> dict[str, int]:
    """Trials of these that were attempted → how often."""
    table = schema.attempt
    found: dict[str, int] = {}
    for start in range(0, len(trials), BATCH):
        statement = (
            sa.select(table.c.trial, sa.func.max(table.c.n))
            .where(table.c.trial.in_(trials[start : start + BATCH]))
            .group_by(table.c.trial)
        )
        found.update({trial: n for trial, n in connection.execute(statement)})
    return found


@dataclass(frozen=True, slots=True)
class TrialRow:
    id: str
    environment: str
    revision: str
    task_index: int
    task_key: str
    agent: str
    condition: str
    n: int
    spec: dict[str, Any]
    outcome: dict[str, Any] | None
    attempts: int
    finished_at: datetime | None


def list_trials(
    connection: sa.Connection,
    *,
    sweep: str | None = None,
    agent: str | None = None,
    outcome: str | None = None,
    limit: int | None = None,
) -> list[TrialRow]:
    trial = schema.trial
    statement = select_trials().order_by(trial.c.created_at.desc(), trial.c.task_index, trial.c.n)
    if sweep is not None:
        statement = statement.join(
            schema.sweep_trial, schema.sweep_trial.c.trial == trial.c.id
        ).where(schema.sweep_trial.c.sweep == sweep)
    if agent is not None:
        statement = statement.where(trial.c.agent == agent)
    if outcome is not None:
        statement = statement.where(trial.c.outcome == outcome)
    return [to_row(row) for row in connection.execute(statement.limit(limit))]


def find_trials(connection: sa.Connection, prefix: str) -> list[TrialRow]:
    """Trials whose id begins so; two at the most, to see whether there is one."""
    statement = select_trials().where(schema.trial.c.id.startswith(prefix, autoescape=True))
    return [to_row(row) for row in connection.execute(statement.limit(2))]


def select_trials() -> sa.Select[Any]:
    attempts = (
        sa.select(sa.func.count())
        .where(schema.attempt.c.trial == schema.trial.c.id)
        .scalar_subquery()
    )
    return sa.select(schema.trial, attempts.label("attempts"))


def to_row(row: sa.Row[Any]) -> TrialRow:
    return TrialRow(
        id=row.id,
        environment=row.environment,
        revision=row.revision,
        task_index=row.task_index,
        task_key=row.task_key,
        agent=row.agent,
        condition=row.condition,
        n=row.n,
        spec=row.spec,
        outcome=row.result,
        attempts=row.attempts,
        finished_at=row.finished_at,
    )


@dataclass(frozen=True, slots=True)
class AttemptRow:
    n: int
    state: str
    started_at: datetime
    ended_at: datetime | None
    blob: str | None
    problem: str | None
    grades: Sequence[dict[str, Any]]


def attempts_of(connection: sa.Connection, trial: str) -> list[AttemptRow]:
    grades: dict[int, list[dict[str, Any]]] = {}
    for row in connection.execute(
        sa.select(schema.grade).where(schema.grade.c.trial == trial).order_by(schema.grade.c.n)
    ):
        grade = {"revision": row.revision, "n": row.n, "outcome": row.outcome}
        grades.setdefault(row.attempt, []).append({**grade, "findings": row.findings})
    statement = (
        sa.select(schema.attempt)
        .where(schema.attempt.c.trial == trial)
        .order_by(schema.attempt.c.n)
    )
    return [
        AttemptRow(
            n=row.n,
            state=row.state,
            started_at=row.started_at,
            ended_at=row.ended_at,
            blob=row.blob,
            problem=row.problem,
            grades=grades.get(row.n, []),
        )
        for row in connection.execute(statement)
    ]


@dataclass(frozen=True, slots=True)
class Solved:
    """A trial that earned, and where its traces are."""

    index: int
    key: str
    agent: str
    args: dict[str, Any]
    reward: float
    blob: str


def solved_trials(connection: sa.Connection, revision: str, above: float) -> list[Solved]:
    """Trials of a revision that earned more than that and left traces; the best paid first."""
    trial, attempt = schema.trial, schema.attempt
    statement = (
        sa.select(
            trial.c.task_index,
            trial.c.task_key,
            trial.c.agent,
            trial.c.spec,
            trial.c.reward,
            attempt.c.blob,
        )
        .join(attempt, attempt.c.trial == trial.c.id)
        .where(trial.c.revision == revision, trial.c.reward > above)
        .where(attempt.c.blob.is_not(None), attempt.c.state == str(AttemptState.FINISHED))
        .order_by(trial.c.reward.desc(), trial.c.task_index, trial.c.n, attempt.c.n.desc())
    )
    return [
        Solved(
            index=row.task_index,
            key=row.task_key,
            agent=row.agent,
            args=row.spec["args"],
            reward=row.reward,
            blob=row.blob,
        )
        for row in connection.execute(statement)
    ]


def spec_of(connection: sa.Connection, trial: str) -> TrialSpec:
    row = connection.execute(SPEC, {"of_trial": trial}).scalar_one()
    return TrialSpec.model_validate(row)


def task_row(
    connection: sa.Connection, revision: str, args: str, index: int
) -> dict[str, Any] | None:
    table = schema.task
    statement = sa.select(table.c.row).where(
        table.c.revision == revision, table.c.args == args, table.c.index == index
    )
    return connection.execute(statement).scalar()
