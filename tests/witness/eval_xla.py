"""Both engines against XLA on the CPU: generated programs, evaluated, compiled and run by XLA on the same inputs.

Elementwise ops over every element type that both know, on grids of edge values; conversions between all pairs of types;
data movement, reductions, dots, gathers, scatters, sorts, windows and convolutions over random shapes, sizes 0 and 1
included; loops, branches and calls. Integers and what only moves data must agree to the bit; floats to the bit or
within the ulps written at the op below, compiled 2 more. What XLA:CPU is known to do differently is left out element by element, each
with its reason (the functions named skip_*).

    INDIM_LIB=.../libindim.so python tests/witness/eval_xla.py [NAME PART] [--seed N]
"""

import argparse
import ctypes
import os
import sys
import time

import ml_dtypes
import numpy as np

from _sample import sampled
from _xla import Aborted, Refused, Xla

DTYPES = {
    "pred": np.bool_, "s2": ml_dtypes.int2, "u2": ml_dtypes.uint2, "s4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
    "s8": np.int8, "u8": np.uint8, "s16": np.int16, "u16": np.uint16, "s32": np.int32, "u32": np.uint32,
    "s64": np.int64, "u64": np.uint64, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32,
    "f64": np.float64, "c64": np.complex64, "c128": np.complex128, "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f8e3m4": ml_dtypes.float8_e3m4, "f8e4m3": ml_dtypes.float8_e4m3, "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz, "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz, "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
}
NAME_OF = {np.dtype(v): k for k, v in DTYPES.items()}
SIGNED = ["s2", "s4", "s8", "s16", "s32", "s64"]
UNSIGNED = ["u2", "u4", "u8", "u16", "u32", "u64"]
SMALL_FLOATS = [t for t in DTYPES if t.startswith(("f8", "f4"))]
FLOATS = ["f16", "bf16", "f32", "f64"] + SMALL_FLOATS
COMPLEX = ["c64", "c128"]
FLUSHED = {"f32", "f64", "bf16", "c64", "c128"}  # XLA:CPU turns their subnormals into zeros
WIDTH = {"s2": 2, "u2": 2, "s4": 4, "u4": 4, "f4e2m1fn": 4}


def width(name):
    return WIDTH.get(name, DTYPES[name] and np.dtype(DTYPES[name]).itemsize * 8)


def is_float(name):
    return name in FLOATS


# ------------------------------------------------------------------------------------------------- ours


class IndimError(Exception):
    pass


