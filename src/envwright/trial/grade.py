"""From a recorded episode to its outcome. Pure: what happened in, `Outcome` and findings out.

The order is the order of trust: what the gateway saw of the provider, then what
broke around the episode, then the measured seat, then its numbers.
"""

import math
from collections.abc import Mapping

from envwright.errors import Cause, ProviderError
from envwright.finding import Basis, Finding, ReplyCitation, Severity
from envwright.trace import Problem, Score, Trace
from envwright.trace.verifiers import EpisodeRecord, NotANumber
from envwright.trial.outcome import Failed, Outcome, Scored, Stop

STOPS = {
    None: Stop.COMPLETED,
    "agent_completed": Stop.COMPLETED,
    "max_turns": Stop.TURNS,
    "agent_timeout": Stop.TIME,
    "context": Stop.CONTEXT,
    "budget": Stop.BUDGET,
    "max_input_tokens": Stop.TOKENS,
    "max_output_tokens": Stop.TOKENS,
    "max_total_tokens": Stop.TOKENS,
}
"""verifiers' words for an end that is scored; any other is a rule of the environment's own."""

BROKEN_STAGES = {
    "setup_timeout": (Cause.ENVIRONMENT, "setup did not end in time"),
    "finalize_timeout": (Cause.ENVIRONMENT, "finalize did not end in time"),
    "scoring_timeout": (Cause.GRADER, "scoring did not end in time"),
}

CAUSES = {
    "ProviderError": Cause.PROVIDER,
    "SandboxError": Cause.SANDBOX,
    "ToolsetError": Cause.ENVIRONMENT,
    "EnvError": Cause.ENVIRONMENT,
    "HarnessError": Cause.OURS,
    "InterceptionError": Cause.OURS,
    "TunnelError": Cause.OURS,
}
"""verifiers' names of the boundary that broke; a TaskError depends on the stage."""

ELSEWHERE_CAUSES = {
    **CAUSES,
    "HarnessError": Cause.AGENT,
    "InterceptionError": Cause.SANDBOX,
    "TunnelError": Cause.SANDBOX,
}
"""Of an episode that ran elsewhere: its harness and its plumbing were not ours."""

NOT_A_NUMBER_RULE = "EW001"


def judge_episode(
    record: EpisodeRecord,
    failure: ProviderError | None,
    unserved: str | None = None,
    causes: Mapping[str, Cause] = CAUSES,
) -> Outcome:
    """What the episode amounts to.

    A request that was never answered spoils the measurement, whatever environment code
    made of it: a judge that could not be asked did not say no.
    """
    measured = record.measured
    problems = [*record.problems, *(p for trace in record.traces for p in trace.problems)]
    if failure is not None:
        return failed_provider(failure)
    if unserved is not None:
        return Failed(cause=Cause.GRADER, detail=unserved)
    if problems:
        return broke(problems[-1], causes)
    if measured is None:
        return Failed(
            cause=Cause.ENVIRONMENT, detail="the episode left no trace of a measured seat"
        )
    if measured.stop in BROKEN_STAGES:
        cause, detail = BROKEN_STAGES[measured.stop]
        return Failed(cause=cause, detail=detail)
    if not record.ok:
        return Failed(cause=Cause.ENVIRONMENT, detail="the episode is not ok and does not say why")
    return score_trace(measured, record.not_numbers)


def score_trace(measured: Trace, not_numbers: tuple[NotANumber, ...]) -> Outcome:
    if not_numbers:
        said = ", ".join(f"{bad.signal} returned {bad.value}" for bad in not_numbers)
        return Failed(cause=Cause.GRADER, detail=f"not a number: {said}")
    missing = [name for name, score in measured.rewards.items() if score is None]
    if missing:
        return Failed(cause=Cause.GRADER, detail=f"rewards that did not run: {', '.join(missing)}")
    rewards = {name: score for name, score in measured.rewards.items() if score is not None}
    if not rewards:
        return Failed(cause=Cause.GRADER, detail="the measured seat has no reward at all")
    total = total_reward(rewards)
    if not math.isfinite(total):
        return Failed(cause=Cause.GRADER, detail=f"not a number: the weighted sum is {total}")
    metrics = {name: value for name, value in measured.metrics.items() if value is not None}
    return Scored(
        reward=total,
        rewards=rewards,
        metrics=metrics,
        stop=STOPS.get(measured.stop, Stop.ENVIRONMENT),
        skipped=tuple(name for name, value in measured.metrics.items() if value is None),
    )


def total_reward(rewards: dict[str, Score]) -> float:
    """The weighted sum; infinity when it is more than a float holds."""
    try:
        return math.fsum(score.score * score.weight for score in rewards.values())
    except (OverflowError, ValueError):
        return math.inf


def broke(problem: Problem, causes: Mapping[str, Cause]) -> Failed:
    cause = causes.get(problem.type)
    if cause is None:
        in_scoring = problem.type == "TaskError" and "scoring" in problem.message.split(":", 1)[0]
        cause = Cause.GRADER if in_scoring else Cause.ENVIRONMENT
    detail = problem.traceback or f"{problem.type}: {problem.message}"
    return Failed(cause=cause, detail=detail.strip()[-8000:])


def failed_provider(error: ProviderError) -> Failed:
    return Failed(
        cause=Cause.PROVIDER,
        detail=str(error),
        retryable=error.transient,
        retry_after_seconds=error.retry_after_seconds,
        refused=error.refused,
    )


def findings_of(record: EpisodeRecord, key: str, reproduce: str) -> tuple[Finding, ...]:
    """NaN and infinity are refused with proof."""
    return tuple(
        Finding(
            rule=NOT_A_NUMBER_RULE,
            severity=Severity.FAIL,
            basis=Basis.PROVEN,
            statement=f"{bad.signal} returned {bad.value}, which is not a number",
            citations=(ReplyCitation(key=key, signal=bad.signal, quote=bad.value),),
            reproduce=reproduce,
        )
        for bad in record.not_numbers
    )
