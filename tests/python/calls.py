"""Programs that Python loads and calls: formats, results, types, layouts, out=, bindings, and each way of being refused."""

import ast
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import indim
import ml_dtypes
import numpy as np
from _cases import case, main, raises

ROOT = pathlib.Path(__file__).resolve().parents[2]
SQUARE = b"ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] multiply(x, x) }"
SUM = b"ENTRY e { x = f32[2,3] parameter(0) y = f32[2,3] parameter(1) ROOT s = f32[2,3] add(x, y) }"
PAIR = b"""ENTRY e {
  x = f32[3] parameter(0)
  n = s32[] parameter(1)
  y = f32[3] negate(x)
  m = s32[] add(n, n)
  ROOT t = (f32[3], s32[]) tuple(y, m)
}"""
X = np.array([1, 2, 3], "float32")


def identity(type, size=4):
    """A program that moves each element, of any type."""
    return f"ENTRY e {{ x = {type}[{size}] parameter(0) ROOT y = {type}[{size}] reverse(x), dimensions={{0}} }}".encode()


def equal(actual, expected):
    expected = np.asarray(expected)
    assert type(actual) is np.ndarray and actual.dtype == expected.dtype and actual.shape == expected.shape, repr(actual)
    assert actual.tobytes() == expected.tobytes(), f"{actual!r} in place of {expected!r}"


# Loading --------------------------------------------------------------------------------------------------------------


@case
def bytes_and_what_offers_them():
    for source in (SQUARE, bytearray(SQUARE), memoryview(SQUARE), np.frombuffer(SQUARE, "uint8")):
        equal(indim.load(source)(X), X * X)


@case
def paths_of_either_kind():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "größe.hlo")
        path.write_bytes(SQUARE)
        equal(indim.load(path)(X), X * X)
        equal(indim.load(str(path))(X), X * X)
        equal(indim.load(os.fsencode(path).decode("utf-8", "surrogateescape"))(X), X * X)


@case
def a_program_in_every_form():
    program = indim.load(SUM)
    for form in (program.text().encode(), program.text("stablehlo").encode(), program.bytecode()):
        equal(indim.load(form)(np.ones((2, 3), "f"), np.full((2, 3), 2, "f")), np.full((2, 3), 3, "f"))
    with raises(ValueError, "no form 'json'", "hlo and stablehlo"):
        program.text("json")


@case
def refused_programs_say_where():
    with raises(indim.Error, "sum.hlo:1:", "f32\\[2\\]", "f32\\[3\\]|3 in", "hint: ") as caught:
        indim.load(b"ENTRY e { x = f32[2] parameter(0) y = f32[3] parameter(1) ROOT z = f32[2] add(x, y) }", name="sum.hlo")
    error = caught.error
    assert error.status == "INVALID" and len(error.diagnostics) == 1
    first = error.diagnostics[0]
    assert (first["source"], first["line"], first["status"]) == ("sum.hlo", 1, "INVALID") and first["column"] > 60
    assert "add" in first["excerpt"] and first["hint"] and "differ" in first["message"]
    with raises(indim.Error) as caught:
        indim.load(b"ENTRY e { x = f32[2 parameter(0) }")
    assert caught.error.status == "SYNTAX"


@case
def hostile_content_is_refused():
    program = indim.load(SUM)
    forms = [program.text().encode(), program.bytecode()]
    for content in [b"", b"\0" * 100, b"ML\xefR", b"\xff" * 1000, *(form[:n] for form in forms for n in range(0, len(form), 7))]:
        try:
            indim.load(content)
        except indim.Error as error:
            assert str(error) and error.status in ("SYNTAX", "INVALID", "UNSUPPORTED"), error.status


@case
def arguments_of_load_are_checked():
    with raises(FileNotFoundError):
        indim.load("there/is/no/such.hlo")
    with raises(ValueError, "encode"):
        indim.load(SQUARE.decode().replace("{", "{\n"))
    with raises(TypeError):
        indim.load(17)
    with raises(ValueError, "threads=0"):
        indim.load(SQUARE, threads=0)
    with raises(ValueError, "threads=5000", "1024"):
        indim.load(SQUARE, threads=5000)
    with raises(ValueError, "'fastest'", "contract, reassociate, reciprocal, flush"):
        indim.load(SQUARE, fast="fastest")
    with raises(ValueError, "'gpu'", "native, eval and auto"):
        indim.load(SQUARE, engine="gpu")
    with raises(indim.Error, "nonsense") as caught:
        indim.load(SQUARE, without="nonsense")
    assert caught.error.status == "INVALID"
    with raises(indim.Error, "z80"):
        indim.load(SQUARE, target="z80")


