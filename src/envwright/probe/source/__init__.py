"""EW5: the source, parsed. It says what is written there; what it does is for others to try."""

from collections.abc import Iterable

from envwright.probe.code import Code
from envwright.probe.found import Hit, Place, report, skipped
from envwright.probe.package.package import Package
from envwright.probe.rule import Extent, Report
from envwright.probe.source.chance import CHANCES, chance_hits
from envwright.probe.source.executes import RUNS, run_hits
from envwright.probe.source.fails_open import OPEN, open_hits
from envwright.probe.source.flow import Flow
from envwright.probe.source.hang import HANGS, hang_hits, hang_replies
from envwright.probe.source.judge_default import DEFAULT_PAYS, default_hits
from envwright.probe.source.judge_prompt import STEERABLE, steerable_hits
from envwright.probe.source.memory import REMEMBERS, memory_hits
from envwright.probe.source.scoring import Role, reached_from, roots_of
from envwright.probe.source.view import IN_VIEW, NEVER, never_hits, view_hits

RULES = (RUNS, OPEN, STEERABLE, DEFAULT_PAYS, CHANCES, REMEMBERS, HANGS, IN_VIEW, NEVER)


def source_reports(package: Package, place: Place) -> list[Report]:
    """What the source says, rule by rule. Needs `read_package(source)`; nothing is run."""
    code = package.code
    if not code.modules:
        return [skipped(rule, "its source cannot be read", Extent.UNFINISHED) for rule in RULES]
    roots = roots_of(code)
    flow, dice = flow_of(code), Flow(code, chances=True)
    paid = [root for root in roots if root.role is not Role.METRIC]
    for root in paid:
        dice.run(root)
    hits: dict[str, Iterable[Hit]] = {
        RUNS.id: run_hits(flow),
        OPEN.id: open_hits(flow, roots),
        STEERABLE.id: steerable_hits(flow),
        DEFAULT_PAYS.id: default_hits(code, roots),
        CHANCES.id: chance_hits(dice, roots),
        REMEMBERS.id: memory_hits(code, reached_from(code, paid)),
        HANGS.id: hang_hits(flow),
        IN_VIEW.id: view_hits(code),
        NEVER.id: never_hits(code, package.readme),
    }
    scoring = len(reached_from(code, roots))
    made = [
        looked_at(report(rule, hits[rule.id], place, tried=scoring, unit="scoring functions"))
        for rule in RULES
    ]
    if not code.unparsed:
        return made
    unread = {"extent": Extent.UNFINISHED, "reason": f"cannot be read: {', '.join(code.unparsed)}"}
    return [each.model_copy(update=unread) for each in made]


def looked_at(made: Report) -> Report:
    """Where there was nothing to look at, nothing was seen."""
    if made.tried or made.findings:
        return made
    return made.model_copy(
        update={"extent": Extent.NOT_APPLICABLE, "reason": "no scoring function was found in it"}
    )


def slow_replies(package: Package) -> tuple[str, ...]:
    """Replies that may make its patterns backtrack: scoring them proves it."""
    return hang_replies(flow_of(package.code))


def flow_of(code: Code) -> Flow:
    flow = Flow(code)
    for root in roots_of(code):
        flow.run(root)
    return flow


__all__ = ["RULES", "slow_replies", "source_reports"]
