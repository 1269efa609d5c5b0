"""Ctrl-C, kill -9 and a full disk in the middle: what is finished stays, nothing else does."""

import fcntl
import os
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from envwright.store import Store
from provider import Reply, provider
from support import EXAMPLES, CommandLine, Finished, make_environment

pytestmark = pytest.mark.slow

STOPS_WITHIN_SECONDS = 10


class Gate:
    """Answers the first few tasks at once, and others not until it is opened."""

    def __init__(self, quick: int) -> None:
        self.quick = quick
        self.asked: Counter[str] = Counter()
        self.open = False

    def __call__(self, body: dict[str, object]) -> Reply:
        prompt = body["messages"][-1]["content"]
        self.asked[prompt] += 1
        number = prompt.removeprefix("Say ").removesuffix(".")
        waits = not self.open and len(self.asked) > self.quick
        return Reply(number, delay=60.0 if waits else 0.0)


def processes(marker: Path) -> list[str]:
    """Every process with this path among its words or variables; a host has its revision's."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            words = (folder / "cmdline").read_bytes()
            variables = (folder / "environ").read_bytes()
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if str(marker).encode() in words + variables and state != "Z":
            found.append(f"{folder.name} {words.replace(bytes(1), b' ').decode()}")
    return found


def hosts(marker: Path) -> list[str]:
    return [each for each in processes(marker) if " -m envwright_host " in each]


def assert_gone(marker: Path) -> None:
    wait_until(lambda: not processes(marker), 5, f"still there: {processes(marker)}")


def wait_until(done, seconds: float, what: str) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def interrupt(process: subprocess.Popen[str]) -> Finished:
    """Ctrl-C as a terminal sends it, to the whole group; it ends in time and in order."""
    began = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert time.monotonic() - began < STOPS_WITHIN_SECONDS
    assert process.returncode == 130, err
    assert "Traceback" not in err
    return Finished(process.returncode, out, err)


def outcomes(envwright: CommandLine) -> dict[int, str | None]:
    rows = envwright("trial", "list", "--json").lines
    assert len({row["id"] for row in rows}) == len(rows)
    return {row["task"]["index"]: row["outcome"] and row["outcome"]["kind"] for row in rows}


def test_ctrl_c_in_a_run_keeps_what_is_finished_and_the_rest_is_done_next_time(
    envwright, tmp_path, home
):
    root = make_environment(tmp_path, count=6)
    gate = Gate(quick=3)
    with provider(gate) as served:
        run = ("run", root, "-m", "m", "--endpoint", served.url, "--concurrency", "4", "--json")
        process = envwright.start(*run)
        wait_until(lambda: len(gate.asked) >= 6, 90, "the run never got so far")
        time.sleep(0.5)
        assert hosts(home)
        done = interrupt(process)
        assert "the same command does the rest" in done.err
        row = done.json["agents"]["chat:m"]
        assert (row["scored"], row["missing"], row["failed"]) == (3, 3, {})
        assert_gone(home)
        assert Counter(outcomes(envwright).values()) == {"scored": 3, None: 3}

        gate.open = True
        finished = list(gate.asked)[:3]
        before = len(served.requests)
        again = envwright(*run)
        assert again.code == 0, again.err
        assert (again.json["agents"]["chat:m"]["solved"], len(served.requests) - before) == (6, 3)
        assert all(gate.asked[prompt] == 1 for prompt in finished)

        shown = [
            envwright("trial", "show", row["id"], "--json").json
            for row in envwright("trial", "list", "--json").lines
        ]
        states = Counter(tuple(a["state"] for a in each["attempts"]) for each in shown)
        assert states == {("finished",): 3, ("cancelled", "finished"): 3}

        third = envwright(*run)
        assert (third.code, len(served.requests) - before) == (0, 3)
        assert third.json["agents"] == again.json["agents"]

        fresh = envwright(*run, "--fresh", "-n", "2")
        assert (fresh.code, len(served.requests) - before) == (0, 5)
        assert len(envwright("trial", "list", "--json").lines) == 8


def test_a_killed_command_leaves_no_process_and_its_attempts_are_closed_as_lost(
    envwright, tmp_path, home
):
    root = make_environment(tmp_path, count=4)
    gate = Gate(quick=2)
    with provider(gate) as served:
        run = ("run", root, "-m", "m", "--endpoint", served.url, "--concurrency", "2", "--json")
        process = envwright.start(*run)
        wait_until(lambda: len(gate.asked) >= 4, 90, "the run never got so far")
        time.sleep(0.3)
        assert hosts(home)
        process.kill()
        process.communicate(timeout=30)
        assert_gone(home)
        assert Counter(outcomes(envwright).values()) == {"scored": 2, None: 2}

        gate.open = True
        before = len(served.requests)
        again = envwright(*run)
        assert again.code == 0, again.err
        assert again.json["agents"]["chat:m"]["solved"] == 4
        assert len(served.requests) - before == 2

    rows = envwright("trial", "list", "--json").lines
    shown = [envwright("trial", "show", row["id"], "--json").json for row in rows]
    lost = [each for each in shown if len(each["attempts"]) > 1]
    assert len(shown) == 4
    assert len(lost) == 2
    for each in lost:
        states = [attempt["state"] for attempt in each["attempts"]]
        assert states == ["lost", "finished"]
        assert each["attempts"][0]["problem"] == "its worker is gone"
        assert each["outcome"]["kind"] == "scored"


def test_ctrl_c_during_the_build_of_a_venv_leaves_none_that_looks_whole(envwright, tmp_path, home):
    root = make_environment(tmp_path, count=2)
    venvs = tmp_path / "venvs"
    process = envwright.start("run", root, "--agent", "noop", ENVWRIGHT_VENVS=str(venvs))
    wait_until(lambda: any(venvs.glob("*/lib/*/site-packages/*")), 60, "no venv was begun")
    done = interrupt(process)
    assert done.err.splitlines()[-1].startswith("error: ")
    assert_gone(home)
    assert_gone(venvs)
    assert not list(venvs.glob("*.complete"))
    (lock,) = venvs.glob("*.lock")
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_ctrl_c_while_an_environment_loads_ends_it(envwright, tmp_path, home):
    root = make_environment(tmp_path, imports="time.sleep(120)", count=2)
    process = envwright.start("run", root, "--agent", "noop")
    wait_until(lambda: hosts(home), 60, "no host was started")
    time.sleep(2)
    done = interrupt(process)
    assert done.err.splitlines()[-1] == "error: stopped before the first trial"
    assert_gone(home)


def test_ctrl_c_during_the_pull_leaves_nothing_that_looks_like_a_model(envwright, tmp_path):
    cache = tmp_path / "cache"
    process = envwright.start("model", "pull", ENVWRIGHT_CACHE=str(cache))
    wait_until(lambda: any(cache.glob("models/smollm2/.pull-*")), 60, "no pull was begun")
    time.sleep(0.3)
    interrupt(process)
    assert_gone(cache)
    assert not list(cache.glob("models/smollm2/*.gguf"))
    assert "not pulled yet" in envwright("model", "list", ENVWRIGHT_CACHE=str(cache)).out


def test_a_disk_that_fills_up_ends_the_sweep_in_one_line_and_what_is_kept_counts(
    envwright, home, tmp_path
):
    """No file may grow beyond the limit: as on a full disk, a write fails in the middle."""
    sweep = ("run", EXAMPLES / "sums", "--agent", "noop", "--json")
    Store(home).close()
    most = (home / "envwright.db").stat().st_size + 150_000
    done = subprocess.run(
        ["prlimit", f"--fsize={most}", *envwright.command(*sweep)],
        **{"cwd": tmp_path, "env": envwright.variables, "capture_output": True, "text": True},
    )
    *_, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert last.startswith(f"error: {home}"), done.stderr
    assert "hint: check that the disk has room" in last
    assert "Traceback" not in done.stderr
    again = envwright(*sweep)
    assert again.code == 0, again.err
    assert again.json["agents"]["noop"]["scored"] == 100


@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_ctrl_c_while_an_environment_is_loaded_is_one_line(envwright, tmp_path, home, command):
    root = make_environment(tmp_path, imports="time.sleep(60)")
    process = envwright.start("env", command, root)
    wait_until(lambda: hosts(home), 90, "nothing was started")
    time.sleep(1.0)
    done = interrupt(process)
    assert done.err.splitlines()[-1] == "error: interrupted"
    assert_gone(home)
