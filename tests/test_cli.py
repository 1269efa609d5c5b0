"""What commands print: shapes for machines, harmless text for people, a quick start."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

import envwright as package
from provider import Reply, provider
from support import EXAMPLES, CommandLine, Finished, make_environment

SUMS = EXAMPLES / "sums"
HEAVY = {
    *("verifiers", "dbos", "sqlalchemy", "pydantic", "scipy", "aiohttp", "uvicorn", "fastapi"),
    *("pydantic_ai", "rich", "alembic", "obstore", "genai_prices", "uvloop", "asyncio"),
}


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=variables, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["-h"]])
def test_help_imports_nothing_heavy(arguments):
    done = python("-X", "importtime", "-m", "envwright", *arguments)
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0]
        for line in done.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "click" in imported
    assert not imported & HEAVY
    assert done.stdout


def test_whoever_only_looks_does_not_wait_for_the_engine():
    nouns = ("trial", "sweep", "queue")
    code = f"import sys; {'; '.join(f'import envwright.cli.{n}' for n in nouns)}"
    look = "print({'dbos', 'scipy'} & sys.modules.keys())"
    assert python("-c", f"{code}; {look}").stdout == "set()\n"


def test_help_names_every_command():
    said = python("-m", "envwright", "--help").stdout
    for name in ("demo", "run", "sweep", "queue", "worker", "env", "trial", "model", "doctor"):
        assert re.search(rf"^  {name}  +\S", said, re.M), name


LOOK = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append((event, str(args[0]))) if event in
    ("open", "os.listdir", "os.scandir", "subprocess.Popen", "socket.connect") else None)
before = set(sys.modules)
import envwright
for event, path in opened:
    if not (path.endswith((".py", ".pyc")) or event in ("os.listdir", "os.scandir")):
        print(event, path)
print(sorted(name for name in set(sys.modules) - before if not name.startswith("_")))
print([name for name in vars(envwright) if not name.startswith("_")])
"""


def test_the_top_package_shows_few_names_and_reads_nothing_when_it_is_imported():
    assert package.__all__ == ["__version__"]
    assert len(package.__all__) <= 12
    assert python("-c", LOOK).stdout == "['envwright']\n[]\n"


@dataclass(frozen=True)
class Ran:
    """A home in which the commands of this module were run once."""

    command: CommandLine
    inspected: Finished
    tasks: Finished
    scored: Finished
    run: Finished


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cli")


@pytest.fixture(scope="module")
def command(folder, fresh_variables):
    return CommandLine(fresh_variables(folder / "state"), folder)


@pytest.fixture(scope="module")
def ran(command, folder):
    tasks = command("env", "tasks", SUMS, "-n", "3", "--json")
    rows = tasks.lines
    replies = [
        {"task": 0, "reply": rows[0]["row"]["answer"]},
        {"task": rows[1]["key"][:12], "reply": "nothing"},
        {"task": "2", "reply": "\x1b[31m1 2 3"},
    ]
    (folder / "replies.jsonl").write_text("\n".join(map(json.dumps, replies)))
    script = {"replies": ["no idea"], "tasks": {"1": [rows[1]["row"]["answer"]]}}
    (folder / "script.json").write_text(json.dumps(script))
    agents = ("oracle", "noop", "scripted:script.json")
    flags = [word for agent in agents for word in ("--agent", agent)]
    return Ran(
        command,
        inspected=command("env", "inspect", SUMS, "--json"),
        tasks=tasks,
        scored=command("env", "score", SUMS, "--replies", "replies.jsonl", "--json"),
        run=command("run", SUMS, *flags, "-n", "3", "-r", "2", "--json"),
    )


@pytest.mark.slow
def test_inspect_prints_what_the_environment_is(ran):
    assert (ran.inspected.code, ran.inspected.err) == (0, "")
    said = ran.inspected.json
    assert re.fullmatch(r"[0-9a-f]{64}", said.pop("revision"))
    arguments = said.pop("args")
    assert {"name": "num_tasks", "type": "int", "default": 100} in arguments
    assert [set(argument) for argument in arguments] == [{"name", "type", "default"}] * 5
    assert said == {
        "kind": "verifiers",
        "name": "sums",
        "tasks": {"count": 100, "infinite": False, "said_infinite": False},
        "rewards": [{"name": "correct", "weight": 1.0, "group": False, "runtime": False}],
        "metrics": ["answered"],
        "tools": [],
        "seats": ["agent"],
        "world": [],
        "harness": None,
        "episodic": False,
        "staged": False,
        "judges": [],
    }


