"""Determine a mineral from what was seen of it, and argue for it."""

import re
from collections.abc import Iterator

import verifiers.v1 as vf

# name, Mohs hardness, streak, lustre, cleavage, specific gravity
MINERALS = [
    ("quartz", 7, "white", "glass", "no", 2.65),
    ("calcite", 3, "white", "glass", "three oblique", 2.71),
    ("fluorite", 4, "white", "glass", "four", 3.18),
    ("gypsum", 2, "white", "pearl", "one perfect and two poorer", 2.32),
    ("halite", 2.5, "white", "glass", "three square", 2.17),
    ("galena", 2.5, "lead-grey", "metal", "three square", 7.5),
    ("pyrite", 6.5, "greenish-black", "metal", "no", 5.01),
    ("hematite", 6, "red-brown", "metal", "no", 5.26),
    ("magnetite", 6, "black", "metal", "no", 5.17),
    ("chalcopyrite", 3.5, "greenish-black", "brass", "no", 4.2),
    ("sphalerite", 3.5, "pale brown", "resin", "six", 4.05),
    ("malachite", 4, "pale green", "silk", "one", 3.95),
    ("azurite", 3.5, "light blue", "glass", "one", 3.77),
    ("talc", 1, "white", "grease", "one perfect", 2.75),
    ("topaz", 8, "white", "glass", "one perfect", 3.53),
    ("corundum", 9, "white", "diamond", "no", 4.02),
    ("orthoclase", 6, "white", "glass", "two square", 2.56),
    ("barite", 3, "white", "glass", "three", 4.48),
    ("cassiterite", 6.5, "pale brown", "diamond", "two poor", 6.9),
    ("cinnabar", 2.5, "scarlet", "diamond", "three", 8.1),
    ("apatite", 5, "white", "glass", "two poor", 3.19),
    ("olivine", 7, "white", "glass", "no", 3.32),
    ("graphite", 1.5, "black", "metal", "one perfect", 2.2),
    ("siderite", 4, "white", "glass", "three oblique", 3.96),
    ("stibnite", 2, "lead-grey", "metal", "one perfect", 4.63),
    ("wolframite", 4.5, "brown-black", "metal", "one perfect", 7.3),
]
NAMES = {row[0] for row in MINERALS}
ASPECTS = (
    re.compile(r"\b(?:hardness|mohs)\b"),
    re.compile(r"\bstreak\b"),
    re.compile(r"\blust(?:re|er)\b"),
    re.compile(r"\bcleavage\b"),
    re.compile(r"\b(?:specific gravity|density)\b"),
)


class SpecimenData(vf.TaskData):
    """What was seen, and a report as a mineralogist would write it."""

    mineral: str
    answer: str


class SpecimenTask(vf.Task[SpecimenData]):
    """A report names one mineral and goes through the diagnostic properties."""

    @vf.reward(weight=0.8)
    async def argued(self, trace: vf.Trace) -> float:
        """Share of the five diagnostic properties that the report speaks of."""
        report = trace.last_reply.rpartition("</think>")[2].casefold()
        return sum(bool(aspect.search(report)) for aspect in ASPECTS) / len(ASPECTS)

    @vf.reward(weight=0.2)
    async def identified(self, trace: vf.Trace) -> float:
        """1.0 if the report names the right mineral and no other."""
        report = trace.last_reply.rpartition("</think>")[2].casefold()
        return float(NAMES.intersection(re.findall(r"[a-z]+", report)) == {self.data.mineral})


class MineralTaskset(vf.Taskset[SpecimenTask, vf.TasksetConfig]):
    """One task for each mineral of the table."""

    def load(self) -> Iterator[SpecimenTask]:
        for name, hardness, streak, lustre, cleavage, gravity in MINERALS:
            planes = "breaks unevenly" if cleavage == "no" else f"splits along {cleavage} planes"
            prompt = (
                f"A specimen shines like {lustre}, leaves {streak} powder on unglazed porcelain and "
                f"{planes}. From 1 (softest) to 10 (hardest) it is a {hardness:g}, and it weighs "
                f"{gravity:g} times as much as its volume of water.\n\nWhich mineral is it? Reply "
                "with a short report: its name, and an argument from the five diagnostic properties."
            )
            answer = (
                f"The specimen is {name}. Its hardness of {hardness:g}, its {streak} streak, its "
                f"lustre like {lustre}, its cleavage ({cleavage} planes) and its specific gravity of "
                f"{gravity:g} all agree."
            )
            data = SpecimenData(prompt=prompt, mineral=name, answer=answer)
            yield SpecimenTask(data, self.config.task)


__all__ = ["MineralTaskset"]
