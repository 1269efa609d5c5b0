"""Patterns taken from common words, so that each has a solution."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from word_fitting.words import COMMON, is_english


class PatternData(vf.TaskData):
    begins: str
    ends: str
    length: int
    answer: str
    """One word that fits; others are as good."""


class PatternTask(vf.Task[PatternData]):
    @vf.reward(weight=1.0)
    async def fits(self, trace: vf.Trace) -> float:
        """1.0 if the reply is one English word that fits the pattern."""
        word = trace.last_reply.rsplit("</think>", 1)[-1].strip().strip("`*\"'.").lower()
        if len(word) != self.data.length or not (word.isascii() and word.isalpha()):
            return 0.0
        if not (word.startswith(self.data.begins) and word.endswith(self.data.ends)):
            return 0.0
        return float(await is_english(word))


class FittingConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=60)
    """How many patterns; no two are the same."""
    seed: int = 1
    """The same seed gives the same patterns."""


class FittingTaskset(vf.Taskset[PatternTask, FittingConfig]):
    def load(self) -> Iterator[PatternTask]:
        patterns: dict[tuple[str, str, int], str] = {}
        for word in sorted(COMMON):
            patterns.setdefault((word[:2], word[-1], len(word)), word)
        drawn = random.Random(self.config.seed).sample(sorted(patterns), self.config.num_tasks)
        for begins, ends, length in drawn:
            data = PatternData(
                prompt=(
                    f'Give one English word of {length} letters that begins with "{begins}" and '
                    f'ends with "{ends}". Reply with the word alone.'
                ),
                begins=begins,
                ends=ends,
                length=length,
                answer=patterns[begins, ends, length],
            )
            yield PatternTask(data, self.config.task)
