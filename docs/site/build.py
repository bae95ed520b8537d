#!/usr/bin/env python3
"""Builds the documentation: a folder of pages that work from the disk, search included.

    build.py --indim build/release/indim [--out build/site] [--pages-only]

What a command prints and every drawing is made here, by the command line that is given; a command that fails, a link that
leads nowhere and anything that a page would load from the network end the build. --pages-only stops before MkDocs: it
needs Python alone.
"""

import argparse
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check  # noqa: E402
import commands  # noqa: E402
import headers  # noqa: E402
from op_examples import examples  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Pages in the order of the navigation; a page of docs/ that is not named here comes under "More".
NAVIGATION = {
    "Guide": ["guide/first.md", "guide/shapes.md", "guide/layouts.md", "guide/broadcasting.md", "guide/programs.md", "guide/inside.md", "explain.md",
              "seeds.md", "digits.md"],
    "Using it": ["python.md", "jax.md", "aot.md", "custom-calls.md", "editors.md", "profile.md", "tune.md", "view.md", "lint.md"],
    "Reference": ["operations.md", "command-line.md", "formats.md", "stablehlo.md", "math.md", "linalg.md"],
    "C interface": [],  # the pages of the headers
    "Benchmarks": ["benchmarks.md", "catalogue.md", "conformance.md"],
    "Inside": ["architecture.md", "graph.md", "loop.md", "testing.md"],
    "More": ["changes.md"],
}
# Where pages of the project are in the site.
MOVED = {"README.md": "index.md", "CHANGELOG.md": "changes.md", "examples/seeds/README.md": "seeds.md", "examples/digits/README.md": "digits.md",
         "docs/ops.md": "operations.md"}  # fmt: skip
CLASSES = {"P": "pred", "S": "signed integers", "U": "unsigned integers", "F": "floats", "C": "complex", "ANY": "whatever the rule allows"}


# Pages of the project ---------------------------------------------------------------------------------------------


def place_of(path):
    """The page in the site of a file of the project, or None."""
    if path in MOVED:
        return MOVED[path]
    if found := re.fullmatch(r"include/indim/(\w+)\.h", path):
        return f"c/{found[1]}_h.md"
    if found := re.fullmatch(r"docs/([^/]+\.(?:md|svg))", path):
        return found[1]
    return None


def relative(target, page):
    return "../" * page.count("/") + target


def with_links(text, source, page):
    """Links between pages of the project become links between pages of the site; those to other files of it, their text."""

    def link(found):
        label, target = found[1], found[2]
        if target is None or re.match(r"[a-z]+:|#", target):  # code, a link to elsewhere or within the page
            return found[0]
        path, _, anchor = target.partition("#")
        parts = []
        for part in (pathlib.PurePosixPath(source).parent / path).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        if not (ROOT / "/".join(parts)).exists():
            sys.exit(f"docs: {source} links to {target}, which is not there")
        place = place_of("/".join(parts))
        if place is None:
            return label
        return f"[{label}]({relative(place, page)}{'#' + anchor if anchor else ''})"

    links = re.compile(r"^```.*?^```$|`[^`\n]+`|(?<!!)\[((?:[^\]`]|`[^`]*`)*)\]\(([^)\s]+)\)", re.M | re.S)
    return links.sub(link, text)


