"""Signals that want a runtime or a judge run without a trial too; what did not run is said."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bed import Bed, make_bed
from envwright.environment import Kind
from envwright.errors import Cause, ProviderError, UsageError
from envwright.host import Loaded, Scoring
from envwright.model import Model
from envwright.probe.bench import open_bench
from envwright.probe.data.own_check import Checked, own_check_hits
from envwright.probe.found import Place
from envwright.trace import Score
from envwright.trial.grade import reward_of
from envwright.work.grader import Grader
from envwright.work.request import Request
from envwright.work.score import score_pairs
from envwright.work.select import select_tasks
from envwright.work.validate import validate_tasks
from provider import Provider, Reply, provider
from support import EXAMPLES, ROOT, CommandLine, make_environment

STAGED = ROOT / "tests" / "environments" / "staged"
KINDS = ["valid", "invalid", "unchecked", "raises", "word", "paid_untouched"]
LEAVES_ONE, LEAVES_ALL, IMAGE, NETWORK = 6, 7, 8, 9


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    with make_bed(tmp_path_factory.mktemp("signals"), venvs) as made:
        yield made


@pytest.fixture(scope="module")
def staged(bed: Bed) -> Loaded:
    return bed.do(bed.load(STAGED))


@pytest.fixture(scope="module")
def judged(bed: Bed) -> Loaded:
    return bed.do(bed.load(EXAMPLES / "judged"))


@pytest.fixture(scope="module")
def served():
    with provider() as made:
        yield made


@pytest.fixture
def judge(served: Provider) -> Model:
    served.answer = lambda body: Reply("Positive.")
    return Model(name="some/judge", base_url=served.url, model="judge")


def test_a_reward_is_missing_or_there_and_never_a_smaller_sum():
    one = {"a": Score(score=1.0), "b": None}
    assert reward_of(Scoring(one, {}, ())) == (None, "rewards that did not run: b")
    assert reward_of(Scoring({"a": Score(score=1.0)}, {}, ("m",))) == (1.0, None)
    assert reward_of(Scoring({}, {}, ())) == (None, None)


@pytest.mark.slow
def test_signals_that_want_a_runtime_have_one_of_the_task(bed: Bed, staged: Loaded):
    rewards = {signal.name: signal.runtime for signal in staged.environment.rewards}
    assert rewards == {"said": True, "bare": False, "paid": False}
    grader = Grader(bed.gateway, None)
    pairs = [("0", "valid"), ("0", "else"), (str(LEAVES_ONE), "x"), (str(LEAVES_ALL), "x")]
    right, wrong, one, everything = bed.do(score_pairs(staged, pairs, grader))
    assert (reward_of(right), reward_of(wrong)) == ((0.75, None), (0.0, None))
    assert (right.metrics, right.skipped) == ({"files": 2.0}, ())
    assert set(right.rewards) == {"said", "bare_one", "bare_two", "paid"}
    assert reward_of(one) == (None, "rewards that did not run: bare")
    assert reward_of(everything)[0] is None
    assert everything.skipped == ("bare", "paid", "said", "files")


@pytest.mark.slow
def test_a_trial_says_which_signals_did_not_run(bed: Bed, staged: Loaded):
    told = bed.do(bed.sweep(staged, [0, LEAVES_ONE, LEAVES_ALL]))
    assert told[0].scored.metrics["files"] == 2.0
    assert told[LEAVES_ONE].failed.cause is Cause.GRADER
    assert told[LEAVES_ONE].failed.detail == "rewards that did not run: bare"
    assert told[LEAVES_ALL].scored.reward == 1.0
    assert told[LEAVES_ALL].scored.skipped == ("bare", "paid", "said", "files")


@pytest.mark.slow
@pytest.mark.parametrize(("index", "words"), [(IMAGE, "image 'python:3.11'"), (NETWORK, "network")])
def test_a_task_that_needs_a_container_is_refused_by_name(
    bed: Bed, staged: Loaded, index: int, words: str
):
    grader = Grader(bed.gateway, None)
    for work in (
        score_pairs(staged, [("0", "x"), (str(index), "x")], grader),
        select_tasks(staged, Request(agents=(), tasks=index + 1)),
        validate_tasks(staged, index + 1, grader),
    ):
        with pytest.raises(UsageError) as refused:
            bed.do(work)
        assert "needs a container" in str(refused.value)
    with pytest.raises(UsageError, match=words):
        bed.do(select_tasks(staged, Request(agents=(), selected=(str(index),))))


@pytest.mark.slow
def test_what_calls_itself_endless_and_ends_is_counted(bed: Bed, staged: Loaded):
    count = staged.environment.tasks
    assert (count.count, count.infinite, count.said_infinite) == (10, False, True)


@pytest.mark.slow
def test_an_endless_taskset_that_ends_later_is_named_when_it_does(bed: Bed):
    longer = bed.do(bed.load(STAGED, kinds=["valid"] * 70))
    assert longer.environment.tasks.infinite
    assert len(bed.do(select_tasks(longer, Request(agents=(), tasks=70)))) == 70
    with pytest.raises(UsageError, match=r"sets INFINITE = True, and ends after 70 tasks"):
        bed.do(select_tasks(longer, Request(agents=(), tasks=71)))


@pytest.mark.slow
def test_each_task_is_asked_about_its_gold_and_scored_untouched(bed: Bed, staged: Loaded):
    checked = bed.do(validate_tasks(staged, len(KINDS), Grader(bed.gateway, None)))
    told = {KINDS[task.index]: task for task in checked.tasks}
    assert {kind: task.valid for kind, task in told.items()} == {
        **{"valid": True, "invalid": False, "unchecked": None},
        **{"raises": None, "word": None, "paid_untouched": True},
    }
    assert told["raises"].error == "LookupError: a check of the environment's"
    assert "'surely'" in (told["word"].error or "")
    assert [kind for kind, task in told.items() if task.solved] == ["paid_untouched"]
    assert checked.counts.model_dump() == {
        **{"valid": 2, "invalid": 1, "raised": 2, "unchecked": 1, "solved": 1, "scored": 6}
    }
    assert not checked.sound


@pytest.mark.slow
def test_an_audit_tells_which_golds_their_own_check_refuses(bed: Bed, staged: Loaded):
    async def check() -> list[Checked]:
        tasks = await staged.tasks(0, len(KINDS))
        async with open_bench(staged, tasks, bed.gateway) as bench:
            return await bench.check_golds(tasks)

    checked = bed.do(check())
    told = {KINDS[one.task.index]: one for one in checked}
    assert [kind for kind, one in told.items() if one.valid is False] == ["invalid"]
    assert [kind for kind, one in told.items() if one.problem] == ["raises", "word"]
    refused, broken = own_check_hits(checked, Place("x", "x --arg n=1"))
    assert refused.command == "envwright env validate x --arg n=1"
    assert refused.statement.endswith("refuses the gold of 1 of 6 tasks")
    assert "breaks on the gold of 2 of 6 tasks" in broken.statement
    assert "a check of the environment's" in broken.statement


@pytest.mark.slow
def test_a_judge_is_known_mapped_and_counted_apart(
    bed: Bed, judged: Loaded, judge: Model, served: Provider
):
    assert [j.name for j in judged.environment.judges] == ["judge"]
    with pytest.raises(UsageError, match="--judge"):
        bed.do(bed.sweep(judged, [0]))
    with pytest.raises(UsageError, match="--judge"):
        bed.do(score_pairs(judged, [("0", "x")], Grader(bed.gateway, None)))
    answer = bed.do(judged.tasks(0, 1))[0].row["answer"]
    served.requests.clear()
    grader = Grader(bed.gateway, judge)
    good, bad = bed.do(score_pairs(judged, [("0", answer), ("0", "Thanks.")], grader))
    assert (reward_of(good), reward_of(bad)) == ((1.0, None), (0.0, None))
    assert [body["model"] for body in served.requests] == ["judge"]
    assert (grader.calls, grader.spent.tokens) == (1, 15)
    agent = Model(name="some/agent", base_url=served.url, model="agent")

    def say(body):
        return Reply(answer if body["model"] == "agent" else "Negative")

    served.answer = say
    told = bed.do(bed.sweep(judged, [0], model=agent, judge=judge))[0]
    assert told.scored.reward == 0.4
    row = bed.result.agents["chat:some/agent"]
    assert (row.tokens.input, row.apart["environment"].input) == (10, 10)


@pytest.mark.slow
def test_a_judge_that_does_not_judge_leaves_no_score(
    bed: Bed, judged: Loaded, judge: Model, served: Provider
):
    answer = bed.do(judged.tasks(0, 1))[0].row["answer"]
    grader = Grader(bed.gateway, judge)
    served.answer = lambda body: Reply("Who knows?")
    (scored,) = bed.do(score_pairs(judged, [("0", answer)], grader))
    assert "neither positive nor negative" in (scored.problem or "")
    served.answer = lambda body: Reply("no such model", status=404)
    with pytest.raises(ProviderError, match="no such model"):
        bed.do(score_pairs(judged, [("0", answer)], grader))


PINNED_JUDGE = """
    async def judged(self, trace: vf.Trace) -> float:
        config = vf.JudgeConfig(base_url="https://judge.example/v1", api_key_var="JUDGE_KEY")
        return float((await vf.Judge(config).complete("well?", trace=trace)).text)
