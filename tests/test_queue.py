"""One contract over the fake, SQLite and PostgreSQL, with two workers or more.

What only a durable engine can promise is asked of those two; it is no pass of the fake's.
"""

import asyncio
import contextlib
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from envwright.errors import Fault, UsageError
from envwright.queue.job import Done
from envwright.queue.state import Times, Worker, ticket_of
from envwright.queue.ticket import TABLE
from envwright.store import Store, schema
from envwright.store.state import JobStore
from postgres import Postgres
from queue_bed import Bed, DurableBed, Hand, MemoryBed, fresh, job
from queue_worker import ALONE

MORTAL = {"dead_after": 2.5, "busy_beat": 0.3, "reap": 0.3}
"""Workers that are missed soon, where that is waited for."""
durable = pytest.mark.parametrize("world", ["postgres", "sqlite"], indirect=True, scope="module")


class World:
    """One kind of engine. Its workers live as long as its tests run, which is one after another."""

    def __init__(self, kind: str, folder: Callable[[], Path], postgres: Postgres) -> None:
        self.kind, self.folder, self.postgres = kind, folder, postgres
        self.beds: dict[str, DurableBed] = {}

    def bed(self, name: str = "shared", slots: int = 40, **times: float) -> DurableBed:
        if name not in self.beds:
            url = self.postgres.new_database() if self.kind == "postgres" else None
            self.beds[name] = DurableBed(self.folder(), url, slots, **times)
        return self.beds[name]

    def close(self) -> None:
        for bed in self.beds.values():
            bed.close()


# In the order of `durable`, by which pytest keeps the tests of one kind together.
@pytest.fixture(scope="module", params=["postgres", "sqlite", "memory"])
def world(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, postgres: Postgres
) -> Iterator[World]:
    made = World(request.param, lambda: tmp_path_factory.mktemp("bed"), postgres)
    yield made
    made.close()


@pytest.fixture
def bed(world: World, tmp_path: Path) -> Iterator[Bed]:
    if world.kind != "memory":
        yield world.bed()
        return
    made = MemoryBed(tmp_path)
    yield made
    made.close()


@pytest.fixture
def mortal(world: World) -> DurableBed:
    """A store whose workers may be killed; each takes few jobs, so that none goes without."""
    return world.bed("mortal", slots=3, **MORTAL)


def test_a_queue_never_runs_more_than_its_limit_and_uses_all_of_it(bed):
    bed.crew(3)
    limits = {bed.queue(limit): limit for limit in (1, 3, 7)}
    p = fresh()
    for queue, limit in limits.items():
        bed.submit(*[job(f"{p}{queue}-{n}", queue, naps=[0.4]) for n in range(3 * limit)])
    assert set(bed.settle(p).values()) == {"done"}
    assert {queue: bed.most(queue, p) for queue in limits} == limits
    assert Counter(bed.names(p)).most_common(1)[0][1] == 1


