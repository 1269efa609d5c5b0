"""The tables. One spelling for SQLite and PostgreSQL; times are UTC, JSON is canonical text."""

from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

HEAD = "0001"
"""The newest migration that this program knows."""

metadata = MetaData()

revision = Table(
    "revision",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("name", Text, nullable=False),
    Column("seen_at", DateTime(timezone=True), nullable=False),
)

task = Table(
    "task",
    metadata,
    Column("revision", String(64), ForeignKey("revision.digest"), primary_key=True),
    Column("args", String(64), primary_key=True),
    Column("index", Integer, primary_key=True),
    Column("key", String(64), nullable=False),
    Column("row", JSON, nullable=False),
)

sweep = Table(
    "sweep",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("revision", String(64), ForeignKey("revision.digest"), nullable=False),
    Column("environment", Text, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("plan_digest", String(64), nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

trial = Table(
    "trial",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("revision", String(64), ForeignKey("revision.digest"), nullable=False),
    Column("environment", Text, nullable=False),
    Column("task_index", Integer, nullable=False),
    Column("task_key", String(64), nullable=False),
    Column("agent", Text, nullable=False),
    Column("condition", String(20), nullable=False),
    Column("n", Integer, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("outcome", String(10)),
    Column("reward", Float),
    Column("cause", String(20)),
    Column("result", JSON),
    Column("finished_at", DateTime(timezone=True)),
)
Index("trial_agent", trial.c.revision, trial.c.agent)

sweep_trial = Table(
    "sweep_trial",
    metadata,
    Column("sweep", String(32), ForeignKey("sweep.id"), primary_key=True),
    Column("trial", String(64), ForeignKey("trial.id"), primary_key=True),
)
Index("sweep_trial_trial", sweep_trial.c.trial)

attempt = Table(
    "attempt",
    metadata,
    Column("trial", String(64), ForeignKey("trial.id"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("state", String(10), nullable=False),
    Column("worker", Text, nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("ended_at", DateTime(timezone=True)),
    Column("blob", Text),
    Column("problem", Text),
)
Index("attempt_state", attempt.c.state)

grade = Table(
    "grade",
    metadata,
    Column("trial", String(64), ForeignKey("trial.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("revision", String(64), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("outcome", JSON, nullable=False),
    Column("findings", JSON, nullable=False),
    Column("graded_at", DateTime(timezone=True), nullable=False),
)

model_call = Table(
    "model_call",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("trial", String(64), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("seat", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("started_at", DateTime(timezone=True), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("status", Integer),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("cost_usd", Float),
    Column("error", Text),
)
Index("model_call_trial", model_call.c.trial)
