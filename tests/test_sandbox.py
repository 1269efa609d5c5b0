"""Environment code tries to get out of its sandbox, some fifty times; each try has a test.

Under both dialects: the same code, in hosts of different imports. The same tries without
a sandbox do get out: what is refused here is refused by bubblewrap.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import envwright_host
from envwright.cli import progress
from envwright.environment import read_folder
from envwright.environment.source import snapshot
from envwright.host import Builder, ensure_venv
from envwright.host.package import place_package
from envwright.host.uv import PASSED_VARIABLES
from envwright.sandbox import Bubblewrap
from envwright.sandbox.cgroup import make_group
from envwright.store import Store
from support import DIALECTS, EXAMPLES, ROOT, CommandLine, under

ENVIRONMENTS = ROOT / "tests" / "environments"
CANARY = "sk-canary-5d1f0c"
PROCESSES = 48
MEMORY_MB = {"verifiers": 1500, "verifiers-v0": 4096}
"""verifiers 0.1 and its imports take up 1.6 GB of addresses by themselves."""

REFUSED = (
    *("key_in_its_variables", "key_in_any_variables", "key_in_any_command_line"),
    *("key_in_any_open_file", "key_in_any_file", "key_of_another_process"),
    *("memory_of_another_process", "home", "home_through_another_root", "users_home", "checkout"),
    *("store", "blobs", "another_revision", "neighbours_of_its_revision", "settings"),
    *("users_of_the_machine", "private_keys_of_the_machine", "inherited_files", "loopback"),
    *(
        "loopback_through_the_gateway",
        "tunnel_through_the_gateway",
        "abstract_socket",
        "socket_in_a_folder",
    ),
    *("sockets_of_services", "internet", "datagram", "names", "interfaces"),
    *("write_root", "write_usr", "write_etc", "write_venv", "write_interpreter"),
    *("write_its_source", "write_host_package", "open_kernel_settings", "write_outside"),
    *("signal_another_process", "see_the_worker", "trace_another_process"),
    *("namespaces_of_another_process", "mount", "bind_over_its_source", "make_a_user_namespace"),
    *("make_a_mount_namespace", "make_a_network_namespace", "change_root", "become_root"),
    *("make_a_device", "capabilities", "control_groups", "terminal", "lift_the_memory_limit"),
    "much_memory",
)
COUNTED = ("much_memory_in_children", "many_processes")
GOT_WITHOUT_A_SANDBOX = (
    *("key_in_any_variables", "key_in_any_command_line", "key_in_any_open_file"),
    *("key_in_any_file", "key_of_another_process", "home", "home_through_another_root"),
    *("checkout", "store", "blobs", "another_revision", "neighbours_of_its_revision", "settings"),
    *("users_of_the_machine", "loopback", "abstract_socket", "socket_in_a_folder"),
    *("signal_another_process", "see_the_worker", "namespaces_of_another_process"),
)


@contextmanager
def listening(family: int, address: Any) -> Iterator[socket.socket]:
    """A server outside that greets whoever connects."""
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()

        def greet() -> None:
            while True:
                try:
                    reached, _ = server.accept()
                except OSError:
                    return
                with reached, suppress(OSError):
                    reached.sendall(b"HTTP/1.0 200 OK\r\n\r\nthe outside")

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        yield server
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory, venvs: Path) -> Iterator[dict[str, Any]]:
    """A machine worth attacking: a home, a store, another revision, servers, a process."""
    folder = tmp_path_factory.mktemp("outside")
    home, state = folder / "home", folder / "state"
    for name in ("secret", ".netrc", ".config/envwright/keys.toml"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(CANARY)
    Store(state).close()
    (state / "blobs").mkdir(exist_ok=True)
    (state / "blobs" / "trace").write_text(CANARY)
    another = snapshot(read_folder(ENVIRONMENTS / "hostile"), state / "revisions")
    place_package(venvs)
    builder = Builder(venvs, folder / "uv", Bubblewrap(), dict(os.environ), print, progress.follow)
    for example in ("sums", "sums_v0"):
        # What the sandbox may see is listed before it is entered: the venvs must be there.
        asyncio.run(ensure_venv(read_folder(EXAMPLES / example), builder))
    mounted = [Path(sys.base_prefix), Path(envwright_host.__file__).parent, *venvs.iterdir()]
    with ExitStack() as stack:
        tcp = stack.enter_context(listening(socket.AF_INET, ("127.0.0.1", 0)))
        stack.enter_context(listening(socket.AF_UNIX, str(home / "socket")))
        abstract = f"envwright-test-{folder}"
        stack.enter_context(listening(socket.AF_UNIX, "\0" + abstract))
        waits = (sys.executable, "-S", "-c", "import time; time.sleep(600)", CANARY)
        held = stack.enter_context((home / "secret").open())
        victim = subprocess.Popen(waits, env={"KEY": CANARY}, stdin=held)
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        yield {
            "canary": CANARY,
            "home": str(home),
            "users_home": str(Path.home()),
            "checkout": str(ROOT),
            "allowed": [str(name) for path in mounted for name in (path, path.resolve())],
            "state": str(state),
            "another_revision": str(another.folder),
            "port": tcp.getsockname()[1],
            "abstract": abstract,
            "socket": str(home / "socket"),
            "process": victim.pid,
        }


def attempt(
    outside: dict[str, Any],
    venvs: Path,
    *flags: str,
    dialect: str = "verifiers",
    only: tuple[str, ...] = (),
):
    """Let the environment try, under the real command with a key among its variables."""
    state = Path(outside["state"])
    folder = Path(tempfile.mkdtemp(dir=state.parent))
    root = under(dialect, ENVIRONMENTS / "prober", folder)
    (folder / ".env").write_text(f"OPENAI_API_KEY={CANARY}")
    settings = folder / "envwright.toml"
    settings.write_text(f"[limits]\nprocesses = {PROCESSES}\nmemory_mb = {MEMORY_MB[dialect]}\n")
    own = state / "revisions" / read_folder(root).revision
    known = {**outside, "settings": str(settings), "allowed": [*outside["allowed"], str(own)]}
    variables = {
        # A machine may reach its registry only with some of them, should a venv be missing.
        **{name: os.environ[name] for name in PASSED_VARIABLES if name in os.environ},
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": outside["home"],
        "OPENAI_API_KEY": CANARY,
        "ENVWRIGHT_HOME": outside["state"],
        "ENVWRIGHT_VENVS": str(venvs),
    }
    done = CommandLine(variables, folder)(
        *("env", "tasks", root, "--json", *flags),
        *("--arg", f"outside={json.dumps(known)}", "--arg", f"only={json.dumps(only)}"),
    )
    assert done.code == 0, done.err
    return {line["row"]["probe"]: line["row"]["went"] for line in done.lines}, done


@pytest.fixture(scope="module", params=DIALECTS)
def tries(request: pytest.FixtureRequest, outside: dict[str, Any], venvs: Path) -> dict[str, str]:
    # How much a whole tree may use is counted once: it takes a while.
    only = REFUSED if request.param == "verifiers-v0" else ()
    went, _ = attempt(outside, venvs, dialect=request.param, only=only)
    left = Path(outside["home"], "left-behind")
    if left.exists():
        went["write_outside"] = "got: a file outside"
        left.unlink()
    return went


@pytest.mark.slow
def test_every_try_is_judged(tries):
    assert set(tries) - {*COUNTED} == {*REFUSED}


@pytest.mark.slow
@pytest.mark.parametrize("probe", REFUSED)
def test_environment_code_cannot(tries, probe):
    assert tries[probe].startswith(("refused: ", "nothing")), tries[probe]


@pytest.mark.slow
def test_a_fork_bomb_ends_at_the_limit_of_processes(tries):
    if "many_processes" not in tries:
        pytest.skip("counted under the other dialect")
    made = int(tries["many_processes"].split()[1])
    assert 0 < made < PROCESSES if groups_work() else made == 200


@pytest.mark.slow
def test_children_together_stay_within_the_memory_of_the_tree(tries):
    if "much_memory_in_children" not in tries:
        pytest.skip("counted under the other dialect")
    alive = int(tries["much_memory_in_children"].split()[1])
    assert alive * 400 < MEMORY_MB["verifiers"] if groups_work() else alive == 5


def groups_work() -> bool:
    """Whether this machine lets us limit a whole tree; else single processes are limited."""
    group = make_group(2**30, 8, None)
    if group is not None:
        group.close()
    return group is not None


@pytest.mark.slow
def test_without_a_sandbox_the_same_tries_succeed_and_the_user_is_warned(outside, venvs):
    only = (*GOT_WITHOUT_A_SANDBOX, "write_outside")
    went, done = attempt(outside, venvs, "--sandbox", "none", only=only)
    assert {probe for probe, how in went.items() if how.startswith("got: ")} == {
        *GOT_WITHOUT_A_SANDBOX
    }, went
    left = Path(outside["home"], "left-behind")
    assert left.exists()
    left.unlink()
    assert "warning: --sandbox none" in done.err
