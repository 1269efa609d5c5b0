"""A provider that asks to wait: who is told at once, who waits, and who may not begin."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from envwright.errors import Fault, ProviderError
from envwright.gateway import Grant
from provider import Provider, Reply
from stage import Door, always, in_every_protocol, in_turn, model_at, play, rate_limited, until
from tongue import CHAT, Tongue

NAME = "some/model"
RATE_IN_200 = json.dumps({"error": {"message": "slow down", "code": "rate_limit_exceeded"}})


class Arrivals:
    """When each request came, and what it was answered."""

    def __init__(self, *replies: Reply) -> None:
        self.answer = in_turn(*replies)
        self.at: list[float] = []

    def __call__(self, body: dict[str, Any]) -> Reply:
        self.at.append(time.monotonic())
        return self.answer(body)


def observed(stage: Door) -> list[tuple[str, float, Fault]]:
    told: list[tuple[str, float, Fault]] = []
    stage.gateway.crowded = lambda *what: told.append(what)
    return told


def failure_of(grant: Grant) -> ProviderError:
    assert grant.failure is not None
    return grant.failure


@in_every_protocol
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("reply", "fault", "asked"),
    [
        (rate_limited(retry_after="30"), Fault.RATE, 30.0),
        (rate_limited(), Fault.RATE, None),
        (Reply("busy", status=529), Fault.OVERLOADED, None),
        (Reply("busy", status=503, headers={"Retry-After": "7"}), Fault.OVERLOADED, 7.0),
    ],
    ids=["429", "429 without a wait", "529", "503"],
)
def test_a_trial_without_an_answer_yet_is_told_at_once(
    reply: Reply, fault: Fault, asked: float | None, stream: bool, tongue: Tongue
):
    async def scene(stage: Door, served: Provider) -> None:
        told = observed(stage)
        grant = stage.grant(model_at(served))
        started = time.monotonic()
        said = await stage.ask(grant, stream=stream)
        assert time.monotonic() - started < 1
        assert (said.status, said.code, len(served.requests)) == (reply.status, fault, 1)
        failure = failure_of(grant)
        assert (failure.code, failure.retry_after_seconds) == (fault, asked)
        assert failure.transient
        ((name, seconds, why),) = told
        assert (name, why) == (NAME, fault)
        assert seconds == pytest.approx(asked or 0.25, abs=0.1)
        assert stage.gateway.held(NAME) <= seconds

    play(always(reply), scene, tongue)


def test_another_seats_answer_or_a_judges_makes_a_trial_wait_too():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        grant = stage.grant(model, environment_model=model)
        assert (await stage.ask(grant, seat=None)).status == 200
        assert (await stage.ask(grant)).status == 200
        assert [call.tries for call in grant.calls] == [1, 2]

    play(in_turn(Reply(), rate_limited(retry_after_ms="100"), Reply()), scene)


def test_an_answer_that_was_none_leaves_a_trial_without_one():
    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        assert (await stage.ask(grant)).status == 502
        assert (await stage.ask(grant)).status == 429
        assert len(served.requests) == 2

    play(in_turn(Reply(body=b"{}"), rate_limited(retry_after_ms="100"), Reply()), scene)


def test_a_call_of_no_trial_waits_as_it_is_asked():
    async def scene(stage: Door, served: Provider) -> None:
        told = observed(stage)
        call, said = await stage.gateway.try_out(model_at(served))
        assert (call.tries, call.status, said) == (2, 200, "hello")
        assert [(name, why) for name, _, why in told] == [(NAME, Fault.RATE)]
        assert told[0][1] == pytest.approx(0.3, abs=0.05)

    play(in_turn(rate_limited(retry_after_ms="300"), Reply("hello")), scene)


def test_no_call_is_made_for_a_trial_that_comes_while_its_model_is_held():
    async def scene(stage: Door, served: Provider) -> None:
        told = observed(stage)
        model = model_at(served)
        await stage.ask(stage.grant(model))
        late = stage.grant(model)
        said = await stage.ask(late)
        assert (said.status, said.code, len(served.requests)) == (529, "overloaded", 1)
        (call,) = late.calls
        assert (call.tries, call.status, call.usage) == (0, None, None)
        assert failure_of(late).code is Fault.OVERLOADED
        assert failure_of(late).retry_after_seconds == pytest.approx(30, abs=1)
        assert len(told) == 1

    play(always(Reply(status=503, headers={"retry-after": "30"})), scene)


def test_beyond_a_minute_a_running_trial_is_not_kept_waiting_either():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        grant = await stage.begun(model)
        other = await stage.begun(model)
        assert (await stage.ask(grant)).status == 429
        assert (await stage.ask(other)).status == 429
        assert len(served.requests) == 3
        for each in (grant, other):
            assert failure_of(each).retry_after_seconds == pytest.approx(61, abs=1)
        free = stage.grant(model_at(served, "some/other"))
        assert (await stage.ask(free)).status == 200

    play(in_turn(Reply(), Reply(), rate_limited(retry_after="61"), Reply()), scene)


@pytest.mark.parametrize("stream", [False, True])
def test_a_complaint_inside_an_answer_is_known_to_all_too(stream: bool):
    async def scene(stage: Door, served: Provider) -> None:
        told = observed(stage)
        grant = stage.grant(model_at(served))
        await stage.ask(grant, stream=stream)
        assert failure_of(grant).code is Fault.RATE
        assert [(name, why) for name, _, why in told] == [(NAME, Fault.RATE)]
        assert stage.gateway.held(NAME) > 0

    body = f"data: {RATE_IN_200}\n\n" if stream else RATE_IN_200
    play(always(Reply(body=body.encode())), scene)


def test_a_server_error_with_a_wait_keeps_its_tries_and_holds_its_model():
    arrivals = Arrivals(Reply(status=500, headers={"retry-after": "1.2"}), Reply())

    async def scene(stage: Door, served: Provider) -> None:
        told = observed(stage)
        grant = stage.grant(model_at(served))
        assert (await stage.ask(grant)).status == 200
        assert grant.calls[0].tries == 2
        assert arrivals.at[1] - arrivals.at[0] >= 1.2
        assert told == []

    play(arrivals, scene)


def test_a_queue_holds_its_model_before_the_first_call_and_only_ever_for_longer():
    arrivals = Arrivals(Reply())

    async def scene(stage: Door, served: Provider) -> None:
        begun = time.monotonic()
        stage.gateway.hold(NAME, 0.5)
        stage.gateway.hold(NAME, 0.1)
        assert (await stage.ask(stage.grant(model_at(served)))).status == 200
        assert 0.5 <= arrivals.at[0] - begun < 1.0
        assert stage.gateway.held(NAME) == 0

    play(arrivals, scene)


def test_who_opens_a_queue_wakes_the_calls_that_wait():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        grant = await stage.begun(model)
        stage.gateway.hold(NAME, 50)
        waiting = asyncio.create_task(stage.ask(grant))
        await asyncio.sleep(0.1)
        assert len(served.requests) == 1
        stage.gateway.release(NAME)
        assert (await asyncio.wait_for(waiting, 5)).status == 200
        stage.gateway.hold(NAME, 50)
        assert stage.gateway.held(NAME) == pytest.approx(50, abs=1)

    play(always(Reply()), scene)


def test_a_call_that_waits_for_a_slot_does_not_begin_when_it_gets_one():
    limited = Reply("wait", status=429, headers={"retry-after-ms": "600"}, delay=0.2)
    arrivals = Arrivals(limited, Reply())

    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served, limit=1)
        grants = [stage.grant(model, trial="") for _ in range(4)]
        said = await asyncio.gather(*(stage.ask(grant) for grant in grants))
        assert {each.status for each in said} == {200}
        first, *others = arrivals.at
        assert len(others) == 4
        assert min(others) - first >= 0.2 + 0.6

    play(arrivals, scene)


def test_a_call_that_waits_for_its_connection_does_not_begin_when_it_has_one():
    arrivals = Arrivals(Reply())

    async def scene(stage: Door, served: Provider) -> None:
        loop = asyncio.get_running_loop()
        resolve, resolving = loop.getaddrinfo, asyncio.Event()

        async def slowly(*args: Any, **options: Any) -> Any:
            resolving.set()
            await asyncio.sleep(0.2)
            return await resolve(*args, **options)

        loop.getaddrinfo = slowly
        model = model_at(served)
        far = model.model_copy(update={"base_url": served.url.replace("127.0.0.1", "localhost")})
        grant = stage.grant(far, trial="")
        asking = asyncio.create_task(stage.ask(grant))
        await resolving.wait()
        held = time.monotonic()
        stage.gateway.hold(NAME, 0.7)
        assert (await asking).status == 200
        assert len(arrivals.at) == 1
        assert arrivals.at[0] - held >= 0.7
        assert grant.calls[0].tries == 1

    play(arrivals, scene)


def test_a_wait_counts_from_the_answers_first_bytes_for_every_call():
    """The words of the complaint take longer than the next call takes to come."""
    arrived: list[float] = []
    begun = threading.Event()

    async def slowly(request: web.Request) -> web.StreamResponse:
        headers = {"retry-after-ms": "800", "content-length": "4"}
        response = web.StreamResponse(status=429, headers=headers)
        await response.prepare(request)
        await response.write(b"wa")
        arrived[0] = time.monotonic()
        begun.set()
        await asyncio.sleep(0.5)
        await response.write(b"it")
        return response

    def answer(body: dict[str, Any]) -> Reply:
        arrived.append(time.monotonic())
        return Reply(act=slowly) if len(arrived) == 1 else Reply()

    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        first = asyncio.create_task(stage.ask(stage.grant(model, trial="")))
        await until(lambda: begun.is_set())
        await asyncio.sleep(0.1)
        second = asyncio.create_task(stage.ask(stage.grant(model, trial="")))
        assert {(await task).status for task in (first, second)} == {200}
        told, *others = arrived
        assert [0.8 <= at - told < 1.2 for at in others] == [True, True]

    play(answer, scene)


def test_words_that_come_in_parts_are_read_to_their_end():
    async def parted(request: web.Request) -> web.StreamResponse:
        text = json.dumps({"error": {"message": "pay", "code": "insufficient_quota"}}).encode()
        response = web.StreamResponse(status=429, headers={"content-length": str(len(text))})
        await response.prepare(request)
        for part in (text[:20], text[20:]):
            await response.write(part)
            await asyncio.sleep(0.05)
        return response

    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        assert (await stage.ask(grant)).code == "quota"
        assert failure_of(grant).code is Fault.QUOTA

    play(always(Reply(act=parted)), scene)


def test_a_complaint_whose_words_break_off_is_one_still():
    async def torn(request: web.Request) -> web.StreamResponse:
        headers = {"retry-after": "9", "content-length": "100"}
        response = web.StreamResponse(status=429, headers=headers)
        await response.prepare(request)
        assert request.transport is not None
        request.transport.close()
        return response

    async def scene(stage: Door, served: Provider) -> None:
        grant = stage.grant(model_at(served))
        assert (await stage.ask(grant)).status == 429
        failure = failure_of(grant)
        assert (failure.code, failure.retry_after_seconds) == (Fault.RATE, 9.0)

    play(always(Reply(act=torn)), scene)


@pytest.mark.parametrize(("before", "after"), [(4, 1), (1, 4)])
def test_calls_in_flight_follow_a_limit_that_changes(before: int, after: int):
    async def scene(stage: Door, served: Provider) -> None:
        # Before there is a call, and whatever the model says.
        stage.gateway.set_limit(NAME, before)
        model = model_at(served, limit=32)
        asking = [asyncio.create_task(stage.ask(stage.grant(model))) for _ in range(10)]
        await until(lambda: len(served.requests) == before)
        assert served.most_in_flight == before
        stage.gateway.set_limit(NAME, after)
        await until(lambda: served.in_flight <= after and len(served.requests) > before)
        served.most_in_flight = served.in_flight
        assert {(await task).status for task in asking} == {200}
        assert served.most_in_flight == after

    play(always(Reply(delay=0.1)), scene)


def test_the_observer_is_told_before_the_call_that_learned_it_fails():
    order: list[str] = []

    async def scene(stage: Door, served: Provider) -> None:
        stage.gateway.crowded = lambda *what: order.append("told")
        noted: Callable[..., None] = stage.ledger.record
        stage.ledger.record = lambda *what: (order.append("failed"), noted(*what))[1]
        await stage.ask(stage.grant(model_at(served)))
        assert order == ["told", "failed"]

    play(always(rate_limited(retry_after="30")), scene, CHAT)


def test_without_recent_news_of_the_others_no_call_begins_and_with_them_all_that_wait_do():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served)
        fresh, begun = stage.grant(model), await stage.begun(model)
        stage.gateway.rely(0.0)
        asked = [asyncio.ensure_future(stage.ask(grant)) for grant in (fresh, begun)]
        await asyncio.sleep(1.5)
        assert len(served.requests) == 1
        stage.gateway.rely(60.0)
        assert [(await each).status for each in asked] == [200, 200]

    play(always(Reply()), scene)


def test_news_that_grow_old_while_a_call_waits_for_a_slot_hold_it_back():
    async def scene(stage: Door, served: Provider) -> None:
        model = model_at(served, limit=1)
        stage.gateway.rely(0.2)
        first = asyncio.ensure_future(stage.ask(stage.grant(model)))
        await until(lambda: len(served.requests) == 1)
        second = asyncio.ensure_future(stage.ask(stage.grant(model)))
        assert (await first).status == 200
        await asyncio.sleep(0.3)
        assert len(served.requests) == 1
        stage.gateway.rely(60.0)
        assert (await second).status == 200

    play(always(Reply(delay=0.4)), scene)
