"""What a caller is sent when the provider failed it, and how a stream is written to it."""

from contextlib import suppress

from aiohttp import web

from envwright.errors import Fault, ProviderError
from envwright.gateway.relay import written
from envwright.gateway.wire import Wire
from envwright.record import Json

STATUSES = {Fault.CONTEXT: 400, Fault.QUOTA: 402, Fault.RATE: 429, Fault.OVERLOADED: 529}
"""Of errors that came inside a 200."""


class CallerGone(Exception):
    """Nobody listens any more on the sandbox's side."""


def status_of(error: ProviderError) -> int:
    return error.status or (STATUSES[error.code] if error.code else 502)


def told(wire: Wire, error: ProviderError) -> Json:
    """A provider's error as its caller may see it.

    In general words: the provider's own would tell environment code whom it asks.
    """
    said = f"the provider answered {error.status}" if error.status else "no answer"
    if error.code == Fault.CONTEXT:
        # What programs look for when they decide to shorten a conversation.
        said = "prompt is too long: it exceeds the model's maximum context length"
    return wire.error(status_of(error), error.code or "provider_error", said)


async def break_off(
    response: web.StreamResponse, request: web.Request, wire: Wire, error: ProviderError
) -> None:
    """End a stream without its last event; what the error means is said where it is known."""
    if error.code is not None:
        named = bool(wire.last_events)
        event = {**({"type": "error"} if named else {}), **told(wire, error)}
        with suppress(CallerGone):
            await write(response, b"\n" + written(event, named=named) + b"\n")
    elif request.transport is not None:
        request.transport.abort()


async def prepare(response: web.StreamResponse, request: web.Request) -> None:
    try:
        await response.prepare(request)
    except ConnectionError as error:
        raise CallerGone from error


async def write(response: web.StreamResponse, event: bytes) -> None:
    try:
        await response.write(event)
    except ConnectionError as error:
        raise CallerGone from error
