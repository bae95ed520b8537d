#!/usr/bin/env python3
"""The pages of the documentation, up to where MkDocs takes them: all functions and operations are there, commands print what
they print. And the check of a built site finds what it is for.

    INDIM_BIN=build/indim docs.py
"""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))
import build  # noqa: E402
import check as site_check  # noqa: E402
import commands  # noqa: E402

from _case import finish, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])


def test_pages(pages):
    navigation = build.make_pages(INDIM, pages)
    listed = []
    for group in navigation:
        for pages_of in group.values():
            listed += [pages_of] if isinstance(pages_of, str) else pages_of
    there = {str(p.relative_to(pages)) for p in pages.rglob("*.md")}
    report("each page is in the navigation once", sorted(listed) == sorted(there), set(listed) ^ there)
    of_c = "\n".join(p.read_text() for p in pages.glob("c/*_h.md"))
    for header in sorted((ROOT / "include/indim").glob("*.h")):
        text = re.sub(r"//.*", "", header.read_text())
        for name in re.findall(r"INDIM_API[^;]*?\b(indim_\w+)\s*\(", text):
            report(f"{name} of {header.name} is there once", of_c.count(f'<a id="{name}"></a>') == 1, of_c.count(f'<a id="{name}"></a>'))
    ops = (pages / "operations.md").read_text()
    rows = re.findall(r'^INDIM_OP\(\w+, "([^"]+)"', (ROOT / "include/indim/ops.def").read_text(), re.M)
    for op in rows:
        report(f"{op} has a section", f"\n## {op} {{ #{op} }}\n" in ops)
    report("an example's result is there", "f32[2] {11, 22}" in ops)
    shown = (pages / "guide/layouts.md").read_text()
    report("commands of the guide have their output", "column-major" not in shown or "minor to major" in shown, shown[:200])
    report("drawings are drawn", len(list((pages / "guide/drawn_layouts").glob("*.svg"))) == 4)
    report("no page is empty", all(p.stat().st_size > 80 for p in pages.rglob("*.md")))


def test_commands():
    shell = commands.Shell(INDIM, ROOT)
    block = "$ cat p.hlo\nENTRY e { ROOT c = s32[] constant(7) }\n$ indim run p.hlo\nwhat stood here\n"
    report("what stood there is replaced", shell.block(block).endswith("$ indim run p.hlo\ns32[] 7\n"), shell.block(block))
    report("what is not typed stays", shell.block("$ python x.py\n5\n") == "$ python x.py\n5\n")
    with contextlib.redirect_stderr(io.StringIO()):
        for wrong in ("$ indim run nothing.hlo\n", "$ indim nonsense\n"):
            try:
                shell.block(wrong)
                report(f"{wrong!r} ends the build", False)
            except SystemExit:
                report("ends", True)


def test_links(folder):
    """A site with one mistake of each kind."""
    (folder / "a").mkdir()
    (folder / "a/other.html").write_text('<h1 id="here">x</h1>')
    good = '<a href="a/other.html#here">x</a><a href="https://example.org/">x</a><a href="#top" id="top">x</a><img src="data:,">'
    (folder / "index.html").write_text(good)
    report("a right site has no problem", list(site_check.problems_of(folder)) == [], list(site_check.problems_of(folder)))
    for wrong in ('<a href="none.html">', '<a href="a/other.html#there">', '<a href="#nowhere">', '<img src="none.svg">', '<a href="../../x">',
                  '<script src="https://example.org/x.js"></script>', '<link rel="stylesheet" href="//example.org/x.css">',
                  '<img src="http://example.org/x.png">'):  # fmt: skip
        (folder / "index.html").write_text(good + wrong)
        report(f"{wrong} is found", len(list(site_check.problems_of(folder))) == 1, list(site_check.problems_of(folder)))
    (folder / "index.html").write_text(good)
    (folder / "x.css").write_text("a { background: url('https://example.org/x.png') }")
    report("in CSS, too", len(list(site_check.problems_of(folder))) == 1)
    for link in ("[x](none.md)", "[x](../include/none.h)"):
        try:
            build.with_links(link, "docs/a.md", "a.md")
            report(f"{link} ends the build", False)
        except SystemExit:
            report("ends", True)
    turned = build.with_links("[a](../include/indim/base.h) [b](math.md#x) [c](../LICENSE) `[d](e)` [`f`](graph.md)\n```\n[x](none.md)\n```\n", "docs/a.md", "p/a.md")
    report("links are turned", turned.startswith("[a](../c/base_h.md) [b](../math.md#x) c `[d](e)` [`f`](../graph.md)\n```\n[x]"), turned)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_links(folder)
        test_commands()
        if int(os.environ.get("INDIM_TEST_SAMPLE", "1")) == 1:  # each example is compiled, which is slow with instruments
            test_pages(folder / "pages")
    return finish()


if __name__ == "__main__":
    sys.exit(main())
