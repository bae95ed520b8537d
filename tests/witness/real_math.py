#!/usr/bin/env python3
"""Measures the real functions of the oracle against Arb's ball arithmetic, which encloses the true value.

    INDIM_WITNESS_LIB=build/dev/libindim_witness.so real_math.py [--samples N] [--seed N]

For each function: the worst error over the samples in units in the last place (of the exact result, subnormal spacing
below the normals), for f64 arguments, and for f32 arguments with the result rounded to f32. Fails above 1 ulp.
"""

import argparse
import ctypes
import math
import os
import sys

import numpy as np
from flint import arb, ctx

LIMIT_ULP = 1.0
PI = math.pi


class Library:
    def __init__(self, path):
        self.function = ctypes.CDLL(path).witness_real
        self.function.restype = ctypes.c_int
        self.function.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 3 + [ctypes.c_size_t]

    def __call__(self, name, x, y=None):
        x = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty_like(x)
        if y is not None:
            y = np.ascontiguousarray(y, dtype=np.float64)
        pointer = None if y is None else y.ctypes.data
        assert self.function(name.encode(), x.ctypes.data, pointer, out.ctypes.data, x.size) == 0, name
        return out


class Format:
    def __init__(self, name, mantissa_bits, lowest, highest):
        self.name, self.mantissa_bits, self.lowest, self.highest = name, mantissa_bits, lowest, highest

    def spacing(self, magnitude):
        """The distance between neighbours around a double."""
        exponent = math.frexp(magnitude)[1] - 1 if magnitude else self.lowest
        exponent = min(max(exponent, self.lowest), self.highest)
        return arb(2) ** (exponent - self.mantissa_bits)

    def error(self, ours, exact):
        """|ours - exact| in ulp of |exact|; an infinity counts as the first number that is out of range."""
        if math.isinf(ours):
            ours = arb(2) ** (self.highest + 1) * (1 if ours > 0 else -1)
        largest = (2 - 2.0**-self.mantissa_bits) * 2.0**self.highest
        over = abs(exact) > arb(2) ** (self.highest + 1)
        magnitude = largest if over else abs(float(exact.mid()))
        if over:  # the infinity is exactly right then, and everything else is far off
            exact = arb(2) ** (self.highest + 1) * (1 if exact > 0 else -1)
        return float((abs(arb(ours) - exact) / self.spacing(magnitude)).upper())


F64 = Format("f64", 52, -1022, 1023)
F32 = Format("f32", 23, -126, 127)


def exact_logistic(x):
    return 1 / (1 + (-x).exp())


# name -> (exact function, domain, points to look at closely)
UNARY = {
    "exp": (arb.exp, (-746, 710), [0, 709.78, -708.4, -745.1, 88.7, -103.9]),
    "expm1": (arb.expm1, (-746, 710), [0, 709.78, -37, 0.69, -0.69]),
    "log": (arb.log, (0, math.inf), [1, 2, 0.5, 2.718]),
    "log1p": (arb.log1p, (-1, math.inf), [0, -1, 1, -0.41, 0.41]),
    "logistic": (exact_logistic, (-746, 750), [0, -708.4, -745.1, 37]),
    "sqrt": (arb.sqrt, (0, math.inf), [1, 2, 4]),
    "rsqrt": (arb.rsqrt, (0, math.inf), [1, 2, 4]),
    "cbrt": (lambda x: x.root(3) if x >= 0 else -(-x).root(3), (-math.inf, math.inf), [1, 8, -8, 27]),
    "sin": (arb.sin, (-math.inf, math.inf), [0, PI, PI / 2, 2 * PI, 100 * PI, 1e5 * PI, 6381956970095103 * 2.0**797]),
    "cos": (arb.cos, (-math.inf, math.inf), [0, PI, PI / 2, 1.5 * PI, 100.5 * PI, 6381956970095103 * 2.0**797]),
    "tan": (arb.tan, (-math.inf, math.inf), [0, PI, PI / 2, PI / 4, 100.5 * PI, 6381956970095103 * 2.0**797]),
    "sinh": (arb.sinh, (-711, 711), [0, 1, 710.47, -710.47, 22]),
    "cosh": (arb.cosh, (-711, 711), [0, 1, 710.47, -710.47, 22]),
    "tanh": (arb.tanh, (-math.inf, math.inf), [0, 0.55, 1, 19, 22, -19]),
    "asin": (arb.asin, (-1, 1), [0, 1, -1, 0.5, 0.975]),
    "acos": (arb.acos, (-1, 1), [0, 1, -1, 0.5, 0.975]),
    "asinh": (arb.asinh, (-math.inf, math.inf), [0, 1, -1, 2, 2**28]),
    "acosh": (arb.acosh, (1, math.inf), [1, 2, 2**28]),
    "atanh": (arb.atanh, (-1, math.nextafter(1.0, 0.0)), [0, 1, -1, 0.5, -0.5]),
    "erf": (arb.erf, (-math.inf, math.inf), [0, 0.84, 1.25, 3, 6, -6]),
}


