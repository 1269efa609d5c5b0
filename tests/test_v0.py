"""verifiers 0.1: every kind of `load_environment()` package is described, scored and run."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from bed import SHORT, Bed, Told, make_bed
from envwright.agent.script import Script
from envwright.environment import read_folder
from envwright.errors import Cause, EnvironmentFailure, UsageError
from envwright.host import Loaded, Scoring
from envwright.host.dialect import kind_of, requirements_of
from envwright.model import Model
from envwright.trace import Role, Trace
from envwright.trial import Failed, Scored
from provider import Reply, provider
from support import DEPENDENCIES_V0, EXAMPLES, ROOT, CommandLine, make_environment

ZOO = ROOT / "tests" / "environments" / "zoo"

KINDS = (
    *("single", "judged", "raises", "group", "group_raises", "lacks", "gate", "strict"),
    *("echo", "tools", "stateful", "set_up", "not_set_up", "own", "own_slow"),
)
WALL = SHORT.model_copy(update={"wall_seconds": 10.0})


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    with make_bed(tmp_path_factory.mktemp("v0"), venvs, limits=WALL) as made:
        yield made


@pytest.fixture(scope="module")
def zoo(bed: Bed) -> Loaded:
    return bed.do(bed.load(ZOO))


def index_of(kind: str, n: int = 1) -> int:
    return 2 * KINDS.index(kind) + n


def says(*replies: Any) -> Script:
    told = [{"content": r, "tool_calls": []} if isinstance(r, str) else r for r in replies]
    return Script(replies=tuple(told))


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"name": name, "arguments": json.dumps(arguments)}]}


def score(bed: Bed, zoo: Loaded, kind: str, reply: str = "1") -> Scoring:
    (task,) = bed.do(zoo.tasks(index_of(kind), index_of(kind) + 1))
    (scored,) = bed.do(zoo.score([{"index": task.index, "key": task.key, "reply": reply}], 60))
    return scored


def run(bed: Bed, zoo: Loaded, kind: str, script: Script) -> Told:
    index = index_of(kind)
    return bed.do(bed.sweep(zoo, [index], script=script))[index]


def trace_of(bed: Bed, told: Told) -> Trace:
    (trace,) = json.loads(bed.app.store.blobs.get(told.attempts[-1].blob))
    return Trace.model_validate(trace)


@pytest.mark.slow
def test_the_example_is_described_and_its_tasks_are_those_of_the_other_dialect(bed):
    old = bed.do(bed.load(EXAMPLES / "sums_v0"))
    new = bed.do(bed.load(EXAMPLES / "sums"))
    described = old.environment
    assert described.kind == "verifiers-v0"
    assert described.tasks.count == 100
    assert [(r.name, r.weight) for r in described.rewards] == [("correct", 1.0)]
    assert described.metrics == ("answered", "num_turns")
    assert described.seats == ("agent",)
    arguments = {a.name: (a.type, a.default) for a in described.args}
    assert arguments["num_tasks"] == ("int", 100)
    assert arguments["split"] == ("Literal['eval', 'train']", "eval")
    ours, theirs = bed.do(old.tasks(0, 100)), bed.do(new.tasks(0, 100))
    assert [task.prompt for task in ours] == [task.prompt for task in theirs]
    assert [task.row["answer"] for task in ours] == [task.row["answer"] for task in theirs]
    replies = [
        {"index": 0, "key": task.key, "reply": reply}
        for task in ours[:1]
        for reply in (task.row["answer"], f"\\boxed{{{task.row['answer']}}}", "", "1 2 3", "\udfff")
    ]
    scored = bed.do(old.score(replies, 60))
    assert [each.rewards["correct"].score for each in scored] == [1.0, 1.0, 0.0, 0.0, 0.0]
    assert [each.metrics["answered"] for each in scored] == [1.0, 1.0, 0.0, 1.0, 0.0]


@pytest.mark.slow
def test_the_command_line_runs_every_agent_on_it(envwright: CommandLine):
    (envwright.folder / "s.json").write_text('["12"]')

    def answer(body: dict[str, Any]) -> Reply:
        return Reply(str(sum(map(int, re.findall(r"\d+", body["messages"][-1]["content"])))))

    with provider(answer) as served:
        done = envwright(
            *("run", EXAMPLES / "sums_v0", "-m", "fake", "--endpoint", served.url, "-n", 4),
            *("--agent", "oracle", "--agent", "noop", "--agent", "scripted:s.json", "--json"),
        )
    assert done.code == 0, done.err
    assert {body["model"] for body in served.requests} == {"fake"}
    assert all("authorization" not in headers for headers in served.headers)
    rows = done.json["agents"]
    assert rows["chat:fake"]["solved"] == rows["oracle"]["solved"] == 4
    assert rows["noop"]["solved"] == 0
    assert all(row["scored"] == 4 for row in rows.values())


@pytest.mark.slow
def test_a_group_tells_the_signals_and_tools_of_its_members(zoo):
    described = zoo.environment
    assert described.tasks.count == 2 * len(KINDS)
    assert set(described.tools) == {"add", "read"}
    assert {"said", "raises", "shares"} <= {reward.name for reward in described.rewards}
    assert {"num_turns", "heard", "add_calls"} <= set(described.metrics)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("raises", "ValueError: a reward of the environment's"),
        ("group_raises", "ValueError: a group reward of the environment's"),
        ("lacks", "missing 1 required positional argument: 'no_such_column'"),
    ],
)
def test_a_reward_that_raises_fails_the_trial_where_verifiers_would_pay_nothing(
    bed, zoo, kind, words
):
    outcome = run(bed, zoo, kind, says("1")).outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.cause is Cause.GRADER
    assert words in outcome.detail
    assert "Traceback (most recent call last)" in outcome.detail
    assert words in score(bed, zoo, kind).problem


@pytest.mark.slow
def test_a_group_reward_sees_a_group_of_one(bed, zoo):
    outcome = run(bed, zoo, "group", says("1")).outcome
    assert isinstance(outcome, Scored), outcome
    assert outcome.reward == 1.5
    assert outcome.rewards["shares"].score == 0.5
    shared = {reward.name for reward in zoo.environment.rewards if reward.group}
    assert shared == {"shares", "raises_for_the_group"}, "it is not said which those are"


@pytest.mark.slow
def test_a_reply_is_scored_as_the_only_one_of_a_rollout_that_was_set_up(bed, zoo):
    assert score(bed, zoo, "set_up").rewards["knows"].score == 1.0
    heard = score(bed, zoo, "echo")
    assert (heard.rewards["said"].score, heard.metrics["heard"]) == (1.0, 1.0)
    assert (heard.metrics["num_turns"], heard.problem) == (1.0, None)
    broken = score(bed, zoo, "not_set_up")
    words = "the environment broke before its rewards ran: LookupError: nothing to set up with"
    assert words in broken.problem
    outcome = run(bed, zoo, "not_set_up", says("1")).outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.cause is Cause.ENVIRONMENT


@pytest.mark.slow
def test_an_empty_reply_is_text_to_a_reward(bed, zoo):
    message = {"role": "assistant", "content": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    index = index_of("single")
    with provider(lambda _: Reply(body=json.dumps(body).encode())) as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        outcome = bed.do(bed.sweep(zoo, [index], model=model))[index].outcome
    assert isinstance(outcome, Scored), outcome
    assert outcome.reward == 0.0
    assert score(bed, zoo, "single", "").rewards["said"].score == 0.0


@pytest.mark.slow
def test_a_rollout_of_the_environments_own_is_capped_in_turns_and_time(bed, zoo):
    endless, slow = index_of("own"), index_of("own_slow")
    told = bed.do(bed.sweep(zoo, [endless, slow], script=says(*["1"] * 50)))
    for index, stop, turns in ((endless, "turns", WALL.turns), (slow, "time", 1)):
        outcome = told[index].outcome
        assert isinstance(outcome, Scored), outcome
        assert (outcome.stop, outcome.reward) == (stop, 1.0)
        steps = trace_of(bed, told[index]).steps
        assert sum(step.sampled for step in steps) == turns


@pytest.mark.slow
def test_a_rubric_that_ends_early_with_a_total_of_its_own_is_scored_by_it(bed, zoo):
    for reply, reward in (("1", 1.0), ("no", 0.0)):
        outcome = run(bed, zoo, "gate", says(reply)).outcome
        assert isinstance(outcome, Scored), outcome
        assert outcome.reward == reward


@pytest.mark.slow
def test_a_total_that_its_parts_do_not_explain_stands_alone(bed, zoo):
    outcome = run(bed, zoo, "strict", says("1")).outcome
    assert isinstance(outcome, Scored), outcome
    assert outcome.reward == 0.25
    assert list(outcome.rewards) == ["reward"]
    assert outcome.metrics["said"] == 1.0


@pytest.mark.slow
def test_several_turns_end_by_the_environments_rule_or_by_our_cap(bed, zoo):
    told = run(bed, zoo, "echo", says("hello", "bye"))
    assert isinstance(told.outcome, Scored), told.outcome
    assert (told.outcome.stop, told.outcome.metrics["heard"]) == ("environment", 1.0)
    trace = trace_of(bed, told)
    assert [step.role for step in trace.steps] == ["user", "assistant", "user", "assistant"]
    assert [step.sampled for step in trace.steps] == [False, True, False, True]
    assert trace.steps[2].content == "I heard 'hello'."
    assert trace.calls == (), "a script asked a model"
    assert trace.timing.scoring is not None
    endless = run(bed, zoo, "echo", says(*["more"] * 50))
    assert isinstance(endless.outcome, Scored), endless.outcome
    assert (endless.outcome.stop, endless.outcome.metrics["num_turns"]) == ("turns", WALL.turns)


@pytest.mark.slow
def test_tools_answer_and_their_errors_are_told_to_the_agent(bed, zoo):
    told = run(bed, zoo, "tools", says(call("add", {"a": 1, "b": 0}), call("burn", {}), "1"))
    assert isinstance(told.outcome, Scored), told.outcome
    assert (told.outcome.reward, told.outcome.stop) == (1.0, "completed")
    added, burnt = [s.content for s in trace_of(bed, told).steps if s.role is Role.TOOL]
    assert (added, "burn" in burnt) == ("1", True)
    told = run(
        bed,
        zoo,
        "stateful",
        says(call("read", {"title": "torn"}), call("read", {"title": "x"}), "1"),
    )
    assert isinstance(told.outcome, Scored), told.outcome
    trace = trace_of(bed, told)
    assert [s.content for s in trace.steps if s.role is Role.TOOL] == ["the note is torn", "x: 1"]
    assert trace.steps[1].tool_calls[0].name == "read"
    assert trace.tools[0]["name"] == "read"
    assert "code" not in trace.tools[0]["parameters"]["properties"], "a hidden argument is shown"


@pytest.mark.slow
def test_a_model_is_asked_through_the_gateway_with_tools_and_sampling(bed, zoo):
    def answer(body: dict[str, Any]) -> Reply:
        if body["messages"][-1]["role"] == "tool":
            return Reply(body["messages"][-1]["content"])
        function = {"name": "add", "arguments": '{"a": 1, "b": 0}'}
        calls = [{"id": "c1", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        said = {"id": "x", "object": "chat.completion", "created": 1, "model": body["model"]}
        return Reply(body=json.dumps({**said, "choices": [choice], "usage": usage}).encode())

    index = index_of("tools")
    with provider(answer) as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        told = bed.do(bed.sweep(zoo, [index], model=model))[index]
    assert isinstance(told.outcome, Scored), told.outcome
    assert told.outcome.reward == 1.0
    assert [tool["function"]["name"] for tool in served.requests[0]["tools"]] == ["add"]
    trace = trace_of(bed, told)
    assert [each.seat for each in trace.calls] == ["agent", "agent"]
    assert [each.usage.input_tokens for each in trace.calls] == [7, 10]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (Reply("no", status=400), Cause.PROVIDER),
        (Reply(body=b"<html>"), Cause.PROVIDER),
    ],
    ids=["refused", "malformed"],
)
def test_a_provider_that_gives_no_reply_fails_the_trial_where_verifiers_would_pay_nothing(
    bed, zoo, reply, cause
):
    index = index_of("single")
    with provider(lambda body: reply) as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        outcome = bed.do(bed.sweep(zoo, [index], model=model))[index].outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.cause is cause


@pytest.mark.slow
def test_a_prompt_beyond_the_context_is_scored_with_that_stop(bed, zoo):
    refusal = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    too_long = Reply(status=400, body=json.dumps(refusal).encode())
    index = index_of("echo")
    with provider(lambda body: Reply("1") if len(body["messages"]) == 1 else too_long) as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        outcome = bed.do(bed.sweep(zoo, [index], model=model))[index].outcome
    assert isinstance(outcome, Scored), outcome
    assert (outcome.reward, outcome.stop) == (1.0, "context")


@pytest.mark.slow
def test_a_judge_that_nobody_serves_is_the_graders_failure_and_known_by_its_token(bed, zoo):
    outcome = run(bed, zoo, "judged", says("1")).outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.cause is Cause.GRADER
    assert "environment code" in outcome.detail, "the gateway did not know whose call it was"


@pytest.mark.slow
def test_a_judge_is_known_asked_through_the_gateway_and_counted_apart(bed):
    judged = bed.do(bed.load(ZOO, kinds=["rubric"]))
    (known,) = judged.environment.judges
    assert (known.name, known.model) == ("agrees", "a-judge")
    with pytest.raises(UsageError, match=r"asks a judge \('agrees'\).*--judge"):
        bed.do(bed.sweep(judged, [0]))
    for verdict, reward in (("yes", 1.0), ("no", 0.0)):

        def answer(body: dict[str, Any], verdict: str = verdict) -> Reply:
            return Reply(verdict, usage=(70, 1)) if body["model"] == "wise" else Reply("1")

        with provider(answer) as served:
            agent = Model(name="fake", base_url=served.url, model="fake")
            judge = Model(name="p/wise", base_url=served.url, model="wise")
            told = bed.do(bed.sweep(judged, [1], model=agent, judge=judge))[1]
        assert isinstance(told.outcome, Scored), told.outcome
        assert told.outcome.reward == reward
        calls = trace_of(bed, told).calls
        assert [(call.seat, call.model) for call in calls] == [
            *(("agent", "fake"), ("environment", "p/wise"))
        ]
        assert [call.usage.input_tokens for call in calls] == [10, 70]
        assert "a-judge" not in json.dumps(served.requests), "the judge's own name went out"


@pytest.mark.slow
def test_arguments_are_checked_and_splits_chosen(bed):
    train = bed.do(bed.load(ZOO, kinds=["single"], split="train"))
    assert bed.do(train.tasks(0, 1))[0].prompt == "Train 0: say 0."
    assert train.environment.tasks.count == 3
    named = bed.do(bed.load(ZOO, kinds=["single"], prefix="Item", train="false"))
    assert bed.do(named.tasks(0, 1))[0].prompt == "Item single 0: say 0."
    assert "split" not in {argument.name for argument in named.environment.args}


BAD_ARGUMENTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"no_such": 1}, "no argument 'no_such'; there is kinds, train, prefix"),
    ({"train": "perhaps"}, "argument 'train': 'perhaps'"),
    ({"split": "test"}, "'split' is eval or train, not 'test'"),
    ({"split": "train", "train": False}, "it has one set of tasks"),
)


@pytest.mark.slow
def test_bad_arguments_are_refused_by_name(bed):
    async def refusals() -> list[Any]:
        loads = (bed.load(ZOO, kinds=["single"], **args) for args, _ in BAD_ARGUMENTS)
        return await asyncio.gather(*loads, return_exceptions=True)

    for error, (_, words) in zip(bed.do(refusals()), BAD_ARGUMENTS, strict=True):
        assert isinstance(error, UsageError), repr(error)
        assert words in str(error)


@pytest.mark.slow
def test_a_package_without_load_environment_says_what_it_lacks(bed, tmp_path):
    root = make_environment(tmp_path, source="x = 1\n", dependencies=DEPENDENCIES_V0)
    with pytest.raises(EnvironmentFailure, match=r"has no load_environment\(\)"):
        bed.do(bed.load(root))


@pytest.mark.venv
def test_an_unpinned_package_gets_the_verifiers_that_it_was_written_for(envwright: CommandLine):
    module = (ZOO / "zoo" / "__init__.py").read_text()
    root = make_environment(
        envwright.folder, name="zoo", source=module, dependencies=("verifiers",)
    )
    done = envwright("env", "inspect", root, "--json", timeout=400)
    assert done.code == 0, done.err
    assert done.json["kind"] == "verifiers-v0"


LOADER = "def load_environment():\n    return None\n"


@pytest.mark.parametrize(
    ("source", "declared", "bounded"),
    [
        (LOADER, "verifiers", True),
        (LOADER, "verifiers>=0.1.4", True),
        (LOADER, "verifiers>=0.1,<0.4", True),
        ("from .inner import load_environment\n", "Verifiers[rl]", True),
        ("from .inner import load as load_environment\n", "verifiers", True),
        ("load_environment = print\n", "verifiers", True),
        (LOADER, "verifiers==0.1.14", False),
        (LOADER, "verifiers<0.2", True),
        (LOADER, "verifiers>=0.4", False),
        ("class A:\n    def load_environment(self): ...\n", "verifiers", False),
        ("import verifiers.v1 as vf\n", "verifiers", False),
        ("def load_environment(:\n", "verifiers", False),
    ],
)
def test_an_open_version_is_bounded_for_a_package_that_was_written_for_the_old(
    tmp_path, source, declared, bounded
):
    root = make_environment(tmp_path, source=source, dependencies=("numpy", declared))
    requirements, said = requirements_of(read_folder(root))
    assert requirements[:2] == ("numpy", str(Requirement(declared)))
    assert requirements[2:] == (("verifiers==0.1.14",) if bounded else ())
    assert ("taking verifiers==0.1.14" in (said or "")) is bounded


@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("0.1.11", "verifiers-v0"),
        ("0.1.14.dev3", "verifiers-v0"),
        ("0.4.0", "verifiers"),
        ("1.0", "verifiers"),
        ("0.1.5", None),
        ("0.2.1", "verifiers-v0"),
        ("0.3.9", "verifiers-v0"),
        ("0.3.9 with a taskset", None),
    ],
)
def test_the_kind_follows_from_what_the_venv_resolved_to(tmp_path, version, kind):
    version, _, taskset = version.partition(" ")
    code = "import verifiers.v1 as vf\n" if taskset else LOADER
    source = read_folder(make_environment(tmp_path, source=code))
    (tmp_path / "lib/python3.12/site-packages" / f"verifiers-{version}.dist-info").mkdir(
        parents=True
    )
    if kind is not None:
        assert kind_of(source, tmp_path) == kind
        return
    with pytest.raises(UsageError, match=f"verifiers {version}, which is not served") as raised:
        kind_of(source, tmp_path)
    assert "0.1.11 to 0.3 with a load_environment(), and 0.4 and later" in raised.value.hint
