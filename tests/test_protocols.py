"""What the protocols have of their own: errors, streams, clients, and who speaks which."""

import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from envwright.errors import Fault
from envwright.gateway.fault import fault_of, limit_reset
from envwright.model import Protocol, preset_of
from envwright.settings import FileTables, Settings
from provider import Provider, Reply, send
from stage import SECRET_NAME, Door, always, in_every_protocol, in_turn, model_at, play
from tongue import CHAT, MESSAGES, RESPONSES, Tongue

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@in_every_protocol
@pytest.mark.parametrize("spoken", list(Protocol), ids=str)
def test_a_call_is_passed_on_or_told_what_its_model_speaks(tongue: Tongue, spoken: Protocol):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, protocols=(spoken,)))
        said = await stage.ask(grant)
        if spoken == tongue.protocol:
            assert (said.status, grant.unserved) == (200, None)
            return
        assert (said.status, said.code) == (400, "wrong_protocol")
        words = f"'agent' asked in the protocol {tongue.protocol}, but its model speaks {spoken}"
        assert said.json["error"]["message"] == words == grant.unserved
        assert served.requests == []

    play(always(Reply()), scene, tongue)


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        *(("openai/x", "openai-chat openai-responses"), ("anthropic/x", "openai-chat anthropic")),
        *(("google/x", "openai-chat"), ("prime/x", "openai-chat"), ("together/x", "openai-chat")),
        *((f"{name}/x", " ".join(Protocol)) for name in ("openrouter", "vllm", "ollama")),
        ("llamacpp/x", " ".join(Protocol)),
    ],
)
def test_a_well_known_provider_speaks_its_protocols(name: str, spoken: str):
    model = preset_of(name)
    assert model is not None
    assert " ".join(model.protocols) == spoken


@pytest.mark.parametrize(
    ("table", "spoken"),
    [
        ({}, ("openai-chat", "anthropic")),
        ({"limit": 2}, ("openai-chat", "anthropic")),
        ({"protocol": "anthropic"}, ("anthropic",)),
        ({"base_url": "http://127.0.0.1:1/v1"}, ("openai-chat",)),
        (
            {"base_url": "http://127.0.0.1:1/v1", "protocol": "openai-responses"},
            ("openai-responses",),
        ),
    ],
)
def test_the_files_protocol_is_the_only_one(
    table: dict[str, Any], spoken: tuple[str, ...], tmp_path: Path
):
    tables = FileTables.model_validate({"models": {"anthropic/x": table}})
    settings = Settings(home=tmp_path, cache=tmp_path, venvs=tmp_path, file=tables)
    assert settings.model("anthropic/x").protocols == spoken


@in_every_protocol
def test_a_model_is_tried_out_in_its_own_protocol(tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        call = await stage.gateway.try_out(model_at(served, protocols=(tongue.protocol,)))
        assert (call.status, call.error, call.seat) == (200, None, "check")
        assert call.usage is not None
        assert served.requests[0]["model"] == SECRET_NAME

    play(always(Reply()), scene)


def test_tokens_are_counted_for_nothing_and_a_count_that_fails_spoils_nothing():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served, provider="anthropic", model="claude-sonnet-4-5"))
        stage.urls[0] += "/messages/count_tokens"
        headers = stage.headers(grant, "agent")
        body = json.dumps(MESSAGES.question()).encode()

        async def count() -> tuple[int, Any]:
            async with stage.session.post(stage.urls[0], data=body, headers=headers) as answer:
                return answer.status, await answer.json()

        assert await count() == (200, {"input_tokens": 10})
        assert (grant.spent.tokens, grant.spent.cost_usd) == (0, 0.0)
        assert (await count())[0] == 404
        assert grant.failure is None
        assert len(grant.calls) == 2

    play(in_turn(Reply(), Reply("no such page", status=404)), scene)


def error(message: str = "", code: str | None = None, kind: str | None = None) -> str:
    return json.dumps({"error": {"message": message, "code": code, "type": kind}})


@pytest.mark.parametrize(
    ("status", "text", "fault"),
    [
        (429, error("You exceeded your current quota", code="insufficient_quota"), Fault.QUOTA),
        (429, error(kind="insufficient_quota"), Fault.QUOTA),
        (400, error("billed", code="billing_hard_limit_reached"), Fault.QUOTA),
        (400, error("Your credit balance is too low to access the API"), Fault.QUOTA),
        (403, error(kind="billing_error"), Fault.QUOTA),
        (402, "pay", Fault.QUOTA),
        (429, error("Rate limit reached for requests", code="rate_limit_exceeded"), Fault.RATE),
        (429, error("quota of tokens per minute", kind="rate_limit_error"), Fault.RATE),
        (429, "", Fault.RATE),
        (529, "", Fault.OVERLOADED),
        (503, error(kind="overloaded_error"), Fault.OVERLOADED),
        (None, error(kind="overloaded_error"), Fault.OVERLOADED),
        (None, error(code="rate_limit_exceeded"), Fault.RATE),
        (None, error("Your input exceeds the context window of this model"), Fault.CONTEXT),
        (400, error(kind="exceed_context_size_error"), Fault.CONTEXT),
        (500, error("maximum context length"), None),
        (400, error("temperature"), None),
        (None, "[" * 100_000, None),
        (500, "[]", None),
    ],
)
def test_an_error_is_known_by_its_code(status: int | None, text: str, fault: Fault | None):
    assert fault_of(status, text) == fault


