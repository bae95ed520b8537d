#!/usr/bin/env python3
"""Links objects of `indim compile` into programs in C, and runs them.

    INDIM_BIN=build/dev/indim run.py [NAME...]    those checks only: native, cross, kinds, ...; KEEP=1 keeps the files

Each program below is compiled, linked with a main that is written from its header alone, and run: natively, where the bits must be
those of `indim run`, and for Arm and RISC-V under QEMU, where the results are held against the evaluator's.
"""

import ast
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INDIM = str(pathlib.Path(os.environ.get("INDIM_BIN", "build/dev/indim")).resolve())
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="indim-aot-"))
DIGITS = ROOT / "examples/digits"
PROGRAMS = """activations adam_step arithmetic_bf16 arithmetic_c64 arithmetic_f16 arithmetic_s8 arithmetic_u16 collatz
cond_two convolution k_means logic lstm mandelbrot mlp_forward power_remainder_atan2 reshape_transpose scatters
small_floats small_integers sorts threefry""".split()
# Everything else in an object is its own.
MAY_CALL = {"memcpy", "memmove", "memset", "fmod", "fmodf", "_GLOBAL_OFFSET_TABLE_"}
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
CROSS = {
    "aarch64": ("aarch64-linux-gnu-gcc", ["qemu-aarch64-static", "-cpu", "cortex-a53"]),
    "riscv64": ("riscv64-linux-gnu-gcc", ["qemu-riscv64-static", "-cpu", "rv64"]),
}
C_TYPES = {"u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "s8": "int8", "s16": "int16", "s32": "int32",
           "s64": "int64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
           "pred": "uint8", "s4": "int8"}

passed = failed = 0


def report(name, ok, said=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {name}: {str(said)[-3000:]}", flush=True)
    return ok


def run(*command, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=more.pop("cwd", ROOT), timeout=300, **more)


def expect(name, *command, **more):
    """The output of a command that must succeed; None when it does not."""
    done = run(*command, **more)
    return done.stdout if report(name, done.returncode == 0, done.stdout.decode(errors="replace")) else None


def compile_object(name, source, output, *options, header=True):
    headers = ["--header", output.with_suffix(".h")] if header else []
    return expect(f"{name}: compile", INDIM, "compile", source, "-o", output, *headers, *options) is not None


def symbols(path):
    """Names that an object defines for others, and those that it asks for."""
    lines = [line.split() for line in run("nm", "-g", path).stdout.decode().splitlines()]
    return {w[-1] for w in lines if len(w) == 3}, {w[-1] for w in lines if len(w) == 2}


# A main of the header alone -----------------------------------------------------------------------------------------------

def fields(header, structure):
    """(type, name) of each field."""
    body = re.search(rf"struct {structure} {{(.*?)}};", header, re.S).group(1)
    return [f for f in re.findall(r"^\s+(?:const )?(\w+) \*(\w+);", body, re.M) if f[1] != "none"]


def constant(header, name, what):
    return re.search(rf"^#define {name.upper()}_{what} (.*)$", header, re.M).group(1).strip('"')


def main_of(name, header):
    """Reads each argument from a file, runs, and writes each result to a file; a byte behind each buffer is watched."""
    upper = name.upper()
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", f'#include "{name}.h"',
             "static void *make(size_t bytes, size_t alignment) {",
             "  unsigned char *block = malloc(bytes + alignment + 65);", "  if (block == NULL) exit(9);",
             "  memset(block, 0xA5, bytes + alignment + 65);",
             "  size_t over = (size_t)(uintptr_t)block % 64;",
             "  return block + (over == 0 ? 0 : 64 - over) + (alignment < 64 ? alignment : 0);", "}",
             "static void *get(const char *path, size_t bytes, size_t alignment) {",
             "  void *buffer = make(bytes, alignment);", '  FILE *file = fopen(path, "rb");',
             "  if (file == NULL || fread(buffer, 1, bytes, file) != bytes) exit(8);", "  fclose(file);",
             "  return buffer;", "}",
             "static void put(const char *path, const void *buffer, size_t bytes) {",
             '  FILE *file = fopen(path, "wb");',
             "  if (((const unsigned char *)buffer)[bytes] != 0xA5) exit(7);",
             "  if (file == NULL || fwrite(buffer, 1, bytes, file) != bytes || fclose(file) != 0) exit(6);", "}",
             "int main(void) {", f"  struct {name}_arguments arguments = {{0}};", f"  struct {name}_results results = {{0}};"]
    arguments, results = fields(header, f"{name}_arguments"), fields(header, f"{name}_results")
    for i, (_, field) in enumerate(arguments):
        c = f"{upper}_{field.upper()}"
        lines.append(f'  arguments.{field} = get("argument_{i}", {c}_BYTES, {c}_ALIGNMENT);')
    for _, field in results:
        c = f"{upper}_{field.upper()}"
        lines.append(f"  results.{field} = make({c}_BYTES, {c}_ALIGNMENT);")
    lines.append(f"  void *scratch = make({upper}_SCRATCH_BYTES, {upper}_SCRATCH_ALIGNMENT);")
    lines.append(f"  int outcome = {name}_run(&arguments, &results, scratch, NULL);")
    for i, (_, field) in enumerate(results):
        lines.append(f'  put("result_{i}", results.{field}, {upper}_{field.upper()}_BYTES);')
    lines += ["  return outcome;", "}"]
    return "\n".join(lines) + "\n"


