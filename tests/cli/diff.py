#!/usr/bin/env python3
"""`indim diff`: programs that are the same but for names and order are the same, and each change is found and no other.

    INDIM_BIN=build/indim diff.py
"""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from _case import finish, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
SAME, DIFFERENT, TROUBLE = 0, 1, 2

PROGRAM = """HloModule m, entry_computation_layout={(f32[4,6]{1,0}, f32[6]{0}, s32[])->(f32[4,6]{1,0}, f32[4]{0}, f32[4,6]{1,0})}

sum { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

body { p = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  x = f32[4,6] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  y = f32[4,6] sine(x)
  ROOT t = (s32[], f32[4,6]) tuple(j, y)
}

more { p = (s32[], f32[4,6]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT
}

ENTRY main {
  m = f32[4,6] parameter(0)
  v = f32[6] parameter(1)
  k = s32[] parameter(2)
  wide = f32[4,6] broadcast(v), dimensions={1}
  shifted = f32[4,6] add(m, wide)
  squared = f32[4,6] multiply(shifted, shifted)
  start = (s32[], f32[4,6]) tuple(k, squared)
  loop = (s32[], f32[4,6]) while(start), condition=more, body=body
  last = f32[4,6] get-tuple-element(loop), index=1
  zero = f32[] constant(0)
  rows = f32[4] reduce(last, zero), dimensions={1}, to_apply=sum
  turned = f32[6,4] transpose(last), dimensions={1,0}
  half = f32[] constant(0.5)
  halves = f32[6,4] broadcast(half), dimensions={}
  scaled = f32[6,4] multiply(turned, halves)
  back = f32[4,6] transpose(scaled), dimensions={1,0}
  ROOT out = (f32[4,6], f32[4], f32[4,6]) tuple(last, rows, back)
}
"""


