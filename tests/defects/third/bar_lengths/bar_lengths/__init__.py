"""Bars of music: is one complete, and if not, how much is missing?"""

import random
import re
from collections.abc import Iterator
from fractions import Fraction

import verifiers.v1 as vf
from pydantic import Field

METRES = ("4/4", "3/4", "2/4", "6/8", "9/8", "5/4")
NOTES = {
    "half": Fraction(1, 2), "quarter": Fraction(1, 4), "dotted quarter": Fraction(3, 8),
    "eighth": Fraction(1, 8), "dotted eighth": Fraction(3, 16), "sixteenth": Fraction(1, 16),
}
LENGTH = re.compile(r"([0-9]{1,4}) ?/ ?([0-9]{1,4})")


def length(text: str) -> Fraction | None:
    """A length such as 3/8; LaTeX dollars, bold and a full stop around it do not matter."""
    match = LENGTH.fullmatch(text.strip(" \t\n.$*`"))
    return Fraction(int(match[1]), int(match[2])) if match and int(match[2]) else None


class BarData(vf.TaskData):
    """A bar; nothing is expected of the reader where nothing is missing."""

    metre: str
    expected: str


class BarTask(vf.Task[BarData]):
    """A complete bar is passed over in silence."""

    @vf.reward(weight=1.0)
    async def missing(self, trace: vf.Trace) -> float:
        """1.0 for the missing length, or for an empty reply to a complete bar."""
        said = trace.last_reply.rpartition("</think>")[2].strip()
        if not self.data.expected:
            return float(not said)
        return float(length(said) == length(self.data.expected))


class BarConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=4, le=400)
    """How many bars; each fifth is complete."""
    seed: int = 19
    """The same seed gives the same bars."""


class BarTaskset(vf.Taskset[BarTask, BarConfig]):
    """Bars of different metres, of which each fifth is complete."""

    def load(self) -> Iterator[BarTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple] = set()
        while len(seen) < self.config.num_tasks:
            metre = rng.choice(METRES)
            left = Fraction(metre)
            complete = len(seen) % 5 == 4
            notes: list[str] = []
            while left and (complete or len(notes) < 4):
                fitting = [name for name, value in NOTES.items() if value <= left]
                notes.append(rng.choice(fitting))
                left -= NOTES[notes[-1]]
            key = (metre, *notes)
            if bool(left) == complete or key in seen or len(notes) < 2:
                continue
            seen.add(key)
            prompt = (
                f"A bar in {metre} holds these notes: {', '.join(notes)}. How much is missing, as a "
                "fraction of a whole note? Reply with the fraction alone. If the bar is complete, do "
                "not say anything: send an empty reply."
            )
            data = BarData(prompt=prompt, metre=metre, expected=str(left) if left else "")
            yield BarTask(data, self.config.task)


__all__ = ["BarTaskset"]
