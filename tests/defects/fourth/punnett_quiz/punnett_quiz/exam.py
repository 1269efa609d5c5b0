"""Crosses of one or two genes; four options, one letter, and a price for guessing."""

import itertools
import random
import re
from collections.abc import Iterator
from fractions import Fraction

import verifiers.v1 as vf
from pydantic import Field

PLANTS = {
    "pea": (("tall", "dwarf", "T"), ("round-seeded", "wrinkled", "R")),
    "snapdragon": (("hairy", "smooth", "H"), ("early", "late", "E")),
    "tomato": (("red", "yellow", "F"), ("spined", "spineless", "S")),
    "maize": (("purple", "white", "P"), ("starchy", "sweet", "U")),
}
LETTERS = "ABCD"
LETTER = re.compile(r"(?:answer\s?:?\s?)?[(\[*`]{0,4}([A-DX])[)\].*`]{0,4}", re.IGNORECASE)

EXAM = """This is an examination with negative marking. Each question has one right option among \
A, B, C and D. The right letter earns 1 point, a wrong one costs half a point, and the letter X, \
for a question that you leave out, earns 0. Whatever you write before, the last line of your reply \
is one letter and nothing else."""


def genotypes(gene: str) -> list[str]:
    return [gene * 2, gene + gene.lower(), gene.lower() * 2]


def recessive(mother: str, father: str) -> Fraction:
    """The share of offspring that shows the recessive form of one gene."""
    pairs = list(itertools.product(mother, father))
    return Fraction(sum(a.islower() and b.islower() for a, b in pairs), len(pairs))


class CrossData(vf.TaskData):
    cross: str
    share: str
    answer: str


class CrossTask(vf.Task[CrossData]):
    @vf.reward(weight=1.0)
    async def marked(self, trace: vf.Trace) -> float:
        """1.0 for the right letter, -0.5 for a wrong one, 0.0 for X or for no letter at all."""
        lines = [line.strip() for line in trace.last_reply.splitlines() if line.strip()]
        found = LETTER.fullmatch(lines[-1]) if lines and len(lines[-1]) < 40 else None
        if found is None or found[1].upper() == "X":
            return 0.0
        return 1.0 if found[1].upper() == self.data.answer else -0.5


class CrossConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=4, le=80)
    """How many questions; each letter is right equally often."""
    seed: int = 1866
    """The same seed gives the same paper."""


class PunnettQuiz(vf.Taskset[CrossTask, CrossConfig]):
    """Distinct crosses of two genes."""

    def load(self) -> Iterator[CrossTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            plant = rng.choice(list(PLANTS))
            (dom1, rec1, gene1), (dom2, rec2, gene2) = PLANTS[plant]
            mother = rng.choice(genotypes(gene1)), rng.choice(genotypes(gene2))
            father = rng.choice(genotypes(gene1)), rng.choice(genotypes(gene2))
            low1, low2 = rng.random() < 0.5, rng.random() < 0.5
            if (cross := (plant, mother, father, low1, low2)) in seen:
                continue
            share1, share2 = recessive(mother[0], father[0]), recessive(mother[1], father[1])
            share = (share1 if low1 else 1 - share1) * (share2 if low2 else 1 - share2)
            letter = LETTERS[len(seen) % 4]
            seen.add(cross)
            wrong = [Fraction(n, 16) for n in (0, 1, 2, 3, 4, 6, 8, 9, 12, 16)]
            others = rng.sample([other for other in wrong if other != share], 3)
            options = {key: others.pop() for key in LETTERS if key != letter} | {letter: share}
            listed = "\n".join(f"{key}) {options[key]}" for key in LETTERS)
            name = f"{''.join(mother)} x {''.join(father)}"
            data = CrossData(
                system_prompt=EXAM,
                prompt=(
                    f"In {plant} plants {dom1} ({gene1}) is dominant over {rec1} and {dom2} "
                    f"({gene2}) over {rec2}; the genes lie on different chromosomes. Which share "
                    f"of the offspring of the cross {name} is expected to be "
                    f"{rec1 if low1 else dom1} and {rec2 if low2 else dom2}?\n\n{listed}\nX) "
                    "leave out"
                ),
                cross=name,
                share=str(share),
                answer=letter,
            )
            yield CrossTask(data, self.config.task)
