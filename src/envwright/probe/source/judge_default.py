"""EW504: a judgement that cannot be read earns.

The functions that read a judge's answer are walked through as if the judge had said nothing
of what they look for: an apology, half a JSON, nothing at all. What they return then is the
default. Values that do not follow from that stay unknown, and unknown is never reported.
"""

from collections.abc import Iterator

from envwright.finding import Severity
from envwright.probe.code import Code
from envwright.probe.found import Hit
from envwright.probe.rule import Check, Rule
from envwright.probe.source.scoring import Role, Root
from envwright.probe.source.unread import SAID, Kind, Mood, Returned
from envwright.probe.source.walk import Walk

DEFAULT_PAYS = Rule(
    id="EW504",
    name="judge-default-pays",
    defect="judge-default-pays",
    check=Check.REWARD_DESIGN,
    severity=Severity.WARN,
    tries="The code that reads a judge's answer is followed for an answer that holds nothing "
    "it looks for, for one that is no JSON, and for a judge that raises.",
    hit="It returns half of the reward or more.",
    why="The model learns to confuse the judge.",
    exempt="Code that raises, or pays nothing, when it cannot read the judgement.",
)
PAYS = 0.5


def default_hits(code: Code, roots: list[Root]) -> Iterator[Hit]:
    seen: set[tuple[str, int]] = set()
    parsed: set[int] = set()
    # A judge's own reader says what it found; only who asks it says what that is worth.
    readers = [r for r in roots if r.role is Role.JUDGE and r.method.node.name == "parse"]
    others = [r for r in roots if r not in readers and r.method.node.name != "build_messages"]
    for root in [*others, *readers]:
        if root.role is Role.METRIC or id(root.method.node) in parsed:
            continue
        said = root.method.parameters if root in readers else []
        for mood in Mood:
            walk = Walk(code, mood)
            ends = walk.run(root.method, {name: SAID for name in said if name != "self"})
            parsed |= walk.parsed
            for end in ends:
                method = walk.homes.get(id(end.node), root.method)
                cited = method.module.cite(end.node)
                if pays(end) and (cited.path, cited.line) not in seen:
                    seen.add((cited.path, cited.line))
                    said_so = (
                        f"{method.name} returns {end.value.known!r} when the judge {HOW[mood]}"
                    )
                    yield Hit(said_so, [cited])


HOW = {
    Mood.GARBLED: "says nothing of what is looked for",
    Mood.EMPTY_JSON: "leaves out what is looked for",
    Mood.RAISED: "fails",
}


def pays(end: Returned) -> bool:
    value = end.value.known
    if end.value.kind is not Kind.KNOWN or not (end.default or end.value.by_default):
        return False
    return isinstance(value, int | float) and value >= PAYS
