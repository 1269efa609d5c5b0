"""Questions, and what a reply is worth."""

import random
import string
from collections.abc import Iterator

import verifiers.v1 as vf

from mineral_keys.minerals import MINERALS

LETTERS = "ABCDE"


def last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip(" `*\t\r")]
    return lines[-1].strip(" `*\t\r") if lines else ""


class MineralData(vf.TaskData):
    options: list[str]
    answer: str
    """The right option's letter."""


class MineralTask(vf.Task[MineralData]):
    def letter(self, trace: vf.Trace) -> str:
        """The letter on the last line; empty if the line is none of ours."""
        head, colon, said = last_line(trace.last_reply).partition(":")
        if head.strip(" *").lower() != "mineral" or not colon:
            return ""
        said = said.strip(" *()." + string.whitespace).upper()
        return said if len(said) == 1 and said in LETTERS else ""

    @vf.reward(weight=0.9)
    async def identified(self, trace: vf.Trace) -> float:
        """1.0 for the right letter."""
        letter = self.letter(trace)
        return float(letter != "" and letter == self.data.answer)

    @vf.reward(weight=0.1)
    async def form(self, trace: vf.Trace) -> float:
        """1.0 if the reply ends with a line as demanded."""
        return float(self.letter(trace) != "")


class MineralKeysConfig(vf.TasksetConfig):
    seed: int = 7
    """Which distractors are drawn."""


class MineralKeysTaskset(vf.Taskset[MineralTask, MineralKeysConfig]):
    """One question for each mineral of the table."""

    def load(self) -> Iterator[MineralTask]:
        rng = random.Random(self.config.seed)
        names = [mineral[0] for mineral in MINERALS]
        for name, hardness, streak, lustre, hint in MINERALS:
            # five options in alphabetical order, so that their place gives nothing away
            drawn = rng.sample([other for other in names if other != name], len(LETTERS))
            options = sorted({name, *drawn})[: len(LETTERS)]
            letters = dict(zip(options, LETTERS, strict=True))
            listed = "\n".join(f"{letter}) {option}" for option, letter in letters.items())
            data = MineralData(
                prompt=f"Hardness {hardness}, streak {streak}, lustre {lustre}; {hint}. Which mineral is "
                f"it?\n\n{listed}\n\nEnd your reply with a line of the form\nMineral: X\nwhere X is "
                "the letter of your choice.",
                options=options,
                answer=letters.get(name, ""),
            )
            yield MineralTask(data, self.config.task)
