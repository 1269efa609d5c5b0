"""The contract of a host, over both dialects: what it answers, and what misbehaviour costs.

Environment code that misbehaves costs its own trial, and the failure names it.
"""

import json
import sys
import time
from pathlib import Path

import pytest

from bed import SHORT, Bed, Told, make_bed
from envwright.agent.script import Script
from envwright.environment import Kind, Task
from envwright.errors import Cause
from envwright.host import Loaded
from envwright.trial import Failed, Scored
from support import DIALECTS, ROOT, processes_with, under

HOSTILE = ROOT / "tests" / "environments" / "hostile"
DAEMON = "86413.25"
BYSTANDERS = ("fine", "fine_after_a_while")
BYSTANDER_OF_HANGS = "fine_elsewhere"
ODD = ("fine_in_any_script", "fine_with_a_large_row", "fine_without_end")

RAISING = {
    # what the task does: who is to blame, and words that the detail must hold
    "reward_raises": (Cause.GRADER, "ValueError: a reward of the environment's"),
    "reward_exits": (Cause.GRADER, "SystemExit: 3"),
    "reward_interrupts": (Cause.GRADER, "raise KeyboardInterrupt"),
    "reward_awaits_for_ever": (Cause.GRADER, "scoring did not end in time"),
    "reward_is_nan": (Cause.GRADER, "paid returned NaN"),
    "reward_is_infinite": (Cause.GRADER, "paid returned -Infinity"),
    "reward_is_text": (Cause.GRADER, "could not convert string to float: '1.0 (honest)'"),
    "reward_is_nothing": (Cause.GRADER, "not 'NoneType'"),
    "reward_is_huge": (Cause.GRADER, "the weighted sum is inf"),
    "reward_fills_memory": (Cause.GRADER, "MemoryError"),
    "reward_raises_unprintably": (Cause.GRADER, "half a character: \\ud800"),
    "metric_raises": (Cause.GRADER, "ArithmeticError: a metric of the environment's"),
    "metric_is_nan": (Cause.GRADER, "length returned NaN"),
    "setup_raises": (Cause.ENVIRONMENT, "LookupError: a setup of the environment's"),
    "setup_awaits_for_ever": (Cause.ENVIRONMENT, "setup did not end in time"),
    "finalize_raises": (Cause.ENVIRONMENT, "LookupError: a finalize of the environment's"),
}
RAISING_V0 = {
    # a dictionary of rewards is none in verifiers 0.1
    "reward_is_huge": (Cause.GRADER, "not 'dict'"),
}
MESSY = ("reward_prints_a_lot", "reward_leaves_a_daemon", "reward_leaves_threads")
DEADLY = {
    "dies_of_segfault": (Cause.GRADER, "in dies_of_segfault"),
    "dies_of_exit": (Cause.GRADER, "os._exit(7) was called"),
}
PAST_THE_DIALECT = {
    # which has no part in it, so it is done under one of them: each costs a process
    "dies_by_its_own_hand": (Cause.GRADER, "it was killed"),
    "dies_of_a_closed_control": (Cause.GRADER, "during scoring"),
    "says_what_is_no_frame": (Cause.GRADER, "it broke the protocol: a frame claims"),
    "says_an_error_that_is_none": (Cause.GRADER, "it broke the protocol: an error that says"),
    "says_an_infinite_id": (Cause.GRADER, "it broke the protocol"),
    "says_a_result_that_is_none": (Cause.ENVIRONMENT, "left no trace of a measured seat"),
    "says_half_a_result": (Cause.GRADER, "rewards that did not run"),
}
STUCK = {
    "blocks_for_ever": (Cause.GRADER, "in blocks_for_ever"),
    "cannot_be_cancelled": (Cause.GRADER, "did not end within"),
}


STRANGE = 'ünïcödé 🦜 «שלום» "x" \\ \t\r\n \u2028 \u202e \u0000 \x1b[31m {} end'
LARGE = 8 * 2**20
REPLIES = {
    # what is said, and how long the environment finds it
    "nothing": ("", 0),
    "any script": (STRANGE, len(STRANGE)),
    "half a character": ("\ud800", len("\\ud800")),
    "a lot": ("é" * LARGE, LARGE),
}


@pytest.fixture(scope="module", autouse=True)
def little_grace():
    """Ours beyond an environment's own time: half a minute, which the hangs here would take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["envwright.trial.run"], "GRACE_SECONDS", 3.0)
        yield


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    # verifiers 0.1 and its imports take up 1.6 GB of addresses by themselves.
    limits = SHORT.model_copy(update={"memory_mb": 4096})
    with make_bed(tmp_path_factory.mktemp("host"), venvs, limits=limits) as made:
        yield made


@pytest.fixture(scope="module", params=DIALECTS)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same package under each verifiers: every test here holds for both dialects."""
    return under(request.param, HOSTILE, tmp_path_factory.mktemp("hostile"))


@pytest.fixture(scope="module")
def hostile(bed: Bed, root: Path) -> Loaded:
    return bed.do(bed.load(root))


