#!/usr/bin/env python3
"""Times jax.random's functions, lowered by JAX and compiled by us, against XLA:CPU, one thread each.

    random_numbers.py [--lib build/release/libindim.so] [--rounds N] [--only TEXT] [--write] [--texts FOLDER]

Each line has a program, our time, and XLA's divided by ours: above 1 we are faster. Times are medians over rounds in which
both take turns. Of XLA's time that of an empty compiled call is subtracted. The results of every program are compared:
integers bit for bit. --write puts the table into docs/benchmarks.md.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

ENVIRONMENT = {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
    # malloc keeps what was freed, so that results in fresh buffers do not pay for their pages each time.
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "MALLOC_TOP_PAD_": str(64 << 20),
    "MALLOC_ARENA_MAX": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):
    sys.exit(subprocess.call([sys.executable, *sys.argv], env={**os.environ, **ENVIRONMENT}))
if hasattr(os, "sched_setaffinity"):  # XLA has as many threads as there are processors to run on
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import jax
import jax.numpy as jnp
import numpy as np

import native
import report

CLOCK = time.perf_counter
KEY = jax.random.PRNGKey(0)


def in_a_loop(function, steps):
    """The sum of the function's numbers over `steps` keys, each split from the one before."""

    def step(_, carried):
        key, total = carried
        key, own = jax.random.split(key)
        return key, total + function(own)

    return lambda key: jax.lax.fori_loop(0, steps, step, (key, jnp.zeros_like(function(key))))[1]


def scanned(function, steps):
    """The function's numbers for each of `steps` keys, one row each."""

    def step(key, _):
        key, own = jax.random.split(key)
        return key, function(own)

    return lambda key: jax.lax.scan(step, key, None, steps)[1]


def generated(algorithm, size):
    kind = getattr(jax.lax.RandomAlgorithm, algorithm)
    return lambda key: jax.lax.rng_bit_generator(jnp.concatenate([key, key]), (size,), algorithm=kind)[1]


def rows():
    r = jax.random
    for size in (1000, 100_000, 10_000_000):
        n = f"{size:.0e}".replace("+0", "")
        yield f"bits {n}", lambda k, size=size: r.bits(k, (size,))
        yield f"uniform {n}", lambda k, size=size: r.uniform(k, (size,))
        yield f"normal {n}", lambda k, size=size: r.normal(k, (size,))
        yield f"rng-bit-generator three_fry {n}", generated("RNG_THREE_FRY", size)
        yield f"rng-bit-generator philox {n}", generated("RNG_PHILOX", size)
    for size in (1000, 100_000):
        n = f"{size:.0e}".replace("+0", "")
        yield f"split {n}", lambda k, size=size: r.split(k, size)
        yield f"randint {n}", lambda k, size=size: r.randint(k, (size,), 0, 1000)
        yield f"bernoulli {n}", lambda k, size=size: r.bernoulli(k, 0.3, (size,))
        yield f"exponential {n}", lambda k, size=size: r.exponential(k, (size,))
        yield f"permutation {n}", lambda k, size=size: r.permutation(k, size)
    yield "bits u8 1e5", lambda k: r.bits(k, (100_000,), "uint8")
    yield "normal bf16 1e5", lambda k: r.normal(k, (100_000,), "bfloat16")
    yield "categorical 1000 of 100", lambda k: r.categorical(k, jnp.zeros((1000, 100)))
    yield "uniform 317x300", lambda k: r.uniform(k, (317, 300))
    yield "vmap of uniform 100x1000", lambda k: jax.vmap(lambda x: r.uniform(x, (1000,)))(r.split(k, 100))
    yield "vmap of normal 10000x4", lambda k: jax.vmap(lambda x: r.normal(x, (4,)))(r.split(k, 10000))
    yield "vmap of fold_in 10000", lambda k: jax.vmap(lambda i: r.fold_in(k, i))(jnp.arange(10000))
    yield "loop of 1000: uniform 1", in_a_loop(lambda k: r.uniform(k), 1000)
    yield "loop of 1000: uniform 3", in_a_loop(lambda k: r.uniform(k, (3,)), 1000)
    yield "loop of 1000: normal 16", in_a_loop(lambda k: r.normal(k, (16,)), 1000)
    yield "loop of 1000: normal 100", in_a_loop(lambda k: r.normal(k, (100,)), 1000)
    yield "loop of 1000: normal 1000", in_a_loop(lambda k: r.normal(k, (1000,)), 1000)
    yield "loop of 1000: fold_in", lambda k: jax.lax.fori_loop(0, 1000, lambda i, key: r.fold_in(key, i), k)
    yield "loop of 1000: randint 8", in_a_loop(lambda k: r.randint(k, (8,), 0, 100), 1000)
    yield "scan of 1000: uniform 10", scanned(lambda k: r.uniform(k, (10,)), 1000)
    yield "scan of 1000: normal 100", scanned(lambda k: r.normal(k, (100,)), 1000)


