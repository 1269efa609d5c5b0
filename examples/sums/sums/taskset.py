"""Single-turn addition: how the problems are drawn, and what a reply is worth."""

import random
import re
from collections.abc import Iterator
from decimal import Decimal

import verifiers.v1 as vf
from pydantic import Field, model_validator

# A numeral is taken whole, so that "112" and "12.5" are never read as 12. A minus sign after a
# digit is a subtraction, not a sign.
NUMERAL = re.compile(r"(?:(?<![0-9])[-\u2212])?[0-9][0-9,.]*")
PLAIN = re.compile(r"-?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")


def numbers(text: str) -> set[Decimal | str]:
    """The distinct numbers that `text` names; a malformed numeral ("1,2") stands for itself."""
    found: set[Decimal | str] = set()
    for match in NUMERAL.finditer(text):
        numeral = match.group().rstrip(",.").replace("\u2212", "-")
        found.add(Decimal(numeral.replace(",", "")) if PLAIN.fullmatch(numeral) else numeral)
    return found


class SumsData(vf.TaskData):
    """One addition problem."""

    terms: list[int]
    answer: str


class SumsTask(vf.Task[SumsData]):
    """The terms may be repeated, the sum must be named, and no other number may be."""

    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """1.0 if the only number in the reply that is not in the question is the answer.

        So a reply commits to one number: a list of guesses and an echo of the question earn
        nothing. No term is the answer, since there are at least two and all are positive.
        """
        named = numbers(trace.last_reply) - {Decimal(term) for term in self.data.terms}
        return float(named == {Decimal(self.data.answer)})

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        """1.0 if the reply holds any number at all: tells a refusal from a wrong sum."""
        return float(bool(numbers(trace.last_reply)))


class SumsConfig(vf.TasksetConfig):
    """How many problems there are and how hard they are."""

    num_tasks: int = Field(100, ge=1)
    """How many problems to draw; no two are the same."""
    seed: int = 0
    """The same seed and settings give the same problems."""
    terms: int = Field(2, ge=2)
    """How many numbers are added."""
    max_term: int = Field(20, ge=1)
    """Each term lies between 1 and this."""

    @model_validator(mode="after")
    def _enough_problems(self) -> "SumsConfig":
        if self.num_tasks > self.max_term**self.terms:
            raise ValueError(
                f"{self.num_tasks} problems are asked for, but only "
                f"{self.max_term**self.terms} differ: raise max_term or terms"
            )
        return self


class SumsTaskset(vf.Taskset[SumsTask, SumsConfig]):
    """Distinct addition problems, in an order that depends on the seed alone."""

    def load(self) -> Iterator[SumsTask]:
        """Draw terms until there are enough distinct problems; the order of terms counts."""
        rng = random.Random(self.config.seed)
        seen: set[tuple[int, ...]] = set()
        while len(seen) < self.config.num_tasks:
            terms = tuple(rng.randint(1, self.config.max_term) for _ in range(self.config.terms))
            if terms in seen:
                continue
            seen.add(terms)
            question = " + ".join(map(str, terms))
            data = SumsData(
                prompt=f"What is {question}? Reply with the sum only.",
                terms=list(terms),
                answer=str(sum(terms)),
            )
            yield SumsTask(data, self.config.task)
