"""Which day is `ante diem IV Nonas Martias`?"""

import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

MONTHS = (
    ("January", "Ianuarias", 31),
    ("February", "Februarias", 28),
    ("March", "Martias", 31),
    ("April", "Apriles", 30),
    ("May", "Maias", 31),
    ("June", "Iunias", 30),
    ("July", "Iulias", 31),
    ("August", "Augustas", 31),
    ("September", "Septembres", 30),
    ("October", "Octobres", 31),
    ("November", "Novembres", 30),
    ("December", "Decembres", 31),
)
NUMERALS = ((10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"))


def numeral(number: int) -> str:
    text = ""
    for value, letters in NUMERALS:
        while number >= value:
            text, number = text + letters, number - value
    return text


def roman(month: int, day: int) -> str:
    """A day's name: counted back, inclusively, from Kalends, Nones or Ides."""
    late = MONTHS[month][0] in ("March", "May", "July", "October")
    nones, ides = (7, 15) if late else (5, 13)
    last = MONTHS[month][2]
    accusative = MONTHS[month][1]
    if day <= nones:
        name, gap = ("Kalendas", 0) if day == 1 else ("Nonas", nones - day)
    elif day <= ides:
        name, gap = "Idus", ides - day
    else:
        name, gap, accusative = "Kalendas", last + 1 - day, MONTHS[(month + 1) % 12][1]
    if gap == 1:
        return f"pridie {name} {accusative}"
    return f"ante diem {numeral(gap + 1)} {name} {accusative}"


class RomanDateData(vf.TaskData):
    latin: str
    answer: str


class RomanDateTask(vf.Task[RomanDateData]):
    """The modern date stands in `<date>` tags."""

    @vf.reward(weight=1.0)
    async def dated(self, trace: vf.Trace) -> float:
        """1.0 if the only `<date>` tag holds day and month, in either order."""
        text = trace.last_reply.rpartition("</think>")[2]
        if text.count("<date>") != 1 or text.count("</date>") != 1:
            return 0.0
        said = text.partition("<date>")[2].partition("</date>")[0][:60].lower()
        words = [word.strip(".,") for word in said.replace(" of ", " ").split() if word != "the"]
        words = [w[:-2] if w[:1].isdigit() and w[-2:] in ("st", "nd", "rd", "th") else w for w in words]
        day, month = self.data.answer.lower().split()
        return float(words in ([day, month], [month, day]))


class RomanDatesConfig(vf.TasksetConfig):
    num_tasks: int = Field(40, ge=1, le=300)
    seed: int = 44


class RomanDatesTaskset(vf.Taskset[RomanDateTask, RomanDatesConfig]):
    def load(self) -> Iterator[RomanDateTask]:
        # days that are a Kalends, Nones or Ides themselves have a simpler name and are left out
        days = [
            (month, day)
            for month, (_, _, last) in enumerate(MONTHS)
            for day in range(2, last + 1)
            if day not in (5, 7, 13, 15)
        ]
        for month, day in random.Random(self.config.seed).sample(days, self.config.num_tasks):
            latin = roman(month, day)
            data = RomanDateData(
                prompt=f"Which date of the Julian calendar (a common year of 365 days) is {latin}? Give "
                "day and month, as in 17 May, between <date> and </date>.",
                latin=latin,
                answer=f"{day} {MONTHS[month][0]}",
            )
            yield RomanDateTask(data, self.config.task)
