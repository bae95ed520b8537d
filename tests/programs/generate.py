#!/usr/bin/env python3
"""Lowers functions with JAX: the programs that XLA itself writes, before and after its optimisation.

    generate.py [FOLDER]     writes NAME.before.hlo and NAME.after.hlo for every function below (default: own folder)

`before` is jax.jit(f).lower(...).as_text("hlo"), `after` is .compile().as_text() on the CPU. The files kept here
were written by this script with the versions of tests/requirements.txt; what XLA:CPU makes of a program may depend on
the processor, so a later run may write other `after` files, all of them as good. Names of folders are cut from the
texts, so that they do not depend on where the script lies.
"""

import contextlib
import functools
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from ml_dtypes import bfloat16, float8_e4m3fn, float8_e5m2, int4

f16, f32, f64 = np.float16, np.float32, np.float64
s8, s16, s32, s64 = np.int8, np.int16, np.int32, np.int64
u8, u16, u32, u64 = np.uint8, np.uint16, np.uint32, np.uint64
c64, pred = np.complex64, np.bool_

PROGRAMS = {}  # name -> (function, arguments as shape structures, wide types enabled)


def of(dtype, *sizes):
    """The shape of an argument: of(f32, 2, 3) is f32[2,3]."""
    return jax.ShapeDtypeStruct(sizes, dtype)


def add(name, function, *arguments, wide=False):
    assert name not in PROGRAMS, name
    PROGRAMS[name] = (function, arguments, wide)


def program(*arguments, wide=False):
    """Decorator: the function under its own name."""

    def register(function):
        add(function.__name__, function, *arguments, wide=wide)
        return function

    return register


# ---------------------------------------------------------------------------------------- elementwise, by type


@program(of(f32, 5, 7))
def unary_f32(x):
    return (
        jnp.abs(x),
        -x,
        jnp.sign(x),
        jnp.floor(x),
        jnp.ceil(x),
        jnp.round(x),
        lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        jnp.exp(x),
        jnp.expm1(x),
        jnp.log(x),
        jnp.log1p(x),
        lax.logistic(x),
        jnp.sqrt(x),
        lax.rsqrt(x),
        jnp.cbrt(x),
        jnp.tanh(x),
        jnp.sin(x),
        jnp.cos(x),
        jnp.tan(x),
        lax.erf(x),
        jnp.isfinite(x),
        jnp.isnan(x),
        jnp.square(x),
        jnp.reciprocal(x),
    )


@program(of(f32, 6))
def unary_f32_expanded(x):
    return (
        jnp.sinh(x),
        jnp.cosh(x),
        jnp.arcsin(x),
        jnp.arccos(x),
        jnp.arctan(x),
        jnp.arcsinh(x),
        jnp.arccosh(x),
        jnp.arctanh(x),
    )


@program(of(f64, 9), wide=True)
def unary_f64(x):
    return jnp.exp(x), jnp.log1p(x), jnp.tanh(x), jnp.sin(x), jnp.sqrt(x), jnp.floor(x), x.astype(s64), lax.erf(x)


@program(of(f16, 3, 4), of(f16, 3, 4))
def arithmetic_f16(x, y):
    return x + y, x * y - y, x / y, jnp.maximum(x, y), x**2, jnp.exp(x)


@program(of(bfloat16, 4, 4), of(bfloat16, 4, 4))
def arithmetic_bf16(x, y):
    return x + y, x * y, x - y, x / y, jnp.minimum(x, y), jnp.tanh(x), x.astype(f32) * y


@program(of(s8, 8), of(s8, 8))
def arithmetic_s8(x, y):
    return x + y, x - y, x * y, lax.div(x, y), lax.rem(x, y), jnp.maximum(x, y), -x, jnp.abs(x), jnp.sign(x)


@program(of(u16, 8), of(u16, 8))
def arithmetic_u16(x, y):
    return x + y, x - y, x * y, lax.div(x, y), lax.rem(x, y), jnp.minimum(x, y), x**3


@program(of(s64, 6), of(s64, 6), wide=True)
def arithmetic_s64(x, y):
    return x + y, x * y, x // y, x % y, lax.shift_right_arithmetic(x, y), lax.population_count(x), lax.clz(y)