@case
def sizes_known_when_it_runs():
    dynamic = b"ENTRY e { x = f32[<=4] parameter(0) ROOT y = f32[<=4] add(x, x) }"
    for engine in ("native", "eval"):
        program = indim.load(dynamic, engine=engine)
        assert program.engine == engine
        for size in range(5):
            equal(program(np.arange(size, dtype="f")), 2 * np.arange(size, dtype="f"))
        with raises(ValueError, "float32\\[5\\] given"):
            program(np.zeros(5, "f"))
        with raises(TypeError, "out"):
            program(np.zeros(4, "f"), out=np.zeros(4, "f"))
        with raises(TypeError, "bound"):
            program.bind(np.zeros(4, "f"))


@case
def nothing_falls_back_unasked():
    drawn = (
        b"draw { a = f32[] constant(0) b = f32[] constant(1) ROOT r = f32[2] rng(a, b), distribution=rng_uniform }"
        b"ENTRY e { x = f32[2] parameter(0) d = f32[2] call(), to_apply=draw ROOT y = f32[2] add(x, d) }"
    )
    with raises(indim.Error) as caught:
        indim.load(drawn)
    assert caught.error.status == "UNSUPPORTED"
    for engine in ("auto", "eval"):
        program = indim.load(drawn, engine=engine)
        assert program.engine == "eval" and program.target is None
        assert (np.asarray(program(np.ones(2, "f"))) < 2).all()
    for engine in ("native", "eval"):
        with raises(ValueError, "float32\\[5\\] given, float32\\[4\\] expected"):
            indim.load(b"ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }", engine=engine)(np.zeros(5, "f"))
    assert indim.load(SQUARE, engine="auto").engine == "native"


@case
def relaxations_and_decisions():
    product = b"""ENTRY e { x = f32[64] parameter(0) y = f32[64] parameter(1) z = f32[64] parameter(2)
      p = f32[64] multiply(x, y) ROOT s = f32[64] add(p, z) }"""
    x = np.random.default_rng(1).standard_normal((3, 64)).astype("f")
    strict = indim.load(product)(*x)
    equal(strict, x[0] * x[1] + x[2])
    for fast in (True, "contract", ["contract", "reciprocal"]):
        relaxed = indim.load(product, fast=fast)(*x)
        assert np.allclose(strict, relaxed, atol=1e-6)
    equal(indim.load(product, without=["inline", "slp"])(*x), strict)


@case
def subnormal_numbers_as_zeros():
    source = b"""ENTRY e { x = f32[#] parameter(0) h = f32[] constant(0.5) b = f32[#] broadcast(h), dimensions={}
      ROOT p = f32[#] multiply(x, b) }"""
    flushes = platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64")
    for size in (5, 1000000):
        x = np.full(size, 1.5e-38, np.float32)
        x[1], x[3] = 3, 1e-40
        half = x * np.float32(0.5)
        assert half[0] > 0 and half[3] > 0
        text = source.replace(b"#", str(size).encode())
        equal(indim.load(text)(x), half)
        program = indim.load(text, fast="flush", threads=2)
        equal(program(x), np.where(half < 2.0**-126, np.float32(0), half) if flushes else half)
        equal(x * np.float32(0.5), half)  # the caller's arithmetic is as it was


@case
def choices_from_a_text_or_a_file():
    source = b"ENTRY e { x = f32[512] parameter(0) y = f32[512] multiply(x, x) ROOT z = f32[512] subtract(y, x) }"
    x = np.arange(512, dtype=np.float32)
    kept = "y                        multiply               f32[512]         in memory"
    assert kept not in indim.load(source).explain()
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "z.choices"
        path.write_text("y inline no")
        for choices in ("y inline no\n", path):
            program = indim.load(source, choices=choices)
            assert kept in program.explain(), program.explain()
            equal(program(x), x * x - x)
    with raises(indim.Error, "line 1: there is no decision 'fusion'"):
        indim.load(source, choices="y fusion no\n")


# Looking --------------------------------------------------------------------------------------------------------------


