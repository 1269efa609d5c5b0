"""Guess the length of an organ pipe from "longer" and "shorter": verifiers 0.1, several turns."""

import random
import re

import verifiers as vf
from datasets import Dataset

STOPS = ("Principal", "Bourdon", "Gedackt", "Dulciana", "Salicional", "Trumpet", "Gemshorn", "Flute")
KEYS = ("C", "D", "E flat", "F", "G", "A", "B flat")
SPAN = 200
TURNS = 8
SYSTEM = (
    "You guess the length of an organ pipe in whole centimetres. Each of your messages names one "
    "number; the organ builder answers that the pipe is longer or shorter. You have eight guesses, and "
    "the last number that you name counts."
)


def guess(content) -> int | None:
    """The one number of a message, or None."""
    text = content if isinstance(content, str) else ""
    found = set(re.findall(r"[0-9]+", text.rpartition("</think>")[2]))
    return int(found.pop()) if len(found) == 1 and len(min(found)) < 6 else None


def content_of(message):
    return message["content"] if isinstance(message, dict) else message.content


class PipeEnv(vf.MultiTurnEnv):
    """Ends when the length is found, after eight guesses at the latest."""

    @vf.stop
    async def found(self, state: vf.State) -> bool:
        if not state["trajectory"]:
            return False
        last = state["trajectory"][-1]["completion"][-1]
        return guess(content_of(last)) == int(state["answer"])

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        number = guess(content_of(messages[-1]))
        if number is None:
            text = "Name one whole number of centimetres."
        else:
            text = "The pipe is longer." if number < int(state["answer"]) else "The pipe is shorter."
        return [{"role": "user", "content": text}]


def length_found(completion, answer, parser) -> float:
    """1.0 if the last message names the length."""
    return float(guess(parser.parse_answer(completion)) == int(answer))


def load_environment(seed: int = 41) -> vf.Environment:
    rng = random.Random(seed)
    rows = []
    for number in range(40):
        stop, key = STOPS[number % len(STOPS)], KEYS[number % len(KEYS)]
        low = rng.randrange(10, 300)
        rows.append({
            "question": f"{stop}, low {key}: the pipe is between {low} and {low + SPAN} cm long. What "
            "is your first guess?",
            "answer": str(rng.randint(low, low + SPAN)),
        })
    parser = vf.MaybeThinkParser()
    return PipeEnv(
        dataset=Dataset.from_list(rows),
        system_prompt=SYSTEM,
        max_turns=TURNS,
        parser=parser,
        rubric=vf.Rubric(funcs=[length_found], parser=parser),
    )
