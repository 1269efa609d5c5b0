"""EW605 answer-in-view: the gold reaches the agent by another way than its prompt."""

import re
from collections.abc import Iterator, Sequence

from envwright.finding import Finding, Severity
from envwright.probe.case import Case
from envwright.probe.episode.tool import Called, Tool, parsed
from envwright.probe.episode.tools import tool_finding
from envwright.probe.evidence import shown
from envwright.probe.play import Played
from envwright.probe.rule import Check, Rule
from envwright.record import mapping
from envwright.trace import Role

IN_VIEW = Rule(
    id="EW605",
    name="answer-in-view",
    defect="answer-in-view",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="tools with empty and plain arguments and with words of the question, tools' "
    "descriptions, and what the environment says before the agent has answered",
    hit="the gold stands there under the name of an answer, or alone; where the question lists "
    "what to choose from, under the name of what it asks for",
    why="the model learns where the key lies",
    exempt="looking the answer up is the task: then it stands there under a name of its own",
)
NAMES = r"answer|solution|gold|expected|target|ground[ _]truth|label|correct|secret"


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


def chosen(case: Case, call: Called) -> str | None:
    """Where a record that was asked for holds the choice that the agent is to make.

    What is looked up is not told beforehand: here the question lists the gold beside others,
    so that it is to be worked out, and the record has one value for what is asked.
    """
    gold, prompt = (case.gold or "").strip(), case.task.prompt
    record = mapping(parsed(call.answer))
    given = {str(value) for value in call.arguments.values()}
    if len(gold) < 2 or gold in given or not has_word(gold, prompt):
        return None
    if not any(has_word(value, prompt) for value in given):
        return None
    keys = [name for name, value in record.items() if value == gold and has_word(name, prompt)]
    return f"{keys[0]}: {gold}" if keys else None


def has_word(word: str, text: str) -> bool:
    return bool(word) and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE))


def in_answers(
    case: Case, called: Sequence[Called], field: str | None, reproduce: str
) -> Iterator[Finding]:
    for call in called:
        given = " ".join(str(value) for value in call.arguments.values())
        found = shows(case, call.answer, field) or chosen(case, call)
        if call.raised or not found or found in given:
            continue
        yield tool_finding(
            IN_VIEW,
            case,
            call,
            f"the tool {call.tool!r} hands out the gold: {shown(str(call.arguments), 100)} is "
            f"answered with {shown(found, 100)!r}",
            reproduce,
        )


def in_descriptions(
    case: Case, tools: Sequence[Tool], field: str | None, reproduce: str
) -> Iterator[Finding]:
    for tool in tools:
        if found := shows(case, tool.description, field):
            yield tool_finding(
                IN_VIEW,
                case,
                Called(tool.name, {}, found),
                f"the description of the tool {tool.name!r} tells the gold: {shown(found, 100)!r}",
                reproduce,
            )


def in_turns(case: Case, played: Played, field: str | None, reproduce: str) -> Iterator[Finding]:
    """What the environment says while there is still a turn to come."""
    trace = played.measured
    steps = trace.steps if trace is not None else ()
    spoke = [place for place, step in enumerate(steps) if step.sampled]
    heard = [
        step.content
        for place, step in enumerate(steps)
        if step.role is Role.USER and spoke and spoke[0] < place < spoke[-1]
    ]
    found = next(filter(None, (shows(case, said, field) for said in heard)), None)
    if found is not None:
        yield tool_finding(
            IN_VIEW,
            case,
            Called("(turn)", {}, found),
            f"the environment tells the gold while the agent may still answer: "
            f"{shown(found, 100)!r}",
            reproduce,
        )