@program(of(u64, 5), of(u64, 5), wide=True)
def arithmetic_u64(x, y):
    return x + y, x * y, lax.div(x, y), x > y, x.astype(f64), x ^ y


@program(of(pred, 2, 3), of(pred, 2, 3))
def logic(x, y):
    return x & y, x | y, x ^ y, ~x, jnp.logical_and(x, y), x == y, x < y, jnp.any(x, axis=1), jnp.all(y)


@program(of(s32, 7), of(s32, 7), of(u32, 7))
def bits(x, y, z):
    return (
        x & y,
        x | y,
        x ^ y,
        ~x,
        x << y,
        x >> y,
        lax.shift_right_logical(x, y),
        z >> 3,
        lax.population_count(z),
        lax.clz(x),
        lax.bitcast_convert_type(x, f32),
        lax.bitcast_convert_type(z, s32),
    )


@program(of(c64, 3, 2), of(c64, 3, 2))
def arithmetic_c64(x, y):
    return (
        x + y,
        x - y,
        x * y,
        x / y,
        jnp.conj(x),
        jnp.real(x),
        jnp.imag(y),
        jnp.abs(x),
        x == y,
        lax.complex(x.real, y.imag),
    )


@program(of(c64, 5))
def functions_c64(x):
    return jnp.exp(x), jnp.log(x), jnp.sqrt(x), jnp.sin(x), jnp.cos(x), jnp.tanh(x), jnp.sign(x)


@program(of(f32, 2, 3), of(f32, 2, 3))
def compare_f32(x, y):
    return x == y, x != y, x < y, x <= y, x > y, x >= y


@program(of(f32, 6), of(f32, 6))
def power_remainder_atan2(x, y):
    return x**y, jnp.fmod(x, y), jnp.arctan2(x, y), lax.integer_pow(x, -3), jnp.remainder(x, y), jnp.floor_divide(x, y)


@program(of(f32, 4), of(f32, 4))
def sharp_functions(x, y):
    return (
        jnp.logaddexp(x, y),
        jnp.hypot(x, y),
        jnp.copysign(x, y),
        jnp.nextafter(x, y),
        jnp.sinc(x),
        jnp.heaviside(x, y),
    )


@program(of(f32, 3, 3))
def conversions(x):
    y = x.astype(bfloat16).astype(f16).astype(s16).astype(u8).astype(f32)
    return (
        y,
        x.astype(s32),
        x.astype(pred),
        x.astype(c64),
        x.astype(s8).astype(u32),
        x.astype(float8_e4m3fn).astype(f32),
    )


@program(of(float8_e5m2, 4), of(float8_e4m3fn, 4))
def small_floats(x, y):
    return x + x, y * y, x.astype(float8_e4m3fn), x.astype(f32) + y.astype(f32)


@program(of(f32, 6))
def small_integers(x):
    y = x.astype(int4)
    return y, (y + y).astype(s8), y.astype(f32)


@program(of(f32, 5))
def reduce_precision(x):
    return lax.reduce_precision(x, 5, 10), lax.reduce_precision(x, 8, 7)


# ------------------------------------------------------------------------------------ broadcasting and movement


@program(of(f32, 2, 3), of(f32, 3))
def broadcast_row(x, y):
    return x + y


@program(of(f32, 2, 1), of(f32, 1, 3))
def broadcast_outer(x, y):
    return x * y


@program(of(f32, 2, 3, 4), of(f32, 3, 1), of(f32))
def broadcast_three(x, y, z):
    return (x + y) * z


@program(of(f32, 4))
def broadcast_in_dim(x):
    return lax.broadcast_in_dim(x, (2, 4, 3), (1,)), jnp.broadcast_to(x, (3, 4)), lax.broadcast(x, (2, 2))


@program(of(f32, 2, 3, 4))
def reshape_transpose(x):
    return (
        x.reshape(6, 4),
        x.T,
        jnp.transpose(x, (1, 2, 0)),
        x.ravel(),
        x[:, None],
        jnp.squeeze(x[:1], 0),
        jnp.swapaxes(x, 0, 2),
    )


@program(of(f32, 6, 5))
def slices(x):
    return x[1:4], x[::2, ::-1], x[-2:, 1:3], x[2], x[:, 3], lax.slice(x, (0, 1), (6, 5), (2, 3))