def test_a_parked_job_holds_no_slot_and_comes_back_on_time_with_its_payload(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    parked = job(f"{p}a", queue, then="park", seconds=0.8, next={"again": True})
    others = [job(f"{p}b{n}", queue, priority=1, naps=[0.2]) for n in range(6)]
    bed.submit(parked, *others)
    assert set(bed.settle(p).values()) == {"done"}
    first, neighbour, *_ = bed.lines(p, "begin")
    _, second = bed.lines(f"{p}a", "begin")
    assert (first["job"], neighbour["job"]) == (f"{p}a", f"{p}b0")
    assert second["payload"] == {"again": True}
    assert second["run"] == 2
    (ended, *_) = bed.lines(f"{p}a", "end")
    # About a second, on a machine that keeps up; one that does not starts nothing in time.
    pace = max(b["t"] - a["t"] for a, b in pairwise(bed.lines(f"{p}b", "begin")))
    assert 0.8 <= second["t"] - ended["t"] <= 1.8 + pace
    assert bed.most(queue, p) == 1


def test_a_delayed_job_starts_no_earlier_than_asked(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    began = time.time()
    bed.submit(job(f"{p}a", queue), delay_seconds=0.6)
    assert bed.stats(queue).parked == 1
    bed.settle(p)
    assert bed.lines(p, "begin")[0]["t"] - began >= 0.6


def test_jobs_that_run_again_at_once_are_each_run_out(bed):
    bed.crew()
    queue, p = bed.queue(20), fresh()
    payload: dict[str, Any] = {}
    for _ in range(6):
        payload = {"then": "park", "seconds": 0.0, "next": payload}
    bed.submit(*[job(f"{p}{n}", queue, **payload) for n in range(20)])
    assert set(bed.settle(p).values()) == {"done"}
    assert set(Counter(bed.names(p)).values()) == {7}
    assert all(hand.is_alive() for hand in bed.hands.values() if hand.process)


@pytest.mark.parametrize("how", ["parked", "failing", "complaining"])
def test_a_sick_queue_never_delays_a_healthy_one(bed, how):
    bed.crew()
    sick, well, p = bed.queue(4), bed.queue(1), fresh()
    if how == "parked":
        bed.call(bed.engine.park(sick, 600.0, "by hand"))
    if how == "complaining":
        bed.call(bed.engine.complain(sick, 600.0, Fault.RATE))
    bed.submit(*[job(f"{p}sick{n}", sick, then="fail") for n in range(20)])
    bed.submit(*[job(f"{p}well{n}", well, naps=[0.05]) for n in range(8)])
    # In seconds, where the sick one would take ten minutes.
    assert set(bed.settle(f"{p}well").values()) == {"done"}
    if how == "failing":
        assert set(bed.settle(f"{p}sick").values()) == {"failed"}
    else:
        assert bed.names(f"{p}sick") == []
        assert bed.stats(sick).parked == 20
        assert bed.stats(sick).waiting == 0
        bed.cancel(*[f"{p}sick{n}" for n in range(20)])


def test_a_job_is_run_once_however_often_it_is_submitted_and_again_only_when_final(bed):
    bed.crew()
    queue, p = bed.queue(4), fresh()
    held = bed.gated(f"{p}a", queue)
    assert bed.submit(held, held, job(f"{p}b", queue)) == 2
    bed.until(lambda: bed.states(p) == {f"{p}a": "running", f"{p}b": "done"})
    assert bed.submit(held, job(f"{p}b", queue)) == 0
    assert bed.submit(held, job(f"{p}b", queue, more=1), job(f"{p}c", queue), again=True) == 2
    bed.until(lambda: bed.names(p, "end").count(f"{p}b") == 2)
    bed.open(f"{p}a")
    assert set(bed.settle(p).values()) == {"done"}
    assert Counter(bed.names(p)) == {f"{p}a": 1, f"{p}b": 2, f"{p}c": 1}
    assert bed.lines(f"{p}b", "begin")[1]["payload"] == {"more": 1}


@durable
def test_two_who_submit_the_same_at_once_submit_it_once(bed, other):
    bed.crew()
    queue, p = bed.queue(40), fresh()
    jobs = [job(f"{p}{n:02}", queue) for n in range(40)]

    async def both() -> list[int]:
        mine = bed.state.submit(jobs, 0.0, (), again=False)
        return await asyncio.gather(mine, other.submit(jobs[::-1], 0.0, (), again=False))

    assert sum(bed.call(both())) == 40
    assert set(bed.settle(p).values()) == {"done"}
    assert Counter(bed.names(p)) == {each.id: 1 for each in jobs}


def test_what_comes_after_a_group_is_released_once_when_the_last_is_final(bed):
    bed.crew()
    queue, p = bed.queue(6), fresh()
    ways = {"done": "done", "fail": "failed", "cancel": "cancelled"}
    group = [bed.gated(f"{p}g-{then}", queue, then=then) for then in ways]
    bed.submit(*group)
    bed.submit(job(f"{p}after", queue), after=[each.id for each in group])
    bed.submit(job(f"{p}unknown", queue), after=[f"{p}later"])
    for each in group:
        assert bed.states(f"{p}after") == {f"{p}after": "held"}
        bed.open(each.id)
        bed.settle(each.id)
    assert bed.settle(f"{p}after") == {f"{p}after": "done"}
    assert bed.states(f"{p}g-") == {f"{p}g-{then}": state for then, state in ways.items()}
    # All of them final already; and one that nobody knew.
    bed.submit(job(f"{p}at once", queue), after=[each.id for each in group])
    assert bed.settle(f"{p}at") == {f"{p}at once": "done"}
    assert bed.states(f"{p}unknown") == {f"{p}unknown": "held"}
    assert bed.stats(queue).held == 1
    bed.submit(job(f"{p}later", queue))
    assert set(bed.settle(p).values()) == {"done", "failed", "cancelled"}
    assert set(Counter(bed.names(p)).values()) == {1}


def test_a_cancelled_member_of_a_group_releases_what_comes_after(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0))
    bed.submit(job(f"{p}a", queue), job(f"{p}b", queue))
    bed.submit(job(f"{p}after", queue), after=[f"{p}a", f"{p}b"])
    bed.cancel(f"{p}a", f"{p}b")
    bed.call(bed.engine.open(queue))
    assert bed.settle(p) == {f"{p}a": "cancelled", f"{p}b": "cancelled", f"{p}after": "done"}


def test_of_two_that_end_at_the_same_moment_one_releases_what_comes_after(bed):
    bed.crew()
    queue, p = bed.queue(40), fresh()
    pairs = [(f"{p}{n}a", f"{p}{n}b") for n in range(16)]
    at = time.time() + 1.0
    bed.submit(*[job(name, queue, at=at) for pair in pairs for name in pair])
    for n, pair in enumerate(pairs):
        bed.submit(job(f"{p}{n}after", queue), after=pair)
    assert set(bed.settle(p).values()) == {"done"}
    assert set(Counter(bed.names(p)).values()) == {1}
    assert len(bed.names(p)) == 48


@pytest.fixture
def other(bed: DurableBed) -> Iterator[JobStore]:
    """Another process's way to the same store."""
    store = Store(bed.home, bed.url)
    state = JobStore(store)
    yield state
    state.close()
    store.close()


@durable
@pytest.mark.parametrize("meanwhile", ["the last one ends too", "it is submitted"])
def test_what_comes_after_is_released_though_neither_sees_the_other(bed, other, meanwhile):
    queue, p = bed.queue(1), fresh()
    pairs = [
        [job(f"{p}{n:02}{name}", queue, route=f"{ALONE}nobody") for name in "abc"]
        for n in range(30)
    ]

    async def race() -> None:
        await other.hello(Worker(p, 1, stays=True, release="0"))
        for a, b, c in pairs:
            await other.beat(p)
            await other.submit([a, b], 0.0, (), again=False)
            claimed = [await other.claim(ticket_of(each), p) for each in (a, b)]
            after = bed.state.submit([c], 0.0, [a.id, b.id], again=False)
            if meanwhile == "it is submitted":
                await other.settle(claimed[1], p, Done())
            else:
                await after
                after = bed.state.settle(claimed[1], p, Done())
            await asyncio.gather(after, other.settle(claimed[0], p, Done()))
        await other.leave(p)

    bed.call(race())
    assert Counter(bed.states(p).values()) == {"done": 60, "waiting": 30}
    tickets = tickets_like(bed, p)
    assert [tickets.get(ticket_of(c)) for _, _, c in pairs] == ["ENQUEUED"] * 30
    bed.cancel(*bed.states(p))


def test_a_cancelled_job_does_not_start_or_is_ended_and_its_neighbours_go_on(bed):
    bed.crew()
    queue, other, p = bed.queue(1), bed.queue(1), fresh()
    bed.submit(job(f"{p}parked", other, then="park", seconds=600.0))
    bed.until(lambda: bed.stats(other).parked == 1)
    bed.submit(bed.gated(f"{p}running", queue))
    bed.submit(job(f"{p}waiting", queue))
    bed.submit(job(f"{p}held", queue), after=[f"{p}running", f"{p}nobody"])
    bed.until(lambda: bed.names(f"{p}running"))
    names = [f"{p}{name}" for name in ("parked", "running", "waiting", "held")]
    assert bed.cancel(*names, f"{p}unknown") == 4
    assert bed.cancel(*names) == 0
    assert bed.settle(p) == dict.fromkeys(names, "cancelled")
    assert bed.cancel(*names) == 0
    assert bed.names(p, "cancelled") == [f"{p}running"]
    assert bed.names(p) == [f"{p}parked", f"{p}running"]
    bed.submit(job(f"{p}last", queue))
    assert bed.settle(f"{p}last") == {f"{p}last": "done"}


def test_a_job_that_is_cancelled_and_submitted_again_runs(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0))
    bed.submit(job(f"{p}a", queue))
    bed.cancel(f"{p}a")
    bed.submit(job(f"{p}a", queue), again=True)
    bed.call(bed.engine.open(queue))
    assert bed.settle(p) == {f"{p}a": "done"}
    assert bed.names(p) == [f"{p}a"]


