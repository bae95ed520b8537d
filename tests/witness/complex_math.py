#!/usr/bin/env python3
"""Measures the complex functions of the oracle against Arb's ball arithmetic, each part by itself.

    INDIM_WITNESS_LIB=build/dev/libindim_witness.so complex_math.py [--samples N] [--seed N]

For each function and part: the worst error over the samples in units in the last place of the exact part (subnormal spacing
below the normals), for c128, and for c64 arguments with the result rounded to c64. Fails above 3 ulp. Points lie over the
whole plane, close to the origin, the unit circle, -1, +-i and the multiples of pi / 2, and close to the axes. The axes
themselves, where the sign of a zero says on which side of a cut a number lies, are in tests/unit/eval_complex_math.c: Arb
has no signed zero.
"""

import argparse
import ctypes
import math
import os
import sys

import numpy as np
from flint import acb, ctx
from real_math import F32, F64

LIMIT_ULP = 3.0

class Library:
    def __init__(self, path):
        self.function = ctypes.CDLL(path).witness_complex
        self.function.restype = ctypes.c_int
        self.function.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 3 + [ctypes.c_size_t]

    def __call__(self, name, x, y=None):
        x = np.ascontiguousarray(x, dtype=np.complex128)
        out = np.empty_like(x)
        if y is not None:
            y = np.ascontiguousarray(y, dtype=np.complex128)
        pointer = None if y is None else y.ctypes.data
        assert self.function(name.encode(), x.ctypes.data, pointer, out.ctypes.data, x.size) == 0, name
        return out


# name -> (exact function, largest |re|, largest |im| that the result can bear)
UNARY = {
    "abs": (lambda z: acb(abs(z)), 1e308, 1e308),
    "sign": (lambda z: z / abs(z), 1e308, 1e308),
    "exp": (acb.exp, 740, 1e300),
    "expm1": (acb.expm1, 740, 1e300),
    "log": (acb.log, 1e308, 1e308),
    "log1p": (acb.log1p, 1e308, 1e308),
    "logistic": (lambda z: 1 / (1 + (-z).exp()), 740, 1e300),
    "sqrt": (acb.sqrt, 1e308, 1e308),
    "rsqrt": (acb.rsqrt, 1e308, 1e308),
    "sin": (acb.sin, 1e300, 740),
    "cos": (acb.cos, 1e300, 740),
    "tan": (acb.tan, 1e300, 740),
    "sinh": (acb.sinh, 740, 1e300),
    "cosh": (acb.cosh, 740, 1e300),
    "tanh": (acb.tanh, 740, 1e300),
    "asin": (acb.asin, 1e308, 1e308),
    "acos": (acb.acos, 1e308, 1e308),
    "asinh": (acb.asinh, 1e308, 1e308),
    "acosh": (acb.acosh, 1e308, 1e308),
    "atanh": (acb.atanh, 1e308, 1e308),
}
BINARY = {"multiply": lambda x, y: x * y, "divide": lambda x, y: x / y, "power": lambda x, y: (y * x.log()).exp()}
POINTS = [0, 1, -1, 1j, -1j, 2, 0.5j, math.pi / 2, math.pi, -math.pi / 2 * 1j, math.pi * 1j, 3 * math.pi / 2, 0.6 + 0.8j]


def signs(rng, count):
    return rng.choice([-1.0, 1.0], count)


def parts(rng, largest, count):
    """Numbers of every size up to |largest|, most of them of ordinary size."""
    wide = np.ldexp(rng.random(count) + 1, rng.integers(-1074, 1023, count))
    usual = 2.0 ** rng.uniform(-30, 5, count)
    middle = rng.uniform(0, min(largest, 800), count)
    kind = rng.integers(0, 4, count)
    x = np.where(kind == 0, wide, np.where(kind == 1, middle, usual))
    return np.where(x < largest, x, usual) * signs(rng, count)


