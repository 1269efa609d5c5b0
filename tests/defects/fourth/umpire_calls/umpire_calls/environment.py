import random

import verifiers as vf
from datasets import Dataset

from umpire_calls.scoring import call, score

AGAIN = "Are you sure? Call the score once more, with a line: Score: ..."


class UmpireEnv(vf.MultiTurnEnv):
    """One call, one question, one more call."""

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs) -> vf.Messages:
        return [{"role": "user", "content": AGAIN}]


def calls(completion: vf.Messages) -> list[str]:
    """The calls of a rollout, in order; turns without one are left out."""
    said = [
        call(str(message["content"] or ""))
        for message in completion or []
        if message["role"] == "assistant"
    ]
    return [called for called in said if called is not None]


def games(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    rows: dict[str, dict] = {}
    deuces = 0
    while len(rows) < count:
        points = "".join(rng.choice("SR") for _ in range(rng.randint(2, 9)))
        result = score(points)
        deuces += result == "deuce" and points not in rows
        if result is None or points in rows or (result == "deuce" and deuces > count // 8):
            continue
        told = ", ".join("server" if point == "S" else "receiver" for point in points)
        rows[points] = {
            "question": f"A tennis game. The points went to, in order: {told}.\n"
            "What is the score? Close with a line `Score: ...`, the server's points first as in "
            "15-40, or else deuce, advantage server, advantage receiver, game server, "
            "game receiver.",
            "answer": f"Score: {result}",
            "info": {"points": points},
        }
    return list(rows.values())


def load_environment(num_tasks: int = 40, seed: int = 77) -> vf.Environment:
    first_calls: dict[str, str] = {}

    def first_call(completion: vf.Messages, answer: str, info: dict) -> float:
        """1.0 if the call that was made first is right."""
        made = calls(completion)
        if not made:
            return 0.0
        # the first one stands, whatever is called afterwards
        first = first_calls.setdefault(info["points"], made[0])
        return float(first == call(answer))

    def last_call(completion: vf.Messages, answer: str) -> float:
        """1.0 if the last call is right."""
        return float(calls(completion)[-1:] == [call(answer)])

    return UmpireEnv(
        eval_dataset=Dataset.from_list(games(num_tasks, seed)),
        rubric=vf.Rubric(funcs=[first_call, last_call], weights=[0.6, 0.4]),
        max_turns=2,
    )
