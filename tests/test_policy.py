"""The retry policy: what a failure means for its trial, and what a queue learns from it."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.errors import Cause, Fault
from envwright.queue.policy import (
    LONGEST_PARK_SECONDS,
    LONGEST_UNASKED_SECONDS,
    RULES,
    SICK_AFTER,
    Again,
    Effect,
    Failure,
    Health,
    Retry,
    RetryPolicy,
    Rule,
    Tried,
    next_try,
)
from envwright.settings import read_settings

DEFAULT = RetryPolicy()
PROVIDER = Failure(Cause.PROVIDER, True)
RATE = Failure(Cause.PROVIDER, True, Fault.RATE)
OVERLOADED = Failure(Cause.PROVIDER, True, Fault.OVERLOADED)
QUOTA = Failure(Cause.PROVIDER, True, Fault.QUOTA)
SANDBOX = Failure(Cause.SANDBOX, True)
DETERMINISTIC = (Cause.AGENT, Cause.ENVIRONMENT, Cause.GRADER, Cause.OURS)
FIRST = Tried()
NOW = 1_800_000_000.0

CHANCES = st.floats(0, 1, exclude_max=True)
FAILURES = st.builds(
    Failure,
    st.sampled_from(Cause),
    st.booleans(),
    st.none() | st.sampled_from(Fault),
    st.none() | st.floats(0, 1e12),
)
POLICIES = st.builds(
    RetryPolicy,
    attempts=st.integers(1, 10),
    first_seconds=st.floats(0.01, 10),
    longest_seconds=st.floats(10, 10_000),
    parks=st.integers(0, 30),
    quota_seconds=st.floats(0.1, 10_000),
)


def asking(failure: Failure, seconds: float) -> Failure:
    return replace(failure, retry_after_seconds=seconds)


def seconds(failure: Failure, before: Tried = FIRST, chance: float = 0.5, **policy: float):
    again = next_try(failure, before, chance, RetryPolicy.model_validate(policy))
    return None if again is None else again.seconds


@pytest.mark.parametrize("fault", [None, *Fault])
@pytest.mark.parametrize("cause", Cause)
def test_the_table_has_a_rule_for_every_cause_and_fault(cause: Cause, fault: Fault | None):
    rule = Failure(cause, True, fault).rule
    assert isinstance(rule, Rule)
    if cause is not Cause.PROVIDER:
        assert rule is RULES[cause, None]


def test_the_table_has_no_rule_that_is_never_asked_for():
    provider = {(Cause.PROVIDER, fault) for fault in (None, *Fault)}
    assert set(RULES) == provider | {(cause, None) for cause in Cause}


@pytest.mark.parametrize(
    "failure",
    [
        *(Failure(cause, True) for cause in DETERMINISTIC),
        *(Failure(cause, False) for cause in Cause),
        *(Failure(Cause.PROVIDER, False, fault, 5.0) for fault in Fault),
        Failure(Cause.PROVIDER, True, Fault.CONTEXT),
    ],
    ids=str,
)
def test_a_deterministic_failure_is_never_tried_again_and_leaves_its_queue_alone(failure: Failure):
    assert next_try(failure, Tried(), 0.5, RetryPolicy(attempts=99)) is None
    health = Health.fresh(4)
    assert health.after_failure(failure, 0.0, NOW) == health


@pytest.mark.parametrize(
    ("failure", "before", "policy", "again"),
    [
        (PROVIDER, Tried(0), DEFAULT, Again(1.0, Tried(1))),
        (PROVIDER, Tried(1), DEFAULT, Again(2.0, Tried(2))),
        (PROVIDER, Tried(2), DEFAULT, None),
        (PROVIDER, Tried(2), RetryPolicy(attempts=5), Again(4.0, Tried(3))),
        (PROVIDER, Tried(0), RetryPolicy(attempts=1), None),
        (PROVIDER, Tried(20), RetryPolicy(attempts=99), Again(300.0, Tried(21))),
        (PROVIDER, Tried(9_999), RetryPolicy(attempts=99_999), Again(300.0, Tried(10_000))),
        (PROVIDER, Tried(1, parks=7), DEFAULT, Again(2.0, Tried(2, parks=7))),
        (asking(PROVIDER, 40), Tried(0), DEFAULT, Again(40.0, Tried(1))),
        (SANDBOX, Tried(0), DEFAULT, Again(0.0, Tried(1))),
        (SANDBOX, Tried(1), RetryPolicy(attempts=99), None),
        (SANDBOX, Tried(0), RetryPolicy(attempts=1), Again(0.0, Tried(1))),
        (RATE, Tried(2), DEFAULT, Again(1.0, Tried(2, parks=1))),
        (RATE, Tried(2, parks=99), DEFAULT, Again(60.0, Tried(2, parks=100))),
        (RATE, Tried(2, parks=100), DEFAULT, None),
        (RATE, Tried(), RetryPolicy(parks=0), None),
        (OVERLOADED, Tried(2, parks=3), DEFAULT, Again(8.0, Tried(2, parks=4))),
        (QUOTA, Tried(2), DEFAULT, Again(900.0, Tried(2, parks=1))),
        (asking(QUOTA, 5), Tried(), RetryPolicy(quota_seconds=60), Again(60.0, Tried(0, 1))),
        (asking(QUOTA, 90), Tried(), RetryPolicy(quota_seconds=60), Again(90.0, Tried(0, 1))),
    ],
    ids=str,
)
def test_what_comes_next_after_a_failure(
    failure: Failure, before: Tried, policy: RetryPolicy, again: Again | None
):
    latest = next_try(failure, before, math.nextafter(1.0, 0.0), policy)
    assert latest == (again and replace(again, seconds=pytest.approx(again.seconds)))


@pytest.mark.parametrize("failure", [RATE, OVERLOADED, PROVIDER], ids=str)
@pytest.mark.parametrize(
    ("asked", "waited"),
    [(1.0, 1.0), (7.25, 7.25), (3600.0, 3600.0), (86_400.0, 86_400.0), (1e9, 86_400.0)],
)
def test_a_trial_waits_as_long_as_it_is_asked_to_the_second(
    failure: Failure, asked: float, waited: float
):
    for chance in (0.0, 0.999):
        assert seconds(asking(failure, asked), chance=chance) == waited


def test_a_provider_that_asks_for_no_wait_at_all_is_not_asked_again_at_once():
    assert seconds(asking(RATE, 0.0)) == 1.0
    assert seconds(asking(RATE, 0.0), first_seconds=0.1) == 0.1


def test_pauses_that_nobody_asked_for_are_spread():
    assert seconds(PROVIDER, chance=0.0) == 0.75
    assert seconds(PROVIDER, chance=0.5) == 0.875


@given(FAILURES, st.integers(0, 10), st.integers(0, 30), CHANCES, POLICIES)
def test_a_pause_is_finite_and_no_shorter_than_asked(
    failure: Failure, charged: int, parks: int, chance: float, policy: RetryPolicy
):
    again = next_try(failure, Tried(charged, parks), chance, policy)
    if again is None:
        return
    assert 0 <= again.seconds <= LONGEST_PARK_SECONDS
    asked = failure.retry_after_seconds
    if asked is None:
        longest = policy.quota_seconds if failure.rule.long else LONGEST_UNASKED_SECONDS
        assert again.seconds <= (policy.longest_seconds if failure.rule.charged else longest)
    elif failure.rule.retry is Retry.LATER:
        assert again.seconds >= min(asked, LONGEST_PARK_SECONDS)
    assert again.tried != Tried(charged, parks)


@given(st.lists(FAILURES, min_size=41, max_size=60), CHANCES, POLICIES)
def test_a_trial_comes_to_an_end_whatever_it_meets(
    failures: list[Failure], chance: float, policy: RetryPolicy
):
    before = Tried()
    for failure in failures:
        again = next_try(failure, before, chance, policy)
        if again is None:
            return
        before = again.tried
        assert before.charged < max(policy.attempts, 2)
        assert before.parks <= policy.parks
    raise AssertionError(f"still tried after {len(failures)} failures")


def test_asked_to_wait_a_queue_is_parked_until_then_and_reopens_with_half():
    health = Health.fresh(8).after_failure(asking(RATE, 30), 30, NOW)
    assert [health.room(NOW + at) for at in (0, 15, 29.99, 30)] == [0, 0, 0, 4]


def test_many_complaints_at_once_are_one_lesson_and_the_longest_wait_holds():
    health = Health.fresh(32)
    for n in range(10):
        health = health.after_failure(asking(RATE, 20 - n), 20 - n, NOW + n / 100)
    assert health.live_limit == 16
    assert health.parked_until == NOW + 20
    # One that ran before it was parked, and is told only now.
    late = health.after_failure(asking(RATE, 5), 5, NOW + 15.5)
    assert (late.live_limit, late.parked_until) == (16, NOW + 20.5)
    # Still crowded when it reopens, and none has succeeded: the same lesson.
    still = late.after_failure(asking(RATE, 5), 5, NOW + 21)
    assert (still.live_limit, still.parked_until) == (16, NOW + 26)
    assert still.after_failure(asking(RATE, 5), 5, NOW + 121).live_limit == 8
    better = still.after_success(NOW + 27, NOW + 30)
    assert better.after_failure(asking(RATE, 5), 5, NOW + 30).live_limit == 8


def test_without_a_word_on_how_long_a_queue_waits_half_as_long_again_as_it_lasts():
    health, pauses, now = Health.fresh(8), [], NOW
    for _ in range(12):
        health = health.after_failure(RATE, 60, now)
        pauses.append(health.parked_until - now)
        now = health.parked_until
    assert pauses[:5] == [1, 1, 1, 1.5, 2.25]
    assert now - NOW == pytest.approx(2 * 1.5**10)
    assert health.live_limit == 4
    assert health.after_failure(RATE, 60, NOW + 119.9).parked_until == NOW + 119.9 + 59.95


def test_who_complains_late_while_a_queue_is_parked_for_long_tells_nothing_new():
    health = Health.fresh(8).after_failure(asking(RATE, 600), 600, NOW)
    late = health.after_failure(RATE, 1.0, NOW + 590)
    assert (late.live_limit, late.parked_until) == (4, NOW + 650)


def test_one_at_a_time_is_left_however_crowded_it_is():
    assert Health.fresh(1).after_failure(asking(RATE, 5), 5, NOW).room(NOW + 5) == 1


def test_each_success_of_a_trial_that_began_since_is_one_more_at_once():
    health = Health.fresh(8).after_failure(asking(RATE, 2), 2, NOW)
    assert health.after_success(NOW - 1, NOW + 3) == health
    rooms = []
    for _ in range(6):
        health = health.after_success(NOW + 2, NOW + 5)
        rooms.append(health.room(NOW + 5))
    assert rooms == [5, 6, 7, 8, 8, 8]


def broken_down(limit: int = 8, times: int = SICK_AFTER) -> Health:
    health = Health.fresh(limit)
    for n in range(times):
        health = health.after_failure(PROVIDER, 1.0, NOW + n / 1000)
    return health


def test_failures_in_a_row_park_a_queue_and_one_trial_goes_first():
    assert broken_down(times=SICK_AFTER - 1).room(NOW + 0.1) == 8
    health = broken_down()
    assert health.room(NOW + 0.5) == 0
    assert health.room(NOW + 1.1) == 1
    opened = health.after_success(NOW + 1.1, NOW + 3)
    assert (opened.room(NOW + 3), opened.failures, opened.live_limit) == (8, 0, 8)


def test_a_success_between_failures_begins_the_count_anew():
    health = broken_down(times=SICK_AFTER - 1).after_success(NOW - 9, NOW)
    for n in range(SICK_AFTER - 1):
        health = health.after_failure(PROVIDER, 1.0, NOW + n)
    assert health.room(NOW + 9) == 8


def test_the_rest_of_those_that_ran_when_it_broke_down_change_nothing():
    health = broken_down()
    assert broken_down(times=30) == health
    # Answered before it broke down, and ended only now.
    assert health.after_success(NOW - 5, NOW + 2) == health


def test_a_queue_that_is_tried_in_vain_is_parked_for_longer_each_time_up_to_a_cap():
    health, pauses = broken_down(), []
    for _ in range(12):
        now = health.parked_until
        assert health.room(now) == 1
        health = health.after_failure(PROVIDER, 0.0, now)
        pauses.append(health.parked_until - now)
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]
    short = RetryPolicy(first_seconds=0.5, longest_seconds=3)
    assert health.after_failure(PROVIDER, 0.0, NOW + 9e4, short).parked_until == NOW + 9e4 + 3


def test_a_failure_that_tells_nothing_of_the_provider_leaves_the_next_trial_to_tell():
    health = broken_down()
    assert health.after_failure(Failure(Cause.GRADER, False), 0.0, NOW + 2) == health
    assert health.after_failure(SANDBOX, 0.0, NOW + 2) == health


def test_a_spent_quota_parks_the_queue_for_long_and_one_trial_goes_first():
    health = Health.fresh(8).after_failure(QUOTA, 0.0, NOW)
    assert [health.room(NOW + at) for at in (1, 899, 900)] == [0, 0, 1]
    assert health.after_success(NOW + 901, NOW + 903).room(NOW + 904) == 8
    own = Health.fresh(8).after_failure(QUOTA, 0.0, NOW, RetryPolicy(quota_seconds=5))
    assert own.room(NOW + 5) == 1


def test_a_queue_that_is_tried_first_is_parked_again_by_the_first_failure_of_any_kind():
    halted = Health.fresh(8).after_failure(QUOTA, 900, NOW)
    again = halted.after_failure(PROVIDER, 1.0, NOW + 901)
    assert [again.room(NOW + 901 + at) for at in (0.9, 1)] == [0, 1]


def test_there_is_at_most_one_lesson_a_second():
    health, lessons = Health.fresh(32), set()
    for n in range(20):
        at = NOW + n / 10
        health = health.after_success(at - 0.01, at).after_failure(asking(RATE, 0), 0.0, at)
        lessons.add(health.eased_at)
    assert len(lessons) == 2


@pytest.mark.parametrize("failure", [RATE, QUOTA, PROVIDER], ids=str)
def test_a_queue_is_looked_at_again_after_a_day_whatever_was_asked(failure: Failure):
    health = Health.fresh(2).after_failure(asking(failure, 1e12), 86_400, NOW)
    assert health.parked_until == NOW + 86_400


def test_any_failure_with_a_wait_parks_the_queue_that_long():
    health = Health.fresh(8).after_failure(asking(PROVIDER, 12), 12, NOW)
    assert [health.room(NOW + at) for at in (11.9, 12)] == [0, 8]


def test_a_lower_limit_holds_at_once_and_a_higher_one_is_a_fresh_start():
    health = Health.fresh(8).after_failure(asking(RATE, 1), 1, NOW)
    assert health.with_limit(2).room(NOW + 1) == 2
    assert health.with_limit(8) == health
    assert health.with_limit(9).room(NOW + 1) == 9
    assert health.with_limit(2).after_success(NOW + 1, NOW + 2).room(NOW + 2) == 2


def test_a_person_opens_a_queue_whatever_it_was_told():
    health = broken_down().after_failure(QUOTA, 900, NOW + 2)
    assert health.opened() == Health.fresh(8)


EVENTS = st.lists(
    st.tuples(
        st.floats(0, 500),
        st.floats(0, 1000)
        | st.integers(1, 40)
        | st.tuples(FAILURES, st.floats(0, LONGEST_PARK_SECONDS), POLICIES),
    ),
    max_size=60,
)
"""After so long: a success of a trial that took so long, a new limit, or a failure."""


@given(st.integers(1, 40), EVENTS)
def test_whatever_a_queue_meets_its_room_is_sound_and_it_opens_in_the_end(limit: int, events):
    health, now = Health.fresh(limit), NOW
    for passed, event in events:
        now += passed
        match event:
            case float(took):
                health = health.after_success(now - took, now)
            case int(limit):
                health = health.with_limit(limit)
            case (failure, pause, policy):
                before = health
                health = health.after_failure(failure, pause, now, policy)
                assert health.parked_until >= before.parked_until
                assert health.live_limit <= before.live_limit
                if failure.rule.effect is Effect.EASE and failure.retryable:
                    asked = failure.retry_after_seconds or 0.0
                    assert health.parked_until >= now + min(asked, LONGEST_PARK_SECONDS)
        assert health.limit == limit
        assert 1 <= health.live_limit <= limit
        assert 0 <= health.room(now) <= limit
        assert (health.room(now) == 0) == (now < health.parked_until)
        assert health.parked_until <= now + LONGEST_PARK_SECONDS
        assert health.room(now + LONGEST_PARK_SECONDS) >= 1


@given(st.integers(1, 40), EVENTS)
def test_a_queue_whose_trials_succeed_is_back_at_its_limit_after_as_many(limit: int, events):
    health, now = Health.fresh(limit), NOW
    for passed, event in events:
        now += passed
        if isinstance(event, tuple):
            health = health.after_failure(*event[:2], now, event[2])
    for _ in range(limit):
        now = max(now, health.parked_until) + 1
        health = health.after_success(now, now)
    assert (health.room(now), health.failures) == (limit, 0)


def test_a_models_own_policy_is_read_from_envwright_toml_and_changes_no_identity(tmp_path):
    where = '[models."a/b"]\nbase_url = "http://x"\n'
    tables = ("", "retry = { attempts = 7, parks = 2, quota_seconds = 5 }\n")
    read = []
    for table in tables:
        (tmp_path / "envwright.toml").write_text(where + table)
        read.append(read_settings({}, tmp_path).model("a/b"))
    plain, own = read
    assert plain.retry == DEFAULT
    assert own.retry == RetryPolicy(attempts=7, parks=2, quota_seconds=5)
    assert plain.content == own.content
