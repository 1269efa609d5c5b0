"""A loop that hangs is told where it hangs, whether or not it lets other threads run."""

import subprocess
import sys
import threading

import pytest

HANGS = {
    "gives up the interpreter": "time.sleep(60)",
    "runs Python": "while True: pass",
    "keeps the interpreter": "re.match('(a+)+$', 'a' * 40 + 'b')",
}
PROGRAM = """
import re, sys, time
from envwright_host.watchdog import Watchdog
dog = Watchdog()
def honest():
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        dog.beat(0.5)
        time.sleep(0.1)
def guilty():
    {hang}
honest()
guilty()
"""


@pytest.mark.parametrize("hang", HANGS)
def test_a_hang_is_printed_with_the_function_that_hangs_and_no_other(hang):
    program = [sys.executable, "-c", PROGRAM.format(hang=HANGS[hang])]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        too_long = threading.Timer(20, process.kill)
        too_long.start()
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "in guilty" in line:
                break
        too_long.cancel()
        process.kill()
    said = "".join(lines)
    assert "in guilty" in said
    assert "in honest" not in said
