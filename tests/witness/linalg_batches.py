"""Linear algebra of compiled programs against the evaluator: batches and layouts that meet the lanes in every way (fewer
matrices than lanes, remainders, several dimensions, strides that do not merge), sizes from 0 to where code gives way to the
host's lanes, and matrices without a factor, singular, zero, huge, tiny, NaN and infinite, side by side in one batch.

    INDIM_LIB=.../libindim.so python tests/witness/linalg_batches.py [NAME PART]
"""

import os
import sys
import zlib

import numpy as np

from _sample import sampled
from eval_xla import Indim, IndimError

F32, F64, C64, C128 = np.float32, np.float64, np.complex64, np.complex128
NAMES = {F32: "f32", F64: "f64", C64: "c64", C128: "c128"}
LETTERS = {F32: "s", F64: "d", C64: "c", C128: "z"}
REALS = {F32: F32, F64: F64, C64: F32, C128: F64}
BATCHES = [(), (1,), (2,), (3,), (5,), (8,), (9,), (17,), (33,), (3, 5), (2, 4, 3)]
passed, failed = 0, []


def shape_of(name, sizes, order=None):
    text = f"{name}[{','.join(map(str, sizes))}]"
    return text if order is None or not sizes else text + "{" + ",".join(map(str, order)) + "}"


def orders(rank, matrix_rank):
    """Minor-to-major: row-major, matrices by columns, the batch most minor, the batch's dimensions the other way round."""
    rows = list(reversed(range(rank)))
    batch = rank - matrix_rank
    columns = rows if matrix_rank < 2 else [rank - 2, rank - 1, *rows[2:]]
    return {"rows": rows, "columns": columns, "batch": [*range(batch), *reversed(range(batch, rank))],
            "swapped": [*rows[:matrix_rank], *range(batch)]}


def call(target, operands, results, config, layout):
    """An HLO text: |operands| and |results| are (type, batch, matrix sizes); parameters have the layout of that name."""
    is_op = target in ("cholesky", "triangular-solve")

    def text(array, layout="rows" if is_op else "columns"):
        name, batch, sizes = array
        full = (*batch, *sizes)
        return shape_of(name, full, orders(len(full), len(sizes))[layout])
    columns = [text(o) for o in operands]
    lines = [f"  p{i} = {text(o, layout)} parameter({i})" for i, o in enumerate(operands)]
    many = len(results) > 1
    result = ", ".join(map(text, results))
    names = ", ".join(f"p{i}" for i in range(len(operands)))
    if is_op:
        lines.append(f"  r = {result} {target}({names}), {config}")
    else:
        result = f"({result})" if many else result
        lines.append(f"  r = {result} custom-call({names}), custom_call_target=\"{target}\", "
                     f"operand_layout_constraints={{{', '.join(columns)}}}, api_version=API_VERSION_TYPED_FFI, "
                     f"backend_config={{{config}}}")
    if many:
        for i, r in enumerate(results):
            lines.append(f"  r{i} = {text(r)} get-tuple-element(r), index={i}")
        lines.append(f"  ROOT out = tuple({', '.join(f'r{i}' for i in range(len(results)))})")
    else:
        lines.append("  ROOT out = tuple(r)")
    return "HloModule m\n\nENTRY e {\n" + "\n".join(lines) + "\n}\n"


def plain(rng, dtype, shape):
    a = rng.standard_normal(shape)
    return (a + 1j * rng.standard_normal(shape) if np.issubdtype(dtype, np.complexfloating) else a).astype(dtype)


