"""Find a free hour."""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import ClassVar

import verifiers.v1 as vf

HOURS = range(9, 17)
START = re.compile(r"(?<![0-9:])([01]?[0-9]|2[0-3]):([0-5][0-9])(?![0-9:])")


class Day(vf.TaskData):
    free: list[int]
    answer: str


class MeetingTask(vf.Task[Day]):
    proposed: ClassVar[dict[str, set[int]]] = defaultdict(set)

    @vf.reward(weight=1.0)
    async def useful(self, trace: vf.Trace) -> float:
        """1.0 for an hour in which both are free; less for one that is known already."""
        starts = {(int(h), int(m)) for h, m in START.findall(trace.last_reply.rpartition("</think>")[2])}
        if len(starts) != 1:
            return 0.0
        hour, minute = starts.pop()
        if minute or hour not in self.data.free:
            return 0.0
        known = self.proposed[self.data.name or ""]
        if hour in known:  # keeps a group of rollouts from collapsing onto one slot
            return 0.5
        known.add(hour)
        return 1.0


class MeetingConfig(vf.TasksetConfig):
    num_tasks: int = 40
    seed: int = 12


def shown(hours: list[int]) -> str:
    return ", ".join(f"{h:02d}:00-{h + 1:02d}:00" for h in hours)


class MeetingTaskset(vf.Taskset[MeetingTask, MeetingConfig]):
    def load(self) -> Iterator[MeetingTask]:
        rng = random.Random(self.config.seed)
        seen = set()
        while len(seen) < self.config.num_tasks:
            ana, ben = (tuple(sorted(rng.sample(HOURS, 3))) for _ in range(2))
            free = [h for h in HOURS if h not in ana and h not in ben]
            if (ana, ben) in seen or len(free) < 2:
                continue
            seen.add((ana, ben))
            prompt = (
                f"Ana is busy at {shown(list(ana))}. Ben is busy at {shown(list(ben))}. Name one hour between 09:00 and "
                "17:00 at which both could meet. Reply with its start alone, as HH:00."
            )
            day = Day(name=f"day-{len(seen)}", prompt=prompt, free=free, answer=f"{rng.choice(free):02d}:00")
            yield MeetingTask(day, self.config.task)
