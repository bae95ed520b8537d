#!/usr/bin/env python3
"""Holds literal text against XLA's own reader and printer, reached through constants in HLO text.

    INDIM_LIB=build/dev/libindim.so literals.py

First, arrays of random bits of every type: what we print, XLA must read and print again, character by character (so it
read the same values: different ones have different texts). Then, texts that are damaged in random ways: XLA and we must
agree on whether one is a literal, and on its value. Known and wanted differences are listed in `excused`.
"""

import ctypes
import os
import random
import re
import sys

import numpy as np
from jaxlib import _hlo

TYPES = {
    "pred": (1, 8), "s8": (2, 8), "s16": (3, 16), "s32": (4, 32), "s64": (5, 64), "u8": (6, 8), "u16": (7, 16),
    "u32": (8, 32), "u64": (9, 64), "f16": (10, 16), "f32": (11, 32), "f64": (12, 64), "c64": (15, 64), "bf16": (16, 16),
    "c128": (18, 128), "f8e5m2": (19, 8), "f8e4m3fn": (20, 8), "s4": (21, 4), "u4": (22, 4), "f8e4m3b11fnuz": (23, 8),
    "f8e5m2fnuz": (24, 8), "f8e4m3fnuz": (25, 8), "s2": (26, 2), "u2": (27, 2), "f8e4m3": (28, 8), "f8e3m4": (29, 8),
    "f4e2m1fn": (32, 4), "f8e8m0fnu": (33, 8),
}  # fmt: skip
SHAPES = [(), (1,), (7,), (0,), (2, 3), (2, 0), (0, 2), (3, 1), (2, 2, 2), (1, 2, 3, 2), (2, 1, 1, 1, 2)]

lib = ctypes.CDLL(os.environ["INDIM_LIB"])


class Str(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


class Buffer(ctypes.Structure):
    _fields_ = [("cx", ctypes.c_void_p), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("capacity", ctypes.c_size_t), ("status", ctypes.c_int)]  # fmt: skip


lib.indim_literal_destroy.argtypes = [ctypes.c_void_p]
lib.indim_literal_parse.argtypes = [ctypes.c_void_p, Str, ctypes.c_void_p]
lib.indim_literal_print.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p]
lib.indim_buffer_init.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
lib.indim_buffer_deinit.argtypes = [ctypes.c_void_p]
lib.indim_npy_parse.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
cx = ctypes.c_void_p()
assert lib.indim_ctx_create(None, ctypes.byref(cx)) == 0

checks = 0
failures = 0


def check(ok, *what):
    global checks, failures
    checks += 1
    if not ok:
        failures += 1
        if failures <= 20:
            print("FAILED", *what)


def print_and_destroy(literal):
    buffer = Buffer()
    lib.indim_buffer_init(ctypes.byref(buffer), cx)
    lib.indim_literal_print(literal, 4, ctypes.byref(buffer))  # values alone, in one line
    text = ctypes.string_at(buffer.data, buffer.size).decode()
    lib.indim_buffer_deinit(ctypes.byref(buffer))
    lib.indim_literal_destroy(literal)
    return text


def ours(shape, body):
    """Our text of the literal, or None if it is refused."""
    text = f"{shape} {body}".encode()
    literal = ctypes.c_void_p()
    if lib.indim_literal_parse(cx, Str(text, len(text)), ctypes.byref(literal)) != 0:
        return None
    return print_and_destroy(literal)


