"""What probes read in scores, and a whole run over an environment that misbehaves."""

import asyncio
import json
import re
import shlex
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest

from envwright.environment import Environment, Kind, Signal, Task, TaskCount
from envwright.errors import Cause
from envwright.finding import Severity
from envwright.probe.behaviour.hangs import Hangs, is_steep
from envwright.probe.behaviour.oddity import SIZES, growing, replies_to
from envwright.probe.behaviour.parts import Parts
from envwright.probe.behaviour.raises import Raises
from envwright.probe.behaviour.range import Declared, Range
from envwright.probe.behaviour.reach import reads_the_reply_alone, starts_programs
from envwright.probe.behaviour.repeats import Repeated, read_repeats, repeat, worth_repeating
from envwright.probe.case import Case, Sample
from envwright.probe.code import read_code
from envwright.probe.episode.tool import Called
from envwright.probe.episode.view import chosen
from envwright.probe.episode_scorer import tried_of as episode_tried
from envwright.probe.evidence import compact, reproduce, shown
from envwright.probe.play import Played
from envwright.probe.rule import Extent, Report
from envwright.probe.run import cut_short, with_gap
from envwright.probe.scoring import Tried, Try
from envwright.trace import Timing, Trace
from envwright.trial.outcome import Failed
from plain import Plain
from plain import sample_of as sample_of_plain

KEY = "0" * 64


def sample_of(*weights: float, gold: bool = True, count: int = 6, **said) -> Sample:
    rewards = tuple(Signal(name=f"r{n}", weight=w) for n, w in enumerate(weights or (1.0,)))
    environment = Environment(
        kind=Kind.VERIFIERS,
        name="some-env",
        revision=KEY,
        tasks=TaskCount(count=count, infinite=False),
        rewards=rewards,
        **said,
    )
    tasks = [Task(index=n, key=KEY, prompt=f"Say {n}.", row={}) for n in range(count)]
    cases = [
        Case(task, gold=str(task.index), said=f"<answer>{task.index}</answer>", best=1.0)
        if gold
        else Case(task)
        for task in tasks
    ]
    return Sample(environment, tuple(cases), count, "the field 'answer'" if gold else None)


def findings(reports, rule):
    (report,) = [report for report in reports if report.rule == rule]
    return report.findings


def test_a_raise_on_an_ordinary_reply_fails_and_one_on_an_attack_is_told():
    told = {
        Try(0, ""): Tried(None, problem="IndexError: list index out of range (at x.py:3)"),
        Try(1, ""): Tried(None, problem="IndexError: list index out of range (at x.py:3)"),
        Try(0, "a\x00b"): Tried(None, problem="ValueError: embedded null"),
        Try(2, "x"): Tried(None, problem="m returned nan", not_numbers={"m": "nan"}),
        Try(3, "x"): Tried(None, ended="it was killed"),
    }
    reports = Raises().read(sample_of(), told)
    empty, null = findings(reports, "EW403")
    assert (empty.severity, null.severity) == (Severity.FAIL, Severity.INFO)
    assert "an empty reply makes scoring raise on 2 tasks" in empty.statement
    assert "x.py:3" in empty.citations[0].quote
    assert "import sys" in null.reproduce
    (ended,) = findings(reports, "EW405")
    assert ended.severity is Severity.FAIL


@pytest.mark.parametrize(
    ("gold", "breaks"),
    [
        ("412.50", lambda said: Decimal(said)),
        ("2021-03-14", lambda said: date.fromisoformat(said)),
        ("3/4", lambda said: Fraction(said) if re.fullmatch(r"\d+/\d+", said) else None),
        ("12 x 34", lambda said: [int(n) for n in re.split(r" x ", said)[:2]][1]),
        ('{"team": "sales", "days": 3}', lambda said: loads(said, "team").strip()),
        ('{"team": "sales", "days": 3}', lambda said: loads(said, "days") + 1),
        ('["a", "b"]', lambda said: [each.lower() for each in json.loads(said)]),
    ],
)
@pytest.mark.parametrize("form", ["{}", "<answer>{}</answer>", "TOTAL: {}"])
def test_careless_spellings_of_the_gold_are_tried_in_its_form(gold, breaks, form):
    """In whatever form it is: a reader that trusts the shape of what it took does not survive."""
    case = replace(sample_of().cases[0], gold=gold, said=form.format(gold))
    before, behind = form.split("{}")
    raised = []
    for odd, reply in replies_to(case):
        if odd.plausible and reply.startswith(before) and len(reply) >= len(before + behind):
            said = reply[len(before) : len(reply) - len(behind)]
            # What has no likeness to the gold is read by nobody.
            if re.fullmatch(r"[\d.,/ x-]+|\{.*\}|\[.*\]", said):
                try:
                    breaks(said)
                except (ValueError, ArithmeticError, TypeError, AttributeError, LookupError):
                    raised.append(said)
    assert raised


