"""Public functions of jax.numpy, jax.scipy, jax.nn, jax.lax, jax.image and jax.random, on sizes that matter."""

import functools

import jax
import jax.numpy as jnp
import jax.scipy as jsp
from jax import lax, nn
from row import bf16, boolean, c64, c128, f16, f32, f64, i8, i32, i64, row, u8, u32, uniform


def rows(module, *entries):
    for name, function, *arguments in entries:
        row(f"{module}.{name}", function, *arguments)


MILLION = 1_000_000
x, y, square, other = f32(MILLION), f32(MILLION), f32(1000, 1000), f32(1000, 1000)

# ---------------------------------------------------------------------------------------------- elementwise
for name in "abs exp exp2 expm1 log1p sin cos tan tanh sinh arcsinh arctan cbrt floor rint sign square sinc i0".split():
    row(f"numpy.{name}", getattr(jnp, name), x)
for name in "sqrt log log2 log10 arcsin arccos arctanh".split():
    row(f"numpy.{name}", getattr(jnp, name), uniform(MILLION))
for name in "exp log1p sin tanh arctan cbrt expm1 sinc".split():
    row(f"numpy.{name}_f64", getattr(jnp, name), uniform(MILLION, type="float64"), tolerance=1e-9)
for name in "add multiply divide power arctan2 hypot maximum copysign fmod remainder logaddexp nextafter floor_divide".split():
    row(f"numpy.{name}", getattr(jnp, name), uniform(MILLION, low=0.1), uniform(MILLION, low=0.1))
for name in "gcd lcm bitwise_xor left_shift remainder floor_divide power".split():
    row(f"numpy.{name}_i32", getattr(jnp, name), i32(MILLION, low=1, high=30), i32(MILLION, low=1, high=6))
for name in "relu gelu silu softplus selu elu sigmoid log_sigmoid leaky_relu hard_tanh celu mish squareplus hard_swish".split():
    row(f"nn.{name}", getattr(nn, name), square)
for name in "softmax log_softmax logsumexp standardize".split():
    row(f"nn.{name}", getattr(nn, name), square)
    row(f"nn.{name}_axis0", functools.partial(getattr(nn, name), axis=0), square)
rows(
    "nn",
    ("one_hot", lambda i: nn.one_hot(i, 128), i32(10000, high=128)),
    ("glu", nn.glu, square),
    ("attention", lambda q, k, v: nn.dot_product_attention(q, k, v), f32(2, 256, 8, 64), f32(2, 256, 8, 64), f32(2, 256, 8, 64)),
    ("attention_causal", lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True), *[f32(1, 512, 4, 32)] * 3),
    ("attention_one_query", lambda q, k, v: nn.dot_product_attention(q, k, v), f32(8, 1, 8, 64), f32(8, 512, 8, 64), f32(8, 512, 8, 64)),
    ("gelu_grad", jax.grad(lambda a: nn.gelu(a).sum()), square),
    ("softmax_grad", jax.grad(lambda a: (nn.softmax(a) ** 2).sum()), square),
    ("gelu_bf16", nn.gelu, bf16(1000, 1000)),
    ("softmax_f16", nn.softmax, f16(1000, 1000)),
    ("gelu_f16", nn.gelu, f16(1000, 1000)),
    ("silu_bias_31", lambda a, b: nn.silu(a + b), f32(20000, 31), f32(31)),
)
for name in "gammaln digamma erf erfc erfinv i0e i1e ndtr log_ndtr ndtri entr expit logit xlogy bessel_jn".split():
    function = getattr(jsp.special, name)
    if name == "xlogy":
        row(f"special.{name}", function, uniform(MILLION), uniform(MILLION, low=0.1))
    elif name == "bessel_jn":
        row(f"special.{name}", lambda a: jsp.special.bessel_jn(a, v=3, n_iter=30), uniform(10000))
    else:
        row(f"special.{name}", function, uniform(MILLION, low=0.05, high=0.95))
        row(f"special.{name}_f64", function, uniform(100_000, low=0.05, high=0.95, type="float64"), tolerance=1e-9)
rows(
    "special",
    ("gammainc", jsp.special.gammainc, uniform(100_000, low=0.5, high=5), uniform(100_000, high=5)),
    ("expi", jsp.special.expi, uniform(10_000, low=0.05, high=5)),
    ("exp1", jsp.special.exp1, uniform(10_000, low=0.5, high=5)),
    ("random_gamma_grad", lax.random_gamma_grad, *[uniform(10_000, low=0.5, high=5)] * 2),
    ("betainc", jsp.special.betainc, *[uniform(100_000, low=0.5, high=3)] * 2, uniform(100_000)),
    ("zeta", jsp.special.zeta, uniform(100_000, low=1.1, high=5), uniform(100_000, low=1, high=5)),
    ("polygamma", lambda a: jsp.special.polygamma(1, a), uniform(100_000, low=0.5, high=5)),
    ("logsumexp_axes", lambda a: jsp.special.logsumexp(a, axis=(0, 2)), f32(64, 64, 256)),
    ("kl_div", jsp.special.kl_div, *[uniform(MILLION, low=0.1)] * 2),
    ("betaln", jsp.special.betaln, *[uniform(100_000, low=0.1)] * 2),
    ("norm_logpdf", jsp.stats.norm.logpdf, x),
    ("norm_cdf", jsp.stats.norm.cdf, x),
    ("t_logpdf", lambda a: jsp.stats.t.logpdf(a, 4.0), x),
    ("gamma_logpdf", lambda a: jsp.stats.gamma.logpdf(a, 2.0), uniform(MILLION, low=0.1)),
    ("poisson_logpmf", lambda k: jsp.stats.poisson.logpmf(k, 3.0), i32(MILLION, high=10)),
    ("multivariate_normal", lambda a: jsp.stats.multivariate_normal.logpdf(a, jnp.zeros(8), jnp.eye(8)), f32(10000, 8)),
    ("gaussian_kde", lambda d, p: jsp.stats.gaussian_kde(d)(p), f32(1000), f32(1000)),
)
row("nn.softmax_bf16", nn.softmax, bf16(1000, 1000), tolerance=1e-2)
# ------------------------------------------------------------------------------------------------- reductions
for name in "sum mean var std max min prod any argmax argmin ptp nansum nanmean nanmax count_nonzero".split():
    function = getattr(jnp, name)
    row(f"numpy.{name}", function, square)
    row(f"numpy.{name}_axis0", functools.partial(function, axis=0), square)
    row(f"numpy.{name}_axis1", functools.partial(function, axis=1), square)
