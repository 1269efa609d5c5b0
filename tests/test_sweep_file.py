"""Sweep files: what a file and the flags come to, and one line for every mistake."""

import os
import sys

import pytest

from envwright.budget import Budget
from envwright.cli import main
from envwright.errors import UsageError
from envwright.options import Flags, RunOptions
from envwright.settings import ModelTable, Settings, read_file
from envwright.sweep_file import read_sweep
from envwright.toml import read_document
from envwright.trial import Sampling
from envwright.work.sweep import MOST_TRIALS, refuse_too_many
from provider import Reply, provider
from support import EXAMPLES, Finished, make_environment

WHOLE = """\
trials = 3
agents = ["chat:mock/a", "oracle", "oracle"]
tasks = 20
conditions = ["plain"]
priority = 2
labels = ["nightly", "nightly"]
until_certain = true
judge = "mock/judge"
seat = "solver"
gold_field = "answer"
fresh = true

[seat_models]
user = "mock/b"

[[environments]]
name = "one"
args = { split = "dev", seed = 1 }

[[environments]]
name = "owner/two@1.0"
tasks = 5
trials = 1
agents = ["noop"]
seat = "white"
judge = "mock/a"

[[environments]]
name = "three"
task = [0, "1f3a"]

[sampling]
temperature = 0.5
seed = 7

[budget]
usd = 5.0
tokens = 1000

[models."mock/a"]
base_url = "http://127.0.0.1:8321/v1"
limit = 2

[models."mock/b"]
base_url = "http://127.0.0.1:8321/v1"

[models."mock/judge"]
base_url = "http://127.0.0.1:8321/v1"

[limits]
"mock/b" = 8
oracle = 4
"""


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path, cache=tmp_path, venvs=tmp_path)


@pytest.fixture
def read(tmp_path, settings):
    def call(text: str, flags: Flags = Flags(), over: Settings = settings):  # noqa: B008
        path = tmp_path / "sweep.toml"
        path.write_text(text)
        return read_sweep(path, flags, over)

    return call


def test_a_whole_file_says_all_of_a_sweep(read):
    sweep = read(WHOLE)
    common = {
        "judge": "mock/judge",
        "seat": "solver",
        "gold_field": "answer",
        "fresh": True,
        "seat_models": {"user": "mock/b"},
        "sampling": Sampling(temperature=0.5, seed=7),
    }
    agents = ("chat:mock/a", "oracle")
    assert sweep.runs == (
        RunOptions(
            **common,
            environment="one",
            agents=agents,
            tasks=20,
            trials=3,
            args={"split": "dev", "seed": 1},
        ),
        RunOptions(
            **{**common, "seat": "white", "judge": "mock/a"},
            environment="owner/two@1.0",
            agents=("noop",),
            tasks=5,
            trials=1,
        ),
        RunOptions(
            **common, environment="three", agents=agents, trials=3, selected=("0", "1f3a")
        ),
    )  # fmt: skip
    assert sweep.budget == Budget(usd=5.0, tokens=1000)
    assert (sweep.priority, sweep.labels, sweep.until_certain) == (2, ("nightly",), True)
    assert sweep.limits == {"mock/b": 8, "oracle": 4}
    assert set(sweep.models) == {"mock/a", "mock/b", "mock/judge"}


def test_what_is_typed_wins_over_the_file(read):
    flags = Flags(
        environment="owner/two@1.0",
        agents=("noop", "chat:openai/x", "noop"),
        selected=("4",),
        trials=9,
        judge="openai/j",
        seat="black",
        gold_field="gold",
        seat_models={"user": "openai/u", "other": "openai/o"},
        sampling=Sampling(temperature=0.0),
        limit=6,
        args={"seed": 2},
        budget=Budget(usd=1.0, wall_seconds=60),
        priority=0,
        labels=("mine",),
        task_seed="hush",
    )
    sweep = read(WHOLE, flags)
    assert sweep.runs == (
        RunOptions(
            environment="owner/two@1.0",
            agents=("noop", "chat:openai/x"),
            selected=("4",),
            trials=9,
            judge="openai/j",
            seat="black",
            gold_field="gold",
            fresh=True,
            seat_models={"user": "openai/u", "other": "openai/o"},
            sampling=Sampling(temperature=0.0, seed=7),
            limit=6,
            args={"seed": 2},
            task_seed="hush",
        ),
    )
    assert sweep.budget == Budget(usd=1.0, tokens=1000, wall_seconds=60)
    assert (sweep.priority, sweep.labels, sweep.limits) == (0, ("mine",), {})


