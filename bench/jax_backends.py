#!/usr/bin/env python3
"""JAX programs on Indim's plugin and on XLA:CPU, in turn: training loops, simulations, calls of small functions.

    jax_backends.py [--only PATTERN] [--threads 1,2] [--rounds N] [--seconds S] [--quick] [--processor-time]
                    [--package FOLDER] [--json FILE] [--merge FILE] [--write]

A process for each backend is kept alive and asked in turn over a pipe, so that both are measured side by side: each
round times one and then the other, the order changing from round to round. Both processes are bound to the same
processors, as many as there are threads, and Indim's pool and XLA's have that many. A ratio is the median over rounds of
XLA's time / ours in that round: below 1 we are slower. The programs are jax_programs.py; results are compared first.

Of a program two things are timed: the first result (trace, lower, compile, run, with JAX's caches cleared; and of it
the backend's compilation alone), and a step of its loop, from a copy of the initial state each time. With
--processor-time it is the processes' processor time that counts, for a machine that others use as well. --json keeps
the numbers, --merge takes rows that are not run now from such a file, --write replaces the part of docs/benchmarks.md.
"""

import argparse
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parent
BACKENDS = ("indim", "cpu")
COMPILE_SECONDS = 40  # after so long no further round of first results
MOST_STEPS = 20  # of a batch, so that adaptive programs stay where both take the same way


# ------------------------------------------------------------------------------------------------ inside the child


def calls():
    """Small things of JAX: name -> (what, function without arguments whose result is awaited)."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    x, y = jnp.arange(10.0), jnp.ones(10)
    square, large = jnp.eye(32) * 0.5, jnp.ones((1000, 1000))
    host = np.ones((512, 512), np.float32)
    tree = {f"w{i}": jnp.ones((4, i + 1)) for i in range(20)}
    add, twenty = jax.jit(lambda a: 2 * a * a), jax.jit(lambda t: jax.tree.map(lambda a: a + 1, t))
    many = jax.jit(lambda a: [a + i for i in range(20)])
    loop = jax.jit(lambda a: jax.lax.fori_loop(0, 100, lambda _, v: v * 0.99 + 0.01, a))
    gradient = jax.jit(jax.grad(lambda a: jnp.sum(jnp.tanh(a) ** 2)))
    key = jax.random.key(0)
    draw = jax.jit(lambda k: jax.random.normal(k, (1000,)))
    row = 5

    def dispatch():
        out = x
        for _ in range(10):
            out = add(out)
        return out

    return {
        "jit_10": ("jit: 2 a a on 10 elements", lambda: add(x)),
        "jit_chain": ("jit: ten such calls, the last one awaited", dispatch),
        "jit_tree": ("jit: tree of 20 arrays in and out", lambda: twenty(tree)),
        "jit_results": ("jit: 20 results of 10 elements", lambda: many(x)),
        "jit_loop": ("jit: fori_loop of 100 steps on 10 elements", lambda: loop(x)),
        "jit_grad": ("jit: grad of a sum of tanh^2, 10 elements", lambda: gradient(x)),
        "jit_normal": ("jit: 1000 normal numbers", lambda: draw(key)),
        "jit_1e6": ("jit: 2 a a on 1e6 elements", lambda: add(large)),
        "eager_add": ("jnp: x + y on 10 elements", lambda: x + y),
        "eager_chain": ("jnp: sin(x) * y + x, 10 elements", lambda: jnp.sin(x) * y + x),
        "eager_sum": ("jnp: x.sum()", lambda: x.sum()),
        "eager_index": ("jnp: a row of 1000x1000", lambda: large[row]),
        "eager_set": ("jnp: x.at[3].set(1)", lambda: x.at[3].set(1.0)),
        "eager_dot": ("jnp: 32x32 @ 32x32", lambda: square @ square),
        "eager_where": ("jnp: where and mean of 1000x1000", lambda: jnp.where(large > 0, large, 0.0).mean(axis=0)),
        "eager_split": ("jax.random: split and uniform", lambda: jax.random.uniform(jax.random.split(key)[0], (100,))),
        "to_device": ("device_put of 1 MB from NumPy", lambda: jax.device_put(host)),
        "to_host": ("jit on 1 MB from NumPy, and back", lambda: np.asarray(add(host))),
    }


class Child:
    """Answers requests, one JSON object a line; each method is a request."""

    def __init__(self):
        import jax
        import jax_programs

        self.jax = jax
        self.programs = jax_programs.PROGRAMS
        self.calls = calls()
        self.now = time.perf_counter
        self.compiled = 0.0
        self.watch_compilation()

    def hello(self, clock):
        self.now = getattr(time, clock)
        return {"device": str(self.jax.devices()[0]), "processors": len(os.sched_getaffinity(0))}

    def watch_compilation(self):
        """Adds up what the backend's compilations take. JAX tells the time of the clock alone, so its function is wrapped."""
        from jax._src import compiler

        inner = compiler.compile_or_get_cached

        def outer(*args, **options):
            start = self.now()
            made = inner(*args, **options)
            self.compiled += self.now() - start
            return made

        compiler.compile_or_get_cached = outer

    def copy(self):
        copied = self.jax.tree.map(lambda a: a.copy(), self.program.state)
        return self.jax.block_until_ready(copied)

    def make(self, name, small):
        self.program = self.programs[name].make(small)

    def first(self, file=None):
        """Seconds until there is the first result, and of them the backend's compilation; what is compared, into a file."""
        import numpy as np

        state = self.copy()
        self.jax.clear_caches()
        self.compiled = 0.0
        start = self.now()
        state = self.jax.block_until_ready(self.program.step(state))
        answer = {"first": self.now() - start, "compile": self.compiled}
        if file:
            np.savez(file, *(np.asarray(a) for a in self.jax.tree.leaves(self.program.observe(state))))
        return answer

    def steps(self, runs):
        state = self.copy()
        step = self.program.step
        start = self.now()
        for _ in range(runs):
            state = step(state)
        self.jax.block_until_ready(state)
        return (self.now() - start) / runs

    def call(self, name, runs):
        function, wait = self.calls[name][1], self.jax.block_until_ready
        start = self.now()
        for _ in range(runs):
            wait(function())
        return (self.now() - start) / runs

    def listing(self):
        return {
            "programs": {n: " ".join(e.make.__doc__.split()) for n, e in self.programs.items()},
            "tolerances": {n: e.tolerance for n, e in self.programs.items()},
            "calls": {n: what for n, (what, _) in self.calls.items()},
        }


