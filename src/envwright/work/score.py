"""Replies scored by an environment's own rewards."""

from collections.abc import Sequence

from envwright.environment import Task
from envwright.host import Loaded, Scoring
from envwright.record import Json
from envwright.work.grader import Grader
from envwright.work.select import find_task, served

Pair = tuple[str, str]
"""A task, by its index or the beginning of its key, and a reply to it."""


async def score_pairs(loaded: Loaded, pairs: Sequence[Pair], grader: Grader) -> list[Scoring]:
    tasks = await find_tasks(loaded, list(dict.fromkeys(name for name, _ in pairs)))
    served(list(tasks.values()), loaded.environment.name)
    items: list[Json] = [
        {"index": tasks[name].index, "key": tasks[name].key, "reply": reply}
        for name, reply in pairs
    ]
    with grader.token(loaded) as token:
        return await loaded.score(items, loaded.limits.load_seconds, token)


async def find_tasks(loaded: Loaded, names: Sequence[str]) -> dict[str, Task]:
    """Each name's task; indexes are read in one go when they lie close together."""
    found: dict[str, Task] = {}
    indexes = [int(name) for name in names if name.isdecimal() and len(name) < 8]
    if indexes and max(indexes) < 10 * len(indexes):
        found = {str(task.index): task for task in await loaded.tasks(0, max(indexes) + 1)}
    return {name: found.get(name) or await find_task(loaded, name) for name in names}
