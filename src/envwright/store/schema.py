"""The tables. One spelling for SQLite and PostgreSQL; times are UTC, JSON is canonical text."""

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    false,
)

from envwright.store.column import Utc, Words

HEAD = "0003_v0_1_0"
"""The newest migration that this program knows.

One that follows is named NNNN_vX_Y_Z after the first release that has it, so that an
older program can say what to install.
"""

metadata = MetaData()

revision = Table(
    "revision",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("name", Words(), nullable=False),
    Column("seen_at", Utc(), nullable=False),
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
    Column("environment", Words(), nullable=False),
    Column("plan", JSON, nullable=False),
    Column("plan_digest", String(64), nullable=False),
    Column("created_at", Utc(), nullable=False),
    Column("state", String(20), nullable=False, server_default="done"),
    Column("why", Words()),
    Column("release", String(40)),
    Column("worker", Words()),
    Column("priority", Integer, nullable=False, server_default="0"),
    Column("labels", JSON),
    Column("budget", JSON),
    Column("until_certain", Boolean, nullable=False, server_default=false()),
    Column("begun_at", Float),
    Column("finished_at", Utc()),
    Column("spent_tokens", Integer, nullable=False, server_default="0"),
    Column("spent_usd", Float, nullable=False, server_default="0"),
    Column("largest", JSON),
    Column("killed", Integer, nullable=False, server_default="0"),
)
Index("sweep_state", sweep.c.state)

part = Table(
    "part",
    metadata,
    Column("sweep", String(32), ForeignKey("sweep.id"), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("revision", String(64), ForeignKey("revision.digest"), nullable=False),
    Column("part", JSON, nullable=False),
)

trial = Table(
    "trial",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("revision", String(64), ForeignKey("revision.digest"), nullable=False),
    Column("environment", Words(), nullable=False),
    Column("task_index", Integer, nullable=False),
    Column("task_key", String(64), nullable=False),
    Column("agent", Words(), nullable=False),
    Column("condition", String(20), nullable=False),
    Column("n", Integer, nullable=False),
    Column("spec", JSON, nullable=False),
    Column("created_at", Utc(), nullable=False),
    Column("outcome", String(10)),
    Column("reward", Float),
    Column("cause", String(20)),
    Column("result", JSON),
    Column("finished_at", Utc()),
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
    Column("worker", Words(), nullable=False),
    Column("started_at", Utc(), nullable=False),
    Column("ended_at", Utc()),
    Column("blob", Words()),
    Column("problem", Words()),
)
Index("attempt_state", attempt.c.state)
Index("attempt_worker", attempt.c.worker)

grade = Table(
    "grade",
    metadata,
    Column("trial", String(64), ForeignKey("trial.id"), primary_key=True),
    Column("attempt", Integer, primary_key=True),
    Column("revision", String(64), primary_key=True),
    Column("n", Integer, primary_key=True),
    Column("outcome", JSON, nullable=False),
    Column("findings", JSON, nullable=False),
    Column("graded_at", Utc(), nullable=False),
)

model_call = Table(
    "model_call",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("trial", String(64), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("seat", Words(), nullable=False),
    Column("model", Words(), nullable=False),
    Column("started_at", Utc(), nullable=False),
    Column("seconds", Float, nullable=False),
    Column("status", Integer),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_tokens", Integer),
    Column("cache_write_tokens", Integer),
    Column("reasoning_tokens", Integer),
    Column("cost_usd", Float),
    Column("error", Words()),
)
Index("model_call_trial", model_call.c.trial)

queue = Table(
    "queue",
    metadata,
    Column("name", Words(), primary_key=True),
    Column("limit", Integer, nullable=False),
    Column("pinned", Boolean, nullable=False, server_default=false()),
    Column("live_limit", Integer, nullable=False),
    Column("parked_until", Float, nullable=False, server_default="0"),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("trying", Boolean, nullable=False, server_default=false()),
    Column("eased_at", Float, nullable=False, server_default="0"),
    Column("why", Words()),
)

complaint = Table(
    "complaint",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("queue", Words(), nullable=False),
    Column("at", Float, nullable=False),
    Column("fault", String(40), nullable=False),
)
Index("complaint_at", complaint.c.queue, complaint.c.at)

job = Table(
    "job",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("kind", String(20), nullable=False),
    Column("queue", Words(), nullable=False),
    Column("route", String(32), nullable=False),
    Column("parent", String(100)),
    Column("payload", JSON, nullable=False),
    Column("priority", Integer, nullable=False),
    Column("state", String(10), nullable=False),
    Column("run", Integer, nullable=False),
    Column("ready_at", Float, nullable=False),
    Column("worker", Words()),
    Column("begun_at", Float),
    Column("ended_at", Float),
    Column("cancelled", Boolean, nullable=False, server_default=false()),
    Column("why", Words()),
    Column("reserved_tokens", Integer, nullable=False, server_default="0"),
    Column("reserved_usd", Float, nullable=False, server_default="0"),
)
Index("job_route", job.c.route, job.c.state)
Index("job_state", job.c.state, job.c.queue, job.c.route)
Index("job_worker", job.c.worker, job.c.state)
Index("job_ended", job.c.queue, job.c.ended_at)

job_after = Table(
    "job_after",
    metadata,
    Column("job", String(100), ForeignKey("job.id"), primary_key=True),
    Column("waits_for", String(100), primary_key=True),
)
Index("job_after_waits_for", job_after.c.waits_for)

worker = Table(
    "worker",
    metadata,
    Column("id", String(200), primary_key=True),
    Column("release", String(40), nullable=False),
    Column("slots", Integer, nullable=False),
    Column("stays", Boolean, nullable=False),
    Column("begun_at", Float, nullable=False),
    Column("beat_at", Float, nullable=False),
    Column("gone", Boolean, nullable=False, server_default=false()),
    Column("unserved", JSON),
)
