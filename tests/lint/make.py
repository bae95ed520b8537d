#!/usr/bin/env python3
"""Writes programs with planted mistakes, RULE.NAME.hlo or .mlir, and others that come near and have none, clean.NAME.*.

    make.py        into the folder where it lies; tests/cli/lint.py reads them

Those that JAX can write are JAX's; the lines of their metadata are those of this file.
"""

import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

FOLDER = pathlib.Path(__file__).parent
F32 = jnp.float32


def write(name, text, form="hlo"):
    text = re.sub(r'"[^"]*/(make\.py|[\w]+\.py)"', r'"\1"', text)  # no folders
    (FOLDER / f"{name}.{form}").write_text(text)


def plant(name, function, *shapes, form="hlo", x64=False, **options):
    """The program of a function of arrays of these shapes: (256, 1), or ("s32", 256) for integers, or a value as it is."""
    arguments = []
    for shape in shapes:
        kind = {"s32": jnp.int32, "f64": jnp.float64, "bf16": jnp.bfloat16, "pred": jnp.bool_}
        if isinstance(shape, tuple) and shape and isinstance(shape[0], str):
            arguments.append(jax.ShapeDtypeStruct(shape[1:], kind[shape[0]]))
        else:
            arguments.append(jax.ShapeDtypeStruct(shape, F32))
    with jax.enable_x64(x64):
        lowered = jax.jit(function, **options).lower(*arguments)
        if form == "mlir":
            write(name, lowered.as_text(debug_info=True), "mlir")
        else:
            write(name, lowered.as_text(dialect="hlo", debug_info=True))


# A vector and a column ---------------------------------------------------------------------------------------------------


def loss(w, b, x, y):
    return jnp.mean((x @ w + b - y) ** 2)


plant("rank-promotion.loss", loss, (8, 1), (1,), (256, 8), (256,))
plant("rank-promotion.gradient", jax.grad(loss), (8, 1), (1,), (256, 8), (256,), form="mlir")
plant("rank-promotion.keepdims", lambda x, y: jnp.sqrt(x.mean(1, keepdims=True)) - y, (256, 8), (256,))
plant("rank-promotion.weights", lambda w, x: (w * x).sum(), (300, 1), (300,))
plant("rank-promotion.mask", lambda m, x: jnp.where(m, x, 0.0), ("pred", 300, 1), (300,), form="mlir")
plant("rank-promotion.accuracy", lambda p, y: ((p > 0.5) == y).mean(), (300, 1), ("pred", 300))
plant("rank-promotion.row", lambda x, y: jnp.maximum(x, y), (300,), (300, 1), form="mlir")
plant(
    "rank-promotion.huber",
    lambda p, y: (lambda d: jnp.where(jnp.abs(d) < 1, 0.5 * d * d, jnp.abs(d) - 0.5).mean())(p - y),
    (300, 1),
    (300,),
)
plant("outer-difference.loss", lambda x, y: jnp.mean((x[:, None] - y) ** 2), (300,), (300,))
write(
    "outer-difference.text",
    """ENTRY e {
  x = f32[64] parameter(0)
  y = f32[64] parameter(1)
  a = f32[64,64] broadcast(x), dimensions={0}
  b = f32[64,64] broadcast(y), dimensions={1}
  d = f32[64,64] subtract(a, b)
  m = f32[64,64] abs(d)
  z = f32[] constant(0)
  ROOT s = f32[] reduce(m, z), dimensions={0,1}, to_apply={ p = f32[] parameter(0) q = f32[] parameter(1) ROOT r = f32[] add(p, q) }
}
""",
)

# Types -------------------------------------------------------------------------------------------------------------------

plant("f64-in-f32.numpy", lambda x: x * np.linspace(0, 1, 1000), (1000,), x64=True)
plant("f64-in-f32.dtype", lambda x: x.astype(float).sum(), (1000,), x64=True, form="mlir")
plant("f64-in-f32.linspace", lambda x: x + jnp.linspace(0, 1, 1000), (1000,), x64=True)
plant("f64-in-f32.accumulate", lambda x: jnp.cumsum(x, dtype=jnp.float64), (1000,), x64=True)
plant("convert-round-trip.bf16", lambda x: x.astype(jnp.bfloat16).astype(F32) + 1, (300, 300))
plant("convert-round-trip.integer", lambda x: x.astype(F32).astype(jnp.int32), ("s32", 300, 300), form="mlir")
plant("convert-round-trip.wide", lambda x: x.astype(F32).astype(jnp.bfloat16), ("bf16", 300, 300))

# Layouts -----------------------------------------------------------------------------------------------------------------

