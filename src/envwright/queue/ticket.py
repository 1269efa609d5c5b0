"""`DbosTickets`: places in DBOS's queues, put there in a transaction of ours.

A ticket is a DBOS workflow `perform` that is enqueued under the name of the job and the
number of its run. DBOS hands each to one worker, within the queue's limit; what the job is,
and what became of it, is in our own tables. Its version is the job's route, by which
workers choose what they serve.
"""

import logging
import time
from collections.abc import Sequence

import sqlalchemy as sa
from dbos import DBOSClient, EnqueueOptions
from dbos._serialization import DBOSPortableJSON

from envwright.queue.job import Job
from envwright.queue.state import ticket_of

APPLICATION = "envwright"
PERFORM = "perform"
SCHEMA = "dbos"
LOWEST_PRIORITY = 2**31 - 1
"""DBOS counts from one to this."""
NO_ROUTE = "any"
PRUNED_AT_ONCE = 1000


class DbosTickets:
    def __init__(self, engine: sa.Engine) -> None:
        logging.getLogger("dbos").setLevel(logging.CRITICAL)
        self._client = DBOSClient(
            system_database_engine=engine,
            dbos_system_schema=SCHEMA,
            serializer=DBOSPortableJSON,
            application_name=APPLICATION,
            lazy=True,
        )
        self._client._sys_db.run_migrations()  # pyright: ignore[reportPrivateUsage]

    def put(self, connection: sa.Connection, job: Job, delay_seconds: float) -> None:
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

    def drop(self, tickets: Sequence[str]) -> None:
        if tickets:
            self._client.cancel_workflows(list(tickets))

    def pending_of(self, workers: Sequence[str]) -> list[str]:
        """Tickets that these workers hold."""
        if not workers:
            return []
        found = self._client.list_workflows(
            status="PENDING", executor_id=list(workers), load_input=False, load_output=False
        )
        return [each.workflow_id for each in found]

    def prune(self, older_than_seconds: float) -> int:
        """Forget tickets that ended so long ago, a batch of them; how many."""
        cutoff = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - older_than_seconds))
        found = self._client.list_workflows(
            status=["SUCCESS", "ERROR", "CANCELLED"],
            end_time=cutoff,
            limit=PRUNED_AT_ONCE,
            load_input=False,
            load_output=False,
        )
        if found:
            self._client.delete_workflows([each.workflow_id for each in found])
        return len(found)

    def close(self) -> None:
        self._client.destroy()
