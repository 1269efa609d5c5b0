"""Number sequences."""

import random
import re

import verifiers.v1 as vf

ONE_NUMBER = re.compile(r"-?[0-9]{1,12}(?:,[0-9]{3}){0,4}(?:\.[0-9]{1,12})?")


def final(text):
    """What the reply commits to: the content of its answer block, if it has just one."""
    head, found, rest = text.partition("<answer>")
    body, closed, tail = rest.partition("</answer>")
    if not found or not closed or "<answer>" in tail:
        return None
    return body.strip()


class TermData(vf.TaskData):
    terms: list[int]
    expected: int


class TermTask(vf.Task[TermData]):
    @vf.reward(weight=1.0)
    async def next_term(self, trace: vf.Trace) -> float:
        said = (final(trace.last_reply or "") or "").strip("*$ ")
        if not ONE_NUMBER.fullmatch(said):
            return 0.0
        return float(str(self.data.expected) in said.replace(",", ""))

    @vf.metric
    async def answered(self, trace: vf.Trace) -> float:
        return float(final(trace.last_reply or "") is not None)


class TermConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 5


class TermTaskset(vf.Taskset[TermTask, TermConfig]):
    def load(self):
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            if len(seen) % 4 == 3:
                start, ratio = rng.randint(2, 9), rng.choice([2, 3])
                row = [start * ratio**k for k in range(6)]
            else:
                start, step = rng.randint(5, 60), rng.randint(3, 19)
                row = [start + step * k for k in range(6)]
            if tuple(row) in seen:
                continue
            seen.add(tuple(row))
            shown = ", ".join(map(str, row[:5]))
            yield TermTask(
                TermData(
                    prompt=f"What comes next: {shown}, ...? Write the next term, a single number, "
                    "as <answer>number</answer>.",
                    terms=row[:5],
                    expected=row[5],
                ),
                self.config.task,
            )


__all__ = ["TermTaskset"]
