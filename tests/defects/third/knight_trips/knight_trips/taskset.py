"""Exercises, and what a reply is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf

from knight_trips.board import SQUARES, distances

WORDS = ("zero", "one", "two", "three", "four", "five", "six")
CORNERS = ("a1", "h1", "a8", "h8")
RIM = ("a4", "d8", "h5", "e1", "a8", "h1")


def trips(seed: int) -> Iterator[tuple[str, str]]:
    """The exercises, sheet by sheet."""
    # warm-ups: from the corners
    for corner in CORNERS:
        for goal in ("a4", "d8", "h5", "e1"):
            yield corner, goal
    # drills: everything that leads to the rim, from the corners and two central squares
    for start in (*CORNERS, "d4", "e5"):
        for goal in RIM:
            if start != goal:
                yield start, goal
    # mixed
    rng = random.Random(seed)
    for _ in range(10):
        start, goal = rng.sample(SQUARES, 2)
        yield start, goal


class KnightTripData(vf.TaskData):
    start: str
    goal: str
    answer: str


class KnightTripTask(vf.Task[KnightTripData]):
    """One number of moves is asked for, in tags."""

    def moves(self, trace: vf.Trace) -> str | None:
        text = trace.last_reply.rpartition("</think>")[2]
        if text.count("<moves>") != 1 or text.count("</moves>") != 1:
            return None
        return text.partition("<moves>")[2].partition("</moves>")[0].strip().rstrip(".").lower()

    @vf.reward(weight=1.0)
    async def shortest(self, trace: vf.Trace) -> float:
        """1.0 if the tag holds the smallest number of moves."""
        said = (self.moves(trace) or "").removesuffix("moves").removesuffix("move").strip()
        right = self.data.answer
        return float(said in (right, right + ".0", WORDS[int(right)]))

    @vf.metric
    async def tagged(self, trace: vf.Trace) -> float:
        """1.0 if there is exactly one tag."""
        return float(self.moves(trace) is not None)


class KnightTripsConfig(vf.TasksetConfig):
    seed: int = 0
    """Which mixed exercises are drawn."""


class KnightTripsTaskset(vf.Taskset[KnightTripTask, KnightTripsConfig]):
    """Numbered exercises from easy to mixed."""

    def load(self) -> Iterator[KnightTripTask]:
        for number, (start, goal) in enumerate(trips(self.config.seed), 1):
            data = KnightTripData(
                prompt=f"Exercise {number}. A knight stands on {start} of an empty chessboard. What is "
                f"the smallest number of moves in which it can reach {goal}? Put the number into "
                "<moves> and </moves>.",
                start=start,
                goal=goal,
                answer=str(distances(start)[goal]),
            )
            yield KnightTripTask(data, self.config.task)
