"""The gateway between a sandbox (an HTTP client on its listener) and a provider on loopback."""

import asyncio
import json
import math
import os
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web
from hypothesis import example, given
from hypothesis import strategies as st

from envwright.budget import Budget
from envwright.errors import Fault, ProviderError
from envwright.gateway import ENVIRONMENT, Gateway, Grant
from envwright.gateway.fault import retry_after
from envwright.gateway.relay import LARGEST_ANSWER_BYTES
from envwright.gateway.upstream import LONGEST_WAIT_SECONDS, TRIES, pause_after
from envwright.model import Model, price_of
from envwright.trace import Usage
from provider import SPEECHES, Provider, Reply, send
from stage import (
    KEY,
    KEYS,
    SECRET_NAME,
    STRANGE,
    Door,
    always,
    in_every_protocol,
    in_turn,
    model_at,
    play,
    until,
)
from tongue import CHAT, MESSAGES, RESPONSES, TONGUES, Tongue


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "content",
    [STRANGE, "word " * 3 + "end", "long" * 750_000, "many words " * 5_000],
    ids=["strange", "plain", "3 MB at once", "10,000 words"],
)
def test_an_answer_arrives_as_the_provider_said_it(content: str, stream: bool, tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant, stream=stream)
        assert (said.status, said.broke_off) == (200, False)
        assert said.content == content
        assert [(call.status, call.stream, call.error) for call in grant.calls] == [
            (200, stream, None)
        ]
        assert grant.calls[0].finish_reason == tongue.finish
        assert said.text.endswith(tongue.last) is stream

    play(always(Reply(content)), scene, tongue)


@in_every_protocol
def test_a_request_of_some_megabytes_arrives_whole_under_the_providers_name(tongue: Tongue):
    told = tongue.ask(STRANGE + "x" * 5 * 2**20)
    more = {**told, "temperature": 0.25, "tools": [{"type": "function"}], "n": None}

    async def scene(stage: Door, served: Provider) -> None:
        said = await stage.ask(stage.grant(model_at(served)), **more)
        assert said.status == 200
        assert served.requests == [{**stage.question(**more), "model": SECRET_NAME}]

    play(always(Reply()), scene, tongue)


@pytest.mark.parametrize(
    ("provider_id", "asked", "sent"),
    [
        ("openai", {"max_tokens": 7}, {"max_completion_tokens": 7}),
        ("openai", {"max_completion_tokens": 7}, {"max_completion_tokens": 7}),
        ("openai", {"max_tokens": 7, "max_completion_tokens": 8}, {"max_completion_tokens": 8}),
        (None, {"max_tokens": 7}, {"max_tokens": 7}),
    ],
)
def test_openai_is_told_the_most_tokens_under_the_name_that_all_its_models_take(
    provider_id: str | None, asked: dict[str, int], sent: dict[str, int]
):
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served).model_copy(update={"provider": provider_id})
        assert (await stage.ask(stage.grant(model), **asked)).status == 200
        body = served.requests[0]
        assert {name: body[name] for name in body if name.startswith("max_")} == sent

    play(always(Reply()), scene)


@pytest.mark.parametrize(
    "body",
    [b"{", b"", b"[]", b'"x"', b"null", b"\xff\xfe{", b"[" * 200_000],
    ids=["cut", "empty", "list", "text", "null", "no utf-8", "deep"],
)
def test_a_body_that_is_no_json_object_is_refused_and_sent_to_nobody(body: bytes):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.post(body, stage.headers(grant, "agent"))
        assert (said.status, said.code) == (400, "bad_request")
        assert served.requests == []

    play(always(Reply()), scene)


def test_a_huge_request_is_refused_and_sent_to_nobody():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant, messages=[{"role": "user", "content": "x" * 33 * 2**20}])
        assert said.status == 413
        assert served.requests == []

    play(always(Reply()), scene)


@in_every_protocol
@pytest.mark.parametrize("header", ["authorization", "x-api-key"])
def test_only_the_token_of_an_open_grant_is_let_in(header: str, tongue: Tongue):
    def key(grant: Grant) -> dict[str, str]:
        word = f"Bearer {grant.token}" if header == "authorization" else grant.token
        return {header: word, "x-envwright-seat": "agent"}

    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        closed = stage.grant(model_at(served))
        stage.gateway.close_grant(closed)
        forged = Grant(trial="trial", attempt=1, seat_model=model_at(served))
        for wrong in (None, closed, forged):
            said = await stage.ask(wrong)
            assert (said.status, said.code) == (401, "invalid_token")
        body = json.dumps(stage.question()).encode()
        for headers in (key(forged), {"x-envwright-token": "", **key(grant)}):
            assert (await stage.post(body, headers)).status == 401
        assert served.requests == []
        assert closed.calls == forged.calls == []
        assert (await stage.post(body, key(grant))).status == 200
        stage.gateway.close_grant(grant)
        assert (await stage.ask(grant)).status == 401
        assert len(grant.calls) == 1

    play(always(Reply()), scene, tongue)


