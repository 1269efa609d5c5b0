"""Model calls: the ledger of what was spent."""

from collections.abc import Sequence

import sqlalchemy as sa

from envwright.store.schema import model_call
from envwright.trace import ModelCall


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
                "input_tokens": call.usage.input_tokens if call.usage else None,
                "output_tokens": call.usage.output_tokens if call.usage else None,
                "cached_tokens": call.usage.cached_tokens if call.usage else None,
                "reasoning_tokens": call.usage.reasoning_tokens if call.usage else None,
                "cost_usd": call.cost_usd,
                "error": call.error,
            }
            for trial, attempt, call in calls
        ],
    )
