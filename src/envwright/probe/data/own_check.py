"""EW209: a task's own check of its gold (`Task.validate`), which says no or breaks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from envwright.environment import Task
from envwright.finding import Severity, TaskCitation
from envwright.probe.found import Hit, Place, quote
from envwright.probe.rule import Check, Rule

OWN_CHECK = Rule(
    id="EW209",
    name="fails-its-own-check",
    defect="missing-gold",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="`Task.validate` is run on up to 20 sampled tasks, in the task's own runtime.",
    hit="It says False, raises, does not end, or returns what is no answer.",
    why="By its author's own word the task cannot be solved: whoever tries it is paid for "
    "something else.",
    exempt="Tasks without a check of their own, and those that answer None.",
)
SHOWN = 3


@dataclass(frozen=True, slots=True)
class Checked:
    """What a task's own check said."""

    task: Task
    valid: bool | None
    problem: str | None = None
    """Why it has no answer, in words."""


def own_check_hits(checked: Sequence[Checked], place: Place) -> Iterator[Hit]:
    for bad, said in (
        ([one for one in checked if one.valid is False], "its own check (Task.validate) refuses"),
        ([one for one in checked if one.problem is not None], "its own check breaks on"),
    ):
        if bad:
            why = bad[0].problem
            yield Hit(
                f"{said} the gold of {len(bad)} of {len(checked)} tasks"
                + (f": {quote(why)}" if why else ""),
                [cite(one) for one in bad[:SHOWN]],
                command=f"envwright env validate {place.command}",
            )


def cite(one: Checked) -> TaskCitation:
    return TaskCitation(
        key=one.task.key, field="validate", quote=quote(one.problem or "False") or "(empty)"
    )