def diff(folder, a, b, *options, **environment):
    (folder / "a.hlo").write_text(a)
    (folder / "b.hlo").write_text(b)
    return subprocess.run(
        [INDIM, "diff", *options, folder / "a.hlo", folder / "b.hlo"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


def changes(folder, a, b):
    done = diff(folder, a, b, "--json")
    assert done.returncode in (SAME, DIFFERENT) and not done.stderr, done
    return done.returncode, json.loads(done.stdout)


def summary(found):
    """{"shifted": ("changed", "op")}, by A's name, else B's."""
    return {
        (c.get("a") or c["b"]).get("name", "header"): (c["kind"], *c["what"]) for c in found["changes"]
    }


def renamed(text, seed):
    """Other names for all, instructions in another order that is right, computations likewise."""
    chooser = random.Random(seed)
    names = sorted(set(re.findall(r"(?:^|[\s({])([a-z]\w*) (?:=|\{)", text)))
    other = {name: f"n{i}.{chooser.randrange(1000)}" for i, name in enumerate(chooser.sample(names, len(names)))}
    text = re.sub(r"(?<![\w.])([a-z]\w*)(?= = | \{|[,)}\n])", lambda m: other.get(m[1], m[1]), text)
    # The words of ops, types and header stand before "(" or "[" or "=", and stay.
    blocks = re.split(r"\n\n", text.strip())
    out = [blocks[0]]
    for block in blocks[1:]:
        head, body = block.split("{", 1)
        lines = [line.strip() for line in body.rsplit("}", 1)[0].strip().split("\n")]
        done, rest = [], lines[:]
        defined = set()
        while rest:
            ready = [  # names behind "=" are those of computations
                line
                for line in rest
                if all(name in defined for name in re.findall(r"(?<![=\w.])n\d+\.\d+", line.split(" = ", 1)[1]))
            ]
            line = chooser.choice(ready)
            rest.remove(line)
            done.append(line)
            defined.add(re.match(r"(?:ROOT )?(n\d+\.\d+) =", line)[1])
        out.append(head + "{\n" + "\n".join(done) + "\n}")
    return "\n\n".join(out) + "\n"


def same(folder):
    for seed in range(25):
        other = renamed(PROGRAM, seed)
        code, found = changes(folder, PROGRAM, other)
        ok = code == SAME and found["same"] and not found["changes"] and found["counts"]["renamed"] > 20
        report(f"renamed and reordered {seed}", ok, (found, other))
    done = diff(folder, PROGRAM, PROGRAM)
    report("the same", done.returncode == SAME and done.stdout.startswith("0 changed, 0 gone, 0 new, 31 the same (0 "), done)


# What is replaced by what, and what is told of it, by A's names.
EDITS = [
    ("sine(x)", "cosine(x)", {"y": ("changed", "op")}),
    ("add(m, wide)", "add(wide, m)", {"shifted": ("changed", "operands")}),
    ("add(m, wide)", "subtract(m, wide)", {"shifted": ("changed", "op")}),
    ("constant(0.5)", "constant(0.25)", {"half": ("changed", "value")}),
    ("constant(10)", "constant(11)", {"n": ("changed", "value")}),
    ("direction=LT", "direction=LE", {"c": ("changed", "attributes")}),
    ("ROOT c = f32[] add(a, b)", "ROOT c = f32[] maximum(a, b)", {"c": ("changed", "op")}),
    ("turned = f32[6,4] ", "turned = f32[6,4]{0,1} ", {"turned": ("changed", "layout")}),
    ("multiply(shifted, shifted)", "multiply(shifted, m)", {"squared": ("changed", "operands")}),
    (
        "scaled = f32[6,4] multiply(turned, halves)",
        "more_of_it = f32[6,4] negate(turned)\n  scaled = f32[6,4] multiply(more_of_it, halves)",
        {"more_of_it": ("new",), "scaled": ("changed", "operands")},
    ),
    (
        "  squared = f32[4,6] multiply(shifted, shifted)\n  start = (s32[], f32[4,6]) tuple(k, squared)",
        "  start = (s32[], f32[4,6]) tuple(k, shifted)",
        {"squared": ("gone",), "start": ("changed", "operands")},
    ),
    (
        "->(f32[4,6]{1,0}, f32[4]{0}, f32[4,6]{1,0})}",
        "->(f32[4,6]{1,0}, f32[4]{0}, f32[4,6]{0,1})}",
        {"header": ("header",)},
    ),
]


def edits(folder):
    for old, new, expected in EDITS:
        assert PROGRAM.count(old) == 1, old
        edited = PROGRAM.replace(old, new)
        for seed in range(5):
            other = edited if seed == 0 else renamed(edited, seed)
            code, found = changes(folder, PROGRAM, other)
            told = summary(found)
            if seed != 0:  # what is new has another name there
                told = {("more_of_it" if kind == ("new",) else name): kind for name, kind in told.items()}
            report(f"{old} -> {new}, {seed}", code == DIFFERENT and told == expected, (told, other))
            (back_code, back) = changes(folder, other, PROGRAM)
            report(f"{new} -> {old}, {seed}", back_code == DIFFERENT and len(back["changes"]) == len(expected), back)
    wide = re.sub(r"\bf32\b", "f64", PROGRAM)
    code, found = changes(folder, PROGRAM, wide)
    kinds = {kind[0] for kind in summary(found).values()}
    report("another type", code == DIFFERENT and kinds == {"changed", "header"}, summary(found))


def ways_to_tell(folder):
    edited = PROGRAM.replace("sine(x)", "cosine(x)").replace("body {", "other_body {").replace("body=body", "body=other_body")
    done = diff(folder, PROGRAM, edited)
    lines = done.stdout.splitlines()
    report("lines", lines[:3] == ["computation body, now other_body", "- y = f32[4,6]{1,0} sine(x)  (op)", "+ y = f32[4,6]{1,0} cosine(x)"], lines)
    report("no colour into a pipe", "\033" not in done.stdout, done.stdout)
    done = diff(folder, PROGRAM, edited, COLUMNS="160")
    row = done.stdout.splitlines()[1]
    report("two columns", row.startswith("~ y = ") and " | " in row and "cosine" in row and len(row) <= 160, row)
    done = diff(folder, PROGRAM, edited, "--all")
    report("--all", len(done.stdout.splitlines()) > 30 and "wide" in done.stdout, done.stdout)
    done = diff(folder, PROGRAM, edited, "--brief")
    report("--brief", done.stdout.count("\n") == 1 and done.returncode == DIFFERENT, done.stdout)
    done = diff(folder, PROGRAM, edited, "--html", "--all")
    report("--html", done.returncode == DIFFERENT and "<table>" in done.stdout and "cosine(x)" in done.stdout, done)
    call = 'ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] custom-call(x), custom_call_target="%s" }'
    done = diff(folder, call % "a", call % "<script>alert(1)</script>", "--html")
    report("HTML is escaped", done.returncode == DIFFERENT and "<script" not in done.stdout and "&lt;script" in done.stdout, done)
    call_json = json.loads(diff(folder, call % "a", call % "b", "--json").stdout)
    report("a custom call's target", summary(call_json)["y"][0] == "changed", call_json)


def into_files(folder):
    """-o has what standard output would have, whole or not at all."""
    (folder / "a.hlo").write_text(PROGRAM)
    (folder / "b.hlo").write_text(PROGRAM.replace("sine(x)", "cosine(x)"))
    for options in ((), ("--html",), ("--json",), ("--brief",)):
        command = [INDIM, "diff", *options, folder / "a.hlo", folder / "b.hlo"]
        shown = subprocess.run(command, capture_output=True, text=True)
        done = subprocess.run([*command, "-o", folder / "out"], capture_output=True, text=True)
        same = (folder / "out").read_text() == shown.stdout and shown.stdout
        report(f"-o {options}", same and done.returncode == DIFFERENT and not done.stdout, done)
        done = subprocess.run([*command, "-o", folder / "none" / "out"], capture_output=True, text=True)
        told = json.loads(done.stdout)["ok"] is False if options == ("--json",) else not done.stdout
        report(f"-o {options} where nothing can be", done.returncode == TROUBLE and told and "cannot write" in done.stderr, done)


def wrong(folder):
    for arguments, why in (
        ((), "give two programs"),
        (("one.hlo",), "give two programs"),
        (("--json", "--html", "a", "b"), "one of --html and --json"),
        (("-", "-"), "standard input is one program"),
        ((folder / "missing.hlo", folder / "a.hlo"), "missing.hlo"),
        ((folder / "a.hlo", folder / "bad.hlo"), "error:"),
        ((folder / "a.hlo", folder / "wrong.hlo"), "error:"),
    ):
        (folder / "a.hlo").write_text(PROGRAM)
        (folder / "bad.hlo").write_text("ENTRY e { x = ")
        (folder / "wrong.hlo").write_text("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[3] negate(x) }")
        done = subprocess.run([INDIM, "diff", *map(str, arguments)], capture_output=True, text=True)
        report(f"{arguments}", done.returncode == TROUBLE and why in done.stderr and (not done.stdout or "--json" in arguments), done)
    done = subprocess.run([INDIM, "diff", "--json", folder / "a.hlo", folder / "bad.hlo"], capture_output=True, text=True)
    report("a refusal in JSON", done.returncode == TROUBLE and json.loads(done.stdout)["ok"] is False, done)


def large(folder):
    """20,000 instructions, and as many alike: a quadratic search would take minutes."""
    chooser = random.Random(1)
    lines = ["x.0 = f32[8] parameter(0)"]
    for i in range(1, 20000):
        a, b = (chooser.randint(max(0, i - 30), i - 1) for _ in range(2))
        lines.append(f"x.{i} = f32[8] {chooser.choice(['add', 'multiply', 'maximum'])}(x.{a}, x.{b})")
    lines[-1] = "ROOT " + lines[-1]
    one = "HloModule m\nENTRY e {\n" + "\n".join(lines) + "\n}\n"
    at = one.index("x.15000 = ")
    op = re.match(r"x.15000 = f32\[8\] (\w+)", one[at:])[1]
    other = one[:at] + one[at:].replace(f"] {op}(", "] subtract(", 1)
    other = re.sub(r"\bx\.(\d+)", r"renamed.\1", other)
    code, found = changes(folder, one, other)
    report("one of 20,000", code == DIFFERENT and summary(found) == {"x.15000": ("changed", "op")}, found["counts"])
    alike = "HloModule m\nENTRY e {\nx = f32[8] parameter(0)\n%s\nROOT t = f32[8] negate(a.7)\n}\n"
    twenty = alike % "\n".join(f"a.{i} = f32[8] add(x, x)" for i in range(20000))
    nineteen = alike % "\n".join(f"a.{i} = f32[8] add(x, x)" for i in range(19000))
    begin = time.monotonic()
    code, found = changes(folder, twenty, nineteen)
    counts = found["counts"]
    report("a thousand of 20,000 alike went", counts["gone"] == 1000 and counts["changed"] == counts["new"] == 0, counts)
    report("in time", time.monotonic() - begin < 60, time.monotonic() - begin)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    same(folder)
    edits(folder)
    ways_to_tell(folder)
    into_files(folder)
    wrong(folder)
    large(folder)
sys.exit(finish())
