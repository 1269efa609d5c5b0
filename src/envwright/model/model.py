"""`Model`: a name, where it answers, and how many trials at once it may serve."""

from enum import StrEnum

from pydantic import ConfigDict, Field, field_validator

from envwright.model.retry import RetryPolicy
from envwright.record import Record, digest

HOLDS_KEY = "it holds a user or a password, and a URL is shown and stored"


class Protocol(StrEnum):
    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC = "anthropic"


ALL_PROTOCOLS = tuple(Protocol)
"""What servers of open models speak."""


def holds_key(url: str) -> bool:
    """Whether its server's name comes with a user or a password."""
    return "@" in url.rpartition("://")[2].partition("/")[0]


class Model(Record):
    # A URL may hold a key: it is not repeated.
    model_config = ConfigDict(hide_input_in_errors=True)

    name: str
    """As the user writes it: `provider/model`."""
    protocols: tuple[Protocol, ...] = Field(default=(Protocol.OPENAI_CHAT,), min_length=1)
    """How it may be spoken to; the first is how it is tried out."""
    base_url: str
    model: str
    """The provider's own name for it."""
    api_key_env: str | None = None
    """The variable that holds the key; None when none is needed."""
    limit: int = Field(default=32, gt=0)
    """Trials at once."""
    provider: str | None = None
    """The provider's id in the price list."""
    free: bool = False
    """It runs on this machine: a call costs nothing."""
    retry: RetryPolicy = RetryPolicy()

    @field_validator("base_url")
    @classmethod
    def tells_no_key(cls, url: str) -> str:
        if holds_key(url):
            raise ValueError(HOLDS_KEY)
        return url

    @property
    def content(self) -> str:
        """What the name stands for; the port of a local server of ours does not count."""
        where = "" if self.free else self.base_url
        return digest([self.protocols[0], where, self.model])
