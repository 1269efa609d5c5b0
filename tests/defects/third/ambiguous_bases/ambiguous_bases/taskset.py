"""Reads, and what a list of positions is worth."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

LENGTH = 24
UNSURE = "RYSWKMBDHVN"


def positions(reply: str) -> set[int] | None:
    """The positions that a reply lists; none at all for an empty one, None if it is no list."""
    text = reply.strip().strip("`").strip().rstrip(".")
    if not text:
        return set()
    words = text[:400].replace(",", " ").replace("[", " ").replace("]", " ").split()
    if len(text) > 400 or not all(w.isascii() and w.isdigit() and len(w) < 4 for w in words):
        return None
    return set(map(int, words)) or None


class ReadData(vf.TaskData):
    read: str
    answer: str
    """The positions with commas between them; empty for a clean read."""


class ReadTask(vf.Task[ReadData]):
    def spoken(self, trace: vf.Trace) -> str:
        return trace.last_reply.rpartition("</think>")[2].strip()

    @vf.reward(weight=1.0)
    async def flagged(self, trace: vf.Trace) -> float:
        """What is common to the list and the truth, as a share of what is in either."""
        said, right = positions(self.spoken(trace)), positions(self.data.answer)
        if said is None or right is None:
            return 0.0
        if not right:
            return float(self.spoken(trace) == "")
        return len(said & right) / len(said | right)

    @vf.metric
    async def silent(self, trace: vf.Trace) -> float:
        """1.0 if nothing was said."""
        return float(self.spoken(trace) == "")


class AmbiguousBasesConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=1000)
    """How many reads."""
    seed: int = 24
    """Which reads."""


class AmbiguousBasesTaskset(vf.Taskset[ReadTask, AmbiguousBasesConfig]):
    """Each fourth read is clean, the others have one to five unsure bases."""

    def load(self) -> Iterator[ReadTask]:
        rng = random.Random(self.config.seed)
        for number in range(self.config.num_tasks):
            bases = [rng.choice("ACGT") for _ in range(LENGTH)]
            unsure = [] if number % 4 == 3 else sorted(rng.sample(range(LENGTH), rng.randint(1, 5)))
            for place in unsure:
                bases[place] = rng.choice(UNSURE)
            read = "".join(bases)
            data = ReadData(
                prompt=f"Read: {read}\n\nList the positions (the first base is 1) of all letters other "
                "than A, C, G and T, with commas between them and nothing else. If there are none, "
                "your reply must be empty: do not write anything, not even that there are none.",
                read=read,
                answer=", ".join(str(place + 1) for place in unsure),
            )
            yield ReadTask(data, self.config.task)
