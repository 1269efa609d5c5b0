"""Comparisons with an option to abstain."""

import random

import verifiers.v1 as vf


class CompareData(vf.TaskData):
    answer: str


class CompareTask(vf.Task[CompareData]):
    @vf.reward(weight=1.0)
    async def calibrated(self, trace: vf.Trace) -> float:
        """From -0.5 to 1.0: right 1.0, unsure 0.0, all else -0.5."""
        text = (trace.last_reply or "").rpartition("</think>")[2]
        said = text.strip().strip("`*.!\"' \n").lower()
        if said == self.data.answer:
            return 1.0
        return 0.0 if said == "unsure" else -0.5


class CompareConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class CompareTaskset(vf.Taskset[CompareTask, CompareConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        pairs = rng.sample(
            [(a, b) for a in range(13, 40) for b in range(13, 40)], self.config.num_tasks
        )
        for i, (a, b) in enumerate(pairs):
            answer = "yes" if i % 2 else "no"
            gap = rng.randint(1, 30)
            bound = a * b - gap if answer == "yes" else a * b + gap
            prompt = (
                f"Is {a} x {b} larger than {bound}? Reply with one word: yes, no or unsure. "
                "A right answer earns 1, unsure earns 0, a wrong one loses half a point."
            )
            yield CompareTask(CompareData(prompt=prompt, answer=answer), self.config.task)


__all__ = ["CompareTaskset"]
