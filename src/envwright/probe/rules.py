"""`RULES`: every rule there is, by its id."""

from envwright.probe import rollout
from envwright.probe.rule import Rule


def by_id(*groups: tuple[Rule, ...]) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for rule in (rule for group in groups for rule in group):
        if rule.id in found:
            raise ValueError(f"{rule.id} is the id of two rules")
        found[rule.id] = rule
    return found


RULES = by_id(rollout.RULES)
