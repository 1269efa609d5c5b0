"""The gateway's server: a listener per sandbox, a token per trial, every call counted.

It passes calls through in the protocols of `WIRES`, each as its own file knows it, and
translates none into another.

Who may speak is decided by two things that must agree: the listener (which sandbox)
and the token (which trial). Nothing a sandbox sends reaches a provider but the body of
a call and the few headers that its protocol lists; nothing a provider sends but its
answer comes back. What is asked of a proxy on the same listener goes to `Proxy`.
"""

import asyncio
import json
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from aiohttp import ClientResponse, web

from envwright.budget import Spending
from envwright.environment.egress import NO_EGRESS, Egress, Mode
from envwright.environment.secret import NO_SECRETS, Secrets
from envwright.errors import Fault, ProviderError
from envwright.gateway import anthropic_messages, openai_chat, openai_responses
from envwright.gateway.accept import accept_connections
from envwright.gateway.call import Call
from envwright.gateway.fault import fault_of
from envwright.gateway.front import Front
from envwright.gateway.grant import ENVIRONMENT, Exchange, Grant, Ledger, NoLedger
from envwright.gateway.proxy import Proxy, Resolve, Resolver
from envwright.gateway.relay import Relay, lines_of, read_answer
from envwright.gateway.reply import CallerGone, break_off, prepare, status_of, told, write
from envwright.gateway.request import Refusal, read_body, tokens_of
from envwright.gateway.tally import Tally
from envwright.gateway.upstream import Crowded, Upstream
from envwright.gateway.wire import Wire
from envwright.model import Model, price_of
from envwright.record import Json, mapping
from envwright.trace import ModelCall, Usage

SEAT = "x-envwright-seat"
LARGEST_REQUEST_BYTES = 32 * 2**20
MOST_ENDED = 1000
STRAY = (
    "meanwhile environment code asked a model without the trial's token, and was refused: "
    "whose score that spoiled cannot be told (in a thread use asyncio.to_thread, which keeps it)"
)

WIRES = (
    openai_chat.WIRE,
    openai_responses.WIRE,
    anthropic_messages.WIRE,
    anthropic_messages.COUNT,
)


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """One sandbox, and what it may have of the outside."""

    egress: Egress
    secrets: Secrets