def ours_of_bits(type_number, bits, shape, raw):
    """Our text of an array given by its bytes, which travel as a .npy file."""
    width = max(1, bits // 8)
    header = f"{{'descr': '<V{width}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    data = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + raw
    literal = ctypes.c_void_p()
    assert lib.indim_npy_parse(cx, data, len(data), type_number, ctypes.byref(literal)) == 0
    return print_and_destroy(literal)


options = _hlo.HloPrintOptions()
options.print_large_constants = True


def xla(shape, body):
    """XLA's text of the literal, or None."""
    try:
        module = _hlo.hlo_module_from_text(f"HloModule m\nENTRY e {{ ROOT c = {shape} constant({body}) }}")
    except Exception:
        return None
    text = module.to_string(options)
    return re.search(r"constant\((.*)\)\n}", text, re.DOTALL).group(1)


def random_raw(rng, bits, count):
    width = max(1, bits // 8)
    raw = rng.integers(0, 256, count * width, dtype=np.uint8)
    if rng.integers(0, 3) == 0:  # many special values
        raw = rng.choice(np.array([0, 255, 127, 128, 1], np.uint8), count * width)
    if bits < 8:
        raw &= (1 << bits) - 1
    return raw.tobytes()


def unsigned_zero(text):
    """XLA reads -0 as 0, so that its text has no -0."""
    return re.sub(r"(?<![\d.e+-])-0(?![\d.e])", "0", text)


def excused(kind, shape, body):
    """Differences that are wanted."""
    rank = shape.count(",") + 1 if re.search(r"\d", shape.split("[")[1]) else 0
    if "{" not in body and rank > 0:
        return True  # XLA takes one number for a whole array
    if rank == 0 and not re.search(r"[^,\s]", re.sub(r"/\*c\*/", "", body)):
        return True  # and nothing but a comma for 0
    if kind[0] in "fbc" and re.search(r"\b(9223372036854775808|18446744073709551615)\b", body):
        return True  # XLA reads integers as 64 bits with a sign even where floats are wanted
    if kind == "c64":
        return "3.4028234" in body  # XLA refuses the largest floats as parts of a complex number
    if kind == "c64" or kind == "c128":
        return "nan" in body  # a NaN as real part becomes the imaginary part in XLA too
    return False


def check_random_bits(rng):
    for name, (number, bits) in TYPES.items():
        for shape in SHAPES:
            for _ in range(20):
                raw = random_raw(rng, bits, int(np.prod(shape, dtype=np.int64)))
                if name == "pred":
                    raw = bytes(b & 1 for b in raw)
                text = ours_of_bits(number, bits, shape, raw)
                shape_text = f"{name}[{','.join(map(str, shape))}]"
                check(ours(shape_text, text) == text, shape_text, "ours does not read back", text)
                if name.startswith("c") and ("nan" in text or "3.40282347e+38" in text):
                    continue
                if name == "f8e8m0fnu" and "5.9e-39" in text:
                    continue  # flushed to zero, which the type does not have
                expected = unsigned_zero(text)
                actual = xla(shape_text, text)
                check(actual == expected, shape_text, text, "XLA says", actual)


def check_digits(rng):
    """Numbers of all sizes, in bulk: the digits themselves."""
    for name, dtype in [("f32", np.float32), ("f64", np.float64), ("f16", np.float16)]:
        width = np.dtype(dtype).itemsize * 8
        for kind in range(4):
            values = rng.integers(0, 1 << 63, 3000, dtype=np.uint64).astype(f"u{width // 8}").view(dtype)
            if kind == 1:
                values = rng.standard_normal(3000).astype(dtype)
            elif kind == 2:
                values = rng.integers(-60000, 60000, 3000).astype(dtype)
            elif kind == 3:
                values = (rng.integers(0, 10000, 3000) / 1000).astype(dtype)
            values = values[np.isfinite(values)]
            shape = f"{name}[{len(values)}]"
            text = ours_of_bits(TYPES[name][0], width, values.shape, values.tobytes())
            check(xla(shape, text) == unsigned_zero(text), shape, "digits differ")


TOKENS = ["{", "}", ",", "(", ")", "1", "-1", "2.5", "-2.5e3", "1e400", "inf", "-inf", "nan", "-nan", "nan(0x1)", "0", "-3",
          "300", "70000", "4294967296", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1.", ".5",
          "+1", "1e", "0x10", "x", "{}", "{1}", "{1,2}", "1x2", "1_2", "1e-400", "65519", "65520", "448", "464", "500", "/*c*/",
          "", "(1,2)", "(1,-2.5)", "(inf,0)"]  # fmt: skip


def damage(body, random):
    parts = re.findall(r"[{}(),]|[^\s{}(),]+", body)
    for _ in range(random.randint(1, 2)):
        at = random.randrange(len(parts) + 1)
        what = random.randrange(3)
        if what == 0 or at == len(parts):
            parts.insert(at, random.choice(TOKENS))
        elif what == 1:
            parts[at] = random.choice(TOKENS)
        else:
            del parts[at]
    return " ".join(parts)


def check_damaged():
    rng = random.Random(7)
    bodies = [((), "1"), ((2,), "{1, 2}"), ((2, 2), "{{1, 2}, {3, 4}}"), ((0,), "{}"), ((2, 0), "{{}, {}}"),
              ((1, 2, 2), "{{{1, 2}, {3, 4}}}")]  # fmt: skip
    agreed = 0
    for name in TYPES:
        for _ in range(400):
            shape, body = rng.choice(bodies)
            if name.startswith("c"):
                body = re.sub(r"\d", lambda m: f"({m.group()}, 0)", body)
            body = damage(body, rng)
            shape_text = f"{name}[{','.join(map(str, shape))}]"
            if excused(name, shape_text, body):
                continue
            theirs, mine = xla(shape_text, body), ours(shape_text, body)
            check(theirs == (mine and unsigned_zero(mine)), shape_text, body, "ours:", mine, "XLA:", theirs)
            agreed += theirs is not None
    check(agreed > 500, "only", agreed, "damaged texts were still literals")


def main():
    rng = np.random.default_rng(3)
    check_random_bits(rng)
    check_digits(rng)
    check_damaged()
    check(ours("(f32[2], s32[])", "({1, 2} 3)") is None, "a comma is missing")  # XLA forgets to look for it
    for body in ["( {1, 2}, 3 )", "({1, 2}, 3)", "({1, 2}, 3,)", "({1, 2},, 3)", "({1, 2})", "{{1, 2}, 3}"]:
        check((xla("(f32[2], s32[])", body) is None) == (ours("(f32[2], s32[])", body) is None), body)
    print(f"{checks} checks, {failures} failed")
    sys.exit(1 if failures else 0)


main()
