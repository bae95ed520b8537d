#!/usr/bin/env python3
"""The benchmark's programs, compiled, give what XLA gives, with two threads: bench/run.py --check.

    INDIM_LIB=build/dev/libindim.so workloads.py

Rows that differ from a smaller one only by their size are left to the benchmark itself. A program that is refused has failed.
"""

import os
import pathlib
import subprocess
import sys

from _sample import sampled

sys.path.insert(0, "bench")
from rows import ROWS  # noqa: E402

MOST_BYTES = 16 << 20


def main():
    rows = sampled(row.name for row in ROWS if max(row.reads + row.writes, 1) <= MOST_BYTES and "1e7" not in row.name)
    library = os.environ.get("INDIM_LIB", "build/dev/libindim.so")
    pattern = "^(" + "|".join(rows) + ")$"
    command = [sys.executable, "bench/run.py", "--check", "--threads", "2", "--library", library, "--only", pattern]
    return subprocess.run(command, cwd=pathlib.Path.cwd()).returncode


if __name__ == "__main__":
    sys.exit(main())
