#!/usr/bin/env python3
"""Types the commands of README.md and docs/explain.md: each must print what stands there.

    INDIM_BIN=build/indim readme.py             the test
    INDIM_BIN=build/indim readme.py --update    writes what the commands print into the pages, to be read and judged

`cat FILE` makes the file, if it is not there. Times may differ, and so may the numbers of values in a dump, which names its
target, and the machine and size of an object. A picture, ![indim ... --svg](FILE.svg), is what the command of its text prints.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, "docs/site")
from console import CONSOLE, PICTURE, split  # noqa: E402

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
PAGES = ["README.md", "docs/explain.md"]
UPDATE = "--update" in sys.argv

passed = failed = 0


def plain(text):
    """Without what may differ: times, and the numbers of values but for their order."""
    numbers = {}
    text = re.sub(r"\bv\d+\b", lambda found: numbers.setdefault(found.group(), f"v_{len(numbers)}"), text)
    text = re.sub(r"_run for [\w-]+, \d+ bytes of code", "_run for MACHINE, BYTES of code", text)
    return re.sub(r"\b[\d.]+ (ns|us|ms|s)\b", "TIME", text)


def check(command, expected, folder, environment):
    """What the command prints now, if it is another thing than was expected."""
    global passed, failed
    words = shlex.split(command)
    if words[0] == "cat" and not (folder / words[1]).exists():
        (folder / words[1]).write_text(expected)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120
    )
    said = done.stdout.decode()
    if done.returncode in (0, 1) and plain(said) == plain(expected):
        passed += 1
        return expected
    failed += 1
    print(f"FAILED {command}: exit code {done.returncode}, prints\n{said}instead of\n{expected}")
    return said


def check_page(path, folder, environment):
    def block(found):
        parts = [f"$ {c}\n{check(c, expected, folder, environment)}" for c, expected in split(found.group(1))]
        return f"```console\n{''.join(parts)}```"

    page = path.read_text()
    now = CONSOLE.sub(block, page)
    for command, name in PICTURE.findall(page):
        file = path.parent / name
        now_drawn = check(command, file.read_text() if file.exists() else "", folder, environment)
        if UPDATE:
            file.parent.mkdir(exist_ok=True)
            file.write_text(now_drawn)
    if UPDATE and now != page:
        path.write_text(now)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "indim").symlink_to(INDIM)
        (folder / "bin" / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@" 2>/dev/null\n')
        (folder / "bin" / "python").chmod(0o755)
        (folder / "examples").symlink_to(os.path.abspath("examples"))
        environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        for page in PAGES:
            check_page(pathlib.Path(page), folder, environment)
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
