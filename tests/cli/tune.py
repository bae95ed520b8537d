"""indim tune: the choices it writes compile, change what they name and nothing else, and wrong ones are refused.

    INDIM_BIN=build/dev/indim python tests/cli/tune.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from _case import finish, interrupt, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])

# exp is needed twice; the product is one of the library's; the transposed sum is turned in registers.
PROGRAM = """ENTRY e {
  x = f32[128,128] parameter(0)
  h = f32[128,128] exponential(x)
  z = f32[] constant(0)
  s = f32[128] reduce(h, z), dimensions={1}, to_apply={ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }
  t = f32[128,128] broadcast(s), dimensions={0}
  n = f32[128,128] divide(h, t)
  d = f32[128,128] dot(n, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  p = f32[128,128] add(d, n)
  r = f32[128,128] transpose(p), dimensions={1,0}
  ROOT o = f32[128,128] add(r, n)
}"""
ENDLESS = """ENTRY e { i = s32[] constant(0) ROOT w = s32[] while(i), condition={ x = s32[] parameter(0) ROOT c = pred[] constant(true) },
  body={ x = s32[] parameter(0) o = s32[] constant(1) ROOT s = add(x, o) } }"""


def indim(*arguments, **options):
    return subprocess.run([INDIM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def taken(program, *options):
    """Which way was taken, by instruction and decision."""
    done = indim("compile", "--dump=choices", "--target=x86-64-v3", *options, program)
    rows = [line.split() for line in done.stdout.splitlines()]
    return {(name, decision): answer for name, decision, answer in rows}


def reading(folder, program):
    ways = taken(program)
    report("ways are told", {("h", "inline"), ("d", "library"), ("r", "inline")} <= set(ways), ways)
    flipped = folder / "flipped.choices"
    for key, answer in sorted(ways.items()):
        other = "no" if answer == "yes" else "yes"
        flipped.write_text(f"# the other way\n\n  {key[0]}\t{key[1]} {other}  # so\n")
        now = taken(program, f"--choices={flipped}")
        report(f"{key} the other way", now.get(key) == other, now)
    flipped.write_text("* inline no\n")
    now = taken(program, f"--choices={flipped}")
    report("left out of the whole", all(a == "no" for (_, d), a in now.items() if d == "inline"), now)


def results(folder, program):
    x = np.random.default_rng(1).standard_normal((128, 128), dtype=np.float32)
    np.save(folder / "x.npy", x)
    p = np.exp(x.astype(np.float64))
    n = p / p.sum(1, keepdims=True)
    wanted = (n @ x + n).T + n
    found = folder / "program.choices"
    done = indim("tune", "--seconds=3", "-o", found, program, folder / "x.npy")
    report("tune", done.returncode == 0 and "ways tried" in done.stderr and not done.stdout, done)
    report("the file says whose", found.read_text().startswith("# indim tune: ") and "program.hlo" in found.read_text(), found)
    for name, text in (("found", found.read_text()), ("all the other way", "\n".join(
        f"{k[0]} {k[1]} {'no' if a == 'yes' else 'yes'}" for k, a in taken(program).items()))):
        (folder / "some.choices").write_text(text)
        out = folder / "y.npy"
        done = indim("run", f"--choices={folder / 'some.choices'}", "-o", out, program, folder / "x.npy")
        worst = np.abs(np.load(out) - wanted).max() if done.returncode == 0 else np.inf
        report(f"results, {name}", worst < 1e-5, (done, worst))
    done = indim("tune", "--seconds=1", "--json", "--gain=1000", program)
    told = json.loads(done.stdout)
    is_same = told["before_ns"] == told["after_ns"]
    report("JSON", done.returncode == 0 and (told["choices"] == []) == is_same and 0 < told["after_ns"] <= told["before_ns"], done)
    report("all were tried, or a second was over", 0 < told["tried"] <= told["of"], told)
    done = indim("tune", "--seconds=1", "--gain=1", "--threads=2", program)
    report("threads", done.returncode == 0 and "2 threads" in done.stdout, done)


def wrong(folder, program):
    bad = folder / "bad.choices"
    for text, why in (
        ("h inline\n", "line 1: it ends too early"),
        ("\nh inline maybe", "line 2: neither yes nor no: 'maybe'"),
        ("h inlin yes", "there is no decision 'inlin'"),
        ("h reroll no", "not taken at single instructions: 'reroll'"),
        ("h inline no more", "not expected: 'more'"),
        ("h\x1b[31m inl\x1b[31mine no", "there is no decision"),
    ):
        bad.write_text(text)
        done = indim("run", f"--choices={bad}", program)
        report(repr(text), done.returncode in (1, 2) and ("takes 1 argument" in done.stderr or why in done.stderr), done)
        done = indim("compile", f"--choices={bad}", program)
        report(f"{text!r}, refused", done.returncode == 1 and why in done.stderr and "\x1b" not in done.stderr, done)
    bad.write_text("h inline no\nhh inline no\n")
    done = indim("compile", f"--choices={bad}", program)
    report("about nothing", done.returncode == 0 and "1 of 2 choices are about nothing" in done.stderr, done)
    bad.write_bytes(b"h inline\0 no")
    report("no text", "no text" in indim("compile", f"--choices={bad}", program).stderr, "")
    report("no file", indim("compile", f"--choices={folder / 'none'}", program).returncode == 3, "")
    done = indim("tune", folder / "none.hlo")
    report("no program", done.returncode == 3 and not done.stdout, done)
    done = indim("tune", "--target=aarch64", program)
    report("another machine", done.returncode == 5 and "aarch64" in done.stderr, done)
    done = indim("tune", "-o", folder / "no" / "such", "--seconds=1", program)
    report("nowhere to write", done.returncode == 3, done)
    endless = folder / "endless.hlo"
    endless.write_text(ENDLESS)
    process = subprocess.Popen([INDIM, "tune", endless], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    interrupt(process)
    said, why = process.communicate(timeout=120)
    report("Ctrl-C in the first run", process.returncode == 130 and "interrupted" in why and not said, (said, why))
    slow = folder / "slow.hlo"
    slow.write_text(PROGRAM.replace("128", "512"))
    process = subprocess.Popen([INDIM, "tune", "--seconds=1000", "--gain=1", slow, "-o", folder / "slow.choices"], stderr=subprocess.PIPE, text=True)
    interrupt(process)
    _, why = process.communicate(timeout=120)
    kept = (folder / "slow.choices").exists()
    report("Ctrl-C in the search", (process.returncode == 0 and kept) or (process.returncode == 130 and not kept), why)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    program = folder / "program.hlo"
    program.write_text(PROGRAM)
    if indim("compile", program).returncode != 0:
        print("  this build has no code generator: what it does is not tested")
    else:
        reading(folder, program)
        results(folder, program)
        wrong(folder, program)
sys.exit(finish())
