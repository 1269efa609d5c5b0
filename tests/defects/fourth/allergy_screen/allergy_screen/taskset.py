"""Prescriptions, and the comparison of what is named with what is in them."""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

PENICILLINS = (
    "amoxicillin", "ampicillin", "benzylpenicillin", "dicloxacillin", "flucloxacillin", "oxacillin",
    "phenoxymethylpenicillin", "piperacillin", "pivmecillinam", "temocillin",
)  # fmt: skip
OTHERS = (
    "azithromycin", "bisoprolol", "cefuroxime", "ciprofloxacin", "clindamycin", "doxycycline",
    "gabapentin", "levothyroxine", "metformin", "nitrofurantoin", "omeprazole", "penicillamine",
    "ramipril", "rifampicin", "simvastatin", "trimethoprim", "vancomycin", "warfarin",
)  # fmt: skip


def names(text: str) -> list[str]:
    """What the message names, after a thinking block if there is one."""
    visible = text.rsplit("</think>", 1)[-1].replace(",", "\n")
    lines = (line.strip(" \t-*\u2022.`").lower() for line in visible.splitlines())
    return [line for line in lines if line]


class ScreenData(vf.TaskData):
    """A prescription; `answer` is empty where it holds no penicillin."""

    prescription: list[str]
    answer: str


class ScreenTask(vf.Task[ScreenData]):
    @vf.reward(weight=1.0)
    async def screened(self, trace: vf.Trace) -> float:
        """1.0 if the penicillins are named, each once, and nothing else; silence if there are none."""
        return float(sorted(names(trace.last_reply)) == sorted(self.data.answer.split()))

    @vf.metric
    async def named(self, trace: vf.Trace) -> float:
        """How many names there are in the message."""
        return float(len(names(trace.last_reply)))


class ScreenConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    """How many prescriptions; no two are the same."""
    seed: int = 6
    """The same seed gives the same prescriptions."""


class ScreenTaskset(vf.Taskset[ScreenTask, ScreenConfig]):
    """Prescriptions of six drugs with none to three penicillins."""

    def load(self) -> Iterator[ScreenTask]:
        rng = random.Random(self.config.seed)
        seen: set[frozenset[str]] = set()
        while len(seen) < self.config.num_tasks:
            count = 0 if len(seen) % 5 == 4 else rng.randint(1, 3)
            drugs = rng.sample(PENICILLINS, count) + rng.sample(OTHERS, 6 - count)
            if frozenset(drugs) in seen:
                continue
            seen.add(frozenset(drugs))
            rng.shuffle(drugs)
            data = ScreenData(
                prompt=(
                    "A patient who is allergic to penicillins brings this prescription: "
                    f"{', '.join(drugs)}.\n\nName the penicillins in it, one per line, and say nothing "
                    "else. If there are none, your message must be empty: whatever you write is shown "
                    "as a warning."
                ),
                prescription=drugs,
                answer="\n".join(drug for drug in drugs if drug in PENICILLINS),
            )
            yield ScreenTask(data, self.config.task)
