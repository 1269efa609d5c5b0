"""`RULES`: every rule there is, by its id."""

from collections.abc import Iterable

from envwright.probe import contamination, data, package, reply, rollout, source
from envwright.probe.rule import Rule
from envwright.probe.run import RULES as RUN_RULES


def by_id(*groups: Iterable[Rule]) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for rule in (rule for group in groups for rule in group):
        if rule.id in found:
            raise ValueError(f"{rule.id} is the id of two rules")
        found[rule.id] = rule
    return dict(sorted(found.items()))


RULES = by_id(
    package.RULES,
    data.RULES,
    reply.RULES,
    RUN_RULES,
    source.RULES,
    rollout.RULES,
    contamination.RULES,
)
