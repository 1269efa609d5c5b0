"""Bad input gets one clear line: what, which and what to do. Exit 2, and nothing is lost.

Commands run in this process, through the same `main` that the installed script calls:
a start of Python costs a second, and there are many ways to be wrong.
"""

import os
import sqlite3
import sys

import pytest

from envwright.cli import main
from envwright.errors import UsageError
from envwright.settings import read_file
from envwright.store import Store
from provider import Reply, provider
from support import EXACT, EXAMPLES, TASKSET, Finished, indented, make_environment

SUMS = str(EXAMPLES / "sums")
TALK = ("building the venv", "sweep ", "every trial:", "something comes only as source")


@pytest.fixture
def envwright(variables, tmp_path, monkeypatch, capsys):
    """The command line, called in this process as a fresh user in a folder of the test's own."""
    for name in set(os.environ) - set(variables):
        monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def call(*args: object) -> Finished:
        monkeypatch.setattr(sys, "argv", ["envwright", *map(str, args)])
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return Finished(int(left.value.code or 0), said.out, said.err)

    return call


def assert_one_line(done: Finished, *words: str) -> None:
    """Exit 2, nothing on stdout, and one line that says all of these words and what to do."""
    lines = [line for line in done.err.splitlines() if not line.startswith(TALK)]
    assert done.code == 2, done.err
    assert done.out == ""
    assert len(lines) == 1, done.err
    assert lines[0].startswith("error: ")
    for word in (*words, "hint: "):
        assert word in lines[0], f"{word!r} is not said in: {lines[0]}"
    assert "Traceback" not in done.err


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


PROJECT = '[project]\nname = "probe"\nversion = "0"\n'
DEPENDS = PROJECT + 'dependencies = ["verifiers>=0.4"]\n'


