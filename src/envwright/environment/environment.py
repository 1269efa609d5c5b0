"""`Environment` and `Task`: what a loaded revision says of itself, as data."""

from enum import StrEnum

from pydantic import Field, JsonValue

from envwright.record import Digest, Json, Record


class Kind(StrEnum):
    VERIFIERS = "verifiers"
    """A taskset package: verifiers 0.4 and later."""
    VERIFIERS_V0 = "verifiers-v0"
    """A package with `load_environment()`: verifiers 0.1."""


class Signal(Record):
    """A reward and its weight."""

    name: str
    weight: float
    group: bool = False
    """Whether it looks at all rollouts of a group at once: here a group is one trial."""
    runtime: bool = False
    """Whether it needs one: a folder and processes of the attempt's own."""


class Judge(Record):
    """A judge that the environment's configuration holds, known before anything runs."""

    name: str
    model: str
    """The name that the environment asks for; the gateway maps it."""


class Argument(Record):
    """What an environment may be given with `--arg name=value`."""

    name: str
    type: str
    default: JsonValue = None


class TaskCount(Record):
    count: int | None = Field(ge=0)
    """None when the taskset is endless."""
    infinite: bool
    said_infinite: bool = False
    """It calls itself endless, and ends."""


class Environment(Record):
    kind: Kind
    name: str
    revision: Digest
    tasks: TaskCount
    rewards: tuple[Signal, ...] = ()
    metrics: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    seats: tuple[str, ...] = ()
    """The roles inside an episode."""
    harness: str | None = None
    """One that the package brings along; here a chat loop plays every seat all the same."""
    world: tuple[str, ...] = ()
    """Those of them that are no players but a part of what players are measured in."""
    episodic: bool = False
    """Whether what is said once is not all there is to score: turns to come, other seats, or
    a judgement over the whole."""
    staged: bool = False
    """Whether a signal is given a folder and processes of the attempt's own."""
    judges: tuple[Judge, ...] = ()
    args: tuple[Argument, ...] = ()


class Task(Record):
    """One item of an environment."""

    index: int = Field(ge=0)
    key: Digest
    """Of the row without its index, so that duplicates show."""
    prompt: str
    row: Json
    unserved: str | None = None
    """Why it cannot be run here, in words."""
