#!/usr/bin/env python3
"""The command line as a user meets it: every command, its output, and wrong input of every kind with its exit code.

    INDIM_BIN=build/indim commands.py

Every refusal must have its code, say what is wrong on standard error, and leave no file behind.
"""

import json
import os
import pathlib
import pty
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
from _case import finish, interrupt, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
OK, REFUSED, USAGE, FILE, LIMIT, UNSUPPORTED, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 5, 7, 130
COMMANDS = re.findall(r"^COMMAND\((\w+),", pathlib.Path("tools/indim/commands.def").read_text(), re.MULTILINE)
NEEDS_NONE = {"ops", "lsp"}  # commands that do something without arguments
# Sanitized builds need address space of their own.
SANITIZED = "build/asan" in INDIM or "build/tsan" in INDIM

ADD = "ENTRY e { x = f32[2,3] parameter(0) v = f32[3] parameter(1) b = f32[2,3] broadcast(v), dimensions={1} ROOT s = add(x, b) }"
LOOP = (
    "ENTRY e { i = s32[] constant(0) ROOT w = s32[] while(i), condition={ x = s32[] parameter(0) ROOT c = pred[] constant(true) },"
    " body={ x = s32[] parameter(0) o = s32[] constant(1) ROOT s = add(x, o) } }"
)


def run(*arguments, stdin=None, **options):
    return subprocess.run(
        [INDIM, *map(str, arguments)], input=stdin, capture_output=True, text=True, timeout=120, **options
    )