@pytest.mark.parametrize("command", [("env", "inspect"), ("run", "--agent", "noop")])
@pytest.mark.parametrize(
    ("named", "files", "words"),
    [
        ("./nothing/here", {}, ["'./nothing/here'", "no such folder"]),
        ("./file.py", {"file.py": ""}, ["'./file.py' is a file"]),
        ("./probe", {"probe/x.py": ""}, ["probe is no environment", "no pyproject.toml"]),
        ("./pro\n\x1bbe", {"pro\n\x1bbe/x": ""}, ["pro \\x1bbe is no environment"]),
        ("./probe", {"probe/pyproject.toml": "[project"}, ["probe/pyproject.toml", "Expected"]),
        ("./probe", {"probe/pyproject.toml": "[tool.x]"}, ["pyproject.toml", "[project]"]),
        ("./probe", {"probe/pyproject.toml": "[project]"}, ["pyproject.toml", "[project]"]),
        ("./probe", {"probe/pyproject.toml": "[project]\nversion = '1'"}, ["no name"]),
        ("./probe", {"probe/pyproject.toml": PROJECT}, ["does not depend on verifiers"]),
        (
            "./probe",
            {"probe/pyproject.toml": PROJECT + "dependencies = [3]"},
            ["dependencies is no list of strings"],
        ),
        (
            "./probe",
            {"probe/pyproject.toml": PROJECT + 'dependencies = "verifiers"'},
            ["dependencies is no list of strings"],
        ),
        (
            "./probe",
            {"probe/pyproject.toml": DEPENDS + "requires-python = 3.11"},
            ["requires-python"],
        ),
        ("./probe", {"probe/pyproject.toml": DEPENDS}, ["there is no package probe/"]),
        ("./probe", {"probe/pyproject.toml": "\udcff"}, ["pyproject.toml"]),
        (
            "wiki-search",
            {},
            ["'wiki-search': there is no", "OWNER/wiki-search@VERSION", "--venv"],
        ),
        ("wiki-search@1.2", {}, ["'wiki-search@1.2'", "a bare name is ambiguous"]),
        ("primeintellect/wiki-search@next", {}, ["'next' is no version", "@0.1.0"]),
        ("", {}, ["which environment?", "name a folder"]),
    ],
)
def test_what_is_no_environment_is_named(envwright, tmp_path, command, named, files, words):
    for name, text in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert_one_line(envwright(*command, named), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-n", "-3", "--agent", "noop"], ["'-n'", "-3"]),
        (["-n", "0", "--agent", "noop"], ["'-n'", "0"]),
        (["-n", "many", "--agent", "noop"], ["'-n'", "many"]),
        (["-r", "0", "--agent", "noop"], ["'-r'", "0"]),
        (["--concurrency", "0", "--agent", "noop"], ["'--concurrency'", "0"]),
        (["--temperature", "-1", "--agent", "noop"], ["--temperature", "-1"]),
        (["--temperature", "nan", "--agent", "noop"], ["--temperature", "nan"]),
        (["--temperature", "inf", "--agent", "noop"], ["--temperature", "inf"]),
        (["--max-tokens", "0", "--agent", "noop"], ["--max-tokens", "0"]),
        (["--sandbox", "jail", "--agent", "noop"], ["--sandbox", "jail"]),
        (["--no-such-option"], ["--no-such-option"]),
        ([], ["who attempts?", "--agent"]),
        (["--agent", "wizard:gpt"], ["agent 'wizard:gpt'", "no kind 'wizard'", "chat, oracle"]),
        (["--agent", "chat"], ["agent 'chat' names no MODEL", "chat:MODEL"]),
        (["--agent", "chat:"], ["agent 'chat:' names no MODEL"]),
        (["--agent", "oracle:gpt"], ["agent 'oracle:gpt'", "takes no model"]),
        (["--agent", "scripted"], ["agent 'scripted' names no FILE"]),
        (["--agent", "scripted:gone.json"], ["script 'gone.json' cannot be read"]),
        (["--agent", "scripted:bad.json"], ["script 'bad.json'", "no JSON"]),
        (["--agent", "scripted:."], ["script '.' cannot be read"]),
        (["-m", ""], ["names no MODEL"]),
        (["-m", "wizard/gpt"], ["model 'wizard/gpt' is not known", "--endpoint URL"]),
        (["-m", "gpt-5"], ["model 'gpt-5' is not known", "PROVIDER/MODEL"]),
        (["-m", "openai/"], ["model 'openai/' is not known"]),
        (["-m", "openai/gpt-5"], ["model 'openai/gpt-5'", "OPENAI_API_KEY is not set"]),
        (["-m", "x", "--endpoint", "localhost:80"], ["--endpoint 'localhost:80' is no URL"]),
        (["-m", "x", "--endpoint", "http://[::1"], ["--endpoint 'http://[::1' is no URL"]),
        (["-m", "x", "--endpoint", "http://"], ["--endpoint 'http://' is no URL"]),
        (
            ["-m", "x", "--endpoint", "http://127.0.0.1:9/v1", "--key-env", "MY_KEY"],
            ["model 'x'", "MY_KEY is not set"],
        ),
        (["--agent", "noop", "--judge", "wizard/gpt"], ["model 'wizard/gpt' is not known"]),
        (["--agent", "noop", "--arg", "seed"], ["--arg 'seed' is not NAME=VALUE"]),
        (["--agent", "noop", "--arg", "=3"], ["--arg '=3' is not NAME=VALUE"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_a_run_that_cannot_be_meant_is_refused_before_it_starts(
    envwright, tmp_path, arguments, words
):
    (tmp_path / "project" / "bad.json").write_text("[")
    assert_one_line(envwright("run", SUMS, *arguments), *words)
    assert not (tmp_path / "state" / "envwright.db").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["env", "tasks", SUMS, "-n", "-3"], ["'-n'", "-3"]),
        (["env", "score", SUMS], ["which reply to which task?", "--reply"]),
        (["env", "score", SUMS, "--task", "0"], ["which reply to which task?"]),
        (["env", "score", SUMS, "--task", "0", "--reply", "@gone"], ["'@gone' cannot be read"]),
        (["env", "score", SUMS, "--replies", "gone"], ["'gone' cannot be read"]),
        (["env", "score", SUMS, "--replies", "r.jsonl"], ["r.jsonl:2", "not a reply"]),
        (["env", "score", SUMS, "--replies", "empty"], ["empty holds no reply"]),
        (["env", "score", SUMS, "--replies", "empty", "--task", "0"], ["--replies stands alone"]),
        (["env", "frobnicate"], ["frobnicate"]),
        (["frobnicate"], ["frobnicate"]),
        (["trial", "show"], ["ID"]),
        (["trial", "show", "abc"], ["no store in"]),
        (["trial", "list"], ["no store in"]),
        (["model", "pull", "openai/gpt-5"], ["'openai/gpt-5' cannot be pulled"]),
        (["model", "check", "wizard"], ["model 'wizard' is not known"]),
        (["model", "check", "openai/gpt-5"], ["OPENAI_API_KEY is not set"]),
        (["demo", "nowhere"], ["'nowhere' is not here"]),
    ],
    ids=lambda value: " ".join(value).replace(SUMS, "ENV") if isinstance(value, list) else None,
)
def test_a_command_that_cannot_be_meant_is_refused(envwright, tmp_path, arguments, words):
    write(tmp_path / "project" / "r.jsonl", '{"task": 0, "reply": "1"}\n{"task": 0}\n')
    write(tmp_path / "project" / "empty", "\n")
    assert_one_line(envwright(*arguments), *words)
    assert not (tmp_path / "state" / "envwright.db").exists()