for name in "sum max argmax var".split():
    function = getattr(jnp, name)
    row(f"numpy.{name}_middle", functools.partial(function, axis=1), f32(100, 100, 100))
    row(f"numpy.{name}_short_rows", functools.partial(function, axis=1), f32(100_000, 10))
    row(f"numpy.{name}_bf16", functools.partial(function, axis=1), bf16(1000, 1000))
    row(f"numpy.{name}_f64", functools.partial(function, axis=1), f64(1000, 1000))
rows(
    "numpy",
    ("argmax_row", jnp.argmax, x),
    ("argmin_row_i32", jnp.argmin, i32(MILLION, high=MILLION)),
    ("max_rows_of_100", lambda a: a.max(axis=2), f32(64, 128, 100)),
    ("min_and_max_rows_of_100", lambda a: (a.min(axis=2), a.max(axis=2)), f32(64, 128, 100)),
)
for name in "cumsum cumprod median percentile nanmedian quantile sort argsort unique_counts average diff".split():
    if name in ("percentile", "quantile"):
        function = lambda a, name=name: getattr(jnp, name)(a, 0.3, axis=-1)
    elif name == "unique_counts":
        function = lambda a: jnp.unique(jnp.round(a * 10), size=128)
    elif name in ("median", "nanmedian"):
        function = functools.partial(getattr(jnp, name), axis=-1)
    else:
        function = getattr(jnp, name)
    row(f"numpy.{name}_rows", function, f32(200, 500))
    if name not in ("average", "diff", "nanmedian"):
        row(f"numpy.{name}_line", function, f32(100_000))
