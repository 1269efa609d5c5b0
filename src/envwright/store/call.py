"""Model calls: the ledger of what was spent."""

from collections.abc import Sequence

import sqlalchemy as sa

from envwright.store.schema import model_call
from envwright.trace import ModelCall, Usage

NOTHING_COUNTED = dict.fromkeys(Usage.model_fields)
"""A provider that says nothing of tokens did not say none."""


def insert_calls(connection: sa.Connection, calls: Sequence[tuple[str, int, ModelCall]]) -> None:
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