@program(of(s32, 3, 4), of(s32, 2, 4))
def concatenate_pad(x, y):
    return (
        jnp.concatenate([x, y, x]),
        jnp.stack([x, x], axis=1),
        lax.pad(x, 7, ((1, 2, 1), (-1, 0, 0))),
        jnp.pad(x, ((0, 1), (2, 0)), constant_values=-1),
        jnp.pad(y, 1, mode="edge"),
        jnp.pad(y, 1, mode="reflect"),
    )


@program(of(f32, 3, 4))
def flip_roll_rotate(x):
    return jnp.flip(x), jnp.flipud(x), jnp.fliplr(x), jnp.roll(x, 1, axis=1), jnp.roll(x, -2), jnp.rot90(x)


@program(of(f32, 2, 3))
def tile_repeat(x):
    return jnp.tile(x, (2, 2)), jnp.repeat(x, 3, axis=1), jnp.kron(x, jnp.eye(2, dtype=f32))


@program()
def iota_meshgrid():
    x, y = jnp.meshgrid(jnp.arange(4.0), jnp.arange(3.0))
    return (
        x,
        y,
        jnp.arange(2, 20, 3),
        jnp.linspace(0, 1, 7),
        jnp.eye(3),
        lax.broadcasted_iota(u8, (2, 3), 1),
        jnp.indices((2, 2)),
    )


@program(of(f32, 4, 4))
def triangles(x):
    return jnp.tril(x), jnp.triu(x, 1), jnp.tri(3, 4), jnp.diag(x), jnp.trace(x), jnp.diag(x[0])


@program(of(f32, 8), of(s32), of(f32, 3))
def dynamic_slices(x, i, y):
    return (
        lax.dynamic_slice(x, (i,), (3,)),
        lax.dynamic_update_slice(x, y, (i,)),
        lax.dynamic_index_in_dim(x, i),
        x.at[2:5].set(y),
    )


@program(of(f32, 4, 6), of(s32), of(s32))
def dynamic_slice_matrix(x, i, j):
    tile = lax.dynamic_slice(x, (i, j), (2, 3))
    return lax.dynamic_update_slice(x, -tile, (j, i))


@program(of(s32, 5))
def one_hot(x):
    return jax.nn.one_hot(x, 4), jax.nn.one_hot(x, 3, dtype=s8, axis=0)


@program(of(f32, 7))
def where_clip_select(x):
    return (
        jnp.where(x > 0, x, 0.1 * x),
        jnp.clip(x, -1, 1),
        lax.clamp(f32(0), x, f32(2)),
        lax.select(x > 1, x, -x),
        jnp.nan_to_num(x),
    )


@program(of(f32, 3))
def piecewise(x):
    return jnp.select([x < 0, x < 1], [x, x * x], 3 * x), jnp.piecewise(
        x, [x < 0, x >= 0], [lambda y: -y, lambda y: y * y]
    )


# ------------------------------------------------------------------------------------------ reductions and scans


@program(of(f32, 3, 5))
def reductions_f32(x):
    return (
        jnp.sum(x),
        jnp.sum(x, 0),
        jnp.prod(x, 1),
        jnp.max(x, 1),
        jnp.min(x),
        jnp.mean(x, 0),
        jnp.var(x),
        jnp.std(x, 1),
        jnp.ptp(x),
    )


@program(of(s32, 4, 3))
def reductions_s32(x):
    return (
        jnp.sum(x, 1),
        jnp.prod(x, 0),
        jnp.max(x),
        jnp.min(x, 0),
        jnp.count_nonzero(x),
        lax.reduce_and(x, (0,)),
        lax.reduce_xor(x, (1,)),
    )


@program(of(bfloat16, 8, 4))
def reductions_bf16(x):
    return jnp.sum(x, 0), jnp.max(x, 1), jnp.mean(x)


@program(of(f32, 4, 6))
def argmax_argmin(x):
    return jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.argmax(x)


@program(of(f32, 5, 3), of(s32, 5, 3))
def variadic_reduce(x, y):
    def combine(a, b):
        return jnp.maximum(a[0], b[0]), a[1] + b[1]

    return lax.reduce((x, y), (f32(-np.inf), s32(0)), combine, (0,))


@program(of(f32, 2, 6))
def cumulative(x):
    return jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 1), jnp.diff(x)