@pytest.mark.slow
def test_tasks_prints_one_object_per_task(ran):
    assert ran.tasks.code == 0
    rows = ran.tasks.lines
    assert [set(row) for row in rows] == [{"index", "key", "prompt", "row", "unserved"}] * 3
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert len({row["key"] for row in rows}) == 3
    assert " + ".join(map(str, rows[0]["row"]["terms"])) in rows[0]["prompt"]
    assert sum(rows[0]["row"]["terms"]) == int(rows[0]["row"]["answer"])


@pytest.mark.slow
def test_score_prints_one_object_per_reply(ran):
    assert ran.scored.code == 0, ran.scored.err
    good, bad, several = ran.scored.lines
    assert good == {
        "reward": 1.0,
        "rewards": {"correct": {"score": 1.0, "weight": 1.0}},
        "metrics": {"answered": 1.0},
        "skipped": [],
    }
    assert (bad["reward"], bad["metrics"]) == (0.0, {"answered": 0.0})
    assert (several["reward"], several["metrics"]) == (0.0, {"answered": 1.0})


@pytest.mark.slow
def test_run_prints_every_agent_with_denominators_and_intervals(ran):
    assert ran.run.code == 0, ran.run.err
    assert set(ran.run.json) == {"sweep", "agents", "state", "stopped_by"}
    assert (ran.run.json["state"], ran.run.json["stopped_by"]) == ("done", None)
    agents = ran.run.json["agents"]
    assert list(agents) == ["oracle", "noop", "scripted:script.json"]
    for row in agents.values():
        assert set(row) == {
            *("trials", "scored", "failed", "missing", "certain", "mean_reward", "mean_interval"),
            *("solved", "solved_interval", "tokens", "apart", "cost_usd", "baseline"),
        }
        assert (row["trials"], row["scored"], row["failed"], row["missing"]) == (6, 6, {}, 0)
        assert (row["cost_usd"], row["tokens"]) == (0, {"input": 0, "output": 0, "cached": 0})
        low, high = row["mean_interval"]
        assert 0 <= low <= row["mean_reward"] <= high <= 1
    assert (agents["oracle"]["mean_reward"], agents["oracle"]["solved"]) == (1.0, 6)
    assert (agents["noop"]["mean_reward"], agents["noop"]["solved"]) == (0.0, 0)
    assert [row["baseline"] for row in agents.values()] == [True, True, False]


@pytest.mark.slow
def test_a_script_answers_each_task_with_its_own_replies(ran):
    scripted = ran.run.json["agents"]["scripted:script.json"]
    assert scripted["solved"] == 2
    assert scripted["mean_reward"] == pytest.approx(2 / 6)
    assert [round(bound, 2) for bound in scripted["solved_interval"]] == [0.1, 0.7]


@pytest.mark.slow
def test_trials_are_listed_one_object_each_and_shown_whole(ran):
    sweep = ran.run.json["sweep"]
    listed = ran.command("trial", "list", "--sweep", sweep, "--json")
    assert listed.code == 0
    rows = listed.lines
    assert len({row["id"] for row in rows}) == 18
    assert {(row["task"]["index"], row["agent"], row["n"]) for row in rows} == {
        (task, agent, n) for task in range(3) for agent in ran.run.json["agents"] for n in range(2)
    }
    one = rows[0]
    assert set(one) == {
        *("id", "environment", "revision", "agent", "task", "condition", "n", "outcome"),
        "attempts",
    }
    oracle = next(row for row in rows if row["agent"] == "oracle")
    assert oracle["outcome"] == {
        "kind": "scored",
        "reward": 1.0,
        "rewards": {"correct": {"score": 1.0, "weight": 1.0}},
        "metrics": {"answered": 1.0},
        "stop": "completed",
        "skipped": [],
    }
    shown = ran.command("trial", "show", oracle["id"][:10], "--json").json
    assert (shown["trial"], shown["outcome"]) == (oracle["id"], oracle["outcome"])
    (attempt,) = shown["attempts"]
    assert (attempt["n"], attempt["state"], attempt["problem"]) == (1, "finished", None)
    assert attempt["grades"][0]["outcome"] == oracle["outcome"]
    (trace,) = shown["traces"]
    assert [step["role"] for step in trace["steps"]] == ["user", "assistant"]
    assert trace["steps"][1]["content"] == shown["task"]["row"]["answer"]
    assert trace["steps"][1]["sampled"] is True
    assert trace["timing"]["agent"] > 0