@pytest.mark.parametrize("gold", ['{"n": 4.5}', "[4.5, 7]"])
def test_numbers_that_are_none_are_said_where_the_gold_has_numbers(gold):
    case = replace(sample_of().cases[0], gold=gold, said=f"Result: {gold}")
    said = [reply for odd, reply in replies_to(case) if not odd.plausible]
    for number in ("NaN", "Infinity", "-Infinity"):
        assert any(f" {number}" in each or f"[{number}" in each for each in said)


def loads(said, key):
    """As those do who think of malformed JSON alone."""
    try:
        return json.loads(said)[key]
    except (ValueError, KeyError, TypeError):
        return "" if key == "team" else 0


def test_time_that_grows_faster_than_the_reply_is_told_and_other_time_is_not():
    assert is_steep([0.01, 0.04, 0.16])
    assert not is_steep([0.04, 0.08, 0.16])
    assert not is_steep([0.0001, 0.0004, 0.0016])
    steep = {
        Try(0, growing("a", "!", size)): Tried(0.0, cpu_seconds=0.01 * 4**n)
        for n, size in enumerate(SIZES)
    }
    (grown,) = findings(Hangs().read(sample_of(), steep), "EW404")
    assert grown.severity is Severity.WARN and "8000" in grown.statement
    little = {each: replace(t, cpu_seconds=t.cpu_seconds / 3) for each, t in steep.items()}
    (noted,) = findings(Hangs().read(sample_of(), little), "EW404")
    assert noted.severity is Severity.INFO
    assert " * 8000 + " in grown.reproduce
    late = {Try(0, "x"): Tried(None, ended="it went on for over 10 s", late=True)}
    (hung,) = findings(Hangs().read(sample_of(), {**steep, **late}), "EW404")
    assert hung.severity is Severity.FAIL and "does not end" in hung.statement


@pytest.mark.parametrize(("cpu", "hit"), [(0.3, False), (1.3, True), (0.0, True)])
def test_a_reward_that_works_or_waits_is_slow_and_a_busy_machine_is_not(cpu: float, hit: bool):
    told = {Try(0, str(n)): Tried(1.0, seconds=1.4, cpu_seconds=cpu) for n in range(20)}
    assert bool(findings(Hangs().read(sample_of(), told), "EW404")) is hit


def test_what_runs_programs_may_take_seconds_and_the_command_tells_how_many():
    told = {Try(0, str(n)): Tried(1.0, seconds=20.0, cpu_seconds=3.0) for n in range(20)}
    sample = sample_of()
    (slow,) = findings(Hangs().read(sample, told), "EW404")
    assert slow.reproduce.startswith("time envwright env score ")
    staged = replace(sample, environment=sample.environment.model_copy(update={"staged": True}))
    assert findings(Hangs().read(staged, told), "EW404") == ()
    assert findings(Hangs(programs=True).read(sample, told), "EW404") == ()
    late = {Try(0, "x"): Tried(None, ended="it went on for over 10 s", late=True)}
    assert findings(Hangs(programs=True).read(sample, {**told, **late}), "EW404")


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("import subprocess\n", True),
        ("def f():\n    from multiprocessing import Process\n", True),
        ("import asyncio\nasync def f():\n    await asyncio.create_subprocess_exec('x')\n", True),
        ("import os\ndef f():\n    os.system('x')\n", True),
        ("def f(task):\n    return task.system('x')\n", False),
        ("import re, time\ndef f(reply):\n    time.sleep(3)\n", False),
    ],
)
def test_code_that_starts_programs_is_known_by_what_it_calls(text: str, runs: bool):
    assert starts_programs(read_code({"env.py": text})) is runs