def test_an_environment_that_is_typed_is_one_of_the_file_or_stands_in_their_place(read):
    (one,) = read(WHOLE, Flags(environment="one", args={"seed": 2})).runs
    assert one.args == {"split": "dev", "seed": 2}
    (other,) = read(WHOLE, Flags(environment="four")).runs
    assert (other.environment, other.args, other.trials) == ("four", {}, 3)


def test_a_number_of_tasks_that_is_typed_replaces_those_that_the_file_names(read):
    first, _, third = read(WHOLE, Flags(tasks=2)).runs
    assert (third.tasks, third.selected, first.tasks) == (2, (), 2)


def test_a_list_of_models_is_short_for_chat_agents(read):
    said = 'models = ["openai/a", "local/smollm2"]\nagents = ["noop"]\nenvironments = ["x/y"]\n'
    sweep = read(said)
    assert sweep.runs[0].agents == ("chat:openai/a", "chat:local/smollm2", "noop")
    assert (sweep.runs[0].trials, sweep.budget, sweep.models) == (1, None, {})


def test_without_a_file_the_flags_are_the_sweep(settings):
    flags = Flags(environment="x", agents=("noop",), budget=Budget(), until_certain=True)
    sweep = read_sweep(None, flags, settings)
    assert sweep.runs == (RunOptions(environment="x", agents=("noop",)),)
    assert (sweep.budget, sweep.until_certain) == (None, True)


def test_a_folder_is_looked_for_in_the_working_directory_and_then_beside_the_file(
    tmp_path, settings, monkeypatch
):
    beside, here = tmp_path / "beside", tmp_path / "here"
    for folder in (beside / "env", beside / "both", here / "both"):
        folder.mkdir(parents=True)
    (beside / "sweep.toml").write_text(
        'agents = ["noop"]\nenvironments = ["env", "both", "o/n@1"]\n'
    )
    monkeypatch.chdir(here)
    sweep = read_sweep(beside / "sweep.toml", Flags(), settings)
    assert [run.environment for run in sweep.runs] == [str(beside / "env"), "both", "o/n@1"]


def test_what_a_sweep_says_of_models_and_budget_lies_over_the_settings(tmp_path, settings, read):
    path = tmp_path / "envwright.toml"
    path.write_text(
        '[models."mock/a"]\nbase_url = "http://a"\nprovider = "openai"\nlimit = 9\n'
        '[models."mock/c"]\nbase_url = "http://c"\n[budget]\nusd = 9.0\nwall_seconds = 9\n'
    )
    over = settings.model_copy(update={"file": read_file(path)})
    sweep = read(
        'agents = ["chat:mock/a", "chat:mock/c"]\nenvironments = ["x"]\nbudget.usd = 1.0\n'
        '[models."mock/a"]\nlimit = 2\n',
        over=over,
    )
    laid = sweep.over(over)
    assert laid.file.models["mock/a"] == ModelTable(base_url="http://a", provider="openai", limit=2)
    assert laid.model("mock/c").base_url == "http://c"
    assert laid.file.budget == Budget(usd=1.0, wall_seconds=9)


