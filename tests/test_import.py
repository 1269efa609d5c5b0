"""Import of a folder that vf-eval 0.4.0 wrote (3 tasks, 2 rollouts each), as it was and damaged."""

import json
import math
import shutil
from pathlib import Path

import pytest

from support import EXAMPLES

FOLDER = Path(__file__).parent / "data" / "vf_eval" / "sums--instant--null--c38d88c8"


@pytest.fixture
def records():
    return [json.loads(line) for line in (FOLDER / "traces.jsonl").read_text().splitlines()]


@pytest.fixture
def folder(tmp_path):
    """A copy of the recorded folder, and how to write its lines."""
    copy = tmp_path / "rollouts"
    shutil.copytree(FOLDER, copy)
    return copy


@pytest.fixture(params=["sqlite", "postgresql"])
def servers(request):
    if request.param == "sqlite":
        return {}
    return {"ENVWRIGHT_DATABASE_URL": request.getfixturevalue("postgres").new_database()}


def write(folder, lines, end="\n"):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (folder / "traces.jsonl").write_text(text + end)


def renamed(record, number):
    return {**json.loads(json.dumps(record)), "id": f"episode-{number}"}


@pytest.mark.slow
def test_a_folder_becomes_trials_that_can_be_shown_and_is_imported_once(envwright, servers):
    done = envwright("import", FOLDER.parent, "--json", **servers)
    assert done.code == 0, done
    assert done.json == {
        "files": 1,
        "episodes": 6,
        "imported": 6,
        "known": 0,
        "scored": 6,
        "failed": {},
        "left_out": {"torn": 0, "not_json": 0, "no_episode": 0},
    }
    again = envwright("import", FOLDER, FOLDER / "traces.jsonl", "--json", **servers).json
    assert (again["episodes"], again["imported"], again["known"]) == (12, 0, 12)
    rows = envwright("trial", "list", "--json", **servers).lines
    assert {row["environment"] for row in rows} == {"sums (imported)"}
    assert {row["agent"] for row in rows} == {"chat:instant"}
    assert len({row["revision"] for row in rows}) == 1
    counted = sorted((row["task"]["index"], row["n"]) for row in rows)
    assert counted == [(task, n) for task in range(3) for n in range(2)]
    shown = envwright("trial", "show", rows[0]["id"], "--json", **servers).json
    (trace,) = shown["traces"]
    assert [step["role"] for step in trace["steps"]] == ["user", "assistant"]
    assert trace["calls"][0]["usage"]["input_tokens"] == 20
    assert trace["info"]["imported"]["harness"] == "null"
    assert shown["task"]["row"]["prompt"] == trace["steps"][0]["content"]
    assert shown["attempts"][0]["started_at"].startswith("2026-11-15T22:04")
    text = envwright("trial", "show", rows[0]["id"], **servers).out
    assert "The sum is 27." in text
    assert "signals: correct=0×1, answered=1" in text


@pytest.mark.slow
def test_what_cannot_be_read_is_left_out_counted_and_said(envwright, folder, records):
    good = json.dumps(records[0])
    nan_task = renamed(records[1], 1)
    nan_task["task"]["data"]["weight"] = math.nan
    lines = [good, "{not json", "[]", '{"id": "x"}', nan_task, "", "[" * 100_000, good[:500]]
    write(folder, lines, end="")
    done = envwright("import", folder, "--json")
    assert done.code == 4
    assert done.json["imported"] == 1
    assert done.json["left_out"] == {"torn": 1, "not_json": 2, "no_episode": 3}
    said = done.err.splitlines()
    assert [line.split(": left out")[0].rpartition(":")[2] for line in said] == [
        *("2", "7", "8", "3", "4", "5")
    ]
    write(folder, [good, good[:500]], end="")
    assert envwright("import", folder).code == 0


@pytest.mark.slow
def test_an_episode_that_broke_is_failed_with_its_cause_and_never_a_number(
    envwright, folder, records
):
    def broken(number, *, where="traces", **error):
        record = renamed(records[0], number)
        record["ok"] = False
        target = record if where == "errors" else record["traces"][0]
        target["errors"] = [error]
        return record

    nan = renamed(records[1], 1)
    nan["traces"][0]["rewards"]["correct"]["score"] = math.nan
    infinite = renamed(records[1], 2)
    infinite["traces"][0]["metrics"]["answered"] = math.inf
    unscored = renamed(records[1], 3)
    unscored["traces"][0]["rewards"] = {}
    bare = broken(4, where="errors", type="EnvError", message="run() raised")
    bare["traces"] = []
    write(
        folder,
        [
            *(nan, infinite, unscored, bare),
            broken(5, type="ProviderError", message="429", status_code=429),
            broken(6, type="SandboxError", message="no runtime"),
            broken(7, type="HarnessError", message="exit code 1"),
            broken(8, type="TaskError", message="scoring: ZeroDivisionError"),
            broken(9, type="TaskError", message="setup: KeyError"),
            broken(10, type="InterceptionError", message="gone"),
            records[0],
        ],
    )
    done = envwright("import", folder, "--json")
    assert done.code == 0, done
    assert done.json["imported"] == 11
    assert done.json["scored"] == 1
    assert done.json["failed"] == {
        **{"agent": 1, "environment": 2, "grader": 4},
        **{"provider": 1, "sandbox": 2},
    }
    rows = envwright("trial", "list", "--outcome", "failed", "--json").lines
    assert len(rows) == 10
    assert all("reward" not in row["outcome"] for row in rows)
    assert len({row["revision"] for row in rows}) == 1
    shows = [envwright("trial", "show", r["id"]).out for r in rows if "nan" in str(r["outcome"])]
    assert "finding EW001: correct returned nan" in shows[0]


@pytest.mark.slow
def test_a_task_of_another_content_at_the_same_index_keeps_its_own_row(envwright, folder, records):
    other = renamed(records[0], 1)
    other["task"]["data"]["prompt"] = "Another one?"
    write(folder, [records[0], other, renamed(other, 2)])
    shutil.rmtree(folder / "configs")
    assert envwright("import", folder, "--json").json["imported"] == 3
    rows = envwright("trial", "list", "--json").lines
    shown = [envwright("trial", "show", row["id"], "--json").json for row in rows]
    found = {(one["task"]["row"]["prompt"], one["task"]["index"], one["n"]) for one in shown}
    first = records[0]["task"]["data"]
    index = first["idx"]
    assert found == {
        *((first["prompt"], index, 0), ("Another one?", index + 1, 0)),
        ("Another one?", index + 1, 1),
    }


@pytest.mark.slow
def test_a_path_without_rollouts_is_one_line(envwright, tmp_path):
    for path, said in {tmp_path: "holds no traces.jsonl", tmp_path / "no": "not exist"}.items():
        done = envwright("import", path)
        assert (done.code, done.out) == (2, "")
        (line,) = done.err.splitlines()
        assert said in line


@pytest.mark.slow
def test_an_imported_task_has_the_key_that_the_environment_gives_it(envwright):
    envwright("import", FOLDER)
    imported = {
        (row["task"]["index"], row["task"]["key"])
        for row in envwright("trial", "list", "--json").lines
    }
    tasks = envwright("env", "tasks", EXAMPLES / "sums", "-n", "3", "--json").lines
    assert imported == {(task["index"], task["key"]) for task in tasks}
