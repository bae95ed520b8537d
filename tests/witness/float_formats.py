#!/usr/bin/env python3
"""Holds the float formats against ml_dtypes and NumPy, bit for bit.

    INDIM_WITNESS_LIB=build/dev/libindim_witness.so float_formats.py

Decoding: every bit pattern of every format of 16 bits or fewer. Encoding: every value of the format, every midpoint
between neighbours, the doubles next to all of those, random doubles over and beyond its range, and integers. Two
references are used for encoding. `nearest` is written here: it looks the value up among the format's midpoints, which
are doubles, so it rounds once and exactly. ml_dtypes and NumPy are the second, with these known differences left out:
  twice      ml_dtypes rounds a double twice, through f32: it is asked about values that are f32 only
  f8e8m0fnu  ml_dtypes rounds everything between 2^-127 and 2^-126 up (f32 subnormals); ours goes to the nearest
"""

import bisect
import ctypes
import os
import sys

import ml_dtypes
import numpy as np

# type number, dtype, bits
FORMATS = {
    "f16": (10, np.float16, 16),
    "bf16": (16, ml_dtypes.bfloat16, 16),
    "f8e5m2": (19, ml_dtypes.float8_e5m2, 8),
    "f8e4m3fn": (20, ml_dtypes.float8_e4m3fn, 8),
    "f8e4m3b11fnuz": (23, ml_dtypes.float8_e4m3b11fnuz, 8),
    "f8e5m2fnuz": (24, ml_dtypes.float8_e5m2fnuz, 8),
    "f8e4m3fnuz": (25, ml_dtypes.float8_e4m3fnuz, 8),
    "f8e4m3": (28, ml_dtypes.float8_e4m3, 8),
    "f8e3m4": (29, ml_dtypes.float8_e3m4, 8),
    "f4e2m1fn": (32, ml_dtypes.float4_e2m1fn, 4),
    "f8e8m0fnu": (33, ml_dtypes.float8_e8m0fnu, 8),
    "f6e3m2fn": (35, ml_dtypes.float6_e3m2fn, 6),
    "f6e2m3fn": (36, ml_dtypes.float6_e2m3fn, 6),
}
F32, F64 = 11, 12

passed = failures = 0


def check(what, ours, theirs, inputs):
    """Counts a failure, and prints the first few, where two arrays of bits differ."""
    global passed, failures
    bad = np.flatnonzero(ours != theirs)
    if bad.size:
        failures += 1
        for i in bad[:5]:
            print(f"  {what}: {inputs[i]!r} gives {int(ours[i]):#x}, expected {int(theirs[i]):#x}")
        print(f"  {what}: {bad.size} of {len(ours)} differ")
    else:
        passed += 1
    return len(ours)


class Library:
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)

    def call(self, name, number, array, in_dtype, out_dtype):
        array = np.ascontiguousarray(array, dtype=in_dtype)
        out = np.empty(array.shape, dtype=out_dtype)
        function = getattr(self.lib, name)
        function.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        function.restype = None
        function(number, array.ctypes.data, out.ctypes.data, array.size)
        return out

    def decode(self, number, bits):
        return self.call("witness_float_decode", number, bits, np.uint64, np.float64)

    def encode(self, number, values):
        return self.call("witness_float_encode", number, values, np.float64, np.uint64)

    def encode_s64(self, number, values):
        return self.call("witness_float_encode_s64", number, values, np.int64, np.uint64)

    def encode_u64(self, number, values):
        return self.call("witness_float_encode_u64", number, values, np.uint64, np.uint64)


def bits_of(array, bits):
    return array.view(np.uint16 if bits == 16 else np.uint8).astype(np.uint64) & np.uint64(2**bits - 1)


