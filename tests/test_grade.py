"""From a record of verifiers to an outcome, as `trial.run` takes it: read, then judged."""

from datetime import UTC, datetime

import pytest

from envwright.errors import Cause, Fault, ProviderError
from envwright.finding import Basis, Severity
from envwright.record import digest
from envwright.trace import ModelCall
from envwright.trace.verifiers import read_episode
from envwright.trial import Failed, Scored, Stop
from envwright.trial.grade import findings_of, judge_episode

GOOD = {"correct": {"score": 1.0, "weight": 1.0}}


def trace(*, name: str = "agent", trainable: bool = True, **changes: object) -> dict[str, object]:
    return {
        "agent": {"name": name, "trainable": trainable},
        "nodes": [{"message": {"role": "user", "content": "?"}}],
        "rewards": GOOD,
        "metrics": {},
        "stop_condition": "agent_completed",
        "errors": [],
        **changes,
    }


def record(*traces: dict[str, object], ok: bool = True, errors: object = ()) -> dict[str, object]:
    return {"traces": list(traces), "ok": ok, "errors": list(errors)}


def judge(body: dict[str, object], failure: ProviderError | None = None):
    return judge_episode(read_episode(body, [], None), failure)


def error(kind: str, message: str = "it broke", traceback: str | None = None):
    return {"type": kind, "message": message, "traceback": traceback}


@pytest.mark.parametrize(
    ("kind", "message", "cause"),
    [
        # Every type of verifiers.v1.errors.
        ("ProviderError", "502", Cause.PROVIDER),
        ("SandboxError", "no runtime", Cause.SANDBOX),
        ("ToolsetError", "server down", Cause.ENVIRONMENT),
        ("EnvError", "run() raised", Cause.ENVIRONMENT),
        ("HarnessError", "exit 1", Cause.OURS),
        ("InterceptionError", "refused", Cause.OURS),
        ("TunnelError", "refused", Cause.OURS),
        ("TaskError", "task scoring: ValueError: boo", Cause.GRADER),
        ("TaskError", "task setup: ValueError: scoring failed", Cause.ENVIRONMENT),
        ("TaskError", "task finalize: OSError: x", Cause.ENVIRONMENT),
        # What verifiers has no type for is the environment's.
        ("RolloutError", "x", Cause.ENVIRONMENT),
        ("ZeroDivisionError", "division by zero", Cause.ENVIRONMENT),
    ],
)
@pytest.mark.parametrize("place", ["trace", "episode"])
def test_an_error_of_verifiers_fails_the_trial_with_its_cause(kind, message, cause, place):
    said = error(kind, message)
    body = (
        record(trace(errors=[said], stop_condition="x"), ok=False)
        if place == "trace"
        else record(trace(), ok=False, errors=[said])
    )
    outcome = judge(body)
    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.detail) == (cause, f"{kind}: {message}")
    assert outcome.retryable is False


def test_a_failure_carries_the_environments_own_traceback():
    said = error("TaskError", "task scoring: x", "Traceback…\n  boom at line 3\n")
    outcome = judge(record(trace(errors=[said]), ok=False))
    assert outcome.detail == "Traceback…\n  boom at line 3"


@pytest.mark.parametrize(
    ("condition", "stop"),
    [
        (None, Stop.COMPLETED),
        ("agent_completed", Stop.COMPLETED),
        ("max_turns", Stop.TURNS),
        ("agent_timeout", Stop.TIME),
        ("context", Stop.CONTEXT),
        ("budget", Stop.BUDGET),
        ("max_input_tokens", Stop.TOKENS),
        ("max_output_tokens", Stop.TOKENS),
        ("max_total_tokens", Stop.TOKENS),
        ("user_closed", Stop.ENVIRONMENT),
        ("a_rule_of_its_own", Stop.ENVIRONMENT),
    ],
)
def test_an_agent_that_ran_out_is_scored_with_its_stop(condition, stop):
    outcome = judge(record(trace(stop_condition=condition)))
    assert isinstance(outcome, Scored)
    assert (outcome.reward, outcome.stop) == (1.0, stop)


@pytest.mark.parametrize(
    ("condition", "cause"),
    [
        ("setup_timeout", Cause.ENVIRONMENT),
        ("finalize_timeout", Cause.ENVIRONMENT),
        ("scoring_timeout", Cause.GRADER),
    ],
)
def test_a_stage_that_did_not_end_in_time_has_no_reward(condition, cause):
    outcome = judge(record(trace(stop_condition=condition)))
    assert isinstance(outcome, Failed)
    assert outcome.cause is cause