@program(of(f32, 4))
def associative_scan(x):
    return lax.associative_scan(jnp.add, x), lax.associative_scan(jnp.maximum, x, reverse=True)


@program(of(f32, 3, 4))
def norms(x):
    return (
        jnp.linalg.norm(x),
        jnp.linalg.norm(x, axis=1),
        jnp.linalg.norm(x, ord=1, axis=0),
        jnp.linalg.norm(x, ord=jnp.inf),
    )


@program(of(f32, 3, 5))
def logsumexp_softmax(x):
    return jax.nn.logsumexp(x, axis=1), jax.nn.softmax(x), jax.nn.log_softmax(x, axis=0)


@program(of(f32, 12))
def histogram(x):
    edges = jnp.linspace(-3, 3, 7)
    inside = (x[:, None] >= edges[None, :-1]) & (x[:, None] < edges[None, 1:])
    return jnp.sum(inside, axis=0), jnp.median(x[:5])


# ------------------------------------------------------------------------------------------------------- products


@program(of(f32, 3, 4), of(f32, 4, 5))
def matmul(x, y):
    return x @ y


@program(of(f32, 2, 3, 4), of(f32, 2, 4, 5))
def batch_matmul(x, y):
    return x @ y, jnp.einsum("bij,bjk->bki", x, y)


@program(of(f32, 3, 4, 5), of(f32, 5, 3, 2))
def dot_general(x, y):
    return lax.dot_general(x, y, (((2,), (0,)), ((0,), (1,)))), lax.dot_general(x, y, (((0, 2), (1, 0)), ((), ())))


@program(of(f32, 3, 4), of(f32, 4), of(f32, 3))
def einsums(x, y, z):
    return (
        jnp.einsum("ij,j->i", x, y),
        jnp.einsum("ij,j,i->", x, y, z),
        jnp.outer(z, y),
        jnp.einsum("ij->ji", x),
        jnp.vdot(y, y),
    )


@program(of(s8, 3, 4), of(s8, 4, 2))
def dot_s8(x, y):
    return lax.dot(x, y, preferred_element_type=s32), x @ y


@program(of(bfloat16, 4, 8), of(bfloat16, 8, 3))
def dot_bf16(x, y):
    return x @ y, lax.dot(x, y, preferred_element_type=f32)


@program(of(c64, 2, 3), of(c64, 3, 2))
def dot_c64(x, y):
    return x @ y


@program(of(f32, 4), of(f32, 3))
def polynomials(x, p):
    return jnp.polyval(p, x), jnp.convolve(x, p), jnp.interp(x, p, p * p), jnp.vander(p, 3), jnp.trapezoid(x)


@program(of(f32, 3), of(f32, 3))
def cross_and_rotate(x, y):
    angle = jnp.sum(x)
    rotation = jnp.array([[jnp.cos(angle), -jnp.sin(angle), 0], [jnp.sin(angle), jnp.cos(angle), 0], [0, 0, 1]])
    return jnp.cross(x, y), rotation @ y


# ------------------------------------------------------------------------------------------------ neural network


@program(of(f32, 4, 8), of(f32, 8), of(f32, 8))
def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


@program(of(f32, 9))
def activations(x):
    nn = jax.nn
    return (
        nn.relu(x),
        nn.gelu(x),
        nn.gelu(x, approximate=False),
        nn.silu(x),
        nn.elu(x),
        nn.selu(x),
        nn.softplus(x),
        nn.sigmoid(x),
        nn.leaky_relu(x),
        nn.hard_tanh(x),
        nn.relu6(x),
        nn.mish(x),
        nn.celu(x),
        nn.hard_sigmoid(x),
        nn.soft_sign(x),
    )


def mlp(x, w1, b1, w2, b2):
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


MLP = (of(f32, 8, 4), of(f32, 8), of(f32, 8, 3), of(f32, 3))
add("mlp_forward", mlp, of(f32, 5, 8), of(f32, 8, 6), of(f32, 6), of(f32, 6, 3), of(f32, 3))


def mlp_loss(parameters, x, y):
    log_probability = jax.nn.log_softmax(mlp(x, *parameters))
    return -jnp.mean(jnp.sum(log_probability * y, axis=1))