@case
def what_a_program_says_of_itself():
    program = indim.load(b"HloModule pair\n" + PAIR, threads=3)
    assert program.name == "pair" and program.engine == "native" and program.threads == 3
    assert program.arguments == (("x", "float32", (3,)), ("n", "int32", ()))
    assert [spec.name for spec in program.results] == ["y", "m"] and program.results[1].dtype == "int32"
    assert program.shapes == "(x: float32[3], n: int32[]) -> (float32[3], int32[])"
    assert repr(program) == "<indim.Program pair(x: float32[3], n: int32[]) -> (float32[3], int32[])>"
    assert indim.load(SQUARE).shapes == "(x: float32[3]) -> float32[3]"
    assert program.code_bytes > 0 and program.scratch_bytes >= 0 and program.target == "native"
    assert indim.load(SQUARE).threads == indim.default_threads()
    assert "multiply" in indim.load(SQUARE).explain()
    assert "native" in indim.targets() and "AVX2" in indim.targets()["x86-64-v3"]


@case
def programs_are_profiled():
    text = b"ENTRY e { x = f32[8192] parameter(0) s = f32[8192] sine(x) r = f32[8192] reverse(s), dimensions={0} ROOT t = tuple(s, r) }"
    program = indim.load(text)
    x = np.linspace(0, 1, 8192, dtype="float32")
    steps = program.profile(x, repeat=3)
    assert [step["step"] for step in steps] == list(range(len(steps))) and steps, steps
    sines = [step for step in steps if step["name"] == "s"]
    assert len(sines) == 1 and sines[0]["kind"] == "loop" and sines[0]["op"] == "sine" and sines[0]["runs"] == 1, steps
    assert sines[0]["transcendentals"] == 8192 and sines[0]["bytes_read"] == 32768 and sines[0]["seconds"] > 0, sines
    assert (program(x)[0] == program(x)[1][::-1]).all()
    with raises(TypeError):
        program.profile(x, x)
    with raises(TypeError):
        program.profile(x, repeats=3)
    with raises(ValueError):
        program.profile(x, repeat=0)
    with raises(ValueError):
        indim.load(text, engine="eval").profile(x)


@case
def types_are_made_by_functions():
    for kind in (indim.Program, indim.Array, indim.Binding):
        with raises(TypeError):
            kind()


@case
def default_threads_obey_the_environment():
    def ask(**environment):
        command = [sys.executable, "-c", "import indim; print(indim.default_threads())"]
        return int(subprocess.check_output(command, env=os.environ | environment))

    assert ask(INDIM_NUM_THREADS="3") == 3
    processors = sorted(os.sched_getaffinity(0))
    assert ask(INDIM_NUM_THREADS="") <= len(processors)
    os.sched_setaffinity(0, processors[:1])
    try:
        assert ask(INDIM_NUM_THREADS="") == 1
    finally:
        os.sched_setaffinity(0, processors)


@case
def stubs_name_what_there_is():
    tree = ast.parse(pathlib.Path(indim.__file__).with_name("_indim.pyi").read_text())
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")}
    public = {name for name in dir(indim._indim) if not name.startswith("_")}
    assert public == functions | set(classes), public ^ (functions | set(classes))
    for name, node in classes.items():
        kind = getattr(indim._indim, name)
        stubs = {item.name for item in node.body if isinstance(item, ast.FunctionDef)} | {
            item.target.id for item in node.body if isinstance(item, ast.AnnAssign)}  # fmt: skip
        there = {member for member in vars(kind) if not member.startswith("_") and not member.startswith("n_")}
        assert there <= stubs, f"{name}: {there - stubs} is not in the stub"
        wanted = stubs - {"__buffer__", "status", "diagnostics"}
        assert all(hasattr(kind, member) for member in wanted), f"{name}: {wanted} is not all there"


# Calling --------------------------------------------------------------------------------------------------------------


