#!/usr/bin/env python3
"""The benchmark: every row of rows.py, ours and the peers alternately in one process, with 1 and with 2 threads.

    run.py [--only PATTERN] [--quick] [--threads 1,2] [--against xla,numpy,...] [--target native,x86-64-v3,...]
           [--json FILE] [--write] [--merge FILE]

A process of its own for each number of threads, bound to as many processors, because XLA reads that once. Each row: the
program is compiled from its text, all contestants' results are compared, then rounds of batches in turn; a time is the
median over rounds of a batch's time by run, the spread half the distance of the quartiles by the median. With several
targets the first is ours, and the code for the others runs in turn with it like a peer. --json keeps the
numbers, --merge takes rows that were not run now from such a file, --write makes docs/benchmarks.md and its plot.
"""

import argparse
import gc
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).parent
ROOT = FOLDER.parent
PEERS = ("xla", "numpy", "numexpr", "torch", "torchc", "onednn")
GUARD_SECONDS = 60


def child_environment(threads):
    """One process's environment. XLA counts the processors it may use; malloc keeps what was freed, in huge pages, so
    that a result in a fresh buffer does not pay for its pages each time: without it XLA, NumPy and PyTorch are slower.
    """
    env = dict(os.environ)
    env.update(
        JAX_PLATFORMS="cpu",
        TF_CPP_MIN_LOG_LEVEL="3",
        MALLOC_MMAP_MAX_="0",
        MALLOC_TRIM_THRESHOLD_=str(1 << 40),
        MALLOC_TOP_PAD_=str(64 << 20),
        MALLOC_ARENA_MAX="1",
        GLIBC_TUNABLES="glibc.malloc.hugetlb=1",
        OMP_NUM_THREADS=str(threads),
        OPENBLAS_NUM_THREADS=str(threads),
        MKL_NUM_THREADS=str(threads),
        NUMEXPR_MAX_THREADS=str(threads),
        PYTHONUNBUFFERED="1",
    )
    if threads == 1:
        env["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    return env


# ------------------------------------------------------------------------------------------------ inside the child


def result_specs(text):
    """Types and sizes of the result's leaves, from the text's first line."""
    head = text.split("\n", 1)[0]
    found = re.search(r"->(.*)\}", head)
    if not found:
        raise ValueError("no entry_computation_layout")
    return [
        (kind, tuple(int(d) for d in dims.split(",") if d))
        for kind, dims in re.findall(r"([a-z]+\d*)\[([\d,]*)\]", found.group(1))
    ]


def differs(got, wanted, tolerance, by_size=False):
    """None, or what is wrong. |by_size|: the tolerance is relative to the largest element of each result."""
    import numpy as np

    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    for i, (a, b) in enumerate(zip(got, wanted)):
        a, b = np.asarray(a).reshape(-1), np.asarray(b).reshape(-1)
        if a.shape != b.shape:
            return f"result {i} has {a.size} elements instead of {b.size}"
        if a.dtype.kind not in "iub" and a.dtype.itemsize < 4:
            a = a.astype(np.float32)
        if a.dtype != b.dtype:
            b = b.astype(a.dtype)
        if np.array_equal(a, b):
            continue
        if a.dtype.kind in "iub":
            bad = a != b
        else:
            # Chains of steps are judged by the size of the whole result.
            scale = max(1.0, float(np.max(np.abs(b))) if by_size or tolerance > 1e-3 else 1.0)
            bad = ~(np.abs(a - b) <= tolerance * np.maximum(np.abs(b), scale)) & ~(np.isnan(a) & np.isnan(b))
        if bad.any():
            k = int(np.argmax(bad))
            return f"result {i}[{k}] is {a[k]:.9g} instead of {b[k]:.9g} ({int(bad.sum())} of {a.size} differ)"
    return None


def may_compile(row):
    """Whether XLA compiles a program within the row's memory and a minute, found out in a process of its own."""
    code = (
        "import contextlib, sys; sys.path.insert(0, 'bench')\nfrom rows import *\nfrom peers import XlaText\n"
        f"row = next(r for r in ROWS if r.name == {row.name!r})\n"
        "XlaText(text_of(row), [make(a, i) for i, a in enumerate(row.args)], contextlib.nullcontext())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    start = time.monotonic()
    said = None
    while process.poll() is None and said is None:
        time.sleep(0.05)
        try:
            pages = int(pathlib.Path(f"/proc/{process.pid}/statm").read_text().split()[1])
        except (OSError, IndexError, ValueError):
            continue
        if pages * os.sysconf("SC_PAGE_SIZE") > row.xla_limit:
            said = f"needs over {row.xla_limit >> 30} GiB to compile"
        elif time.monotonic() - start > GUARD_SECONDS:
            said = f"compiles for over {GUARD_SECONDS} s"
    if said:
        process.kill()
    process.wait()
    return said or (None if process.returncode == 0 else "aborts in compilation")


def status_bytes(field):
    found = re.search(rf"^{field}:\s*(\d+) kB", pathlib.Path("/proc/self/status").read_text(), re.M)
    return int(found.group(1)) * 1024 if found else 0


class Peak:
    """with Peak() as peak: ...; then peak.bytes is by how much the process grew at most meanwhile, where Linux tells."""

    def __enter__(self):
        import ctypes

        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        self.bytes = None
        self.before = status_bytes("VmRSS")
        try:
            pathlib.Path("/proc/self/clear_refs").write_text("5")
        except OSError:
            self.before = None
        return self

    def __exit__(self, *error):
        if self.before is not None:
            self.bytes = max(0, status_bytes("VmHWM") - self.before)


def wait_for_sleep():
    """Waits until no thread of this process runs on. The last contestant's workers look for more work for a while (those
    of OpenMP for 8 ms, of NumPy's product for 110 ms) and would take a processor from the next one.
    """
    for _ in range(50):  # longer than a tick of the system's clock, at which it sees what other threads took
        before = time.process_time()
        time.sleep(0.012)
        if time.process_time() - before < 0.001:
            break


class Contest:
    """One row in one process."""

    def __init__(self, row, options, indim):
        import numpy as np

        from native import like
        from rows import TYPES, make, text_of

        self.row, self.options, self.indim = row, options, indim
        self.text = text_of(row)
        self.args = [make(kind, seed) for seed, kind in enumerate(row.args)]
        self.specs = result_specs(self.text)
        self.like = like
        self.new_results = lambda: [like(np.zeros(sizes, TYPES[kind])) for kind, sizes in self.specs]
        self.entries = {}  # name -> object with seconds(runs)
        self.notes = {}  # name -> why it is not there
        self.compile = {}
        self.reference = None

    def buffers(self):
        """Arguments and results of a contestant of its own; a donated argument is the result."""
        args = [self.like(a) for a in self.args]
        results = self.new_results()
        for i, argument in enumerate(self.row.donate):
            results[i] = args[argument]
        return args, results

    def compare(self, name, got):
        if self.reference is None:
            self.reference = (name, got)
            return None
        return differs(got, self.reference[1], self.row.tol, self.row.by_size)

    def enter(self, name, make):
        """Adds a contestant, or the reason why there is none. make() answers the entry and its first results."""
        try:
            entry, got = make()
            wrong = self.compare(name, got)
            if wrong:
                self.notes[name] = f"differs from {self.reference[0]}: {wrong}"
                if name.startswith("indim"):
                    return
            self.entries[name] = entry
        except Exception as error:  # whatever a peer raises is the reason
            self.notes[name] = (str(error) or type(error).__name__).strip().split("\n")[0][:300]

    def prepare(self):
        import peers
        from native import CONTRACT, row_kernel

        row, threads = self.row, self.options.threads
        wanted, targets = self.options.against, self.options.target

        def xla():
            peak = Peak()
            entry = xla_compiled(peak)
            self.compile["xla"] = entry.compile_seconds
            self.compile["xla_bytes"] = peak.bytes
            return entry, entry.results()

        def xla_compiled(peak):
            if row.fn is not None:
                return peers.Xla(row, self.args, peak)
            said = may_compile(row) if row.xla_limit else None
            if said:
                raise RuntimeError(said)
            return peers.XlaText(self.text, self.args, peak)

        def c(strict):
            def made():
                args, results = self.buffers()
                kernel = row_kernel(row, threads, strict, args, results)
                kernel.seconds(1)
                return kernel, [r.copy() for r in results]

            return made

        def ours(fast, target):
            def made():
                if self.indim is None:
                    raise RuntimeError(self.options.no_indim)
                args, results = self.buffers()
                with Peak() as peak:
                    start = time.perf_counter()
                    program = self.indim.compile(row.name, self.text, fast, target)
                    program.bind(args, results, row.each_run)
                    program.seconds(1)
                    first = time.perf_counter() - start
                if not fast and target == targets[0]:
                    self.compile["indim"] = first
                    self.compile["indim_stages"] = program.times()
                    self.compile["indim_bytes"] = (
                        peak.bytes + sum(r.nbytes for r in results[len(row.donate) :])
                        if peak.bytes is not None
                        else None
                    )
                self.programs.append(program)
                return program, [r.copy() for r in results]

            return made

        self.programs = []
        if "xla" in wanted and peers.installed("jax"):
            self.enter("xla", xla)
        if row.kernel:
            self.enter("c", c(False))
            if row.group == "small":
                self.enter("c_strict", c(True))
        self.enter("indim", ours(0, targets[0]))
        for target in targets[1:]:
            self.enter(f"indim for {target}", ours(0, target))
        if row.group == "small" and "indim" in self.entries:
            self.enter("indim_contract", ours(CONTRACT, targets[0]))

        def with_buffers(make):
            def made():
                args, results = self.buffers()
                entry = make(args, results)
                return entry, entry.results()

            return made

        if row.np and "numpy" in wanted:
            self.enter("numpy", with_buffers(lambda a, r: peers.numpy_peer(row, a, r)))
        if row.ne and "numexpr" in wanted and peers.installed("numexpr"):
            self.enter("numexpr", with_buffers(lambda a, r: peers.numexpr_peer(row, a, r, threads)))
        if row.dnn and "onednn" in wanted and pathlib.Path("/usr/include/oneapi/dnnl/dnnl.h").exists():
            self.enter("onednn", with_buffers(lambda a, r: peers.onednn_peer(row, a, r)))
        if row.th and peers.installed("torch"):
            if "torch" in wanted:
                self.enter("torch", with_buffers(lambda a, r: peers.torch_eager(row, a, r)))
            if "torchc" in wanted:
                self.enter("torchc", with_buffers(lambda a, r: peers.torch_compiled(row, a)))
        if row.reads + row.writes:
            from native import limits

            self.entries["limit"] = limits(threads, row.reads, row.writes, self.options.quick)

    def measure(self):
        target, rounds = (0.001, 9) if self.options.quick else (0.01, 11)
        runs = {}
        for name, entry in list(self.entries.items()):
            once = entry.seconds(1)
            once = min(once, entry.seconds(1)) if once < 1 else once
            few = max(1, min(1000, int(target / 4 / max(once, 1e-9))))
            by_run = entry.seconds(few) / few
            runs[name] = max(1, int(target / max(by_run, 1e-9)))
        times = {name: [] for name in runs}
        order = list(runs)
        gc.disable()
        for k in range(rounds):
            for name in order[k % len(order) :] + order[: k % len(order)]:
                if self.options.threads > 1:
                    wait_for_sleep()
                    # The system may take half a millisecond to wake a worker; who waits for it does so in the first run,
                    # who goes on without it in many.
                    self.entries[name].seconds(1 + runs[name] // 4)
                times[name].append(self.entries[name].seconds(runs[name]) / runs[name])
        gc.enable()
        gc.collect()
        return times

    def close(self):
        self.entries.clear()
        for program in self.programs:
            program.close()


def quartile(values, q):
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def child(options):
    os.sched_setaffinity(0, set(sorted(os.sched_getaffinity(0))[: options.threads]))
    sys.path.insert(0, str(FOLDER))
    from rows import ROWS

    try:
        import torch

        torch.set_num_threads(options.threads)
        torch.set_grad_enabled(False)
    except Exception:  # not there, or broken
        pass
    from native import Indim, Refused

    options.no_indim, indim = None, None
    try:
        indim = Indim(options.library, options.threads)
    except (OSError, Refused, AttributeError) as error:
        options.no_indim = str(error)
    names = set(options.rows.split(","))
    for row in ROWS:
        if row.name not in names:
            continue
        print(json.dumps({"begin": row.name}), flush=True)
        contest = Contest(row, options, indim)
        try:
            import contextlib

            import jax

            context = jax.enable_x64(row.wide)
        except ImportError:
            context = contextlib.nullcontext()
        with context:
            contest.prepare()
            times = {} if options.check else contest.measure()
        out = {
            "row": row.name,
            "threads": options.threads,
            "targets": options.target,
            "notes": contest.notes,
            "compile": contest.compile,
            "times": {
                name: {
                    "median": quartile(t, 0.5),
                    "spread": (quartile(t, 0.75) - quartile(t, 0.25)) / 2 / max(quartile(t, 0.5), 1e-12),
                    "least": min(t),
                }
                for name, t in times.items()
            },
        }
        contest.close()
        del contest
        gc.collect()
        print(json.dumps(out), flush=True)


# ------------------------------------------------------------------------------------------------------- the parent


def run_child(options, threads, names):
    """Yields a record for each row; a row in which the process died is named and left out of the next process."""
    left = list(names)
    while left:
        command = [
            sys.executable,
            str(FOLDER / "run.py"),
            "--child",
            "--threads",
            str(threads),
            "--rows",
            ",".join(left),
            "--library",
            str(options.library),
            "--against",
            options.against,
            "--target",
            options.target,
        ]
        command += ["--quick"] * options.quick + ["--check"] * options.check
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=child_environment(threads),
            stdout=subprocess.PIPE,
            text=True,
            stderr=None if options.verbose else subprocess.DEVNULL,
        )
        begun = None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            record = json.loads(line)
            if "begin" in record:
                begun = record["begin"]
                continue
            begun = None
            left.remove(record["row"])
            yield record
        process.wait()
        if begun is None:
            if left and process.returncode != 0:
                raise SystemExit(
                    f"bench: the process for {threads} threads ended with {process.returncode}; --verbose shows why"
                )
            return
        left.remove(begun)
        yield {
            "row": begun,
            "threads": threads,
            "notes": {"indim": f"the process ended with {process.returncode}"},
            "times": {},
            "compile": {},
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="rows whose name matches this pattern, or of this group")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds")
    parser.add_argument("--check", action="store_true", help="compare the results only, without timing anything")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--against", help="peers, of " + ",".join(PEERS) + ", or none (default: all that are there)")
    parser.add_argument("--target", default="native", help="what ours is compiled for; more names: others beside it")
    parser.add_argument("--json", help="write all numbers to this file")
    parser.add_argument("--merge", help="take rows not run now from this file")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md and docs/benchmarks.svg")
    parser.add_argument("--library", default=str(ROOT / "build" / "release" / "libindim.so"))
    parser.add_argument("--verbose", action="store_true", help="show what the processes say on standard error")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--rows", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.against = options.against or ("xla" if options.check else ",".join(PEERS))
    if options.child:
        options.threads = int(options.threads)
        options.against = options.against.split(",")
        options.target = options.target.split(",")
        return child(options)

    sys.path.insert(0, str(FOLDER))
    import report
    from native import kernels
    from rows import ROWS

    for threads in (1, 2):  # compiled here once, not in the middle of a measurement
        kernels(threads), kernels(threads, True)
    pattern = re.compile(options.only)
    chosen = [row for row in ROWS if pattern.search(row.name) or row.group == options.only]
    if not chosen:
        raise SystemExit(f"bench: no row matches {options.only}")
    records = json.loads(pathlib.Path(options.merge).read_text())["records"] if options.merge else []
    machine = None if options.check else report.machine()
    if machine:
        print(report.machine_text(machine))
    for threads in (int(t) for t in options.threads.split(",")):
        if machine:
            print(report.heading(threads, options.target.split(",")))
        for record in run_child(options, threads, [row.name for row in chosen]):
            records = [r for r in records if (r["row"], r["threads"]) != (record["row"], record["threads"])] + [record]
            print(report.check_line(record) if options.check else report.line(record), flush=True)
            if options.json:
                pathlib.Path(options.json).write_text(json.dumps({"machine": machine, "records": records}, indent=1))
    if options.check:
        wrong = sum("indim" in record["notes"] for record in records)
        print(f"{len(records) - wrong} passed, {wrong} failed")
        return int(wrong > 0)
    print(report.summary(records))
    if options.write:
        report.write(ROOT / "docs", machine, records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
