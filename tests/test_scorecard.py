"""Points, checks, assembly, the baseline, the page and `scorecard check`: values in, values out."""

import copy
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.audit.assemble import assemble
from envwright.audit.baseline import accept, read_baseline
from envwright.audit.checks import check_of, not_applicable, unfinished
from envwright.audit.page import render_page
from envwright.audit.points import PRICES, band_of, rating_of, score_of, worst
from envwright.audit.scorecard import WEIGHTS, CheckResult, Scorecard, Status, Subject
from envwright.audit.validate import NoScorecard, problems_of, read_card
from envwright.environment import Kind
from envwright.errors import UsageError
from envwright.finding import Basis, Finding, ReplyCitation, Severity, SourceCitation
from envwright.probe.rule import Check, Extent, Report, Rule

KEY = "a" * 64


def rule(number: int, check: Check = Check.REWARD_DESIGN) -> Rule:
    return Rule(f"EW{number}", f"name-{number}", "", check, Severity.FAIL, "t", "h", "because")


RULES = {each.id: each for each in [*map(rule, range(301, 311)), rule(101, Check.INTEGRITY)]}


def finding(
    number: int = 301,
    severity: Severity = Severity.WARN,
    basis: Basis = Basis.PROVEN,
    *,
    statement: str = "it pays",
    key: str = KEY,
) -> Finding:
    return Finding(
        rule=f"EW{number}",
        severity=severity,
        basis=basis,
        statement=statement,
        citations=(ReplyCitation(key=key, signal="correct", quote="1.0"),),
        reproduce="envwright env score …",
    )


def report(number: int, *findings: Finding, **said: Any) -> Report:
    return Report(rule=f"EW{number}", findings=findings, **{"tried": 100, "of": 1000, **said})


findings = st.lists(
    st.builds(
        finding,
        st.integers(301, 310),
        st.sampled_from(Severity),
        st.sampled_from(Basis),
    ),
    max_size=12,
)


@given(findings)
def test_a_score_falls_into_the_band_of_its_worst_finding(found: list[Finding]):
    score = score_of(found)
    assert 0 <= score <= 10
    grades = {each.severity for each in found}
    if any(each.severity is Severity.FAIL and each.basis is Basis.PROVEN for each in found):
        assert band_of(score) is Status.FAIL
    elif grades <= {Severity.INFO}:
        assert score == 10
    else:
        assert band_of(score) is not Status.PASS


@given(findings, findings)
def test_more_findings_never_raise_a_score(some: list[Finding], more: list[Finding]):
    assert score_of([*some, *more]) <= score_of(some)
    assert score_of([*some, *some]) == score_of(some)


def test_every_kind_of_finding_has_a_price():
    assert set(PRICES) == {(severity, basis) for severity in Severity for basis in Basis}


@pytest.mark.parametrize(
    ("score", "band"),
    [(10, "PASS"), (7.5, "PASS"), (7.49, "WARN"), (4, "WARN"), (3.99, "FAIL"), (0, "FAIL")],
)
def test_bands(score: float, band: str):
    assert band_of(score) == band


def test_fail_is_worse_than_incomplete_than_warn_than_pass():
    assert list(Status) == ["N/A", "PASS", "WARN", "INCOMPLETE", "FAIL"]
    assert worst([Status.PASS, Status.INCOMPLETE, Status.WARN]) is Status.INCOMPLETE
    assert worst([Status.INCOMPLETE, Status.FAIL]) is Status.FAIL
    assert worst([Status.NOT_APPLICABLE, Status.PASS]) is Status.PASS


def test_what_is_not_applicable_weighs_nothing():
    assert rating_of([(10.0, 1.0), (None, 1.0), (4.0, 0.5)]) == 8.0
    assert rating_of([(None, 1.0)]) is None


def test_a_justification_says_of_how_many():
    result = check_of(Check.REWARD_DESIGN, [report(301), report(302, of=None)], RULES)
    assert result.status is Status.PASS
    assert result.score == 10
    assert "2 of 2 rules ran" in result.justification
    assert "1 on 100 of 1,000 tasks" in result.justification
    assert "100 of endless tasks" in result.justification


