"""Readings on a lab bench."""

import math
import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf

NUMBER = re.compile(r"-?[0-9][0-9,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")
TOLERANCE = 0.01


def reading(text: str) -> float:
    """The last number in `text`; not a number if there is none."""
    found = NUMBER.findall(text)
    return float(found[-1].replace(",", "")) if found else math.nan


class Experiment(vf.TaskData):
    target: str
    unit: str


class ExperimentTask(vf.Task[Experiment]):
    @vf.reward(weight=1.0)
    async def measured(self, trace: vf.Trace) -> float:
        """1.0 within the tolerance that the question states, else 0.0."""
        truth = float(self.data.target)
        if abs(reading(trace.last_reply) - truth) > TOLERANCE * truth:
            return 0.0
        return 1.0


class LabConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 13


def experiment(rng: random.Random) -> tuple[str, float, str]:
    kind = rng.randrange(4)
    if kind == 0:
        volts, ohms = rng.randint(6, 48), rng.randint(11, 470)
        return f"A resistor of {ohms} ohms lies at {volts} volts. What current flows, in milliamperes?", 1000 * volts / ohms, "mA"
    if kind == 1:
        amps, ohms = rng.randint(2, 15), rng.randint(3, 60)
        return f"A current of {amps} A flows through {ohms} ohms. What is the power, in watts?", amps**2 * ohms, "W"
    if kind == 2:
        length = rng.randint(20, 400)
        return f"What is the period of a pendulum of {length} cm, in seconds, with g = 9.81 m/s^2?", 2 * math.pi * math.sqrt(length / 981), "s"
    grams, volume = rng.randint(150, 4000), rng.randint(20, 400)
    return f"A stone of {grams} g displaces {volume} ml of water. What is its density, in g/ml?", grams / volume, "g/ml"


class LabTaskset(vf.Taskset[ExperimentTask, LabConfig]):
    def load(self) -> Iterator[ExperimentTask]:
        rng = random.Random(self.config.seed)
        seen: set[str] = set()
        while len(seen) < self.config.num_tasks:
            question, value, unit = experiment(rng)
            if question in seen:
                continue
            seen.add(question)
            prompt = f"{question} Finish with the number; an answer within 1 % is accepted."
            yield ExperimentTask(Experiment(prompt=prompt, target=f"{value:.5g}", unit=unit), self.config.task)
