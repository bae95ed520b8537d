#!/usr/bin/env python3
"""`indim lint`: the planted mistakes of tests/lint are found, each by its rule alone, what comes near is not, and what it says of the
programs of the benchmark has been looked at.

    INDIM_BIN=build/indim lint.py
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from _case import finish, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
OK, FOUND, USAGE, FILE = 0, 1, 2, 3
BY_PLAN = {"undonated-update", "transpose-copy", "dot-layout"}

# All that is told of bench/programs: programs that update a parameter which their row does not donate, which is what it measures.
BENCHMARK = {
    name: {"undonated-update"}
    for name in "update_in_branches update_keeps_old update_reads_gather update_reads_slice update_slice_1e5 update_slice_1e7 "
    "update_swaps update_two_arrays update_where".split()
}


def run(*arguments, **options):
    return subprocess.run([INDIM, "lint", *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def rules():
    return {rule["rule"]: rule for rule in json.loads(run("--rules", "--json").stdout)}


def planted(compiles):
    known = rules()
    source = pathlib.Path("tests/lint/make.py").read_text().split("\n")
    seen = set()
    for path in sorted([*pathlib.Path("tests/lint").glob("*.hlo"), *pathlib.Path("tests/lint").glob("*.mlir")]):
        rule, name, _ = path.name.split(".", 2)
        if rule in BY_PLAN and not compiles:
            continue
        done = run("--json", path)
        found = json.loads(done.stdout)[0]["findings"]
        told = {finding["rule"] for finding in found}
        twice = [finding for finding in found if finding["origin"] and finding["origin"] in finding["message"]]
        report(f"{path.name}: the place is told once", not twice, twice)
        if rule == "clean":
            report(path.name, done.returncode == OK and not told and not done.stderr, (told, done.stderr))
            continue
        seen.add(rule)
        code = FOUND if known[rule]["severity"] == "warning" else OK
        report(path.name, told == {rule} and done.returncode == code and not done.stderr, (told, done))
        report(f"{path.name} --strict", run("--strict", path).returncode == FOUND, "a note is not enough")
        report(f"{path.name} --allow", run("--strict", f"--allow={rule}", path).returncode == OK, "told all the same")
        for finding in found:
            is_placed = finding["line"] > 0 or finding["origin"] or finding["op"] in ("tuple", "parameter")
            report(f"{path.name}, its place", is_placed, finding)
            if finding["origin"]:  # in the function that the mistake was planted in
                line = source[int(finding["origin"].removeprefix("make.py:")) - 1]
                is_it = f'"{rule}.{name}"' in line or line.startswith("    ")  # or in a function of several lines
                report(f"{path.name}, its line", is_it, (finding["origin"], line))
    report("each rule has a program", seen == set(known) - (set() if compiles else BY_PLAN), set(known) - seen)


def benchmark(compiles):
    programs = sorted(pathlib.Path("bench/programs").glob("*.hlo"))
    report("the programs of the benchmark", len(programs) > 90, len(programs))
    for file in json.loads(run("--json", *programs).stdout):
        told = {finding["rule"] for finding in file["findings"]}
        expected = BENCHMARK.get(pathlib.Path(file["file"]).stem, set()) if compiles else set()
        report(file["file"], told == expected, told)


def document():
    """docs/lint.md has the table of lint.def."""
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+) \| (.*) \| (.*) \|$", pathlib.Path("docs/lint.md").read_text(), re.M)
    expected = [(r["rule"], r["severity"], r["what"], r["way_out"]) for r in rules().values()]
    report("docs/lint.md", rows == expected, set(rows) ^ set(expected))
    listed = [line.split()[:2] for line in run("--rules").stdout.splitlines()]
    report("--rules", listed == [[r[0], r[1]] for r in expected], listed)


def told():
    path = "tests/lint/rank-promotion.loss.hlo"
    done = run(path)
    first, second, third, last = done.stdout.splitlines()
    report("place and message", re.match(r"make\.py:\d+: warning: .* f32\[256,1\] and y.* f32\[256\] are joined", first), first)
    report("instruction, line and cost", re.match(r"    at sub.* \(subtract\), tests/lint/rank-.*:\d+; 256 KiB$", second), second)
    report("the way out", third.startswith("    way out: "), third)
    report("the sum", last == f"{path}: 1 warning, 0 notes" and done.returncode == FOUND, last)
    report("no colour into a pipe", "\033" not in done.stdout, done.stdout)
    done = run("--only=f64-in-f32", path)
    report("--only", done.returncode == OK and done.stdout == f"{path}: 0 warnings, 0 notes\n", done)
    done = run("--only=gather-is-slice", "--min-bytes=1G", "tests/lint/gather-is-slice.arange.hlo")
    report("--min-bytes", done.returncode == OK, done)
    done = run("--padding=5000", "tests/lint/padding-waste.tiles.hlo")
    report("--padding", done.returncode == OK, done)
    done = run(path, "tests/lint/clean.loss.hlo")
    report("several programs", done.returncode == FOUND and done.stdout.count("warning") == 3, done.stdout)


def many(folder):
    """Findings beyond fifty of a rule are counted; calls that nest or multiply are no trouble."""
    p = folder / "many.hlo"
    dead = "\n".join(f"  d{i} = f32[4] sine(x)" for i in range(20000))
    p.write_text("ENTRY e {\n  x = f32[4] parameter(0)\n%s\n  ROOT y = f32[4] negate(x)\n}\n" % dead)
    done = run("--strict", p)
    report("20,000 findings", done.returncode == FOUND and "19950 more of [dead-instruction]" in done.stdout, done.stdout[-300:])
    report("their sum", done.stdout.endswith(": 0 warnings, 20000 notes\n"), done.stdout[-100:])
    doubling = "c0 { x = f32[4] parameter(0) ROOT y = f32[4] sine(x) }\n" + "".join(
        f"c{i} {{ x = f32[4] parameter(0) a = f32[4] call(x), to_apply=c{i - 1} b = f32[4] call(a), to_apply=c{i - 1} "
        "ROOT s = f32[4] add(a, b) }\n"
        for i in range(1, 60)
    )
    p.write_text(doubling + "ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] call(x), to_apply=c59 }\n")
    done = run("--only=rank-promotion,dead-instruction", p)
    report("calls that multiply", done.returncode == OK and done.stdout.endswith("0 warnings, 0 notes\n"), done)
    chain = "g0 { x = f32[4] parameter(0) ROOT y = f32[4] sine(x) }\n" + "".join(
        f"g{i} {{ x = f32[4] parameter(0) ROOT y = f32[4] call(x), to_apply=g{i - 1} }}\n" for i in range(1, 3000)
    )
    p.write_text(chain + "ENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] call(x), to_apply=g2999 }\n")
    done = run("--only=rank-promotion", p)
    report("calls that nest", done.returncode == OK, done)


def wrong(folder):
    bad = folder / "bad.hlo"
    bad.write_text("ENTRY e { x = ")
    good = "tests/lint/clean.loss.hlo"
    for arguments, code, why in (
        ([], USAGE, "give a program"),
        (["--allow=rank-promotoin", good], USAGE, "did you mean rank-promotion?"),
        (["--only=", good], USAGE, "there is no rule ''"),
        (["--min-bytes=x", good], USAGE, "no positive number"),
        (["--padding=-1", good], USAGE, "no positive number"),
        ([bad], FOUND, "error:"),
        ([folder / "missing.hlo"], FILE, "missing.hlo"),
        ([bad, good], FOUND, "error:"),
    ):
        done = run(*arguments)
        report(f"{arguments}", done.returncode == code and why in done.stderr, done)
    done = run("--json", bad)
    report("a refusal in JSON", done.returncode == FOUND and json.loads(done.stdout)["ok"] is False, done)
    elided = folder / "elided.hlo"
    elided.write_text("ENTRY e { x = f32[9] parameter(0) c = f32[9] constant({...}) ROOT s = f32[9] add(x, c) }")
    done = run(elided)
    report("a program that does not compile", done.returncode == OK and not done.stderr, done)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "p.hlo").write_text("ENTRY e { x = f32[9] parameter(0) ROOT y = f32[9] sine(x) }")
    compiles = subprocess.run([INDIM, "compile", folder / "p.hlo"], capture_output=True).returncode == 0
    planted(compiles)
    benchmark(compiles)
    document()
    told()
    many(folder)
    wrong(folder)
sys.exit(finish())