def test_a_token_used_in_one_sandbox_is_refused_in_another():
    async def scene(stage: Door, served: Provider) -> None:
        first, second = stage.grant(model_at(served)), stage.grant(model_at(served))
        assert (await stage.ask(first, sandbox=0)).status == 200
        assert (await stage.ask(second, sandbox=1)).status == 200
        for grant, elsewhere in ((first, 1), (second, 0)):
            said = await stage.ask(grant, sandbox=elsewhere)
            assert (said.status, said.code) == (401, "invalid_token")
        assert (await stage.ask(first, sandbox=0)).status == 200
        assert len(served.requests) == 3

    play(always(Reply()), scene, sandboxes=2)


def test_environment_code_asks_the_judge_and_seats_the_model_under_trial():
    async def scene(stage: Door, served: Provider) -> None:
        judge = model_at(served, "some/judge", model="secret-judge")
        grant = stage.grant(model_at(served), environment_model=judge)
        for seat in ("solver", None, "user"):
            assert (await stage.ask(grant, seat=seat)).status == 200
        assert [request["model"] for request in served.requests] == [
            *(SECRET_NAME, "secret-judge", SECRET_NAME),
        ]
        assert [(call.seat, call.model) for call in grant.calls] == [
            *(("solver", "some/model"), (ENVIRONMENT, "some/judge"), ("user", "some/model")),
        ]

    play(always(Reply()), scene)


def test_who_has_no_model_may_ask_none():
    async def scene(stage: Door, served: Provider) -> None:
        without_judge = stage.grant(model_at(served))
        without_model = stage.grant(None, environment_model=model_at(served))
        for grant, seat in ((without_judge, None), (without_model, "solver")):
            said = await stage.ask(grant, seat=seat)
            assert (said.status, said.code) == (403, "no_model")
            assert grant.calls == []
        assert "--judge" in (await stage.ask(without_judge, seat=None)).text
        assert served.requests == []

    play(always(Reply()), scene)


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
def test_the_providers_names_are_in_no_answer_and_no_event(stream: bool, tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        options = {"stream_options": {"include_usage": True}} if stream else {}
        said = await stage.ask(stage.grant(model_at(served)), stream=stream, **options)
        assert said.status == 200
        assert SECRET_NAME not in said.text
        assert "fingerprint" not in said.text
        events = said.events if stream else [said.json]
        sent = SPEECHES[tongue.path](reply, SECRET_NAME)
        assert len(events) == (len(sent.events) if stream else 1)
        holders = [tongue.holder(event) for event in events] if stream else events
        assert {holder["model"] for holder in holders if holder} == {"policy"}

    reply = Reply("three words here")
    play(always(reply), scene, tongue)


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
def test_a_call_of_a_tool_passes_untouched(stream: bool, tongue: Tongue):
    reply = Reply("let me look", tool=("search", {"model": "gpt", "q": STRANGE, "provider": 1}))

    def bare(event: dict[str, Any]) -> dict[str, Any]:
        """Without what is hidden."""
        holder = (tongue.holder(event) if stream else event) or {}
        for name in ("model", *tongue.hidden):
            holder.pop(name, None)
        for usage in (holder.get("usage"), event.get("usage")):
            (usage or {}).pop("service_tier", None)
        return event

    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        said = await stage.ask(grant, **options)
        sent = SPEECHES[tongue.path](reply, SECRET_NAME)
        got = said.events if stream else [said.json]
        told = sent.events if stream else [sent.answer]
        assert [bare(event) for event in got] == [bare(event) for event in told]
        names = [line[7:] for line in said.text.splitlines() if line.startswith("event: ")]
        assert names == [event["type"] for event in sent.events if stream and "type" in event]
        finish = {"openai-responses": "completed", "anthropic": "tool_use"}
        assert grant.calls[0].finish_reason == finish.get(tongue.protocol, "tool_calls")

    play(always(reply), scene, tongue)


async def gossip(request: web.Request) -> web.StreamResponse:
    """A stream that names the model wherever a stream can, and fails in the end."""
    tongue = next(t for t in TONGUES if request.path.endswith(t.path))
    response = web.StreamResponse(headers={"x-served-by": SECRET_NAME, "x-key": KEY})
    await response.prepare(request)
    await response.write(f": {SECRET_NAME} is processing\n\n".encode())
    await response.write(f"event: {SECRET_NAME}\nid: {SECRET_NAME}\n".encode())
    await send(response, tongue.half)
    await send(response, {"error": {"message": f"{SECRET_NAME} failed with {KEY}", "code": 500}})
    await response.write(b"data: " + SECRET_NAME.encode() + b"\n\n")
    await response.write(b"data: [DONE]\n\n")
    return response


async def plain_json(request: web.Request) -> web.StreamResponse:
    """No stream, although one was asked for."""
    return web.json_response({"model": SECRET_NAME, "choices": [{"message": {"content": "x"}}]})


@in_every_protocol
@pytest.mark.parametrize("act", [gossip, plain_json])
def test_a_stream_that_is_none_fails_and_tells_no_name(act: Any, tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, api_key_env="CANARY_KEY"))
        said = await stage.ask(grant, stream=True)
        assert said.broke_off or said.status == 502
        assert SECRET_NAME not in said.text
        assert grant.failure is not None
        assert grant.calls[0].error
        seen = said.text + repr(grant.calls) + str(grant.failure)
        assert KEY not in seen

    play(always(Reply(act=act)), scene, tongue, keys=KEYS)


