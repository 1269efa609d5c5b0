"""`sweep`, `queue`, `worker` and `trial retry`: what they do, say and refuse, in one home."""

import os
import re
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import sqlalchemy as sa

from envwright.store import Store, schema
from provider import Provider, Reply, provider
from support import CommandLine, Inside, make_environment

pytestmark = pytest.mark.slow

COUNTS = {"total", "scored", "solved", "failed", "waiting", "running", "parked", "cancelled"}
STATUS = {
    *("sweep", "state", "why", "environment", "labels", "agents", *COUNTS),
    *("spent_tokens", "spent_usd", "wasted_tokens"),
}
QUEUE = {
    *("queue", "limit", "live_limit", "running", "waiting", "parked", "held", "parked_until"),
    *("why", "rate_limited", "per_minute", "spend_usd"),
}
KEY = "sk-canary-0123456789"


@dataclass
class Models:
    """Answers right, unless told otherwise for a model."""

    said: dict[str, Reply] = field(default_factory=dict)

    def __call__(self, body: dict[str, object]) -> Reply:
        right = body["messages"][-1]["content"].removeprefix("Say ").removesuffix(".")
        return self.said.get(str(body["model"]), Reply(right))


@dataclass
class Site:
    inside: Inside
    command: CommandLine
    home: Path
    folder: Path
    models: Models
    served: Provider

    def submit(self, *args: object, **variables: str) -> str:
        done = self.inside("sweep", "submit", *args, "--json", **variables)
        assert done.code == 0, done.err
        assert set(done.json) == {"sweep"}
        return done.json["sweep"]

    def status(self, sweep: str) -> dict:
        done = self.inside("sweep", "status", sweep, "--json")
        assert done.code == 0, done.err
        return done.json

    def drain(self, **variables: str):
        done = self.inside("worker", "--drain", **variables)
        assert done.code == 0, done.err
        assert done.err.splitlines()[-1] == "nothing is left to do"
        return done

    def until(self, holds: Callable[[], bool], seconds: float = 150) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, self.inside("sweep", "list").out
            time.sleep(0.1)


@pytest.fixture(scope="module")
def site(tmp_path_factory, fresh_variables):
    folder = tmp_path_factory.mktemp("sweeps")
    home = folder / "state"
    make_environment(folder, name="probe", count=4)
    make_environment(folder, name="other", count=2)
    models = Models()
    with provider(models) as served:
        table = '[models."p/{0}"]\nbase_url = "{1}"\nmodel = "{0}"\nlimit = 2\n'
        keyed = table.format("keyed", served.url) + 'api_key_env = "PROBE_KEY"\n'
        plain = "".join(table.format(name, served.url) for name in ("a", "b", "slow"))
        (folder / "envwright.toml").write_text(plain + keyed)
        variables = fresh_variables(home)
        inside = Inside(variables, folder)
        yield Site(inside, CommandLine(variables, folder), home, folder, models, served)


@pytest.fixture(scope="module")
def drained(site):
    """A sweep that was submitted, looked at, and worked on while one of its models failed."""
    site.models.said["b"] = Reply("that is no request", status=400)
    agents = ("-m", "p/a", "-m", "p/b", "--agent", "noop")
    sweep = site.submit("probe", *agents, "-n", "2", "--label", "first")
    before = site.status(sweep)
    site.drain()
    del site.models.said["b"]
    return sweep, before


def test_a_sweep_is_submitted_drained_and_every_trial_is_counted_once(site, drained):
    sweep, before = drained
    assert set(before) == STATUS
    assert (before["state"], before["total"], before["waiting"]) == ("running", 6, 6)
    after = site.status(sweep[:12])
    assert set(after) == STATUS
    assert after["sweep"] == sweep
    assert (after["state"], after["why"], after["labels"]) == ("done", None, ["first"])
    counts = {name: after[name] for name in COUNTS}
    nothing = {"waiting": 0, "running": 0, "parked": 0, "cancelled": 0}
    failed = {"provider": 2}
    assert counts == {"total": 6, "scored": 4, "solved": 2, "failed": failed, **nothing}
    of_agent = {"total": 2, "scored": 2, "failed": {}, **nothing}
    assert after["agents"] == {
        "chat:p/a": {**of_agent, "solved": 2, "mean_reward": 1.0},
        "chat:p/b": {**of_agent, "scored": 0, "solved": 0, "failed": failed, "mean_reward": None},
        "noop": {**of_agent, "solved": 0, "mean_reward": 0.0},
    }
    assert (after["spent_tokens"], after["wasted_tokens"]) == (2 * 15, 0)
    # Nobody knows the price of its model: that is no zero.
    assert (before["spent_usd"], after["spent_usd"]) == (0.0, None)
    listed = site.inside("sweep", "list", "--label", "first", "--json").lines
    assert [(r["sweep"], r["state"], r["spent_usd"]) for r in listed] == [(sweep, "done", None)]
    assert site.inside("sweep", "list", "--label", "no such", "--json").out == ""


