"""Subject and verb: quartets of sentences, one of them right."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

# subject, whether it is plural
SUBJECTS = (
    ("The box of old records", False), ("The keys to the cabinet", True),
    ("Each of the players", False), ("The captain and her deputy", True),
    ("A bunch of grapes", False), ("The results of the survey", True),
    ("Neither of the roads", False), ("The colours of the flag", True),
    ("The list of guests", False), ("Both of the letters", True),
    ("Everyone in the choirs", False), ("The leaves on the path", True),
    ("The price of the tickets", False), ("The teeth of the saw", True),
    ("One of the windows", False), ("The men at the gate", True),
)  # fmt: skip
PREDICATES = (
    ("is missing", "are missing"), ("was seen yesterday", "were seen yesterday"),
    ("has changed", "have changed"), ("looks strange", "look strange"),
    ("does not matter", "do not matter"), ("seems fine", "seem fine"),
)  # fmt: skip
LETTERS = "ABCD"
CLOSING = re.compile(r"(?:(?:final )?answer\W{1,4})?\(?([a-d])\)?", re.IGNORECASE)
FULL = 500
"""Words of an explanation that leaves nothing to be asked."""


class AgreementData(vf.TaskData):
    sentences: list[str]
    answer: str


class AgreementTask(vf.Task[AgreementData]):
    @vf.reward(weight=1.0)
    async def right(self, trace: vf.Trace) -> float:
        """1.0 if the last line names the letter and no other."""
        lines = trace.last_reply.splitlines()
        closing = CLOSING.fullmatch(lines[-1].strip(" \t.*_`")) if lines else None
        return float(closing is not None and closing.group(1).upper() == self.data.answer)

    @vf.reward(weight=1.0)
    async def explained(self, trace: vf.Trace) -> float:
        """How full the explanation is, by its words."""
        return min(1.0, len(trace.last_reply.split()) / FULL)


class AgreementConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=500)
    seed: int = 5


class AgreementTaskset(vf.Taskset[AgreementTask, AgreementConfig]):
    def load(self) -> Iterator[AgreementTask]:
        rng = random.Random(self.config.seed)
        seen: set[tuple[str, ...]] = set()
        while len(seen) < self.config.num_tasks:
            correct = len(seen) % 4
            sentences = []
            for place, (subject, plural) in enumerate(rng.sample(SUBJECTS, 4)):
                singular_form, plural_form = rng.choice(PREDICATES)
                agrees = place == correct
                verb = plural_form if plural == agrees else singular_form
                sentences.append(f"{subject} {verb}.")
            if tuple(sentences) in seen:
                continue
            seen.add(tuple(sentences))
            listed = "\n".join(f"{letter}) {s}" for letter, s in zip(LETTERS, sentences))
            data = AgreementData(
                prompt=f"In which of these sentences does the verb agree with its subject?\n\n"
                f"{listed}\n\nExplain your choice, then close with a line: Answer: <letter>",
                sentences=sentences,
                answer=LETTERS[correct],
            )
            yield AgreementTask(data, self.config.task)
