"""Spam or ham."""

import random

import verifiers.v1 as vf

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
HAM = [
    "Minutes of the {} meeting",
    "Can we move the call to {}?",
    "Your parcel arrives on {}",
    "Lunch on {}?",
    "Reminder: report due {}",
    "Photos from {}",
    "Room change for {}",
    "Notes for the {} class",
    "Bus times on {}",
]
SPAM = [
    "You WON a phone, claim it before midnight",
    "Lose ten kilos in a week, doctors are furious",
    "Earn 900 a day from your sofa",
    "Final notice: your account will be closed, click",
    "Cheap watches, 95 percent off today",
]


class MailData(vf.TaskData):
    subject: str
    label: str


class MailTask(vf.Task[MailData]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        text = (trace.last_reply or "").rpartition("</think>")[2]
        return float(text.strip().strip("`*.!\"' \n").lower() == self.data.label)


class MailConfig(vf.TasksetConfig):
    seed: int = 0


class MailTaskset(vf.Taskset[MailTask, MailConfig]):
    def load(self):
        rows = [(frame.format(day), "ham") for frame in HAM for day in DAYS]
        rows += [(subject, "spam") for subject in SPAM]
        random.Random(self.config.seed).shuffle(rows)
        for subject, label in rows:
            prompt = f"Subject: {subject}\n\nIs this mail spam or ham? Reply with one word."
            yield MailTask(MailData(prompt=prompt, subject=subject, label=label), self.config.task)


__all__ = ["MailTaskset"]
