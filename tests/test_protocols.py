"""What the protocols have of their own: errors, streams, clients, and who speaks which."""

import asyncio
import json
import math
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from bed import make_bed
from envwright.errors import Cause, Fault
from envwright.gateway.fault import fault_of, limit_reset, retry_after
from envwright.model import Model, Protocol, preset_of
from envwright.model.local import local_model, pull, serve_local
from envwright.settings import FileTables, Settings, process_variables, read_settings
from envwright.trial import Failed, Scored
from provider import Provider, Reply, provider, send
from stage import SECRET_NAME, Door, always, in_every_protocol, in_turn, model_at, play
from support import CommandLine, make_environment
from tongue import CHAT, MESSAGES, RESPONSES, TONGUES, Tongue

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
        call, said = await stage.gateway.try_out(model_at(served, protocols=(tongue.protocol,)))
        assert said
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
def test_a_spent_quota_is_told_at_once_although_it_looks_like_a_rate_limit(tongue: Tongue):
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served), trial="")
        said = await stage.ask(grant)
        assert (said.status, said.code, len(served.requests)) == (429, "quota", 1)
        assert grant.failure is not None
        assert not grant.failure.refused
        assert grant.failure.transient
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


@contextmanager
def llmock(*options: str) -> Iterator[str]:
    """A provider that misbehaves on purpose, as Anthropic would."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "llmock"), "serve", "-p", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, "llmock ended"
                assert time.monotonic() < deadline, "llmock did not start"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/anthropic/v1"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.slow
def test_a_foreign_provider_of_messages_is_waited_for_and_its_errors_known():
    async def scene(stage: Door, served: Provider) -> None:
        model = Model(
            name="m", base_url=url, model="claude-sonnet-4-5", protocols=(Protocol.ANTHROPIC,)
        )
        grant = stage.grant(model, trial="")
        said = await asyncio.gather(*(stage.ask(grant, seat=f"s{n}") for n in range(12)))
        assert {each.status for each in said} == {200}
        assert max(call.tries for call in grant.calls) > 1
        whole = await stage.ask(grant, stream=True)
        assert whole.content
        assert all(call.usage for call in grant.calls)
        assert grant.failure is None

    with llmock("--error-rate", "529=0.3", "--error-rate", "429=0.2") as url:
        play(always(Reply()), scene, MESSAGES)


@pytest.mark.slow
def test_a_foreign_limit_tells_a_wait_and_a_later_reset():
    async def scene(stage: Door, served: Provider) -> None:
        headers: Any = {}
        for _ in range(5):
            body = MESSAGES.question(model="claude-sonnet-4-5")
            sent = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
            async with stage.session.post(f"{url}/messages", json=body, headers=sent) as answer:
                headers = answer.headers
                if answer.status == 429:
                    break
        now = datetime.now(UTC)
        asked, reset = retry_after(headers, now), limit_reset(headers, now)
        assert asked is not None
        assert reset is not None
        # The reset is when all of the limit is there again.
        assert 0 < asked <= reset + 2 <= 65

    with llmock("--rpm", "2") as url:
        play(always(Reply()), scene, MESSAGES)


@pytest.mark.slow
def test_the_local_model_answers_in_every_protocol():
    settings = read_settings(process_variables(), Path.cwd())

    async def scene(stage: Door, served: Provider) -> None:
        async with serve_local(settings.cache) as url:
            model = local_model(url)
            assert set(model.protocols) == set(Protocol)
            for tongue in TONGUES:
                stage.tongue = tongue
                short = "max_output_tokens" if tongue is RESPONSES else "max_tokens"
                # Its stream of messages has no beginning if the first token is half a character.
                asked = {**tongue.ask("Say hello."), short: 12, "temperature": 0}
                for stream in (False, True):
                    grant = stage.grant(model)
                    said = await stage.ask(grant, stream=stream, **asked)
                    assert said.status == 200, said.text
                    assert said.content.strip(), said.text
                    assert "smollm2" not in said.text.lower()
                    (call,) = grant.calls
                    assert call.error is None
                    assert call.usage is not None
                    assert call.usage.input_tokens > 5
                    assert 1 <= call.usage.output_tokens <= 12
                    assert (call.cost_usd, bool(call.finish_reason)) == (0.0, True)

    pull(settings.cache)
    play(always(Reply()), scene)


JUDGES = """
import anthropic, openai

asked = [{"role": "user", "content": "Is it right?"}]
made_at_import = anthropic.AsyncAnthropic(), openai.AsyncOpenAI()
"""
JUDGED = """
@vf.reward(weight=1.0)
async def by_messages(self, trace: vf.Trace) -> float:
    said = await made_at_import[0].messages.create(model="judge", max_tokens=9, messages=asked)
    return float(said.content[0].text)

@vf.reward(weight=1.0)
async def by_messages_in_a_thread(self, trace: vf.Trace) -> float:
    def ask():
        with anthropic.Anthropic() as client:
            with client.messages.stream(model="judge", max_tokens=9, messages=asked) as stream:
                return stream.get_final_text()
    return float(await asyncio.to_thread(ask))

@vf.reward(weight=1.0)
async def by_responses(self, trace: vf.Trace) -> float:
    said = await made_at_import[1].responses.create(model="judge", input="Is it right?")
    return float(said.output_text)

@vf.reward(weight=1.0)
async def by_chat(self, trace: vf.Trace) -> float:
    async with openai.AsyncOpenAI() as client:
        said = await client.chat.completions.create(model="judge", messages=asked)
    return float(said.choices[0].message.content)
"""


@pytest.mark.slow
def test_rewards_ask_their_judge_with_either_sdk_in_every_protocol(tmp_path: Path, venvs: Path):
    root = make_environment(tmp_path, imports=JUDGES, task=JUDGED, count=2)
    with provider(always(Reply("0.25"))) as served, make_bed(tmp_path, venvs) as bed:
        loaded = bed.do(bed.load(root))
        told = bed.do(bed.sweep(loaded, [0, 1], judge=model_at(served, "p/judge")))
        for trial in told.values():
            assert isinstance(trial.outcome, Scored), trial.outcome
            assert trial.outcome.reward == 1.0
            assert {score.score for score in trial.outcome.rewards.values()} == {0.25}
        assert len(served.requests) == 8
        assert {request["model"] for request in served.requests} == {SECRET_NAME}
        spoken = (Protocol.OPENAI_CHAT,)
        judge = model_at(served, "p/chat", protocols=spoken)
        outcome = bed.do(bed.sweep(loaded, [0], judge=judge))[0].outcome
        assert isinstance(outcome, Failed)
        assert outcome.cause == Cause.GRADER
        assert "'environment' asked in the protocol" in outcome.detail
        assert "but its model speaks openai-chat" in outcome.detail


@pytest.mark.slow
def test_a_chat_agent_is_not_given_a_model_that_does_not_chat(
    envwright: CommandLine, tmp_path: Path
):
    (tmp_path / "envwright.toml").write_text(
        '[models."p/words"]\nbase_url = "http://127.0.0.1:1/v1"\nprotocol = "anthropic"\n'
    )
    refused = envwright("run", make_environment(tmp_path), "-m", "p/words")
    assert refused.code == 2
    assert "agent chat speaks openai-chat, and model 'p/words' speaks anthropic" in refused.err


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
