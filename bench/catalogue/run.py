#!/usr/bin/env python3
"""The catalogue: many functions and programs on Indim's plugin and on XLA:CPU, in turn, losing rows first.

    run.py [--only PATTERN] [--threads 1,2] [--rounds N] [--seconds S] [--below R] [--processor-time]
           [--package FOLDER] [--json FILE] [--merge FILE] [--list] [--write] [--about TEXT]

A process for each backend is kept alive and asked in turn, as in ../jax_backends.py: both are bound to the same
processors, and a ratio is the median over rounds of XLA's time / ours in that round: below 1 we are slower. Of each row
are measured the compilation, how much memory the process needed for it at most beyond what it had, and a call,
awaited. The compilation is XLA's from JAX's module, and ours from the artifact that JAX makes of it for a plugin (JAX itself
needs some 8 ms for that, whatever the program). Results are compared first. Rows: functions.py (public functions on sizes that matter), harnesses.py (each of
JAX's primitives), and whole programs in the other files. --below measures rows again whose ratio in the file of --merge
is below R.
"""

import argparse
import ctypes
import gc
import importlib
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import textwrap
import time

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[0:0] = [str(FOLDER), str(FOLDER.parent)]

import jax_backends  # noqa: E402
from jax_backends import BACKENDS, ROOT, Refused, differs, in_turn, summary_of, timed  # noqa: E402

MODULES = [f.stem for f in sorted(FOLDER.glob("*.py")) if f.stem not in ("run", "row")]
COMPILE_SECONDS = 6.0  # after so long no further round of compilations
STATUS = pathlib.Path("/proc/self/status")

# ------------------------------------------------------------------------------------------------ inside the child


def memory(field):
    """Bytes that this process has (VmRSS) or had at most (VmHWM); 0 where the system does not say."""
    found = re.search(rf"^{field}:\s*(\d+) kB", STATUS.read_text(), re.MULTILINE) if STATUS.exists() else None
    return int(found[1]) * 1024 if found else 0


def load_of(lowered):
    """A function that compiles a lowered function of JAX by Indim, from the artifact that its plugin is given."""
    import indim
    from jaxlib import _jax
    from jaxlib.mlir.dialects import stablehlo

    module = lowered.compiler_ir("stablehlo")
    with module.context:
        artifact = _jax.mlir.serialize_portable_artifact(str(module).encode(), stablehlo.get_current_version())
    return lambda: indim.load(artifact)


class Child(jax_backends.Child):
    def __init__(self):
        import jax

        self.jax = jax
        for name in MODULES:
            importlib.import_module(name)
        self.rows = importlib.import_module("row").ROWS
        self.now = time.perf_counter
        self.compiled = 0.0
        self.watch_compilation()

    def listing(self):
        return {name: r.what for name, r in self.rows.items()}

    def make(self, name):
        self.row = self.rows[name]
        with self.row.context():
            self.arguments = self.jax.block_until_ready(self.row.arguments())
        return self.row.tolerance

    def first(self, file=None):
        """Seconds that the backend compiles, and bytes it needs for that; results into a file."""
        import numpy as np

        jax = self.jax
        jax.clear_caches()
        gc.collect()
        with self.row.context():
            lowered = jax.jit(self.row.function).lower(*self.arguments)
            answer = self.compilation(lowered)
            self.compiled_row = lowered.compile()
            results = jax.tree.leaves(jax.block_until_ready(self.compiled_row(*self.arguments)))
        if file:
            keys = [jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key) for a in results]
            plain = [np.asarray(jax.random.key_data(a) if key else a) for a, key in zip(results, keys)]
            np.savez(file, *(a if a.dtype.kind != "V" else a.astype(np.float32) for a in plain))
        return answer

    def compilation(self, lowered):
        """Seconds and bytes of the compilation alone."""
        own = load_of(lowered) if os.environ["JAX_PLATFORMS"] == "indim" else None
        ctypes.CDLL(None).malloc_trim(0)
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the most memory is counted from here
        before, self.compiled = memory("VmRSS"), 0.0
        start = self.now()
        if own:
            own()
            self.compiled = self.now() - start
        else:
            lowered.compile()  # adds to self.compiled what the backend takes
        return {"compile": self.compiled, "memory": max(memory("VmHWM") - before, 0)}

    def steps(self, runs):
        function, arguments, wait = self.compiled_row, self.arguments, self.jax.block_until_ready
        with self.row.context():
            start = self.now()
            for _ in range(runs):
                wait(function(*arguments))
            return (self.now() - start) / runs