def test_the_trials_of_a_sweep_are_listed_whole(site, drained):
    rows = site.inside("trial", "list", "--sweep", drained[0], "--json").lines
    assert len({row["id"] for row in rows}) == 6
    assert all({"id", "agent", "task", "outcome", "attempts"} <= row.keys() for row in rows)
    seen = {(row["agent"], row["task"]["index"], row["outcome"].get("reward")) for row in rows}
    rewards = {"chat:p/a": 1.0, "chat:p/b": None, "noop": 0.0}
    assert seen == {(agent, n, reward) for agent, reward in rewards.items() for n in (0, 1)}
    assert {row["attempts"] for row in rows} == {1}


def test_every_queue_is_one_object_in_one_line(site, drained):
    rows = site.inside("queue", "status", "--json").lines
    assert [set(row) for row in rows] == [QUEUE] * len(rows)
    by_name = {row["queue"]: row for row in rows}
    assert {"control", "noop", "p/a"} <= by_name.keys()
    model = by_name["p/a"]
    assert (model["limit"], model["live_limit"], model["running"]) == (2, 2, 0)
    assert model["per_minute"] > 0
    assert site.inside("queue", "status").out.splitlines()[0].split()[:3] == [
        "queue",
        "limit",
        "live",
    ]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("queue", "limit", "p/a", "0"), "0 is not in the range x>=1"),
        (("queue", "limit", "nope", "3"), "there is no queue 'nope'"),
        (("queue", "park", "nope"), "there is no queue 'nope'"),
        (("queue", "park", "p/a", "--seconds", "nan"), "nan"),
        (("queue", "open", "nope"), "there is no queue 'nope'"),
        (("sweep", "status", "nope"), "'nope' is no sweep"),
        (("sweep", "watch", "nope"), "'nope' is no sweep"),
        (("sweep", "cancel", "nope"), "'nope' is no sweep"),
        (("sweep", "resume", "nope"), "'nope' is no sweep"),
        (("trial", "list", "--sweep", "nope"), "'nope' is no sweep"),
        (("trial", "retry", "beef"), "trial 'beef' does not exist"),
        (("sweep", "submit", "probe", "-m", "p/a", "--budget-usd", "-1"), "-1.0 is not in"),
        (("sweep", "submit", "probe", "-m", "p/a", "--budget-tokens", "0"), "0 is not in"),
        (("sweep", "submit", "probe", "-m", "p/nobody"), "'p/nobody'"),
        (("sweep", "submit", "probe", "-m", "p/a", "--budget-usd", "1"), "has no known price"),
        (("worker", "--slots", "0"), "0 is not in the range x>=1"),
    ],
    ids=lambda each: " ".join(each[:4]) if isinstance(each, tuple) else "",
)
def test_bad_input_is_one_line_and_changes_nothing(site, drained, args, said):
    before = site.inside("sweep", "list", "--json").out
    done = site.inside(*args)
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: ")
    assert "hint: " in line
    assert said in line
    assert site.inside("sweep", "list", "--json").out == before


def test_a_sweep_that_is_over_can_be_neither_cancelled_nor_its_scored_trials_retried(site, drained):
    sweep, _ = drained
    assert "is done already" in site.inside("sweep", "cancel", sweep).err
    rows = site.inside("trial", "list", "--sweep", sweep, "--json").lines
    scored = next(row["id"] for row in rows if row["outcome"]["kind"] == "scored")
    done = site.inside("trial", "retry", scored)
    assert (done.code, done.out) == (2, "")
    assert "was scored" in done.err


