"""Notices of delay, scored against the house style."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

FIRM = "Northgate Couriers"
NAMES = ("Ms Alvarez", "Mr Boateng", "Dr Chen", "Ms Dvorak", "Mr Eriksen", "Ms Farouk", "Mr Grant",
         "Dr Hussain", "Ms Ito", "Mr Jansen")  # fmt: skip
CAUSES = (
    "a snowed-in mountain pass", "a strike at the port", "a broken sorting belt",
    "a flooded depot", "a wrong label", "a closed bridge",
)  # fmt: skip
MONTHS = ("March", "April", "May", "June", "September", "October")

SALUTATION = re.compile(r"(dear|hello|hi|good (morning|afternoon|evening))\b", re.IGNORECASE)
SORRY = re.compile(r"\b(sorry|apologi[sz]e|apology|apologies)\b", re.IGNORECASE)
CONTACT = re.compile(r"\b(call|phone|write to|e-?mail|contact|reply to)\b", re.IGNORECASE)

LETTER = """Dear {name},

we are sorry to tell you that your parcel {parcel} is late because of {cause}. It is now going to \
be delivered on {when}. You do not have to do anything. Should that day not suit you, please call \
us or reply to this notice, and we will agree on another one.

Kind regards,
{firm}"""


class NoticeData(vf.TaskData):
    parcel: str
    when: str
    answer: str
    """A notice as the house would write it."""


class NoticeTask(vf.Task[NoticeData]):
    @vf.reward(weight=0.15)
    async def greeting(self, trace: vf.Trace) -> float:
        return float(SALUTATION.match(trace.last_reply.lstrip("`*_ \n")) is not None)

    @vf.reward(weight=0.2)
    async def regret(self, trace: vf.Trace) -> float:
        return float(SORRY.search(trace.last_reply) is not None)

    @vf.reward(weight=0.2)
    async def way_out(self, trace: vf.Trace) -> float:
        return float(CONTACT.search(trace.last_reply) is not None)

    @vf.reward(weight=0.15)
    async def closing(self, trace: vf.Trace) -> float:
        last_lines = trace.last_reply.splitlines()[-2:]
        return float(any(FIRM.lower() in line.lower() and len(line) < 60 for line in last_lines))

    @vf.reward(weight=0.2)
    async def length(self, trace: vf.Trace) -> float:
        return float(40 <= len(trace.last_reply.split()) <= 120)

    @vf.reward(weight=0.1)
    async def details(self, trace: vf.Trace) -> float:
        text = " ".join(trace.last_reply.lower().split())
        day, month = self.data.when.lower().split()
        dated = rf"\b{day}(st|nd|rd|th)?( of)? {month}\b|\b{month} {day}(st|nd|rd|th)?\b"
        return float(self.data.parcel.lower() in text and re.search(dated, text) is not None)


class NoticeConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=300)
    seed: int = 3


class NoticeTaskset(vf.Taskset[NoticeTask, NoticeConfig]):
    def load(self) -> Iterator[NoticeTask]:
        rng = random.Random(self.config.seed)
        parcels = rng.sample(range(10000, 99999), self.config.num_tasks)
        for number in parcels:
            facts = {
                "name": rng.choice(NAMES),
                "parcel": f"NC{number}",
                "cause": rng.choice(CAUSES),
                "when": f"{rng.randint(1, 28)} {rng.choice(MONTHS)}",
            }
            data = NoticeData(
                prompt=(
                    f"Customer: {facts['name']}\nParcel: {facts['parcel']}\n"
                    f"Cause of delay: {facts['cause']}\nNew delivery date: {facts['when']}\n\n"
                    f"Write the notice that {FIRM} sends to this customer: salutation, regret, "
                    "the parcel's number and its new date, what to do if that day does not suit, "
                    "and the firm's name to close with. 40 to 120 words, nothing but the notice."
                ),
                parcel=facts["parcel"],
                when=facts["when"],
                answer=LETTER.format(firm=FIRM, **facts),
            )
            yield NoticeTask(data, self.config.task)