rows(
    "numpy",
    ("cumsum_axis0", lambda a: jnp.cumsum(a, axis=0), square),
    ("cumsum_axis1", lambda a: jnp.cumsum(a, axis=1), square),
    ("cumsum_pairs", lambda a: jnp.cumsum(a, axis=1), f32(100_000, 2)),
    ("cummax", lambda a: lax.cummax(a, axis=1), square),
    ("cumlogsumexp", lambda a: lax.cumlogsumexp(a, axis=1), square),
    ("moments_of_columns", lambda a: (a.mean(0), (a * a).mean(0)), f32(20_000, 100)),
    ("scaled_columns", lambda a: (a - a.min(0)) / (a.max(0) - a.min(0)), f32(40_000, 40)),
    ("batch_of_one", lambda a: (a - a.mean(0)) / (a.std(0) + a.max(0)), f32(1, 1000, 700)),
    ("histogram", lambda a: jnp.histogram(a, bins=64)[0], x),
    ("histogram2d", lambda a, b: jnp.histogram2d(a, b, bins=32)[0], f32(100_000), f32(100_000)),
    ("bincount", lambda i: jnp.bincount(i, length=100), i32(MILLION)),
    ("bincount_weights", lambda i, w: jnp.bincount(i, w, length=100), i32(MILLION), x),
    ("digitize", lambda a: jnp.digitize(a, jnp.arange(-3.0, 3.0, 0.125)), x),
    ("searchsorted", lambda a, v: jnp.searchsorted(jnp.sort(a), v), f32(1000), f32(100_000)),
    ("interp", lambda a: jnp.interp(a, jnp.linspace(-3, 3, 1000), jnp.linspace(0, 1, 1000) ** 2), x),
    ("convolve", lambda a: jnp.convolve(a, jnp.ones(64) / 64, mode="same"), f32(100_000)),
    ("correlate", lambda a, b: jnp.correlate(a, b, mode="full"), f32(2000), f32(500)),
    ("polyval", lambda a: jnp.polyval(jnp.arange(1.0, 9.0), a), x),
    ("polyfit", lambda a, b: jnp.polyfit(a, b, 3), f32(1000), f32(1000)),
    ("gradient", lambda a: jnp.gradient(a), square),
    ("trapezoid", jnp.trapezoid, square),
    ("cov", jnp.cov, f32(100, 1000)),
    ("corrcoef", jnp.corrcoef, f32(100, 1000)),
    ("where", lambda a, b: jnp.where(a > 0, a, b), x, y),
    ("select", lambda a: jnp.select([a < -1, a < 0, a < 1], [a, a * 2, a * 3], 0.0), x),
    ("piecewise", lambda a: jnp.piecewise(a, [a < 0, a >= 0], [lambda v: -v, lambda v: v * v]), x),
    ("clip", lambda a: jnp.clip(a, -1, 1), x),
    ("nan_to_num", jnp.nan_to_num, x),
    ("allclose", jnp.allclose, x, y),
    ("lexsort", lambda a, b: jnp.lexsort((a, b)), i32(50_000), i32(50_000)),
    ("lexsort_f32", lambda a, b, c: jnp.lexsort((a, b, c)), *[f32(20_000)] * 3),
    ("lexsort_rows", lambda a, b: jnp.lexsort((a, b)), i32(100, 500), i32(100, 500)),
    ("sort_complex", lambda a, b: jnp.sort(a + 1j * b), f32(20_000), f32(20_000)),
    ("partition", lambda a: jnp.partition(a, 10, axis=-1), f32(100, 1000)),
    ("argpartition", lambda a: jnp.argpartition(a, 10, axis=-1), f32(100, 1000)),
    ("nonzero", lambda a: jnp.nonzero(a > 1, size=20_000)[0], f32(100_000)),
    ("compress_where", lambda a: jnp.where(a > 0, size=600_000)[0], x),
    ("isin", lambda a: jnp.isin(a, jnp.arange(0, 1000, 7)), i32(100_000, high=1000)),
    ("setdiff", lambda a: jnp.setdiff1d(a, jnp.arange(50), size=100), i32(10_000)),
)
# ------------------------------------------------------------------------------------------------------ moves
rows(
    "moves",
    ("transpose", jnp.transpose, f32(1021, 1021)),
    ("transpose_add", lambda a, b: a + b.T, f32(1021, 1021), f32(1021, 1021)),
    ("transpose_3", lambda a: a.transpose(2, 0, 1), f32(100, 100, 100)),
    ("transpose_4", lambda a: a.transpose(0, 2, 1, 3), f32(16, 64, 16, 64)),
    ("transpose_u8", lambda a: a.T, u8(1000, 1000)),
    ("stack_turned", lambda a, b: jnp.stack([a.T, b.T], -1), f32(256, 512), f32(256, 512)),
    ("repeat_turned", lambda a: jnp.repeat(a, 2, 0).T, f32(256, 512)),
    ("pad_turned", lambda a: jnp.pad(a.T[..., None], ((0, 0), (0, 0), (0, 1))), f32(256, 512)),
    ("cumsum_turned", lambda a: jnp.cumsum(a.transpose(0, 2, 1), 0), f32(10, 128, 512)),
    ("roll_computed", lambda a: jnp.roll(nn.gelu(a), 4, 0), f32(500, 1000)),
    ("pad_computed", lambda a: jnp.pad(jnp.sqrt(jnp.abs(jnp.diff(a, axis=0))), ((0, 0), (2, 3), (0, 0)), mode="wrap"), f32(7, 512, 64)),
    ("min_of_moved", lambda a: a.T.reshape(-1).min(), f64(8, 100_000)),
    ("max_of_moved", lambda a: jnp.concatenate([a, a[:, :, ::-1]], 2).transpose(0, 2, 1).reshape(-1, 30).max(1), u8(7, 30, 300)),
    ("sum_exp_of_7", lambda a: jnp.exp(a).sum(1), f32(1000, 100, 7)),
    ("sign_c64", jnp.sign, c64(300, 400)),
    ("take_clouds", lambda a, i: a[i], f32(128, 256, 3), i32(100, high=128)),
    ("transpose_bf16", lambda a: a.T, bf16(1000, 1000)),
    ("transpose_u8_tall", lambda a: a.T, u8(4096, 2048)),
    ("transpose_f64_1024", lambda a: a.T, f64(1024, 1024)),
    ("transpose_reverse_3_bf16", lambda a: a.transpose(2, 1, 0), bf16(256, 256, 16)),
    ("transpose_cycle_3_u8", lambda a: a.transpose(1, 2, 0), u8(64, 96, 128)),
    ("transpose_reverse_5", lambda a: a.transpose(4, 3, 2, 1, 0), f32(8, 12, 16, 20, 24)),
    ("transpose_heads", lambda a: a.transpose(0, 2, 3, 1), f32(4, 512, 8, 64)),
    ("pixels_normalised", lambda a: (a.transpose(0, 3, 1, 2).astype("float32") - 127) * 0.01, u8(4, 224, 224, 3)),
    ("pixels_mirrored", lambda a: a[:, :, ::-1], u8(4, 224, 224, 3)),
    ("pixels_mirrored_f32", lambda a: a[:, :, ::-1], f32(4, 224, 224, 3)),
    ("nchw_to_nhwc", lambda a: a.transpose(0, 2, 3, 1), f32(8, 64, 56, 56)),
    ("roll", lambda a: jnp.roll(a, 3, axis=1), square),
    ("roll_0", lambda a: jnp.roll(a, 3, axis=0), square),
    ("roll_both", lambda a: jnp.roll(a, (1, -1), (0, 1)), square),
    ("flip", lambda a: jnp.flip(a, 1), square),
    ("rot90", jnp.rot90, square),
    ("repeat_twice", lambda a: jnp.repeat(a, 2, axis=1), f32(500, 1000)),
    ("tile", lambda a: jnp.tile(a, (3, 4)), f32(300, 300)),
    ("repeat", lambda a: jnp.repeat(a, 4, axis=1), f32(1000, 250)),
    ("pad_reflect", lambda a: jnp.pad(a, 5, mode="reflect"), square),
    ("pad_edges_u8", lambda a: (jnp.pad(a, ((3, 5), (7, 1), (0, 0)), "symmetric"), jnp.pad(a, 3, "edge")), u8(301, 203, 3)),
    ("pad_wrap", lambda a: jnp.pad(a, 5, mode="wrap"), square),
    ("pad_constant", lambda a: jnp.pad(a, ((1, 2), (3, 4))), square),
    ("concatenate_0", lambda a, b: jnp.concatenate([a, b]), f32(333, 777), f32(333, 777)),
    ("concatenate_1", lambda a, b: jnp.concatenate([a, b], axis=1), f32(1000, 333), f32(1000, 335)),
    ("concatenate_ten", lambda a: jnp.concatenate([a * i for i in range(10)], axis=1), f32(1000, 33)),
    ("stack_0", lambda a, b: jnp.stack([a, b]), x, y),
    ("stack_last", lambda a, b: jnp.stack([a, b], axis=-1), x, y),
    ("stack_three", lambda a, b: jnp.stack([a, b, a + b], axis=-1), x, y),
    ("split", lambda a: jnp.split(a, 4, axis=1), square),
    ("strided", lambda a: a[::2, ::3], square),
    ("reverse_strided", lambda a: a[:, ::-2], square),
    ("take_rows", lambda a, i: a[i], square, i32(1000, high=1000)),
    ("take_columns", lambda a, i: a[:, i], square, i32(1000, high=1000)),
    ("take_pairs", lambda a, i, j: a[i, j], square, i32(100_000, high=1000), i32(100_000, high=1000)),
    ("take_along", lambda a, i: jnp.take_along_axis(a, i, axis=1), square, i32(1000, 100, high=1000)),
    ("embedding", lambda t, i: t[i], f32(10_000, 128), i32(2048, high=10_000)),
    ("embedding_grad", jax.grad(lambda t, i: (t[i] ** 2).sum()), f32(10_000, 128), i32(2048, high=10_000)),
    ("scatter_rows", lambda a, i, v: a.at[i].set(v), square, i32(100, high=1000), f32(100, 1000)),
    ("scatter_add", lambda a, i, v: a.at[i].add(v), f32(1000), i32(100_000, high=1000), f32(100_000)),
    ("scatter_max", lambda a, i, v: a.at[i].max(v), f32(1000), i32(100_000, high=1000), f32(100_000)),
    ("scatter_2d", lambda a, i, j: a.at[i, j].add(1.0), square, i32(100_000, high=1000), i32(100_000, high=1000)),
    ("scatter_columns", lambda a, i, v: a.at[:, i].add(v), square, i32(500, high=1000), f32(1000, 500)),
    ("segment_softmax_sum", lambda v, i: jax.ops.segment_sum(jnp.exp(v), i, 1000), f32(100_000), i32(100_000, high=1000)),
    ("bytes_joined", lambda a, b: (jnp.stack([a, b, a ^ b], axis=-1).ravel() == 7).sum(), *[u8(300_000)] * 2),
    ("regrouped", lambda a: (a.ravel()[:96_096] * 2).reshape(-1, 8).sum(1), f32(100, 31, 31)),
    ("every_sixth", lambda a: (a[::2, ::2] * 3 + a[1::2, ::2]).astype("uint8"), u8(1080, 1920, 3)),
    ("middle_of_short_rows", lambda a: a[:, 1:8] * 2, u8(50_000, 9)),
    ("set_last", lambda a, i, b: a.at[:, :, i].set(b), f32(20, 256, 7), i32(1000, high=7), f32(20, 256, 1000)),
    ("set_block", lambda a, v: a.at[10:110, 20:220].set(v), square, f32(100, 200)),
    ("set_column", lambda a, v: a.at[:, 7].set(v), square, f32(1000)),
    ("set_border", lambda a: a.at[0].set(0).at[-1].set(0).at[:, 0].set(0).at[:, -1].set(0), square),
    ("segment_sum", lambda v, i: jax.ops.segment_sum(v, i, 1000), f32(100_000, 8), i32(100_000, high=1000)),
    ("segment_max", lambda v, i: jax.ops.segment_max(v, i, 1000), f32(100_000), i32(100_000, high=1000)),
    ("diag", jnp.diag, f32(1000)),
    ("diagonal", jnp.diagonal, square),
    ("tril", jnp.tril, square),
    ("triu_indices", lambda a: a[jnp.triu_indices(300)], f32(300, 300)),
    ("meshgrid", lambda a, b: jnp.meshgrid(a, b), f32(1000), f32(1000)),
    ("outer", jnp.outer, f32(1000), f32(1000)),
    ("broadcast_column", lambda a, b: a * b[:, None], square, f32(1000)),
    ("kron", jnp.kron, f32(30, 30), f32(30, 30)),
    ("vander", lambda a: jnp.vander(a, 16), f32(10_000)),
    ("astype_bf16", lambda a: a.astype(jnp.bfloat16), x),
    ("astype_i8", lambda a: (a * 10).astype(jnp.int8), x),
    ("astype_u8_f32", lambda a: a.astype(jnp.float32) / 255, u8(MILLION)),
    ("astype_f16", lambda a: a.astype(jnp.float16), x),
    ("bitcast", lambda a: lax.bitcast_convert_type(a, jnp.uint32) >> 7, x),
    ("packbits", jnp.packbits, boolean(MILLION)),
    ("unpackbits", jnp.unpackbits, u8(100_000)),
    ("dynamic_slice", lambda a, i: lax.dynamic_slice(a, (i[0], i[1]), (500, 500)), square, i32(2)),
    ("dynamic_update", lambda a, v, i: lax.dynamic_update_slice(a, v, (i[0], i[1])), square, f32(100, 100), i32(2)),
    ("nearest", lambda a: jax.image.resize(a, (224, 224, 3), "nearest"), f32(256, 256, 3)),
    ("bilinear", lambda a: jax.image.resize(a, (224, 224, 3), "bilinear"), f32(256, 256, 3)),
    ("bicubic", lambda a: jax.image.resize(a, (512, 512, 3), "bicubic"), f32(256, 256, 3)),
    ("lanczos", lambda a: jax.image.resize(a, (100, 100, 3), "lanczos3"), f32(256, 256, 3)),
    ("map_coordinates", lambda a, i, j: jsp.ndimage.map_coordinates(a, [i, j], order=1), f32(256, 256), *[uniform(256, 256, high=255)] * 2),
)
# -------------------------------------------------------------------------------------------------- products
for m, k, n in ((64, 64, 64), (128, 784, 256), (512, 512, 512), (1024, 1024, 1024), (1, 1024, 1024), (1024, 1024, 1), (2000, 16, 2000), (16, 20000, 16), (333, 777, 555)):
    row(f"products.f32_{m}x{k}x{n}", jnp.matmul, f32(m, k), f32(k, n))