def test_a_failed_trial_is_tried_again_when_it_is_asked_for(site, drained):
    sweep, _ = drained
    listing = ("trial", "list", "--sweep", sweep, "--agent", "chat:p/b", "--json")
    one, other = site.inside(*listing).lines
    done = site.inside("trial", "retry", one["id"][:12], "--json")
    assert (done.code, done.json) == (0, {"trial": one["id"], "sweep": sweep})
    assert (site.status(sweep)["state"], site.status(sweep)["waiting"]) == ("running", 1)
    site.drain()
    rows = {row["id"]: row for row in site.inside(*listing).lines}
    assert (rows[one["id"]]["outcome"]["kind"], rows[one["id"]]["attempts"]) == ("scored", 2)
    assert (rows[other["id"]]["outcome"]["kind"], rows[other["id"]]["attempts"]) == ("failed", 1)
    assert site.status(sweep)["state"] == "done"


def test_two_environments_are_one_sweep(site):
    file = site.folder / "both.toml"
    file.write_text(
        'agents = ["noop", "oracle"]\n'
        '[[environments]]\nname = "probe"\ntasks = 1\n'
        '[[environments]]\nname = "other"\ntasks = 2\n'
    )
    done = site.inside("run", "-c", file, "--json")
    assert done.code == 0, done.err
    agents = done.json["agents"]
    assert {name: row["scored"] for name, row in agents.items()} == {
        "probe: noop": 1,
        "probe: oracle": 1,
        "other: noop": 2,
        "other: oracle": 2,
    }
    assert all(
        row["solved"] == (row["trials"] if "oracle" in n else 0) for n, row in agents.items()
    )
    status = site.status(done.json["sweep"])
    assert (status["environment"], status["total"]) == ("probe, other", 6)
    assert status["agents"].keys() == agents.keys()


def test_trials_whose_verdict_is_certain_are_left_out(site):
    run = ("run", "probe", "--agent", "noop", "-n", "1", "-r", "40", "--concurrency", "2")
    done = site.inside(*run, "--fresh", "--until-certain", "--json")
    assert done.code == 0, done.err
    row = done.json["agents"]["noop"]
    assert row["certain"] == row["missing"] > 0
    assert row["scored"] + row["missing"] == 40
    assert row["scored"] >= 8
    status = site.status(done.json["sweep"])
    assert (status["state"], status["cancelled"]) == ("done", row["certain"])


def test_a_run_does_itself_what_was_submitted_and_nobody_works_on(site):
    sweep = site.submit("other", "-m", "p/a", "-n", "2", "--seed", "1")
    before = len(site.served.requests)
    done = site.inside("run", "other", "-m", "p/a", "-n", "2", "--seed", "1", "--json")
    assert done.code == 0, done.err
    assert done.json["agents"]["chat:p/a"]["scored"] == 2
    site.drain()
    assert site.status(sweep)["state"] == "done"
    assert len(site.served.requests) - before == 2


def test_a_worker_that_lacks_a_key_or_is_of_another_release_leaves_a_sweep_waiting(site):
    sweep = site.submit("probe", "-m", "p/keyed", "-n", "1", PROBE_KEY=KEY)
    before = len(site.served.requests)
    done = site.drain()
    (line,) = [line for line in done.err.splitlines() if "is not served here" in line]
    assert line.startswith(f"sweep {sweep} is not served here: probe: ")
    assert "PROBE_KEY" in line

    own = say_release(site.home, sweep, "0.0.9")
    done = site.inside("worker", "--drain", PROBE_KEY=KEY)
    assert done.code == 2
    *_, line = done.err.splitlines()
    assert line.startswith(f"error: sweep {sweep} was submitted by envwright 0.0.9, and this is ")
    assert f"envwright sweep cancel {sweep}" in line
    say_release(site.home, sweep, own)

    assert (site.status(sweep)["state"], site.status(sweep)["waiting"]) == ("running", 1)
    assert len(site.served.requests) == before
    # A limit that a person set stays, whatever the model's own is.
    assert site.inside("queue", "limit", "p/keyed", "1").code == 0
    site.drain(PROBE_KEY=KEY)
    assert site.status(sweep)["scored"] == 1
    again = site.inside("run", "probe", "-m", "p/keyed", "-n", "1", "--json", PROBE_KEY=KEY)
    assert (again.code, len(site.served.requests)) == (0, before + 1)
    rows = {row["queue"]: row for row in site.inside("queue", "status", "--json").lines}
    assert (rows["p/keyed"]["limit"], rows["p/keyed"]["live_limit"]) == (1, 1)
    for file in site.home.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def say_release(home: Path, sweep: str, release: str) -> str:
    """Have a sweep been submitted by this release; by which it was."""
    store = Store(home)
    table = schema.sweep
    named = sa.select(table.c.release).where(table.c.id == sweep)
    before = store.read(lambda c: c.execute(named).scalar_one())
    said = sa.update(table).where(table.c.id == sweep).values(release=release)
    store.write(lambda c: c.execute(said))
    store.close()
    return before


