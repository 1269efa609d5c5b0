import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.stats import clustered_error, mean, mean_interval, std, wilson

BINARY = st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=8)
BY_TASK = st.dictionaries(st.text(min_size=1, max_size=3), BINARY, min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Published values of the score interval at 95 % (Newcombe 1998, table I; and DESIGN.md).
        (7, 18, 0.20, 0.61),
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (29, 29, 0.8830, 1.0),
    ],
)
def test_wilson_gives_the_published_bounds(successes, n, low, high):
    digits = 2 if n == 18 else 4
    found = wilson(successes, n)
    assert found is not None
    assert [round(bound, digits) for bound in found] == [low, high]


@given(st.integers(1, 500), st.data())
def test_wilson_contains_its_proportion_and_stays_within_0_and_1(n, data):
    successes = data.draw(st.integers(0, n))
    low, high = wilson(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    assert high > low


def test_wilson_narrows_with_trials_and_widens_with_the_level():
    widths = [high - low for low, high in (wilson(n // 2, n) for n in (4, 16, 64, 256))]
    assert all(wide > narrow for wide, narrow in pairwise(widths))
    assert wilson(5, 10, 0.99)[0] < wilson(5, 10, 0.95)[0] < wilson(5, 10, 0.8)[0]


@given(BY_TASK)
def test_a_binary_mean_lies_in_its_interval_and_the_interval_in_0_and_1(by_task):
    values = [value for group in by_task.values() for value in group]
    low, high = mean_interval(by_task)
    assert 0 <= low <= math.fsum(values) / len(values) <= high <= 1


@pytest.mark.parametrize("by_task", [{}, {"a": []}])
def test_nothing_measured_has_no_interval_and_no_mean(by_task):
    assert mean_interval(by_task) is None
    assert wilson(0, 0) is None
    assert mean([]) is None


def test_one_graded_trial_has_no_interval_but_one_binary_trial_has_a_wide_one():
    assert mean_interval({"a": [0.3]}) is None
    low, high = mean_interval({"a": [1.0]})
    assert (low, high) == (pytest.approx(0.2065, abs=1e-4), 1.0)


def test_the_clustered_error_agrees_with_a_case_worked_by_hand():
    # Mean 0.5. Sums of deviations per task: (0.5+0.3), (-0.2-0.4), (0.1-0.3) = 0.8, -0.6, -0.2.
    # Squares add up to 0.64 + 0.36 + 0.04 = 1.04; times 3/2 is 1.56; its root over 6 trials.
    clusters = [[1.0, 0.8], [0.3, 0.1], [0.6, 0.2]]
    values = [value for cluster in clusters for value in cluster]
    assert clustered_error(clusters, values) == pytest.approx(math.sqrt(1.56) / 6)
    # Student's t with two degrees of freedom at 97.5 % is 4.302653.
    low, high = mean_interval({str(n): cluster for n, cluster in enumerate(clusters)})
    assert high - 0.5 == pytest.approx(4.302653 * math.sqrt(1.56) / 6, rel=1e-6)
    assert 0.5 - low == pytest.approx(high - 0.5)


def test_ten_like_trials_of_a_task_are_worth_one_task():
    once = {str(task): [float(task < 3)] for task in range(6)}
    ten_times = {task: values * 10 for task, values in once.items()}
    narrow, wide = mean_interval(ten_times), mean_interval(once)
    assert narrow[1] - narrow[0] == pytest.approx(wide[1] - wide[0], rel=0.15)


def test_ten_successes_in_ten_do_not_look_like_certainty():
    low, high = mean_interval({str(task): [1.0] for task in range(10)})
    assert low == pytest.approx(0.7225, abs=1e-4)
    assert high == 1.0


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = random.Random(7)
    hits = {"binary": 0, "graded": 0}
    rounds = 400
    for _ in range(rounds):
        # Tasks differ in difficulty (uniform, so the true mean is 0.5); trials of one are alike.
        chances = [rng.random() for _ in range(20)]
        samples = {
            "binary": {
                str(t): [float(rng.random() < p) for _ in range(4)] for t, p in enumerate(chances)
            },
            "graded": {
                str(t): [p + rng.uniform(-0.1, 0.1) for _ in range(4)]
                for t, p in enumerate(chances)
            },
        }
        for kind, by_task in samples.items():
            low, high = mean_interval(by_task)
            hits[kind] += low <= 0.5 <= high
    assert all(0.92 <= count / rounds <= 0.985 for count in hits.values()), hits


def test_std_is_the_sample_deviation_and_needs_two_values():
    assert std([1.0, 3.0]) == pytest.approx(math.sqrt(2))
    assert std([1.0]) is None
