# ruff: noqa: E501 - tables of prompts and answers, one to a line
"""What is read of tools and their answers, without an episode."""

import json

import pytest

from envwright.environment import Environment, Kind, Signal, Task, TaskCount
from envwright.probe.case import Case, Sample
from envwright.probe.code import read_code
from envwright.probe.episode.look import asked_calls
from envwright.probe.episode.record import chosen, fields_of
from envwright.probe.episode.tool import Called, Tool
from envwright.probe.episode.unneeded import demands, read_unneeded
from envwright.probe.episode.view import exemplifies, in_answers
from envwright.probe.source.reckons import ignored_tool, only_reckon

KEY = "a" * 64
RULES = "Decide claims. Deny if the amount is not above the deductible; refer if filed late; approve otherwise."
CLAIM = {
    "claim": "TC-71",
    "amount": 300,
    "deductible": 500,
    "days_until_filed": 3,
    "outcome": "deny",
}
LOOK = "What is the status of order 71: open, sent or lost?"
TOTAL = "Open invoice 71 and add up its lines. What does it come to?"
INVOICE = {"invoice": 71, "lines": [{"cents": 40}, {"cents": 60}], "sum_cents": 100}


def case_of(prompt: str, gold: str, **row: object) -> Case:
    full = {"prompt": prompt, **row}
    return Case(Task(index=0, key=KEY, prompt=prompt, row=full), gold=gold, said=gold, best=1.0)


def told(case: Case, arguments: dict[str, object], answer: str, tool: str = "look") -> bool:
    call = Called(tool, arguments, answer)
    return (
        bool([*in_answers(case, [call], None, lambda _: "run it")])
        or chosen(case, call) is not None
    )


@pytest.mark.parametrize(
    ("prompt", "system", "gold", "given", "answer", "tells"),
    [
        # To be decided by rules, and decided already: under whatever name, in whatever spelling.
        ("Decide claim TC-71.", RULES, "deny", "TC-71", json.dumps(CLAIM), True),
        ("Decide claim TC-71.", RULES, "deny", "TC-71", str(CLAIM), True),
        ("Decide claim TC-71.", RULES, "deny", "TC-71", json.dumps([CLAIM]), True),
        (
            "Decide claim TC-71.",
            RULES,
            "deny",
            "TC-71",
            json.dumps({"ok": True, "row": CLAIM}),
            True,
        ),
        (
            "Decide claim TC-71.",
            RULES,
            "deny",
            "TC-71",
            "Amount: 300\nDeductible: 500\nFiled: day 3\nOutcome: deny",
            True,
        ),
        (
            "Decide claim TC-71.",
            RULES,
            "deny",
            "TC-71",
            "Claim(amount=300, deductible=500, outcome='deny')",
            True,
        ),
        (
            "Which team does ticket 71 belong to: red or blue?",
            "",
            "red",
            71,
            '{"n": 71, "text": "The printer eats paper again", "team": "red"}',
            True,
        ),
        (TOTAL, "", "100", 71, json.dumps(INVOICE), True),
        # Of another claim, without the outcome, of several, or said by the agent itself.
        ("Decide claim TC-71.", RULES, "deny", "TC-5", json.dumps(CLAIM), False),
        (
            "Decide claim TC-71.",
            RULES,
            "deny",
            "TC-71",
            json.dumps({**CLAIM, "outcome": None}),
            False,
        ),
        ("Decide claim TC-71.", RULES, "deny", "TC-71", json.dumps([CLAIM, CLAIM]), False),
        ("Decide claim TC-71.", RULES, "deny", "deny", json.dumps(CLAIM), False),
        # Looked up: nothing of the record is what the answer follows from.
        (LOOK, "", "sent", 71, '{"order": 71, "status": "sent"}', False),
        (LOOK, "", "sent", 71, '{"order": 71, "status": "sent", "clerk": "Ada"}', False),
        (
            LOOK,
            "Look it up by its number.",
            "sent",
            71,
            '{"status": "sent", "note": "left at the door on Monday"}',
            False,
        ),
        (
            "Where was item 71 found?",
            "",
            "Bern",
            71,
            '{"item": 71, "place": "Bern", "text": "A vase of the older kind"}',
            False,
        ),
        # Reckoned, or looked up: the tool is for that.
        ("How much is `6 * 7`?", "", "42", "6 * 7", "42", False),
        ("How much is `6 * 7`?", "", "42", "6 * 7", "The answer is 42", False),
        ("What costs a Mango?", "", "42", "Mango", "42", False),
        # Told without having been asked.
        ("What costs a Mango?", "", "42", "example", "42", True),
        ("What costs a Mango?", "", "42", "0", "The answer is 42", True),
        ("What costs a Mango?", "", "42", "Mango", '{"name": "Mango", "answer": "42"}', True),
    ],
)
def test_a_tool_tells_the_gold_where_it_is_to_be_worked_out(
    prompt, system, gold, given, answer, tells
):
    case = case_of(prompt, gold, system_prompt=system)
    assert told(case, {"given": given}, answer) is tells