PARAMETERS = (of(f32, 4, 6), of(f32, 6), of(f32, 6, 3), of(f32, 3))
add("mlp_gradient", jax.grad(mlp_loss), PARAMETERS, of(f32, 5, 4), of(f32, 5, 3))
add("mlp_value_and_gradient", jax.value_and_grad(mlp_loss), PARAMETERS, of(f32, 5, 4), of(f32, 5, 3))


@program(PARAMETERS, PARAMETERS, PARAMETERS, of(f32), of(f32, 5, 4), of(f32, 5, 3))
def adam_step(parameters, mean, square, step, x, y):
    gradients = jax.grad(mlp_loss)(parameters, x, y)
    mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
    square = jax.tree.map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradients)
    rate = 1e-3 * jnp.sqrt(1 - 0.999**step) / (1 - 0.9**step)
    return jax.tree.map(lambda p, m, s: p - rate * m / (jnp.sqrt(s) + 1e-8), parameters, mean, square), mean, square


def attention(query, key, value):
    score = jnp.einsum("hqd,hkd->hqk", query, key) / np.sqrt(query.shape[-1]).astype(f32)
    mask = jnp.tril(jnp.ones(score.shape[-2:], bool))
    return jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(jnp.where(mask, score, f32(-1e9))), value)


add("attention", attention, of(f32, 2, 5, 4), of(f32, 2, 5, 4), of(f32, 2, 5, 4))
add("attention_gradient", jax.grad(lambda *a: attention(*a).sum(), argnums=(0, 1, 2)), *[of(f32, 1, 4, 3)] * 3)
add("dot_product_attention", jax.nn.dot_product_attention, *[of(f32, 1, 4, 2, 8)] * 3)


@program(of(f32, 6, 8), of(f32, 8, 24), of(f32, 8, 8), of(f32, 8, 16), of(f32, 16, 8), of(f32, 8), of(f32, 8))
def transformer_block(x, qkv, out, up, down, scale1, scale2):
    def norm(y, scale):
        return y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6) * scale

    q, k, v = (y.reshape(6, 2, 4).transpose(1, 0, 2) for y in jnp.split(norm(x, scale1) @ qkv, 3, axis=1))
    x = x + attention(q, k, v).transpose(1, 0, 2).reshape(6, 8) @ out
    return x + jax.nn.gelu(norm(x, scale2) @ up) @ down


@program(of(f32, 5, 4), of(s32, 3), of(f32, 3, 4))
def embedding(table, tokens, extra):
    position = jnp.arange(3)[:, None] / 10 ** (jnp.arange(4) / 4)
    return table[tokens] + jnp.sin(position) + extra


@program(of(f32, 2, 6, 6, 3), of(f32, 3, 3, 3, 4))
def convolution(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@program(of(f32, 1, 4, 9), of(f32, 4, 2, 3))
def convolution_grouped(x, kernel):
    return lax.conv_general_dilated(x, kernel, (2,), [(1, 1)], rhs_dilation=(2,), feature_group_count=2)


@program(of(f32, 1, 2, 5), of(f32, 3, 2, 3))
def convolution_transposed(x, kernel):
    return lax.conv_general_dilated(x, kernel, (1,), [(2, 2)], lhs_dilation=(2,))


@program(of(f32, 1, 6, 6, 2))
def pooling(x):
    window, stride = (1, 2, 2, 1), (1, 2, 2, 1)
    largest = lax.reduce_window(x, -jnp.inf, lax.max, window, stride, "VALID")
    return largest, lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), stride, "SAME") / 9


add(
    "pooling_gradient",
    jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID").sum()),
    of(f32, 4, 6),
)


@program(of(f32, 4, 3), of(f32, 3), of(f32, 3))
def batch_norm(x, scale, shift):
    mean, square = x.mean(0), (x * x).mean(0)
    return (x - mean) / jnp.sqrt(square - mean * mean + 1e-5) * scale + shift, mean


@program(of(f32, 6, 3), of(f32, 2, 4), of(f32, 3, 16), of(f32, 4, 16), of(f32, 16))
def lstm(inputs, state, wx, wh, bias):
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ wx + h @ wh + bias, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(cell, (state[0], state[1]), inputs)


# --------------------------------------------------------------------------------------------------- control flow


