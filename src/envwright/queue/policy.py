"""What a failure means for its trial and for its queue. Pure: the clock and chance are passed in.

One table, keyed by cause and, for a provider, by what its error means: whether the trial
is tried again, whether that counts against it, and what the whole queue does meanwhile.
A deterministic failure is never tried again. Waiting for a provider that asks to wait
costs a trial none of its attempts; how often it may wait is capped.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from envwright.errors import Cause, Fault

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 300.0
QUOTA_PAUSE_SECONDS = 900.0
LONGEST_WAIT_SECONDS = 24 * 3600.0
"""Of what a provider asks for: beyond it we look again."""
MOST_PARKS = 100
"""How often a trial may be sent away by its provider before that is its failure."""
SICK_AFTER = 5
"""So many failures of a provider in a row and its queue is parked."""
EASE_EVERY_SECONDS = 1.0
"""What many calls learn at once is one lesson."""


class Retry(StrEnum):
    NEVER = "never"
    NOW = "now"
    LATER = "later"


class Effect(StrEnum):
    """On the queue."""

    NONE = "none"
    COUNT = "count"
    """Parked once there were several in a row."""
    PARK = "park"
    """Parked at once, and fewer at a time from then on."""


@dataclass(frozen=True, slots=True)
class Rule:
    retry: Retry
    attempts: int = 1
    """How many charged attempts a failure of this kind allows in all."""
    charged: bool = True
    effect: Effect = Effect.NONE
    least_seconds: float = 0.0
    """No earlier than that, whatever the provider asks for."""


RULES: dict[tuple[Cause, Fault | None], Rule] = {
    (Cause.PROVIDER, None): Rule(Retry.LATER, attempts=3, effect=Effect.COUNT),
    (Cause.PROVIDER, Fault.RATE): Rule(Retry.LATER, charged=False, effect=Effect.PARK),
    (Cause.PROVIDER, Fault.OVERLOADED): Rule(Retry.LATER, charged=False, effect=Effect.PARK),
    (Cause.PROVIDER, Fault.QUOTA): Rule(
        Retry.LATER, charged=False, effect=Effect.PARK, least_seconds=QUOTA_PAUSE_SECONDS
    ),
    (Cause.PROVIDER, Fault.CONTEXT): Rule(Retry.NEVER),
    (Cause.SANDBOX, None): Rule(Retry.NOW, attempts=2),
    (Cause.AGENT, None): Rule(Retry.NEVER),
    (Cause.ENVIRONMENT, None): Rule(Retry.NEVER),
    (Cause.GRADER, None): Rule(Retry.NEVER),
    (Cause.OURS, None): Rule(Retry.NEVER),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """What the policy needs to know of a failed attempt."""

    cause: Cause
    retryable: bool
    fault: Fault | None = None
    retry_after_seconds: float | None = None

    @property
    def rule(self) -> Rule:
        return RULES.get((self.cause, self.fault)) or RULES[self.cause, None]


@dataclass(frozen=True, slots=True)
class Tried:
    """What a trial has behind it, the failure that is asked about included."""

    charged: int = 0
    parks: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """The trial is tried once more, after so long."""

    seconds: float
    tried: Tried


def next_try(
    failure: Failure, before: Tried, chance: float, allowed: int | None = None
) -> Again | None:
    """When the trial is tried again; None when this failure is its outcome.

    `allowed` is the model's own number of attempts, `chance` lies in [0, 1).
    """
    rule = failure.rule
    if not failure.retryable or rule.retry is Retry.NEVER:
        return None
    if rule.charged:
        tried = replace(before, charged=before.charged + 1)
        most = allowed if allowed is not None and failure.cause is Cause.PROVIDER else rule.attempts
        if tried.charged >= most:
            return None
        if rule.retry is Retry.NOW:
            return Again(0.0, tried)
        return Again(wait_for(failure, tried.charged, chance), tried)
    tried = replace(before, parks=before.parks + 1)
    return (
        None if tried.parks > MOST_PARKS else Again(wait_for(failure, tried.parks, chance), tried)
    )


def wait_for(failure: Failure, times: int, chance: float) -> float:
    """As long as the provider asks, to the second; else twice as long each time, with jitter."""
    asked, least = failure.retry_after_seconds, failure.rule.least_seconds
    if asked is not None:
        return min(max(asked, least), LONGEST_WAIT_SECONDS)
    backoff = min(FIRST_PAUSE_SECONDS * 2.0 ** min(times - 1, 16), LONGEST_PAUSE_SECONDS)
    return max(backoff * (0.75 + 0.5 * chance), least)


@dataclass(frozen=True, slots=True)
class Health:
    """How a queue is. Times are seconds of one clock, that of whoever passes `now`."""

    limit: int
    live_limit: int
    """Trials at once that the provider bears: halved when it complains, one more per success."""
    parked_until: float = 0.0
    failures: int = 0
    """In a row."""
    trying: bool = False
    """It was parked: one trial goes first."""
    eased_at: float = float("-inf")

    @classmethod
    def fresh(cls, limit: int) -> "Health":
        return cls(limit=limit, live_limit=limit)

    def room(self, now: float) -> int:
        """How many trials may run."""
        if now < self.parked_until:
            return 0
        return 1 if self.trying else self.live_limit

    def with_limit(self, limit: int) -> "Health":
        """A limit that was raised is a fresh start; one that was lowered holds at once."""
        live = limit if limit > self.limit else min(self.live_limit, limit)
        return replace(self, limit=limit, live_limit=live)

    def after_success(self, began_at: float, now: float) -> "Health":
        live = self.live_limit if self.trying else min(self.limit, self.live_limit + 1)
        return replace(self, failures=0, trying=False, live_limit=live)

    def after_failure(self, failure: Failure, seconds: float, now: float) -> "Health":
        """`seconds` is how long the trial itself waits."""
        match failure.rule.effect:
            case Effect.NONE:
                return self
            case Effect.PARK:
                lesson = now - self.eased_at >= EASE_EVERY_SECONDS
                return replace(
                    self,
                    parked_until=max(self.parked_until, now + seconds),
                    trying=True,
                    live_limit=max(1, self.live_limit // 2) if lesson else self.live_limit,
                    eased_at=now if lesson else self.eased_at,
                )
            case Effect.COUNT:
                failures = self.failures + 1
                sick = failures >= SICK_AFTER or self.trying
                return replace(
                    self,
                    failures=failures,
                    parked_until=max(self.parked_until, now + seconds)
                    if sick
                    else self.parked_until,
                    trying=self.trying or sick,
                )