def test_an_episode_that_refuses_a_reply_warns_where_scoring_that_raises_fails():
    broken = Tried(None, problem="ValueError: no contract (at x.py:3)")
    for tried, severity, said in (
        (broken, Severity.FAIL, "makes scoring raise"),
        (replace(broken, in_episode=True), Severity.WARN, "ends the episode without a reward"),
    ):
        (found,) = findings(Raises().read(sample_of(), {Try(0, ""): tried}), "EW403")
        assert found.severity is severity and said in found.statement


def test_what_was_never_scored_is_unfinished_and_what_was_cut_short_is_not_clean():
    tries = [Try(n, "x") for n in range(3)]
    report = Report(rule="EW302", extent=Extent.NOT_APPLICABLE, reason="no prompt")
    lost = dict.fromkeys(tries, Tried(None, problem="no"))
    assert with_gap(report, tries, lost, None).extent is Extent.UNFINISHED
    blind = report.model_copy(update={"extent": Extent.NO_GOLD})
    assert with_gap(blind, [], lost, None).extent is Extent.UNFINISHED
    assert with_gap(blind, [], {tries[0]: Tried(0.0)}, None) == blind
    assert with_gap(report, [], {}, None) == report
    assert with_gap(report, tries, {tries[0]: Tried(0.0)}, "late") == report
    ran = Report(rule="EW403", tried=9, unit="replies")
    assert cut_short(ran, "it took too long").extent is Extent.UNFINISHED
    (raised,) = Raises().read(sample_of(), {Try(0, ""): Tried(None, problem="KeyError: 1")})[:1]
    assert cut_short(raised, "it took too long").extent is Extent.RAN


def test_of_an_episode_only_its_scoring_is_time_of_the_reward():
    trace = Trace(seat="agent", timing=Timing(agent=40.0, scoring=0.25))
    played = Played(Failed(cause=Cause.ENVIRONMENT, detail="x"), (trace,), seconds=41.0)
    assert episode_tried(played).seconds == 0.25


@pytest.mark.parametrize(
    ("value", "text", "hit"),
    [
        (1.0, "", False),
        (5.0, "", True),
        (5.0, "Pays up to 5 points.", False),
        (3.5, "The reward lies between -1 and 5.", False),
        (37.0, "100 tasks of grade 3.", True),
        (37.0, "Two numbers from 0 to 100.\n\nThe reward is 1 for their sum.", True),
        (3.0, "Texts of 3 lines.\n\nIt pays for the right one.", True),
        (3.0, "# Reward\n\nright: 3 points\n", False),
        (-0.5, "A share of the items, 0-1.", True),
        (-0.5, "", True),
        (-0.5, "A wrong answer is penalised.", False),
        (-40.0, "A wrong answer is penalised.", True),
    ],
)
def test_a_range_is_left_unless_the_author_says_so(value, text, hit):
    told = {Try(0, "x"): Tried(value, parts={"r0": value}), Try(1, "y"): Tried(0.0, {"r0": 0.0})}
    found = findings(Range(Declared(text)).read(sample_of(), told), "EW407")
    assert bool(found) is hit


def test_a_negative_weight_is_a_price_that_was_meant():
    told = {Try(0, "long"): Tried(-4.0, parts={"r0": 1.0, "r1": 500.0})}
    assert not findings(Range(Declared("")).read(sample_of(1.0, -0.01), told), "EW407")


def scores(*parts):
    """The same values for sixty replies over the tasks, given by a function of the number."""
    return {
        Try(n % 6, f"reply {n}"): Tried(
            1.0, parts={f"r{i}": float(part(n)) for i, part in enumerate(parts)}
        )
        for n in range(60)
    }


@pytest.mark.parametrize(
    ("parts", "weights", "said", "words"),
    [
        ((lambda n: n % 2, lambda n: n % 3 == 0), (1, 1), {}, None),
        ((lambda n: n % 2, lambda n: 0), (1, 1), {}, "'r1' is 0 for all"),
        ((lambda n: n % 2, lambda n: n % 2), (1, 1), {}, "copy"),
        ((lambda n: n % 2, lambda n: n % 3), (1, 0), {}, "weight of 0"),
        ((lambda n: n % 2, lambda n: 0), (1, 1), {"tools": ("look",)}, None),
        ((lambda n: 0,), (1,), {}, None),
        ((lambda n: 0, lambda n: 0), (1, 1), {}, None),
    ],
)
def test_a_part_that_does_nothing_is_told(parts, weights, said, words):
    found = findings(Parts().read(sample_of(*weights, **said), scores(*parts)), "EW408")
    assert [words in each.statement for each in found] == ([] if words is None else [True])


