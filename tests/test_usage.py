"""What calls are counted as: tokens, cost, and the budget that they use up."""

import json
from typing import Any

import pytest

from envwright.budget import Budget
from envwright.gateway.gateway import WIRES
from envwright.model import price_of
from envwright.trace import Usage
from provider import SPEECHES, Provider, Reply
from stage import (
    PRICED,
    Door,
    always,
    in_every_protocol,
    in_turn,
    model_at,
    play,
)
from tongue import CHAT, Tongue

THRIFTY = Reply("one two", usage=(100, 20), cached=40, written=10, reasoning=7)
COUNTED = Usage(
    input_tokens=100, output_tokens=20, cached_tokens=40, cache_write_tokens=10, reasoning_tokens=7
)


@pytest.mark.parametrize("kept", ["input_tokens", "output_tokens", "prompt_tokens", "nothing"])
def test_half_a_usage_is_none(kept: str):
    """A stream that is broken off, or begins late, tells one number of the two."""
    for wire in (wire for wire in WIRES if wire.vital):
        assert wire.usage_of({"usage": {kept: 12}}) is None


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
            (Budget(usd=price * 1.5), 2),
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
