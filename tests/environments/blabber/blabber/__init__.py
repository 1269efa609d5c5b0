"""Says all that it can see of its process and its neighbours, wherever words of its are kept.

For verifiers 0.4 and 0.1 alike.
"""

import logging
import os
import sys
from pathlib import Path

import verifiers

TASKS = ("keeps quiet", "raises it", "says it")


def seen():
    """Variables, command lines and open files of every process in sight."""
    found = [str(dict(os.environ))]
    for process in Path("/proc").glob("[0-9]*"):
        for path in (process / "environ", process / "cmdline", *process.glob("fd/*")):
            try:
                if path.stat().st_size < 100_000 and not path.is_socket() and not path.is_fifo():
                    found.append(f"{path}: {path.read_bytes()[:20_000]!r}")
            except OSError:
                continue
    return "\n".join(found)


def blab():
    said = seen()
    print(said)
    print(said, file=sys.stderr)
    logging.getLogger("blabber").error(said)
    return said


def judged(does, reply):
    if does == "keeps quiet":
        return 1.0
    said = blab() + reply
    if does == "raises it":
        raise ValueError(said)
    return 0.0


blab()

if verifiers.__version__.startswith("0.1."):
    from blabber.environment import load_environment

    __all__ = ["load_environment"]
else:
    from blabber.taskset import Blabber

    __all__ = ["Blabber"]
