"""Melodies, how they are moved, and how a reply's notes are read."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

CHROMATIC = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
NOTE = re.compile(r"([A-G])(?:#|\u266f)?[0-9]?")
BETWEEN = re.compile(r"[\s,;|-]+")


def notes(text: str) -> list[str]:
    """The notes on the last line of a text; empty if anything else stands there."""
    lines = [line for line in text.splitlines() if line.strip(" \t`")]
    if not lines or len(lines[-1]) > 200:
        return []
    line = lines[-1].rpartition(":")[2].strip(" \t.*_`\"'()[]")
    read = []
    for token in BETWEEN.split(line):
        note = NOTE.fullmatch(token.upper())
        if note is None:
            return []
        read.append(note.group(1))
    return read


def moved(melody: list[str], semitones: int) -> list[str]:
    return [CHROMATIC[(CHROMATIC.index(note) + semitones) % 12] for note in melody]


class MelodyData(vf.TaskData):
    melody: list[str]
    semitones: int
    expected: str


class MelodyTask(vf.Task[MelodyData]):
    @vf.reward(weight=1.0)
    async def transposed(self, trace: vf.Trace) -> float:
        """1.0 if the notes are those of the transposed melody, in order."""
        return float(notes(trace.last_reply) == notes(self.data.expected))


class MelodyConfig(vf.TasksetConfig):
    num_tasks: int = Field(48, ge=1, le=1000)
    seed: int = 440


class MelodyTaskset(vf.Taskset[MelodyTask, MelodyConfig]):
    def load(self) -> Iterator[MelodyTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            melody = [rng.choice(CHROMATIC) for _ in range(6)]
            semitones = rng.choice([-5, -4, -3, -2, 2, 3, 4, 5])
            expected = moved(melody, semitones)
            # without black keys there is little to it
            if sum("#" in note for note in expected) < 2 or " ".join(melody) in seen:
                continue
            seen.add(" ".join(melody))
            way = "up" if semitones > 0 else "down"
            data = MelodyData(
                prompt=(
                    f"Transpose this melody {way} by {abs(semitones)} semitones:\n\n"
                    f"{' '.join(melody)}\n\n"
                    "Reply with the six new note names on one line, with spaces between them. "
                    "Use sharps, never flats, for the black keys."
                ),
                melody=melody,
                semitones=semitones,
                expected=" ".join(expected),
            )
            yield MelodyTask(data, self.config.task)
