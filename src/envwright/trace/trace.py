"""`Trace`: all that one seat did in one attempt.

The conversation comes from the environment's process and is as trustworthy as that
process; the model calls come from the gateway, which saw them itself.
"""

from enum import StrEnum

from pydantic import AwareDatetime, Field

from envwright.record import Json, Record

EGRESS = "egress"
"""Where a trace's `info` tells the connections past the models."""


class Usage(Record):
    """Tokens as the provider counted them. Input includes the cache; output, reasoning."""

    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cached_tokens: int = Field(default=0, ge=0)
    """Read from the provider's cache."""
    cache_write_tokens: int = Field(default=0, ge=0)
    reasoning_tokens: int = Field(default=0, ge=0)

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
        )


class ModelCall(Record):
    """One request to a provider, as the gateway saw it."""

    seat: str
    """Who called: a seat's name, or `environment`."""
    model: str
    started_at: AwareDatetime
    seconds: float = Field(ge=0)
    """From the first byte sent to the last received, waiting for a retry included."""
    tries: int = Field(default=1, ge=0)
    status: int | None = None
    """The provider's last HTTP status; None when no answer came."""
    stream: bool = False
    finish_reason: str | None = None
    usage: Usage | None = None
    """None when the provider did not say."""
    cost_usd: float | None = None
    """None when the price is unknown."""
    error: str | None = None


class Role(StrEnum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(Record):
    id: str
    name: str
    arguments: str
    """As the model wrote them; not always JSON."""


class Step(Record):
    """One message."""

    role: Role
    content: str = ""
    reasoning: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None
    sampled: bool = False
    """Whether the model under trial wrote it, rather than the task."""


class Score(Record):
    score: float
    weight: float = 1.0


class Problem(Record):
    """Something that broke, in the words of what broke."""

    type: str
    message: str
    status: int | None = None
    traceback: str | None = None


class Timing(Record):
    """Seconds in each part of the attempt; None where it was not reached."""

    boot: float | None = None
    setup: float | None = None
    agent: float | None = None
    model: float | None = None
    finalize: float | None = None
    scoring: float | None = None


class Trace(Record):
    seat: str
    measured: bool = True
    steps: tuple[Step, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    tools: tuple[Json, ...] = ()
    rewards: dict[str, Score | None] = {}
    """None: the signal did not run."""
    metrics: dict[str, float | None] = {}
    skipped: tuple[str, ...] = ()
    stop: str | None = None
    problems: tuple[Problem, ...] = ()
    timing: Timing = Timing()
    info: Json = {}