for n in (8, 64, 512):
    row(f"products.f64_{n}", jnp.matmul, f64(n, n), f64(n, n))
    row(f"products.c64_{n}", jnp.matmul, c64(n, n), c64(n, n))
    row(f"products.bf16_{n}", jnp.matmul, bf16(n, n), bf16(n, n), tolerance=2e-2)
    row(f"products.bf16_to_f32_{n}", functools.partial(jnp.matmul, preferred_element_type=jnp.float32), bf16(n, n), bf16(n, n))
    row(f"products.i8_{n}", functools.partial(jnp.matmul, preferred_element_type=jnp.int32), i8(n, n), i8(n, n))
    row(f"products.i32_{n}", jnp.matmul, i32(n, n), i32(n, n))
    row(f"products.transposed_a_{n}", lambda a, b: a.T @ b, f32(n, n), f32(n, n))
    row(f"products.transposed_b_{n}", lambda a, b: a @ b.T, f32(n, n), f32(n, n))
    row(f"products.transposed_result_{n}", lambda a, b: (a @ b).T * 2, f32(n, n), f32(n, n))
rows(
    "products",
    ("batched_4", jnp.matmul, f32(10_000, 4, 4), f32(10_000, 4, 4)),
    ("batched_16", jnp.matmul, f32(1000, 16, 16), f32(1000, 16, 16)),
    ("batched_64", jnp.matmul, f32(64, 64, 64), f32(64, 64, 64)),
    ("batched_vector", lambda a, v: jnp.einsum("bij,bj->bi", a, v), f32(1000, 32, 32), f32(1000, 32)),
    ("batched_last", lambda a, b: jnp.einsum("ijb,jkb->ikb", a, b), f32(32, 32, 64), f32(32, 32, 64)),
    ("heads", lambda q, k: jnp.einsum("bthd,bshd->bhts", q, k), f32(2, 256, 8, 64), f32(2, 256, 8, 64)),
    ("bilinear", lambda u, w, v: jnp.einsum("bi,kij,bj->bk", u, w, v), f32(128, 32), f32(16, 32, 32), f32(128, 32)),
    ("tensordot", lambda a, b: jnp.tensordot(a, b, axes=((0, 2), (1, 0))), f32(16, 64, 32), f32(32, 16, 64)),
    ("middle", lambda a, b: jnp.einsum("ijk,jl->ilk", a, b), f32(32, 64, 128), f32(64, 64)),
    ("vdot", jnp.vdot, x, y),
    ("inner", jnp.inner, f32(300, 500), f32(300, 500)),
    ("chain", lambda a, b, c: jnp.linalg.multi_dot([a, b, c]), f32(200, 300), f32(300, 20), f32(20, 400)),
    ("gram", lambda a: a.T @ a, f32(2000, 64)),
    ("distances", lambda a, b: jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)), f32(500, 3), f32(500, 3)),
    ("distances_wide", lambda a, b: ((a[:, None] - b[None]) ** 2).sum(-1), f32(300, 64), f32(300, 64)),
    ("dense_relu", lambda a, w, b: nn.relu(a @ w + b), f32(128, 256), f32(256, 256), f32(256)),
    ("matrix_power", lambda a: jnp.linalg.matrix_power(a, 5), f32(100, 100)),
    ("triangle", lambda a: jnp.einsum("ij,jk,ki->", a, a, a), f32(200, 200)),
    ("trace_product", lambda a, b: jnp.trace(a @ b), f32(300, 300), f32(300, 300)),
    ("strided_contraction", lambda a, b: jnp.einsum("ij,ik->jk", a[:, ::2], b[:, ::2]), f32(500, 400), f32(500, 400)),
)
# ------------------------------------------------------------------------------------------ convolutions, windows


