#!/usr/bin/env python3
"""Holds the modules of tests/programs, lowered by JAX before and after XLA's optimisation, against XLA.

    INDIM_BIN=build/dev/indim programs.py [FILTER]     only the modules whose name contains FILTER; -v says more

Of every module: `indim check` accepts it; printing is a fixpoint; XLA reads what `indim print` wrote as the same module
(names, order, constants and attributes). If the evaluator knows all its ops, `indim run` gives, evaluated and compiled,
what XLA computes from the `before` text, on ordinary arguments, and on every edge value where the program allows any value: integers and
booleans bit for bit, floats within the bound of BOUNDS. Programs with an op that is not evaluated, or with an elided
constant, are refused with that reason.
"""

import ast
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

import ml_dtypes
import numpy as np

from _sample import sampled
from _xla import Aborted, Refused, Xla

INDIM = os.environ.get("INDIM_BIN", "build/indim")
FOLDER = pathlib.Path(__file__).parent.parent / "programs"
OPS = pathlib.Path(__file__).parent.parent.parent / "include/indim/ops.def"

DTYPES = {
    "pred": np.bool_,
    **{f"s{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"u{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
}

# Programs that take any value at all: edge values are tried too. (Not small_integers: what XLA optimises adds s4 as s8.)
ANY_VALUE = set("""
    unary_f32 unary_f64 arithmetic_f16 arithmetic_bf16 arithmetic_s8 arithmetic_u16 arithmetic_s64 arithmetic_u64
    logic bits arithmetic_c64 compare_f32 power_remainder_atan2 conversions small_floats
    reduce_precision broadcast_row broadcast_outer broadcast_three broadcast_in_dim reshape_transpose slices
    concatenate_pad flip_roll_rotate tile_repeat triangles dynamic_slices dynamic_slice_matrix one_hot
    where_clip_select piecewise reductions_s32 argmax_argmin variadic_reduce while_gcd cond_two switch_four dot_s8
    threefry hash_words edit_distance bubble_sort
    """.split())

# Programs that need positive arguments (while_newton would not end).
POSITIVE = {"while_newton"}

# The largest distance from XLA in units in the last place; "each": of the element, "leaf": of the largest element of
# the result, for sums and products whose order is free and for what follows from them. The bounds of the functions are
# XLA's own errors: ours are correctly rounded or within 1.
DEFAULT_BOUND = (4, "each")
BOUNDS = {
    "unary_f32": (6, "each"),  # expm1 4.3, tanh 3.8
    "unary_f64": (130, "each"),  # log1p 123, tanh 6.5
    "special_functions": (16, "each"),
    "kalman_step": (64, "leaf"),  # divides by a small determinant
    "linear_algebra": (64, "leaf"),
    "decompositions": (64, "leaf"),
    **dict.fromkeys(
        """attention attention_gradient batch_matmul batch_norm checkpoint_gradient conjugate_gradient convolution
        convolution_grouped convolution_transposed dot_bf16 dot_c64 dot_general dot_product_attention einsums
        forward_kinematics k_means lstm matmul mlp_forward mlp_gradient mlp_value_and_gradient polynomials pooling
        spectra spectrum_2d transformer_block""".split(),
        (8, "leaf"),
    ),
}


def evaluated_ops():
    rows = re.findall(r'^INDIM_OP\(\w+, "([a-z0-9-]+)", -?\d+, -?\d+, [A-Z |]+, \w+, \w+, (\w+),', OPS.read_text(), re.M)
    return {op for op, evaluation in rows if evaluation != "none"}


def ops_of(printed):
    """The opcodes of a module as XLA printed it, one instruction a line; of a custom call that is not LAPACK's or TopK the target."""
    ops = set()
    for line in printed.splitlines():
        if line.startswith("  ") and " = " in line:
            ops.add(re.search(r" ([a-z][a-z0-9-]*)\(", line.split(" = ", 1)[1])[1])
    return ops | set(re.findall(r'custom_call_target="((?!lapack_|TopK")[^"]*)"', printed))


def parameters_of(text):
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->", text)[1]
    return [
        (DTYPES[name], tuple(int(size) for size in sizes.split(",") if size))
        for name, sizes in re.findall(r"(\w+)\[([\d,]*)\]", layout)
    ]


# ------------------------------------------------------------------------------------------------------ arguments


def is_float(dtype):
    return (
        dtype == np.dtype(dtype)
        and np.dtype(dtype).kind == "f"
        or hasattr(ml_dtypes, np.dtype(dtype).name)
        and ("float" in np.dtype(dtype).name)
    )


def finfo(dtype):
    return ml_dtypes.finfo(dtype)


def ordinary(random, dtype, sizes):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, sizes).astype(dtype)
    if dtype.kind == "c":
        return (random.standard_normal(sizes) + 1j * random.standard_normal(sizes)).astype(dtype)
    if is_float(dtype):
        return np.asarray(random.standard_normal(sizes)).astype(dtype)
    low = 0 if dtype.kind == "u" else -3
    return np.asarray(random.integers(low, 8, sizes)).astype(dtype)


def any_values(random, dtype, sizes):
    """Mostly edge values. No subnormals, which XLA:CPU flushes; complex numbers stay ordinary."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, sizes).astype(dtype)
    if dtype.kind == "c":
        part = np.float32 if dtype == np.complex64 else np.float64
        values = np.empty(sizes, dtype)
        values.real, values.imag = ordinary(random, part, sizes), ordinary(random, part, sizes)
        return values
    if is_float(dtype):
        info = finfo(dtype)
        largest, smallest = float(info.max), float(info.smallest_normal)
        edges = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, np.inf, -np.inf, np.nan, largest, -largest, smallest]
        scaled = random.standard_normal(sizes) * np.exp2(random.integers(-8, 9, sizes))
        chosen = random.random(sizes) < 0.6
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.where(chosen, random.choice(edges, sizes), scaled)).astype(dtype)
    bits = 4 if dtype.name in ("int4", "uint4") else 8 * dtype.itemsize
    signed = not dtype.name.startswith("uint")
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
    edges = np.array([low, high, low + 1, high - 1, 0, 1, max(low, -1), 2, 3, 7, bits - 1], dtype=object)
    count = int(np.prod(sizes, dtype=int))
    everything = random.integers(low, high, count, dtype=np.int64 if signed else np.uint64, endpoint=True).astype(
        object
    )
    chosen = np.where(random.random(count) < 0.5, edges[random.integers(0, len(edges), count)], everything)
    return np.array([int(v) for v in chosen], dtype=object).astype(dtype).reshape(sizes)


def positive(random, dtype, sizes):
    return abs(ordinary(random, dtype, sizes))


def arguments_of(name, parameters):
    random = np.random.default_rng(list(name.encode()))
    kinds = [ordinary, ordinary] + ([any_values] * 4 if name in ANY_VALUE else [])
    if name in POSITIVE:
        kinds = [positive, positive]
    return [[kind(random, *parameter) for parameter in parameters] for kind in kinds]


# ----------------------------------------------------------------------------------------------------- comparison


def parts(array):
    """The array as real numbers with a last dimension: one part, or the two of complex numbers."""
    if array.dtype.kind == "c":
        return np.ascontiguousarray(array).reshape(array.shape + (1,)).view(array.real.dtype)
    return array[..., None]


FLUSHED = (np.float32, np.float64, ml_dtypes.bfloat16)  # whose subnormals XLA:CPU replaces by zeros

# Compiled code sums in an order of its own and its functions are within 2 units: a result passes when every element is
# within the bound and those 2, or within so many units of the largest element.
COMPILED_EACH, COMPILED_LEAF = 2, 32


def distance(ours, theirs, of):
    """The largest distance in units in the last place; infinite where only one is NaN or infinite.

    The unit is that of the element, for a complex number of the larger part; of "leaf", of the largest element."""
    dtype = ours.dtype
    if not is_float(dtype) and dtype.kind != "c":
        return 0 if np.array_equal(ours, theirs) else np.inf
    ours, theirs = parts(ours), parts(theirs)
    info = finfo(ours.dtype)
    smallest = float(info.smallest_normal)
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if ours.dtype in FLUSHED:
        same |= (b == 0) & (np.abs(a) <= smallest)
    if same.all():
        return 0
    if not (np.isfinite(a) & np.isfinite(b) | same).all():
        return np.inf
    scale = np.where(np.isfinite(b), np.maximum(np.abs(b), smallest), smallest)
    scale = np.max(scale, axis=None if of == "leaf" else -1, keepdims=True)
    unit = np.exp2(np.floor(np.log2(scale))) * float(info.eps)
    with np.errstate(invalid="ignore"):
        return float(np.max(np.where(same, 0, np.abs(a - b)) / unit))


def is_near(ours, theirs, bound, engine):
    limit, of = bound
    if distance(ours, theirs, of) <= limit + (COMPILED_EACH if engine == "native" else 0):
        return True
    return engine == "native" and distance(ours, theirs, "leaf") <= COMPILED_LEAF


def differences(ours, theirs, bound, engine):
    limit, of = bound
    if len(ours) != len(theirs):
        return [f"{len(ours)} results, XLA has {len(theirs)}"]
    found = []
    for index, (a, b) in enumerate(zip(ours, theirs)):
        if a.shape != b.shape or a.dtype != b.dtype:
            found.append(f"result {index}: {a.dtype} {a.shape}, XLA has {b.dtype} {b.shape}")
            continue
        for unit in farthest:
            farthest[unit] = max(farthest[unit], distance(a, b, unit))
        if not is_near(a, b, bound, engine):
            far = distance(a, b, of)
            found.append(f"result {index}: {far:.3g} ulp of {of} away, {limit} allowed\n    ours {a!r}\n    XLA  {b!r}")
    return found


# ------------------------------------------------------------------------------------------------------ the tests

passed = 0
failures = []
farthest = {"each": 0, "leaf": 0}  # of one program, for -v


def case(what, complaint):
    """Counts one case: it failed if there is a complaint."""
    global passed
    if complaint:
        failures.append(what)
        print(f"FAILED {what}: {complaint}")
    else:
        passed += 1


def indim(*arguments):
    done = subprocess.run([INDIM, *map(str, arguments)], capture_output=True, timeout=300)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def text_cases(xla, path, printed, scratch):
    """check, print twice, and XLA's reading of the print."""
    status, _, message = indim("check", path)
    case(f"check {path.name}", message if status else "")
    status, once, message = indim("print", path)
    case(f"print {path.name}", message if status else "")
    if status:
        return
    (scratch / "once.hlo").write_text(once)
    status, twice, message = indim("print", scratch / "once.hlo")
    case(f"print what print wrote, {path.name}", message if status else "" if once == twice else "not a fixpoint")
    try:
        read = xla.ask("parse", once)
        elided = re.findall(r"%(\S+) = \S+ constant\(\{\.\.\.\}\)", path.read_text())
        case(f"XLA reads {path.name} as printed", first_difference(read, printed, elided))
    except (Refused, Aborted) as error:
        case(f"XLA reads {path.name} as printed", str(error))


def first_difference(ours, theirs, elided):
    """Where two prints of XLA's part; "" if nowhere. XLA fills elided constants with numbers from a counter."""
    for name in elided:
        ours, theirs = (re.sub(rf"  {re.escape(name)} = .*", f"  {name} elided", text) for text in (ours, theirs))
    if ours == theirs:
        return ""
    for a, b in zip(ours.splitlines(), theirs.splitlines()):
        if a != b:
            return f"\n    ours  {a}\n    XLA's {b}"
    return "one is longer"


def read_npy(file):
    """An array of an .npy file; the types that NumPy lacks as bytes. np.load stumbles over what ml_dtypes writes."""
    np.lib.format.read_magic(file)
    size = int.from_bytes(file.read(2), "little")
    header = ast.literal_eval(file.read(size).decode())
    name = header["descr"]
    dtype = np.dtype(f"V{name[2:]}") if name[1:] == "f1" else np.dtype(name)
    return np.frombuffer(file.read(), dtype).reshape(header["shape"], order="F" if header["fortran_order"] else "C")


def leaves(path):
    """The arrays of an .npz in the order of their paths."""
    with zipfile.ZipFile(path) as archive:
        paths = [name.removesuffix(".npy") for name in archive.namelist()]
        paths.sort(key=lambda name: [int(part) for part in name.split(".")])
        return [read_npy(archive.open(f"{name}.npy")) for name in paths]


def typed(ours, theirs):
    """Types that NumPy lacks come as bytes: gives them XLA's type where the width is the same."""
    return [
        a.view(b.dtype) if a.dtype.kind == "V" and a.dtype.itemsize == b.dtype.itemsize else a
        for a, b in zip(ours, theirs)
    ] + ours[len(theirs) :]


def run_cases(name, paths, arguments, results, scratch):
    for number, (one, expected) in enumerate(zip(arguments, results)):
        files = []
        for position, argument in enumerate(one):
            files.append(scratch / f"{position}.npy")
            np.save(files[-1], argument)
        for path, engine in itertools.product(paths, ("eval", "native")):
            what = f"run {path.name}, arguments {number}, {engine}"
            out = scratch / "out.npz"
            out.unlink(missing_ok=True)
            status, _, message = indim("run", f"--engine={engine}", "-o", out, path, *files)
            if status:
                case(what, message)
                continue
            ours = typed(leaves(out), expected)
            found = differences(ours, expected, BOUNDS.get(name, DEFAULT_BOUND), engine)
            complaint = "\n    ".join(found)
            if complaint:
                complaint += f"\n    arguments {one!r}"
            case(what, complaint)


def refusal_case(path, parameters, words, scratch):
    """A program that cannot be evaluated: refused, and the message has one of the words."""
    files = []
    for position, (dtype, sizes) in enumerate(parameters):
        files.append(scratch / f"{position}.npy")
        np.save(files[-1], np.zeros(sizes, dtype))
    status, _, message = indim("run", path, *files)
    reason = status > 0 and any(word in message for word in words)
    case(f"refusal to run {path.name}", "" if reason else f"exit code {status}, no word of {sorted(words)}: {message}")


def main():
    arguments = [a for a in sys.argv[1:] if a != "-v"]
    chosen = arguments[0] if arguments else ""
    xla, known = Xla(), evaluated_ops()
    evaluated = {"before": 0, "after": 0}
    names = sampled(sorted(path.name.removesuffix(".before.hlo") for path in FOLDER.glob("*.before.hlo")))
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        for name in names:
            if chosen not in name:
                continue
            farthest.update(each=0, leaf=0)
            runnable = []
            texts = {kind: (FOLDER / f"{name}.{kind}.hlo") for kind in evaluated}
            parameters = parameters_of(texts["before"].read_text())
            for kind, path in texts.items():
                text = path.read_text()
                printed = xla.ask("parse", text)
                text_cases(xla, path, printed, scratch)
                if unknown := ops_of(printed) - known:
                    refusal_case(path, parameters, unknown, scratch)
                elif "constant({...})" in text:
                    refusal_case(path, parameters, {"left out of the text"}, scratch)
                else:
                    runnable.append(path)
                    evaluated[kind] += 1
            if runnable:
                values = arguments_of(name, parameters)
                run_cases(name, runnable, values, xla.ask("run", texts["before"].read_text(), values), scratch)
            if "-v" in sys.argv:
                each, leaf = farthest.values()
                print(f"{name}: {len(runnable)} run, at most {each:.3g} ulp of each, {leaf:.3g} of the leaf away")
    print(f"{len(names)} functions; {evaluated['before']} run before and {evaluated['after']} after optimisation")
    print(f"{passed} passed, {len(failures)} failed")
    return bool(failures) or not passed


if __name__ == "__main__":
    sys.exit(main())
