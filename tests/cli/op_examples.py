#!/usr/bin/env python3
"""The example that the documentation has of each op: there is one, it uses the op, and both engines agree on it.

    INDIM_BIN=build/indim op_examples.py
"""

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/site"))
from op_examples import examples  # noqa: E402

from _case import finish, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])


def indim(*arguments, text=None):
    return subprocess.run([INDIM, *arguments], input=text, capture_output=True, text=True, timeout=60)


def numbers(text):
    return [float(n) for n in re.findall(r"-?(?:\d[\d.]*(?:e[+-]?\d+)?|inf|nan)\b", text)]


def close(a, b):
    x, y = numbers(a), numbers(b)
    near = lambda p, q: p == q or (p != p and q != q) or abs(p - q) <= 1e-5 * max(abs(p), abs(q))
    return len(x) == len(y) and all(map(near, x, y)) and re.sub(r"[-\d.e+]+", "", a) == re.sub(r"[-\d.e+]+", "", b)


def main():
    ops = {row["op"]: row for row in json.loads(indim("ops", "--json").stdout)}
    found = {e.op: e for e in examples()}
    report("each op has an example", list(found) == list(ops), set(ops) ^ set(found))
    for op, example in found.items():
        uses = re.search(rf"\b(?<![-\w]){re.escape(op)}\(", example.program)
        report(f"{op}: the example uses it", uses, example.program)
        told = indim("check", "-", text=example.program)
        report(f"{op}: it is right", told.returncode == 0, told.stderr)
        if not ops[op]["evaluated"]:
            continue
        evaluated = indim("run", "--engine=eval", "-", *example.arguments, text=example.program)
        report(f"{op}: it is evaluated", evaluated.returncode == 0, evaluated.stderr)
        native = indim("run", "--engine=native", "-", *example.arguments, text=example.program)
        report(f"{op}: it is compiled", native.returncode == 0, native.stderr)
        report(f"{op}: both agree", close(evaluated.stdout, native.stdout), f"{evaluated.stdout}---\n{native.stdout}")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