def conv(strides=(1, 1), padding="SAME", groups=1, dilation=None, lhs=None, numbers=("NHWC", "HWIO", "NHWC")):
    return lambda a, w: lax.conv_general_dilated(
        a, w, strides, padding, lhs, dilation, dimension_numbers=numbers, feature_group_count=groups
    )


LAYERS = {
    "3x3_64": (conv(), f32(1, 56, 56, 64), f32(3, 3, 64, 64)),
    "3x3_128_stride": (conv((2, 2)), f32(1, 56, 56, 64), f32(3, 3, 64, 128)),
    "3x3_256_8x8": (conv(), f32(4, 8, 8, 256), f32(3, 3, 256, 256)),
    "3x3_512_7x7": (conv(), f32(1, 7, 7, 512), f32(3, 3, 512, 512)),
    "1x1_256": (conv(), f32(4, 14, 14, 256), f32(1, 1, 256, 64)),
    "7x7_stem": (conv((2, 2)), f32(1, 224, 224, 3), f32(7, 7, 3, 64)),
    "5x5_mnist": (conv(), f32(32, 28, 28, 1), f32(5, 5, 1, 16)),
    "3x3_16_batch": (conv(), f32(32, 28, 28, 16), f32(3, 3, 16, 32)),
    "depthwise": (conv(groups=64), f32(4, 28, 28, 64), f32(3, 3, 1, 64)),
    "depthwise_stride": (conv((2, 2), groups=64), f32(4, 56, 56, 64), f32(3, 3, 1, 64)),
    "3x3_64_bf16": (conv(), bf16(2, 28, 28, 64), bf16(3, 3, 64, 64)),
    "3x3_32_f64": (conv(), f64(2, 28, 28, 32), f64(3, 3, 32, 32)),
    "groups_4": (conv(groups=4), f32(4, 28, 28, 64), f32(3, 3, 16, 64)),
    "dilated": (conv(dilation=(2, 2)), f32(4, 28, 28, 32), f32(3, 3, 32, 32)),
    "transposed": (conv(lhs=(2, 2), padding=((2, 2), (2, 2))), f32(4, 14, 14, 64), f32(4, 4, 64, 32)),
    "stem_3x3": (conv(), f32(8, 64, 64, 3), f32(3, 3, 3, 32)),
    "stem_grey": (conv(), f32(32, 28, 28, 1), f32(3, 3, 1, 32)),
    "stem_nchw": (conv(numbers=("NCHW", "OIHW", "NCHW")), f32(8, 3, 64, 64), f32(32, 3, 3, 3)),
    "transposed_few": (conv(padding=((2, 2), (2, 2)), lhs=(2, 2)), f32(8, 16, 16, 7), f32(4, 4, 7, 5)),
    "to_rgb": (conv(), f32(1, 128, 128, 64), f32(3, 3, 64, 3)),
    "to_6_f64": (conv(), f64(1, 64, 64, 64), f64(3, 3, 64, 6)),
    "odd_31_to_7": (conv(), f32(2, 64, 64, 31), f32(3, 3, 31, 7)),
    "12_to_31": (conv((2, 2)), f32(8, 56, 56, 12), f32(3, 3, 12, 31)),
    "1x1_24": (conv(), f32(4, 56, 56, 24), f32(1, 1, 24, 20)),
    "patches": (conv((16, 16)), f32(1, 224, 224, 3), f32(16, 16, 3, 192)),
    "stride_3_bf16": (conv((3, 3)), bf16(2, 57, 57, 20), bf16(3, 3, 20, 6)),
    "nchw": (conv(numbers=("NCHW", "OIHW", "NCHW")), f32(4, 64, 28, 28), f32(64, 64, 3, 3)),
    "audio": (
        lambda a, w: lax.conv_general_dilated(a, w, (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
        f32(4, 4000, 32),
        f32(9, 32, 64),
    ),
    "audio_stem": (
        lambda a, w: lax.conv_general_dilated(a, w, (4,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
        f32(4, 16000, 1),
        f32(16, 1, 64),
    ),
    "volume_stride": (
        lambda a, w: lax.conv_general_dilated(a, w, (2, 2, 2), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
        f32(1, 16, 32, 32, 16),
        f32(3, 3, 3, 16, 32),
    ),
    "volume": (
        lambda a, w: lax.conv_general_dilated(a, w, (1, 1, 1), "SAME", dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
        f32(1, 16, 32, 32, 16),
        f32(3, 3, 3, 16, 16),
    ),
}
for name, (function, a, w) in LAYERS.items():
    square_sum = lambda a, w, f=function: (f(a, w) ** 2).sum()
    row(f"convolution.{name}", function, a, w)
    row(f"convolution.{name}_input", jax.grad(square_sum), a, w)
    row(f"convolution.{name}_weights", jax.grad(square_sum, argnums=1), a, w)


def heat_maps(x, y, w):
    """Gaussians around points, as of joints of a body, whose tails are subnormal."""
    squares = (jnp.arange(64)[:, None, None] - x) ** 2 + (jnp.arange(64)[None, :, None] - y) ** 2
    return conv()(jnp.exp(-squares / 8)[None], w)


row("convolution.heat_maps", heat_maps, uniform(16, low=0.0, high=64.0), uniform(16, low=0.0, high=64.0), f32(3, 3, 16, 32))
row("convolution.heat_maps_weights", jax.grad(lambda x, y, w: (heat_maps(x, y, w) ** 2).sum(), argnums=2), uniform(16, low=0.0, high=64.0), uniform(16, low=0.0, high=64.0), f32(3, 3, 16, 32))
rows(
    "window",
    ("max_pool", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), f32(32, 28, 28, 32)),
    ("max_pool_3", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), f32(4, 56, 56, 64)),
    ("average_pool", lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), f32(32, 28, 28, 32)),
    (
        "max_pool_grad",
        jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum()),
        f32(8, 28, 28, 32),
    ),
    ("moving_sum", lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 15), (1, 1), "SAME"), square),
    ("dilate", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (9, 9), (1, 1), "SAME"), f32(300, 300)),
    ("dilate_rgb_u8", lambda a: lax.reduce_window(a, jnp.uint8(0), lax.max, (5, 5, 1), (1, 1, 1), "SAME"), u8(300, 400, 3)),
    ("box_rgb", lambda a: lax.reduce_window(a, 0.0, lax.add, (1, 7, 1), (1, 1, 1), "SAME"), f32(200, 300, 3)),
    (
        "erode_3d",
        lambda a: lax.reduce_window(a, jnp.inf, lax.min, (1, 2, 3, 3), (1, 2, 1, 3), ((0, 0), (0, 1), (1, 1), (1, 1))),
        f32(3, 5, 7, 1000),
    ),
    ("patches", lambda a: lax.conv_general_dilated_patches(a, (3, 3), (1, 1), "SAME"), f32(2, 8, 56, 56)),
)
# ------------------------------------------------------------------------------------------- sort, top-k, random
for n in (100, 10_000, 1_000_000):
    row(f"sort.f32_{n}", jnp.sort, f32(n))
    row(f"sort.argsort_{n}", jnp.argsort, f32(n))
