"""EW601 tool-breaks, EW602 tool-escapes: what tools do with ordinary and with wily arguments."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from envwright.environment import Source
from envwright.finding import Basis, Finding, ReplyCitation, Severity
from envwright.probe.case import Case
from envwright.probe.episode.tool import Again, Called, Tool
from envwright.probe.evidence import quoted, shown
from envwright.probe.rule import Check, Rule
from envwright.record import Json

BREAKS = Rule(
    id="EW601",
    name="tool-breaks",
    defect="tool-breaks",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="each tool with arguments by its own schema: plain ones, empty ones, zero",
    hit="it raises, or its process ends",
    why="the model is punished for using it as it was told to",
    exempt="errors that are returned as text, and arguments that the schema refuses",
)
ESCAPES = Rule(
    id="EW602",
    name="tool-escapes",
    defect="tool-escapes",
    check=Check.REWARD_DESIGN,
    severity=Severity.FAIL,
    tries="paths out of the tool's folder, absolute ones, and a shell's separators, in each text",
    hit="the answer holds what stands outside: a system's file, or the environment's own code",
    why="the model learns to read the grader instead of solving the task",
    exempt="tools that are meant to run commands",
)
SYSTEM_FILE = "/proc/version"
SYSTEM_SIGN = "Linux version"
UP = "../" * 12
MEANT_TO_RUN = re.compile(r"shell|bash|command|cmd|exec|terminal|python|code|script", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wile:
    """An argument that leads out, and the sign that it did."""

    words: str
    text: str
    sign: str


def wiles(source: Source) -> Iterator[Wile]:
    yield Wile("a path upwards", f"{UP}{SYSTEM_FILE[1:]}", SYSTEM_SIGN)
    yield Wile("an absolute path", SYSTEM_FILE, SYSTEM_SIGN)
    yield Wile("a command behind a semicolon", f"x; cat {SYSTEM_FILE}", SYSTEM_SIGN)
    yield Wile("a command in $( )", f"$(cat {SYSTEM_FILE})", SYSTEM_SIGN)
    if (own := own_code(source)) is not None:
        path, line = own
        yield Wile("the path of the environment's own code", str(path), line)


def own_code(source: Source) -> tuple[Path, str] | None:
    """A file of the environment's code and a line of it that is told nowhere else."""
    for path in sorted(source.folder.rglob("*.py")):
        if path.is_symlink() or path.stat().st_size > 1_000_000:
            continue
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.strip().startswith(("import ", "from ", "def ", "class ")) and len(line) > 15:
                return path, line.strip()
    return None


def wily_calls(tool: Tool, source: Source, plain: Json) -> Iterator[Json]:
    """Each wile in each text of the tool, the rest as plain as it gets."""
    if MEANT_TO_RUN.search(f"{tool.name} {tool.description}"):
        return
    for name in tool.texts:
        for wile in wiles(source):
            yield {**plain, name: wile.text}


def breaks(case: Case, called: Sequence[Called], again: Again) -> Iterator[Finding]:
    for call in first_of_each(each for each in called if each.raised is not None):
        yield tool_finding(
            BREAKS,
            case,
            call,
            f"the tool {call.tool!r} raises on {shown(str(call.arguments), 120)}: "
            f"{shown(call.raised or '', 200)}",
            again,
        )


def escapes(
    case: Case, called: Sequence[Called], source: Source, again: Again
) -> Iterator[Finding]:
    def led_out(call: Called) -> Wile | None:
        return next(
            (
                wile
                for wile in wiles(source)
                if wile.text in call.arguments.values()
                and wile.sign in call.answer
                and wile.sign not in wile.text
            ),
            None,
        )

    for call in first_of_each(each for each in called if led_out(each)):
        wile = led_out(call)
        assert wile is not None
        yield tool_finding(
            ESCAPES,
            case,
            call,
            f"the tool {call.tool!r} leads out of its place by {wile.words}: "
            f"{shown(str(call.arguments), 160)} is answered with {quoted(call.answer, 80)}",
            again,
        )


def first_of_each(calls: Iterator[Called]) -> list[Called]:
    """One call per tool."""
    found: dict[str, Called] = {}
    for call in calls:
        found.setdefault(call.tool, call)
    return list(found.values())


def tool_finding(rule: Rule, case: Case, call: Called, statement: str, again: Again) -> Finding:
    quote = shown(call.raised or call.answer, 200) or "(nothing)"
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        basis=Basis.PROVEN,
        statement=statement,
        citations=(ReplyCitation(key=case.task.key, signal=f"tool {call.tool}", quote=quote),),
        reproduce=again(call),
    )
