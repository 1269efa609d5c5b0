"""Single-turn puzzles from a generator of reasoning-gym, scored by the generator itself."""

import difflib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import reasoning_gym
import verifiers.v1 as vf
from pydantic import Field, field_validator
from reasoning_gym.factory import DATASETS

REQUEST = "Write your final answer, and nothing else, between <answer> and </answer>."
OPENS, CLOSES = "<answer>", "</answer>"


@lru_cache(maxsize=8)
def generator(dataset: str, seed: int, size: int) -> Any:
    return reasoning_gym.create_dataset(dataset, seed=seed, size=size)


def answer_in(reply: str) -> str | None:
    """What the reply commits to: the content of its last pair of tags; None without one."""
    # Split, not matched: a pattern would look for the end anew at each tag that is never closed.
    for piece in reversed(reply.split(CLOSES)[:-1]):
        _, opened, said = piece.partition(OPENS)
        if opened:
            return said.strip()
    return None


class ReasoningData(vf.TaskData):
    """One puzzle: where the generator finds it again, and its answer where there is one."""

    dataset: str
    seed: int
    size: int
    position: int
    answer: str | None


class ReasoningTask(vf.Task[ReasoningData]):
    """The puzzle is drawn again to be scored: what a generator keeps of it is not all JSON."""

    @vf.reward(weight=1.0)
    async def worth(self, trace: vf.Trace) -> float:
        """The generator's own score of the answer; 0.0 without one, whatever it would pay."""
        answer = answer_in(trace.last_reply or "")
        if answer is None:
            return 0.0
        drawn = generator(self.data.dataset, self.data.seed, self.data.size)
        entry = drawn[self.data.position]
        if entry["answer"] != self.data.answer:
            raise RuntimeError(f"{self.data.dataset} draws another puzzle from the same seed")
        return float(drawn.score_answer(answer, entry))

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        """1.0 if the reply has an answer between the tags: tells a bad form from a wrong answer."""
        return float(answer_in(trace.last_reply or "") is not None)


class ReasoningConfig(vf.TasksetConfig):
    """Which puzzles there are."""

    dataset: str = "chain_sum"
    """The generator, by reasoning-gym's name."""
    seed: int = Field(0, ge=0)
    """The same generator and seed give the same puzzles."""
    size: int = Field(100, ge=1)
    """How many puzzles to draw."""

    @field_validator("dataset")
    @classmethod
    def _is_known(cls, name: str) -> str:
        if name not in DATASETS:
            near = ", ".join(difflib.get_close_matches(name, DATASETS)) or "chain_sum"
            raise ValueError(f"reasoning-gym has no generator {name!r}; it has, for one, {near}")
        return name


class ReasoningTaskset(vf.Taskset[ReasoningTask, ReasoningConfig]):
    """The puzzles of one generator, in its own order."""

    def load(self) -> Iterator[ReasoningTask]:
        """Draw them one by one."""
        config = self.config
        drawn = generator(config.dataset, config.seed, config.size)
        for position in range(config.size):
            entry = drawn[position]
            data = ReasoningData(
                prompt=f"{entry['question']}\n\n{REQUEST}",
                dataset=config.dataset,
                seed=config.seed,
                size=config.size,
                position=position,
                answer=entry["answer"],
            )
            yield ReasoningTask(data, config.task)
