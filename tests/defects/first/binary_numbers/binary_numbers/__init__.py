"""Binary numbers."""

import random

import verifiers.v1 as vf


class BinaryData(vf.TaskData):
    answer: str


class BinaryTask(vf.Task[BinaryData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """1.0 for the right digits, with or without a prefix or leading zeros."""
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*$. \n").lower().replace(" ", "").removeprefix("0b")
        return 1.0 if said.lstrip("0") == self.data.answer else 0.0


class BinaryConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class BinaryTaskset(vf.Taskset[BinaryTask, BinaryConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for number in rng.sample(range(5, 500), self.config.num_tasks):
            prompt = f"Write {number} in binary. Reply with the binary digits only."
            yield BinaryTask(BinaryData(prompt=prompt, answer=f"{number:b}"), self.config.task)


__all__ = ["BinaryTaskset"]