def run_into_full(*arguments):
    with open("/dev/full", "w") as full:
        done = subprocess.run([INDIM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    done.stdout = ""
    return done


def expect(what, done, code, out=None, err=None):
    problems = []
    if done.returncode != code:
        problems.append(f"exit code {done.returncode}, expected {code}")
    if out is not None and out not in done.stdout:
        problems.append(f"standard output {done.stdout!r} lacks {out!r}")
    if err is not None and err not in done.stderr:
        problems.append(f"standard error {done.stderr!r} lacks {err!r}")
    if code != OK and not done.stderr.strip():
        problems.append("nothing on standard error")
    if code == OK and done.stderr.strip() and err is None:
        problems.append(f"standard error: {done.stderr!r}")
    report(what, not problems, "; ".join(problems))
    return done


def program(folder, text, name="p.hlo"):
    path = folder / name
    path.write_text(text)
    return path


def help_texts():
    expect("no command", run(), USAGE, err="Usage")
    expect("unknown command", run("frobnicate"), USAGE, err="frobnicate")
    expect("help of an unknown command", run("help", "frobnicate"), USAGE, err="frobnicate")
    expect("help", run("help"), OK, out="Commands:")
    expect("version", run("--version"), OK, out="indim ")
    for command in COMMANDS:
        expect(f"{command} --help", run(command, "--help"), OK, out="Example")
        expect(f"help {command}", run("help", command), OK, out=f"Usage: indim {command}")
        expect(f"{command} --nonsense", run(command, "--nonsense"), USAGE, err="--nonsense")
    for command in (c for c in COMMANDS if c not in NEEDS_NONE):
        expect(f"{command} without arguments", run(command), USAGE, err=f"indim {command}:")


def documents():
    """The man page and the completions have every option that --help has."""
    page = pathlib.Path("tools/indim/indim.1").read_text().replace("\\-", "-")
    sections = re.split(r'\n\.BI "(\w+) "', page.split(".SH EXIT STATUS")[0])
    page = dict(zip(sections[1::2], sections[2::2]))
    zsh = pathlib.Path("tools/indim/completions/_indim").read_text()
    bash = pathlib.Path("tools/indim/completions/indim.bash").read_text()
    for command in COMMANDS:
        # Of the lines that tell of options the part before what they do, where other commands may be named.
        told = re.findall(r"^ +(-.*?)(?:  |$)", run(command, "--help").stdout.split("Example")[0], re.MULTILINE)
        wanted = set(re.findall(r"--[a-z-]+", " ".join(told))) - {"--help"}
        for what, text in (
            ("the man page", page[command]),
            ("zsh", re.search(rf"\n{command}\)(.*?);;", zsh, re.S)[1]),
            ("bash", re.search(rf"\n  {command}\)(.*?);;", bash, re.S)[1]),
        ):
            missing = sorted(option for option in wanted if not re.search(rf"{option}(?![a-z-])", text))
            report(f"{command} in {what}", not missing, missing)
    # The words that an option takes, where --help lists them.
    for text in (zsh, bash):
        formats = re.findall(r"^  ([\w-]+) {2,}.*\(\.\w+", run("convert", "--help").stdout, re.MULTILINE)
        report("formats of convert", len(formats) == 4 and all(re.search(rf"[=( ]{f}[ )]", text) for f in formats), formats)
    stages = re.search(r"--dump=STAGE.*?print stages:(.*?)loops:PASS", run("compile", "--help").stdout, re.S)[1]
    stages = re.findall(r"([a-z]+) \(", stages)
    listed = re.search(r"print a stage\]:stage:\((.*?)\)", zsh)[1].split()
    report("stages of compile", stages == listed and all(f".B {s}\n" in page["compile"] for s in stages), (stages, listed))


def json_refusals(folder):
    """With --json there is one JSON value on standard output whatever goes wrong."""
    p = program(folder, ADD)
    bad = folder / "bad.hlo"
    bad.write_bytes(b'ENTRY e { ROOT x = f32[] "\xff\x1b[31m"(0) }')
    (folder / "folder.npz").mkdir()
    one = program(folder, "ENTRY e { ROOT a = f32[2] constant({1, 2}) }", "one.hlo")
    for arguments, code, status in (
        (["run", "missing.hlo"], FILE, "IO"),
        (["run", p], REFUSED, "INVALID"),
        (["run", p, "1", "2"], REFUSED, "INVALID"),
        (["run", p, "missing.npy", "2"], FILE, "IO"),
        (["run", bad], REFUSED, "SYNTAX"),
        (["run", "-o", folder / "folder.npz", one], FILE, "IO"),
        (["explain", "-o", folder / "none" / "x", "f32[2]"], FILE, "IO"),
        (["compile", "--dump=graph", "-o", folder / "none" / "x", p], FILE, "IO"),
        (["run", "--max-memory=1", p], LIMIT, "LIMIT"),
        (["run"], USAGE, "INVALID"),
        (["compile", "missing.hlo"], FILE, "IO"),
        (["compile", bad], REFUSED, "SYNTAX"),
        (["compile", "--max-memory=1", p], LIMIT, "LIMIT"),
        (["compile", "--dump=nothing", p], USAGE, "INVALID"),
        (["ops", "frob"], USAGE, "INVALID"),
        (["print", p], USAGE, "INVALID"),
        (["check", "missing.hlo"], FILE, "IO"),
        (["check", bad], REFUSED, "SYNTAX"),
        (["broadcast", "f32[2", "f32[2]"], REFUSED, "SYNTAX"),
        (["shape", "f32["], REFUSED, "SYNTAX"),
        (["shape", "f32[1]{0:T(9223372036854775807)}"], REFUSED, "INVALID"),
    ):
        done = subprocess.run([INDIM, arguments[0], "--json", *map(str, arguments[1:])], capture_output=True, timeout=120)
        value = json.loads(done.stdout.decode())
        value = value[0] if arguments[0] == "check" else value
        ok = done.returncode == code and value["ok"] is False and value["errors"][0]["status"] == status
        report(f"--json {' '.join(map(str, arguments))}", ok and done.stderr, (done, value))
    (folder / "folder.npz").rmdir()


def outputs(folder):
    """An output replaces a file, also through a link, and nothing else."""
    p = program(folder, "ENTRY e { ROOT a = f32[2] constant({1, 2}) }", "one.hlo")
    for end in ("npy", "npz"):
        real, link, pipe = (folder / f"{name}.{end}" for name in ("real", "link", "pipe"))
        real.write_bytes(b"old")
        link.symlink_to(real)
        expect(f"a link, {end}", run("run", "--engine=eval", "-o", link, p), OK)
        report(f"the link stays, {end}", link.is_symlink() and real.stat().st_size > 100, real.stat())
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        done = run("run", "--engine=eval", "-o", pipe, p)
        report(f"a pipe, {end}", done.returncode == (OK if end == "npy" else FILE) and pipe.is_fifo(), done)
        os.close(reader)
    was_link = os.path.islink("/dev/stdout")
    with open(folder / "printed", "w") as file:
        code = subprocess.run([INDIM, "print", "-o", "/dev/stdout", p], stdout=file, timeout=60).returncode
    printed = (folder / "printed").read_text() == run("print", p).stdout
    report("-o /dev/stdout", code == OK and printed and os.path.islink("/dev/stdout") == was_link, code)
    token = program(folder, "ENTRY e { ROOT t = token[] after-all() }", "token.hlo")
    expect("a token into .npy", run("run", "-o", folder / "no.npy", token), USAGE, err="holds one array")
    (folder / "kept.npz").write_bytes(b"old")
    expect("a token into .npz", run("run", "--engine=eval", "-o", folder / "kept.npz", token), FILE, err="no array")
    report("the file is kept", (folder / "kept.npz").read_bytes() == b"old", "")


def running(folder):
    p = program(folder, ADD)
    x, v = "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3] {7, 8, 9}"
    expect("run", run("run", p, x, v), OK, out="f32[2,3] {\n  { 8, 10, 12 },\n  { 11, 13, 15 }\n}")
    expect("bare values", run("run", p, "{{1,2,3},{4,5,6}}", "{7,8,9}"), OK, out="{ 8, 10, 12 }")
    expect("from standard input", run("run", "-", x, v, stdin=ADD), OK, out="{ 8, 10, 12 }")
    np.save(folder / "x.npy", np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    np.save(folder / "f.npy", np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], np.float32)))
    np.save(folder / "v.npy", np.array([7, 8, 9], np.float32))
    out = folder / "out.npy"
    for name in ("x.npy", "f.npy"):
        expect(f"-o .npy from {name}", run("run", "-o", out, p, folder / name, folder / "v.npy"), OK)
        got = np.load(out)
        report("the .npy", got.dtype == np.float32 and got.tolist() == [[8, 10, 12], [11, 13, 15]], got)
    t = program(
        folder,
        "ENTRY e { a = f32[2] constant({1, nan}) b = pred[] constant(true) c = c64[1] constant({(1, -inf)}) "
        "u = u64[] constant(18446744073709551615) h = bf16[2] constant({1, 2}) i = s4[3] constant({-8, 0, 7}) "
        "n = tuple(b, c) ROOT t = tuple(a, n, u, h, i) }",
        "t.hlo",
    )
    done = expect("--json", run("run", "--json", t), OK)
    got = {r["path"]: (r["shape"], r["data"]) for r in json.loads(done.stdout)["results"]}
    wanted = {
        "0": ("f32[2]{0}", [1, "nan"]),
        "1.0": ("pred[]", True),
        "1.1": ("c64[1]{0}", [[1, "-inf"]]),
        "2": ("u64[]", 18446744073709551615),
        "3": ("bf16[2]{0}", [1, 2]),
        "4": ("s4[3]{0}", [-8, 0, 7]),
    }
    report("the JSON", got == wanted, got)
    expect("-o .npz", run("run", "-o", folder / "t.npz", t), OK)
    with np.load(folder / "t.npz") as leaves:
        report("the .npz", sorted(leaves.files) == ["0", "1.0", "1.1", "2", "3", "4"], leaves.files)
        report("its u64", leaves["2"] == np.uint64(18446744073709551615), leaves["2"])
        import ml_dtypes

        report("its bf16", leaves["3"].view(ml_dtypes.bfloat16).tolist() == [1, 2], leaves["3"])
    one = program(folder, "ENTRY e { ROOT a = f32[2] constant({1, 2}) }", "one.hlo")
    expect("-o .npz of an array", run("run", "-o", folder / "one.npz", one), OK)
    with np.load(folder / "one.npz") as leaves:
        report("a lone array is 0", leaves.files == ["0"], leaves.files)
    expect("a tuple into .npy", run("run", "-o", folder / "no.npy", t), USAGE, err=".npz")
    expect("an unknown output", run("run", "-o", folder / "no.txt", one), USAGE, err=".npy")
    report("no file for a refused output", not (folder / "no.npy").exists() and not (folder / "no.txt").exists(), "")


# What the evaluator runs and the compiler does not: random numbers in a called computation.
DRAWN = (
    "draw { a = f32[] constant(0) b = f32[] constant(1) ROOT f = f32[4] rng(a, b), distribution=rng_uniform }\n"
    "ENTRY e { x = f32[4] parameter(0) d = f32[4] call(), to_apply=draw ROOT y = f32[4] add(x, d) }"
)
ROWS = """func.func @main(%x: tensor<?x2xf32, #stablehlo.bounds<6, ?>>, %n: tensor<2xi32>) -> tensor<?x4xf32, #stablehlo.bounds<3, ?>> {
  %y = stablehlo.add %x, %x : tensor<?x2xf32, #stablehlo.bounds<6, ?>>
  %z = stablehlo.dynamic_reshape %y, %n : (tensor<?x2xf32, #stablehlo.bounds<6, ?>>, tensor<2xi32>) -> tensor<?x4xf32, #stablehlo.bounds<3, ?>>
  return %z : tensor<?x4xf32, #stablehlo.bounds<3, ?>>
}
"""
RESIZED = "ENTRY e { x = f32[4] parameter(0) n = s32[] parameter(1) ROOT f = f32[<=4] set-dimension-size(x, n), dimensions={0} }"
# Large enough for several threads: a product, an elementwise step and a sum, of numbers that round.
LARGE = (
    "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = add(a, b) }\n"
    "ENTRY e { x = f32[300,300] parameter(0) d = f32[300,300] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    " t = tanh(d) z = f32[] constant(0) s = f32[300] reduce(t, z), dimensions={0}, to_apply=add ROOT r = tuple(t, s) }"
)