def test_without_a_gold_a_check_is_at_best_a_warning_and_names_what_could_not_run():
    blind = Report(rule="EW302", extent=Extent.NO_GOLD)
    result = check_of(Check.REWARD_DESIGN, [report(301), blind], RULES, no_gold="no field")
    assert result.status is Status.WARN
    assert result.score is not None and result.score < 7.5
    assert "EW302 name-302" in result.justification
    failed = check_of(
        Check.REWARD_DESIGN, [report(301, finding(301, Severity.FAIL)), blind], RULES, no_gold="x"
    )
    assert failed.status is Status.FAIL


def test_what_was_not_finished_leaves_its_check_incomplete_unless_it_fails():
    half = Report(rule="EW302", extent=Extent.UNFINISHED, reason="its process ended", tried=3)
    result = check_of(Check.REWARD_DESIGN, [report(301, finding()), half], RULES)
    assert result.status is Status.INCOMPLETE
    assert "its process ended" in result.justification
    proven = report(301, finding(301, Severity.FAIL))
    assert check_of(Check.REWARD_DESIGN, [proven, half], RULES).status is Status.FAIL


def test_rules_that_do_not_apply_are_said_with_their_reason():
    silent = Report(rule="EW302", extent=Extent.NOT_APPLICABLE, reason="it has no tools")
    result = check_of(Check.REWARD_DESIGN, [report(301), silent], RULES)
    assert "1 of 2 rules ran" in result.justification
    assert "it has no tools" in result.justification
    none = check_of(Check.REWARD_DESIGN, [silent], RULES)
    assert none.status is Status.NOT_APPLICABLE
    assert none.score is None


def subject(name: str = "sums", goal: str = "adds") -> Subject:
    return Subject(name=name, kind=Kind.VERIFIERS, revision=KEY, goal=goal)


def card_of(*results: CheckResult, **said: Any) -> Scorecard:
    given = {each.check: each for each in results}
    rest = [not_applicable(check, "not asked") for check in Check if check not in given]
    return assemble(subject(**said), [*given.values(), *rest], RULES)


def test_overall_is_the_worst_check_that_ran():
    good = check_of(Check.REWARD_DESIGN, [report(301)], RULES)
    open_ = unfinished(Check.INTEGRITY, "it ended")
    assert card_of(good).status is Status.PASS
    assert card_of(good).rating == 10
    assert card_of(good, open_).status is Status.INCOMPLETE
    bad = check_of(Check.INTEGRITY, [report(101, finding(101, Severity.FAIL))], RULES)
    card = card_of(good, bad)
    assert card.status is Status.FAIL
    assert card.rating == 6.5
    assert [each.check for each in card.checks] == list(Check)


def test_feedback_names_strengths_then_fixes_in_order_then_what_is_open():
    warned = check_of(Check.REWARD_DESIGN, [report(301, finding(statement="it echoes"))], RULES)
    bad = check_of(
        Check.INTEGRITY, [report(101, finding(101, Severity.FAIL, statement="no gold"))], RULES
    )
    latency = not_applicable(Check.LATENCY, "no model").model_copy(
        update={"status": Status.PASS, "score": 9.0}
    )
    text = card_of(warned, bad, latency).feedback
    first, second, third = text.split("\n\n")
    assert "quick" in first
    assert second.index("EW101") < second.index("EW301")
    assert "contamination" in third


def test_json_has_the_shape_that_was_promised():
    card = json.loads(
        card_of(check_of(Check.REWARD_DESIGN, [report(301, finding())], RULES)).model_dump_json()
    )
    assert list(card) == ["environment", "status", "rating", "checks", "feedback"]
    design = next(each for each in card["checks"] if each["check"] == "reward_design")
    assert list(design) == ["check", "status", "score", "weight", "justification", "findings"]
    assert list(design["findings"][0]) == [
        "rule", "severity", "basis", "statement", "citations", "reproduce",
    ]  # fmt: skip


# A baseline


def test_a_scorecard_is_a_baseline_for_what_cites_the_same_evidence():
    old = card_of(check_of(Check.REWARD_DESIGN, [report(301, finding())], RULES))
    baseline = read_baseline(old.model_dump_json(), "old.json")
    same = report(301, finding(statement="it pays 12 of 100"))
    left, accepted = accept([same], baseline)
    assert not left[0].findings
    assert accepted is not None
    assert [each.rule for each in accepted.findings] == ["EW301"]
    assert not accepted.stale
    worse = report(301, finding(severity=Severity.FAIL))
    elsewhere = report(301, finding(key="b" * 64))
    for other in (worse, elsewhere, report(302, finding(302))):
        left, accepted = accept([other], baseline)
        assert left[0].findings
        assert accepted is not None
        assert len(accepted.stale) == 1