LINES = [
    ("usd = ", 1, ""),
    ('[budget]\nusd = 1\n\n[sampling\ntop_p = 1\n', 4, ""),
    ("[budget]\nusd = 1\nusd = 2\n", 3, ""),
    ("budget = 3\n", 1, "budget: "),
    ("colour = 3\n", 1, "colour: there is no such key"),
    ("\n# colour = 1\n[sampling]\n# colour\ntop_p = 1\ncolour = 3\n", 6, "sampling.colour: "),
    ('[budget]\nusd = "lots"\n', 2, "budget.usd: "),
    ("[budget]\nusd = -1\n", 2, "budget.usd: "),
    ("[budget]\nusd = nan\n", 2, "budget.usd: "),
    ("[limits]\nturns = 1\nhosts = 0\n", 3, "limits.hosts: "),
    # The same key in two tables, the mistake in the second.
    (
        '[models."a/b"]\nlimit = 3\n\n[models."c/d"]\nbase_url = "http://x"\nlimit = 0\n',
        6,
        "models.c/d.limit: ",
    ),
    # … or in the first.
    ('[models."a/b"]\nlimit = 0\n[models."c/d"]\nlimit = 3\n', 2, "models.a/b.limit: "),
    # A name that stands elsewhere before, as an argument, a value or a comment.
    (
        '[environments.limits]\nargs = { hosts = 1, usd = "limits" }\n# [limits] hosts = 0\n'
        "[limits]\nhosts = 0\n",
        5,
        "limits.hosts: ",
    ),
    # Inline tables and dotted keys.
    ('models."a/b".limit = 1\nmodels."a/b".retry = { attempts = 0 }\n', 2, "retry.attempts: "),
    ('[models."a/b".retry]\nparks = 2\nparks_ = 1\n', 3, "retry.parks_: there is no such key"),
    (
        '[models."a/b"]\nlimit = 1\nretry = { longest_seconds = 0.5 }\n',
        *(3, "retry: longest_seconds is 0.5, less than first_seconds, which is 1"),
    ),
    ('[models]\n"a/b" = { limit = 1 }\n"c/d" = { limit = 1, colour = 2 }\n', 3, "c/d.colour: "),
    ("sampling.top_p = 0.5\nsampling.seed = 'x'\n", 2, "sampling.seed: "),
    # A statement of several lines is found where it begins.
    ('[roles]\njudge = [\n  "a",\n  "b",\n]\n', 2, "roles.judge: "),
    ('[models."a/b"]\nbase_url = """\nftp://x"""\n', 2, "models.a/b.base_url: "),
    ("[environments.x]\nargs = { a = 1 }\n[environments.y]\nargs = { when = 2026-01-01 }\n", 4,
     "environments.y.args.when"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "said"), LINES, ids=[repr(each[0]) for each in LINES])
def test_a_mistake_in_envwright_toml_is_reported_with_its_line_and_key(tmp_path, text, line, said):
    path = tmp_path / "envwright.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_file(path)
    message = raised.value.message
    assert str(path) in message
    assert f"{path}:{line}: " in message or f"line {line}," in message
    assert said in message
    assert raised.value.hint


@pytest.mark.parametrize("command", [("model", "list"), ("doctor",), ("run", SUMS, "-m", "x")])
def test_a_broken_envwright_toml_stops_every_command_with_one_line(envwright, tmp_path, command):
    write(tmp_path / "project" / "envwright.toml", '[budget]\nusd = "lots"\n')
    assert_one_line(envwright(*command), "envwright.toml:2: budget.usd: ", "'lots'")


