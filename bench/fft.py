#!/usr/bin/env python3
"""Times our Fourier transforms against SciPy's (pocketfft) and XLA:CPU's, one thread each.

    INDIM_WITNESS_LIB=build/release/libindim_witness.so fft.py [--rounds N] [--only TEXT] [--without-xla] [--bytes N]

Each line has a transform, our time, and ours divided by each peer's: below 1 we are faster. Times are medians over
rounds in which all take turns. Of XLA's time an empty compiled call is subtracted, of ours an empty foreign call; SciPy
is called below its argument checks. XLA's calls take some microseconds, which vary: where the transform takes less than
that, there is no number. Errors are L2 norms relative to the result in long double.
"""

import argparse
import ctypes
import os
import statistics
import sys
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
if hasattr(os, "sched_setaffinity"):  # XLA has as many threads as there are processors to run on
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import numpy as np
from scipy.fft._pocketfft import pypocketfft

KINDS = {"fft": 0, "ifft": 1, "rfft": 2, "irfft": 3}


class Ours:
    def __init__(self, path, vector_bytes):
        library = ctypes.CDLL(path)
        self.function = library.witness_fft
        self.function.restype = ctypes.c_int32
        self.function.argtypes = (
            [ctypes.c_int32] * 4 + [ctypes.c_int64] * 2 + [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 2
        )
        self.scratch_bytes = library.witness_fft_scratch_bytes
        self.scratch_bytes.restype = ctypes.c_int64
        self.scratch_bytes.argtypes = [ctypes.c_int32] * 4 + [ctypes.c_int64] * 2 + [ctypes.c_void_p]
        self.vector_bytes = vector_bytes

    def prepare(self, kind, x, lengths, out):
        batch = x.size // max(1, int(np.prod(x.shape[-len(lengths) :])))
        sizes = (ctypes.c_int64 * 3)(*lengths)
        is_f64 = int(x.dtype in (np.float64, np.complex128))
        head = [KINDS[kind], is_f64, self.vector_bytes, 1, batch, len(lengths), sizes]
        need = self.scratch_bytes(*head)
        scratch = np.empty(need + 64, np.uint8)
        start = scratch.ctypes.data + (-scratch.ctypes.data) % 64
        keep = (x, out, sizes, scratch)

        def run(times):
            assert self.function(*head, out.ctypes.data, x.ctypes.data, start, need, times) == 0, keep

        return run


def scipy_call(kind, x, lengths, out):
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if kind in ("fft", "ifft"):
        forward, norm = kind == "fft", 0 if kind == "fft" else 2
        return lambda: pypocketfft.c2c(x, axes, forward, norm, out, 1)
    if kind == "rfft":
        return lambda: pypocketfft.r2c(x, axes, True, 0, out, 1)
    return lambda: pypocketfft.c2r(x, axes, lengths[-1], False, 2, out, 1)


class Xla:
    def __init__(self):
        import jax

        self.jax = jax
        jax.config.update("jax_enable_x64", True)
        self.empty = self.prepare_function(lambda x: x, np.zeros(1, np.float32))

    def prepare_function(self, function, x):
        jitted = self.jax.jit(function)
        x = self.jax.device_put(x)
        return lambda: jitted(x).block_until_ready()

    def prepare(self, kind, x, lengths):
        return self.prepare_function(lambda a: self.jax.lax.fft(a, kind.upper(), lengths), x)


def per_call(call, seconds=0.004):
    """The time of one call, of as many as fit into about `seconds`."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    count = max(1, min(2000, int(seconds / max(once, 1e-7))))
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def ours_per_call(run, seconds=0.004):
    start = time.perf_counter()
    run(1)
    once = time.perf_counter() - start
    count = max(1, min(100000, int(seconds / max(once, 1e-8))))
    start = time.perf_counter()
    run(count)
    return (time.perf_counter() - start) / count


def made(kind, double, shape, lengths):
    rng = np.random.default_rng(7)
    real, full = (np.float64, np.complex128) if double else (np.float32, np.complex64)
    size_in, size_out = list(shape) + list(lengths), list(shape) + list(lengths)
    half = lengths[-1] // 2 + 1
    if kind == "irfft":
        size_in[-1] = half
    if kind == "rfft":
        size_out[-1] = half
    x = rng.standard_normal(size_in)
    if kind != "rfft":
        x = x + 1j * rng.standard_normal(size_in)
    return x.astype(real if kind == "rfft" else full), np.empty(size_out, real if kind == "irfft" else full)


def exact(kind, x, lengths):
    import scipy.fft

    x = x.astype(np.clongdouble if np.iscomplexobj(x) else np.longdouble)
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    if kind == "irfft":
        return scipy.fft.irfftn(x, lengths, axes=axes)
    return getattr(scipy.fft, kind + "n")(x, axes=axes)


def error(value, reference):
    value = np.asarray(value).astype(reference.dtype)
    return float(np.linalg.norm((value - reference).ravel()) / np.linalg.norm(reference.ravel()))


def rows():
    ones = [2**k for k in range(3, 21)] + [3 * 2**k for k in (2, 4, 6, 8, 10, 12, 15, 18)]
    ones += [5**k for k in range(2, 9)] + [7**4, 1000, 10000, 100000, 17, 97, 1009, 65537]
    for kind in ("fft", "rfft", "irfft"):
        for double in (False, True):
            for n in ones if kind == "fft" else ones[::2] + [1009]:
                yield kind, double, (), (n,)
            for batch, lengths in (
                ((1000,), (8,)), ((1000,), (64,)), ((1000,), (100,)), ((1000,), (97,)), ((100,), (1000,)),
                ((100,), (1024,)), ((100,), (1009,)), ((16,), (16384,)), ((), (256, 256)), ((), (1000, 1000)),
                ((), (1024, 1024)), ((10,), (100, 100)), ((), (64, 64, 64)), ((), (100, 100, 100)),
            ):  # fmt: skip
                yield kind, double, batch, lengths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--without-xla", action="store_true")
    parser.add_argument("--bytes", type=int, default=0, help="of our vectors: 16, 32, 64; 0: the widest")
    parser.add_argument("--errors", action="store_true", help="compare with long double, and print errors")
    options = parser.parse_args()
    ours = Ours(os.environ["INDIM_WITNESS_LIB"], options.bytes)
    xla = None if options.without_xla else Xla()
    print(f"{'transform':32} {'ours us':>10} {'/scipy':>7} {'/xla':>7}")
    losses = []
    ratios = {"scipy": [], "xla": []}
    for kind, double, shape, lengths in rows():
        x, out = made(kind, double, shape, lengths)
        dtype = ("c128" if double else "c64") if kind == "fft" else ("f64" if double else "f32")
        name = f"{kind} {dtype} {list(shape) if shape else ''}{'x'.join(map(str, lengths))}"
        if options.only not in name:
            continue
        theirs = np.empty_like(out)
        run = ours.prepare(kind, x, lengths, out)
        scipy = scipy_call(kind, x, lengths, theirs)
        jitted = xla.prepare(kind, x, lengths) if xla else None
        empty = statistics.median(per_call(xla.empty, 0.002) for _ in range(5)) if xla else 0
        times = {"ours": [], "scipy": [], "xla": []}
        for _ in range(options.rounds):
            times["ours"].append(ours_per_call(run))
            times["scipy"].append(per_call(scipy))
            if jitted:
                times["xla"].append(per_call(jitted) - empty)
        t = {k: statistics.median(v) for k, v in times.items() if v}
        if t.get("xla", 1) < empty:
            del t["xla"]
        line = f"{name:32} {t['ours'] * 1e6:10.2f}"
        for peer in ("scipy", "xla"):
            if peer not in t:
                line += f" {'-':>7}"
            else:
                ratio = t["ours"] / t[peer]
                ratios[peer].append(ratio)
                line += f" {ratio:7.2f}"
                if ratio > 1:
                    losses.append(f"{name}: {ratio:.2f} of {peer}'s time")
        if options.errors:
            reference = exact(kind, x, lengths)
            line += f"   {error(out, reference):.2e} scipy {error(theirs, reference):.2e}"
            line += f" xla {error(jitted(), reference):.2e}" if jitted else ""
        print(line, flush=True)
    for peer, values in ratios.items():
        if values:
            print(f"geometric mean of ours / {peer}: {np.exp(np.mean(np.log(values))):.3f}")
    print("slower than a peer:" if losses else "nowhere slower than a peer")
    for loss in losses:
        print("   ", loss)


if __name__ == "__main__":
    sys.exit(main())
