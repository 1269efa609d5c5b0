"""Headlines in title case."""

import random

import verifiers.v1 as vf

SMALL = {"a", "an", "the", "and", "of", "in", "to", "at", "on", "for"}
SYSTEM = (
    "Rewrite the user's headline in title case: capitalise the first word and every other word except "
    "a, an, the, and, of, in, to, at, on, for. Reply with the headline only."
)
WHO = ["the mayor", "a young painter", "an old friend of the king", "the night train", "nobody"]
WHAT = ["returns to", "writes a song for", "opens the doors of", "looks at", "waits on"]
WHERE = [
    "the city library",
    "a village in the north",
    "the last bridge",
    "an island and its people",
]


def title(text: str) -> str:
    first, *rest = text.split()
    return " ".join([first.capitalize(), *(w if w in SMALL else w.capitalize() for w in rest)])


def plain(text: str) -> str:
    """Without what does not matter: marks around the headline, extra blanks."""
    return " ".join(text.rpartition("</think>")[2].strip().strip("`*.\"' \n").casefold().split())


class HeadlineData(vf.TaskData):
    target: str


class HeadlineTask(vf.Task[HeadlineData]):
    @vf.reward
    async def titled(self, trace: vf.Trace) -> float:
        return float(plain(trace.last_reply or "") == plain(self.data.target))


class HeadlineConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class HeadlineTaskset(vf.Taskset[HeadlineTask, HeadlineConfig]):
    def load(self):
        headlines = [f"{a} {b} {c}" for a in WHO for b in WHAT for c in WHERE]
        for headline in random.Random(self.config.seed).sample(headlines, self.config.num_tasks):
            data = HeadlineData(system_prompt=SYSTEM, prompt=headline, target=title(headline))
            yield HeadlineTask(data, self.config.task)


__all__ = ["HeadlineTaskset"]
