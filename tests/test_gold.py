import pytest

from envwright.probe.gold import field_of
from envwright_host.gold import FIELDS, NoGoldError, gold_of, wordings


@pytest.mark.parametrize(
    ("row", "field", "gold"),
    [
        *(({name: "x", "other": "y"}, None, "x") for name in FIELDS),
        ({"solution": "second", "answer": "first"}, None, "first"),
        ({"answer": "", "target": "t"}, None, "t"),
        ({"answer": None, "target": "t"}, None, "t"),
        ({"answer": 0}, None, "0"),
        ({"answer": False}, None, "False"),
        ({"answer": 4.5}, None, "4.5"),
        ({"answer": ["a", "b"]}, None, "a"),
        ({"answer": [["deep"], "b"]}, None, "deep"),
        ({"answer": "x", "mine": "y"}, "mine", "y"),
        ({"info": {"gold": {"text": "deep"}}}, "info.gold.text", "deep"),
    ],
)
def test_the_gold_is_the_named_field_or_the_first_known_one(row, field, gold):
    assert gold_of(row, field) == gold


@pytest.mark.parametrize(
    ("row", "field", "said"),
    [
        ({"prompt": "?"}, None, "the row has prompt"),
        ({}, None, "the row has nothing"),
        ({"answer": "x"}, "gold", "looked for gold; the row has answer"),
        ({"answer": {"text": "x"}}, "answer.missing", "looked for answer.missing"),
        ({"answer": "text"}, "answer.text", "looked for answer.text"),
        ({"answer": ""}, None, "the row has answer"),
    ],
)
def test_a_row_without_gold_says_what_was_looked_for_and_what_it_has(row, field, said):
    with pytest.raises(NoGoldError) as raised:
        gold_of(row, field)
    assert said in str(raised.value)
    assert "--gold-field" in str(raised.value)


@pytest.mark.parametrize(
    ("request_text", "first"),
    [
        ("What is 2+2?", "4"),
        ("Put it in \\boxed{}.", "\\boxed{4}"),
        ("Use <ANSWER> tags.", "<answer>4</answer>"),
        ("End with #### N.", "#### 4"),
        ("End with 'Answer: N'.", "Answer: 4"),
        ("Reply in a ``` block.", "```\n4\n```"),
    ],
)
def test_an_oracle_says_the_gold_first_as_it_was_asked_to(request_text, first):
    said = wordings("4", request_text)
    assert said[0] == first
    assert "4" in said
    assert len(set(said)) == len(said) >= 6


def test_a_field_that_is_named_is_found_one_level_down_too():
    row = {"prompt": "p", "info": {"squares": "e4"}}
    assert field_of(row, "squares") == "info.squares"
    assert field_of(row, "nowhere") is None


def test_an_object_is_said_by_itself_whatever_stands_before_it_in_the_request():
    gold = '{"n": 4}'
    assert wordings(gold, 'Reply with a JSON object: {"n": <number>}')[0] == gold
