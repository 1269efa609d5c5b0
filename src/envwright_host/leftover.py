"""Whether processes that were started since some moment still run: what a call may leave behind.

Whose they are is not known: a neighbour's count too. So none of them is ended here; the host
asks to be retired, and goes with all that is in its sandbox once its other calls are done.
A thread that still works is not seen.
"""

import os
import time
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def now_ticks() -> int:
    """In the unit in which the kernel says when a process began."""
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)


def runs_since(ticks: int) -> bool:
    """Whether a process of this sandbox, but ourselves, began no earlier and has not ended."""
    parents: dict[int, int] = {}
    began: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] not in ("Z", "X"):
                parents[int(folder.name)] = int(fields[1])
                began[int(folder.name)] = int(fields[19])
    ours = os.getpid()
    # Where the first process is our parent, this is a sandbox, and all that runs is in it.
    alone = os.getppid() == 1
    return any(
        start >= ticks and pid not in (1, ours) and (alone or descends(pid, ours, parents))
        for pid, start in began.items()
    )


def descends(pid: int, ancestor: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        pid = parents[pid]
        if pid == ancestor:
            return True
    return False