def test_a_model_of_envwright_toml_without_an_address_is_named(envwright, tmp_path):
    write(tmp_path / "project" / "envwright.toml", '[models."mine/x"]\nlimit = 2\n')
    assert_one_line(envwright("model", "check", "mine/x"), "[models.'mine/x'] has no base_url")
    assert_one_line(envwright("model", "list"), "[models.'mine/x'] has no base_url")


@pytest.mark.parametrize(
    "url", ["http://me:hunter22@127.0.0.1/v1", "ftp://hunter22@x", "hunter22@x"]
)
def test_an_endpoint_with_a_key_in_it_is_refused_and_not_repeated(envwright, url):
    done = envwright("run", SUMS, "-m", "x", "--endpoint", url)
    assert_one_line(done, "--endpoint", "holds a user or a password", "--key-env")
    assert "hunter22" not in done.err


def test_a_base_url_with_a_key_in_it_is_refused_and_not_repeated(envwright, tmp_path):
    table = '[models."a/b"]\nlimit = 3\nbase_url = "https://me:hunter22@x.example/v1"\n'
    write(tmp_path / "project" / "envwright.toml", table)
    for command in (("model", "list"), ("run", SUMS, "-m", "a/b")):
        done = envwright(*command)
        assert_one_line(done, "envwright.toml:3: models.a/b.base_url", "api_key_env")
        assert "hunter22" not in done.err


def test_a_trial_that_does_not_exist_or_could_be_several_is_named(envwright, home):
    Store(home).close()
    database = sqlite3.connect(home / "envwright.db")
    database.execute("insert into revision values ('r', 'verifiers', 'x', '2026-01-01')")
    for name in ("abcd" + "0" * 60, "abce" + "0" * 60):
        database.execute(
            "insert into trial (id, revision, environment, task_index, task_key, agent, condition,"
            " n, spec, created_at) values (?, 'r', 'x', 0, 'k', 'noop', 'plain', 0,"
            " '{\"args\": {}}', '2026-01-01 00:00:00')",
            (name,),
        )
    database.commit()
    database.close()
    show = ("trial", "show")
    assert_one_line(envwright(*show, "ffff"), "trial 'ffff' does not exist", "trial list")
    assert_one_line(envwright(*show, "%"), "trial '%' does not exist")
    assert_one_line(envwright(*show, ""), "trial ''")
    assert_one_line(envwright(*show, "abc"), "trial 'abc' could be several")
    assert_one_line(envwright(*show, "abcd", "--attempt", "1"), "has no attempt 1")
    assert envwright(*show, "ABCD").code == 0


def test_a_database_that_is_damaged_is_named_and_kept(envwright, home):
    home.mkdir()
    (home / "envwright.db").write_bytes(b"this is no database" * 400)
    for command in (("trial", "list"), ("run", SUMS, "--agent", "noop")):
        assert_one_line(envwright(*command), str(home / "envwright.db"), "not a database")
    assert (home / "envwright.db").read_bytes() == b"this is no database" * 400


def test_a_store_of_a_newer_program_is_left_as_it_is(envwright, home):
    Store(home).close()
    database = sqlite3.connect(home / "envwright.db")
    database.execute("update alembic_version set version_num = '9999'")
    database.commit()
    for command in (("trial", "list"), ("run", SUMS, "--agent", "noop")):
        assert_one_line(envwright(*command), "schema 9999", "newer envwright")
    assert database.execute("select * from alembic_version").fetchall() == [("9999",)]
    database.close()


