"""Providers that fail, through the command line: nothing that broke counts as a zero.

One sweep asks several models of one provider, each of which fails in its own way; the
tests read what became of it.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import zstandard

from provider import Provider, Reply, provider
from support import CommandLine, Finished, make_environment

pytestmark = pytest.mark.slow

KEY = "sk-canary-0123456789abcdefghijklmnopqrstuvwxyz"
TASKS = 6
CHAT = {"index": 0, "finish_reason": "stop"}
GARBAGE: list[bytes] = [
    b"",
    b"<html>welcome</html>",
    b'{"choices": []}',
    json.dumps({"choices": [{**CHAT, "message": {"role": "assistant", "content": 5}}]}).encode(),
    json.dumps({"choices": [{**CHAT, "message": {"content": "x", "tool_calls": "y"}}]}).encode(),
    json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [{}]}}]}).encode(),
]
TOML = """
[models."p/broken"]
base_url = "{url}"
api_key_env = "CANARY_KEY"
retry = {{ first_seconds = 0.05, longest_seconds = 0.2 }}
[models."p/flaky"]
base_url = "{url}"
retry = {{ first_seconds = 0.05, longest_seconds = 0.2 }}
[models."p/garbage"]
base_url = "{url}"
retry = {{ first_seconds = 0.05, longest_seconds = 0.2 }}
[models."p/limited"]
base_url = "{url}"
retry = {{ attempts = 1 }}
[models."p/dead"]
base_url = "{url}"
api_key_env = "CANARY_KEY"
retry = {{ first_seconds = 0.05, longest_seconds = 0.2 }}
limit = 2
[models."p/refuses"]
base_url = "{url}"
api_key_env = "CANARY_KEY"
limit = 2
"""


@dataclass
class World:
    """A provider, an environment, a state folder, and the command line among them."""

    envwright: CommandLine
    served: Provider
    environment: Path
    home: Path
    seen: dict[str, Counter[str]]
    """Model → how often each prompt was asked."""
    healthy: bool = False

    def answer(self, body: dict[str, Any]) -> Reply:
        """Each model fails in its own way; right answers otherwise."""
        prompt = body["messages"][-1]["content"]
        counts = self.seen.setdefault(body["model"], Counter())
        counts[prompt] += 1
        number = re.sub(r"\D", "", prompt)
        match body["model"]:
            case "refuses" if not self.healthy:
                return Reply(f"the key {KEY} is not valid", status=401)
            case "broken" if number != "0":
                return Reply(f"{KEY} crashed the server", status=500)
            case "dead" if not self.healthy:
                return Reply(f"{KEY} crashed the server", status=500)
            case "garbage":
                return Reply(body=GARBAGE[int(number)])
            case "flaky" if counts[prompt] <= 5:
                return Reply("try later", status=500)
            case "limited" if counts.total() <= TASKS // 2:
                return Reply("too fast", status=429, headers={"Retry-After": "1"})
        return Reply(number)

    def run(
        self, *models: str, more: tuple[object, ...] = ("--json", "--concurrency", 8)
    ) -> Finished:
        asked = [part for model in models for part in ("-m", model)]
        return self.envwright("run", self.environment, *asked, *more, CANARY_KEY=KEY)

    def trials(self, agent: str) -> list[dict[str, Any]]:
        return self.envwright("trial", "list", "--agent", agent, "--json").lines


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, venvs: Path) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("providers")
    home = folder / "state"
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.startswith("ENVWRIGHT_")
    }
    variables = {**kept, "ENVWRIGHT_HOME": str(home), "ENVWRIGHT_VENVS": str(venvs)}
    with provider() as served:
        made = World(
            CommandLine({**variables, "NO_COLOR": "1"}, folder),
            served,
            make_environment(folder, count=TASKS),
            home,
            {},
        )
        served.answer = made.answer
        (folder / "envwright.toml").write_text(TOML.format(url=served.url))
        yield made


@pytest.fixture(scope="module")
def swept(world: World) -> Finished:
    """The sweep that most tests read."""
    return world.run("p/broken", "p/flaky", "p/garbage", "p/limited")


@pytest.fixture(scope="module")
def agents(swept: Finished) -> dict[str, Any]:
    return swept.json["agents"]


def test_a_sweep_with_failed_trials_says_so_in_its_exit_code(swept: Finished):
    assert swept.code == 1, swept.err


@pytest.mark.parametrize(("model", "scored"), [("broken", 1), ("garbage", 0)])
def test_trials_that_the_provider_failed_have_no_reward(
    agents: dict[str, Any], model: str, scored: int
):
    row = agents[f"chat:p/{model}"]
    assert row["failed"] == {"provider": TASKS - scored}
    assert (row["scored"], row["missing"], row["solved"]) == (scored, 0, scored)
    assert row["mean_reward"] == (1.0 if scored else None)
    assert (row["mean_interval"] is None) == (not scored)


@pytest.mark.parametrize("model", ["flaky", "limited"])
def test_trials_that_the_provider_let_through_in_the_end_are_scored(
    agents: dict[str, Any], model: str
):
    row = agents[f"chat:p/{model}"]
    assert (row["scored"], row["failed"], row["mean_reward"]) == (TASKS, {}, 1.0)


def test_a_trial_that_is_sent_away_comes_back_and_is_not_charged(
    world: World, agents: dict[str, Any]
):
    # One attempt is all that a failure of this provider allows.
    listed = world.trials("chat:p/limited")
    sent_away = TASKS // 2
    assert Counter(trial["attempts"] for trial in listed) == {2: sent_away, 1: TASKS - sent_away}
    assert world.seen["limited"].total() == TASKS + sent_away
    trial = next(trial["id"] for trial in listed if trial["attempts"] == 2)
    first, second = world.envwright("trial", "show", trial, "--json").json["attempts"]
    outcome = first["grades"][0]["outcome"]
    assert (outcome["fault"], outcome["retry_after_seconds"]) == ("rate_limited", 1.0)
    assert second["grades"][0]["outcome"]["kind"] == "scored"
    ended, begun = (datetime.fromisoformat(at) for at in (first["ended_at"], second["started_at"]))
    assert (begun - ended).total_seconds() > 0.9


def test_every_attempt_of_a_trial_is_kept(world: World, agents: dict[str, Any]):
    for model, attempts in (("broken", {3: TASKS - 1, 1: 1}), ("flaky", {2: TASKS})):
        listed = world.trials(f"chat:p/{model}")
        assert Counter(trial["attempts"] for trial in listed) == attempts, model
    trial = world.trials("chat:p/flaky")[0]["id"]
    shown = world.envwright("trial", "show", trial, "--json").json
    outcomes = [[grade["outcome"]["kind"] for grade in a["grades"]] for a in shown["attempts"]]
    assert outcomes == [["failed"], ["scored"]]
    (call,) = shown["traces"][0]["calls"]
    assert (call["tries"], call["status"], call["error"]) == (2, 200, None)
    first = world.envwright("trial", "show", trial, "--attempt", 1, "--json").json
    (call,) = first["traces"][0]["calls"]
    assert (call["tries"], call["status"], call["usage"]) == (4, 500, None)
    assert "try later" in call["error"]


def test_a_failed_trial_says_why(world: World, agents: dict[str, Any]):
    listed = world.trials("chat:p/broken")
    trial = next(each["id"] for each in listed if each["outcome"]["kind"] == "failed")
    shown = world.envwright("trial", "show", trial)
    assert shown.code == 0
    assert "why it failed (provider):" in shown.out
    assert "p/broken answered 500: [key] crashed the server" in shown.out
    assert "outcome: failed (provider)" in shown.out


def test_each_kind_of_garbage_is_the_providers_failure(world: World, agents: dict[str, Any]):
    for trial in world.trials("chat:p/garbage"):
        outcome = trial["outcome"]
        assert outcome["cause"] == "provider", outcome
        known = ("p/garbage answered 200 without", "malformed answer: ")
        assert any(words in outcome["detail"] for words in known), outcome


def test_a_provider_that_refuses_or_never_answers_is_left_and_a_healthy_one_completes_it(
    world: World,
):
    refused = world.run("p/refuses", "p/dead", more=("--json",))
    assert refused.code == 2
    errors = [line for line in refused.err.splitlines() if line.startswith("error:")]
    assert len(errors) == 2
    (said,) = [line for line in errors if "p/refuses" in line]
    for part in ("401", "[key] is not valid", "CANARY_KEY"):
        assert part in said
    (said,) = [line for line in errors if "p/dead" in line]
    assert "answered 500: [key] crashed the server" in said
    tried = {}
    for name in ("refuses", "dead"):
        row = refused.json["agents"][f"chat:p/{name}"]
        tried[name] = row["failed"]["provider"]
        assert (row["scored"], row["mean_reward"]) == (0, None)
        assert tried[name] + row["missing"] == TASKS
        assert row["missing"] > 0
    # Two at a time, and none after the first refusal.
    assert tried["refuses"] == world.seen["refuses"].total() <= 3

    world.healthy = True
    again = world.run("p/refuses", "p/dead", more=("--json",))
    assert again.code == 0, again.err
    for name in ("refuses", "dead"):
        row = again.json["agents"][f"chat:p/{name}"]
        assert (row["scored"], row["failed"], row["missing"]) == (TASKS, {}, 0)
        assert row["mean_reward"] == 1.0
    attempts = Counter(trial["attempts"] for trial in world.trials("chat:p/refuses"))
    assert attempts == Counter({2: tried["refuses"], 1: TASKS - tried["refuses"]})
    for text in (refused.out, refused.err, again.out, again.err):
        assert KEY not in text


def test_the_key_is_nowhere_in_the_state_folder_nor_in_what_is_printed(
    world: World, swept: Finished
):
    assert sum(KEY in headers.get("Authorization", "") for headers in world.served.headers)
    assert KEY not in swept.out + swept.err
    files = [path for path in world.home.rglob("*") if path.is_file()]
    blobs = [path for path in files if path.suffix == ".zst"]
    assert len(blobs) >= 4 * TASKS
    assert world.home / "envwright.db" in files
    for path in files:
        content = path.read_bytes()
        if path in blobs:
            content = zstandard.ZstdDecompressor().stream_reader(content).read()
            assert path.suffixes[0] == ".tar" or b'"seat"' in content
        assert KEY[:16].encode() not in content, path


def test_a_dry_run_counts_and_prices_and_asks_nobody(world: World):
    before = len(world.served.requests)
    variables = {"OPENAI_API_KEY": "sk-dummy", "CANARY_KEY": KEY}
    agents = ("-m", "openai/gpt-5", "-m", "p/broken", "--agent", "noop")
    options = ("--dry-run", "-n", 4, "-r", 3, "--json")
    done = world.envwright("run", world.environment, *agents, *options, **variables)
    assert done.code == 0, done.err
    estimate = done.json
    assert estimate["trials"] == 36
    assert {name: row["trials"] for name, row in estimate["agents"].items()} == {
        **{"chat:openai/gpt-5": 12, "chat:p/broken": 12, "noop": 12}
    }
    assert estimate["agents"]["chat:openai/gpt-5"]["cost_usd"] > 0
    assert estimate["agents"]["chat:p/broken"]["cost_usd"] is None
    assert estimate["agents"]["noop"]["cost_usd"] == 0
    assert estimate["cost_usd"] is None
    assert len(world.served.requests) == before
    assert world.trials("chat:openai/gpt-5") == []


def test_model_check_tells_a_healthy_a_refusing_and_a_dead_endpoint_apart(world: World):
    def check(url: str, name: str, *more: str) -> Finished:
        return world.envwright("model", "check", name, "--endpoint", url, *more, CANARY_KEY=KEY)

    good = check(world.served.url, "good", "--json")
    assert (good.code, good.json["status"], good.json["usage"]["input_tokens"]) == (0, 200, 10)
    world.healthy = False
    with socket.create_server(("127.0.0.1", 0)) as gone:
        dead = f"http://127.0.0.1:{gone.getsockname()[1]}/v1"
    for done, words in (
        (check(world.served.url, "refuses", "--key-env", "CANARY_KEY"), "CANARY_KEY"),
        (check(dead, "good"), "good: "),
    ):
        assert (done.code, done.out) == (2, "")
        (line,) = done.err.splitlines()
        assert line.startswith("error: ")
        assert words in line
        assert KEY not in line


@contextmanager
def llmock(*options: str) -> Iterator[str]:
    """llmock's own server: errors by chance."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "llmock"), "serve", "-p", str(port), *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
                break
            except urllib.error.HTTPError as error:
                error.close()
                break
            except OSError:
                assert process.poll() is None, "llmock ended"
                assert time.monotonic() < deadline, "llmock did not start"
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(10)