def lower(function):
    text = jax.jit(function).lower(KEY).as_text("hlo")
    text = re.sub(r", metadata=\{[^}]*\}", "", text)

    def row_major(found):
        return f"[{found.group(1)}]{{" + ",".join(str(d) for d in reversed(range(found.group(1).count(",") + 1))) + "}"

    return re.sub(r"\[([\d,]+)\]\{[\d,]+\}", row_major, text)


def xla_seconds(function, runs):
    start = CLOCK()
    for _ in range(runs):
        function(KEY).block_until_ready()
    return (CLOCK() - start) / runs


class Ours:
    def __init__(self, indim, name, text, like):
        self.executable = indim.compile(name, text)
        self.results = [native.like(like)]
        self.executable.bind([native.like(np.asarray(KEY))], self.results)

    def seconds(self, runs):
        return self.executable.seconds(runs) / runs


def runs_for(seconds, budget=0.02):
    return max(1, min(2000, int(budget / max(seconds, 1e-7))))


def same(a, b):
    if a.dtype.kind in "iub":
        return np.array_equal(a, b)
    return np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=2e-2 if a.itemsize < 4 else 2e-5, atol=1e-4)


def measure(name, function, indim, rounds, middle, empty):
    jitted = jax.jit(function)
    expected = np.asarray(jitted(KEY))
    text = lower(function)
    ours = Ours(indim, name, text, expected)
    ours.seconds(1)
    if not same(ours.results[0], expected):
        print(f"{name}: results differ")
    timers = [ours.seconds, lambda runs: xla_seconds(jitted, runs)]
    counts = [runs_for(timer(2)) for timer in timers]
    times = [[], []]
    for _ in range(rounds):
        for own, timer, count in zip(times, timers, counts):
            own.append(timer(count))
    mine, theirs = (middle(own) for own in times)
    theirs = max(theirs - empty, 0)
    print(f"{name:34} {mine * 1e6:10.1f} {theirs * 1e6:10.1f} {theirs / mine:7.2f}", flush=True)
    return mine, theirs


def publish(times, ratios, what):
    """The section of docs/benchmarks.md."""
    rows = [f"| {name} | {mine * 1e6:.1f} | {theirs / mine:.2f} |" for name, (mine, theirs) in times.items()]
    section = [
        report.RANDOM_NUMBERS,
        "",
        "Written by `bench/random_numbers.py --write`: functions of jax.random with JAX's default generator (ThreeFry),",
        f"and rng-bit-generator, lowered by JAX; one thread each, {what} of rounds in turn. The last column is XLA's time,",
        "less an empty call, / ours. XLA's calls take some ten microseconds, which vary: rows below that say little.",
        "",
        "| program | ours, us | XLA |",
        "|---|--:|--:|",
        *rows,
        "",
        f"Geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}.",
        "",
    ]
    report.write_section(native.FOLDER.parent / "docs" / "benchmarks.md", section)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", default=str(native.FOLDER.parent / "build" / "release" / "libindim.so"))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--least", action="store_true", help="the least times instead of medians, for a busy machine")
    parser.add_argument("--write", action="store_true", help="write the section of docs/benchmarks.md")
    parser.add_argument("--texts", default="", help="write the programs' texts there, and measure nothing")
    options = parser.parse_args()
    chosen = [(name, function) for name, function in rows() if options.only in name]
    if options.texts:
        for name, function in chosen:
            file = re.sub(r"\W+", "_", name) + ".hlo"
            (pathlib.Path(options.texts) / file).write_text(lower(function))
        return
    indim = native.Indim(options.lib)
    nothing = jax.jit(lambda key: key)
    middle = min if options.least else statistics.median
    empty = middle([xla_seconds(nothing, 1000) for _ in range(9)])
    print(f"an empty call of XLA takes {empty * 1e6:.1f} us")
    print(f"{'':34} {'ours us':>10} {'XLA us':>10} {'ratio':>7}")
    times = {name: measure(name, function, indim, options.rounds, middle, empty) for name, function in chosen}
    ratios = [theirs / mine for mine, theirs in times.values()]
    if ratios:
        print(f"geometric mean {statistics.geometric_mean(ratios):.2f}, least {min(ratios):.2f}")
    if options.write:
        publish(times, ratios, "least times" if options.least else "medians")


if __name__ == "__main__":
    main()