ECHOES: dict[str, Reply] = {
    "json": Reply(f"bad key {KEY} given", status=401),
    "hinted": Reply(f"no model for {KEY}", status=404),
    "text": Reply(body=f"denied: {KEY}\n{KEY}".encode(), status=403),
    "escaped": Reply(
        body=json.dumps({"error": {"message": KEY}}).replace("/", "\\/").encode(), status=400
    ),
    "cut": Reply("x" * 480 + KEY, status=400),
    "cut text": Reply(body=b"y" * 480 + KEY.encode(), status=400),
    "no error object": Reply(body=json.dumps({"detail": [KEY]}).encode(), status=422),
    "rate": Reply(f"{KEY} is over quota", status=429, headers={"Retry-After": "3600"}),
    "context": Reply(f"maximum context length of {KEY}", status=400),
    "no completion": Reply(body=json.dumps({"error": KEY}).encode()),
    "no json": Reply(body=KEY.encode()),
}


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
def test_a_key_that_an_answer_says_is_taken_out_of_it(stream: bool, tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, api_key_env="CANARY_KEY"))
        said = await stage.ask(grant, stream=stream)
        assert (said.status, said.content) == (200, "your key is [key] I think")
        assert KEY[:12] not in said.text + repr(grant.exchanges)
        assert grant.failure is None

    play(always(Reply(f"your key is {KEY} I think")), scene, tongue, keys=KEYS)


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("reply", ECHOES.values(), ids=ECHOES.keys())
def test_the_key_goes_to_the_provider_and_nowhere_else(reply: Reply, stream: bool, tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, api_key_env="CANARY_KEY"))
        said = await stage.ask(grant, stream=stream)
        assert served.headers[0]["Authorization"] == f"Bearer {KEY}"
        assert served.headers[0].get("x-api-key") == (KEY if tongue is MESSAGES else None)
        assert said.status != 200 or said.broke_off
        failure = grant.failure
        shown = [said.text, repr(grant.calls), repr(stage.ledger.calls), repr(grant.exchanges)]
        if failure is not None:
            shown += [str(failure), repr(failure), repr(failure.detail), repr(failure.hint)]
        assert len(stage.ledger.calls) == 1
        for text in shown:
            assert KEY[:12] not in text
            assert KEY[-12:] not in text

    play(always(reply), scene, tongue, keys=KEYS)


@in_every_protocol
def test_of_the_callers_headers_only_the_protocols_own_reach_the_provider(tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        wire = {"Anthropic-Version": "2024-02-02", "anthropic-beta": "a-1,b-2"}
        headers = {"authorization": "Bearer mine", "x-api-key": "mine", "cookie": "a=b", "x-o": "c"}
        said = await stage.post(
            json.dumps(stage.question()).encode(),
            {**headers, **wire, **stage.headers(grant, "agent")},
        )
        assert said.status == 200
        sent = {name.lower() for name in served.headers[0]}
        assert not sent & {"authorization", "x-api-key", "cookie", "x-o"}
        assert grant.token not in repr(served.headers)
        if tongue is MESSAGES:
            assert (await stage.ask(grant)).status == 200
            got = [(h["anthropic-version"], h.get("anthropic-beta")) for h in served.headers]
            assert got == [("2024-02-02", "a-1,b-2"), ("2023-06-01", None)]
        else:
            assert not [name for name in sent if "anthropic" in name]

    play(always(Reply()), scene, tongue)


def test_a_password_in_netrc_does_not_take_the_keys_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login someone password else\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))

    async def scene(stage: Door, served: Provider) -> None:
        for model in (model_at(served, api_key_env="CANARY_KEY"), model_at(served, "other")):
            assert (await stage.ask(stage.grant(model))).status == 200
        sent = [headers.get("Authorization") for headers in served.headers]
        assert sent == [f"Bearer {KEY}", None]

    play(always(Reply()), scene, keys=KEYS)