def test_the_more_urgent_goes_first_and_equals_as_they_came(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0))
    order = [("late", 5), ("z", 1), ("m", 1), ("first", 0), ("a", 1)]
    bed.submit(*[job(f"{p}{name}", queue, priority=urgency) for name, urgency in order])
    bed.submit(*[job(f"{p}{name}", queue, priority=1) for name in ("y", "b")])
    bed.call(bed.engine.open(queue))
    bed.settle(p)
    names = [name.removeprefix(p) for name in bed.names(p)]
    assert names == ["first", "z", "m", "a", "y", "b", "late"]


def test_a_limit_that_is_changed_while_it_runs_holds_from_then_on(bed):
    bed.crew()
    queue, p = bed.queue(1, new=True), fresh()
    names = [f"{p}{n}" for n in range(7)]
    bed.submit(*[bed.gated(name, queue) for name in names])
    running = lambda: bed.stats(queue).running  # noqa: E731
    bed.until(lambda: running() == 1)
    bed.call(bed.engine.set_limit(queue, 4))
    bed.until(lambda: running() == 4)
    bed.call(bed.engine.set_limit(queue, 2))
    begun = bed.names(p)
    time.sleep(0.3)
    bed.open(*begun[:3])
    bed.until(lambda: len(bed.names(p)) == 5)
    time.sleep(0.4)
    assert (running(), bed.stats(queue).waiting) == (2, 2)
    # What a person set is not undone by the next sweep.
    bed.call(bed.engine.ensure_queue(queue, 9))
    assert bed.stats(queue).health.limit == 2
    bed.open(*names)
    assert set(bed.settle(p).values()) == {"done"}
    assert bed.most(queue, p) == 4