def serve(make=Child):
    sys.path[0:0] = [str(FOLDER)]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    child = make()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"answer": getattr(child, request.pop("do"))(**request)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


# ------------------------------------------------------------------------------------------------------ the parent


class Refused(Exception):
    """A backend could not do it; the text is its message."""


class Backend:
    def __init__(self, name, threads, package, script=__file__):
        env = dict(os.environ, JAX_PLATFORMS=name, TF_CPP_MIN_LOG_LEVEL="3", INDIM_NUM_THREADS=str(threads))
        if name == "indim":
            env["PYTHONPATH"] = os.pathsep.join(filter(None, [package, env.get("PYTHONPATH")]))
        elif threads == 1:
            env["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
        processors = sorted(os.sched_getaffinity(0))[-threads:]
        command = ["taskset", "-c", ",".join(map(str, processors)), sys.executable, script, "--serve"]
        self.name = name
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, do, **arguments):
        self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the process of {self.name} ended with {self.process.wait()} during {do} {arguments}")
        answer = json.loads(line)
        if "error" in answer:
            raise Refused(f"{self.name}: {answer['error']}")
        return answer["answer"]

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def in_turn(backends, ask, rounds):
    """What each answers in each round; the order changes from round to round."""
    answers = {b.name: [] for b in backends}
    for i in range(rounds):
        for backend in backends if i % 2 == 0 else reversed(backends):
            answers[backend.name].append(ask(backend))
    return answers


def summary_of(ours, theirs):
    quartiles = statistics.quantiles(ours, n=4) if len(ours) > 1 else [ours[0]] * 3
    return {
        "ours": statistics.median(ours),
        "theirs": statistics.median(theirs),
        "ratio": statistics.median(b / a for a, b in zip(ours, theirs)),
        "spread": (quartiles[2] - quartiles[0]) / 2 / statistics.median(ours),
    }


