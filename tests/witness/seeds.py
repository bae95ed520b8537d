#!/usr/bin/env python3
"""Runs the commands of examples/seeds/README.md: each must print what stands there. The numbers are XLA's too.

    INDIM_BIN=build/dev/indim seeds.py             the test
    INDIM_BIN=build/dev/indim seeds.py --update    writes what the commands print into the page, to be read and judged

In the page a block marked `console` holds commands that succeed, one marked `refused` commands that must fail; the
lines up to the next command are what is printed, on either stream. XLA computes the programs from their texts; the layouts
that it does not have, or that its way to the processor drops, are left out (UNLIKE_XLA).
"""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import numpy as np

from _xla import Xla

INDIM = os.environ.get("INDIM_BIN", "build/indim")
FOLDER = pathlib.Path("examples/seeds")
PAGE = FOLDER / "README.md"
BLOCK = re.compile(r"^```(console|refused)\n(.*?)^```$", re.M | re.S)
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"}  # what drawings depend on
UNLIKE_XLA = {"layout_copy": "bitcast in StableHLO looks at no layout", "layout_padded": "no padded layouts"}
ARGUMENTS = {"row_add": [[[1, 2, 3], [4, 5, 6]], [7, 8, 9]]}

passed = 0
failures = 0


def case(what, complaint):
    global passed, failures
    if complaint:
        failures += 1
        print(f"FAILED {what}: {complaint}")
    else:
        passed += 1


def run(command):
    words = shlex.split(command)
    assert words[0] == "indim", command
    done = subprocess.run([INDIM, *words[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, env=ENVIRONMENT)
    return done.returncode, done.stdout.decode()


def commands(block):
    """Pairs of a command and the text expected of it."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def checked(found):
    """A block of the page with what the commands print now; counts a case for each."""
    kind, block = found.groups()
    text = ""
    for command, expected in commands(block):
        status, said = run(command)
        if kind == "console":
            case(f"exit code of {command}", "" if status == 0 else f"{status}")
        else:
            case(f"refusal of {command}", "" if status in (1, 2) else f"exit code {status}")
        case(command, "" if said == expected else f"prints\n{said}instead of\n{expected}")
        text += f"$ {command}\n{said}"
    return f"```{kind}\n{text}```"


def numbers_case(xla, path):
    """The results of a program against XLA's."""
    arguments = ARGUMENTS.get(path.stem, [])
    words = [shlex.quote(str(argument).replace("[", "{").replace("]", "}")) for argument in arguments]
    status, said = run(" ".join(["indim run --json", str(path), *words]))
    if status:
        case(f"run {path}", said)
        return
    ours = [np.array(result["data"], np.float32) for result in json.loads(said)["results"]]
    (theirs,) = xla.ask("run", path.read_text(), [[np.array(argument, np.float32) for argument in arguments]])
    same = len(ours) == len(theirs) and all(np.array_equal(a, b) for a, b in zip(ours, theirs))
    case(f"numbers of {path}", "" if same else f"{ours}, XLA has {theirs}")


def main():
    page = PAGE.read_text()
    now = BLOCK.sub(checked, page)
    if "--update" in sys.argv:
        PAGE.write_text(now)
    xla = Xla()
    for path in sorted(FOLDER.glob("*.hlo")):
        case(f"{path} is in the page", "" if str(path) in page else "it is not")
        if path.stem not in UNLIKE_XLA:
            numbers_case(xla, path)
    print(f"{passed} passed, {failures} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
