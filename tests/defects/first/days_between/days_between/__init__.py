"""Days between two dates."""

import datetime as dt
import random

import verifiers.v1 as vf

EPOCH = dt.date(2021, 1, 1)


def block(text: str) -> str | None:
    """The number in the only answer block; None if there is none or more than one."""
    if text.count("<answer>") != 1 or text.count("</answer>") != 1:
        return None
    content = text.partition("<answer>")[2].partition("</answer>")[0].lower().replace(",", "")
    content = content.strip("*. ").removesuffix("days").strip().removesuffix(".0")
    return content if content.isdecimal() else None


class DaysData(vf.TaskData):
    first: str
    second: str
    answer: int


class DaysTask(vf.Task[DaysData]):
    def content(self, trace):
        return block((trace.last_reply or "").rpartition("</think>")[2])

    @vf.reward(weight=0.5)
    async def layout(self, trace: vf.Trace) -> float:
        return 1.0 if self.content(trace) is not None else 0.0

    @vf.reward(weight=0.3)
    async def brevity(self, trace: vf.Trace) -> float:
        if self.content(trace) is None:
            return 0.0
        return 1.0 if len(trace.last_reply.split()) <= 150 else 0.0

    @vf.reward(weight=0.2)
    async def correct(self, trace: vf.Trace) -> float:
        return 1.0 if self.content(trace) == str(self.data.answer) else 0.0


class DaysConfig(vf.TasksetConfig):
    num_tasks: int = 50
    seed: int = 11


class DaysTaskset(vf.Taskset[DaysTask, DaysConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for gap in rng.sample(range(3, 700), self.config.num_tasks):
            first = EPOCH + dt.timedelta(days=rng.randrange(900))
            second = first + dt.timedelta(days=gap)
            prompt = (
                f"How many days are there from {first.isoformat()} to {second.isoformat()}? "
                "Think it through if you like, then give the number between <answer> and </answer>."
            )
            data = DaysData(
                prompt=prompt, first=first.isoformat(), second=second.isoformat(), answer=gap
            )
            yield DaysTask(data, self.config.task)


__all__ = ["DaysTaskset"]
