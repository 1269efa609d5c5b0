"""`Store`: one thread that writes, in order, and the ledger of model calls.

Queries are functions in the modules beside this one; they get a connection. A write is
one transaction. Calls that the gateway reports are written in batches by the same
thread, before whatever is written after them.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import sqlalchemy as sa

from envwright.store import call
from envwright.store.blobs import Blobs, open_objects
from envwright.store.engine import open_engine, reachable, writing
from envwright.trace import ModelCall

P = ParamSpec("P")
T = TypeVar("T")
Query = Callable[Concatenate[sa.Connection, P], T]


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
        self.blobs = Blobs(open_objects(home / "blobs", blob_url, variables or {}))
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store")
        self._calls: deque[tuple[str, int, ModelCall]] = deque()
        self._flush: Future[None] | None = None

    def read(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with reachable(self.engine), self.engine.connect() as connection:
            return query(connection, *args, **kwargs)

    def write(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with reachable(self.engine), writing(self.engine) as connection:
            return query(connection, *args, **kwargs)

    async def write_soon(self, query: Query[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Write in the writer's thread; done when this returns."""
        future = self._writer.submit(lambda: self.write(query, *args, **kwargs))
        return await asyncio.wrap_future(future)

    def record(self, trial: str, attempt: int, made: ModelCall) -> None:
        """The gateway's ledger: written soon, without being waited for."""
        self._calls.append((trial, attempt, made))
        if self._flush is None or self._flush.done():
            self._flush = self._writer.submit(self._write_calls)

    async def flush(self) -> None:
        """Done when every call that was recorded so far is written."""
        await asyncio.wrap_future(self._writer.submit(self._write_calls))

    def _write_calls(self) -> None:
        while batch := list(self._calls):
            self.write(call.insert_calls, batch)
            # Only now: what could not be written stays for the next time.
            for _ in batch:
                self._calls.popleft()

    def close(self) -> None:
        self._writer.submit(self._write_calls).result()
        self._writer.shutdown()
        self.engine.dispose()