def timed(backends, ask, options, most=math.inf):
    """ask(backend, runs) in turn, so many runs that a batch takes its share of the time."""
    slower = max(ask(b, 1) for b in backends)  # warm
    slower = max(ask(b, 1) for b in backends)
    runs = int(max(1, min(most, options.seconds / options.rounds / 2 / slower)))
    answers = in_turn(backends, lambda b: ask(b, runs), options.rounds)
    return summary_of(answers["indim"], answers["cpu"])


def differs(files, tolerance):
    import numpy as np

    ours, theirs = (list(np.load(file).values()) for file in files)
    worst = 0.0
    for a, b in zip(ours, theirs):
        a, b = (np.asarray(v, np.complex128 if v.dtype.kind == "c" else np.float64) for v in (a, b))
        worst = max(worst, float(np.max(np.abs(a - b), initial=0)) / max(float(np.max(np.abs(b), initial=0)), 1e-30))
    return None if worst <= tolerance else f"differs by {worst:.2g}, {tolerance:.2g} allowed"


def measure_program(backends, name, tolerance, options):
    for backend in backends:
        backend.ask("make", name=name, small=options.quick)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        files = {b.name: str(pathlib.Path(folder) / f"{b.name}.npz") for b in backends}
        answers = in_turn(backends, lambda b: b.ask("first", file=files[b.name]), 1)
        wrong = differs(files.values(), tolerance)
    if wrong:
        raise Refused(wrong)
    while len(answers["cpu"]) < 3 and time.monotonic() - start < COMPILE_SECONDS:
        for backend, found in in_turn(backends, lambda b: b.ask("first"), 1).items():
            answers[backend] += found
    record = {what: summary_of(*([a[what] for a in answers[b]] for b in BACKENDS)) for what in ("first", "compile")}
    record["step"] = timed(backends, lambda b, runs: b.ask("steps", runs=runs), options, MOST_STEPS)
    return record


def measure(threads, options, keep):
    """Measures the rows that are chosen; keep(record) takes each."""
    backends = [Backend(name, threads, options.package) for name in BACKENDS]
    try:
        for backend in backends:
            print(f"{backend.name}: {backend.ask('hello', clock=options.clock)}", flush=True)
        listing = backends[0].ask("listing")
        rows = [("program", n, w) for n, w in listing["programs"].items()]
        rows += [("call", n, w) for n, w in listing["calls"].items()]
        for kind, name, what in rows:
            if not re.search(options.only, name):
                continue
            record = {"kind": kind, "row": name, "what": what, "threads": threads, "clock": options.clock}
            try:
                if kind == "program":
                    record |= measure_program(backends, name, listing["tolerances"][name], options)
                else:
                    record["step"] = timed(backends, lambda b, runs: b.ask("call", name=name, runs=runs), options)
            except Refused as error:
                record["refused"] = str(error)
            print(line_of(record), flush=True)
            keep(record)
    finally:
        for backend in backends:
            backend.close()


# ------------------------------------------------------------------------------------------------------ the report


def short(seconds):
    from report import short_time

    return short_time(seconds)


def line_of(record):
    if "refused" in record:
        return f"{record['row']:22} {record['refused']}"
    parts = [f"{what} {short(record[what]['ours'])} XLA {record[what]['ratio']:.2f}" for what in TIMED if what in record]
    return f"{record['row']:22} {record['threads']}T  " + "   ".join(parts)


TIMED = ("first", "compile", "step")


def ratio_text(summary):
    return f"**{summary['ratio']:.2f}**" if summary["ratio"] < 1 else f"{summary['ratio']:.3g}"


def mean(records, what):
    ratios = [r[what]["ratio"] for r in records if what in r]
    return f"{statistics.geometric_mean(ratios):.2f} ({len(ratios)})" if ratios else "-"


