#!/usr/bin/env python3
"""Programs that arrive as StableHLO give what they give as HLO text.

    INDIM_LIB=build/dev/libindim.so stablehlo.py [FILTER]

Three collections:
  - every function of tests/programs/generate.py, lowered by JAX, as a portable artifact of the newest and the oldest version that
    can say it, as a file of jax.export, and as text with and without locations: evaluated, the same bits as the module's HLO text, and
    compiled, what that gives compiled;
  - the artifacts that ship with JAX for its own tests of compatibility, written from 2022 on by many versions: all are read,
    those for the CPU give the results that were recorded with them, or, where a factorisation has many, one that is right;
  - every file of tests/programs, written as StableHLO by `indim convert`: StableHLO's own reader and verifier take the artifact
    and the text as the same program, and reading them back gives the file's results.
"""

import contextlib
import importlib
import os
import pathlib
import pkgutil
import subprocess
import sys
import tempfile

os.environ.update(JAX_PLATFORMS="cpu", TF_CPP_MIN_LOG_LEVEL="3")

import jax  # noqa: E402
import numpy as np  # noqa: E402

ROOT = pathlib.Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "programs")]

from _sample import sampled  # noqa: E402
from eval_xla import Indim, IndimError  # noqa: E402
from generate import PROGRAMS  # noqa: E402
from programs import POSITIVE, ordinary, positive  # noqa: E402
from jax._src.internal_test_util import export_back_compat_test_data  # noqa: E402
from jax._src.interpreters import mlir  # noqa: E402
from jaxlib import _jax  # noqa: E402
from jaxlib.mlir import ir  # noqa: E402
from jaxlib.mlir.dialects import stablehlo  # noqa: E402

INDIM = os.environ.get("INDIM_BIN", "build/dev/indim")
LIBRARY = os.environ.get("INDIM_LIB", "build/dev/libindim.so")

passed, failed = 0, 0


def case(what, complaint):
    global passed, failed
    if complaint is None:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {complaint}")


# ---------------------------------------------------------------------------------------------- JAX's programs


def artifact(lowered, version):
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        return _jax.mlir.serialize_portable_artifact(str(module).encode(), version)


def exported(name, function, arguments):
    function.__name__ = name
    return bytes(jax.export.export(jax.jit(function))(*arguments).serialize())


def forms(lowered, name):
    """(what, program) for each form that the module can have."""
    function, arguments, _ = PROGRAMS[name]
    yield "artifact", artifact(lowered, stablehlo.get_current_version())
    with contextlib.suppress(jax.errors.JaxRuntimeError):  # not every program can be said in the oldest version
        yield "old artifact", artifact(lowered, stablehlo.get_minimum_version())
    yield "text", lowered.as_text().encode()
    yield "text with locations", lowered.as_text(debug_info=True).encode()
    yield "jax.export", exported(name, lambda *values: tuple(jax.tree.leaves(function(*values))), arguments)


def same_bits(ours, expected):
    for i, (a, b) in enumerate(zip(ours, expected)):
        a, b = a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)
        if not np.array_equal(a, b):
            return f"result {i} differs"
    return None


def near(ours, expected, what):
    for i, (a, b) in enumerate(zip(ours, expected)):
        if a.dtype.kind in "fcV" or a.dtype.kind not in "biu":
            wide = np.complex128
            a, b = a.astype(wide), b.astype(wide)
            if not np.allclose(a, b, rtol=1e-4, atol=1e-4, equal_nan=True):
                return f"{what}: result {i} differs by {np.nanmax(np.abs(a - b))}"
        elif not np.array_equal(a, b):
            return f"{what}: result {i} differs"
    return None


