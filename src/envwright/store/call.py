"""Model calls: the ledger of what was spent."""

from collections.abc import Sequence

import sqlalchemy as sa

from envwright.store.schema import model_call
from envwright.trace import ModelCall, Usage

Made = tuple[str, int, ModelCall]
"""A call with its trial and attempt."""
NOTHING_COUNTED = dict.fromkeys(Usage.model_fields)
"""A provider that says nothing of tokens did not say none."""


def missing_calls(connection: sa.Connection, calls: Sequence[Made]) -> list[Made]:
    """Those of these calls that are not written yet."""
    table = model_call
    names = ("trial", "attempt", "seat", "started_at", "seconds")
    some = table.c.trial.in_({trial for trial, _, _ in calls})
    rows = connection.execute(sa.select(*(table.c[name] for name in names)).where(some))
    known = {tuple(row) for row in rows}
    return [
        (trial, attempt, made)
        for trial, attempt, made in calls
        if (trial, attempt, made.seat, made.started_at, made.seconds) not in known
    ]


def insert_calls(connection: sa.Connection, calls: Sequence[Made]) -> None:
    if not calls:
        return
    connection.execute(
        sa.insert(model_call),
        [
            {
                "trial": trial,
                "attempt": attempt,
                "seat": call.seat,
                "model": call.model,
                "started_at": call.started_at,
                "seconds": call.seconds,
                "status": call.status,
                **(call.usage.model_dump() if call.usage else NOTHING_COUNTED),
                "cost_usd": call.cost_usd,
                "error": call.error,
            }
            for trial, attempt, call in calls
        ],
    )
