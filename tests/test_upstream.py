"""Calls to a provider that is slow, crowded or down: limits, retries, waits, refusals."""

import asyncio
import json
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from envwright.errors import Fault, ProviderError
from envwright.gateway.fault import retry_after
from envwright.gateway.upstream import LONGEST_WAIT_SECONDS, TRIES, pause_after
from provider import Provider, Reply
from stage import (
    KEYS,
    Door,
    always,
    in_every_protocol,
    in_turn,
    model_at,
    play,
    rate_limited,
    until,
)
from tongue import Tongue


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
        grant = await stage.begun(model_at(served))
        said = await stage.ask(grant)
        assert (said.status, said.content) == (200, "at last")
        _, call = grant.calls
        assert (call.tries, call.status, call.error) == (3, 200, None)
        assert grant.failure is None

    replies = (Reply(), Reply(status=500), Reply(status=529), Reply("at last"))
    play(in_turn(*replies), scene, tongue)


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
def test_a_wait_that_the_provider_asks_for_is_waited_out_once_a_trial_has_an_answer(
    wait: Callable[[], dict[str, str]], least: float, most: float
):
    replies: list[Reply] = [Reply()]

    async def scene(stage: Door, served: Provider) -> None:
        grant = await stage.begun(model_at(served))
        replies[:] = [rate_limited(**wait()), Reply("now")]
        said = await stage.ask(grant)
        assert (said.status, said.content) == (200, "now")
        assert grant.calls[1].tries == 2
        assert least <= grant.calls[1].seconds <= most

    play(lambda body: replies.pop(0), scene)


def test_all_calls_of_a_model_wait_together_and_other_models_do_not():
    arrived: list[tuple[str, float]] = []

    def answer(body: dict[str, Any]) -> Reply:
        arrived.append((body["model"], time.monotonic()))
        return rate_limited(retry_after_ms="600") if len(arrived) == 1 else Reply()

    async def scene(stage: Door, served: Provider) -> None:
        slow = model_at(served, "slow", model="slow")
        first = asyncio.create_task(stage.ask(stage.grant(slow, trial="")))
        await until(lambda: len(arrived) == 1)
        await asyncio.sleep(0.1)
        others = [asyncio.create_task(stage.ask(stage.grant(slow, trial=""))) for _ in range(4)]
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
    assert not (failure.transient and (failure.refused or code is Fault.CONTEXT))
    if code is Fault.QUOTA or not failure.transient or (wait or 0) > LONGEST_WAIT_SECONDS:
        assert pause is None
    if tries >= 12:
        assert pause is None
    if tries == 1 and status in (None, 429, 500) and code is None and wait is None:
        assert pause is not None
