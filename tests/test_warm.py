"""Warm hosts: shared, kept and let go, over real pools of hosts that do nothing."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from envwright.agent import AgentKind, AgentSpec
from envwright.environment import Environment, Kind, Source, TaskCount
from envwright.errors import EnvironmentFailure, Interrupted, Unserved
from envwright.gateway import Gateway
from envwright.host import HostLimits, Loaded, Pool
from envwright.queue.state import Worker
from envwright.trial.part import Part
from envwright.trial.plan import Plan
from envwright.work.warm import KEEP, Warm
from envwright.work.worker import Tools, Workshop


@dataclass(eq=False)
class Host:
    """Answers at once."""

    pending: dict[int, str] = field(default_factory=dict)
    dead: None = None
    retired: bool = False
    closed: int = 0

    async def call(self, name, args, *, seconds, patience, item_seconds):
        return name

    async def close(self):
        self.closed += 1


def part_of(revision, title="probe", **args):
    plan = Plan(
        tasks=((0, "a" * 64),),
        agents=(AgentSpec(kind=AgentKind.NOOP),),
        trials=1,
        args=args,
    )
    return Part(
        title=title,
        environment="probe",
        revision=f"{revision:064x}",
        plan=plan,
        sandbox="bubblewrap",
    )


@dataclass
class Machine:
    """Loads parts when it is let, and remembers what it loaded."""

    keep: int = 2
    clock: float = 0.0
    loads: list[Part] = field(default_factory=list)
    hosts: list[Host] = field(default_factory=list)
    fault: Exception | None = None
    let: asyncio.Event = field(default_factory=asyncio.Event)
    revision: str | None = None
    """What is loaded, when it is not what was asked for."""

    def __post_init__(self):
        self.let.set()
        self.warm = Warm(self.load, keep=self.keep, now=lambda: self.clock)

    async def load(self, part):
        self.loads.append(part)
        await self.let.wait()
        if self.fault is not None:
            raise self.fault
        loaded = self.loaded(part)
        await loaded.pool.call("describe", {}, seconds=1)
        return loaded

    def loaded(self, part):
        async def start():
            self.hosts.append(Host())
            return self.hosts[-1]

        revision = self.revision or part.revision
        folder = Path("/revisions") / revision
        source = Source(
            name="probe",
            module="probe",
            folder=folder,
            import_path=folder,
            revision=revision,
            dependencies=(),
        )
        environment = Environment(
            kind=Kind.VERIFIERS,
            name="probe",
            revision=revision,
            tasks=TaskCount(count=1, infinite=False),
            seats=("agent",),
        )
        return Loaded(environment, source, Pool(start), part.args, HostLimits())

    async def visit(self, part):
        async with self.warm.use(part) as loaded:
            return loaded

    @property
    def open(self):
        """The hosts that are not closed, by the order in which they were started."""
        return [number for number, host in enumerate(self.hosts) if not host.closed]


def play(scene, **machine):
    async def main():
        made = Machine(**machine)
        try:
            await scene(made)
        finally:
            await made.warm.close()
        assert {host.closed for host in made.hosts} <= {1}

    asyncio.run(asyncio.wait_for(main(), 10))


async def settle():
    for _ in range(10):
        await asyncio.sleep(0)


def test_whoever_comes_first_at_once_shares_one_load():
    async def scene(machine):
        machine.let.clear()
        visits = [asyncio.create_task(machine.visit(part_of(1))) for _ in range(20)]
        await settle()
        machine.let.set()
        found = await asyncio.gather(*visits)
        assert len({id(loaded) for loaded in found}) == 1
        assert len(machine.loads) == 1
        await machine.visit(part_of(1))
        assert len(machine.loads) == 1

    play(scene)


@pytest.mark.parametrize(
    "other",
    [
        part_of(2),
        part_of(1, split="dev"),
        part_of(1).model_copy(update={"venv": Path("/opt/venv")}),
        part_of(1).model_copy(update={"sandbox": "none"}),
    ],
)
def test_parts_that_differ_in_what_is_loaded_share_nothing(other):
    async def scene(machine):
        assert await machine.visit(part_of(1)) is not await machine.visit(other)
        assert len(machine.loads) == 2

    play(scene)


def test_parts_that_differ_in_their_tasks_and_agents_share_hosts():
    async def scene(machine):
        part = part_of(1)
        plan = part.plan.model_copy(update={"tasks": ((5, "b" * 64),), "trials": 9})
        other = part.model_copy(update={"plan": plan})
        assert await machine.visit(part) is await machine.visit(other)

    play(scene)


def test_of_the_idle_the_last_used_are_kept_and_none_in_use_is_closed():
    async def scene(machine):
        async with machine.warm.use(part_of(0)):
            for number in (1, 2, 1, 3):
                machine.clock += 1
                await machine.visit(part_of(number))
            await settle()
            assert machine.open == [0, 1, 3]
        machine.clock += 1
        await machine.visit(part_of(3))
        await settle()
        assert machine.open == [0, 3]

    play(scene)


def test_one_that_is_idle_for_long_is_closed():
    async def scene(machine):
        await machine.visit(part_of(1))
        machine.clock = 599.0
        await machine.visit(part_of(2))
        machine.warm.tidy()
        await settle()
        assert machine.open == [0, 1]
        machine.clock = 601.0
        machine.warm.tidy()
        await settle()
        assert machine.open == [1]

    play(scene)


def test_nobody_has_to_ask_for_an_idle_one_to_be_closed():
    async def scene(machine):
        machine.warm = Warm(machine.load, idle_seconds=0.01)
        await machine.visit(part_of(1))
        while machine.open:
            await asyncio.sleep(0.01)

    play(scene)


def test_a_load_that_fails_is_told_to_all_and_tried_again_after_a_while():
    async def scene(machine):
        machine.fault = EnvironmentFailure("it does not load", hint="mend it")
        machine.let.clear()
        visits = [asyncio.create_task(machine.visit(part_of(1))) for _ in range(5)]
        await settle()
        machine.clock = 100.0
        machine.let.set()
        told = await asyncio.gather(*visits, return_exceptions=True)
        assert [str(each) for each in told] == ["it does not load. hint: mend it"] * 5
        machine.clock = 159.0
        with pytest.raises(EnvironmentFailure, match="does not load"):
            await machine.visit(part_of(1))
        assert len(machine.loads) == 1
        machine.clock, machine.fault = 160.0, None
        await machine.visit(part_of(1))
        assert len(machine.loads) == 2

    play(scene)


def test_who_stops_waiting_leaves_the_load_to_the_others_and_the_last_ends_it():
    async def scene(machine):
        machine.let.clear()
        first, second, third = (
            asyncio.create_task(machine.visit(part_of(number))) for number in (1, 1, 2)
        )
        await settle()
        first.cancel()
        third.cancel()
        await settle()
        machine.let.set()
        await second
        assert (first.cancelled(), third.cancelled()) == (True, True)
        assert machine.open == [0]
        # The one that nobody waited for any more is no failure either.
        await machine.visit(part_of(2))
        assert len(machine.loads) == 3

    play(scene)


def test_what_is_not_what_was_planned_is_closed_and_refused_with_why():
    async def scene(machine):
        machine.revision = "f" * 64
        for _ in range(3):
            with pytest.raises(Unserved, match="this worker cannot serve probe: what was loaded"):
                await machine.visit(part_of(1))
        assert len(machine.loads) == 1
        assert machine.open == []

    play(scene)


def test_of_parts_that_share_hosts_one_may_be_refused():
    async def scene(machine):
        part = part_of(1)
        plan = part.plan.model_copy(update={"played": {"user": "c" * 64}})
        async with machine.warm.use(part):
            with pytest.raises(Unserved, match="its seats are others here: agent"):
                await machine.visit(part.model_copy(update={"plan": plan}))
            assert machine.open == [0]

    play(scene)


def test_to_drop_a_part_says_how_many_sandboxes_that_ended():
    async def scene(machine):
        async with machine.warm.use(part_of(1)) as loaded:
            await loaded.pool.call("run", {}, seconds=1, isolated=True)
            assert await machine.warm.drop(part_of(1)) == 0
            assert machine.open == [0, 1]
        assert await machine.warm.drop(part_of(1)) == 2
        assert machine.open == []
        assert await machine.warm.drop(part_of(1)) == 0
        assert await machine.warm.drop(part_of(9)) == 0

    play(scene)


def test_one_that_is_lent_is_used_in_place_of_ours_and_left_to_whoever_lends_it():
    async def scene(machine):
        async with machine.warm.use(part_of(1)) as own:
            lent = machine.loaded(part_of(1))
            await lent.pool.call("describe", {}, seconds=1)
            machine.warm.lend(part_of(1), lent)
            await settle()
            assert machine.open == [0, 1]
            assert await machine.visit(part_of(1)) is lent is not own
        await settle()
        assert machine.open == [1]
        assert len(machine.loads) == 1
        await machine.warm.close()
        assert machine.open == [1]
        await lent.pool.close()

    play(scene)


def test_closing_ends_what_is_loading_and_what_is_in_use():
    async def scene(machine):
        entered = machine.warm.use(part_of(1))
        loaded = await entered.__aenter__()
        machine.let.clear()
        waiting = asyncio.create_task(machine.visit(part_of(2)))
        await settle()
        await machine.warm.close()
        with pytest.raises(Interrupted, match="this worker is ending"):
            await waiting
        assert machine.open == []
        with pytest.raises(Exception, match="its hosts were closed"):
            await loaded.pool.call("run", {}, seconds=1)
        await entered.__aexit__(None, None, None)

    play(scene)


def workshop_on(machine, said):
    async def never(part):
        return None

    tools = Tools(load=machine.load, cast=never, unserved=never, say=said.append)
    worker = Worker("here:1:1~a", slots=1, stays=True, release="0")
    shop = Workshop(None, None, Gateway({}), tools, worker)
    shop.warm = machine.warm
    return shop


def test_a_worker_loads_what_it_serves_before_it_claims_and_no_more_than_it_keeps():
    async def scene(machine):
        shop = workshop_on(machine, [])
        machine.let.clear()
        serving = asyncio.create_task(shop.warm_up("sweep", [part_of(1)]))
        await settle()
        assert (len(machine.loads), serving.done()) == (1, False)
        machine.let.set()
        assert await serving
        assert await shop.warm_up("sweep", [part_of(n) for n in range(2, 10)])
        assert (len(machine.loads), machine.open) == (KEEP, list(range(KEEP)))

    play(scene, keep=KEEP)


@pytest.mark.parametrize(
    ("wrong", "served"),
    [({"fault": EnvironmentFailure("broken")}, True), ({"revision": "f" * 64}, False)],
    ids=["does not load", "is another"],
)
def test_what_does_not_load_is_served_and_fails_there_but_what_is_another_is_not(wrong, served):
    async def scene(machine):
        said = []
        assert await workshop_on(machine, said).warm_up("sweep", [part_of(1)]) is served
        assert ["is not served here" in line for line in said] == [True] * (not served)

    play(scene, **wrong)
