"""Balanced or not."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

PAIRS = {"(": ")", "[": "]", "{": "}"}
ANSWER = re.compile(r"<answer>\s{0,20}([a-z]{1,10})[.!]?\s{0,20}</answer>", re.IGNORECASE)


def balanced(text: str) -> bool:
    waiting = []
    for sign in text:
        if sign in PAIRS:
            waiting.append(PAIRS[sign])
        elif not waiting or waiting.pop() != sign:
            return False
    return not waiting


def grow(rng: random.Random, pairs: int) -> str:
    if pairs == 0:
        return ""
    inner = rng.randrange(pairs)
    opening = rng.choice("([{")
    return opening + grow(rng, inner) + PAIRS[opening] + grow(rng, pairs - 1 - inner)


class Line(vf.TaskData):
    label: str


class LineTask(vf.Task[Line]):
    def said(self, trace: vf.Trace) -> str | None:
        found = ANSWER.findall(trace.last_reply.rpartition("</think>")[2])
        return found[0].lower() if len(found) == 1 and found[0].lower() in ("yes", "no") else None

    @vf.reward(weight=0.9)
    async def verdict(self, trace: vf.Trace) -> float:
        found = ANSWER.fullmatch(self.data.label)
        return float(found is not None and self.said(trace) == found[1])

    @vf.reward(weight=0.1)
    async def tagged(self, trace: vf.Trace) -> float:
        return float(self.said(trace) is not None)


class BracketConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=2, multiple_of=2)
    seed: int = 59


class Brackets(vf.Taskset[LineTask, BracketConfig]):
    def load(self) -> Iterator[LineTask]:
        rng = random.Random(self.config.seed)
        left = {True: self.config.num_tasks // 2, False: self.config.num_tasks // 2}
        seen: set[str] = set()
        while any(left.values()):
            text = grow(rng, rng.randint(5, 11))
            if rng.random() < 0.5:
                signs = list(text)
                i, j = rng.sample(range(len(signs)), 2)
                signs[i], signs[j] = signs[j], signs[i]
                text = "".join(signs)
            fine = balanced(text)
            if text in seen or not left[fine]:
                continue
            seen.add(text)
            left[fine] -= 1
            prompt = f"Is every bracket closed, in the right order?\n\n{text}\n\nReply with yes or no inside answer tags: <answer>...</answer>"
            yield LineTask(Line(prompt=prompt, label=f"<answer>{'yes' if fine else 'no'}</answer>"), self.config.task)
