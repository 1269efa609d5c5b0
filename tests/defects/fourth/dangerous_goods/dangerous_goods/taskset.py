"""Substances and hazards; a signed reward with a way out."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

HAZARDS = {
    "flammable liquid": ("acetone", "ethanol", "petrol", "toluene", "diethyl ether", "hexane"),
    "flammable gas": ("propane", "butane", "hydrogen, compressed", "acetylene", "methane"),
    "corrosive": ("sulfuric acid", "sodium hydroxide, solid", "hydrochloric acid", "battery acid"),
    "oxidizer": ("potassium permanganate", "sodium nitrate", "potassium chlorate",
                 "calcium hypochlorite"),
    "toxic": ("potassium cyanide", "arsenic trioxide", "aniline", "mercury(II) chloride"),
    "dangerous when wet": ("sodium metal", "calcium carbide", "lithium metal",
                           "sodium borohydride"),
    "non-flammable gas": ("nitrogen, compressed", "carbon dioxide", "argon", "helium"),
    "radioactive": ("uranyl nitrate", "caesium-137 source", "thorium nitrate"),
}  # fmt: skip
LETTERS = "ABCD"
CHOICE = re.compile(r"(?:(?:final )?answer:?\s?)?\(?([A-D]|PASS)\)?", re.IGNORECASE)
RIGHT, PASSED, WRONG = 1.0, 0.0, -0.5


class HazardData(vf.TaskData):
    substance: str
    options: list[str]
    label: str


class HazardTask(vf.Task[HazardData]):
    def choice(self, trace: vf.Trace) -> str | None:
        """What the last line chooses: a letter, PASS, or None if it cannot be read."""
        lines = trace.last_reply.splitlines()
        chosen = CHOICE.fullmatch(lines[-1].strip(" \t.*_`$")) if lines else None
        return chosen.group(1).upper() if chosen else None

    @vf.reward(weight=1.0)
    async def judged(self, trace: vf.Trace) -> float:
        """1.0 for the right letter, 0.0 for PASS, -0.5 for all else."""
        chosen = self.choice(trace)
        if chosen == self.data.label:
            return RIGHT
        return PASSED if chosen == "PASS" else WRONG

    @vf.metric
    async def passed(self, trace: vf.Trace) -> float:
        return float(self.choice(trace) == "PASS")


class HazardConfig(vf.TasksetConfig):
    seed: int = 2


class HazardTaskset(vf.Taskset[HazardTask, HazardConfig]):
    def load(self) -> Iterator[HazardTask]:
        rng = random.Random(self.config.seed)
        pairs = [(name, hazard) for hazard, names in HAZARDS.items() for name in names]
        rng.shuffle(pairs)
        for index, (substance, hazard) in enumerate(pairs):
            options = rng.sample([other for other in HAZARDS if other != hazard], 3)
            options.insert(index % 4, hazard)
            listed = "\n".join(f"{letter}) {option}" for letter, option in zip(LETTERS, options))
            data = HazardData(
                prompt=f"Under which main hazard is this substance transported: {substance}?\n\n"
                f"{listed}\n\nGive the letter on the last line, alone. If you do not know, write "
                "PASS there: it earns nothing, and a wrong letter costs half a point.",
                substance=substance,
                options=options,
                label=LETTERS[index % 4],
            )
            yield HazardTask(data, self.config.task)
