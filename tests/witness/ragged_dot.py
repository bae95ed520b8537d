#!/usr/bin/env python3
"""Both engines' ragged-dot against jax.lax.ragged_dot_general, which XLA:CPU runs as JAX lowers it: random shapes, orders of
dimensions, batches, sizes for all and for each batch, sizes that leave places over. All sums are exact.

    INDIM_LIB=.../libindim.so python tests/witness/ragged_dot.py [--seed N]
"""

import argparse
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
from jax import lax

from eval_xla import Indim, IndimError, braces, random_array, text_of


def group_sizes(rng, leading, groups, length):
    """Sizes whose sum is |length| at most, for each index of |leading|."""
    cuts = np.sort(rng.integers(0, length + 1, size=(*leading, groups)), axis=-1)
    return np.diff(cuts, axis=-1, prepend=0).astype(np.int32)


def arrange(rng, type_, dims):
    """An array with the named dimensions in some order, and where each is."""
    names = [list(dims)[i] for i in rng.permutation(len(dims))]
    return random_array(type_, [dims[n] for n in names], rng), {n: names.index(n) for n in names}


def make(rng):
    mode = str(rng.choice(["rows", "contract", "batch"]))
    size = {n: int(rng.integers(1, 6)) for n in "bmknpg"}
    size["m"], size["k"] = (int(rng.choice([n, rng.integers(17, 90)])) for n in (size["m"], size["k"]))  # several tiles
    batched = mode == "batch" or rng.integers(0, 2) == 1
    left = {n: size[n] for n in ("bmk" if batched else "mk")}
    right = {n: size[n] for n in ("bkn" if batched else "kn")}
    if rng.integers(0, 2) and mode != "rows":
        left["p"] = size["p"]  # another free dimension, behind the ragged one or not
    if mode == "rows":
        right["g"] = size["g"]
    type_ = str(rng.choice(["f32", "f64", "s32"]))
    x, at = arrange(rng, type_, left)
    y, to = arrange(rng, type_, right)
    ragged = {"rows": "m", "contract": "k", "batch": "b"}[mode]
    leading = (size["b"],) if batched and mode != "batch" and rng.integers(0, 2) else ()
    sizes = group_sizes(rng, leading, size["g"], size[ragged])
    batch = (([at["b"]], [to["b"]]) if batched else ([], []))
    return x, y, sizes, ([at["k"]], [to["k"]]), batch, [at[ragged]], [to["g"]] if mode == "rows" else []


def text_for(x, y, sizes, contracting, batch, ragged, group, like):
    attrs = [("lhs_batch_dims", batch[0]), ("lhs_contracting_dims", contracting[0]), ("rhs_batch_dims", batch[1]),
             ("rhs_contracting_dims", contracting[1]), ("lhs_ragged_dims", ragged), ("rhs_group_dims", group)]
    listed = ", ".join(f"{name}={braces(dims)}" for name, dims in attrs if dims)
    return (f"HloModule m\n\nENTRY main {{\n  x = {text_of(x)} parameter(0)\n  y = {text_of(y)} parameter(1)\n"
            f"  sizes = {text_of(sizes)} parameter(2)\n  r = {text_of(like)} ragged-dot(x, y, sizes), {listed}\n"
            f"  ROOT out = ({text_of(like)}) tuple(r)\n}}\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=1)
    rng = np.random.default_rng(arguments.parse_args().seed)
    indim = Indim(os.environ["INDIM_LIB"])
    passed = failed = 0
    for _ in range(120):
        x, y, sizes, contracting, batch, ragged, group = case = make(rng)
        numbers = lax.RaggedDotDimensionNumbers((contracting, batch), ragged, group)
        with jax.enable_x64(True):
            theirs = np.asarray(lax.ragged_dot_general(x, y, sizes, numbers))
        text = text_for(*case, theirs)
        for engine in indim.engines:
            try:
                ours = indim.run(text, [x, y, sizes], [theirs], engine)[0]
                ok = np.array_equal(ours, theirs)
            except IndimError as error:
                ours, ok = error, False
            passed, failed = passed + ok, failed + (not ok)
            if not ok:
                print(f"FAILED {engine}:\n{text}\n{x}\n{y}\n{sizes}\nours {ours}\nJAX {theirs}")
    print(f"{passed} passed, {failed} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