def compiles(folder):
    """Whether this build has a code generator."""
    return run("compile", program(folder, ADD)).returncode == OK


def default_threads(p, x, v):
    """--threads=auto: what the environment says, else the processors that the process may run on."""
    processors = sorted(os.sched_getaffinity(0))
    unset = {name: value for name, value in os.environ.items() if name != "INDIM_NUM_THREADS"}

    def threads(said, allowed):
        environment = unset if said is None else {**unset, "INDIM_NUM_THREADS": said}
        done = run(
            *("run", "--threads=auto", "--json", p, x, v),
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        )
        return json.loads(done.stdout)["threads"] if done.returncode == OK else done

    report("--threads=auto on one processor", threads(None, processors[:1]) == 1, "")
    usual = threads(None, processors)  # a quota may give fewer than there are
    report("--threads=auto", 1 <= usual <= len(processors), usual)
    report("INDIM_NUM_THREADS", threads("3", processors[:1]) == 3, threads("3", processors[:1]))
    for said in ("0", "-1", "two", "3 ", "", "1025", "18446744073709551617"):
        report(f"INDIM_NUM_THREADS={said!r} is ignored", threads(said, processors) == usual, threads(said, processors))
    got = json.loads(run("run", "--threads=2", "--json", p, x, v).stdout)
    report("--threads=2 --json", got["threads"] == 2, got)


def engines(folder):
    p = program(folder, ADD)
    x, v = "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3] {7, 8, 9}"
    native = compiles(folder)
    for engine in ("eval", "auto") + (("native",) if native else ()):
        done = run("run", f"--engine={engine}", p, x, v)
        report(f"--engine={engine}", done.returncode == OK and "{ 8, 10, 12 }" in done.stdout, done)
    for engine, said in (("eval", "eval"), ("auto", "native" if native else "eval")):
        got = json.loads(run("run", f"--engine={engine}", "--json", p, x, v).stdout)
        report(f"the engine of {engine}", got["engine"] == said and "time_ns" not in got, got)
    drawn = program(folder, DRAWN, "drawn.hlo")
    resized = program(folder, RESIZED, "resized.hlo")
    if native:
        done = run("run", drawn, "{1,2,3,4}")
        first = done.stderr.splitlines()[0]
        ok = done.returncode == OK and "left to the evaluator" in first and "drawn.hlo:1:" in first
        report("a fallback is told with its place", ok and "f (rng)" in first, done)
        expect("--engine=native", run("run", "--engine=native", drawn, "{1,2,3,4}"), UNSUPPORTED, err="f (rng)")
        rows = program(folder, ROWS, "rows.mlir")
        for engine in ("native", "eval"):
            expect(f"bounds of StableHLO, {engine}", run("run", f"--engine={engine}", rows, "f32[<=6,2](4,2) {{1,2},{3,4},{5,6},{7,8}}", "{2,4}"), OK, out="f32[<=3,4](2,4) {")
            expect(f"sizes that do not fit, {engine}", run("run", f"--engine={engine}", rows, "f32[<=6,2](3,2) {{1,2},{3,4},{5,6}}", "{2,4}"), REFUSED, err="the sizes hold 8 elements, and operand 0 has 6")
        expect("sizes", run("run", "--engine=native", resized, "{1,2,3,4}", "3"), OK, out="f32[<=4](3) {1, 2, 3}")
        expect("a size that is none", run("run", "--engine=native", resized, "{1,2,3,4}", "5"), REFUSED, err="f (set-dimension-size): the size of dimension 0 is 5, expected 0 to 4")
    for engine in ("eval", "auto"):
        done = run("run", f"--engine={engine}", "--json", "--repeat=5", p, x, v)
        times = json.loads(done.stdout)["time_ns"]
        ok = 0 < times["min"] <= times["median"] < 10**9
        ok = ok and (times["compile"] > 0) == (native and engine == "auto")
        falls_back = engine == "auto" and not native
        report(f"--repeat --json, {engine}", ok and falls_back == bool(done.stderr), (times, done.stderr))
    expect("--repeat", run("run", "--engine=eval", "--repeat=3", p, x, v), OK, out="{ 8, 10, 12 }", err="3 runs: median")
    large = program(folder, LARGE, "large.hlo")
    np.save(folder / "square.npy", (np.arange(90000, dtype=np.float32).reshape(300, 300) % 17 - 8) / 31)
    outputs = []
    for threads in (1, 2, 3, 7):
        done = run("run", f"--threads={threads}", "-o", folder / "many.npz", large, folder / "square.npy")
        report(f"--threads={threads}", done.returncode == OK, done)
        with np.load(folder / "many.npz") as leaves:
            outputs.append(b"".join(leaves[name].tobytes() for name in sorted(leaves.files)))
    report("the same bits for any number of threads", len(set(outputs)) == 1 and len(outputs[0]) == 361200, "")
    if native:
        default_threads(p, x, v)
    for names in ("contract", "reassociate,reciprocal", "contract,contract", "flush"):
        done = run("run", f"--fast={names}", p, x, v)
        report(f"--fast={names}", done.returncode == OK and "{ 8, 10, 12 }" in done.stdout, done)
    for option in (
        ["--fast=sloppy"],
        ["--fast="],
        ["--fast=contract,"],
        ["--threads=0"],
        ["--threads=-1"],
        ["--threads=two"],
        ["--threads=auto2"],
        ["--engine=eval", "--threads=auto"],
        ["--threads=5000"],
        ["--repeat=0"],
        ["--repeat=1000000000"],
        ["--repeat"],
        ["--engine=native", "--max-steps=5"],
        ["--engine=eval", "--threads=2"],
        ["--engine=eval", "--fast=contract"],
        ["--engine=eval", "--target=native"],
        ["--target=z80"],
        ["--crash-from=0"],
        ["--max-steps=10", "--threads=2"],
    ):
        # |--repeat| swallows the program, so that there is none.
        expect(f"refused: {' '.join(option)}", run("run", *option, p, x, v), USAGE, err="indim run:")


