"""One task per way to misbehave; its row's `does` says which. For verifiers 0.4 and 0.1 alike."""

import asyncio
import ctypes
import gc
import os
import signal
import struct
import subprocess
import sys
import threading
import time

import verifiers

CONTROL = int(sys.argv[1]) if sys.argv[1:2] and sys.argv[1].isdecimal() else -1
DAEMON = "86413.25"
"""An argument of `sleep` by which tests find what was left behind."""


def fine():
    return 1.0


async def fine_after_a_while():
    await asyncio.sleep(1.5)
    return 1.0


async def fine_elsewhere():
    await asyncio.sleep(1.5)
    return 1.0


def fine_in_any_script():
    return 1.0


def fine_with_a_large_row():
    return 1.0


def fine_without_end():
    return 1.0


def reward_raises():
    raise ValueError("a reward of the environment's")


def reward_exits():
    sys.exit(3)


def reward_interrupts():
    raise KeyboardInterrupt


async def reward_awaits_for_ever():
    await asyncio.sleep(10**6)


def reward_is_nan():
    return float("nan")


def reward_is_infinite():
    return float("-inf")


def reward_is_text():
    return "1.0 (honest)"


def reward_is_nothing():
    return None


def reward_is_huge():
    return {"one": 1e308, "two": 1e308, "three": 1e308}


def reward_fills_memory():
    return float(len(bytearray(64 * 2**30)))


def reward_prints_a_lot():
    line = "noise " * 1000 + "\n"
    for _ in range(100 * 2**20 // len(line)):
        sys.stdout.write(line)
    return 1.0


def reward_leaves_a_daemon():
    """Out of the session, its parent gone at once, deaf to signals that can be ignored."""
    script = f"trap '' TERM HUP INT; (setsid sleep {DAEMON} &) ; exit 0"
    subprocess.run(["/bin/sh", "-c", script], start_new_session=True)
    return 1.0


def reward_leaves_threads():
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(10**6,), daemon=False).start()
    return 1.0


def reward_raises_unprintably():
    raise ValueError("half a character: \ud800, and \x1b[31mred\x00")


def dies_of_segfault():
    ctypes.string_at(0)


def dies_of_exit():
    os._exit(7)


def dies_by_its_own_hand():
    os.kill(os.getpid(), signal.SIGKILL)


def dies_of_a_closed_control():
    os.close(CONTROL)
    os.closerange(3, CONTROL)
    os.closerange(CONTROL + 1, 4096)
    return 1.0


def only_call():
    """The number of the call that this is; with neighbours, whose calls it might be, end all."""
    frames = [task.get_coro().cr_frame for task in asyncio.all_tasks()]
    around = [frame.f_locals.get("self") for frame in frames if frame is not None]
    server = next(o for o in around if type(o).__module__ == "envwright_host.server")
    if len(server.running) != 1:
        os._exit(1)
    return next(iter(server.running))


def tell(body):
    os.set_blocking(CONTROL, True)
    os.write(CONTROL, struct.pack(">I", len(body)) + body)


def says_what_is_no_frame():
    os.set_blocking(CONTROL, True)
    os.write(CONTROL, b"\xff\xff\xff\xffhello")
    time.sleep(30)


def says_an_error_that_is_none():
    tell(b'{"id":%d,"error":5}' % only_call())
    time.sleep(30)


def says_an_infinite_id():
    tell(b'{"id":1e999,"ok":1}')
    time.sleep(30)


def says_a_result_that_is_none():
    tell(b'{"id":%d,"ok":"paid in full"}' % only_call())
    return 1.0


def says_half_a_result():
    episode = b'{"ok":true,"traces":[{"agent":7,"nodes":[7,{"message":3}],"rewards":{"a":"b"}}]}'
    tell(b'{"id":%d,"ok":%b}' % (only_call(), episode))
    return 1.0


def blocks_for_ever():
    time.sleep(10**6)


async def cannot_be_cancelled():
    while True:
        try:
            await asyncio.sleep(10**6)
        except asyncio.CancelledError:
            continue


def setup_raises():
    raise LookupError("a setup of the environment's")


async def setup_awaits_for_ever():
    await asyncio.sleep(10**6)


def finalize_raises():
    raise LookupError("a finalize of the environment's")


def metric_raises():
    raise ArithmeticError("a metric of the environment's")


def metric_is_nan():
    return float("nan")


STRANGE = 'ünïcödé 🦜 «שלום» "x" \\ \t\r\n \u2028 \u202e \u0000 \x1b[31m {} end'
LARGE = 8 * 2**20


def words_of(does):
    """What a task's row holds beside: most hold little."""
    return {"fine_in_any_script": STRANGE, "fine_with_a_large_row": "x" * LARGE}.get(does, "")


WAYS = {
    name: value
    for name, value in list(globals().items())
    if getattr(value, "__module__", "") == __name__
    and callable(value)
    and name not in ("tell", "only_call", "words_of")
}
STAGES = ("setup", "finalize", "metric")


async def misbehave(stage, does, otherwise=None):
    """What the task does, in the stage that its name begins with; scoring, if with none."""
    own = next((s for s in STAGES if does.startswith(s + "_")), "reward")
    if own != stage:
        return otherwise
    result = WAYS[does]()
    return await result if asyncio.iscoroutine(result) else result


if verifiers.__version__.startswith("0.1."):
    from hostile.environment import load_environment

    __all__ = ["load_environment"]
else:
    from hostile.taskset import Hostile

    __all__ = ["Hostile"]
