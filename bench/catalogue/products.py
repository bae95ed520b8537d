"""Matrix products of all shapes: which side is short, how operands lie, where the batch is."""

import functools

import jax
import jax.numpy as jnp
from jax import lax, nn
from row import bf16, f16, f32, f64, i32, row


def products(name, m, n, k, type=f32, tolerance=2e-3):
    """The product of m x k and k x n, each operand as it is and transposed."""
    for lhs in "nt":
        for rhs in "nt":
            contracted = ((1 if lhs == "n" else 0,), (0 if rhs == "n" else 1,))
            row(
                f"products.{name}_{lhs}{rhs}",
                functools.partial(lax.dot_general, dimension_numbers=(contracted, ((), ()))),
                type(*((m, k) if lhs == "n" else (k, m))),
                type(*((k, n) if rhs == "n" else (n, k))),
                tolerance=tolerance,
            )


products("skinny_16", 16, 16, 20_000)
products("skinny_8", 8, 8, 20_000)
products("skinny_64", 64, 64, 20_000)
products("skinny_16_f64", 16, 16, 20_000, f64, 1e-9)
products("narrow_16", 1000, 16, 1000)
products("narrow_8", 1000, 8, 1000)
products("narrow_4", 1000, 4, 1000)
products("narrow_2", 1000, 2, 1000)
products("narrow_5_f64", 1000, 5, 1000, f64, 1e-9)
products("few_rows_4", 4, 1000, 1000)
products("few_rows_17", 17, 1000, 1000)
products("tall_short_sum", 20_000, 16, 16)
products("tall_short_sum_8", 20_000, 8, 16)
products("flat_short_sum", 16, 20_000, 16)
products("short_sum_6", 1000, 96, 6)
products("short_sum_5_f64", 300, 200, 5, f64, 1e-9)
products("square_100", 100, 100, 100)
products("square_1000", 1000, 1000, 1000)
products("square_512_f64", 512, 512, 512, f64, 1e-9)
products("layer_128", 128, 784, 256)

for size, batch in ((4, 10_000), (8, 2000), (16, 1000), (32, 200), (100, 20)):
    for name, spec, lhs, rhs in (
        ("first", "bij,bjk->bik", (batch, size, size), (batch, size, size)),
        ("last", "ijb,jkb->ikb", (size, size, batch), (size, size, batch)),
        ("middle", "ibj,jbk->ibk", (size, batch, size), (size, batch, size)),
        ("last_out", "bij,bjk->ikb", (batch, size, size), (batch, size, size)),
        ("last_in", "ijb,jkb->bik", (size, size, batch), (size, size, batch)),
    ):
        row(f"products.batch_{name}_{size}", functools.partial(jnp.einsum, spec), f32(*lhs), f32(*rhs))


# An operand whose rows are of the batch.
row("products.batch_behind", functools.partial(jnp.einsum, "bmk,knb->bmn"), f32(17, 10, 100), f32(100, 65, 17))
row("products.batch_behind_3", functools.partial(jnp.einsum, "kbm,nkb->bmn"), f32(3, 16, 65), f32(256, 3, 16))
row("products.batch_behind_4", functools.partial(jnp.einsum, "mkb,nkb->bmn"), f32(64, 4, 16), f32(64, 4, 16))
row("products.batch_behind_f64", functools.partial(jnp.einsum, "bkm,nkb->bmn"), f64(64, 24, 16), f64(40, 24, 64))

# One side lies along the sum, the other one along the batch; both along a short one; a sum of one product.
row("products.batch_behind_sum", functools.partial(jnp.einsum, "bmk,nkb->bmn"), f32(15, 3, 31), f32(1500, 31, 15))
row("products.heads_16", functools.partial(jnp.einsum, "bmk,bnk->bmn"), f32(64, 16, 16), f32(64, 16, 16))
row("products.short_sum_9_s32", functools.partial(jnp.einsum, "mk,nk->mn"), i32(130, 9), i32(500, 9))
row("products.one_step", lambda a, b, c: jnp.einsum("bik,bkj->bij", a, b) + c, f32(150, 20, 1), f32(150, 1, 300), f32(150, 20, 300))
products("few_rows_8_f64", 8, 16, 1000, f64, 1e-9)
products("few_rows_12", 12, 256, 256)
products("short_sum_5", 600, 1500, 5)

