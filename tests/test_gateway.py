"""The gateway between a sandbox (an HTTP client on its listener) and a provider on loopback."""

import asyncio
import json
import os
import socket
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from envwright.gateway import ENVIRONMENT, Gateway, Grant
from envwright.model import Model
from provider import SPEECHES, Provider, Reply, send
from stage import (
    KEY,
    KEYS,
    SECRET_NAME,
    STRANGE,
    Door,
    always,
    in_every_protocol,
    model_at,
    play,
)
from tongue import MESSAGES, TONGUES, Tongue


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


def test_a_call_that_names_no_trial_is_counted_and_a_late_one_is_not():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        body = json.dumps(stage.question()).encode()
        for key in ({}, {"authorization": "Bearer none"}, {"x-api-key": "none"}):
            assert (await stage.post(body, key)).status == 401
        assert stage.gateway.strays == 3
        assert (await stage.ask(grant)).status == 200
        stage.gateway.close_grant(grant)
        assert (await stage.ask(grant)).status == 401
        assert stage.gateway.strays == 3

    play(always(Reply()), scene)


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
