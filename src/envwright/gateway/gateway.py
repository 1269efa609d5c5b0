"""The gateway's server: a listener per sandbox, a token per trial, every call counted.

Who may speak is decided by two things that must agree: the listener (which sandbox)
and the token (which trial). Nothing a sandbox sends reaches a provider but the body of
a call; nothing a provider sends but its answer comes back.
"""

import asyncio
import hashlib
import json
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, cast

from aiohttp import StreamReader, web

from envwright.budget import Spending
from envwright.errors import ProviderError
from envwright.gateway import openai_chat
from envwright.gateway.accept import accept_connections
from envwright.gateway.grant import ENVIRONMENT, Exchange, Grant, Ledger, NoLedger
from envwright.gateway.upstream import LONGEST_MESSAGE, Upstream, message_in
from envwright.model import Model, price_of
from envwright.record import Json, items, mapping
from envwright.trace import ModelCall, Usage

TOKEN = "x-envwright-token"
SEAT = "x-envwright-seat"
LARGEST_REQUEST_BYTES = 32 * 2**20
LARGEST_ANSWER_BYTES = 32 * 2**20


class Refusal(Exception):
    """An answer of the gateway's own: a status, a code and words."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


class CallerGone(Exception):
    """Nobody listens any more on the sandbox's side."""


