"""Swahili noun classes: five nouns, five plurals."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

PLURALS = {
    "mtu": "watu", "mtoto": "watoto", "mwalimu": "walimu", "mgeni": "wageni", "mkulima": "wakulima",
    "mpishi": "wapishi", "kitabu": "vitabu", "kiti": "viti", "kisu": "visu", "kikombe": "vikombe",
    "kijiji": "vijiji", "chakula": "vyakula", "chumba": "vyumba", "mti": "miti", "mlima": "milima",
    "mto": "mito", "mkono": "mikono", "mguu": "miguu", "mwaka": "miaka", "mji": "miji",
    "tunda": "matunda", "gari": "magari", "jicho": "macho", "jino": "meno", "jina": "majina",
    "yai": "mayai", "duka": "maduka", "shamba": "mashamba",
}
SIZE = 5


class NounsData(vf.TaskData):
    nouns: list[str]
    target: str


class NounsTask(vf.Task[NounsData]):
    """One plural per line, in the order of the question."""

    @vf.reward(weight=1.0)
    async def plurals(self, trace: vf.Trace) -> float:
        """Share of the lines that are right, from 0 to 1; one noun of each task counts threefold.

        Which one depends on the name of the task alone, so that it stays the same for all replies.
        """
        text = trace.last_reply.rpartition("</think>")[2]
        lines = [line.strip(" \t-*`.,\u2022").casefold() for line in text.splitlines()]
        said = [line for line in lines if line]
        wanted = self.data.target.splitlines()
        if len(said) != len(wanted):
            return 0.0
        weights = [1] * len(wanted)
        weights[hash(self.data.name) % len(wanted)] = 3
        earned = sum(w for w, a, b in zip(weights, said, wanted) if a == b)
        return earned / sum(weights)


class NounsConfig(vf.TasksetConfig):
    num_tasks: int = Field(32, ge=1, le=500)
    """How many lists of nouns."""
    seed: int = 6
    """The same seed gives the same lists."""


class SwahiliTaskset(vf.Taskset[NounsTask, NounsConfig]):
    """Lists of five nouns of several classes."""

    def load(self) -> Iterator[NounsTask]:
        rng = random.Random(self.config.seed)
        seen: set[frozenset[str]] = set()
        while len(seen) < self.config.num_tasks:
            nouns = rng.sample(sorted(PLURALS), SIZE)
            if frozenset(nouns) in seen:
                continue
            seen.add(frozenset(nouns))
            prompt = (
                f"Give the plural of each of these Swahili nouns: {', '.join(nouns)}. Write the plurals "
                "alone, one per line, in this order."
            )
            data = NounsData(
                name=f"nouns-{len(seen):03}",
                prompt=prompt,
                nouns=nouns,
                target="\n".join(PLURALS[noun] for noun in nouns),
            )
            yield NounsTask(data, self.config.task)


__all__ = ["SwahiliTaskset"]