class Gateway:
    def __init__(
        self,
        keys: Mapping[str, str],
        ledger: Ledger | None = None,
        say: Callable[[str], None] | None = None,
        resolve: Resolve | None = None,
    ) -> None:
        """`say` is told of connections that are refused; `resolve` stands in for the system's."""
        self.keys = dict(keys)
        """Variable → the key in it; who brings another model adds its own."""
        self.upstream = Upstream(self.keys, self.on_crowded)
        self.crowded: Crowded | None = None
        """Told each time a provider asks to wait, also where the gateway does so itself."""
        self.tally = Tally(say)
        """Connections of all sandboxes past the models."""
        self._resolver = Resolver()
        self._resolve = resolve or self._resolver
        self._ledger: Ledger = ledger or NoLedger()
        self._grants: dict[str, Grant] = {}
        self._ended: deque[str] = deque(maxlen=MOST_ENDED)
        """Tokens that were valid: whoever still uses one is late, and known."""
        self.strays = 0
        """Calls that named no trial: a request without a token from a thread or a program."""
        self.spent = Spending()
        """By all grants together."""
        self._places: dict[str, Place] = {}
        """Token → the sandbox that may use it; a token not in here may be used in any."""

    @property
    def key_names(self) -> frozenset[str]:
        """The variables whose keys it holds."""
        return self.upstream.key_names

    def on_crowded(self, model: str, seconds: float, fault: Fault) -> None:
        if self.crowded is not None:
            self.crowded(model, seconds, fault)

    def hold(self, model: str, seconds: float) -> None:
        """No call of this model begins within so many seconds; one hold never shortens another."""
        self.upstream.lane(model).hold(seconds)

    def rely(self, seconds: float) -> None:
        """What other processes know is known here; so long, then no call begins until the next."""
        self.upstream.news.good_until = time.monotonic() + seconds

    def held(self, model: str) -> float:
        """For how many seconds no call of this model begins."""
        return self.upstream.lane(model).held

    def release(self, model: str) -> None:
        """Whatever held calls of this model back holds no more."""
        self.upstream.lane(model).release()

    def set_limit(self, model: str, limit: int) -> None:
        """Calls of this model in flight at once, whatever the model's own limit says."""
        self.upstream.lane(model).slots.resize(limit)

    def open(self, grant: Grant) -> str:
        """Make the grant's token valid."""
        self._grants[grant.token] = grant
        return grant.token

    def close_grant(self, grant: Grant) -> None:
        grant.closed = True
        self._grants.pop(grant.token, None)
        self._places.pop(grant.token, None)
        self._ended.append(grant.token)

    async def attach(
        self, listener: socket.socket, egress: Egress = NO_EGRESS, secrets: Secrets = NO_SECRETS
    ) -> Callable[[], Awaitable[None]]:
        """Serve one sandbox on its own listener; what is returned stops that."""
        place = Place(egress, secrets)
        proxy = Proxy(egress, secrets, self.tally, self._resolve)
        silent: set[Front] = set()
        app = web.Application(client_max_size=LARGEST_REQUEST_BYTES)
        for wire in WIRES:
            app.router.add_post(f"/v1{wire.path}", partial(self.answer, wire=wire, place=place))
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1
        )
        await runner.setup()
        server = runner.server
        assert server is not None
        stop_accepting = accept_connections(listener, lambda: Front(server, proxy, silent))

        async def detach() -> None:
            stop_accepting()
            await proxy.close()
            await runner.cleanup()

        return detach

    async def answer(self, request: web.Request, wire: Wire, place: Place) -> web.StreamResponse:
        try:
            grant, seat, model = self.admit(request, wire, place)
            body = await read_body(request)
            if (why := wire.unserved(body)) is not None:
                raise Refusal(400, "bad_request", why)
            self.keep_inside(body, wire, place, grant)
            headers = request.headers
            passed = {name: headers[name] for name in wire.passed if name in headers}
            call = Call(wire, grant, seat, model, body, passed)
            return await (self.stream(request, call) if call.stream else self.complete(call))
        except Refusal as refusal:
            said = wire.error(refusal.status, refusal.code, str(refusal))
            return web.json_response(said, status=refusal.status)
        except ProviderError as error:
            return web.json_response(told(wire, error), status=status_of(error))

    def admit(self, request: web.Request, wire: Wire, place: Place) -> tuple[Grant, str, Model]:
        tokens = tokens_of(request)
        grant = next((self._grants[token] for token in tokens if token in self._grants), None)
        if grant is None:
            self.strays += not any(token in self._ended for token in tokens if token)
            raise Refusal(401, "invalid_token", "this token is not valid (any more)")
        if self._places.setdefault(grant.token, place) is not place:
            raise Refusal(401, "invalid_token", "this token belongs to another sandbox")
        if not request.raw_path.startswith("/"):
            raise Refusal(400, "bad_request", "a proxy is asked on a connection of its own")
        seat = place.secrets.redact(request.headers.get(SEAT) or ENVIRONMENT)
        model = grant.model_for(seat)
        if model is None:
            who = "environment code" if seat == ENVIRONMENT else f"seat {seat!r}"
            grant.unserved = f"{who} asked a model, and there is none for it: give one with --judge"
            raise Refusal(403, "no_model", grant.unserved)
        if wire.protocol not in model.protocols:
            speaks = " and ".join(model.protocols)
            asked = f"{seat!r} asked in the protocol {wire.protocol}"
            grant.unserved = f"{asked}, but its model speaks {speaks}"
            raise Refusal(400, "wrong_protocol", grant.unserved)
        # A judge is asked all the same: the agent is stopped at its cap, and scored as it stands.
        reached = grant.budget.exceeded(grant.spent) if grant.is_agent(seat) else None
        if reached is not None:
            raise Refusal(402, "envwright_budget", f"the trial's budget: {reached}")
        return grant, seat[:80], model

    def keep_inside(self, body: Json, wire: Wire, place: Place, grant: Grant) -> None:
        """Refuse what would leave by way of the provider: hosted tools, and secrets."""
        # As text, for a name or a schema may hold one as well as a message.
        if place.secrets and (name := place.secrets.found_in(json.dumps(body))) is not None:
            grant.unserved = f"a request to a model held the secret {name}; it was not sent"
            raise Refusal(403, "secret_in_request", grant.unserved)
        tool = wire.hosted(body)
        if tool is not None and place.egress.mode is Mode.NONE:
            grant.unserved = (
                f"a request asked for {tool}, which the provider runs with a network of its own, "
                f"and egress is none"
            )
            raise Refusal(403, "no_egress", grant.unserved)

    async def complete(self, call: Call) -> web.StreamResponse:
        wire = call.wire
        exchange = call.grant.exchanges[call.seat] = Exchange(wire.asked(call.body))
        try:
            async with self.post(call) as answer:
                call.status = 200
                said = self.decode(await read_answer(answer.content, call.model), call)
        except ProviderError as error:
            self.fail(call, error)
            raise
        except asyncio.CancelledError:
            self.give_up(call)
            raise
        exchange.said = wire.said(said)
        usage = wire.usage_of(said)
        self.record(call, usage=usage, status=200, finish=wire.finish_reason_of(said))
        return web.json_response(wire.hide(said, str(call.body.get("model", ""))))

    def post(self, call: Call) -> AbstractAsyncContextManager[ClientResponse]:
        return self.upstream.post(call.model, call.wire, call.sent, call.passed, call)

    def decode(self, content: bytes, call: Call) -> Json:
        name = call.model.name
        try:
            answer: Any = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ProviderError(f"{name} answered 200 without JSON: {error}") from error
        if not call.wire.is_answer(answer):
            text = content.decode("utf-8", "replace")
            said = f": {self.upstream.words(text)}" if mapping(answer).get("error") else ""
            raise ProviderError(
                f"{name} answered 200 without a completion{said}", code=fault_of(None, text)
            )
        return self.upstream.censor(cast("Json", answer))

    async def try_out(self, model: Model) -> tuple[ModelCall, str]:
        """One short call that belongs to no trial, and what came back."""
        grant = Grant(trial="", attempt=0, seat_model=model)
        wire = next(wire for wire in WIRES if wire.protocol == model.protocols[0])
        await self.complete(Call(wire, grant, "check", model, wire.greeting, {}))
        said = " ".join(str(mapping(m).get("content") or "") for m in grant.exchanges["check"].said)
        return grant.calls[-1], said

    async def stream(self, request: web.Request, call: Call) -> web.StreamResponse:
        wire, name = call.wire, call.model.name
        call.grant.exchanges[call.seat] = Exchange(wire.asked(call.body))
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        relay = Relay(wire, call.body)
        try:
            async with self.post(call) as answer:
                call.status = 200
                await prepare(response, request)
                async for line in lines_of(answer.content, call.model):
                    if (event := relay.line(line)) is not None:
                        await write(response, self.upstream.redact(event.decode()).encode())
                    if relay.problem is not None:
                        said = self.upstream.words(relay.problem)
                        fault = fault_of(None, relay.problem)
                        raise ProviderError(f"{name}: the stream broke: {said}", code=fault)
            if not relay.finished:
                raise ProviderError(f"{name}: the stream ended before its last event")
        except ProviderError as error:
            self.fail(call, error, usage=relay.usage)
            if not response.prepared:
                raise
            await break_off(response, request, wire, error)
            return response
        except CallerGone:
            self.give_up(call, relay.usage)
            return response
        except asyncio.CancelledError:
            self.give_up(call, relay.usage)
            raise
        self.record(call, usage=relay.usage, status=200, finish=relay.finish_reason)
        return response

    def fail(self, call: Call, error: ProviderError, usage: Usage | None = None) -> None:
        call.tries = max(call.tries, error.tries)
        error.model = call.model.name
        # An agent may run out of context; a judge that was not answered did not judge.
        spoils = error.code != Fault.CONTEXT or not call.grant.is_agent(call.seat)
        if call.wire.vital and spoils:
            call.grant.failures[call.request] = error
        self.record(call, usage=usage, status=error.status or call.status, error=error.message)

    def give_up(self, call: Call, usage: Usage | None = None) -> None:
        """The caller went away before the answer was whole.

        An agent may run out of time in the middle of its work; but where the provider had
        failed before, or never answered at all, or a judge was asked, that is no score.
        """
        answered = any(made.seat == call.seat and made.status == 200 for made in call.grant.calls)
        if not call.grant.is_agent(call.seat) or call.tries > 1 or not answered:
            waited = f"{time.monotonic() - call.started:.0f} s"
            silent = ProviderError(
                f"{call.model.name} had not answered after {waited} and {call.tries} tries"
            )
            silent.model = call.model.name
            call.grant.failures[call.request] = silent
        self.record(call, usage=usage, status=call.status, error="the caller went away")

    def record(
        self,
        call: Call,
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
                cache_write_tokens=usage.cache_write_tokens,
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
        self._resolver.close()
        await self.upstream.close()
