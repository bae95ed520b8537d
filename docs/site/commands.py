"""Commands of the documentation are typed when it is built, and what they print is what stands there."""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from console import CONSOLE, PICTURE, split

TYPED = ("indim", "cat", "cc", "./main")


class Shell:
    """A folder in which the commands of a page are typed. A block with refused behind console is one that must fail."""

    def __init__(self, indim, root):
        self.root = pathlib.Path(root)
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        tools = self.folder / "bin"
        tools.mkdir()
        (tools / "indim").symlink_to(pathlib.Path(indim).resolve())
        for name in ("examples", "docs", "tests"):
            (self.folder / name).symlink_to(self.root / name)
        self.environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
        self.environment |= {"NO_COLOR": "1", "INDIM_NUM_THREADS": "1"}

    def type(self, command, allowed=(0, 1)):
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300
        )
        said = done.stdout.decode()
        if done.returncode not in allowed:
            sys.exit(f"docs: {command}: exit code {done.returncode}\n{said}")
        return said

    def block(self, block):
        """What stands there if other programs than TYPED are asked for: tests/cli/readme.py types those."""
        parts = []
        if any(shlex.split(command)[0] not in TYPED for command, _ in split(block)):
            return block
        for command, below in split(block):
            word = shlex.split(command)[0]
            if word == "cat" and not (self.folder / shlex.split(command)[1]).exists():
                (self.folder / shlex.split(command)[1]).write_text(below)
            said = self.type(command)
            parts.append(f"$ {command}\n{said}" + ("" if said.endswith("\n") or not said else "\n"))
        return "".join(parts)

    def page(self, text, pictures):
        """The page with what its commands print; SVG drawings are written to the folder |pictures|."""

        def draw(found):
            name = re.sub(r"\W+", "_", found[1]).strip("_") + ".svg"
            pictures.mkdir(parents=True, exist_ok=True)
            (pictures / name).write_text(self.type(found[1], allowed=(0,)))
            return f"![{found[1].removesuffix(' --svg')}]({pictures.name}/{name})"

        return PICTURE.sub(draw, CONSOLE.sub(lambda f: f"```console\n{self.block(f[1])}```", text))
