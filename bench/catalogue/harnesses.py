"""JAX's own harnesses, uses of each of its primitives: of every group the one with the largest arguments.

Of several as large it is one of f32, else the last by name: JAX defines many in the order of a set of types, which is
another in each process, and the backends' processes must choose the same.
"""

import zlib

import numpy as np
from row import ROWS, TOLERANCE, Row


def register():
    import jax

    np.random.seed(0)  # the module below draws some arguments when it is imported
    from jax._src.internal_test_util import test_harnesses

    largest = {}
    for harness in test_harnesses.all_harnesses:
        if not harness.filter("cpu"):
            continue
        try:
            size = sum(int(np.prod(np.shape(a))) for a in jax.tree.leaves(arguments_of(harness)))
        except Exception:  # a recipe that needs several devices, or 64 bits
            continue
        rank = (size, harness.dtype == np.float32, harness.fullname)
        found = largest.get(harness.group_name)
        if found is None or rank > found[0]:
            largest[harness.group_name] = (rank, harness)
    for group, (_, harness) in sorted(largest.items()):
        free = group in ("eig", "eigh", "svd", "qr", "schur", "hessenberg", "tridiagonal", "householder_product", "lu")
        ROWS[f"harness.{group}"] = Row(
            harness.fullname,
            harness.dyn_fun,
            lambda harness=harness: tuple(arguments_of(harness)),
            None if free else TOLERANCE,
        )


def arguments_of(harness):
    return harness.dyn_args_maker(np.random.RandomState(zlib.crc32(harness.fullname.encode())))


register()
