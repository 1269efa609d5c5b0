"""Alphabetical order, in points."""

import random

import verifiers.v1 as vf

WORDS = """harp flute drum cello tuba viola organ banjo lute fiddle gong zither cymbal trumpet
clarinet oboe piano guitar""".split()


class SortData(vf.TaskData):
    words: list[str]
    answer: str


class SortTask(vf.Task[SortData]):
    @vf.reward(weight=1.0)
    async def points(self, trace: vf.Trace) -> float:
        """From 0 to 3 points: 3 for the right order, 1 with one pair of neighbours swapped."""
        text = (trace.last_reply or "").rpartition("</think>")[2].replace("`", "").lower()
        said = [part.strip(" .*-\n") for part in text.split(",")]
        right = self.data.answer.split(", ")
        if sorted(said) != sorted(right):
            return 0.0
        if said == right:
            return 3.0
        swapped = [right[:i] + [right[i + 1], right[i]] + right[i + 2 :] for i in range(3)]
        return 1.0 if said in swapped else 0.0


class SortConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class SortTaskset(vf.Taskset[SortTask, SortConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            words = rng.sample(WORDS, 4)
            right = sorted(words)
            if frozenset(words) in seen or sum(a != b for a, b in zip(words, right)) < 3:
                continue
            seen.add(frozenset(words))
            prompt = (
                f"Put these words into alphabetical order: {', '.join(words)}.\n"
                "Reply with the four words, separated by commas, and nothing else."
            )
            yield SortTask(
                SortData(prompt=prompt, words=words, answer=", ".join(right)), self.config.task
            )


__all__ = ["SortTaskset"]
