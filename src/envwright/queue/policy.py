"""What a failure means for its trial. Pure: the failure and what was tried, in; what next, out.

One table keyed by cause. A deterministic failure is never tried again; a provider's
may pass; a sandbox's is tried once more.
"""

from dataclasses import dataclass

from envwright.errors import Cause

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Rule:
    attempts: int
    """How many attempts a failure of this cause allows in all."""


RULES: dict[Cause, Rule] = {
    Cause.PROVIDER: Rule(attempts=3),
    Cause.SANDBOX: Rule(attempts=2),
    Cause.AGENT: Rule(attempts=1),
    Cause.ENVIRONMENT: Rule(attempts=1),
    Cause.GRADER: Rule(attempts=1),
    Cause.OURS: Rule(attempts=1),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What the policy needs to know of a failed attempt."""

    cause: Cause
    retryable: bool
    retry_after_seconds: float | None = None


def pause_before_retry(failure: Failure, attempts: int, allowed: int | None = None) -> float | None:
    """Seconds until the next attempt after `attempts` charged ones; None when there is none."""
    if not failure.retryable:
        return None
    most = RULES[failure.cause].attempts if allowed is None else allowed
    if attempts >= most:
        return None
    backoff = FIRST_PAUSE_SECONDS * 2.0 ** (attempts - 1)
    asked = failure.retry_after_seconds or 0.0
    return min(max(backoff, asked), LONGEST_PAUSE_SECONDS)
