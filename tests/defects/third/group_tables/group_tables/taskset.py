"""Groups, and what a table is worth."""

import json
import random
from collections.abc import Iterator

import verifiers.v1 as vf
from pydantic import Field

CLUBS = ("Ajax", "Benfica", "Celtic", "Dynamo", "Everton", "Fulham", "Genoa", "Hertha", "Inter", "Juventus")


def ranking(reply: str) -> list[str]:
    """The names of a JSON list in lower case; empty if the reply is no such list."""
    text = reply.rpartition("</think>")[2].strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.strip("`").strip().removeprefix("json")
    if len(text) > 1000:
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        return []
    return [name.strip().lower() for name in found]


class GroupData(vf.TaskData):
    results: dict[str, list[int]]
    """Wins, draws, defeats, goals for and against of each club."""
    ranked: list[str]
    answer: str


class GroupTask(vf.Task[GroupData]):
    @vf.reward(weight=1.0)
    async def table(self, trace: vf.Trace) -> float:
        """0 to 5: one point for each club at its place, if each is named once."""
        said, right = ranking(trace.last_reply), [name.lower() for name in self.data.ranked]
        if sorted(said) != sorted(right):
            return 0.0
        return float(sum(a == b for a, b in zip(said, right, strict=True)))

    @vf.metric
    async def champion(self, trace: vf.Trace) -> float:
        """1.0 if the first of the list is the first of the table."""
        return float(ranking(trace.last_reply)[:1] == [self.data.ranked[0].lower()])


class GroupTablesConfig(vf.TasksetConfig):
    num_tasks: int = Field(30, ge=1, le=500)
    """How many groups."""
    seed: int = 0
    """Which groups."""


def strength(result: list[int]) -> tuple[int, int, int]:
    wins, draws, _, scored, against = result
    return 3 * wins + draws, scored - against, scored


class GroupTablesTaskset(vf.Taskset[GroupTask, GroupTablesConfig]):
    """Groups without ties that goals scored would not break."""

    def load(self) -> Iterator[GroupTask]:
        rng = random.Random(self.config.seed)
        made = 0
        while made < self.config.num_tasks:
            results = {}
            for club in sorted(rng.sample(CLUBS, 5)):
                wins = rng.randint(1, 5)
                draws = rng.randint(0, 8 - wins)
                results[club] = [wins, draws, 8 - wins - draws, rng.randint(6, 20), rng.randint(5, 18)]
            ranked = sorted(results, key=lambda club: strength(results[club]), reverse=True)
            if len(set(map(strength, results.values()))) < 5 or ranked == list(results):
                continue
            made += 1
            listed = "\n".join(
                f"{club}: {w} wins, {d} draws, {l} defeats, goals {f}:{a}"
                for club, (w, d, l, f, a) in results.items()
            )
            data = GroupData(
                prompt=f"{listed}\n\nA win is worth three points and a draw one; equal points are ranked by "
                "goal difference, then by goals scored. Reply with a JSON list of the five clubs from "
                'first to last, such as ["A", "B", "C", "D", "E"], and nothing else.',
                results=results,
                ranked=ranked,
                answer=json.dumps(ranked),
            )
            yield GroupTask(data, self.config.task)
