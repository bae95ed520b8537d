"""Results that have more than one right value.

Factors of matrices are multiplied and held against the matrix, since signs, phases and orders are free; what has one
value (singular values, eigenvalues but for their order) is compared with XLA's. Distances are in ulp of the largest
element, and may grow with the size of the matrix. Sorts that need not keep the order of equals: the same keys, and the
same elements beside each key.
"""

import numpy as np

LIMIT = 30  # ulp of the largest element, for each row or column of the matrix


class Wrong(Exception):
    """What differs, and by how many ulp where that can be said."""

    def __init__(self, message, far=None):
        super().__init__(message)
        self.far = far


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def apart(what, ours, expected, size=None, limit=LIMIT):
    """The distance in ulp of |size| (or of the largest element expected), for each row; Wrong if that is too much."""
    if ours.shape != expected.shape:
        raise Wrong(f"{what} is {list(ours.shape)}, expected {list(expected.shape)}")
    if ours.size == 0:
        return 0.0
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    with np.errstate(invalid="ignore"):
        far = np.abs(ours.astype(wide) - expected.astype(wide))
    far = np.max(np.where((ours == expected) | (np.isnan(ours) & np.isnan(expected)), 0, far))
    size = np.max(np.abs(expected)) if size is None else np.max(np.abs(size))
    ulp = np.finfo(ours.dtype).eps * max(float(size), float(np.finfo(ours.dtype).tiny)) * max(*ours.shape[-2:], 1)
    if not far / ulp <= limit:
        raise Wrong(f"{what} is {far / ulp:.3g} ulp away, {limit} allowed", float(far / ulp))
    return float(far / ulp)


def wide(*arrays):
    return [x.astype(np.complex128 if x.dtype.kind == "c" else np.float64) for x in arrays]


def product(what, factors, expected, size=None):
    """The factors, multiplied in double precision, are |expected|."""
    result = wide(factors[0])[0]
    for factor in factors[1:]:
        result = result @ wide(factor)[0]
    return apart(what, result.astype(expected.dtype), expected, size)


def orthonormal(what, q):
    one = np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], q.shape[-1], q.shape[-1]))
    return product(f"{what}^H {what}", [adjoint(q), q], one)


def triangular(what, x):
    if not np.array_equal(x, np.triu(x)):
        raise Wrong(f"{what} is not triangular")
    return 0.0


def qr(harness, ours, theirs, arguments):
    q, r = ours
    return max(orthonormal("q", q), triangular("r", r), product("q r", [q, r], arguments[0]))


def eigh(harness, ours, theirs, arguments):
    v, values = ours
    a = arguments[0]
    right = wide(v)[0] * wide(values)[0][..., None, :]
    far = apart("values", values, theirs[1])
    return max(far, orthonormal("v", v), product("a v", [a, v], right.astype(a.dtype), a))


def svd(harness, ours, theirs, arguments):
    s = ours[0]
    far = apart("s", s, theirs[0])
    if len(ours) == 1:
        return far
    u, vt = ours[1:]
    k = s.shape[-1]
    us = (wide(u)[0][..., :k] * wide(s)[0][..., None, :]).astype(u.dtype)
    far = max(far, product("u s vt", [us, vt[..., :k, :]], arguments[0]))
    return max(far, orthonormal("u", u), orthonormal("v", adjoint(vt)))


def matched(ours, theirs, size):
    """The same numbers in any order."""
    found = np.empty_like(ours)
    for one in np.ndindex(ours.shape[:-1]):
        left = list(ours[one])
        for i, value in enumerate(theirs[one]):
            found[one][i] = left.pop(min(range(len(left)), key=lambda k: abs(left[k] - value)))
    return apart("values", found, theirs, size)


def eig(harness, ours, theirs, arguments):
    values, vectors = ours[0], list(ours[1:])
    a = arguments[0].astype(values.dtype)
    if a.size == 0:
        return 0.0
    far = matched(values, theirs[0], a)
    if harness.params["compute_left_eigenvectors"]:
        left = vectors.pop(0)
        far = max(far, product("u^H a", [adjoint(left), a], (values[..., None] * adjoint(left)).astype(a.dtype), a))
    if harness.params["compute_right_eigenvectors"]:
        right = vectors.pop(0)
        far = max(far, product("a v", [a, right], (right * values[..., None, :]).astype(a.dtype), a))
    return far


def lu(harness, ours, theirs, arguments):
    if not all(np.array_equal(a, b) for a, b in zip(ours[1:], theirs[1:])):
        raise Wrong("the rows are in another order")
    return apart("lu", ours[0], theirs[0])


def cholesky(harness, ours, theirs, arguments):
    """The primitive leaves what is above the diagonal as it was."""
    factor = np.tril(ours[0])
    if not np.array_equal(ours[0] - factor, theirs[0] - np.tril(theirs[0])):
        raise Wrong("what is above the diagonal differs")
    return product("l l^H", [factor, adjoint(factor)], arguments[0])


# ------------------------------------------------------------------------------------------------- orders of equals


def columns(arrays, dim):
    """For each place but for dimension |dim|, along which the arrays are sorted: rows of an element of each array."""
    flat = [np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1) for x in arrays]
    return [list(zip(*(x[:, i].tolist() for x in flat))) for i in range(flat[0].shape[1])]


def sort(harness, ours, theirs, arguments):
    keys = len(ours) if harness.params["is_stable"] else harness.params["num_keys"]
    dim = harness.params["dimension"]
    for a, b in zip(columns(ours, dim), columns(theirs, dim)):
        if repr([row[:keys] for row in a]) != repr([row[:keys] for row in b]):
            raise Wrong("the keys are in another order")
        if sorted(map(repr, a)) != sorted(map(repr, b)):
            raise Wrong("other elements stand beside the keys")
    return 0.0


def approx_top_k(harness, ours, theirs, arguments):
    """The values in order; each place is another one, where that value is."""
    values, places = ours
    if not np.array_equal(values, theirs[0]):
        raise Wrong("other values are chosen")
    if not np.array_equal(np.take_along_axis(arguments[0], places.astype(np.int64), -1), values):
        raise Wrong("a value is not at its place")
    if any(len(set(row)) < len(row) for row in places.reshape(-1, places.shape[-1]).tolist()):
        raise Wrong("a place is chosen twice")
    return 0.0


FREE = {f.__name__: f for f in (qr, eigh, svd, eig, lu, cholesky, sort, approx_top_k)}  # by the group's name
