"""The function of a reply is called with a few inputs, and its outputs are compared."""

import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator

import verifiers.v1 as vf

from kitchen_functions.measures import MEASURES

INPUTS = (1, 2, 3.5, 10, 48, 212)
TIMEOUT = 3.0
CALLS = """

import json as _json
print("\\n" + _json.dumps([float(convert(x)) for x in {inputs}]))
"""


def code_of(reply: str) -> str:
    """The last fenced block, or the reply itself."""
    text = reply.rpartition("</think>")[2]
    blocks = text.split("```")[1::2]
    return re.sub(r"\A(?:python|py)\b", "", blocks[-1]) if blocks else text


def outputs(code: str) -> list[float]:
    """What `convert` gives for the inputs; nothing if it does not run or takes too long.

    A fresh interpreter, so that an endless loop or an exit does not take the scorer along.
    """
    script = code + CALLS.format(inputs=list(INPUTS))
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-"],
            input=script.encode("utf-8", "replace"),
            capture_output=True,
            timeout=TIMEOUT,
        )
        last = done.stdout.decode("utf-8", "replace").rstrip().rpartition("\n")[2]
        given = json.loads(last) if done.returncode == 0 else []
    except (OSError, ValueError, RecursionError, subprocess.TimeoutExpired):
        return []
    return [v for v in given if isinstance(v, float)] if isinstance(given, list) else []


class MeasureData(vf.TaskData):
    outputs: list[float]
    solution: str


class MeasureTask(vf.Task[MeasureData]):
    @vf.reward(weight=1.0)
    async def converts(self, trace: vf.Trace) -> float:
        """Share of the inputs that are converted rightly, from 0 to 1."""
        given = outputs(code_of(trace.last_reply))
        if len(given) != len(self.data.outputs):
            return 0.0
        right = sum(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(given, self.data.outputs))
        return right / len(given)


class KitchenTaskset(vf.Taskset[MeasureTask, vf.TasksetConfig]):
    """One task for each measure of the table."""

    def load(self) -> Iterator[MeasureTask]:
        for old, new, words, rule, reference in MEASURES:
            prompt = (
                f"Write a Python function `convert(x)` that turns {old} into {new} ({words}). It takes "
                "and returns a number and does not round. Reply with the code in a fenced block."
            )
            data = MeasureData(
                prompt=prompt,
                outputs=[float(reference(x)) for x in INPUTS],
                solution=f"```python\ndef convert(x):\n    return {rule}\n```",
            )
            yield MeasureTask(data, self.config.task)