class Nearest:
    """Rounds to a format by looking among its values; no arithmetic but midpoints, which are exact in a double."""

    def __init__(self, name, dtype, bits):
        self.scale = name == "f8e8m0fnu"
        patterns = np.arange(2**bits)
        unsigned = patterns if self.scale else patterns[: 2 ** (bits - 1)]
        values = unsigned.astype(np.uint16 if bits == 16 else np.uint8).view(dtype).astype(np.float64)
        finite = np.isfinite(values)
        self.codes, self.values = unsigned[finite], values[finite]
        assert (np.diff(self.values) > 0).all()
        last_gap = self.values[-1] - self.values[-2] if not self.scale else self.values[-1]
        # The first value that the format lacks, were its exponents to go on: rounding to it is overflow.
        self.beyond = self.values[-1] + last_gap
        extended = np.append(self.values, self.beyond)
        self.midpoints = (extended[:-1] + extended[1:]) / 2
        self.sign = 0 if self.scale else 2 ** (bits - 1)
        positive = np.array([np.inf, np.nan, -0.0]).astype(dtype)
        self.infinity, self.nan, self.negative_zero = (int(b) for b in bits_of(positive, bits))
        if bits < 8:
            self.nan = self.sign  # +NaN gives -0
        self.saturates = bits < 8
        self.fnuz = name.endswith("fnuz")

    def index(self, x):
        i = bisect.bisect_left(self.midpoints_list, x)
        if i < len(self.midpoints_list) and self.midpoints_list[i] == x:
            code = self.codes[i]
            i += 1 if self.scale or code % 2 else 0
        return i

    def one(self, x):
        """Encodes an integer or a finite double, exactly."""
        if not hasattr(self, "midpoints_list"):
            self.midpoints_list = self.midpoints.tolist()
        negative = x < 0
        if self.scale and x <= 0:
            return 0xFF
        i = self.index(abs(x))
        if i == len(self.codes):
            return self.overflow(negative)
        code = int(self.codes[i])
        return code if not negative or (self.fnuz and code == 0) else code | self.sign

    def overflow(self, negative):
        return self.infinity | (self.sign if negative else 0)

    def many(self, x):
        """The same for an array of finite doubles, and zeros."""
        magnitude = np.abs(x)
        i = np.searchsorted(self.midpoints, magnitude, side="left")
        inside = i < len(self.midpoints)
        tie = inside & (self.midpoints[np.minimum(i, len(self.midpoints) - 1)] == magnitude)
        odd = self.codes[np.minimum(i, len(self.codes) - 1)] % 2 == 1
        i = i + (tie & (odd | self.scale))
        over = i >= len(self.codes)
        code = self.codes[np.minimum(i, len(self.codes) - 1)].astype(np.uint64)
        code[over] = self.infinity
        negative = np.signbit(x)
        if self.scale:
            code[(x <= 0)] = 0xFF
            return code
        sign = np.where(negative & ~(self.fnuz & (code == 0)), np.uint64(self.sign), np.uint64(0))
        return code | sign


def neighbourhood(values):
    """The values, and the doubles just above and below, of both signs."""
    values = values[np.isfinite(values)]
    parts = [values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)]
    both = np.concatenate(parts + [-p for p in parts])
    return both[np.isfinite(both)]


def ml_dtypes_can(name, values):
    """The values that ml_dtypes converts as it should; see the top of this file."""
    values = values[values == values.astype(np.float32)]
    if name == "f8e8m0fnu":
        values = values[(values <= 2.0**-127) | (values >= 2.0**-126)]
    return values


def random_doubles(rng, low, high, count):
    """Random mantissas, exponents from low to high, some with few significant bits so that ties occur."""
    mantissa = rng.integers(2**52, 2**53, count).astype(np.float64)
    short = rng.integers(1, 2**12, count).astype(np.float64)
    mantissa = np.where(rng.random(count) < 0.3, short * 2.0**41, mantissa)
    return np.ldexp(mantissa, rng.integers(low, high, count) - 52) * rng.choice([-1.0, 1.0], count)


def integers(rng, count):
    """Integers of all lengths; half of them next to a point where some significand width is tied."""
    length = rng.integers(1, 65, count)
    values = [int(rng.integers(0, 2**63)) * 2 + int(rng.integers(0, 2)) >> (64 - int(n)) for n in length]
    near = []
    for v, n in zip(values, length):
        keep = int(rng.integers(1, 26))
        drop = max(int(n) - keep, 1)
        near.append(max(0, min(2**64 - 1, (v >> drop << drop) + (1 << (drop - 1)) + int(rng.integers(-1, 2)))))
    return values + near + [0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]


