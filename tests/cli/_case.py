"""What the tests of the command line share: counting what passed, a terminal, and Ctrl-C."""

import os
import pathlib
import pty
import re
import signal
import subprocess
import time

passed = failed = 0


def report(what, ok, why=""):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print(f"FAILED {what}: {why}")


def finish():
    """Prints the counts, and returns the exit code."""
    print(f"{passed} passed, {failed} failed")
    return int(failed != 0)


def on_terminal(command, environment):
    """The exit code of a command, and what it writes to a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([*map(str, command)], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break
        if not part:
            break
        said += part
    os.close(ours)
    return child.wait(timeout=120), said.decode().replace("\r", "")


def interrupt(process):
    """Presses Ctrl-C once the command catches it: before, and again after, it ends at once and says nothing."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        caught = int(re.search(r"^SigCgt:\s*(\w+)", status.read_text(), re.M)[1], 16)
        if caught >> (signal.SIGINT - 1) & 1:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
