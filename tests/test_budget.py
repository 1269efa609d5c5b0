"""Budgets: what may start against what was spent and is reserved, and what a trial sets aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envwright.budget import (
    Budget,
    Spending,
    Spent,
    Start,
    Wait,
    reservation,
    settled,
)
from envwright.work.estimate import AgentEstimate


def usd(cost: float | None, known: float | None = None) -> Spending:
    return Spending(cost_usd=cost, known_usd=cost or 0.0 if known is None else known)


def tokens(count: int) -> Spending:
    return Spending(tokens=count)


@pytest.mark.parametrize(
    ("budget", "spent", "reserved", "wanted", "answer", "words"),
    [
        (Budget(), tokens(10**9), tokens(10**9), usd(None), Start, ""),
        (Budget(tokens=100), tokens(50), tokens(40), tokens(10), Start, ""),
        (Budget(tokens=100), tokens(50), tokens(40), tokens(11), Wait, "40 tokens are reserved"),
        (Budget(tokens=100), tokens(90), tokens(5), tokens(11), Spent, "10 tokens of 100 tokens"),
        (Budget(tokens=100), tokens(0), tokens(0), tokens(101), Spent, "a trial may take 101"),
        (Budget(tokens=100), tokens(100), tokens(0), tokens(0), Spent, "100 of 100 tokens"),
        (Budget(usd=1.0), usd(0.25), usd(0.5), usd(0.25), Start, ""),
        (Budget(usd=1.0), usd(0.25), usd(0.5), usd(0.5), Wait, "$0.5000"),
        (Budget(usd=1.0), usd(0.75), usd(0.25), usd(0.5), Spent, "$0.2500 of $1.0000"),
        (Budget(usd=0.3), usd(0.1), usd(0.1), usd(0.1), Start, ""),
        (Budget(usd=0.3), usd(0.2), usd(0.1), usd(0.1), Wait, "$0.1000"),
        (Budget(usd=1.0), usd(0), usd(0), usd(None), Spent, "not known"),
        (Budget(usd=1.0), usd(0), usd(None), usd(0), Spent, "not known"),
        (Budget(usd=1.0), usd(None), usd(0), usd(0), Spent, "not known"),
        (Budget(usd=1.0), usd(None, known=1.5), usd(0), usd(0), Spent, "$1.5000 of $1.0000"),
        # The unit that will never fit decides over the one that may yet.
        (
            Budget(usd=1.0, tokens=100),
            Spending(tokens=50, cost_usd=0.9),
            Spending(tokens=50, cost_usd=0.0),
            Spending(tokens=10, cost_usd=0.2),
            Spent,
            "$",
        ),
        (Budget(wall_seconds=60), Spending(wall_seconds=59), usd(0), usd(None), Start, ""),
        (Budget(wall_seconds=60), Spending(wall_seconds=60), usd(0), usd(0), Spent, "60 of 60"),
        # Time is nobody's to reserve.
        (
            Budget(wall_seconds=60),
            Spending(wall_seconds=1),
            Spending(wall_seconds=500),
            Spending(wall_seconds=500),
            Start,
            "",
        ),
    ],
)
def test_a_trial_starts_only_where_it_fits(budget, spent, reserved, wanted, answer, words):
    found = budget.room(spent, reserved, wanted)
    assert type(found) is answer
    assert words in getattr(found, "why", "")


CENTS = st.integers(0, 400).map(lambda each: each / 64)
"""Exact in binary, so that sums are."""
TRIALS = st.lists(
    st.tuples(st.integers(0, 300), CENTS, st.floats(0, 2), st.booleans()), max_size=30
)


@given(TRIALS, st.none() | st.integers(1, 2000), st.none() | CENTS.filter(bool), st.randoms())
def test_nothing_is_started_that_could_overrun_and_every_trial_is_answered(trials, most, cap, rng):
    """Trials want what they are told, spend other amounts, and end in any order."""
    budget = Budget(tokens=most, usd=cap)
    spent, running = Spending(), []
    waiting, refused = list(trials), 0
    turns = 0
    while waiting:
        turns += 1
        assert turns <= 3 * len(trials), "it does not end"
        wants, cost, share, is_known = waiting[0]
        wanted = Spending(tokens=wants, cost_usd=cost, known_usd=cost)
        reserved = Spending()
        for each, *_ in running:
            reserved = reserved.plus(each.tokens, each.cost_usd)
        match budget.room(spent, reserved, wanted):
            case Start():
                total = spent.plus(reserved.tokens, reserved.cost_usd).plus(wants, cost)
                assert most is None or total.tokens <= most
                assert cap is None or total.cost_usd <= cap
                running.append((wanted, share, is_known))
                waiting.pop(0)
            case Wait():
                assert running, "nothing runs that could make room"
                held, share, is_known = running.pop(rng.randrange(len(running)))
                # In 64ths again.
                used = int(held.cost_usd * share * 64) / 64
                took = Spending(
                    tokens=int(held.tokens * share),
                    cost_usd=used if is_known else None,
                    known_usd=used if is_known else 0.0,
                )
                counted = settled(held, took)
                assert counted.cost_usd is not None
                spent = spent.plus(counted.tokens, counted.cost_usd)
            case Spent():
                refused += 1
                waiting.pop(0)
    assert refused == 0 or most is not None or cap is not None


@pytest.mark.parametrize(
    ("cap", "largest", "estimated", "wanted"),
    [
        (None, None, Spending(tokens=7, cost_usd=0.5), (7, 0.5)),
        (None, Spending(tokens=9, cost_usd=0.1, known_usd=0.1), Spending(tokens=7), (9, 0.1)),
        (Budget(tokens=3), Spending(tokens=9, cost_usd=0.1), usd(0.5), (3, 0.1)),
        (Budget(usd=2.0), Spending(tokens=9, cost_usd=3.0, known_usd=3.0), usd(1.0), (9, 2.0)),
        # A trial that broke before its first call took nothing, and the next will not.
        (None, Spending(), Spending(tokens=7, cost_usd=0.5), (7, 0.5)),
        # What is not known is never zero.
        (None, None, usd(None), (0, None)),
        (None, usd(None), usd(0.5), (0, 0.5)),
        (None, usd(None, known=0.75), usd(0.5), (0, 0.75)),
        (Budget(usd=2.0), usd(None), usd(None), (0, 2.0)),
    ],
)
def test_a_trial_sets_aside_its_cap_else_the_largest_else_the_estimate(
    cap, largest, estimated, wanted
):
    found = reservation(cap, largest, estimated)
    assert (found.tokens, found.cost_usd) == wanted


def test_a_trial_of_unknown_cost_counts_for_what_was_reserved_and_never_for_less_than_is_known():
    assert settled(usd(0.5), usd(0.1)) == usd(0.1)
    assert settled(usd(0.5), usd(None)) == usd(0.5)
    assert settled(usd(0.5), usd(None, known=0.75)) == usd(0.75)
    assert settled(usd(None), usd(None, known=0.75)).cost_usd is None


@pytest.mark.parametrize("name", Budget.model_fields)
@pytest.mark.parametrize("value", [0, -1])
def test_a_budget_of_nothing_or_less_is_none(name, value):
    with pytest.raises(ValidationError, match="greater than 0"):
        Budget.model_validate({name: value})


def test_a_budget_is_laid_over_another_cap_by_cap():
    below = Budget(usd=1.0, tokens=5)
    assert below.under(Budget(usd=2.0, wall_seconds=3)) == Budget(usd=2.0, tokens=5, wall_seconds=3)
    assert below.under(None) == below


def test_what_one_trial_may_take_is_a_share_of_the_estimate_rounded_up():
    row = AgentEstimate(trials=3, input_tokens=10, output_tokens=1, cost_usd=0.75, basis="")
    assert row.of_one() == Spending(tokens=4, cost_usd=0.25, known_usd=0.25)
    assert row.model_copy(update={"cost_usd": None, "trials": 0}).of_one().cost_usd is None


def test_a_trial_has_the_caps_that_are_meant_for_one():
    assert Budget(trial_tokens=5, usd=1.0).of_trial() == Budget(tokens=5)
    assert Budget(trial_usd=0.5).of_trial() == Budget(usd=0.5)
    assert Budget(tokens=5).of_trial() is None