@pytest.mark.parametrize(("exempt", "status"), [("", 200), ("127.0.0.2", 502)])
def test_the_machines_proxy_is_used_but_for_hosts_that_are_exempt(
    exempt: str, status: int, monkeypatch: pytest.MonkeyPatch
):
    async def scene(stage: Door, served: Provider) -> None:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, served.url.removesuffix("/v1"))
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.setenv(name, exempt)
        with socket.create_server(("127.0.0.2", 0)) as gone:
            host = f"127.0.0.2:{gone.getsockname()[1]}"
        model = Model(name="far", base_url=f"http://{host}/v1", model="far")
        assert (await stage.ask(stage.grant(model))).status == status
        hosts = [headers["Host"] for headers in served.headers]
        assert hosts == ([host] if status == 200 else [])

    play(always(Reply()), scene)


THRIFTY = Reply("one two", usage=(100, 20), cached=40, written=10, reasoning=7)
COUNTED = Usage(
    input_tokens=100, output_tokens=20, cached_tokens=40, cache_write_tokens=10, reasoning_tokens=7
)


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ({}, True),
        ({"stream": True}, False),
        ({"stream": True, "stream_options": {"include_usage": False}}, False),
        ({"stream": True, "stream_options": {"include_usage": True}}, True),
    ],
    ids=["plain", "stream", "stream, not wanted", "stream, wanted"],
)
@in_every_protocol
def test_usage_is_counted_always_and_shown_as_asked(
    options: dict[str, Any], shown: bool, tongue: Tongue
):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant, **options)
        assert grant.calls[0].usage == COUNTED
        assert stage.ledger.calls == [("trial", 1, grant.calls[0])]
        assert grant.spent.tokens == 120
        if tongue is CHAT:
            events = said.events if options.get("stream") else [said.json]
            usage = SPEECHES[tongue.path](THRIFTY, "").answer["usage"]
            assert [e["usage"] for e in events if e.get("usage")] == ([usage] if shown else [])
            wanted = {"include_usage": True} if options.get("stream") else None
            assert served.requests[0].get("stream_options") == wanted
        else:
            assert served.requests[0].get("stream_options") == options.get("stream_options")
        assert said.content == "one two"

    play(always(THRIFTY), scene, tongue)


def completion_with(**fields: Any) -> Reply:
    message = {"role": "assistant", "content": "hm"}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **fields}
    return Reply(body=json.dumps(body).encode())


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"usage": None},
        {"usage": {}},
        {"usage": "much"},
        {"usage": {"prompt_tokens": "many", "completion_tokens": None}},
        {"usage": {"prompt_tokens": -1}},
        {"usage": {"prompt_tokens": True, "completion_tokens": 2.5}},
    ],
)
def test_usage_that_the_provider_did_not_tell_is_unknown_not_zero(fields: dict[str, Any]):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, provider="openai", model="gpt-5"))
        said = await stage.ask(grant)
        assert (said.status, said.content) == (200, "hm")
        assert (grant.calls[0].usage, grant.calls[0].cost_usd) == (None, None)

    play(always(completion_with(**fields)), scene)


PRICED = {"provider": "openai", "model": "gpt-5"}


def test_a_call_costs_what_is_known_of_its_price():
    async def scene(stage: Door, served: Provider) -> None:
        async def cost(**more: Any) -> float | None:
            grant = stage.grant(model_at(served, f"m{len(served.requests)}", **more))
            await stage.ask(grant)
            assert grant.spent.cost_usd == grant.calls[0].cost_usd
            return grant.calls[0].cost_usd

        known = await cost(**PRICED)
        assert known == pytest.approx(60 * 1.25e-6 + 40 * 0.125e-6 + 20 * 10e-6)
        claude = await cost(provider="anthropic", model="claude-sonnet-4-5")
        assert claude == pytest.approx(50 * 3e-6 + 40 * 0.3e-6 + 10 * 3.75e-6 + 20 * 15e-6)
        assert await cost(free=True) == 0.0
        assert await cost() is None
        assert await cost(provider="openai", model="no-such-model") is None
        assert await cost(provider="no-such-provider") is None

    play(always(THRIFTY), scene)


def test_a_usage_that_makes_no_sense_has_no_cost_but_an_answer():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, **PRICED))
        said = await stage.ask(grant)
        assert (said.status, said.content) == (200, "ok")
        assert grant.calls[0].usage is not None
        assert grant.calls[0].cost_usd is None

    play(always(Reply(usage=(10, 20), cached=40)), scene)


