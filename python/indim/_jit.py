"""Functions of JAX's as programs, without a plugin: JAX traces and lowers them, Indim compiles and runs."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Iterable, Sequence

from indim import _files, _indim

# Custom calls of linear algebra that JAX does not export by itself and Indim knows (docs/linalg.md).
_ROUTINES = "potrf getrf geqrf orgqr ungqr ormqr unmqr syevd heevd sytrd hetrd gesdd gesvd geev gees gehrd gtsv geqp3 trsm"


def _linalg_calls():
    lapack = [f"lapack_{letter}{routine}_ffi" for routine in _ROUTINES.split() for letter in "sdcz"]
    return [*lapack, "tridiagonal_solve_perturbed_ffi", "cpu_csr_sparse_dense_ffi"]


class _Compiled:
    """A program for one kind of arguments, and how they become its arrays."""

    def __init__(self, exported, options):
        import numpy

        self.program = _files.load(exported.mlir_module_serialized, **options)
        self.out_tree = exported.out_tree
        self.kept = list(exported.module_kept_var_idx)
        # float64 where JAX's x64 is off, say: JAX narrows such arguments, and so do we.
        self.dtypes = [numpy.dtype(_physical(exported.in_avals[index].dtype)) for index in self.kept]

    def __call__(self, leaves, tree_unflatten):
        arrays = []
        for index, dtype in zip(self.kept, self.dtypes):
            leaf = leaves[index]
            if getattr(leaf, "dtype", dtype) != dtype:
                leaf = _converted(leaf, dtype)
            arrays.append(leaf)
        results = self.program(*arrays)
        return tree_unflatten(self.out_tree, results if isinstance(results, tuple) else (results,))


def _physical(dtype):
    """The dtype of the arrays that an extended dtype of JAX's (a random key's) is made of."""
    return "uint32" if hasattr(dtype, "_impl") else dtype


def _converted(leaf, dtype):
    import jax
    import numpy

    if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return numpy.asarray(jax.random.key_data(leaf))
    return numpy.asarray(leaf).astype(dtype)


def _kind(leaf):
    """What decides which program an argument needs: type and sizes, and for Python's numbers their class."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is None:
        return type(leaf)
    return leaf.shape, dtype, getattr(leaf, "weak_type", False)


class JitFunction:
    """A function of JAX's that Indim compiles when it is first called with arguments of a kind (:func:`indim.jit`)."""

    def __init__(self, function, static_argnums, static_argnames, options):
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options
        self._static_argnums, self._static_argnames = _both_ways(function, static_argnums, static_argnames)
        self._programs = {}
        self._jax = None

    def __repr__(self):
        return f"<indim.jit of {self._function!r}>"

    def __call__(self, *args, **kwargs):
        leaves, compiled = self._find(args, kwargs)
        return compiled(leaves, self._jax.tree_util.tree_unflatten)

    def program(self, *args: Any, **kwargs: Any) -> _indim.Program:
        """The program for such arguments, compiled if it was not yet. It takes the leaves of their pytrees that the function uses."""
        return self._find(args, kwargs)[1].program

    def _find(self, args, kwargs):
        if self._jax is None:
            import jax
            import jax.export

            self._jax = jax
        dynamic, static = (args, kwargs), ()
        if self._static_argnums or self._static_argnames:
            dynamic, static = self._split(args, kwargs)
        leaves, tree = self._jax.tree_util.tree_flatten(dynamic)
        key = (tree, static, self._jax.config.jax_enable_x64, *map(_kind, leaves))
        compiled = self._programs.get(key)
        if compiled is None:
            compiled = self._programs[key] = self._compile(args, kwargs)
        return leaves, compiled

    def _split(self, args, kwargs):
        numbers = {number % len(args) if number < 0 and args else number for number in self._static_argnums}
        dynamic = tuple(value for number, value in enumerate(args) if number not in numbers)
        named = {name: value for name, value in kwargs.items() if name not in self._static_argnames}
        static = tuple((number, args[number]) for number in sorted(numbers) if number < len(args))
        static += tuple((name, kwargs[name]) for name in sorted(kwargs) if name not in named)
        return (dynamic, named), static

    def _compile(self, args, kwargs):
        jax = self._jax
        jitted = jax.jit(self._function, static_argnums=self._static_argnums, static_argnames=self._static_argnames)
        checks = [jax.export.DisabledSafetyCheck.custom_call(name) for name in _linalg_calls()]
        exported = jax.export.export(jitted, platforms=["cpu"], disabled_checks=checks)(*args, **kwargs)
        if any(hasattr(aval.dtype, "_impl") for aval in exported.out_avals):
            raise TypeError("the function returns a random key, which is no array: return jax.random.key_data of it")
        return _Compiled(exported, self._options)


def _tuple(value):
    return () if value is None else (value,) if isinstance(value, (int, str)) else tuple(value)


def _both_ways(function, numbers, names):
    """Static arguments by number and by name; what is given one way is found the other way too, as JAX does."""
    numbers, names = _tuple(numbers), _tuple(names)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return numbers, names
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if numbers and not names:
        names = tuple(
            positional[number].name
            for number in numbers
            if -len(positional) <= number < len(positional) and positional[number].kind == inspect.Parameter.POSITIONAL_OR_KEYWORD
        )
    elif names and not numbers:
        numbers = tuple(number for number, p in enumerate(positional) if p.name in names)
    return numbers, names


def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    **options: Any,
) -> Any:
    """Compile a function of JAX's with Indim: `jax.jit` without XLA.

    The function is traced by JAX when it is first called with arguments of new shapes, types or pytree; later calls go to the
    compiled program. Arguments are pytrees of arrays (NumPy's, JAX's, or of anybody with DLPack) and numbers, results pytrees of
    NumPy's arrays. Differentiate and vectorise inside (``indim.jit(jax.grad(f))``), and donation is ignored. `options` are
    `load`'s: ``threads``, ``target``, ``fast``, ``engine``, ``without``. It may be used as a decorator.

    >>> import indim, jax.numpy as jnp, numpy as np
    >>> @indim.jit
    ... def normalised(x):
    ...     return x / jnp.sqrt(jnp.sum(x * x))
    >>> normalised(np.array([3, 4], "float32"))
    array([0.6, 0.8], dtype=float32)
    """
    if function is None:
        return functools.partial(jit, static_argnums=static_argnums, static_argnames=static_argnames, **options)
    if not callable(function):
        raise TypeError(f"jit takes a function, not {type(function).__name__}")
    return JitFunction(function, static_argnums, static_argnames, options)