def matrices(rng, dtype, batch, m, n, kind):
    a = plain(rng, np.result_type(dtype, F64), (*batch, m, n))
    if kind == "positive":
        a = a @ np.swapaxes(a, -1, -2).conj() + 0.5 * np.eye(m)
    elif kind == "symmetric":
        a = a + np.swapaxes(a, -1, -2).conj()
    elif kind == "triangular":
        a = a + 3 * np.eye(m, n)
    elif kind == "rotating":  # its steps have no shift that changes it
        a = np.broadcast_to(np.roll(np.eye(m), 1, axis=0), a.shape) + (a * 1e-3 if m % 2 == 0 else 0)
    elif kind == "repeated":  # pairs of complex values, all the same, coupled or not, of any size
        blocks = np.kron(np.eye((m + 1) // 2), [[0, 1], [-1, 0]])[:m, :m] * 10.0 ** rng.integers(-12, 1, (*batch, 1, 1))
        a = blocks + np.triu(rng.integers(-1, 2, (*batch, m, m)), 2) * (np.arange(m) // 2 != np.arange(m)[:, None] // 2)
    flat = a.reshape(int(np.prod(batch)), m, n).copy()
    if m > 0 and n > 0:
        special = [lambda x: x * 0, lambda x: np.ones_like(x), lambda x: x * (1e30 if REALS[dtype] == F32 else 1e250),
                   lambda x: x * (1e-30 if REALS[dtype] == F32 else 1e-250), lambda x: np.where(np.eye(m, n) > 0, -x, x),
                   lambda x: x * np.nan, lambda x: np.outer(x[:, 0], x[0])]
        if kind in ("pivoted", "positive"):  # rounding errors do not choose between rows, nor whether there is a factor
            special = [special[i] for i in ((0, 2, 3, 5) if kind == "pivoted" else (0, 2, 3, 4, 5))]
        for i in range(2, len(flat), 3):
            flat[i] = special[(i // 3) % len(special)](flat[i])
    return flat.reshape(a.shape).astype(dtype)


def wide(a):
    return a.astype(np.complex128 if np.iscomplexobj(a) else np.float64)


def near(ours, theirs, dtype, times):
    """|theirs| is the evaluator's; NaN and infinite alike, else within eps times the largest of its matrix."""
    ours, theirs = wide(ours), wide(theirs)
    if np.iscomplexobj(theirs):
        ours, theirs = (np.concatenate((x.real, x.imag), -1) for x in map(np.atleast_1d, (ours, theirs)))
    finite = np.isfinite(theirs)
    if ours.size == 0:
        return ""
    axes = tuple(range(max(0, ours.ndim - 2), ours.ndim))
    scale = np.max(np.where(finite, abs(theirs), 0), axis=axes, keepdims=True)
    bad = np.where(finite, ~(abs(ours - np.where(finite, theirs, 0)) <= times * np.finfo(dtype).eps * scale + np.finfo(dtype).tiny * 64),
                   np.isfinite(ours))
    if not bad.any():
        return ""
    at = tuple(int(i[0]) for i in np.nonzero(bad))
    return f"at {at}: {ours[at]}, expected {theirs[at]}"


def same(index, times):
    return lambda a, ours, theirs, dtype: near(ours[index], theirs[index], dtype, times)


def equal(index):
    return lambda a, ours, theirs, dtype: "" if (ours[index] == theirs[index]).all() else f"{ours[index]}, expected {theirs[index]}"


def where_finite(check):
    """Of matrices with a NaN any row may be the pivot, and libraries skip zeros."""
    def checked(a, ours, theirs, dtype):
        finite = np.isfinite(a[0]).all(axis=(-1, -2))
        ours, theirs = ([x * 0 if not finite.any() else x[finite] for x in arrays] for arrays in (ours, theirs))
        return check(a, ours, theirs, dtype)
    return checked


def product(left, middle, right, lower):
    """left diag(middle) right is the matrix, where it is finite."""
    def check(a, ours, theirs, dtype):
        with np.errstate(all="ignore"):
            a = wide(a[0])
            if lower is not None:
                half = np.tril(a, -1) if lower else np.swapaxes(np.triu(a, 1), -1, -2).conj()
                a = half + np.swapaxes(half, -1, -2).conj() + np.eye(a.shape[-1]) * np.diagonal(a, axis1=-2, axis2=-1).real[..., None, :]
            u, s = wide(ours[left]), wide(ours[middle])
            vt = np.swapaxes(u, -1, -2).conj() if right is None else wide(ours[right])
            k = s.shape[-1]
            got = (u[..., :, :k] * s[..., None, :]) @ vt[..., :k, :]
            got = np.where(np.isfinite(a).all(axis=(-1, -2), keepdims=True), got, np.nan)
            a = np.where(np.isfinite(a).all(axis=(-1, -2), keepdims=True), a, np.nan)
            complaint = near(got, a, dtype, 60 * max(1, k))
            for q in (u, np.swapaxes(vt, -1, -2).conj()):
                unit = np.swapaxes(q, -1, -2).conj() @ q
                unit = np.where(np.isfinite(a).all(axis=(-1, -2), keepdims=True), unit, np.eye(q.shape[-1]))
                complaint = complaint or near(unit, np.broadcast_to(np.eye(q.shape[-1]), unit.shape), dtype, 60 * max(1, k))
            return complaint
    return check


def eigenpairs(values, vectors, info):
    """Left and right vectors of length 1 are the finite matrix's with these values, whose sum is its trace."""
    def check(a, ours, theirs, dtype):
        if (ours[info] != theirs[info]).any():
            return f"{ours[info]}, expected {theirs[info]}"
        a = wide(a[0]).astype(np.complex128)
        n = a.shape[-1]
        found = ours[values] + 1j * ours[values + 1] if values + 2 == vectors else ours[values]
        finite = np.isfinite(a).all(axis=(-1, -2))
        if np.isfinite(found).any(axis=-1)[~finite].any() or not np.isfinite(found[finite]).all():
            return f"{found}"
        if n == 0 or not finite.any():
            return ""
        a, found = a[finite], found[finite].astype(np.complex128)
        a /= (size := np.maximum(abs(a).max(axis=(-1, -2), keepdims=True), np.finfo(dtype).tiny))
        found /= size[..., 0]
        limit = 60 * n * np.finfo(dtype).eps
        worst = [abs(np.trace(a, axis1=-2, axis2=-1) - found.sum(-1)).max()]
        for left in (True, False):
            v = ours[vectors if left else vectors + 1][finite].astype(np.complex128)
            b, value = (np.swapaxes(a, -1, -2).conj(), found.conj()) if left else (a, found)
            worst += [abs(b @ v - v * value[..., None, :]).max(), abs(np.linalg.norm(v, axis=-2) - 1).max()]
        if values + 2 == vectors:
            pairs = found.imag > 0
            worst.append(abs(np.where(pairs[..., :-1], found[..., :-1].conj() - found[..., 1:], 0)).max(initial=0))
        return "" if max(worst) <= limit else f"{worst}, expected less than {limit}"
    return check


def cases():
    """(name, dtype, batch -> (target, operands, results, config, arrays' kinds), checks)"""
    for dtype in NAMES:
        t, l, r = NAMES[dtype], LETTERS[dtype], NAMES[REALS[dtype]]
        eigen, of_q = ("syevd", "or") if dtype in (F32, F64) else ("heevd", "un")
        for n in (0, 1, 2, 3, 4, 5, 8, 12, 16, 20, 33):
            for lower in (True, False):
                up = 76 if lower else 85
                yield (f"cholesky {t} {n} {lower}", dtype, "cholesky", [(t, (n, n), "positive")], [(t, (n, n))],
                       f"lower={str(lower).lower()}", [same(0, 400)])
                yield (f"potrf {t} {n} {lower}", dtype, f"lapack_{l}potrf_ffi", [(t, (n, n), "positive")],
                       [(t, (n, n)), ("s32", ())], f"uplo = {up} : ui8", [equal(1)])
                if n not in (0, 4):
                    yield (f"{eigen} {t} {n} {lower}", dtype, f"lapack_{l}{eigen}_ffi", [(t, (n, n), "symmetric")],
                           [(t, (n, n)), (r, (n,)), ("s32", ())], f"mode = 86 : ui8, uplo = {up} : ui8",
                           [product(0, 1, None, lower), same(1, 60 * n), equal(2)])
        for n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 33):
            is_real = dtype in (F32, F64)
            parts = [(t, (n,)), (t, (n,))] if is_real else [(t, (n,))]
            c = {"f32": "c64", "f64": "c128"}.get(t, t)
            for kind in ("general", "symmetric", "triangular", "rotating", "repeated"):
                yield (f"geev {t} {n} {kind}", dtype, f"lapack_{l}geev_ffi", [(t, (n, n), kind)],
                       [*parts, (c, (n, n)), (c, (n, n)), ("s32", ())], "compute_left = 86 : ui8, compute_right = 86 : ui8",
                       [eigenpairs(0, len(parts), len(parts) + 2)])
            for left, right in ((78, 78), (86, 78), (78, 86)):
                yield (f"geev {t} {n} {left} {right}", dtype, f"lapack_{l}geev_ffi", [(t, (n, n), "general")],
                       [*parts, (c, (n, n)), (c, (n, n)), ("s32", ())],
                       f"compute_left = {left} : ui8, compute_right = {right} : ui8",
                       [equal(len(parts) + i) for i, wants in enumerate((left, right)) if wants == 78] + [equal(len(parts) + 2)])
        for m, n in ((1, 1), (2, 2), (3, 3), (4, 4), (3, 5), (5, 3), (8, 8), (2, 9), (12, 12), (16, 16), (21, 11),
                     (10, 19), (34, 34)):
            k = min(m, n)
            yield (f"getrf {t} {m}x{n}", dtype, f"lapack_{l}getrf_ffi", [(t, (m, n), "pivoted")],
                   [(t, (m, n)), ("s32", (k,)), ("s32", ())], "",
                   [where_finite(equal(1)), where_finite(equal(2)), where_finite(same(0, 4000))])
            yield (f"geqrf {t} {m}x{n}", dtype, f"lapack_{l}geqrf_ffi", [(t, (m, n), "pivoted")],
                   [(t, (m, n)), (t, (k,))], "", [])
            if m >= n:
                yield (f"{of_q}gqr {t} {m}x{n}", dtype, f"lapack_{l}{of_q}gqr_ffi",
                       [(t, (m, n), "plain"), (t, (n,), "plain")], [(t, (m, n))], "", [where_finite(same(0, 4000))])
            for left, transpose in (("true", "false"), ("true", "true"), ("false", "false"), ("false", "true")):
                y = (m, 5) if left == "true" else (3, m)
                yield (f"{of_q}mqr {t} {m}x{n} {left} {transpose}", dtype, f"lapack_{l}{of_q}mqr_ffi",
                       [(t, (m, k), "plain"), (t, (k,), "plain"), (t, y, "plain")], [(t, y)],
                       f"left = {left}, transpose = {transpose}", [where_finite(same(0, 4000))])
            for name in ("gesdd", "gesvd"):
                yield (f"{name} {t} {m}x{n} 78", dtype, f"lapack_{l}{name}_ffi", [(t, (m, n), "general")],
                       [(t, (m, n)), (r, (k,)), (t, (m, k)), (t, (k, n)), ("s32", ())], "mode = 78 : ui8",
                       [same(1, 60 * k), equal(2), equal(3), equal(4)])
            for mode, p, q in ((65, m, n), (83, k, k)):
                if m * n <= 256:
                    for name in ("gesdd", "gesvd"):
                        yield (f"{name} {t} {m}x{n} {mode}", dtype, f"lapack_{l}{name}_ffi", [(t, (m, n), "general")],
                               [(t, (m, n)), (r, (k,)), (t, (m, p)), (t, (q, n)), ("s32", ())], f"mode = {mode} : ui8",
                               [product(2, 1, 3, None), same(1, 60 * k), equal(4)])
        for m, n, number in ((1, 1, 0), (3, 2, 1), (4, 4, 2), (2, 5, 3), (8, 1, 4), (1, 8, 5), (6, 7, 6), (16, 3, 7),
                             (17, 20, 8), (20, 17, 9), (33, 18, 10), (18, 33, 11), (20, 20, 12), (9, 35, 13), (35, 9, 14), (20, 1, 15)):
            side, uplo, trans, diag = "LR"[number & 1], "LU"[number >> 1 & 1], "NTC"[number % 3], "NU"[number >> 2 & 1]
            s = m if side == "L" else n
            yield (f"trsm {t} {m}x{n} {side}{uplo}{trans}{diag}", dtype, f"lapack_{l}trsm_ffi",
                   [(t, (s, s), "triangular"), (t, (m, n), "general")], [(t, (m, n))],
                   f"side = {ord(side)} : ui8, uplo = {ord(uplo)} : ui8, trans_x = {ord(trans)} : ui8, diag = {ord(diag)} : ui8", [])


def run_one(indim, name, dtype, target, operands, results, config, checks, batch, layout):
    global passed
    rng = np.random.default_rng(zlib.crc32(f"{name} {batch}".encode()))
    text = call(target, [(t, batch, s) for t, s, _ in operands], [(t, batch, s) for t, s in results], config, layout)
    arrays = [plain(rng, dtype, (*batch, *s)) if kind == "plain" else matrices(rng, dtype, batch, *s, kind)
              for _, s, kind in operands]
    types = {"s32": np.int32, "c64": C64, "c128": C128, NAMES[dtype]: dtype, NAMES[REALS[dtype]]: REALS[dtype]}
    like = [np.zeros((*batch, *s), types[t]) for t, s in results]
    where = f"{name} batch {batch} {layout}"
    try:
        with np.errstate(all="ignore"):
            theirs, ours = indim.run(text, arrays, like, "eval"), indim.run(text, arrays, like, "compile")
            complaints = [c for check in (checks or [same(i, 4000) for i in range(len(like))])
                          if (c := check(arrays, ours, theirs, dtype))]
    except IndimError as error:
        complaints = [str(error)]
    if complaints:
        failed.append(where)
        print(f"FAILED {where}: {complaints[0][:300]}")
    else:
        passed += 1


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    indim = Indim(os.environ["INDIM_LIB"])
    for number, (name, *row) in sampled(enumerate(cases())):
        if only not in name:
            continue
        for i in range(11 if only else 2):  # two of eleven batches for each case, others for the next
            batch = BATCHES[(number * 2 + i) % len(BATCHES)]
            layout = ("rows", "columns", "batch", "swapped")[(number // 2 + i) % 4]
            run_one(indim, name, *row, batch, layout)
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