# ------------------------------------------------------------------------------------------------------ the parent


def measure_row(backends, name, options):
    tolerance = [b.ask("make", name=name) for b in backends][0]
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        files = {b.name: str(pathlib.Path(folder) / f"{b.name}.npz") for b in backends}
        answers = in_turn(backends, lambda b: b.ask("first", file=files[b.name]), 1)
        wrong = tolerance and differs(files.values(), tolerance)
    record = {"wrong": wrong} if wrong else {}
    while len(answers["cpu"]) < 3 and time.monotonic() - start < COMPILE_SECONDS:
        for backend, found in in_turn(backends, lambda b: b.ask("first"), 1).items():
            answers[backend] += found
    record["compile"] = summary_of(*([a["compile"] for a in answers[b]] for b in BACKENDS))
    record["memory"] = {b: max(a["memory"] for a in answers[b]) for b in BACKENDS}
    record["step"] = timed(backends, lambda b, runs: b.ask("steps", runs=runs), options)
    return record


def measure(threads, options, wanted, keep):
    def start():
        return [jax_backends.Backend(name, threads, options.package, __file__) for name in BACKENDS]

    backends = start()
    try:
        for backend in backends:
            print(f"{backend.name}: {backend.ask('hello', clock=options.clock)}", flush=True)
        for name, what in backends[0].ask("listing").items():
            if not wanted(threads, name):
                continue
            record = {"row": name, "what": what, "threads": threads, "clock": options.clock}
            try:
                record |= measure_row(backends, name, options)
            except Refused as error:
                record["refused"] = str(error)
            except SystemExit as error:  # a process is gone
                record["refused"] = str(error)
                for backend in backends:
                    backend.process.kill()
                backends = start()
            print(line_of(record), flush=True)
            keep(record)
    finally:
        for backend in backends:
            backend.process.kill()


# ------------------------------------------------------------------------------------------------------ the report


def line_of(record):
    if "refused" in record:
        return f"{record['row']:32} {record['refused']}"
    parts = [f"{what} {jax_backends.short(record[what]['ours']):>8} XLA {record[what]['ratio']:6.2f}" for what in ("compile", "step")]
    return f"{record['row']:32} {record['threads']}T  {'   '.join(parts)}   {record.get('wrong') or ''}".rstrip()


def summary(records):
    """One line about some rows: geometric means, how many are below 1 and 0.9."""
    steps = [r["step"]["ratio"] for r in records if "step" in r]
    compiles = [r["compile"]["ratio"] for r in records if "compile" in r]
    if not steps:
        return "nothing measured"
    below = ", ".join(f"{sum(s < limit for s in steps)} below {limit}" for limit in (1.0, 0.9, 0.5))
    return (
        f"{len(steps)} rows: step {statistics.geometric_mean(steps):.2f} ({below}), compile "
        f"{statistics.geometric_mean(compiles):.2f} ({sum(c < 1 for c in compiles)} below 1), "
        f"{sum('refused' in r for r in records)} refused, {sum('wrong' in r for r in records)} different"
    )


