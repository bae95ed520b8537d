#!/usr/bin/env python3
"""Programs over dynamic dimensions (f32[<=6]), evaluated, compiled and run by XLA on the CPU with all sizes: as many elements, and
those equal.

What is behind the elements that count is compared nowhere. Left out, because XLA:CPU does otherwise than with arrays of those
sizes: reductions from a value that is no identity (it is added once for each element that is missing), windows over padding, a
dimension that a reshape splits in several, sizes outside of 0 to the bound.

    INDIM_LIB=.../libindim.so python tests/witness/dynamic.py
"""

import itertools
import os
import sys

import numpy as np

from _xla import Aborted, Refused, Xla
from eval_xla import Indim, IndimError

HEAD = """HloModule dynamic

add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] maximum(a, b) }
later { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
  g = pred[] compare(a, b), direction=GT c = f32[] select(g, a, b) k = s32[] select(g, i, j) ROOT t = (f32[], s32[]) tuple(c, k) }
less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }

ENTRY e {
  x = f32[6] parameter(0)
  y = f32[6] parameter(1)
  w = f32[6,4] parameter(2)
  n = s32[] parameter(3)
  m = s32[] parameter(4)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  low = f32[] constant(-inf)
  i = s32[] constant(1)
  j = s32[] constant(0)
  d = f32[<=6] set-dimension-size(x, n), dimensions={0}
  e = f32[<=6] set-dimension-size(y, m), dimensions={0}
  v = f32[<=6,4] set-dimension-size(w, n), dimensions={0}
  u = f32[6,<=4] set-dimension-size(w, m), dimensions={1}
  rows = s32[3] constant({4, 0, 2})
  three = f32[3] constant({7, 8, 9})
  places = s32[6] constant({5, 2, 3, 0, 1, 4})
  some = s32[<=6] set-dimension-size(places, n), dimensions={0}
  number = s32[6] iota(), iota_dimension=0
  none = s32[] constant(-1)
  image = f32[<=6,4,1] reshape(v)
  kernel = f32[2,1,2] constant({{{1, 2}}, {{3, 4}}})
  turned = f32[4,<=6] transpose(v), dimensions={1,0}
  deep = f32[1,4,<=6] reshape(turned)
  both = f32[12] concatenate(x, y), dimensions={0}
  mixing = f32[1,6,2] reshape(both)
"""

