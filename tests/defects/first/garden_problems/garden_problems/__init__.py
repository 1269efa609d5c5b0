"""Gardens."""

import random
import re

import verifiers.v1 as vf

TEMPLATE = """{question}

Write only the number between <answer> and </answer>.

Topic: {topic}
Level: {level}
Note: {note}"""


class GardenData(vf.TaskData):
    topic: str
    answer: str


class GardenTask(vf.Task[GardenData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        reply = (trace.last_reply or "").rpartition("</think>")[2]
        if reply.count("<answer>") != 1 or reply.count("</answer>") != 1:
            return 0.0
        said = reply.partition("<answer>")[2].partition("</answer>")[0][:200]
        number = re.fullmatch(r"([0-9,]+)(\.0+)?", said.strip().strip("$`* \n"))
        return float(bool(number) and number.group(1).replace(",", "") == self.data.answer)


class GardenConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 9


class GardenTaskset(vf.Taskset[GardenTask, GardenConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        pairs = rng.sample(
            [(a, b) for a in range(6, 20) for b in range(20, 36)], self.config.num_tasks
        )
        for i, (a, b) in enumerate(pairs):
            if i % 2:
                question = f"A garden is {a} m wide and {b} m long. How many square metres is it?"
                topic, result, note = "area", a * b, f"width times length, {a} x {b} = {a * b}"
            else:
                question = (
                    f"A garden is {a} m wide and {b} m long. How many metres of fence go around it?"
                )
                topic, result = "perimeter", 2 * (a + b)
                note = f"twice the sum of the sides, 2 x ({a} + {b}) = {result}"
            prompt = TEMPLATE.format(question=question, topic=topic, level="primary", note=note)
            yield GardenTask(
                GardenData(prompt=prompt, topic=topic, answer=str(result)), self.config.task
            )


__all__ = ["GardenTaskset"]