@pytest.mark.slow
def test_list_can_be_narrowed_and_is_legible(ran):
    said = ran.command("trial", "list", "--agent", "noop", "--outcome", "scored", "-n", "2")
    lines = said.out.splitlines()
    assert len(lines) == 3
    assert lines[0].split() == ["trial", "environment", "agent", "task", "n", "attempts", "outcome"]
    assert all(line.split()[1:3] == ["sums", "noop"] for line in lines[1:])
    assert all(line.rstrip().endswith("reward 0") for line in lines[1:])


def test_models_are_listed_with_their_keys_names_but_never_their_keys(command, folder):
    file = folder / "envwright.toml"
    file.write_text('[models."mine/x"]\nbase_url = "http://127.0.0.1:1/v1"\n')
    try:
        rows = command("model", "list", "--json", OPENAI_API_KEY="sk-secret").lines
        table = command("model", "list", OPENAI_API_KEY="sk-secret").out
    finally:
        file.unlink()
    by_name = {row["name"]: row for row in rows}
    assert all(set(row) == {"name", "base_url", "key", "note"} for row in rows)
    assert by_name["openai/MODEL"]["key"] == "OPENAI_API_KEY is set"
    assert by_name["anthropic/MODEL"]["key"] == "ANTHROPIC_API_KEY is not set"
    assert by_name["mine/x"] == {
        "name": "mine/x",
        "base_url": "http://127.0.0.1:1/v1",
        "key": "no key needed",
        "note": "envwright.toml",
    }
    assert "local/smollm2" in by_name
    assert "sk-secret" not in json.dumps(rows) + table
    assert all(name in table for name in by_name)


@pytest.mark.slow
def test_doctor_launches_its_parts_and_its_exit_code_says_whether_they_work(command):
    done = command("doctor", "--json", OPENAI_API_KEY="sk-secret")
    parts = {part["name"]: part for part in done.json["parts"]}
    assert all(set(part) == {"name", "state", "said"} for part in parts.values())
    for name in ("python", "bubblewrap", "isolation", "uv", "store", "keys"):
        assert parts[name]["state"] == "works", parts[name]
    assert parts["isolation"]["said"] == "leaks: none"
    assert "sk-secret" not in done.out
    assert "OPENAI_API_KEY" in parts["keys"]["said"]
    broken = any(part["state"] == "broken" for part in parts.values())
    assert done.code == (1 if broken else 0)


HOSTILE = "\x1b[31mred\x1b[0m [bold]markup[/bold] [/] \u202eright\u202c \x00nul \x9bC1 \rback"
SOURCE = f"""
import verifiers.v1 as vf

HOSTILE = {HOSTILE!r}

class Data(vf.TaskData):
    index: int
    meta: dict[str, str]

class Task(vf.Task[Data]):
    @vf.reward(weight=1.0)
    async def correct(self, trace: vf.Trace) -> float:
        if self.data.index == 1:
            raise ValueError(HOSTILE + " raised")
        return float(trace.last_reply == self.data.meta["right"])

class Config(vf.TasksetConfig):
    colour: str = HOSTILE + " default"

class Tasks(vf.Taskset[Task, Config]):
    def load(self):
        for i in range(4):
            data = Data(prompt=f"{{HOSTILE}} prompt {{i}}", index=i, meta={{"right": "yes"}})
            yield Task(data, self.config.task)

__all__ = ["Tasks"]
"""


@dataclass(frozen=True)
class Hostile:
    command: CommandLine
    root: Any
    run: Finished
    sweep: str
    rows: list[Any]


