"""Rows of the catalogue: a function and its arguments, made when they are wanted.

A module of rows says `row(name, function, *arguments)` for a function of a library, or writes a program under
`@program`; arguments are arrays of NumPy's generator, described by f32(...), i32(...) and the like, so that every backend
has the same. Names are unique, and start with the module's.
"""

import contextlib
import dataclasses
import zlib
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

ROWS = {}
TOLERANCE = 2e-3  # of a result, relative to the largest element of each array


@dataclasses.dataclass
class Array:
    """An array that is not made yet: normal numbers, integers below |high|, true and false."""

    shape: tuple
    type: str
    low: float = 0
    high: float = 100
    is_uniform: bool = False

    def make(self, rng):
        if self.type == "bool":
            return jnp.asarray(rng.random(self.shape) < 0.5)
        if np.issubdtype(self.type, np.integer):
            return jnp.asarray(rng.integers(int(self.low), int(self.high), self.shape), self.type)
        x = rng.uniform(self.low, self.high, self.shape) if self.is_uniform else rng.standard_normal(self.shape)
        if np.issubdtype(self.type, np.complexfloating):
            x = x + 1j * rng.standard_normal(self.shape)
        return jnp.asarray(x, self.type)


def kind(type, **options):
    return lambda *shape, **more: Array(shape, type, **options, **more)


f32, f64, c64, c128 = map(kind, ("float32", "float64", "complex64", "complex128"))
bf16, f16, i32, i64, u32, i8, u8, boolean = map(
    kind, ("bfloat16", "float16", "int32", "int64", "uint32", "int8", "uint8", "bool")
)


def uniform(*shape, low=0.0, high=1.0, type="float32"):
    return Array(shape, type, low, high, is_uniform=True)


@dataclasses.dataclass
class Row:
    what: str
    function: Callable  # jitted by the caller
    arguments: Callable  # () -> tuple of arrays, or of trees of them
    tolerance: float | None = TOLERANCE  # None: results are free in part (eigenvectors) and not compared
    x64: bool = False

    def context(self):
        return jax.enable_x64(True) if self.x64 else contextlib.nullcontext()


def wide(arguments):
    return any(isinstance(a, Array) and a.type in ("float64", "complex128", "int64") for a in arguments)


def made(name, arguments):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    return tuple(a.make(rng) if isinstance(a, Array) else jax.tree.map(jnp.asarray, a) for a in arguments)


def row(name, function, *arguments, tolerance=TOLERANCE):
    """A function of a library on such arguments."""
    assert name not in ROWS, name
    ROWS[name] = Row("", function, lambda: made(name, arguments), tolerance, wide(arguments))


def program(*arguments, name=None, tolerance=TOLERANCE, x64=False):
    """Decorates a program; its docstring says what it is."""

    def register(function):
        full = f"{function.__module__}.{name or function.__name__}"
        assert full not in ROWS, full
        what = " ".join((function.__doc__ or "").split())
        ROWS[full] = Row(what, function, lambda: made(full, arguments), tolerance, x64 or wide(arguments))
        return function

    return register
