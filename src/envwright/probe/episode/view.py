"""EW605 answer-in-view: the gold reaches the agent by another way than its prompt."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from envwright.finding import Finding, Severity
from envwright.probe.case import Case
from envwright.probe.episode.record import chosen, fields_of, has_word
from envwright.probe.episode.tool import Again, Called, Tool
from envwright.probe.episode.tools import tool_finding
from envwright.probe.evidence import quoted, shown
from envwright.probe.gold import request_of
from envwright.probe.play import Played
from envwright.probe.rule import Check, Rule
from envwright.trace import Role

IN_VIEW = Rule(
    id="EW605",
    name="answer-in-view",
    defect="answer-in-view",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="tools with empty and plain arguments and with words of the question, tools' "
    "descriptions, and what the environment says before the agent has answered",
    hit="the gold stands there under the name of an answer, as the example of a reply, or alone "
    "although nothing of the question was handed over; or in a record from whose other fields it "
    "is to be worked out",
    why="the model learns where the key lies",
    exempt="looking the answer up, or reckoning it from what the question says, is what the tool "
    "is for",
)
NAMES = r"answer|solution|gold|expected|target|ground[ _]truth|label|correct|secret"

EXAMPLE = (
    r"\b(?:(?:reply|answer|respon[ds]e?|guess|write|send|say|submit|type|enter|move|line|form(?:at)?)\b"
    r"[^.!?\n]{0,60}?(?:\b(?:like|such as|for (?:example|instance)|as in)\b|\be\.g\.)"
    r"|form(?:at)?\b[^.!?\n]{0,60}?:)[^.!?\n]{0,30}?"
)
MARKED = ("<", "\\boxed", "####", "{")
"""How a form begins that nobody speaks in."""


def named(gold: str, text: str, field: str | None) -> str | None:
    """Where a text gives the gold the name of an answer; None when it does not."""
    names = NAMES if field is None else f"{NAMES}|{re.escape(field.rpartition('.')[2])}"
    pattern = rf"(?:{names})\w*[\"'*`]*\s*(?:is|was|[:=]|->)*\s*[\"'*`\[(]*{re.escape(gold)}(?!\w)"
    found = re.search(pattern, text, re.IGNORECASE)
    return found.group(0) if found else None


def shows(case: Case, text: str, field: str | None) -> str | None:
    """The words that give the gold away; one that is in the prompt is given already."""
    gold = (case.gold or "").strip()
    if not gold or len(gold) > 2000 or named(gold, case.task.prompt, field):
        return None
    if text.strip() == gold and len(gold) > 1:
        return text.strip()
    return named(gold, text, field)


def exemplifies(case: Case, text: str, golds: Iterable[str]) -> str | None:
    """Where a text has the right reply for its example of one, or says it in a reply's form.

    Who is asked may well tell the gold in words of their own, and a list of all that may be
    said holds it rightly: then it holds other tasks' golds, too.
    """
    gold, said = (case.gold or "").strip(), (case.said or "").strip()
    others = (each for each in golds if each != gold)
    if len(gold) < 2 or has_word(gold, request_of(case.task)):
        return None
    if any(has_word(each, text) for each in others):
        return None
    if said.startswith(MARKED) and said != gold and said in text:
        return said
    found = re.search(rf"{EXAMPLE}(?<!\w){re.escape(gold)}(?!\w)", text, re.IGNORECASE)
    return found.group(0) if found else None


def in_answers(
    case: Case, called: Sequence[Called], field: str | None, again: Again
) -> Iterator[Finding]:
    for call in called:
        found = None if call.raised else handed_out(case, call, field)
        if found is not None:
            yield handing(case, call, found, again)


def in_records(case: Case, called: Sequence[Called], again: Again) -> Iterator[Finding]:
    for call in called:
        found = None if call.raised else chosen(case, call)
        if found is not None:
            yield handing(case, call, found, again)


def handing(case: Case, call: Called, found: str, again: Again) -> Finding:
    return tool_finding(
        IN_VIEW,
        case,
        call,
        f"the tool {call.tool!r} hands out the gold: {shown(str(call.arguments), 100)} is "
        f"answered with {quoted(found, 100)}",
        again,
    )


def handed_out(case: Case, call: Called, field: str | None) -> str | None:
    """What a tool tells that it should not, if it does.

    One that is given words of the question may well answer with the gold: it looks it up,
    or reckons it. Then it is a key only as a field of a record that has others.
    """
    found = shows(case, call.answer, field)
    values = [str(value) for value in call.arguments.values()]
    if found is None or found in " ".join(values):
        return None
    request = request_of(case.task)
    asked = any(has_word(value, request) for value in values)
    key = re.search(rf"\b({NAMES}|key|hint|reveal)", call.tool.replace("_", " "), re.IGNORECASE)
    return found if key or not asked or len(fields_of(call.answer)) > 1 else None


def in_descriptions(
    case: Case, tools: Sequence[Tool], field: str | None, again: Again
) -> Iterator[Finding]:
    for tool in tools:
        if found := shows(case, tool.description, field):
            yield tool_finding(
                IN_VIEW,
                case,
                Called(tool.name, {}, found),
                f"the description of the tool {tool.name!r} tells the gold: {quoted(found, 100)}",
                again,
            )


def in_turns(case: Case, played: Played, field: str | None, again: Again) -> Iterator[Finding]:
    """What the environment says while there is still a turn to come."""
    told = (shows(case, said, field) for said in heard(played))
    yield from (speaking(case, found, again) for found in islice(filter(None, told), 1))


def in_examples(
    case: Case, played: Played, golds: Sequence[str], again: Again
) -> Iterator[Finding]:
    """A reply that is right, where the environment only shows what a reply looks like."""
    told = (exemplifies(case, said, golds) for said in heard(played))
    yield from (speaking(case, found, again) for found in islice(filter(None, told), 1))


def heard(played: Played) -> list[str]:
    trace = played.measured
    steps = trace.steps if trace is not None else ()
    spoke = [place for place, step in enumerate(steps) if step.sampled]
    return [
        step.content
        for place, step in enumerate(steps)
        if step.role is Role.USER and spoke and spoke[0] < place < spoke[-1]
    ]


def speaking(case: Case, found: str, again: Again) -> Finding:
    return tool_finding(
        IN_VIEW,
        case,
        Called("(turn)", {}, found),
        f"the environment tells the gold while the agent may still answer: {quoted(found, 100)}",
        again,
    )