A = '[models."mock/a"]\nbase_url = "http://x"\n'
ENV = 'environments = ["x/y"]\n'
MISTAKES = [
    ("colour = 3\n", 1, "colour: there is no such key"),
    ("tables = {}\n", 1, "tables: there is no such key"),
    (ENV + 'agents = "oracle"\n', 2, "agents: Input should be a list, not 'oracle'"),
    (ENV + "agents = [3]\n", 2, "agents.0: "),
    (ENV + 'agents = ["oracle", "wizard:x"]\n', 2, "agents.1: agent 'wizard:x': no kind"),
    (ENV + 'agents = ["oracle", "chat:mock/z"]\n', 2, "agents.1: model 'mock/z' is not known"),
    (ENV + 'agents = ["oracle", "chat:openai/"]\n', 2, "agents.1: model 'openai/' is not known"),
    (ENV + 'agents = ["oracle", ""]\n', 2, "agents.1: "),
    (ENV + 'models = ["openai/a", "z"]\n', 2, "models.1: model 'z' is not known"),
    (ENV + "models = 3\n", 2, "models: Input should be a table, not 3"),
    (ENV + 'models = ["openai/a", 3]\n', 2, "models.1: "),
    (ENV + 'agents = ["noop"]\njudge = "z"\n', 3, "judge: model 'z' is not known"),
    (ENV + "judge = 3\n", 2, "judge: "),
    (ENV + '[seat_models]\nuser = "z"\n', 3, "seat_models.user: model 'z' is not known"),
    (A + "[limits]\n'mock/a' = 2\n'mock/z' = 2\n", 5, "limits.mock/z: model 'mock/z' is not"),
    (A + "[limits]\n'mock/a' = 0\n", 4, "limits.mock/a: Input should be greater than or equal"),
    (A + "[limits]\n'mock/a' = '2'\n", 4, "limits.mock/a: "),
    (A + "limit = 0\n", 3, "models.mock/a.limit: "),
    (A + "retry = { attempts = 0 }\n", 3, "models.mock/a.retry.attempts: "),
    ('agents = ["chat:mock/b"]\n[models."mock/b"]\nlimit = 1\n', 1, "'mock/b'] has no base_url"),
    ("trials = 0\n", 1, "trials: "),
    ("trials = true\n", 1, "trials: "),
    ('trials = "3"\n', 1, "trials: "),
    ("tasks = -1\n", 1, "tasks: "),
    ('tasks = 1\ntask = ["0"]\n', 2, "task: tasks says how many already"),
    ("priority = -1\n", 1, "priority: "),
    ("priority = 3_000_000_000\n", 1, "priority: "),
    ("until_certain = 1\n", 1, "until_certain: "),
    ("[budget]\nusd = 1\ntokens = -5\n", 3, "budget.tokens: Input should be greater than 0"),
    ("[budget]\nusd = 0\n", 2, "budget.usd: Input should be greater than 0"),
    ("[budget]\neur = 1\n", 2, "budget.eur: there is no such key"),
    ("[sampling]\nheat = 1\n", 2, "sampling.heat: there is no such key"),
    ('conditions = ["plain", "hardened"]\n', 1, "conditions.1: trials under hardened cannot be"),
    ('conditions = ["wild"]\n', 1, "conditions.0: Input should be 'plain'"),
    ("labels = [1]\n", 1, "labels.0: "),
    ('task_seed = "hush"\n', 1, "task_seed: there is no such key"),
    ('environments = "x"\n', 1, "environments: Input should be a list"),
    ("environments = [3]\n", 1, "environments.0: "),
    ("[[environments]]\nargs = {}\n", 1, "environments.0.name: it is missing"),
    (
        '[[environments]]\nname = "x"\n\n[[environments]]\nname = "y"\n\ncolour = 1\n',
        7,
        "environments.1.colour: there is no such key",
    ),
    (
        '[[environments]]\nname = "x"\n[[environments]]\nname = "y"\nagents = ["chat:z"]\n',
        5,
        "environments.1.agents.0: model 'z' is not known",
    ),
    (
        '[[environments]]\nname = "x"\n[[environments]]\nname = "y"\ntasks = 1\ntask = [1]\n',
        6,
        "environments.1.task: tasks says how many already",
    ),
    ('[[environments]]\nname = "x"\njudge = "z"\n', 3, "environments.0.judge: model 'z' is not"),
    ('environments = ["x", "y", "./x"]\n', 1, "environments.2: './x' with the same arguments"),
    (
        '[[environments]]\nname = "x"\nargs = { a = 1 }\n[[environments]]\nname = "x"\n'
        '[[environments]]\nname = "x"\nargs = { a = 1 }\n',
        6,
        "environments.2: 'x' with the same arguments is number 0 already",
    ),
]


@pytest.mark.parametrize(("text", "line", "said"), MISTAKES, ids=[repr(m[0]) for m in MISTAKES])
def test_a_mistake_is_said_with_its_line_and_key(read, tmp_path, monkeypatch, text, line, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x").mkdir()
    with pytest.raises(UsageError) as raised:
        read(text)
    assert raised.value.message.startswith(f"{tmp_path}/sweep.toml:{line}: ")
    assert said in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('agents = ["noop"]\n', "sweep.toml: which environment?"),
        ('agents = ["noop"]\nenvironments = []\n', "sweep.toml: which environment?"),
        ('environments = ["x"]\n', "sweep.toml: who attempts?"),
        (
            '[[environments]]\nname="x"\nagents=["noop"]\n[[environments]]\nname="y"\n',
            "sweep.toml: who attempts?",
        ),
    ],
)
def test_a_sweep_of_nothing_or_nobody_is_refused(read, text, said):
    with pytest.raises(UsageError) as raised:
        read(text)
    assert said in raised.value.message
    assert raised.value.hint


def test_models_that_answer_at_the_typed_endpoint_need_no_table(read):
    flags = Flags(endpoint="http://127.0.0.1:1/v1", agents=("chat:y",))
    sweep = read(ENV + 'models = ["x"]\n[limits]\nx = 2\ny = 3\n', flags)
    assert sweep.limits == {"x": 2, "y": 3}


