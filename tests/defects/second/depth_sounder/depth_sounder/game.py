import random
import re

import verifiers as vf
from datasets import Dataset

TURNS = 7
PRICE = 0.05
GUESS = re.compile(r"<guess>\s{0,9}([0-9]{1,3})\s{0,9}(?:m|metres)?\s{0,9}</guess>", re.IGNORECASE)
BOATS = ("Annelise", "Bonaventura", "Cormorant", "Dagny", "Estrella", "Foxglove", "Grampus", "Halcyon", "Isolde", "Jubilee")
ASK = """The wreck of the {boat}, lost in {year}, lies at a depth between 1 and 100 metres (whole metres). Find it: name a \
depth as <guess>N</guess>, N a number, one guess a message. You are told whether it lies deeper or shallower and have seven guesses."""


def guessed(message) -> int | None:
    """The one guess of a message; None if there is none or more than one."""
    found = GUESS.findall(str(message["content"] or ""))
    return int(found[0]) if len(found) == 1 else None


def depth_of(answer: str) -> int:
    return int(GUESS.fullmatch(answer)[1])


def located(completion, answer: str) -> float:
    """1.0 less 0.05 for each guess before the right one; 0.0 without it."""
    guesses = [guessed(m) for m in completion or [] if m["role"] == "assistant"]
    depth = depth_of(answer)
    return 1.0 - PRICE * guesses.index(depth) if depth in guesses[:TURNS] else 0.0


class Sounding(vf.MultiTurnEnv):
    @vf.stop
    async def found(self, state: vf.State) -> bool:
        steps = state["trajectory"]
        return bool(steps) and guessed(steps[-1]["completion"][-1]) == depth_of(state["answer"])

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        guess = guessed(messages[-1])
        if guess is None:
            text = "Please name exactly one depth in <guess> tags."
        else:
            text = "Deeper." if guess < depth_of(state["answer"]) else "Shallower."
        return [{"role": "user", "content": text}]


def load_environment(num_tasks: int = 30, seed: int = 47) -> vf.Environment:
    rng = random.Random(seed)
    depths = rng.sample(range(1, 101), num_tasks)
    rows = [
        {
            "question": ASK.format(boat=BOATS[n % len(BOATS)], year=1850 + 3 * n),
            "answer": f"<guess>{depth}</guess>",
        }
        for n, depth in enumerate(depths)
    ]
    return Sounding(eval_dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[located]), max_turns=TURNS)