def targets(folder):
    p = program(folder, ADD)
    x, v = "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3] {7, 8, 9}"
    names = [line.split()[0] for line in run("compile", "--target=help").stdout.splitlines()]
    report("--target=help", names[:2] == ["native", "x86-64-v2"] and "riscv64" in names, names)
    report("run --target=help", run("run", "--target=help").stdout.split()[0] == "native", "")
    report("run --without=help", run("run", "--without=help").stdout == run("compile", "--without=help").stdout, "")
    expect("a misspelt decision", run("view", "--without=nothing", p), USAGE, err="--without=help lists")
    expect("--without of the evaluator", run("run", "--engine=eval", "--without=slp", p), USAGE, err="--choices go with")
    expect("a misspelt target", run("compile", "--target=x86-64-v5", p), USAGE, err="did you mean")
    if not compiles(folder):
        return
    ran = []
    for name in names:
        got = json.loads(run("compile", f"--target={name}", "--json", p).stdout)
        ok = got["target"] == name and got["vector_bytes"] >= 16 and got["code_bytes"] > 0
        done = run("run", f"--target={name}", p, x, v)
        if "missing" in got:
            ok = ok and done.returncode == UNSUPPORTED and f"lacks {got['missing']}" in done.stderr
        else:
            ran.append(name)
            ok = ok and done.returncode == OK and "{ 8, 10, 12 }" in done.stdout and not done.stderr
        report(f"--target={name}", ok, (got, done))
    report("some targets run and some do not", ran[0] == "native" and len(ran) < len(names), ran)
    # LLVM crashes: told with the instruction, and got over by narrower vectors, at last by the evaluator.
    lossy = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}  # what LLVM held is lost, as it has to be
    done = run("run", "--crash-from=16", p, x, v, env=lossy)
    ok = done.returncode == OK and "{ 8, 10, 12 }" in done.stdout and "it crashed (SIGSEGV" in done.stderr
    report("a crash of LLVM", ok and f"{p}:" in done.stderr and "next to no vectors are used instead" in done.stderr, done)
    done = run("run", "--crash-from=1", p, x, v, env=lossy)
    ok = done.returncode == OK and "{ 8, 10, 12 }" in done.stdout and "left to the evaluator" in done.stderr
    report("crashes of LLVM at every width", ok, done)
    expect("--engine=native", run("run", "--engine=native", "--crash-from=1", p, x, v, env=lossy), INTERNAL, err="--engine=eval")
    expect("compile", run("compile", "--crash-from=1", p, env=lossy), INTERNAL, err="it crashed (SIGSEGV")
    got = json.loads(run("compile", "--crash-from=16", "--json", "--explain", p, env=lossy).stdout)
    report("compile --explain of a crash", got["vector_bytes"] == 8 and "it crashed" in got["explain"], got)


def objects(folder):
    """indim compile -o FILE.o: what is wrong with its options, and that files appear whole or not at all."""
    p = program(folder, ADD)
    o = folder / "add.o"
    vector = folder / "three.npy"
    np.save(vector, np.ones(3, np.float32))
    np.save(folder / "four.npy", np.ones(4, np.float32))
    np.save(folder / "doubles.npy", np.ones(3))
    expect("--emit of a word", run("compile", "--emit=objekt", p), USAGE, err="did you mean object?")
    expect("an object nowhere", run("compile", "--emit=object", p), USAGE, err="-o FILE")
    expect("an object and a dump", run("compile", "-o", o, "--header", folder / "a.h", "--dump=loops", p), USAGE, err="another call")
    for list in ("weights.npy", "1", "1:", ":three.npy", "x:three.npy", "-1:three.npy"):
        expect(f"--static-arguments={list}", run("compile", "-o", o, f"--static-arguments={list}", p), USAGE, err="NUMBER:FILE.npy")
    if not compiles(folder):
        return
    for name in ("2nd", "a-b", "a b", "", "a" * 300):
        expect(f"--name={name}", run("compile", "-o", o, f"--name={name}", p), REFUSED, err="no identifier of C")
    expect("a static argument that is none", run("compile", "-o", o, f"--static-arguments=2:{vector}", p), REFUSED, err="there is no parameter 2, the program has 2")
    expect("one of another shape", run("compile", "-o", o, f"--static-arguments=1:{folder / 'four.npy'}", p), REFUSED, err="its static value is f32[4], parameter 1 is f32[3]")
    expect("one of another type", run("compile", "-o", o, f"--static-arguments=1:{folder / 'doubles.npy'}", p), REFUSED, err="f64[3]")
    expect("one given twice", run("compile", "-o", o, f"--static-arguments=1:{vector},1:{vector}", p), REFUSED, err="two static values")
    expect("one whose file is missing", run("compile", "-o", o, "--static-arguments=1:no.npy", p), FILE, err="no.npy")
    expect("another processor's triple", run("compile", "-o", o, "--target=aarch64", "--triple=x86_64-pc-linux-gnu", p), REFUSED, err="another processor")
    for triple in ("x86_64-linux-gnux32", "sparc-sun-solaris", "aarch64_be-linux-gnu", "x86_64"):
        expect(f"--triple={triple}", run("compile", "-o", o, f"--triple={triple}", "--target=x86-64-v2", p), REFUSED, err="another processor")
    expect("a library for Mach-O", run("compile", "-o", folder / "m.a", "--target=aarch64", "--triple=arm64-apple-macosx", p), UNSUPPORTED, err="libtool")
    expect("a shared library for Windows", run("compile", "-o", folder / "m.dll", "--target=x86-64-v2", "--triple=x86_64-pc-windows-msvc", p), UNSUPPORTED, err="that system's tools")
    expect("into a missing folder", run("compile", "-o", folder / "no" / "a.o", p), FILE, err="a.o")
    expect("a header into a missing folder", run("compile", "-o", o, "--header", folder / "no" / "a.h", p), FILE, err="a.h")
    expect("a shared library into a missing folder", run("compile", "-o", folder / "no" / "a.so", p), FILE, err="a.so")
    nothing = {**os.environ, "PATH": str(folder), "CC": ""}
    expect("a shared library without a linker", run("compile", "-o", folder / "a.so", p, env=nothing), UNSUPPORTED, err="ld.lld is there")
    expect("a linker that fails", run("compile", "-o", folder / "a.so", p, env={**os.environ, "CC": "false"}), FILE, err="exit code 1")
    report("nothing is left of these", not [f for f in folder.iterdir() if f.name.startswith("a.so")], os.listdir(folder))
    if not SANITIZED:
        real, link, pipe = folder / "real.so", folder / "link.so", folder / "pipe.so"
        real.write_bytes(b"old")
        link.symlink_to(real)
        expect("a shared library through a link", run("compile", "-o", link, p), OK)
        report("the link stays", link.is_symlink() and real.stat().st_size > 1000 and os.access(real, os.X_OK), real.stat())
        os.mkfifo(pipe)
        expect("a shared library into a pipe", run("compile", "-o", pipe, p), FILE, err="needs a regular file")
        report("the pipe stays", pipe.is_fifo(), "")
        real.unlink(), link.unlink(), pipe.unlink()
    expect("a header into the object's file", run("compile", "-o", o, "--header", o, p), USAGE, err="give it another file")
    fft = program(folder, "ENTRY e { x = c64[8] parameter(0) ROOT y = c64[8] fft(x), fft_type=FFT, fft_length={8} }", "fft.hlo")
    factor = program(folder, "ENTRY e { x = f32[99,99] parameter(0) ROOT y = f32[99,99] cholesky(x), lower=true }", "factor.hlo")
    expect("what is not self-contained", run("compile", "-o", o, "--self-contained", factor), UNSUPPORTED, err="y (cholesky): it asks the host for lapack")
    done = expect("what needs a host", run("compile", "-o", o, fft), OK, err="fft_run needs fft of its host, for y (fft)")
    done = expect("an object", run("compile", "-o", o, "--header", folder / "add.h", "--name=sum", p), OK, out="add.o: sum_run for ")
    report("its header", "int sum_run(" in (folder / "add.h").read_text(), "")
    facts = json.loads(expect("an object, --json", run("compile", "-o", o, "--emit=object", "--json", fft), OK).stdout)
    report("its facts", facts["symbol"] == "fft_run" and facts["object_bytes"] == o.stat().st_size and facts["needs"] == [{"service": "fft", "instruction": "y (fft)"}], facts)
    done = expect("assembly to standard output", run("compile", "--emit=asm", p), OK, out="_run:")
    report("and nothing else", "bytes of code" not in done.stdout, done.stdout[-200:])
    expect("the header alone", run("compile", "--header", "/dev/stdout", "-", "--name=q", stdin=ADD), OK, out="struct q_arguments {")
    expect("an object from standard input", run("compile", "-", "-o", o, stdin=ADD), OK, out="_run for")


