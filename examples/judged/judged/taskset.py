"""Thank-you notes: how the occasions are drawn, and what a note is worth."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

from judged.judge import ToneJudge

NAMES = ("Ada", "Grace", "Alan", "Barbara", "Edsger", "Mary", "Dennis", "Radia")
FAVOURS = (
    ("report", "reviewing the report"),
    ("printer", "fixing the printer"),
    ("demo", "preparing the demo"),
    ("shift", "taking over the late shift"),
    ("contract", "translating the contract"),
    ("server", "moving the server"),
)
MOST_WORDS = 40


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


class NoteData(vf.TaskData):
    """One occasion to say thank you."""

    name: str
    favour: str
    answer: str


class NoteConfig(vf.TaskConfig):
    judge: vf.JudgeConfig = vf.JudgeConfig(
        sampling=vf.SamplingConfig(temperature=0.0, max_tokens=8)
    )


class NoteTask(vf.Task[NoteData, vf.State, NoteConfig]):
    """A note must be about the right thing before its tone is worth asking about."""

    def fits(self, trace: vf.Trace) -> bool:
        said = words(trace.last_reply or "")
        return {self.data.name.lower(), self.data.favour} <= set(said) and len(said) <= MOST_WORDS

    @vf.reward(weight=0.4)
    async def facts(self, trace: vf.Trace) -> float:
        """1.0 if the note names the colleague and the favour, in no more words than allowed."""
        return float(self.fits(trace))

    @vf.reward(weight=0.6)
    async def tone(self, trace: vf.Trace) -> float:
        """1.0 if a judge finds it friendly; a note without its facts is not put before one."""
        if not self.fits(trace):
            return 0.0
        judge = ToneJudge(self.config.judge)
        verdict = await judge.evaluate(trace=trace, note=trace.last_reply)
        return float(bool(verdict.parsed))

    @vf.metric
    async def length(self, trace: vf.Trace) -> float:
        return float(len(words(trace.last_reply or "")))


class NotesConfig(vf.TasksetConfig):
    num_tasks: int = Field(20, ge=1, le=len(NAMES) * len(FAVOURS))
    """How many occasions; no two are the same."""
    seed: int = 0
    """The same seed gives the same occasions."""
    task: NoteConfig = NoteConfig()


class NotesTaskset(vf.Taskset[NoteTask, NotesConfig]):
    """Distinct occasions, in an order that depends on the seed alone."""

    def load(self) -> Iterator[NoteTask]:
        occasions = [(name, *favour) for name in NAMES for favour in FAVOURS]
        random.Random(self.config.seed).shuffle(occasions)
        for name, favour, deed in occasions[: self.config.num_tasks]:
            data = NoteData(
                name=name,
                favour=favour,
                prompt=f"Write a friendly note of one sentence that thanks {name} for {deed}.",
                answer=f"Thank you so much, {name}, for {deed}: it helped us a great deal!",
            )
            yield NoteTask(data, self.config.task)