def test_a_spent_budget_stops_the_next_call():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served, **PRICED)
        price = price_of(model, input_tokens=10, output_tokens=5)
        assert price is not None
        for budget, calls in (
            (Budget(tokens=16), 2),
            (Budget(tokens=15), 1),
            (Budget(tokens=0), 0),
            (Budget(usd=price * 1.5), 2),
            (Budget(usd=0.0), 0),
        ):
            served.requests.clear()
            grant = stage.grant(model, budget=budget)
            for _ in range(calls):
                assert (await stage.ask(grant)).status == 200
            for stream in (False, True):
                said = await stage.ask(grant, stream=stream)
                assert (said.status, said.code) == (402, "envwright_budget")
            assert len(served.requests) == len(grant.calls) == calls
            assert grant.failure is None

    play(always(Reply()), scene)


def test_a_call_of_unknown_cost_does_not_lift_a_budget():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served, **PRICED)
        price = price_of(model, input_tokens=10, output_tokens=5)
        assert price is not None
        grant = stage.grant(model, budget=Budget(usd=price * 1.5))
        statuses = [(await stage.ask(grant)).status for _ in range(4)]
        assert statuses == [200, 502, 200, 402]
        assert grant.spent.cost_usd is None

    play(in_turn(Reply(), Reply(body=b"{}"), Reply()), scene)


@pytest.mark.parametrize("stream", [False, True])
def test_calls_in_flight_reach_the_models_limit_and_never_exceed_it(stream: bool):
    async def scene(stage: Door, served: Provider) -> None:
        grants = [stage.grant(model_at(served, limit=3)) for _ in range(4)]
        said = await asyncio.gather(
            *(stage.ask(grant, stream=stream) for grant in grants for _ in range(5))
        )
        assert [each.status for each in said] == [200] * 20
        assert served.most_in_flight == 3

    play(always(Reply(delay=0.02)), scene)


@in_every_protocol
def test_server_errors_are_tried_again_and_the_tries_counted(tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.content) == (200, "at last")
        assert [(call.tries, call.status, call.error) for call in grant.calls] == [(3, 200, None)]
        assert grant.failure is None

    play(in_turn(Reply(status=500), Reply(status=529), Reply("at last")), scene, tongue)


def test_a_server_that_fails_for_ever_is_left_after_some_tries():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.code) == (500, "provider_error")
        (call,) = grant.calls
        assert (call.tries, call.status, call.usage) == (TRIES, 500, None)
        assert len(served.requests) == TRIES
        assert "overloaded" in str(call.error)
        assert "overloaded" not in said.text
        assert grant.failure is not None
        assert grant.failure.transient
        assert not grant.failure.refused

    play(always(Reply("overloaded", status=500)), scene)


def rate_limited(**headers: str) -> Reply:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply("slow down", status=429, headers=named)


@pytest.mark.parametrize(
    ("wait", "least", "most"),
    [
        (lambda: {"retry_after": "1"}, 1.0, 2.0),
        (lambda: {"retry_after_ms": "300"}, 0.3, 1.2),
        (lambda: {"retry_after_ms": "300", "retry_after": "50"}, 0.3, 1.2),
        (lambda: {"retry_after_ms": "soon", "retry_after": "0.4"}, 0.4, 1.3),
        (
            lambda: {
                "retry_after": format_datetime(
                    datetime.now(UTC) + timedelta(seconds=2), usegmt=True
                )
            },
            *(0.9, 3.0),
        ),
    ],
    ids=["seconds", "ms", "ms before seconds", "bad ms", "date"],
)
def test_a_wait_that_the_provider_asks_for_is_waited_out(
    wait: Callable[[], dict[str, str]], least: float, most: float
):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.content) == (200, "now")
        assert grant.calls[0].tries == 2
        assert least <= grant.calls[0].seconds <= most

    play(in_turn(rate_limited(**wait()), Reply("now")), scene)


def test_all_calls_of_a_model_wait_together_and_other_models_do_not():
    arrived: list[tuple[str, float]] = []

    def answer(body: dict[str, Any]) -> Reply:
        arrived.append((body["model"], time.monotonic()))
        return rate_limited(retry_after_ms="600") if len(arrived) == 1 else Reply()

    async def scene(stage: Door, served: Provider) -> None:
        slow = model_at(served, "slow", model="slow")
        first = asyncio.create_task(stage.ask(stage.grant(slow)))
        await until(lambda: len(arrived) == 1)
        await asyncio.sleep(0.1)
        others = [asyncio.create_task(stage.ask(stage.grant(slow))) for _ in range(4)]
        quick = await stage.ask(stage.grant(model_at(served, "quick", model="quick")))
        assert quick.status == 200
        assert [name for name, _ in arrived] == ["slow", "quick"]
        assert {(await task).status for task in (first, *others)} == {200}
        told = arrived[0][1]
        assert all(at - told >= 0.59 for name, at in arrived[1:] if name == "slow")
        assert len(arrived) == 7

    play(answer, scene)