def test_a_queue_is_parked_and_opened_by_name(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0, "the key is being renewed"))
    bed.submit(job(f"{p}a", queue))
    time.sleep(0.5)
    stats = bed.stats(queue)
    assert (stats.parked, stats.waiting, stats.why) == (1, 0, "the key is being renewed")
    assert bed.names(p) == []
    bed.call(bed.engine.open(queue))
    assert bed.settle(p) == {f"{p}a": "done"}
    assert bed.stats(queue).why is None


@pytest.mark.parametrize("what", ["limit", "park", "open"])
def test_a_queue_that_nobody_knows_is_said_in_one_line(bed, what):
    bed.queue(1)
    acts = {
        "limit": lambda: bed.engine.set_limit("nowhere", 2),
        "park": lambda: bed.engine.park("nowhere", 1.0),
        "open": lambda: bed.engine.open("nowhere"),
    }
    with pytest.raises(UsageError, match=r"no queue 'nowhere'.*there are: ") as caught:
        bed.call(acts[what]())
    assert "\n" not in str(caught.value)


def test_what_cannot_be_recorded_is_our_failure_and_leaves_nothing(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.submit(job(f"{p}a", queue, then="misrecord"), job(f"{p}b", queue))
    assert bed.settle(p) == {f"{p}a": "failed", f"{p}b": "done"}
    bed.until(lambda: f"work {p}a: ValueError: not to be recorded" in bed.failures())
    if isinstance(bed, DurableBed):
        assert bed.kept(p) == {f"{p}b": 1}


def test_a_handler_that_raises_is_our_failure_and_stops_no_other_job(bed):
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.submit(job(f"{p}a", queue, then="raise"), job(f"{p}b", queue))
    assert bed.settle(p) == {f"{p}a": "failed", f"{p}b": "done"}
    bed.until(lambda: f"work {p}a: KeyError: 'x'" in bed.failures())


def test_a_result_brings_its_follow_ups_and_may_leave_its_neighbours_no_chance(bed):
    bed.crew()
    queue, other, p = bed.queue(1), bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0))
    bed.submit(*[job(f"{p}{n}", queue, then="close") for n in range(3)])
    bed.submit(job(f"{p}first", other, follow=[f"{p}next"]))
    bed.call(bed.engine.open(queue))
    bed.until(lambda: f"{p}next" in bed.states(p))
    ended = bed.settle(p)
    assert Counter(ended.values()) == {"done": 3, "cancelled": 2}
    assert ended[f"{p}first"] == ended[f"{p}next"] == "done"


