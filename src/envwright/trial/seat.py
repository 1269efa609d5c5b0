"""Who plays which seat of an episode. Pure: what an environment has and what was asked for in.

One seat is measured, and the agent plays it. Of the others, one that is meant to be trained
is a player like the measured one: the agent plays it too, unless a model is named for it.
Any other (a user, a judge) is part of the world that the agent is measured in, and is
played by a model of its own: the one named for it, else the judge's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from envwright.environment import Environment
from envwright.errors import UsageError
from envwright.gateway import ENVIRONMENT
from envwright.model import Model, Protocol


@dataclass(frozen=True, slots=True)
class Seating:
    measured: str
    played: Mapping[str, Model] = field(default_factory=dict[str, Model])
    """Seats that somebody else than the agent plays."""


def seat_all(
    environment: Environment, asked: str | None, given: Mapping[str, Model], judge: Model | None
) -> Seating:
    """The seats of an episode; `UsageError` when one is unknown, ambiguous or without a player."""
    if ENVIRONMENT in environment.seats:
        raise UsageError(
            f"environment {environment.name!r} has a seat named {ENVIRONMENT!r}, which here is "
            "the name of what environment code asks itself",
            hint="give the seat another name",
        )
    measured = measured_seat(environment, asked)
    for name in given:
        check_seat(environment, name, "--seat-model")
        if name == measured:
            raise UsageError(
                f"--seat-model {name!r}: the agent plays that seat, for it is the measured one",
                hint="name another seat, or measure another with --seat",
            )
    played: dict[str, Model] = {}
    for seat in environment.seats:
        if seat == measured or (seat not in environment.world and seat not in given):
            continue
        model = given.get(seat, judge)
        if model is None:
            raise UsageError(
                f"seat {seat!r} of environment {environment.name!r} is played by a model, "
                "and none is given for it",
                hint=f"give one with --judge MODEL, or --seat-model {seat}=MODEL",
            )
        if Protocol.OPENAI_CHAT not in model.protocols:
            raise UsageError(
                f"seat {seat!r} speaks {Protocol.OPENAI_CHAT}, and model {model.name!r} "
                f"speaks {' and '.join(model.protocols)}",
                hint=f"name another with --seat-model {seat}=MODEL",
            )
        played[seat] = model
    return Seating(measured, played)


def measured_seat(environment: Environment, asked: str | None) -> str:
    if asked is not None:
        return check_seat(environment, asked, "--seat")
    names = environment.seats
    players = [name for name in names if name not in environment.world]
    candidates = names if len(names) == 1 else players or names
    if len(candidates) == 1:
        return candidates[0]
    raise UsageError(
        f"environment {environment.name!r} has several seats that could be measured: "
        f"{', '.join(candidates)}",
        hint="choose one with --seat",
    )


def check_seat(environment: Environment, name: str, option: str) -> str:
    if name not in environment.seats:
        raise UsageError(
            f"{option}: environment {environment.name!r} has no seat {name!r}",
            hint=f"it has {', '.join(environment.seats)}",
        )
    return name


def check_judge(environment: Environment, judge: Model | None) -> None:
    """Refuse before anything is spent: a judge that cannot be asked grades nothing."""
    if environment.judges and judge is None:
        names = ", ".join(repr(each.name) for each in environment.judges)
        raise UsageError(
            f"environment {environment.name!r} asks a judge ({names}), "
            "and no model is given for it",
            hint="give one with --judge MODEL, or `judge` in [roles] of envwright.toml",
        )
