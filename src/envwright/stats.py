"""Statistics of results. Pure; every function says what its interval bounds.

Trials of one task are alike, so a mean over tasks is judged by the spread between
tasks, not between trials: ten trials of one task are one task.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist

from scipy.special import stdtrit

LEVEL = 0.95

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