def test_a_wait_beyond_a_minute_fails_at_once_and_says_how_long():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        started = time.monotonic()
        said = await stage.ask(grant)
        assert time.monotonic() - started < 5
        assert said.status == 429
        assert len(served.requests) == 1
        assert grant.failure is not None
        assert grant.failure.retry_after_seconds == 61
        assert grant.failure.transient

    play(always(rate_limited(retry_after="61")), scene)


@pytest.mark.parametrize("status", [401, 402, 403, 404])
@pytest.mark.parametrize("headers", [{}, {"Retry-After": "1"}], ids=["", "retry-after"])
def test_a_refusal_is_final_at_once(status: int, headers: dict[str, str]):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, api_key_env="CANARY_KEY"))
        said = await stage.ask(grant)
        code = "quota" if status == 402 else "provider_error"
        assert (said.status, said.code) == (status, code)
        assert (grant.calls[0].tries, grant.calls[0].status) == (1, status)
        assert len(served.requests) == 1
        assert grant.failure is not None
        assert grant.failure.refused
        if status in (401, 403):
            assert "CANARY_KEY" in str(grant.failure)
        assert "go away" in str(grant.failure)

    play(always(Reply("go away", status=status, headers=headers)), scene, keys=KEYS)


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "too long", "code": "context_length_exceeded"}),
        (400, {"message": "This model's maximum context length is 8192 tokens."}),
        (400, {"message": "the request exceeds the available context size", "type": "x"}),
        (400, {"message": "prompt is too long: 209999 tokens > 200000 maximum"}),
        (400, {"message": "input length and `max_tokens` exceed context limit: 190 + 20 > 200"}),
        (400, {"message": "The input token count (9) exceeds the maximum number of tokens (8)"}),
        (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}),
        (413, {"message": "Your input exceeds the context window of this model."}),
    ],
)
def test_a_conversation_that_is_too_long_is_no_failure_of_the_provider(
    status: int, error: dict[str, str], stream: bool, tongue: Tongue
):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant, stream=stream)
        assert (said.status, said.code) == (status, "context_length_exceeded")
        assert "prompt is too long" in said.json["error"]["message"]
        assert len(served.requests) == 1
        assert grant.failure is None
        assert grant.calls[0].error

    play(always(Reply(body=json.dumps({"error": error}).encode(), status=status)), scene, tongue)


@pytest.mark.parametrize(
    ("status", "words"),
    [(400, "temperature must be below 2"), (500, "context window crashed"), (302, "elsewhere")],
)
def test_other_errors_are_failures_of_the_provider(status: int, words: str):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.code) == (status, "provider_error")
        assert grant.failure is not None
        assert not grant.failure.refused
        assert words in str(grant.failure)

    headers = {"Location": "/v1/elsewhere"}
    play(always(Reply(words, status=status, headers=headers)), scene)


MALFORMED: dict[str, bytes] = {
    "empty": b"",
    "text": b"<html>welcome</html>",
    "no utf-8": b"\xff\xfe\x00",
    "cut": b'{"choices": [{"mess',
    "list": b"[]",
    "null": b"null",
    "number": b"7",
    "no choices": b"{}",
    "choices is no list": b'{"choices": {"0": {}}}',
    "empty choices": b'{"choices": [], "usage": {"prompt_tokens": 1}}',
    "choice is null": b'{"choices": [null]}',
    "choice is text": b'{"choices": ["hello"]}',
    "no message": b'{"choices": [{}]}',
    "message is text": b'{"choices": [{"message": "hello"}]}',
    "output is no list": b'{"output": {"0": {}}, "status": "completed"}',
    "output of text": b'{"output": ["hello"], "status": "completed"}',
    "not begun": b'{"output": [], "status": "queued"}',
    "failed": b'{"output": [], "status": "failed", "error": {"message": "x"}}',
    "content is text": b'{"role": "assistant", "content": "hello"}',
    "content of text": b'{"role": "assistant", "content": ["hello"]}',
    "no assistant": b'{"role": "user", "content": []}',
    "error with 200": b'{"error": {"message": "overloaded"}}',
    "deep": b"[" * 200_000,
}


@in_every_protocol
@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_a_200_that_holds_no_completion_is_a_failure_of_the_provider(body: bytes, tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.code) == (502, "provider_error")
        (call,) = grant.calls
        assert call.error
        assert (call.tries, call.usage, call.cost_usd, call.status) == (2, None, None, 200)
        assert grant.failure is not None
        assert grant.failure.transient

    play(in_turn(Reply(status=500), Reply(body=body)), scene, tongue)


