"""EW70x: whether rollouts carry a signal that training could follow."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from envwright.errors import Cause
from envwright.finding import Finding, Severity
from envwright.probe.rollout.rollout import QUOTE, SHOWN, Rollout, Rollouts, finding, share
from envwright.probe.rule import Check, Extent, Report, Rule
from envwright.record import mapping
from envwright.stats import rank_correlation
from envwright.trace import Role, Step, Trace
from envwright.trial.outcome import Failed, Scored, Stop

TRUNCATED = Rule(
    id="EW701",
    name="truncated-rollouts",
    defect="",
    check=Check.ROLLOUT_QUALITY,
    severity=Severity.WARN,
    tries="How each scored rollout ended, and whether its last reply was cut.",
    hit="More than a tenth of them ran out of turns, time, context or tokens.",
    why="A reply that was cut off is scored for where the limit fell, not for what it says.",
)
FORMAT = Rule(
    id="EW702",
    name="format-failures",
    defect="",
    check=Check.ROLLOUT_QUALITY,
    severity=Severity.WARN,
    tries="The format that the task asks for in the last reply, and parts named after a format.",
    hit="More than a quarter of the replies lack it.",
    why="Rewards then measure whether the request for a format was understood.",
    exempt="Tasks that ask for no format that can be recognised.",
)
TOOLS = Rule(
    id="EW703",
    name="tool-errors",
    defect="",
    check=Check.ROLLOUT_QUALITY,
    severity=Severity.WARN,
    tries="The results of tool calls.",
    hit="More than a fifth of them are errors.",
    why="Agents are measured by a tool that does not answer.",
    exempt="Rollouts without a tool call.",
)
FLAT = Rule(
    id="EW704",
    name="no-variance",
    defect="",
    check=Check.ROLLOUT_QUALITY,
    severity=Severity.WARN,
    tries="The rewards of the rollouts of one task.",
    hit="Four of five tasks or more give every rollout the same reward.",
    why="Training by comparison within a task learns nothing from a task without a difference.",
    exempt="Fewer than two scored rollouts of a task.",
)
LENGTH = Rule(
    id="EW705",
    name="reward-follows-length",
    defect="pays-for-length",
    check=Check.ROLLOUT_QUALITY,
    severity=Severity.WARN,
    tries="The rank correlation of reward and length among rollouts of the same task.",
    hit="Longer replies earn more: 0.3 or above, by chance in fewer than 1 of 100 shuffles.",
    why="A model that is trained on it learns to ramble before it learns to be right.",
    exempt="Fewer than 20 rollouts in tasks whose rewards differ.",
)
ERRORS = Rule(
    id="EW706",
    name="rollout-errors",
    defect="",
    check=Check.ROLLOUT_QUALITY,
    severity=Severity.FAIL,
    tries="The rollouts that have no reward, by what broke.",
    hit="The environment or its grader broke a rollout; a tenth of them is a failure.",
    why="What breaks is lost to training, and often on the replies that matter most.",
    exempt="Failures of a provider, a sandbox or Envwright leave the check incomplete.",
)
RULES = (TRUNCATED, FORMAT, TOOLS, FLAT, LENGTH, ERRORS)

MOST_TRUNCATED, MOST_UNFORMED, MOST_TOOL_ERRORS, MOST_FLAT = 0.1, 0.25, 0.2, 0.8
MOST_BROKEN = 0.1
LEAST_CORRELATION, LEAST_CHANCE, FEWEST_RANKED = 0.3, 0.01, 20
CUT = frozenset({Stop.TURNS, Stop.TIME, Stop.CONTEXT, Stop.TOKENS, Stop.BUDGET})
FORMATS = ("\\boxed{", "<answer>", "####")
"""What a request may ask for in so many words, and a reply then has to hold."""
OWN_FAULT = frozenset({Cause.ENVIRONMENT, Cause.GRADER})


def read_quality(rollouts: Rollouts) -> list[Report]:
    return [
        truncated(rollouts),
        formats(rollouts),
        tool_errors(rollouts),
        flat(rollouts),
        length(rollouts),
        errors(rollouts),
    ]


def truncated(rollouts: Rollouts) -> Report:
    scored = rollouts.scored
    if not scored:
        return rollouts.silent(TRUNCATED, "no rollout was scored")
    cut = [(each, why) for each, outcome in scored if (why := cut_by(each, outcome)) is not None]
    found: list[Finding] = []
    if len(cut) > MOST_TRUNCATED * len(scored):
        causes = ", ".join(f"{count} by {why}" for why, count in Counter(w for _, w in cut).items())
        words = f"{share(len(cut), len(scored))} scored rollouts were cut off: {causes}"
        found.append(finding(TRUNCATED, words, [each for each, _ in cut]))
    return rollouts.report(
        TRUNCATED, found, tried=len(scored), of=len(rollouts.each), unit="rollouts"
    )


def cut_by(rollout: Rollout, outcome: Scored) -> str | None:
    """What ended it before the agent did."""
    if outcome.stop in CUT:
        return str(outcome.stop)
    last = [trace.calls[-1] for trace in rollout.measured if trace.calls]
    return "the length of a reply" if any(c.finish_reason == "length" for c in last) else None


def formats(rollouts: Rollouts) -> Report:
    asked = [(each, outcome) for each, outcome in rollouts.scored if is_asked(each, outcome)]
    if not asked:
        return rollouts.silent(FORMAT, "no format is asked for that can be recognised")
    lacking = [each for each, outcome in asked if lacks_format(each, outcome)]
    found: list[Finding] = []
    if len(lacking) > MOST_UNFORMED * len(asked):
        words = f"{share(len(lacking), len(asked))} last replies lack the format that is asked for"
        found.append(finding(FORMAT, words, lacking))
    return rollouts.report(FORMAT, found, tried=len(asked), of=len(rollouts.each), unit="rollouts")


def is_asked(rollout: Rollout, outcome: Scored) -> bool:
    return bool(asked_for(rollout.prompt)) or bool(format_parts(outcome))


def asked_for(prompt: str) -> list[str]:
    return [sign for sign in FORMATS if sign in prompt]


def format_parts(outcome: Scored) -> list[float]:
    """What parts and metrics say that are named after a format."""
    named = {name: each.score for name, each in outcome.rewards.items()} | outcome.metrics
    return [value for name, value in named.items() if "format" in name.lower()]


def lacks_format(rollout: Rollout, outcome: Scored) -> bool:
    parts = format_parts(outcome)
    if parts:
        return all(value <= 0 for value in parts)
    return not any(sign in rollout.last_reply for sign in asked_for(rollout.prompt))


def tool_errors(rollouts: Rollouts) -> Report:
    results = [(each, step) for each in rollouts.each for step in tool_results(each.measured)]
    if not results:
        return rollouts.silent(TOOLS, "no tool was called")
    bad = [(each, step) for each, step in results if is_error(step.content)]
    found: list[Finding] = []
    if len(bad) > MOST_TOOL_ERRORS * len(results):
        words = f"{share(len(bad), len(results))} tool calls were answered with an error"
        shown = [each.cite(step.content[:QUOTE]) for each, step in bad[:SHOWN]]
        made = finding(TOOLS, words, [each for each, _ in bad])
        found.append(made.model_copy(update={"citations": tuple(shown)}))
    return rollouts.report(TOOLS, found, tried=len(results), of=len(results), unit="tool results")


def tool_results(traces: Sequence[Trace]) -> Iterator[Step]:
    return (step for trace in traces for step in trace.steps if step.role is Role.TOOL)


def is_error(content: str) -> bool:
    """As tools say it: in a first word, as a traceback, or in a field of their JSON."""
    text = content.lstrip()
    if text.startswith("{"):
        try:
            raw = mapping(json.loads(text))
        except (ValueError, RecursionError):
            return False
        return bool(raw.get("error") or raw.get("is_error"))
    lowered = text[:QUOTE].lower()
    return lowered.startswith(("error", "traceback (most recent call last)", "exception"))


def flat(rollouts: Rollouts) -> Report:
    groups = [group for group in rollouts.groups.values() if len(group) > 1]
    if not groups:
        return rollouts.silent(FLAT, "no task has two scored rollouts")
    same = [group for group in groups if len({outcome.reward for _, outcome in group}) == 1]
    found: list[Finding] = []
    if len(same) >= MOST_FLAT * len(groups):
        at = Counter(round(group[0][1].reward, 4) for group in same).most_common(3)
        where = ", ".join(f"{count} at {reward:g}" for reward, count in at)
        words = f"{share(len(same), len(groups))} tasks give every rollout the same reward: {where}"
        found.append(finding(FLAT, words, [group[0][0] for group in same]))
    return rollouts.report(FLAT, found, tried=len(groups), of=rollouts.tasks, unit="tasks")


def length(rollouts: Rollouts) -> Report:
    groups = [
        [(float(sum(map(len, each.replies))), outcome.reward) for each, outcome in group]
        for group in rollouts.groups.values()
    ]
    ranked = [group for group in groups if len({reward for _, reward in group}) > 1]
    count = sum(map(len, ranked))
    if count < FEWEST_RANKED:
        why = f"{count} rollouts in tasks whose rewards differ; {FEWEST_RANKED} are needed"
        return rollouts.silent(LENGTH, why)
    tied = rank_correlation(ranked)
    found: list[Finding] = []
    if tied is not None and abs(tied.value) >= LEAST_CORRELATION and tied.p < LEAST_CHANCE:
        words = (
            f"{'longer' if tied.value > 0 else 'shorter'} replies earn more: rank correlation "
            f"{tied.value:.2f} within {len(ranked)} tasks, {count} rollouts, p {tied.p:.4f}"
        )
        longest = sorted(rollouts.scored, key=lambda pair: -sum(map(len, pair[0].replies)))
        # To be brief is no way to be paid for nothing.
        severity = Severity.WARN if tied.value > 0 else Severity.INFO
        found.append(finding(LENGTH, words, [each for each, _ in longest], severity))
    return rollouts.report(LENGTH, found, tried=count, of=len(rollouts.each), unit="rollouts")


def errors(rollouts: Rollouts) -> Report:
    """The environment's own failures are findings; those of others leave the check open."""
    total = len(rollouts.each)
    failed = [(each, each.outcome) for each in rollouts.each if isinstance(each.outcome, Failed)]
    own = [(each, outcome) for each, outcome in failed if outcome.cause in OWN_FAULT]
    found: list[Finding] = []
    for cause in sorted({outcome.cause for _, outcome in own}):
        broken = [(each, outcome) for each, outcome in own if outcome.cause is cause]
        last = Counter(last_line(outcome.detail) for _, outcome in broken).most_common(1)[0][0]
        severity = Severity.FAIL if len(broken) >= MOST_BROKEN * total else Severity.WARN
        words = f"{share(len(broken), total)} rollouts have no reward ({cause}): {last}"
        found.append(finding(ERRORS, words, [each for each, _ in broken], severity))
    missing = sum(each.outcome is None for each in rollouts.each)
    others = Counter(outcome.cause for _, outcome in failed if outcome.cause not in OWN_FAULT)
    report = rollouts.report(ERRORS, found, tried=total - missing, of=total, unit="rollouts")
    if not missing and not others:
        return report
    said = [f"{count} failed ({cause})" for cause, count in sorted(others.items())]
    said += [f"{missing} were not run"] if missing else []
    reason = f"of {total} rollouts {', '.join(said)}"
    return report.model_copy(update={"extent": Extent.UNFINISHED, "reason": reason})


def last_line(text: str) -> str:
    return (text.strip().splitlines() or ["no detail"])[-1].strip()[:QUOTE]
