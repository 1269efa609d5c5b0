"""Several turns and tools: by a script, by a model, and with tools that misbehave."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bed import SHORT, Bed, Told, make_bed
from envwright.agent.script import Script
from envwright.budget import Budget
from envwright.errors import Cause
from envwright.host import Loaded
from envwright.model import Model
from envwright.trace import Role, Trace
from envwright.trial import Failed, Scored
from provider import Reply, provider
from support import EXAMPLES, ROOT

TOOLED = ROOT / "tests" / "environments" / "tooled"


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    # verifiers calls a tool server that is gone six times over some twenty seconds.
    limits = SHORT.model_copy(update={"wall_seconds": 60.0})
    with make_bed(tmp_path_factory.mktemp("tools"), venvs, limits=limits) as made:
        yield made


@pytest.fixture(scope="module")
def notes(bed: Bed) -> Loaded:
    return bed.do(bed.load(EXAMPLES / "notes"))


def trace_of(bed: Bed, told: Told) -> Trace:
    (trace,) = json.loads(bed.app.store.blobs.get(told.attempts[-1].blob))
    return Trace.model_validate(trace)


def call(name: str, arguments: Any) -> dict[str, Any]:
    return {"content": None, "tool_calls": [{"name": name, "arguments": arguments}]}


def name_in(prompt: str) -> str:
    found = re.search(r"code of (\w+ \w+)\?", prompt)
    assert found is not None, prompt
    return found.group(1)


@pytest.mark.slow
def test_a_script_that_uses_the_tool_is_scored_and_its_mistakes_are_told_to_it(bed, notes):
    (task,) = bed.do(notes.tasks(0, 1))
    script = Script(
        replies=(
            call("notes_burn", "{}"),
            call("notes_read", "no JSON"),
            call("notes_read", json.dumps({"title": name_in(task.prompt)})),
            {"content": task.row["answer"], "tool_calls": []},
        )
    )
    told = bed.do(bed.sweep(notes, [0], script=script))[0]
    assert isinstance(told.outcome, Scored), told.outcome
    assert told.outcome.reward == 1.0
    assert told.outcome.metrics["tool_calls"] == 3.0
    trace = trace_of(bed, told)
    unknown, bad, good = [step.content for step in trace.steps if step.role is Role.TOOL]
    assert "no tool 'notes_burn'; there is notes_read, notes_search" in unknown
    assert "the arguments are no JSON" in bad
    assert f"Code: {task.row['answer']}" in good
    assert trace.calls == (), "a script asked a model"


@pytest.mark.slow
def test_a_model_that_calls_tools_is_scored_over_several_turns(bed, notes):
    def answer(body: dict[str, Any]) -> Reply:
        last = body["messages"][-1]
        if last["role"] == "tool":
            return Reply(re.search(r"Code: (\w+)", str(last["content"])).group(1))
        function = {
            "name": "notes_read",
            "arguments": json.dumps({"title": name_in(last["content"])}),
        }
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
        }
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        said = {"id": "x", "object": "chat.completion", "created": 1, "model": body["model"]}
        return Reply(body=json.dumps({**said, "choices": [choice], "usage": usage}).encode())

    with provider(answer) as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        told = bed.do(bed.sweep(notes, [0], model=model))[0]
    assert isinstance(told.outcome, Scored), told.outcome
    assert told.outcome.reward == 1.0
    offered = {tool["function"]["name"] for tool in served.requests[0]["tools"]}
    assert offered == {"notes_read", "notes_search"}
    trace = trace_of(bed, told)
    assert [step.role for step in trace.steps] == ["user", "assistant", "tool", "assistant"]
    assert trace.steps[1].tool_calls[0].name == "notes_read"
    assert [each.usage.input_tokens for each in trace.calls] == [7, 10]


@pytest.mark.slow
def test_a_trial_that_reaches_its_own_cap_is_scored_as_it_stands(bed, notes):
    search = Reply("", tool=("notes_search", {"query": "x"}), usage=(10, 5))
    with provider(lambda _: search) as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        told = bed.do(bed.sweep(notes, [0], model=model, budget=Budget(trial_tokens=40)))[0]
    assert isinstance(told.outcome, Scored), told.outcome
    assert (told.outcome.reward, told.outcome.stop) == (0.0, "budget")
    assert len(served.requests) == 3


@pytest.mark.slow
def test_a_model_that_never_stops_calling_tools_is_scored_with_that_stop(bed, notes):
    endless = Script(replies=tuple(call("notes_search", '{"query": "x"}') for _ in range(50)))
    told = bed.do(bed.sweep(notes, [1], script=endless))[1]
    assert isinstance(told.outcome, Scored), told.outcome
    assert (told.outcome.reward, told.outcome.stop) == (0.0, "turns")


@pytest.mark.slow
def test_a_tool_that_raises_is_told_to_the_agent_and_one_that_dies_fails_the_trial(bed):
    tooled = bed.do(bed.load(TOOLED))
    last = {"content": "I saw it.", "tool_calls": []}
    script = Script(
        tasks={"0": (call("bad_raises", "{}"), last), "1": (call("bad_leaves", "{}"), last)}
    )
    raised = bed.do(bed.sweep(tooled, [0], script=script))[0]
    assert isinstance(raised.outcome, Scored), raised.outcome
    (said,) = [step.content for step in trace_of(bed, raised).steps if step.role is Role.TOOL]
    assert "a tool of the environment's" in said
    left = bed.do(bed.sweep(tooled, [1], script=script))[1]
    assert isinstance(left.outcome, Failed), left.outcome
    assert left.outcome.cause is Cause.ENVIRONMENT
    assert "tool bad_leaves" in left.outcome.detail
    # The dead server took its host with it; the next trial gets a fresh one.
    after = bed.do(bed.sweep(tooled, [0], script=script))[0]
    assert isinstance(after.outcome, Scored), after.outcome