@pytest.fixture(scope="module")
def hostile(command, folder):
    root = make_environment(folder, name="hostile", source=SOURCE)

    def answer(body):
        prompt = body["messages"][-1]["content"]
        if "prompt 2" in prompt:
            return Reply(HOSTILE + " refusal", status=400)
        return Reply(HOSTILE + (" lone \ud800" if "prompt 3" in prompt else " reply"))

    with provider(answer) as served:
        run = command(
            *("run", root, "-m", "[red]evil[/red]", "--endpoint", served.url, "--agent", "oracle"),
        )
    sweep = run.out.rpartition("sweep: ")[2].strip()
    rows = command("trial", "list", "--sweep", sweep, "--json").lines
    return Hostile(command, root, run, sweep, rows)


def assert_harmless(text: str) -> None:
    """No byte in it steers a terminal, and no markup was taken for markup."""
    bad = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
    assert not bad, bad
    assert "a bug in envwright" not in text


@pytest.mark.slow
def test_hostile_text_is_harmless_in_every_table_and_conversation(hostile):
    command, sweep = hostile.command, hostile.sweep
    assert_harmless(hostile.run.out + hostile.run.err)
    assert "chat:[red]evil[/red]" in hostile.run.out
    for done in (
        command("trial", "list", "--sweep", sweep),
        *(command("trial", "show", row["id"]) for row in hostile.rows if row["agent"] != "oracle"),
    ):
        assert done.code == 0, done.err
        assert_harmless(done.out + done.err)


@pytest.mark.slow
def test_hostile_text_is_harmless_where_an_environment_is_looked_at(hostile):
    command, root = hostile.command, hostile.root
    inspected = command("env", "inspect", root)
    scored = command("env", "score", root, "--task", "1", "--reply", HOSTILE.replace("\x00", ""))
    tasks = command("env", "tasks", root)
    for done in (inspected, scored, tasks):
        assert_harmless(done.out + done.err)
    assert (inspected.code, scored.code, tasks.code) == (0, 1, 0)
    assert "[bold]markup[/bold]" in inspected.out
    assert "[bold]markup[/bold]" in tasks.out
    assert "reward none" in scored.out
    assert "raised" in scored.err


@pytest.mark.slow
def test_every_trial_of_a_hostile_environment_is_told_for_what_it_was(hostile):
    said = {
        (row["agent"].partition(":")[0], row["task"]["index"]): (
            row["outcome"].get("cause"),
            row["outcome"].get("reward"),
        )
        for row in hostile.rows
    }
    assert said == {
        ("chat", 0): (None, 0.0),
        ("chat", 1): ("grader", None),
        ("chat", 2): ("provider", None),
        ("chat", 3): ("provider", None),
        **{("oracle", index): ("agent", None) for index in range(4)},
    }
    assert hostile.run.code == 1


@pytest.mark.slow
def test_show_prints_the_whole_conversation_with_usage_and_timing(hostile):
    trial = next(
        row["id"]
        for row in hostile.rows
        if row["agent"].startswith("chat") and row["task"]["index"] == 0
    )
    said = hostile.command("trial", "show", trial).out
    for part in (
        f"trial: {trial}",
        "environment: hostile at ",
        "agent: chat:[red]evil[/red]",
        "outcome: reward 0",
        "attempts: 1 (finished)",
        "[0] user",
        "prompt 0",
        "[1] assistant",
        "[bold]markup[/bold] [/] ",
        "call 0: agent → [red]evil[/red], ",
        "10 in, 5 out",
        "signals: correct=0×1",
        "timing: ",
    ):
        assert part in said, part
    assert re.search(r"call 0: .* \d+\.\d\d s, 10 in, 5 out, cost unknown, stop", said)


@pytest.mark.slow
def test_an_oracle_finds_its_gold_by_the_field_it_is_told(hostile):
    failed = next(row for row in hostile.rows if row["agent"] == "oracle")
    assert "no gold: looked for answer" in failed["outcome"]["detail"]
    assert "--gold-field" in failed["outcome"]["detail"]
    done = hostile.command(
        *("run", hostile.root, "--agent", "oracle", "--gold-field", "meta.right", "--json")
    )
    row = done.json["agents"]["oracle"]
    assert (row["scored"], row["solved"], row["failed"]) == (3, 3, {"grader": 1})
    assert done.code == 1


@pytest.mark.parametrize("arguments", [(), ("env",), ("trial",)])
def test_a_command_without_a_verb_shows_what_there_is(envwright, arguments):
    done = envwright(*arguments)
    assert (done.code, done.err) == (0, "")
    assert "Commands:" in done.out
    assert len(done.out.splitlines()) > 5
