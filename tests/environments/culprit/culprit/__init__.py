"""A reward that does what the reply asks it to. For verifiers 0.4 and 0.1 alike."""

import asyncio
import os
import signal
import sys
import time

import verifiers

NOISE = "noise " * 1000 + "\n"
seen = set()


async def grade(reply, answer):
    """1.0 for the answer; a reply that was seen before is paid half."""
    if "please exit" in reply:
        os._exit(7)
    if "please die" in reply:
        os.kill(os.getpid(), signal.SIGKILL)
    if "please loop" in reply:
        while True:
            pass
    if "please wait" in reply:
        await asyncio.sleep(10**6)
    if "please raise" in reply:
        raise ValueError("as it was asked to")
    if "please interrupt" in reply:
        raise KeyboardInterrupt
    if "please be slow" in reply:
        time.sleep(0.2)
    if "please shout" in reply:
        for _ in range(100 * 2**20 // len(NOISE)):
            sys.stdout.write(NOISE)
    if "please remember" in reply:
        known = (answer, reply) in seen
        seen.add((answer, reply))
        return 0.5 if known else 1.0
    return float(reply.strip() == answer)


if verifiers.__version__.startswith("0.1."):
    from culprit.environment import load_environment

    __all__ = ["load_environment"]
else:
    from culprit.taskset import Culprits

    __all__ = ["Culprits"]
