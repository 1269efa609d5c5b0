"""Replies that should or should not be paid: one file per idea, and what they have in common."""

from envwright.probe.probe import ReplyProbe
from envwright.probe.reply.constant import Constant
from envwright.probe.reply.echo import Echo
from envwright.probe.reply.equivalent import Equivalent
from envwright.probe.reply.gold import RefusedGold
from envwright.probe.reply.length import Length
from envwright.probe.reply.monotone import Monotone
from envwright.probe.reply.nothing import Nothing
from envwright.probe.reply.overlap import settle
from envwright.probe.reply.spray import Spray
from envwright.probe.reply.substring import Substring
from envwright.probe.reply.wrong import Wrong

PROBES: tuple[ReplyProbe, ...] = (
    Nothing(),
    Echo(),
    Constant(),
    Spray(),
    Substring(),
    Wrong(),
    RefusedGold(),
    Equivalent(),
    Length(),
    Monotone(),
)

RULES = tuple(rule for probe in PROBES for rule in probe.rules)

__all__ = ["PROBES", "RULES", "settle"]
