"""The contract of an engine. Written against the port, so that a durable engine can join it."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

import pytest

from envwright.errors import UsageError
from envwright.queue import Done, Job, MemoryEngine, Park, QueueStats
from envwright.queue.job import Engine

ENGINES = [MemoryEngine]


def job(name: str, queue: str = "q", priority: int = 0, **payload: object) -> Job:
    return Job(kind="work", id=name, queue=queue, payload=payload, priority=priority)


def play(make: Callable[[], Engine], scene: Callable[[Engine, asyncio.Event], object]) -> object:
    """Run a scene in a loop of its own; one that hangs is a failure."""

    async def main() -> object:
        return await asyncio.wait_for(scene(make(), asyncio.Event()), 20)

    return asyncio.run(main())


@pytest.fixture(params=ENGINES)
def engine(request):
    return request.param


def test_a_queue_never_runs_more_than_its_limit_and_uses_all_of_it(engine):
    async def scene(engine, stop):
        running: Counter[str] = Counter()
        most: Counter[str] = Counter()
        done = []

        async def work(job):
            running[job.queue] += 1
            most[job.queue] = max(most[job.queue], running[job.queue])
            await asyncio.sleep(0.002)
            running[job.queue] -= 1
            done.append(job.id)
            return Done()

        for name, limit in (("a", 3), ("b", 1), ("c", 7)):
            engine.ensure_queue(name, limit)
            for n in range(20):
                engine.submit(job(f"{name}{n}", name))
        await engine.run({"work": work}, stop)
        assert most == {"a": 3, "b": 1, "c": 7}
        assert Counter(done).most_common(1)[0][1] == 1
        assert len(done) == 60

    play(engine, scene)


def test_a_parked_job_holds_no_slot_and_comes_back_with_its_payload(engine):
    async def scene(engine, stop):
        order = []

        async def work(job):
            order.append((job.id, job.payload.get("again", False)))
            if job.id == "parked" and not job.payload.get("again"):
                return Park(0.15, payload={"again": True})
            return Done()

        engine.ensure_queue("q", 1)
        for name in ("parked", "one", "two"):
            engine.submit(job(name))
        await engine.run({"work": work}, stop)
        assert order == [("parked", False), ("one", False), ("two", False), ("parked", True)]

    play(engine, scene)


def test_a_queue_that_is_parked_as_a_whole_delays_no_other(engine):
    async def scene(engine, stop):
        began = time.monotonic()
        ended: dict[str, float] = {}

        async def work(job):
            if job.id == "sick0" and not job.payload.get("again"):
                return Park(0.4, payload={"again": True}, whole_queue=True)
            await asyncio.sleep(0.001)
            ended[job.id] = time.monotonic() - began
            return Done()

        engine.ensure_queue("sick", 1)
        engine.ensure_queue("well", 1)
        for n in range(3):
            engine.submit(job(f"sick{n}", "sick"))
        for n in range(20):
            engine.submit(job(f"well{n}", "well"))
        await engine.run({"work": work}, stop)
        assert len(ended) == 23
        assert all(ended[f"well{n}"] < 0.35 for n in range(20)), ended
        assert all(ended[f"sick{n}"] >= 0.4 for n in range(3)), ended

    play(engine, scene)


def test_a_job_is_run_once_however_often_it_is_submitted(engine):
    async def scene(engine, stop):
        ran = []

        async def work(job):
            ran.append(job.id)
            assert engine.submit(job) is False
            return Done()

        engine.ensure_queue("q", 4)
        assert engine.submit(job("x")) is True
        assert engine.submit(job("x")) is False
        await engine.run({"work": work}, stop)
        assert engine.submit(job("x")) is False
        await engine.run({"work": work}, stop)
        assert ran == ["x"]

    play(engine, scene)


def test_a_cancelled_job_does_not_start_or_is_stopped_and_its_neighbours_go_on(engine):
    async def scene(engine, stop):
        seen = []

        async def work(job):
            seen.append(f"{job.id} began")
            try:
                if job.id == "running":
                    engine.cancel("waiting")
                    engine.cancel("running")
                    await asyncio.sleep(30)
                if job.id == "parked":
                    return Park(3600)
            except asyncio.CancelledError:
                seen.append(f"{job.id} was stopped")
                raise
            if job.id == "last":
                assert engine.cancel("parked") is True
                assert engine.cancel("parked") is False
            return Done()

        engine.ensure_queue("q", 1)
        for name in ("parked", "running", "waiting", "last"):
            engine.submit(job(name))
        await engine.run({"work": work}, stop)
        assert seen == ["parked began", "running began", "running was stopped", "last began"]
        assert engine.cancel("nobody") is False

    play(engine, scene)


def test_a_job_of_lower_priority_number_goes_first_and_equals_in_order(engine):
    async def scene(engine, stop):
        order = []

        async def work(job):
            order.append(job.id)
            return Done()

        engine.ensure_queue("q", 1)
        for name, priority in (("late", 5), ("a", 0), ("b", 0), ("first", -1)):
            engine.submit(job(name, priority=priority))
        await engine.run({"work": work}, stop)
        assert order == ["first", "a", "b", "late"]

    play(engine, scene)


def test_a_limit_that_is_changed_while_it_runs_holds_from_then_on(engine):
    async def scene(engine, stop):
        permits = asyncio.Semaphore(0)
        running: set[str] = set()

        async def work(job):
            running.add(job.id)
            await permits.acquire()
            running.discard(job.id)
            return Done()

        engine.ensure_queue("q", 1)
        for n in range(6):
            engine.submit(job(str(n)))
        task = asyncio.ensure_future(engine.run({"work": work}, stop))
        await asyncio.sleep(0.02)
        assert len(running) == 1
        engine.set_limit("q", 4)
        await asyncio.sleep(0.02)
        assert len(running) == 4
        engine.set_limit("q", 2)
        for _ in range(3):
            permits.release()
        await asyncio.sleep(0.02)
        assert len(running) == 2
        assert engine.stats()["q"] == QueueStats(
            limit=2, running=2, waiting=1, parked=0, closed=None
        )
        for _ in range(3):
            permits.release()
        await task
        assert not running

    play(engine, scene)


def test_a_closed_queue_starts_nothing_more_and_leaves_the_others_alone(engine):
    async def scene(engine, stop):
        ran = []

        async def work(job):
            ran.append(job.id)
            if job.id == "parked":
                return Park(30)
            return Done(close_queue="the key is wrong" if job.id == "shut1" else None)

        engine.ensure_queue("shut", 1)
        engine.ensure_queue("open", 1)
        engine.submit(job("parked", "shut"))
        for n in range(5):
            engine.submit(job(f"shut{n}", "shut"))
            engine.submit(job(f"open{n}", "open"))
        await engine.run({"work": work}, stop)
        assert [name for name in ran if name.startswith("shut")] == ["shut0", "shut1"]
        assert len([name for name in ran if name.startswith("open")]) == 5
        assert engine.stats()["shut"].closed == "the key is wrong"
        assert engine.stats()["open"].closed is None

    play(engine, scene)


def test_a_handler_that_raises_is_our_failure_and_stops_no_other_job(engine):
    async def scene(engine, stop):
        ran = []

        async def work(job):
            ran.append(job.id)
            if job.id == "bad":
                raise KeyError("x")
            return Done()

        engine.ensure_queue("q", 1)
        for name in ("bad", "good"):
            engine.submit(job(name))
        await engine.run({"work": work}, stop)
        assert ran == ["bad", "good"]
        assert engine.failures == ["work bad: KeyError: 'x'"]

    play(engine, scene)


def test_what_every_job_needs_being_gone_ends_all_and_is_raised(engine):
    async def scene(engine, stop):
        ran, cancelled = [], []

        async def work(job):
            ran.append(job.id)
            if job.id == "bad":
                raise UsageError("the disk is full")
            try:
                await asyncio.sleep(10)
            except asyncio.CancelledError:
                cancelled.append(job.id)
                raise
            return Done()

        engine.ensure_queue("q", 2)
        for name in ("good", "bad", "late"):
            engine.submit(job(name))
        with pytest.raises(UsageError, match="the disk is full"):
            await engine.run({"work": work}, stop)
        assert (ran, cancelled) == (["good", "bad"], ["good"])

    play(engine, scene)


def test_stop_cancels_what_runs_and_starts_nothing_more(engine):
    async def scene(engine, stop):
        seen = []

        async def work(job):
            seen.append(job.id)
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                seen.append(f"{job.id} cancelled")
                raise
            return Done()

        engine.ensure_queue("q", 2)
        for n in range(4):
            engine.submit(job(str(n)))
        asyncio.get_running_loop().call_later(0.05, stop.set)
        await engine.run({"work": work}, stop)
        assert seen == ["0", "1", "0 cancelled", "1 cancelled"]

    play(engine, scene)
