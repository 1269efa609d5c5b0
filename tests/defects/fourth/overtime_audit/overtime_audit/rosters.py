"""A week's roster per task; the reply is a Python list of names."""

import ast
import random
import re
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

NAMES = (
    "Abara", "Beck", "Cho", "Dietz", "Evans", "Fofana", "Grau", "Haas", "Ito", "Jansen", "Kovac",
    "Lund", "Meyer", "Nunes", "Olsen", "Petit", "Quist", "Rossi", "Silva", "Tanaka",
)
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
LONGEST = 2000
BLOCK = re.compile(r"```[a-z]{0,10}\s?\n?([^`]{0,1500})```")


def evaluate(reply: str) -> list[str] | None:
    """The list of names that a reply consists of or holds in its one code block, or None.

    It is read as a literal; nothing in it is run.
    """
    if len(reply) > LONGEST:
        return None
    blocks = BLOCK.findall(reply)
    source = reply if not blocks else blocks[0] if len(blocks) == 1 else ""
    try:
        names = ast.literal_eval(source.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return None
    return [name.strip().lower() for name in names]


class RosterData(vf.TaskData):
    hours: dict[str, list[int]]
    target: list[str]


class RosterTask(vf.Task[RosterData]):
    @vf.reward(weight=1.0)
    async def flagged(self, trace: vf.Trace) -> float:
        """(right names - wrong names) / names to find, never below 0; names count once.

        So each right name adds the same, each wrong one takes as much away, and the whole roster
        earns nothing, since at least half of it kept the rules.
        """
        named = evaluate(trace.last_reply)
        if not named:
            return 0.0
        wanted = {name.lower() for name in self.data.target}
        chosen = set(named)
        return max(0.0, (len(chosen & wanted) - len(chosen - wanted)) / len(wanted))

    @vf.metric
    async def exact(self, trace: vf.Trace) -> float:
        """1.0 if precisely the right names were flagged."""
        named = evaluate(trace.last_reply) or []
        return float(set(named) == {name.lower() for name in self.data.target})


class RosterConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=300)
    """How many rosters."""
    seed: int = 48
    """The same seed gives the same rosters."""


class OvertimeAudit(vf.Taskset[RosterTask, RosterConfig]):
    """Rosters of eight, of whom two to four broke a rule."""

    def load(self) -> Iterator[RosterTask]:
        rng = random.Random(self.config.seed)
        for _ in range(self.config.num_tasks):
            staff = rng.sample(NAMES, 8)
            guilty = set(rng.sample(staff, rng.randint(2, 4)))
            hours = {name: self.week(rng, name in guilty) for name in staff}
            table = "\n".join(
                f"{name}: " + ", ".join(f"{d} {h}" for d, h in zip(DAYS, week, strict=True))
                for name, week in hours.items()
            )
            data = RosterData(
                prompt=(
                    "Nobody may work more than 10 hours on a day or more than 48 in the week. "
                    f"Hours of the week:\n\n{table}\n\nWho broke a rule? Reply with a Python list "
                    "of their names as strings, in a code block, in any order."
                ),
                hours=hours,
                target=[name for name in staff if name in guilty],
            )
            yield RosterTask(data, self.config.task)

    @staticmethod
    def week(rng: random.Random, guilty: bool) -> list[int]:
        """Six days that break a rule, or do not."""
        while True:
            week = [rng.choice((0, 6, 7, 8, 8, 9, 10)) for _ in DAYS]
            if guilty and rng.random() < 0.5:
                week[rng.randrange(6)] = rng.choice((11, 12))
            if (max(week) > 10 or sum(week) > 48) == guilty:
                return week
