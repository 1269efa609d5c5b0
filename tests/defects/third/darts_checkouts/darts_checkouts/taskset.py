"""Scores that can be checked out, and whether a reply does it. Any way that works is as good."""

import functools
import re
from collections.abc import Iterator

import verifiers.v1 as vf

SINGLES = {f"S{n}": n for n in range(1, 21)} | {"SB": 25}
DOUBLES = {f"D{n}": 2 * n for n in range(1, 21)} | {"DB": 50}
TREBLES = {f"T{n}": 3 * n for n in range(1, 21)}
BOARD = TREBLES | DOUBLES | SINGLES
ALIASES = {"25": "SB", "50": "DB", "BULL": "DB", "BULLSEYE": "DB"}


@functools.lru_cache(maxsize=512)
def evaluate(dart: str) -> tuple[str, int] | None:
    """A dart by its usual name and its value; None for what is not on the board."""
    dart = ALIASES.get(dart, dart)
    if re.fullmatch(r"[0-9]{1,2}", dart):
        dart = f"S{int(dart)}"
    return (dart, BOARD[dart]) if dart in BOARD else None


def checkout(score: int) -> list[str] | None:
    """One way to finish from `score`, with as few darts as can be."""
    for double, value in sorted(DOUBLES.items(), key=lambda item: -item[1]):
        if value == score:
            return [double]
    for first, value in BOARD.items():
        if rest := next((d for d, v in DOUBLES.items() if v == score - value), None):
            return [first, rest]
    for first, one in BOARD.items():
        for second, two in BOARD.items():
            if last := next((d for d, v in DOUBLES.items() if v == score - one - two), None):
                return [first, second, last]
    return None


class LegData(vf.TaskData):
    score: int
    answer: str
    """One way among many."""


class LegTask(vf.Task[LegData]):
    def darts(self, trace: vf.Trace) -> list[tuple[str, int] | None]:
        """The darts of the reply, None for a word that is no dart."""
        text = trace.last_reply.rpartition("</think>")[2].upper()
        words = re.findall(r"[A-Z0-9]+", text[:2000])
        return [evaluate(word) if len(word) < 10 else None for word in words]

    @vf.reward(weight=1.0)
    async def checked_out(self, trace: vf.Trace) -> float:
        """1.0 if the reply is one to three darts that add up to the score and end with a double."""
        darts = [dart for dart in self.darts(trace) if dart]
        if len(darts) != len(self.darts(trace)) or not 1 <= len(darts) <= 3:
            return 0.0
        total = sum(value for _, value in darts)
        return float(total == self.data.score and darts[-1][0] in DOUBLES)

    @vf.metric
    async def darts_thrown(self, trace: vf.Trace) -> float:
        """How many darts the reply names."""
        return float(sum(dart is not None for dart in self.darts(trace)))


class CheckoutTaskset(vf.Taskset[LegTask, vf.TasksetConfig]):
    """Each third score from 41 to 170 from which there is a way out."""

    def load(self) -> Iterator[LegTask]:
        for score in range(41, 171, 3):
            way = checkout(score)
            if way is None:
                continue
            prompt = (
                f"You have {score} left. Name a way to check out with at most three darts, the last of "
                "them a double. Write S, D or T and the number for each dart (SB and DB for the outer "
                "and the inner bull), separated by spaces, and nothing else."
            )
            yield LegTask(LegData(prompt=prompt, score=score, answer=" ".join(way)), self.config.task)