"""


@pytest.mark.slow
def test_a_judge_with_an_address_of_its_own_reaches_the_gateway_all_the_same(
    bed: Bed, judge: Model, served: Provider, tmp_path: Path
):
    task = "@vf.reward(weight=1.0)" + PINNED_JUDGE.replace("\n    ", "\n")
    loaded = bed.do(bed.load(make_environment(tmp_path, task=task, count=1)))
    served.answer = lambda body: Reply("0.5")
    assert bed.do(bed.sweep(loaded, [0], judge=judge))[0].scored.reward == 0.5
    # It stands in no configuration, so it is known only when it asks.
    hidden = bed.do(bed.sweep(loaded, [0]))[0]
    assert (hidden.failed.cause, "--judge" in hidden.failed.detail) == (Cause.GRADER, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"env.id": "no-such"}, "no Env 'no-such'; verifiers has agentic-judge, best-of-n"),
        ({"env.id": "agentic-judge"}, "Env 'agentic-judge' grades in a container"),
        ({"env.id": "best-of-n", "env.n": "x"}, "n: Input should be a valid integer"),
    ],
)
def test_an_env_that_is_unknown_or_does_not_fit_is_refused(bed: Bed, args, words: str):
    with pytest.raises(UsageError) as refused:
        bed.do(bed.load(EXAMPLES / "sums", **args))
    assert words in str(refused.value)


@pytest.mark.slow
def test_tasks_of_the_other_kind_have_no_check(bed: Bed, staged: Loaded):
    old = staged.environment.model_copy(update={"kind": Kind.VERIFIERS_V0})
    with pytest.raises(UsageError, match="have no check of their own"):
        bed.do(validate_tasks(replace(staged, environment=old), 1, Grader(bed.gateway, None)))


@pytest.mark.slow
def test_the_commands_say_what_they_found_and_refuse_what_they_cannot(envwright: CommandLine):
    kinds = json.dumps(KINDS[:2])
    done = envwright("env", "validate", STAGED, "--arg", f"kinds={kinds}")
    assert done.code == 1
    assert done.out.splitlines() == [
        "task 1: its gold is not valid",
        "gold: 1 valid, 1 invalid, 0 raised, 0 unchecked of 2",
        "untouched: 0 solved of 2 scored",
    ]
    for arguments, words in (
        (["run", EXAMPLES / "sums", "--agent", "noop", "--seat-model", "x"], "is not SEAT=MODEL"),
        (["run", EXAMPLES / "judged", "--agent", "noop"], "--judge"),
    ):
        refused = envwright(*arguments)
        assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1), refused.err
        assert words in refused.err
