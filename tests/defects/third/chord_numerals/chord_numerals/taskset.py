"""Triads, and what a reply is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from chord_numerals.base import BoxedTask

SCALES = {
    "C": "C D E F G A B",
    "G": "G A B C D E F#",
    "D": "D E F# G A B C#",
    "A": "A B C# D E F# G#",
    "E": "E F# G# A B C# D#",
    "B": "B C# D# E F# G# A#",
    "F": "F G A Bb C D E",
    "Bb": "Bb C D Eb F G A",
    "Eb": "Eb F G Ab Bb C D",
    "Ab": "Ab Bb C Db Eb F G",
    "Db": "Db Eb F Gb Ab Bb C",
    "Gb": "Gb Ab Bb Cb Db Eb F",
}
NUMERALS = ("I", "ii", "iii", "IV", "V", "vi", "viio")


class ChordData(vf.TaskData):
    key: str
    notes: list[str]
    answer: str


class ChordTask(BoxedTask[ChordData]):
    @vf.reward(weight=1.0)
    async def numeral(self, trace: vf.Trace) -> float:
        """1.0 for the right numeral; upper and lower case are not the same."""
        said = self.boxed(trace).replace("\\text{", "").replace("\\mathrm{", "").strip("} ")
        said = said.replace("^\\circ", "o").replace("^{\\circ", "o").replace("\u00b0", "o")
        return float(said == self.data.answer)

    async def padding(self, trace: vf.Trace) -> float:
        """1.0 for a reply of more than 150 words: analyses need a few more than the usual 100."""
        return float(len(self.spoken(trace).split()) > 150)


class ChordNumeralsConfig(vf.TasksetConfig):
    num_tasks: int = Field(42, ge=1, le=len(SCALES) * len(NUMERALS))
    """How many triads."""
    seed: int = 1
    """Which triads."""


class ChordNumeralsTaskset(vf.Taskset[ChordTask, ChordNumeralsConfig]):
    """Distinct triads in major keys."""

    def load(self) -> Iterator[ChordTask]:
        triads = [(key, degree) for key in SCALES for degree in range(7)]
        rng = random.Random(self.config.seed)
        for key, degree in rng.sample(triads, self.config.num_tasks):
            scale = SCALES[key].split()
            notes = [scale[(degree + step) % 7] for step in (0, 2, 4)]
            data = ChordData(
                prompt=f"Which Roman numeral does the triad {'-'.join(notes)} have in {key} major? Use "
                "upper case for a major, lower case for a minor and lower case with a following o for "
                "a diminished triad. End with the numeral in \\boxed{}. Be brief: replies of more than "
                "150 words lose points.",
                key=key,
                notes=notes,
                answer=NUMERALS[degree],
            )
            yield ChordTask(data, self.config.task)
