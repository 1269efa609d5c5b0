"""No sandbox at all, chosen by name. Guarantees nothing: the code sees what you see.

Variables are still an allow-list, so provider keys are not handed over; but files
that hold them can be read.
"""

import asyncio
import contextlib
import os
import signal

from envwright.errors import SandboxError
from envwright.sandbox.sandbox import Command, Process


class Unconfined:
    name = "none"

    async def start(self, command: Command) -> Process:
        try:
            child = await asyncio.create_subprocess_exec(
                *command.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=command.passed_fds,
                env={"PATH": os.defpath, **command.variables, **command.secrets},
                cwd=command.workspace,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"{command.argv[0]} could not be started: {error}") from error
        return Process(child, lambda: kill_session(child.pid))

    async def check(self) -> str | None:
        return None


def kill_session(pid: int) -> None:
    """End what shares the command's process group; a child that left it is not found."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