def program_cases(indim, name):
    function, arguments, wide = PROGRAMS[name]
    with jax.enable_x64(True) if wide else contextlib.nullcontext():
        lowered = jax.jit(function).lower(*arguments)
        random = np.random.default_rng(len(name))
        make = positive if name in POSITIVE else ordinary
        values = [make(random, a.dtype, a.shape) for a in jax.tree.leaves(lowered.in_avals)]
        like = [np.zeros(o.shape, o.dtype) for o in jax.tree.leaves(lowered.out_info)]
        reference = lowered.as_text("hlo")
        try:
            expected = {engine: indim.run(reference, values, like, engine) for engine in ("eval", "native")}
        except IndimError as error:
            print(f"  {name} left out, as HLO: {str(error)[:100]}")
            return
        for what, program in forms(lowered, name):
            try:
                case(f"{name}, {what}", same_bits(indim.run(program, values, like, "eval"), expected["eval"])
                     if name not in SPECIAL
                     else near(indim.run(program, values, like, "eval"), expected["eval"], "eval"))
                case(f"{name}, {what}, compiled",
                     near(indim.run(program, values, like, "native"), expected["native"], "compiled"))
            except IndimError as error:
                case(f"{name}, {what}", str(error)[:300])


# Their functions are composites or ops of CHLO in StableHLO, which we compute our way, and expanded by XLA in its HLO text.
SPECIAL = {"special_functions", "unary_f32_expanded", "functions_c64", "activations", "random_numbers"}


# ------------------------------------------------------------------------------- JAX's own artifacts of old


def recorded():
    """(name, data) of each artifact in JAX's package."""
    package = export_back_compat_test_data
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.ispkg:
            continue
        module = importlib.import_module(found.name)
        todo = [(f"{found.name.split('.')[-1]}.{k}", v) for k, v in vars(module).items() if k.startswith("data")]
        while todo:
            name, data = todo.pop()
            if isinstance(data, dict) and "mlir_module_serialized" in data:
                yield name, data
            elif isinstance(data, dict):
                todo += [(f"{name}.{k}", v) for k, v in data.items()]
            elif isinstance(data, (list, tuple)):
                todo += [(f"{name}.{i}", v) for i, v in enumerate(data)]


# Those that no program for one device and known sizes is in, with what is said of them.
REFUSED = {
    "stablehlo_dynamic": "a size that is not known before the run",
    "tpu_stablehlo_dynamic": "a size that is not known before the run",
    "shardy_sharding_ops": "for 2 devices",
    "tpu_Sharding": "for 2 devices",
    "export_with_multiple_meshes": "devices",
}


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def residual(name, matrix, results):
    """How far a factorisation is from the matrix, relative to its norm."""
    a = matrix
    if "geev" in name:
        w, left, right = results
        parts = [a @ right - right * w[..., None, :], adjoint(left) @ a - w[..., :, None] * adjoint(left)]
    elif "syev" in name:
        v, w = results
        a = (a + adjoint(a)) / 2  # as the program makes it symmetric
        parts = [a @ v - v * w[..., None, :], adjoint(v) @ v - np.eye(v.shape[-1])]
    elif "gees" in name:
        t, z = results
        parts = [z @ t @ adjoint(z) - a, adjoint(z) @ z - np.eye(z.shape[-1])]
    else:
        u, s, vt = (results[0], results[1], results[2]) if results[1].ndim == results[0].ndim - 1 else results
        parts = [(u[..., :, : s.shape[-1]] * s[..., None, :]) @ vt[..., : s.shape[-1], :] - a]
    return max(np.max(np.abs(p)) for p in parts) / max(1, np.max(np.abs(a)))


def recorded_cases(indim, name, data):
    program = data["mlir_module_serialized"]
    on_cpu = data["platform"] == "cpu"
    inputs = [np.asarray(x) for x in jax.tree.leaves(data["inputs"])]
    expected = [np.asarray(x) for x in jax.tree.leaves(data["expected_outputs"])]
    try:
        if not on_cpu:
            indim.read_only(program)
            case(name, None)
            return
        for engine in ("eval", "native"):
            ours = indim.run(program, inputs, expected, engine)
            complaint = near(ours, expected, engine)
            if complaint is not None and any(word in name for word in ("geev", "syev", "gees", "gesdd")):
                n = expected[0].shape[-1]
                matrix = inputs[0] if inputs else np.arange(n * n).reshape(n, n)  # made by the program itself
                complaint = None if residual(name, matrix, ours) < 1e-4 else f"{engine}: {residual(name, matrix, ours)}"
            case(f"{name}, {engine}", complaint)
    except IndimError as error:
        words = [w for start, w in REFUSED.items() if name.startswith(start)]
        case(name, None if words and words[0] in str(error) else str(error)[:300])


