import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from envwright.agent import AgentKind, AgentSpec
from envwright.record import Record, canonical_json, digest
from envwright.trial import Limits, Sampling, Scored, TrialSpec
from envwright.trial.spec import LEFT_OUT_WHILE_UNSET
from envwright_host.frames import BadFrameError, decode

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
SPEC = TrialSpec(
    revision="a" * 64, index=0, key="b" * 64, agent=AgentSpec(kind=AgentKind.ORACLE), args={}
)


class Point(Record):
    x: float
    tags: dict[str, float] = {}


def reversed_keys(value):
    if isinstance(value, dict):
        return {key: reversed_keys(value[key]) for key in reversed(value)}
    return [reversed_keys(each) for each in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_a_digest_does_not_depend_on_the_order_of_keys(value):
    assert digest(value) == digest(reversed_keys(value))


@given(JSON)
def test_canonical_json_is_ascii_and_reads_back_as_it_was(value):
    assert json.loads(canonical_json(value).decode("ascii")) == value


def test_a_digest_is_the_same_in_every_process_and_version():
    # Ids in stores that exist depend on it.
    assert digest({"b": [1, 2.5, None], "a": "ü\ud800"}) == (
        "c903ae0405f1d67dbf2b7e3636bf39bb4977e8ea35268903c8f7f5a46e29c59c"
    )  # fmt: skip


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_passes_no_border(bad):
    with pytest.raises(ValidationError):
        Point(x=bad)
    with pytest.raises(ValidationError):
        Point(x=1, tags={"t": bad})
    with pytest.raises(ValidationError):
        Scored(reward=bad, rewards={})
    with pytest.raises(ValueError, match="Out of range"):
        digest({"x": bad})
    with pytest.raises(BadFrameError):
        decode(json.dumps({"x": bad}).encode())


def test_a_record_refuses_fields_that_it_does_not_know():
    with pytest.raises(ValidationError, match="Extra inputs"):
        Point.model_validate({"x": 1, "y": 2})


def test_a_record_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        Point(x=1).x = 2


@pytest.mark.parametrize(
    "change",
    [
        {"revision": "c" * 64},
        {"index": 1},
        {"key": "c" * 64},
        {"agent": AgentSpec(kind=AgentKind.NOOP)},
        {"agent": AgentSpec(kind=AgentKind.ORACLE, gold_field="x")},
        {"condition": "hardened"},
        {"sampling": Sampling(temperature=0.5)},
        {"args": {"seed": 1}},
        {"venv": "c" * 64},
        {"egress": {"mode": "open"}},
        {"secrets": ("A_KEY",)},
        {"prepared": "c" * 64},
        {"seat": "white"},
        {"played": {"user": "c" * 64}},
        {"judge": "c" * 64},
        {"cap": {"tokens": 5}},
        {"limits": Limits(turns=7)},
        {"n": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_part_of_a_trial_is_part_of_its_id(change):
    changed = TrialSpec.model_validate({**SPEC.model_dump(), **change})
    assert changed.id != SPEC.id
    assert TrialSpec.model_validate_json(changed.model_dump_json()).id == changed.id


def test_what_a_trial_does_not_have_is_no_part_of_its_id():
    """So a trial keeps its id when a program learns of something that it could have had."""
    said = SPEC.model_dump(mode="json", exclude={"limits": {"stall_seconds"}})
    assert SPEC.id == digest({n: v for n, v in said.items() if n not in LEFT_OUT_WHILE_UNSET})
    assert not any(said[name] for name in LEFT_OUT_WHILE_UNSET & said.keys())
