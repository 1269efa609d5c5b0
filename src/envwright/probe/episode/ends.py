"""EW604 no-end: an episode that goes on for as long as the agent talks."""

from envwright.finding import Basis, Finding, ReplyCitation, Severity
from envwright.probe.case import Case
from envwright.probe.rule import Check, Rule

NO_END = Rule(
    id="EW604",
    name="no-end",
    defect="no-end",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="the same few words turn after turn, up to our own cap of turns",
    hit="the episode comes to that cap: nothing of its own ends it",
    why="rollouts run until something else kills them",
    exempt="single-turn environments, and a cap of the environment's own",
)


def endless(case: Case, cap: int, reproduce: str) -> Finding:
    return Finding(
        rule=NO_END.id,
        severity=NO_END.severity,
        basis=Basis.PROVEN,
        statement=f"an agent that goes on saying the same had {cap} turns on task "
        f"{case.task.index} and was ended by our cap alone",
        citations=(ReplyCitation(key=case.task.key, signal="stop", quote="max_turns"),),
        reproduce=reproduce,
    )
