"""Spectral classes: the table is read, a class is a letter."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf

TABLE = Path(__file__).with_name("stars.csv")
CLASS = re.compile(
    r"(?:the )?(?:answer|(?:spectral )?(?:class|type))?(?: is)?:? ?(?:class |type )?"
    r"([OBAFGKM])(?:[0-9](?:\.[0-9])?)?(?:[-/][0-9])? ?(?:[IV]{1,3}(?:a|b|ab)?)?(?:[-/][IV]{1,3})?(?: star)?",
    re.IGNORECASE,
)


def letter(text: str) -> str:
    """The class that the last line of the reply says; empty if it says none."""
    for line in reversed(text.splitlines()):
        line = line.strip(" \t*_`.\"'()")
        if line:
            match = CLASS.fullmatch(line) if len(line) < 60 else None
            return match.group(1).upper() if match else ""
    return ""


class StarData(vf.TaskData):
    """A star; `spectrum` is the letter of its class."""

    star: str
    magnitude: float
    spectrum: str


class StarTask(vf.Task[StarData]):
    @vf.reward(weight=1.0)
    async def classed(self, trace: vf.Trace) -> float:
        """1.0 if the class is right; a reply without a class earns nothing."""
        said = letter(trace.last_reply)
        return float(bool(said) and said == self.data.spectrum)

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        """1.0 if the reply says a class."""
        return float(bool(letter(trace.last_reply)))


class StarTaskset(vf.Taskset[StarTask, vf.TasksetConfig]):
    """One question for each star of the table."""

    def load(self) -> Iterator[StarTask]:
        with TABLE.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                data = StarData(
                    prompt=(
                        f"To which spectral class does the star {row['name']} ({row['designation']}) "
                        "belong? Of a multiple star, the brightest component is meant. Reply with a "
                        "single letter: O, B, A, F, G, K or M."
                    ),
                    star=row["name"],
                    magnitude=float(row["magnitude"]),
                    spectrum=row["spectrum"][:1].strip("?"),
                )
                yield StarTask(data, self.config.task)