def test_what_a_baseline_accepted_is_accepted_by_the_card_it_is_in():
    old = card_of(check_of(Check.REWARD_DESIGN, [report(301, finding())], RULES))
    left, accepted = accept(
        [report(301, finding())], read_baseline(old.model_dump_json(), "old.json")
    )
    checks = [check_of(Check.REWARD_DESIGN, left, RULES)]
    checks += [not_applicable(c, "-") for c in Check if c is not Check.REWARD_DESIGN]
    new = assemble(subject(), checks, RULES, accepted)
    assert new.status is Status.PASS
    again, _ = accept([report(301, finding())], read_baseline(new.model_dump_json(), "new.json"))
    assert not again[0].findings


@pytest.mark.parametrize(
    ("entry", "accepts"),
    [
        ({"rule": "EW301"}, True),
        ({"rule": "EW301", "key": "aaaa"}, True),
        ({"rule": "EW301", "key": "bbbb"}, False),
        ({"rule": "EW301", "signal": "correct", "note": "known"}, True),
        ({"rule": "EW301", "signal": "other"}, False),
        ({"rule": "EW301", "path": "x.py"}, False),
        ({"rule": "EW302"}, False),
    ],
)
def test_an_entry_accepts_what_matches_all_it_says(entry: dict[str, str], accepts: bool):
    left, accepted = accept([report(301, finding())], read_baseline(json.dumps([entry]), "b"))
    assert bool(left[0].findings) is not accepts
    assert accepted is not None
    assert bool(accepted.stale) is not accepts


def test_a_line_that_moved_is_the_same_finding():
    def at(line: int) -> Finding:
        cited = SourceCitation(path="a.py", line=line, quote="eval(reply)")
        return finding().model_copy(update={"citations": (cited,)})

    old = card_of(check_of(Check.REWARD_DESIGN, [report(301, at(3))], RULES))
    left, _ = accept([report(301, at(9))], read_baseline(old.model_dump_json(), "b"))
    assert not left[0].findings


@pytest.mark.parametrize(
    "text",
    ["", "{}", "3", '[{"rule": "x"}]', '[{"rule": "EW301", "lin": 3}]', '["EW301"]',
     '{"checks": [{"findings": [{"rule": "EW301"}]}]}'],
)  # fmt: skip
def test_a_bad_baseline_is_refused_in_words(text: str):
    with pytest.raises(UsageError, match=r"--baseline b\.json"):
        read_baseline(text, "b.json")


# Scorecards that anyone may have written


def sound() -> dict[str, Any]:
    warned = check_of(Check.REWARD_DESIGN, [report(301, finding())], RULES)
    good = check_of(Check.INTEGRITY, [report(101)], RULES)
    return json.loads(card_of(warned, good).model_dump_json())


def design(card: dict[str, Any]) -> dict[str, Any]:
    return next(each for each in card["checks"] if each["check"] == "reward_design")


def na(card: dict[str, Any]) -> dict[str, Any]:
    return next(each for each in card["checks"] if each["check"] == "latency")


