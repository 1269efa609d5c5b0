"""Slots whose number changes while they are taken."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from envwright.gateway.slots import Slots


def play(scene: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(scene, 10))


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


class Crowd:
    """Tasks that take a slot and keep it until they are told to go."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.inside: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.leave: list[asyncio.Event] = []

    def come(self) -> None:
        number, leave = len(self.tasks), asyncio.Event()

        async def stay() -> None:
            async with self.slots:
                self.inside.append(number)
                try:
                    await leave.wait()
                finally:
                    self.inside.remove(number)

        self.leave.append(leave)
        self.tasks.append(asyncio.create_task(stay()))

    def go(self, number: int) -> None:
        self.leave[number].set()


def test_the_first_to_come_is_the_first_to_be_served():
    async def scene() -> None:
        crowd = Crowd(Slots(2))
        for _ in range(5):
            crowd.come()
        await settle()
        assert crowd.inside == [0, 1]
        crowd.go(1)
        await settle()
        assert crowd.inside == [0, 2]

    play(scene())


def test_more_slots_are_there_at_once_and_fewer_take_none_away():
    async def scene() -> None:
        crowd = Crowd(Slots(2))
        for _ in range(8):
            crowd.come()
        await settle()
        crowd.slots.resize(4)
        await settle()
        assert crowd.inside == [0, 1, 2, 3]
        crowd.slots.resize(1)
        for number in (0, 1, 2):
            crowd.go(number)
            await settle()
            assert len(crowd.inside) == 3 - number
        crowd.go(3)
        await settle()
        assert crowd.inside == [4]

    play(scene())


def test_who_goes_away_as_its_turn_comes_leaves_the_slot_to_the_next():
    async def scene() -> None:
        crowd = Crowd(Slots(1))
        for _ in range(3):
            crowd.come()
        await settle()
        crowd.go(0)
        # Handed on by the task that leaves; taken one step later.
        while crowd.inside:
            await asyncio.sleep(0)
        crowd.tasks[1].cancel()
        await settle()
        assert crowd.inside == [2]
        assert crowd.slots.taken == 1

    play(scene())


STEPS = st.lists(
    st.sampled_from(["come", "go", "cancel"]) | st.integers(1, 5), min_size=1, max_size=40
)


@given(st.integers(1, 5), STEPS)
def test_whatever_happens_no_slot_is_lost_and_none_too_many_is_given(limit: int, steps: list[Any]):
    async def scene() -> None:
        nonlocal limit
        crowd = Crowd(Slots(limit))
        for step in steps:
            before = len(crowd.inside)
            alive = [n for n, task in enumerate(crowd.tasks) if not task.done()]
            match step:
                case "come":
                    crowd.come()
                case "go" if crowd.inside:
                    crowd.go(crowd.inside[0])
                case "cancel" if alive:
                    crowd.tasks[alive[-1]].cancel()
                case int(limit):
                    crowd.slots.resize(limit)
            await settle()
            assert len(crowd.inside) <= max(limit, before)
            waiting = sum(not task.done() for task in crowd.tasks) - len(crowd.inside)
            assert waiting == 0 or len(crowd.inside) >= limit
            assert crowd.slots.taken == len(crowd.inside)
        for task in crowd.tasks:
            task.cancel()
        await asyncio.gather(*crowd.tasks, return_exceptions=True)
        assert crowd.slots.taken == 0

    play(scene())
