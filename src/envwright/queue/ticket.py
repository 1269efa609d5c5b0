"""`DbosTickets`: places in DBOS's queues, put there in a transaction of ours.

A ticket is a DBOS workflow `perform` that is enqueued under the name of the job and the
number of its run. DBOS hands each to one worker, within the queue's limit; what the job is,
and what became of it, is in our own tables. Its version is the job's route, by which
workers choose what they serve.
"""

import logging
import time
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions
from dbos._schemas.system_database import SystemSchema
from dbos._serialization import DBOSPortableJSON

from envwright.queue.job import Job
from envwright.queue.state import ticket_of

APPLICATION = "envwright"
PERFORM = "perform"
SCHEMA = "dbos"
LOWEST_PRIORITY = 2**31 - 1
"""DBOS counts from one to this."""
NO_ROUTE = "any"
MOMENT = sa.cast(sa.func.extract("epoch", sa.func.clock_timestamp()) * 1_000_000, sa.BigInteger)
"""More with each statement; DBOS orders by it, and never asks for its unit."""
POLL_SECONDS = 0.02
AT_ONCE = 500
TABLE = SystemSchema.workflow_status
IN_FLIGHT = ("ENQUEUED", "DELAYED", "PENDING")


class DbosTickets:
    def __init__(self, engine: sa.Engine) -> None:
        logger = logging.getLogger("dbos")
        logger.setLevel(logging.CRITICAL)
        # Else it takes hold of stderr, which may be closed when it looks again.
        logger.handlers = [logging.NullHandler()]
        self._client = DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            serializer=DBOSPortableJSON,
            application_name=APPLICATION,
            lazy=True,
        )
        self._tables: Any = self._client._sys_db  # pyright: ignore[reportPrivateUsage]
        # Who waits for a server that is away, and how long, is decided by the store.
        self._tables._retry_connection_errors = False
        self._tables.run_migrations()

    def open_queue(self, name: str) -> None:
        """Known before a worker starts, a queue is polled from its first moment on."""
        self._client.register_queue(
            name, polling_interval_sec=POLL_SECONDS, on_conflict="never_update"
        )

    def put(self, connection: sa.Connection, job: Job, delay_seconds: float) -> None:
        """At the end of its queue, behind all of the same priority."""
        ticket = ticket_of(job)
        options: EnqueueOptions = {
            "workflow_name": PERFORM,
            "queue_name": job.queue,
            "workflow_id": ticket,
            "app_version": job.route or NO_ROUTE,
            "priority": min(LOWEST_PRIORITY, max(1, 1 + job.priority)),
        }
        if delay_seconds > 0:
            options["delay_seconds"] = delay_seconds
        self._client.enqueue_in_transaction(connection, options, ticket)
        if connection.dialect.name == "postgresql":
            # DBOS's own time is the transaction's: no order among those that are put together.
            order = {"created_at": MOMENT}
            mine = TABLE.c.workflow_uuid == ticket
            connection.execute(sa.update(TABLE).where(mine).values(order))

    def drop(self, connection: sa.Connection, tickets: Sequence[str]) -> None:
        """Nobody takes them any more, and whoever holds one holds nothing."""
        self._reach(connection)
        for start in range(0, len(tickets), AT_ONCE):
            connection.execute(
                sa.update(TABLE)
                .where(TABLE.c.workflow_uuid.in_(tickets[start : start + AT_ONCE]))
                .where(TABLE.c.status.in_(IN_FLIGHT))
                .values(
                    status="CANCELLED", queue_name=None, owner_xid=None, completed_at=milliseconds()
                )
            )

    def held_by(self, connection: sa.Connection, worker: str) -> list[str]:
        """Tickets that a worker took and has not ended."""
        return self._pending(connection, TABLE.c.executor_id == worker)

    def held_by_none_of(self, connection: sa.Connection, workers: Collection[str]) -> list[str]:
        return self._pending(connection, TABLE.c.executor_id.not_in(workers))

    def _pending(self, connection: sa.Connection, which: sa.ColumnElement[bool]) -> list[str]:
        self._reach(connection)
        statement = sa.select(TABLE.c.workflow_uuid).where(
            TABLE.c.status == sa.literal_column("'PENDING'"), TABLE.c.name == PERFORM, which
        )
        return list(connection.execute(statement).scalars())

    def missing(
        self, connection: sa.Connection, ticket: sa.ColumnElement[str]
    ) -> sa.ColumnElement[bool]:
        """Whether there is no such ticket, or it is spent."""
        self._reach(connection)
        found = sa.select(sa.literal(1)).where(
            TABLE.c.workflow_uuid == ticket, TABLE.c.status.in_(IN_FLIGHT)
        )
        return sa.not_(found.exists())

    def prune(self, connection: sa.Connection, older_than_seconds: float) -> int:
        """Forget tickets that ended so long ago, a batch of them; how many."""
        self._reach(connection)
        old = sa.select(TABLE.c.workflow_uuid).where(
            TABLE.c.completed_at < milliseconds() - int(older_than_seconds * 1000),
            TABLE.c.status.not_in(IN_FLIGHT),
        )
        found = list(connection.execute(old.limit(AT_ONCE)).scalars())
        beside = (SystemSchema.workflow_input, SystemSchema.workflow_output)
        for table in (*beside, SystemSchema.operation_outputs, TABLE):
            connection.execute(sa.delete(table).where(table.c.workflow_uuid.in_(found)))
        return len(found)

    def _reach(self, connection: sa.Connection) -> None:
        """DBOS's tables are in a schema of their own, where there are schemas."""
        self._tables._apply_caller_schema(connection)

    def close(self) -> None:
        self._client.destroy()


def milliseconds() -> int:
    return int(time.time() * 1000)