def test_what_every_job_needs_being_gone_ends_the_run_and_the_jobs_are_given_back(bed):
    queue, p = bed.queue(2), fresh()
    hand = bed.solo()
    route = ALONE + hand.name
    bed.submit(bed.gated(f"{p}good", queue, route=route))
    bed.until(lambda: bed.names(p))
    bed.submit(job(f"{p}bad", queue, route=route, then="break"))
    assert "the disk is full" in (hand.wait(20) or "")
    assert bed.names(p, "cancelled") == [f"{p}good"]
    assert bed.states(p) == {f"{p}good": "waiting", f"{p}bad": "waiting"}
    bed.cancel(f"{p}good", f"{p}bad")


def test_a_worker_that_drains_goes_when_nothing_is_left(bed):
    queue, p = bed.queue(1), fresh()
    name = f"drain{p[:-1]}"
    route = ALONE + name
    bed.submit(job(f"{p}a", queue, route=route, then="park", seconds=0.7, next={}))
    bed.submit(job(f"{p}b", queue, route=route), after=[f"{p}a"])
    hand = bed.hand(name, alone=True, drain=True)
    assert hand.wait(20) is None
    assert bed.states(p) == {f"{p}a": "done", f"{p}b": "done"}


def test_who_is_stopped_gives_back_what_it_runs_and_another_runs_it_at_once(bed):
    bed.crew(3)
    queue, p = bed.queue(8), fresh()
    hand = bed.hands["w2"]
    names = [f"{p}{n}" for n in range(8)]
    bed.submit(*[bed.gated(name, queue) for name in names])
    bed.until(lambda: len(bed.names(p)) == 8)
    taken = [line["job"] for line in bed.lines(p, "begin") if line["worker"] == hand.name]
    began = time.time()
    hand.stop()
    assert hand.wait(20) is None
    over = time.time() - began
    # A thread that does not end is waited for ten seconds.
    assert over < 8.0
    assert sorted(bed.names(p, "cancelled")) == sorted(taken)
    bed.until(lambda: len(bed.names(p)) == 8 + len(taken))
    again = bed.lines(p, "begin")[8:]
    assert all(line["t"] - began < over + 5.0 for line in again)
    bed.open(*names)
    assert set(bed.settle(p).values()) == {"done"}
    assert Counter(bed.names(p, "end")) == dict.fromkeys(names, 1)


@durable
def test_a_worker_serves_its_routes_alone_and_the_limit_counts_all(bed):
    bed.crew()
    queue, p = bed.queue(2), fresh()
    name = bed.solo().name
    mine = [job(f"{p}mine{n}", queue, route=ALONE + name, naps=[0.05]) for n in range(15)]
    theirs = [job(f"{p}theirs{n}", queue, route=f"{p}all", naps=[0.05]) for n in range(15)]
    bed.submit(*[each for pair in zip(mine, theirs, strict=True) for each in pair])
    assert set(bed.settle(p).values()) == {"done"}
    assert {line["worker"] for line in bed.lines(f"{p}mine", "begin")} == {name}
    assert name not in {line["worker"] for line in bed.lines(f"{p}theirs", "begin")}
    assert bed.most(queue, p) == 2