def check_small(lib, name, rng):
    number, dtype, bits = FORMATS[name]
    compared = 0
    # Decoding, all patterns; NaNs must agree in being NaN and in their sign.
    patterns = np.arange(2**bits, dtype=np.uint64)
    theirs = patterns.astype(np.uint16 if bits == 16 else np.uint8).view(dtype).astype(np.float64)
    ours = lib.decode(number, patterns)
    nan = np.isnan(theirs)
    assert (np.isnan(ours) == nan).all(), name
    compared += check(f"{name} decode", ours.view(np.uint64)[~nan], theirs.view(np.uint64)[~nan], patterns[~nan])
    # A round trip loses nothing but NaN payloads.
    compared += check(f"{name} round trip", lib.encode(number, ours)[~nan], patterns[~nan], patterns[~nan])

    model = Nearest(name, dtype, bits)
    low = int(np.floor(np.log2(model.values[model.values > 0][0]))) - 4
    high = int(np.ceil(np.log2(model.values[-1]))) + 4
    sample = np.concatenate(
        [
            neighbourhood(model.values),
            neighbourhood(model.midpoints),
            random_doubles(rng, low, high, 400_000),
            random_doubles(rng, -1022, 1023, 50_000),
            random_doubles(rng, low, high, 200_000).astype(np.float32).astype(np.float64),
            np.array([0.0, -0.0, 5e-324, -5e-324, 1.7e308, -1.7e308]),
        ]
    )
    ours = lib.encode(number, sample)
    compared += check(f"{name} encode, nearest", ours, model.many(sample), sample)
    library_sample = sample if name == "f16" else ml_dtypes_can(name, sample)
    library_ours = lib.encode(number, library_sample)
    theirs = bits_of(library_sample.astype(dtype), bits)
    compared += check(f"{name} encode, {dtype.__module__}", library_ours, theirs, library_sample)

    # Every f16 and bf16 value.
    for source in (np.float16, ml_dtypes.bfloat16):
        values = np.arange(2**16, dtype=np.uint16).view(source).astype(np.float64)
        values = ml_dtypes_can(name, values[~np.isnan(values)])
        theirs = bits_of(values.astype(dtype), bits)
        compared += check(f"{name} from all {np.dtype(source).name}", lib.encode(number, values), theirs, values)
    # NaN of either sign: the sign stays where the format has two NaNs, turns over where it has none (NaN is -0).
    special = np.array([np.nan, np.copysign(np.nan, -1.0), np.inf, -np.inf])
    compared += check(f"{name} specials", lib.encode(number, special), bits_of(special.astype(dtype), bits), special)

    sample = integers(rng, 4000)
    expected = np.array([model.one(v) for v in sample], dtype=np.uint64)
    compared += check(f"{name} from u64", lib.encode_u64(number, np.array(sample, dtype=np.uint64)), expected, sample)
    signed = [v for v in sample if v < 2**63] + [-v for v in sample if v <= 2**63]
    expected = np.array([model.one(v) for v in signed], dtype=np.uint64)
    compared += check(f"{name} from s64", lib.encode_s64(number, np.array(signed, dtype=np.int64)), expected, signed)
    return compared


def check_wide(lib, rng):
    """f32 and f64 against NumPy, which uses the processor's conversions."""
    halves = rng.integers(0, 2**32, 300_000).astype(np.uint32)
    values = halves.view(np.float32)
    values = values[np.isfinite(values)]
    middle = (values.astype(np.float64) + np.nextafter(values, np.float32(np.inf)).astype(np.float64)) / 2
    sample = np.concatenate([neighbourhood(middle), random_doubles(rng, -155, 133, 300_000), [np.inf, -np.inf]])
    with np.errstate(all="ignore"):
        theirs = sample.astype(np.float32).view(np.uint32).astype(np.uint64)
    compared = check("f32 encode", lib.encode(F32, sample), theirs, sample)
    with np.errstate(all="ignore"):
        theirs = halves.view(np.float32).astype(np.float64).view(np.uint64)
    compared += check("f32 decode", lib.decode(F32, halves).view(np.uint64), theirs, halves)
    nans = (rng.integers(0, 2**52, 10_000) | 0x7FF0000000000001).astype(np.uint64)
    nans |= rng.integers(0, 2, 10_000).astype(np.uint64) << np.uint64(63)
    with np.errstate(all="ignore"):
        theirs = nans.view(np.float64).astype(np.float32).view(np.uint32).astype(np.uint64)
    compared += check("f32 from NaN", lib.encode(F32, nans.view(np.float64)), theirs, nans)
    compared += check("f64 encode", lib.encode(F64, nans.view(np.float64)), nans, nans)
    for number, dtype, unsigned in ((F32, np.float32, np.uint32), (F64, np.float64, np.uint64)):
        whole = integers(rng, 50_000)
        array = np.array(whole, dtype=np.uint64)
        theirs = array.astype(dtype).view(unsigned).astype(np.uint64)
        compared += check(f"{dtype.__name__} from u64", lib.encode_u64(number, array), theirs, whole)
        array = np.array([v - 2**63 for v in whole], dtype=np.int64)
        theirs = array.astype(dtype).view(unsigned).astype(np.uint64)
        compared += check(f"{dtype.__name__} from s64", lib.encode_s64(number, array), theirs, array)
    return compared


def main():
    lib = Library(os.environ["INDIM_WITNESS_LIB"])
    rng = np.random.default_rng(20240501)
    for name in FORMATS:
        with np.errstate(all="ignore"):
            print(f"{name:14} {check_small(lib, name, rng):>9} compared")
    print(f"{'f32, f64':14} {check_wide(lib, rng):>9} compared")
    print(f"{passed} passed, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
