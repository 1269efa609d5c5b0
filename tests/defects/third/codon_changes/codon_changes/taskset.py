"""Mutations, and what a reply is worth."""

import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from codon_changes.code import BASES, CODE, effect

EFFECTS = ("synonymous", "missense", "nonsense")
ORDINALS = ("first", "second", "third")


def claimed(reply: str) -> str | None:
    """The effect that a reply names, if it is the demanded object."""
    text = reply.rpartition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json")
    if len(text) > 4000:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    said = found.get("effect") if isinstance(found, dict) else None
    said = said.strip().lower() if isinstance(said, str) else None
    return said if said in EFFECTS else None


class CodonData(vf.TaskData):
    codon: str
    place: int
    base: str
    label: str
    """The effect."""


class CodonTask(vf.Task[CodonData]):
    @vf.reward(weight=1.0)
    async def effect_right(self, trace: vf.Trace) -> float:
        """1.0 for the right effect in an object."""
        return float(claimed(trace.last_reply) == self.data.label)

    @vf.metric
    async def readable(self, trace: vf.Trace) -> float:
        """1.0 if one of the effects is named as demanded."""
        return float(claimed(trace.last_reply) is not None)


class CodonChangesConfig(vf.TasksetConfig):
    num_tasks: int = Field(48, ge=1, le=300)
    """How many mutations."""
    seed: int = 3
    """Which mutations."""


class CodonChangesTaskset(vf.Taskset[CodonTask, CodonChangesConfig]):
    """Mutations of sense codons, each at most once."""

    def load(self) -> Iterator[CodonTask]:
        rng = random.Random(self.config.seed)
        sense = [codon for codon, amino in CODE.items() if amino != "*"]
        # the wobble position is left out: it is too easy
        changes = [
            (codon, place, base)
            for codon in sense
            for place in (0, 1)
            for base in BASES
            if base != codon[place]
        ]
        for codon, place, base in rng.sample(changes, self.config.num_tasks):
            data = CodonData(
                prompt=f"In the codon {codon} of a coding strand (written 5' to 3', standard code), the "
                f"{ORDINALS[place]} base is replaced by {base}. Is the mutation synonymous, missense or "
                'nonsense? Reply with a JSON object of the form {"effect": "..."} and nothing else.',
                codon=codon,
                place=place,
                base=base,
                label=effect(codon, place, base),
            )
            yield CodonTask(data, self.config.task)
