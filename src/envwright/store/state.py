"""`JobStore`: the queue's `State`, each method one transaction of the store's writer."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import sqlalchemy as sa

from envwright.errors import Fault
from envwright.queue.job import Job, QueueStats, Result
from envwright.queue.state import Pulse, Worker
from envwright.queue.ticket import DbosTickets
from envwright.store import job as jobs
from envwright.store import queue as queues
from envwright.store import schema
from envwright.store import worker as workers
from envwright.store.store import Store

KEPT_SECONDS = 3600.0
"""How long DBOS remembers a ticket that ended."""


class JobStore:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.tickets = DbosTickets(store.queue_engine)

    async def ensure_queue(self, name: str, limit: int) -> None:
        await self._store.write_soon(queues.ensure_queue, name, limit)

    async def set_limit(self, name: str, limit: int) -> None:
        await self._store.write_soon(queues.set_limit, name, limit)

    async def park(self, name: str, seconds: float, why: str | None) -> None:
        await self._store.write_soon(queues.park_queue, name, seconds, why)

    async def open(self, name: str) -> None:
        await self._store.write_soon(queues.open_queue, name)

    async def complain(self, name: str, seconds: float, fault: Fault) -> None:
        await self._store.write_soon(queues.complain, name, seconds, fault)

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
            added += await self._store.write_soon(put)
        return added

    async def cancel(self, ids: Sequence[str], why: str) -> int:
        waiting, running = await self.cancel_where(schema.job.c.id.in_(ids), why)
        return waiting + running

    async def cancel_where(self, which: sa.ColumnElement[bool], why: str) -> tuple[int, int]:
        """How many were not started, and how many run and are ended soon."""
        return await self._store.write_soon(jobs.cancel_jobs, self.tickets, which, why)

    async def claim(self, ticket: str, worker: str) -> Job | None:
        return await self._store.write_soon(jobs.claim_job, ticket, worker)

    async def settle(self, job: Job, worker: str, result: Result) -> bool:
        return await self._store.write_soon(jobs.settle_job, self.tickets, job, worker, result)

    async def give_back(self, job: Job, worker: str) -> bool:
        return await self._store.write_soon(jobs.give_back_job, self.tickets, job, worker)

    async def hello(self, worker: Worker) -> None:
        await self._store.write_soon(workers.hello, worker)

    async def beat(self, worker: str) -> Pulse | None:
        return await self._store.write_soon(workers.beat, worker)

    async def leave(self, worker: str) -> None:
        await self._store.write_soon(workers.leave, worker)

    async def reap(
        self, worker: str, is_gone: Callable[[str], bool]
    ) -> tuple[Sequence[str], Sequence[str]]:
        dead, held = await self._store.write_soon(workers.reap, self.tickets, worker, is_gone)
        if held:
            await asyncio.to_thread(self.tickets.drop, held)
        return dead, held

    async def prune(self) -> None:
        """Tickets that ended long ago, and what dead workers still hold."""

        def drop() -> None:
            gone = self._store.read(workers.gone_lately)
            self.tickets.drop(self.tickets.pending_of(gone))
            self.tickets.prune(KEPT_SECONDS)

        await self._store.write_soon(workers.forget)
        await asyncio.to_thread(drop)

    def close(self) -> None:
        self.tickets.close()
