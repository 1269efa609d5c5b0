"""Who is the oldest?"""

import random
import re
from itertools import permutations

import verifiers.v1 as vf

NAMES = ["Ada", "Boris", "Clara", "Dario", "Edith"]
LINE = re.compile(r"^[ *]{0,4}answer[ *]{0,4}:[ *]{0,4}([a-z]{1,20})[ *.!]{0,4}$", re.I | re.M)


class AgeData(vf.TaskData):
    answer: str


class AgeTask(vf.Task[AgeData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        reply = (trace.last_reply or "").rpartition("</think>")[2]
        found = {name.lower() for name in LINE.findall(reply)}
        return float(found == {self.data.answer.lower()})

    @vf.reward(weight=-0.2)
    async def rambling(self, trace: vf.Trace) -> float:
        """0.0 up to 80 words, 1.0 from 400 on: a cost, hence the negative weight."""
        words = len((trace.last_reply or "").split())
        return min(1.0, max(0.0, (words - 80) / 320))


class AgeConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 0


class AgeTaskset(vf.Taskset[AgeTask, AgeConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        for a, b, c in rng.sample(list(permutations(NAMES, 3)), self.config.num_tasks):
            facts = [f"{a} is older than {b}.", f"{c} is younger than {b}."]
            rng.shuffle(facts)
            prompt = (
                f"{' '.join(facts)} Who is the oldest of the three? Reason briefly, and end with "
                "a line of the form\nAnswer: <name>"
            )
            yield AgeTask(AgeData(prompt=prompt, answer=a), self.config.task)


__all__ = ["AgeTaskset"]
