"""The three engines, each with workers, as the contract's tests see them.

The fake runs in tasks of one process; on a database each worker is a process. A database's
workers are shared by the tests of a file: each test takes queues and names of its own.
"""

import asyncio
import json
import signal
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

import sqlalchemy as sa

from envwright.errors import EnvwrightError
from envwright.queue import Job, MemoryEngine, QueueStats
from envwright.queue.dispatch import Dispatch
from envwright.queue.durable import DurableEngine
from envwright.queue.job import Engine
from envwright.queue.state import Times, Worker
from envwright.store import Store, schema
from envwright.store.state import JobStore
from queue_worker import Log, Order, command, handlers

T = TypeVar("T")
QUICK = {"busy_beat": 0.1, "idle_beat": 0.2, "reap": 1.0}
QUEUES = 8
"""A queue is served within a second of being new: those that tests take by turns are not."""
_numbers = count()


class Loop:
    """An event loop in a thread, so that tests read from top to bottom."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T], seconds: float = 60) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(seconds)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


@dataclass
class Hand:
    """A worker, be it a process or a task."""

    name: str
    stop: Callable[[], None]
    wait: Callable[[float], str | None]
    """Until it is over; what it raised."""
    process: subprocess.Popen[bytes] | None = None

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)


class Bed(ABC):
    """What the three have in common."""

    engine: Engine

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.loop = Loop()
        self.log = Log(folder / "log")
        self.gate = folder / "gate"
        self.gate.mkdir()
        self._old: list[str] = []
        self.hands: dict[str, Hand] = {}

    @abstractmethod
    def hand(
        self, name: str | None = None, *, alone: bool = False, drain: bool = False
    ) -> Hand: ...

    @abstractmethod
    def crew(self, hands: int = 2) -> None: ...

    @abstractmethod
    def states(self, prefix: str) -> dict[str, str]: ...

    # Doing

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.call(work)

    def queue(self, limit: int = 1, *, new: bool = False) -> str:
        """One that is well and has nothing to do."""
        name = self._old.pop(0) if self._old and not new else f"queue{next(_numbers)}"
        self.call(self.engine.ensure_queue(name, limit))
        self.call(self.engine.open(name))
        if not new and isinstance(self, DurableBed):
            self._old.append(name)
        return name

    def solo(self) -> Hand:
        """A worker that serves its own route alone."""
        found = [hand for name, hand in self.hands.items() if name[0] == "s" and hand.is_alive()]
        return found[0] if found else self.hand(f"solo{next(_numbers)}", alone=True)

    def submit(self, *jobs: Job, **more: Any) -> int:
        return self.call(self.engine.submit(jobs, **more))

    def cancel(self, *names: str) -> int:
        return self.call(self.engine.cancel(names))

    def open(self, *names: str) -> None:
        for name in names:
            (self.gate / name).touch()

    def gated(self, name: str, queue: str, **payload: Any) -> Job:
        """A job that runs until it is let go."""
        return job(name, queue, gate=str(self.gate), **payload)

    # Seeing

    def lines(self, prefix: str = "", what: str | None = None) -> list[dict[str, Any]]:
        """What happened to these jobs, in order."""
        found = map(json.loads, self.log.path.read_text().splitlines())
        return sorted(
            (
                line
                for line in found
                if line.get("job", "").startswith(prefix) and what in (None, line["what"])
            ),
            key=lambda line: line["t"],
        )

    def names(self, prefix: str, what: str = "begin") -> list[str]:
        return [line["job"] for line in self.lines(prefix, what)]

    def most(self, queue: str, prefix: str) -> int:
        """How many of these were running at once."""
        running, most = set[str](), 0
        for line in self.lines(prefix):
            if line.get("queue") == queue:
                change = running.add if line["what"] == "begin" else running.discard
                change(f"{line['job']}#{line['run']}")
                most = max(most, len(running))
        return most

    def stats(self, queue: str) -> QueueStats:
        return self.call(self.engine.stats())[queue]

    def until(self, holds: Callable[[], object], seconds: float = 30.0) -> None:
        give_up_at = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < give_up_at, "it did not come to that in time"
            time.sleep(0.02)

    def settle(self, prefix: str, seconds: float = 30.0) -> dict[str, str]:
        """Wait until these jobs are final; how they ended."""
        final = {"done", "failed", "cancelled"}
        self.until(lambda: final.issuperset(self.states(prefix).values()), seconds)
        return self.states(prefix)

    @abstractmethod
    def failures(self) -> list[str]: ...

    def close(self) -> None:
        self.loop.close()


def job(name: str, queue: str, *, priority: int = 0, route: str = "", **payload: Any) -> Job:
    return Job("work", name, queue, payload=payload, priority=priority, route=route)


def fresh() -> str:
    """How the names of one test's jobs begin."""
    return f"t{next(_numbers)}-"


