"""What a failure means for its trial and for its queue. Pure: the clock and chance are passed in.

One table, keyed by cause and, for a provider, by what its error means: whether the trial
is tried again, whether that counts against it, and what the whole queue does meanwhile.
A deterministic failure is never tried again. A provider that asks to wait costs a trial
none of its attempts; how often it may be asked is capped.

A queue learns from what its trials meet. Asked to wait, it is parked until then and runs
half as many at once, one more for each success since. After several failures in a row it
is parked by itself, each time for longer, and one trial goes first.
"""

from dataclasses import dataclass, replace
from enum import StrEnum

from envwright.errors import Cause, Fault
from envwright.model import RetryPolicy

__all__ = [
    "RULES",
    "Again",
    "Effect",
    "Failure",
    "Health",
    "Retry",
    "RetryPolicy",
    "Rule",
    "Tried",
    "next_try",
]

PATIENCE = RetryPolicy()
"""Of a queue whose model has no policy of its own."""
LONGEST_PARK_SECONDS = 24 * 3600.0
"""Of what a provider asks for: after that we look again."""
LONGEST_UNASKED_SECONDS = 60.0
"""A provider that is crowded and does not say for how long is asked again within that."""
SICK_AFTER = 5
"""So many failures of a provider in a row and its queue is parked."""
LESSON_SECONDS = 1.0
"""What many calls learn within it is one lesson."""
LESSON_HOLDS_SECONDS = 120.0
"""And as long as none succeeds, what they learn within this."""


class Retry(StrEnum):
    NEVER = "never"
    NOW = "now"
    LATER = "later"


class Effect(StrEnum):
    """On the queue."""

    NONE = "none"
    COUNT = "count"
    """Parked once there were several in a row; then one trial goes first."""
    EASE = "ease"
    """Parked at once, and fewer at a time from then on."""
    HALT = "halt"
    """Parked at once; then one trial goes first."""


@dataclass(frozen=True, slots=True)
class Rule:
    retry: Retry
    charged: bool = True
    """It counts against the trial's attempts; else against its parks."""
    attempts: int | None = None
    """How many charged attempts it allows in all; None for as many as the model's policy does."""
    effect: Effect = Effect.NONE
    long: bool = False
    """It does not pass soon: `quota_seconds` at the least."""


