"""Whole runs of the probes: over what is sound, what is hostile, and what has tools or a judge."""

import textwrap
import time
from pathlib import Path

import pytest

from bed import SHORT, Bed, make_bed
from envwright.finding import Severity
from envwright.host import Loaded
from envwright.probe.bench import open_bench
from envwright.probe.case import Sample
from envwright.probe.episode_scorer import TURNS
from envwright.probe.patience import Patience
from envwright.probe.rule import Extent, Report
from envwright.probe.run import RULES, Probed, run_probes
from support import DEPENDENCIES_V0, EXAMPLES, make_environment

SHORTLY = Patience(reply_seconds=1.5, first_seconds=10, episode_seconds=5)


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    limits = SHORT.model_copy(update={"turns": 20})
    with make_bed(tmp_path_factory.mktemp("probing"), venvs, limits=limits) as made:
        yield made


async def probed(bed: Bed, loaded: Loaded, count: int = 12) -> tuple[Sample, Probed]:
    tasks = await loaded.tasks(0, count)
    async with open_bench(loaded, tasks, bed.gateway, patience=SHORTLY) as bench:
        sample = await bench.sample()
        return sample, await run_probes(bench, sample, [])


def run_whole(bed: Bed, root: Path, **given) -> tuple[Sample, Probed]:
    loaded = bed.do(bed.load(root, **given))
    try:
        return bed.do(probed(bed, loaded))
    finally:
        bed.do(loaded.pool.close())


def run(bed: Bed, root: Path, **given) -> tuple[Sample, dict[str, Report]]:
    sample, found = run_whole(bed, root, **given)
    assert {report.rule for report in found.reports} == {rule.id for rule in RULES}
    return sample, {report.rule: report for report in found.reports}


def hits(reports: dict[str, Report]) -> dict[str, str]:
    """The statement of each rule's first finding that is more than told."""
    return {
        rule: finding.statement
        for rule, report in reports.items()
        for finding in report.findings[:1]
        if finding.severity is not Severity.INFO
    }


@pytest.mark.audit
@pytest.mark.parametrize("example", ["sums", "sums_v0", "notes"])
def test_a_sound_environment_has_no_finding_and_every_probe_ran(bed, example):
    sample, reports = run(bed, EXAMPLES / example)
    assert hits(reports) == {}
    assert {case.best for case in sample.cases} == {1.0}
    unfinished = [r for r in reports.values() if r.extent in (Extent.UNFINISHED, Extent.NO_GOLD)]
    assert unfinished == []


BOMB = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    reply = (trace.last_reply or "").strip()
    re.match(r"^(\\w+\\s?)*$", reply)
    first = reply not in SEEN
    SEEN.add(reply)
    return float(reply == self.data.answer) * (1.0 if first else 0.5)
"""


@pytest.mark.audit
def test_a_regex_bomb_and_a_memory_are_named_with_their_input_and_the_run_ends(bed, tmp_path):
    root = make_environment(tmp_path, name="bomb", task=BOMB, imports="import re\nSEEN = set()")
    begun = time.monotonic()
    sample, reports = run(bed, root)
    assert time.monotonic() - begun < 120
    found = hits(reports)
    assert set(found) == {"EW402", "EW404"}
    assert "does not end" in found["EW404"] and "at bomb/__init__.py:" in found["EW404"]
    hung = reports["EW404"].findings[0]
    assert "' * " in hung.reproduce or "--reply" in hung.reproduce
    assert "earns 1 and 0.5" in found["EW402"]
    assert {case.best for case in sample.cases} == {1.0}


HOSTILE = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    {does}
    return 1.0
"""


@pytest.mark.audit
@pytest.mark.parametrize(
    ("does", "rule", "said"),
    [
        ("while True: pass", "EW404", "'0' does not end"),
        ("os._exit(3)", "EW405", "exit code 3 (at hostile/__init__.py:"),
    ],
)
def test_where_no_reply_is_survived_two_are_named_and_the_rest_is_left(
    bed, tmp_path, does, rule, said
):
    root = make_environment(tmp_path, name="hostile", task=HOSTILE.format(does=does))
    _, reports = run(bed, root)
    found = hits(reports)
    assert set(found) == {rule} and said in found[rule]
    assert 1 <= len(reports[rule].findings) <= 2
    for each in ("EW401", "EW402", "EW407"):
        assert reports[each].extent is Extent.UNFINISHED
        assert "each of the first 2 replies ended its process" in reports[each].reason


CALLED = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    {seen}
    return float((trace.last_reply or "").strip() == self.data.answer)
"""


@pytest.mark.audit
@pytest.mark.parametrize(
    ("seen", "alone", "in_episodes"),
    [
        ("pass", 1.0, None),
        ("if not trace.calls: return 0.0", 0.0, 1.0),
        ("if trace.calls: return 0.5", 1.0, 0.5),
    ],
    ids=["the same", "paid in episodes alone", "paid otherwise in episodes"],
)
def test_where_episodes_pay_otherwise_replies_are_played(bed, tmp_path, seen, alone, in_episodes):
    root = make_environment(tmp_path, name="called", task=CALLED.format(seen=seen))

    async def compared(loaded: Loaded) -> tuple[float | None, float | None]:
        tasks = await loaded.tasks(0, 3)
        async with open_bench(loaded, tasks, bed.gateway, patience=SHORTLY) as bench:
            first = await bench.sample()
            if await bench.is_told_alone(first):
                return first.cases[0].best, None
            return first.cases[0].best, (await bench.in_episodes().sample()).cases[0].best

    loaded = bed.do(bed.load(root))
    try:
        assert bed.do(compared(loaded)) == (alone, in_episodes)
    finally:
        bed.do(loaded.pool.close())


DICE = """
@vf.reward(weight=1.0)
async def correct(self, trace: vf.Trace) -> float:
    reply = (trace.last_reply or "").strip()
    return float(reply == self.data.answer) * {how}