REWARDS = """
import re

SECTION = re.compile(r"Confidence: (\\d+)%")

def clean(text):
    return text.strip()

def last(completion):
    return completion[-1]["content"] if completion else ""

class Task:
    async def tidy(self, trace):
        return float(clean(trace.last_reply) == trace.last_reply)

    async def called(self, trace):
        return float(any(m.tool_calls for m in trace.messages))

def alone(completion, answer, **kwargs):
    return float(last(completion) != "")

def turns(completion, **kwargs):
    return float(len(completion) > 2)

def kept(completion, state):
    return float("x" in last(completion) and state["looked"])

def sure(completion):
    return float(SECTION.search(last(completion)) is not None)
"""


@pytest.mark.parametrize(
    ("name", "alone"),
    [
        ("tidy", True), ("called", False), ("alone", True), ("turns", False), ("kept", False),
        ("sure", True), ("nobody", False),
    ],
)  # fmt: skip
def test_a_part_that_sees_the_reply_alone_is_told_from_one_that_sees_the_episode(name, alone):
    assert reads_the_reply_alone(read_code({"env.py": REWARDS}), name) is alone


@pytest.mark.parametrize("said", [{"tools": ("look",)}, {"episodic": True}])
def test_no_tool_moves_a_part_that_sees_the_reply_alone(said):
    code = read_code({"env.py": REWARDS.replace("tidy", "r1").replace("called", "r2")})
    told = scores(lambda n: n % 2, lambda n: 1, lambda n: 0)
    found = findings(Parts("", code).read(sample_of(1, 1, 1, **said), told), "EW408")
    assert [("'r1' is 1 for all" in each.statement) for each in found] == [True]


def test_what_a_part_looks_for_is_said_to_it():
    code = read_code({"env.py": REWARDS.replace("sure", "r0")})
    tries = [each.reply for each in Parts("", code).tries(sample_of())]
    assert any(re.search(r"Confidence: \d+%", reply) for reply in tries)
    assert any(reply.startswith("<answer>0</answer>") for reply in tries)


def test_a_weight_of_zero_is_no_fault_of_what_is_called_a_metric():
    told = scores(lambda n: n % 2, lambda n: n % 3)
    documents = "- `r1`: a metric, the number of words"
    assert not findings(Parts(documents).read(sample_of(1, 0), told), "EW408")


def test_parts_are_not_compared_on_too_few_replies():
    few = dict(list(scores(lambda n: 0, lambda n: n % 2).items())[:10])
    reports = Parts().read(sample_of(1, 1), few)
    assert reports[0].extent is Extent.UNFINISHED and not reports[0].findings


def test_what_the_source_makes_suspect_is_tried_first_bare_and_in_the_place_of_the_gold():
    sample = sample_of()
    first = next(Hangs().families(sample, ["((!"]))
    assert {each.index for each in first} == {sample.cases[0].task.index}
    assert first[0].reply == "((!" and all("((!" in each.reply for each in first)
    assert next(Hangs().families(sample)) == []


TRIES = (Try(0, "a"), Try(1, "b"))


def passes(*values):
    return tuple([Tried(one), Tried(other)] for one, other in values)


ONE = ((1.0, 0.0),) * 3


@pytest.mark.parametrize(
    ("first", "fresh", "replayed", "rule"),
    [
        (ONE, ONE, (), None),
        # seen before is paid less, in every process alike
        ((ONE[0], (0.5, 0.0), (0.5, 0.0)),) * 3 + ("EW402",),
        # dice
        ((ONE[0], (0.3, 0.0), (0.7, 0.0)), ((0.2, 0.0), (0.1, 0.0), ONE[0]), ONE, "EW401"),
        # the hash seed decides
        (ONE, ((0.0, 0.0),) * 3, ONE, "EW401"),
        # what else the first process has seen decides
        (((0.0, 0.0),) * 3, ONE, ONE, "EW402"),
        # once in a while, in the first process alone
        ((ONE[0], (0.0, 0.0), ONE[0]), ONE, ONE, "EW401"),
    ],
)
def test_chance_and_memory_are_told_apart(first, fresh, replayed, rule):
    repeated = Repeated(TRIES, passes(*first), passes(*fresh), passes(*replayed))
    reports = read_repeats(sample_of(), repeated)
    assert [report.rule for report in reports if report.findings] == ([rule] if rule else [])
    assert all(report.extent is Extent.RAN for report in reports)