RULES: dict[tuple[Cause, Fault | None], Rule] = {
    (Cause.PROVIDER, None): Rule(Retry.LATER, effect=Effect.COUNT),
    (Cause.PROVIDER, Fault.RATE): Rule(Retry.LATER, charged=False, effect=Effect.EASE),
    (Cause.PROVIDER, Fault.OVERLOADED): Rule(Retry.LATER, charged=False, effect=Effect.EASE),
    (Cause.PROVIDER, Fault.QUOTA): Rule(Retry.LATER, charged=False, effect=Effect.HALT, long=True),
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
    """Of a provider, where that is known."""
    retry_after_seconds: float | None = None

    @property
    def rule(self) -> Rule:
        return RULES[self.cause, self.fault if self.cause is Cause.PROVIDER else None]


@dataclass(frozen=True, slots=True)
class Tried:
    """What a trial has behind it."""

    charged: int = 0
    parks: int = 0


@dataclass(frozen=True, slots=True)
class Again:
    """The trial is tried once more, after so long."""

    seconds: float
    tried: Tried


def next_try(failure: Failure, before: Tried, chance: float, retry: RetryPolicy) -> Again | None:
    """When the trial is tried again; None when this failure is its outcome.

    `before` is without this failure; `chance` lies in [0, 1).
    """
    rule = failure.rule
    if not failure.retryable or rule.retry is Retry.NEVER:
        return None
    if not rule.charged:
        tried = replace(before, parks=before.parks + 1)
        if tried.parks > retry.parks:
            return None
        return Again(pause_after(failure, tried.parks, chance, retry), tried)
    tried = replace(before, charged=before.charged + 1)
    if tried.charged >= (retry.attempts if rule.attempts is None else rule.attempts):
        return None
    now = rule.retry is Retry.NOW
    return Again(0.0 if now else pause_after(failure, tried.charged, chance, retry), tried)


def pause_after(failure: Failure, times: int, chance: float, retry: RetryPolicy) -> float:
    """As long as the provider asks; else twice as long each time, with jitter."""
    rule, asked = failure.rule, failure.retry_after_seconds
    if asked is not None or rule.long:
        # Not at once, though: who is told "0" again and again would soon be out of parks.
        least = retry.quota_seconds if rule.long else retry.first_seconds
        return min(max(asked or 0.0, least), LONGEST_PARK_SECONDS)
    most = retry.longest_seconds if rule.charged else LONGEST_UNASKED_SECONDS
    return min(backoff(times, retry), most) * (0.75 + 0.25 * chance)


def backoff(times: int, retry: RetryPolicy) -> float:
    return min(retry.first_seconds * 2.0 ** min(times - 1, 32), retry.longest_seconds)


@dataclass(frozen=True, slots=True)
class Health:
    """How a queue is, as all its workers see it. Times are seconds since 1970."""

    limit: int
    live_limit: int
    """Trials at once that the provider bears: half as many after a complaint, one more for each
    success of a trial that began since."""
    parked_until: float = 0.0
    failures: int = 0
    """Of the provider, in a row."""
    trying: bool = False
    """One trial goes first: whether the provider is well again is not known."""
    eased_at: float = 0.0
    """When the live limit was last halved."""

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

    def opened(self) -> "Health":
        """By a person, who knows that the provider is well."""
        return Health.fresh(self.limit)

    def after_success(self, began_at: float, now: float) -> "Health":
        """A trial that began so was answered to its end.

        One that began before the last lesson, or before the last park, tells nothing new.
        """
        if self.trying and min(began_at, now) < self.parked_until:
            return self
        if began_at <= self.eased_at:
            return self
        live = min(self.limit, self.live_limit + 1)
        return replace(self, failures=0, trying=False, live_limit=live)

    def after_failure(
        self, failure: Failure, seconds: float, now: float, retry: RetryPolicy = PATIENCE
    ) -> "Health":
        """`seconds` is how long the trial itself waits; 0 when it is not tried again."""
        if not failure.retryable:
            return self
        asked = failure.retry_after_seconds
        match failure.rule.effect:
            case Effect.NONE:
                return self
            case Effect.COUNT:
                return self.after_breakdown(now, retry).parked(asked or 0.0, now)
            case Effect.EASE:
                eased = self.eased(now)
                # Half as long again as it has lasted, whatever this one trial went through.
                own = min((now - eased.eased_at) / 2, LONGEST_UNASKED_SECONDS)
                pause = max(asked, seconds) if asked is not None else max(own, retry.first_seconds)
                return eased.parked(pause, now)
            case Effect.HALT:
                pause = max(seconds, asked or 0.0, retry.quota_seconds)
                return replace(self, trying=True).parked(pause, now)

    def eased(self, now: float) -> "Health":
        """Half as many at once, unless that was learned already: nothing has succeeded since."""
        since = now - self.eased_at
        known = self.failures > 0 and since < LESSON_HOLDS_SECONDS
        eased = replace(self, failures=max(1, self.failures))
        if known or now < self.parked_until or since < LESSON_SECONDS:
            return eased
        return replace(eased, live_limit=max(1, self.live_limit // 2), eased_at=now)

    def after_breakdown(self, now: float, retry: RetryPolicy) -> "Health":
        if self.trying and now < self.parked_until:
            # The rest of those that ran when it broke down: not one reason more each.
            return self
        failures = self.failures + 1
        if failures < SICK_AFTER and not self.trying:
            return replace(self, failures=failures)
        pause = backoff(max(1, failures - SICK_AFTER + 1), retry)
        return replace(self, failures=failures, trying=True).parked(pause, now)

    def parked(self, seconds: float, now: float) -> "Health":
        until = now + min(seconds, LONGEST_PARK_SECONDS)
        return replace(self, parked_until=max(self.parked_until, until))
