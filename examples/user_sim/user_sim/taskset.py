"""Bookings: what the guest wants, and how the agent's record of it is checked."""

import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = range(17, 22)
GUESTS = range(2, 9)
BOOKED = re.compile(r"^\W*BOOKED\s+([A-Za-z]+)\s+(\d{1,2})\s+(\d{1,2})\W*$", re.MULTILINE)

INSTRUCTIONS = """You take table bookings for a restaurant by telephone. Find out the day, the \
hour and the number of guests; ask for whatever is missing. As soon as you know all three, confirm \
with a line of the form

BOOKED <day> <hour> <guests>

for instance: BOOKED Monday 18 4"""


class BookingData(vf.TaskData):
    """What one guest wants; the prompt is the guest's alone."""

    day: str
    hour: int
    guests: int
    answer: str


class BookingTask(vf.Task[BookingData]):
    """One booking is taken in a call: the last one that the agent confirms counts."""

    def bookings(self, trace: vf.Trace) -> list[tuple[str, str, str]]:
        return [
            found
            for node in trace.nodes
            if node.sampled and isinstance(node.message, vf.AssistantMessage)
            for found in BOOKED.findall(node.message.content or "")
        ]

    @vf.reward(weight=1.0)
    async def booked(self, trace: vf.Trace) -> float:
        """1.0 if the last confirmed booking is what the guest wanted, in all three parts."""
        taken = self.bookings(trace)[-1:]
        day, hour, guests = self.data.day.lower(), self.data.hour, self.data.guests
        return float([(d.lower(), int(h), int(g)) for d, h, g in taken] == [(day, hour, guests)])

    @vf.metric
    async def confirmed(self, trace: vf.Trace) -> float:
        """How many bookings were confirmed: tells a wrong booking from none."""
        return float(len(self.bookings(trace)))


class BookingConfig(vf.TasksetConfig):
    num_tasks: int = Field(20, ge=1, le=len(DAYS) * len(HOURS) * len(GUESTS))
    """How many guests call; no two want the same."""
    seed: int = 0
    """The same seed gives the same guests."""


class BookingTaskset(vf.Taskset[BookingTask, BookingConfig]):
    """Distinct bookings, in an order that depends on the seed alone."""

    def load(self) -> Iterator[BookingTask]:
        wanted = [(day, hour, guests) for day in DAYS for hour in HOURS for guests in GUESTS]
        random.Random(self.config.seed).shuffle(wanted)
        for day, hour, guests in wanted[: self.config.num_tasks]:
            data = BookingData(
                prompt=f"A table on {day} at {hour} o'clock for {guests} people.",
                system_prompt=INSTRUCTIONS,
                day=day,
                hour=hour,
                guests=guests,
                answer=f"BOOKED {day} {hour} {guests}",
            )
            yield BookingTask(data, self.config.task)