def samples(rng, domain, points, count):
    """Log-uniform over the domain of doubles, uniform over its middle, and clouds around |points|."""
    low, high = max(domain[0], -1.7e308), min(domain[1], 1.7e308)
    exponents = rng.integers(-1074, 1024, count)
    wide = np.ldexp(rng.random(count) + 1, np.clip(exponents, -1074, 1023)) * rng.choice([-1.0, 1.0], count)
    middle = rng.uniform(max(low, -800), min(high, 800), count)
    small = rng.uniform(-8, 8, count)
    parts = [wide, middle, small]
    for point in points:
        scale = abs(point) or 1.0
        offsets = scale * 2.0 ** rng.uniform(-53, -1, max(count // 8, 1)) * rng.choice([-1.0, 1.0], max(count // 8, 1))
        near = point + np.arange(-8, 9) * np.spacing(float(point) or 2.0**-1022)
        parts += [point + offsets, near]
    x = np.concatenate(parts)
    return x[np.isfinite(x) & (x > low) & (x <= high)]


def evaluate(function, *args):
    """The exact value to at least 100 bits, whatever cancels on the way."""
    precision = 140
    while True:
        ctx.prec = precision
        value = function(*(arb(float(a)) for a in args))
        if value == 0 or (value.is_finite() and value.rel_accuracy_bits() >= 100):
            return value
        precision *= 2
        assert precision < 100_000, args


def worst(exact_function, number_format, ours, *args):
    """The largest error, and where it is."""
    largest, where = 0.0, None
    for i, result in enumerate(ours):
        point = tuple(float(a[i]) for a in args)
        exact = evaluate(exact_function, *point)
        error = number_format.error(float(result), exact)
        if not error <= largest:
            largest, where = error, point
    return largest, where


def pow_samples(rng, count):
    """Bases and exponents whose power is in range, bases near 1 with large exponents among them."""
    base = np.ldexp(rng.random(count) + 1, rng.integers(-1000, 1000, count))
    near = 1 + rng.choice([-1.0, 1.0], count) * 2.0 ** rng.uniform(-52, -1, count)
    base = np.where(rng.random(count) < 0.4, near, base)
    target = rng.uniform(-1100, 1030, count) * rng.choice([1.0, 1e-3, 1e-10], count)
    exponent = target / np.log2(base)
    whole = np.round(exponent)
    is_whole = (rng.random(count) < 0.3) & (whole != 0) & (np.abs(whole) < 2**52)
    exponent = np.where(is_whole, whole, exponent)
    base = np.where(is_whole & (rng.random(count) < 0.5), -base, base)
    keep = np.isfinite(exponent) & (exponent != 0)
    return base[keep], exponent[keep]


def exact_pow(x, y):
    if x < 0:
        odd = int(float(y)) % 2 == 1
        return -exact_pow(-x, y) if odd else exact_pow(-x, y)
    return (y * x.log()).exp()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    lib = Library(os.environ["INDIM_WITNESS_LIB"])
    rng = np.random.default_rng(options.seed)
    passed = failed = 0
    print(f"{'function':10} {'points':>8} {'f64 ulp':>9} {'f32 ulp':>9}   worst f64 argument")

    def report(name, count, wide, narrow):
        nonlocal passed, failed
        bad = sum(not error <= LIMIT_ULP for error in (wide[0], narrow[0]))
        failed += bad
        passed += 2 - bad
        place = ", ".join(float.hex(v) for v in wide[1] or ())
        print(f"{name:10} {count:8} {wide[0]:9.5f} {narrow[0]:9.5f}   {place}{'   ABOVE THE LIMIT' if bad else ''}")

    with np.errstate(all="ignore"):
        for name, (exact, domain, points) in UNARY.items():
            x = samples(rng, domain, points, options.samples)
            wide = worst(exact, F64, lib(name, x), x)
            x32 = x.astype(np.float32).astype(np.float64)
            x32 = x32[np.isfinite(x32) & (x32 > domain[0]) & (x32 <= domain[1])]
            narrow = worst(exact, F32, lib(name, x32).astype(np.float32), x32)
            report(name, x.size, wide, narrow)
        pairs = pow_samples(rng, 4 * options.samples)
        wide = worst(exact_pow, F64, lib("pow", *pairs), *pairs)
        narrow_pairs = [p.astype(np.float32).astype(np.float64) for p in pairs]
        keep = np.isfinite(narrow_pairs[0]) & (narrow_pairs[0] != 0) & np.isfinite(narrow_pairs[1])
        keep &= (narrow_pairs[0] > 0) | (narrow_pairs[1] == np.round(narrow_pairs[1]))
        narrow_pairs = [p[keep] for p in narrow_pairs]
        narrow = worst(exact_pow, F32, lib("pow", *narrow_pairs).astype(np.float32), *narrow_pairs)
        report("pow", pairs[0].size, wide, narrow)

        y = np.ldexp(rng.random(4 * options.samples) + 1, rng.integers(-1074, 1024, 4 * options.samples))
        x = y * 2.0 ** rng.uniform(-70, 70, y.size)
        x = np.where(rng.random(y.size) < 0.3, rng.permutation(y), x) * rng.choice([-1.0, 1.0], y.size)
        y = y * rng.choice([-1.0, 1.0], y.size)
        keep = np.isfinite(x) & (x != 0)
        y, x = y[keep], x[keep]
        wide = worst(arb.atan2, F64, lib("atan2", y, x), y, x)
        y32, x32 = (v.astype(np.float32).astype(np.float64) for v in (y, x))
        keep = np.isfinite(y32) & np.isfinite(x32) & (y32 != 0)
        y32, x32 = y32[keep], x32[keep]
        narrow = worst(arb.atan2, F32, lib("atan2", y32, x32).astype(np.float32), y32, x32)
        report("atan2", x.size, wide, narrow)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
