"""Tokens written to a provider's cache; the worker's index, by which imports are known."""

import sqlalchemy as sa
from alembic import op

revision = "0002_v0_1_0"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("model_call", sa.Column("cache_write_tokens", sa.Integer(), nullable=True))
    op.create_index("attempt_worker", "attempt", ["worker"], unique=False)