class Gateway:
    def __init__(self, keys: Mapping[str, str], ledger: Ledger | None = None) -> None:
        self.upstream = Upstream(keys)
        self._ledger: Ledger = ledger or NoLedger()
        self._grants: dict[str, Grant] = {}
        self.spent = Spending()
        """By all grants together."""
        self._places: dict[str, object] = {}
        """Token → the sandbox that may use it; a token not in here may be used in any."""

    def open(self, grant: Grant) -> str:
        """Make the grant's token valid."""
        self._grants[grant.token] = grant
        return grant.token

    def close_grant(self, grant: Grant) -> None:
        grant.closed = True
        self._grants.pop(grant.token, None)
        self._places.pop(grant.token, None)

    async def attach(self, listener: socket.socket) -> Callable[[], Awaitable[None]]:
        """Serve one sandbox on its own listener; what is returned stops that."""
        place = object()

        async def chat(request: web.Request) -> web.StreamResponse:
            return await self.answer(request, place)

        app = web.Application(client_max_size=LARGEST_REQUEST_BYTES)
        app.router.add_post("/v1/chat/completions", chat)
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        server = runner.server
        assert server is not None
        stop_accepting = accept_connections(listener, server)

        async def detach() -> None:
            stop_accepting()
            await runner.cleanup()

        return detach

    async def answer(self, request: web.Request, place: object) -> web.StreamResponse:
        try:
            grant, seat, model = self.admit(request, place)
            body = await read_body(request)
            if body.get("stream"):
                return await self.stream(request, body, grant, seat, model)
            return await self.complete(body, grant, seat, model)
        except Refusal as refusal:
            return error_answer(refusal.status, refusal.code, str(refusal))
        except ProviderError as error:
            # In general words: the provider's own would tell environment code whom it asks.
            said = f"the provider answered {error.status}" if error.status else "no answer"
            return error_answer(error.status or 502, error.code or "provider_error", said)

    def admit(self, request: web.Request, place: object) -> tuple[Grant, str, Model]:
        ours = request.headers.get(TOKEN)
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        grant = self._grants.get(ours or bearer)
        if grant is None:
            raise Refusal(401, "invalid_token", "this token is not valid (any more)")
        if self._places.setdefault(grant.token, place) is not place:
            raise Refusal(401, "invalid_token", "this token belongs to another sandbox")
        seat = request.headers.get(SEAT) or ENVIRONMENT
        model = grant.model_for(seat)
        if model is None:
            who = "environment code" if seat == ENVIRONMENT else f"seat {seat!r}"
            grant.unserved = f"{who} asked a model, and there is none for it: give one with --judge"
            raise Refusal(403, "no_model", grant.unserved)
        if (reached := grant.budget.exceeded(grant.spent)) is not None:
            raise Refusal(402, "envwright_budget", f"the trial's budget: {reached}")
        return grant, seat[:80], model

    async def complete(
        self, body: Json, grant: Grant, seat: str, model: Model
    ) -> web.StreamResponse:
        sent = json.dumps(openai_chat.outgoing(body, model)).encode()
        exchange = grant.exchanges[seat] = Exchange(body)
        call = Call(grant, seat, model, sent, stream=False)
        try:
            async with self.upstream.post(model, openai_chat.PATH, sent, call) as answer:
                call.status = 200
                said = decode_answer(await read_answer(answer.content, model), model)
        except ProviderError as error:
            self.fail(call, error)
            raise
        except asyncio.CancelledError:
            self.give_up(call)
            raise
        exchange.answer = said
        usage = openai_chat.usage_of(said)
        self.record(call, usage=usage, status=200, finish=openai_chat.finish_reason_of(said))
        hidden = openai_chat.hide(said, str(body.get("model", "")))
        return web.json_response(hidden)

    async def try_out(self, model: Model) -> tuple[ModelCall, str]:
        """One short call that belongs to no trial, and what came back."""
        grant = Grant(trial="", attempt=0, seat_model=model)
        body: Json = {"messages": [{"role": "user", "content": "Say hi."}], "max_tokens": 16}
        await self.complete(body, grant, "check", model)
        answer = grant.exchanges["check"].answer or {}
        said = mapping(mapping(items(answer.get("choices"))[0]).get("message")).get("content")
        return grant.calls[-1], str(said or "")

    async def stream(
        self, request: web.Request, body: Json, grant: Grant, seat: str, model: Model
    ) -> web.StreamResponse:
        sent = json.dumps(openai_chat.outgoing(body, model)).encode()
        grant.exchanges[seat] = Exchange(body)
        call = Call(grant, seat, model, sent, stream=True)
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        relay = Relay(str(body.get("model", "")), openai_chat.wants_usage(body))
        try:
            async with self.upstream.post(model, openai_chat.PATH, sent, call) as answer:
                call.status = 200
                await prepare(response, request)
                async for line in lines_of(answer.content, model):
                    if (event := relay.line(line)) is not None:
                        await write(response, event)
                    if relay.problem is not None:
                        said = self.upstream.redact(relay.problem)[:LONGEST_MESSAGE]
                        raise ProviderError(f"{model.name}: the stream broke: {said}")
            if not relay.finished:
                raise ProviderError(f"{model.name}: the stream ended before its last event")
        except ProviderError as error:
            self.fail(call, error, usage=relay.usage)
            if not response.prepared:
                raise
            # The caller sees a stream that stops without its last event, as it was.
            if request.transport is not None:
                request.transport.abort()
            return response
        except CallerGone:
            self.give_up(call, relay.usage)
            return response
        except asyncio.CancelledError:
            self.give_up(call, relay.usage)
            raise
        self.record(call, usage=relay.usage, status=200, finish=relay.finish_reason)
        return response

    def fail(self, call: "Call", error: ProviderError, usage: Usage | None = None) -> None:
        call.tries = max(call.tries, error.tries)
        # An agent may run out of context; a judge that was not answered did not judge.
        if error.code is None or call.seat == ENVIRONMENT:
            call.grant.failures[call.request] = error
        self.record(call, usage=usage, status=error.status or call.status, error=error.message)

    def give_up(self, call: "Call", usage: Usage | None = None) -> None:
        """The caller went away before the answer was whole.

        An agent may run out of time in the middle of its work; but where the provider had
        failed before, or never answered at all, or a judge was asked, that is no score.
        """
        answered = any(made.seat == call.seat and made.status == 200 for made in call.grant.calls)
        if call.seat == ENVIRONMENT or call.tries > 1 or not answered:
            waited = f"{time.monotonic() - call.started:.0f} s"
            call.grant.failures[call.request] = ProviderError(
                f"{call.model.name} had not answered after {waited} and {call.tries} tries"
            )
        self.record(call, usage=usage, status=call.status, error="the caller went away")

    def record(
        self,
        call: "Call",
        *,
        usage: Usage | None = None,
        status: int | None = None,
        finish: str | None = None,
        error: str | None = None,
    ) -> None:
        model, grant = call.model, call.grant
        if error is None:
            grant.failures.pop(call.request, None)
        cost = None
        if usage is not None:
            cost = price_of(
                model,
                input_tokens=usage.input_tokens,
                output_tokens=usage.output_tokens,
                cached_tokens=usage.cached_tokens,
            )
        seconds = time.monotonic() - call.started
        done = ModelCall(
            seat=call.seat,
            model=model.name,
            started_at=call.started_at,
            seconds=seconds,
            tries=call.tries,
            status=status,
            stream=call.stream,
            finish_reason=finish,
            usage=usage,
            cost_usd=cost,
            error=self.upstream.redact(error) if error else None,
        )
        grant.calls.append(done)
        self.spent = self.spent.plus(usage.total_tokens if usage else 0, cost)
        grant.spent = grant.spent.plus(usage.total_tokens if usage else 0, cost, seconds)
        if grant.trial:
            self._ledger.record(grant.trial, grant.attempt, done)

    async def close(self) -> None:
        self._grants.clear()
        await self.upstream.close()


