"""EW204: tasks that nobody can solve, because their gold is not there or not on offer."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, cast

from envwright.finding import Severity, TaskCitation
from envwright.probe.case import Case
from envwright.probe.data.text import asked, dig, gold_field, holds, leaves, words
from envwright.probe.found import Hit, quote
from envwright.probe.rule import Check, Rule
from envwright.probe.scoring import Told, Try

MISSING = Rule(
    id="EW204",
    name="missing-gold",
    defect="missing-gold",
    check=Check.INTEGRITY,
    severity=Severity.WARN,
    tries="The golds are looked at, and looked for among the options or items that the "
    "question shows.",
    hit="Some tasks have an empty gold or a placeholder, or one that is not on offer, where "
    "the others have theirs.",
    why="They can only be lost: a part of the reward is out of reach.",
    exempt="Environments without golds; an empty gold that the reward pays or the question "
    "asks for; a placeholder that the question names as an answer, or that is spelled as the "
    "other golds are: `Na` among chemical symbols.",
)
PLACEHOLDERS = {
    *("n/a", "na", "nan", "null", "none", "nil", "todo", "tbd", "fixme", "xxx", "?", "??", "???"),
    *("-", "--", "...", "…", "missing", "placeholder", "<answer>", "[answer]", "{answer}"),
    *("<missing>", "<unknown>", "#n/a", "undefined", "not available", "not provided", "no answer"),
    *("to be added", "to do", "unlabeled", "unlabelled", "pending", "<na>", "<none>", "<null>"),
}
SILENCE = re.compile(
    r"\b(empty|nothing|blank|silent|silence|no (output|text|reply|answer|words)|leave it)\b", re.I
)
OFFER = re.compile(
    r"\b(one of|options?|choices?|choose|pick|select|labels?|categor(y|ies)|classes|either"
    r"|which of)\b",
    re.I,
)
LETTERED = re.compile(r"(?:^|\n|\s)[(\[]?([A-Z])[)\].:](?=\s)")
FEWEST = 10
MOST_ODD = 0.2
MOST_STRANGE = 0.15
ABBREVIATED = 3
"""Characters, up to which a spelling tells symbols and codes from words."""
FEW_SIGNS = 10
"""Of which all other golds are made: an alphabet of the task's own."""


def missing_tries(cases: Sequence[Case]) -> list[Try]:
    """Silence, where the gold is empty: if it is paid, it is the answer."""
    return [Try(case.task.index, "") for case in cases if not (case.gold or "").strip()]


def missing_hits(cases: Sequence[Case], told: Told) -> Iterator[Hit]:
    known = [case for case in cases if (case.gold or "").strip()]
    if not known:
        return
    field = gold_field(list(cases)) or "answer"
    empty = [c for c in cases if is_empty(c, field) and not silence_is_right(c, told)]
    if empty:
        yield hit(f"{len(empty)} of {len(cases)} tasks have no gold", empty, field)
    blank = [c for c in known if is_placeholder(c, known)]
    if blank:
        shown = sorted({repr(c.gold) for c in blank})[:3]
        said = f"{len(blank)} of {len(cases)} tasks have a placeholder for a gold"
        yield hit(f"{said} ({', '.join(shown)})", blank, field)
    usable = [c for c in known if c not in blank]
    off = not_on_offer(usable, field)
    if off:
        yield hit(
            f"{len(off)} of {len(cases)} tasks have a gold that the question does not offer "
            f"({(off[0].gold or '')[:40]!r})",
            off,
            field,
        )


def hit(statement: str, cases: list[Case], field: str) -> Hit:
    cited: list[TaskCitation] = []
    for case in cases[:3]:
        value = dig(case.task.row, field)
        shown = quote(str(value)) if value is not None else ""
        if shown:
            cited.append(TaskCitation(key=case.task.key, field=field, quote=shown))
        else:
            said = quote(case.task.prompt) or "(empty)"
            cited.append(TaskCitation(key=case.task.key, field="prompt", quote=said))
    return Hit(statement, cited)


def is_empty(case: Case, field: str) -> bool:
    """The field that holds the others' gold is empty here, wherever else a gold was found."""
    value = dig(case.task.row, field)
    if case.gold is not None and case.gold.strip() and field != "answer":
        return value is None or (isinstance(value, str) and not value.strip())
    if case.gold is not None and case.gold.strip():
        return isinstance(value, str) and not value.strip()
    return True


def silence_is_right(case: Case, told: Told) -> bool:
    tried = told.get(Try(case.task.index, ""))
    if tried is not None and tried.reward is not None:
        return tried.reward > 0
    return bool(SILENCE.search(asked(case.task)))


