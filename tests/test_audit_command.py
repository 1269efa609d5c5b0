"""`envwright audit` and `envwright scorecard check`, as a user runs them."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from provider import Provider, Reply, provider
from support import EXAMPLES, CommandLine, Finished, Inside, make_environment

GOAL = "add small whole numbers"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit")


@pytest.fixture(scope="module")
def run(folder: Path, fresh_variables: Callable[[Path], dict[str, str]]) -> Inside:
    return Inside(fresh_variables(folder / "state"), folder)


@pytest.fixture(scope="module")
def sums(run: Inside, folder: Path) -> Finished:
    (folder / "goal.md").write_text(GOAL)
    where = ("--out", "sums.json", "--html", "sums.html", "--probe-tasks", "30")
    return run("audit", EXAMPLES / "sums", "--goal", "@goal.md", *where, "--json")


def check(card: Any, name: str) -> Any:
    return next(each for each in card["checks"] if each["check"] == name)


def statuses(card: Any) -> dict[str, str]:
    return {each["check"]: each["status"] for each in card["checks"]}


@pytest.mark.slow
def test_a_sound_environment_passes(sums: Finished):
    assert sums.code == 0, sums.err
    card = sums.json
    assert card["status"] == "PASS"
    assert card["rating"] >= 7.5
    assert card["environment"]["goal"] == GOAL
    assert statuses(card) == {
        "integrity": "PASS",
        "problem_alignment": "N/A",
        "reward_design": "PASS",
        "latency": "N/A",
        "rollout_quality": "N/A",
        "contamination": "N/A",
    }


def test_every_justification_says_of_how_many(sums: Finished):
    design = check(sums.json, "reward_design")["justification"]
    assert "30 of 100 tasks" in design
    assert "rules ran" in design
    assert "'answer'" in design


def test_the_scorecard_and_the_page_are_written(sums: Finished, folder: Path, run: Inside):
    assert json.loads((folder / "sums.json").read_text()) == sums.json
    page = (folder / "sums.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "reward_design" in page
    checked = run("scorecard", "check", "sums.json")
    assert (checked.code, checked.out.strip()) == (0, "ok")


def test_a_scorecard_that_lies_is_refused(sums: Finished, folder: Path, run: Inside):
    card = sums.json
    check(card, "integrity")["score"] = 9999
    check(card, "latency")["score"] = 10
    (folder / "lie.json").write_text(json.dumps(card))
    refused = run("scorecard", "check", "lie.json")
    assert refused.code == 1
    assert refused.out.splitlines() == [
        "integrity: score 9999 is outside 0 to 10",
        "latency: N/A has a score, 10",
    ]
    assert run("scorecard", "check", "nowhere.json").code == 2
    (folder / "torn.json").write_text("{")
    assert run("scorecard", "check", "torn.json").code == 2


def test_the_goal_is_asked_for(run: Inside, tmp_path: Path):
    asked = run("audit", EXAMPLES / "sums")
    assert asked.code == 2
    assert "--goal" in asked.err
    assert "spec.md" in asked.err
    for goal in ("  ", "@nowhere.md"):
        refused = run("audit", EXAMPLES / "sums", "--goal", goal)
        assert refused.code == 2
        assert len(refused.err.splitlines()) == 1


def test_a_spec_beside_the_environment_is_its_goal(run: Inside, tmp_path: Path):
    broken = make_environment(tmp_path, name="broken", source="raise RuntimeError('no luck')\n")
    (tmp_path / "spec.md").write_text("Teach it.")
    found = run("audit", broken, "--json", "--out", tmp_path / "card.json")
    assert found.json["environment"]["goal"] == "Teach it."


@pytest.fixture(scope="module")
def unloadable(run: Inside, folder: Path) -> tuple[Path, Finished]:
    root = make_environment(folder, name="unloadable", source="raise RuntimeError('no luck')\n")
    return root, run("audit", root, "--goal", GOAL, "--out", "broken.json", "--json")


def test_an_environment_that_does_not_load_fails_its_integrity(
    unloadable: tuple[Path, Finished], run: Inside
):
    _, found = unloadable
    assert found.code == 1, found.err
    card = found.json
    assert card["status"] == "FAIL"
    assert card["environment"]["kind"] is None
    assert statuses(card)["integrity"] == "FAIL"
    assert statuses(card)["reward_design"] == "INCOMPLETE"
    told = [f for f in check(card, "integrity")["findings"] if f["severity"] == "fail"]
    assert "no luck" in told[0]["statement"]
    assert told[0]["citations"][0]["line"] == 1
    assert run("scorecard", "check", "broken.json").code == 0


def test_a_baseline_accepts_what_is_known_and_names_what_is_found_no_more(
    unloadable: tuple[Path, Finished], run: Inside, folder: Path
):
    root, _ = unloadable
    gone = {"rule": "EW999", "note": "never there"}
    old = json.loads((folder / "broken.json").read_text())
    known = [{"rule": f["rule"]} for each in old["checks"] for f in each["findings"]]
    (folder / "known.json").write_text(json.dumps([*known, gone]))
    same = ("audit", root, "--goal", GOAL, "--out", "again.json", "--json")
    found = run(*same, "--baseline", "known.json")
    card = found.json
    assert card["status"] == "INCOMPLETE"
    assert found.code == 4
    assert len(card["baseline"]["findings"]) == len(known)
    assert card["baseline"]["stale"] == ["EW999"]
    assert "found no more: EW999" in found.err
    assert run("scorecard", "check", "again.json").code == 0
    (folder / "bad.json").write_text('[{"rule": "x"}]')
    assert run(*same, "--baseline", "bad.json").code == 2


@pytest.fixture(scope="module")
def model() -> Iterator[Provider]:
    """Right on every other call."""
    calls = iter(range(10_000))

    def answer(body: dict[str, Any]) -> Reply:
        words = str(body["messages"][-1]["content"])
        numbers = [int(each) for each in words.replace("?", " ").split() if each.isdecimal()]
        return Reply(str(sum(numbers)) if next(calls) % 2 else "I do not know.")

    with provider(answer) as served:
        yield served


@pytest.mark.audit
def test_rollouts_fill_two_more_checks_and_are_run_once(run: Inside, model: Provider, folder: Path):
    command = (
        *("audit", EXAMPLES / "sums", "--goal", GOAL, "-m", "m", "--endpoint", model.url),
        *("-n", "3", "-r", "4", "--probe-tasks", "5", "--out", "rolled.json", "--json"),
    )
    mistyped = run(*command, "--gold-field", "anwser")
    assert mistyped.code == 2 and "is in no row" in mistyped.err
    assert not model.requests
    found = run(*command)
    card = found.json
    assert len(model.requests) == 12
    latency, quality = check(card, "latency"), check(card, "rollout_quality")
    assert latency["status"] == "PASS", latency
    assert "12 of 12 rollouts timed" in latency["justification"]
    assert "10/10 tokens in" in latency["justification"]
    assert "12 of 12 rollouts by chat:m on 3 of" in quality["justification"]
    assert quality["status"] in ("PASS", "WARN")
    again = run(*command).json
    assert len(model.requests) == 12
    assert statuses(again) == statuses(card)


@pytest.mark.audit
def test_ctrl_c_leaves_no_scorecard(envwright: CommandLine, tmp_path: Path):
    started = envwright.start("audit", EXAMPLES / "sums", "--goal", GOAL)
    assert started.stderr is not None
    assert any("probing" in line for line in started.stderr)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert out == ""
    assert "stopped" in err
    assert not (tmp_path / "scorecard.json").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("-n", "0"),
        ("--fail-on", "info"),
        ("--baseline", "nowhere.json"),
        ("--out", "no/such/folder.json"),
        ("--html", "no/such/folder.html"),
        ("-m", "nobody/nothing"),
        ("--against", "nowhere.jsonl"),
    ],
)
def test_bad_arguments_are_said_in_a_line(run: Inside, arguments: tuple[str, ...]):
    refused = run("audit", EXAMPLES / "sums", "--goal", GOAL, *arguments)
    assert refused.code == 2, refused.err
    lines = [line for line in refused.err.splitlines() if line.startswith("error:")]
    assert len(lines) == 1
    assert "hint:" in lines[0]