@case
def one_array_or_a_tuple():
    equal(indim.load(SQUARE)(X), X * X)
    y, m = indim.load(PAIR)(X, 21)
    equal(y, -X)
    equal(m, np.array(42, "int32"))
    single = indim.load(b"ENTRY e { x = f32[3] parameter(0) ROOT t = (f32[3]) tuple(x) }")
    (y,) = single(X)
    equal(y, X)
    nested = indim.load(
        b"ENTRY e { p = (f32[3], (s32[], f32[])) parameter(0) x = f32[3] get-tuple-element(p), index=0 "
        b"q = (s32[], f32[]) get-tuple-element(p), index=1 ROOT t = ((s32[], f32[]), f32[3]) tuple(q, x) }"
    )
    assert [spec.name for spec in nested.arguments] == ["p.0", "p.1.0", "p.1.1"]
    for program in (nested, indim.load(nested.text().encode(), engine="eval")):
        results = program(X, 7, 2.5)
        assert len(results) == 3
        equal(results[0], np.array(7, "int32"))
        equal(results[1], np.array(2.5, "float32"))
        equal(results[2], X)
    empty = indim.load(b"ENTRY e { x = f32[3] parameter(0) ROOT t = () tuple() }")
    assert empty(X) == ()


@case
def sizes_of_zero_and_many_arguments():
    for shape in ("0", "2,0,3"):
        sizes = tuple(map(int, shape.split(",")))
        program = indim.load(f"ENTRY e {{ x = f32[{shape}] parameter(0) ROOT y = f32[{shape}] negate(x) }}".encode())
        equal(program(np.zeros(sizes, "f")), np.zeros(sizes, "f"))
        equal(program(np.zeros((*sizes[:-1], 2 * sizes[-1]), "f")[..., ::2]), np.zeros(sizes, "f"))
    lines = [f"p{i} = f32[2] parameter({i})" for i in range(40)]
    program = indim.load(f"ENTRY e {{ {' '.join(lines)} ROOT t = tuple({', '.join(f'p{i}' for i in range(40))}) }}".encode())
    arrays = [np.full(2, i, "f") for i in range(40)]
    for result, array in zip(program(*arrays), arrays, strict=True):
        equal(result, array)
    for result, array in zip(program(*(np.repeat(a, 2)[::2] for a in arrays)), arrays, strict=True):
        equal(result, array)


@case
def every_type_of_numpy_and_ml_dtypes():
    names = {
        "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64", "u8": "uint8", "u16": "uint16",
        "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
        "c128": "complex128", "bf16": "bfloat16", "s4": "int4", "u4": "uint4", "f8e5m2": "float8_e5m2",
        "f8e4m3fn": "float8_e4m3fn", "f8e4m3": "float8_e4m3", "f8e3m4": "float8_e3m4", "f8e5m2fnuz": "float8_e5m2fnuz",
        "f8e4m3fnuz": "float8_e4m3fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz", "f4e2m1fn": "float4_e2m1fn",
        "f8e8m0fnu": "float8_e8m0fnu",
    }  # fmt: skip
    for type, name in names.items():
        dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
        values = np.array([1, 0, 1, 1], "int8") if type == "pred" else np.array([1, 2, 0.5, 4]) if "0fnu" in type else np.array([1, 0, 3, 2])
        x = values.astype(dtype)
        for engine in ("native", "eval"):
            program = indim.load(identity(type), engine=engine)
            assert program.arguments[0].dtype == name, program.arguments
            equal(program(x), x[::-1].copy())
            spread = np.zeros((4, 2), dtype)
            spread[:, 0] = x
            equal(program(spread[:, 0]), x[::-1].copy())
        o = np.zeros(4, dtype)
        assert indim.load(identity(type))(x, out=o) is o
        equal(o, x[::-1].copy())
    negative = np.array([-8, -1, 7, 0], ml_dtypes.int4)
    equal(indim.load(identity("s4"))(negative), negative[::-1].copy())
    doubled = indim.load(b"ENTRY e { x = s4[4] parameter(0) ROOT y = s4[4] add(x, x) }")(np.array([-3, 2, -1, 0], ml_dtypes.int4))
    assert doubled.astype("int8").tolist() == [-6, 4, -2, 0]


@case
def types_have_to_agree():
    program = indim.load(SUM)
    x = np.ones((2, 3), "f")
    with raises(TypeError, "argument 1 \\(y\\): float64\\[2,3\\] given, float32\\[2,3\\] expected", "astype\\('float32'\\)"):
        program(x, x.astype("float64"))
    for other in ("int32", ">f4", "bool", "float16", "complex64", "datetime64[s]", "S4", "O", ml_dtypes.bfloat16):
        with raises(TypeError, "argument 0 \\(x\\): ", "expected"):
            program(x.astype(other) if other != "datetime64[s]" else x.astype("i8").astype(other), x)
    with raises(TypeError, "argument 0 \\(x\\): int32\\[2,3\\] given"):
        indim.load(b"ENTRY e { x = u32[2,3] parameter(0) ROOT y = negate(x) }")(x.astype("int32"))
    equal(indim.load(identity("s64"))(np.arange(4, dtype=np.longlong)), np.arange(4)[::-1].copy())


