"""Our library and the C kernels through ctypes: texts compiled, buffers handed over, runs timed in C loops."""

import ctypes
import functools
import os
import pathlib
import subprocess

import numpy as np

FOLDER = pathlib.Path(__file__).parent
BUILD = FOLDER.parent / "build" / "bench"
FLAGS = ["-O3", "-march=native", "-std=gnu11", "-fPIC", "-shared"]


class Refused(Exception):
    """Our compiler said no; the text is its message."""


CONTRACT = 1


def pointers(arrays):
    return (ctypes.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])


def build(name, sources, *flags, after=(), depends=()):
    """A shared library from C files, made anew when a source is newer."""
    BUILD.mkdir(parents=True, exist_ok=True)
    out = BUILD / f"{name}.so"
    newest = max(source.stat().st_mtime for source in [*sources, *depends, FOLDER / "kernels" / "kernels.h"])
    if not out.exists() or out.stat().st_mtime < newest:
        include = ["-I", str(FOLDER.parent / "include"), "-I", str(FOLDER / "kernels")]
        command = ["gcc", *FLAGS, *flags, *include, *map(str, sources), "-o", str(out) + ".new", "-lm", *after]
        subprocess.run(command, check=True)
        os.replace(str(out) + ".new", out)
    return out


SOURCES = [FOLDER / "kernels" / f"{name}.c" for name in ("small", "streams", "reductions", "layouts", "whole", "timer")]


@functools.cache
def kernels(threads, strict=False):
    """The plain-C kernels: contracting, as gcc does by default, or strict; with OpenMP for more than one thread."""
    name = "kernels" + ("_strict" if strict else "") + ("_threads" if threads > 1 else "")
    flags = (["-ffp-contract=off"] if strict else []) + (["-fopenmp"] if threads > 1 else [])
    library = ctypes.CDLL(str(build(name, SOURCES, *flags)))
    library.bench_time_kernel.restype = ctypes.c_double
    return library


class Kernel:
    """A C function on a row's buffers; seconds(runs) times it."""

    def __init__(self, library, function, args, results, numbers):
        self.timer = library.bench_time_kernel
        self.keep = (args, results)
        self.call = (
            ctypes.cast(function, ctypes.c_void_p),
            pointers(args),
            pointers(results),
            (ctypes.c_int64 * max(len(numbers), 1))(*numbers),
        )

    def seconds(self, runs):
        return self.timer(*self.call, ctypes.c_int64(runs)) * 1e-9


def row_kernel(row, threads, strict, args, results):
    name, numbers = row.kernel
    library = kernels(threads, strict)
    functions = library
    if row.ckernel:
        BUILD.mkdir(parents=True, exist_ok=True)
        source = BUILD / f"{row.name}.c"
        text = row.ckernel()
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        functions = ctypes.CDLL(
            str(build(row.name + ("_strict" if strict else ""), [source], *(["-ffp-contract=off"] if strict else [])))
        )
    return Kernel(library, functions[name], args, results, numbers)