write(
    "padding-waste.tiles",
    """HloModule m, entry_computation_layout={(f32[20000,3]{1,0:T(8,128)})->f32[20000,3]{1,0}}
ENTRY e { x = f32[20000,3]{1,0:T(8,128)} parameter(0) ROOT y = f32[20000,3]{1,0} negate(x) }
""",
)
write(
    "padding-waste.pad",
    """ENTRY e { x = f32[100,100]{1,0:PAD(200,256)} parameter(0) ROOT y = f32[100,100]{1,0} negate(x) }
""",
)
write(
    "padding-waste.result",
    """HloModule m, entry_computation_layout={(bf16[4000,10]{1,0})->bf16[4000,10]{1,0:T(8,128)(2,1)}}
ENTRY e { x = bf16[4000,10]{1,0} parameter(0) ROOT y = bf16[4000,10]{1,0:T(8,128)(2,1)} negate(x) }
""",
)
plant("transpose-copy.twice", lambda x, z: (jnp.fft.rfft(jnp.sin(x).T), jnp.sin(x).T + z), (512, 1024), (1024, 512))
plant("transpose-copy.heads", lambda x: (lambda t: (jnp.sort(t, 1), t * 2, t.sum(1)))(jnp.exp(x).T), (512, 1024), form="mlir")
write(
    "transpose-copy.layout",
    """ENTRY e { x = f32[500,700] parameter(0)
  s = f32[500,700] sine(x)
  c = f32[500,700]{0,1} copy(s)
  ROOT t = tuple(s, c) }
""",
)
plant("dot-layout.batch_last", lambda q, k: jnp.einsum("qdh,kdh->hqk", q, k), (256, 128, 8), (256, 128, 8))
write(
    "dot-layout.text",
    """ENTRY e { q = f32[256,128,8] parameter(0) k = f32[8,256,128] parameter(1)
  ROOT d = f32[8,256,256] dot(q, k), lhs_batch_dims={2}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2} }
""",
)

# Nobody's values -----------------------------------------------------------------------------------------------------------

plant("unread-parameter.kept", lambda x, y: x + 1, (300,), (300,), keep_unused=True)
plant("unread-parameter.kept_in_mlir", lambda x, y: y * 2, (300,), (5,), keep_unused=True, form="mlir")
plant("duplicate-output.twice", lambda x: (lambda y: (y, x + 1, y))(jnp.sin(x)), (300,))
plant("duplicate-output.gradient", lambda x: (jnp.exp(x),) * 2, (300,), form="mlir")
plant("constant-output.zeros", lambda x: (x + 1, jnp.zeros((300, 300))), (300,))
plant("constant-output.table", lambda x: (x + 1, jnp.sin(jnp.arange(100000.0))), (300,), form="mlir")
write(
    "dead-instruction.text",
    """ENTRY e { x = f32[300] parameter(0)
  s = f32[300] sine(x)
  ROOT y = f32[300] negate(x) }
""",
)
write(
    "dead-instruction.text",
    """module @m {
  func.func public @main(%arg0: tensor<300xf32>) -> tensor<300xf32> {
    %0 = stablehlo.cosine %arg0 : tensor<300xf32>
    %1 = stablehlo.add %arg0, %arg0 : tensor<300xf32>
    return %1 : tensor<300xf32>
  }
}
""",
    "mlir",
)
# JAX leaves these out by itself: the programs are written by hand.
write(
    "dead-carry.sum",
    """s { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }
b { p = (s32[], f32[300], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[300] get-tuple-element(p), index=1
  a = f32[] get-tuple-element(p), index=2 o = s32[] constant(1) j = s32[] add(i, o) y = f32[300] sine(x) z = f32[] constant(0)
  r = f32[] reduce(y, z), dimensions={0}, to_apply=s n = f32[] add(a, r) ROOT t = tuple(j, y, n) }
c { p = (s32[], f32[300], f32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(9)
  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { i = s32[] constant(0) x = f32[300] parameter(0) z = f32[] constant(0) t = tuple(i, x, z)
  w = (s32[], f32[300], f32[]) while(t), condition=c, body=b
  ROOT r = f32[300] get-tuple-element(w), index=1 }
""",
)
write(
    "dead-carry.two",
    """module @m {
  func.func public @main(%x: tensor<300xf32>) -> tensor<300xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:4 = stablehlo.while(%i = %zero, %a = %x, %b = %x, %c = %x) : tensor<i32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>
    cond {
      %n = stablehlo.constant dense<10> : tensor<i32>
      %l = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %l : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %d = stablehlo.sine %a : tensor<300xf32>
      %e = stablehlo.add %b, %c : tensor<300xf32>
      %f = stablehlo.multiply %c, %b : tensor<300xf32>
      stablehlo.return %j, %d, %e, %f : tensor<i32>, tensor<300xf32>, tensor<300xf32>, tensor<300xf32>
    }
    return %r#1 : tensor<300xf32>
  }
}
""",
    "mlir",
)
write(
    "dead-carry.text",
    """b { p = (s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(p), index=0 x = f32[9] get-tuple-element(p), index=1
  o = s32[] constant(1) j = s32[] add(i, o) y = f32[9] sine(x) ROOT t = tuple(j, y) }
c { p = (s32[], f32[9]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(9) ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { i = s32[] parameter(0) x = f32[9] parameter(1) t = tuple(i, x) w = (s32[], f32[9]) while(t), condition=c, body=b
  ROOT r = s32[] get-tuple-element(w), index=0 }
""",
)