@program(of(f32))
def while_newton(x):
    return lax.while_loop(lambda y: jnp.abs(y * y - x) > 1e-4 * x, lambda y: 0.5 * (y + x / y), x + 1)


@program(of(s32), of(s32))
def while_gcd(a, b):
    return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], lax.rem(s[0], s[1])), (a, b))[0]


@program(of(f32, 4))
def fori_power(x):
    return lax.fori_loop(0, 10, lambda i, y: y * x + i, jnp.ones_like(x))


@program(of(s32))
def fori_fibonacci(n):
    return lax.fori_loop(0, n, lambda i, s: (s[1], s[0] + s[1]), (s32(0), s32(1)))[0]


def lorenz(state):
    x, y, z = state
    return jnp.array([10 * (y - x), x * (28 - z) - y, x * y - f32(8 / 3) * z])


def runge_kutta(field, state, h):
    k1 = field(state)
    k2 = field(state + h / 2 * k1)
    k3 = field(state + h / 2 * k2)
    k4 = field(state + h * k3)
    return state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


@program(of(f32, 3))
def scan_lorenz(state):
    def step(s, _):
        s = runge_kutta(lorenz, s, f32(0.01))
        return s, s

    return lax.scan(step, state, None, length=20)


@program(of(f32, 5, 2))
def scan_reverse(x):
    return lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(2), x, reverse=True)


@program(of(pred), of(f32, 3))
def cond_two(p, x):
    return lax.cond(p, lambda y: y * 2, lambda y: jnp.sin(y), x)


@program(of(s32), of(f32, 3))
def switch_four(i, x):
    return lax.switch(i, [lambda y: y, lambda y: -y, lambda y: y * y, lambda y: jnp.zeros_like(y)], x)


@program(of(s32, 6))
def bubble_sort(x):
    def outer(i, y):
        def inner(j, z):
            a, b = z[j], z[j + 1]
            return z.at[j].set(jnp.minimum(a, b)).at[j + 1].set(jnp.maximum(a, b))

        return lax.fori_loop(0, 5 - i, inner, y)

    return lax.fori_loop(0, 6, outer, x)


@program(of(s32))
def collatz(n):
    def body(s):
        n, steps = s
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return lax.while_loop(lambda s: s[0] > 1, body, (n, s32(0)))[1]


@program(of(f32, 4, 4))
def checkpoint_gradient(x):
    inner = jax.checkpoint(lambda y: jnp.sin(jnp.sin(y @ y)))
    return jax.grad(lambda y: inner(y).sum())(x)


