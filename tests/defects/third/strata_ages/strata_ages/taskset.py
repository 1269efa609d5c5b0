"""Sections, and what a reply is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

ROCKS = ("sandstone", "shale", "limestone", "conglomerate", "tuff", "mudstone", "chalk", "siltstone")
WRONG = -0.5


def verdict(reply: str) -> str:
    """What stands after `OLDER:` on the reply's last line, folded; empty if there is no such line."""
    lines = [line for line in reply.splitlines() if line.strip(" `*\t")]
    head, _, said = lines[-1][:100].strip(" `*\t").partition(":") if lines else ("", "", "")
    if head.strip(" *").upper() != "OLDER":
        return ""
    return " ".join(said.strip(" *.\"'").lower().split()).removeprefix("the ")


class SectionData(vf.TaskData):
    features: list[str]
    answer: str


class SectionTask(vf.Task[SectionData]):
    @vf.reward(weight=1.0)
    async def older(self, trace: vf.Trace) -> float:
        """1.0 for the older feature, 0.0 for `pass`, -0.5 for all else."""
        said = verdict(trace.last_reply)
        if said == "pass":
            return 0.0
        return 1.0 if said == self.data.answer else WRONG


class StrataAgesConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=400)
    """How many sections."""
    seed: int = 8
    """Which sections."""


class StrataAgesTaskset(vf.Taskset[SectionTask, StrataAgesConfig]):
    """Sections that are not overturned, each with one dyke."""

    def load(self) -> Iterator[SectionTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            layers = rng.sample(ROCKS, 5)
            cut = rng.randint(2, 4)  # the dyke cuts the lowest `cut` layers
            section = (
                f"From the bottom to the top: {', '.join(layers)}. The layers are not overturned. A "
                f"dyke cuts the lowest {cut} of them and is cut off by the base of the layer above."
            )
            if section in seen:
                continue
            by_age = [*layers[:cut], "dyke", *layers[cut:]]
            first, second = sorted(rng.sample(range(6), 2))
            older, younger = by_age[first], by_age[second]
            named = [older, younger] if len(seen) % 2 == 0 else [younger, older]
            seen.add(section)
            data = SectionData(
                prompt=f"{section} Which is older, the {named[0]} or the {named[1]}? End with a line of "
                "the form\nOLDER: <feature>\nA right answer earns 1 point and a wrong one costs half a "
                "point; `OLDER: pass` is worth nothing.",
                features=named,
                answer=older,
            )
            yield SectionTask(data, self.config.task)
