"""What a user asked for, in words: names are not looked up yet.

`Flags` is what was typed, `SweepOptions` what that and a sweep file come to: one
`RunOptions` for each environment.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue

from envwright.budget import Budget
from envwright.settings import ModelTable, Settings
from envwright.trial import Sampling

LOWEST_PRIORITY = 2**31 - 1
"""The largest number that a queue can sort by."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Agents on the tasks of one environment."""

    environment: str
    agents: tuple[str, ...]
    venv: Path | None = None
    tasks: int | None = None
    trials: int = 1
    selected: tuple[str, ...] = ()
    task_seed: str | None = None
    gold_field: str | None = None
    endpoint: str | None = None
    key_env: str | None = None
    judge: str | None = None
    seat: str | None = None
    seat_models: Mapping[str, str] = field(default_factory=dict[str, str])
    sampling: Sampling = Sampling()
    limit: int | None = None
    fresh: bool = False
    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class SweepOptions:
    """Runs that are submitted at once, and what holds for all of them."""

    runs: tuple[RunOptions, ...]
    budget: Budget | None = None
    """Over that of the settings, cap by cap."""
    priority: int = 0
    """Lower goes first."""
    limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Trials at once by queue, over a model's own limit."""
    labels: tuple[str, ...] = ()
    until_certain: bool = False
    models: Mapping[str, ModelTable] = field(default_factory=dict[str, ModelTable])
    """Over those of the settings, key by key."""

    def over(self, settings: Settings) -> Settings:
        """The settings that this sweep runs under."""
        return settings.under(self.models, self.budget)


@dataclass(frozen=True, slots=True)
class Flags:
    """What was typed; None, nothing or False for what was not."""

    environment: str | None = None
    agents: tuple[str, ...] = ()
    venv: Path | None = None
    tasks: int | None = None
    trials: int | None = None
    selected: tuple[str, ...] = ()
    task_seed: str | None = None
    gold_field: str | None = None
    endpoint: str | None = None
    key_env: str | None = None
    judge: str | None = None
    seat: str | None = None
    seat_models: Mapping[str, str] = field(default_factory=dict[str, str])
    sampling: Sampling = Sampling()
    limit: int | None = None
    fresh: bool = False
    args: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    budget: Budget | None = None
    priority: int | None = None
    labels: tuple[str, ...] = ()
    until_certain: bool = False
