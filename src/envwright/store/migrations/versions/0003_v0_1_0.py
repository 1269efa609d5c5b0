"""Queues, jobs and workers; what a sweep needs to be run by others than who submitted it."""

import sqlalchemy as sa
from alembic import op

revision = "0003_v0_1_0"
down_revision = "0002_v0_1_0"


def upgrade() -> None:
    op.add_column("sweep", sa.Column("state", sa.String(20), nullable=False, server_default="done"))
    op.add_column("sweep", sa.Column("why", sa.Text()))
    op.add_column("sweep", sa.Column("release", sa.String(40)))
    op.add_column("sweep", sa.Column("worker", sa.Text()))
    op.add_column("sweep", sa.Column("priority", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("sweep", sa.Column("labels", sa.JSON()))
    op.add_column("sweep", sa.Column("budget", sa.JSON()))
    op.add_column(
        "sweep",
        sa.Column("until_certain", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column("sweep", sa.Column("begun_at", sa.Float()))
    op.add_column("sweep", sa.Column("finished_at", sa.DateTime(timezone=True)))
    op.add_column(
        "sweep", sa.Column("spent_tokens", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("sweep", sa.Column("spent_usd", sa.Float(), nullable=False, server_default="0"))
    op.add_column("sweep", sa.Column("largest", sa.JSON()))
    op.add_column("sweep", sa.Column("killed", sa.Integer(), nullable=False, server_default="0"))
    op.create_index("sweep_state", "sweep", ["state"])
    op.create_table(
        "part",
        sa.Column("sweep", sa.String(32), sa.ForeignKey("sweep.id"), primary_key=True),
        sa.Column("n", sa.Integer(), primary_key=True),
        sa.Column("revision", sa.String(64), sa.ForeignKey("revision.digest"), nullable=False),
        sa.Column("part", sa.JSON(), nullable=False),
    )
    op.create_table(
        "queue",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("limit", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("live_limit", sa.Integer(), nullable=False),
        sa.Column("parked_until", sa.Float(), nullable=False, server_default="0"),
        sa.Column("failures", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("trying", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("eased_at", sa.Float(), nullable=False, server_default="0"),
        sa.Column("why", sa.Text()),
    )
    op.create_table(
        "complaint",
        sa.Column("id", sa.Integer(), primary_key=True, autoincrement=True),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("fault", sa.String(40), nullable=False),
    )
    op.create_index("complaint_at", "complaint", ["queue", "at"])
    op.create_table(
        "job",
        sa.Column("id", sa.String(100), primary_key=True),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("queue", sa.Text(), nullable=False),
        sa.Column("route", sa.String(32), nullable=False),
        sa.Column("parent", sa.String(100)),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("run", sa.Integer(), nullable=False),
        sa.Column("ready_at", sa.Float(), nullable=False),
        sa.Column("worker", sa.Text()),
        sa.Column("begun_at", sa.Float()),
        sa.Column("ended_at", sa.Float()),
        sa.Column("cancelled", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("why", sa.Text()),
        sa.Column("reserved_tokens", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("reserved_usd", sa.Float(), nullable=False, server_default="0"),
    )
    op.create_index("job_route", "job", ["route", "state"])
    op.create_index("job_state", "job", ["state", "queue", "route"])
    op.create_index("job_worker", "job", ["worker", "state"])
    op.create_index("job_ended", "job", ["queue", "ended_at"])
    op.create_table(
        "job_after",
        sa.Column("job", sa.String(100), sa.ForeignKey("job.id"), primary_key=True),
        sa.Column("waits_for", sa.String(100), primary_key=True),
    )
    op.create_index("job_after_waits_for", "job_after", ["waits_for"])
    op.create_table(
        "worker",
        sa.Column("id", sa.String(200), primary_key=True),
        sa.Column("release", sa.String(40), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("stays", sa.Boolean(), nullable=False),
        sa.Column("begun_at", sa.Float(), nullable=False),
        sa.Column("beat_at", sa.Float(), nullable=False),
        sa.Column("gone", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("unserved", sa.JSON()),
    )