@pytest.mark.parametrize(
    ("left", "reset", "wait"),
    [
        ("0", "2026-01-01T00:00:30Z", 30.0),
        ("0", "2025-12-31T23:59:30Z", 0.0),
        ("0", "2026-01-01T00:00:07", 7.0),
        ("5", "2026-01-01T00:00:30Z", None),
        ("0", "soon", None),
    ],
)
def test_a_limit_that_is_used_up_tells_when_it_is_renewed(
    left: str, reset: str, wait: float | None
):
    kind = "anthropic-ratelimit-input-tokens"
    other = {"anthropic-ratelimit-requests-remaining": "9", "retry-after": "x"}
    headers = {f"{kind}-remaining": left, f"{kind}-reset": reset, **other}
    assert limit_reset(headers, NOW) == wait


@given(st.text() | st.datetimes().map(datetime.isoformat), st.text() | st.just("0"))
def test_whatever_a_limit_says_is_a_finite_wait_or_none(reset: str, left: str):
    kind = "anthropic-ratelimit-tokens"
    wait = limit_reset({f"{kind}-remaining": left, f"{kind}-reset": reset}, NOW)
    assert wait is None or (wait >= 0 and math.isfinite(wait))


@in_every_protocol
def test_a_spent_quota_is_final_at_once_although_it_looks_like_a_rate_limit(tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.code, len(served.requests)) == (429, "quota", 1)
        assert grant.failure is not None
        assert grant.failure.refused
        assert not grant.failure.transient
        assert "credit" in str(grant.failure)

    body = error("You exceeded your current quota", code="insufficient_quota").encode()
    play(always(Reply(body=body, status=429, headers={"retry-after": "1"})), scene, tongue)


FAILED = {"status": "failed", "error": {"code": "overloaded", "message": SECRET_NAME}}
IN_STREAM: list[tuple[Tongue, dict[str, Any]]] = [
    (CHAT, {"error": {"code": "overloaded", "message": SECRET_NAME}}),
    (RESPONSES, {"type": "error", "code": "server_is_overloaded", "message": SECRET_NAME}),
    (RESPONSES, {"type": "response.failed", "response": FAILED}),
    (MESSAGES, {"type": "error", "error": {"type": "overloaded_error", "message": SECRET_NAME}}),
]


@pytest.mark.parametrize(("tongue", "event"), IN_STREAM)
def test_an_error_inside_a_stream_is_typed_and_told_in_general_words(
    tongue: Tongue, event: dict[str, Any]
):
    async def act(request: Any) -> Any:
        response = web.StreamResponse()
        await response.prepare(request)
        await send(response, tongue.half)
        await send(response, event)
        return response

    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        said = await stage.ask(grant, stream=True)
        assert SECRET_NAME not in said.text
        assert said.events[0] == {**tongue.half, **({"model": "policy"} if tongue is CHAT else {})}
        assert said.events[-1]["error"]["code"] == "overloaded"
        assert tongue.last not in said.text or tongue is RESPONSES
        assert grant.failure is not None
        assert (grant.failure.code, grant.failure.transient) == (Fault.OVERLOADED, True)
        assert grant.calls[0].usage is None

    play(always(Reply(act=act)), scene, tongue)


def test_a_background_response_is_refused():
    async def scene(stage: Door, served: Provider) -> None:
        said = await stage.ask(stage.grant(model_at(served)), background=True)
        assert (said.status, said.code, served.requests) == (400, "bad_request", [])

    play(always(Reply()), scene, RESPONSES)


TOOLED = Reply("let me look", tool=("search", {"q": "x"}), cached=3)


def test_the_openai_sdk_is_served_in_both_of_its_protocols():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(None, environment_model=model_at(served))
        async with openai.AsyncOpenAI(base_url=stage.urls[0], api_key=grant.token) as client:
            asked: dict[str, Any] = {"model": "m", "input": "?"}
            response = await client.responses.create(**asked)
            assert (response.output_text, response.model) == ("let me look", "m")
            assert response.output[1].name == "search"
            events = [event async for event in await client.responses.create(**asked, stream=True)]
            assert [event.type for event in events][-1] == "response.completed"
            asked = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
            completion = await client.chat.completions.create(**asked)
            assert completion.choices[0].message.tool_calls[0].function.name == "search"
            chunks = [c async for c in await client.chat.completions.create(**asked, stream=True)]
            assert {chunk.model for chunk in chunks} == {"m"}
            served.answer = always(
                Reply(body=error(code="context_length_exceeded").encode(), status=400)
            )
            with pytest.raises(openai.BadRequestError) as caught:
                await client.responses.create(model="m", input="?")
            assert caught.value.code == "context_length_exceeded"
        assert [call.usage.cached_tokens for call in grant.calls if call.usage] == [3] * 4

    play(always(TOOLED), scene)


def test_the_anthropic_sdk_is_served():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(None, environment_model=model_at(served))
        url = stage.urls[0].removesuffix("/v1")
        async with anthropic.AsyncAnthropic(base_url=url, api_key=grant.token) as client:
            asked: dict[str, Any] = {
                **{"model": "m", "max_tokens": 9},
                "messages": [{"role": "user", "content": "?"}],
            }
            message = await client.messages.create(**asked)
            assert (message.content[0].text, message.model) == ("let me look", "m")
            assert message.content[1].input == {"q": "x"}
            async with client.messages.stream(**asked) as stream:
                whole = await stream.get_final_message()
            assert (whole.content[1].input, whole.stop_reason) == ({"q": "x"}, "tool_use")
            counted = await client.messages.count_tokens(model="m", messages=asked["messages"])
            assert counted.input_tokens == 10
            served.answer = always(Reply(body=error("prompt is too long").encode(), status=400))
            with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
                await client.messages.create(**asked)
        assert [call.usage.cached_tokens for call in grant.calls if call.usage] == [3, 3, 0]

    play(always(TOOLED), scene)