class Indim:
    """The library through its public functions."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        pointer, text = ctypes.c_void_p, ctypes.c_char_p

        class Str(ctypes.Structure):
            _fields_ = [("data", text), ("size", ctypes.c_size_t)]

        self.Str = Str
        size = ctypes.c_int64
        for name, result, arguments in [
            ("indim_ctx_create", ctypes.c_int, [pointer, pointer]),
            ("indim_ctx_destroy", None, [pointer]),
            ("indim_ctx_diagnostics_clear", None, [pointer]),
            ("indim_ctx_memory_in_use", ctypes.c_uint64, [pointer]),
            ("indim_ctx_diagnostic_get", pointer, [pointer, ctypes.c_size_t]),
            ("indim_module_read", ctypes.c_int, [pointer, Str, text, ctypes.c_size_t, pointer]),
            ("indim_module_verify", ctypes.c_int, [pointer, pointer]),
            ("indim_module_destroy", None, [pointer]),
            ("indim_module_entry", pointer, [pointer]),
            ("indim_computation_parameter", pointer, [pointer, size]),
            ("indim_instr_shape", pointer, [pointer]),
            ("indim_literal_create", ctypes.c_int, [pointer, pointer, pointer]),
            ("indim_literal_write_dense", ctypes.c_int, [pointer, pointer, pointer, size]),
            ("indim_literal_read_dense", ctypes.c_int, [pointer, pointer, pointer, size]),
            ("indim_literal_member", pointer, [pointer, size]),
            ("indim_literal_bytes", size, [pointer]),
            ("indim_literal_destroy", None, [pointer]),
            ("indim_eval", ctypes.c_int, [pointer, pointer, pointer, size, pointer, pointer]),
            ("indim_compile", ctypes.c_int, [pointer, pointer, pointer, pointer]),
            ("indim_compile_available", ctypes.c_int, [pointer]),
            ("indim_execute_literals", ctypes.c_int, [pointer, pointer, pointer, size, pointer, pointer]),
            ("indim_executable_destroy", None, [pointer]),
        ]:
            function = getattr(self.lib, name)
            function.restype = result
            function.argtypes = arguments
        self.cx = pointer()
        self.check(self.lib.indim_ctx_create(None, ctypes.byref(self.cx)))
        self.engines = ["eval", "native"] if self.lib.indim_compile_available(None) == 0 else ["eval"]

    def check(self, status):
        if status != 0:
            first = self.lib.indim_ctx_diagnostic_get(self.cx, 0)
            # status, line, column, source[128], message: see indim_diagnostic
            message = ctypes.string_at(first + 12 + 128).decode() if first else "no diagnostic"
            self.lib.indim_ctx_diagnostics_clear(self.cx)
            raise IndimError(f"status {status}: {message}")

    def literal(self, shape, array):
        out = ctypes.c_void_p()
        self.check(self.lib.indim_literal_create(self.cx, shape, ctypes.byref(out)))
        data = np.ascontiguousarray(array).tobytes()
        self.check(self.lib.indim_literal_write_dense(self.cx, out, data, len(data)))
        return out

    def run(self, program, arrays, like, engine):
        """The members of the result tuple, in the shapes and types of |like|. |program|: text, or the bytes of a file."""
        module, executable, result = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        literals = []
        data = program if isinstance(program, bytes) else program.encode()
        try:
            self.check(self.lib.indim_module_read(self.cx, self.Str(b"program", 7), data, len(data),
                                                  ctypes.byref(module)))
            self.check(self.lib.indim_module_verify(self.cx, module))
            entry = self.lib.indim_module_entry(module)
            for i, array in enumerate(arrays):
                shape = self.lib.indim_instr_shape(self.lib.indim_computation_parameter(entry, i))
                literals.append(self.literal(shape, array))
            pointers = (ctypes.c_void_p * max(1, len(literals)))(*literals)
            if engine == "eval":
                self.check(self.lib.indim_eval(self.cx, module, pointers, len(literals), None, ctypes.byref(result)))
            else:
                self.check(self.lib.indim_compile(self.cx, module, None, ctypes.byref(executable)))
                self.check(self.lib.indim_execute_literals(self.cx, executable, pointers, len(literals), None,
                                                           ctypes.byref(result)))
            if self.lib.indim_literal_member(result, 0) is None and len(like) == 1:  # a lone array
                return [self.read(result, like[0])]
            return [self.read(self.lib.indim_literal_member(result, i), a) for i, a in enumerate(like)]
        finally:
            self.lib.indim_literal_destroy(result)
            self.lib.indim_executable_destroy(executable)
            for literal in literals:
                self.lib.indim_literal_destroy(literal)
            self.lib.indim_module_destroy(module)

    def read(self, literal, like):
        count = self.lib.indim_literal_bytes(literal)
        if count != like.nbytes:
            raise IndimError(f"a result of {count} bytes where XLA has {like.nbytes}")
        buffer = ctypes.create_string_buffer(max(1, count))
        self.check(self.lib.indim_literal_read_dense(self.cx, literal, buffer, count))
        return np.frombuffer(buffer.raw[:count], dtype=like.dtype).reshape(like.shape)


# ------------------------------------------------------------------------------------------------- values


def shape_text(name, dims):
    return f"{name}[{','.join(map(str, dims))}]"


def text_of(array):
    return shape_text(NAME_OF[array.dtype], array.shape)


def edge_values(name, rng, extra=24):
    """Zeros, ones, ends, neighbours of ends, halves, infinities, NaN, subnormals, and some random ones."""
    dtype = DTYPES[name]
    if name == "pred":
        return np.array([False, True])
    if name in COMPLEX:
        part = np.float32 if name == "c64" else np.float64
        axis = np.array([0.0, -0.0, 1, -1, 0.5, -2.5, 3e4, np.inf, -np.inf, np.nan], part)
        grid = [complex(a, b) for a in axis for b in axis]
        random = rng.normal(size=extra) + 1j * rng.normal(size=extra)
        out = np.empty(len(grid) + extra, dtype)
        out.real = np.concatenate([[z.real for z in grid], random.real])
        out.imag = np.concatenate([[z.imag for z in grid], random.imag])
        return out
    if is_float(name):
        if width(name) <= 8:
            return np.arange(2 ** width(name), dtype=np.uint8).view(dtype)
        info = ml_dtypes.finfo(dtype)
        fixed = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 7, 10, 0.1, 100.25, 1e4, -1e4, 254.5, 65504,
                 np.inf, -np.inf, np.nan]
        ends = [float(info.max), -float(info.max), float(info.tiny), -float(info.tiny), float(info.eps),
                float(info.smallest_subnormal), -float(info.smallest_subnormal), 1 + float(info.eps)]
        random = np.concatenate([rng.normal(size=extra), rng.normal(size=extra) * 50])
        with np.errstate(over="ignore"):
            return np.concatenate([np.array(fixed + ends), random]).astype(dtype)
    bits = width(name)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if name in SIGNED else (0, (1 << bits) - 1)
    if bits <= 4:
        return np.arange(low, high + 1).astype(dtype)
    fixed = [low, low + 1, high, high - 1, 0, 1, 2, 3, 5, 7, 10, high // 2, high // 3]
    fixed += [-1, -2, -3, -7] if low < 0 else [high // 2 + 1]
    fixed += [bits - 1, bits, bits + 1]
    random = [int(v) % (high - low + 1) + low for v in rng.integers(0, 1 << 62, size=extra)]
    return np.array([v for v in fixed if low <= v <= high] + random, dtype)


def pairs(name, rng, limit=64):
    """All pairs of edge values, those of large sets thinned out."""
    values = edge_values(name, rng, extra=8)
    if len(values) > limit:
        values = values[np.sort(rng.choice(len(values), limit, replace=False))]
    a, b = np.meshgrid(np.arange(len(values)), np.arange(len(values)), indexing="ij")
    return values[a.ravel()], values[b.ravel()]


def random_array(name, dims, rng):
    dtype = DTYPES[name]
    if name == "pred":
        return rng.integers(0, 2, size=dims).astype(np.bool_)
    if name in COMPLEX:
        return (rng.integers(-8, 9, size=dims) + 1j * rng.integers(-8, 9, size=dims)).astype(dtype)
    if is_float(name):
        return (rng.integers(-32, 33, size=dims) / 8).astype(np.float64).astype(dtype)
    bits = width(name)
    low = -(1 << (bits - 1)) if name in SIGNED else 0
    return (rng.integers(0, 1 << min(bits, 62), size=dims) + low).astype(dtype)


# ------------------------------------------------------------------------------------------------- comparing


def parts(array):
    """Complex arrays as two real ones."""
    if array.dtype.kind == "c":
        return [array.real.copy(), array.imag.copy()]
    return [array]


def order(array):
    """Bit patterns as integers in the order of the values, the two zeros equal; exact as Python or int64."""
    bits = np.dtype(array.dtype).itemsize * 8
    top = 1 << (4 - 1 if NAME_OF[array.dtype] == "f4e2m1fn" else bits - 1)
    unsigned = array.view(f"u{bits // 8}").astype(np.uint64)
    negative = (unsigned & np.uint64(top)) != 0
    magnitude = (unsigned & np.uint64(top - 1)).astype(np.int64)
    return np.where(negative, -magnitude, magnitude)


def is_nan(array):
    return np.isnan(array) if array.dtype.kind == "f" else np.isnan(array.astype(np.float32))


def ulps_apart(ours, theirs):
    """Distance in units of the last place; 0 for two NaNs, huge when only one is."""
    a, b = order(ours), order(theirs)
    with np.errstate(over="ignore"):
        distance = np.abs(a.astype(np.float64) - b.astype(np.float64))
    distance = np.where(np.abs(distance) < 2.0**52, np.abs(a - b), distance)
    nan_a, nan_b = is_nan(ours), is_nan(theirs)
    return np.where(nan_a & nan_b, 0, np.where(nan_a != nan_b, np.inf, distance))


def is_subnormal(array):
    if NAME_OF.get(array.dtype) not in FLUSHED:
        return np.zeros(array.shape, bool)
    out = np.zeros(array.shape, bool)
    for part in parts(array):
        tiny = float(ml_dtypes.finfo(part.dtype).tiny)
        value = np.abs(part.astype(np.float64))
        out |= (value > 0) & (value < tiny)
    return out


def skip_flushed(ours, theirs, operands):
    """XLA:CPU reads subnormals of these types as zero and writes zero for them, and for what rounds up to a normal."""
    skip = np.zeros(ours.shape, bool)
    for operand in operands:
        if operand.shape == ours.shape:
            skip |= is_subnormal(operand)
    if NAME_OF[ours.dtype] in FLUSHED:
        skip |= is_subnormal(ours)
        for mine, other in zip(parts(ours), parts(theirs)):
            tiny = float(ml_dtypes.finfo(mine.dtype).tiny)
            skip |= (np.abs(mine.astype(np.float64)) == tiny) & (other.astype(np.float64) == 0)
    return skip


class Expect:
    """How near a result has to be. |skip| takes (ours, theirs, operands) and says which elements do not count."""

    def __init__(self, ulps=0, skip=skip_flushed, zero_signs=True, bound=None):
        self.ulps = ulps
        self.skip = skip
        self.zero_signs = zero_signs  # whether +0 and -0 are told apart
        self.bound = bound  # absolute distance allowed instead, an array

    def bad(self, ours, theirs, operands, more=0):
        """Which elements differ too much; |more|: ulps that are allowed in addition where any are."""
        ulps = self.ulps + more if self.ulps > 0 else 0
        name = NAME_OF[ours.dtype]
        if name not in FLOATS and name not in COMPLEX:
            return (ours != theirs) & ~self.skip(ours, theirs, operands)
        bad = np.zeros(ours.shape, bool)
        for mine, other in zip(parts(ours), parts(theirs)):
            far = ulps_apart(mine, other) > ulps
            if self.bound is not None:
                distance = np.abs(mine.astype(np.float64) - other.astype(np.float64))
                far &= ~(distance <= self.bound)
            if self.zero_signs:
                zero = (mine.astype(np.float64) == 0) & (other.astype(np.float64) == 0)
                far |= zero & (np.signbit(mine.astype(np.float64)) != np.signbit(other.astype(np.float64)))
            bad |= far
        return bad & ~self.skip(ours, theirs, operands)


EXACT = Expect()


class Batch:
    """One module with many results. Add parameters, then lines that use them; each line is one result."""

    def __init__(self, name, computations=""):
        self.name = name
        self.computations = computations
        self.arrays = []
        self.lines = []
        self.cases = []  # (name, expectation, operands)

    def parameter(self, array):
        self.arrays.append(array)
        number = len(self.arrays) - 1
        self.lines.append(f"  p{number} = {text_of(array)} parameter({number})")
        return f"p{number}"

    def line(self, text):
        """A helper instruction, no result: '{}' stands for its name."""
        name = f"h{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def result(self, name, text, expectation=EXACT, operands=()):
        self.lines.append(f"  r{len(self.cases)} = {text}")
        self.cases.append((name, expectation, operands))

    def text(self, wanted=None):
        count = range(len(self.cases)) if wanted is None else wanted
        root = f"  ROOT out = tuple({', '.join(f'r{i}' for i in count)})"
        lines = self.lines
        if wanted is not None:
            results = [l for l in self.lines if l.startswith("  r")]
            drop = {results[i] for i in range(len(results)) if i not in wanted}
            lines = [l for l in self.lines if l not in drop]
        body = "\n".join(lines + [root])
        return f"HloModule m\n{self.computations}\nENTRY main {{\n{body}\n}}\n"


class Score:
    def __init__(self, indim, xla, only):
        self.indim, self.xla, self.only = indim, xla, only
        self.passed = self.failed = self.elements = 0

    def fail(self, name, why):
        self.failed += 1
        print(f"FAILED {name}: {why}")

    def ask(self, text, arrays):
        """XLA's results, or a text: why there are none."""
        try:
            return self.xla.ask("run", text, [arrays])[0]
        except (Refused, Aborted) as error:
            return str(error)

    def run(self, batch):
        if self.only and self.only not in batch.name and not any(self.only in c[0] for c in batch.cases):
            return
        answer = self.ask(batch.text(), batch.arrays)
        if isinstance(answer, str):
            if len(batch.cases) == 1:
                self.fail(f"{batch.name} {batch.cases[0][0]}", f"XLA: {answer[:300]}\n{batch.text()}")
                return
            for i in range(len(batch.cases)):  # find the one that XLA cannot do
                self.run_one(batch, i)
            return
        self.compare(batch, range(len(batch.cases)), batch.text(), answer)

    def run_one(self, batch, i):
        text = batch.text([i])
        answer = self.ask(text, batch.arrays)
        if isinstance(answer, str):
            self.fail(f"{batch.name} {batch.cases[i][0]}", f"XLA: {answer[:300]}")
        else:
            self.compare(batch, [i], text, answer)

    def compare(self, batch, which, text, answer):
        for engine in self.indim.engines:
            self.compare_engine(batch, which, text, answer, engine)

    def compare_engine(self, batch, which, text, answer, engine):
        try:
            results = self.indim.run(text, batch.arrays, answer, engine)
        except IndimError as error:
            self.fail(f"{batch.name}, {engine}", f"{error}\n{text[:2000]}")
            return
        for i, ours, theirs in zip(which, results, answer):
            name, expectation, operands = batch.cases[i]
            bad = expectation.bad(ours, theirs, operands, 2 if engine == "native" else 0)
            self.elements += ours.size
            if not bad.any():
                self.passed += 1
                continue
            at = tuple(int(v) for v in np.argwhere(bad)[0]) if ours.ndim else ()
            shown = [o[at] if o.shape == ours.shape else "..." for o in operands]
            self.fail(f"{batch.name} {name}, {engine}", f"{int(bad.sum())} of {bad.size}; at {list(at)} of {shown}: "
                                                        f"ours {ours[at]!r}, XLA {theirs[at]!r}")