def test_our_own_scorecards_are_sound():
    assert problems_of(sound()) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: design(c).update(score=9999), "reward_design: score 9999 is outside 0 to 10"),
        (lambda c: design(c).update(score=-0.1), "reward_design: score -0.1 is outside"),
        (lambda c: design(c).update(score=10**400), "reward_design: score 1000"),
        (lambda c: design(c).update(score=math.nan), "reward_design: score nan is no finite"),
        (lambda c: design(c).update(score=math.inf), "reward_design: score inf is no finite"),
        (lambda c: design(c).update(score=True), "reward_design: score True is no number"),
        (lambda c: design(c).update(score="7"), "reward_design: score '7' is no number"),
        (lambda c: design(c).update(score=None), "reward_design: WARN has no score"),
        (lambda c: design(c).update(score=9.0), "reward_design: WARN does not follow"),
        (lambda c: design(c).update(status="PASS"), "reward_design: PASS does not follow"),
        (lambda c: design(c).update(status="FAIL"), "reward_design: FAIL does not follow"),
        (lambda c: design(c).update(status="GOOD"), "reward_design: unknown status 'GOOD'"),
        (lambda c: design(c).update(weight=2.0), "reward_design: weight 2.0 is not 1"),
        (lambda c: design(c).update(weight=True), "reward_design: weight True is not 1"),
        (lambda c: design(c).update(justification=" "), "reward_design: no justification"),
        (lambda c: na(c).update(score=10.0), "latency: N/A has a score, 10.0"),
        (lambda c: na(c).update(weight=1.0), "latency: weight 1.0 is not 0.5"),
        (lambda c: c["checks"].append(c["checks"][0]), "integrity: there 2 times"),
        (lambda c: c["checks"].pop(0), "integrity: missing"),
        (lambda c: c["checks"].append({"check": "vibes"}), "unknown check 'vibes'"),
        (lambda c: c["checks"].append(3), "unknown check None"),
        (lambda c: c.update(checks={}), "checks: missing"),
        (lambda c: c.update(status="PASS"), "status: 'PASS' does not follow"),
        (lambda c: c.update(rating=9.9), "rating: 9.9 does not follow"),
        (lambda c: c.update(rating=math.nan), "rating: nan is no finite"),
        (lambda c: c.update(rating=None), "rating: None does not follow"),
        (lambda c: c.update(rating=True), "rating: True is no number"),
        (lambda c: c.pop("feedback"), "feedback: Field required"),
        (lambda c: c.update(extra=1), "extra: "),
        (lambda c: design(c)["findings"][0].update(citations=[]), "citations: "),
        (lambda c: design(c)["findings"][0].update(severity="fail"),
         "WARN with a proven finding of severity fail"),
    ],
)  # fmt: skip
def test_a_scorecard_that_does_not_hold_together_is_refused_by_name(change: Any, words: str):
    card = sound()
    change(card)
    found = problems_of(card)
    assert any(words in each for each in found), found
    assert all("\n" not in each for each in found)


def test_all_problems_are_named_at_once():
    card = sound()
    design(card).update(score=11)
    na(card).update(score=1)
    assert len(problems_of(card)) == 2


def test_what_is_not_applicable_may_say_that_it_weighs_nothing():
    card = sound()
    na(card).update(weight=0)
    assert problems_of(card) == []


@pytest.mark.parametrize("text", ["", "[]", "3", '{"a": 1, "a": 2}', "[" * 100_000])
def test_what_is_no_scorecard_is_said_so(text: str):
    with pytest.raises(NoScorecard):
        read_card(text)


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.data())
def test_whatever_stands_in_a_scorecard_it_is_read_without_an_error(data: st.DataObject):
    card = copy.deepcopy(sound())
    place: Any = card
    for _ in range(data.draw(st.integers(0, 4))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and data.draw(st.booleans()):
            place = place[key]
        else:
            place[key] = data.draw(junk)
            break
    for problem in problems_of(card):
        assert problem


@given(st.sampled_from(list(Check)), st.floats(0, 10), st.sampled_from(list(Status)))
def test_only_a_status_that_follows_is_taken(check: Check, score: float, status: Status):
    card = sound()
    each = next(one for one in card["checks"] if one["check"] == check)
    has = status is not Status.NOT_APPLICABLE
    each.update(
        status=str(status), score=score if has else None, findings=[], weight=WEIGHTS[check]
    )
    right = status in (Status.INCOMPLETE, Status.NOT_APPLICABLE) or band_of(score) is status
    named = [problem for problem in problems_of(card) if problem.startswith(f"{check}:")]
    assert bool(named) is not right


# The page

HOSTILE = "<script>alert(1)</script>\"' onload=x {{ 7*7 }} \x1b[31m\u202e"


def test_the_page_escapes_all_that_an_environment_says():
    cited = SourceCitation(path=f"{HOSTILE}.py", line=1, quote=HOSTILE)
    bad = finding(severity=Severity.FAIL, statement=HOSTILE).model_copy(
        update={"citations": (cited,), "reproduce": HOSTILE}
    )
    result = check_of(Check.REWARD_DESIGN, [report(301, bad)], RULES).model_copy(
        update={"justification": HOSTILE}
    )
    page = render_page(card_of(result, name=HOSTILE, goal=HOSTILE), RULES)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "{{ 7*7 }}" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert page.count("<h1>") == 1


def test_the_page_needs_nothing_else():
    page = render_page(
        card_of(check_of(Check.REWARD_DESIGN, [report(301, finding())], RULES)), RULES
    )
    for word in ("http:", "https:", "src=", "href=", "url(", "@import"):
        assert word not in page
    assert page.count("<tr>") == 1 + len(Check)
    assert "EW301" in page