def test_a_tool_that_is_called_a_key_tells_the_gold_whatever_it_is_asked():
    case = case_of("What costs a Mango?", "42")
    assert told(case, {"name": "Mango"}, "42", tool="get_answer")
    assert not told(case, {"name": "Mango"}, "42", tool="get_price")


@pytest.mark.parametrize(
    ("said", "text", "tells"),
    [
        # The right reply is the example of one.
        ("COLOUR: teal", "I cannot read that. Reply with MORE or a guess like COLOUR: teal", True),
        ("teal", "Please answer with one word, for example teal.", True),
        ("teal", "Write one colour (e.g. 'teal').", True),
        ("teal", "Wrong format: teal", True),
        ("<answer>teal</answer>", "You wrote no <answer>teal</answer> yet.", True),
        # One of all that may be said, another one, or what somebody tells who is asked.
        ("teal", "Please answer with one word, for example teal or plum.", False),
        ("teal", "Please answer with one word, for example grey.", False),
        ("COLOUR: teal", "COLOUR: teal\nSIZE: 7\nThat is what my parcel says.", False),
        ("teal", "I would like teal curtains.", False),
        ("teal", "The last line: it was teal.", False),
        ("teal", "It was teal, and my name is Ann.", False),
    ],
)
def test_an_example_of_a_reply_must_not_be_the_right_one(said: str, text: str, tells: bool):
    case = case_of("Which colour?", "teal")
    case = Case(case.task, gold="teal", said=said, best=1.0)
    assert (exemplifies(case, text, ["teal", "plum"]) is not None) is tells
    asked = case_of("Which colour: teal or plum?", "teal")
    assert exemplifies(asked, text, ["teal", "plum"]) is None


def test_a_text_that_holds_no_record_has_no_fields():
    for text in ("", "42", "nothing here", "[1, 2]", '"x"', "Note: one", "{" * 5000, "a: 1\na: 2"):
        assert fields_of(text) == [], text


def tool(**kinds: str) -> Tool:
    return Tool("look", "", {"properties": {name: {"type": kind} for name, kind in kinds.items()}})


@pytest.mark.parametrize(
    ("prompt", "of", "call"),
    [
        ("Decide claim TC-10423.", tool(claim="string"), {"claim": "TC-10423"}),
        ("Decide the case A/17-b now.", tool(case="string"), {"case": "A/17-b"}),
        ("What is wrong with ticket 381?", tool(number="integer"), {"number": 381}),
        (
            "How many days are there from 2023-04-05 to 2023-06-07?",
            tool(a="string", b="string"),
            {"a": "2023-04-05", "b": "2023-06-07"},
        ),
        ("What does a mango cost?", tool(fruit="string"), {"fruit": "mango"}),
        (
            "Order P101, a Rose, came. Is it `Ash`, `Elm`, `Fir`, `Oak`, `Yew`, `Bay`, `Fig`, `Gum`?",
            tool(number="string"),
            {"number": "P101"},
        ),
    ],
)
def test_a_tool_is_asked_about_what_the_question_names(
    prompt: str, of: Tool, call: dict[str, object]
):
    assert call in asked_calls(of, case_of(prompt, "x", fruit="mango", answer="x"))


# Tools that nobody needs