def compiling(folder):
    p = program(folder, ADD)
    expect("compile, graph alone", run("compile", "--dump=nothing", p), USAGE, err="graph, plan, loops, llvm, asm, report and choices")
    expect("compile, two files", run("compile", p, p), USAGE, err="one file")
    expect("compile, no such file", run("compile", "missing.hlo"), FILE, err="missing.hlo")
    expect("compile, a wrong program", run("compile", program(folder, "ENTRY e {", "cut.hlo")), REFUSED, err="cut.hlo:1:")
    expect("compile --fast", run("compile", "--fast=lazy", p), USAGE, err="lazy")
    expect("compile --without", run("compile", "--without=inline,inlinex", p), USAGE, err="'inlinex'")
    done = expect("compile --without=help", run("compile", "--without=help"), OK, out="inline ")
    told = [tuple(line.split(maxsplit=1)) for line in done.stdout.splitlines()]
    page = pathlib.Path("docs/architecture.md").read_text()
    section = page.split("## Decisions that can be left out")[1].split("\n## ")[0]
    report("docs/architecture.md has its lines", re.findall(r"\| `([\w-]+)` \| (.*) \|", section) == told, told)
    expect("compile --max-memory", run("compile", "--max-memory=0", p), USAGE, err="positive")
    expect("compile --dump=help", run("compile", "--dump=help"), OK, out="unroll ")
    expect("loops after no pass", run("compile", "--dump=loops:unrol", p), USAGE, err="no pass 'unrol'")
    if not compiles(folder):
        print("  this build has no code generator: what it does is not tested")
        return
    expect("compile", run("compile", p), OK, out="bytes of code")
    expect("compile from standard input", run("compile", "-", stdin=ADD), OK, out="compiled in")
    for stage, word in {"graph": "ROOT s =", "loops": "store s[", "llvm": "define i32", "asm": "ret"}.items():
        done = expect(f"--dump={stage}", run("compile", f"--dump={stage}", p), OK, out=word)
        report(f"--dump={stage} alone", "====" not in done.stdout, done.stdout)
    powers = program(folder, "ENTRY e { x = c64[91] parameter(0) ROOT y = c64[91] power(x, x) }", "powers.hlo")
    done = expect("powers of many registers", run("compile", "--dump=llvm", powers), OK)
    report("call one function", re.search(r"call \{ <\d+ x float>, <\d+ x float> \} @function\(", done.stdout) is not None, done.stdout[:500])
    done = expect("two stages", run("compile", "--dump=asm,graph", "--time", "--explain", p), OK)
    order = [line[5:] for line in done.stdout.splitlines() if line.startswith("==== ")]
    report("their order", order == ["graph", "asm", "explain", "time"], order)
    done = expect("--time", run("compile", "--time", p), OK)
    names = [line.split()[0] for line in done.stdout.splitlines()]
    report("the stages", names == "parse verify load lower emit code total".split(), names)
    facts = json.loads(expect("compile --json", run("compile", "--json", "--dump=loops", "--explain", p), OK).stdout)
    report("its facts", facts["ok"] and facts["code_bytes"] > 0 and "store" in facts["loops"] and facts["explain"], facts)
    report("its arguments", [a["bytes"] for a in facts["arguments"]] == [24, 12], facts["arguments"])
    report("its result", facts["results"] == [{"shape": "f32[2,3]{1,0}", "bytes": 24, "alignment": 4}], facts["results"])
    report("its times", facts["time_ns"]["total"] >= facts["time_ns"]["code"] > 0, facts["time_ns"])
    expect("compile -o", run("compile", "-o", folder / "asm.out", "--dump=asm", p), OK)
    report("it is written there", "ret" in (folder / "asm.out").read_text(), "")
    expect("compile -o into a missing folder", run("compile", "-o", folder / "no" / "a", p), FILE, err="a")
    resized = program(folder, RESIZED, "resized.hlo")
    facts = json.loads(run("compile", "--json", resized).stdout)
    report("sizes are leaves", [[a["shape"] for a in facts[k]] for k in ("arguments", "results")] == [["f32[4]{0}", "s32[]"]] * 2, facts)
    drawn = program(folder, DRAWN, "drawn.hlo")
    expect("compile what does not compile", run("compile", drawn), UNSUPPORTED, err="drawn.hlo:1:")
    done = expect("its graph is shown", run("compile", "--dump=graph,asm", drawn), UNSUPPORTED, out="rng(", err="f (rng)")
    facts = json.loads(run("compile", "--json", drawn).stdout)
    report("compile --json, refused", facts["ok"] is False and "code_bytes" not in facts, facts)
    ops = "".join(f" x{i + 1} = {'add' if i % 2 else 'multiply'}(x{i}, y)" for i in range(5000))
    chain = program(folder, f"ENTRY e {{ x0 = f32[] parameter(0) y = f32[] parameter(1){ops} ROOT r = negate(x5000) }}", "long.hlo")
    expect("memory that LLVM would take", run("compile", "--max-memory=16M", chain), LIMIT, err="compiling 5")
    expect("compile, small memory", run("compile", "--max-memory=10K", p), LIMIT, err="--max-memory")
    expect("memory that LLVM takes and may", run("compile", "--max-memory=40M", chain), OK)
    big = program(folder, "ENTRY e { x = f32[1000000] parameter(0) ROOT r = f32[1000000] negate(x) }", "big.hlo")
    np.save(folder / "big.npy", np.zeros(1000000, np.float32))
    expect("a result beyond the limit", run("run", "--max-memory=6M", big, folder / "big.npy"), LIMIT, err="--max-memory")