# ------------------------------------------------------------------------------------------------- elementwise

# Largest distance seen from XLA:CPU, in ulps of f32 and f64 (XLA's error; ours is below one); f16 and narrower: 1.
FUNCTION_ULPS = {
    "exponential": (5, 3), "exponential-minus-one": (6, 5), "log": (3, 2), "log-plus-one": (4, 130),
    "logistic": (4, 4), "sqrt": (0, 0), "rsqrt": (3, 3), "cbrt": (3, 5), "sine": (2, 2), "cosine": (2, 2),
    "tan": (2, 2), "tanh": (6, 9), "erf": (6, 8),
}
EXACT_FLOAT_OPS = ["abs", "negate", "sign", "floor", "ceil", "round-nearest-afz", "round-nearest-even", "is-finite",
                   "real", "imag"]
INTEGER_UNARY = ["negate", "not", "popcnt", "count-leading-zeros"]
INTEGER_BINARY = ["add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "and", "or", "xor",
                  "shift-left", "shift-right-arithmetic", "shift-right-logical", "power"]
DIRECTIONS = ["EQ", "NE", "GE", "GT", "LE", "LT"]


def skip_none(ours, theirs, operands):
    return np.zeros(ours.shape, bool)


def skip_scale(ours, theirs, operands):
    """f8e8m0fnu: XLA flushes 2^-127, the type's smallest value, on the way through f32."""
    skip = skip_flushed(ours, theirs, operands)
    for array in [ours, theirs, *operands]:
        if array.dtype == DTYPES["f8e8m0fnu"] and array.shape == ours.shape:
            skip |= array.view(np.uint8) == 0
    return skip


def skip_f4_nan(ours, theirs, operands):
    """f4e2m1fn has no NaN: ours becomes a zero of the NaN's other sign, XLA's always -0."""
    return skip_scale(ours, theirs, operands) | ((ours.astype(np.float32) == 0) & (theirs.astype(np.float32) == 0))


def skip_logistic_f16(ours, theirs, operands):
    """XLA:CPU computes exp(-x) in f16, which overflows below -11.09: 0 instead of 6e-6 and less."""
    return operands[0].astype(np.float32) < -11


def skip_power(ours, theirs, operands):
    """Integer power: XLA looks at six bits of the exponent, takes unsigned ones from 2^(w-1) on as negative, and lets
    -1 to a negative power alternate."""
    base, exponent = operands
    e = exponent.astype(np.int64) if exponent.dtype != np.uint64 else exponent.view(np.int64)
    bits = width(NAME_OF[exponent.dtype])
    out = (e < 0) | (e >= 64)
    if NAME_OF[exponent.dtype] in UNSIGNED:
        out |= e >= (1 << (bits - 1))
    return out


def skip_zero_ties(ours, theirs, operands):
    """max(-0, +0): ours is the left operand, XLA's +0 (min: -0)."""
    skip = skip_scale(ours, theirs, operands)
    return skip | ((ours.astype(np.float64) == 0) & (theirs.astype(np.float64) == 0))


def result_type(op, name):
    if op == "is-finite" or op.startswith("compare"):
        return "pred"
    if name in COMPLEX and op in ("abs", "real", "imag"):
        return "f32" if name == "c64" else "f64"
    return name


def expect_function(op, name):
    f32, f64 = FUNCTION_ULPS[op]
    ulps = f32 if name == "f32" else f64 if name == "f64" else 0 if op == "sqrt" and name in ("f16", "bf16") else 1
    skip = skip_f4_nan if name == "f4e2m1fn" else skip_scale
    return Expect(ulps, skip=skip_logistic_f16 if (op, name) == ("logistic", "f16") else skip)


