"""Linear algebra in both engines against JAX and XLA on the CPU: programs that JAX lowers to LAPACK's custom calls, and
the ops cholesky and triangular-solve.

Where LAPACK's answer is the only one (solutions, determinants, pivots, singular values) results are compared with those
of JAX; where signs, phases or an order are free, factors are multiplied and held against the matrix, and what should be
orthogonal or triangular is. Sizes 0 to 40, batches, f32 f64 c64 c128, matrices without a factor, singular ones, NaN.

    INDIM_LIB=.../libindim.so python tests/witness/linalg.py [NAME PART] [-v]
"""

import functools
import os
import pathlib
import re
import sys
import time
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"  # compiles faster

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax._src.lax import linalg as internal
from jax.lax import linalg as lax_linalg

from _sample import sampled
from _xla import Refused, Xla
from eval_xla import Indim, IndimError

jax.config.update("jax_enable_x64", True)

F32, F64, C64, C128 = np.float32, np.float64, np.complex64, np.complex128
ALL = (F32, F64, C64, C128)
ENGINES = ("eval", "compile")
NAMES = {F32: "f32", F64: "f64", C64: "c64", C128: "c128"}
LIBRARY = pathlib.Path(__file__).parent.parent.parent
CASES = []  # (name, function, arguments, check)


# ---------------------------------------------------------------------------------------------------------- inputs


def random_of(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


def numbers(rng, dtype, *sizes):
    x = rng.standard_normal(sizes)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(sizes)
    return np.asarray(x).astype(dtype)


def general(rng, dtype, *sizes):
    """Far enough from singular that errors do not grow much."""
    x = numbers(rng, dtype, *sizes)
    n = min(sizes[-2:])
    return (x + 2 * np.sqrt(max(n, 1)) * np.eye(*sizes[-2:])).astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def hermitian(rng, dtype, *sizes):
    x = numbers(rng, dtype, *sizes)
    return ((x + adjoint(x)) / 2).astype(dtype)


def positive(rng, dtype, *sizes):
    x = numbers(rng, dtype, *sizes)
    return (x @ adjoint(x) + sizes[-1] * np.eye(sizes[-1])).astype(dtype)


# ---------------------------------------------------------------------------------------------------------- checks


class Wrong(Exception):
    pass


def epsilon(x):
    return np.finfo(np.asarray(x).dtype).eps


def near(what, ours, expected, factor=60, of=None):
    """Equal but for |factor| roundings of the largest element (of |of|), times the larger size; NaN and inf alike."""
    ours, expected = np.asarray(ours), np.asarray(expected)
    if ours.shape != expected.shape:
        raise Wrong(f"{what} is {ours.shape}, expected {expected.shape}")
    if ours.size == 0:
        return
    if ours.dtype.kind not in "fc":
        if not np.array_equal(ours, expected):
            raise Wrong(f"{what} is\n{ours}\nexpected\n{expected}")
        return
    finite = np.isfinite(expected)
    if not np.array_equal(np.isfinite(ours), finite):
        raise Wrong(f"{what} is\n{ours}\nexpected\n{expected}")
    size = np.max(np.abs(np.where(finite, expected, 0)), initial=0) if of is None else np.max(np.abs(of), initial=0)
    limit = factor * epsilon(ours) * max(max(ours.shape[-2:], default=1), 1) * max(size, 1e-30)
    with np.errstate(invalid="ignore"):
        far = np.max(np.where(finite, np.abs(ours - expected), 0))
    if not far <= limit:
        raise Wrong(f"{what} is {far:.3g} away, {limit:.3g} allowed:\n{ours}\nexpected\n{expected}")


def orthogonal(what, q):
    """Orthonormal columns."""
    near(f"{what}^H {what}", adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], q.shape[-1], q.shape[-1])))


def triangular(what, x, lower=False, below=0):
    if not np.array_equal(x, np.tril(x) if lower else np.triu(x, -below)):
        raise Wrong(f"{what} is not triangular:\n{x}")


def same(factor=60):
    """All results are JAX's."""
    return lambda ours, theirs, arguments: [near(f"result {i}", a, b, factor) for i, (a, b) in enumerate(zip(ours, theirs()))]


def check_qr(ours, theirs, arguments):
    q, r = ours
    orthogonal("q", q)
    triangular("r", r)
    near("q r", q @ r, arguments[0])
    near("|r|", np.abs(r), np.abs(theirs()[1]), of=arguments[0])


def check_pivoted_qr(ours, theirs, arguments):
    q, r, order = ours
    orthogonal("q", q)
    triangular("r", r)
    near("q r", q @ r, np.take_along_axis(arguments[0], order[..., None, :].astype(np.int64), -1))
    near("order", order, theirs()[2])


def check_eigh(ours, theirs, arguments):
    values, v = ours
    orthogonal("v", v)
    near("a v", arguments[0] @ v, v * values[..., None, :], of=arguments[0])
    near("values", values, theirs()[0])


def check_svd(ours, theirs, arguments):
    u, s, vt = ours
    k = s.shape[-1]
    orthogonal("u", u)
    orthogonal("v", adjoint(vt))
    near("u s vt", u[..., :k] * s[..., None, :] @ vt[..., :k, :], arguments[0])
    near("s", s, theirs()[1])


