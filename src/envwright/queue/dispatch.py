"""`Dispatch`: DBOS in this process, which claims tickets and calls `perform` for each.

One DBOS lives in a process. Its queues' threads poll; what a poll may claim is set here.
DBOS itself would claim whatever its own tables allow: the two methods of its system
database that read a queue and claim from it are wrapped, which is why its version is pinned.
"""

import asyncio
import contextlib
import copy
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Iterable, Sequence, Set
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig
from dbos._serialization import DBOSPortableJSON
from sqlalchemy import exc

from envwright.queue.state import Pulse, Worker
from envwright.queue.ticket import APPLICATION, NO_ROUTE, PERFORM, POLL_SECONDS, SCHEMA

IDLE_POLL_SECONDS = 0.25
FRESH_SECONDS = 2.0
"""What was learned longer ago is nothing to claim by: a queue may be parked by now."""
CLAIM_LOCK = 0x656E7677
CLAIMS_AT_ONCE = 8
"""Each takes two connections."""
Perform = Callable[[str], Coroutine[Any, Any, None]]
_current: "Dispatch | None" = None


@DBOS.workflow(name=PERFORM)
def perform(ticket: str) -> None:
    if _current is None:
        raise RuntimeError(f"{ticket} came up when the worker had ended")
    _current.perform(ticket)


class Dispatch:
    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._news = threading.Condition()
        self._turns = threading.Semaphore(CLAIMS_AT_ONCE)
        self._claiming = 0
        self._active: Counter[str] = Counter()
        """Queue → tickets that are claimed and not yet done here."""
        self._queue_of: dict[str, str] = {}
        self._begun: set[str] = set()
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
        if _current is not None:
            raise RuntimeError("a worker runs in this process already: there is room for one")
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
        # A thread of its that waited for a server would wait for ever, and the process with it.
        # What it could not write is seen: a ticket that is held and not worked on is put back.
        tables._retry_connection_errors = False
        self._claim_from_dbos = tables.start_queued_workflows
        self._read_queue = tables.get_queue
        tables.start_queued_workflows = self.claim
        tables.get_queue = self.read_queue
        self._known = {queue.name for queue in tables.list_queues(application_name=APPLICATION)}

    def rename(self, worker: Worker) -> None:
        """What is claimed from now on is claimed by this one."""
        self._worker = worker

    def pause(self) -> None:
        """Nothing is claimed until more is learned."""
        self._pulse = None

    def shut(self) -> None:
        """Nothing more is claimed."""
        with self._news:
            self._shut = True
            self._news.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is claimed, nor about to be."""
        with self._lock:
            return not self._claiming and not self._queue_of

    @property
    def begun(self) -> frozenset[str]:
        """The tickets that are worked on."""
        with self._lock:
            return frozenset(self._begun)

    def stop(self) -> None:
        global _current
        DBOS.destroy()
        _current = None

    def learn(self, pulse: Pulse, served: Set[str]) -> None:
        """What may be claimed from now on."""
        before = self._pulse
        with self._news:
            self._pulse, self._felt_at = pulse, time.monotonic()
            self._served = served
            self._news.notify_all()
        # A server that is away just now is asked again next time.
        with contextlib.suppress(exc.DBAPIError):
            for name in pulse.queues.keys() - self._known:
                DBOS.register_queue(name, polling_interval_sec=POLL_SECONDS)
                self._known.add(name)
            if before is not None and before.wake_at is not None and before.wake_at <= pulse.now:
                self._tables.transition_delayed_workflows()

    def read_queue(self, name: str, **_: Any) -> Any:
        """DBOS reads a queue before each poll: its own row says nothing that we do not know.

        A queue with nothing to start is polled rarely, and at once when there is something:
        DBOS itself would be slow to poll faster again.
        """
        queue = self._read_queue(name) if name not in self._queues else self._queues[name]
        if queue is None:
            return None
        self._queues[name] = queue
        with self._news:
            self._news.wait_for(lambda: self._shut or self._routes(name), IDLE_POLL_SECONDS)
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
        pulse, age = self._pulse, time.monotonic() - self._felt_at
        if queue.name not in self._known or pulse is None or age > FRESH_SECONDS:
            return [], None
        health = pulse.queues.get(queue.name)
        room = 0 if health is None else health.room(pulse.now + age)
        routes = self._routes(queue.name)
        if self._shut or not routes or min(self._free, room - self._active[queue.name]) <= 0:
            return [], None
        with self._lock:
            self._claiming += 1
        claimed: list[str] = []
        try:
            with self._turn(queue.name) as mine:
                for route in routes if mine else ():
                    claimed += self._claim_route(queue, route, room, key, more)
        except exc.DBAPIError:
            if not claimed:
                raise
        finally:
            with self._lock:
                self._claiming -= 1
        return claimed, None

    def _claim_route(
        self, queue: Any, route: str, room: int, key: str | None, more: dict[str, Any]
    ) -> list[str]:
        assert self._worker is not None
        with self._lock:
            active = self._active[queue.name]
            wanted = 0 if self._shut else max(0, min(self._free, room - active))
            self._free -= wanted
        if not wanted:
            return []
        found: list[str] = []
        try:
            limited = copy.copy(queue)
            limited._concurrency = room
            limited._worker_concurrency = active + wanted
            found, _ = self._claim_from_dbos(
                limited, self._worker.id, route or NO_ROUTE, key, active, **more
            )
        finally:
            with self._lock:
                self._free += wanted - len(found)
                self._active[queue.name] += len(found)
                self._queue_of.update({ticket: queue.name for ticket in found})
        return found

    @contextlib.contextmanager
    def _turn(self, queue: str) -> Generator[bool]:
        """Whether it is this worker's turn to claim from a queue.

        DBOS counts what runs and takes what waits in one snapshot, and relies on two workers
        wanting the same rows. With a route each, or when something urgent came in between,
        they do not: both would fill the same room.
        """
        if self._engine.dialect.name == "sqlite":
            yield True
            return
        lock = sa.func.pg_try_advisory_xact_lock(CLAIM_LOCK, sa.func.hashtext(queue))
        with self._turns, self._engine.begin() as connection:
            yield bool(connection.execute(sa.select(lock)).scalar())

    def perform(self, ticket: str) -> None:
        """In a thread of DBOS: wait until the job's run is over."""
        assert self._perform is not None
        with self._lock:
            self._begun.add(ticket)
        try:
            asyncio.run_coroutine_threadsafe(self._perform(ticket), self._loop).result()
        finally:
            self.forget([ticket])

    def forget(self, tickets: Iterable[str]) -> None:
        """They hold no slot here any more."""
        with self._lock:
            for ticket in tickets:
                self._begun.discard(ticket)
                if (queue := self._queue_of.pop(ticket, None)) is not None:
                    self._free += 1
                    self._active[queue] -= 1
