import json

import pytest

from envwright.agent.script import read_script
from envwright.errors import UsageError

KEY = "abcdef0123456789" * 4


def text(content: str | None) -> dict[str, object]:
    return {"content": content, "tool_calls": []}


@pytest.mark.parametrize(
    ("name", "body", "index", "key", "replies"),
    [
        ("s.json", ["a", "b"], 3, KEY, [text("a"), text("b")]),
        ("s.json", [], 0, KEY, []),
        ("s.json", {"replies": ["all"], "tasks": {"1": ["own"]}}, 1, KEY, [text("own")]),
        ("s.json", {"replies": ["all"], "tasks": {"1": ["own"]}}, 11, KEY, [text("all")]),
        ("s.json", {"replies": ["all"], "tasks": {KEY[:8]: ["own"]}}, 0, KEY, [text("own")]),
        ("s.json", {"replies": ["all"], "tasks": {KEY: ["own"]}}, 0, KEY, [text("own")]),
        ("s.json", {"replies": ["all"], "tasks": {KEY[:7]: ["own"]}}, 0, KEY, [text("all")]),
        ("s.json", {"replies": ["all"], "tasks": {"1": []}}, 1, KEY, []),
        ("s.json", {"tasks": {"0": ["own"]}}, 1, KEY, []),
        ("s.jsonl", '"a"\n\n{"content": "b"}\n', 0, KEY, [text("a"), text("b")]),
        (
            "s.json",
            [{"tool_calls": [{"name": "read", "arguments": {"n": 1}}, {"name": "look"}]}],
            0,
            KEY,
            [
                {
                    "content": None,
                    "tool_calls": [
                        {"name": "read", "arguments": '{"n": 1}'},
                        {"name": "look", "arguments": "{}"},
                    ],
                }
            ],
        ),
        # As a model would write them: not always JSON.
        (
            "s.json",
            [{"content": "x", "tool_calls": [{"name": "read", "arguments": "{oops"}]}],
            0,
            KEY,
            [{"content": "x", "tool_calls": [{"name": "read", "arguments": "{oops"}]}],
        ),
    ],
)
def test_a_task_gets_its_own_replies_or_else_those_of_all(
    tmp_path, name, body, index, key, replies
):
    path = tmp_path / name
    path.write_text(body if isinstance(body, str) else json.dumps(body))
    assert read_script(path).replies_for(index, key) == replies


def test_a_changed_script_is_another_agent(tmp_path):
    path = tmp_path / "s.json"
    contents = set()
    for body in (["a"], ["b"], {"replies": ["a"], "tasks": {"1": ["b"]}}):
        path.write_text(json.dumps(body))
        contents.add(read_script(path).content)
    assert len(contents) == 3


@pytest.mark.parametrize(
    ("name", "body", "said"),
    [
        ("missing.json", None, "cannot be read"),
        ("s.json", b"\xff\xfe", "no UTF-8"),
        ("s.json", b"[", "no JSON"),
        ("s.jsonl", b'"a"\n{', "no JSON"),
        ("s.json", b"3", "no list of replies"),
        ("s.json", b'{"reply": []}', "unknown key 'reply'"),
        ("s.json", b'{"replies": "a"}', "replies must be a list"),
        ("s.json", b'{"tasks": ["a"]}', "tasks"),
        ("s.json", b'{"tasks": {"1": "a"}}', "replies must be a list"),
        ("s.json", b"[3]", "reply 0 is neither text nor an object"),
        ("s.json", b'["a", {"text": "b"}]', "reply 1 has an unknown key 'text'"),
        ("s.json", b'[{"content": 3}]', "reply 0"),
        ("s.json", b'[{"tool_calls": {"name": "x"}}]', "reply 0"),
        ("s.json", b'[{"tool_calls": [{}]}]', "reply 0 has a tool call without a name"),
        ("s.json", b"[" * 100_000, "no JSON"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused_with_its_path(tmp_path, name, body, said):
    path = tmp_path / name
    if body is not None:
        path.write_bytes(body)
    with pytest.raises(UsageError) as raised:
        read_script(path)
    assert said in raised.value.message
    assert name in raised.value.message
    assert raised.value.hint