def unary_batches(rng):
    for name in SIGNED + UNSIGNED:
        batch = Batch(f"unary {name}")
        x = edge_values(name, rng)
        p = batch.parameter(x)
        for op in INTEGER_UNARY + (["abs", "sign"] if name in SIGNED else []):
            if op == "popcnt" and name in ("s4", "s2"):
                continue  # XLA counts the sign bits of the widened number
            batch.result(op, f"{text_of(x)} {op}({p})", EXACT, (x,))
        yield batch
    batch = Batch("unary pred")
    x = edge_values("pred", rng)
    batch.result("not", f"{text_of(x)} not({batch.parameter(x)})")
    yield batch
    for name in FLOATS:
        batch = Batch(f"unary {name}")
        x = edge_values(name, rng)
        p = batch.parameter(x)
        for op in EXACT_FLOAT_OPS:
            skip = skip_none if op in ("abs", "negate", "real", "imag") and name != "f8e8m0fnu" else skip_scale
            shape = shape_text(result_type(op, name), x.shape)
            batch.result(op, f"{shape} {op}({p})", Expect(skip=skip), (x,))
        for op in FUNCTION_ULPS:
            batch.result(op, f"{text_of(x)} {op}({p})", expect_function(op, name), (x,))
        yield batch
    for name in COMPLEX:
        batch = Batch(f"unary {name}")
        x = edge_values(name, rng)
        p = batch.parameter(x)
        for op in ["negate", "real", "imag"]:
            batch.result(op, f"{shape_text(result_type(op, name), x.shape)} {op}({p})", Expect(skip=skip_none), (x,))
        yield batch
        batch = Batch(f"functions {name}")
        x = (rng.normal(size=64) + 1j * rng.normal(size=64)).astype(DTYPES[name])
        p = batch.parameter(x)
        near = Expect(bound=64 * np.finfo(x.real.dtype).eps * 8)
        for op in ["abs", "sign", "exponential", "exponential-minus-one", "log", "log-plus-one", "logistic", "sqrt",
                   "rsqrt", "sine", "cosine", "tan", "tanh"]:
            batch.result(op, f"{shape_text(result_type(op, name), x.shape)} {op}({p})", near, (x,))
        yield batch


def binary_batches(rng):
    for name in SIGNED + UNSIGNED:
        batch = Batch(f"binary {name}")
        x, y = pairs(name, rng)
        p, q = batch.parameter(x), batch.parameter(y)
        for op in INTEGER_BINARY:
            skip = skip_power if op == "power" else skip_none
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", Expect(skip=skip), (x, y))
        for direction in DIRECTIONS:
            batch.result(f"compare {direction}", f"pred[{x.size}] compare({p}, {q}), direction={direction}", EXACT,
                         (x, y))
        yield batch
    batch = Batch("binary pred")
    x, y = pairs("pred", rng)
    p, q = batch.parameter(x), batch.parameter(y)
    for op in ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]:
        batch.result(op, f"{text_of(x)} {op}({p}, {q})", EXACT, (x, y))
    for direction in DIRECTIONS:
        batch.result(f"compare {direction}", f"pred[{x.size}] compare({p}, {q}), direction={direction}", EXACT, (x, y))
    yield batch
    for name in FLOATS:
        batch = Batch(f"binary {name}")
        x, y = pairs(name, rng)
        p, q = batch.parameter(x), batch.parameter(y)
        invalid = skip_f4_nan if name == "f4e2m1fn" else skip_scale
        for op in ["add", "subtract", "multiply"]:
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", Expect(skip=skip_scale), (x, y))
        for op in ["divide", "remainder"]:
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", Expect(skip=invalid), (x, y))
        for op in ["maximum", "minimum"]:
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", Expect(skip=skip_zero_ties), (x, y))
        for op, ulps in [("power", 2), ("atan2", 3)]:
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", Expect(ulps, skip=invalid), (x, y))
        for direction in DIRECTIONS:
            for order_name in ["FLOAT", "TOTALORDER"]:
                skip = skip_none if order_name == "TOTALORDER" else skip_compare
                text = f"pred[{x.size}] compare({p}, {q}), direction={direction}, type={order_name}"
                batch.result(f"compare {direction} {order_name}", text, Expect(skip=skip), (x, y))
        yield batch
    for name in COMPLEX:
        batch = Batch(f"binary {name}")
        x, y = pairs(name, rng)
        p, q = batch.parameter(x), batch.parameter(y)
        for op in ["add", "subtract"]:
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", EXACT, (x, y))
        for direction in ["EQ", "NE"]:
            batch.result(f"compare {direction}", f"pred[{x.size}] compare({p}, {q}), direction={direction}", EXACT,
                         (x, y))
        yield batch
        batch = Batch(f"products {name}")
        x = (rng.normal(size=64) + 1j * rng.normal(size=64)).astype(DTYPES[name])
        y = (rng.normal(size=64) + 1j * rng.normal(size=64)).astype(DTYPES[name])
        p, q = batch.parameter(x), batch.parameter(y)
        near = Expect(bound=512 * np.finfo(x.real.dtype).eps)
        for op in ["multiply", "divide", "power"]:
            batch.result(op, f"{text_of(x)} {op}({p}, {q})", near, (x, y))
        yield batch
    for part, name in [("f32", "c64"), ("f64", "c128")]:
        batch = Batch(f"complex {name}")
        x, y = pairs(part, rng)
        text = f"{shape_text(name, x.shape)} complex({batch.parameter(x)}, {batch.parameter(y)})"
        batch.result("complex", text, Expect(skip=skip_none), (x, y))
        yield batch


def skip_compare(ours, theirs, operands):
    """A subnormal compares as zero in XLA; f8e8m0fnu: 2^-127 likewise."""
    skip = np.zeros(ours.shape, bool)
    for operand in operands:
        skip |= is_subnormal(operand)
        if operand.dtype == DTYPES["f8e8m0fnu"]:
            skip |= operand.view(np.uint8) == 0
    return skip


