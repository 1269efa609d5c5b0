"""THE DOOR to every model: tokens, usage, provider errors; one file per protocol."""

from envwright.gateway.gateway import STRAY, Gateway
from envwright.gateway.grant import ENVIRONMENT, Exchange, Grant, Ledger
from envwright.gateway.wire import text_of

__all__ = ["ENVIRONMENT", "STRAY", "Exchange", "Gateway", "Grant", "Ledger", "text_of"]