class MemoryBed(Bed):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.engine = self.memory = self.call(self._make())

    async def _make(self) -> MemoryEngine:
        return MemoryEngine()

    def crew(self, hands: int = 2) -> None:
        for number in range(len(self.hands), hands):
            self.hand(f"w{number}")

    def hand(self, name: str | None = None, *, alone: bool = False, drain: bool = False) -> Hand:
        name = name or f"w{next(_numbers)}"
        stop = asyncio.Event()
        work = handlers(self.log, name, lambda: name)
        running = asyncio.run_coroutine_threadsafe(
            self.memory.run(work, stop, drain=drain), self.loop.loop
        )

        def wait(seconds: float) -> str | None:
            try:
                return running.result(seconds)
            except EnvwrightError as error:
                return str(error)

        hand = Hand(name, lambda: self.loop.loop.call_soon_threadsafe(stop.set), wait)
        self.hands[name] = hand
        return hand

    def states(self, prefix: str) -> dict[str, str]:
        entries = self.memory._entries
        return {name: str(each.state) for name, each in entries.items() if name.startswith(prefix)}

    def failures(self) -> list[str]:
        return self.memory.failures

    def close(self) -> None:
        for hand in self.hands.values():
            hand.stop()
        for hand in self.hands.values():
            hand.wait(10)
        super().close()


class DurableBed(Bed):
    def __init__(self, folder: Path, url: str | None, slots: int, **times: float) -> None:
        super().__init__(folder)
        self.home, self.url, self.slots = folder / "state", url, slots
        self.times = {**QUICK, **times}
        self.store = Store(self.home, url)
        self.state = JobStore(self.store, Times(**self.times))
        self.engine = self.call(self._make())
        self._old = [f"queue{next(_numbers)}" for _ in range(QUEUES)]
        for name in self._old:
            self.call(self.engine.ensure_queue(name, 1))

    async def _make(self) -> DurableEngine:
        worker = Worker("nobody", 0, stays=False, release="0")
        dispatch = self.store.queue_engine
        return DurableEngine(self.state, lambda: Dispatch(dispatch), worker)

    def crew(self, hands: int = 2) -> None:
        """So many workers that serve everybody."""
        for number in range(hands):
            if f"w{number}" not in self.hands or not self.hands[f"w{number}"].is_alive():
                self.begin(f"w{number}")
        for number in range(hands):
            self.await_ready(self.hands[f"w{number}"])

    def hand(self, name: str | None = None, *, alone: bool = False, drain: bool = False) -> Hand:
        hand = self.begin(name or f"h{next(_numbers)}", alone=alone, drain=drain)
        self.await_ready(hand)
        return hand

    def begin(self, name: str, *, alone: bool = False, drain: bool = False) -> Hand:
        order = Order(
            home=str(self.home),
            log=str(self.log.path),
            name=name,
            url=self.url,
            slots=self.slots,
            alone=alone,
            drain=drain,
            times=self.times,
        )
        process = subprocess.Popen(command(order))

        def wait(seconds: float) -> str | None:
            code = process.wait(seconds)
            raised = [line for line in self.said("raised") if line["worker"] == name]
            assert (code != 0) == bool(raised), code
            return raised[0]["words"] if raised else None

        hand = Hand(name, process.terminate, wait, process)
        self.hands[name] = hand
        return hand

    def await_ready(self, hand: Hand) -> None:
        assert hand.process is not None
        number = hand.process.pid
        self.until(lambda: any(line["number"] == number for line in self.said("ready")), 60)

    def said(self, what: str) -> list[dict[str, Any]]:
        return self.lines(what=what)

    def states(self, prefix: str) -> dict[str, str]:
        table = schema.job

        def query(connection: sa.Connection) -> dict[str, str]:
            which = sa.select(table.c.id, table.c.state).where(table.c.id.startswith(prefix))
            return {row.id: row.state for row in connection.execute(which)}

        return self.store.read(query)

    def kept(self, prefix: str) -> Counter[str]:
        """How often each job's result was recorded."""
        table = schema.complaint
        which = sa.select(table.c.queue).where(table.c.queue.startswith(f"kept {prefix}"))
        names = self.store.read(lambda connection: connection.execute(which).scalars().all())
        return Counter(name.removeprefix("kept ") for name in names)

    def failures(self) -> list[str]:
        return [line["words"] for line in self.said("failure")]

    def close(self) -> None:
        alive = [hand for hand in self.hands.values() if hand.process.poll() is None]
        for hand in alive:
            hand.process.send_signal(signal.SIGCONT)
            hand.process.terminate()
        for hand in alive:
            hand.process.wait(20)
        self.state.close()
        self.store.close()
        super().close()
