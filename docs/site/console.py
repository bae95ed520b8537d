"""Blocks of commands on a page: ```console, lines that begin with "$ " and what they print."""

import re
import shlex

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
PICTURE = re.compile(r"^!\[(indim .*?--svg)\]\((\S+\.svg)\)$", re.M)


def is_whole(command):
    try:
        shlex.split(command)
        return True
    except ValueError:
        return False


def split(block):
    """Pairs of a command, which may have several lines inside of quotes, and the text below it."""
    lines = block.splitlines(keepends=True)
    while lines:
        command = lines.pop(0).removeprefix("$ ")
        while not is_whole(command):
            command += lines.pop(0)
        below = ""
        while lines and not lines[0].startswith("$ "):
            below += lines.pop(0)
        yield command.rstrip("\n"), below
