"""Remainders."""

import random
import re

import verifiers.v1 as vf

BOX = re.compile(r"\\boxed\{([^{}]{0,40})\}")


class RemainderData(vf.TaskData):
    answer: str


class RemainderTask(vf.Task[RemainderData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        boxed = {content.strip(" $").removesuffix(".0") for content in BOX.findall(text)}
        return float(boxed == {self.data.answer})


class RemainderConfig(vf.TasksetConfig):
    num_tasks: int = 60
    seed: int = 0


class RemainderTaskset(vf.Taskset[RemainderTask, RemainderConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        pairs = [(n, d) for n in range(100, 400) for d in range(6, 17)]
        for n, d in rng.sample(pairs, self.config.num_tasks):
            prompt = f"What is the remainder of {n} divided by {d}? Put the result in \\boxed{{}}."
            yield RemainderTask(RemainderData(prompt=prompt, answer=str(n % d)), self.config.task)


__all__ = ["RemainderTaskset"]
