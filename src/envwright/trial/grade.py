"""From a recorded episode to its outcome. Pure: what happened in, `Outcome` and findings out.

The order is the order of trust: what the gateway saw of the provider, then what
broke around the episode, then the measured seat, then its numbers.
"""

import math
from collections.abc import Iterable, Mapping

from envwright.errors import Cause, ProviderError
from envwright.finding import Basis, Finding, ReplyCitation, Severity
from envwright.host import Scoring
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
NO_SUM = "the weighted sum of the rewards is"


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
    if not measured:
        return Failed(
            cause=Cause.ENVIRONMENT, detail="the episode left no trace of a measured seat"
        )
    for trace in record.traces:
        if trace.stop in BROKEN_STAGES:
            cause, detail = BROKEN_STAGES[trace.stop]
            return Failed(cause=cause, detail=detail)
    if not record.ok:
        return Failed(cause=Cause.ENVIRONMENT, detail="the episode is not ok and does not say why")
    return score_traces(measured, record.not_numbers)


def score_traces(measured: tuple[Trace, ...], not_numbers: tuple[NotANumber, ...]) -> Outcome:
    """The mean over the runs of the measured seat that have a reward: its tries are one trial."""
    if not_numbers:
        said = ", ".join(f"{bad.signal} returned {bad.value}" for bad in not_numbers)
        return Failed(cause=Cause.GRADER, detail=f"not a number: {said}")
    missing = unique(name for t in measured for name, score in t.rewards.items() if score is None)
    if missing:
        return Failed(cause=Cause.GRADER, detail=f"rewards that did not run: {', '.join(missing)}")
    tries = [trace for trace in measured if trace.rewards]
    skipped = unique(name for trace in measured for name in skipped_in(trace))
    if not tries:
        lost = f"; these did not run: {', '.join(skipped)}" if skipped else ""
        detail = f"the measured seat has no reward at all{lost}"
        return Failed(cause=Cause.GRADER, detail=detail)
    given = [{n: s for n, s in trace.rewards.items() if s is not None} for trace in tries]
    total = sum(map(total_reward, given)) / len(given)
    if not math.isfinite(total):
        return Failed(cause=Cause.GRADER, detail=f"not a number: the weighted sum is {total}")
    stops = [STOPS.get(trace.stop, Stop.ENVIRONMENT) for trace in tries]
    return Scored(
        reward=total,
        rewards=mean_rewards(given),
        metrics=mean_metrics(tries),
        stop=next((stop for stop in stops if stop is not Stop.COMPLETED), Stop.COMPLETED),
        skipped=skipped,
    )


def skipped_in(trace: Trace) -> list[str]:
    return [*trace.skipped, *(name for name, value in trace.metrics.items() if value is None)]


def unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def mean_rewards(given: list[dict[str, Score]]) -> dict[str, Score]:
    """Each reward's mean over the tries, so weighted that they add up to the trial's reward."""
    if len(given) == 1:
        return given[0]
    found: dict[str, Score] = {}
    for name in unique(name for rewards in given for name in rewards):
        scores = [rewards[name] for rewards in given if name in rewards]
        weights = {score.weight for score in scores}
        if len(weights) == 1:
            mean = math.fsum(score.score for score in scores) / len(given)
            found[name] = Score(score=mean, weight=weights.pop())
        else:
            mean = math.fsum(score.score * score.weight for score in scores) / len(given)
            found[name] = Score(score=mean)
    return found


def mean_metrics(tries: list[Trace]) -> dict[str, float]:
    """Each metric's mean over the tries that have it."""
    values: dict[str, list[float]] = {}
    for trace in tries:
        for name, value in trace.metrics.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    return {name: math.fsum(each) / len(each) for name, each in values.items()}


def total_reward(rewards: dict[str, Score]) -> float:
    """The weighted sum; infinity when it is more than a float holds."""
    try:
        return math.fsum(score.score * score.weight for score in rewards.values())
    except (OverflowError, ValueError):
        return math.inf


def reward_of(scoring: Scoring) -> tuple[float | None, str | None]:
    """The weighted sum, or the problem in the way of one; neither when there is no reward."""
    rewards = {name: score for name, score in scoring.rewards.items() if score is not None}
    if scoring.not_numbers:
        return None, ", ".join(f"{bad.signal} returned {bad.value}" for bad in scoring.not_numbers)
    if scoring.problem:
        return None, scoring.problem
    if len(rewards) < len(scoring.rewards):
        missing = [name for name in scoring.rewards if name not in rewards]
        return None, f"rewards that did not run: {', '.join(missing)}"
    total = total_reward(rewards) if rewards else None
    if total is not None and not math.isfinite(total):
        return None, f"{NO_SUM} {total}"
    return total, None


def broke(problem: Problem, causes: Mapping[str, Cause]) -> Failed:
    where = problem.message.split(":", 1)[0]
    # An Env's own finalize is where it compares what its seats did: it gives rewards.
    cause = Cause.GRADER if ".finalize()" in where else causes.get(problem.type)
    if cause is None:
        in_scoring = problem.type == "TaskError" and "scoring" in where
        cause = Cause.GRADER if in_scoring else Cause.ENVIRONMENT
    detail = problem.traceback or f"{problem.type}: {problem.message}"
    return Failed(cause=cause, detail=detail.strip()[-8000:])


def failed_provider(error: ProviderError) -> Failed:
    return Failed(
        cause=Cause.PROVIDER,
        detail=str(error),
        model=error.model,
        fault=error.code,
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
