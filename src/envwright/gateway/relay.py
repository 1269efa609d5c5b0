"""`Relay`: one stream on its way through, in whichever protocol.

Names are hidden in every event, usage is read, what the caller did not ask for is left
out. Nothing of a provider's line gets through but its event, written anew.
"""

import json
import re
from collections.abc import AsyncGenerator
from typing import Any, cast

from aiohttp import StreamReader

from envwright.errors import ProviderError
from envwright.gateway.fault import trouble_in
from envwright.gateway.wire import Wire
from envwright.model import Model
from envwright.record import Json, mapping
from envwright.trace import Usage

LARGEST_ANSWER_BYTES = 32 * 2**20
PLAIN = re.compile(r"[a-z_.]{1,80}")


class Relay:
    def __init__(self, wire: Wire, body: Json) -> None:
        self._wire = wire
        self._body = body
        self._name = str(body.get("model", ""))
        self._usage: Json = {}
        self.finish_reason: str | None = None
        self.finished = False
        self.problem: str | None = None
        """Why this is no stream of an answer, in the provider's words."""

    @property
    def usage(self) -> Usage | None:
        """All that was used; None while a part of it may be untold."""
        told = self.finished or self.finish_reason is not None
        return self._wire.usage_of({"usage": self._usage}) if told else None

    def line(self, line: bytes) -> bytes | None:
        """The line as the caller gets it; None when it is dropped."""
        if not line.startswith(b"data:"):
            # A comment keeps the connection alive; its words, like other fields, tell too much.
            return b":\n" if line.startswith(b":") else line if not line.strip() else None
        data = line[5:].strip()
        if data == b"[DONE]":
            if self._wire.last_events:
                return None
            self.finished = True
            return line
        try:
            event: Any = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or trouble_in(cast("Json", event)):
            self.problem = data.decode("utf-8", "replace")
            return None
        return self.event(cast("Json", event))

    def event(self, event: Json) -> bytes | None:
        wire = self._wire
        # Before names are hidden: it looks at the event as it came.
        unasked = wire.unasked(event, self._body)
        if (answer := wire.answer_in(event)) is not None:
            told = mapping(answer.get("usage")).items()
            # Each count is the total so far; the first event may tell what the last does not.
            self._usage |= {name: value for name, value in told if value is not None}
            self.finish_reason = wire.finish_reason_of(answer) or self.finish_reason
            wire.hide(answer, self._name)
        self.finished = self.finished or event.get("type") in wire.last_events
        return None if unasked else written(event, named=bool(wire.last_events))


def written(event: Json, *, named: bool) -> bytes:
    """An event as its lines, the closing empty one not among them."""
    kind = str(event.get("type"))
    name = f"event: {kind}\n" if named and PLAIN.fullmatch(kind) else ""
    return f"{name}data: {json.dumps(event)}\n".encode()


async def read_answer(content: StreamReader, model: Model) -> bytes:
    """The whole answer, within reason: what it expands to counts, not what was sent."""
    parts: list[bytes] = []
    size = 0
    async for chunk in content.iter_any():
        parts.append(chunk)
        if (size := size + len(chunk)) > LARGEST_ANSWER_BYTES:
            raise too_large(model)
    return b"".join(parts)


def too_large(model: Model) -> ProviderError:
    return ProviderError(f"{model.name} answered more than {LARGEST_ANSWER_BYTES} bytes")


async def lines_of(content: StreamReader, model: Model) -> AsyncGenerator[bytes]:
    """A stream's lines; longer than aiohttp's own may be, but within reason."""
    parts: list[bytes] = []
    size = 0
    async for chunk in content.iter_any():
        parts.append(chunk)
        if (size := size + len(chunk)) > LARGEST_ANSWER_BYTES:
            raise too_large(model)
        if b"\n" in chunk:
            *lines, rest = b"".join(parts).split(b"\n")
            parts = [rest]
            for line in lines:
                yield line + b"\n"
    if rest := b"".join(parts):
        yield rest
