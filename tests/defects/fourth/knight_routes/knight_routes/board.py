"""The board, the shortest routes, and what a route is worth."""

import random
import re
from collections import deque
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

JUMPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
SQUARES = [file + rank for file in "abcdefgh" for rank in "12345678"]
STEP = r"\s?(?:->|-|,|\u2192|\u2013)\s?[a-h][1-8]"
ROUTE = re.compile(r"\W{0,6}route\s?:\W{0,6}([a-h][1-8](?:" + STEP + r"){1,16})\W{0,6}")


def is_jump(here: str, there: str) -> bool:
    return {abs(ord(here[0]) - ord(there[0])), abs(int(here[1]) - int(there[1]))} == {1, 2}


def shortest(start: str, goal: str) -> list[str]:
    """One of the shortest routes, by breadth-first search."""
    queue = deque([[start]])
    seen = {start}
    while queue:
        route = queue.popleft()
        if route[-1] == goal:
            return route
        for file, rank in JUMPS:
            square = chr(ord(route[-1][0]) + file) + chr(ord(route[-1][1]) + rank)
            if square in SQUARES and square not in seen:
                seen.add(square)
                queue.append([*route, square])
    raise ValueError(f"no route from {start} to {goal}")


class RouteData(vf.TaskData):
    start: str
    goal: str
    length: int
    """How many jumps a shortest route has."""
    answer: str
    """One shortest route; every other one is as good."""


class RouteTask(vf.Task[RouteData]):
    """Total between -0.5 (an illegal route) and 1.0 (a shortest one)."""

    def route(self, trace: vf.Trace) -> list[str]:
        """The squares of the last line, if that is the reply's one route; else nothing."""
        lines = [line for line in trace.last_reply.lower().splitlines() if line.strip()]
        found = [match[1] for line in lines if (match := ROUTE.fullmatch(line))]
        if len(found) != 1 or not ROUTE.fullmatch(lines[-1]):
            return []
        return re.findall(r"[a-h][1-8]", found[0])

    @vf.reward(weight=1.0)
    async def arrives(self, trace: vf.Trace) -> float:
        """1.0 for a legal route of the least length from start to goal."""
        squares = self.route(trace)
        if len(squares) != self.data.length + 1:
            return 0.0
        ends = (squares[0], squares[-1]) == (self.data.start, self.data.goal)
        return float(ends and all(map(is_jump, squares, squares[1:])))

    async def illegal_jumps(self, trace: vf.Trace) -> float:
        """Penalty, weight -0.5: 1.0 if the route holds a step that no knight can make."""
        squares = self.route(trace)
        return float(not all(map(is_jump, squares, squares[1:])))

    @vf.metric
    async def has_route(self, trace: vf.Trace) -> float:
        """1.0 if the reply ends with a route at all."""
        return float(bool(self.route(trace)))


class RouteConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    """How many pairs of squares."""
    seed: int = 1
    """The same seed gives the same pairs."""


class KnightRoutes(vf.Taskset[RouteTask, RouteConfig]):
    """Distinct pairs of squares that are at least two jumps apart."""

    def load(self) -> Iterator[RouteTask]:
        pairs = [(a, b) for a in SQUARES for b in SQUARES if a != b and not is_jump(a, b)]
        random.Random(self.config.seed).shuffle(pairs)
        for start, goal in pairs[: self.config.num_tasks]:
            route = shortest(start, goal)
            data = RouteData(
                prompt=(
                    f"A knight stands on {start} of an empty chess board and wants to go to "
                    f"{goal} in as few jumps as can be. Which way does it go? End your reply with "
                    "one line `Route: ` and all squares in order, the first and the last "
                    "included, joined by hyphens."
                ),
                start=start,
                goal=goal,
                length=len(route) - 1,
                answer="Route: " + "-".join(route),
            )
            yield RouteTask(data, self.config.task)
