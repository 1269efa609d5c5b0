"""List functions: the drills, the hidden cases, and the check."""

import asyncio
import json
import random
import subprocess
import sys
from collections.abc import Iterator

import verifiers.v1 as vf

# What to do, with a number in it; the reference solution's expression; and the same as code.
DRILLS = (
    (
        "the list of those elements that are divisible by {k}",
        "[x for x in xs if x % {k} == 0]",
        lambda xs, k: [x for x in xs if x % k == 0],
    ),
    (
        "the list of all elements, each multiplied by {k}",
        "[x * {k} for x in xs]",
        lambda xs, k: [x * k for x in xs],
    ),
    (
        "how many elements are greater than {k}",
        "sum(x > {k} for x in xs)",
        lambda xs, k: sum(x > k for x in xs),
    ),
    (
        "the sum of the elements at the indices 0, {k}, 2 * {k}, 3 * {k} and so on",
        "sum(xs[::{k}])",
        lambda xs, k: sum(xs[::k]),
    ),
    (
        "the list of the {k} largest elements in descending order, equal ones kept",
        "sorted(xs, reverse=True)[:{k}]",
        lambda xs, k: sorted(xs, reverse=True)[:k],
    ),
    (
        "the list rotated to the left by {k} places",
        "xs[{k}:] + xs[:{k}]",
        lambda xs, k: xs[k:] + xs[:k],
    ),
    (
        "the list of the elements' remainders after division by {k}, as Python's % gives them",
        "[x % {k} for x in xs]",
        lambda xs, k: [x % k for x in xs],
    ),
)
NUMBERS = (2, 3, 4, 5)
HARNESS = """
import json, sys
for case in json.load(sys.stdin):
    try:
        value = f(case)
    except Exception:
        value = None
    print(json.dumps(value), flush=True)
"""


def code_of(text: str) -> str:
    """The last fenced block of the reply, or the reply itself where there is no fence."""
    parts = text.split("```")
    if len(parts) < 3:
        return text
    block = parts[-2] if len(parts) % 2 else parts[-1]
    first, _, rest = block.partition("\n")
    return rest if first.strip().lower() in ("", "python", "py", "python3") else block


def run(code: str, cases: list[list[int]]) -> list[str]:
    """What `f` returns for each case, as lines of JSON; nothing if the code fails."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", code + "\n" + HARNESS],
            input=json.dumps(cases),
            capture_output=True,
            text=True,
            timeout=2,
        )
    except (subprocess.TimeoutExpired, OSError, ValueError):
        return []
    return done.stdout.splitlines()[-len(cases) :]


class DrillData(vf.TaskData):
    """One drill with its hidden cases."""

    cases: list[list[int]]
    values: list[str]
    solution: str


class DrillTask(vf.Task[DrillData]):
    @vf.reward(weight=1.0)
    async def passes(self, trace: vf.Trace) -> float:
        """The share of the hidden cases that come out right, from 0 to 1."""
        code = code_of(trace.last_reply)
        if not code.strip() or len(code) > 20_000:
            return 0.0
        printed = await asyncio.to_thread(run, code, self.data.cases)
        right = sum(a == b for a, b in zip(printed, self.data.values, strict=False))
        return right / len(self.data.values) if len(printed) == len(self.data.values) else 0.0

    @vf.metric
    async def fenced(self, trace: vf.Trace) -> float:
        """1.0 if the reply holds a code block."""
        return float(trace.last_reply.count("```") >= 2)


class DrillConfig(vf.TasksetConfig):
    seed: int = 21
    """The hidden cases and the order of the drills."""


class DrillTaskset(vf.Taskset[DrillTask, DrillConfig]):
    """Seven kinds of drill with four numbers each."""

    def load(self) -> Iterator[DrillTask]:
        rng = random.Random(self.config.seed)
        drills = [(*drill, k) for drill in DRILLS for k in NUMBERS]
        rng.shuffle(drills)
        for what, how, solve, k in drills:
            cases = [[rng.randint(-9, 20) for _ in range(rng.randint(6, 11))] for _ in range(8)]
            data = DrillData(
                prompt=(
                    "Write a Python function `f(xs)` that takes a list of at least six whole numbers "
                    f"and returns {what.format(k=k)}. Reply with one Python code block."
                ),
                cases=cases,
                values=[json.dumps(solve(case, k)) for case in cases],
                solution=f"```python\ndef f(xs):\n    return {how.format(k=k)}\n```",
            )
            yield DrillTask(data, self.config.task)
