"""The hunt: intervals, answers to guesses, and the reward for the last of them."""

import random
import re

import verifiers as vf
from datasets import Dataset

NUMBER = re.compile(r"[0-9]{1,6}")


def said(completion) -> str:
    """What the model said last, without a thinking block."""
    if isinstance(completion, str):
        return completion.rsplit("</think>", 1)[-1]
    for message in reversed(completion or []):
        if message["role"] == "assistant":
            return str(message["content"] or "").rsplit("</think>", 1)[-1]
    return ""


def number(text: str) -> int | None:
    """The number that a message consists of; None if it is anything else."""
    text = text.strip().strip("`*.!").strip()
    return int(text) if NUMBER.fullmatch(text) else None


class HuntEnv(vf.MultiTurnEnv):
    """Ends by `max_turns` alone: the rounds are part of the game."""

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        guess, hidden = number(said(messages[-1:])), int(state["answer"])
        if guess is None:
            word = "Reply with one number and nothing else."
        elif guess == hidden:
            word = "That is it. Name it again in the rounds that are left."
        else:
            word = "The hidden number is higher." if guess < hidden else "The hidden number is lower."
        return [{"role": "user", "content": word}]


def found(completion, answer: str) -> float:
    """1.0 if the last message is the hidden number."""
    return float(number(said(completion)) == int(answer))


def rounds(completion) -> float:
    """How many messages the model sent."""
    return float(sum(message["role"] == "assistant" for message in completion or []))


def load_environment(num_tasks: int = 30, seed: int = 77, max_turns: int = 6) -> vf.Environment:
    rng = random.Random(seed)
    rows = [
        {
            "question": (
                f"I think of a whole number from {low} to {low + 59}. You have {max_turns} rounds: "
                "in each you reply with one number and nothing else, and I say whether mine is "
                "higher or lower. Your guess in the last round counts."
            ),
            "answer": str(low + rng.randrange(60)),
        }
        for low in rng.sample(range(100, 9900), num_tasks)
    ]
    return HuntEnv(
        eval_dataset=Dataset.from_list(rows),
        rubric=vf.Rubric(funcs=[found, rounds], weights=[1.0, 0.0]),
        max_turns=max_turns,
    )