def write(pages, name, text):
    path = pages / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def project_pages(pages, indim):
    for source in ["README.md", "CHANGELOG.md", "examples/seeds/README.md", "examples/digits/README.md",
                   *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md") if p.name != "ops.md")]:  # fmt: skip
        page = place_of(source)
        text = (ROOT / source).read_text()
        shell = commands.Shell(indim, ROOT)
        text = re.sub(r"^```console refused$", "```console", text, flags=re.M)
        text = shell.page(text, pages / f"drawn_{pathlib.Path(page).stem}")
        write(pages, page, with_links(text, source, page))
    for drawing in (ROOT / "docs").glob("*.svg"):
        shutil.copy(drawing, pages / drawing.name)
    for source in sorted((HERE / "guide").glob("*.md")):
        text = commands.Shell(indim, ROOT).page(source.read_text(), pages / "guide" / f"drawn_{source.stem}")
        write(pages, f"guide/{source.name}", text)


# Pages that are made ----------------------------------------------------------------------------------------------


def run(indim, *arguments, text=None):
    return subprocess.run([indim, *arguments], input=text, capture_output=True, text=True, timeout=300, env={"COLUMNS": "100", "LC_ALL": "C.UTF-8"})


def command_page(indim):
    listed = run(indim, "help").stdout
    yield "# Command line\n\nWhat `indim help` and `indim COMMAND --help` print.\n\n```text\n" + listed + "```\n"
    for name in re.findall(r"^  (\w+) +\S", listed.split("Commands:")[1].split("\n\n")[0], re.M):
        yield f"## indim {name}\n\n```text\n{run(indim, name, '--help').stdout}```\n"


def types_of_ops():
    rows = re.findall(r'^INDIM_OP\(\w+, "([^"]+)", -?\d+, -?\d+, ([^,]+),', (ROOT / "include/indim/ops.def").read_text(), re.M)
    return {op: ", ".join(CLASSES[c.strip()] for c in classes.split("|")) for op, classes in rows}


def words(text):
    return re.sub(r"([\\`*_<>|\[\]{}])", r"\\\1", text)


def attribute_line(a):
    listed = f": {', '.join(f'`{w}`' for w in a['words'])}" if a["words"] else ""
    return f"| `{a['name']}=` | {'yes' if a['required'] else ''} | {words(a['form'])} | {words(a['meaning'])}{listed} |"


def op_section(indim, row, types, example):
    op = row["op"]
    most = {"+": " or more operands"}.get(row["operands"][-1], " operand" if row["operands"] == "1" else " operands")
    yield f"## {op} {{ #{op} }}\n\n{words(row['meaning'])}\n"
    yield f"{row['operands'].rstrip('+')}{most}; element types: {types}; the result's shape {'may be left out' if row['shape_inferred'] else 'is written'}.\n"
    if row["attributes"]:
        yield "| attribute | required | written | |\n|---|---|---|---|\n" + "\n".join(map(attribute_line, row["attributes"])) + "\n"
    yield f"```hlo\n{example.program}```\n"
    if not row["evaluated"]:
        yield "Read, verified and printed; neither engine runs it.\n"
        if run(indim, "check", "-", text=example.program).returncode:
            sys.exit(f"docs: the example of {op} is refused")
        return
    done = run(indim, "run", "-", *example.arguments, text=example.program)
    if done.returncode:
        sys.exit(f"docs: the example of {op}: {done.stderr}")
    shown = " ".join(["indim run example.hlo", *(f"'{a}'" for a in example.arguments)])
    yield f"```console\n$ {shown}\n{done.stdout}```\n"


def op_page(indim):
    rows = json.loads(run(indim, "ops", "--json").stdout)
    types, found = types_of_ops(), {e.op: e for e in examples()}
    yield (f"# Operations\n\nAll {len(rows)} opcodes of XLA's text form. Every one is read, verified and printed. Each has an example, "
           "which was run when this page was made. Attributes that any op takes (sharding, metadata and the like) are left out.\n")  # fmt: skip
    yield "| op | operands | runs | meaning |\n|---|---|---|---|\n" + "\n".join(
        f"| [`{r['op']}`](#{r['op']}) | {r['operands']} | {'yes' if r['evaluated'] else 'no'} | {words(r['meaning'])} |" for r in rows
    )
    for row in rows:
        yield from op_section(indim, row, types[row["op"]], found[row["op"]])


def list_page(name, pattern, head, title):
    """A page of a .def file: its rows."""
    yield f"# {title}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}\n" + "\n".join(
        "| " + " | ".join(html.escape(c.strip().strip('"')) for c in row) + " |"
        for row in re.findall(pattern, (ROOT / "include/indim" / name).read_text(), re.M)
    ) + "\n"  # fmt: skip


def c_pages(pages):
    texts = {p.stem: p.read_text() for p in sorted((ROOT / "include/indim").glob("*.h"))}
    home = headers.homes(texts)
    for name, text in texts.items():
        write(pages, f"c/{name}_h.md", "\n".join(headers.page(name, text, home)))
    first = {n: next((p.lines[0] for p in headers.parts_of(t) if isinstance(p, headers.Text)), "") for n, t in texts.items()}
    functions = sorted(n for n in home if n.startswith("indim_"))
    write(pages, "c/index.md", "# C interface\n\nThe public headers and their comments.\n\n| header | |\n|---|---|\n" + "\n".join(
        f"| [{n}.h]({n}_h.md) | {words(first[n])} |" for n in texts
    ) + "\n| [status.def](statuses.md) | the status codes |\n| [type.def](types.md) | the element types |\n\n## All names\n\n" + "\n".join(
        f"- [`{n}`]({home[n]}_h.md#{n})" for n in functions) + "\n")  # fmt: skip
    write(pages, "c/statuses.md", "\n".join(list_page("status.def", r'^INDIM_STATUS\((\w+), ("[^"]*")\)', ["status", "meaning"], "Status codes")))
    write(pages, "c/types.md", "\n".join(
        list_page("type.def", r'^INDIM_TYPE\((\w+), (\d+), ("[^"]*"), (\d+), (\w+)\)', ["enumerator INDIM_", "number", "text", "bits", "class"], "Element types")))  # fmt: skip
    return ["c/index.md", *(f"c/{n}_h.md" for n in texts), "c/statuses.md", "c/types.md"]


# The site ---------------------------------------------------------------------------------------------------------


def navigation(pages, of_c):
    there = {str(p.relative_to(pages)) for p in pages.rglob("*.md")}
    listed = {page for group in NAVIGATION.values() for page in group} | set(of_c) | {"index.md"}
    result = [{"Indim": "index.md"}]
    for title, group in NAVIGATION.items():
        group = of_c if title == "C interface" else [p for p in group if p in there]
        group = group + (sorted(there - listed) if title == "More" else [])
        result.append({title: group})
    return result


def make_pages(indim, pages):
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    project_pages(pages, indim)
    write(pages, "operations.md", "\n".join(op_page(indim)))
    write(pages, "command-line.md", "\n".join(command_page(indim)))
    of_c = c_pages(pages)
    for name in ("site.css", "iframe-worker.js"):
        shutil.copy(HERE / name, pages / name)
    return navigation(pages, of_c)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--indim", required=True)
    parser.add_argument("--out", default=str(ROOT / "build/site"))
    parser.add_argument("--pages-only", action="store_true")
    options = parser.parse_args()
    indim, out = str(pathlib.Path(options.indim).resolve()), pathlib.Path(options.out).resolve()
    pages = out.with_name(out.name + "-pages")
    nav = make_pages(indim, pages)
    count = sum(1 for _ in pages.rglob("*.md"))
    if options.pages_only:
        print(f"{count} pages in {pages.relative_to(pathlib.Path.cwd()) if pages.is_relative_to(pathlib.Path.cwd()) else pages}")
        return 0
    settings = (HERE / "mkdocs.yml").read_text() + json.dumps({"docs_dir": str(pages), "site_dir": str(out), "nav": nav})[1:-1].replace(
        ', "site_dir"', '\n"site_dir"').replace(', "nav"', '\n"nav"') + "\n"  # fmt: skip
    config = pages.with_name(pages.name + ".yml")
    config.write_text(settings)
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--clean", "--strict", "-q", "-f", str(config)])
    if done.returncode:
        return done.returncode
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz", "search/search_index.json"):  # for servers
        (out / name).unlink(missing_ok=True)
    problems = list(check.problems_of(out))
    print("\n".join(problems + [f"{count} pages, {len(problems)} problems: open {out / 'index.html'}"]))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
