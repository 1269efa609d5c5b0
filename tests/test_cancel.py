"""A call that is cancelled ends, and what it leaves behind goes with its host."""

import asyncio
import time

import pytest

from bed import make_bed
from envwright.gateway import Grant
from envwright.host import process
from support import make_environment, processes_with

CHILD, THREADED = "7301.25", "7302.25"
"""What children are called: how long they would sleep."""
pytestmark = pytest.mark.slow
WAYS = (
    "waits",
    "starts_a_child",
    "starts_one_in_a_thread",
    "does_not_end",
    "counts",
    "takes_a_while",
)
TASK = f"""
CANCELLED = []

@vf.reward(weight=1.0)
async def paid(self, trace: vf.Trace) -> float:
    return float(await getattr(self, {WAYS!r}[int(self.data.answer)])())

async def waits(self):
    try:
        await asyncio.sleep(600)
    finally:
        self.CANCELLED.append(1)

async def starts_a_child(self):
    child = await asyncio.create_subprocess_shell("setsid sleep {CHILD} & wait")
    return await child.wait()

async def starts_one_in_a_thread(self):
    return await asyncio.to_thread(subprocess.call, ["sleep", "{THREADED}"])

async def does_not_end(self):
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            pass

async def counts(self):
    return len(self.CANCELLED)

async def takes_a_while(self):
    await asyncio.sleep(1.5)
    return 0.75
"""


@pytest.fixture(scope="module")
def bed(tmp_path_factory, venvs):
    with make_bed(tmp_path_factory.mktemp("cancel"), venvs) as bed:
        yield bed


@pytest.fixture(scope="module")
def stuck(bed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("stuck")
    root = make_environment(folder, task=TASK, imports="import subprocess", count=len(WAYS))
    return bed.do(bed.load(root))


def start(bed, stuck, way):
    """A trial on the task of this name, as a task of the loop."""

    async def run():
        index = WAYS.index(way)
        (task,) = await stuck.tasks(index, index + 1)
        grant = Grant(trial=way, attempt=1, seat_model=None)
        asked = {
            "index": index,
            "key": task.key,
            "agent": {"kind": "noop"},
            "token": bed.gateway.open(grant),
            "played": [],
            "sampling": {},
            "limits": {"wall_seconds": 60, "scoring_seconds": 60},
        }
        record = await stuck.pool.call("run", asked, seconds=120)
        (trace,) = record["traces"]
        return trace["rewards"]["paid"]

    return asyncio.ensure_future(run())


def start_children(bed, stuck):
    return [start(bed, stuck, way) for way in ("starts_a_child", "starts_one_in_a_thread")]


def children():
    return [*processes_with(CHILD), *processes_with(THREADED)]


def scoring(stuck):
    """Calls of its hosts that have come to their reward."""
    hosts = [*stuck.pool._shared, *stuck.pool._alone]
    return [call for host in hosts for call in host.pending.values() if call.phase == "scoring"]


async def until(happened, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.02)


async def cancel(call):
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


def test_a_cancelled_trial_ends_in_a_host_that_serves_on(bed, stuck):
    async def scene():
        trial = start(bed, stuck, "waits")
        await until(lambda: scoring(stuck))
        (host,) = stuck.pool._shared
        await cancel(trial)
        (patience,) = host.leaving.values()
        assert (await start(bed, stuck, "counts"))["score"] == 1.0
        await until(lambda: not host.leaving, 2.0)
        assert patience.cancelled()
        assert stuck.pool._shared == [host]
        assert not host.retired

    bed.do(scene())


def test_what_cancelled_trials_started_goes_once_their_neighbours_are_done(bed, stuck):
    async def scene():
        trials = start_children(bed, stuck)
        await until(lambda: len(children()) == 2)
        neighbour = start(bed, stuck, "takes_a_while")
        await until(lambda: len(scoring(stuck)) == 3)
        (host,) = stuck.pool._shared
        for trial in trials:
            await cancel(trial)
        await until(lambda: host.retired)
        assert not neighbour.done()
        # It is not charged for what others left behind.
        assert (await neighbour)["score"] == 0.75
        await until(lambda: not children() and host.dead is not None, 2.0)

    bed.do(scene())


def test_a_cancelled_trial_that_does_not_end_is_ended_with_its_host(bed, stuck, monkeypatch):
    monkeypatch.setattr(process, "CANCEL_SECONDS", 0.3)

    async def scene():
        trial = start(bed, stuck, "does_not_end")
        await until(lambda: scoring(stuck))
        (host,) = stuck.pool._shared
        await cancel(trial)
        await until(lambda: host.dead is not None, 15.0)

    bed.do(scene())


def test_a_pool_that_is_closed_ends_every_process_of_its_sandboxes_at_once(bed, stuck):
    async def scene():
        trials = start_children(bed, stuck)
        await until(lambda: len(children()) == 2, 60)
        for trial in trials:
            trial.cancel()
        await asyncio.gather(*trials, return_exceptions=True)
        begun = time.monotonic()
        assert await stuck.pool.close() == 1
        assert not children()
        assert time.monotonic() - begun < 2.0

    bed.do(scene())