@pytest.mark.parametrize(
    ("rewards", "metrics", "said"),
    [
        ({"a": {"score": "NaN", "weight": 1.0}}, {}, "a returned NaN"),
        ({"a": {"score": "-Infinity", "weight": 1.0}}, {}, "a returned -Infinity"),
        ({"a": {"score": float("nan"), "weight": 1.0}}, {}, "a returned nan"),
        ({"a": {"score": "1.0", "weight": 1.0}}, {}, "a returned 1.0"),
        ({"a": {"score": 10**320, "weight": 1.0}}, {}, f"a returned 1{'0' * 199}"),
        ({"a": {"score": 10**5000, "weight": 1.0}}, {}, "a returned an integer too long to spell"),
        ({"a": {"score": {"x": 1}, "weight": 1.0}}, {}, "a returned {'x': 1}"),
        ({"a": {"score": 1.0, "weight": "Infinity"}}, {}, "a (weight) returned Infinity"),
        (GOOD, {"m": "NaN"}, "m returned NaN"),
    ],
)
def test_a_signal_that_is_no_number_fails_the_grader_with_a_proven_finding(rewards, metrics, said):
    episode = read_episode(record(trace(rewards=rewards, metrics=metrics)), [], None)
    outcome = judge_episode(episode, None)
    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.detail) == (Cause.GRADER, f"not a number: {said}")
    (finding,) = findings_of(episode, digest("key"), "envwright trial show x")
    assert (finding.severity, finding.basis) == (Severity.FAIL, Basis.PROVEN)
    assert finding.statement.startswith(said)
    assert finding.citations[0].quote == said.partition(" returned ")[2]


@pytest.mark.parametrize(
    ("rewards", "said"),
    [
        ({"a": None, **GOOD}, "rewards that did not run: a"),
        ({}, "the measured seat has no reward at all"),
        ({n: {"score": 1e308, "weight": 1e308} for n in "ab"}, "not a number"),
        ({n: {"score": 1.7e308, "weight": 1.0} for n in "ab"}, "not a number"),
        ({n: {"score": 1e308, "weight": w} for n, w in (("a", 9), ("b", -9))}, "not a number"),
    ],
)
def test_a_reward_that_is_missing_is_no_zero(rewards, said):
    outcome = judge(record(trace(rewards=rewards)))
    assert isinstance(outcome, Failed)
    assert outcome.cause is Cause.GRADER
    assert outcome.detail.startswith(said)


def test_a_reward_is_the_weighted_sum_and_a_metric_that_did_not_run_is_named():
    rewards = {"a": {"score": 0.5, "weight": 2.0}, "b": {"score": True, "weight": -0.25}}
    outcome = judge(record(trace(rewards=rewards, metrics={"m": 3, "left_out": None})))
    assert isinstance(outcome, Scored)
    assert outcome.reward == 0.75
    assert outcome.metrics == {"m": 3.0}
    assert outcome.skipped == ("left_out",)


@pytest.mark.parametrize(
    "body",
    [
        record(trace(errors=[error("HarnessError", "exit 1")]), ok=False),
        record(trace(errors=[error("TaskError", "task scoring: x")])),
        record(trace(), ok=False),
        record(ok=False, errors=[error("EnvError")]),
        # Environment code that swallowed the failure of its judge measured nothing.
        record(trace()),
    ],
)
def test_the_gateways_word_on_the_provider_outranks_what_came_after_it(body):
    refusal = ProviderError("401: no", status=401, hint="check the key")
    outcome = judge(body, refusal)
    assert isinstance(outcome, Failed)
    assert (outcome.cause, outcome.refused, outcome.retryable) == (Cause.PROVIDER, True, False)
    assert outcome.detail == "401: no. hint: check the key"


