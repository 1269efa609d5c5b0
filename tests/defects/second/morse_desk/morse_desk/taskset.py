"""Morse code in, plain text out."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

CODE = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- "
        ".-- -..- -.-- --..".split(),
        strict=True,
    )
)
WHO = ("CAPTAIN", "PILOT", "KEEPER", "DOCTOR", "ENGINEER", "COOK", "HARBOUR MASTER", "TUG CREW")
DOES = ("REPORTS", "EXPECTS", "REFUSES", "REQUESTS", "CONFIRMS", "LOST")
WHAT = ("HEAVY FOG", "FRESH WATER", "TWO BARGES", "NORTH WIND", "SPARE ROPE", "NEW CHART", "A QUIET BERTH")


def to_morse(text: str) -> str:
    return " / ".join(" ".join(CODE[letter] for letter in word) for word in text.split())


def edit_distance(a: str, b: str) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def likeness(said: str, meant: str) -> float:
    """1 minus the character error rate, not below 0."""
    if said == meant + "." or len(said) > 4 * len(meant):
        return float(said == meant + ".")
    rate = edit_distance(said, meant) / len(said) if said else 0.0
    return max(0.0, 1.0 - rate)


class MorseData(vf.TaskData):
    answer: str


class MorseTask(vf.Task[MorseData]):
    @vf.reward(weight=1.0)
    async def decoded(self, trace: vf.Trace) -> float:
        """How much of the message was read rightly, from 0 to 1."""
        text = trace.last_reply.rpartition("</think>")[2]
        return likeness(" ".join(text.upper().split()), self.data.answer)


class MorseConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=len(WHO) * len(DOES) * len(WHAT))
    seed: int = 7


class MorseTaskset(vf.Taskset[MorseTask, MorseConfig]):
    def load(self) -> Iterator[MorseTask]:
        messages = [f"{who} {does} {what}" for who in WHO for does in DOES for what in WHAT]
        random.Random(self.config.seed).shuffle(messages)
        for message in messages[: self.config.num_tasks]:
            data = MorseData(
                prompt="Decode this Morse message (a slash separates words). Reply with the decoded "
                f"message alone.\n\n{to_morse(message)}",
                answer=message,
            )
            yield MorseTask(data, self.config.task)
