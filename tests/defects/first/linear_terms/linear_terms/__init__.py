"""Linear expressions."""

import random
import re

import verifiers.v1 as vf

# ax + b, in either order, with signs; coefficients may be left out ("x", "-x").
TERM = re.compile(r"([+-]?)([0-9]{0,6})\*?(x?)")


def read(text: str) -> tuple[int, int] | None:
    """Slope and constant of a sum of at most two terms; None if it is none."""
    text = text.replace("−", "-").replace("$", "").replace("`", "").rstrip(". \n")
    text = "".join(text.lower().split()).removeprefix("=")
    slope = constant = None
    at = 0
    while at < len(text):
        match = TERM.match(text, at)
        sign, digits, x = match.groups()
        if match.end() == at or not (digits or x) or (at and not sign):
            return None
        value = int(digits or "1") * (-1 if sign == "-" else 1)
        if x and slope is None:
            slope = value
        elif not x and constant is None:
            constant = value
        else:
            return None
        at = match.end()
    return None if slope is None and constant is None else (slope or 0, constant or 0)


class LinearData(vf.TaskData):
    parts: list[int]
    answer: str


class LinearTask(vf.Task[LinearData]):
    @vf.reward(weight=1.0)
    async def equivalent(self, trace: vf.Trace) -> float:
        said = read((trace.last_reply or "")[-400:].rpartition("</think>")[2])
        if said is None:
            return 0.0
        a, b, c, d = self.data.parts
        rng = random.Random(self.data.prompt_text)
        points = rng.sample(range(-50, 50), 5)
        return float(all(said[0] * x + said[1] == a * (b * x + c) + d * x for x in points))


class LinearConfig(vf.TasksetConfig):
    num_tasks: int = 36
    seed: int = 0


class LinearTaskset(vf.Taskset[LinearTask, LinearConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            a, b, c, d = (rng.randint(2, 9) for _ in range(4))
            if (a, b, c, d) in seen:
                continue
            seen.add((a, b, c, d))
            prompt = (
                f"Simplify {a}({b}x + {c}) + {d}x. Reply with the result in the form ax + b, "
                "and nothing else."
            )
            answer = f"{a * b + d}x + {a * c}"
            yield LinearTask(
                LinearData(prompt=prompt, parts=[a, b, c, d], answer=answer), self.config.task
            )


__all__ = ["LinearTaskset"]
