"""Statistics of results. Pure; every function says what its interval bounds.

Trials of one task are alike, so a mean over tasks is judged by the spread between
tasks, not between trials: ten trials of one task are one task.
"""

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

LEVEL = 0.95

CERTAIN = 0.99
"""How sure a verdict must be before trials are left out."""
FEWEST = 8
"""Scored trials before which nothing is certain, whatever they say."""
PRIOR = 0.5
"""Jeffreys' prior on a chance, on either side: no chance is thought likelier beforehand."""

Interval = tuple[float, float]


def wilson(successes: float, n: float, level: float = LEVEL) -> Interval | None:
    """Bounds on a proportion; None without a trial."""
    if n <= 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    p = successes / n
    denominator = 1 + z * z / n
    centre = (p + z * z / (2 * n)) / denominator
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / denominator
    # Rounding must not push a proportion of 0 or 1 out of its own bounds.
    return max(0.0, min(p, centre - half)), min(1.0, max(p, centre + half))


def mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def mean_interval(by_task: Mapping[str, Sequence[float]], level: float = LEVEL) -> Interval | None:
    """Bounds on the mean reward over tasks like these; on one task, over trials of it.

    Rewards of 0 and 1 get a Wilson interval on as many trials as they are worth, so
    that ten successes in ten do not look like certainty.
    """
    groups = [list(values) for values in by_task.values() if values]
    values = [value for group in groups for value in group]
    if not values:
        return None
    clusters = groups if len(groups) > 1 else [[value] for value in values]
    if all(value in (0.0, 1.0) for value in values):
        n = effective_size(clusters, values)
        return wilson(math.fsum(values) / len(values) * n, n, level)
    if len(clusters) < 2:
        return None
    error = clustered_error(clusters, values)
    if error == 0:
        # Equal rewards say nothing of their spread.
        return None
    from scipy.special import stdtrit  # noqa: PLC0415 - a third of what a command takes to start

    centre = math.fsum(values) / len(values)
    half = float(stdtrit(len(clusters) - 1, 0.5 + level / 2)) * error
    return centre - half, centre + half


def clustered_error(clusters: Sequence[Sequence[float]], values: Sequence[float]) -> float:
    """Standard error of the mean when values within a cluster go together."""
    centre = math.fsum(values) / len(values)
    k = len(clusters)
    sums = [math.fsum(value - centre for value in cluster) for cluster in clusters]
    variance = math.fsum(total * total for total in sums) * k / (k - 1)
    return math.sqrt(variance) / len(values)


def effective_size(clusters: Sequence[Sequence[float]], values: Sequence[float]) -> float:
    """How many independent trials these are worth: between the clusters and all of them."""
    n, k = len(values), len(clusters)
    p = math.fsum(values) / n
    if k < 2 or p in (0.0, 1.0):
        return float(k)
    error = clustered_error(clusters, values)
    return min(float(n), max(float(k), p * (1 - p) / (error * error))) if error else float(n)


def std(values: Sequence[float]) -> float | None:
    centre = mean(values)
    if centre is None or len(values) < 2:
        return None
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


class Difficulty(StrEnum):
    """What solved trials of a task say of it, for one agent."""

    TOO_HARD = "too hard"
    RIGHT = "within the band"
    TOO_EASY = "too easy"


@dataclass(frozen=True, slots=True)
class Band:
    """The share of trials that should be solved, ends included."""

    low: float = 0.1
    high: float = 0.3

    def difficulty(self, solved: int, trials: int) -> Difficulty:
        # A share such as 3/30 must not fall out of the band by a rounding.
        if solved < self.low * trials - 1e-9:
            return Difficulty.TOO_HARD
        return Difficulty.TOO_EASY if solved > self.high * trials + 1e-9 else Difficulty.RIGHT

    def __str__(self) -> str:
        return f"{self.low * 100:g}–{self.high * 100:g} %"


BAND = Band()
"""Of frontier agents on hard tasks; other bands can be set."""


