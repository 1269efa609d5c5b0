"""`local/smollm2`, for real: pulled from the registry, served by llama.cpp, shared by processes.

Every test has a cache folder of its own, with a link to the machine's weights, so that its server
is shared with no other command on this machine.
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from envwright.app import App
from envwright.errors import EnvwrightError, UsageError
from envwright.model import Model
from envwright.model.local import (
    LOCAL_NAME,
    Address,
    Meeting,
    is_pulled,
    local_model,
    pull,
    serve_local,
)
from envwright.model.local_weights import weights_path
from envwright.settings import Settings
from envwright.trial.part import NOWHERE, Cast, Part
from envwright.trial.plan import Plan

CLIENT = """
import asyncio, sys, urllib.request
from pathlib import Path
from envwright.model.local import serve_local

async def main():
    async with serve_local(Path(sys.argv[1])) as base_url:
        print(base_url, flush=True)
        try:
            await asyncio.to_thread(sys.stdin.read) if sys.argv[2] == "stdin" else None
            await asyncio.sleep(60 if sys.argv[2] == "sleep" else 0)
        finally:
            await asyncio.sleep(0.5)
            health = urllib.request.urlopen(base_url.removesuffix("/v1") + "/health")
            print(health.status, flush=True)

asyncio.run(main())
"""
PULL = """
import sys
from pathlib import Path
from envwright.model.local import pull
pull(Path(sys.argv[1]))
"""


@pytest.fixture(scope="session")
def machine_cache() -> Path:
    root = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    pull(root / "envwright")
    return root / "envwright"


@pytest.fixture
def cache(machine_cache: Path, tmp_path: Path) -> Path:
    weights = weights_path(tmp_path)
    weights.parent.mkdir(parents=True)
    weights.symlink_to(weights_path(machine_cache))
    return tmp_path


@contextmanager
def client(cache: Path, waits_on: str) -> Generator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, str(cache), waits_on],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def address_in(cache: Path) -> Address:
    address = Meeting.at(cache).address()
    assert address
    return address


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def eventually(holds: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.01)
    return holds()


async def post(base_url: str, **more: object) -> str:
    model = local_model(base_url)
    body: dict[str, Any] = {
        "model": model.model,
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
        "max_tokens": 8,
        **more,
    }
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{model.base_url}/chat/completions", json=body) as response,
    ):
        assert response.status == 200, await response.text()
        return await response.text()


def test_the_client_side_imports_neither_llama_nor_http() -> None:
    code = "import envwright.model.local, sys; print({'xllamacpp', 'aiohttp'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_it_is_a_free_model_without_a_key() -> None:
    model = local_model("http://127.0.0.1:1/v1")
    assert (model.name, model.model, model.free, model.limit, model.api_key_env) == (
        LOCAL_NAME,
        "smollm2",
        True,
        4,
        None,
    )


def test_it_answers_plainly_and_streaming_with_usage_and_ends(cache: Path) -> None:
    async def ask() -> tuple[int, str, str]:
        async with serve_local(cache) as base_url:
            plain = await post(base_url)
            streamed = await post(base_url, stream=True, stream_options={"include_usage": True})
            return address_in(cache).pid, plain, streamed

    pid, plain, streamed = asyncio.run(ask())
    answer = json.loads(plain)
    assert answer["model"] == "smollm2"
    assert answer["choices"][0]["message"]["content"].strip()
    assert answer["usage"]["prompt_tokens"] > 8
    assert 0 < answer["usage"]["completion_tokens"] <= 8

    events = [line.removeprefix("data: ") for line in streamed.splitlines() if line]
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    pieces = [choice["delta"].get("content") for chunk in chunks for choice in chunk["choices"]]
    assert len([piece for piece in pieces if piece]) > 1
    assert chunks[-1]["usage"]["completion_tokens"] > 0
    assert not is_alive(pid)


def test_two_processes_share_one_server_and_the_last_to_leave_ends_it(cache: Path) -> None:
    async def join(first: subprocess.Popen[str]) -> int:
        theirs = line_of(first)
        async with serve_local(cache) as ours:
            assert ours == theirs
            await asyncio.to_thread(first.communicate)
            assert first.returncode == 0
            pid = address_in(cache).pid
            assert json.loads(await post(ours))["choices"]
        return pid

    with client(cache, "stdin") as first:
        pid = asyncio.run(join(first))
    # It was another process's child, so that only its parent could wait for the very last moment.
    assert eventually(lambda: not is_alive(pid), 0.1)


def test_clients_that_start_at_once_get_one_server(cache: Path) -> None:
    async def join_together() -> tuple[set[str], int]:
        async with AsyncExitStack() as stack:
            entered = [stack.enter_async_context(serve_local(cache)) for _ in range(3)]
            return {*await asyncio.gather(*entered)}, address_in(cache).pid

    urls, pid = asyncio.run(join_together())
    assert len(urls) == 1
    assert not is_alive(pid)


def test_a_part_is_asked_of_this_machines_own_server_which_is_started_once(cache: Path) -> None:
    settings = Settings(home=cache / "home", cache=cache, venvs=cache / "venvs")
    away = local_model(NOWHERE).model_copy(update={"limit": 2})
    other = Model(name="some/model", base_url="http://10.0.0.1/v1", model="m")
    part = Part(
        title="probe",
        environment="probe",
        revision="a" * 64,
        plan=Plan(tasks=(), agents=(), trials=1),
        models={away.name: away, other.name: other},
        judge=away,
        seats={"user": away},
        sandbox="none",
    )

    async def ask() -> tuple[list[Cast], int]:
        async with App(settings, sandbox="none", say=lambda _: None) as app:
            casts = await asyncio.gather(*(app.models_of(part) for _ in range(3)))
            return list(casts), address_in(cache).pid

    (cast, *others), pid = asyncio.run(ask())
    assert not is_alive(pid)
    assert others == [cast, cast]
    here = cast.models[LOCAL_NAME]
    assert here.base_url not in (NOWHERE, other.base_url)
    assert (cast.judge, cast.seats, here.limit) == (here, {"user": here}, 2)
    assert cast.models["some/model"] == other
    assert here.content == away.content


def test_a_client_killed_inside_leaves_no_server(cache: Path) -> None:
    with client(cache, "sleep") as killed:
        assert line_of(killed)
        pid = address_in(cache).pid
        time.sleep(1)
        assert is_alive(pid)
        killed.kill()
        assert eventually(lambda: not is_alive(pid))


def test_a_client_killed_while_starting_is_in_nobodys_way(cache: Path) -> None:
    async def join() -> int:
        async with serve_local(cache) as base_url:
            assert json.loads(await post(base_url))["choices"]
            return address_in(cache).pid

    meeting = Meeting.at(cache)
    with client(cache, "sleep") as killed:
        assert eventually(meeting.is_running)
        killed.kill()
        killed.wait()
        assert meeting.is_running()
        assert meeting.address() is None
        pid = asyncio.run(join())
    assert not meeting.is_running()
    assert eventually(lambda: not is_alive(pid), 0.1)


def test_an_interrupt_from_the_terminal_ends_the_server_after_the_client(cache: Path) -> None:
    with client(cache, "sleep") as interrupted:
        assert line_of(interrupted)
        pid = address_in(cache).pid
        os.killpg(interrupted.pid, signal.SIGINT)
        assert line_of(interrupted) == "200"
        interrupted.wait(10)
        assert not is_alive(pid)


def test_the_state_of_a_dead_server_is_not_believed(cache: Path) -> None:
    async def kill_it() -> Address:
        async with serve_local(cache):
            address = address_in(cache)
            os.kill(address.pid, signal.SIGKILL)
        return address

    async def join() -> Address:
        async with serve_local(cache) as base_url:
            assert json.loads(await post(base_url))["choices"]
            return address_in(cache)

    dead = asyncio.run(kill_it())
    meeting = Meeting.at(cache)
    assert Address.model_validate_json(meeting.state.read_text()) == dead
    assert meeting.address() is None
    assert asyncio.run(join()).pid != dead.pid


def enter(cache: Path) -> None:
    async def enter() -> None:
        async with serve_local(cache):
            pass

    asyncio.run(enter())


def test_absent_weights_are_a_usage_error_with_the_command_to_run(tmp_path: Path) -> None:
    assert not is_pulled(tmp_path)
    with pytest.raises(UsageError, match=r"not on this machine.*envwright model pull") as error:
        enter(tmp_path)
    assert error.value.hint


@pytest.mark.parametrize("damage", ["truncated", "one byte changed"])
def test_damaged_weights_are_not_served(machine_cache: Path, tmp_path: Path, damage: str) -> None:
    weights = weights_path(tmp_path)
    shutil.copytree(weights_path(machine_cache).parent, weights.parent, copy_function=shutil.copy2)
    assert is_pulled(tmp_path)
    with weights.open("rb+") as file:
        file.seek(50_000_000)
        if damage == "truncated":
            file.truncate()
        else:
            byte = file.read(1)[0]
            file.seek(50_000_000)
            file.write(bytes([byte ^ 1]))
    assert not is_pulled(tmp_path)
    with pytest.raises(UsageError, match="damaged"):
        enter(tmp_path)


def test_a_server_that_cannot_start_says_why(machine_cache: Path, tmp_path: Path) -> None:
    whole, weights = weights_path(machine_cache), weights_path(tmp_path)
    weights.parent.mkdir(parents=True)
    weights.touch()
    os.truncate(weights, whole.stat().st_size)
    os.utime(weights, ns=(0, whole.stat().st_mtime_ns))
    shutil.copy(whole.with_suffix(".stamp"), weights.with_suffix(".stamp"))
    assert is_pulled(tmp_path)
    with pytest.raises(EnvwrightError, match=r"(?s)did not start.*failed to load") as error:
        enter(tmp_path)
    assert "server.log" in (error.value.hint or "")
    assert not Meeting.at(tmp_path).is_running()


def test_a_second_pull_is_silent(machine_cache: Path) -> None:
    said: list[str] = []
    pull(machine_cache, said.append)
    assert said == []


def test_two_pulls_at_once_replace_damaged_weights_once(tmp_path: Path) -> None:
    weights_path(tmp_path).parent.mkdir(parents=True)
    weights_path(tmp_path).write_bytes(b"GGUF")
    command = [sys.executable, "-c", PULL, str(tmp_path)]
    pulls = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = "".join(each.communicate()[1] for each in pulls)
    assert [each.returncode for each in pulls] == [0, 0]
    assert is_pulled(tmp_path)
    assert said.count("pulling local/smollm2") == 1
    assert said.count("pulled local/smollm2") == 1
    assert list(weights_path(tmp_path).parent.glob(".pull-*")) == []


def test_a_killed_pull_leaves_nothing_broken(tmp_path: Path) -> None:
    folder = weights_path(tmp_path).parent
    with subprocess.Popen([sys.executable, "-c", PULL, str(tmp_path)]) as killed:
        assert eventually(lambda: any(folder.glob(".pull-*/uv")))
        killed.kill()
    assert not is_pulled(tmp_path)
    assert list(folder.glob(".pull-*"))
    pull(tmp_path)
    assert is_pulled(tmp_path)
    assert list(folder.glob(".pull-*")) == []


def test_a_pull_without_a_network_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(EnvwrightError, match=r"could not fetch local/smollm2: .*network") as error:
        pull(tmp_path)
    assert "check the network" in (error.value.hint or "")
    assert not is_pulled(tmp_path)
    assert list(weights_path(tmp_path).parent.glob(".pull-*")) == []