def test_a_worker_leaves_a_parked_queue_alone_ends_what_is_cancelled_and_goes_on(site):
    """One worker, in a process of its own, through all of it."""
    site.models.said["slow"] = Reply(delay=60)
    sweep = site.submit("probe", "-m", "p/slow", "--agent", "noop", "-n", "4", "--seed", "2")
    assert site.inside("queue", "park", "p/slow", "--why", "lunch").code == 0
    status = site.status(sweep)
    assert (status["parked"], status["waiting"], status["running"]) == (4, 4, 0)
    row = next(r for r in site.inside("queue", "status", "--json").lines if r["queue"] == "p/slow")
    assert (row["parked"], row["parked_until"], row["why"]) == (4, "opened", "lunch")
    worker = site.command.start("worker")
    try:
        # Another queue goes on meanwhile, so the worker is there and could have begun.
        site.until(lambda: site.status(sweep)["scored"] == 4)
        assert site.status(sweep)["parked"] == 4
        assert site.inside("queue", "open", "p/slow").code == 0
        site.until(lambda: site.status(sweep)["running"] == 2)
        began = time.monotonic()
        ended = site.inside("sweep", "cancel", sweep, "--json")
        assert ended.code == 0, ended.err
        assert time.monotonic() - began < 10
        killed = ended.json["killed"]
        said = {"sweep": sweep, "waiting": 2, "running": 2, "killed": killed, "left": 0}
        assert ended.json == said
        assert killed >= 1
        status = site.status(sweep)
        assert (status["state"], status["cancelled"]) == ("cancelled", 4)
        assert site.inside("sweep", "watch", sweep).code == 4

        del site.models.said["slow"]
        resumed = site.inside("sweep", "resume", sweep, "--json")
        assert (resumed.code, resumed.json) == (0, {"sweep": sweep, "queued": 4})
        watched = site.inside("sweep", "watch", sweep, "--json")
        assert (watched.code, watched.json["state"]) == (0, "done")
        assert watched.json["agents"]["chat:p/slow"]["solved"] == 4
        assert site.status(sweep)["cancelled"] == 0
    finally:
        os.killpg(worker.pid, signal.SIGINT)
        _, err = worker.communicate(timeout=30)
    assert worker.returncode == 130
    assert re.match(r"worker \S+: envwright \S+, 512 slots, store ", err)
    assert err.splitlines()[-1] == "stopped: what ran here was given back"


def test_a_second_run_waits_for_the_trials_of_the_first_and_takes_them_over_when_it_stops(site):
    site.models.said["slow"] = Reply(delay=60)
    run = ("run", "other", "-m", "p/slow", "--json")
    before = len(site.served.requests)
    first = site.command.start(*run)
    site.until(lambda: len(site.served.requests) == before + 2)
    second = site.command.start(*run)

    def under_way() -> int:
        rows = site.inside("sweep", "list", "--json").lines
        return sum(row["state"] == "running" for row in rows)

    site.until(lambda: under_way() == 2)
    time.sleep(1.0)
    assert len(site.served.requests) == before + 2
    del site.models.said["slow"]
    os.killpg(first.pid, signal.SIGINT)
    first.communicate(timeout=30)
    assert first.returncode == 130
    out, err = second.communicate(timeout=60)
    assert second.returncode == 0, err
    assert '"solved": 2' in out
    assert len(site.served.requests) == before + 4
    states = [row["state"] for row in site.inside("sweep", "list", "-n", "2", "--json").lines]
    assert states == ["done", "stopped"]
