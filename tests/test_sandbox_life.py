"""How long a sandbox and its tokens live, and what happens where there is no sandbox."""

import asyncio
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from bed import Bed, make_bed
from envwright.agent.script import Script
from envwright.errors import Cause
from envwright.gateway import Grant
from envwright.host import Loaded
from envwright.model import Model
from envwright.sandbox import Bubblewrap, Command
from envwright.sandbox.cgroup import places
from envwright.trial import Failed, Scored
from provider import provider
from support import ROOT, make_environment, processes_with

PROBER = ROOT / "tests" / "environments" / "prober"
DAEMON = "86414.75"

LEAVES_A_DAEMON = f"""
@vf.reward(weight=1.0)
async def paid(self, trace: vf.Trace) -> float:
    import subprocess
    script = "trap '' TERM HUP INT; (setsid sleep {DAEMON} &) ; exit 0"
    subprocess.run(["/bin/sh", "-c", script], start_new_session=True)
    await asyncio.sleep(60)
    return 1.0
"""


def without_bubblewrap(folder: Path) -> str:
    """A PATH with what a command needs, and no bwrap."""
    folder.mkdir()
    for name in ("sh", "env"):
        (folder / name).symlink_to(shutil.which(name) or "")
    return str(folder)


@pytest.mark.slow
def test_nothing_outlives_a_worker_that_is_killed(envwright, tmp_path):
    root = make_environment(tmp_path, task=LEAVES_A_DAEMON, count=1)
    worker = envwright.start("run", root, "--agent", "noop")
    try:
        wait_until(lambda: processes_with(DAEMON), 60)
        os.kill(worker.pid, signal.SIGKILL)
        wait_until(lambda: not processes_with(DAEMON), 10)
    finally:
        worker.kill()
        worker.communicate()


def wait_until(holds, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.05)


def test_a_missing_bubblewrap_is_reported_with_the_way_to_get_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", without_bubblewrap(tmp_path / "bin"))
    problem = asyncio.run(Bubblewrap().check())
    assert problem is not None
    assert "not installed" in problem
    assert "apt-get install bubblewrap" in problem


def test_a_bubblewrap_that_cannot_start_is_reported_with_its_own_words(monkeypatch, tmp_path):
    path = without_bubblewrap(tmp_path / "bin")
    broken = Path(path, "bwrap")
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", path)
    problem = asyncio.run(Bubblewrap().check())
    assert problem is not None
    assert "No permissions to create new namespace" in problem
    assert "hint:" in problem


def test_a_working_bubblewrap_is_not_reported():
    assert asyncio.run(Bubblewrap().check()) is None


def test_sandboxes_that_are_killed_leave_no_groups_behind():
    async def start_and_kill() -> None:
        # Silent children: that the output ends does not mean that they have ended.
        children = "for n in $(seq 60); do sleep 60 >/dev/null 2>&1 & done; echo up; wait"
        process = await Bubblewrap().start(Command(argv=("/bin/sh", "-c", children)))
        while "up" not in process.tail:
            await asyncio.sleep(0.01)
        process.kill()
        await process.wait()

    before = groups_of_this_process()
    for _ in range(5):
        asyncio.run(start_and_kill())
    assert len(groups_of_this_process() - before) <= 1, "only the last may still be ending"


def groups_of_this_process() -> set[Path]:
    folders = [base for base, _ in places(2**30, 8, None)]
    return {path for base in folders[:1] for path in base.glob(f"envwright-{os.getpid()}-*")}


@pytest.mark.parametrize("command", [("run", "--agent", "oracle"), ("env", "inspect")])
def test_without_bubblewrap_a_command_stops_with_one_line_and_runs_nothing(
    envwright, tmp_path, command
):
    marker = tmp_path / "ran"
    root = make_environment(tmp_path, imports=f"open({str(marker)!r}, 'w').close()")
    path = without_bubblewrap(tmp_path / "bin")
    verb, flags = (command[:1], command[1:]) if command[0] == "run" else (command, ())
    done = envwright(*verb, root, *flags, PATH=path)
    assert done.code == 2
    assert done.out == ""
    (line,) = done.err.splitlines()
    assert line.startswith("error: bubblewrap is not installed. hint: run `sudo apt-get install")
    assert not marker.exists(), "environment code ran without a sandbox"


@pytest.mark.slow
def test_no_sandbox_by_name_warns_and_works(envwright, tmp_path):
    path = without_bubblewrap(tmp_path / "bin")
    root = make_environment(tmp_path, count=2)
    done = envwright(*("run", root, "--agent", "oracle", "--sandbox", "none", "--json"), PATH=path)
    assert done.code == 0, done.err
    assert done.json["agents"]["oracle"]["mean_reward"] == 1.0
    assert "warning: --sandbox none" in done.err


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory, venvs: Path):
    with make_bed(tmp_path_factory.mktemp("tokens"), venvs) as made:
        yield made


@pytest.fixture(scope="module")
def prober(bed: Bed) -> Loaded:
    return bed.do(bed.load(PROBER))


@pytest.fixture(scope="module")
def grant(bed: Bed):
    """A trial under way elsewhere, whose token an environment got hold of."""
    with provider() as served:
        model = Model(name="fake", base_url=served.url, model="fake")
        yield Grant(trial="", attempt=1, seat_model=model)


def status(bed: Bed, loaded: Loaded, said: str) -> float:
    """What the gateway answers an environment that calls with the token named by `said`."""
    told = bed.do(bed.sweep(loaded, [0], script=Script(replies=({"content": said},))))[0]
    assert isinstance(told.outcome, Scored), told.outcome
    return told.outcome.reward


@pytest.mark.slow
def test_a_forged_token_is_refused_and_spoils_the_trial(bed, prober):
    said = Script(replies=({"content": "forged-token"},))
    outcome = bed.do(bed.sweep(prober, [0], script=said))[0].outcome
    assert isinstance(outcome, Failed), outcome
    assert outcome.cause is Cause.GRADER
    assert "without the trial's token, and was refused" in outcome.detail


@pytest.mark.slow
def test_a_token_is_worth_nothing_after_its_trial(bed, prober):
    assert status(bed, prober, "remember") == 1.0, "it had no token of its own"
    assert status(bed, prober, "remembered") == 401


@pytest.mark.slow
def test_a_token_that_is_closed_is_refused_from_then_on(bed, prober, grant):
    bed.gateway.open(grant)
    assert status(bed, prober, grant.token) == 200
    bed.gateway.close_grant(grant)
    assert status(bed, prober, grant.token) == 401


@pytest.mark.slow
def test_a_token_is_worth_nothing_in_another_sandbox(bed, prober, grant):
    bed.gateway.open(grant)
    assert status(bed, prober, grant.token) == 200
    other = bed.do(bed.load(PROBER))
    assert status(bed, other, grant.token) == 401
    assert status(bed, prober, grant.token) == 200
    bed.gateway.close_grant(grant)