@durable
def test_finished_tickets_are_forgotten_and_lost_ones_found(bed):
    """A worker died between taking a ticket and saying so; another spent one for nothing."""
    bed.crew()
    queue, p = bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0))
    bed.submit(job(f"{p}held", queue), job(f"{p}spent", queue), job(f"{p}fine", queue))
    change_ticket(bed, f"{p}held#1", status="PENDING", executor_id="a ghost")
    change_ticket(bed, f"{p}spent#1", status="SUCCESS", completed_at=0)
    age = sa.update(schema.job).where(schema.job.c.id.startswith(p)).values(ready_at=0.0)
    bed.store.write(lambda connection: connection.execute(age))
    state = JobStore(bed.store, Times(kept=60.0))
    bed.call(state.prune())
    bed.call(bed.engine.open(queue))
    assert set(bed.settle(p).values()) == {"done"}
    assert Counter(bed.names(p)) == {f"{p}held": 1, f"{p}spent": 1, f"{p}fine": 1}
    tickets = tickets_like(bed, p)
    assert f"{p}spent#1" not in tickets
    assert tickets[f"{p}held#1"] == "CANCELLED"
    assert tickets[f"{p}fine#1"] == "SUCCESS"
    bed.call(JobStore(bed.store, Times(kept=-1.0)).prune())
    assert tickets_like(bed, p) == {}
    assert set(bed.states(p).values()) == {"done"}


@durable
def test_a_cancelled_job_leaves_no_ticket(bed):
    queue, p = bed.queue(1), fresh()
    bed.call(bed.engine.park(queue, 600.0))
    bed.submit(*[job(f"{p}{n}", queue) for n in range(3)])
    bed.submit(job(f"{p}later", queue), delay_seconds=600.0)
    assert bed.cancel(*bed.states(p)) == 4
    assert set(tickets_like(bed, p).values()) == {"CANCELLED"}


@durable
def test_a_new_store_is_set_up_by_whoever_comes_first(world, tmp_path):
    url = world.postgres.new_database() if world.kind == "postgres" else None

    def open_and_use(number: int) -> int:
        store = Store(tmp_path, url)
        state = JobStore(store)
        try:
            return asyncio.run(state.submit([job("same", "q")], 0.0, (), again=False))
        finally:
            state.close()
            store.close()

    with ThreadPoolExecutor(3) as threads:
        assert sorted(threads.map(open_and_use, range(3))) == [0, 0, 1]


@durable
def test_a_ticket_that_comes_up_early_is_put_off(bed):
    """By the clock of a machine that is fast."""
    bed.crew()
    queue, p = bed.queue(1), fresh()
    began = time.time()
    bed.submit(job(f"{p}a", queue), delay_seconds=1.0)
    change_ticket(bed, f"{p}a#1", status="ENQUEUED")
    bed.submit(*[job(f"{p}b{n}", queue, priority=1, naps=[0.1]) for n in range(12)])
    bed.settle(p)
    assert bed.lines(f"{p}a", "begin")[0]["t"] - began >= 0.9
    assert tickets_like(bed, f"{p}a")[f"{p}a#1"] == "SUCCESS"


@durable
def test_a_killed_worker_is_survived_and_only_what_it_ran_is_run_again(mortal):
    mortal.crew(3)
    hand = mortal.hands["w2"]
    queue, p = mortal.queue(9), fresh()
    names = [f"{p}{n}" for n in range(24)]
    mortal.submit(*[job(name, queue, naps=[0.6]) for name in names])
    begun = lambda: [line for line in mortal.lines(p, "begin") if line["worker"] == hand.name]  # noqa: E731
    mortal.until(begun)
    hand.send(signal.SIGKILL)
    hand.process.wait()
    ended = set(mortal.names(p, "end"))
    orphans = {line["job"] for line in begun()} - ended
    assert set(mortal.settle(p, 30).values()) == {"done"}
    assert mortal.kept(p) == dict.fromkeys(names, 1)
    again = {name for name, times in Counter(mortal.names(p)).items() if times > 1}
    assert again == orphans != set()
    assert mortal.most(queue, p) <= 9 + len(orphans)