add("map_rows", lambda x: lax.map(lambda row: jnp.dot(row, row), x), of(f32, 4, 3))
add(
    "vmap_solver",
    jax.vmap(lambda a, b: lax.fori_loop(0, 8, lambda i, y: y - 0.1 * (a * y - b), b)),
    of(f32, 6),
    of(f32, 6),
)
add("vmap_cond", jax.vmap(lambda p, x: lax.cond(p, jnp.exp, jnp.log, x)), of(pred, 5), of(f32, 5))
add("vmap_dynamic_slice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (2,))), of(f32, 3, 6), of(s32, 3))
add("jacobian", jax.jacfwd(lambda x: jnp.array([x[0] * x[1], jnp.sin(x[2]), x[0] / x[2]])), of(f32, 3))
add("hessian", jax.hessian(lambda x: jnp.sum(x**3) + jnp.prod(x)), of(f32, 3))

# ------------------------------------------------------------------------------------------- indexing and sorting


@program(of(f32, 5, 4), of(s32, 3))
def gathers(x, i):
    return (
        x[i],
        jnp.take(x, i, axis=1, mode="clip"),
        jnp.take_along_axis(x, i[None, :3].repeat(5, 0), axis=1),
        x[i, i],
        x[i[0]],
    )


@program(of(f32, 8), of(s32, 4), of(f32, 4))
def scatters(x, i, y):
    return x.at[i].add(y), x.at[i].set(y), x.at[i].max(y), x.at[i].multiply(y), jnp.zeros(5).at[i].add(1)


@program(of(f32, 7), of(s32, 7))
def sorts(x, y):
    return jnp.sort(x), jnp.argsort(y), lax.sort((y, x), num_keys=1), jnp.sort(x, descending=True), lax.top_k(x, 3)


@program(of(s32, 6), of(s32, 3))
def searches(x, y):
    return (
        jnp.searchsorted(jnp.sort(x), y),
        jnp.isin(y, x),
        jnp.unique(x, size=6),
        jnp.bincount(jnp.abs(x) % 5, length=5),
    )


@program(of(f32, 6), of(s32, 6))
def segments(x, i):
    return jax.ops.segment_sum(x, i, 3), jax.ops.segment_max(x, i, 3)


# --------------------------------------------------------------------------------- linear algebra, spectra, random


@program(of(f32, 3, 3), of(f32, 3))
def linear_algebra(x, y):
    spd = x @ x.T + jnp.eye(3)
    return jnp.linalg.cholesky(spd), jnp.linalg.solve(spd, y), jnp.linalg.inv(spd), jnp.linalg.det(x)


@program(of(f32, 4, 3))
def decompositions(x):
    """The signs of singular vectors and eigenvectors are free: their products are returned."""
    u, s, vt = jnp.linalg.svd(x, full_matrices=False)
    w, v = jnp.linalg.eigh(x.T @ x)
    return jnp.linalg.qr(x), jnp.abs(u), s, u * s @ vt, w, v * w @ v.T


@program(of(f32, 8))
def spectra(x):
    return jnp.fft.fft(x), jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fftshift(x)


@program(of(f32, 4, 4))
def spectrum_2d(x):
    return jnp.fft.ifft2(jnp.fft.fft2(x)).real


@program(of(u32, 2))
def threefry(key):
    key = jax.random.wrap_key_data(key)
    return jax.random.uniform(key, (5,)), jax.random.bits(key, (3,))


@program(of(u32, 2))
def random_numbers(key):
    key = jax.random.wrap_key_data(key)
    return jax.random.normal(key, (4,)), jax.random.bernoulli(key, 0.3, (4,))


@program(of(u32, 2))
def random_split(key):
    return jax.random.key_data(jax.random.split(jax.random.wrap_key_data(key), 3))


@program(of(u32, 2))
def random_choices(key):
    return jax.random.randint(jax.random.wrap_key_data(key), (4,), 0, 10)


@program(of(u32, 4))
def random_bits_rbg(key):
    return jax.random.bits(jax.random.wrap_key_data(key, impl="rbg"), (6,))


@program(of(f32, 5))
def special_functions(x):
    return lax.lgamma(x), lax.digamma(x), lax.erf_inv(x), lax.erfc(x), lax.bessel_i0e(x)


# ------------------------------------------------------------------------------------------------- whole programs


@program(of(f32, 4), of(f32, 4, 4), of(f32, 2))
def kalman_step(x, p, z):
    f = jnp.array([[1, 0, 0.1, 0], [0, 1, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1]], f32)
    h = jnp.eye(2, 4)
    x, p = f @ x, f @ p @ f.T + 0.01 * jnp.eye(4)
    s = h @ p @ h.T + 0.1 * jnp.eye(2)
    determinant = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
    inverse = jnp.array([[s[1, 1], -s[0, 1]], [-s[1, 0], s[0, 0]]]) / determinant
    gain = p @ h.T @ inverse
    return x + gain @ (z - h @ x), (jnp.eye(4) - gain @ h) @ p


@program(of(f32, 5, 3), of(f32, 5, 3), of(f32, 5))
def n_body_step(position, velocity, mass):
    offset = position[None] - position[:, None]
    inverse = lax.rsqrt(jnp.sum(offset * offset, -1) + 0.01)
    force = jnp.sum(offset * (mass[None, :] * inverse**3)[..., None], axis=1)
    velocity = velocity + 0.01 * force
    return position + 0.01 * velocity, velocity


@program(of(f32, 8, 8))
def heat_equation(u):
    def step(_, v):
        p = jnp.pad(v, 1)
        return v + 0.1 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * v)

    return lax.fori_loop(0, 12, step, u)