@pytest.mark.parametrize("where", ["/proc/nowhere", "a file", "a folder of others"])
def test_a_home_that_cannot_be_written_is_named(envwright, tmp_path, monkeypatch, where):
    home = where if where.startswith("/") else str(tmp_path / "taken")
    if where == "a file":
        (tmp_path / "taken").write_text("mine")
    if where == "a folder of others":
        (tmp_path / "taken" / "envwright.db").mkdir(parents=True)
    monkeypatch.setenv("ENVWRIGHT_HOME", home)
    assert_one_line(envwright("run", SUMS, "--agent", "noop"), home)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply("bad key sk-123", status=401), ["answered 401", "bad key", "MY_KEY"]),
        (Reply("no such model", status=404), ["answered 404", "no such model", "'x'"]),
        (Reply("pay first", status=402), ["answered 402", "pay first"]),
        (Reply("what?", status=400), ["answered 400", "what?"]),
        (Reply(body=b"<html>hello</html>"), ["without JSON"]),
        (Reply(body=b"{}"), ["without a completion"]),
    ],
)
def test_a_provider_that_refuses_a_check_is_quoted_without_the_key(
    envwright, monkeypatch, reply, words
):
    monkeypatch.setenv("MY_KEY", "sk-123")
    with provider(lambda body: reply) as served:
        done = envwright("model", "check", "x", "--endpoint", served.url, "--key-env", "MY_KEY")
    assert_one_line(done, *words)
    assert "sk-123" not in done.err
    assert len(served.requests) == 1


TWO = """
import verifiers.v1 as vf

class One(vf.Taskset[vf.Task, vf.TasksetConfig]):
    def load(self):
        return []

class Two(vf.Taskset[vf.Task, vf.TasksetConfig]):
    def load(self):
        return []

__all__ = ["One", "Two"]
"""
ENDLESS = """
    INFINITE = True
    def load(self):
        while True:
            yield Task(Data(prompt="?", answer="1"), self.config.task)
    def unused(self):
        pass
"""
NOOP = ("--agent", "noop")
MESSAGE = "first line\\nsecond \\x1b[31mline"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "arguments", "words"),
    [
        (
            {"source": f"x = 1\nraise RuntimeError('{MESSAGE}')\n"},
            ["run", *NOOP],
            ["probe does not load", "first line second", "(at probe/__init__.py:2)"],
        ),
        ({"source": "import nowhere_to_be_found\n"}, ["env", "inspect"], ["'nowhere_to_be_found'"]),
        (
            {"source": "import os\nos._exit(3)\n"},
            ["env", "tasks"],
            ["code 3", "(at probe/__init__.py:2)"],
        ),
        ({"source": TWO}, ["run", *NOOP], ["probe does not load", "Taskset"]),
        ({}, ["run", *NOOP, "--arg", "nope=1"], ["no argument 'nope'", "num_tasks"]),
        ({}, ["env", "inspect", "--arg", "num_tasks=many"], ["num_tasks", "many"]),
        ({}, ["run", *NOOP, "--task", "99"], ["'probe' has no task 99", "it has 8"]),
        ({}, ["env", "score", "--task", "abcdef", "--reply", "x"], ["'abcdef' names no task"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_an_environment_that_cannot_be_used_says_why_in_one_line(
    envwright, tmp_path, made, arguments, words
):
    root = make_environment(tmp_path, **made)
    at = 1 if arguments[0] == "run" else 2
    assert_one_line(envwright(*arguments[:at], root, *arguments[at:]), *words)


@pytest.mark.slow
def test_an_endless_taskset_needs_a_number(envwright, tmp_path):
    source = TASKSET.format(imports="", task=indented(EXACT), taskset=ENDLESS, count=1)
    source = source[: source.rindex("    def load(self):")] + '__all__ = ["Tasks"]\n'
    root = make_environment(tmp_path, source=source)
    assert_one_line(envwright("run", root, *NOOP), "'probe' has endless tasks", "-n")
    done = envwright("run", root, *NOOP, "-n", "2", "--json")
    assert (done.code, done.json["agents"]["noop"]["scored"]) == (0, 2)


@pytest.mark.slow
def test_a_provider_that_refuses_ends_the_run_after_one_call_and_says_so(envwright, tmp_path):
    root = make_environment(tmp_path)
    with provider(lambda body: Reply("bad key", status=401)) as served:
        done = envwright(
            "run", root, "-m", "x", "--endpoint", served.url, "--concurrency", "1", "--json"
        )
    lines = [line for line in done.err.splitlines() if not line.startswith(TALK)]
    assert done.code == 2, done.err
    assert len(lines) == 1, done.err
    assert lines[0].startswith("error: x ")
    assert "answered 401: bad key" in lines[0]
    assert len(served.requests) == 1
    row = done.json["agents"]["chat:x"]
    assert (row["scored"], row["failed"], row["missing"]) == (0, {"provider": 1}, 7)
    assert row["mean_reward"] is None