def log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def foreseen(solved: int, scored: int, planned: int, band: Band = BAND) -> dict[Difficulty, float]:
    """How likely each verdict is once all planned trials are scored, after those that are.

    What is still to come is beta-binomial: the chance of solving is as likely as the
    scored trials and Jeffreys' prior make it.
    """
    left = planned - scored
    a, b = solved + PRIOR, scored - solved + PRIOR
    chances = dict.fromkeys(Difficulty, 0.0)
    for more in range(left + 1):
        ways = math.lgamma(left + 1) - math.lgamma(more + 1) - math.lgamma(left - more + 1)
        chance = math.exp(ways + log_beta(a + more, b + left - more) - log_beta(a, b))
        chances[band.difficulty(solved + more, planned)] += chance
    return chances


def certain(solved: int, scored: int, planned: int, band: Band = BAND) -> bool:
    """Whether trials that are left would hardly change the verdict: it is foreseen at 0.99.

    The verdict is the difficulty of one task for one agent: whether the share that is
    solved of all planned trials lies below, within or above the band (of 30 trials and
    10–30 %: fewer than 3, 3 to 9, more than 9). Failed trials are no part of it: they
    are neither solved nor scored. Below 8 scored trials nothing is certain.
    """
    if scored >= planned:
        return True
    return scored >= FEWEST and max(foreseen(solved, scored, planned, band).values()) >= CERTAIN


def why_certain(solved: int, scored: int, planned: int, band: Band = BAND) -> str:
    """Why a task's trials were stopped, in words."""
    chances = foreseen(solved, scored, planned, band)
    likeliest = max(chances, key=lambda each: chances[each])
    # Rounded down: what is not quite certain is never said to be.
    sure = math.floor(chances[likeliest] * 1000 + 1e-6) / 10
    return (
        f"{solved} of {scored} solved: {likeliest} ({band}) with {sure:g} % certainty "
        f"at {planned} trials, so {planned - scored} are left out"
    )


SHUFFLES = 2000


@dataclass(frozen=True, slots=True)
class Tie:
    """A rank correlation, and how often chance alone gives one as large."""

    value: float
    p: float


def quantile(values: Sequence[float], q: float) -> float:
    """Between the two nearest of them, by distance."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    part = place - low
    # Weighed, so that rounding leaves it between the two.
    found = ordered[low] * (1 - part) + ordered[high] * part
    return min(max(found, ordered[low]), ordered[high])


def rank_correlation(
    groups: Sequence[Sequence[tuple[float, float]]], shuffles: int = SHUFFLES
) -> Tie | None:
    """Spearman's within groups, pooled; None when one side never differs within a group.

    Its p is of a permutation test that shuffles within groups: two-sided, and by a seed of
    its own, so that the same values give the same p.
    """
    left = [centred_ranks([x for x, _ in group]) for group in groups]
    right = [centred_ranks([y for _, y in group]) for group in groups]
    scale = math.sqrt(
        math.fsum(x * x for group in left for x in group)
        * math.fsum(y * y for group in right for y in group)
    )
    if scale == 0:
        return None

    def together() -> float:
        pairs = zip(left, right, strict=True)
        return math.fsum(x * y for xs, ys in pairs for x, y in zip(xs, ys, strict=True)) / scale

    value = together()
    chance = random.Random(0)
    as_large = 0
    for _ in range(shuffles):
        for group in left:
            chance.shuffle(group)
        as_large += abs(together()) >= abs(value) - 1e-12
    return Tie(value, (1 + as_large) / (1 + shuffles))


def centred_ranks(values: Sequence[float]) -> list[float]:
    """Ranks less their mean; equal values share theirs."""
    ordered = sorted(values)
    first = {value: place for place, value in reversed(list(enumerate(ordered)))}
    count = Counter(values)
    middle = (len(values) - 1) / 2
    return [first[value] + (count[value] - 1) / 2 - middle for value in values]
