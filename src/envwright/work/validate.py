"""Tasks checked without a model: their own word on their gold, and their reward untouched.

A task may know a check of its own that its gold passes (`Task.validate`); one without it is
unchecked, not valid. A task that is solved although nobody did anything pays for nothing.
"""

from envwright.environment import Kind
from envwright.errors import UsageError
from envwright.host import Loaded, Scoring
from envwright.host.load import read_scoring
from envwright.record import Json, Record, mapping
from envwright.trial.grade import reward_of
from envwright.work.grader import Grader
from envwright.work.request import Request
from envwright.work.result import SOLVED_ABOVE
from envwright.work.select import select_tasks


class TaskValidation(Record):
    index: int
    key: str
    valid: bool | None
    """The task's own word on its gold; None when it has no check, or the check broke."""
    error: str | None = None
    """The last line of what the check raised, or what it returned that is no answer."""
    reward: float | None = None
    """When nobody did anything; None when that has none."""
    noop_error: str | None = None

    @property
    def solved(self) -> bool:
        return self.reward is not None and self.reward > SOLVED_ABOVE

    @property
    def problems(self) -> list[str]:
        said = [f"its check raised: {self.error}"] if self.error else []
        said += ["its gold is not valid"] if self.valid is False else []
        said += [f"solved untouched: reward {self.reward:g}"] if self.solved else []
        return [*said, *([f"not scored: {self.noop_error}"] if self.noop_error else [])]


class Counts(Record):
    valid: int
    invalid: int
    raised: int
    unchecked: int
    solved: int
    scored: int


class Validation(Record):
    counts: Counts
    skipped: tuple[str, ...]
    """Signals that did not run."""
    tasks: tuple[TaskValidation, ...]

    @property
    def sound(self) -> bool:
        """Nothing was found; what is unchecked was not found sound either."""
        return not any(task.problems for task in self.tasks)


async def validate_tasks(loaded: Loaded, count: int | None, grader: Grader) -> Validation:
    environment = loaded.environment
    if environment.kind is not Kind.VERIFIERS:
        raise UsageError(
            f"environment {environment.name!r} is of kind {environment.kind}, "
            "whose tasks have no check of their own",
            hint="use `envwright env score` and the agents oracle and noop",
        )
    tasks = await select_tasks(loaded, Request(agents=(), tasks=count))
    asked: list[Json] = [{"index": task.index, "key": task.key} for task in tasks]
    checked: list[TaskValidation] = []
    skipped: dict[str, None] = {}
    with grader.token(loaded) as token:
        # One task a call: a check may run programs, and each has all the time there is.
        for item in asked:
            args: Json = {"items": [item], "token": token}
            for result in await loaded.ask("validate", args, loaded.limits.load_seconds):
                raw = mapping(result)
                scoring = read_scoring(mapping(raw.get("noop")))
                skipped |= dict.fromkeys(scoring.skipped)
                checked.append(read_validation(item, raw, scoring))
    return Validation(counts=count_all(checked), skipped=tuple(skipped), tasks=tuple(checked))


def read_validation(item: Json, raw: Json, scoring: Scoring) -> TaskValidation:
    reward, problem = reward_of(scoring)
    valid, error = raw.get("valid"), None
    if raw.get("error") is not None:
        failure = mapping(raw.get("error"))
        error = last_line(str(failure.get("traceback") or failure.get("message")))
    elif not (valid is None or isinstance(valid, bool)):
        error = f"it returned {str(valid)[:100]!r}, which is neither True, False nor None"
    return TaskValidation(
        index=item["index"],
        key=item["key"],
        valid=valid if isinstance(valid, bool) and error is None else None,
        error=error,
        reward=reward,
        noop_error=last_line(problem) if problem else None,
    )


def last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:500]


def count_all(checked: list[TaskValidation]) -> Counts:
    return Counts(
        valid=sum(task.valid is True for task in checked),
        invalid=sum(task.valid is False for task in checked),
        raised=sum(task.error is not None for task in checked),
        unchecked=sum(task.valid is None and task.error is None for task in checked),
        solved=sum(task.solved for task in checked),
        scored=sum(task.reward is not None for task in checked),
    )
