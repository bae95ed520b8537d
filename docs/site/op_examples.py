"""The examples of ops.txt."""

import pathlib
import re
from typing import NamedTuple


class Example(NamedTuple):
    op: str
    arguments: list
    program: str


def examples():
    text = (pathlib.Path(__file__).parent / "ops.txt").read_text()
    for part in re.split(r"^op ", text, flags=re.M)[1:]:
        op, *lines = part.strip().splitlines()
        arguments = [line[3:] for line in lines if line.startswith("in ")]
        yield Example(op, arguments, "\n".join(lines[len(arguments) :]) + "\n")
