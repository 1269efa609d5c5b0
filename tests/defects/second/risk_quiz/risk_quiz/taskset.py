"""Questions with a stake: right 1, pass 0, wrong -0.5."""

import random
import re

import verifiers.v1 as vf
from pydantic import Field

NUMERAL = re.compile(r"-?[0-9][0-9,.]*")
RIGHT, PASSED, WRONG = 1.0, 0.0, -0.5


def numerals(text: str) -> list[str]:
    """The numbers in `text`; 12.0 and 12. are 12."""
    return [re.sub(r"\.0+$", "", n.rstrip(".,")) for n in NUMERAL.findall(text)]


class Question(vf.TaskData):
    answer: str


class QuestionTask(vf.Task[Question]):
    def has_passed(self, trace: vf.Trace) -> bool:
        return self.final(trace).strip(" .*`\"'").upper() == "PASS"

    @staticmethod
    def final(trace: vf.Trace) -> str:
        return trace.last_reply.rpartition("</think>")[2]

    @vf.reward(weight=1.0)
    async def stake(self, trace: vf.Trace) -> float:
        """1.0 right, 0.0 passed, -0.5 otherwise. The last number counts; others must be the question's."""
        if self.has_passed(trace):
            return PASSED
        said = numerals(self.final(trace))
        known = {*numerals(self.data.prompt_text), self.data.answer}
        return RIGHT if said[-1:] == [self.data.answer] and known.issuperset(said) else WRONG

    @vf.metric
    async def passed(self, trace: vf.Trace) -> float:
        return float(self.has_passed(trace))


class QuizConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=1000)
    seed: int = 31


class RiskQuiz(vf.Taskset[QuestionTask, QuizConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            a, b = rng.randint(101, 999), rng.randint(101, 999)
            rest = a * b % 97
            if (a, b) in seen or rest == 1:
                continue
            seen.add((a, b))
            prompt = (
                f"You win a point for a right answer, lose half a point for a wrong one and get nothing for PASS. Give the "
                f"remainder of {a} times {b} divided by 97. Reply with the number alone, or PASS."
            )
            yield QuestionTask(Question(prompt=prompt, answer=str(rest)), self.config.task)
