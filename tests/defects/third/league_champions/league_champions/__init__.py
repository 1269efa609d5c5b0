"""Small round-robin leagues: read the results, name the champion."""

import itertools
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

CLUBS = (
    "Aldersea", "Brockwell", "Carrowmore", "Dunhaven", "Eastleigh Rovers", "Fennick", "Garrow Park",
    "Holmbury", "Inverlea", "Jarrowby", "Kelsmere", "Lowick Town",
)


def table(results: list[tuple[str, int, str, int]]) -> list[tuple[tuple[int, int, int], str]]:
    """(points, goal difference, goals) and club, best first."""
    rows: dict[str, list[int]] = {}
    for home, h, away, a in results:
        for club, own, other in ((home, h, a), (away, a, h)):
            row = rows.setdefault(club, [0, 0, 0])
            row[0] += 3 if own > other else 1 if own == other else 0
            row[1] += own - other
            row[2] += own
    return sorted(((tuple(row), club) for club, row in rows.items()), reverse=True)


def tidy(line: str) -> str:
    """A line without case, list marks, bold, quotes, fences and the closing full stop."""
    return " ".join(line.casefold().split()).strip(" .,!*_`\"'#-\u2022")


class LeagueData(vf.TaskData):
    """One league and who won it."""

    champion: str


class LeagueTask(vf.Task[LeagueData]):
    """The reply is one club."""

    def lines(self, trace: vf.Trace) -> list[str]:
        text = trace.last_reply.rpartition("</think>")[2]
        return [line for line in map(tidy, text.splitlines()) if line]

    @vf.reward(weight=1.0)
    async def champion(self, trace: vf.Trace) -> float:
        """1.0 if every line of the reply is the champion.

        Looking at one line only would pay those who go through the clubs line by line.
        """
        wanted = tidy(self.data.champion)
        return float(all(line == wanted for line in self.lines(trace)))

    @vf.metric
    async def clubs_named(self, trace: vf.Trace) -> float:
        """How many different clubs of any league stand in the reply."""
        return float(len({tidy(c) for c in CLUBS}.intersection(self.lines(trace))))


class LeagueConfig(vf.TasksetConfig):
    num_tasks: int = Field(36, ge=1, le=400)
    """How many leagues are played."""
    seed: int = 11
    """The same seed gives the same leagues."""


class LeagueTaskset(vf.Taskset[LeagueTask, LeagueConfig]):
    """Leagues of four clubs with a clear winner."""

    def load(self) -> Iterator[LeagueTask]:
        rng = random.Random(self.config.seed)
        made = 0
        while made < self.config.num_tasks:
            clubs = rng.sample(CLUBS, 4)
            results = [
                (home, rng.randint(0, 4), away, rng.randint(0, 3))
                for home, away in itertools.combinations(clubs, 2)
            ]
            first, second = table(results)[:2]
            if first[0] == second[0]:
                continue
            made += 1
            listed = "\n".join(f"{home} {h}:{a} {away}" for home, h, away, a in results)
            prompt = (
                "Four clubs played each other once. A win is worth three points, a draw one; equal "
                "points are parted by goal difference, then by goals scored.\n\n"
                f"{listed}\n\nWho is champion? Write the name of the club and nothing else."
            )
            yield LeagueTask(LeagueData(prompt=prompt, champion=first[1]), self.config.task)


__all__ = ["LeagueTaskset"]
