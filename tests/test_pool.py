"""The pool of hosts, over hosts that do nothing but die."""

import asyncio
from dataclasses import dataclass, field

from envwright.host import HostDied, Pool


@dataclass(eq=False)
class Host:
    """Answers after a while; `close` takes a while, as that of a process does."""

    dead: HostDied | None = None
    retired: bool = False
    pending: dict[int, str] = field(default_factory=dict)
    closed: int = 0

    async def call(self, name, args, *, seconds, patience, item_seconds):
        number = len(self.pending)
        self.pending[number] = name
        await asyncio.sleep(0.01)
        self.pending.pop(number, None)
        return name

    def retire(self):
        self.retired = True

    async def close(self):
        await asyncio.sleep(0.01)
        self.closed += 1

    def die(self):
        self.dead = HostDied("killed", phase=None, alone=False, tail="")


def test_the_dead_are_let_go_once_whoever_comes_meanwhile():
    async def scene():
        made = []

        async def start():
            made.append(Host())
            return made[-1]

        pool = Pool(start, most=2)

        async def call(*, isolated):
            return await pool.call("x", {}, seconds=1, isolated=isolated)

        await asyncio.gather(call(isolated=False), call(isolated=True), call(isolated=True))
        first = list(made)
        assert len(first) == 3
        for host in first:
            host.die()
        said = await asyncio.gather(*(call(isolated=n % 2 == 0) for n in range(8)))
        assert said == ["x"] * 8
        assert [host.closed for host in first] == [1, 1, 1]
        assert pool.restarts == 3
        made[-1].die()
        assert await pool.close() == len(made) - len(first) - 1
        assert {host.closed for host in made} == {1}

    asyncio.run(asyncio.wait_for(scene(), 10))


def test_a_pool_that_is_narrowed_has_one_process_for_all_who_share():
    async def scene():
        made = []

        async def start():
            made.append(Host())
            return made[-1]

        pool = Pool(start, most=2)

        async def call(n):
            return await pool.call("x", {}, seconds=1)

        await call(0)
        await asyncio.gather(*map(call, range(9)))
        assert len(made) == 2
        pool.narrow()
        assert [host.retired for host in made] == [False, True]
        await asyncio.gather(*map(call, range(9)))
        assert len(made) == 2
        await pool.close()

    asyncio.run(asyncio.wait_for(scene(), 10))
