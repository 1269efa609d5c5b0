"""`bounded`: source is foreign, and reading it comes to an end all the same."""

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

SECONDS = 20.0
T = TypeVar("T")


class TooLongError(BaseException):
    """No `except Exception` on the way takes it for a failure of its own."""


def bounded(read: Callable[[], T], otherwise: Callable[[str], T]) -> T:
    """What `read` returns, or `otherwise` with why it did not come to an end."""
    try:
        with deadline(SECONDS):
            return read()
    except TooLongError:
        return otherwise(f"reading its source took over {SECONDS:g} s")
    except (RecursionError, MemoryError):
        return otherwise("its source is too deep to be followed")


@contextmanager
def deadline(seconds: float) -> Generator[None]:
    """`TooLongError` in whatever runs then. Only the main thread can be woken so: elsewhere there
    is no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def wake(number: int, frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, wake)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
