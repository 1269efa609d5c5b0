"""One attempt at one trial, from claim to grade; here alone an exception becomes a record.

It reads as: grant, act, grade. What the environment's process says is checked; what the
provider did is taken from the gateway. A host that died under several trials charges
none of them: the attempt is lost, and the trial is run again by itself.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from envwright.agent import AgentKind, Assignment
from envwright.budget import Budget
from envwright.environment.egress import Traffic
from envwright.errors import Broken, Cause, ProviderError
from envwright.gateway import STRAY, Exchange, Gateway, Grant, text_of
from envwright.host import CallError, HostDied
from envwright.model import Model
from envwright.record import Json, mapping
from envwright.trace import EGRESS, Role, Step, Trace
from envwright.trace.verifiers import read_episode
from envwright.trial.attempt import Attempt, AttemptState
from envwright.trial.grade import failed_provider, findings_of, judge_episode
from envwright.trial.outcome import Failed, Grade, Outcome
from envwright.trial.spec import Limits, TrialSpec
from envwright_host.frames import without_surrogates

GRACE_SECONDS = 30.0


class Hosts(Protocol):
    """Whoever runs a call in a host of the trial's revision."""

    async def call(
        self,
        name: str,
        args: Json,
        *,
        seconds: float,
        patience: Mapping[str, float],
        isolated: bool,
    ) -> Any: ...