def test_with_errors_by_chance_every_trial_is_scored_or_honestly_failed(world: World):
    trials, model = 4 * TASKS, "mock"
    with llmock("--error-rate", "500=0.3") as url:
        done = world.run(
            model, more=("--endpoint", url, "-r", trials // TASKS, "--concurrency", 8, "--json")
        )
    row = done.json["agents"][f"chat:{model}"]
    failed = row["failed"].get("provider", 0)
    assert set(row["failed"]) <= {"provider"}
    assert row["scored"] + failed == row["trials"] == trials
    assert done.code == (1 if failed else 0), done.err
    assert (row["mean_reward"] is None) == (row["scored"] == 0)
    listed = world.trials(f"chat:{model}")
    assert len(listed) == trials
    kinds = Counter(trial["outcome"]["kind"] for trial in listed)
    assert (kinds["scored"], kinds["failed"]) == (row["scored"], failed)
    for trial in listed:
        scored = trial["outcome"]["kind"] == "scored"
        assert ("reward" in trial["outcome"]) is scored
        assert 1 <= trial["attempts"] <= 3
        assert scored or trial["attempts"] == 3
    most = max(listed, key=lambda trial: trial["attempts"])
    shown = world.envwright("trial", "show", most["id"], "--json").json
    assert [attempt["n"] for attempt in shown["attempts"]] == [
        *range(1, most["attempts"] + 1),
    ]
    earlier = [a["grades"][0]["outcome"]["cause"] for a in shown["attempts"][:-1]]
    assert earlier == ["provider"] * (most["attempts"] - 1)
