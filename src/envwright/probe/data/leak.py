"""EW205: the question gives its answer away by mistake.

That the gold stands in the prompt is no leak: extraction, choice, sorting and copying tasks
hold it rightly. A leak is a place that is *labelled* as the answer, follows the very same
question, or is hidden from a reader; and that tells this task's gold and not another's.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from envwright.finding import Severity, TaskCitation
from envwright.probe.case import Case
from envwright.probe.data.blank import filled_elsewhere
from envwright.probe.data.text import answer_form, asked, holds, leaves, words
from envwright.probe.found import Hit, quote
from envwright.probe.rule import Check, Rule

LEAK = Rule(
    id="EW205",
    name="answer-in-prompt",
    defect="answer-in-prompt",
    check=Check.INTEGRITY,
    severity=Severity.FAIL,
    tries="The gold is looked for in the prompt where something labels it as the answer: after "
    "“Answer:”, in a solution or a calculation, the reply's own turn, a comment, an id, a mark "
    "beside an option, a whole copy of a code that has a gap, or a solved example of the same "
    "question.",
    hit="That place holds the task's own gold, and on other tasks theirs.",
    why="The model learns to look for the leak.",
    exempt="Extraction, choice, copying and sorting, whose answer stands rightly in the prompt; "
    "examples and templates that are the same in every prompt.",
)
STRONG = (
    r"(?:(?:the\s+)?(?:correct|right|true|expected|final|gold|reference|model)?[ _-]*"
    r"(?:answers?|ans)|(?:correct|gold|expected|reference|ground[ _-]truth)[ _-]+"
    r"(?:option|choice|label|class|category|letter|value|result|output|response|reply|verdict))"
)
SECTIONS = (
    r"(?:(?:worked|sample|model|full)[ _-]*)?(?:solutions?|soln?s?|sol|proof|derivation|workings?)"
    r"|explanations?|rationale|answer[ _-]*key|ground[ _-]*truth"
    r"|gold(?:[ _-]*label)?|teacher'?s?[ _-]*notes?|grader'?s?[ _-]*notes?|for graders?|marking"
    r"|spoilers?|key|expected(?:[ _-]*(?:output|result|value|label))?|label|target|hint"
    r"|reference(?:[ _-]*(?:reply|response|text))?"
)
AFTER = re.compile(
    rf"\b{STRONG}[\"'*`\])]*[ \t]*(?:\bis\b|[:=]|=>|->)[ \t]*\n?[ \t]*(?P<rest>[^\n]+)", re.I
)
SECTION = re.compile(
    rf"(?:^|\n|[(\[<{{,]|[.?!]\s)[ \t#*_\"']*(?P<label>{SECTIONS})"
    rf"\b\.?[^\n:=.]{{0,20}}(?:[:=]|->|=>)\**[ \t]*"
    r"(?P<rest>(?:\n?[^\n]+){1,8})",
    re.I,
)
ASIDE = re.compile(rf"[(\[][ \t]*{STRONG}[ \t]+(?P<rest>[^()\[\]\n]{{1,200}})[)\]]", re.I)
TURN = re.compile(
    r"^[ \t*#]*(?P<who>A|Assistant|Output|Response)[ \t*]*:[ \t*]*(?P<rest>[^\n]+)", re.M | re.I
)
ASKS = re.compile(
    r"^[ \t*#]*(?:Q|Question|Input|User|Human|Problem)[ \t*]*\d*[ \t*]*:", re.M | re.I
)
BOX = re.compile(r"\\boxed\{(?P<box>[^{}\n]{1,200})\}|^####[ \t]*(?P<rest>[^\n]+)", re.M)
CALCULATES = re.compile(r"\d.*([-+*/x×÷^−]|times|plus|minus)|[-+*/×÷].*\d", re.I)
WORKED = re.compile(
    r"\b(?:gives?|yields?|therefore|hence|thus|which makes|works out (?:at|to|as)|(?:we|you) get"
    r"|comes? to|adds? up to|equals|for a total of|resulting in)[:,]?\s+"
    r"(?:(?:us|it|is|the|a|an|answer|result|total|of)\s+)*(?P<rest>[^\n]+)",
    re.I,
)
FIELDS = re.compile(
    r"(solution|explanation|rationale|reasoning|worked|derivation|hint|note|steps|cot|key)s?$", re.I
)
COMMENT = re.compile(
    r"<!--(?P<rest>.{1,500}?)-->|/\*(?P<star>.{1,500}?)\*/|^\[//\]: # \((?P<md>.{1,500}?)\)",
    re.S | re.M,
)
TOKEN = re.compile(r"(?<![\w/.-])[\w][\w/.-]*[_/.\-][\w/.-]*\w")
PIECES = re.compile(r"[_/.\-]|(?<=[a-z])(?=\d)")
ON_PURPOSE = re.compile(
    r"\b(extract|copy|transcribe|quote|repeat|echo|verbatim|according to|stated in|mentioned in"
    r"|given in|said in|(from|in) the (text|passage|following|log|document|message|email|record"
    r"|report|note|transcript|article|table|form|json|list))\b",
    re.I,
)
NAMES_TOKEN = re.compile(
    r"\b(file ?names?|extension|path|prefix|suffix|folder|url|domain|slug|identifier)\b(?!\s*:)",
    re.I,
)
MARK = re.compile(
    r"\((?:correct|right|answer|true)\)|\[(?:x|correct|answer)\]|✓|✔|✅|<--|←|\*+\s*$", re.I
)
OPTION = re.compile(
    r"^\s*(?:[-*•]\s+|[(\[]?[A-Za-z0-9]{1,2}[)\].:]\s+|\[[ xX]\]\s*)(?P<text>\S.*)$"
)
FEWEST = 5
LONGEST = 20_000
MOST_SIDES = 50
NEARLY_ALL = 0.9


@dataclass(frozen=True, slots=True)
class Leak:
    case: Case
    quote: str


def leak_hits(cases: Sequence[Case]) -> Iterator[Hit]:
    known = [case for case in cases if (case.gold or "").strip()]
    if not known:
        return
    solved = [leak for case in known if (leak := solved_before(case))]
    if solved:
        yield hit("holds the same question, solved, before it is asked", solved, known)
        return
    for what, place, strict in PLACES:
        leaks = told_by(known, place, strict=strict)
        if leaks:
            yield hit(what, leaks, known)
            return


def shown(case: Case) -> str:
    """What the model is shown, without the middle of a very long text."""
    text = asked(case.task)
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}\n{text[-half:]}"


def hit(what: str, leaks: list[Leak], known: Sequence[Case]) -> Hit:
    cited = [
        TaskCitation(key=each.case.task.key, field="prompt", quote=quote(each.quote))
        for each in leaks[:3]
    ]
    few = len(leaks) < 2 and len(known) > 20
    return Hit(
        f"the prompt {what}, on {len(leaks)} of {len(known)} tasks",
        cited,
        Severity.WARN if few else None,
    )


def told_by(
    known: Sequence[Case], place: Callable[[Case], list[str]], *, strict: bool
) -> list[Leak]:
    """The tasks whose gold stands at a place, if that place tells their gold from others'."""
    spots = [(case, place(case)) for case in known]
    spots = [(case, found) for case, found in spots if found]
    if len(spots) < min(FEWEST, len(known)):
        return []
    repeated = Counter(text for _, found in spots for text in set(found))
    constant = {text for text, n in repeated.items() if n > 1 and n > 0.5 * len(known)}
    told: list[Leak] = []
    applied = 0
    for case, found in spots:
        own = [text for text in found if text not in constant]
        applied += bool(own)
        matching = [text for text in own if tells(text, case.gold or "", strict=strict)]
        if matching:
            told.append(Leak(case, matching[0]))
    golds = {answer_form(leak.case.gold or "") for leak in told}
    if len(golds) < 2 or len(told) < NEARLY_ALL * applied or len(told) < min(FEWEST, len(known)):
        return []
    if sum(bool(ON_PURPOSE.search(leak.case.task.prompt)) for leak in told) > len(told) / 2:
        return []
    return [] if says_others(told, strict=strict) else told


