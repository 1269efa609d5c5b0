"""Answers that are none, that break off or never end, and callers that go away."""

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from envwright.gateway.relay import LARGEST_ANSWER_BYTES
from envwright.gateway.upstream import TRIES
from envwright.model import Model
from provider import SPEECHES, Provider, Reply, send
from stage import (
    PRICED,
    SECRET_NAME,
    Door,
    always,
    in_every_protocol,
    in_turn,
    model_at,
    play,
    rate_limited,
    until,
)
from tongue import MESSAGES, RESPONSES, TONGUES, Tongue

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
        grant = await stage.begun(model_at(served, limit=1))
        task = asyncio.ensure_future(stage.ask(grant))
        await until(lambda: len(served.requests) == 2)
        task.cancel()
        await until(lambda: len(grant.calls) == 2)
        assert (await stage.ask(stage.grant(model_at(served, limit=1)))).status == 200
        assert len(served.requests) == 3

    play(in_turn(Reply(), rate_limited(retry_after="1"), Reply()), scene)


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