@case
def sizes_have_to_agree():
    program = indim.load(SUM)
    x = np.ones((2, 3), "f")
    for shape in [(3, 2), (2,), (2, 3, 1), (), (2, 4)]:
        with raises(ValueError, "argument 1 \\(y\\): float32", "float32\\[2,3\\] expected"):
            program(x, np.ones(shape, "f"))
    with raises(TypeError, "1 argument given, 2 expected: \\(x: float32\\[2,3\\], y: float32\\[2,3\\]\\) -> float32\\[2,3\\]"):
        program(x)
    with raises(TypeError, "3 arguments given, 2 expected"):
        program(x, x, x)
    with raises(TypeError, "out="):
        program(x, y=x)
    with raises(TypeError, "out="):
        program(x, x, out=None, where=1)


@case
def what_is_no_array():
    program = indim.load(SUM)
    x = np.ones((2, 3), "f")
    for other, name in [([1, 2], "list"), (None, "NoneType"), ("text", "str"), (object(), "object"), (1.5, "float"), (len, "builtin")]:
        with raises(TypeError, f"argument 1 \\(y\\): {name}", "float32\\[2,3\\] expected", "DLPack"):
            program(x, other)


@case
def numbers_for_scalars():
    def scalar(type, op="negate"):
        return indim.load(f"ENTRY e {{ x = {type}[] parameter(0) ROOT y = {type}[] {op}(x) }}".encode())

    equal(scalar("f32")(1.5), np.array(-1.5, "f"))
    equal(scalar("f32")(2), np.array(-2, "f"))
    equal(scalar("f32")(1e300), np.array(-np.inf, "f"))
    equal(scalar("f64")(0.1), np.array(-0.1))
    equal(scalar("bf16")(1.00390625), np.array(-1, ml_dtypes.bfloat16))  # a tie, to even
    equal(scalar("f16")(65504), np.array(-65504, "float16"))
    equal(scalar("f8e4m3fn")(3.3), np.array(-3.25, ml_dtypes.float8_e4m3fn))
    equal(scalar("c64")(1 + 2j), np.array(-1 - 2j, "complex64"))
    equal(scalar("c128")(3), -np.array(3, "complex128"))
    equal(scalar("s8")(-128), np.array(-128, "int8"))
    equal(scalar("s64")(-(2**63)), np.array(-(2**63), "int64"))
    equal(scalar("u64")(2**64 - 1), np.array(1, "uint64"))
    equal(scalar("pred", "not")(True), np.array(False))
    equal(scalar("s4")(7), np.array(-7, ml_dtypes.int4))
    equal(scalar("f32")(np.float32(2)), np.array(-2, "f"))
    equal(scalar("bf16")(ml_dtypes.bfloat16(2)), np.array(-2, ml_dtypes.bfloat16))
    for type, value in [("s8", 128), ("s8", -129), ("u8", -1), ("u8", 256), ("s4", 8), ("u4", 16), ("s64", 2**63), ("u64", 2**64)]:
        with raises(ValueError, f"argument 0 \\(x\\): {value} given", "does not fit"):
            scalar(type, "not")(value)
    for type, value in [("s32", 1.5), ("f32", 1j), ("f32", True), ("s32", True), ("pred", 1), ("f32", np.float64(1))]:
        with raises(TypeError, "argument 0 \\(x\\): "):
            scalar(type, "not" if type == "pred" else "negate")(value)
    with raises(OverflowError):
        scalar("f64")(10**400)


@case
def other_orders_are_copied():
    program = indim.load(SUM)
    x = np.arange(6, dtype="f").reshape(2, 3)
    y = np.arange(100, dtype="f")
    views = [np.asfortranarray(x), x[::-1], x[:, ::-1], np.broadcast_to(x[0], (2, 3)), y[:60].reshape(6, 10)[::3, ::4],
             y[:24].reshape(3, 8).T[::4], np.frombuffer(b"\0" + x.tobytes(), "f", offset=1).reshape(2, 3)]
    for view in views:
        assert view.shape == (2, 3)
        equal(program(view, x), np.ascontiguousarray(view) + x)
        equal(program(x, view), np.ascontiguousarray(view) + x)


