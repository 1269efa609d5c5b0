"""Small handlers for the queue's tests, and a worker process that serves them.

What a job does is in its payload. Each begin and end is a line in a log, appended as one write,
so that any number of processes share it.
"""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from envwright.errors import EnvwrightError, UsageError
from envwright.queue.dispatch import Dispatch
from envwright.queue.durable import DurableEngine, Links
from envwright.queue.job import Cancel, Done, Fail, Handler, Job, Park, Result
from envwright.queue.state import Times, Worker
from envwright.store import Store, schema
from envwright.store.state import JobStore

ALONE = "only-"
"""A route that begins so is served by the worker of that name and by no other."""


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)

    def add(self, what: str, **more: object) -> None:
        line = json.dumps({"what": what, "t": time.time(), **more}) + "\n"
        os.write(self._file, line.encode())


def handlers(log: Log, worker: str, ids: Callable[[], str]) -> Mapping[str, Handler]:
    async def work(job: Job) -> Result:
        about: dict[str, Any] = {"job": job.id, "run": job.run, "queue": job.queue}
        about |= {"worker": worker, "id": ids()}
        log.add("begin", payload=job.payload, **about)
        try:
            result = await act(job)
        except asyncio.CancelledError:
            log.add("cancelled", **about)
            raise
        log.add("end", **about)
        return result

    return {"work": work}


async def pass_time(job: Job) -> None:
    do = job.payload
    if "gate" in do:
        while not Path(f"{do['gate']}/{job.id}").exists():
            await asyncio.sleep(0.02)
    if "at" in do:
        await asyncio.sleep(max(0.0, do["at"] - time.time()))
    naps = do.get("naps", [0.0])
    await asyncio.sleep(naps[min(job.run, len(naps)) - 1])


async def act(job: Job) -> Result:
    await pass_time(job)
    do = job.payload
    match do.get("then", "done"):
        case "park":
            return Park(do["seconds"], do.get("next"), record=partial(keep, job.id))
        case "fail":
            return Fail("as asked")
        case "cancel":
            return Cancel("as asked")
        case "raise":
            raise KeyError("x")
        case "break":
            raise UsageError("the disk is full")
        case "misrecord":
            return Done(record=partial(keep, job.id, spoilt=True))
        case "close":
            return Done(close="the key is wrong")
        case _:
            follow_ups = tuple(Job("work", name, job.queue) for name in do.get("follow", ()))
            return Done(record=partial(keep, job.id), follow_ups=follow_ups)


def keep(name: str, connection: sa.Connection | None, *, spoilt: bool = False) -> None:
    """What a job leaves in the store; any table does."""
    if connection is not None:
        row = {"queue": f"kept {name}", "at": time.time(), "fault": "kept"}
        connection.execute(sa.insert(schema.complaint).values(row))
    if spoilt:
        raise ValueError("not to be recorded")


@dataclass(frozen=True)
class Order:
    """All that a worker process is told."""

    home: str
    log: str
    name: str
    url: str | None
    slots: int
    alone: bool
    drain: bool
    times: dict[str, float]


async def main(order: Order) -> int:
    log = Log(Path(order.log))
    store = Store(Path(order.home), order.url)
    times = Times(**order.times)
    state = JobStore(store, times)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    async def serves(route: str) -> bool:
        if order.alone or route.startswith(ALONE):
            return route == ALONE + order.name
        return True

    said: list[str] = []

    def felt(_: object) -> None:
        if not said:
            log.add("ready", worker=order.name, number=os.getpid())
        for words in ["", *engine.failures][len(said) :]:
            said.append(words)
            log.add("failure", worker=order.name, words=words)

    worker = Worker(f"{order.name}-{os.getpid()}", order.slots, stays=True, release="0")
    links = Links(serves=serves, felt=felt)
    engine = DurableEngine(state, lambda: Dispatch(store.queue_engine), worker, links, times)
    try:
        await engine.run(
            handlers(log, order.name, lambda: engine.worker.id), stop, drain=order.drain
        )
    except EnvwrightError as error:
        log.add("raised", worker=order.name, words=str(error))
        return 2
    finally:
        log.add("over", worker=order.name)
        state.close()
        store.close()
    return 0


def command(order: Order) -> list[str]:
    return [sys.executable, __file__, json.dumps(asdict(order))]


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Order(**json.loads(sys.argv[1])))))
