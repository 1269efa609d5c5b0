"""`Case`: a sampled task as probes see it, with its gold as far as that is known."""

from dataclasses import dataclass

from envwright.environment import Environment, Task


@dataclass(frozen=True, slots=True)
class Case:
    task: Task
    gold: str | None = None
    """The right answer, bare."""
    said: str | None = None
    """The gold in the wording that earns most, as an agent would say it."""
    best: float | None = None
    """What that earned."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The cases that probes are run on, and what they were drawn from."""

    environment: Environment
    cases: tuple[Case, ...]
    total: int | None
    """Of tasks; None when they are endless."""
    gold_from: str | None = None
    """Where the gold is from, in words; None when there is none."""
    gold_field: str | None = None
    """The row's field that holds it, where the user named one."""
    form: tuple[str, str] = ("", "")
    """What every row writes before and behind its gold, which is known without it."""
    alone: frozenset[str] = frozenset()
    """Rewards whose source sees the last reply alone: no turn and no tool moves them."""
    is_played: bool = False
    """Whether every reply was said in an episode, which pays otherwise than scoring it does."""
    name: str = ""
    """The environment as the user called it, with its arguments: ready for a shell.
    Where it is empty, the environment's own name is meant."""
