"""Short DNA strands with one open reading frame, and how a translation is checked."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

BASES = "TCAG"
AMINO = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODE = {a + b + c: AMINO[16 * i + 4 * j + k]
        for i, a in enumerate(BASES) for j, b in enumerate(BASES) for k, c in enumerate(BASES)}
STOPS = sorted(codon for codon, acid in CODE.items() if acid == "*")
SENSE = sorted(codon for codon, acid in CODE.items() if acid != "*")

OPEN, CLOSE = "<protein>", "</protein>"


def tagged(text: str) -> str:
    """What stands between the last pair of tags, or nothing."""
    start = text.rfind(OPEN)
    end = text.find(CLOSE, start)
    return text[start + len(OPEN) : end] if 0 <= start < end else ""


class FrameData(vf.TaskData):
    strand: str
    answer: str


class FrameTask(vf.Task[FrameData]):
    """The protein stands between tags, in one-letter code."""

    @vf.reward(weight=0.95)
    async def protein(self, trace: vf.Trace) -> float:
        """1.0 for the protein of the frame.

        Spaces or hyphens between residues and a star for the stop are accepted, and so are
        residues that a reader adds before the start or after the stop; two sequences are not.
        """
        said = tagged(trace.last_reply).strip().upper()
        if re.fullmatch(r"[A-Z](?:[ -][A-Z])*", said):
            said = said.replace(" ", "").replace("-", "")
        runs = re.findall(r"[A-Z]+", said)
        return float(len(runs) == 1 and self.data.answer in runs[0])

    @vf.reward(weight=0.05)
    async def tags(self, trace: vf.Trace) -> float:
        """1.0 if there is one pair of tags with something in it."""
        reply = trace.last_reply
        once = reply.count(OPEN) == reply.count(CLOSE) == 1
        return float(once and bool(tagged(reply).strip()))


class PeptideConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=1000)
    """How many strands."""
    seed: int = 5
    """The same seed gives the same strands."""


class PeptideTaskset(vf.Taskset[FrameTask, PeptideConfig]):
    """Strands whose first ATG opens a frame that is closed by a stop."""

    def load(self) -> Iterator[FrameTask]:
        rng = random.Random(self.config.seed)
        proteins: set[str] = set()
        while len(proteins) < self.config.num_tasks:
            leader = "".join(rng.choices(BASES, k=rng.randint(3, 9)))
            codons = ["ATG", *rng.choices(SENSE, k=rng.randint(5, 8))]
            strand = leader + "".join(codons) + rng.choice(STOPS)
            strand += "".join(rng.choices(BASES, k=rng.randint(2, 7)))
            protein = "".join(CODE[codon] for codon in codons)
            if strand.find("ATG") != len(leader) or protein in proteins:
                continue
            proteins.add(protein)
            prompt = (
                f"DNA, coding strand, 5' to 3':\n\n{strand}\n\nTranslate the open reading frame from "
                "the first ATG to the first stop codon in frame (standard code). Write the protein in "
                f"one-letter code between {OPEN} and {CLOSE}."
            )
            yield FrameTask(FrameData(prompt=prompt, strand=strand, answer=protein), self.config.task)