row("sort.i32", jnp.sort, i32(100_000, high=1 << 30))
row("sort.f64", jnp.sort, f64(100_000))
row("sort.i64_rows", lambda a: jnp.sort(a, axis=1), i64(300, 101, high=1 << 40))
row("sort.bf16", jnp.sort, bf16(100_000))
row("sort.axis0", lambda a: jnp.sort(a, axis=0), f32(1000, 100))
row("sort.pairs", lambda a, b: lax.sort((a, b), num_keys=1), f32(100_000), i32(100_000))
row("sort.two_keys", lambda a, b: lax.sort((a, b), num_keys=2), i32(100_000, high=100), f32(100_000))
row("sort.descending", lambda a: jnp.sort(a, descending=True), f32(100_000))
for k, n in ((1, 100_000), (10, 5000), (100, 100_000), (50, 1000)):
    row(f"sort.top_{k}_of_{n}", lambda a, k=k: lax.top_k(a, k), f32(n))
row("sort.top_rows", lambda a: lax.top_k(a, 8), f32(64, 1000))
row("sort.beam", lambda a: lax.top_k(a.reshape(-1), 5), f32(5, 32_000))
key = u32(2, high=1 << 31)
random = lambda function: lambda k: function(jax.random.wrap_key_data(k))
for name, draw in {
    "bits": lambda k: jax.random.bits(k, (MILLION,)),
    "uniform": lambda k: jax.random.uniform(k, (MILLION,)),
    "normal": lambda k: jax.random.normal(k, (MILLION,)),
    "normal_small": lambda k: jax.random.normal(k, (100,)),
    "randint": lambda k: jax.random.randint(k, (MILLION,), 0, 100),
    "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (MILLION,)),
    "exponential": lambda k: jax.random.exponential(k, (MILLION,)),
    "gamma": lambda k: jax.random.gamma(k, 2.0, (10_000,)),
    "beta": lambda k: jax.random.beta(k, 2.0, 3.0, (10_000,)),
    "poisson": lambda k: jax.random.poisson(k, 3.0, (10_000,)),
    "categorical": lambda k: jax.random.categorical(k, jnp.zeros((1000, 100))),
    "choice": lambda k: jax.random.choice(k, 10_000, (100,), replace=False),
    "permutation": lambda k: jax.random.permutation(k, 10_000),
    "gumbel": lambda k: jax.random.gumbel(k, (MILLION,)),
    "dirichlet": lambda k: jax.random.dirichlet(k, jnp.ones(5), (1000,)),
    "truncated": lambda k: jax.random.truncated_normal(k, -2, 2, (100_000,)),
    "orthogonal": lambda k: jax.random.orthogonal(k, 32),
    "multivariate": lambda k: jax.random.multivariate_normal(k, jnp.zeros(8), jnp.eye(8), (1000,)),
    "split": lambda k: jax.random.key_data(jax.random.split(k, 1000)),
    "binomial": lambda k: jax.random.binomial(k, 20, 0.3, (1000,)),
}.items():
    row(f"random.{name}", random(draw), key, tolerance=None if name == "orthogonal" else 2e-3)