def ternary_batches(rng):
    for name in DTYPES:
        batch = Batch(f"ternary {name}")
        x, y = pairs(name, rng, limit=24)
        z = rng.permutation(x)
        chosen = rng.integers(0, 2, size=x.shape).astype(np.bool_)
        p, q, r, c = (batch.parameter(a) for a in (x, y, z, chosen))
        scalar = batch.parameter(np.array(bool(rng.integers(0, 2))))
        batch.result("select", f"{text_of(x)} select({c}, {p}, {q})", Expect(skip=skip_none), (x, y))
        batch.result("select by a scalar", f"{text_of(x)} select({scalar}, {p}, {q})", Expect(skip=skip_none), (x, y))
        if name not in COMPLEX and name != "pred":
            low, high = batch.parameter(x[len(x) // 3].copy()), batch.parameter(x[2 * len(x) // 3].copy())
            skip = skip_zero_ties if is_float(name) else skip_none
            batch.result("clamp", f"{text_of(x)} clamp({p}, {q}, {r})", Expect(skip=skip), (x, y, z))
            batch.result("clamp by scalars", f"{text_of(x)} clamp({low}, {q}, {high})", Expect(skip=skip), (y,))
        yield batch


def skip_convert(source, target):
    def skip(ours, theirs, operands):
        out = skip_scale(ours, theirs, operands)
        (x,) = operands
        if target == "pred":  # a subnormal is not zero, nor is any f8e8m0fnu
            out |= is_subnormal(x) | (np.full(x.shape, source == "f8e8m0fnu") & (x.astype(np.float64) == 2.0**-127))
        if source == "f64" and target in ("f16", "bf16"):  # XLA rounds twice, through f32
            with np.errstate(over="ignore"):
                out |= theirs.view(np.uint16) == x.astype(np.float32).astype(DTYPES[target]).view(np.uint16)
        if source == "f4e2m1fn" and target not in FLOATS + COMPLEX + ["pred"]:  # +-6 saturate any integer: a defect
            out |= np.abs(x.astype(np.float32)) == 6
        if target == "f4e2m1fn" or source in SMALL_FLOATS or source in ("f16", "bf16"):  # signs of NaNs
            out |= np.isnan(x.astype(np.float32)) if is_float(source) else False
        return out

    return skip


def convert_batches(rng):
    for source in DTYPES:
        batch = Batch(f"convert {source}")
        x = edge_values(source, rng)
        if source in ("s64", "u64"):
            near = np.array([0x0007FB72E4000000 + d for d in (-1, 0, 1)] + [(1 << 62) + (1 << 38) + 1], DTYPES[source])
            x = np.concatenate([x, near])
        p = batch.parameter(x)
        for target in DTYPES:
            if source in COMPLEX and target not in COMPLEX:
                continue
            batch.result(f"to {target}", f"{shape_text(target, x.shape)} convert({p})",
                         Expect(skip=skip_convert(source, target)), (x,))
        yield batch


def bitcast_batches(rng):
    for source in DTYPES:
        if source in ("pred",):
            continue  # StableHLO counts a pred as one bit
        batch = Batch(f"bitcast-convert {source}")
        for target in DTYPES:
            if target == "pred" or (source in COMPLEX) != (target in COMPLEX) or (source in COMPLEX and source != target):
                continue
            a, b = width(source), width(target)
            dims = [3, 2] if a >= b else [3, b // a]
            if max(a, b) % min(a, b) or b // a > 8:
                continue
            out = dims if a == b else dims + [a // b] if a > b else dims[:-1]
            x = random_array(source, dims, rng)
            batch.result(f"to {target}", f"{shape_text(target, out)} bitcast-convert({batch.parameter(x)})",
                         Expect(skip=skip_none))
        yield batch


def precision_batches(rng):
    for name in ["f16", "bf16", "f32", "f64"]:
        batch = Batch(f"reduce-precision {name}")
        x = edge_values(name, rng, extra=60)
        p = batch.parameter(x)
        for e, m in [(5, 10), (5, 2), (8, 7), (8, 23), (4, 3), (2, 1), (11, 52), (3, 7), (8, 10)]:
            batch.result(f"{e} {m}", f"{text_of(x)} reduce-precision({p}), exponent_bits={e}, mantissa_bits={m}",
                         EXACT, (x,))
        yield batch


# ------------------------------------------------------------------------------------------------- data movement

MOVED = ["f32", "s8", "pred", "c64", "u4", "bf16", "s64"]


def dims_of(rng, rank=None, least=0):
    rank = int(rng.integers(0, 5)) if rank is None else rank
    return [int(rng.choice([least, 1, 2, 3, 4, 5], p=[0.06, 0.14, 0.25, 0.25, 0.2, 0.1])) for _ in range(rank)]


def braces(values):
    return "{" + ",".join(str(int(v)) for v in values) + "}"


def add_move(batch, rng, op):
    name = str(rng.choice(MOVED))
    rank = int(rng.integers(1, 5))
    dims = dims_of(rng, rank)
    x = random_array(name, dims, rng)

    def result(out, text):
        batch.result(f"{op} {text_of(x)}", f"{shape_text(name, out)} {text}", Expect(skip=skip_none))

    if op == "broadcast":
        extra = int(rng.integers(0, 3))
        where = sorted(rng.choice(rank + extra, rank, replace=False))
        out = dims_of(rng, rank + extra)
        for d, size in zip(where, dims):
            out[d] = size
        result(out, f"broadcast({batch.parameter(x)}), dimensions={braces(where)}")
    elif op == "transpose":
        order_ = rng.permutation(rank)
        result([dims[d] for d in order_], f"transpose({batch.parameter(x)}), dimensions={braces(order_)}")
    elif op == "reverse":
        which = rng.choice(rank, int(rng.integers(0, rank + 1)), replace=False)
        result(dims, f"reverse({batch.parameter(x)}), dimensions={braces(which)}")
    elif op == "reshape":
        flat = int(np.prod(dims))
        out = [flat] if rng.integers(0, 2) else [1, flat, 1]
        result(out, f"reshape({batch.parameter(x)})")
    elif op == "slice":
        starts = [int(rng.integers(0, n + 1)) for n in dims]
        limits = [int(rng.integers(s, n + 1)) for s, n in zip(starts, dims)]
        strides = [int(rng.integers(1, 4)) for _ in dims]
        out = [(l - s + t - 1) // t for s, l, t in zip(starts, limits, strides)]
        spec = ", ".join(f"[{s}:{l}:{t}]" for s, l, t in zip(starts, limits, strides))
        result(out, f"slice({batch.parameter(x)}), slice={{{spec}}}")
    elif op == "pad":
        interior = [int(rng.integers(0, 3)) for _ in dims]
        spread = [n + max(n - 1, 0) * i for n, i in zip(dims, interior)]
        low = [int(rng.integers(-3, 4)) for _ in dims]
        high = [int(rng.integers(-3, 4)) for _ in dims]
        low = [max(l, -s) for l, s in zip(low, spread)]
        high = [max(h, -(s + l)) for h, s, l in zip(high, spread, low)]
        out = [s + l + h for s, l, h in zip(spread, low, high)]
        spec = "x".join(f"{l}_{h}_{i}" for l, h, i in zip(low, high, interior))
        value = batch.parameter(random_array(name, [], rng))
        result(out, f"pad({batch.parameter(x)}, {value}), padding={spec}")
    elif op == "concatenate":
        axis = int(rng.integers(0, rank))
        others = []
        for _ in range(int(rng.integers(0, 3))):
            more = list(dims)
            more[axis] = int(rng.integers(0, 4))
            others.append(random_array(name, more, rng))
        arrays = [x] + others
        out = list(dims)
        out[axis] = sum(a.shape[axis] for a in arrays)
        names = ", ".join(batch.parameter(a) for a in arrays)
        result(out, f"concatenate({names}), dimensions={{{axis}}}")
    elif op in ("dynamic-slice", "dynamic-update-slice"):
        sizes = [int(rng.integers(0, n + 1)) for n in dims]
        index = str(rng.choice(["s32", "u32", "s64", "u8"]))
        choices = np.array([0, 1, 2, 3, 100, 255], np.int64) if index[0] == "u" else np.array([-7, -1, 0, 1, 2, 100])
        starts = [np.array(rng.choice(choices)).astype(DTYPES[index]) for _ in dims]
        p = batch.parameter(x)
        if op == "dynamic-slice":
            names = ", ".join([p] + [batch.parameter(s) for s in starts])
            result(sizes, f"dynamic-slice({names}), dynamic_slice_sizes={braces(sizes)}")
        else:
            update = batch.parameter(random_array(name, sizes, rng))
            names = ", ".join([p, update] + [batch.parameter(s) for s in starts])
            result(dims, f"dynamic-update-slice({names})")
    elif op == "iota":
        name = str(rng.choice([t for t in DTYPES if t not in ("pred", "f8e8m0fnu", "f4e2m1fn")]))
        batch.result(f"iota {name}", f"{shape_text(name, dims)} iota(), iota_dimension={int(rng.integers(0, rank))}",
                     Expect(skip=skip_none))
    elif op == "copy":
        layout = braces(rng.permutation(rank))
        batch.result("copy", f"{text_of(x)}{layout} copy({batch.parameter(x)})", Expect(skip=skip_none))


MOVES = ["broadcast", "transpose", "reverse", "reshape", "slice", "pad", "concatenate", "dynamic-slice",
         "dynamic-update-slice", "iota", "copy"]


def move_batches(rng):
    for op in MOVES:
        for round_ in range(4):
            batch = Batch(f"move {round_}")
            for _ in range(14):
                add_move(batch, rng, op)
            yield batch


# ------------------------------------------------------------------------------------------------- sums


def reducer(name, type_, op):
    return f"""{name} {{
  a = {type_}[] parameter(0)
  b = {type_}[] parameter(1)
  ROOT c = {type_}[] {op}(a, b)
}}
"""


def variadic_reducer(type_):
    """The larger value and its position, the first of equals: argmax."""
    return f"""argmax_{type_} {{
  v = {type_}[] parameter(0)
  i = s32[] parameter(1)
  w = {type_}[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(v, w), direction=GT
  same = pred[] compare(v, w), direction=EQ
  first = pred[] compare(i, j), direction=LT
  tie = pred[] and(same, first)
  keep = pred[] or(more, tie)
  m = {type_}[] select(keep, v, w)
  k = s32[] select(keep, i, j)
  ROOT t = ({type_}[], s32[]) tuple(m, k)
}}
"""


def reduce_batches(rng):
    kinds = [("s32", "add", 0), ("s8", "multiply", 1), ("u16", "xor", 0), ("pred", "and", True), ("f32", "maximum", -9),
             ("f64", "minimum", 99), ("u8", "add", 0), ("f32", "add", 0), ("s4", "add", 0)]
    for round_ in range(4):
        computations = "".join(reducer(f"{op}_{type_}", type_, op) for type_, op, _ in kinds)
        computations += variadic_reducer("f32") + variadic_reducer("s16")
        batch = Batch(f"reduce {round_}", computations)
        for type_, op, init in kinds:
            dims = dims_of(rng, int(rng.integers(1, 5)))
            which = sorted(rng.choice(len(dims), int(rng.integers(1, len(dims) + 1)), replace=False))
            x = random_array(type_, dims, rng)
            out = [n for d, n in enumerate(dims) if d not in which]
            names = f"{batch.parameter(x)}, {batch.parameter(np.array(init, DTYPES[type_]))}"
            # sums of multiples of 1/8 are exact in any order
            batch.result(f"{op} {text_of(x)} over {which}", f"{shape_text(type_, out)} reduce({names}), "
                         f"dimensions={braces(which)}, to_apply={op}_{type_}", Expect(zero_signs=False))
        yield batch
        batch = Batch(f"argmax {round_}", computations)
        for type_ in ["f32", "s16"]:
            dims = dims_of(rng, int(rng.integers(1, 4)), least=1)
            which = sorted(rng.choice(len(dims), int(rng.integers(1, len(dims) + 1)), replace=False))
            x = random_array(type_, dims, rng)
            number = np.arange(x.size, dtype=np.int32).reshape(dims)
            out = [n for d, n in enumerate(dims) if d not in which]
            low = np.array(-100 if type_ == "f32" else -(1 << 15), DTYPES[type_])  # XLA may drop what is no identity
            names = ", ".join(batch.parameter(a) for a in (x, number, low, np.array(10**9, np.int32)))
            shape = f"({shape_text(type_, out)}, {shape_text('s32', out)})"
            both = batch.line(f"{shape} reduce({names}), dimensions={braces(which)}, to_apply=argmax_{type_}")
            batch.result(f"value {text_of(x)}", f"{shape_text(type_, out)} get-tuple-element({both}), index=0")
            batch.result(f"index {text_of(x)}", f"{shape_text('s32', out)} get-tuple-element({both}), index=1")
        yield batch


def add_dot(batch, rng, type_, out_type):
    batch_rank, free_l, free_r, contracted = (int(rng.integers(0, n)) for n in (3, 3, 3, 3))
    sizes = lambda n: [int(rng.choice([0, 1, 2, 3, 4], p=[0.05, 0.2, 0.25, 0.25, 0.25])) for _ in range(n)]
    b, c = sizes(batch_rank), sizes(contracted)

    def operand(free):
        kinds = [("b", i) for i in range(batch_rank)] + [("c", i) for i in range(contracted)]
        kinds += [("f", i) for i in range(len(free))]
        kinds = [kinds[i] for i in rng.permutation(len(kinds))]
        # free dimensions keep their order in the result
        frees = iter(free)
        dims = [b[i] if k == "b" else c[i] if k == "c" else next(frees) for k, i in kinds]
        where = lambda letter, n: [kinds.index((letter, i)) for i in range(n)]
        return random_array(type_, dims, rng), where("b", batch_rank), where("c", contracted)

    left, right = sizes(free_l), sizes(free_r)
    x, xb, xc = operand(left)
    y, yb, yc = operand(right)
    attrs = [f"{side}_{kind}_dims={braces(v)}" for side, kind, v in
             [("lhs", "batch", xb), ("lhs", "contracting", xc), ("rhs", "batch", yb), ("rhs", "contracting", yc)] if v]
    text = f"{shape_text(out_type, b + left + right)} dot({batch.parameter(x)}, {batch.parameter(y)})"
    batch.result(f"dot {text_of(x)} {text_of(y)} -> {out_type}", ", ".join([text] + attrs), Expect(zero_signs=False))


def dot_batches(rng):
    # Values are multiples of 1/8 up to 4: every sum below is exact in f32, in any order.
    for type_, out in [("f32", "f32"), ("f64", "f64"), ("s32", "s32"), ("s8", "s32"), ("u8", "u8"), ("c64", "c64"),
                       ("bf16", "f32"), ("f16", "f32"), ("c128", "c128")]:
        batch = Batch(f"dot {type_}")
        for _ in range(10):
            add_dot(batch, rng, type_, out)
        yield batch
    batch = Batch("dot large")
    x = rng.normal(size=(70, 300)).astype(np.float32)
    y = rng.normal(size=(300, 50)).astype(np.float32)
    bound = 300 * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(y))
    batch.result("f32", f"f32[70,50] dot({batch.parameter(x)}, {batch.parameter(y)}), lhs_contracting_dims={{1}}, "
                 "rhs_contracting_dims={0}", Expect(bound=bound))
    yield batch


# ------------------------------------------------------------------------------------------------- indices, windows


def random_starts(rng, start_map, batch, vector_dim):
    """Indices of shape |batch| with the start vectors put in at |vector_dim|, some of them out of range."""
    dims = list(batch)
    dims.insert(vector_dim, len(start_map))
    name = str(rng.choice(["s32", "s64", "u8", "s8"]))
    return rng.integers(-2 if name[0] == "s" else 0, 7, size=dims).astype(DTYPES[name])


def add_gather(batch, rng):
    name = str(rng.choice(MOVED))
    rank = int(rng.integers(1, 4))
    dims = [int(rng.integers(1, 6)) for _ in range(rank)]
    x = random_array(name, dims, rng)
    start_map = [int(d) for d in rng.permutation(rank)[: rng.integers(1, rank + 1)]]
    sizes = [int(rng.integers(1, n + 1)) for n in dims]
    collapsed = [d for d in range(rank) if rng.integers(0, 2)]
    for d in collapsed:
        sizes[d] = 1
    where = dims_of(rng, int(rng.integers(0, 3)), least=1)
    vector_dim = int(rng.integers(0, len(where) + 1))
    indices = random_starts(rng, start_map, where, vector_dim)
    kept = [sizes[d] for d in range(rank) if d not in collapsed]
    offset = sorted(int(d) for d in rng.choice(len(where) + len(kept), len(kept), replace=False))
    rest, window, out = iter(where), iter(kept), []
    for d in range(len(where) + len(kept)):
        out.append(next(window) if d in offset else next(rest))
    batch.result(f"gather {text_of(x)} {text_of(indices)}", f"{shape_text(name, out)} gather({batch.parameter(x)}, "
                 f"{batch.parameter(indices)}), offset_dims={braces(offset)}, collapsed_slice_dims={braces(collapsed)}, "
                 f"start_index_map={braces(start_map)}, index_vector_dim={vector_dim}, slice_sizes={braces(sizes)}",
                 Expect(skip=skip_none))


def add_scatter(batch, rng):
    rank = int(rng.integers(1, 4))
    dims = [int(rng.integers(1, 6)) for _ in range(rank)]
    x = random_array("s32", dims, rng)
    to_dims = [int(d) for d in rng.permutation(rank)[: rng.integers(1, rank + 1)]]
    inserted = [d for d in range(rank) if rng.integers(0, 2)]
    sizes = [int(rng.integers(1, dims[d] + 1)) for d in range(rank) if d not in inserted]
    where = dims_of(rng, int(rng.integers(0, 3)), least=1)
    vector_dim = int(rng.integers(0, len(where) + 1))
    indices = random_starts(rng, to_dims, where, vector_dim)
    window_dims = sorted(int(d) for d in rng.choice(len(where) + len(sizes), len(sizes), replace=False))
    rest, window, shape = iter(where), iter(sizes), []
    for d in range(len(where) + len(sizes)):
        shape.append(next(window) if d in window_dims else next(rest))
    updates = random_array("s32", shape, rng)
    batch.result(f"scatter {text_of(x)} {text_of(indices)}", f"{text_of(x)} scatter({batch.parameter(x)}, "
                 f"{batch.parameter(indices)}, {batch.parameter(updates)}), update_window_dims={braces(window_dims)}, "
                 f"inserted_window_dims={braces(inserted)}, scatter_dims_to_operand_dims={braces(to_dims)}, "
                 f"index_vector_dim={vector_dim}, to_apply=add_s32")


def index_batches(rng):
    for round_ in range(5):
        batch = Batch(f"gather {round_}")
        for _ in range(12):
            add_gather(batch, rng)
        yield batch
        batch = Batch(f"scatter {round_}", reducer("add_s32", "s32", "add"))
        for _ in range(12):
            add_scatter(batch, rng)
        yield batch


SORTERS = """by_value { x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER }
by_key { k = s8[] parameter(0)
  l = s8[] parameter(1)
  v = f32[] parameter(2)
  w = f32[] parameter(3)
  ROOT r = pred[] compare(k, l), direction=GT }
"""


def sort_batches(rng):
    for round_ in range(4):
        batch = Batch(f"sort {round_}", SORTERS)
        for _ in range(5):
            dims = dims_of(rng, int(rng.integers(1, 4)), least=1)
            dim = int(rng.integers(0, len(dims)))
            dims[dim] = int(rng.integers(0, 40))
            x = random_array("f32", dims, rng)
            batch.result(f"by value {text_of(x)} {dim}", f"{text_of(x)} sort({batch.parameter(x)}), dimensions={{{dim}}}, "
                         "to_apply=by_value")
            k = rng.integers(-3, 4, size=dims).astype(np.int8)
            both = batch.line(f"({text_of(k)}, {text_of(x)}) sort({batch.parameter(k)}, {batch.parameter(x)}), "
                              f"dimensions={{{dim}}}, is_stable=true, to_apply=by_key")
            for i, a in enumerate([k, x]):
                batch.result(f"by key {text_of(x)} {i}", f"{text_of(a)} get-tuple-element({both}), index={i}")
        yield batch


def window_of(rng, dims, dilated):
    """A window= over |dims| and the sizes of the result; the base is dilated only if asked."""
    parts, out = [], []
    for n in dims:
        size, stride, spread = (int(rng.integers(1, 4)) for _ in range(3))
        low, high = (int(rng.integers(-1, 3)) for _ in range(2))
        base = int(rng.integers(1, 3)) if dilated else 1
        width = 0 if n == 0 else (n - 1) * base + 1
        covered = (size - 1) * spread + 1
        low = max(low, -width)
        high = max(high, covered - width - low)  # at least one place
        parts.append((size, stride, f"{low}_{high}", base, spread))
        out.append((low + width + high - covered) // stride + 1)
    names = ["size", "stride", "pad", "lhs_dilate", "rhs_dilate"]
    text = " ".join(f"{n}={'x'.join(str(p[i]) for p in parts)}" for i, n in enumerate(names))
    return f"window={{{text}", parts, out


def window_batches(rng):
    for round_ in range(4):
        batch = Batch(f"reduce-window {round_}", reducer("add_s32", "s32", "add") + reducer("max_f32", "f32", "maximum"))
        for type_, init, fold in [("s32", 0, "add_s32"), ("f32", -np.inf, "max_f32")] * 4:
            x = random_array(type_, [int(rng.integers(1, 6)) for _ in range(int(rng.integers(1, 4)))], rng)
            window, _, out = window_of(rng, x.shape, dilated=True)
            names = f"{batch.parameter(x)}, {batch.parameter(np.array(init, DTYPES[type_]))}"
            batch.result(f"{fold} {text_of(x)}", f"{shape_text(type_, out)} reduce-window({names}), {window}}}, "
                         f"to_apply={fold}")
        yield batch


def add_convolution(batch, rng, type_):
    rank = int(rng.integers(1, 3))
    groups = {"feature_group_count": 1, "batch_group_count": 1}
    if rng.integers(0, 2):
        groups[str(rng.choice(list(groups)))] = 2
    features, per_group = groups["feature_group_count"], int(rng.integers(1, 3))
    outputs = 2 * int(rng.integers(1, 3))
    n = groups["batch_group_count"] * int(rng.integers(1, 3))
    space = [int(rng.integers(2, 6)) for _ in range(rank)]
    window, parts, out = window_of(rng, space, dilated=True)
    reversal = "x".join(str(int(rng.integers(0, 2))) for _ in range(rank))
    digits = "".join(str(d) for d in range(rank))

    def arranged(sizes):
        letters = "".join(str(c) for c in rng.permutation(list(sizes)))
        return letters, [sizes[c] for c in letters]

    spatial = dict(zip(digits, space))
    input_, x_dims = arranged({"b": n, "f": features * per_group, **spatial})
    kernel, k_dims = arranged({"i": per_group, "o": outputs, **dict(zip(digits, (p[0] for p in parts)))})
    result, out_dims = arranged({"b": n // groups["batch_group_count"], "f": outputs, **dict(zip(digits, out))})
    x, k = random_array(type_, x_dims, rng), random_array(type_, k_dims, rng)
    counts = ", ".join(f"{a}={v}" for a, v in groups.items() if v > 1)
    batch.result(f"convolution {text_of(x)} {input_}_{kernel}->{result}", f"{shape_text(type_, out_dims)} "
                 f"convolution({batch.parameter(x)}, {batch.parameter(k)}), {window} rhs_reversal={reversal}}}, "
                 f"dim_labels={input_}_{kernel}->{result}{', ' if counts else ''}{counts}", Expect(zero_signs=False))


def convolution_batches(rng):
    for type_ in ["f32", "s32", "f64", "s8"]:
        batch = Batch(f"convolution {type_}")
        for _ in range(10):
            add_convolution(batch, rng, type_)
        yield batch


# ------------------------------------------------------------------------------------------------- control


CONTROL = """
step {
  c = (s32[], u32[4], f32[6,2]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  x = u32[4] get-tuple-element(c), index=1
  t = f32[6,2] get-tuple-element(c), index=2
  a = u32[] constant(1664525)
  b = u32[] constant(1013904223)
  as = u32[4] broadcast(a), dimensions={}
  bs = u32[4] broadcast(b), dimensions={}
  m = u32[4] multiply(x, as)
  n = u32[4] add(m, bs)
  f = f32[] convert(i)
  row = f32[1,2] broadcast(f), dimensions={}
  zero = s32[] constant(0)
  u = f32[6,2] dynamic-update-slice(t, row, i, zero)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT r = (s32[], u32[4], f32[6,2]) tuple(j, n, u)
}
again {
  c = (s32[], u32[4], f32[6,2]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  x = u32[4] get-tuple-element(c), index=1
  first = u32[1] slice(x), slice={[0:1]}
  f = u32[] reshape(first)
  limit = u32[] constant(4000000000)
  small = pred[] compare(f, limit), direction=LT
  end = s32[] constant(40)
  early = pred[] compare(i, end), direction=LT
  ROOT r = pred[] and(small, early)
}
double { x = s32[3] parameter(0)
  ROOT y = s32[3] add(x, x) }
square { x = s32[3] parameter(0)
  ROOT y = s32[3] multiply(x, x) }
minus { x = s32[3] parameter(0)
  ROOT y = s32[3] negate(x) }
both { x = s32[3] parameter(0)
  y = s32[3] call(x), to_apply=square
  ROOT z = s32[3] call(y), to_apply=minus }
poly { x = f64[] parameter(0)
  y = f64[] parameter(1)
  p = f64[] subtract(x, y)
  ROOT q = f64[] divide(p, x) }
"""


def control_batches(rng):
    for round_ in range(6):
        batch = Batch(f"control {round_}", CONTROL)
        x = rng.integers(0, 1 << 32, size=4, dtype=np.uint64).astype(np.uint32)
        start = np.array(rng.integers(-3, 45), np.int32)
        table = random_array("f32", [6, 2], rng)
        names = ", ".join(batch.parameter(a) for a in (start, x, table))
        carry = batch.line(f"(s32[], u32[4], f32[6,2]) tuple({names})")
        loop = batch.line(f"(s32[], u32[4], f32[6,2]) while({carry}), condition=again, body=step")
        for i, shape in enumerate(["s32[]", "u32[4]", "f32[6,2]"]):
            batch.result(f"while {i}", f"{shape} get-tuple-element({loop}), index={i}")
        v = batch.parameter(rng.integers(-9, 10, size=3).astype(np.int32))
        w = batch.parameter(rng.integers(-9, 10, size=3).astype(np.int32))
        which = batch.parameter(np.array(bool(round_ % 2)))
        batch.result("conditional pred", f"s32[3] conditional({which}, {v}, {w}), true_computation=square, "
                     "false_computation=minus")
        for index in [-5, -1, 0, 1, 2, 3, 77]:
            choice = batch.parameter(np.array(index, np.int32))
            batch.result(f"conditional {index}", f"s32[3] conditional({choice}, {v}, {w}, {v}), "
                         "branch_computations={double, square, minus}")
        batch.result("call", f"s32[3] call({v}), to_apply=both")
        a, b = (batch.parameter(rng.normal(size=(3, 2))) for _ in range(2))
        batch.result("map", f"f64[3,2] map({a}, {b}), dimensions={{0,1}}, to_apply=poly")
        yield batch


# ------------------------------------------------------------------------------------------------- made of other ops


def add_batch_norm(batch, rng, type_):
    """XLA computes the variance as E[x^2] - E[x]^2, so distances are bounded by what that loses."""
    dims = [int(rng.integers(1, 6)) for _ in range(int(rng.integers(2, 5)))]
    f = int(rng.integers(0, len(dims)))
    close = Expect(bound=2e-4 if type_ == "f32" else 1e-12)
    x, dy = (rng.normal(size=dims).astype(DTYPES[type_]) for _ in range(2))
    vectors = [rng.normal(size=dims[f]).astype(DTYPES[type_]) for _ in range(3)]
    variance = rng.uniform(0.2, 3, size=dims[f]).astype(DTYPES[type_])
    p, d = batch.parameter(x), batch.parameter(dy)
    s, o, m = (batch.parameter(v) for v in vectors)
    v = batch.parameter(variance)
    attrs = f"epsilon=0.01, feature_index={f}"
    three = f"({text_of(x)}, {text_of(variance)}, {text_of(variance)})"
    training = batch.line(f"{three} batch-norm-training({p}, {s}, {o}), {attrs}")
    gradient = batch.line(f"{three} batch-norm-grad({p}, {s}, {m}, {v}, {d}), {attrs}")
    for i, shape in enumerate([text_of(x), text_of(variance), text_of(variance)]):
        batch.result(f"training {dims} {f} {i}", f"{shape} get-tuple-element({training}), index={i}", close)
        batch.result(f"grad {dims} {f} {i}", f"{shape} get-tuple-element({gradient}), index={i}", close)
    batch.result(f"inference {dims} {f}", f"{text_of(x)} batch-norm-inference({p}, {s}, {o}, {m}, {v}), {attrs}", close)


def batch_norm_batches(rng):
    for type_ in ["f32", "f64"]:
        batch = Batch(f"batch-norm {type_}")
        for _ in range(10):
            add_batch_norm(batch, rng, type_)
        yield batch


def scan_batches(rng):
    for round_ in range(8):
        dims = [int(rng.integers(1, 5)) for _ in range(int(rng.integers(1, 4)))]
        dim = int(rng.integers(0, len(dims)))
        cut = dims[:dim] + dims[dim + 1:]
        row, one, all_ = shape_text("s32", cut), shape_text("s32", dims[dim:dim + 1]), shape_text("s32", dims)
        body = (f"step {{\n  x = {row} parameter(0)\n  c = {row} parameter(1)\n  n = s32[] parameter(2)\n"
                f"  every = {row} broadcast(n), dimensions={{}}\n  m = {row} multiply(c, every)\n  s = {row} add(x, m)\n"
                "  k = s32[] constant(3)\n  next = s32[] add(n, k)\n"
                f"  ROOT r = ({row}, {row}, s32[]) tuple(m, s, next)\n}}\n")
        batch = Batch(f"scan {round_}", body)
        operands = ", ".join(batch.parameter(random_array("s32", d, rng)) for d in [dims, cut, []])
        for reverse in ["false", "true"]:
            out = batch.line(f"({all_}, {row}, s32[]) scan({operands}), dimensions={{{dim}}}, num_carries=2, "
                             f"is_reverse={reverse}, to_apply=step")
            for i, shape in enumerate([all_, row, "s32[]"]):
                batch.result(f"{dims} {dim} {reverse} {i}", f"{shape} get-tuple-element({out}), index={i}")
        yield batch


ONE_DEVICE = """
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
"""


def one_device_batches(rng):
    batch = Batch("one device", ONE_DEVICE)
    p = batch.parameter(random_array("f32", [4, 2], rng))
    for groups in ["{}", "{{0}}", "{{0},{1}}", "{{1},{0}}"]:
        attrs = f"replica_groups={groups}"
        batch.result(f"all-reduce {groups}", f"f32[4,2] all-reduce({p}), {attrs}, to_apply=add")
        batch.result(f"all-gather {groups}", f"f32[4,2] all-gather({p}), {attrs}, dimensions={{1}}")
        batch.result(f"reduce-scatter {groups}", f"f32[4,2] reduce-scatter({p}), {attrs}, dimensions={{0}}, to_apply=add")
    batch.result("all-to-all", f"f32[4,2] all-to-all({p}), replica_groups={{{{0}}}}, dimensions={{0}}")
    for pairs in ["{}", "{{0,0}}"]:
        batch.result(f"collective-permute {pairs}", f"f32[4,2] collective-permute({p}), source_target_pairs={pairs}")
    yield batch


# ------------------------------------------------------------------------------------------------- all of it


GROUPS = [unary_batches, binary_batches, ternary_batches, convert_batches, bitcast_batches, precision_batches,
          move_batches, reduce_batches, dot_batches, index_batches, sort_batches, window_batches, convolution_batches,
          control_batches, batch_norm_batches, scan_batches, one_device_batches]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("only", nargs="?", help="run only batches and cases with this in their name")
    arguments.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    np.seterr(over="ignore", invalid="ignore")
    score = Score(Indim(os.environ["INDIM_LIB"]), Xla(), options.only)
    begin = time.time()
    for batch in sampled(batch for group in GROUPS for batch in group(np.random.default_rng(options.seed))):
        score.run(batch)
    print(f"{score.elements} elements, {time.time() - begin:.0f} s, seed {options.seed}")
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed or not score.passed else 0


if __name__ == "__main__":
    sys.exit(main())