def without_generator(folder):
    """libindim alone: programs are evaluated, and whoever insists on compiling is told what to install."""
    alone = folder / "alone"
    alone.mkdir()
    libraries = [line.split()[2] for line in subprocess.run(["ldd", INDIM], capture_output=True, text=True).stdout.splitlines() if "libindim" in line]
    if not libraries:
        print("  the command line has the library inside: what happens without its generator is not tested")
        return
    shutil.copy(libraries[0], alone)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(alone)}
    p = program(folder, ADD)
    x, v = "{{1,2,3},{4,5,6}}", "{7,8,9}"
    generator = alone / "libindim-llvm.so"
    for what, data, why in (
        ("is not there", None, "libindim-llvm"),
        ("is garbage", b"no library", "libindim-llvm"),
        ("is another library", pathlib.Path(libraries[0]).read_bytes(), "version"),
    ):
        if data is not None:
            generator.write_bytes(data)
        done = run("run", p, x, v, env=environment)
        told = "left to the evaluator" in done.stderr and why in done.stderr and done.stderr.count("\n") == 1
        report(f"the generator {what}", done.returncode == OK and told and "{ 8, 10, 12 }" in done.stdout, done)
        expect(f"native, and it {what}", run("run", "--engine=native", p, x, v, env=environment), UNSUPPORTED, err="hint:")
        expect(f"compile, and it {what}", run("compile", p, env=environment), UNSUPPORTED, err=why)
        expect(f"eval, and it {what}", run("run", "--engine=eval", p, x, v, env=environment), OK, out="{ 8, 10, 12 }")
    shutil.rmtree(alone)


def wrong_arguments(folder):
    p = program(folder, ADD)
    x, v = "f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3] {7, 8, 9}"
    expect("too few", run("run", p, x), REFUSED, err="takes 2 arguments, 1 is given")
    expect("too many", run("run", p, x, v, v), REFUSED, err="takes 2 arguments, 3 are given")
    expect("wrong shape", run("run", p, x, "f32[2] {1,2}"), REFUSED, err="argument 1 is f32[2], parameter v is f32[3]")
    expect("wrong type", run("run", p, x, "s32[3] {1,2,3}"), REFUSED, err="convert the argument to f32")
    expect("bad literal", run("run", p, x, "f32[3] {1,2"), REFUSED, err="in argument 1")
    expect("no such file", run("run", p, x, "missing.npy"), FILE, err="missing.npy")
    expect("no such file, without .npy", run("run", p, x, "missing"), REFUSED, err="'missing' is no file")
    expect("no such program", run("run", "missing.hlo"), FILE, err="missing.hlo")
    expect("a folder", run("check", folder), FILE, err=str(folder))
    expect("engine", run("run", "--engine=magic", p, x, v), USAGE, err="magic")
    good = (folder / "v.npy").read_bytes()
    for name, data in {
        "empty": b"",
        "no magic": b"hello world, this is no array",
        "header cut": good[:20],
        "data cut": good[:-3],
        "too long": good + b"1234",
        "version": good[:6] + b"\x09\x00" + good[8:],
        "no dict": good[:10] + b"[" + good[11:],
        "dtype": good.replace(b"'<f4'", b"'<U4'"),
        "object": good.replace(b"'<f4'", b"'|O' "),
        "shape": good.replace(b"(3,)", b"(4,)"),
        "negative": good.replace(b"(3,)", b"(-3)"),
        "huge": good.replace(b"(3,), ", b"(9223372036854775807,9,), ")[: len(good)],
    }.items():
        (folder / "bad.npy").write_bytes(data)
        done = run("run", p, x, folder / "bad.npy")
        report(f"npy, {name}", done.returncode in (REFUSED, UNSUPPORTED, LIMIT, 6) and "bad.npy" in done.stderr, done)
    expect("f64 file", run("run", p, x, save(folder, np.zeros(3))), REFUSED, err="f64[3]")


def save(folder, array):
    np.save(folder / "saved.npy", array)
    return folder / "saved.npy"