DATES = """
import re
from datetime import date, timedelta

FORM = re.compile("x")
OPS = {"+": max, "-": min}
FACTORS = {"km": 1000.0, "mile": 1609.344}

def count(first, last):
    return sum((first + timedelta(days=i)).weekday() < 5 for i in range((last - first).days))
"""
RECKON = [
    "def tool(start: str, end: str) -> str:\n    try:\n        return str(count(date.fromisoformat(start), date.fromisoformat(end)))\n    except ValueError as error:\n        return f'error: {error}'\n",
    "def tool(a: float, b: float, op: str) -> str:\n    return str(OPS[op](a, b))\n",
    "def tool(value: float, unit: str) -> str:\n    return str(value * FACTORS[unit])\n",
    "class Desk:\n    @vf.tool\n    def tool(self, a: int) -> str:\n        return self.twice(a)\n    def twice(self, a):\n        return str(2 * a)\n",
]
HOLD = [
    "ROWS = {'a': 17, 'b': 4}\ndef tool(name: str) -> str:\n    return str(ROWS.get(name))\n",
    "def tool(name: str) -> str:\n    return open(name).read()\n",
    "class Desk:\n    @vf.tool\n    def tool(self, a: str) -> str:\n        return self.rows[a]\n",
    "def tool(a: str) -> str:\n    return str(date.today())\n",
    "import hashlib\ndef tool(a: str) -> str:\n    return hashlib.md5(a.encode()).hexdigest()\n",
    "def load_environment():\n    rows = read()\n    def tool(name: str) -> str:\n        return rows[name]\n",
    "import sqlite3\ndef tool(q: str) -> str:\n    return str(sqlite3.connect('x').execute(q))\n",
    "def other(name: str) -> str:\n    return name\n",
]


@pytest.mark.parametrize(
    ("source", "expected"), [(s, True) for s in RECKON] + [(s, False) for s in HOLD]
)
def test_a_tool_reckons_that_has_nothing_but_its_arguments(source: str, expected: bool):
    code = read_code({"x.py": DATES + source})
    assert only_reckon(code, ["desk_tool" if "class" in source else "tool"]) is expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("How many? Use the `workdays` tool.", True),
        ("How many? Always call `workdays`.", True),
        ("Answer with the help of date_count, not by hand.", True),
        ("How many? Never count from memory.", True),
        ("Find out with `workdays` how many there are.", True),
        ("You may use the `workdays` tool.", False),
        ("The tool `workdays` is available.", False),
        ("How many workdays are there? Reply with the number of workdays.", False),
        ("Use digits for the workdays.", False),
    ],
)
def test_a_request_demands_a_tool_by_its_name_too(prompt: str, expected: bool):
    assert demands(case_of(prompt, "3"), ("workdays", "date_count")) is expected


def test_a_tool_that_only_reckons_is_not_needed_where_the_gold_alone_is_paid():
    environment = Environment(
        kind=Kind.VERIFIERS_V0,
        name="days",
        revision="0" * 64,
        tasks=TaskCount(count=4, infinite=False),
        tools=("workdays",),
        rewards=(Signal(name="right", weight=1.0),),
    )
    asked = "How many days of work are there in May? Use the `workdays` tool."
    sample = Sample(environment, tuple(case_of(asked, str(n)) for n in (21, 22)), 2, "the field")
    assert read_unneeded(sample).findings == ()
    (found,) = read_unneeded(sample, reckon=True).findings
    assert "2 of 2" in found.statement and "only reckon" in found.statement


PAID = "def load_environment():\n    return vf.ToolEnv(tools=[tool], rubric=vf.Rubric(funcs=[paid]))\ndef tool(a: int) -> str:\n    return str(2 * a)\n"


@pytest.mark.parametrize(
    ("paid", "ignored"),
    [
        (
            "def paid(completion, answer):\n    return float(completion[-1]['content'] == answer)\n",
            True,
        ),
        (
            "def paid(completion, answer, parser):\n    return float('source: tool' in parser.parse_answer(completion))\n",
            True,
        ),
        (
            "def paid(completion):\n    return float(any(m.get('tool_calls') for m in completion))\n",
            False,
        ),
        (
            "def paid(completion):\n    return float(any(m['role'] == 'tool' for m in completion))\n",
            False,
        ),
        ("def paid(completion):\n    return float(len(completion) > 2)\n", False),
        ("def paid(state):\n    return float(state['num_turns'] > 1)\n", False),
        ("class Rewards(vf.ToolRubric):\n    pass\npaid = Rewards\n", False),
    ],
)
def test_calls_are_ignored_where_nothing_in_the_source_could_read_them(paid: str, ignored: bool):
    tool = ignored_tool(read_code({"x.py": PAID + paid}), ["tool"])
    assert (tool is not None) is ignored
    environment = Environment(
        kind=Kind.VERIFIERS_V0,
        name="twice",
        revision="0" * 64,
        tasks=TaskCount(count=4, infinite=False),
        tools=("tool",),
        rewards=(Signal(name="paid", weight=2.0),),
    )
    asked = [case_of("What is twice ten? Call `tool`.", "20"), case_of("Call `tool` for 7.", "14")]
    sample = Sample(environment, tuple(asked), 2, "the field")
    assert bool(read_unneeded(sample, reckon=True, ignored=tool).findings) is ignored
    assert not read_unneeded(sample, reckon=False, ignored=tool).findings
