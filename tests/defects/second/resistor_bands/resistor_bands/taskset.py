"""Five-band resistors: three digits, a multiplier, a tolerance."""

import random
import re

import verifiers.v1 as vf
from pydantic import Field

COLOURS = ("black", "brown", "red", "orange", "yellow", "green", "blue", "violet", "grey", "white")
TOLERANCE = {"1": "brown", "2": "red", "0.5": "green", "0.25": "blue", "0.1": "violet"}
ALIASES = {"gray": "grey", "purple": "violet"}
COLOUR = re.compile(r"\b(" + "|".join((*COLOURS, *ALIASES)) + r")\b")


def colours(text: str) -> list[str]:
    return [ALIASES.get(name, name) for name in COLOUR.findall(text.lower())]


class Resistor(vf.TaskData):
    ohms: int
    tolerance: str
    bands: list[str]
    answer: str


class ResistorTask(vf.Task[Resistor]):
    @vf.reward(weight=1.0)
    async def bands(self, trace: vf.Trace) -> float:
        """1.0 for all bands, else partial credit for those in the right place."""
        named = colours(trace.last_reply.rpartition("</think>")[2])
        right = sum(a == b for a, b in zip(named, self.data.bands, strict=False))
        share = right / max(len(named), len(self.data.bands))
        # partial credit is damped towards the end: it is finishing that should pay
        return 1.0 if share == 1.0 else 2 * share * (1 - share)

    @vf.metric
    async def named(self, trace: vf.Trace) -> float:
        return float(len(colours(trace.last_reply)))


class ResistorConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    seed: int = 6


class Resistors(vf.Taskset[ResistorTask, ResistorConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            digits, power, tolerance = rng.randint(100, 999), rng.randint(0, 5), rng.choice(list(TOLERANCE))
            if digits % 10 == 0 or (digits, power, tolerance) in seen:
                continue
            seen.add((digits, power, tolerance))
            bands = [COLOURS[int(d)] for d in f"{digits}{power}"] + [TOLERANCE[tolerance]]
            ohms = digits * 10**power
            prompt = (
                f"Which colour bands does a five-band resistor of {ohms} ohms with a tolerance of {tolerance} % have? "
                "Name the five colours in order, separated by commas."
            )
            data = Resistor(prompt=prompt, ohms=ohms, tolerance=tolerance, bands=bands, answer=", ".join(bands))
            yield ResistorTask(data, self.config.task)