@dataclass(frozen=True, slots=True)
class Bench:
    """What an attempt is run with."""

    hosts: Hosts
    gateway: Gateway
    model: Model | None
    judge: Model | None
    limits: Limits
    assignment: Assignment
    replies: list[Json] = field(default_factory=list[Json])
    played: Mapping[str, Model] = field(default_factory=dict[str, Model])
    """Seats that others than the agent play."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


async def run(
    spec: TrialSpec, n: int, bench: Bench, *, isolated: bool
) -> tuple[Attempt, Grade | None]:
    """The attempt and its grade; no grade when the attempt was lost through others."""
    started_at = bench.now()
    grant = Grant(
        trial=spec.id,
        attempt=n,
        seat_model=bench.model,
        environment_model=bench.judge,
        played=bench.played,
        budget=spec.cap or Budget(),
    )
    token = bench.gateway.open(grant)
    before, strays = bench.gateway.tally.seen(), bench.gateway.strays
    traces: tuple[Trace, ...] = ()
    findings = ()
    outcome: Outcome
    try:
        limits = bench.limits
        seconds = limits.wall_seconds + 2 * limits.scoring_seconds + GRACE_SECONDS
        record = await bench.hosts.call(
            "run",
            request_of(spec, bench, token),
            seconds=seconds,
            patience=patience_of(limits),
            isolated=isolated,
        )
        episode = read_episode(mapping(record), grant.calls, spec.seat)
        traces = episode.traces
        stray = STRAY if bench.gateway.strays > strays else None
        outcome = judge_episode(episode, grant.failure, grant.unserved or stray)
        findings = findings_of(episode, spec.key, f"envwright trial show {spec.id[:12]}")
    except asyncio.CancelledError:
        raise
    except HostDied as died:
        if not died.alone:
            return (
                attempt_of(
                    spec,
                    n,
                    started_at,
                    bench,
                    AttemptState.LOST,
                    remains(grant, spec.seat),
                    died.why,
                ),
                None,
            )
        outcome = outcome_of_death(died, grant.failure)
    except CallError as error:
        outcome = outcome_of_error(error, grant.failure)
    except Broken as error:
        outcome = Failed(cause=error.cause, detail=str(error), retryable=True)
    except Exception as error:  # noqa: BLE001 - our own bug is a record too, never a number
        outcome = Failed(cause=Cause.OURS, detail=f"{type(error).__name__}: {error}")
    finally:
        bench.gateway.close_grant(grant)
    attempt = attempt_of(
        spec,
        n,
        started_at,
        bench,
        AttemptState.FINISHED,
        with_traffic(traces or remains(grant, spec.seat), bench.gateway.tally.since(before)),
        None,
    )
    grade = Grade(
        trial=spec.id,
        attempt=n,
        revision=spec.revision,
        outcome=outcome,
        findings=findings,
        graded_at=bench.now(),
    )
    return attempt, grade


def patience_of(limits: Limits) -> dict[str, float]:
    """How long environment code may hold up a process of its own, by phase."""
    return {
        "setup": limits.wall_seconds,
        "agent": limits.wall_seconds,
        "finalize": limits.scoring_seconds,
        "scoring": limits.scoring_seconds,
    }


def request_of(spec: TrialSpec, bench: Bench, token: str) -> Json:
    agent: Json = {"kind": str(spec.agent.kind)}
    if spec.agent.kind is AgentKind.ORACLE:
        agent["gold_field"] = spec.agent.gold_field
    if spec.agent.kind is AgentKind.SCRIPTED:
        agent["replies"] = bench.replies
    return {
        "index": spec.index,
        "key": spec.key,
        "agent": agent,
        "token": token,
        "played": list(bench.played),
        "sampling": spec.sampling.of_repetition(spec.n).model_dump(exclude_none=True),
        "limits": {
            "wall_seconds": min(bench.assignment.wall_seconds, bench.limits.wall_seconds),
            "scoring_seconds": bench.limits.scoring_seconds,
        },
    }


def attempt_of(  # noqa: PLR0913 - the parts of one record
    spec: TrialSpec,
    n: int,
    started_at: datetime,
    bench: Bench,
    state: AttemptState,
    traces: tuple[Trace, ...],
    problem: str | None,
) -> Attempt:
    return Attempt(
        trial=spec.id,
        n=n,
        state=state,
        started_at=started_at,
        ended_at=bench.now(),
        traces=traces,
        problem=problem,
    )


def outcome_of_death(died: HostDied, failure: ProviderError | None) -> Outcome:
    if failure is not None and died.phase not in ("finalize", "scoring"):
        return failed_provider(failure)
    cause = Cause.GRADER if died.phase == "scoring" else Cause.ENVIRONMENT
    where = f" during {died.phase}" if died.phase else ""
    detail = f"the environment's process ended{where}: {died.why}"
    said = died.tail.strip()[-4000:]
    return Failed(cause=cause, detail=f"{detail}\n{said}" if said else detail)


def outcome_of_error(error: CallError, failure: ProviderError | None) -> Outcome:
    if failure is not None:
        return failed_provider(failure)
    if error.cause == "agent":
        return Failed(cause=Cause.AGENT, detail=str(error))
    cause = Cause.GRADER if error.phase == "scoring" else Cause.ENVIRONMENT
    if error.cause == "ours":
        cause = Cause.OURS
    return Failed(cause=cause, detail=error.traceback.strip() or f"{error.type}: {error}")


def remains(grant: Grant, measured: str | None) -> tuple[Trace, ...]:
    """What the gateway saw of a conversation whose own record is gone."""
    seats = list(dict.fromkeys(call.seat for call in grant.calls)) or list(grant.exchanges)
    return tuple(
        Trace(
            seat=seat,
            measured=position == 0 if measured is None else seat == measured,
            steps=steps_of(grant.exchanges.get(seat)),
            calls=tuple(call for call in grant.calls if call.seat == seat),
            info={"recovered": "from the gateway: the environment's own record is gone"},
        )
        for position, seat in enumerate(seats)
    )


def with_traffic(traces: tuple[Trace, ...], traffic: tuple[Traffic, ...]) -> tuple[Trace, ...]:
    """The traces with what went out of the revision's sandboxes meanwhile.

    Trials share sandboxes, so a neighbour's connections are among it.
    """
    if not traffic or not traces:
        return traces
    at = next((i for i, trace in enumerate(traces) if trace.measured), 0)
    said = [each.model_dump(mode="json") for each in traffic]
    told = traces[at].model_copy(update={"info": {**traces[at].info, EGRESS: said}})
    return (*traces[:at], told, *traces[at + 1 :])


def steps_of(exchange: Exchange | None) -> tuple[Step, ...]:
    if exchange is None:
        return ()
    messages = map(mapping, without_surrogates([*exchange.asked, *exchange.said]))
    steps: list[Step] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        steps.append(
            Step(
                role=Role(role) if role in set(Role) else Role.USER,
                content=text_of(message.get("content")),
                sampled=number >= len(exchange.asked),
            )
        )
    return tuple(steps)