def is_placeholder(case: Case, known: Sequence[Case]) -> bool:
    gold = (case.gold or "").strip().casefold()
    if gold not in PLACEHOLDERS or holds(asked(case.task), gold) or gold in asked(case.task):
        return False
    if is_of_their_kind((case.gold or "").strip(), [(each.gold or "").strip() for each in known]):
        return False
    # A label that the set uses all the time is a label.
    same = sum((each.gold or "").strip().casefold() == gold for each in known)
    return same <= max(1, len(known) // 3)


def is_of_their_kind(gold: str, golds: Sequence[str]) -> bool:
    """Whether the others are spelled alike: `Na` among symbols, `XXX` among Roman numerals and
    `-` among Morse signs are answers."""
    others = [each for each in golds if each.casefold() != gold.casefold()]
    alike = sum(shape(each) == shape(gold) for each in others)
    signs = {sign for each in others for sign in each}
    few = 0 < len(signs) <= FEW_SIGNS and set(gold) <= signs
    return few or (len(gold) <= ABBREVIATED and 2 * alike >= max(1, len(others)))


def shape(gold: str) -> str:
    """Its letters and digits by their kind, one by one; a run of other signs is one."""
    kinds = (
        "A" if c.isupper() else "a" if c.isalpha() else "9" if c.isdigit() else "#" for c in gold
    )
    return re.sub(r"#+", "#", "".join(kinds))


def not_on_offer(cases: list[Case], field: str) -> list[Case]:
    """Those whose gold is not among what is offered, where nearly all others' is."""
    if len(cases) < FEWEST:
        return []
    listed = {id(c): row_options(c, field) for c in cases}
    if all(listed.values()):
        odd = [c for c in cases if not in_options(c, listed[id(c)])]
        return odd if 0 < len(odd) <= MOST_ODD * len(cases) else []
    letters = [c for c in cases if len(letters_of(c)) >= 2 and is_letter(c)]
    if len(letters) >= (1 - MOST_ODD) * len(cases):
        return [c for c in letters if (c.gold or "").strip(" ().").upper() not in letters_of(c)]
    shown = [c for c in cases if is_shown(c)]
    odd = [c for c in cases if not is_shown(c)]
    offered = sum(bool(OFFER.search(asked(c.task))) for c in cases) >= 0.9 * len(cases)
    most = MOST_ODD if offered else MOST_STRANGE
    if not odd or len(odd) > most * len(cases) or len(shown) < FEWEST:
        return []
    frame = common_words(cases)
    alike = [c for c in odd if frame <= set(words(asked(c.task)))]
    return alike if frame and (offered or not derived(shown)) else []


def is_shown(case: Case) -> bool:
    """Whether every word of the gold stands in what the model is shown."""
    text = asked(case.task)
    return holds(text, (case.gold or "").strip()) or set(words(case.gold or "")) <= set(words(text))


def derived(shown: Sequence[Case]) -> bool:
    """Numbers and single letters stand in a question by chance, not because it offers them."""
    chance = [c for c in shown if len((c.gold or "").strip()) <= 2 or is_number(c.gold or "")]
    return 2 * len(chance) > len(shown)


def is_number(text: str) -> bool:
    """One, or several: a date, a list, a grid."""
    return bool(re.fullmatch(r"[\d\s,.;:|/+\-%()\[\]]+", text.strip()))


def common_words(cases: Sequence[Case]) -> set[str]:
    """The words of the template: those that nearly all questions share."""
    counts = Counter(word for case in cases for word in set(words(asked(case.task))))
    return {word for word, n in counts.items() if n >= 0.95 * len(cases)}


def letters_of(case: Case) -> list[str]:
    """The letters of a list of options, as far as they follow each other from A."""
    found = LETTERED.findall(asked(case.task))
    want, kept = "A", list[str]()
    for letter in found:
        if letter == want:
            kept.append(letter)
            want = chr(ord(want) + 1)
    return kept


def is_letter(case: Case) -> bool:
    return bool(re.fullmatch(r"\(?[A-Za-z][).]?", (case.gold or "").strip()))


def row_options(case: Case, field: str) -> list[str]:
    """A list of the row that is called options, choices or labels."""
    for path, value in leaves(case.task.row):
        name = path.rpartition(".")[2].lower()
        if path != field and name in ("options", "choices", "labels", "candidates"):
            if isinstance(value, list):
                return [str(each) for each in cast("list[Any]", value)]
            if isinstance(value, dict):
                table = cast("dict[str, Any]", value)
                return [*map(str, table), *map(str, table.values())]
    return []


def in_options(case: Case, options: list[str]) -> bool:
    gold = (case.gold or "").strip().casefold()
    bare = gold.strip(" ().")
    if gold in (each.strip().casefold() for each in options):
        return True
    if len(bare) == 1 and bare.isalpha():
        return ord(bare) - ord("a") < len(options)
    if bare.isdigit():
        return int(bare) <= len(options)
    return False