def breaking(how: str, *, stream: bool) -> Callable[[web.Request], Any]:
    async def act(request: web.Request) -> web.StreamResponse:
        headers = {} if stream else {"content-length": "5000", "content-type": "application/json"}
        response = web.StreamResponse(headers=headers)
        await response.prepare(request)
        if stream:
            tongue = next(t for t in TONGUES if request.path.endswith(t.path))
            if tongue is MESSAGES:
                await send(response, SPEECHES[tongue.path](Reply(), SECRET_NAME).events[0])
            await send(response, tongue.half)
        else:
            await response.write(b'{"choices": [')
        await asyncio.sleep(0.05)
        assert request.transport is not None
        if how == "abort":
            request.transport.abort()
        elif how == "close":
            request.transport.close()
        return response

    return act


@in_every_protocol
@pytest.mark.parametrize(
    ("stream", "how"),
    [(False, "close"), (False, "abort"), (True, "close"), (True, "abort"), (True, "end")],
)
def test_an_answer_that_breaks_off_is_a_failure_of_unknown_usage(
    stream: bool, how: str, tongue: Tongue
):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, limit=1, **PRICED))
        said = await stage.ask(grant, stream=stream)
        if stream:
            assert said.broke_off
            assert said.content == "half"
            assert tongue.last not in said.text or tongue is RESPONSES
            assert "completed" not in said.text
        else:
            assert (said.status, said.code) == (502, "provider_error")
        (call,) = grant.calls
        assert call.error
        assert (call.usage, call.cost_usd) == (None, None)
        assert grant.spent.cost_usd is None
        assert call.tries == 2
        assert grant.failure is not None
        assert grant.failure.transient
        assert (await stage.ask(stage.grant(model_at(served, limit=1)))).status == 200

    broken = Reply(act=breaking(how, stream=stream))
    play(in_turn(Reply(status=500), broken, Reply()), scene, tongue)


def test_a_provider_that_is_not_there_is_a_failure_without_a_status():
    async def scene(stage: Door, served: Provider) -> None:
        with socket.create_server(("127.0.0.1", 0)) as gone:
            port = gone.getsockname()[1]
        model = Model(name="dead", base_url=f"http://127.0.0.1:{port}/v1", model="dead")
        grant = stage.grant(model)
        said = await stage.ask(grant)
        assert (said.status, said.code) == (502, "provider_error")
        assert str(port) not in said.text
        assert (grant.calls[0].status, grant.calls[0].tries) == (None, TRIES)
        assert grant.failure is not None
        assert grant.failure.transient

    play(always(Reply()), scene)


async def flood(request: web.Request) -> web.StreamResponse:
    """Events as fast as they go, many in each packet, for ever."""
    response = web.StreamResponse()
    await response.prepare(request)
    choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}
    event = b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"
    while True:
        await response.write(event * 500)


async def trickle(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse()
    await response.prepare(request)
    choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}
    while True:
        await send(response, {"choices": [choice]})
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("reply", "stream"),
    [(Reply(delay=30), False), (Reply(act=flood), True), (Reply(act=trickle), True)],
    ids=["plain", "flood", "trickle"],
)
def test_the_call_ends_when_its_caller_goes_away(reply: Reply, stream: bool):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, limit=1))
        asking = stage.session.post(
            stage.url(), json=stage.question(stream=stream), headers=stage.headers(grant, "agent")
        )
        if stream:
            answer = await asking
            await answer.content.readany()
            answer.close()
        else:
            task = asyncio.ensure_future(asking)
            await until(lambda: served.in_flight == 1)
            task.cancel()
        await until(lambda: served.aborted == 1)
        await until(lambda: len(grant.calls) == 1)
        (call,) = grant.calls
        assert call.error == "the caller went away"
        assert call.usage is None
        # The model never answered: had the agent's time run out here, that were no score.
        assert "had not answered" in str(grant.failure)
        again = await stage.ask(stage.grant(model_at(served, limit=1)))
        assert (again.status, again.content) == (200, "next")
        assert len(served.requests) == 2

    play(in_turn(reply, Reply("next")), scene)


def test_a_caller_that_goes_away_while_a_retry_waits_frees_its_place():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, limit=1))
        task = asyncio.ensure_future(stage.ask(grant))
        await until(lambda: len(served.requests) == 1)
        task.cancel()
        await until(lambda: len(grant.calls) == 1)
        assert (await stage.ask(stage.grant(model_at(served, limit=1)))).status == 200
        assert len(served.requests) == 2

    play(in_turn(rate_limited(retry_after="1"), Reply()), scene)