@program(of(u8, 8, 8))
def game_of_life(board):
    def step(_, b):
        neighbours = sum(jnp.roll(b, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        return ((neighbours == 3) | ((b == 1) & (neighbours == 2))).astype(u8)

    return lax.fori_loop(0, 4, step, board)


@program(of(f32, 12), of(f32, 12))
def mandelbrot(re, im):
    c = lax.complex(re, im)

    def step(_, s):
        z, n = s
        z = jnp.where(jnp.abs(z) <= 2, z * z + c, z)
        return z, n + (jnp.abs(z) <= 2).astype(s32)

    return lax.fori_loop(0, 20, step, (jnp.zeros_like(c), jnp.zeros(12, s32)))[1]


@program(of(f32, 6, 6), of(f32, 6))
def conjugate_gradient(a, b):
    a = a @ a.T + 6 * jnp.eye(6)

    def step(s):
        x, r, p, rr, i = s
        ap = a @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return x, r, r + new / rr * p, new, i + 1

    start = (jnp.zeros(6), b, b, b @ b, 0)
    return lax.while_loop(lambda s: (s[3] > 1e-6) & (s[4] < 10), step, start)[0]


@program(of(f32, 4))
def pendulum_control(state):
    def dynamics(s, force):
        x, v, angle, rate = s
        sine, cosine = jnp.sin(angle), jnp.cos(angle)
        push = (force + 0.05 * rate * rate * sine) / 1.1
        angular = (9.8 * sine - cosine * push) / (0.5 * (4 / 3 - 0.1 * cosine**2 / 1.1))
        return jnp.array([v, push - 0.05 * angular * cosine / 1.1, rate, angular])

    def step(s, _):
        force = jnp.clip(10 * s[2] + 2 * s[3], -10, 10)
        return s + 0.02 * dynamics(s, force), force

    return lax.scan(step, state, None, length=10)


@program(of(f32, 10, 2), of(f32, 3, 2))
def k_means(points, centres):
    def step(_, c):
        distance = jnp.sum((points[:, None] - c[None]) ** 2, -1)
        member = jax.nn.one_hot(jnp.argmin(distance, 1), 3)
        count = jnp.maximum(member.sum(0), 1)
        return member.T @ points / count[:, None]

    return lax.fori_loop(0, 5, step, centres)


@program(of(f32, 5), of(f32, 3, 3), of(f32, 3))
def forward_kinematics(angles, offset, tip):
    def link(t, a):
        c, s = jnp.cos(a), jnp.sin(a)
        return t @ jnp.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) + offset, t @ tip

    return lax.scan(link, jnp.eye(3), angles)


@program(of(f32, 16))
def haar_wavelet(x):
    parts = []
    while x.size > 1:
        parts.append((x[::2] - x[1::2]) * f32(0.5**0.5))
        x = (x[::2] + x[1::2]) * f32(0.5**0.5)
    return jnp.concatenate([x, *parts[::-1]])


@program(of(s32, 5), of(s32, 7))
def edit_distance(a, b):
    def row(previous, x):
        def cell(left, y):
            above, corner, symbol = y
            best = jnp.minimum(jnp.minimum(left, above) + 1, corner + (symbol != x))
            return best, best

        first = previous[0] + 1
        _, rest = lax.scan(cell, first, (previous[1:], previous[:-1], b))
        return jnp.concatenate([first[None], rest]), None

    return lax.scan(row, jnp.arange(8), a)[0][-1]


@program(of(u32, 4))
def hash_words(x):
    def round_(i, h):
        h = (h ^ x[i % 4]) * u32(0x01000193)
        return (h << 13) | (h >> 19)

    return lax.fori_loop(0, 16, round_, u32(0x811C9DC5))


# -------------------------------------------------------------------------------------------------------- writing

FOLDER = re.compile(r'"(?:[^"\n]*/)([^"/\n]+\.py)"')


def without_folders(text):
    return FOLDER.sub(r'"\1"', text)


def lower(name):
    function, arguments, wide = PROGRAMS[name]

    @functools.wraps(function)
    def named(*values):
        return function(*values)

    named.__name__ = name
    with jax.enable_x64(True) if wide else contextlib.nullcontext():
        lowered = jax.jit(named).lower(*arguments)
        return lowered.as_text("hlo"), without_folders(lowered.compile().as_text())


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    for name in PROGRAMS:
        before, after = lower(name)
        (folder / f"{name}.before.hlo").write_text(before)
        (folder / f"{name}.after.hlo").write_text(after)
    print(f"{len(PROGRAMS)} functions")


if __name__ == "__main__":
    jax.config.update("jax_platforms", "cpu")
    main()
