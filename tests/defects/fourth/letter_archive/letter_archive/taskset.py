"""One question per letter: for how much was the bargain made?"""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import verifiers.v1 as vf
from pydantic import Field

from letter_archive.toolset import ArchiveTools

INDEX = Path(__file__).parent / "index.csv"
BLOCK = re.compile(r"```[a-z]{0,10}[ \t]*\n([^`]{0,200})```")


class LetterData(vf.TaskData):
    letter: str
    pounds: str


class LetterTask(vf.Task[LetterData]):
    @vf.reward(weight=1.0)
    async def agreed_sum(self, trace: vf.Trace) -> float:
        """1.0 if the last reply has one code block and nothing but the agreed sum is in it."""
        reply = trace.last_reply
        blocks = BLOCK.findall(reply)
        if len(blocks) != 1 or reply.count("```") != 2:
            return 0.0
        inner = blocks[0].strip().lower().removesuffix("pounds").removeprefix("£").strip()
        return float(inner in (self.data.pounds, self.data.pounds + ".00"))

    @vf.metric
    async def letters_opened(self, trace: vf.Trace) -> float:
        """How many results the tools returned."""
        return float(len(trace.tool_messages))


class LetterConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=30)
    """How many letters are asked about, the earliest first."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()


class LetterArchive(vf.Taskset[LetterTask, LetterConfig]):
    """The archivist's index knows the sum of every letter; the model has the letters."""

    def load(self) -> Iterator[LetterTask]:
        with INDEX.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows[: self.config.num_tasks]:
            data = LetterData(
                prompt=(
                    f"In the letter {row['letter']} of the archive a bargain is reported about "
                    f"{row['matter']}. For how many pounds was it made in the end? Read the "
                    "letter with the tools. Put the number, and nothing else, into a code block "
                    "between two lines of three backticks; your reply has no other code block."
                ),
                letter=row["letter"],
                pounds=row["pounds"],
            )
            yield LetterTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: LetterConfig) -> list[vf.Toolset]:
        return [ArchiveTools(config.tools)]
