"""`Dispatch`: DBOS in this process, which claims tickets and calls `perform` for each.

One DBOS lives in a process. Its queues' threads poll; what a poll may claim is set here.
DBOS itself would claim whatever its own tables allow: the two methods of its system
database that read a queue and claim from it are wrapped, which is why its version is pinned.
"""

import asyncio
import copy
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence, Set
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig
from dbos._serialization import DBOSPortableJSON

from envwright.queue.state import Pulse, Worker
from envwright.queue.ticket import APPLICATION, NO_ROUTE, PERFORM, SCHEMA

BUSY_POLL_SECONDS, IDLE_POLL_SECONDS = 0.02, 0.25
Perform = Callable[[str], Coroutine[Any, Any, None]]
_current: "Dispatch | None" = None


@DBOS.workflow(name=PERFORM)
def perform(ticket: str) -> None:
    if _current is not None:
        _current.perform(ticket)


class Dispatch:
    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._active: Counter[str] = Counter()
        """Queue → tickets that are claimed and not yet done here."""
        self._queue_of: dict[str, str] = {}
        self._pulse: Pulse | None = None
        self._felt_at = 0.0
        self._served: Set[str] = frozenset()
        self._known: set[str] = set()
        self._queues: dict[str, Any] = {}
        self._shut = False
        self._free = 0
        self._perform: Perform | None = None
        self._worker: Worker | None = None

    def start(self, worker: Worker, perform: Perform) -> None:
        """In a thread without a loop: DBOS would take that of its caller for its own."""
        global _current
        self._perform, self._worker, self._free = perform, worker, worker.slots
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_engine": self._engine,
            "dbos_system_schema": SCHEMA,
            "serializer": DBOSPortableJSON,
            "application_version": APPLICATION,
            "executor_id": worker.id,
            "use_listen_notify": False,
            "run_migrations": True,
            "log_level": "CRITICAL",
            "console_log_level": "CRITICAL",
            # It sleeps so long before it sees that it should end.
            "notification_listener_polling_interval_sec": 0.25,
        }
        self._dbos: Any = DBOS(config=config)
        _current = self
        DBOS.launch()
        tables: Any = self._dbos._sys_db  # pyright: ignore[reportPrivateUsage]
        self._tables = tables
        self._claim_from_dbos = tables.start_queued_workflows
        self._read_queue = tables.get_queue
        tables.start_queued_workflows = self.claim
        tables.get_queue = self.read_queue

    def shut(self) -> None:
        """Nothing more is claimed."""
        self._shut = True

    def stop(self) -> None:
        global _current
        DBOS.destroy()
        _current = None

    def learn(self, pulse: Pulse, served: Set[str]) -> None:
        """What may be claimed from now on."""
        before = self._pulse
        self._pulse, self._felt_at = pulse, time.monotonic()
        self._served = served
        for name in pulse.queues.keys() - self._known:
            DBOS.register_queue(name, polling_interval_sec=BUSY_POLL_SECONDS)
            self._known.add(name)
        if before is not None and before.wake_at is not None and before.wake_at <= pulse.now:
            self._tables.transition_delayed_workflows()

    def read_queue(self, name: str, **_: Any) -> Any:
        """DBOS reads a queue before each poll: its own row says nothing that we do not know."""
        queue = self._read_queue(name) if name not in self._queues else self._queues[name]
        if queue is None:
            return None
        self._queues[name] = queue
        busy = self._pulse is not None and bool(self._routes(name))
        queue._polling_interval_sec = BUSY_POLL_SECONDS if busy else IDLE_POLL_SECONDS
        return queue

    def _routes(self, queue: str) -> Sequence[str]:
        pulse = self._pulse
        if pulse is None:
            return ()
        return [route for route in pulse.waiting.get(queue, ()) if route in self._served]

    def claim(
        self, queue: Any, executor_id: str, version: str, key: str | None, *_: Any, **more: Any
    ) -> tuple[list[str], Any]:
        """Tickets of one queue, as many as it and this worker have room for."""
        pulse, worker = self._pulse, self._worker
        if pulse is None or worker is None or queue.name not in pulse.queues:
            return self._claim_from_dbos(queue, executor_id, version, key, *_, **more)
        now = pulse.now + time.monotonic() - self._felt_at
        room = pulse.queues[queue.name].room(now)
        claimed: list[str] = []
        for route in self._routes(queue.name):
            with self._lock:
                active = self._active[queue.name]
                wanted = 0 if self._shut else min(self._free, room - active)
                self._free -= max(0, wanted)
            if wanted <= 0:
                break
            found: list[str] = []
            try:
                limited = copy.copy(queue)
                limited._concurrency = room
                limited._worker_concurrency = active + wanted
                found, _why = self._claim_from_dbos(
                    limited, worker.id, route or NO_ROUTE, key, active, **more
                )
            finally:
                with self._lock:
                    self._free += wanted - len(found)
                    self._active[queue.name] += len(found)
                    self._queue_of.update({ticket: queue.name for ticket in found})
            claimed += found
        return claimed, None

    def perform(self, ticket: str) -> None:
        """In a thread of DBOS: wait until the job's run is over."""
        assert self._perform is not None
        try:
            asyncio.run_coroutine_threadsafe(self._perform(ticket), self._loop).result()
        finally:
            with self._lock:
                self._free += 1
                self._active[self._queue_of.pop(ticket, "")] -= 1
