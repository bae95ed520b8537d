#!/usr/bin/env python3
"""`indim run --profile`: its table, its JSON, and wrong input.

    INDIM_BIN=build/indim profile.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from _case import finish, interrupt, on_terminal, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])

LOOP = """HloModule m
body { p = (s32[], f32[8192]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[8192] get-tuple-element(p), index=1
  one = s32[] constant(1) j = s32[] add(i, one) r = f32[8192] reverse(x), dimensions={0} y = f32[8192] add(r, r)
  ROOT t = (s32[], f32[8192]) tuple(j, y) }
more { p = (s32[], f32[8192]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(10)
  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { v = f32[8192] parameter(0) s = f32[8192] sine(v) z = s32[] constant(0) t = (s32[], f32[8192]) tuple(z, s)
  w = (s32[], f32[8192]) while(t), condition=more, body=body ROOT k = f32[8192] get-tuple-element(w), index=1 }
"""
PRODUCT = """ENTRY e { x = f32[300,300] parameter(0) d = f32[300,300] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT a_name_that_is_much_longer_than_any_table_has_room_for_it_to_be_shown_whole = f32[300,300] tanh(d) }"""


def run(*arguments, **options):
    return subprocess.run([INDIM, "run", *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def wide(arguments, columns, **environment):
    """The exit code and what is written to a terminal so wide."""
    size = {"COLUMNS": str(columns), "TERM": "xterm", "LC_ALL": "C.UTF-8"}
    return on_terminal([INDIM, "run", *arguments], {**os.environ, **size, **environment})


def steps_of(done):
    return {step["name"]: step for step in json.loads(done.stdout)["profile"]["steps"]}


def a_loop(folder):
    p = folder / "loop.hlo"
    p.write_text(LOOP)
    done = run("--profile", "--repeat=3", "--json", p)
    report("a loop", done.returncode == 0 and not done.stderr, done)
    profile = json.loads(done.stdout)["profile"]
    steps = profile["steps"]
    report("steps are numbered", [step["step"] for step in steps] == list(range(len(steps))), steps)
    by_name = steps_of(done)
    report("runs in the loop", by_name["y"]["runs"] == 10 and by_name["s"]["runs"] == 1, steps)
    report("bytes of all runs", by_name["y"]["bytes_read"] == 10 * 32768 == by_name["y"]["bytes_written"], by_name["y"])
    report("operations", by_name["y"]["operations"] == 81920 and by_name["s"]["transcendentals"] == 8192, steps)
    report("rounds", profile["rounds"] == 3 and profile["threads"] == 1, profile)
    total = sum(step["seconds"] for step in steps) + profile["rest_seconds"]
    report("the parts are the whole", abs(total - profile["seconds"]) <= 1e-6 * profile["seconds"], (total, profile))
    report("no limits unless asked for", "bandwidth" not in profile and "of_flops" not in steps[0], profile)


def a_table(folder):
    p = folder / "product.hlo"
    p.write_text(PRODUCT)
    done = run("--profile", "--repeat=2", "--threads=2", p)
    lines = done.stdout.splitlines()
    report("a table", done.returncode == 0 and lines[0].split()[:4] == ["step", "what", "time", "runs"], done)
    report("a product is named", any("d (matmul)" in line and "%" in line for line in lines), done.stdout)
    report("no colour into a pipe", "\033" not in done.stdout and done.stdout.isascii() and "#" in done.stdout, done.stdout)
    report("the cost is told", "measuring costs" in done.stdout and "between steps" in done.stdout, done.stdout)
    code, text = wide(["--profile", "--repeat=2", p], 80)
    report("colour on a terminal", code == 0 and "\033[36m" in text and "\u2588" in text, text)
    code, text = wide(["--profile", "--repeat=2", p], 80, LC_ALL="C")
    report("no blocks without UTF-8", code == 0 and text.isascii() and "\033[36m#" in text, text)
    code, plain = wide(["--profile", "--repeat=2", p], 80, NO_COLOR="1")
    report("NO_COLOR", code == 0 and "\033" not in plain, plain)
    rows = [line for line in plain.splitlines() if "%  " in line or "(tanh)" in line or "(matmul)" in line]
    report("rows fit the terminal", rows and all(len(line) <= 80 for line in rows), rows)
    report("a long name is cut", ".. (tanh)" in plain, plain)
    done = run("--profile", "--repeat=1", "--limits", "--json", p)
    limits = json.loads(done.stdout)["profile"]
    report("limits", limits["bandwidth"] > 0 and limits["flops"] > 0 and limits["limits_type"] == "f32", limits)
    share = limits["steps"][0]
    measured = share["operations"] / share["seconds"] / limits["flops"]
    report("a share of the limit", abs(share["of_flops"] - measured) < 1e-6 * measured, share)


def results(folder):
    """With an output the results are those of a run without a profile; given arguments are taken."""
    p = folder / "donor.hlo"
    p.write_text(
        "HloModule m, input_output_alias={ {}: (0, {}) }\n"
        "ENTRY e { x = f32[3000] parameter(0) y = f32[3000] parameter(1) ROOT s = f32[3000] add(x, y) }"
    )
    x = np.arange(3000, dtype="float32")
    np.save(folder / "x.npy", x)
    dynamic = folder / "dynamic.hlo"
    dynamic.write_text("ENTRY e { x = f32[<=8192] parameter(0) y = f32[<=8192] sine(x) ROOT z = f32[<=8192] add(y, y) }")
    for arguments in ((), ("f32[<=8192](3) {1, 2, 3}",)):
        done = run("--profile", "--repeat=1", "--json", dynamic, *arguments)
        steps = json.loads(done.stdout)["profile"]["steps"] if done.returncode == 0 else []
        report(f"a dynamic dimension, {arguments}", any(step["name"] == "z" for step in steps), done)
    done = run("--profile", "--repeat=2", "-o", folder / "out.npy", p, folder / "x.npy", folder / "x.npy")
    report("results with -o", done.returncode == 0 and (np.load(folder / "out.npy") == 2 * x).all(), done)
    for text, what in (
        ("ENTRY e { x = (f64[50], (s4[3], pred[])) parameter(0) ROOT y = f64[50] get-tuple-element(x), index=0 }", "a tuple"),
        ("ENTRY e { x = c64[70] parameter(0) y = bf16[9000] parameter(1) n = bf16[9000] negate(y) ROOT t = tuple(x, n) }", "types"),
        ("ENTRY e { x = f32[0,5] parameter(0) ROOT y = f32[0,5] sine(x) }", "nothing"),
        ("ENTRY e { ROOT y = f32[] constant(1) }", "a constant"),
    ):
        (folder / "p.hlo").write_text(text)
        done = run("--profile", "--repeat=1", folder / "p.hlo")
        report(f"made-up arguments: {what}", done.returncode == 0 and "measuring costs" in done.stdout, done)


def wrong(folder):
    p = folder / "product.hlo"
    endless = folder / "endless.hlo"
    endless.write_text(
        "ENTRY e { i = s32[] constant(0) ROOT w = s32[] while(i), condition={ x = s32[] parameter(0) ROOT c = pred[] constant(true) },"
        " body={ x = s32[] parameter(0) o = s32[] constant(1) ROOT s = add(x, o) } }"
    )
    for arguments, code, why in (
        (["--profile", "--engine=eval", p], 2, "no steps"),
        (["--limits", p], 2, "--limits goes with --profile"),
        (["--profile", p, "1", "2"], 1, "takes 1 argument"),
        (["--profile", "--max-memory=1K", p], 4, "limit"),
        (["--profile", "-o", folder / "x.txt", p], 2, ".npy"),
        (["--profile", "--target=aarch64", p], 5, "aarch64"),
    ):
        done = run(*arguments)
        report(f"{arguments}", done.returncode == code and why in done.stderr and not done.stdout, done)
    done = run("--profile", "--json", "--max-memory=1K", p)
    report("a refusal in JSON", done.returncode == 4 and json.loads(done.stdout)["ok"] is False, done)
    process = subprocess.Popen([INDIM, "run", "--profile", endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    interrupt(process)
    said, why = process.communicate(timeout=120)
    report("Ctrl-C", process.returncode == 130 and "interrupted" in why and not said, (process.returncode, said, why))


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "p.hlo").write_text(PRODUCT)
    if subprocess.run([INDIM, "compile", folder / "p.hlo"], capture_output=True).returncode != 0:
        print("  this build has no code generator: what it does is not tested")
    else:
        a_loop(folder)
        a_table(folder)
        results(folder)
        wrong(folder)
sys.exit(finish())
