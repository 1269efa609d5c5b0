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


def numbers(text: str) -> list[Decimal | str]:
    """The numbers that `text` names, in order; a malformed one ("1,2") stands for itself."""
    found: list[Decimal | str] = []
    for match in NUMERAL.finditer(text):
        numeral = match.group().rstrip(",.").replace("\u2212", "-")
        found.append(Decimal(numeral.replace(",", "")) if PLAIN.fullmatch(numeral) else numeral)
    return found


class SumsData(vf.TaskData):
    """One addition problem."""

    terms: list[int]
    answer: str


class SumsTask(vf.Task[SumsData]):
    """A reply commits to one number: it may restate the question, and ends with the sum."""

    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """1.0 if the last number in the reply is the sum and all others stand in the question.

        So an echo of the question and a list of guesses earn nothing, wherever the sum is in it.
        No term is the sum, since there are at least two and all are positive.
        """
        named = numbers(trace.last_reply)
        answer = Decimal(self.data.answer)
        allowed = {answer, *map(Decimal, self.data.terms)}
        return float(named[-1:] == [answer] and allowed.issuperset(named))

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
    max_term: int = Field(11, ge=1)
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
                prompt=f"What is the result of {question}? Please reply with only the number.",
                terms=list(terms),
                answer=str(sum(terms)),
            )
            yield SumsTask(data, self.config.task)