def page(records, about):
    """The lines of docs/catalogue.md; about: where and how these were measured."""
    out = [
        "# Catalogue",
        "",
        "Written by `./dev bench --catalogue --write`: functions of JAX on sizes that matter, each of its primitives, and whole",
        "programs, with `JAX_PLATFORMS=indim` and with `cpu`, which is XLA. The columns are **XLA's time / ours**, the median over",
        "rounds that ask both in turn: below 1, in bold, we are slower. *Compile* is the backend's part of `jit`; *memory* is what",
        "the process needed for it at most beyond what it had, ours / XLA's. *Call* includes JAX's dispatch, the same for both (about",
        "4 us). Losing rows come first.",
        "",
    ]
    out += [*textwrap.wrap(about, 128), ""] if about else []
    for threads in sorted({r["threads"] for r in records}):
        mine = [r for r in records if r["threads"] == threads]
        out += [f"## {threads} thread{'s' if threads > 1 else ''}", ""]
        out += ["| rows of | |", "|---|---|"]
        for group in sorted({r["row"].split(".")[0] for r in mine}):
            out.append(f"| {group} | {summary([r for r in mine if r['row'].startswith(group + '.')])} |")
        out += [f"| **all** | {summary(mine)} |", ""]
        refused = [r for r in mine if "refused" in r]
        rest = sorted((r for r in mine if "step" in r), key=lambda r: r["step"]["ratio"])
        out += ["| row | call | XLA | spread | compile | XLA | memory |", "|---|--:|--:|--:|--:|--:|--:|"]
        out += [f"| {r['row']} | {r['refused'].replace('|', '/')} | | | | | |" for r in refused]
        for r in rest:
            cells = [f"{jax_backends.short(r[w]['ours'])} | {jax_backends.ratio_text(r[w])}" for w in ("step", "compile")]
            needed = r["memory"]
            share = f"{needed['indim'] / needed['cpu']:.2f}" if needed["cpu"] > 1 << 20 else ""
            out.append(f"| {r['row']} | {cells[0]} | {r['step']['spread']:.0%} | {cells[1]} | {share} |")
        out.append("")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a regular expression")
    parser.add_argument("--threads", default="1", help="1, 2 or 1,2")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.6, help="for the calls of a row, both backends together")
    parser.add_argument("--below", type=float, default=0.0, help="only rows whose ratio was below this")
    parser.add_argument(
        "--processor-time", dest="clock", action="store_const", const="process_time", default="perf_counter",
        help="as in jax_backends.py, for a busy machine",
    )
    parser.add_argument("--package", default=str(ROOT / "build" / "release" / "python"), help="'' for the installed one")
    parser.add_argument("--json", default="")
    parser.add_argument("--merge", default="")
    parser.add_argument("--list", action="store_true", help="the names of the rows, and no more")
    parser.add_argument("--write", action="store_true", help="write docs/catalogue.md")
    parser.add_argument("--about", default="", help="with --write: where and how it was measured")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        jax_backends.serve(Child)
        return 0
    if options.list:
        for name in MODULES:
            importlib.import_module(name)
        for name, row in importlib.import_module("row").ROWS.items():
            print(name, row.what)
        return 0
    if options.package and not (pathlib.Path(options.package) / "indim").exists():
        raise SystemExit(f"there is no package in {options.package}: build indim_python, or name another with --package")
    options.package = options.package and str(pathlib.Path(options.package).resolve())
    old = json.loads(pathlib.Path(options.merge).read_text()) if options.merge else []
    records = {(r["threads"], r["row"]): r for r in old}

    def wanted(threads, name):
        known = records.get((threads, name), {}).get("step")
        return re.search(options.only, name) and not (options.below and known and known["ratio"] >= options.below)

    def keep(record):
        records[record["threads"], record["row"]] = record
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(list(records.values()), indent=1))

    for threads in map(int, options.threads.split(",")):
        measure(threads, options, wanted, keep)
        print(f"{threads}T: {summary([r for r in records.values() if r['threads'] == threads])}", flush=True)
    if options.write:
        (ROOT / "docs" / "catalogue.md").write_text("\n".join(page(list(records.values()), options.about)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
