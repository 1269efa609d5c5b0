"""What a task asks for, as far as its words say it plainly: the form of the answer, its order,
how near is near enough, and whether many answers are right.

It errs on one side: whatever sounds like a demand is taken for one, so that a reward which
insists on it is not blamed. It does not understand the question.
"""

import re
from collections.abc import Sequence

from envwright.environment import Task
from envwright.record import items, mapping


def system_of(task: Task) -> str:
    """The system prompt, where the row holds one."""
    row = mapping(task.row)
    said = row.get("system_prompt")
    if isinstance(said, str):
        return said
    messages = [mapping(each) for each in items(row.get("prompt"))]
    texts = [each.get("content") for each in messages if each.get("role") == "system"]
    return "\n".join(text for text in texts if isinstance(text, str))


def request_of(task: Task) -> str:
    return f"{system_of(task)}\n{task.prompt}"


MARKS = re.compile(r"\w{2,}|[^\w\s]{2,}|[#`\[\]{}<>|]")


def is_shown(marks: str, request: str) -> bool:
    """Whether the request holds any word or sign of what stands around a gold."""
    return any(mark.lower() in request.lower() for mark in MARKS.findall(marks))


def any_of(*phrases: str) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


ALONE = any_of(
    r"\bonly\b",
    r"\bjust\b",
    r"\balone\b",
    r"nothing (else|but)",
    r"\bno (other|extra|additional|further|explanations?|prose|words|text|commentary)\b",
    r"\b(single|one) (word|number|letter|line|token|digit|character|integer|name|date)\b",
    r"\b(reply|answer|respond) with\b",
    r"\b(reply|answer|respond|write it|give it) (like|as|in the (form|format))\b",
    r"\bwithout (any|an|explanations?|explaining|further|words|units|text)\b",
    r"\b(do not|don't|never) (add|include|write|explain|say|use)\b",
    r"\bmust be\b",
    r"\b(reply|answer|respond|write it) in (exactly )?(\w+) lines?\b",
)
"""The answer is to stand by itself."""

CHOICE = any_of(
    r"\b(reply|answer|respond|say|choose|state)[:,]? "
    r"(with |either )?\W{0,2}\w+\W{0,2} or \W{0,2}\w+",
    r"\b(true or false|yes or no|yes/no|true/false)\b",
)
"""The words to choose from are given: a sentence around them is no usual form."""

JSON = any_of(r"\bjson\b", r"\byaml\b", r"\bxml\b", r"\bcsv\b")
"""A program is to read it."""

EXACT = any_of(
    r"\bexact",
    r"verbatim",
    r"\bprecisely\b",
    r"\bstrictly\b",
    r"character[- ](for|by)",
    r"case[- ]sensitive",
    r"\bas (it is |they are )?(written|spelled|spelt|shown|given)\b",
    r"\b(copy|repeat)\b",
    r"\bunchanged\b",
    r"white ?space",
    r"\bspaces?\b",
)
"""Every character counts."""

CASE = any_of(
    r"\b(lower|upper|title|camel|snake)[- ]?case", r"\bcase\b", r"\bcapital(s\b|i[sz]| l)"
)
"""Which letters are to be large."""

PUNCTUATION = any_of(r"punctuation", r"full stop", r"\bperiods?\b", r"quot(e|ation)")

SPELLING = any_of(
    r"\bformat",
    r"\bforms?\b",
    r"\bjson\b",
    r"\bcsv\b",
    r"\bcommas?\b",
    r"separat",
    r"\bdecimals?\b",
    r"\bdigits?\b",
    r"\bintegers?\b",
    r"\bfraction",
    r"lowest terms",
    r"notation",
    r"\bunits?\b",
    r"\bround",
    r"\bbinary\b",
    r"hexadecimal",
    r"roman numeral",
)
"""How a number or a list is to be written."""

ORDERED = any_of(
    r"\b(in|by) (the )?((?!any\b)\w+ )?order\b(?! to\b)",
    r"\border(ed)? (them|the|these|those) ",
    r"\bordered (by|from) (the )?(\w+ )?"
    r"(size|date|year|names?|price|number|value|length|age|time|height|weight|alphabet"
    r"|smallest|largest|earliest|latest|lowest|highest|oldest|shortest|least|most)",
    r"\bsort(ed)?\b(?! of\b)",
    r"ascending",
    r"descending",
    r"alphabetical",
    r"chronological",
    r"\brank(ed)? (them|the|these|those|by|from|in)\b",
    r"\b(in|the) reverse\b",
    r"\breversed?\b",
    r"\bin sequence\b",
    r"\b(smallest|largest|earliest|oldest|lowest|highest|shortest) (\w+ )?first\b",
    r"\bfrom (\w+ )?(smallest|largest|earliest|latest|lowest|highest|oldest|shortest|least|most)",
)
"""The order of items is part of the answer."""

TOLERANT = any_of(
    r"\bwithin\s+[\d.$]",
    r"tolerance",
    r"±",
    r"\+/-",
    r"approximat",
    r"\broughly\b",
    r"\bestimate",
    r"close enough",
    r"\bclosest\b",
    r"\bnearer\b",
    r"\bnearest (ten|hundred|thousand)",
)
"""Near is near enough."""

OPEN = any_of(
    r"(?<!not )(?<!n't )(?<!never )\b(with|give|name|find|write|pick|choose|state|list|produce"
    r"|return|suggest|say|is|are|accepts?|use|using|to) any\b(?! (other|further|additional|extra"
    r"|more|text|words?|explanations?|prose|punctuation|units?|formatting|markdown|comment))",
    r"\bany (one|valid|such|correct|suitable|possible|solution|answer|of (them|these|those))\b",
    r"\b(an|one|another|some|two|three) examples?\b"
    r"(?! (output|answer|reply|response|of (the|how)))",
    r"\bone (of|that|which)\b",
    r"\b(name|find|suggest|propose|invent|construct|create|compose|build) (an?|one|some|two)\b",
    r"\bthink of\b",
    r"\bcome up with\b",
    r"\bsuch that\b",
    r"\bsatisf",
    r"\bat least one\b",
    r"\b(write|make up|give) (a|an|one|two|three|some) (\w+ )?"
    r"(word|sentence|line|poem|story|haiku|password|name|title|slogan|text|function|program"
    r"|expression|equation|number that)",
)
"""Many answers may be right."""

CYCLIC = any_of(
    r"\b(clock|o'clock|hour|angle|degrees?|bearing|compass|weekday|month|modulo|mod|cyclic|circular)"
)
"""What is far away may be near: distances wrap around by nature."""

FORMED = any_of(
    r"\btags?\b", r"\bbox", r"\blines?\b", r"\bblock", r"\bhash", r"\bfence", r"\bprefix",
    r"\b(end|begin|start|finish|conclude|close)s? (it |your \w+ )?with\b", r"\bmark",
)  # fmt: skip
"""The answer is to stand in some form, whatever its name."""

CODE = any_of(r"\b(code|program|function|script|sql|query|regex|python|implement)\b")
"""The reply is to be run, not read."""


def all_ask(pattern: re.Pattern[str], tasks: Sequence[Task]) -> bool:
    """Whether most of them do: what only some say may be of their matter, not of their form."""
    return 2 * sum(asks(pattern, task) for task in tasks) > len(tasks)


def asks(pattern: re.Pattern[str], task: Task) -> bool:
    return pattern.search(request_of(task)) is not None
