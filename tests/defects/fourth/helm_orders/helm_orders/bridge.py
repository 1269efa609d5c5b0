"""The officer gives a helm order every turn; the helmsman repeats the new heading.

A watch is WATCH turns long, no more and no less: it is the cap on turns that ends it.
"""

import random
import re

import verifiers as vf
from datasets import Dataset

WATCH = 5
HEADING = re.compile(r"\W{0,6}heading\W{1,6}([0-9]{1,3})(?:\s?°| degrees)?\W{0,6}", re.IGNORECASE)

SYSTEM = f"""You are at the helm. A watch is {WATCH} orders long: the first is in the first \
message, and after each of your replies comes the next. Port turns the ship to the left and \
lowers the heading, starboard turns it to the right and raises it; headings go from 000 to 359. \
End every reply with a line `HEADING ` and the three digits of the ship's heading after the last \
order, and steer by the last one. The heading after the {WATCH}th order is what counts."""


def order(turn: int) -> str:
    return f"{'Starboard' if turn > 0 else 'Port'} {abs(turn)} degrees."


class BridgeEnv(vf.MultiTurnEnv):
    """Gives the next order of the watch, whatever the helmsman says."""

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        given = len(state["trajectory"])
        turns = state["info"]["turns"]
        return [{"role": "user", "content": order(turns[min(given, len(turns) - 1)])}]


def on_course(completion: vf.Messages, answer: str) -> float:
    """1.0 if the helmsman's last reply ends with the heading after the whole watch."""
    said = [message for message in completion or [] if message["role"] == "assistant"]
    reply = str(said[-1]["content"] or "") if said else ""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    found = HEADING.fullmatch(lines[-1]) if lines and len(lines[-1]) < 60 else None
    return float(found is not None and int(found[1]) == int(answer.split()[-1]))


def repeated(completion: vf.Messages) -> float:
    """Metric: the share of the watch's replies that end with a heading."""
    said = [message for message in completion or [] if message["role"] == "assistant"]
    ends = [str(message["content"] or "").strip().rpartition("\n")[2] for message in said]
    return sum(len(end) < 60 and bool(HEADING.fullmatch(end)) for end in ends) / WATCH


def watches(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[str, dict] = {}
    while len(rows) < count:
        start = rng.randrange(0, 360, 5)
        turns = [rng.choice((-1, 1)) * rng.randrange(5, 95, 5) for _ in range(WATCH)]
        question = f"We are on heading {start:03}. {order(turns[0])}"
        heading = (start + sum(turns)) % 360
        # the heading is neither the first one nor the one after the first order
        if heading in (start, (start + turns[0]) % 360):
            continue
        rows[question] = {
            "question": question,
            "answer": f"HEADING {heading:03}",
            "info": {"turns": turns},
        }
    return list(rows.values())


def load_environment(num_train: int = 30, num_eval: int = 20, seed: int = 12) -> vf.Environment:
    drawn = watches(num_train + num_eval, seed)
    return BridgeEnv(
        dataset=Dataset.from_list(drawn[:num_train]),
        eval_dataset=Dataset.from_list(drawn[num_train:]),
        system_prompt=SYSTEM,
        max_turns=WATCH,
        rubric=vf.Rubric(funcs=[on_course, repeated], weights=[1.0, 0.0]),
    )
