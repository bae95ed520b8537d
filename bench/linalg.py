#!/usr/bin/env python3
"""Times linear algebra of compiled programs against XLA:CPU's, which calls SciPy's OpenBLAS.

    linalg.py [--only PATTERN] [--threads 1,2] [--rounds N] [--most SECONDS] [--library FILE] [--json FILE] [--merge FILE]
              [--write]

Each row is a function of jax.numpy.linalg or jax.lax.linalg, lowered by JAX; ours compiles its HLO text. The program
takes matrices of one size: one of them, or a batch. Both are called in turn in one process, which is bound to as many
processors as there are threads; OpenBLAS has as many. A time is the median over rounds, in us; of XLA's an empty
compiled call is subtracted, ours are called in a C loop. The ratio is XLA's time / ours: below 1 we are slower. What has
one answer only (solutions, factors without their signs, eigenvalues, singular values) was compared before.

A call that takes longer than --most is timed by itself, three rounds. --json keeps the numbers, --merge takes rows that
are not run now from such a file, --write replaces the part of docs/benchmarks.md that is about linear algebra.
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
import time

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parent
SMALL = (2, 3, 4, 6, 8)
LARGE = (64, 128, 256, 512, 1024)
# name -> matrices of a batch where they are small
OPS = {
    "cholesky": 10000,
    "triangular_solve": 10000,
    "solve": 10000,
    "inv": 10000,
    "qr": 10000,
    "lstsq": 1000,
    "eigh": 1000,
    "svd": 1000,
    "eig": 1000,
}


def rows():
    """(op, type, matrices, size)"""
    for op, small in OPS.items():
        for kind in ("f32", "f64"):
            batches = [(small, n) for n in SMALL] + [(small // 10, n) for n in (16, 32)]
            for batch, n in [*batches, *((1, n) for n in (16, 32, *LARGE))]:
                yield op, kind, batch, n


def name_of(row):
    op, kind, batch, n = row
    return f"{op} {kind} {f'{batch} x ' if batch > 1 else ''}{n}"


# ------------------------------------------------------------------------------------------------ inside the child


def function_of(op):
    import jax
    import jax.numpy as jnp

    return {
        "cholesky": jnp.linalg.cholesky,
        "triangular_solve": lambda a, b: jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        "solve": lambda a, b: jnp.linalg.solve(a, b[..., None])[..., 0],
        "inv": jnp.linalg.inv,
        "qr": jnp.linalg.qr,
        "lstsq": lambda a, b: jax.vmap(lambda x, y: jnp.linalg.lstsq(x, y)[0])(a, b)
        if a.ndim == 3
        else jnp.linalg.lstsq(a, b)[0],
        "eigh": jnp.linalg.eigh,
        "svd": lambda a: jnp.linalg.svd(a, full_matrices=False),
        "eig": jnp.linalg.eig,
    }[op]


def arguments_of(row):
    import numpy as np

    op, kind, batch, n = row
    rng = np.random.default_rng(n)
    lead = (batch,) if batch > 1 else ()
    a = rng.standard_normal((*lead, 2 * n if op == "lstsq" else n, n))
    b = rng.standard_normal((*a.shape[:-1], n) if op == "triangular_solve" else a.shape[:-1])
    if op in ("cholesky", "eigh"):
        a = a @ np.swapaxes(a, -1, -2) / n + (np.eye(n) if op == "cholesky" else 0)
    if op in ("triangular_solve", "solve", "inv"):
        a = a / np.sqrt(n) + 3 * np.eye(n)
    dtype = np.float32 if kind == "f32" else np.float64
    return [x.astype(dtype) for x in ((a, b) if op in ("triangular_solve", "solve", "lstsq") else (a,))]


def free_of_choice(op, results):
    """What of the results has one answer: no signs of vectors, no order of eigenvalues."""
    import numpy as np

    if op == "qr":
        return [np.abs(results[1])]
    if op == "eig":
        return [np.sort(np.abs(results[0]), axis=-1)]
    return {"eigh": [results[0]], "svd": [results[1] if len(results) == 3 else results[0]]}.get(op, results)


def compare(op, ours, theirs):
    import numpy as np

    for a, b in zip(free_of_choice(op, ours), free_of_choice(op, theirs)):
        a, b = np.asarray(a), np.asarray(b)
        far = np.max(np.abs(a - b)) / max(1.0, np.max(np.abs(b)))
        limit = 200 * np.sqrt(a.shape[-1]) * np.finfo(a.dtype).eps * (20 if op in ("lstsq", "eig", "solve", "inv") else 1)
        if not far <= limit:
            return f"differs by {far:.3g}, {limit:.3g} allowed"
    return None


class Theirs:
    def __init__(self, function, arguments):
        import jax

        self.function = jax.jit(function)
        self.arguments = [jax.device_put(a) for a in arguments]
        self.wait = jax.block_until_ready
        self.results = [x for x in jax.tree.leaves(self.wait(self.function(*self.arguments)))]

    def seconds(self, runs):
        function, arguments, wait = self.function, self.arguments, self.wait
        start = time.perf_counter()
        for _ in range(runs):
            wait(function(*arguments))
        return time.perf_counter() - start


def row_major(text):
    """The program with row-major results, as XLA gives them back, where JAX's text states LAPACK's layout for one."""
    head, rest = text.split("\n", 1)
    body, root = rest.rsplit("  ROOT ", 1)
    arguments, results = head.split(")->", 1)
    shape, tuple_of = root.split(") tuple(", 1)
    plain = lambda shapes: shapes.replace("{0,1}", "{1,0}").replace("{1,2,0}", "{2,1,0}")
    return f"{arguments})->{plain(results)}\n{body}  ROOT {plain(shape)}) tuple({tuple_of}"


def ours_of(indim, name, function, arguments, like_results):
    import jax
    import jax.numpy as jnp
    import numpy as np
    from native import like

    many = lambda *x: (*jax.tree.leaves(function(*x)), jnp.zeros(()))  # always a tuple
    text = row_major(jax.jit(many).lower(*arguments).compiler_ir("hlo").as_hlo_text(True))
    program = indim.compile(name, text)
    results = [like(np.zeros(r.shape, r.dtype)) for r in [*like_results, np.zeros(())]]
    program.bind([like(a) for a in arguments], results)
    program.seconds(1)
    return program, results[:-1]


def per_run(entry, runs):
    return entry.seconds(runs) / runs


def runs_of(entry, seconds):
    once = entry.seconds(1)
    once = min(once, entry.seconds(1)) if once < seconds else once
    return once, max(1, min(20000, int(seconds / max(once, 1e-9))))


def measure(ours, theirs, empty, options):
    from run import wait_for_sleep

    contestants = {"ours": ours, "xla": theirs, "empty": empty}
    once, runs = zip(*(runs_of(c, 0.01) for c in contestants.values()))
    runs = dict(zip(contestants, runs))
    times = {name: [] for name in contestants}
    for _ in range(3 if max(once) > options.most else options.rounds):
        for name, contestant in contestants.items():
            if options.threads > 1:
                wait_for_sleep()
            times[name].append(per_run(contestant, runs[name]))
    median = {name: statistics.median(t) for name, t in times.items()}
    return {"ours": median["ours"], "xla": median["xla"] - median["empty"], "empty": median["empty"]}


def child(options):
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-options.threads :])
    sys.path.insert(0, str(FOLDER))
    import jax
    import numpy as np
    from native import Indim, Refused

    jax.config.update("jax_enable_x64", True)
    indim = Indim(options.library, options.threads)
    empty = Theirs(lambda x: x, [np.zeros(1, np.float32)])
    for row in rows():
        name = name_of(row)
        if not re.search(options.only, name):
            continue
        op = row[0]
        function, arguments = function_of(op), arguments_of(row)
        record = {"row": name, "threads": options.threads}
        try:
            theirs = Theirs(function, arguments)
            program, results = ours_of(indim, op, function, arguments, theirs.results)
            wrong = compare(op, results, theirs.results)
            record.update({"note": wrong} if wrong else measure(program, theirs, empty, options))
            program.close()
        except Refused as error:
            record["note"] = str(error)[:200]
        print(json.dumps(record), flush=True)


# ------------------------------------------------------------------------------------------------------- the parent


def children(options):
    from run import child_environment

    for threads in options.threads.split(","):
        command = [sys.executable, str(FOLDER / "linalg.py"), "--child", "--threads", threads, "--only", options.only]
        command += ["--rounds", str(options.rounds), "--most", str(options.most), "--library", options.library]
        with subprocess.Popen(
            command, cwd=ROOT, env=child_environment(int(threads)), stdout=subprocess.PIPE, text=True
        ) as process:
            for line in process.stdout:
                yield json.loads(line)
        if process.returncode != 0:
            raise SystemExit(f"linalg: the process for {threads} threads ended with {process.returncode}")


def ratio(record):
    """XLA's time / ours; none where XLA's is lost in the time of an empty call."""
    return record["xla"] / record["ours"] if "ours" in record and record["xla"] > 0.2 * record["empty"] else None


def line(record):
    head = f"{record['threads']}T {record['row']:32}"
    if "note" in record:
        return f"{head} {record['note']}"
    r = ratio(record)
    return f"{head} {record['ours'] * 1e6:12.2f} {record['xla'] * 1e6:12.2f} {f'{r:8.2f}' if r else '-':>8}"


def geometric(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def summary(records):
    """Means by op, of small matrices and of large ones."""
    for threads in sorted({r["threads"] for r in records}):
        for op in OPS:
            parts = []
            for what, fits in (("up to 32", lambda n: n <= 32), ("from 64 on", lambda n: n >= 64)):
                found = [r for r in records if r["threads"] == threads and r["row"].startswith(op + " ")]
                values = [ratio(r) for r in found if ratio(r) and fits(int(r["row"].split()[-1]))]
                if values:
                    parts.append(f"{what} {geometric(values):.2f} ({min(values):.2f} to {max(values):.2f})")
            if parts:
                yield f"{threads}T {op:18} XLA / ours: {', '.join(parts)}"


def short_time(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def cell(record):
    if record is None or "note" in record:
        return "-" if record is None else record["note"].replace("|", "/")
    r = ratio(record)
    shown = "-" if r is None else f"{r:.2f}" if r >= 1 else f"**{r:.2f}**"
    return f"{short_time(record['ours'])}, {shown}"


def table(records, threads):
    found = {r["row"]: r for r in records if r["threads"] == threads}
    out = ["| what | matrices | f32: ours, XLA / ours | f64: ours, XLA / ours |", "|---|---|--:|--:|"]
    seen = set()
    for op, _, batch, n in rows():
        names = [name_of((op, kind, batch, n)) for kind in ("f32", "f64")]
        if (op, batch, n) in seen or not any(name in found for name in names):
            continue
        seen.add((op, batch, n))
        size = f"{2 * n} x {n}" if op == "lstsq" else f"{n} x {n}"
        out.append(f"| {op} | {f'{batch} of ' if batch > 1 else ''}{size} | {cell(found.get(names[0]))} | {cell(found.get(names[1]))} |")
    return out


def machine():
    """A line about it; what else ran meanwhile says how much the numbers are worth."""
    import importlib.metadata
    import report

    cpu = report.read("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.*)", cpu)
    vectors = next((v for v in ("avx512f", "avx2") if v in cpu), "")
    load = f"load average {os.getloadavg()[1]:.1f}" if hasattr(os, "getloadavg") else ""
    parts = [model.group(1) if model else "", vectors, f"{os.cpu_count()} processors", load]
    parts += [f"{name} {importlib.metadata.version(name)}" for name in ("jaxlib", "scipy")]
    return "Measured on " + ", ".join(part for part in parts if part) + "."


def write(records, path):
    import report

    out = [
        report.LINEAR_ALGEBRA,
        "",
        "Written by `bench/linalg.py --write`. Programs as JAX lowers them, with the LAPACK calls that it makes of these",
        "functions, against `jax.jit` of the same, which calls SciPy's OpenBLAS: our time, and XLA's time / ours (below 1, in",
        "bold, we are slower). Of XLA's time that of an empty call is subtracted; there is no ratio where nothing is left.",
        "",
        machine(),
        "",
        "```",
        *summary(records),
        "```",
        "",
    ]
    for threads in sorted({r["threads"] for r in records}):
        out += [f"### {threads} thread{'s' if threads > 1 else ''}", "", *table(records, threads), ""]
    report.write_section(path, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose name matches: 'cholesky f64', 'eig f.. .* 8$'")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=0.3)
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libindim.so"))
    parser.add_argument("--json")
    parser.add_argument("--merge")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        options.threads = int(options.threads)
        return child(options)
    sys.path.insert(0, str(FOLDER))
    records = json.loads(pathlib.Path(options.merge).read_text()) if options.merge else []
    print(f"   {'':32} {'ours us':>12} {'XLA us':>12} {'XLA/ours':>8}")
    for record in children(options):
        records = [r for r in records if (r["row"], r["threads"]) != (record["row"], record["threads"])] + [record]
        print(line(record), flush=True)
        if options.json:
            pathlib.Path(options.json).write_text(json.dumps(records, indent=1))
    print("\n".join(summary(records)))
    if options.write:
        write(records, ROOT / "docs" / "benchmarks.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