def samples(rng, re_most, im_most, count):
    plane = parts(rng, re_most, count) + 1j * parts(rng, im_most, count)
    angle = rng.uniform(-math.pi, math.pi, count // 2)
    circle = (1 + signs(rng, count // 2) * 2.0 ** rng.uniform(-52, -2, count // 2)) * np.exp(1j * angle)
    near = []
    for point in POINTS:
        n = max(count // 20, 1)
        offset = 2.0 ** rng.uniform(-52, -1, n) * signs(rng, n) + 1j * 2.0 ** rng.uniform(-60, -1, n) * signs(rng, n)
        near.append(point + offset)
    return np.concatenate([plane, circle, circle - 1, *near])


def is_good(part):
    return part == 0 or (part.is_finite() and part.rel_accuracy_bits() >= 90)


def evaluate(function, *args):
    """Both parts to at least 90 bits, or None where a part cannot be told from 0."""
    precision = 160
    while precision < 20_000:
        ctx.prec = precision
        value = function(*(acb(float(a.real), float(a.imag)) for a in args))
        if is_good(value.real) and is_good(value.imag):
            return value
        precision *= 3
    return None


def measure(exact_function, number_format, ours, *args):
    """The largest error of each part, and where it is; how many points had no exact value."""
    largest, where, skipped = [0.0, 0.0], [None, None], 0
    for i, result in enumerate(ours):
        point = tuple(a[i] for a in args)
        exact = evaluate(exact_function, *point)
        if exact is None:
            skipped += 1
            continue
        for k, (got, true) in enumerate(((result.real, exact.real), (result.imag, exact.imag))):
            error = math.inf if math.isnan(got) else number_format.error(float(got), true)
            if not error <= largest[k]:
                largest[k], where[k] = error, point
    return largest, where, skipped


def binary_samples(rng, name, count):
    x = samples(rng, 1e150, 1e150, count)
    if name == "power":
        x = x[(abs(x) > 1e-100) & (abs(x) < 1e100) & ~((x.imag == 0) & (x.real < 0))]
        y = parts(rng, 40, x.size) + 1j * parts(rng, 40, x.size)
        return x, np.where(rng.random(x.size) < 0.5, y, y / 8)
    y = rng.permutation(x)
    # Products and quotients whose parts cancel: y is nearly the conjugate of x, turned a little.
    y = np.where(rng.random(x.size) < 0.3, np.conj(x) * (1 + 2.0 ** rng.uniform(-50, -1, x.size) * 1j), y)
    keep = (abs(y) > 1e-140) & (abs(x) > 1e-140) & (abs(x) < 1e140) & (abs(y) < 1e140)
    return x[keep], y[keep]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    call = Library(os.environ["INDIM_WITNESS_LIB"])
    rng = np.random.default_rng(options.seed)
    failed = passed = 0
    print(f"{'function':10} {'c128 re':>9} {'im':>9} {'c64 re':>9} {'im':>9}   points")
    for name in [*UNARY, *BINARY]:
        row = []
        for number_format, kind in ((F64, np.complex128), (F32, np.complex64)):
            if name in UNARY:
                exact, re_most, im_most = UNARY[name]
                limits = (re_most, im_most) if kind is np.complex128 else (min(re_most, 100 if re_most < 1e3 else 1e38),
                                                                           min(im_most, 100 if im_most < 1e3 else 1e38))
                args = [samples(rng, *limits, options.samples)]
            else:
                exact = BINARY[name]
                args = list(binary_samples(rng, name, options.samples))
                if kind is np.complex64:
                    keep = (abs(args[0]) < 1e15) & (abs(args[0]) > 1e-15) & (abs(args[1]) < 1e15) & (abs(args[1]) > 1e-15)
                    args = [a[keep] for a in args]
            args = [a.astype(kind).astype(np.complex128) for a in args]
            with np.errstate(all="ignore"):
                ours = call(name, *args).astype(kind).astype(np.complex128)
            nonzero = np.logical_and.reduce([(a.real != 0) & (a.imag != 0) for a in args])
            largest, where, skipped = measure(exact, number_format, ours[nonzero], *(a[nonzero] for a in args))
            row.append((largest, where, int(nonzero.sum()) - skipped))
        errors = [e for largest, _, _ in row for e in largest]
        print(f"{name:10} {errors[0]:9.3f} {errors[1]:9.3f} {errors[2]:9.3f} {errors[3]:9.3f}   {row[0][2]} {row[1][2]}")
        for k, error in enumerate(errors):
            if error <= LIMIT_ULP:
                passed += 1
            else:
                failed += 1
                print(f"FAILED {name} {'c128' if k < 2 else 'c64'} {'imag' if k % 2 else 'real'} at {row[k // 2][1][k % 2]}")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