@durable
def test_a_worker_that_slept_records_no_second_result_and_goes_on(mortal):
    mortal.crew(2)
    hand = mortal.hands["w1"]
    queue, p = mortal.queue(2), fresh()
    slow = job(f"{p}slow", queue, route=ALONE + hand.name, naps=[60.0, 0.1])
    quick = job(f"{p}quick", queue, route=ALONE + hand.name, naps=[1.0, 0.1])
    mortal.submit(slow, quick)
    mortal.until(lambda: len(mortal.names(p)) == 2)
    put_to_sleep(mortal, hand)
    # Nobody else serves its route: another life of it must.
    moved = sa.update(schema.job).where(schema.job.c.id.startswith(p)).values(route="")
    mortal.store.write(lambda connection: connection.execute(moved))
    assert set(mortal.settle(p, 20).values()) == {"done"}
    hand.send(signal.SIGCONT)
    mortal.until(lambda: mortal.names(f"{p}slow", "cancelled"))
    mortal.until(lambda: len(mortal.names(f"{p}quick", "end")) == 2)
    mortal.submit(job(f"{p}new", queue, route=ALONE + hand.name))
    assert set(mortal.settle(p).values()) == {"done"}
    assert mortal.kept(p) == dict.fromkeys([f"{p}slow", f"{p}quick", f"{p}new"], 1)
    lives = {line["id"] for line in mortal.lines(p, "begin") if line["worker"] == hand.name}
    assert len(lives) == 2


@pytest.mark.parametrize("world", ["postgres"], indirect=True, scope="module")
def test_a_database_that_goes_away_for_a_while_loses_nothing(bed, postgres):
    bed.crew(2)
    queue, p = bed.queue(6), fresh()
    names = [f"{p}{n}" for n in range(30)]
    bed.submit(*[job(name, queue, naps=[0.3]) for name in names])
    bed.submit(job(f"{p}after", queue), after=names)
    bed.until(lambda: len(bed.names(p, "end")) > 3)
    postgres.stop()
    time.sleep(1.0)
    postgres.start()
    assert set(bed.settle(p, 40).values()) == {"done"}
    assert bed.kept(p) == dict.fromkeys([*names, f"{p}after"], 1)
    assert bed.most(queue, p) <= 6
    assert all(bed.hands[name].is_alive() for name in ("w0", "w1"))


def put_to_sleep(bed: DurableBed, hand: Hand) -> None:
    """Outside of a transaction: SQLite's lock would sleep with it, and nobody could write."""
    hand.send(signal.SIGSTOP)
    while bed.url is None and is_locked(bed.home / "envwright.db"):
        hand.send(signal.SIGCONT)
        time.sleep(0.05)
        hand.send(signal.SIGSTOP)


def is_locked(database: Path) -> bool:
    with contextlib.closing(sqlite3.connect(database, timeout=1.0)) as connection:
        try:
            connection.execute("begin immediate")
        except sqlite3.OperationalError:
            return True
        return False


def change_ticket(bed: DurableBed, ticket: str, **values: object) -> None:
    def change(connection: sa.Connection) -> None:
        bed.state.tickets._reach(connection)
        connection.execute(sa.update(TABLE).where(TABLE.c.workflow_uuid == ticket).values(values))

    bed.store.write(change)


def tickets_like(bed: DurableBed, prefix: str) -> dict[str, str]:
    def find(connection: sa.Connection) -> dict[str, str]:
        bed.state.tickets._reach(connection)
        which = sa.select(TABLE).where(TABLE.c.workflow_uuid.startswith(prefix))
        return {row.workflow_uuid: row.status for row in connection.execute(which)}

    return bed.store.read(find)
