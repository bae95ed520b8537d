#!/usr/bin/env python3
"""Holds the wire format against XLA's own classes, byte for byte.

    INDIM_WITNESS_LIB=build/dev/libindim_witness.so wire.py

Shapes: jaxlib's Shape serialises itself. Literals: XLA puts a constant's literal into the serialised module; it is field
8 of the instruction, found here by walking the bytes.
"""

import ctypes
import os
import sys

from jaxlib import _hlo

lib = ctypes.CDLL(os.environ["INDIM_WITNESS_LIB"])
lib.witness_wire_encode.restype = ctypes.c_int64
lib.witness_wire_encode.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
lib.witness_wire_decode.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

passed = failed = 0


def check(what, ours, theirs):
    global passed, failed
    if ours == theirs:
        passed += 1
    else:
        failed += 1
        print(f"  {what}\n    ours  {ours!r}\n    XLA's {theirs!r}")


def encode(kind, text):
    out = ctypes.create_string_buffer(1 << 16)
    size = lib.witness_wire_encode(kind, text.encode(), out, len(out))
    return out.raw[:size] if size >= 0 else None


def decode(kind, data):
    out = ctypes.create_string_buffer(1 << 16)
    return out.value.decode() if lib.witness_wire_decode(kind, data, len(data), out, len(out)) == 0 else None


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of every field of a message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else (4, at) if key & 7 == 5 else varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def first(data, number):
    return next(value for n, value in fields(data) if n == number)


def xla_literal(shape, values):
    """The message of a constant: module.computations(3).instructions(2).literal(8)."""
    text = f"HloModule m\nENTRY e {{ ROOT c = {shape} constant({values}) }}"
    module = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
    return first(first(first(module, 3), 2), 8)


TYPES = (
    "pred s2 s4 s8 s16 s32 s64 u2 u4 u8 u16 u32 u64 f16 bf16 f32 f64 f8e5m2 f8e4m3fn f8e4m3b11fnuz f8e5m2fnuz "
    "f8e4m3fnuz f8e4m3 f8e3m4 f4e2m1fn f8e8m0fnu"
).split()

shapes = ["token[]", "f32[]", "()", "(f32[2]{0}, (s32[], token[]), pred[3,4]{0,1})", "s32[<=5,2]", "f32[<=23,44,<=55]{0,1,2}"]
shapes += [f"{t}[]" for t in TYPES] + [f"{t}[2,3,5]{{{m}}}" for t in TYPES for m in ("2,1,0", "0,1,2", "1,0,2")]
shapes += [
    "f32[0,2]{1,0}",
    "f32[123456789012,7]{1,0}",
    "bf16[2048]{0:T(1024)(128)(2,1)}",
    "f32[8,4]{1,0:T(2,2)L(100)}",
    "s4[123,456]{1,0:T(2,128)E(4)}",
    "pred[123,456]{1,0:T(2,128)S(3)}",
    "f32[16,128]{1,0:T(16,128)M(1024)}",
    "pred[123,456]{1,0:S(3)SC(0:10)(1:4,5)}",
]
for text in shapes:
    theirs = _hlo.Shape(text).to_serialized_proto()
    check(f"shape {text}", encode(0, text), theirs)
    check(f"shape {text} decoded", encode(0, decode(0, theirs) or "f32[99]"), theirs)

literals = [("c64[2]{0}", "{(1,2),(-3,inf)}"), ("c128[]", "(1,2)"), ("f32[0]{0}", "{}"), ("f32[]", "-1.5"), ("pred[]", "true")]
for t in TYPES:
    one = "1" if t in ("s2", "u2", "pred") else "1, 2, 4"
    values = ", ".join([one] * (6 if "," not in one else 2))
    rows = "{{%s}, {%s}}" % tuple([values if "," not in one else one] * 2) if "," in one else "{{1, 0, 1}, {0, 1, 1}}"
    literals += [(f"{t}[2,3]{{1,0}}", rows), (f"{t}[2,3]{{0,1}}", rows)]
for shape, values in literals:
    theirs = xla_literal(shape, values)
    check(f"literal {shape} {values}", encode(1, f"{shape} {values}"), theirs)
    check(f"literal {shape} decoded", decode(1, theirs) is not None, True)

print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
