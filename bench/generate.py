#!/usr/bin/env python3
"""Lowers the benchmark's rows with JAX: bench/programs/NAME.hlo, which are kept in the repository.

    generate.py [FOLDER]     writes the texts (default: bench/programs)

Texts that no JAX function gives (layouts, thousands of operations) are written by rows.py itself when they are run.
"""

import functools
import pathlib
import re
import sys

import jax

from rows import PROGRAMS, ROWS, TYPES


def arguments(row):
    return [jax.ShapeDtypeStruct(sizes, TYPES[kind]) for kind, sizes, _ in row.args]


def jitted(row):
    @functools.wraps(row.fn)
    def named(*values):
        return row.fn(*values)

    named.__name__ = row.name
    return jax.jit(named, donate_argnums=row.donate, keep_unused=True)


def row_major(found):
    """JAX's text gives a transpose the layout that makes it free; what jax.jit takes and returns is row-major."""
    rank = found.group(1).count(",") + 1
    return f"[{found.group(1)}]{{" + ",".join(str(d) for d in reversed(range(rank))) + "}"


def lower(row):
    with jax.enable_x64(row.wide):
        text = jitted(row).lower(*arguments(row)).as_text("hlo")
    text = re.sub(r", metadata=\{[^}]*\}", "", text)
    return re.sub(r"\[([\d,]+)\]\{[\d,]+\}", row_major, text)


def main():
    jax.config.update("jax_platforms", "cpu")
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else PROGRAMS
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    for row in ROWS:
        if row.text is None:
            (folder / f"{row.name}.hlo").write_text(lower(row))
            written += 1
    print(f"{written} programs")


if __name__ == "__main__":
    main()
