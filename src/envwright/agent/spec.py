"""The agent spec `KIND[:MODEL]`: parse it, print it.

`oracle` and `noop` are baselines; `scripted:FILE` is the shipped fake. What the name
stood for (a script's content, a model's endpoint) is part of the identity as `content`.
"""

from enum import StrEnum

from envwright.errors import UsageError
from envwright.record import Digest, Record


class AgentKind(StrEnum):
    CHAT = "chat"
    ORACLE = "oracle"
    NOOP = "noop"
    SCRIPTED = "scripted"

    @property
    def needs_model(self) -> bool:
        return self is AgentKind.CHAT

    @property
    def is_baseline(self) -> bool:
        """Shown beside agents, never mixed into their statistics."""
        return self in (AgentKind.ORACLE, AgentKind.NOOP)


class AgentSpec(Record):
    kind: AgentKind
    subject: str | None = None
    """The model's name, or the script's path."""
    content: Digest | None = None
    """What `subject` stood for when the trial was planned."""
    gold_field: str | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.subject}" if self.subject is not None else str(self.kind)

    @property
    def queue(self) -> str:
        """One per model, or per kind for agents without one."""
        return self.subject if self.kind.needs_model and self.subject else str(self.kind)

    @classmethod
    def parse(cls, text: str) -> "AgentSpec":
        name, _, subject = text.partition(":")
        if name not in set(AgentKind):
            raise UsageError(
                f"agent {text!r}: no kind {name!r}",
                hint=f"write KIND[:MODEL] with one of {', '.join(AgentKind)}",
            )
        kind = AgentKind(name)
        if kind in (AgentKind.CHAT, AgentKind.SCRIPTED):
            if not subject:
                what = "MODEL" if kind is AgentKind.CHAT else "FILE"
                raise UsageError(f"agent {text!r} names no {what}", hint=f"write {kind}:{what}")
            return cls(kind=kind, subject=subject)
        if subject or ":" in text:
            raise UsageError(f"agent {text!r}: {kind} takes no model", hint=f"write {kind}")
        return cls(kind=kind)