# ------------------------------------------------------------------------------------- linear algebra, transforms
spd = lambda a: a @ jnp.swapaxes(a, -1, -2) + a.shape[-1] * jnp.eye(a.shape[-1])
for n, batch in ((3, 10_000), (8, 2000), (16, 1000), (64, 16), (256, 1)):
    a, b = f32(batch, n, n), f32(batch, n, 1)
    row(f"linalg.cholesky_{n}", lambda a: jnp.linalg.cholesky(spd(a)), a)
    row(f"linalg.solve_{n}", lambda a, b: jnp.linalg.solve(spd(a), b), a, b)
    row(f"linalg.inv_{n}", lambda a: jnp.linalg.inv(spd(a)), a)
    row(f"linalg.det_{n}", lambda a: jnp.linalg.slogdet(spd(a))[1], a)
    row(f"linalg.qr_{n}", lambda a: jnp.linalg.qr(a), a, tolerance=None)
    row(f"linalg.eigh_{n}", lambda a: jnp.linalg.eigh(spd(a)), a, tolerance=None)
    row(f"linalg.svd_{n}", lambda a: jnp.linalg.svd(a), a, tolerance=None)
# Of points far apart: f32 has subnormal numbers where these hardly see each other.
kernel = lambda x: jnp.exp(-0.5 * ((x[:, None] - x) * 9) ** 2) + jnp.eye(x.shape[0])
rows(
    "linalg",
    ("kernel_cholesky", lambda x: jnp.linalg.cholesky(kernel(x)), f32(200)),
    ("kernel_solve", lambda x, b: jnp.linalg.solve(kernel(x), b), f32(200), f32(200)),
    ("kernel_inverse", lambda x: jnp.linalg.inv(kernel(x)), f32(100)),
    ("kernel_times_8", lambda x, b: kernel(x) @ b, f32(1000), f32(1000, 8)),
    ("kernel_squared", lambda x: kernel(x) @ kernel(x), f32(500)),
    ("cho_solve", lambda a, b: jsp.linalg.cho_solve(jsp.linalg.cho_factor(spd(a)), b), f32(100, 100), f32(100, 10)),
    ("lstsq", lambda a, b: jnp.linalg.lstsq(a, b)[0], f32(500, 20), f32(500)),
    ("pinv", jnp.linalg.pinv, f32(100, 30)),
    ("expm", lambda a: jsp.linalg.expm(a / 10), f32(64, 64)),
    ("norms", lambda a: jnp.linalg.norm(a, axis=-1), f32(100_000, 3)),
    ("cross", jnp.cross, f32(100_000, 3), f32(100_000, 3)),
    ("triangular", lambda a, b: jsp.linalg.solve_triangular(spd(a), b, lower=True), f32(256, 256), f32(256, 16)),
    ("tridiagonal", lambda a, b: lax.linalg.tridiagonal_solve(a, a + 4, a, b), uniform(1000), f32(1000, 1)),
    ("toeplitz", lambda a: jsp.linalg.toeplitz(a), f32(500)),
    ("block_diag", lambda a: jsp.linalg.block_diag(*[a] * 8), f32(64, 64)),
)
for name, n in (("fft", 1024), ("fft", 100_003), ("rfft", 1 << 18), ("ifft", 1000), ("fft2", 256), ("irfft", 4097)):
    shape = (n, n) if name == "fft2" else (8, n)
    row(f"fft.{name}_{n}", getattr(jnp.fft, name), f32(*shape) if name == "rfft" else c64(*shape))