@case
def layouts_that_the_program_states():
    program = indim.load(
        b"HloModule m, entry_computation_layout={(f32[2,3,4]{0,2,1}, bf16[5,3]{0,1})->(f32[2,3,4]{1,0,2}, bf16[5,3]{0,1})}\n"
        b"ENTRY e { x = f32[2,3,4]{0,2,1} parameter(0) b = bf16[5,3]{0,1} parameter(1) y = f32[2,3,4]{1,0,2} negate(x) "
        b"c = bf16[5,3]{0,1} negate(b) ROOT t = (f32[2,3,4]{1,0,2}, bf16[5,3]{0,1}) tuple(y, c) }"
    )
    x = np.arange(24, dtype="f").reshape(2, 3, 4)
    b = np.arange(15).reshape(5, 3).astype(ml_dtypes.bfloat16)
    for given in (b, np.asfortranarray(b)):
        y, c = program(x, given)
        assert (y == -x).all() and (c == -b).all() and y.shape == x.shape and y.dtype == x.dtype
        assert y.strides == (12, 4, 24) and c.strides == (2, 10)  # as the program writes them
    o = np.empty((5, 3), b.dtype, order="F")
    assert program(x, b, out=(None, o))[1] is o and (o == -b).all()
    with raises(ValueError, "out 1 \\(c\\)", "layout"):
        program(x, b, out=(None, np.empty((5, 3), b.dtype)))


@case
def padded_and_tiled_layouts():
    for layout in ("{1,0:T(2,128)}", "{0,1:PAD(4,8;zero)}"):
        shape = f"f32[3,5]{layout}"
        text = f"HloModule m, entry_computation_layout={{({shape})->{shape}}}\nENTRY e {{ x = {shape} parameter(0) ROOT y = {shape} negate(x) }}"
        x = np.arange(15, dtype="f").reshape(3, 5)
        try:
            program = indim.load(text.encode())
        except indim.Error as error:
            assert error.status == "UNSUPPORTED", error
            program = indim.load(text.encode(), engine="eval")
        equal(program(x), -x)
        equal(program(x[::-1]), -x[::-1])


@case
def results_are_new_and_writable():
    program = indim.load(b"ENTRY e { x = f32[3] parameter(0) ROOT t = (f32[3], f32[3]) tuple(x, x) }")
    a, b = program(X)
    assert a.flags.owndata and a.flags.writeable and not np.shares_memory(a, b) and not np.shares_memory(a, X)
    a[:] = 7
    equal(b, X)
    equal(program(X)[0], X)


# out= -----------------------------------------------------------------------------------------------------------------


@case
def results_into_arrays_of_the_callers():
    program = indim.load(SQUARE)
    o = np.zeros(3, "f")
    assert program(X, out=o) is o
    equal(o, X * X)
    assert program(X, out=(o,)) is o and program(X, out=[o]) is o
    equal(program(X, out=None), X * X)
    part = np.zeros((4, 3), "f")
    program(X, out=part[2])
    assert part.tolist() == [[0, 0, 0], [0, 0, 0], [1, 4, 9], [0, 0, 0]]
    pair = indim.load(PAIR)
    m = np.zeros((), "int32")
    y, again = pair(X, 4, out=(None, m))
    assert again is m and m == 8
    equal(y, -X)
    raw = bytearray(12)
    view = memoryview(raw).cast("f")
    assert program(X, out=view) is view
    assert np.frombuffer(raw, "f").tolist() == [1, 4, 9]


