"""Which rule says what of a reward, and how the probes of replies behave."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envwright.finding import ReplyCitation, Severity
from envwright.probe.case import Case
from envwright.probe.reply import PROBES, RULES, settle
from envwright.probe.reply.elsewhere import shared_by_all
from envwright.probe.reply.length import rises
from envwright.probe.reply.monotone import dropped
from envwright.probe.reply.overlap import EXPLAINS, explained_by, is_root, left_of
from envwright.probe.reply.wording import framed, number_of, plain
from envwright.probe.rule import Extent, Report
from plain import Plain, reports_of, rules_found, sample_of
from rewards import BOXED, FAULTY, LISTS, SOUND, SUMS, begins_as_the_list, boxed_number, one

TASK = Plain(SUMS[:1], one(boxed_number)).rows[0]


@pytest.mark.parametrize("name", SOUND)
def test_nothing_is_said_against_a_sound_reward(name):
    assert rules_found(SOUND[name]) == set()


@pytest.mark.parametrize("name", FAULTY)
def test_a_fault_is_named_once_and_by_its_root(name):
    rule, world = FAULTY[name]
    assert rules_found(world) == {rule}


def test_every_rule_is_the_root_of_some_fault():
    assert {rule for rule, _ in FAULTY.values()} == {rule.id for rule in RULES}


def test_rules_say_what_they_do():
    assert len({rule.id for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule.id.startswith("EW3")
        assert all((rule.tries, rule.hit, rule.why, rule.exempt))


@pytest.mark.parametrize("name", ["anything", "any box", "a separator in the gold", "by words"])
def test_a_finding_cites_what_was_said_and_how_to_say_it_again(name):
    _, world = FAULTY[name]
    for report in settle(reports_of(world)):
        for finding in report.findings:
            assert all(isinstance(each, ReplyCitation) for each in finding.citations)
            assert all(each.reply is not None and each.quote for each in finding.citations)
            words = shlex.split(finding.reproduce)
            assert "--task" in words
            assert "--reply" in words


def test_probes_report_on_all_their_rules_also_without_gold():
    world = Plain([(prompt, "") for prompt, _ in SUMS], one(lambda reply, gold, prompt: 0.0))
    reports = reports_of(world)
    assert [report.rule for report in reports] == [rule.id for rule in RULES]
    without = {report.rule for report in reports if report.extent is Extent.NO_GOLD}
    assert without == {rule.id for rule in RULES} - {"EW301", "EW302", "EW303", "EW309"}


def test_what_is_paid_without_gold_is_still_found():
    world = Plain([(prompt, "") for prompt, _ in SUMS], one(lambda reply, gold, prompt: 1.0))
    assert rules_found(world) == {"EW303"}


def test_tries_are_the_same_each_time_and_for_sampled_tasks_alone():
    sample = sample_of(Plain(BOXED, one(boxed_number)))
    for probe in PROBES:
        tries = list(probe.tries(sample))
        assert tries == list(probe.tries(sample))
        assert {each.index for each in tries} <= {case.task.index for case in sample.cases}


def test_a_reply_that_could_not_be_scored_is_neither_paid_nor_refused():
    def raises_on_prose(reply, gold, prompt):
        if "\\boxed" not in reply or reply.count("{") != 1:
            raise ValueError(reply)
        return boxed_number(reply, gold, prompt)

    assert rules_found(Plain(BOXED, one(raises_on_prose))) == set()


def test_what_is_explained_explains_nothing():
    assert {*explained_by({"EW303", "EW306", "EW310"})} == {*EXPLAINS["EW303"]}
    assert "EW310" not in explained_by({"EW308"})
    assert all(rule not in others for rule, others in EXPLAINS.items())


@given(st.sets(st.sampled_from([rule.id for rule in RULES])))
def test_settling_keeps_a_root_and_is_done_after_once(found):
    sample = [Report(rule=rule.id, tried=1) for rule in RULES]
    marked = [
        each.model_copy(update={"findings": FOUND}) if each.rule in found else each
        for each in sample
    ]
    settled = settle(marked)
    kept = {each.rule for each in settled if any(map(is_root, each.findings))}
    assert {each.rule for each in settled if each.findings} == found
    assert kept <= found
    assert bool(kept) == bool(found)
    assert settle(settled) == settled
    assert [each.rule for each in settled] == [each.rule for each in sample]


def test_a_constant_is_measured_by_what_the_gold_did_earn():
    reports = settle(reports_of(FAULTY["a half for anything"][1]))
    (found,) = [f for r in reports for f in r.findings if f.rule == "EW303"]
    assert found.severity is Severity.FAIL
    assert "earns 100% of what the gold earns" in found.statement


def test_what_all_golds_share_keeps_its_lines():
    letters = [
        (f"Write to {n}.", f"Dear {n},\nwe are sorry that it is late.\nYours,\nA firm")
        for n in "xyz"
    ]
    assert shared_by_all(sample_of(Plain(letters, one(begins_as_the_list)))) == (
        "Dear\nwe are sorry that it is late.\nYours,\nA firm"
    )


def test_a_further_item_behind_a_list_is_noted():
    reports = reports_of(Plain(LISTS, one(begins_as_the_list)))
    (found,) = [f for r in reports for f in r.findings]
    assert (found.rule, found.severity) == ("EW306", Severity.INFO)
    assert "the list and a further item, on" in found.statement


def test_what_an_accepted_root_explained_stands_for_itself():
    reports = [r for r in reports_of(FAULTY["a word in a word"][1]) if r.findings]
    settled = settle(reports)
    by_rule = {r.rule: r.findings[0] for r in settled}
    assert by_rule["EW305"].severity is Severity.FAIL
    assert by_rule["EW304"].severity is Severity.INFO
    assert by_rule["EW304"].statement.endswith("of the same cause as EW305")
    assert left_of(reports, settled) == reports
    without = [r for r in settled if r.rule != "EW305"]
    again = {r.rule: r.findings[0] for r in settle(left_of(reports, without)) if r.findings}
    assert "EW305" not in again
    assert again["EW304"].severity is Severity.FAIL


def test_of_two_findings_with_the_same_command_the_accepted_one_is_left_out():
    (first, *_), *_ = (r.findings for r in reports_of(FAULTY["anything"][1]) if r.findings)
    second = first.model_copy(update={"severity": Severity.INFO, "statement": "less of it"})
    both = Report(rule=first.rule, findings=(first, second))
    (left,) = left_of([both], [both.model_copy(update={"findings": (second,)})])
    assert left.findings == (second,)


FOUND = next(report.findings for report in reports_of(FAULTY["anything"][1]) if report.findings)


@given(
    st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-9999, max_value=9999)
)
def test_a_number_is_plainly_the_same_however_it_is_written(number):
    assert plain(f"{number:,}") == plain(f"{number}00") == plain(f" {number}. ")
    assert number_of(f"{number:,}") == number


@given(
    st.text(min_size=1, max_size=20).filter(str.strip), st.text(max_size=20), st.text(max_size=9)
)
def test_another_answer_stands_where_the_gold_stood(gold, other, around):
    case = Case(
        task=TASK,
        gold=gold,
        said=f"{around}{gold}",
        best=1.0,
    )
    assert framed(case, gold) == case.said
    assert framed(case, other).endswith(other)


@given(st.lists(st.floats(0, 1), min_size=1))
def test_a_way_that_only_rises_has_no_drop_in_it(shares):
    assert dropped(sorted(shares), 0.15) is None
    assert not rises(sorted(shares, reverse=True))


def test_half_a_reward_for_the_form_is_warned_of_and_no_more():
    found = [f for r in settle(reports_of(FAULTY["tags are half"][1])) for f in r.findings]
    assert [finding.severity for finding in found] == [Severity.WARN]