def values(header, name, rng):
    """Arguments as bytes, by the types and counts that the header states."""
    for c_type, field in fields(header, f"{name}_arguments"):
        kind = constant(header, f"{name}_{field}", "TYPE")
        count = int(constant(header, f"{name}_{field}", "COUNT"))
        if kind == "pred":
            yield rng.integers(0, 2, count).astype(numpy.uint8)
        elif kind in ("bf16", "f16"):
            halves = rng.normal(size=count).astype(numpy.float32)
            yield (halves.view(numpy.uint32) >> 16).astype(numpy.uint16) if kind == "bf16" else halves.astype(numpy.float16)
        elif kind.startswith("f8"):
            yield rng.integers(0, 64, count).astype(numpy.uint8)
        elif c_type in ("float", "double"):
            yield rng.normal(size=count).astype({"float": numpy.float32, "double": numpy.float64}[c_type])
        else:
            yield rng.integers(1, 30, count).astype(numpy.dtype(c_type.removesuffix("_t")))


def npy(path, value, header, leaf):
    """A .npy file of raw bytes in a type that `indim run` reads for the parameter."""
    kind = constant(header, leaf, "TYPE")
    rank = int(constant(header, leaf, "RANK"))
    shape = tuple(int(n) for n in re.findall(r"\d+", constant(header, leaf, "SHAPE"))) if rank else ()
    dtype = {"bf16": "V2", "pred": "bool"}.get(kind, "V1" if kind.startswith("f8") else C_TYPES.get(kind))
    numpy.save(path, numpy.frombuffer(value.tobytes(), dtype).reshape(shape))


def build_main(name, folder, compiler, *flags):
    header = (folder / f"{name}.h").read_text()
    (folder / "main.c").write_text(main_of(name, header))
    return expect(f"{name}: link", compiler, "-std=c11", "-O1", *WARNINGS, "-Wno-conversion", *flags, folder / "main.c",
                  folder / f"{name}.o", "-lm", "-o", folder / "main") is not None


def witness(name, source, folder, header, engine, result_count):
    """What indim itself gives for the arguments of a folder, as arrays of bytes."""
    names = [field for _, field in fields(header, f"{name}_arguments")]
    arguments = [folder / f"{i}.npy" for i in range(len(names))]
    if expect(f"{name}: witness", INDIM, "run", f"--engine={engine}", "-o", folder / "results.npz", source, *arguments) is None:
        return None
    with zipfile.ZipFile(folder / "results.npz") as file:
        keys = sorted(file.namelist(), key=lambda k: [int(n) for n in k.removesuffix(".npy").split(".")])
        return [read_npy(file.read(key)) for key in keys][:result_count]


def read_npy(data):
    """An array of .npy bytes; of types that numpy does not have, unsigned integers of their size."""
    size = int.from_bytes(data[8:10], "little")
    head = ast.literal_eval(data[10 : 10 + size].decode())
    try:
        dtype = numpy.dtype(head["descr"])
    except TypeError:
        dtype = numpy.dtype("u" + head["descr"][-1])
    return numpy.frombuffer(data[10 + size :], dtype).reshape(head["shape"], order="F" if head["fortran_order"] else "C")


def in_memory(array, header, field):
    """The elements in the order of the layout that the header states."""
    layout = re.search(rf"^// results\.{field}: \w+\[[\d,]*\](?:{{([\d,]+)}})?", header, re.M).group(1)
    return array if layout is None else array.transpose([int(d) for d in layout.split(",")][::-1])


