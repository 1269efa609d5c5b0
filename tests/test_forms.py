"""What an environment's own readers look for, in the words of its request."""

import pytest

from envwright.probe.code import read_code
from envwright.probe.forms import readers_in


def wordings(code: str, request: str, gold: str = "e4") -> list[str]:
    return readers_in(read_code({"game.py": code})).wordings(gold, request)


MOVE = r"""
import re
MOVE = re.compile(r"move\s+([a-h][1-8])", re.IGNORECASE)
def paid(reply, answer):
    found = MOVE.search(reply)
    return float(found is not None and found.group(1) == answer)
"""


@pytest.mark.parametrize(
    ("code", "request_text", "said"),
    [
        (MOVE, "Say MOVE and the square, as in MOVE d5.", "MOVE e4"),
        ('reply.partition("Go to")[2]', "Say go to, then the square.", "go to e4"),
        ('reply.startswith("SQUARE")', "Begin with SQUARE.", "SQUARE e4"),
        (r'import re; re.findall(r"\[\[(.+?)\]\]", reply)', "Like this: [[d5]].", "[[e4]]"),
        (r'import re; re.search(r"(\w\d), over\.", reply)', "End: d5, over.", "e4, over."),
        (r'import re; re.search("square *[:=] *(..)", reply)', "Square: and it.", "Square: e4"),
        (r'import re; re.fullmatch("MOVE (..)", reply)', "Its move, as MOVE d5.", "MOVE e4"),
        (
            r'import re; re.fullmatch(r"Why:[^\n]*\nTo: (..)\nDone\.", reply)',
            "Lines: Why: and a reason, then To: and the square, then Done.",
            "Why:\nTo: e4\nDone.",
        ),
    ],
)
def test_the_place_is_the_codes_and_the_words_are_the_requests(code, request_text, said):
    assert said in wordings(code, request_text)


@pytest.mark.parametrize(
    ("code", "request_text"),
    [
        (MOVE, "Say the square alone."),
        ('reply.split("Ziel")', "Name your goal."),
        (r'import re; re.search(r"(\w+)", reply)', "Any word."),
        ('reply.split(",")', "A list, with commas."),
        (r'import re; re.search("(", reply)', "A ( is no pattern."),
    ],
)
def test_what_nobody_was_told_is_not_said(code, request_text):
    assert wordings(code, request_text) == []


LINES = r"""
import re
WHY, SQUARE = re.compile(r"^Why: (.+)$", re.M), re.compile(r"^To: (\w\d)$", re.M)
"""
OBJECT = """
import json
def read(reply):
    found = json.loads(reply)
    return found["why"], found.get("square")
"""


def test_several_lines_are_said_together():
    said = wordings(LINES, "Two lines, Why: and a reason, To: and the square.")
    assert "Why: a\nTo: e4" in said


def test_a_mapping_has_the_key_that_is_looked_for():
    code = """
def read(reply):
    key, _, value = reply.partition(":")
    return value.strip() if key == "square" else None
"""
    assert "square: e4" in wordings(code, "A YAML mapping with the key square.")


def test_however_a_pattern_repeats_itself_its_text_is_short():
    pattern = "(?:" * 6 + "a{200}" + "){200}" * 6 + "(b)"
    code = f"import re; re.search({pattern!r}, reply)"
    assert all(len(each) < 1000 for each in wordings(code, "aaa"))


def test_an_object_has_the_keys_that_are_read():
    said = wordings(OBJECT, "A JSON object with why and square.")
    assert any(each.endswith('"square": "e4"}') for each in said)
    assert wordings(OBJECT, "An object with why and square.") == []