class Reader(Indim):
    def read_only(self, program):
        import ctypes

        module = ctypes.c_void_p()
        try:
            self.check(self.lib.indim_module_read(self.cx, self.Str(b"x", 1), program, len(program), ctypes.byref(module)))
            self.check(self.lib.indim_module_verify(self.cx, module))
        finally:
            self.lib.indim_module_destroy(module)


# ------------------------------------------------------------------------------------ what we write ourselves


# What XLA's optimisation leaves in files that StableHLO has no words for.
UNWRITTEN = ("which its text left out", "StableHLO has no layouts", "padding, tiles or element sizes", "is not written as")


def parsed(program):
    """StableHLO's own print of a text or an artifact, verified."""
    with mlir.make_ir_context() as context:
        if isinstance(program, bytes):
            module = stablehlo.deserialize_portable_artifact(context, program)
        else:
            module = ir.Module.parse(program)
        module.operation.verify()
        return str(module)


def convert(source, suffix, scratch):
    target = pathlib.Path(scratch) / f"out{suffix}"
    done = subprocess.run([INDIM, "convert", str(source), str(target)], capture_output=True, text=True)
    return target.read_bytes() if done.returncode == 0 else done.stderr


def written_cases(indim, path, scratch):
    text = path.read_text()
    artifact, ours = convert(path, ".bc", scratch), convert(path, ".mlir", scratch)
    if isinstance(artifact, str) or isinstance(ours, str):
        complaint = artifact if isinstance(artifact, str) else ours
        is_known = path.name.endswith(".after.hlo") and any(words in complaint for words in UNWRITTEN)
        case(f"{path.name} as StableHLO", None if is_known else complaint[:300])
        return
    for what, program in (("artifact", artifact), ("text", ours.decode())):
        try:
            parsed(program)
            case(f"{path.name}, {what}, StableHLO's verifier", None)
        except Exception as error:  # whatever MLIR raises is its answer
            case(f"{path.name}, {what}, StableHLO's verifier", str(error)[:300])
    if not path.name.endswith(".before.hlo") or path.name.split(".")[0] not in PROGRAMS:
        return
    name = path.name.split(".")[0]
    random = np.random.default_rng(len(name))
    make = positive if name in POSITIVE else ordinary
    function, arguments, wide = PROGRAMS[name]
    with jax.enable_x64(True) if wide else contextlib.nullcontext():
        values = [make(random, a.dtype, a.shape) for a in jax.tree.leaves(arguments)]
        like = [np.zeros(o.shape, o.dtype) for o in jax.tree.leaves(jax.eval_shape(function, *arguments))]
    try:
        expected = indim.run(text, values, like, "eval")
    except IndimError:
        return  # told among the programs
    for what, program in (("artifact", artifact), ("text", ours)):
        try:
            case(f"{name}, {what} read back", same_bits(indim.run(program, values, like, "eval"), expected))
        except IndimError as error:
            case(f"{name}, {what} read back", str(error)[:300])


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else ""
    indim = Reader(LIBRARY)
    for name in sampled(PROGRAMS):
        if pattern in name:
            program_cases(indim, name)
    jax.config.update("jax_enable_x64", True)
    for name, data in recorded():
        if pattern in name:
            recorded_cases(indim, name, data)
    jax.config.update("jax_enable_x64", False)
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted((ROOT / "programs").glob("*.hlo")):
            if pattern in path.name:
                written_cases(indim, path, scratch)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