rows(
    "fft",
    ("fftshift", jnp.fft.fftshift, f32(1000, 1000)),
    ("stft", lambda a: jsp.signal.stft(a, nperseg=256)[2], f32(50_000)),
    ("welch", lambda a: jsp.signal.welch(a, nperseg=256)[1], f32(50_000)),
    ("fftconvolve", lambda a, b: jsp.signal.fftconvolve(a, b, mode="same"), f32(20_000), f32(500)),
    ("convolve2d", lambda a, b: jsp.signal.convolve2d(a, b, mode="same"), f32(256, 256), f32(7, 7)),
    ("dct", lambda a: jsp.fft.dct(a, norm="ortho"), f32(100, 512)),
    ("detrend", lambda a: jsp.signal.detrend(a), f32(100, 1000)),
)
# ------------------------------------------------------------------------------------------------- complex numbers
for name in "multiply divide add".split():
    row(f"complex.{name}", getattr(jnp, name), c64(MILLION), c64(MILLION))
for name in "abs angle exp sqrt conj square real log sin".split():
    row(f"complex.{name}", getattr(jnp, name), c64(100_000))
rows(
    "complex",
    ("transpose", jnp.transpose, c64(300, 400)),
    ("transpose_add", lambda a: a.T + 1, c64(300, 400)),
    ("transpose_c128", jnp.transpose, c128(300, 400)),
    ("every_other", lambda a: a[::2] + a[1::2], c64(100_000)),
    ("butterfly", lambda a: jnp.stack([a[::2] + a[1::2], a[::2] - a[1::2]], -1).ravel(), c64(65_536)),
    ("take", lambda a, i: a[i] * 2, c64(10_000), i32(30_000, high=10_000)),
    ("gate_outer", lambda a, g: jnp.einsum("ab,xby->xay", g, a.reshape(1, 2, -1)), c64(65_536), c64(2, 2)),
    ("gate_inner", lambda a, g: jnp.einsum("ab,xb->xa", g, a.reshape(-1, 2)), c64(65_536), c64(2, 2)),
    ("batch_2x2", lambda a, b: a @ b, c64(10_000, 2, 2), c64(10_000, 2, 2)),
    ("row_times_matrix", lambda a, b: a @ b, c64(300), c64(300, 301)),
    ("matmul", jnp.matmul, c64(200, 200), c64(200, 200)),
    ("matmul_transposed", lambda a, b: a @ b.T, c64(130, 64), c64(500, 64)),
    ("covariance", lambda a: a @ jnp.conj(a).T, c64(64, 2000)),
    ("batch_behind", functools.partial(jnp.einsum, "bmk,knb->bmn"), c64(6, 9, 512), c64(512, 127, 6)),
    ("transpose_columns", jnp.transpose, c64(50_000, 9)),
    ("phase", lambda a: jnp.exp(1j * a), x),
    ("power_spectrum", lambda a: (a * jnp.conj(a)).real, c64(MILLION)),
    ("horner", lambda z: ((z * 0.5 + 1) * z + 2j) * z - 1, c64(100_000)),
    ("cumprod", jnp.cumprod, c64(10_000)),
    ("sum", jnp.sum, c64(MILLION)),
)
