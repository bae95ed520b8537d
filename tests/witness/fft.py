#!/usr/bin/env python3
"""Fourier transforms against SciPy in long double and against XLA: the evaluator, and the library of the compiled engine.

    INDIM_LIB=build/dev/libindim.so INDIM_WITNESS_LIB=build/dev/libindim_witness.so fft.py [--seed N]

All kinds and types; all small lengths, random and long ones, one to three dimensions, batches. Errors are L2 norms of the
difference, relative to that of the exact result, in units of the type's epsilon. The evaluator, which computes in long
double, must be off by rounding alone; the library by at most a few roundings; XLA, to know that it means the same, too.
"""

import argparse
import ctypes
import os
import sys

import numpy as np
import scipy.fft

from _sample import sampled
from _xla import Xla
from eval_xla import Indim, IndimError, text_of

KINDS = ["FFT", "IFFT", "RFFT", "IRFFT"]
EVALUATOR_LIMIT = 0.6  # half a unit of every part, where long double is longer than double
LIBRARY_LIMIT = 6.0
XLA_LIMIT = 20.0


class Library:
    def __init__(self, path):
        self.function = ctypes.CDLL(path).witness_fft
        self.function.restype = ctypes.c_int32
        self.function.argtypes = (
            [ctypes.c_int32] * 4 + [ctypes.c_int64] * 2 + [ctypes.c_void_p] * 4 + [ctypes.c_int64] * 2
        )

    def run(self, kind, x, lengths, out, vector_bytes):
        batch = int(np.prod(x.shape[: x.ndim - len(lengths)], dtype=np.int64))
        sizes = (ctypes.c_int64 * 3)(*lengths)
        double = int(x.dtype in (np.float64, np.complex128))
        status = self.function(
            KINDS.index(kind), double, vector_bytes, 1, batch, len(lengths), sizes,
            out.ctypes.data, x.ctypes.data, None, 0, 1,
        )  # fmt: skip
        assert status == 0, status


def exact(kind, x, lengths):
    axes = tuple(range(x.ndim - len(lengths), x.ndim))
    wide = x.astype(np.clongdouble if np.iscomplexobj(x) else np.longdouble)
    if kind == "IRFFT":
        return scipy.fft.irfftn(wide, lengths, axes=axes)
    return getattr(scipy.fft, kind.lower() + "n")(wide, axes=axes)


def error(value, reference):
    if not np.isfinite(value).all():
        return np.inf
    norm = np.linalg.norm(reference.ravel())
    distance = np.linalg.norm((value.astype(reference.dtype) - reference).ravel())
    epsilon = np.finfo(value.dtype).eps
    return float(distance / norm / epsilon) if norm > 0 else float(distance)


def cases(rng):
    """Kind, whether double, batch dimensions, lengths."""
    shapes = [((2,), (n,)) for n in range(1, 41)]
    shapes += [((), (int(n),)) for n in rng.integers(41, 5000, 25)]
    shapes += [((), (n,)) for n in (8192, 65536, 65537, 50000)]
    shapes += [((3,), tuple(int(n) for n in rng.integers(1, 30, 2))) for _ in range(8)]
    shapes += [((2, 2), tuple(int(n) for n in rng.integers(1, 14, 3))) for _ in range(8)]
    shapes += [((40,), (64,)), ((40,), (97,)), ((40,), (15,)), ((), (64, 48)), ((), (12, 20, 16))]
    for i, (batch, lengths) in enumerate(shapes):
        for kind in KINDS:
            yield kind, (i + KINDS.index(kind)) % 2 == 0, batch, lengths
            if max(lengths) < 41:
                yield kind, (i + KINDS.index(kind)) % 2 == 1, batch, lengths


def made(rng, kind, double, batch, lengths):
    sizes = list(batch) + list(lengths)
    if kind == "IRFFT":
        sizes[-1] = lengths[-1] // 2 + 1
    x = rng.standard_normal(sizes)
    if kind == "RFFT":
        return x.astype(np.float64 if double else np.float32)
    return (x + 1j * rng.standard_normal(sizes)).astype(np.complex128 if double else np.complex64)


def program(kind, x, out, lengths):
    return (
        f"HloModule m\nENTRY main {{\n  x = {text_of(x)} parameter(0)\n"
        f"  y = {text_of(out)} fft(x), fft_type={kind}, fft_length={{{','.join(map(str, lengths))}}}\n"
        f"  ROOT out = tuple(y)\n}}\n"
    )


class Score:
    def __init__(self):
        self.worst, self.passed, self.failed = {}, 0, 0

    def check(self, who, off, limit, what):
        self.worst[who] = max(self.worst.get(who, 0.0), off)
        if off <= limit:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED {who}, {what}: error {off:.2f} epsilon, expected at most {limit}")


def compiled(indim, text, x, out):
    """None while the compiler does not lower fft."""
    if "native" not in indim.engines:
        return None
    try:
        return indim.run(text, [x], [out], "native")[0]
    except IndimError as failure:
        if "does not lower" in str(failure):
            return None
        raise


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=1)
    rng = np.random.default_rng(arguments.parse_args().seed)
    indim, library, xla, score = Indim(os.environ["INDIM_LIB"]), Library(os.environ["INDIM_WITNESS_LIB"]), Xla(), Score()
    for kind, double, batch, lengths in sampled(cases(rng)):
        x = made(rng, kind, double, batch, lengths)
        reference = exact(kind, x, lengths)
        real, full = (np.float64, np.complex128) if double else (np.float32, np.complex64)
        out = np.full(reference.shape, np.nan, real if kind == "IRFFT" else full)
        text = program(kind, x, out, lengths)
        what = text.splitlines()[3].strip()
        score.check("evaluator", error(indim.run(text, [x], [out], "eval")[0], reference), EVALUATOR_LIMIT, what)
        score.check("XLA", error(xla.ask("run", text, [[x]])[0][0], reference), XLA_LIMIT, what)
        for vector_bytes in (0, 1, 16, 32):
            out[...] = np.nan
            library.run(kind, x, lengths, out, vector_bytes)
            score.check(f"library, vectors of {vector_bytes}", error(out, reference), LIBRARY_LIMIT, what)
        value = compiled(indim, text, x, out)
        if value is not None:
            score.check("compiled", error(value, reference), LIBRARY_LIMIT, what)
    for who, off in score.worst.items():
        print(f"  {who}: at most {off:.2f} epsilon")
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed or not score.passed else 0


if __name__ == "__main__":
    sys.exit(main())