class Call:
    """A call under way."""

    __slots__ = (
        *("grant", "model", "request", "seat", "started"),
        *("started_at", "status", "stream", "tries"),
    )

    def __init__(self, grant: Grant, seat: str, model: Model, sent: bytes, *, stream: bool) -> None:
        self.grant = grant
        self.seat = seat
        self.model = model
        self.request = (seat, hashlib.sha256(sent).digest())
        self.stream = stream
        self.tries = 0
        self.status: int | None = None
        self.started = time.monotonic()
        self.started_at = datetime.now(UTC)


class Relay:
    """One stream on its way through: names hidden, usage read, the caller's wishes kept."""

    def __init__(self, name: str, wants_usage: bool) -> None:
        self._name = name
        self._wants_usage = wants_usage
        self.usage: Usage | None = None
        self.finish_reason: str | None = None
        self.finished = False
        self.problem: str | None = None
        """Why this is no stream of an answer, in the provider's words."""

    def line(self, line: bytes) -> bytes | None:
        """The line as the caller gets it; None when it is dropped."""
        if not line.startswith(b"data:"):
            # A comment keeps the connection alive; its words, like other fields, tell too much.
            return b":\n" if line.startswith(b":") else line if not line.strip() else None
        data = line[5:].strip()
        if data == b"[DONE]":
            self.finished = True
            return line
        try:
            event: Any = json.loads(data)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or cast("Json", event).get("error"):
            self.problem = message_in(data.decode("utf-8", "replace"))
            return None
        chunk = cast("Json", event)
        usage = openai_chat.usage_of(chunk)
        self.usage = usage or self.usage
        self.finish_reason = openai_chat.finish_reason_of(chunk) or self.finish_reason
        if usage is not None and not chunk.get("choices") and not self._wants_usage:
            return None
        return b"data: " + json.dumps(openai_chat.hide(chunk, self._name)).encode() + b"\n"


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


async def read_body(request: web.Request) -> Json:
    try:
        body: Any = json.loads(await request.read())
    except (ValueError, RecursionError) as error:
        raise Refusal(400, "bad_request", f"the body is no JSON: {error}") from error
    if not isinstance(body, dict):
        raise Refusal(400, "bad_request", "the body is no JSON object")
    return cast("Json", body)


def decode_answer(content: bytes, model: Model) -> Json:
    try:
        answer: Any = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ProviderError(f"{model.name} answered 200 without JSON: {error}") from error
    if not openai_chat.is_answer(answer):
        raise ProviderError(f"{model.name} answered 200 without a completion")
    return cast("Json", answer)


def error_answer(status: int, code: str, message: str) -> web.Response:
    body = {"error": {"message": message, "type": code, "code": code}}
    return web.json_response(body, status=status)
