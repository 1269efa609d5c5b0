"""`JobStore`: the queue's `State`, each method one transaction of the store's writer.

All that is written here may be written twice: a commit that is not answered is repeated.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ParamSpec, TypeVar

import sqlalchemy as sa

from envwright.errors import Fault
from envwright.queue.job import Job, QueueStats, Result
from envwright.queue.state import Pulse, Times, Worker
from envwright.queue.ticket import DbosTickets
from envwright.store import job as jobs
from envwright.store import queue as queues
from envwright.store import schema
from envwright.store import worker as workers
from envwright.store.store import Store

PRUNE_PAUSE_SECONDS = 0.1
"""Between batches: others write too."""
P = ParamSpec("P")
T = TypeVar("T")


class JobStore:
    def __init__(self, store: Store, times: Times | None = None) -> None:
        self._store = store
        self._times = times or Times()
        self.tickets = DbosTickets(store.queue_engine)

    async def ensure_queue(self, name: str, limit: int) -> None:
        await self._store.write_surely(queues.ensure_queue, name, limit)
        await asyncio.to_thread(self.tickets.open_queue, name)

    async def set_limit(self, name: str, limit: int) -> None:
        await self._store.write_surely(queues.set_limit, name, limit)

    async def park(self, name: str, seconds: float, why: str | None) -> None:
        await self._store.write_surely(queues.park_queue, name, seconds, why)

    async def open(self, name: str) -> None:
        await self._store.write_surely(queues.open_queue, name)

    async def complain(self, name: str, seconds: float, fault: Fault) -> None:
        await self._store.write_surely(queues.complain, name, seconds, fault)

    async def stats(self) -> Mapping[str, QueueStats]:
        return await asyncio.to_thread(self._store.read, queues.queue_stats)

    async def submit(
        self, jobs_: Sequence[Job], /, delay_seconds: float, after: Sequence[str], *, again: bool
    ) -> int:
        added = 0
        for start in range(0, len(jobs_), jobs.BATCH):
            batch = jobs_[start : start + jobs.BATCH]
            put = partial(
                jobs.submit_jobs,
                tickets=self.tickets,
                jobs=batch,
                delay_seconds=delay_seconds,
                after=after,
                again=again,
            )
            added += await self._store.write_surely(put)
        return added

    async def submit_last(
        self, job: Job, after: Sequence[str], record: Callable[[sa.Connection], None]
    ) -> None:
        """One that comes after all the others, and what is to be written with it."""

        def put(connection: sa.Connection) -> None:
            jobs.submit_jobs(connection, self.tickets, [job], 0.0, after, again=True)
            record(connection)

        await self._store.write_surely(put)

    async def cancel(self, ids: Sequence[str], why: str) -> int:
        found = 0
        for start in range(0, len(ids), jobs.BATCH):
            some = schema.job.c.id.in_(ids[start : start + jobs.BATCH])
            found += sum(await self.cancel_where(some, why))
        return found

    async def cancel_where(self, which: sa.ColumnElement[bool], why: str) -> tuple[int, int]:
        """How many were not started, and how many run and are ended soon."""
        return await self._store.write_surely(jobs.cancel_jobs, self.tickets, which, why)

    async def claim(self, ticket: str, worker: str) -> Job | None:
        return await self._store.write_surely(jobs.claim_job, self.tickets, ticket, worker)

    async def settle(self, job: Job, worker: str, result: Result) -> bool:
        return await self._store.write_surely(jobs.settle_job, self.tickets, job, worker, result)

    async def give_back(self, job: Job, worker: str) -> bool:
        return await self._store.write_surely(jobs.give_back_job, self.tickets, job, worker)

    async def hello(self, worker: Worker) -> None:
        await self._store.write_surely(workers.hello, worker)

    async def beat(self, worker: str) -> Pulse | None:
        return await self._store.write_surely(workers.beat, worker)

    async def leave(self, worker: str) -> None:
        await self._store.write_surely(workers.leave, self.tickets, worker)

    async def put_back(self, tickets: Sequence[str]) -> None:
        if tickets:
            await self._store.write_surely(jobs.put_back, self.tickets, tickets)

    async def held(self, worker: str) -> frozenset[str]:
        return await asyncio.to_thread(self._store.read, workers.held_by, self.tickets, worker)

    async def reap(
        self, worker: str, is_gone: Callable[[str], bool], *, judge: bool = True
    ) -> tuple[Sequence[str], Sequence[str]]:
        seconds = self._times.dead_after if judge else None
        return await self._store.write_surely(workers.reap, self.tickets, worker, is_gone, seconds)

    async def prune(self) -> None:
        """Tickets that ended long ago; and nothing waits for ever."""
        await self._store.write_surely(workers.forget)
        stray = await asyncio.to_thread(self._store.read, workers.stray, self.tickets)
        await self._store.write_surely(workers.mend, self.tickets, stray)
        while await self._store.write_surely(self.tickets.prune, self._times.kept):
            await asyncio.sleep(PRUNE_PAUSE_SECONDS)

    def close(self) -> None:
        self.tickets.close()
