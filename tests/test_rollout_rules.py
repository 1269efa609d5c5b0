"""The rules of rollouts, over rollouts that are made by hand."""

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from envwright.errors import Cause
from envwright.finding import Severity, check_citation
from envwright.probe.rollout import RULES, Rollout, Rollouts, latency_of, read_latency, read_quality
from envwright.probe.rule import Extent, Report
from envwright.record import digest
from envwright.stats import centred_ranks, quantile, rank_correlation
from envwright.trace import ModelCall, Role, Score, Step, Timing, Trace, Usage
from envwright.trial.outcome import Failed, Outcome, Scored, Stop

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def scored(reward: float, stop: Stop = Stop.COMPLETED, **metrics: float) -> Scored:
    return Scored(
        reward=reward, rewards={"correct": Score(score=reward)}, stop=stop, metrics=metrics
    )


def rollout(
    n: int,
    outcome: Outcome | None,
    reply: str = "four",
    *,
    task: int = 0,
    prompt: str = "What is 2+2?",
    tools: tuple[str, ...] = (),
    finish: str = "stop",
    seconds: float = 2.0,
    model: float = 1.0,
    scoring: float = 0.1,
) -> Rollout:
    call = ModelCall(
        seat="agent",
        model="m",
        started_at=NOW,
        seconds=model,
        status=200,
        finish_reason=finish,
        usage=Usage(input_tokens=10, output_tokens=5),
    )
    steps = (
        Step(role=Role.USER, content=prompt),
        *(Step(role=Role.TOOL, content=said) for said in tools),
        Step(role=Role.ASSISTANT, content=reply, sampled=True),
    )
    trace = Trace(seat="agent", steps=steps, calls=(call,), timing=Timing(scoring=scoring))
    return Rollout(
        trial=digest(f"trial {n}"),
        attempt=1,
        key=digest(f"task {task}"),
        prompt=prompt,
        outcome=outcome,
        seconds=seconds,
        traces=(trace,),
    )


def rollouts(each: list[Rollout]) -> Rollouts:
    return Rollouts(agent="chat:m", each=each, tasks=len({r.key for r in each}), of=50)


