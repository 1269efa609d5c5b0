"""Which tasks of an environment a sweep is about."""

from envwright.environment import Task
from envwright.errors import UsageError
from envwright.host import Loaded
from envwright.trial.plan import draw
from envwright.work.request import Request

SEARCHED_FOR_KEY = 100_000
DRAWN_AMONG = 1_000
"""Tasks of an endless environment that a seed draws among, unless more are wanted."""


async def select_tasks(loaded: Loaded, request: Request) -> list[Task]:
    """The tasks that the request names; `UsageError` when it names none."""
    count = loaded.environment.tasks
    name = loaded.environment.name
    if request.selected:
        return served([await find_task(loaded, text) for text in request.selected], name)
    if count.infinite and request.tasks is None:
        raise UsageError(f"environment {name!r} has endless tasks", hint="say how many with -n")
    wanted = request.tasks if request.tasks is not None else count.count or 0
    if request.task_seed is None:
        tasks = await loaded.tasks(0, wanted)
    else:
        among = max(DRAWN_AMONG, wanted) if count.count is None else count.count
        tasks = [
            task
            for place in draw(request.task_seed, among, wanted)
            for task in await loaded.tasks(place, place + 1)
        ]
    if not tasks:
        raise UsageError(f"environment {name!r} has no tasks", hint="check its arguments")
    if count.infinite and len(tasks) < wanted:
        raise UsageError(
            f"environment {name!r} sets INFINITE = True, and ends after {len(tasks)} tasks",
            hint=f"ask for no more than that: -n {len(tasks)}",
        )
    return served(tasks, name)


def served(tasks: list[Task], name: str) -> list[Task]:
    """These tasks; `UsageError` when one of them cannot be run here."""
    for task in tasks:
        if task.unserved is not None:
            raise UsageError(
                f"task {task.index} of environment {name!r}: {task.unserved}",
                hint="choose others with --task",
            )
    return tasks


async def find_task(loaded: Loaded, text: str) -> Task:
    """A task by its index, or by the beginning of its key."""
    name, count = loaded.environment.name, loaded.environment.tasks
    if text.isdecimal() and len(text) < 8:
        found = await loaded.tasks(int(text), int(text) + 1)
        if found:
            return found[0]
        raise UsageError(f"environment {name!r} has no task {text}", hint=f"it has {count.count}")
    if len(text) < 4:
        raise UsageError(
            f"--task {text!r} is neither an index nor the beginning of a key",
            hint="give an index, or 4 characters of a key at least",
        )
    searched = SEARCHED_FOR_KEY if count.count is None else count.count
    matches: dict[str, Task] = {}
    for start in range(0, searched, 5000):
        batch = await loaded.tasks(start, min(searched, start + 5000))
        for task in batch:
            if task.key.startswith(text):
                matches.setdefault(task.key, task)
        if not batch or (matches and count.infinite):
            break
    if len(matches) == 1:
        return next(iter(matches.values()))
    problem = "names several tasks" if matches else "names no task"
    raise UsageError(f"--task {text!r} {problem} of {name!r}", hint="see `envwright env tasks`")
