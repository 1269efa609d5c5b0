import math
import random
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.stats import (
    Band,
    Difficulty,
    certain,
    clustered_error,
    foreseen,
    mean,
    mean_interval,
    std,
    why_certain,
    wilson,
)

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


def by_integration(solved: int, scored: int, planned: int, band: Band) -> dict[Difficulty, float]:
    """The same as `foreseen`, from its definition: every sequence that may follow, under every
    chance, as the prior p^-½ (1-p)^-½ and the scored trials weigh it (p = sin², which has none)."""
    found = dict.fromkeys(Difficulty, 0.0)
    total, steps = 0.0, 2000
    for step in range(steps):
        p = math.sin((step + 0.5) * math.pi / 2 / steps) ** 2
        weight = p**solved * (1 - p) ** (scored - solved)
        total += weight
        for future in product((0, 1), repeat=planned - scored):
            more = sum(future)
            chance = p**more * (1 - p) ** (len(future) - more)
            found[band.difficulty(solved + more, planned)] += weight * chance
    return {each: value / total for each, value in found.items()}


@pytest.mark.parametrize(
    ("solved", "scored", "planned"), [(0, 0, 5), (0, 8, 12), (3, 8, 12), (8, 8, 11), (2, 9, 13)]
)
@pytest.mark.parametrize("band", [Band(), Band(0.4, 0.8)])
def test_what_is_foreseen_agrees_with_its_definition(solved, scored, planned, band):
    expected = by_integration(solved, scored, planned, band)
    assert foreseen(solved, scored, planned, band) == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 60), st.data())
def test_verdicts_share_out_certainty_and_all_trials_leave_one(planned, data):
    scored = data.draw(st.integers(0, planned))
    solved = data.draw(st.integers(0, scored))
    assert sum(foreseen(solved, scored, planned).values()) == pytest.approx(1)
    assert certain(solved, planned, planned)
    assert max(foreseen(solved, planned, planned).values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("chances", "error", "mean_trials"),
    [([step / 400 for step in range(1, 400)], 0.110, 16.2),
     ([0.1 + step / 2000 for step in range(1, 400)], 0.215, 24.1)],
    ids=["any chance", "a chance within the band"],
)  # fmt: skip
def test_stopping_errs_as_often_and_costs_as_much_as_was_simulated(chances, error, mean_trials):
    planned, band = 30, Band()
    stops = {
        (n, solved): max(said := foreseen(solved, n, planned), key=said.get)
        for n in range(planned + 1)
        for solved in range(n + 1)
        if certain(solved, n, planned)
    }
    wrong = trials = 0.0
    for p in chances:
        truth = (p >= band.low) + (p > band.high)
        alive = {0: 1.0}
        for n in range(planned + 1):
            going: dict[int, float] = {}
            for solved, weight in alive.items():
                if (verdict := stops.get((n, solved))) is not None:
                    trials += weight * n
                    wrong += weight * (verdict is not list(Difficulty)[truth])
                else:
                    going[solved] = going.get(solved, 0.0) + weight * (1 - p)
                    going[solved + 1] = going.get(solved + 1, 0.0) + weight * p
            alive = going
    assert round(wrong / len(chances), 3) == error
    assert round(trials / len(chances), 1) == mean_trials


@pytest.mark.parametrize(
    ("solved", "scored", "planned", "expected"),
    [
        (7, 7, 30, False),  # above the band whatever comes soon, and yet too few
        (8, 8, 30, True),
        (0, 8, 30, False),
        (0, 20, 30, False),
        (0, 21, 30, True),
        (10, 20, 30, True),
        (5, 20, 30, False),
        (0, 3, 3, True),
        (0, 2, 3, False),
    ],
)
def test_trials_stop_when_more_would_hardly_change_the_verdict(solved, scored, planned, expected):
    assert certain(solved, scored, planned) is expected


def test_the_ends_of_a_band_belong_to_it():
    shares = [Band().difficulty(solved, 30) for solved in (2, 3, 9, 10)]
    assert shares == [
        Difficulty.TOO_HARD,
        Difficulty.RIGHT,
        Difficulty.RIGHT,
        Difficulty.TOO_EASY,
    ]
    assert [Band(0.1, 0.7).difficulty(solved, 10) for solved in (1, 7)] == [Difficulty.RIGHT] * 2


def test_why_trials_were_left_out_is_said_with_its_counts():
    assert why_certain(8, 8, 30) == (
        "8 of 8 solved: too easy (10–30 %) with 99.9 % certainty at 30 trials, so 22 are left out"
    )