@case
def out_is_refused_in_words():
    program = indim.load(SQUARE)
    read_only = np.zeros(3, "f")
    read_only.flags.writeable = False
    misaligned = np.frombuffer(bytearray(13), "f", count=3, offset=1)
    with raises(ValueError, "out 0 \\(y\\): the array is read-only"):
        program(X, out=read_only)
    with raises(ValueError, "out 0 \\(y\\): the array is not contiguous"):
        program(X, out=np.zeros(6, "f")[::2])
    with raises(ValueError, "out 0 \\(y\\): the array is not aligned"):
        program(X, out=misaligned)
    with raises(TypeError, "out 0 \\(y\\): float64\\[3\\] given, float32\\[3\\] expected"):
        program(X, out=np.zeros(3))
    with raises(ValueError, "out 0 \\(y\\): float32\\[4\\] given"):
        program(X, out=np.zeros(4, "f"))
    with raises(TypeError, "out 0 \\(y\\): "):
        program(X, out=3.0)
    with raises(BufferError, "out 0 \\(y\\): "):
        program(X, out=bytes(12))
    with raises(TypeError, "out: ", "2 given"):
        program(X, out=(X, X))
    with raises(TypeError, "out: ", "a tuple of 2"):
        indim.load(PAIR)(X, 1, out=X)
    with raises(indim.Error, "overlaps argument"):
        y = X.copy()
        program(y, out=y)
    with raises(TypeError, "evaluator"):
        indim.load(SQUARE, engine="eval")(X, out=np.zeros(3, "f"))


@case
def out_in_place_where_the_program_allows_it():
    program = indim.load(
        b"HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n"
        b"ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] multiply(x, x) }"
    )
    y = X.copy()
    assert program(y, out=y) is y
    equal(y, X * X)
    equal(program(X), X * X)
    equal(X, np.array([1, 2, 3], "f"))  # not given away unless the caller says so


@case
def results_that_there_is_no_memory_for():
    text = b"ENTRY e { x = f32[] parameter(0) ROOT y = f32[35184372088832] broadcast(x), dimensions={} }"
    for numpy in (True, False):
        program = indim.load(text, numpy=numpy)
        try:
            program(1.0)
        except MemoryError:
            pass
        else:
            raise AssertionError("128 TiB")


# Bindings -------------------------------------------------------------------------------------------------------------


@case
def bound_programs_see_their_arrays():
    x = X.copy()
    binding = indim.load(SQUARE).bind(x)
    first = binding()
    equal(first, X * X)
    x[:] = 5
    assert binding() is first
    equal(first, np.full(3, 25, "f"))
    o = np.zeros(3, "f")
    assert indim.load(SQUARE).bind(x, out=o)() is o
    del x
    equal(o, np.full(3, 25, "f"))


@case
def binding_is_refused_in_words():
    program = indim.load(SQUARE)
    with raises(ValueError, "argument 0 \\(x\\) cannot be bound", "copied"):
        program.bind(np.zeros(6, "f")[::2])
    with raises(TypeError, "0 arguments given"):
        program.bind()
    with raises(TypeError, "takes no arguments"):
        program.bind(X)(X)
    with raises(TypeError, "evaluated"):
        indim.load(SQUARE, engine="eval").bind(X)
    with raises(ValueError, "argument 1 \\(n\\) cannot be bound"):
        indim.load(PAIR).bind(X, 3)


# Objects --------------------------------------------------------------------------------------------------------------


@case
def object_files_for_c():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = indim.load(SQUARE)
        symbol = program.save_object(folder / "square.o", header=folder / "square.h", name="square")
        assert symbol == "square_run" and "square_run" in (folder / "square.h").read_text()
        (folder / "main.c").write_text(
            '#include <stdio.h>\n#include "square.h"\nint main(void) { float x[] = {1, 2, 3}, y[3];\n'
            "square_run(&(struct square_arguments){x}, &(struct square_results){y}, NULL, NULL);\n"
            'printf("%g %g %g\\n", y[0], y[1], y[2]); }\n'
        )
        command = ["cc", "main.c", "square.o", "-o", "main"]
        subprocess.run(command, cwd=folder, check=True)
        assert subprocess.check_output([folder / "main"], text=True) == "1 4 9\n"
        program.save_object(str(folder / "libsquare.a"), name="square")
        assert (folder / "libsquare.a").read_bytes().startswith(b"!<arch>\n")
        program.save_object(folder / "v2.o", target="x86-64-v2", triple="x86_64-pc-windows-msvc")
        assert (folder / "v2.o").read_bytes()[:2] == b"\x64\x86"  # COFF
        with raises(indim.Error, "2square"):
            program.save_object(folder / "no.o", name="2square")
        with raises(FileNotFoundError):
            program.save_object(folder / "no" / "no.o")
        with raises(TypeError):
            program.save_object()
        with raises(TypeError):
            program.save_object(folder / "x.o", colour="red")


if __name__ == "__main__":
    main()