def section(records):
    """The lines of the section of docs/benchmarks.md."""
    from report import JAX

    out = [
        JAX,
        "",
        "Written by `bench/jax_backends.py --write`: JAX programs (`bench/jax_programs.py`: flax, optax, equinox, diffrax) with",
        "`JAX_PLATFORMS=indim` and with `cpu`, which is XLA. A process of each is kept alive, bound to the same processors, as",
        "many as there are threads, and both are asked in turn; the columns of XLA are **XLA's time / ours**, the median over",
        "rounds of the ratio in a round: below 1, in bold, we are slower. *First result* is the time that `jit` takes until",
        "there is one, Python's tracing and lowering included, which are the same for both; *compile* is the backend's part of",
        "it. *Step* is a step of the loop.",
        "",
    ]
    if any(r.get("clock") == "process_time" for r in records):
        out += [
            "The machine was busy with other things: times are the processes' processor time (`--processor-time`), and caches",
            "and the other hardware threads of a core were shared.",
            "",
        ]
    for threads in sorted({r["threads"] for r in records}):
        mine = [r for r in records if r["threads"] == threads]
        programs, small = ([r for r in mine if r["kind"] == kind] for kind in ("program", "call"))
        out += [f"### JAX programs, {threads} thread{'s' if threads > 1 else ''}", ""]
        out += [
            "| program | what | first result | XLA | compile | XLA | step | spread | XLA |",
            "|---|---|--:|--:|--:|--:|--:|--:|--:|",
        ]
        for r in programs:
            if "refused" in r:
                out.append(f"| {r['row']} | {r['what']} | {r['refused']} | | | | | | |")
                continue
            cells = [f"{short(r[w]['ours'])} | {ratio_text(r[w])}" for w in ("first", "compile")]
            cells.append(f"{short(r['step']['ours'])} | {r['step']['spread']:.0%} | {ratio_text(r['step'])}")
            out.append(f"| {r['row']} | {r['what']} | " + " | ".join(cells) + " |")
        out += [
            "",
            f"Geometric means of XLA's time / ours (programs): first result {mean(programs, 'first')}, compile "
            f"{mean(programs, 'compile')}, step {mean(programs, 'step')}.",
            "",
            f"### JAX calls, {threads} thread{'s' if threads > 1 else ''}",
            "",
            "Each awaited; Python's part of it, the same for both, included.",
            "",
            "| call | what | ours | spread | XLA |",
            "|---|---|--:|--:|--:|",
        ]
        for r in small:
            said = r.get("refused")
            step = r.get("step")
            cells = [said, "", ""] if said else [short(step["ours"]), f"{step['spread']:.0%}", ratio_text(step)]
            out.append(f"| {r['row']} | {r['what']} | {' | '.join(cells)} |")
        out += ["", f"Geometric mean {mean(small, 'step')}.", ""]
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("--threads", default="1", help="1, 2 or 1,2")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=2.0, help="for the steps of a row, both backends together")
    parser.add_argument("--quick", action="store_true", help="programs at the test's size, 3 rounds")
    parser.add_argument(
        "--processor-time", dest="clock", action="store_const", const="process_time", default="perf_counter"
    )
    parser.add_argument("--package", default=str(ROOT / "build" / "release" / "python"), help="'' for the installed one")
    parser.add_argument("--json", default="")
    parser.add_argument("--merge", default="")
    parser.add_argument("--write", action="store_true", help="write the section of docs/benchmarks.md")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    if options.quick:
        options.rounds, options.seconds = 3, 0.3
    if options.package and not (pathlib.Path(options.package) / "indim").exists():
        raise SystemExit(f"there is no package in {options.package}: build indim_python, or name another with --package")
    options.package = options.package and str(pathlib.Path(options.package).resolve())
    old = json.loads(pathlib.Path(options.merge).read_text()) if options.merge else []
    records = {(r["threads"], r["row"]): r for r in old}

    def keep(record):
        records[record["threads"], record["row"]] = record
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(list(records.values()), indent=1))

    for threads in map(int, options.threads.split(",")):
        measure(threads, options, keep)
        programs = [r for r in records.values() if r["threads"] == threads and r["kind"] == "program"]
        small = [r for r in records.values() if r["threads"] == threads and r["kind"] == "call"]
        means = ", ".join(f"{what} {mean(programs, what)}" for what in TIMED)
        print(f"geometric means, {threads}T: programs: {means}; calls: {mean(small, 'step')}", flush=True)
    if options.write:
        from report import write_section

        write_section(ROOT / "docs" / "benchmarks.md", section(list(records.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
