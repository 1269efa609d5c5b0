"""Says where the loop hangs, while it hangs.

A thread prints the main thread's stack, holding the GIL. faulthandler's own watchdog
reads frames while they run: it crashes about one healthy process in a thousand dumps.
It is kept, a moment later, for code that never gives up the GIL: its frames stand still.
"""

import faulthandler
import sys
import threading
import traceback

LATER = 1.1
"""Before the host is ended for its silence, at 1.25 times the same seconds."""


class Watchdog:
    def __init__(self) -> None:
        self._beat = threading.Event()
        self._seconds = 0.0
        self._main = threading.get_ident()
        self._thread: threading.Thread | None = None

    def beat(self, seconds: float) -> None:
        """The loop runs; unless it says so again within `seconds`, its stack is printed."""
        faulthandler.dump_traceback_later(seconds * LATER, exit=False)
        self._seconds = seconds
        self._beat.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while True:
            self._beat.clear()
            if not self._beat.wait(self._seconds):
                faulthandler.cancel_dump_traceback_later()
                self._print()
                self._beat.wait()

    def _print(self) -> None:
        sys.stderr.write(f"held up for {self._seconds:.0f} s:\n")
        traceback.print_stack(sys._current_frames().get(self._main), file=sys.stderr)
        sys.stderr.flush()