"""


@pytest.mark.audit
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("random.choice([1.0, 0.5])", "in the same process"),
        ("(1.0 if hash(reply) % 2 else 0.5)", "whose hashes differ"),
    ],
)
def test_dice_and_hashes_are_chance_and_no_memory(bed, tmp_path, how, said):
    task = DICE.format(how=how)
    root = make_environment(tmp_path, name="dice", task=task, imports="import random", count=12)
    _, reports = run(bed, root)
    found = hits(reports)
    assert set(found) == {"EW401"} and said in found["EW401"]


TOOLS = """
import verifiers.v1 as vf

class Tools(vf.Toolset[vf.SharedToolsetConfig]):
    TOOL_PREFIX = "t"

    @vf.tool
    def read(self, path: str) -> str:
        '''Read a note by its path.'''
        try:
            return open("/tmp/" + path if not path.startswith("/") else path).read()
        except OSError as error:
            return f"error: {error}"

    @vf.tool
    def divide(self, a: int, b: int) -> str:
        '''Divide a by b.'''
        return str(a / b)

    @vf.tool
    def about(self) -> str:
        '''What is known of this question.'''
        return '{"topic": "letters", "answer": "QF42"}'

if __name__ == "__main__":
    Tools.run()
"""
TOOL_USE = """
import verifiers.v1 as vf
from badtools.tools import Tools

class Data(vf.TaskData):
    answer: str

class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        return float((trace.last_reply or "").strip() == self.data.answer)

class Config(vf.TasksetConfig):
    tools: vf.SharedToolsetConfig = vf.SharedToolsetConfig()

class Tasks(vf.Taskset[Task, Config]):
    def load(self):
        for n in range(4):
            data = Data(prompt=f"What is the code of note {n}?", answer="QF42")
            yield Task(data, self.config.task)

    @classmethod
    def toolsets(cls, config):
        return [Tools(config.tools)]

__all__ = ["Tasks"]
"""


@pytest.mark.audit
def test_tools_that_break_lead_out_or_tell_the_gold_are_named(bed, tmp_path):
    root = make_environment(tmp_path, name="badtools", source=TOOL_USE)
    (root / "badtools" / "tools.py").write_text(textwrap.dedent(TOOLS))
    _, reports = run(bed, root)
    found = hits(reports)
    assert {"EW601", "EW602", "EW605"} <= set(found)
    assert "'t_divide' raises" in found["EW601"] and "division by zero" in found["EW601"]
    assert "'t_read' leads out" in found["EW602"]
    assert "'t_about' hands out the gold" in found["EW605"]
    assert len(reports["EW601"].findings) == 1


@pytest.mark.audit
def test_a_tool_that_ends_the_episode_hides_no_other(bed, tmp_path):
    root = make_environment(tmp_path, name="badtools", source=TOOL_USE)
    quits = """
    @vf.tool
    def list_all(self, kind: str) -> str:
        raise SystemExit(3)

    @vf.tool
    def read("""
    tools = TOOLS.replace("\n    @vf.tool\n    def read(", quits, 1)
    (root / "badtools" / "tools.py").write_text(textwrap.dedent(tools))
    _, reports = run(bed, root)
    said = [finding.statement for finding in reports["EW601"].findings]
    assert any("'t_list_all' raises" in each and "the episode ends of it" in each for each in said)
    assert any("'t_divide' raises" in each for each in said)
    assert {"EW602", "EW605"} <= set(hits(reports))


TALK = """
import verifiers as vf
from datasets import Dataset

class Talk(vf.MultiTurnEnv):
    async def env_response(self, messages, state, **kwargs):
        {turn}
        return [{{"role": "user", "content": "Not yet. The answer is 7, say it."}}]

def correct(completion, answer):
    return float(completion[-1]["content"].strip() == answer)

def spoken(completion):
    return sum(message["role"] == "assistant" for message in completion) / 100

def load_environment():
    rows = [{{"question": "Guess my number.", "answer": "7"}}] * 3
    rubric = vf.Rubric(funcs=[correct, spoken], weights=[0.8, 0.2])
    return Talk(dataset=Dataset.from_list(rows), rubric=rubric, {cap})
"""


@pytest.mark.audit
def test_an_episode_without_an_end_and_a_turn_that_tells_the_gold_are_named(bed, tmp_path):
    source = TALK.format(turn="pass", cap="max_turns=-1")
    root = make_environment(tmp_path, name="talk", source=source, dependencies=DEPENDENCIES_V0)
    _, all_of_it = run_whole(bed, root)
    reports = {report.rule: report for report in all_of_it.reports}
    found = hits(reports)
    assert "20 turns" in found["EW604"]
    # What it takes to see that once is not taken for every reply that is scored.
    assert {tried.parts.get("spoken") for tried in all_of_it.told.values()} <= {TURNS / 100, None}
    assert "EW401" not in found
    assert (
        "The answer is 7" in reports["EW605"].findings[0].citations[0].quote
        or "answer is 7" in found["EW605"]
    )


@pytest.mark.audit
def test_a_judge_is_played_and_what_is_not_scored_is_said(bed):
    _, reports = run(bed, EXAMPLES / "judged")
    assert set(hits(reports)) <= {"EW413"}
    assert reports["EW412"].extent is Extent.RAN
    others = [r for rule, r in reports.items() if rule not in ("EW412", "EW413")]
    assert {report.extent for report in others} == {Extent.UNFINISHED}
    assert all("--judge" in report.reason for report in others)