# More than it takes --------------------------------------------------------------------------------------------------------

plant("gather-is-slice.arange", lambda x: x[jnp.arange(5, 500)], (1000, 100))
plant("gather-is-slice.list", lambda x: x[np.array([3, 1, 4, 1, 5, 9, 2, 6] * 40)], (1000, 100), form="mlir")
plant("gather-is-slice.one", lambda x, i: x[i], (100, 200, 200), ("s32", 1))
plant("gather-is-slice.take", lambda x: jnp.take(x, jnp.arange(0, 1000, 2), axis=1), (100, 1000))
plant("sort-for-few.largest", lambda x: jnp.sort(x)[-10:], (5000,))
plant("sort-for-few.smallest", lambda x: jnp.sort(x, axis=1)[:, :3], (20, 5000), form="mlir")
plant("sort-for-few.indices", lambda x: jnp.argsort(x)[:5], (5000,))
plant("undonated-update.rows", lambda x, r, i: lax.dynamic_update_slice(x, r, (i, 0)), (500, 500), (1, 500), ("s32",))
plant("undonated-update.scatter", lambda x, i, v: x.at[i].add(v), (100000,), ("s32", 100), (100,), form="mlir")
plant("undonated-update.loop", lambda x: lax.fori_loop(0, 100, lambda i, c: c.at[i].set(c[i + 1] * 2), x), (100000,))


def step(w, b, x):
    grads = jax.grad(lambda p: jnp.tanh(x @ p[0] + p[1]).sum())((w, b))
    return w - 0.1 * grads[0], b - 0.1 * grads[1], x.sum()


plant("state-not-donated.sgd", step, (600, 600), (600,), (16, 600))
plant("state-not-donated.momentum", lambda w, v, g: (w - 0.1 * (0.9 * v + g), 0.9 * v + g), (600, 600), (600, 600), (600, 600), form="mlir")
for number, shape in enumerate(("f32[1024,1100]", "s8[5000,1000]")):
    write(
        f"large-constant.text{number}",
        f"ENTRY e {{ x = {shape} parameter(0) c = {shape} constant({{...}}) ROOT y = {shape} add(x, c) }}\n",
    )

# What comes near and is right --------------------------------------------------------------------------------------------

plant("clean.loss", loss, (8, 1), (1,), (256, 8), (256, 1))
plant("clean.outer", lambda x, y: x[:, None] * y[None, :], (300,), (300,))
plant("clean.distances", lambda x: x[:, None] - x[None, :], (300,))
plant("clean.squared_distances", lambda x, y: (x**2).sum(1)[:, None] + (y**2).sum(1) - 2 * x @ y.T, (300, 5), (300, 5))
plant(
    "clean.cosine",
    lambda x, y: (x @ y.T) / (jnp.linalg.norm(x, axis=1, keepdims=True) * jnp.linalg.norm(y, axis=1)),
    (256, 64),
    (256, 64),
)
plant("clean.softmax", lambda x: jax.nn.softmax(x), (300, 300), form="mlir")
plant("clean.bias", lambda x, b: x + b, (300, 300), (300,))
plant("clean.causal", lambda x: jnp.where(jnp.arange(300)[:, None] >= jnp.arange(300), x, 0.0), (300, 300))
plant("clean.one_hot", lambda i: jax.nn.one_hot(i, 256), ("s32", 256))
plant("clean.double", lambda x: x * np.linspace(0, 1, 1000), ("f64", 1000), x64=True)
plant("clean.mixed", lambda x, w: (x.astype(jnp.bfloat16) @ w).astype(F32), (300, 300), ("bf16", 300, 300))
plant("clean.transposed", lambda x: x.T, (1024, 512))
plant("clean.transposed_product", lambda x, y: x.T @ y, (512, 1024), (512, 512))
plant("clean.attention", lambda q, k: jnp.einsum("qhd,khd->hqk", q, k), (256, 8, 128), (256, 8, 128))
plant("clean.embedding", lambda t, i: t[i], (1000, 300), ("s32", 200))
plant("clean.sort", lambda x: jnp.sort(x)[::2], (5000,))
plant("clean.top_k", lambda x: lax.top_k(x, 5), (5000,))
plant("clean.donated", lambda x, i, v: x.at[i].add(v), (100000,), ("s32", 100), (100,), donate_argnums=0)
plant("clean.loop", lambda x: lax.fori_loop(0, 10, lambda i, c: (c[1], c[0] + c[1]), (x, x))[0], (300,))
plant("clean.scan", lambda x: lax.scan(lambda c, r: (c + r, c * r), x[0], x), (50, 300), form="mlir")
write(
    "clean.tiles",
    """ENTRY e { x = f32[1024,512]{1,0:T(8,128)} parameter(0) ROOT y = f32[1024,512]{1,0} negate(x) }
""",
)
