#!/usr/bin/env python3
"""Holds .npy files against numpy and ml_dtypes, byte for byte, in both directions.

    INDIM_LIB=build/dev/libindim.so npy.py

Every array below is saved by numpy.save. Our reader must find numpy's values in the file, and our writer must write the
file again, every byte the same; and numpy must read what we write.
"""

import ctypes
import io
import itertools
import os
import sys

import ml_dtypes
import numpy as np

# dtype -> type number of ours
PLAIN = {
    "bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "uint16": 7, "uint32": 8, "uint64": 9,
    "float16": 10, "float32": 11, "float64": 12, "complex64": 15, "complex128": 18,
}  # fmt: skip
EXTENDED = {
    "bfloat16": 16, "float8_e5m2": 19, "float8_e4m3fn": 20, "int4": 21, "uint4": 22, "float8_e4m3b11fnuz": 23,
    "float8_e5m2fnuz": 24, "float8_e4m3fnuz": 25, "int2": 26, "uint2": 27, "float8_e4m3": 28, "float8_e3m4": 29,
    "int1": 30, "uint1": 31, "float4_e2m1fn": 32, "float8_e8m0fnu": 33, "float6_e3m2fn": 35, "float6_e2m3fn": 36,
}  # fmt: skip
SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 1), (1, 4), (0, 3), (3, 0), (2, 3, 4), (2, 1, 3), (1, 1, 1), (123456,), (7,) + (1,) * 20]

lib = ctypes.CDLL(os.environ["INDIM_LIB"])


class Buffer(ctypes.Structure):
    _fields_ = [("cx", ctypes.c_void_p), ("data", ctypes.c_void_p), ("size", ctypes.c_size_t),
                ("capacity", ctypes.c_size_t), ("status", ctypes.c_int)]  # fmt: skip


lib.indim_literal_destroy.argtypes = [ctypes.c_void_p]
lib.indim_ctx_destroy.argtypes = [ctypes.c_void_p]
lib.indim_npy_parse.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
lib.indim_npy_print.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
lib.indim_literal_read_dense.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
lib.indim_buffer_init.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
lib.indim_buffer_deinit.argtypes = [ctypes.c_void_p]
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


def save(array, version=None):
    out = io.BytesIO()
    if version is None:
        np.save(out, array)
    else:
        np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def through_ours(data, type_number, nbytes):
    """Reads a file; returns the dense row-major values and the file as we write it, or None."""
    literal = ctypes.c_void_p()
    if lib.indim_npy_parse(cx, data, len(data), type_number, ctypes.byref(literal)) != 0:
        return None
    dense = ctypes.create_string_buffer(max(nbytes, 1))
    buffer = Buffer()
    lib.indim_buffer_init(ctypes.byref(buffer), cx)
    ok = lib.indim_literal_read_dense(cx, literal, dense, nbytes) == 0
    ok = ok and lib.indim_npy_print(cx, literal, ctypes.byref(buffer)) == 0
    written = ctypes.string_at(buffer.data, buffer.size) if ok else None
    lib.indim_buffer_deinit(ctypes.byref(buffer))
    lib.indim_literal_destroy(literal)
    return (dense.raw[:nbytes], written) if ok else None


def check_array(array, type_number, what):
    data = save(array)
    result = through_ours(data, type_number, array.nbytes)
    check(result is not None, what, "is refused")
    if result is not None:
        dense, written = result
        check(dense == np.ascontiguousarray(array).tobytes(), what, "other values")
        check(written == data, what, "other bytes", written[:128] if written else None, data[:128])


def random_array(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    raw = rng.integers(0, 256, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize, dtype=np.uint8)
    if dtype.itemsize == 1 and dtype.name in EXTENDED:  # sub-byte types: no bits that mean nothing
        bits = {"4": 4, "2": 2, "1": 1}.get(dtype.name[-1]) if "int" in dtype.name else None
        bits = bits or {"float4": 4, "float6": 6}.get(dtype.name[:6], 8)
        raw &= (1 << bits) - 1
    return raw.view(dtype).reshape(shape)


def main():
    rng = np.random.default_rng(1)
    for name, number in {**PLAIN, **EXTENDED}.items():
        dtype = getattr(ml_dtypes, name) if name in EXTENDED else name
        for shape in SHAPES:
            array = random_array(rng, dtype, shape)
            check_array(array, number, f"{name}{shape}")
            check_array(np.asfortranarray(array), number, f"{name}{shape} in Fortran order")
            if len(shape) > 2:
                moved = array.transpose(1, 2, 0, *range(3, len(shape)))
                check_array(moved, number, f"{name}{shape} transposed")
    for name, order, version in itertools.product(PLAIN, "<>", [(1, 0), (2, 0), (3, 0)]):
        array = random_array(rng, name, (3, 4))
        data = save(array.astype(np.dtype(name).newbyteorder(order)), version)
        result = through_ours(data, 0, array.nbytes)
        what = f"{name} {order} version {version}"
        check(result is not None and result[0] == array.tobytes() and result[1] == save(array), what)
    for name in EXTENDED:
        data = save(random_array(rng, getattr(ml_dtypes, name), (3,)))
        known = name == "float8_e5m2"  # the only one whose name in the file is its own
        check((through_ours(data, 0, 3 * np.dtype(getattr(ml_dtypes, name)).itemsize) is not None) == known, name, "without a type")
    for name, number in PLAIN.items():  # numpy reads what we write: values that only pass through us
        array = random_array(rng, name, (4, 2))
        written = through_ours(save(array), number, array.nbytes)[1]
        check(np.load(io.BytesIO(written)).tobytes() == array.tobytes(), name, "numpy reads other values")
    for array in [np.array([object()]), np.array(["a"]), np.array([b"a"]), np.zeros(2, "M8[s]"), np.zeros(2, np.longdouble),
                  np.zeros(2, [("a", "f4"), ("b", "i4")]), np.zeros(2, "V7")]:  # fmt: skip
        check(through_ours(save(array), 0, 16) is None, array.dtype, "is read")
    lib.indim_ctx_destroy(cx)
    print(f"{checks} checks, {failures} failed")
    sys.exit(1 if failures else 0)


main()