def test_a_cache_that_forgets_the_task_is_seen_where_another_reply_comes_first():
    """What was right when it was first said is right for ever, and so is what was wrong."""
    days = ["Monday", "Friday", "Sunday"]
    tasks = [(f"Which day is day {n}?", days[n % 3]) for n in range(12)]

    def fresh() -> Plain:
        marks: dict[str, float] = {}
        return Plain(tasks, {"day": (1.0, lambda r, g, p: marks.setdefault(r, float(r == g)))})

    world = fresh()
    sample = replace(sample_of_plain(world), gold_from="a field")
    tries = [Try(at, day) for at in range(12) for day in (*days, "x", "y", "z")]
    told = asyncio.run(world.score(tries))
    again = worth_repeating(sample, told)
    first = ([told[each] for each in again],)
    afresh, replayed = (asyncio.run(repeat(each, again)) for each in (fresh(), fresh()))
    reports = read_repeats(sample, Repeated(again, first, afresh, replayed))
    assert [report.rule for report in reports if report.findings] == ["EW402"]
    (found,) = findings(reports, "EW402")
    rows = shlex.split(found.reproduce.partition("; ")[2])[2]
    said = re.findall(r"'task': '(\d+)', 'reply': '(\w+)'", rows)
    task, reply = said.pop()
    assert said and all((task == other) != (reply == words) for other, words in said)


def test_what_earns_a_part_is_scored_again():
    """Of many replies few earn a part, and only those may depend on a hash."""
    told = {Try(n % 6, f"wrong {n}"): Tried(0.0) for n in range(3000)}
    told |= {Try(n, "gold"): Tried(1.0) for n in range(6)}
    told |= {Try(2, f"half {n}"): Tried(0.5) for n in range(3)}
    again = worth_repeating(sample_of(), told)
    assert sum(each.reply.startswith("half") for each in again) == 3
    assert len(again) == 60


def test_without_a_fresh_process_repeats_are_unfinished():
    repeated = Repeated(TRIES, passes(*ONE), why_not="2 of 6 tasks are other ones")
    assert {r.extent for r in read_repeats(sample_of(), repeated)} == {Extent.UNFINISHED}


def test_a_reply_is_shown_escaped_and_its_command_makes_it_again():
    sample = sample_of()
    assert shown("a\x1b[31m\n\u202e") == "a\\x1b[31m\\n\\u202e"
    assert shown("naïve — 東京 \U0001f600") == "naïve — 東京 \U0001f600"
    assert shown("\ud800 x") == "\\ud800 x"
    assert (
        reproduce(sample, 3, "it's") == "envwright env score some-env --task 3 --reply 'it'\"'\"'s'"
    )
    assert compact("ab" * 500 + "a") == "'ab' * 500 + 'a'"
    for text in ("a\x00b", "x" * 1000, "\\boxed{" * 700, "é" * 301):
        assert eval(compact(text)) == text
    assert replace(sample.cases[0], best=None).best is None


@pytest.mark.parametrize(
    ("prompt", "arguments", "answer", "tells"),
    [
        (
            "To which team does case 71 belong: red or blue?",
            {"n": 71},
            '{"n": 71, "text": "the ink of the old one ran out", "team": "red"}',
            True,
        ),
        # Looked up: the question does not list it.
        ("Which team has case 71?", {"n": 71}, '{"n": 71, "team": "red"}', False),
        # Of another case, of another name, of several, and what was said by the agent itself.
        ("Which team has case 71: red or blue?", {"n": 5}, '{"n": 5, "team": "red"}', False),
        ("Which team has case 71: red or blue?", {"n": 71}, '{"ink": "red"}', False),
        ("Which team has case 71: red or blue?", {"n": 71}, '[{"team": "red"}]', False),
        ("Which team has case 71: red or blue?", {"t": "red"}, '{"team": "red"}', False),
    ],
)
def test_a_record_tells_the_gold_where_the_choice_is_listed(prompt, arguments, answer, tells):
    case = Case(Task(index=0, key=KEY, prompt=prompt, row={}), gold="red")
    assert bool(chosen(case, Called("look", arguments, answer))) is tells