NOW = datetime(2026, 1, 1, tzinfo=UTC)
HEADER_VALUES = (
    st.text()
    | st.integers().map(str)
    | st.floats().map(str)
    | st.datetimes().map(lambda at: format_datetime(at.replace(tzinfo=UTC), usegmt=True))
    | st.datetimes().map(format_datetime)
)


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms"]), HEADER_VALUES))
@example({"retry-after": "inf"})
@example({"retry-after": "nan"})
@example({"retry-after-ms": "1e999"})
@example({"retry-after": "Thu, 01 Jan 99999999999 00:00:00 GMT"})
@example({"retry-after": "Thu, 01 Jan 2026 00:00:00 -0000"})
@example({"retry-after": "1, 1 Jan 1 99999999999:1:1 +99999999999"})
def test_whatever_retry_after_says_is_a_finite_wait_or_none(headers: dict[str, str]):
    wait = retry_after(headers, NOW)
    assert wait is None or (wait >= 0 and math.isfinite(wait))


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": " 2.5 "}, 2.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry-after": "Wed, 31 Dec 2025 00:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
    ],
)
def test_retry_after_is_read_in_each_of_its_spellings(headers: dict[str, str], wait: float | None):
    assert retry_after(headers, NOW) == wait


STATUSES = st.sampled_from([None, 302, 400, 401, 402, 403, 404, 408, 429, 500, 503])


@given(
    STATUSES,
    st.none() | st.floats(0, 10_000),
    st.none() | st.sampled_from(Fault),
    st.integers(1, 15),
)
def test_a_pause_is_never_negative_nor_above_the_cap_and_refusals_have_none(
    status: int | None, wait: float | None, code: Fault | None, tries: int
):
    failure = ProviderError("x", status=status, retry_after_seconds=wait, code=code)
    pause = pause_after(failure, tries)
    assert pause is None or 0 <= pause <= LONGEST_WAIT_SECONDS
    assert not failure.transient or code not in (Fault.CONTEXT, Fault.QUOTA)
    if failure.refused or not failure.transient or (wait or 0) > LONGEST_WAIT_SECONDS:
        assert pause is None
    if tries >= 12:
        assert pause is None
    if tries == 1 and status in (None, 429, 500) and code is None and wait is None:
        assert pause is not None


def test_a_request_that_was_answered_in_the_end_is_forgiven_and_no_other():
    refusals = iter([Reply("no", status=400)] * 2)

    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        await stage.ask(grant, temperature=1)
        await stage.ask(grant, temperature=2)
        assert len(grant.failures) == 2
        await stage.ask(grant, temperature=3)
        assert len(grant.failures) == 2
        await stage.ask(grant, temperature=1)
        assert len(grant.failures) == 1
        await stage.ask(grant, temperature=2)
        assert grant.failure is None

    play(lambda body: next(refusals, Reply("yes")), scene)


@pytest.mark.parametrize(
    ("seat", "answered_before", "status", "is_failure"),
    [
        ("agent", True, 200, False),
        ("agent", False, 200, True),
        ("agent", True, 500, True),
        (None, True, 200, True),
        ("user", True, 200, True),
    ],
    ids=["in the middle of its work", "never answered", "already failing", "a judge", "a user"],
)
def test_a_call_cut_short_is_the_providers_failure_unless_the_agent_was_at_work(
    seat, answered_before, status, is_failure
):
    slow = Reply("late", delay=30) if status == 200 else Reply("no", status=500)
    replies = iter([*([Reply("first")] if answered_before else []), slow, slow, slow, slow])

    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        grant = stage.grant(model, environment_model=model, played={"user": model})
        if answered_before:
            assert (await stage.ask(grant, seat=seat)).status == 200
        asking = asyncio.ensure_future(stage.ask(grant, seat=seat, temperature=1))
        await until(lambda: len(served.requests) == answered_before + (1 if status == 200 else 2))
        asking.cancel()
        await until(lambda: len(grant.calls) == answered_before + 1)
        assert (grant.failure is not None) == is_failure

    play(lambda body: next(replies), scene)


def test_an_answer_that_never_ends_is_refused_before_it_fills_the_memory():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert said.status == 502
        assert "answered more than" in str(grant.failure)

    play(always(Reply(body=b" " * (LARGEST_ANSWER_BYTES + 1))), scene)


@pytest.mark.parametrize(("seat", "spoils"), [(None, True), ("user", True), ("agent", False)])
def test_a_judge_without_room_for_the_question_did_not_judge(seat, spoils):
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        grant = stage.grant(model, environment_model=model, played={"user": model})
        await stage.ask(grant, seat=seat)
        assert (grant.failure is not None) == spoils

    play(always(Reply("maximum context length is 8", status=400)), scene)


def test_a_sandbox_that_makes_its_listener_block_stops_nobody():
    async def main() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        kept = listener.dup()
        gateway = Gateway({})
        detach = await gateway.attach(listener)
        os.set_blocking(kept.fileno(), True)
        url = f"http://127.0.0.1:{kept.getsockname()[1]}/v1/chat/completions"
        async with aiohttp.ClientSession() as session:
            for _ in range(3):
                async with session.post(url, json={}) as answer:
                    assert answer.status == 401
        await asyncio.wait_for(detach(), 5)
        kept.close()

    asyncio.run(asyncio.wait_for(main(), 20))