@pytest.fixture(scope="module")
def raising(bed: Bed, hostile: Loaded) -> dict[str, Told]:
    return sweep(bed, hostile, (*BYSTANDERS, *RAISING, *MESSY))


@pytest.fixture(scope="module")
def crashed(bed: Bed, root: Path) -> Loaded:
    """Where what crashes is run: in one process at first, so all of them are in it."""
    return bed.do(bed.load(root))


@pytest.fixture(scope="module")
def ending(bed: Bed, root: Path, crashed: Loaded, raising: dict[str, Told]) -> dict[str, Told]:
    """Crashes and hangs, each kind with processes of its own."""
    more = () if crashed.environment.kind is Kind.VERIFIERS_V0 else PAST_THE_DIALECT
    crashes = sweep(bed, crashed, (*BYSTANDERS, *DEADLY, *more))
    hangs = sweep(bed, bed.do(bed.load(root)), (BYSTANDER_OF_HANGS, *STUCK))
    return {**crashes, **hangs}


def sweep(bed: Bed, loaded: Loaded, does: tuple[str, ...]) -> dict[str, Told]:
    return dict(bed.do(tell(bed, loaded, does)))


async def tell(
    bed: Bed, loaded: Loaded, does: tuple[str, ...], script: Script | None = None
) -> list[tuple[str, Told]]:
    index = {name: task.index for name, task in (await tasks_of(loaded)).items()}
    told = await bed.sweep(loaded, [index[name] for name in does], script=script)
    return [(name, told[index[name]]) for name in does]


async def tasks_of(loaded: Loaded) -> dict[str, Task]:
    return {str(task.row["does"]): task for task in await loaded.tasks(0, 100)}


def says(bed: Bed, loaded: Loaded, does: str, *replies: dict[str, object]) -> Told:
    ((_, told),) = bed.do(tell(bed, loaded, (does,), Script(replies=replies)))
    return told


def check_failure(told: Told, cause: Cause, words: str) -> None:
    outcome = told.outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.cause is cause, outcome.detail
    assert words in outcome.detail
    assert not outcome.retryable
    assert told.states.count("finished") == 1, "a deterministic failure was tried again"


@pytest.mark.slow
def test_it_describes_itself(hostile):
    described = hostile.environment
    odd = (*BYSTANDERS, BYSTANDER_OF_HANGS, *ODD, *MESSY)
    ways = (*odd, *RAISING, *DEADLY, *PAST_THE_DIALECT, *STUCK)
    assert (described.tasks.count, described.tasks.infinite) == (len(ways), False)
    assert [(each.name, each.weight) for each in described.rewards] == [("paid", 1.0)]
    assert "length" in described.metrics
    assert described.seats == ("agent",)


@pytest.mark.slow
def test_its_tasks_are_the_same_whenever_they_are_read(bed, hostile):
    tasks = bed.do(hostile.tasks(0, 100))
    assert [task.index for task in tasks] == list(range(len(tasks)))
    assert len({task.key for task in tasks}) == len(tasks)
    assert bed.do(hostile.tasks(2, 5)) == tasks[2:5]
    named = bed.do(tasks_of(hostile))
    assert named["fine_in_any_script"].row["words"] == STRANGE
    assert STRANGE in named["fine_in_any_script"].prompt
    assert len(str(named["fine_with_a_large_row"].row["words"])) == LARGE


@pytest.mark.slow
def test_every_reply_has_a_score_or_its_own_problem(bed, hostile):
    tasks = bed.do(tasks_of(hostile))

    def item(does: str, reply: str) -> dict[str, object]:
        return {"index": tasks[does].index, "key": tasks[does].key, "reply": reply}

    fine = [item("fine", reply) for reply, _ in REPLIES.values()]
    bad = [item(does, "x") for does in ("reward_raises", "reward_is_text", "reward_is_nan")]
    scored = bed.do(hostile.score(fine + bad, 60))
    *good, raised, text, nan = scored
    assert [each.metrics["length"] for each in good] == [length for _, length in REPLIES.values()]
    assert [each.rewards["paid"].score for each in good] == [1.0] * len(REPLIES)
    assert "ValueError: a reward of the environment's" in raised.problem
    assert "could not convert string to float" in text.problem
    assert (nan.problem, [each.signal for each in nan.not_numbers]) == (None, ["paid"])


@pytest.mark.slow
@pytest.mark.parametrize("reply", REPLIES)
def test_whatever_is_said_is_scored_and_kept(bed, hostile, reply):
    words, length = REPLIES[reply]
    told = says(bed, hostile, "fine_in_any_script", {"content": words, "tool_calls": []})
    assert isinstance(told.outcome, Scored), told.outcome
    assert (told.outcome.reward, told.outcome.metrics["length"]) == (1.0, length)
    (trace,) = json.loads(bed.app.store.blobs.get(told.attempts[-1].blob))
    asked, said = trace["steps"][0], trace["steps"][-1]
    assert STRANGE in asked["content"]
    assert len(said["content"]) == length


