"""The game: codes, hints, and when it is over."""

import random
import re

import verifiers as vf
from datasets import Dataset

GUESS = re.compile(r"<code>\s{0,3}([0-9]{3})\s{0,3}</code>")
MAX_GUESSES = 8
RULES = (
    "I have a code of three different digits. Guess it: each of your messages holds one guess, for "
    "instance <code>417</code>, and I answer how many digits are right and in their place, and how "
    "many are right but in another place. You have eight guesses. To begin with a hint: the guess "
    "{hint} would score {score}."
)


def guess_of(message) -> str | None:
    """The guess of a message; None if it has none or several."""
    found = GUESS.findall(str(message["content"] or "").rsplit("</think>", 1)[-1])
    return found[0] if len(found) == 1 else None


def compare(guess: str, code: str) -> str:
    exact = sum(a == b for a, b in zip(guess, code))
    shared = len(set(guess) & set(code))
    return f"{exact} in place, {shared - exact} misplaced"


class CodeBreakerEnv(vf.MultiTurnEnv):
    async def setup_state(self, state: vf.State) -> None:
        state["used"] = 0

    @vf.stop
    async def game_finished(self, state: vf.State) -> bool:
        return state.get("is_over", False)

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        guess = guess_of(messages[-1])
        state["used"] += 1
        if guess == state["answer"]:
            state["game_over"] = True
            return [{"role": "user", "content": "You have broken the code."}]
        if state["used"] >= MAX_GUESSES:
            state["game_over"] = True
            return [{"role": "user", "content": "You have no guesses left."}]
        if guess is None:
            return [{"role": "user", "content": "Give one guess, such as <code>417</code>."}]
        return [{"role": "user", "content": f"{guess}: {compare(guess, state['answer'])}."}]


def guessed(completion) -> list[str | None]:
    said = [message for message in completion or [] if message["role"] == "assistant"]
    return [guess_of(message) for message in said[:MAX_GUESSES]]


def broken(completion, answer: str) -> float:
    """1.0 if one of the first eight messages guesses the code."""
    return float(answer in guessed(completion))


def guesses(completion) -> float:
    """How many valid guesses were made."""
    return float(sum(guess is not None for guess in guessed(completion)))


def load_environment(num_tasks: int = 30, seed: int = 12) -> vf.Environment:
    rng = random.Random(seed)
    rows: dict[str, dict] = {}
    while len(rows) < num_tasks:
        code = "".join(rng.sample("0123456789", 3))
        hint = "".join(rng.sample("0123456789", 3))
        if hint == code or any(row["info"]["hint"] == hint for row in rows.values()):
            continue
        rows[code] = {
            "question": RULES.format(hint=hint, score=compare(hint, code)),
            "answer": code,
            "info": {"hint": hint},
        }
    return CodeBreakerEnv(
        eval_dataset=Dataset.from_list(list(rows.values())),
        rubric=vf.Rubric(funcs=[broken, guesses], weights=[1.0, 0.0]),
    )
