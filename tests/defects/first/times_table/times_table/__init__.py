"""Small products."""

import random

import verifiers.v1 as vf


class TimesData(vf.TaskData):
    answer: int


class TimesTask(vf.Task[TimesData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2].strip().strip("`*$. \n")
        return float(text.removesuffix(".0") == str(self.data.answer))


class TimesConfig(vf.TasksetConfig):
    num_tasks: int = 48
    seed: int = 0


class TimesTaskset(vf.Taskset[TimesTask, TimesConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            a, b = rng.randint(4, 9), rng.randint(4, 9)
            yield TimesTask(
                TimesData(
                    prompt=f"What is {a} times {b}? Reply with only the number.", answer=a * b
                ),
                self.config.task,
            )


__all__ = ["TimesTaskset"]
