"""EW2: the tasks themselves, as rows. Nothing is scored here; what was scored is passed in."""

from collections.abc import Mapping, Sequence

from envwright.environment import Environment, Task
from envwright.probe.case import Case
from envwright.probe.data.balance import DOMINATES, FEW, dominating_hits, few_hits
from envwright.probe.data.leak import LEAK, leak_hits
from envwright.probe.data.missing import MISSING, missing_hits, missing_tries
from envwright.probe.data.own_check import OWN_CHECK, Checked, own_check_hits
from envwright.probe.data.repeats import (
    CONTRADICTIONS,
    DUPLICATES,
    NEAR,
    contradiction_hits,
    contradiction_tries,
    duplicate_hits,
    near_hits,
)
from envwright.probe.data.splits import OVERLAP, is_idle, overlap_hits, split_values
from envwright.probe.found import Place, report, skipped
from envwright.probe.rule import Extent, Report
from envwright.probe.scoring import Told, Try

RULES = (DUPLICATES, CONTRADICTIONS, NEAR, MISSING, LEAK, DOMINATES, FEW, OVERLAP, OWN_CHECK)
OF_GOLD = (CONTRADICTIONS, MISSING, LEAK, DOMINATES)


def data_tries(cases: Sequence[Case]) -> list[Try]:
    """What is worth scoring before `data_reports`: it tells several right answers from a fault."""
    return [*missing_tries(cases), *contradiction_tries(cases)]


def data_reports(  # noqa: PLR0913 - all that is known of the rows
    cases: Sequence[Case],
    place: Place,
    *,
    environment: Environment | None = None,
    total: int | None = None,
    told: Told | None = None,
    splits: Mapping[str, Sequence[Task]] | None = None,
    checked: Sequence[Checked] = (),
) -> list[Report]:
    """What the rows show.

    Needs all tasks that were read, not only the sampled ones, each with its gold (None where
    it has none; `said` and `best` where they are known); `total` is None when they are
    endless; `told` holds the scores of `data_tries`; `splits` are the tasks under each value
    of the argument that `split_values` names; `checked` is what tasks say of their gold.
    """
    scores: Told = told if told is not None else {}
    hits = {
        DUPLICATES: duplicate_hits(cases, environment),
        CONTRADICTIONS: contradiction_hits(cases, environment, scores),
        NEAR: near_hits(cases),
        MISSING: missing_hits(cases, scores),
        LEAK: leak_hits(cases),
        DOMINATES: dominating_hits(cases, place),
        FEW: few_hits(cases, total),
    }
    without = all(case.gold is None for case in cases)
    reports = [
        skipped(rule, "no task has a gold", Extent.NO_GOLD)
        if without and rule in OF_GOLD
        else sized(report(rule, found, place, tried=len(cases), unit="tasks"), total)
        for rule, found in hits.items()
    ]
    return [*reports, overlap_report(splits, place), own_check_report(checked, place, total)]


def overlap_report(splits: Mapping[str, Sequence[Task]] | None, place: Place) -> Report:
    if not splits or len(splits) < 2 or is_idle(splits):
        return skipped(OVERLAP, "it has one split")
    counted = sum(map(len, splits.values()))
    return report(OVERLAP, overlap_hits(splits), place, tried=counted, unit="tasks")


def own_check_report(checked: Sequence[Checked], place: Place, total: int | None) -> Report:
    if not checked:
        return skipped(OWN_CHECK, "no task has a check of its own")
    hits = own_check_hits(checked, place)
    return sized(report(OWN_CHECK, hits, place, tried=len(checked), unit="tasks"), total)


def sized(made: Report, total: int | None) -> Report:
    return made.model_copy(update={"of": total})


__all__ = ["RULES", "data_reports", "data_tries", "split_values"]