def limits(threads, reads, writes, quick):
    """The fastest way to move these bytes, as a Kernel: copies what is both read and written, reads or fills the rest."""
    copied = min(reads, writes)
    rest = (reads - copied, writes - copied)
    buffers = [empty(max(size, 32) + 4096) for size in (copied, rest[0], copied, rest[1], 32)]
    for buffer in buffers:
        buffer.fill(1)
    library = kernels(threads)
    best = None
    total = reads + writes
    runs = max(1, min(2000, (64 << 20) // max(total, 1)))
    for past_cache in (0, 1):
        for ahead in (0, 1):
            for streams in (1, 4):
                kernel = Kernel(
                    library, library.limit, buffers[:2], buffers[2:], (copied, *rest, past_cache, ahead, streams)
                )
                kernel.seconds(1)
                time = min(kernel.seconds(runs) for _ in range(2 if quick else 4))
                if best is None or time < best[0]:
                    best = (time, kernel)
    return best[1]


def empty(size):
    """Bytes at a multiple of 64 (of 2 MiB where they are many, so that huge pages fit)."""
    align = 64 if size < (4 << 20) else 2 << 20
    block = np.empty(size + align, np.uint8)
    start = -block.ctypes.data % align
    return block[start : start + size]


def like(array):
    """An array of the same type and sizes in memory of our own, with the same elements."""
    array = np.asarray(array)
    copy = empty(array.nbytes).view(array.dtype).reshape(array.shape) if array.nbytes else array.copy()
    copy[...] = array
    return copy


class Indim:
    """The library, with one context and, for more than one thread, a pool."""

    def __init__(self, path, threads=1):
        # Linked to no library: it takes its symbols from the one loaded first, which may be any build.
        self.library = ctypes.CDLL(str(pathlib.Path(path).resolve()), mode=ctypes.RTLD_GLOBAL)
        headers = sorted((FOLDER.parent / "include" / "indim").glob("*"))
        made = build("ours", [FOLDER / "kernels" / "ours.c"], depends=headers)
        self.lib = lib = ctypes.CDLL(str(made))
        lib.ours_open.restype = lib.ours_compile.restype = lib.ours_bind.restype = ctypes.c_void_p
        lib.ours_why.restype = ctypes.c_char_p
        lib.ours_run.restype = lib.ours_execute.restype = ctypes.c_double
        self.session = ctypes.c_void_p(lib.ours_open(ctypes.c_int32(threads)))
        for name in ("argument_count", "argument_bytes", "result_count", "result_bytes", "scratch_bytes", "code_bytes"):
            getattr(self.library, f"indim_executable_{name}").restype = ctypes.c_int64

    def why(self):
        return Refused(self.lib.ours_why(self.session).decode(errors="replace"))

    def compile(self, name, text, fast=0, target="native"):
        return Executable(self, name, text, fast, target)


class Executable:
    """A compiled program. bind() gives it buffers, to be looked at then or in each run; seconds(runs) times it."""

    def __init__(self, indim, name, text, fast, target):
        self.indim = indim
        made = indim.lib.ours_compile(
            indim.session, name.encode(), text.encode(), ctypes.c_uint32(fast), target.encode()
        )
        if not made:
            raise indim.why()
        self.exe = ctypes.c_void_p(made)
        self.binding = None

    def ask(self, what, *numbers):
        return getattr(self.indim.library, f"indim_executable_{what}")(self.exe, *map(ctypes.c_int64, numbers))

    def times(self):
        out = (ctypes.c_int64 * 4)()
        self.indim.lib.ours_times(self.exe, out)
        return dict(zip(("load", "lower", "emit", "code"), out))

    def bind(self, args, results, each_run=False):
        for what, given in (("argument", args), ("result", results)):
            wanted = [self.ask(what + "_bytes", i) for i in range(self.ask(what + "_count"))]
            if wanted != [array.nbytes for array in given]:
                raise Refused(f"the program's {what}s have {wanted} bytes, the row's {[a.nbytes for a in given]}")
        self.scratch = empty(self.ask("scratch_bytes") + 1)
        self.keep = (args, results)
        lib, session = self.indim.lib, self.indim.session
        call = (
            session,
            self.exe,
            pointers(args),
            ctypes.c_int64(len(args)),
            pointers(results),
            ctypes.c_int64(len(results)),
            ctypes.c_void_p(self.scratch.ctypes.data),
        )
        if each_run:
            self.call = functools.partial(lib.ours_execute, *call)
            return self
        made = lib.ours_bind(*call)
        if not made:
            raise self.indim.why()
        self.binding = ctypes.c_void_p(made)
        self.call = functools.partial(lib.ours_run, session, self.binding)
        return self

    def seconds(self, runs):
        taken = self.call(ctypes.c_int64(runs))
        if taken < 0:
            raise self.indim.why()
        return taken * 1e-9

    def close(self):
        self.indim.library.indim_binding_destroy(self.binding)
        self.indim.library.indim_executable_destroy(self.exe)


class OneDnn:
    """A sequence of oneDNN's primitives over arrays; each method adds one, or raises when oneDNN has none."""

    TYPES = {"float16": 1, "bfloat16": 2, "float32": 3, "int32": 4, "int8": 5, "uint8": 6}
    ELTWISE = ("exp", "log", "tanh")

    def __init__(self):
        flags = ["-ldnnl"]
        self.lib = ctypes.CDLL(str(build("onednn", [FOLDER / "kernels" / "onednn.c"], after=flags)))
        self.lib.onednn_create.restype = ctypes.c_void_p
        self.sequence = ctypes.c_void_p(self.lib.onednn_create())
        self.keep = []

    def memory(self, array):
        """An array's view as it is: its sizes and strides."""
        array = np.asarray(array)
        sizes = array.shape or (1,)
        strides = [s // array.itemsize for s in array.strides] or [1]
        for i in reversed(range(len(sizes))):
            if sizes[i] == 1:  # NumPy's stride may be 0, which oneDNN takes for a strange layout
                strides[i] = strides[i + 1] * sizes[i + 1] if i + 1 < len(sizes) else 1
        kind = self.TYPES.get(array.dtype.name)
        if kind is None:
            raise ValueError(f"oneDNN has no {array.dtype}")
        self.keep.append(array)
        made = self.lib.onednn_memory(
            self.sequence,
            len(sizes),
            (ctypes.c_int64 * len(sizes))(*sizes),
            (ctypes.c_int64 * len(sizes))(*strides),
            kind,
            ctypes.c_void_p(array.ctypes.data),
        )
        if made < 0:
            raise ValueError(f"oneDNN takes no array of {array.dtype} {sizes}")
        return made

    def call(self, name, *numbers):
        status = getattr(self.lib, f"onednn_{name}")(self.sequence, *numbers)
        if status:
            raise ValueError(f"oneDNN's {name} answers {status}")

    def add(self, a, b, y):
        self.call("add", self.memory(a), self.memory(b), self.memory(y))

    def gelu(self, x, scale, shift, y):
        self.call("gelu", *map(self.memory, (x, scale[None, :], shift[None, :], y)))

    def eltwise(self, name, x, y):
        self.call("eltwise", self.ELTWISE.index(name), self.memory(x), self.memory(y))

    def softmax(self, axis, x, y):
        self.call("softmax", axis, self.memory(x), self.memory(y))

    def layer_norm(self, x, scale, shift, y):
        self.call("layer_norm", *map(self.memory, (x, scale, shift, y)))

    def sum(self, x, y):
        self.call("sum", self.memory(x), self.memory(y))

    def reorder(self, x, y):
        self.call("reorder", self.memory(x), self.memory(y))

    def concatenate(self, axis, a, b, y):
        self.call("concatenate", axis, *map(self.memory, (a, b, y)))

    def matmul(self, a, b, y, bias=None, relu=False, scale=1.0):
        bias = -1 if bias is None else self.memory(bias[None, :])
        self.call("matmul", self.memory(a), self.memory(b), bias, int(relu), ctypes.c_float(scale), self.memory(y))

    def seconds(self, runs):
        timer = kernels(1).bench_time_kernel
        args = (ctypes.c_void_p * 1)(self.sequence)
        run = ctypes.cast(self.lib.onednn_run, ctypes.c_void_p)
        return timer(run, args, args, None, ctypes.c_int64(runs)) * 1e-9
