"""`Part`: one environment of a sweep with all that a worker needs to run its trials.

It is stored and sent, and holds no key: models name the variable that has theirs, secrets are
names in the plan, and each machine takes the values from its own settings. What a worker
loaded must be what was planned: `refusal_of` says where it is not, and what to do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ConfigDict, JsonValue

from envwright.agent.script import Script
from envwright.budget import Spending
from envwright.environment.egress import Egress, Mode
from envwright.errors import UsageError
from envwright.host import Loaded, Permit
from envwright.model import Model
from envwright.record import Digest, Record
from envwright.trial.plan import Plan
from envwright.trial.seat import check_judge, seat_all
from envwright.trial.spec import Limits

NOWHERE = "http://127.0.0.1"
"""Of a model that runs on whatever machine asks it."""


@dataclass(frozen=True, slots=True)
class Cast:
    """Who the names stand for."""

    models: Mapping[str, Model]
    scripts: Mapping[str, Script]
    judge: Model | None = None
    seats: Mapping[str, Model] = field(default_factory=dict[str, Model])
    """Models that were named for seats."""


class Part(Record):
    # Whoever sends one may have put a key into it: it is not repeated.
    model_config = ConfigDict(hide_input_in_errors=True)

    title: str
    """What its table in the settings is called."""
    environment: str
    revision: Digest
    plan: Plan
    models: dict[str, Model] = {}
    """Those of the agents, by name."""
    scripts: dict[str, Script] = {}
    judge: Model | None = None
    seats: dict[str, Model] = {}
    """Models that were named for seats."""
    venv: Path | None = None
    """The user's own, in place of one that is built: at the same path on every worker."""
    sandbox: str
    python: str | None = None
    """The versions that the environment accepts."""
    estimates: dict[str, Spending] = {}
    """Agent → what one of its trials may cost, where nothing is known yet."""

    @property
    def args(self) -> dict[str, JsonValue]:
        return self.plan.args

    @property
    def limits(self) -> Limits:
        return self.plan.limits

    @property
    def seat(self) -> str | None:
        """The measured one; None where there is no choice."""
        return self.plan.seat

    @property
    def asked(self) -> tuple[Model, ...]:
        """Every model that its trials may ask."""
        judge = (self.judge,) if self.judge else ()
        return (*self.models.values(), *judge, *self.seats.values())

    @property
    def cast(self) -> Cast:
        return Cast(self.models, self.scripts, self.judge, self.seats)


def part_of(loaded: Loaded, cast: Cast, plan: Plan, sandbox: str) -> Part:
    own = loaded.permit.venv
    return Part(
        title=loaded.source.title,
        environment=loaded.environment.name,
        revision=loaded.environment.revision,
        plan=plan,
        models=without_places(cast.models),
        scripts=dict(cast.scripts),
        judge=without_place(cast.judge) if cast.judge else None,
        seats=without_places(cast.seats),
        venv=own.folder if own else None,
        sandbox=sandbox,
        python=loaded.source.requires_python,
    )


def without_places(models: Mapping[str, Model]) -> dict[str, Model]:
    return {name: without_place(model) for name, model in models.items()}


def without_place(model: Model) -> Model:
    """A model of this machine is any worker's own."""
    return model.model_copy(update={"base_url": NOWHERE}) if model.free else model


def refusal_of(part: Part, loaded: Loaded) -> str | None:
    """Why what was loaded is not what was planned; None when it is."""
    environment, plan = loaded.environment, part.plan
    if (environment.revision, loaded.source.title) != (part.revision, part.title):
        return f"what was loaded is {loaded.source.title} at {environment.revision[:12]}"
    if loaded.args != part.args:
        return "it was loaded with other arguments"
    if (why := refusal_of_permit(part, loaded.permit)) is not None:
        return why
    if loaded.venv != plan.venv:
        return venv_differs(part)
    if loaded.prepared != plan.prepared:
        return (
            "what it downloads while it is prepared is not the same here "
            f"({short(loaded.prepared)}, planned with {short(plan.prepared)}). hint: "
            "copy prepared/ from the home of the machine that submitted it, or submit it again"
        )
    try:
        check_judge(environment, part.judge)
        seating = seat_all(environment, part.seat, part.seats, part.judge)
    except UsageError as error:
        return str(error)
    measured = seating.measured if len(environment.seats) > 1 else None
    played = {name: model.content for name, model in seating.played.items()}
    if (measured, played) != (plan.seat, plan.played):
        return f"its seats are others here: {', '.join(environment.seats)}. hint: submit it again"
    return None


def refusal_of_permit(part: Part, permit: Permit) -> str | None:
    """Why what this machine gives the environment is not what was planned."""
    plan, table = part.plan, f"[environments.{part.title!r}]"
    if way_out(permit) != plan.egress:
        planned = str(plan.egress.mode if plan.egress else Mode.NONE)
        return (
            f"its egress is {permit.egress.mode} here, and {planned} was planned, "
            f"or their allow lists differ. hint: give {table} the same egress and allow"
        )
    if (names := tuple(sorted(permit.secrets.values))) != plan.secrets:
        return (
            f"its secrets are {', '.join(names) or 'none'} here, and "
            f"{', '.join(plan.secrets) or 'none'} were planned. hint: give {table} the same secrets"
        )
    if (permit.prepare is None) != (plan.prepared is None):
        here = "not prepared" if permit.prepare is None else "prepared"
        return f"it is {here} on this machine alone. hint: give {table} the same prepare"
    content = permit.venv.content if permit.venv else None
    return None if content == plan.venv else venv_differs(part)


def way_out(permit: Permit) -> Egress | None:
    return permit.egress if permit.egress.mode is not Mode.NONE else None


def venv_differs(part: Part) -> str:
    return (
        f"venv {part.venv} does not hold what it held where the sweep was submitted. "
        "hint: install the same versions, or submit it again"
    )


def short(content: str | None) -> str:
    return content[:12] if content else "nothing"