def mixed(count: int = 40) -> list[Rollout]:
    """Four tasks whose rewards differ, lengths that do not matter."""
    return [
        rollout(n, scored(float((n // 4) % 2)), "x" * (3 + (n // 8) % 3), task=n % 4)
        for n in range(count)
    ]


def reports(each: list[Rollout]) -> dict[str, Report]:
    told = rollouts(each)
    return {report.rule: report for report in [*read_quality(told), *read_latency(told)]}


def hits(each: list[Rollout]) -> dict[str, Severity]:
    return {
        rule: report.findings[0].severity
        for rule, report in reports(each).items()
        if report.findings
    }


def test_sound_rollouts_have_no_finding_and_every_rule_has_a_report():
    told = reports(mixed())
    assert sorted(told) == sorted(rule.id for rule in RULES)
    assert hits(mixed()) == {}


@pytest.mark.parametrize("stop", [Stop.TURNS, Stop.TIME, Stop.CONTEXT, Stop.TOKENS])
def test_rollouts_that_ran_out_are_truncated(stop: Stop):
    cut = [rollout(100 + n, scored(0.0, stop), task=n % 4) for n in range(8)]
    told = reports([*mixed(), *cut])["EW701"]
    assert "8 of 48" in told.findings[0].statement
    assert str(stop) in told.findings[0].statement
    assert "EW701" not in hits([*mixed(), *cut[:2]])


def test_a_reply_that_was_cut_is_truncated():
    cut = [rollout(100 + n, scored(0.0), finish="length", task=n % 4) for n in range(8)]
    assert "EW701" in hits([*mixed(), *cut])


def test_replies_without_the_format_that_is_asked_for_are_counted():
    asks = "What is 2+2? Put it in \\boxed{}."
    good = [rollout(n, scored(1.0), "\\boxed{4}", prompt=asks, task=n) for n in range(10)]
    bad = [rollout(50 + n, scored(0.0), "4", prompt=asks, task=n) for n in range(10)]
    assert "EW702" not in hits(good)
    assert "10 of 20" in reports([*good, *bad])["EW702"].findings[0].statement
    assert reports(mixed())["EW702"].extent is Extent.NOT_APPLICABLE


def test_a_metric_that_is_named_after_a_format_is_believed():
    bad = [rollout(n, scored(0.0, format_ok=float(n > 5)), task=n) for n in range(10)]
    assert "6 of 10" in reports(bad)["EW702"].findings[0].statement


@pytest.mark.parametrize(
    ("said", "is_error"),
    [
        ("error: no tool 'x'", True),
        ("Traceback (most recent call last):\n…", True),
        ('{"error": "no such row"}', True),
        ('{"rows": []}', False),
        ('{"error": null, "rows": [1]}', False),
        ("The error rate was 3 %", False),
        ("", False),
    ],
)
def test_a_tool_that_says_error_is_counted(said: str, is_error: bool):
    told = reports([rollout(n, scored(n % 2), tools=(said,), task=0) for n in range(10)])["EW703"]
    assert bool(told.findings) is is_error
    assert told.tried == 10


def test_tasks_without_a_difference_are_counted_with_where_they_lie():
    same = [rollout(n, scored(float(n % 4 == 0)), task=n % 4) for n in range(40)]
    told = reports(same)["EW704"]
    assert "4 of 4 (100%) tasks" in told.findings[0].statement
    assert "3 at 0" in told.findings[0].statement
    alone = [rollout(n, scored(0.0), task=n) for n in range(10)]
    assert reports(alone)["EW704"].extent is Extent.NOT_APPLICABLE


def test_a_reward_that_follows_length_is_a_warning_and_brevity_a_note():
    longer = [rollout(n, scored(n / 40), "x" * (n // 4 + 1), task=n % 4) for n in range(40)]
    assert hits(longer)["EW705"] is Severity.WARN
    shorter = [rollout(n, scored(1 - n / 40), "x" * (n // 4 + 1), task=n % 4) for n in range(40)]
    assert hits(shorter)["EW705"] is Severity.INFO
    few = [rollout(n, scored(n / 8), "x" * n, task=0) for n in range(8)]
    assert reports(few)["EW705"].extent is Extent.NOT_APPLICABLE


def test_long_tasks_that_pay_more_are_no_bias_within_a_task():
    """Between tasks length and reward go together; within each they do not."""
    apart = [
        rollout(n, scored((n % 2) * 0.5 + (n // 2 % 2) * 0.1), "x" * (1 + 50 * (n % 2)), task=n % 2)
        for n in range(40)
    ]
    assert "EW705" not in hits(apart)


def test_failures_of_the_environment_are_findings_and_those_of_others_leave_it_open():
    broken = [rollout(90 + n, Failed(cause=Cause.GRADER, detail="x\nKeyError: 'a'"), task=n % 4)
              for n in range(5)]  # fmt: skip
    assert hits([*mixed(), *broken])["EW706"] is Severity.FAIL
    assert "KeyError" in reports([*mixed(), *broken])["EW706"].findings[0].statement
    assert hits([*mixed(), *broken[:1]])["EW706"] is Severity.WARN
    away = rollout(99, Failed(cause=Cause.PROVIDER, detail="no answer"))
    told = reports([*mixed(), away, rollout(98, None)])["EW706"]
    assert told.extent is Extent.UNFINISHED
    assert "1 failed (provider)" in told.reason
    assert "1 were not run" in told.reason
    assert not told.findings


def test_latency_tells_shares_that_add_up():
    spread = latency_of(rollouts(mixed()))
    assert spread is not None
    parts = spread.model.total + spread.environment.total + spread.scoring.total
    assert parts == pytest.approx(spread.whole.total)
    text = str(spread)
    for words in (
        "40 of 40 rollouts",
        "model 50%",
        "environment 45%",
        "scoring 5%",
        "10/10 tokens in",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("rule", "slow"),
    [
        ("EW711", {"seconds": 20.0, "scoring": 15.0}),
        ("EW712", {"seconds": 20.0, "model": 1.0}),
    ],
)
def test_slow_parts_are_named(rule: str, slow: dict[str, float]):
    told = reports([rollout(n, scored(n % 2), task=0, **slow) for n in range(20)])
    assert told[rule].findings
    assert "EW713" not in hits([rollout(n, scored(n % 2), task=0, **slow) for n in range(20)])


def test_a_long_tail_is_named():
    quick = [rollout(n, scored(n % 2), task=0) for n in range(18)]
    tail = [rollout(50 + n, scored(0.0), task=0, seconds=100, model=99) for n in range(2)]
    assert "EW713" in hits([*quick, *tail])
    cited = reports([*quick, *tail])["EW713"].findings[0].citations[0]
    assert cited.kind == "step"
    assert cited.trial == tail[0].trial


def test_every_citation_holds():
    bad = [
        rollout(n, scored(0.0, Stop.TURNS), "so long", tools=("error: no",), seconds=99, scoring=30)
        for n in range(20)
    ]
    by_trial = {each.trial: each for each in bad}
    found = [f for report in reports(bad).values() for f in report.findings]
    assert len(found) >= 4
    for cited in (citation for each in found for citation in each.citations):
        assert cited.kind == "step"
        step = by_trial[cited.trial].traces[0].steps[cited.step]
        assert check_citation(cited, step.content)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=3, max_size=30))
def test_one_group_is_spearmans(pairs: list[tuple[int, int]]):
    values = [(float(x), float(y)) for x, y in pairs]
    tied = rank_correlation([values], shuffles=1)
    if len({x for x, _ in pairs}) < 2 or len({y for _, y in pairs}) < 2:
        assert tied is None
    else:
        assert tied is not None
        other = reference.spearmanr([x for x, _ in pairs], [y for _, y in pairs])
        assert tied.value == pytest.approx(other.statistic)


def test_p_of_a_permutation_test_is_near_the_exact_one():
    values = [(1.0, 2.0), (2.0, 1.0), (3.0, 4.0), (4.0, 3.0), (5.0, 5.0)]
    tied = rank_correlation([values])
    assert tied is not None
    right = centred_ranks([y for _, y in values])
    sums = [
        abs(sum(x * y for x, y in zip(order, right, strict=True)))
        for order in itertools.permutations(centred_ranks([x for x, _ in values]))
    ]
    exact = sum(each >= tied.value * 10 - 1e-9 for each in sums) / len(sums)
    assert tied.p == pytest.approx(exact, abs=0.03)
    assert rank_correlation([values]) == tied


@given(st.lists(st.floats(-5, 5), min_size=1), st.floats(0, 1))
def test_a_quantile_lies_among_the_values(values: list[float], q: float):
    assert min(values) <= quantile(values, q) <= max(values)
    assert quantile(values, 0) == min(values)
    assert quantile(values, 1) == max(values)
