"""`Store`: one thread that writes, in order, and the ledger of model calls.

Queries are functions in the modules beside this one; they get a connection. A write is
all or nothing. What waits for the writer's thread shares one transaction; when any of
it fails, each gets one of its own. Calls that the gateway reports are written by the
same thread, before whatever is written after them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from envwright.errors import EnvwrightError
from envwright.store import call
from envwright.store.blobs import Blobs, open_objects
from envwright.store.engine import (
    CommitUnknown,
    Unreachable,
    open_engine,
    open_queue_engine,
    reachable,
    read_patiently,
    write_patiently,
    writing,
)
from envwright.trace import ModelCall

P = ParamSpec("P")
T = TypeVar("T")
Query = Callable[Concatenate[sa.Connection, P], T]


MOST_TOGETHER = 64


@dataclass(frozen=True, slots=True)
class Waiting:
    query: Callable[[sa.Connection], Any]
    done: Future[Any]


class Store:
    def __init__(
        self,
        home: Path,
        database_url: str | None = None,
        blob_url: str | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """In `home`, but for what the URLs move to servers; `variables` hold their keys."""
        self.engine = open_engine(home, database_url)
        self._open_queue_engine = partial(open_queue_engine, home, database_url)
        self.blobs = Blobs(open_objects(home / "blobs", blob_url, variables or {}))
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._calls: deque[call.Made] = deque()
        self._doubtful = 0
        """So many of the first of them may be written already."""
        self._waiting: deque[Waiting] = deque()
        self._flush: Future[None] | None = None

    @cached_property
    def queue_engine(self) -> sa.Engine:
        """For DBOS: its threads take their connections elsewhere than the writer does."""
        return self._open_queue_engine()

    def read(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with reachable(self.engine), self.engine.connect() as connection:
            return query(connection, *args, **kwargs)

    def write(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with reachable(self.engine), writing(self.engine) as connection:
            return query(connection, *args, **kwargs)

    def _write_patiently(self, query: Callable[[sa.Connection], T]) -> T:
        """In the writer's thread, which may wait for a server that comes back."""
        with reachable(self.engine):
            return write_patiently(self.engine, query)

    async def write_soon(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Write in the writer's thread; done when this returns."""
        done: Future[T] = Future()
        self._waiting.append(Waiting(lambda connection: query(connection, *args, **kwargs), done))
        self._writer.submit(self._write_waiting)
        return await asyncio.wrap_future(done)

    async def write_surely(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write_soon`, for what does no harm when written twice."""
        while True:
            with suppress(CommitUnknown):
                return await self.write_soon(query, *args, **kwargs)

    async def read_soon(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read in a thread, which may wait for a server that comes back."""

        def look() -> T:
            with reachable(self.engine):
                return read_patiently(self.engine, lambda c: query(c, *args, **kwargs))

        return await asyncio.to_thread(look)

    def record(self, trial: str, attempt: int, made: ModelCall) -> None:
        """The gateway's ledger: written soon, without being waited for."""
        self._calls.append((trial, attempt, made))
        if self._flush is None or self._flush.done():
            self._flush = self._writer.submit(self._write_calls)

    async def flush(self) -> None:
        """Done when every call that was recorded so far is written."""
        await asyncio.wrap_future(self._writer.submit(self._write_calls))

    def _write_waiting(self) -> None:
        """All that waits by now; nothing, when an earlier turn has written it already."""
        calls = list(self._calls)
        taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_TOGETHER))]
        # From here on nobody can take back what they asked for.
        batch = [each for each in taken if each.done.set_running_or_notify_cancel()]
        if not batch:
            return

        def together(connection: sa.Connection) -> list[Any]:
            self._insert(connection, calls)
            return [each.query(connection) for each in batch]

        try:
            results = self._write_patiently(together)
        except (CommitUnknown, Unreachable) as error:
            # Written once more, it might be there twice; or each would wait as long in vain.
            self._doubt(calls, error)
            for each in batch:
                each.done.set_exception(error)
            return
        except Exception:  # noqa: BLE001 - whose failure it is shows when each is written alone
            self._write_alone(batch)
            return
        self._forget(calls)
        for each, result in zip(batch, results, strict=True):
            each.done.set_result(result)

    def _write_alone(self, batch: Sequence["Waiting"]) -> None:
        for each in batch:
            try:
                self._write_calls()
                result = self._write_patiently(each.query)
            except BaseException as error:  # noqa: BLE001 - told to whoever waits for it
                each.done.set_exception(error)
            else:
                each.done.set_result(result)

    def _write_calls(self) -> None:
        while batch := list(self._calls):
            try:
                self._write_patiently(partial(self._insert, calls=batch))
            except CommitUnknown as error:
                self._doubt(batch, error)
            else:
                self._forget(batch)

    def _insert(self, connection: sa.Connection, calls: Sequence[call.Made]) -> None:
        doubtful, fresh = calls[: self._doubtful], calls[self._doubtful :]
        missing = call.missing_calls(connection, doubtful) if doubtful else []
        call.insert_calls(connection, [*missing, *fresh])

    def _doubt(self, calls: Sequence[call.Made], error: EnvwrightError) -> None:
        """They stay for the next time; what is found to be there then is not written twice."""
        if isinstance(error, CommitUnknown):
            self._doubtful = max(self._doubtful, len(calls))

    def _forget(self, calls: Sequence[call.Made]) -> None:
        for _ in calls:
            self._calls.popleft()
        self._doubtful = 0

    def close(self) -> None:
        self._writer.submit(self._write_calls).result()
        self._writer.shutdown()
        self.engine.dispose()
        if "queue_engine" in self.__dict__:
            self.queue_engine.dispose()
