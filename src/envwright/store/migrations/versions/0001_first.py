"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "model_call",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("trial", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("input_tokens", sa.Integer(), nullable=True),
        sa.Column("output_tokens", sa.Integer(), nullable=True),
        sa.Column("cached_tokens", sa.Integer(), nullable=True),
        sa.Column("reasoning_tokens", sa.Integer(), nullable=True),
        sa.Column("cost_usd", sa.Float(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("model_call_trial", "model_call", ["trial"], unique=False)
    op.create_table(
        "revision",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("digest"),
    )
    op.create_table(
        "sweep",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("revision", sa.String(length=64), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("plan_digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision"],
            ["revision.digest"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "task",
        sa.Column("revision", sa.String(length=64), nullable=False),
        sa.Column("args", sa.String(length=64), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("row", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision"],
            ["revision.digest"],
        ),
        sa.PrimaryKeyConstraint("revision", "args", "index"),
    )
    op.create_table(
        "trial",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("revision", sa.String(length=64), nullable=False),
        sa.Column("environment", sa.Text(), nullable=False),
        sa.Column("task_index", sa.Integer(), nullable=False),
        sa.Column("task_key", sa.String(length=64), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("condition", sa.String(length=20), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("spec", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(length=10), nullable=True),
        sa.Column("reward", sa.Float(), nullable=True),
        sa.Column("cause", sa.String(length=20), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["revision"],
            ["revision.digest"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("trial_agent", "trial", ["revision", "agent"], unique=False)
    op.create_table(
        "attempt",
        sa.Column("trial", sa.String(length=64), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("worker", sa.Text(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("blob", sa.Text(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("trial", "n"),
    )
    op.create_index("attempt_state", "attempt", ["state"], unique=False)
    op.create_table(
        "grade",
        sa.Column("trial", sa.String(length=64), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("revision", sa.String(length=64), nullable=False),
        sa.Column("n", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.JSON(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("graded_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("trial", "attempt", "revision", "n"),
    )
    op.create_table(
        "sweep_trial",
        sa.Column("sweep", sa.String(length=32), nullable=False),
        sa.Column("trial", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["sweep"],
            ["sweep.id"],
        ),
        sa.ForeignKeyConstraint(
            ["trial"],
            ["trial.id"],
        ),
        sa.PrimaryKeyConstraint("sweep", "trial"),
    )
    op.create_index("sweep_trial_trial", "sweep_trial", ["trial"], unique=False)