def says_others(told: Sequence[Leak], *, strict: bool) -> bool:
    """Whether the places hold other tasks' golds as readily: then they are a list of options."""
    tries = hits = 0
    for i, leak in enumerate(told):
        for other in (told[(i + 1) % len(told)], told[(i + len(told) // 2) % len(told)]):
            if answer_form(other.case.gold or "") != answer_form(leak.case.gold or ""):
                tries += 1
                hits += tells(leak.quote, other.case.gold or "", strict=strict)
    return tries > 0 and hits > 0.3 * tries


def tells(text: str, gold: str, *, strict: bool) -> bool:
    """Whether the place says the gold: as its first words when strict, else anywhere."""
    if not strict:
        return holds(PIECES.sub(" ", text) if TOKEN.fullmatch(text) else text, gold.strip())
    bare = text.strip().strip("`*_\"'([{<>$ ").removeprefix("\\boxed{")
    start = re.match(rf"{re.escape(gold.strip())}(?![^\W_])(?![.,]\d)", bare, re.I)
    if start is None:
        return False
    # What follows must not go on: a list of options begins with one of them, too.
    rest = bare[start.end() :]
    other = r"(?:\d|or\b|and\b)" if gold.strip()[-1:].isdigit() else r"\w"
    return not re.match(rf"\s*(?:(?:,|/|\||;)\s*{other}|(?:or|and)\s+\w)", rest)


def after_label(case: Case) -> list[str]:
    text = shown(case)
    places = [*AFTER.finditer(text), *ASIDE.finditer(text)]
    return [found["rest"].strip() for found in places]


def in_turn(case: Case) -> list[str]:
    """The turn of who is to reply, filled in already: of several the last, which is its own."""
    text = shown(case)
    last = max((each.end() for each in ASKS.finditer(text)), default=None)
    found = None if last is None else TURN.search(text, last)
    if found is None:
        return []
    rest = text[: found.start()] + text[found.end() :]
    spoken = len(found["who"]) > 1 and re.search(rf"\b{found['who']}", rest, re.I)
    return [] if spoken else [found["rest"].strip()]


def in_section(case: Case) -> list[str]:
    text = shown(case)
    found: list[str] = []
    for each in SECTION.finditer(text):
        rest = text[: each.start()] + text[each.end() :]
        label = each["label"].split()[0].rstrip("s").lower()
        # A label that the question itself speaks of is a part of what is asked about.
        if not re.search(rf"\b{re.escape(label)}", rest, re.I):
            found.append(each["rest"].strip())
    return found


def in_sum(case: Case) -> list[str]:
    """The right side of a calculation that is written out."""
    text = shown(case)
    found = [each["rest"].strip() for each in WORKED.finditer(text)]
    for line in text.splitlines():
        sides = re.split(r"[=≈]", line)[-MOST_SIDES:]
        for before, behind in pairwise(sides):
            # What is asked ends with its question mark: a calculation behind it is the way.
            if CALCULATES.search(before[-200:].rpartition("?")[2]):
                found.append(behind.strip())
    return found


def in_box(case: Case) -> list[str]:
    """A final answer in the manner of solutions: boxed, or behind ####."""
    return [(each["box"] or each["rest"]).strip() for each in BOX.finditer(shown(case))]


def in_field(case: Case) -> list[str]:
    """A field of the row that holds the way to the answer, shown to the model as it is."""
    text = shown(case)
    return [
        value
        for path, value in leaves(case.task.row)
        if FIELDS.search(path) and isinstance(value, str) and value.strip() and value in text
    ]


def in_comment(case: Case) -> list[str]:
    groups = (found.groups() for found in COMMENT.finditer(shown(case)))
    return [text.strip() for found in groups for text in found if text and text.strip()]


def in_token(case: Case) -> list[str]:
    """Ids and file names whose pieces may spell a label."""
    text = case.task.prompt[:LONGEST]
    gold = (case.gold or "").strip()
    if NAMES_TOKEN.search(text) or not re.fullmatch(r"[A-Za-z]{2,20}", gold):
        return []
    tokens = [t for t in TOKEN.findall(text) if re.search(r"\d|\.\w{1,5}$|_", t)]
    # One that is all letters and dashes is an ordinary word; the text may be about the label.
    return tokens


def in_mark(case: Case) -> list[str]:
    """The one option that bears a mark."""
    lines = [line for line in case.task.prompt.splitlines() if OPTION.match(line)]
    marked = [line for line in lines if MARK.search(line)]
    return [marked[0].strip()] if len(lines) >= 2 and len(marked) == 1 else []


def in_blank(case: Case) -> list[str]:
    """What a whole copy of a code has where the question leaves the code open."""
    return filled_elsewhere(shown(case))


def solved_before(case: Case) -> Leak | None:
    """The question's own words stand twice, and the gold follows the first time."""
    text = shown(case)
    gold = (case.gold or "").strip()
    for line in dict.fromkeys(question_lines(text)):
        first = text.find(line)
        again = text.find(line, first + len(line))
        if again < 0:
            continue
        between = text[first + len(line) : again]
        reply = next((each for each in between.splitlines() if each.strip()), "")
        bare = re.sub(r"^\s*(?:[\w ]{1,20}[:=>]|[-=]+>|→)\s*", "", reply)
        if tells(bare, gold, strict=True):
            return Leak(case, f"{line} {reply}")
    return None


def question_lines(text: str) -> Iterator[str]:
    """The lines that ask, without the word that says so; the last ones first."""
    for line in reversed(text.splitlines()):
        bare = re.sub(
            r"^\s*(?:q(?:uestion)?|input|problem|task|user)?\s*\d*\s*[:.)]\s*", "", line, flags=re.I
        )
        bare = bare.strip()
        if len(bare) >= 8 and len(words(bare)) >= 2:
            yield bare


PLACES: tuple[tuple[str, Callable[[Case], list[str]], bool], ...] = (
    ("tells the gold after a word that calls it the answer", after_label, True),
    ("has the reply's own turn filled in with the gold", in_turn, True),
    ("tells the gold in a comment", in_comment, False),
    ("tells the gold in a part that explains the solution", in_section, False),
    ("works the gold out", in_sum, True),
    ("holds the gold as the end of a solution", in_box, True),
    ("holds a field of the row that explains the gold", in_field, False),
    ("marks the right option", in_mark, False),
    ("leaves a part of a code open, and holds the whole code elsewhere", in_blank, True),
    ("spells the gold in an id or a file's name", in_token, False),
)