def limits(folder):
    loop = program(folder, LOOP, "loop.hlo")
    expect("--max-steps", run("run", "--max-steps=10000", loop), LIMIT, err="--max-steps")
    big = program(folder, "ENTRY e { z = f32[] constant(0) ROOT b = f32[1000000,1000] broadcast(z), dimensions={} }", "big.hlo")
    expect("--max-memory", run("run", "--max-memory=100M", big), LIMIT, err="--max-memory")
    expect("bad number", run("run", "--max-memory=lots", big), USAGE, err="lots")
    huge = program(folder, "ENTRY e { z = f32[] constant(0) ROOT b = f32[4000000000,4000000000] broadcast(z), dimensions={} }", "h.hlo")
    expect("overflowing size", run("run", huge), REFUSED, err="overflow")
    many = ",".join(["1"] * 65)
    expect("rank 65", run("shape", f"f32[{many}]"), LIMIT, err="64")
    for engine in ("auto", "eval"):
        command = [INDIM, "run", f"--engine={engine}", str(loop)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        interrupt(process)
        out, err = process.communicate(timeout=60)
        report(f"Ctrl-C, {engine}", process.returncode == INTERRUPTED and "interrupted" in err, (process.returncode, err))
    ours, theirs = os.openpty()
    process = subprocess.Popen([INDIM, "run", "--engine=eval", str(loop)], stdout=subprocess.DEVNULL, stderr=theirs)
    shown = ""
    while ", 2 s" not in shown and process.poll() is None:
        shown += os.read(ours, 4096).decode()
    interrupt(process)
    code = process.wait(timeout=60)
    os.close(ours), os.close(theirs)
    report("progress on a terminal", code == INTERRUPTED and "evaluating, 2 s (Ctrl-C stops)" in shown, (code, shown))
    if not SANITIZED:
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
        expect("no memory", run("run", big, preexec_fn=limit), 6, err="out of memory")
    elided = program(folder, "ENTRY e { ROOT c = f32[100] constant({...}) }", "elided.hlo")
    expect("elided constant", run("run", elided), REFUSED, err="left out")
    expect("it prints back", run("print", elided), OK, out="constant({...})")
    recv = program(folder, "ENTRY e { t = token[] after-all() ROOT i = (f32[2], token[]) infeed(t) }", "infeed.hlo")
    expect("an op that does not run", run("run", recv), UNSUPPORTED, err="infeed")


def deep(folder):
    depth = 100_000
    texts = {
        "parentheses": "(" * depth,
        "braces": "ENTRY e " + "{" * depth,
        "tuple shape": "ENTRY e { p = " + "(" * depth + "f32[]" + ")" * depth + " parameter(0) }",
        "operands": "ENTRY e { x = f32[] parameter(0) ROOT y = f32[] " + "negate(" * depth + "x" + ")" * depth + " }",
        "literal": "ENTRY e { ROOT x = f32[2] constant(" + "{" * depth + "1" + "}" * depth + ") }",
        "tuple literal": "ENTRY e { ROOT x = (f32[]) constant(" + "(" * depth + "1" + ")" * depth + ") }",
        "bodies": "ENTRY e { x = f32[] parameter(0) ROOT y = "
        + "f32[] call(x), to_apply={ x = f32[] parameter(0) ROOT y = " * depth,
        "comment": "/*" * depth,
        "string": 'HloModule m, frontend_attributes={a="' + "\\" * depth,
        "sharding": "ENTRY e { ROOT x = f32[] parameter(0), sharding=" + "{" * depth + "}" * depth + " }",
    }
    for name, text in texts.items():
        start = time.time()
        done = run("check", program(folder, text, "deep.hlo"))
        quick = time.time() - start < (60 if SANITIZED else 5)
        report(f"100,000 deep {name}", (done.returncode in (OK, REFUSED, LIMIT)) and quick, done)
    chain = ["call0 { ROOT x = f32[] parameter(0) }"]
    chain += [f"call{i} {{ x = f32[] parameter(0) ROOT y = call(x), to_apply=call{i - 1} }}" for i in range(1, 20_000)]
    calls = program(folder, "\n".join(chain), "chain.hlo")
    expect("a chain of 20,000 calls", run("check", calls), OK)
    expect("run, it is refused", run("run", calls, "1"), LIMIT, err="nested deeper")


def checking(folder):
    good = program(folder, ADD)
    bad = program(folder, "ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] negate(x)\n}\n", "bad.hlo")
    expect("check", run("check", good), OK, out="ok, 1 computation, 4 instructions")
    expect("check, place", run("check", bad), REFUSED, err="bad.hlo:3:")
    expect("check several", run("check", good, bad), REFUSED, out="ok", err="bad.hlo:3:")
    done = run("check", "--json", good, bad)
    rows = json.loads(done.stdout)
    report("check --json", [r["ok"] for r in rows] == [True, False] and rows[1]["errors"][0]["line"] == 3, rows)
    npy = folder / "x.npy"
    np.save(npy, np.zeros(3, np.float32))
    expect("an array for a program", run("run", npy, good), REFUSED, err="x.npy is an array (.npy)")
    expect("a binary file", run("check", write(folder, b"\n\x05jit_f\x12")), REFUSED, err="binary file")
    done = run("run", "--engine=none", "--json", good)
    report("--json behind what is wrong", done.returncode == USAGE and not json.loads(done.stdout)["ok"], done)
    expect("empty program", run("check", program(folder, "", "empty.hlo")), REFUSED, err="HloModule")
    expect("bytes", run("check", write(folder, bytes(range(256)))), REFUSED)
    printed = expect("print", run("print", good), OK, out="ROOT s = f32[2,3]{1,0} add(x, b)").stdout
    again = program(folder, printed, "again.hlo")
    report("print is a fixpoint", run("print", again).stdout == printed, printed)
    expect("print -o", run("print", "-o", folder / "p.out", good), OK)
    report("print -o writes", (folder / "p.out").read_text() == printed, "")
    expect("print into a missing folder", run("print", "-o", folder / "no" / "p.out", good), FILE, err="p.out")
    report("several errors in one run", run("check", several(folder)).stderr.count("error:") >= 3, "")
    expect("ops", run("ops"), OK, out="dynamic-update-slice")
    report("ops --json", len(json.loads(run("ops", "--json").stdout)) == 133, "")
    expect("ops, unknown", run("ops", "frob"), USAGE, err="frob")
    for wrong, meant in ((["ops", "ad"], "add"), (["ops", "reshap"], "reshape")):
        expect(f"ops {wrong[1]}", run(*wrong), USAGE, err=f"did you mean {meant}?")
    expect("a misspelt command", run("chekc", good), USAGE, err="did you mean check?")
    expect("a misspelt option", run("run", "--thread=2", good), USAGE, err="did you mean --threads?")
    expect("help that cannot be written", run_into_full("help"), FILE, err="indim: cannot write")
    page = pathlib.Path("docs/ops.md").read_text()
    report("docs/ops.md is current", page.endswith("\n\n" + run("ops", "--markdown").stdout), "print it anew: indim ops --markdown")
    page = pathlib.Path("docs/stablehlo.md").read_text()
    table = run("ops", "--stablehlo", "--markdown").stdout
    report("docs/stablehlo.md is current", page.endswith("\n\n" + table), "print its table anew: indim ops --stablehlo --markdown")
    expect("ops --stablehlo, one", run("ops", "--stablehlo", "stablehlo.add"), OK, out="add")
    expect("ops --stablehlo, unknown", run("ops", "--stablehlo", "stablehlo.ad"), USAGE, err="did you mean stablehlo.add?")


def write(folder, data):
    (folder / "bytes.hlo").write_bytes(data)
    return folder / "bytes.hlo"


def converting(folder):
    good = program(folder, ADD)
    text = run("print", "--metadata", good).stdout
    proto, again = folder / "good.pb", folder / "again.hlo"
    expect("convert to proto", run("convert", good, proto), OK)
    expect("check a proto", run("check", proto), OK, out="ok, 1 computation, 4 instructions")
    expect("convert to text", run("convert", proto, again), OK)
    report("the same program", again.read_text() == text, again.read_text())
    report("print a proto", run("print", proto).stdout == run("print", good).stdout, "")
    report("compile a proto", run("compile", "--dump=graph", proto).stdout == run("compile", "--dump=graph", good).stdout, "")
    values = ["f32[2,3] {{1,2,3},{4,5,6}}", "f32[3] {7,8,9}"]
    report("run a proto", run("run", proto, *values).stdout == run("run", good, *values).stdout, "")
    data = subprocess.run([INDIM, "convert", "--to=proto", good, "-"], capture_output=True).stdout
    report("to standard output", data == proto.read_bytes(), len(data))
    piped = subprocess.run([INDIM, "convert", "--to=hlo", "-", "-"], input=data, capture_output=True).stdout
    report("from standard input", piped.decode() == text, piped)
    wrapped = write(folder, b"\x0a" + bytes([len(data) & 127 | 128, len(data) >> 7]) + data)
    expect("an HloProto", run("check", wrapped), OK, out="4 instructions")
    expect("a broken proto", run("check", write(folder, data[:-40])), REFUSED, err="broken off or damaged")
    expect("broken MLIR", run("check", write(folder, b"ML\xefRx")), REFUSED, err="portable artifact")
    expect("gzip", run("check", write(folder, b"\x1f\x8b\x08\x00")), UNSUPPORTED, err="gunzip")
    expect("no format", run("convert", good, folder / "x.xyz"), USAGE, err="does not tell the format")
    expect("a wrong format", run("convert", "--to=prto", good, proto), USAGE, err="did you mean proto?")
    expect("one file", run("convert", good), USAGE, err="give two files")
    elided = program(folder, "ENTRY e { ROOT c = f32[20] constant({...}) }", "elided.hlo")
    target = folder / "elided.pb"
    expect("elided constants", run("convert", elided, target), REFUSED, err="elided.hlo:1:")
    report("no file for a refused output", not target.exists(), "")
    leader, follower = pty.openpty()
    done = subprocess.run([INDIM, "convert", "--to=proto", good, "-"], stdout=follower, stderr=subprocess.PIPE, text=True)
    os.close(follower), os.close(leader)
    expect("binary to a terminal", done, USAGE, err="terminal")


def several(folder):
    return program(
        folder,
        "ENTRY e {\n  x = f32[2] parameter(0)\n  a = f32[2] add(x, nothing)\n  b = f32[2] frob(x)\n  c = f32[2] negate(x, x)\n"
        "  d = f32[2] add(a, b)\n  ROOT r = f32[2] negate(d)\n}\n",
        "several.hlo",
    )


def functions(folder):
    """Functions of a shared library, as examples/custom_call has one."""
    library = folder / "functions.so"
    source = "examples/custom_call/functions.c"
    build = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-Iinclude", source, "-o", library, "-lm"]
    subprocess.run(build, check=True)
    p = "examples/custom_call/unit_rows.hlo"
    given = f"--custom-call=unit_rows={library}:unit_rows"
    values = "{{3, 4}, {5, 12}}"
    for engine in ("native", "eval"):
        expect(f"a function, {engine}", run("run", given, f"--engine={engine}", p, values), OK, out="{ -6, -8 }")
        wrong = run("run", given, f"--engine={engine}", p, "{{3, 4}, {0, 0}}")
        expect(f"a function that fails, {engine}", wrong, REFUSED, err="custom-call 'unit_rows' failed: row 1 is zero")
        expect(f"no function, {engine}", run("run", f"--engine={engine}", p, values), UNSUPPORTED, err="--custom-call")
    expect("compile with a function", run("compile", given, "--dump=loops", p), OK, out="custom_call")
    expect("compile without", run("compile", "--dump=loops", p), UNSUPPORTED, err="no function is registered")
    for value, code, why in (
        ("unit_rows", USAGE, "is not like NAME=LIBRARY:SYMBOL"),
        ("=a:b", USAGE, "is not like NAME=LIBRARY:SYMBOL"),
        ("a=:b", USAGE, "is not like NAME=LIBRARY:SYMBOL"),
        ("a=b:", USAGE, "is not like NAME=LIBRARY:SYMBOL"),
        (f"unit_rows={folder}/missing.so:f", FILE, "missing.so"),
        (f"unit_rows={library}:missing", FILE, "has no symbol missing"),
    ):
        expect(f"--custom-call={value}", run("run", f"--custom-call={value}", p, values), code, err=why)
        expect(f"--ffi-handler={value}", run("run", f"--ffi-handler={value}", p, values), code, err=why)


def shapes():
    expect("broadcast", run("broadcast", "f32[2,3]", "f32[3]", "--dims", "1"), OK, out=": f32[2,3]\n")
    expect("broadcast {1}", run("broadcast", "f32[2,3]", "f32[3]", "--dims={1}"), OK)
    expect("broadcast, refused", run("broadcast", "f32[2,3]", "f32[3]"), REFUSED, err="match it with dims {1}")
    expect("broadcast, bad dims", run("broadcast", "f32[2]", "f32[2]", "--dims", "x"), USAGE, err="x")
    expect("broadcast, bad shape", run("broadcast", "f32[2", "f32[2]"), REFUSED, err="error:")
    report("broadcast --json", json.loads(run("broadcast", "f32[4]", "f32[1,2]", "-d0", "--json").stdout)["shape"] == "f32[4,2]", "")
    expect("shape", run("shape", "f32[2,3]{0,1:PAD(3,5;zero)}"), OK, out="60, 24 of them elements")
    facts = json.loads(run("shape", "--json", "f32[10,20]{0,1}").stdout)
    report("shape --json", facts["strides"] == [1, 10] and facts["bytes"] == 800, facts)
    expect("shape, tuple", run("shape", "(f32[2], token[])"), OK, out="{1} token[]")
    expect("shape, wrong", run("shape", "f32[2,3]{0,0}"), REFUSED, err="error:")
    expect("shape, two", run("shape", "f32[2]", "f32[3]"), USAGE)


def keeping_programs(folder):
    """What a program becomes never replaces the program, whatever name leads to it."""
    p = program(folder, ADD, "kept.hlo")
    link = folder / "kept_link.hlo"
    link.symlink_to(p)
    for output in (p, link):
        for arguments in (
            ["compile", "-o", output, p],
            ["compile", "--dump=loops", "-o", output, p],
            ["compile", "-o", folder / "kept.o", "--header", output, p],
            ["view", "-o", output, p],
            ["tune", "--seconds=1", "-o", output, p],
            ["diff", "-o", output, p, p],
        ):
            expect(f"{arguments}", run(*arguments), USAGE, err="is the program itself")
    report("the program is kept", p.read_text() == ADD, p.read_text())


def hostile_names(folder):
    """No name of a file and no option can make a terminal do anything."""
    evil = "\x1b[31m\x9bX"
    good, bad = program(folder, ADD, f"{evil}.hlo"), program(folder, "ENTRY e { nothing }", f"{evil}_bad.hlo")
    one = program(folder, "ENTRY e { ROOT a = f32[2] constant({1, 2}) }", f"{evil}_one.hlo")
    for arguments in (
        [evil],
        *([command, f"--{evil}"] for command in COMMANDS),
        *([command, path] for command in COMMANDS if command != "view" for path in (good, bad, folder / evil)),
        ["view", bad],
        ["view", "-o", folder / evil / "x", good],
        ["compile", one, "-o", folder / f"{evil}.o"],
        ["diff", good, bad],
        ["diff", good, folder / evil],
        ["explain", evil, "->", evil],
        ["broadcast", evil, evil, f"--dims={evil}"],
        ["run", f"--engine={evil}", good],
        ["run", one, evil],
        ["lint", f"--only={evil}", good],
    ):
        done = run(*arguments)
        shown = re.findall(r"[^\n\x20-\x7e\xa0-\U0010ffff]", done.stdout + done.stderr)
        report(f"{arguments}: no control characters", not shown and done.stdout + done.stderr, done)


def full_disk(folder):
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([INDIM, "ops"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        report("a full disk is noticed", done.returncode == FILE and "cannot write" in done.stderr, done)


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    help_texts()
    documents()
    json_refusals(folder)
    outputs(folder)
    running(folder)
    engines(folder)
    targets(folder)
    compiling(folder)
    objects(folder)
    without_generator(folder)
    wrong_arguments(folder)
    limits(folder)
    deep(folder)
    checking(folder)
    converting(folder)
    functions(folder)
    shapes()
    keeping_programs(folder)
    hostile_names(folder)
    full_disk(folder)
    leftovers = [p.name for p in folder.iterdir() if ".tmp" in p.name or p.name.count(".") > 1]
    report("no temporary files are left", not leftovers, leftovers)
sys.exit(finish())
