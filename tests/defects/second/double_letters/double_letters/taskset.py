"""Lines of words drawn from a seed."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

DOUBLED = "apple balloon bottle butter coffee dinner egg funnel glass hammer kettle ladder letter mirror needle pebble puzzle rabbit saddle summer valley yellow".split()
PLAIN = "anchor basket candle desert engine forest garden helmet island jacket knight lemon marble napkin orange pencil quartz rocket silver turnip velvet window".split()
HOW_MANY = (0, 1, 2, 3)


class LineData(vf.TaskData):
    words: list[str]
    answer: str
    """The words to pick, separated by spaces; empty where there are none."""


class LineTask(vf.Task[LineData]):
    @vf.reward(weight=1.0)
    async def picked(self, trace: vf.Trace) -> float:
        """1.0 if the reply is exactly the words with a doubled letter, or empty if there are none."""
        reply = trace.last_reply.rsplit("</think>", 1)[-1]
        return float(reply.lower().split() == self.data.answer.split())


class LettersConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=1000)
    """How many lines; a quarter of them has no word to pick."""
    seed: int = 14
    """The same seed gives the same lines."""


class LettersTaskset(vf.Taskset[LineTask, LettersConfig]):
    def load(self) -> Iterator[LineTask]:
        rng = random.Random(self.config.seed)
        for index in range(self.config.num_tasks):
            count = HOW_MANY[index % len(HOW_MANY)]
            words = rng.sample(DOUBLED, count) + rng.sample(PLAIN, 6 - count)
            rng.shuffle(words)
            data = LineData(
                prompt=(
                    f"{' '.join(words)}\n\nWhich of these words have the same letter twice in a "
                    "row? Reply with those words alone, in their order and separated by single "
                    "spaces. If there are none, your reply must be completely empty."
                ),
                words=words,
                answer=" ".join(word for word in words if word in DOUBLED),
            )
            yield LineTask(data, self.config.task)