@pytest.mark.parametrize(
    ("status", "fault", "retryable", "refused"),
    [
        (429, Fault.RATE, True, False),
        (400, Fault.OVERLOADED, True, False),
        (None, Fault.RATE, True, False),
        # More credit may come; a provider that wants to be paid first does not answer anyone.
        (429, Fault.QUOTA, True, False),
        (400, Fault.QUOTA, True, False),
        (402, Fault.QUOTA, False, True),
        (403, Fault.QUOTA, False, True),
        (500, Fault.CONTEXT, False, False),
    ],
)
def test_what_a_providers_error_means_is_kept(status, fault, retryable, refused):
    failure = ProviderError("x", status=status, code=fault)
    outcome = judge(record(trace(), ok=False), failure)
    assert isinstance(outcome, Failed)
    assert (outcome.fault, outcome.retryable, outcome.refused) == (fault, retryable, refused)
    assert Failed.model_validate_json(outcome.model_dump_json()) == outcome


@pytest.mark.parametrize(
    ("status", "retryable", "refused"),
    [
        *((status, True, False) for status in (None, 408, 409, 425, 429, 500, 502, 503, 529)),
        *((status, False, True) for status in (401, 402, 403, 404)),
        *((status, False, False) for status in (400, 413, 422)),
    ],
)
def test_a_providers_status_says_whether_to_try_again(status, retryable, refused):
    failure = ProviderError("x", status=status, retry_after_seconds=7.0)
    outcome = judge(record(trace(), ok=False), failure)
    assert isinstance(outcome, Failed)
    assert (outcome.retryable, outcome.refused) == (retryable, refused)
    assert outcome.retry_after_seconds == 7.0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (record(), "no trace of a measured seat"),
        (record(trace(trainable=False)), "no trace of a measured seat"),
        (record(trace(), ok=False), "does not say why"),
        ({"traces": "garbage", "ok": True, "errors": 3}, "no trace of a measured seat"),
        ({}, "no trace of a measured seat"),
    ],
)
def test_a_record_that_says_nothing_is_the_environments_failure(body, said):
    outcome = judge(body)
    assert isinstance(outcome, Failed)
    assert outcome.cause is Cause.ENVIRONMENT
    assert said in outcome.detail


def test_only_the_measured_seat_is_scored_and_each_seat_keeps_its_own_calls():
    def call(seat: str) -> ModelCall:
        return ModelCall(
            seat=seat, model="m", started_at=datetime(2026, 1, 1, tzinfo=UTC), seconds=1
        )

    body = record(
        trace(name="user", trainable=False, rewards={"x": {"score": "NaN", "weight": 1.0}}),
        trace(name="solver", rewards={"x": {"score": 0.25, "weight": 1.0}}),
        trace(name="solver", rewards={"x": {"score": 0.75, "weight": 1.0}}),
    )
    calls = [call("user"), call("solver"), call("environment"), call("solver")]
    episode = read_episode(body, calls, None)
    assert [(t.seat, t.measured, len(t.calls)) for t in episode.traces] == [
        ("user", False, 1),
        ("solver", True, 3),
        ("solver", True, 0),
    ]
    outcome = judge_episode(episode, None)
    assert isinstance(outcome, Scored)
    assert outcome.reward == 0.5
    assert [t.seat for t in read_episode(body, calls, "user").measured] == ["user"]


def test_tries_that_earn_different_rewards_add_up_to_their_mean():
    body = record(
        trace(rewards={"x": {"score": 1.0, "weight": 0.5}, "y": {"score": 1.0, "weight": 1.0}}),
        trace(rewards={"x": {"score": 0.0, "weight": 0.5}}),
        trace(rewards={}),
    )
    outcome = judge_episode(read_episode(body, [], None), None)
    assert isinstance(outcome, Scored)
    assert outcome.reward == 0.75
    assert sum(s.score * s.weight for s in outcome.rewards.values()) == 0.75


def test_a_trace_says_which_signals_did_not_run():
    told = record(trace(skipped=["left_out"]))
    outcome = judge_episode(read_episode(told, [], None), None)
    assert isinstance(outcome, Scored)
    assert outcome.skipped == ("left_out",)
    nothing = judge_episode(read_episode(record(trace(rewards={}, skipped=["a"])), [], None), None)
    assert isinstance(nothing, Failed)
    assert "no reward at all; these did not run: a" in nothing.detail


@pytest.mark.parametrize("bad", [float("inf"), 10**400, "x", None])
def test_a_span_of_time_that_is_no_number_is_left_out(bad):
    timing = {"setup": {"start": 1.0, "end": bad}, "agent": {"start": 1, "end": 3.5}}
    (read,) = read_episode(record(trace(timing=timing)), [], None).traces
    assert (read.timing.setup, read.timing.agent) == (None, 2.5)
