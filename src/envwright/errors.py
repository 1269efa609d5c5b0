"""The vocabulary of failure: every error names the boundary that broke.

    EnvwrightError              a message, and a hint that says what to do
    ├── UsageError              the user's input: exit 2, nothing was started
    │   └── Unserved            this worker lacks what the work needs; another may have it
    ├── Interrupted             Ctrl-C: exit 130
    └── Broken                  a measurement broke; `cause` names the boundary
        ├── ProviderError       the model's provider: status, Retry-After, refusal
        ├── SandboxError        bubblewrap could not start, or died
        ├── AgentError          the agent's program never started
        ├── EnvironmentFailure  load, setup, tool, user or finalize code
        └── GraderError         a reward, metric or judge

Adapters raise the type at the source; everything else raises plain Python.
`boundary()` attributes what escapes. Exactly one function turns an exception
into a record: `trial.run`. What is none of these is our own bug: `Cause.OURS`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from enum import StrEnum
from typing import ClassVar


class Cause(StrEnum):
    """Which boundary broke when a trial failed."""

    PROVIDER = "provider"
    SANDBOX = "sandbox"
    AGENT = "agent"
    ENVIRONMENT = "environment"
    GRADER = "grader"
    OURS = "ours"


class Fault(StrEnum):
    """What a provider's error means, where that is known."""

    CONTEXT = "context_length_exceeded"
    """The conversation is too long: no failure of the provider."""
    QUOTA = "quota"
    """Nothing is left to pay with: no call will be answered soon."""
    OVERLOADED = "overloaded"
    RATE = "rate_limited"


class EnvwrightError(Exception):
    """Base of every error that is shown to a person."""

    def __init__(self, message: str, *, hint: str | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.detail = detail
        """All there is to say, such as a traceback; shown on request."""

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        end = "" if self.message.endswith(("?", "!", ".")) else "."
        return f"{self.message}{end} hint: {self.hint}"


class UsageError(EnvwrightError):
    """Bad input: what, which, and what to do."""


class Unserved(UsageError):
    """This worker lacks what a sweep's environment needs: the work is left for another."""


class Interrupted(EnvwrightError):
    """The user asked to stop."""


class Broken(EnvwrightError):
    """A measurement broke; it has no reward."""

    cause: ClassVar[Cause] = Cause.OURS


class ProviderError(Broken):
    """A model's provider failed or refused."""

    cause = Cause.PROVIDER

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after_seconds: float | None = None,
        code: Fault | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.code = code
        self.model: str | None = None
        """The one that was asked."""
        self.tries = 1

    @property
    def refused(self) -> bool:
        """The provider will answer the same to every call: key, payment, unknown model."""
        return self.status in (401, 402, 403, 404)

    @property
    def transient(self) -> bool:
        """The same call may succeed later."""
        if self.refused or self.code == Fault.CONTEXT:
            return False
        if self.code is not None:
            return True
        return self.status is None or may_pass(self.status)

    @property
    def crowded(self) -> bool:
        """Too much is asked of the provider at once: that is no fault of the call."""
        return self.code in (Fault.RATE, Fault.OVERLOADED)

    @property
    def asks_to_wait(self) -> bool:
        """Every call of this model should wait a while."""
        return self.transient and (self.crowded or self.retry_after_seconds is not None)


def may_pass(status: int) -> bool:
    """Whether the same call may be answered otherwise later."""
    return status in (408, 409, 425, 429) or status >= 500


class SandboxError(Broken):
    """The sandbox could not be started, or died for a reason of its own."""

    cause = Cause.SANDBOX


class AgentError(Broken):
    """The agent's program never started."""

    cause = Cause.AGENT


class EnvironmentFailure(Broken):
    """Environment code failed outside its rewards."""

    cause = Cause.ENVIRONMENT


class GraderError(Broken):
    """A reward, metric or judge raised, hung, or returned what is no number."""

    cause = Cause.GRADER


@contextmanager
def boundary(error: type[Broken], what: str) -> Generator[None]:
    """Attribute any error that escapes to `error`; one that is already typed passes through."""
    try:
        yield
    except EnvwrightError:
        raise
    except TimeoutError as escaped:
        raise error(f"{what} timed out") from escaped
    except Exception as escaped:
        raise error(f"{what}: {type(escaped).__name__}: {escaped}") from escaped