def check_lu(ours, theirs, arguments):
    p, l, u = ours
    near("p l u", p @ l @ u, arguments[0])
    triangular("l", l, lower=True)
    triangular("u", u)
    near("p", p, theirs()[0])


def matched(what, ours, theirs, of):
    """The same numbers in any order."""
    if ours.size == 0:
        return
    ours, theirs = ours.reshape(-1, ours.shape[-1]), theirs.reshape(-1, theirs.shape[-1])
    for a, b in zip(ours, theirs):
        a = list(a)
        found = []
        for value in b:
            best = min(range(len(a)), key=lambda i: abs(a[i] - value))
            found.append(a.pop(best))
        near(what, np.array(found, ours.dtype), b.astype(ours.dtype), 300, of)


def check_pairs(ours, theirs, arguments):
    values, v = ours
    a = arguments[0].astype(v.dtype)
    near("a v", a @ v, v * values[..., None, :], 100, of=a)
    near("lengths", np.linalg.norm(v, axis=-2), np.ones(values.shape, np.linalg.norm(v).dtype))


def check_eig(ours, theirs, arguments):
    check_pairs(ours, theirs, arguments)
    matched("values", ours[0], theirs()[0], arguments[0])


def check_eig_both(ours, theirs, arguments):
    values, left, right = ours
    a = arguments[0].astype(right.dtype)
    check_eig((values, right), theirs, arguments)
    near("u^H a", adjoint(left) @ a, values[..., None] * adjoint(left), 100, of=a)


def check_values(ours, theirs, arguments):
    matched("values", ours[0], theirs()[0], arguments[0])


def check_schur(ours, theirs, arguments):
    t, z = ours
    a = arguments[0].astype(t.dtype)
    orthogonal("z", z)
    near("z t z^H", z @ t @ adjoint(z), a)
    triangular("t", t, below=0 if t.dtype.kind == "c" else 1)
    for one in t.reshape(-1, *t.shape[-2:]):
        subdiagonal = np.diag(one, -1)
        if np.any((subdiagonal[1:] != 0) & (subdiagonal[:-1] != 0)):
            raise Wrong(f"blocks of t overlap:\n{one}")
        for i in np.nonzero(subdiagonal)[0]:
            if one[i, i] != one[i + 1, i + 1] or not one[i, i + 1] * one[i + 1, i] < 0:
                raise Wrong(f"a block of t is not in standard form:\n{one[i : i + 2, i : i + 2]}")


def check_similar_tridiagonal(ours, theirs, arguments):
    """By eigenvalues: rounding changes the elements of a large tridiagonal form by much."""
    for i in np.ndindex(arguments[0].shape[:-2]):
        t = np.diag(ours[1][i]).astype(np.float64) + np.diag(ours[2][i], 1) + np.diag(ours[2][i], -1)
        near("eigenvalues", np.linalg.eigvalsh(t).astype(ours[1].dtype), np.linalg.eigvalsh(arguments[0][i].astype(np.complex128)).astype(ours[1].dtype))


def check_hessenberg(ours, theirs, arguments):
    h, q = ours
    orthogonal("q", q)
    near("q h q^H", q @ h @ adjoint(q), arguments[0])
    triangular("h", h, below=1)


def check_tridiagonal(ours, theirs, arguments):
    for i in (1, 2):
        near("diagonals", np.abs(ours[i]), np.abs(theirs()[i]), of=arguments[0])
    near("vectors", ours[0], theirs()[0], of=arguments[0])
    near("taus", ours[3], theirs()[3])


def not_finite(ours, theirs, arguments):
    """Whole results that are not finite, where JAX's are not either: which element has what is not fixed."""
    for a, b in zip(ours, theirs()):
        if np.isfinite(b).all() != np.isfinite(a).all():
            raise Wrong(f"is\n{a}\nexpected something like\n{b}")


def add(name, function, check, make, runs):
    """One case for each of |runs|, (type, sizes...)."""
    for dtype, *sizes in runs:
        full = f"{name} {NAMES[dtype]}{list(sizes)}"
        CASES.append((full, function, make(random_of(full), dtype, *sizes), check))


def one(make):
    return lambda rng, dtype, *sizes: [make(rng, dtype, *sizes)]


def spread(*sizes):
    """Each size with one type, in turn."""
    return [(ALL[i % 4], *(size if isinstance(size, tuple) else (size, size))) for i, size in enumerate(sizes)]


def with_right(make, columns):
    def arguments(rng, dtype, *sizes):
        shape = (*sizes[:-1], columns) if columns else sizes[:-1]
        return [make(rng, dtype, *sizes), numbers(rng, dtype, *shape)]

    return arguments


SQUARE = spread((0, 0), (1, 1), (2, 2), (3, 3), (2, 5, 5), (8, 8), (2, 1, 3, 3), (17, 17), (40, 40), (40, 40))
TALL = spread((3, 1), (5, 3), (3, 5), (2, 4, 4), (40, 17), (1, 3), (2, 5, 8), (8, 5))