@pytest.mark.slow
def test_a_thousand_turns_are_refused_by_the_cap_and_scored(bed, hostile):
    more = {"content": None, "tool_calls": [{"name": "more", "arguments": "{}"}]}
    told = says(bed, hostile, "fine_without_end", *[more] * 1000)
    assert isinstance(told.outcome, Scored), told.outcome
    assert (told.outcome.stop, told.outcome.reward) == ("turns", 1.0)
    (trace,) = json.loads(bed.app.store.blobs.get(told.attempts[-1].blob))
    assert sum(step["sampled"] for step in trace["steps"]) == SHORT.turns
    assert told.states == ["finished"]


@pytest.mark.slow
@pytest.mark.parametrize("does", RAISING)
def test_what_environment_code_raises_fails_its_trial_with_its_own_words(hostile, raising, does):
    is_v0 = hostile.environment.kind is Kind.VERIFIERS_V0
    check_failure(raising[does], *(RAISING | RAISING_V0 if is_v0 else RAISING)[does])


@pytest.mark.slow
@pytest.mark.parametrize("does", ["reward_raises", "metric_raises", "setup_raises", "reward_exits"])
def test_a_failure_shows_the_line_of_the_environment(raising, does):
    detail = raising[does].outcome.detail
    assert "hostile/__init__.py" in detail
    assert "Traceback (most recent call last)" in detail


@pytest.mark.slow
@pytest.mark.parametrize("does", [*BYSTANDERS, *MESSY])
def test_a_neighbour_of_failing_trials_is_scored(raising, does):
    outcome = raising[does].outcome
    assert isinstance(outcome, Scored), outcome
    assert outcome.reward == 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "signal", "value"),
    [
        ("reward_is_nan", "paid", "NaN"),
        ("reward_is_infinite", "paid", "-Infinity"),
        ("metric_is_nan", "length", "NaN"),
    ],
)
def test_what_is_no_number_is_a_proven_finding(raising, does, signal, value):
    (finding,) = raising[does].findings
    assert (finding.rule, finding.severity, finding.basis) == ("EW001", "fail", "proven")
    (citation,) = finding.citations
    assert (citation.signal, citation.quote) == (signal, value)
    assert finding.reproduce.startswith("envwright ")


@pytest.mark.slow
def test_an_honest_number_is_no_finding(raising):
    assert raising["fine"].findings == []


@pytest.mark.slow
@pytest.mark.parametrize("does", DEADLY)
def test_what_ends_the_process_fails_its_trial_and_says_how(ending, does):
    check_failure(ending[does], *DEADLY[does])


@pytest.mark.slow
@pytest.mark.parametrize("does", PAST_THE_DIALECT)
def test_what_goes_past_the_dialect_fails_its_trial_and_says_how(hostile, ending, does):
    if hostile.environment.kind is Kind.VERIFIERS_V0:
        pytest.skip("done under the other dialect")
    check_failure(ending[does], *PAST_THE_DIALECT[does])


@pytest.mark.slow
@pytest.mark.parametrize("does", ["dies_of_segfault", "dies_of_exit"])
def test_a_crash_shows_the_line_of_the_environment(ending, does):
    assert "hostile/__init__.py" in ending[does].outcome.detail


@pytest.mark.slow
@pytest.mark.parametrize("does", BYSTANDERS)
def test_a_bystander_of_a_crash_is_run_again_uncharged_and_scored(ending, does):
    told = ending[does]
    *lost, last = told.attempts
    assert last.state == "finished"
    # One that ended before the first crash was nobody's bystander.
    assert lost or does == "fine", "nothing was in the process that crashed"
    for attempt in lost:
        assert attempt.state == "lost"
        assert attempt.problem, "a lost attempt does not say why"
        assert attempt.grades == []
    assert isinstance(told.outcome, Scored)
    assert told.outcome.reward == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("does", STUCK)
def test_a_reward_that_never_returns_is_ended_and_shows_where_it_hung(ending, does):
    check_failure(ending[does], *STUCK[does])


@pytest.mark.slow
def test_a_reward_that_blocks_for_ever_costs_its_own_trial_only(ending):
    told = ending[BYSTANDER_OF_HANGS]
    assert told.states == ["lost", "finished"]
    assert "held it up" in told.attempts[0].problem
    assert isinstance(told.outcome, Scored)
    assert told.outcome.reward == 1.0


@pytest.mark.slow
def test_after_all_that_the_next_host_starts_clean(bed, crashed, ending):
    told = sweep(bed, crashed, ("fine",))["fine"]
    assert told.states == ["finished"]
    assert isinstance(told.outcome, Scored)


@pytest.mark.slow
def test_nothing_of_an_environment_outlives_its_pool(bed, hostile, ending):
    told = sweep(bed, hostile, ("reward_leaves_a_daemon",))["reward_leaves_a_daemon"]
    assert isinstance(told.outcome, Scored), told.outcome
    # The shell may be gone before what it left behind has its name.
    assert any(processes_with(DAEMON) or time.sleep(0.01) for _ in range(500)), "no daemon started"
    bed.do(hostile.pool.close())
    assert processes_with(DAEMON) == []
