"""bubblewrap: no network, no home, a read-only root, its own processes, and nothing else.

Guarantees: the command sees /usr, certificates and its mounts, writes only its
workspace and a private /tmp, has no capabilities and no way to make namespaces,
reaches no network unless its confinement says so, and dies with us. Memory and
processes are limited for the whole tree where cgroups can be written; else the host
limits its own memory, and its processes where the kernel counts them per namespace.
It does not hide the kernel's version or the number of cores.
"""

import asyncio
import os
import shutil
from functools import cached_property
from pathlib import Path

from envwright.errors import SandboxError
from envwright.sandbox.cgroup import Group, make_group, sweep_stale
from envwright.sandbox.sandbox import Command, Process

SYSTEM = (
    *("/usr", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates"),
    *("/etc/ld.so.cache", "/etc/alternatives"),
)
"""Not /etc/ssl as a whole: it holds the machine's private keys."""
HOSTS = Path(__file__).with_name("hosts")
"""`localhost` has an address without a network too."""
NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")
INSTALL_HINT = "run `sudo apt-get install bubblewrap` (or your distribution's package)"

ENTER = 'for group in $EW_GROUPS; do echo $$ > "$group" || exit 125; done; exec "$@"'
"""Enter the groups, then become the command: nothing runs outside them."""


class Bubblewrap:
    name = "bubblewrap"

    def __init__(self) -> None:
        sweep_stale()

    @cached_property
    def program(self) -> str:
        found = shutil.which("bwrap")
        if found is None:
            raise SandboxError("bubblewrap is not installed", hint=INSTALL_HINT)
        return found

    def arguments(self, command: Command, secrets_fd: int | None = None) -> list[str]:
        arguments = [
            *(self.program, "--unshare-all", "--unshare-user", "--disable-userns"),
            *("--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            *("--uid", "1000", "--gid", "1000", "--hostname", "sandbox"),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--clearenv"),
        ]
        if command.confinement.network:
            arguments.append("--share-net")
        for path in (*SYSTEM, *(NETWORK if command.confinement.network else ())):
            arguments += ["--ro-bind-try", path, path]
        if not command.confinement.network:
            arguments += ["--ro-bind", str(HOSTS), "/etc/hosts"]
        for name in ("lib", "lib32", "lib64", "bin", "sbin"):
            if Path("/", name).is_symlink():
                arguments += ["--symlink", f"usr/{name}", f"/{name}"]
            elif Path("/", name).is_dir():
                arguments += ["--ro-bind", f"/{name}", f"/{name}"]
        arguments += mounting(command)
        if command.workspace is not None:
            arguments += ["--bind", str(command.workspace), str(command.workspace)]
        # Last, for mounting makes folders. Under root, code in the sandbox owns /proc/sys:
        # without this it could set `core_pattern`, and with it run programs outside.
        arguments += ["--remount-ro", "/proc", "--remount-ro", "/"]
        arguments += ["--chdir", str(command.workspace or "/tmp")]
        for name, value in command.variables.items():
            arguments += ["--setenv", name, value]
        if secrets_fd is not None:
            arguments += ["--args", str(secrets_fd)]
        return [*arguments, "--", *command.argv]

    async def start(self, command: Command) -> Process:
        limits = command.confinement
        group = make_group(limits.memory_bytes, limits.processes, limits.cpus)
        entrances = " ".join(group.entrances) if group else ""
        secrets_fd = hand_over(command.secrets) if command.secrets else None
        try:
            child = await asyncio.create_subprocess_exec(
                *("/bin/sh", "-c", ENTER, "sh", *self.arguments(command, secrets_fd)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=(*command.passed_fds, *([] if secrets_fd is None else [secrets_fd])),
                env={"EW_GROUPS": entrances},
                start_new_session=True,
            )
        except OSError as error:
            close(group)
            raise SandboxError(f"bubblewrap could not be started: {error}") from error
        finally:
            if secrets_fd is not None:
                os.close(secrets_fd)
        return Process(child, lambda: close(group))

    async def check(self) -> str | None:
        try:
            process = await self.start(Command(argv=("/bin/sh", "-c", "echo inside")))
        except SandboxError as error:
            return str(error)
        code = await process.wait()
        if code == 0 and "inside" in process.tail:
            return None
        return (
            f"bubblewrap is installed but cannot start a sandbox (exit {code}): "
            f"{process.tail.strip()[-300:]}. hint: allow unprivileged user namespaces "
            "(`sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0`), "
            "or choose `--sandbox none` knowingly"
        )


def mounting(command: Command) -> list[str]:
    arguments: list[str] = []
    for mount in command.mounts:
        kind = "--bind" if mount.writable else "--ro-bind"
        arguments += [kind, str(mount.path), str(mount.at or mount.path)]
    for folder in command.scratch:
        arguments += ["--tmpfs", str(folder)]
    return arguments


def hand_over(secrets: dict[str, str]) -> int:
    """A file in memory that sets these variables: arguments are seen by all of the machine."""
    fd = os.memfd_create("arguments")
    for name, value in secrets.items():
        os.write(fd, b"".join(os.fsencode(part) + b"\0" for part in ("--setenv", name, value)))
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def close(group: Group | None) -> None:
    if group is not None:
        group.close()
