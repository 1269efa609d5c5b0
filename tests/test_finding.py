import pytest
from pydantic import TypeAdapter, ValidationError

from envwright.finding import (
    Basis,
    Citation,
    Finding,
    ReplyCitation,
    Severity,
    SourceCitation,
    StepCitation,
    TaskCitation,
    check_citation,
)

KEY = "a" * 64
STEP = StepCitation(trial=KEY, attempt=1, seat="agent", step=2, quote="the answer is 4")
SOURCE = SourceCitation(path="x.py", line=2, quote="return 1.0")
TASK = TaskCitation(key=KEY, field="answer", quote="4")
REPLY = ReplyCitation(key=KEY, signal="correct", quote="nan")


def finding(**changes: object) -> Finding:
    body = {
        "rule": "EW001",
        "severity": Severity.FAIL,
        "basis": Basis.PROVEN,
        "statement": "it pays for nothing",
        "citations": (SOURCE,),
        "reproduce": "envwright env score x",
    }
    return Finding.model_validate({**body, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"citations": ()},
        {"citations": ({"kind": "hearsay", "quote": "x"},)},
        {"citations": ({"kind": "source", "path": "x", "line": 0, "quote": "x"},)},
        {"rule": "something"},
        {"severity": "dreadful"},
        {"basis": "felt"},
        {"reproduce": None},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_finding_without_its_evidence_does_not_validate(changes):
    assert finding()
    with pytest.raises(ValidationError):
        finding(**changes)


@pytest.mark.parametrize("citation", [STEP, SOURCE, TASK, REPLY], ids=lambda c: c.kind)
def test_a_citation_reads_back_as_its_own_kind(citation):
    made = finding(citations=(citation,))
    assert Finding.model_validate_json(made.model_dump_json()) == made
    assert TypeAdapter(Citation).validate_python(citation.model_dump()) == citation


@pytest.mark.parametrize(
    ("citation", "text", "holds"),
    [
        (STEP, "so the answer is 4.", True),
        (STEP, "so the answer\n  is\t4.", True),
        (STEP, "so the answer is 5.", False),
        (STEP, "", False),
        (STEP.model_copy(update={"quote": "the\nanswer   is 4"}), "the answer is 4", True),
        (STEP.model_copy(update={"quote": ""}), "anything", False),
        (STEP.model_copy(update={"quote": " \n"}), "any thing", False),
        (SOURCE, "def f():\n    return 1.0\n", True),
        (SOURCE, "return 1.0\ndef f():\n", False),
        (SOURCE, "return 1.0", False),
        (TASK, "24", True),
        (REPLY, "nan", True),
        (REPLY, "1.0", False),
    ],
)
def test_a_citation_holds_only_where_its_quote_stands(citation, text, holds):
    assert check_citation(citation, text) is holds