row("products.columns_9_bf16", jnp.matmul, bf16(2000, 512), bf16(512, 9), tolerance=2e-2)
row("products.columns_2_bf16", jnp.matmul, bf16(2000, 512), bf16(512, 2), tolerance=2e-2)
row("products.columns_6_f16", jnp.matmul, f16(300, 300), f16(300, 6), tolerance=1e-2)

# An element of the left side that is chosen, by numbers that nobody can predict.
row("products.where_f16", lambda a, b: jnp.where(a > 0, a, 0) @ b, f16(270, 1500), f16(1500, 4))


def gram(a):
    return a @ a.T


row("products.gram_rows", gram, f32(16, 20_000))
row("products.gram_columns", lambda a: a.T @ a, f32(20_000, 16))
row("products.gram_columns_100", lambda a: a.T @ a, f32(5000, 100))
row("products.least_squares", lambda a, b: jnp.linalg.solve(a.T @ a, a.T @ b), f32(20_000, 16), f32(20_000), tolerance=None)
row("products.head_grad", jax.grad(lambda w, x: jnp.sum(jax.nn.log_softmax(x @ w))), f32(1000, 10), f32(128, 1000))
row("products.low_rank", lambda x, a, b: x + (x @ a) @ b, f32(256, 1000), f32(1000, 8), f32(8, 1000))
row("products.bilinear_rows", lambda x, w, y: jnp.einsum("bi,ij,bj->b", x, w, y), f32(1000, 64), f32(64, 64), f32(1000, 64))
row("products.covariance_f64", jnp.cov, f64(32, 10_000), tolerance=1e-9)
row("products.rank_one_update", lambda c, a, b: c - jnp.einsum("i,j->ij", a, b), f32(2000, 2000), f32(2000), f32(2000))
row("products.batch_outer_largest", lambda a, b: jnp.einsum("bi,bj->bij", a, b).max(0), f32(4096, 16), f32(4096, 32))
row("products.outer_transposed", lambda a, b: jnp.einsum("xyi,xyj->ijxy", a, b), f32(64, 64, 3), f32(64, 64, 5))
row("products.scale_columns", lambda d, x: jax.lax.dot_general(x, d, (((), ()), ((1,), (0,)))), f32(20_000), f32(16, 20_000))
row("products.gram_centred", lambda x: (x - x.mean(0)).T @ (x - x.mean(0)), f32(2000, 64))
row("products.three_heads", lambda x, p, *w: [(x + p) @ v for v in w], f32(256, 512), f32(256, 512), *[f32(512, 64)] * 3)
row("products.every_second", lambda x, w: x[:, ::2] @ w.T, f32(32, 2048), f32(1024, 1024))
row("products.scaled_heads", lambda q, k: jnp.einsum("bthd,bshd->bhts", q * 0.125, k), f32(2, 256, 8, 64), f32(2, 256, 8, 64))


def last_attended(q, k, v, w):
    """Attention and a layer behind it, of which the last token is read."""
    scores = nn.softmax(jnp.einsum("bthd,bshd->bhts", q, k) * 0.125, axis=-1)
    return nn.gelu(jnp.einsum("bhts,bshd->bthd", scores, v).reshape(*q.shape[:2], -1) @ w)[:, -1]


row("products.past_5", lambda w, x: jnp.tensordot(w, x.transpose(1, 2, 0), 1), f32(33, 4), f32(5, 4, 5000))
row("products.last_logits", lambda x, w, b: (x @ w + b)[:, -1], f32(4, 128, 256), f32(256, 2000), f32(2000))
row("products.last_attended", last_attended, *[f32(2, 256, 8, 64)] * 3, f32(512, 512))


def blur(x):
    """Weights that fall off to subnormal numbers, and to zero."""
    distance = jnp.arange(256)[:, None] - jnp.arange(256)
    weights = jax.nn.softmax(-0.5 * (distance / 2.0) ** 2, axis=1)
    return weights @ x @ weights.T


row("products.blur", blur, f32(256, 256))