def near(kind, actual, expected):
    """Whether bytes are the numbers of |expected|, but for what functions may be off by on another processor."""
    if expected.tobytes() == actual:
        return True
    if kind not in ("f16", "f32", "f64", "c64", "c128"):
        return False
    got = numpy.frombuffer(actual, expected.dtype).reshape(expected.shape)
    tolerance = {"f16": 2e-3, "f32": 2e-5, "c64": 2e-5}.get(kind, 1e-12)
    return numpy.allclose(got, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def check_program(name, source, target, compiler, emulator, *options):
    """One program for one target, from its compilation to the comparison."""
    label = f"{name} for {target}"
    folder = FOLDER / f"{name}-{target}"
    folder.mkdir()
    flags = [f"--target={target}"] if target != "native" else []
    if not compile_object(label, source, folder / f"{name}.o", *flags, *options):
        return
    defined, wanted = symbols(folder / f"{name}.o")
    report(f"{label}: its symbols", defined == {f"{name}_run"} and wanted <= MAY_CALL, (defined, wanted))
    header = (folder / f"{name}.h").read_text()
    rng = numpy.random.default_rng(7)
    leaves = fields(header, f"{name}_arguments")
    for i, (value, (_, field)) in enumerate(zip(values(header, name, rng), leaves)):
        (folder / f"argument_{i}").write_bytes(value.tobytes())
        npy(folder / f"{i}.npy", value, header, f"{name}_{field}")
    static = [] if emulator == [] else ["-static"]
    if not build_main(name, folder, compiler, *static):
        return
    if expect(f"{label}: run", *emulator, folder / "main", cwd=folder) is None:
        return
    results = fields(header, f"{name}_results")
    engine = "native" if target == "native" else "eval"
    expected = witness(name, source, folder, header, engine, len(results))
    for i, (_, field) in enumerate(results if expected is not None else []):
        kind = constant(header, f"{name}_{field}", "TYPE")
        actual = (folder / f"result_{i}").read_bytes()
        wanted = in_memory(expected[i], header, field)
        same = wanted.tobytes() == actual if target == "native" else near(kind, actual, wanted)
        report(f"{label}: {field}", same, (numpy.frombuffer(actual, "u1")[:32], wanted.tobytes()[:32]))


# Checks -------------------------------------------------------------------------------------------------------------------

def check_native():
    for name in PROGRAMS:
        check_program(name, ROOT / f"tests/programs/{name}.before.hlo", "native", "gcc", [], "--self-contained")


def check_cross():
    for target, (compiler, emulator) in CROSS.items():
        missing = [tool for tool in (compiler, emulator[0]) if shutil.which(tool) is None]
        if not report(f"tools for {target}", not missing, f"not installed: {missing}"):
            continue
        for name in PROGRAMS:
            check_program(name, ROOT / f"tests/programs/{name}.before.hlo", target, compiler, emulator, "--self-contained")
        check_digits(target, compiler, emulator)


STATIC = ",".join(f"{i + 1}:{DIGITS / file}.npy" for i, file in enumerate(("hidden_weights", "hidden_bias", "output_weights", "output_bias")))


def check_digits(target, compiler, emulator):
    """The classifier with its weights inside reads all images as the recorded results say."""
    folder = FOLDER / f"digits-{target}"
    folder.mkdir()
    flags = [f"--target={target}"] if target != "native" else []
    if not compile_object(f"digits for {target}", DIGITS / "digits.hlo", folder / "digits.o", *flags, "--self-contained",
                          f"--static-arguments={STATIC}"):
        return
    (folder / "argument_0").write_bytes(numpy.load(DIGITS / "images.npy").tobytes())
    if not build_main("digits", folder, compiler, *([] if emulator == [] else ["-static"])):
        return
    if expect(f"digits for {target}: run", *emulator, folder / "main", cwd=folder) is not None:
        digits = numpy.frombuffer((folder / "result_0").read_bytes(), numpy.int32)
        probabilities = numpy.frombuffer((folder / "result_1").read_bytes(), numpy.float32)
        report(f"digits for {target}: digits", (digits == numpy.load(DIGITS / "expected_digit.npy")).all(), digits)
        expected = numpy.load(DIGITS / "expected_probability.npy")
        report(f"digits for {target}: probabilities", numpy.allclose(probabilities, expected, rtol=1e-5), probabilities)


def check_static():
    check_digits("native", "gcc", [])
    object = FOLDER / "weights.o"
    if compile_object("no weights", DIGITS / "digits.hlo", object, "--self-contained"):
        report("digits without weights is small", object.stat().st_size < 64 << 10, object.stat().st_size)


def check_kinds():
    """Each kind of output, of one program, and that equal input gives equal bytes wherever it is made."""
    source = ROOT / "tests/programs/activations.before.hlo"
    folder = FOLDER / "kinds"
    folder.mkdir()
    for ending in ("o", "a", "s", "ll", "so"):
        compile_object(ending, source, folder / f"activations.{ending}", header=ending == "o")
    header = (folder / "activations.h").read_text()
    value = next(values(header, "activations", numpy.random.default_rng(1)))
    (folder / "argument_0").write_bytes(value.tobytes())
    (folder / "main.c").write_text(main_of("activations", header))
    results = {}
    for ending in ("o", "a", "s"):
        expect(f"link .{ending}", "gcc", "-std=c11", folder / "main.c", folder / f"activations.{ending}", "-lm", "-o", folder / "main")
        expect(f"run .{ending}", folder / "main", cwd=folder)
        results[ending] = (folder / "result_0").read_bytes()
    library = ctypes.CDLL(str(folder / "activations.so"))
    count = len(fields(header, "activations_results"))
    out = [numpy.zeros(value.size, value.dtype) for _ in range(count)]
    arguments = (ctypes.c_void_p * 1)(value.ctypes.data)
    pointers = (ctypes.c_void_p * count)(*(array.ctypes.data for array in out))
    report("the function of the .so", library.activations_run(arguments, pointers, None, None) == 0)
    results["so"] = out[0].tobytes()
    report("all kinds give the same", len(set(results.values())) == 1, results)
    report(".ll is LLVM's text", "define i32 @activations_run(" in (folder / "activations.ll").read_text())
    index = run("nm", "-s", folder / "activations.a").stdout.decode()
    report("the archive's index", "activations_run in activations.o" in index, index)
    for triple, target, magic in (("x86_64-pc-windows-msvc", "x86-64-v3", b"\x64\x86"), ("arm64-apple-macosx", "aarch64", b"\xcf\xfa\xed\xfe")):
        other = folder / f"{triple}.o"
        compile_object(triple, source, other, f"--triple={triple}", f"--target={target}", "--name=m", header=False)
        report(f"{triple}: its format", other.read_bytes().startswith(magic), other.read_bytes()[:8])
    again = folder / "elsewhere"
    again.mkdir()
    shutil.copy(source, again / "activations.hlo")
    expect("compile elsewhere", INDIM, "compile", "activations.hlo", "-o", "y.o", "--header", "y.h", "--target=x86-64-v3", cwd=again)
    expect("compile here", INDIM, "compile", source, "-o", folder / "x.o", "--header", folder / "x.h", "--target=x86-64-v3", "--name=activations")
    report("the same bytes", (again / "y.o").read_bytes() == (folder / "x.o").read_bytes())
    report("the same header", (again / "y.h").read_bytes() == (folder / "x.h").read_bytes())
    bytes_of_all = b"".join((folder / name).read_bytes() for name in ("x.o", "x.h"))
    report("no path in it", not any(word in bytes_of_all for word in (str(FOLDER).encode(), str(ROOT).encode(), b".hlo")))


HOST_MAIN = r"""
#include "indim_host.h"
#include "endless.h"
#include "foreign.h"
#include "product.h"
#include "rows.h"
#include <stdio.h>
#include <stdlib.h>
static int32_t multiply(void *user, const indim_host_matmul *p, void *const *arrays) {
  float *out = arrays[0];
  const float *lhs = arrays[1], *rhs = arrays[2];
  ++*(int *)user;
  if (p->type != INDIM_HOST_F32) return INDIM_HOST_FAILED;
  for (int64_t b = 0; b < p->batch; b++)
    for (int64_t i = 0; i < p->m; i++)
      for (int64_t j = 0; j < p->n; j++) {
        float sum = p->accumulate ? out[b * p->out_batch + i * p->out_m + j] : 0;
        for (int64_t k = 0; k < p->k; k++)
          sum += lhs[b * p->lhs_batch + i * p->lhs_m + k * p->lhs_k] * rhs[b * p->rhs_batch + k * p->rhs_k + j * p->rhs_n];
        out[b * p->out_batch + i * p->out_m + j] = sum;
      }
  return INDIM_HOST_OK;
}
static int32_t call(void *user, const indim_host_custom_call *p, void *const *arrays) {
  float *out = arrays[0];
  const float *x = arrays[1];
  *(int64_t *)user = 10 * p->number + p->present;
  for (int i = 0; i < 4; i++) out[i] = x[i] + 1;
  return p->number == 0 ? INDIM_HOST_OK : INDIM_HOST_STOPPED;
}
static int32_t refuse(void *user, const indim_host_matmul *p, void *const *arrays) {
  (void)user, (void)p, (void)arrays;
  return 77;
}
static void backwards(void *user, indim_host_piece *piece, void *frame, int64_t count, int64_t grain) {
  ++*(int *)user;
  for (int64_t begin = (count - 1) / grain * grain; begin >= 0; begin -= grain)
    piece(frame, begin, begin + grain < count ? begin + grain : count);
}
#define CHECK(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, #what); return 1; } } while (0)
int main(void) {
  const volatile int32_t stop = 1;
  int calls = 0;
  int32_t from = 0, to = 0;
  struct endless_arguments e = {.i = &from};
  struct endless_results r = {.result = &to};
  const indim_host stopping = {.stop = &stop};
  CHECK(endless_run(&e, &r, NULL, &stopping) == ENDLESS_RUN_STOPPED);

  float *x = malloc(PRODUCT_X_BYTES), *y = malloc(PRODUCT_Y_BYTES), *z = malloc(PRODUCT_RESULT_BYTES);
  for (int i = 0; i < PRODUCT_X_COUNT; i++) x[i] = (float)(i % 7);
  for (int i = 0; i < PRODUCT_Y_COUNT; i++) y[i] = (float)(i % 5);
  struct product_arguments p = {.x = x, .y = y};
  struct product_results q = {.result = z};
  const indim_host able = {.user = &calls, .matmul = multiply}, unable = {.matmul = refuse}, bare = {0};
  CHECK(product_run(&p, &q, NULL, NULL) == PRODUCT_RUN_FAILED);
  CHECK(product_run(&p, &q, NULL, &bare) == PRODUCT_RUN_FAILED);
  CHECK(product_run(&p, &q, NULL, &unable) == PRODUCT_RUN_FAILED);
  CHECK(product_run(&p, &q, NULL, &able) == PRODUCT_RUN_OK && calls == 1);
  float sum = 0;
  for (int k = 0; k < 256; k++) sum += (float)((256 + k) % 7) * (float)((k * 256 + 3) % 5);
  CHECK(z[256 + 3] == sum);

  const float four[FOREIGN_X_COUNT] = {1, 2, 3, 4};
  float once[4], twice[4];
  int64_t seen = 0;
  struct foreign_arguments f = {.x = four};
  struct foreign_results g = {.result_0 = once, .result_1 = twice};
  const indim_host caller = {.user = &seen, .custom_call = call};
  static _Alignas(FOREIGN_SCRATCH_ALIGNMENT) unsigned char room[FOREIGN_SCRATCH_BYTES + 1];
  CHECK(foreign_run(&f, &g, room, NULL) == FOREIGN_RUN_FAILED && seen == 0);
  CHECK(foreign_run(&f, &g, room, &caller) == FOREIGN_RUN_STOPPED && seen == 13);
  CHECK(once[0] == 2 && once[3] == 5);

  static float in[ROWS_X_COUNT], one[ROWS_RESULT_COUNT], other[ROWS_RESULT_COUNT];
  for (int i = 0; i < ROWS_X_COUNT; i++) in[i] = (float)i;
  static _Alignas(ROWS_SCRATCH_ALIGNMENT) unsigned char scratch[ROWS_SCRATCH_BYTES + 1];
  struct rows_arguments a = {.x = in};
  struct rows_results b = {.result = one}, c = {.result = other};
  const indim_host threads = {.user = &calls, .parallel = backwards};
  calls = 0;
  CHECK(rows_run(&a, &b, scratch, NULL) == ROWS_RUN_OK);
  CHECK(rows_run(&a, &c, scratch, &threads) == ROWS_RUN_OK && calls > 0);
  for (int i = 0; i < ROWS_RESULT_COUNT; i++) CHECK(one[i] == other[i]);
  puts("ok");
  return 0;
}
"""
HOST_PROGRAMS = {
    "endless": """c { x = s32[] parameter(0) ROOT t = pred[] constant(true) }
b { x = s32[] parameter(0) o = s32[] constant(1) ROOT s = add(x, o) }
ENTRY e { i = s32[] parameter(0) ROOT w = s32[] while(i), condition=c, body=b }""",
    "product": """ENTRY e { x = f32[256,256] parameter(0) y = f32[256,256] parameter(1)
ROOT d = f32[256,256] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }""",
    "foreign": """ENTRY e { x = f32[4] parameter(0) a = f32[4] custom-call(x), custom_call_target="plus_one"
b = f32[4] custom-call(a), custom_call_target="plus_one" ROOT t = tuple(a, b) }""",
    "rows": "ENTRY e { x = f32[1000000] parameter(0) s = f32[1000000] sine(x) ROOT r = f32[1000000] exponential(s) }",
}


def check_host():
    """Hosts: none, one that stops, one with a product, one that fails, one with threads."""
    folder = FOLDER / "host"
    folder.mkdir()
    for name, text in HOST_PROGRAMS.items():
        (folder / f"{name}.hlo").write_text(text)
        compile_object(name, folder / f"{name}.hlo", folder / f"{name}.o")
    (folder / "main.c").write_text(HOST_MAIN)
    objects = [folder / f"{name}.o" for name in HOST_PROGRAMS]
    flags = [f"-I{ROOT}/include/indim", f"-I{folder}"]
    expect("host: link", "gcc", "-std=c11", "-O1", *WARNINGS, *flags, folder / "main.c", *objects, "-lm", "-o", folder / "main")
    said = expect("host: run", folder / "main")
    report("host", said == b"ok\n", said)
    header = (folder / "product.h").read_text()
    report("the header says what it needs", "//   matmul, for d (dot)" in header, header[:900])
    header = (folder / "foreign.h").read_text()
    report("which function it is", "//   custom_call, for b (custom-call), call 1 of plus_one\n" in header, header[:900])
    done = run(INDIM, "compile", folder / "foreign.hlo", "-o", folder / "again.o", "--self-contained")
    report("it is not self-contained", done.returncode == 5 and b"a (custom-call): it asks the host for custom_call" in done.stdout, done.stdout)
    done = run(INDIM, "compile", folder / "product.hlo", "-o", folder / "again.o")
    report("the terminal, too", b"note: product_run needs matmul of its host, for d (dot)" in done.stdout, done.stdout)


DYNAMIC_PROGRAM = """add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[<=4,2] parameter(0)
  n = s32[] parameter(1)
  y = f32[<=4,<=2] set-dimension-size(x, n), dimensions={1}
  zero = f32[] constant(0)
  s = f32[<=4] reduce(y, zero), dimensions={1}, to_apply=add
  ROOT t = (f32[<=4]) tuple(s)
}
"""
DYNAMIC_MAIN = """#include <stdio.h>
#include "rows.h"
int main(void) {
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  float sums[4];
  int32_t counted = 0;
  for (int32_t rows = -1; rows <= 5; rows++) {
    for (int32_t columns = -1; columns <= 3; columns++) {
      const struct rows_arguments arguments = {.x = x, .x_size_0 = &rows, .n = &columns};
      struct rows_results results = {.result_0 = sums, .result_0_size_0 = &counted};
      _Alignas(64) char scratch[ROWS_SCRATCH_BYTES + 1];
      int sound = rows >= 0 && rows <= 4 && columns >= 0 && columns <= 2;
      if (rows_run(&arguments, &results, scratch, NULL) != (sound ? ROWS_RUN_OK : ROWS_RUN_FAILED)) {
        return 1;
      }
      for (int32_t i = 0; sound && i < rows; i++) {
        float sum = (columns > 0 ? x[2 * i] : 0) + (columns > 1 ? x[2 * i + 1] : 0);
        if (counted != rows || sums[i] < sum || sums[i] > sum) {
          return 2;
        }
      }
    }
  }
  puts("ok");
  return 0;
}
"""


def check_dynamic():
    """Sizes behind the arrays that they belong to; one that is none fails the run, without a host."""
    folder = FOLDER / "dynamic"
    folder.mkdir()
    (folder / "rows.hlo").write_text(DYNAMIC_PROGRAM)
    (folder / "main.c").write_text(DYNAMIC_MAIN)
    if compile_object("dynamic", folder / "rows.hlo", folder / "rows.o", "--self-contained"):
        expect("dynamic: link", "gcc", "-std=c11", "-O1", *WARNINGS, f"-I{folder}", folder / "main.c", folder / "rows.o", "-o", folder / "main")
        said = expect("dynamic: run", folder / "main")
        report("dynamic", said == b"ok\n", said)


LANGUAGES = {"c": "cc", "cpp": "c++", "rust": "rustc", "go": "go"}


def check_examples():
    """examples/aot in each language whose compiler is here, by its Makefile."""
    said = set()
    environment = {**os.environ, "GOCACHE": str(FOLDER / "go"), "GOFLAGS": "-mod=mod"}
    for language, compiler in LANGUAGES.items():
        if shutil.which(compiler) is None or shutil.which("make") is None:
            print(f"  examples/aot in {language} is not tested: {compiler if shutil.which('make') else 'make'} is not installed")
            continue
        output = expect(f"make {language}", "make", "-s", "-C", ROOT / "examples/aot", language, f"INDIM={INDIM}",
                        f"OUT={FOLDER / 'examples'}", env=environment)
        said.add((output or b"").decode().splitlines()[-1] if output else "nothing")
    report("all languages read the same", said == {"524 of 540 right; the first is a 4 with probability 0.991"}, said)


def fft_program(kind, type, batch, lengths):
    """A program of one transform, the shape of its operand, and what numpy gives for it."""
    part = {"c64": "f32", "c128": "f64"}[type]
    whole, half = [*batch, *lengths], [*batch, *lengths[:-1], lengths[-1] // 2 + 1]
    takes, gives = (half if kind == "IRFFT" else whole), (half if kind == "RFFT" else whole)
    operand = f"{part if kind == 'RFFT' else type}[{','.join(map(str, takes))}]"
    result = f"{part if kind == 'IRFFT' else type}[{','.join(map(str, gives))}]"
    axes = tuple(range(-len(lengths), 0))
    function = {"FFT": lambda x: numpy.fft.fftn(x, axes=axes), "IFFT": lambda x: numpy.fft.ifftn(x, axes=axes),
                "RFFT": lambda x: numpy.fft.rfftn(x, axes=axes), "IRFFT": lambda x: numpy.fft.irfftn(x, s=lengths, axes=axes)}[kind]
    text = f"ENTRY e {{ x = {operand} parameter(0) ROOT y = {result} fft(x), fft_type={kind}, fft_length={{{','.join(map(str, lengths))}}} }}"
    return text, takes, function


def check_fft():
    """Fourier transforms as loops of the object's own, against numpy's in double precision."""
    rng = numpy.random.default_rng(3)
    shapes = [([], [n]) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 30, 49, 60, 64, 97, 100, 243, 251, 256, 360, 1024, 4096)]
    shapes += [([3], [16]), ([2, 3], [10]), ([0], [4]), ([], [8, 6]), ([3], [5, 12]), ([2], [3, 4, 5]), ([], [32, 32]), ([], [6, 1]), ([], [1, 6])]
    worst = 0
    for number, (batch, lengths) in enumerate(shapes):
        for kind in ("FFT", "IFFT", "RFFT", "IRFFT"):
            type = "c64" if number % 3 else "c128"
            name = f"{kind} of {type} {batch} {lengths}"
            text, takes, function = fft_program(kind, type, batch, lengths)
            source = FOLDER / "transform.hlo"
            source.write_text(text)
            if not compile_object(name, source, FOLDER / "transform.so", "--self-contained", header=False):
                continue
            x = rng.normal(size=takes) + (0 if kind == "RFFT" else 1j * rng.normal(size=takes))
            expected = function(x) if x.size else numpy.zeros([*batch, *lengths])
            x = x.astype(C_TYPES[type] if kind != "RFFT" else {"c64": "float32", "c128": "float64"}[type])
            got = numpy.zeros(expected.shape, C_TYPES[type] if kind != "IRFFT" else {"c64": "float32", "c128": "float64"}[type])
            scratch = numpy.zeros(1 << 20, numpy.uint8)
            aligned = scratch[-scratch.ctypes.data % 64 :]
            done = call_library(FOLDER / "transform.so", "transform_run", x, got, aligned)
            scale = numpy.abs(expected).max() if expected.size else 1
            error = numpy.abs(got - expected).max() / scale if expected.size and scale > 0 else 0
            limit = 2e-6 if type == "c64" else 4e-15
            worst = max(worst, error / limit)
            report(name, done == 0 and error <= limit, (done, error))
    source.write_text(fft_program("FFT", "c64", [], [2 * 1031])[0])
    done = run(INDIM, "compile", source, "-o", FOLDER / "transform.o", "--self-contained")
    report("a large prime factor", done.returncode == 5 and b"prime factor above 256" in done.stdout, done.stdout)


def call_library(path, symbol, x, out, scratch):
    """Runs a program of one argument and one result."""
    copy = path.with_name(f"{len(os.listdir(path.parent))}-{path.name}")
    path.rename(copy)  # the loader knows libraries by their name
    function = getattr(ctypes.CDLL(str(copy)), symbol)
    return function((ctypes.c_void_p * 1)(x.ctypes.data), (ctypes.c_void_p * 1)(out.ctypes.data), ctypes.c_void_p(scratch.ctypes.data), None)


SERVICES_MAIN = r"""
#include "indim/compile.h"
#include "spectrum.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  indim_ctx *cx = NULL;
  indim_services *services = NULL;
  float *x = malloc(SPECTRUM_X_BYTES), *y = malloc(SPECTRUM_RESULT_0_BYTES), *l = malloc(SPECTRUM_RESULT_1_BYTES);
  void *scratch = aligned_alloc(64, SPECTRUM_SCRATCH_BYTES + 64);
  for (int i = 0; i < 65536; i++) x[i] = i % 257 == 0 ? 4.0f : 0.0f;
  struct spectrum_arguments a = {.x = x};
  struct spectrum_results r = {y, l};
  if (indim_ctx_create(NULL, &cx) != INDIM_OK || indim_services_create(cx, NULL, &services) != INDIM_OK) return 2;
  if (spectrum_run(&a, &r, scratch, NULL) != SPECTRUM_RUN_FAILED) return 3;
  if (spectrum_run(&a, &r, scratch, indim_services_host(services)) != SPECTRUM_RUN_OK) return 4;
  indim_services_destroy(services);
  indim_ctx_destroy(cx);
  printf("%g %g %g\n", y[0], y[2 * 255], l[0]);  // x is 4 on its diagonal, its square 16
  free(x), free(y), free(l), free(scratch);
  return 0;
}
"""
SPECTRUM = """ENTRY e { x = f32[256,256] parameter(0)
d = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
c = c64[256,256] convert(d) y = c64[256,256] fft(c), fft_type=FFT, fft_length={256}
l = f32[256,256] cholesky(d), lower=true ROOT t = tuple(y, l) }"""


def check_services():
    """A product, a transform and a factorisation of the library's, for an object that asks for them."""
    folder = FOLDER / "services"
    folder.mkdir()
    (folder / "spectrum.hlo").write_text(SPECTRUM)
    (folder / "main.c").write_text(SERVICES_MAIN)
    libraries = pathlib.Path(os.environ.get("INDIM_LIB", pathlib.Path(INDIM).parent / "libindim.so")).resolve().parent
    if not compile_object("services", folder / "spectrum.hlo", folder / "spectrum.o"):
        return
    flags = ["-std=c11", f"-I{ROOT}/include", f"-I{folder}", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
    sanitizer = ["-fsanitize=address,undefined"] if b"__asan_init" in run("nm", "-D", libraries / "libindim.so").stdout else []
    expect("services: link", "gcc", *flags, *sanitizer, folder / "main.c", folder / "spectrum.o", "-lindim", "-lm", "-o", folder / "main")
    said = expect("services: run", folder / "main")
    report("services", said == b"16 16 4\n", said)


NAMES = """HloModule m, input_output_alias={ {1}: (3, {}, may-alias) }
ENTRY e {
  int = (f32[2], (pred[], s4[3])) parameter(0)
  a.b.7 = f32[2,3]{0,1:PAD(3,5;zero)} parameter(1)
  A_b = bf16[] parameter(2)
  scratch = c64[4] parameter(3)
  c.1 = f32[0] parameter(4)
  x = f32[2] get-tuple-element(int), index=0
  y = negate(scratch)
  z = f16[2]{0:T(128)} convert(x)
  ROOT t = tuple(z, y, A_b)
}"""


def check_header():
    """Names that C does not have, tuples, padding, tiles, aliases, no elements: and C++ reads it, too."""
    folder = FOLDER / "header"
    folder.mkdir()
    source = folder / "9-names.v2.hlo"
    source.write_text(NAMES)
    if not compile_object("header", source, folder / "n.o"):
        return
    header = (folder / "n.h").read_text()
    arguments = [name for _, name in fields(header, "x9_names_arguments")]
    report("fields", arguments == ["int_0", "int_1_0", "int_1_1", "a_b", "A_b_4", "scratch_5", "c"], arguments)
    types = [kind for kind, _ in fields(header, "x9_names_arguments")]
    report("types", types == ["float", "uint8_t", "int8_t", "float", "uint16_t", "float", "float"], types)
    results = fields(header, "x9_names_results")
    report("results", results == [("uint16_t", "result_0"), ("float", "result_1"), ("uint16_t", "result_2")], results)
    for what, value in {"A_B_BYTES": 60, "A_B_COUNT": 15, "INT_1_1_BYTES": 3, "SCRATCH_5_COUNT": 8, "SCRATCH_5_ALIGNMENT": 4,
                        "RESULT_0_COUNT": 128, "C_BYTES": 0, "ARGUMENTS": 7}.items():
        report(what, f"#define X9_NAMES_{what} {value}\n" in header, header)
    report("the alias", "may be the buffer of arguments.scratch_5" in header, header)
    (folder / "both.c").write_text('#include "n.h"\n#include "indim_host.h"\n#include "n.h"\n')
    for compiler, language in (("gcc -std=c99", "c"), ("gcc -std=c11", "c"), ("clang -std=c++11", "c++"), ("clang -std=c++20", "c++")):
        expect(f"{compiler} reads it", *compiler.split(), *WARNINGS, "-fsyntax-only", "-x", language, f"-I{ROOT}/include/indim", folder / "both.c")


def main():
    checks = {name.removeprefix("check_"): check for name, check in globals().items()
              if name.startswith("check_") and name not in ("check_program", "check_digits")}
    if b"compiling needs the library" in run(INDIM, "compile", ROOT / "examples/seeds/row_add.hlo").stdout:
        print("this build has no code generator\n0 passed, 0 failed")
        return 0
    try:
        for name in sys.argv[1:] or checks:
            checks[name]()
    finally:
        if "KEEP" in os.environ:
            print(f"the files are in {FOLDER}")
        else:
            shutil.rmtree(FOLDER)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