def cases():
    add("cholesky", jnp.linalg.cholesky, same(), one(positive), SQUARE)
    add("cholesky upper", lambda x: jnp.linalg.cholesky(x, upper=True), same(), one(positive), spread(2, 5, 3, 8))
    add("cholesky of half a matrix", lambda x: lax_linalg.cholesky(x, symmetrize_input=False), same(), one(positive), spread(3, 5, 3, 5))
    add("solve a vector", jnp.linalg.solve, same(300), with_right(general, 0), spread(1, 3, 8, 40))
    add("solve", jnp.linalg.solve, same(300), with_right(general, 3), [*SQUARE[1:], (F64, 0, 0)])
    add("inv", jnp.linalg.inv, same(300), one(general), SQUARE)
    add("det", jnp.linalg.det, same(300), one(general), spread(1, 2, 3, (2, 5, 5), 4, 4))
    add("slogdet", jnp.linalg.slogdet, same(300), one(general), spread(1, 2, (2, 3, 3), 8, 5, 17))
    add("lu", jsl.lu, check_lu, one(numbers), [*spread(1, 2, (5, 3), (3, 5), 17, 40)])
    add("lu_factor", jsl.lu_factor, same(300), one(general), spread(2, 3, 5, 8))
    add("lu_solve", lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b, trans=1), same(300), with_right(general, 2), spread(2, 3, 5, 8))
    add("lax lu", lax_linalg.lu, same(300), one(general), [(F64, 3, 5), (C64, 2, 5, 3)])
    for trans in (0, 1, 2):
        for lower in (False, True):
            name = f"solve_triangular trans={trans} lower={lower}"
            solve = lambda a, b, trans=trans, lower=lower: jsl.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=lower and trans == 1)
            add(name, solve, same(300), with_right(general, 3), [(ALL[(trans + lower) % 4], 5, 5), (C128, 3, 3)])
    add("triangular_solve on the right", lambda a, b: lax_linalg.triangular_solve(a, b, left_side=False, lower=True, transpose_a=True, conjugate_a=True), same(300),
        lambda rng, dtype, *sizes: [general(rng, dtype, *sizes), numbers(rng, dtype, *sizes[:-2], 4, sizes[-1])], spread(3, (2, 5, 5), 8, (2, 2, 3, 3)))
    add("qr", jnp.linalg.qr, check_qr, one(numbers), [*TALL, *spread(1, 17, (0, 3), (3, 0))])
    add("qr complete", lambda x: jnp.linalg.qr(x, mode="complete"), check_qr, one(numbers), TALL)
    add("qr pivoting", lambda x: jsl.qr(x, pivoting=True), check_pivoted_qr, one(numbers), spread((5, 3), (3, 5), 4, (8, 5)))
    add("eigh", jnp.linalg.eigh, check_eigh, one(hermitian), SQUARE)
    add("eigh upper", lambda x: jnp.linalg.eigh(x, UPLO="U", symmetrize_input=False), check_eigh, one(hermitian), spread(2, 5, 3, 8))
    add("eigvalsh", jnp.linalg.eigvalsh, same(), one(hermitian), spread(1, 3, 8, 17))
    add("eigh of a diagonal", lambda x: jnp.linalg.eigh(jnp.diag(x)), lambda o, t, a: check_eigh(o, t, [np.diag(a[0])]), one(numbers), [(F32, 5), (F64, 6)])
    add("eigh of ones", lambda x: jnp.linalg.eigh(x), check_eigh, lambda rng, dtype, *s: [np.ones(s, dtype)], [(F64, 4, 4), (C64, 5, 5), (F64, 25, 25)])
    # What is left of a matrix of low rank after its first columns: noise, noise of noise, and so on down to the smallest numbers.
    add("schur of ones", jsl.schur, check_schur, lambda rng, dtype, *s: [np.ones(s, dtype)], [(F64, 25, 25), (C128, 25, 25)])
    add("eigh of rank 1", jnp.linalg.eigh, check_eigh, lambda rng, dtype, n, _: [(lambda x: x @ adjoint(x))(numbers(rng, dtype, n, 1))], [(F64, 60, 60), (C64, 30, 30)])
    sparse = lambda rng, dtype, *s: [numbers(rng, dtype, *s) * (rng.random(s) < 0.15).astype(dtype)]
    add("svd of sparse", jnp.linalg.svd, check_svd, sparse, [(C64, 20, 10, 10), (C128, 8, 25, 25), (F64, 8, 10, 10)])
    add("eig of sparse", jnp.linalg.eig, check_pairs, sparse, [(F64, 20, 8, 8), (C128, 8, 10, 10)])
    add("eig of small integers", jnp.linalg.eig, check_pairs, lambda rng, dtype, *s: [rng.integers(-1, 2, s).astype(dtype)], [(F64, 100, 4, 4), (F32, 100, 6, 6)])
    add("svd", jnp.linalg.svd, check_svd, one(numbers), [*TALL, *spread(1, 2, 17, 40, (0, 2), (2, 0))])
    add("svd reduced", lambda x: jnp.linalg.svd(x, full_matrices=False), check_svd, one(numbers), TALL)
    add("svd by QR", lambda x: lax_linalg.svd(x, algorithm=lax_linalg.SvdAlgorithm.QR), lambda o, t, a: check_svd(o, t, a), one(numbers), TALL)
    add("svdvals", lambda x: jnp.linalg.svd(x, compute_uv=False), same(), one(numbers), TALL)
    add("svd of rank 2", jnp.linalg.svd, check_svd, lambda rng, dtype, m, n: [numbers(rng, dtype, m, 2) @ numbers(rng, dtype, 2, n)], spread((5, 4), (4, 6), 8, 17))
    add("svd of zeros", jnp.linalg.svd, check_svd, lambda rng, dtype, m, n: [np.zeros((m, n), dtype)], spread((3, 2), (2, 4), 3, 1))
    add("eig", jnp.linalg.eig, check_eig, one(numbers), [*SQUARE, *spread(3, 5, 40, 17)])
    add("eig left and right", lambda x: lax_linalg.eig(x), check_eig_both, one(numbers), spread(2, 3, (2, 4, 4), 8, 5, 17))
    add("eig of a triangle", jnp.linalg.eig, check_eig, lambda rng, dtype, n, _: [np.triu(numbers(rng, dtype, n, n)).astype(dtype)], spread(3, 5, 3, 5))
    add("eig of a rotation", jnp.linalg.eig, check_eig, lambda rng, dtype, n, _: [np.roll(np.eye(n), 1, 0).astype(dtype)], spread(2, 3, 4, 5, 7, 8))
    add("eigvals", jnp.linalg.eigvals, check_values, one(numbers), spread(1, 3, (2, 5, 5), 8))
    add("schur", jsl.schur, check_schur, one(numbers), [*spread(1, 2, 3, 5, 8, 17), (F32, 8, 8), (F64, 17, 17), (F64, 40, 40), (C128, 40, 40)])
    add("schur complex", lambda x: jsl.schur(x, output="complex"), check_schur, one(numbers), spread(2, 5, 3, 4))
    add("hessenberg", lambda x: jsl.hessenberg(x, calc_q=True), check_hessenberg, one(numbers), spread(1, 3, 5, 8, (2, 4, 4), 17))
    add("tridiagonal", lax_linalg.tridiagonal, check_tridiagonal, one(hermitian), spread(1, 2, 5, 8, (2, 3, 3), 17))
    add("tridiagonal upper", lambda x: lax_linalg.tridiagonal(x, lower=False), check_tridiagonal, one(hermitian), spread(2, 5, 3, 4))
    add("tridiagonal_solve", lax_linalg.tridiagonal_solve, same(300),
        lambda rng, dtype, *s: [numbers(rng, dtype, *s), numbers(rng, dtype, *s) + dtype(4), numbers(rng, dtype, *s), numbers(rng, dtype, *s, 2)], [(F32, 1), (F64, 2), (C64, 3), (C128, 2, 5), (F64, 40)])
    add("tridiagonal_solve with exchanges", lax_linalg.tridiagonal_solve, same(3000),
        lambda rng, dtype, *s: [numbers(rng, dtype, *s), numbers(rng, dtype, *s) / 8, numbers(rng, dtype, *s), numbers(rng, dtype, *s, 2)], [(F64, 3), (C128, 4), (F64, 8)])
    add("householder_product", lambda x: lax_linalg.householder_product(*internal.geqrf(x)), lambda o, t, a: (orthogonal("q", o[0]), near("q", o[0], t()[0])), one(numbers), spread((5, 3), (4, 4), (2, 5, 2), (17, 8)))
    add("geqrf", internal.geqrf, same(), one(numbers), TALL)
    for left in (True, False):
        for transpose in (True, False):
            add(f"ormqr left={left} transpose={transpose}", lambda a, c, left=left, transpose=transpose: internal.ormqr(*internal.geqrf(a), c, left=left, transpose=transpose), same(),
                lambda rng, dtype, m, n, left=left: [numbers(rng, dtype, m, n), numbers(rng, dtype, *((m, 4) if left else (4, m)))], spread((5, 3), (3, 3), (5, 2), (8, 5)))
    add("lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], same(600), with_right(general, 2), spread((5, 3), (3, 5), 3, (8, 5)))
    add("pinv", jnp.linalg.pinv, same(600), one(general), spread((5, 3), (3, 5), (2, 3, 3), (8, 5)))
    add("cond and rank", lambda x: (jnp.linalg.cond(x), jnp.linalg.matrix_rank(x), jnp.linalg.norm(x, 2)), same(600), one(general), spread(3, 5, 2, 4))
    add("expm", jsl.expm, same(600), one(numbers), [(F64, 3, 3), (C64, 2, 2)])
    add("sqrtm", jsl.sqrtm, same(3000), one(positive), [(F32, 4, 4), (C128, 3, 3)])
    add("cho_solve", lambda a, b: jsl.cho_solve(jsl.cho_factor(a, lower=True), b), same(300), with_right(positive, 2), spread(1, 3, 5, 8))
    add("eigh_tridiagonal", lambda d, e: jsl.eigh_tridiagonal(d, e, eigvals_only=True), same(600), lambda rng, dtype, n: [numbers(rng, dtype, n), numbers(rng, dtype, n - 1)], [(F64, 8)])
    add("polar", lambda x: jsl.polar(x), same(3000), one(general), [(C128, 5, 3)])
    add("gradient of logdet", jax.grad(lambda x: jnp.linalg.slogdet(x)[1]), same(600), one(general), [(F32, 3, 3), (F64, 8, 8)])
    add("gradient of eigh", jax.grad(lambda x: jnp.sum(jnp.linalg.eigh(x)[0] ** 2)), same(3000), one(hermitian), [(F64, 4, 4)])
    add("gradient of cholesky", jax.grad(lambda x: jnp.sum(jnp.linalg.cholesky(x))), same(600), one(positive), [(F32, 3, 3), (F64, 5, 5)])
    add("vmap of solve", jax.vmap(jnp.linalg.solve), same(600), lambda rng, dtype, *s: [general(rng, dtype, *s), numbers(rng, dtype, *s[:-1])], spread((3, 4, 4), (2, 3, 3)))

    indefinite = lambda rng, dtype, *s: [positive(rng, dtype, *s) * np.where(np.arange(s[0]) == 1, -1, 1)[:, None, None].astype(dtype)]
    add("cholesky, one not positive", jnp.linalg.cholesky, same(), indefinite, spread((3, 4, 4), (2, 1, 1), (2, 3, 3), (3, 2, 2)))
    add("cholesky of zeros", jnp.linalg.cholesky, same(), lambda rng, dtype, *s: [np.zeros(s, dtype)], spread(1, 3, 2, 3))
    singular = lambda rng, dtype, n, _: [np.ones((n, n), dtype), np.arange(1, n + 1).astype(dtype)]
    add("solve singular", jnp.linalg.solve, not_finite, singular, spread(2, 3, 2, 3))
    add("det of singular", jnp.linalg.det, same(), lambda rng, dtype, n, _: [np.ones((n, n), dtype)], spread(1, 2, 3, 5))
    perturbed = lambda *args: lax_linalg.tridiagonal_solve(*args, perturb_singular=True)
    add("tridiagonal_solve perturbed", perturbed, same(300),
        lambda rng, dtype, *s: [numbers(rng, dtype, *s), numbers(rng, dtype, *s) + dtype(4), numbers(rng, dtype, *s), numbers(rng, dtype, *s, 2)], [(F32, 1), (F64, 2), (C64, 3), (C128, 2, 5), (F64, 40)])
    add("tridiagonal_solve perturbed with exchanges", perturbed, same(3000),
        lambda rng, dtype, *s: [numbers(rng, dtype, *s), numbers(rng, dtype, *s) / 8, numbers(rng, dtype, *s), numbers(rng, dtype, *s, 2)], [(F64, 3), (C128, 4), (F64, 8)])
    add("tridiagonal_solve perturbed singular", perturbed, same(100),
        lambda rng, dtype, n: [np.array([9, 1], dtype), np.array([1, 3], dtype), np.array([3, 9], dtype), np.array([[1, 2], [4, 5]], dtype)], [(F32, 2), (F64, 2)])
    add("tridiagonal_solve perturbed zero", perturbed, same(),
        lambda rng, dtype, n: [np.zeros(n, dtype)] * 3 + [np.ones((n, 1), dtype)], [(F32, 3), (F64, 3)])
    add("tridiagonal_solve singular", lax_linalg.tridiagonal_solve, same(), lambda rng, dtype, n: [np.zeros(n, dtype), np.array([1, 0, 3], dtype), np.zeros(n, dtype), np.ones((n, 1), dtype)], [(F32, 3), (C128, 3)])

    def nan(rng, dtype, *sizes):
        x = positive(rng, dtype, *sizes)
        x[..., 0, 0] = np.nan
        return [x]

    for name, function in (("cholesky", jnp.linalg.cholesky), ("svd", jnp.linalg.svd), ("eig", jnp.linalg.eig), ("inv", jnp.linalg.inv)):
        add(f"{name} of NaN", function, not_finite, nan, spread(2, 3, 3, 2))
    add("eigh of NaN", jnp.linalg.eigh, lambda o, t, a: near("all", np.isnan(o[0]).all() and np.isnan(o[1]).all(), True), nan, spread(2, 3, 3, 2))
    add("schur of NaN", jsl.schur, not_finite, nan, [(F64, 3, 3)])
    for scale in (1e-200, 1e200):
        tiny = lambda rng, dtype, *s, scale=scale: [(hermitian(rng, dtype, *s) * scale).astype(dtype)]
        add(f"eigh of {scale:g}", jnp.linalg.eigh, check_eigh, tiny, [(F64, 4, 4)])
        add(f"svd of {scale:g}", jnp.linalg.svd, check_svd, tiny, [(C128, 3, 3)])
        # At 1e200 the eigenvalues of XLA's LAPACK are wrong: ours are held against the matrix alone.
        add(f"eig of {scale:g}", jnp.linalg.eig, check_pairs, tiny, [(F64, 3, 3)])
        add(f"qr of {scale:g}", jnp.linalg.qr, check_qr, tiny, [(F64, 3, 3)])


def all_nan(ours, theirs, arguments):
    """Floats alone: info is a number."""
    for a in ours:
        if a.dtype.kind in "fc" and not np.isnan(a).all():
            raise Wrong(f"is\n{a}\nexpected NaN")


def large_cases():
    """Compiled programs compute large matrices by LAPACK: sizes around its thresholds (lapack.def), all types, both sides."""
    around = [(ALL[2 + n % 2], n, n) for n in (7, 8, 9, 10)]  # real ones of these sizes become code
    large = [(dtype, n, n) for dtype in ALL for n in (33, 70)] + [(F32, 3, 40, 40), (C128, 2, 2, 20, 20)]
    square = around + large
    long = [(dtype, *size) for dtype in ALL for size in ((50, 20), (20, 50), (300, 3), (3, 300), (2, 24, 16))]
    add("large cholesky", jnp.linalg.cholesky, same(), one(positive), square)
    add("large cholesky upper", lambda x: jnp.linalg.cholesky(x, upper=True), same(), one(positive), large)
    add("large solve", jnp.linalg.solve, same(300), with_right(general, 3), square)
    add("large solve of a vector", jnp.linalg.solve, same(300), with_right(general, 0), [r for r in square if len(r) == 3])
    add("large inv", jnp.linalg.inv, same(300), one(general), large)
    add("large lu", jsl.lu, check_lu, one(numbers), [r for r in square if len(r) == 3] + [(F32, 50, 20), (C64, 20, 50)])
    for trans in (0, 1, 2):
        for lower in (False, True):
            solve = lambda a, b, trans=trans, lower=lower: jsl.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=False)
            add(f"large solve_triangular trans={trans} lower={lower}", solve, same(300), with_right(general, 7), [(dtype, 30, 30) for dtype in ALL])
            unit = lambda a, b, trans=trans, lower=lower: jsl.solve_triangular(a / 40, b, trans=trans, lower=lower, unit_diagonal=True)
            add(f"large solve_triangular unit trans={trans} lower={lower}", unit, same(300), with_right(general, 7), [(ALL[trans + lower], 30, 30)])
            right = lambda a, b, trans=trans, lower=lower: lax_linalg.triangular_solve(a, b, left_side=False, lower=lower, transpose_a=trans > 0, conjugate_a=trans > 1)
            add(f"large triangular_solve on the right trans={trans} lower={lower}", right, same(300),
                lambda rng, dtype, *sizes: [general(rng, dtype, *sizes), numbers(rng, dtype, *sizes[:-2], 7, sizes[-1])], [(ALL[trans + lower], 30, 30), (C128, 2, 9, 9)])
    add("large qr", jnp.linalg.qr, check_qr, one(numbers), square + long)
    add("large qr complete", lambda x: jnp.linalg.qr(x, mode="complete"), check_qr, one(numbers), [r for r in long if 300 not in r])
    add("large qr pivoting", lambda x: jsl.qr(x, pivoting=True), check_pivoted_qr, one(numbers), [(dtype, *size) for dtype in ALL for size in ((50, 20), (20, 50), (8, 8), (7, 7))])
    add("large eigh", jnp.linalg.eigh, check_eigh, one(hermitian), square)
    add("large eigh upper", lambda x: jnp.linalg.eigh(x, UPLO="U", symmetrize_input=False), check_eigh, one(hermitian), large)
    add("large eigvalsh", jnp.linalg.eigvalsh, same(), one(hermitian), large)
    add("large svd", jnp.linalg.svd, check_svd, one(numbers), [r for r in square + long if 300 not in r])
    add("large svd reduced", lambda x: jnp.linalg.svd(x, full_matrices=False), check_svd, one(numbers), square + long)
    add("large svd by QR", lambda x: lax_linalg.svd(x, algorithm=lax_linalg.SvdAlgorithm.QR), check_svd, one(numbers), [(dtype, *size) for dtype in ALL for size in ((50, 20), (20, 50), (8, 8))])
    add("large svdvals", lambda x: jnp.linalg.svd(x, compute_uv=False), same(), one(numbers), long)
    add("large svd of rank 2", jnp.linalg.svd, check_svd, lambda rng, dtype, m, n: [numbers(rng, dtype, m, 2) @ numbers(rng, dtype, 2, n)], [(F32, 30, 20), (C128, 20, 30)])
    add("large eig left and right", lambda x: lax_linalg.eig(x), check_eig_both, one(numbers), square)
    add("large eig of a rotation", jnp.linalg.eig, check_eig, lambda rng, dtype, n, _: [np.roll(np.eye(n), 1, 0).astype(dtype)], [(dtype, n, n) for dtype in ALL for n in (8, 21)])
    add("large eigvals", jnp.linalg.eigvals, check_values, one(numbers), large)
    add("large schur", jsl.schur, check_schur, one(numbers), [r for r in square if len(r) == 3])
    add("large hessenberg", lambda x: jsl.hessenberg(x, calc_q=True), check_hessenberg, one(numbers), square)
    add("large tridiagonal", lax_linalg.tridiagonal, check_similar_tridiagonal, one(hermitian), large)
    add("large tridiagonal upper", lambda x: lax_linalg.tridiagonal(x, lower=False), check_similar_tridiagonal, one(hermitian), large)
    add("large tridiagonal, exact", lax_linalg.tridiagonal, check_tridiagonal, one(hermitian), around)
    add("large tridiagonal_solve", lax_linalg.tridiagonal_solve, same(300),
        lambda rng, dtype, *s: [numbers(rng, dtype, *s), numbers(rng, dtype, *s) + dtype(4), numbers(rng, dtype, *s), numbers(rng, dtype, *s, 2)], [(dtype, n) for dtype in ALL for n in (31, 32, 33, 500)])
    for left in (True, False):
        for transpose in (True, False):
            add(f"large ormqr left={left} transpose={transpose}", lambda a, c, left=left, transpose=transpose: internal.ormqr(*internal.geqrf(a), c, left=left, transpose=transpose), same(),
                lambda rng, dtype, m, n, left=left: [numbers(rng, dtype, m, n), numbers(rng, dtype, *((m, 9) if left else (9, m)))], [(dtype, 30, 12) for dtype in ALL])
    add("large householder_product", lambda x: lax_linalg.householder_product(*internal.geqrf(x)), lambda o, t, a: (orthogonal("q", o[0]), near("q", o[0], t()[0])), one(numbers), [(dtype, 40, 12) for dtype in ALL])
    add("large lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], same(600), with_right(general, 2), [(F32, 50, 20), (F64, 20, 50)])

    indefinite = lambda rng, dtype, *s: [positive(rng, dtype, *s) * np.where(np.arange(s[0]) == 1, -1, 1)[:, None, None].astype(dtype)]
    add("large cholesky, one not positive", jnp.linalg.cholesky, same(), indefinite, [(dtype, 3, 30, 30) for dtype in ALL])
    last = lambda rng, dtype, n, _: [np.diag(np.where(np.arange(n) == n - 1, -1, 1)).astype(dtype)]
    add("large cholesky, the last pivot negative", jnp.linalg.cholesky, same(), last, [(dtype, n, n) for dtype in ALL for n in (8, 40, 150)])
    add("large pivots of a singular matrix", lambda x: lax_linalg.lu(x)[1:], same(), lambda rng, dtype, n, _: [np.ones((n, n), dtype)], [(dtype, 20, 20) for dtype in ALL])
    singular = lambda rng, dtype, n, _: [np.ones((n, n), dtype), np.arange(1, n + 1).astype(dtype)]
    add("large solve singular", jnp.linalg.solve, not_finite, singular, [(dtype, 20, 20) for dtype in ALL])
    add("large det of singular", jnp.linalg.det, same(), lambda rng, dtype, n, _: [np.ones((n, n), dtype)], [(F32, 20, 20), (C128, 20, 20)])
    add("large svd of zeros", jnp.linalg.svd, check_svd, lambda rng, dtype, m, n: [np.zeros((m, n), dtype)], [(dtype, 20, 12) for dtype in ALL])
    add("large eigh of ones", jnp.linalg.eigh, check_eigh, lambda rng, dtype, *s: [np.ones(s, dtype)], [(dtype, 25, 25) for dtype in ALL])

    functions = {"cholesky": jnp.linalg.cholesky, "inv": jnp.linalg.inv, "svd": jnp.linalg.svd, "eig": jnp.linalg.eig, "eigh": jnp.linalg.eigh, "schur": jsl.schur,
                 "svd by QR": lambda x: lax_linalg.svd(x, algorithm=lax_linalg.SvdAlgorithm.QR), "qr": jnp.linalg.qr, "qr pivoting": lambda x: jsl.qr(x, pivoting=True), "lu": jsl.lu,
                 "hessenberg": lambda x: jsl.hessenberg(x, calc_q=True), "tridiagonal": lax_linalg.tridiagonal}
    for value in (np.nan, np.inf, -np.inf):
        for where in ((0, 0), (13, 4), (19, 19)):

            def bad(rng, dtype, *sizes, value=value, where=where):
                x = positive(rng, dtype, *sizes)
                x[(..., *where)] = x[(..., *where[::-1])] = value
                return [x]

            for name, function in functions.items():
                # What LAPACK does with infinities is not asked: it may not end.
                check = all_nan if name in ("svd", "eig", "eigh", "schur", "svd by QR") else not_finite if np.isnan(value) and name in ("cholesky", "inv", "qr") else lambda o, t, a: None
                add(f"large {name} of {value} at {where}", function, check, bad, [(ALL[where[1] % 4], 20, 20)])
    mixed = lambda rng, dtype, *s: [hermitian(rng, dtype, *s) * np.where(np.arange(s[0]) == 1, np.nan, 1)[:, None, None].astype(dtype)]

    def second_nan(ours, theirs, arguments):
        for a in ours:
            near("which are NaN", np.isnan(a).reshape(a.shape[0], -1).all(1), np.arange(a.shape[0]) == 1)

    for name in ("eigh", "svd", "eig"):
        add(f"large {name}, one of three NaN", functions[name], second_nan, mixed, [(dtype, 3, 16, 16) for dtype in ALL])
    for scale in (1e-200, 1e200):
        tiny = lambda rng, dtype, *s, scale=scale: [(hermitian(rng, dtype, *s) * scale).astype(dtype)]
        add(f"large eigh of {scale:g}", jnp.linalg.eigh, check_eigh, tiny, [(F64, 30, 30)])
        add(f"large svd of {scale:g}", jnp.linalg.svd, check_svd, tiny, [(C128, 30, 30)])


# ----------------------------------------------------------------------------------------------------------- running

passed, failed = 0, []


def case(name, complaint):
    global passed
    if complaint:
        failed.append(name)
        print(f"FAILED {name}: {complaint}")
    else:
        passed += 1


def lowered(function, arguments):
    """The HLO text with a tuple as its result, which a zero at its end makes sure of, and the results' shapes and types."""
    many = lambda *x: (*jax.tree.leaves(function(*x)), jnp.zeros(()))
    jitted = jax.jit(many)
    text = jitted.lower(*arguments).compiler_ir("hlo").as_hlo_text(True)
    return jitted, text, [np.zeros(o.shape, o.dtype) for o in jax.eval_shape(many, *arguments)]


def run_case(indim, name, function, arguments, check, targets):
    jitted, text, like = lowered(function, arguments)
    targets.update(re.findall(r'custom_call_target="([^"]*)"', text))
    kept = [a for a, used in zip(arguments, kept_arguments(text, arguments)) if used]
    theirs = functools.cache(lambda: [np.asarray(x) for x in jitted(*arguments)[:-1]])  # of infinities XLA is not asked
    for engine in ENGINES[-1:] if name.startswith("large") else ENGINES:
        try:
            ours = indim.run(text, kept, like, engine)[:-1]
            with np.errstate(all="ignore"):
                check(ours, theirs, arguments)
            case(f"{name} ({engine})", "")
        except (IndimError, Wrong) as error:
            case(f"{name} ({engine})", str(error))


def kept_arguments(text, arguments):
    """JAX leaves out the parameters that nothing uses; none of these programs has any."""
    count = len(re.findall(r" parameter\(\d+\)", text.split("ENTRY", 1)[1]))
    if count != len(arguments):
        raise AssertionError(f"{count} parameters for {len(arguments)} arguments")
    return [True] * count


# --------------------------------------------------------------------------------------------------------------- ops


def op_text(line, dtype, *shapes):
    names = [f"{NAMES[dtype]}[{','.join(map(str, s))}]" for s in shapes]
    lines = [f"  p{i} = {s} parameter({i})" for i, s in enumerate(names)]
    return "\n".join(["HloModule m", "ENTRY e {", *lines, f"  x = {names[-1]} {line}", f"  ROOT r = ({names[-1]}) tuple(x)", "}"])


def op_case(indim, xla, name, text, arguments, check):
    try:
        theirs = xla.ask("run", text, [arguments])[0]
    except Refused as error:
        case(name, str(error))
        return
    for engine in ENGINES:
        try:
            check(indim.run(text, arguments, theirs, engine), theirs)
            case(f"{name} ({engine})", "")
        except (IndimError, Wrong) as error:
            case(f"{name} ({engine})", str(error))


def all_near(ours, theirs):
    for a, b in zip(ours, theirs):
        near("result", a, b, 300)


def op_cases(indim, chosen):
    xla = Xla()
    for number, (dtype, *sizes) in enumerate(spread((0, 0), (1, 1), (2, 3, 3), (5, 5), (8, 8), (2, 2, 2, 2), (17, 17), (2, 0, 0))):
        lower = ("true", "false")[number % 2]
        name = f"op cholesky {NAMES[dtype]}{sizes} lower={lower}"
        if chosen in name:
            a = positive(random_of(name), dtype, *sizes)
            op_case(indim, xla, name, op_text(f"cholesky(p0), lower={lower}", dtype, sizes), [a], all_near)
    a = positive(random_of("none"), F32, 4, 3, 3)
    a[1, 1, 1], a[2, 2, 1], a[3, 0, 0] = -1, np.nan, 0
    for lower in ("true", "false"):
        op_case(indim, xla, f"op cholesky, no factor, lower={lower}", op_text(f"cholesky(p0), lower={lower}", F32, a.shape), [a if lower == "true" else np.swapaxes(a, 1, 2).copy()], all_near)
    number = 0
    for left in ("true", "false"):
        for lower in ("true", "false"):
            for unit in ("true", "false"):
                for trans in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
                    dtype = ALL[number % 4]
                    number += 1
                    line = f"triangular-solve(p0, p1), left_side={left}, lower={lower}, unit_diagonal={unit}, transpose_a={trans}"
                    if chosen not in f"op {line}":
                        continue
                    rng = random_of(line)
                    a = general(rng, dtype, 2, 3, 3) if unit == "false" else numbers(rng, dtype, 2, 3, 3)
                    b = numbers(rng, dtype, *((2, 3, 4) if left == "true" else (2, 4, 3)))
                    op_case(indim, xla, f"op {line}", op_text(line, dtype, a.shape, b.shape), [a, b], all_near)
    line = "triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"
    a, b = np.array([[1, 0], [2, 0]], F32), np.ones((2, 2), F32)

    def same_rows(ours, theirs):
        near("which elements are finite", np.isfinite(ours[0]), np.isfinite(theirs[0]))

    op_case(indim, xla, "op triangular-solve, singular", op_text(line, F32, a.shape, b.shape), [a, b], same_rows)


def documentation_cases():
    """docs/linalg.md has a row for each target."""
    page = (LIBRARY / "docs/linalg.md").read_text()
    rows = re.findall(r'^INDIM_LINALG\(\w+, "(\w+)", "(\w+)"', (LIBRARY / "src/linalg/linalg.def").read_text(), re.M)
    for routine, types in rows:
        case(f"docs/linalg.md tells of {routine}", "" if re.search(rf"^\| `{routine}` \| {types} \|", page, re.M) else "no row")


def main():
    words = [a for a in sys.argv[1:] if a != "-v"]
    chosen = words[0] if words else ""
    indim = Indim(os.environ["INDIM_LIB"])
    targets = set()
    cases()
    large_cases()
    for name, function, arguments, check in sampled(CASES):
        start = time.time()
        if chosen in name:
            run_case(indim, name, function, arguments, check, targets)
            if "-v" in sys.argv:
                print(f"{name}: {time.time() - start:.2f} s")
    op_cases(indim, chosen)
    documentation_cases()
    print(f"{len(CASES)} programs, {len(targets)} custom call targets")
    print(f"{passed} passed, {len(failed)} failed")
    return bool(failed) or not passed


if __name__ == "__main__":
    sys.exit(main())
