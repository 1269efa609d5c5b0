"""`Call`: one call of a sandbox to a model, while it is under way."""

import hashlib
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime

from envwright.gateway.grant import Grant
from envwright.gateway.wire import Wire
from envwright.model import Model
from envwright.record import Json


class Call:
    __slots__ = (
        *("body", "grant", "model", "passed", "request", "seat", "sent"),
        *("started", "started_at", "status", "stream", "tries", "wire"),
    )

    def __init__(
        self,
        wire: Wire,
        grant: Grant,
        seat: str,
        model: Model,
        body: Json,
        passed: Mapping[str, str],
    ) -> None:
        self.wire = wire
        self.grant = grant
        self.seat = seat
        self.model = model
        self.body = body
        self.passed = passed
        self.sent = json.dumps(wire.outgoing(body, model)).encode()
        self.request = (seat, hashlib.sha256(wire.path.encode() + self.sent).digest())
        self.stream = bool(body.get("stream"))
        self.tries = 0
        self.status: int | None = None
        self.started = time.monotonic()
        self.started_at = datetime.now(UTC)

    @property
    def fresh(self) -> bool:
        """Its trial has had no answer yet: it is better parked than kept waiting."""
        return bool(self.grant.trial) and not self.grant.answered
