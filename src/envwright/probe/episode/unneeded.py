"""EW603 unneeded-tool: a tool is demanded, and all is earned without it.

An answer that has to be looked up is no hit: nobody can say it without the tool. A hit
is one that follows from the question itself, as simple reckoning shows, or the source of
the tools: they reckon, and hold nothing that the question does not. Where no wording of the
gold earns all, the source may still show it: nothing there asks whether a tool was called.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import permutations

from envwright.environment import Environment
from envwright.finding import Basis, Finding, Severity, SourceCitation
from envwright.probe.case import Case, Sample
from envwright.probe.evidence import finding, quoted
from envwright.probe.gold import request_of
from envwright.probe.rule import Check, Extent, Report, Rule

UNNEEDED = Rule(
    id="EW603",
    name="unneeded-tool",
    defect="unneeded-tool",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="the gold at once, without a single call, where the prompt demands a tool",
    hit="it earns the maximum on most tasks, and follows from the numbers of the question, or the "
    "tools only reckon with what the question says; or they only reckon, and nothing in the source "
    "reads whether one was called",
    why="the model learns to guess instead of using the tool",
    exempt="tools that are offered, answers that only the tool can tell",
)
DEMAND = re.compile(
    r"\b(must|have to|need to|always|required to|be sure to|please)?\s*"
    r"(use|call|run|invoke|consult|query)\b[^.\n]{0,60}\b(tools?|calculator|function)\b"
    r"|\b(with|using) (the|your|a) [\w` -]{0,30}\btools?\b",
    re.IGNORECASE,
)
BY_HAND = re.compile(
    r"\b(do not|don't|never|not|without)\b[^.\n]{0,40}\b(by hand|from memory|in your head|mentally"
    r"|yourself|guess)",
    re.IGNORECASE,
)
ASKS = r"\b(?:use|call|run|invoke|consult|query|ask|with|using|via|through|by|from)\b[^.\n]{0,40}?"
OFFER = re.compile(
    r"\b(may|can|could|if (you|it) (like|want|need|help)|optional|available|help(?! of))",
    re.IGNORECASE,
)
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
MOST = 0.5


def demands(case: Case, tools: Sequence[str] = ()) -> bool:
    """Whether the request tells the agent to use a tool, and does not leave it the way."""
    named = re.compile(ASKS + spelled(tools), re.IGNORECASE)
    for sentence in re.split(r"(?<=[.!?\n])\s+", request_of(case.task)):
        said = DEMAND.search(sentence) or BY_HAND.search(sentence) or named.search(sentence)
        if said and not OFFER.search(sentence):
            return True
    return False


def spelled(tools: Sequence[str]) -> str:
    """A pattern for tools' names where they are names: in quotes, or no words of the language."""
    short = [name for tool in tools if (name := tool.partition("_")[2])]
    quoted = "|".join(map(re.escape, [*tools, *short]))
    plain = "|".join(re.escape(name) for name in [*tools, *short] if "_" in name)
    return rf"(?:[`'\"](?:{quoted})[`'\"(]|\b(?:{plain or '(?!)'})\b)"


def follows(case: Case) -> bool:
    """Whether the gold is reckoned from numbers of the question in one step, or is one of them."""
    try:
        gold = float((case.gold or "").replace(",", ""))
    except ValueError:
        return False
    numbers = [float(found) for found in NUMBER.findall(case.task.prompt)][:8]
    return any(abs(result - gold) < 1e-6 * max(1.0, abs(gold)) for result in reckoned(numbers))


def reckoned(numbers: list[float]) -> Iterator[float]:
    yield from numbers
    if numbers:
        yield from (sum(numbers), sum(numbers) / len(numbers), max(numbers), min(numbers))
    for a, b in permutations(numbers, 2):
        yield from (a + b, a - b, a * b)
        if b:
            yield from (a / b, a // b, a % b)
        if 0 <= b <= 12 and abs(a) <= 1000:
            yield a**b if a or b else 1.0
    for a, b, c in permutations(numbers[:5], 3):
        yield from (a * b + c, a * b - c, (a + b) * c, (a - b) * c, a + b - c, a * b * c)


def read_unneeded(
    sample: Sample, *, reckon: bool = False, ignored: SourceCitation | None = None
) -> Report:
    """`reckon` says whether the source shows that all its tools do no more.

    `ignored` is one of them, where the source shows that nothing reads its calls either.
    """
    environment = sample.environment
    if not environment.tools:
        return Report(rule=UNNEEDED.id, extent=Extent.NOT_APPLICABLE, reason="it has no tools")
    if sample.gold_from is None:
        return Report(rule=UNNEEDED.id, extent=Extent.NO_GOLD, reason="no gold to say at once")
    asked = [
        case for case in sample.cases if case.said is not None and demands(case, environment.tools)
    ]
    if not asked:
        why = "no prompt demands a tool"
        return Report(rule=UNNEEDED.id, extent=Extent.NOT_APPLICABLE, reason=why)
    paid = [case for case in asked if is_full(environment, case)]
    hits = paid if reckon else [case for case in paid if follows(case)]
    found: tuple[Finding, ...] = ()
    if len(hits) > MOST * len(asked):
        found = (of(sample, hits, len(asked), reckon),)
    elif reckon and ignored is not None and len(asked) > MOST * len(sample.cases):
        found = (unread(sample, ignored),)
    return Report(rule=UNNEEDED.id, tried=len(asked), of=sample.total, findings=found)


def is_full(environment: Environment, case: Case) -> bool:
    most = sum(reward.weight for reward in environment.rewards if reward.weight > 0)
    return case.best is not None and most > 0 and case.best >= most - 1e-6


def of(sample: Sample, hits: list[Case], asked: int, reckon: bool) -> Finding:
    case = hits[0]
    assert case.said is not None
    why = (
        "and its tools only reckon with what the question says"
        if reckon
        else "whose answers follow from the numbers in the question"
    )
    return finding(
        UNNEEDED,
        sample,
        case,
        case.said,
        statement=f"the prompt demands a tool, and {quoted(case.said, 60)} said at once earns "
        f"{case.best:g} on {len(hits)} of {asked} such tasks, {why}",
        quote=f"{case.best:g}",
    )


def unread(sample: Sample, tool: SourceCitation) -> Finding:
    name = sample.name or shlex.quote(sample.environment.name)
    return Finding(
        rule=UNNEEDED.id,
        severity=UNNEEDED.severity,
        basis=Basis.PROVEN,
        statement="the prompt demands a tool, its tools only reckon with what the question says, "
        "and nothing in the source reads whether one was called",
        citations=(tool,),
        reproduce=f"envwright env inspect {name}",
    )