@pytest.fixture
def envwright(variables, tmp_path, monkeypatch, capsys):
    """The command line, called in this process as a fresh user in a folder of the test's own."""
    for name in set(os.environ) - set(variables):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def call(*args: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["envwright", *map(str, args)])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return Finished(int(left.value.code or 0), said.out, said.err)

    return call


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (None, ["-c", "gone.toml"], ["gone.toml cannot be read: No such file"]),
        (None, ["-c", "."], [". cannot be read: Is a directory"]),
        ("trials = \n", ["-c", "sweep.toml"], ["sweep.toml: ", "line 1"]),
        ("\n[budget]\nusd = -1\n", ["-c", "sweep.toml"], ["sweep.toml:3: budget.usd: "]),
        ('agents = ["noop"]\n', ["-c", "sweep.toml"], ["sweep.toml: which environment?"]),
        ('agents = ["noop"]\n', ["", "-c", "sweep.toml"], ["sweep.toml: which environment?"]),
        (None, [], ["which environment?"]),
        (None, ["x/y", "--agent", "noop", "--budget-usd", "0"], ["--budget-usd", "0"]),
        (None, ["x/y", "--agent", "noop", "--budget-usd", "nan"], ["--budget-usd", "nan"]),
        (None, ["x/y", "--agent", "noop", "--budget-tokens", "-1"], ["--budget-tokens", "-1"]),
        (None, ["x/y", "--agent", "noop", "--budget-seconds", "0"], ["--budget-seconds", "0"]),
        (None, ["x/y", "--agent", "noop", "--priority", "-1"], ["--priority", "-1"]),
    ],
)
def test_a_sweep_that_cannot_be_meant_gets_one_line_and_starts_nothing(
    envwright, tmp_path, text, arguments, words
):
    if text is not None:
        (tmp_path / "sweep.toml").write_text(text)
    done = envwright("run", *arguments)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    for word in ("error: ", *words, "hint: "):
        assert word in line
    assert not (tmp_path / "state" / "envwright.db").exists()


def test_a_budget_in_dollars_needs_prices_wherever_it_is_said(envwright, tmp_path):
    (tmp_path / "envwright.toml").write_text('[models."mock/a"]\nbase_url = "http://127.0.0.1:1"\n')
    (tmp_path / "sweep.toml").write_text("[budget]\ntrial_usd = 1.0\n")
    sums = str(EXAMPLES / "sums")
    for more in (["-c", "sweep.toml"], ["--budget-usd", "3"]):
        done = envwright("run", sums, "-m", "mock/a", *more)
        assert done.code == 2
        assert "model 'mock/a' has no known price" in done.err


@pytest.mark.slow
def test_a_sweep_file_is_run_with_its_models_limits_and_budget(envwright, tmp_path):
    root = make_environment(tmp_path)
    with provider(lambda body: Reply("0")) as served:
        (tmp_path / "sweep.toml").write_text(
            f'environments = ["{root.name}"]\nagents = ["chat:mock/a", "noop"]\ntasks = 4\n'
            f'trials = 2\n[models."mock/a"]\nbase_url = "{served.url}"\nmodel = "real"\n'
            '[limits]\n"mock/a" = 1\n[sampling]\ntemperature = 0.25\n'
            "[budget]\ntokens = 1000\ntrial_tokens = 15\n"
        )
        dry = envwright("run", "-c", "sweep.toml", "--dry-run", "--json")
        assert (dry.code, dry.json["trials"], len(served.requests)) == (0, 16, 0)
        done = envwright("run", "-c", "sweep.toml", "--json", "--budget-tokens", "60")
        # 15 tokens a trial: the fifth is not begun, for one at a time is asked.
        assert done.code == 4, done.err
        row = done.json["agents"]["chat:mock/a"]
        assert (row["scored"], row["missing"]) == (4, 4)
        assert len(served.requests) == 4
        assert {(body["model"], body["temperature"]) for body in served.requests} == {
            ("real", 0.25)
        }
        done = envwright("run", "-c", "sweep.toml", "--json", "-r", "1", "-n", "1")
        assert {name: row["trials"] for name, row in done.json["agents"].items()} == {
            "chat:mock/a": 1,
            "noop": 1,
        }


def test_every_sweep_of_the_examples_can_be_read(settings):
    found = sorted((EXAMPLES / "sweeps").glob("*.toml"))
    assert found
    for path in found:
        document = read_document(path)
        flags = Flags(environment=None if "environments" in document.raw else "examples/sums")
        assert read_sweep(path, flags, settings).runs


def test_more_trials_than_can_be_planned_are_refused_before_they_are():
    refuse_too_many(MOST_TRIALS)
    with pytest.raises(UsageError, match="more than a sweep may have") as refused:
        refuse_too_many(MOST_TRIALS + 1)
    assert refused.value.hint