# The result's bounds, which of them are dynamic, and how it is computed.
CASES = [
    ([6], [0], "negate(d)"),
    ([6], [0], "add(d, e)"),
    ([6], [0], "multiply(d, y)"),
    ([6], [0], "subtract(y, d)"),
    ([6], [0], "clamp(zero, d, one)"),
    ([6], [0], "copy(d)"),
    ([4], [0], "slice(d), slice={[0:4]}"),
    ([5], [0], "slice(d), slice={[0:5]}"),
    ([3, 4], [0], "slice(v), slice={[0:6:2], [0:4]}"),
    ([6, 2], [0], "slice(v), slice={[0:6], [1:3]}"),
    ([24], [0], "reshape(v)"),
    ([24], [0], "reshape(u)"),
    ([1, 6], [1], "reshape(d)"),
    ([4, 6], [1], "transpose(v), dimensions={1,0}"),
    ([4, 6], [0], "transpose(u), dimensions={1,0}"),
    ([12], [0], "concatenate(d, e), dimensions={0}"),
    ([12], [0], "concatenate(y, d), dimensions={0}"),
    ([12, 4], [0], "concatenate(v, w), dimensions={0}"),
    ([6, 8], [0], "concatenate(v, v), dimensions={1}"),
    ([9], [0], "pad(d, one), padding=1_2"),
    ([6, 7], [0], "pad(v, one), padding=0_0x1_2"),
    ([2, 6], [1], "broadcast(d), dimensions={1}"),
    ([6], [0], "reverse(d), dimensions={0}"),
    ([6, 4], [0], "reverse(v), dimensions={1}"),
    ([6], [0], "sort(d), dimensions={0}, to_apply=less"),
    ([], [], "reduce(d, zero), dimensions={0}, to_apply=add"),
    ([], [], "reduce(d, low), dimensions={0}, to_apply=largest"),
    ([4], [], "reduce(v, zero), dimensions={0}, to_apply=add"),
    ([6], [0], "reduce(v, zero), dimensions={1}, to_apply=add"),
    ([], [], "reduce(u, zero), dimensions={0,1}, to_apply=add"),
    ([], [], "dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    ([], [], "dot(d, e), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    ([4], [], "dot(d, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    ([6, 6], [0], "dot(v, u), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
    ([6, 6], [0], "dot(d, y), lhs_contracting_dims={}, rhs_contracting_dims={}"),
    ([6, 2], [0], "dynamic-slice(v, j, i), dynamic_slice_sizes={6,2}"),
    ([3, 4], [], "gather(v, rows), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}"),
    ([6], [0], "gather(x, some), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"),
    ([6], [0], "scatter(d, rows, three), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"),
    ([6], [], "scatter(x, some, d), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"),
    ([6], [], "four = f32[<=4] slice(e), slice={[0:4]}; dynamic-update-slice(x, four, i)"),
    ([6], [0], "four = f32[<=4] slice(e), slice={[0:4]}; dynamic-update-slice(d, four, j)"),
    ([6, 4], [0], "dynamic-update-slice(v, w, j, j)"),
    ([5], [0], "reduce-window(d, low), window={size=2}, to_apply=largest"),
    ([3, 4], [0], "reduce-window(v, zero), window={size=2x1 stride=2x1}, to_apply=add"),
    ([], [], "p = (f32[], s32[]) reduce(d, number, low, none), dimensions={0}, to_apply=later; get-tuple-element(p), index=0"),
    ([6, 3, 2], [0], "convolution(image, kernel), window={size=2}, dim_labels=b0f_0io->b0f"),
    ([1, 4, 2], [], "convolution(deep, mixing), window={size=1}, dim_labels=b0f_0io->b0f"),
    ([6], [0], "set-dimension-size(d, m), dimensions={0}"),
    ([6, 4], [0, 1], "set-dimension-size(v, m), dimensions={1}"),
]


def shape(sizes, dynamic):
    return "f32[" + ",".join(("<=" if k in dynamic else "") + str(s) for k, s in enumerate(sizes)) + "]"


def program(sizes, dynamic, body):
    """The case's result at its bounds, which a size that is the bound makes of it, and its sizes."""
    *before, last = body.split("; ")
    lines = before + [f"r = {shape(sizes, dynamic)} {last}"]
    lines += [f"size{k} = s32[] get-dimension-size(r), dimensions={{{k}}}" for k in dynamic]
    whole = "r"
    for count, k in enumerate(dynamic, 1):
        lines.append(f"bound{k} = s32[] constant({sizes[k]})")
        lines.append(f"whole{k} = {shape(sizes, dynamic[count:])} set-dimension-size({whole}, bound{k}), dimensions={{{k}}}")
        whole = f"whole{k}"
    members = [whole] + [f"size{k}" for k in dynamic]
    lines.append(f"ROOT t = ({', '.join([shape(sizes, [])] + ['s32[]'] * len(dynamic))}) tuple({', '.join(members)})")
    return HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


def counted(leaves, dynamic):
    # XLA's size of a slice from 0 on is that of what it is taken from, and of windows that do not fit -1.
    sizes = [max(0, min(int(leaf), np.shape(leaves[0])[k])) for leaf, k in zip(leaves[1:], dynamic)]
    cut = [slice(None)] * np.ndim(leaves[0])
    for k, size in zip(dynamic, sizes):
        cut[k] = slice(0, size)
    return sizes, np.asarray(leaves[0])[tuple(cut)]


def main():
    xla, indim = Xla(), Indim(os.environ["INDIM_LIB"])
    x = np.arange(1, 7, dtype=np.float32)
    w = np.arange(24, dtype=np.float32).reshape(6, 4)
    given = [[x, 10 * x[::-1].copy(), w, np.int32(n), np.int32(m)] for n, m in itertools.product((0, 1, 3, 6), (0, 1, 2, 4))]
    passed = failed = 0
    for sizes, dynamic, body in CASES:
        text = program(sizes, dynamic, body)
        like = [np.zeros(sizes, np.float32)] + [np.int32(0)] * len(dynamic)
        try:
            theirs = xla.ask("run", text, given)
        except (Refused, Aborted) as error:
            print(f"FAILED {body}: XLA: {error}")
            failed += 1
            continue
        for engine, (one, expected) in itertools.product(indim.engines, zip(given, theirs)):
            try:
                ours = indim.run(text, one, like, engine)
                ok = all(np.array_equal(a, b) for a, b in zip(counted(ours, dynamic), counted(expected, dynamic)))
            except IndimError as error:
                ours, ok = error, False
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"FAILED {body} ({engine}) with sizes {one[3]} and {one[4]}: ours {ours}, XLA {expected}")
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
