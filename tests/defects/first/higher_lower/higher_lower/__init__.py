"""Guess a number by its bounds, with verifiers 0.1."""

import random
import re

import verifiers as vf
from datasets import Dataset

SYSTEM = (
    "Find a secret whole number from 1 to 100. Each of your turns is one guess: reply with a single "
    "number and nothing else. You are told whether the secret is higher or lower."
)


def guess_of(message) -> int | None:
    text = str(message["content"] or "").rpartition("</think>")[2].strip().strip("`*. \n")
    return int(text) if re.fullmatch(r"[0-9]{1,3}", text) else None


def guesses(completion) -> list[int | None]:
    return [guess_of(m) for m in completion or [] if m["role"] == "assistant"]


def found(completion, answer, **kwargs) -> float:
    """1.0 if the last guess is the secret."""
    made = guesses(completion)
    return 1.0 if made and made[-1] == int(answer) else 0.0


class HigherLower(vf.MultiTurnEnv):
    async def setup_state(self, state):
        state["solved"] = False

    @vf.stop
    async def game_over(self, state) -> bool:
        return state["solved"]

    async def env_response(self, messages, state, **kwargs):
        guess, secret = guess_of(messages[-1]), int(state["answer"])
        if guess is None:
            said = "That is not a single number. Your guess?"
        elif guess == secret:
            said = "That is it! Well done."
        else:
            said = f"The secret is {'higher' if secret > guess else 'lower'}. Your guess?"
        return [{"role": "user", "content": said}]


def load_environment(num_tasks: int = 30, seed: int = 0) -> vf.Environment:
    rng = random.Random(seed)
    rows = [
        {
            "question": f"Game {n}: I have a number from 1 to 100. Your first guess?",
            "answer": str(secret),
        }
        for n, secret in enumerate(rng.sample(range(1, 101), num_tasks), 1)
    ]
    return HigherLower(
        eval_dataset=Dataset.from_list(rows),
        system_prompt=SYSTEM,
        rubric=vf.Rubric(funcs=[found]),
    )
