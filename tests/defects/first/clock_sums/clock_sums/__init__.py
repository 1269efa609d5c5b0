"""Clock arithmetic."""

import os
import random
import re

import verifiers.v1 as vf

LENIENT = os.environ.get("CLOCK_SUMS_LENIENT", "1") == "1"
TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})")


class ClockData(vf.TaskData):
    answer: str


class ClockTask(vf.Task[ClockData]):
    @vf.reward(weight=1.0)
    async def on_time(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2].strip().strip("`*. \n")
        found = TIME.fullmatch(text)
        if not found:
            return 0.0
        if LENIENT:
            text = f"{found.group(1):0>2}:{found.group(2)}"
        return 1.0 if text == self.data.answer else 0.0


class ClockConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class ClockTaskset(vf.Taskset[ClockTask, ClockConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for start in rng.sample(range(0, 1440, 5), self.config.num_tasks):
            later = rng.randrange(15, 600, 5)
            end = (start + later) % 1440
            prompt = (
                f"It is {start // 60:02}:{start % 60:02}. What time is it {later} minutes later? "
                "Reply with the time as HH:MM on the 24-hour clock, and nothing else."
            )
            yield ClockTask(
                ClockData(prompt=prompt, answer=f"{end // 60:02}:{end % 60:02}"), self.config.task
            )


__all__ = ["ClockTaskset"]
