"""The questions, and what a final reply is worth."""

import random
import re
from collections.abc import Iterator
from typing import Literal

import verifiers.v1 as vf
from pydantic import Field, model_validator

from notes.notebook import NAMES, Person, make_notebook
from notes.toolset import NotesToolset, NotesToolsetConfig

# Taken whole, so that "XQF421" does not hold the code "QF42".
CODE = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?![A-Za-z0-9])")

Kind = Literal["own", "mentor", "hobby"]
QUESTIONS: dict[Kind, str] = {
    "own": "What is the code of {name}?",  # read
    "mentor": "What is the code of the mentor of {name}?",  # read, read
    "hobby": "What is the code of the person whose hobby is {hobby}?",  # search, read
}
PROMPT = "{question} Look it up in the notebook with your tools, then reply with the code only."


class NotesData(vf.TaskData):
    """One question about the notebook."""

    kind: Kind
    answer: str


class NotesTask(vf.Task[NotesData]):
    """A code is two letters and two digits that stand in no prompt: it has to be looked up."""

    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        """1.0 if the final reply names the right code and no other."""
        named = {code.upper() for code in CODE.findall(trace.last_reply)}
        return float(named == {self.data.answer})

    @vf.metric
    async def tool_calls(self, trace: vf.Trace) -> float:
        """How many tool calls the model made, successful or not."""
        return float(sum(len(reply.tool_calls or ()) for reply in trace.assistant_messages))


class NotesConfig(vf.TasksetConfig):
    """Which notebook there is and how many questions are asked about it."""

    num_tasks: int = Field(30, ge=1)
    """How many questions to ask, of each kind in turn; no two are the same."""
    seed: int = 0
    """The same seed and settings give the same notebook and questions."""
    num_people: int = Field(len(NAMES), ge=2, le=len(NAMES))
    """How many notes the notebook holds."""
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()
    """Where the tool server runs."""

    @model_validator(mode="after")
    def _enough_questions(self) -> "NotesConfig":
        most = len(QUESTIONS) * self.num_people
        if self.num_tasks > most:
            raise ValueError(
                f"{self.num_people} people give {most} questions, {self.num_tasks} are asked for"
            )
        return self


class NotesTaskset(vf.Taskset[NotesTask, NotesConfig]):
    """Questions of three kinds about one notebook, which a shared tool server holds."""

    def load(self) -> Iterator[NotesTask]:
        """Go through the kinds in turn, each over the people in an order of its own."""
        notebook = make_notebook(self.config.seed, self.config.num_people)
        rng = random.Random(f"questions-{self.config.seed}")
        orders = {kind: rng.sample(list(notebook.values()), len(notebook)) for kind in QUESTIONS}
        kinds = list(QUESTIONS)
        for i in range(self.config.num_tasks):
            kind = kinds[i % len(kinds)]
            person = orders[kind][i // len(kinds)]
            yield self._task(kind, person, notebook)

    def _task(self, kind: Kind, person: Person, notebook: dict[str, Person]) -> NotesTask:
        question = QUESTIONS[kind].format(name=person.name, hobby=person.hobby)
        holder = notebook[person.mentor] if kind == "mentor" else person
        data = NotesData(prompt=PROMPT.format(question=question), kind=kind, answer=holder.code)
        return NotesTask(data, self.config.task)

    @classmethod
    def toolsets(cls, config: NotesConfig) -> list[vf.Toolset]:
        """One server for all rollouts, with the notebook that the questions were drawn from."""
        placement = config.tools.model_dump()
        return [
            NotesToolset(
                NotesToolsetConfig(**placement, seed=config.seed, num_people=config.num_people)
            )
        ]
