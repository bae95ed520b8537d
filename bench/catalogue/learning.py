"""Networks, their training steps, and classical learning."""

import jax
import jax.numpy as jnp
from jax import lax, nn
from row import f32, i32, program, uniform


def dense(x, w, b):
    return x @ w + b


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], axis=1).mean()


def adam(parameters, gradient, first, second, rate=1e-3):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    parameters = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)
    return parameters, first, second


def sgd(parameters, gradient, rate=1e-2):
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradient)


def layer_norm(x, scale, shift):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + shift


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program(f32(128, 784), i32(128, high=10), f32(784, 256), f32(256), f32(256, 128), f32(128), f32(128, 10), f32(10))
def mlp_sgd(x, y, *weights):
    """Three dense layers with relu, gradient and a step of SGD; batch 128."""

    def loss(weights):
        w1, b1, w2, b2, w3, b3 = weights
        return cross_entropy(dense(nn.relu(dense(nn.relu(dense(x, w1 / 28, b1)), w2 / 16, b2)), w3 / 11, b3), y)

    return sgd(weights, jax.grad(loss)(weights))


@program(f32(256, 64), f32(256), f32(64, 64), f32(64), f32(64, 1))
def mlp_adam(x, y, w1, b1, w2):
    """Regression of a batch of 256 with tanh: ten steps of Adam in a scan."""

    def loss(p):
        return jnp.mean((dense(jnp.tanh(dense(x, p[0] / 8, p[1])), p[2] / 8, 0.0)[:, 0] - y) ** 2)

    def step(state, _):
        value, gradient = jax.value_and_grad(loss)(state[0])
        return adam(state[0], gradient, *state[1:]), value

    zeros = jax.tree.map(jnp.zeros_like, [w1, b1, w2])
    return lax.scan(step, ([w1, b1, w2], zeros, zeros), None, length=10)[1]


@program(f32(32, 784), f32(784, 400), f32(400, 20), f32(400, 20), f32(20, 400), f32(400, 784), f32(32, 20))
def vae_step(x, w1, wm, wv, w2, w3, noise):
    """Variational autoencoder: loss and gradient of all weights."""
    x = nn.sigmoid(x)

    def loss(weights):
        w1, wm, wv, w2, w3 = weights
        h = nn.relu(x @ w1 / 28)
        mean, log_var = h @ wm / 20, h @ wv / 20
        z = mean + jnp.exp(0.5 * log_var) * noise
        logits = nn.relu(z @ w2 / 4) @ w3 / 20
        cross = jnp.sum(jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits))), -1)
        return jnp.mean(cross - 0.5 * jnp.sum(1 + log_var - mean**2 - jnp.exp(log_var), -1))

    return jax.value_and_grad(loss)((w1, wm, wv, w2, w3))


@program(f32(32, 28, 28, 1), i32(32, high=10), f32(3, 3, 1, 16), f32(3, 3, 16, 32), f32(1568, 10))
def cnn_step(x, y, k1, k2, w):
    """Two convolutions with pooling, a dense layer, and a step of SGD; batch 32 of 28x28."""

    def loss(p):
        h = pool(nn.relu(conv(x, p[0] / 3)))
        h = pool(nn.relu(conv(h, p[1] / 12)))
        return cross_entropy(h.reshape(32, -1) @ p[2] / 40, y)

    return sgd([k1, k2, w], jax.grad(loss)([k1, k2, w]))


@program(f32(200, 24), i32(900, high=200), i32(900, high=200), f32(24, 32), f32(64, 1))
def edge_attention(x, senders, receivers, w, a):
    """Graph attention with logits of both ends of each edge: 900 edges between 200 nodes."""
    h = x @ w / 5
    sent, received = (jnp.take(h, i, axis=0, mode="clip") for i in (senders, receivers))
    logits = nn.leaky_relu(jnp.concatenate([sent, received], -1) @ a)[:, 0]
    weights = jnp.exp(logits - jax.ops.segment_max(logits, receivers, 200)[receivers])
    weights = weights / jax.ops.segment_sum(weights, receivers, 200)[receivers]
    return nn.elu(jax.ops.segment_sum(weights[:, None] * sent, receivers, 200))


@program(f32(11, 32, 4, 4), f32(4, 4, 32, 16), f32(4, 4, 16, 1))
def transposed_convolutions(x, k1, k2):
    """The end of a generator: two transposed convolutions, to one feature; loss and gradient."""

    def up(x, kernel):
        return lax.conv_transpose(x, kernel, (2, 2), "SAME", dimension_numbers=("NCHW", "HWIO", "NCHW"))

    def loss(p):
        x, k1, k2 = p
        return (jnp.tanh(up(nn.relu(up(x, k1 / 22)), k2 / 16)) ** 2).mean()

    return jax.value_and_grad(loss)((x, k1, k2))


@program(f32(8, 32, 32, 32), f32(3, 3, 32, 64), f32(3, 3, 64, 64), f32(1, 1, 32, 64), f32(64), f32(64))
def residual_block(x, k1, k2, skip, scale, shift):
    """A residual block with batch norms, stride 2: value and gradient by weights and input."""

    def norm(h):
        mean, var = h.mean((0, 1, 2)), h.var((0, 1, 2))
        return (h - mean) * lax.rsqrt(var + 1e-5) * scale + shift

    def loss(p):
        x, k1, k2, skip = p
        h = nn.relu(norm(conv(x, k1 / 17, 2)))
        return (nn.relu(norm(conv(h, k2 / 24)) + conv(x, skip / 6, 2)) ** 2).mean()

    return jax.value_and_grad(loss)((x, k1, k2, skip))


@program(f32(4, 32, 32, 3), f32(3, 3, 3, 16), f32(3, 3, 16, 32), f32(3, 3, 32, 16), f32(3, 3, 32, 3))
def unet(x, k1, k2, k3, k4):
    """A small U-Net, down and up with a skip connection: loss and gradient."""

    def loss(p):
        k1, k2, k3, k4 = p
        a = nn.silu(conv(x, k1 / 5))
        b = nn.silu(conv(pool(a), k2 / 12))
        up = jax.image.resize(b, (4, 32, 32, 32), "nearest")
        c = nn.silu(conv(up, k3 / 17))
        return ((conv(jnp.concatenate([a, c], -1), k4 / 17) - x) ** 2).mean()

    return jax.value_and_grad(loss)((k1, k2, k3, k4))


@program(f32(16, 100), f32(100, 1024), f32(4, 4, 64, 32), f32(4, 4, 32, 1))
def gan_generator(z, w, k1, k2):
    """A generator of two transposed convolutions, and its gradient."""

    def up(x, k):
        return lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def loss(p):
        h = nn.relu(z @ p[0] / 10).reshape(16, 4, 4, 64)
        return (jnp.tanh(up(nn.relu(up(h, p[1] / 30)), p[2] / 20)) ** 2).mean()

    return jax.value_and_grad(loss)((w, k1, k2))


def attention(x, wq, wk, wv, wo, heads, causal):
    b, t, d = x.shape
    split = lambda a: a.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3)
    q, k, v = split(x @ wq), split(x @ wk), split(x @ wv)
    scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(d / heads)
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((t, t), bool)), scores, -1e9)
    return (nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(b, t, d) @ wo


def block(x, p, heads=4, causal=True):
    x = x + attention(layer_norm(x, 1.0, 0.0), *(w / 12 for w in p[:4]), heads, causal)
    return x + nn.gelu(layer_norm(x, 1.0, 0.0) @ p[4] / 12) @ p[5] / 24


BLOCK = [f32(4, 64, 128), *[f32(128, 128)] * 4, f32(128, 512), f32(512, 128)]


@program(*BLOCK)
def transformer_block(x, *p):
    """A pre-norm decoder block of width 128, 4 heads, 4 x 64 tokens: forward."""
    return block(x, p)


@program(*BLOCK)
def transformer_block_grad(x, *p):
    """The same, value and gradient of everything."""
    return jax.value_and_grad(lambda a: (block(a[0], a[1:]) ** 2).mean())((x, *p))


@program(i32(2, 64, high=500), f32(500, 64), *[f32(3, 64, 64)] * 4, f32(3, 64, 256), f32(3, 256, 64))
def language_model(tokens, table, *layers):
    """Language model of three blocks by scan, tied embedding: loss and gradient."""

    def loss(p):
        x = p[0][tokens] / 8
        x, _ = lax.scan(lambda h, l: (block(h, l), None), x, p[1])
        logits = layer_norm(x, 1.0, 0.0) @ p[0].T / 8
        return cross_entropy(logits[:, :-1].reshape(-1, 500), tokens[:, 1:].reshape(-1))

    return jax.value_and_grad(loss)((table, layers))


@program(f32(1, 128), f32(256, 8, 16), f32(256, 8, 16), i32(1, low=100, high=200), *[f32(128, 128)] * 4)
def decode_one_token(x, keys, values, length, wq, wk, wv, wo):
    """One token of decoding with a cache of keys and values that is updated."""
    n = length[0]
    split = lambda w: (x @ w / 11).reshape(8, 16)
    keys, values = keys.at[n].set(split(wk)), values.at[n].set(split(wv))
    scores = jnp.einsum("hd,thd->ht", split(wq), keys) / 4
    weights = nn.softmax(jnp.where(jnp.arange(256) <= n, scores, -1e9))
    return jnp.einsum("ht,thd->hd", weights, values).reshape(1, 128) @ wo, keys, values


@program(i32(4, high=200), f32(200, 64), *[f32(64, 64)] * 4, f32(64, 256), f32(256, 64))
def generate(start, table, *p):
    """Twenty tokens generated greedily, the whole window anew each time."""

    def step(tokens, i):
        x = block(table[tokens][None] / 8, p)
        best = jnp.argmax(x[0, i - 1] @ table.T)
        return tokens.at[i].set(best), best

    return lax.scan(step, jnp.zeros(24, jnp.int32).at[:4].set(start), jnp.arange(4, 24))[1]


@program(f32(64, 20, 32), f32(32, 256), f32(64, 256), f32(256))
def lstm_forward(x, wx, wh, b):
    """An LSTM of 64 units over 20 steps, batch 64."""

    def cell(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ wx / 6 + h @ wh / 8 + b, 4, axis=-1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(cell, (jnp.zeros((64, 64)),) * 2, x.swapaxes(0, 1))[1]


@program(f32(32, 30, 16), f32(16, 96), f32(32, 96))
def gru_grad(x, wx, wh):
    """A GRU of 32 units over 30 steps: gradient of the weights."""

    def run(p):
        def cell(h, x):
            a, b = x @ p[0] / 4, h @ p[1] / 6
            z, r = (nn.sigmoid(a[:, i * 32 : i * 32 + 32] + b[:, i * 32 : i * 32 + 32]) for i in range(2))
            h = (1 - z) * jnp.tanh(a[:, 64:] + r * b[:, 64:]) + z * h
            return h, None

        return (lax.scan(cell, jnp.zeros((32, 32)), x.swapaxes(0, 1))[0] ** 2).mean()

    return jax.grad(run)((wx, wh))


@program(f32(4, 256, 32), uniform(32, 16), f32(4, 256, 16), f32(4, 256, 16))
def state_space(x, a, b, c):
    """A selective state-space layer (Mamba's): an associative scan over 256 steps."""
    decay = jnp.exp(-a)[None, None] * jnp.ones((4, 256, 1, 1))
    drive = x[..., None] * b[:, :, None]

    def combine(left, right):
        return left[0] * right[0], right[0] * left[1] + right[1]

    return jnp.einsum("btdn,btn->btd", lax.associative_scan(combine, (decay, drive), axis=1)[1], c)


@program(f32(1000, 32), i32(5000, high=1000), i32(5000, high=1000), f32(32, 64), f32(64, 32))
def graph_network(nodes, senders, receivers, w1, w2):
    """A layer of message passing over 5,000 edges, and its gradient."""

    def loss(p):
        messages = nn.relu(nodes[senders] @ p[0] / 6)
        return (jnp.tanh(jax.ops.segment_sum(messages, receivers, 1000) @ p[1] / 8) ** 2).mean()

    return jax.value_and_grad(loss)((w1, w2))


@program(f32(500, 16), i32(3000, high=500), i32(3000, high=500), f32(16, 16), f32(32))
def graph_attention(nodes, senders, receivers, w, a):
    """Attention over the edges of a graph: softmax by segments."""
    h = nodes @ w
    score = nn.leaky_relu(jnp.concatenate([h[senders], h[receivers]], -1) @ a / 6)
    score = jnp.exp(score - jax.ops.segment_max(score, receivers, 500)[receivers])
    total = jax.ops.segment_sum(score, receivers, 500)[receivers]
    return jax.ops.segment_sum(h[senders] * (score / total)[:, None], receivers, 500)


@program(f32(256, 32), f32(32, 8), f32(8, 32, 64), f32(8, 64, 32))
def mixture_of_experts(x, gate, w1, w2):
    """Eight experts, the best two of each token, dense dispatch."""
    values, chosen = lax.top_k(nn.softmax(x @ gate), 2)
    weights = (nn.one_hot(chosen, 8) * values[..., None]).sum(1)
    return jnp.einsum("te,ted->td", weights, jnp.einsum("teh,ehd->ted", nn.gelu(jnp.einsum("td,edh->teh", x, w1 / 6)), w2 / 8))


@program(f32(64, 4), i32(64, high=2), f32(64), f32(64, 4), f32(4, 64), f32(64, 2))
def q_learning(s, a, r, s2, w1, w2):
    """Deep Q-learning: loss of a batch with a target network, and gradient."""
    q = lambda p, s: nn.relu(s @ p[0]) @ p[1] / 8
    target = r + 0.99 * q((w1, w2), s2).max(1)
    return jax.value_and_grad(lambda p: jnp.mean((q(p, s)[jnp.arange(64), a] - target) ** 2))((w1, w2))


@program(f32(200, 8), f32(200, 8), f32(201, 8))
def advantage(rewards, done, values):
    """Generalised advantage estimation, a reversed scan over 200 steps of 8 environments."""
    delta = rewards + 0.99 * values[1:] - values[:-1]
    return lax.scan(lambda a, d: ((a := d + 0.94 * a), a), jnp.zeros(8), delta, reverse=True)[1]


@program(f32(5000, 8), f32(16, 8))
def k_means(points, centres):
    """k-means: ten iterations, 5,000 points, 16 centres."""

    def step(c, _):
        nearest = jnp.argmin(((points[:, None] - c[None]) ** 2).sum(-1), axis=1)
        member = nn.one_hot(nearest, 16)
        return member.T @ points / (member.sum(0)[:, None] + 1e-9), None

    return lax.scan(step, centres, None, length=10)[0]


@program(f32(2000, 50), f32(2000))
def logistic_newton(x, t):
    """Logistic regression by five Newton steps (a system of 50 unknowns each)."""
    y = (t > 0).astype(jnp.float32)

    def step(_, w):
        p = nn.sigmoid(x @ w)
        hessian = (x * (p * (1 - p))[:, None]).T @ x + jnp.eye(50)
        return w - jnp.linalg.solve(hessian, x.T @ (p - y) + w)

    return lax.fori_loop(0, 5, step, jnp.zeros(50))


@program(f32(500, 40), f32(500))
def lasso(x, y):
    """Lasso by 200 steps of FISTA."""
    step = 1.0 / 1500.0

    def body(_, s):
        w, v, t = s
        z = v - step * x.T @ (x @ v - y)
        new = jnp.sign(z) * jnp.maximum(jnp.abs(z) - 0.1 * step, 0)
        t2 = (1 + jnp.sqrt(1 + 4 * t * t)) / 2
        return new, new + (t - 1) / t2 * (new - w), t2

    return lax.fori_loop(0, 200, body, (jnp.zeros(40), jnp.zeros(40), 1.0))[0]


@program(f32(200, 2), f32(200), f32(50, 2))
def gaussian_process(x, y, new):
    """Prediction of a Gaussian process: mean and variance at 50 points of 200."""
    k = lambda a, b: jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))
    factor = jnp.linalg.cholesky(k(x, x) + 0.1 * jnp.eye(200))
    v = jax.scipy.linalg.solve_triangular(factor, k(x, new), lower=True)
    return v.T @ jax.scipy.linalg.solve_triangular(factor, y, lower=True), 1 - (v**2).sum(0)


@program(f32(300, 64), tolerance=None)
def pca(x):
    """Principal components by SVD, the first eight."""
    x = x - x.mean(0)
    return x @ jnp.linalg.svd(x, full_matrices=False)[2][:8].T


@program(f32(200, 5), f32(200, 2))
def t_sne(x, y):
    """Five steps of t-SNE on 200 points."""
    d = ((x[:, None] - x[None]) ** 2).sum(-1)
    p = jnp.exp(-d) * (1 - jnp.eye(200))
    p = p / p.sum()

    def loss(y):
        q = 1 / (1 + ((y[:, None] - y[None]) ** 2).sum(-1)) * (1 - jnp.eye(200))
        return -(p * jnp.log(q / q.sum() + 1e-12)).sum()

    return lax.fori_loop(0, 5, lambda _, y: y - 10 * jax.grad(loss)(y), y)


@program(f32(100, 3), i32(100, high=5), f32(3, 64), f32(64, 64), f32(64, 5))
def per_example_gradients(x, y, w1, w2, w3):
    """Gradients of each example by vmap, clipped (as for privacy) and averaged."""

    def loss(p, x, y):
        return -nn.log_softmax(jnp.tanh(jnp.tanh(x @ p[0]) @ p[1] / 8) @ p[2] / 8)[y]

    each = jax.vmap(jax.grad(loss), (None, 0, 0))((w1, w2, w3), x, y)
    norm = jnp.sqrt(sum((g.reshape(100, -1) ** 2).sum(1) for g in each))
    scale = jnp.minimum(1, 1 / norm)
    return [jnp.einsum("b,b...->...", scale, g) for g in each]


@program(f32(64, 16), f32(16, 32), f32(32, 1))
def hessian_vector(x, w1, w2):
    """A product of the Hessian of a small network with a vector, forward over reverse."""
    loss = lambda p: (jnp.tanh(x @ p[0]) @ p[1]).mean() ** 2
    return jax.jvp(jax.grad(loss), ((w1, w2),), ((w1, w2),))[1]


@program(f32(8), f32(8, 16), f32(16, 8))
def jacobian(x, w1, w2):
    """Jacobian and Hessian of a small function of eight unknowns."""
    f = lambda x: jnp.sin(jnp.tanh(x @ w1) @ w2)
    return jax.jacrev(f)(x), jax.hessian(lambda x: f(x).sum())(x)


@program(f32(20, 32, 16), i32(32, 10, low=1, high=16))
def ctc(logits, labels):
    """Loss of connectionist temporal classification: a scan of log-sum-exps over 20 frames, 10 labels."""
    logp = nn.log_softmax(logits)
    blank = logp[:, :, 0]
    emit = jnp.take_along_axis(logp, jnp.broadcast_to(labels[None], (20, 32, 10)), axis=2)

    def step(alpha, now):
        b, e = now
        skip = jnp.concatenate([jnp.full((32, 1), -1e9), alpha[:, :-1]], 1)
        return jnp.logaddexp(alpha + b[:, None], jnp.concatenate([e, e[:, :1]], 1) + skip), None

    start = jnp.full((32, 11), -1e9).at[:, 0].set(0)
    return -lax.scan(step, start, (blank, emit))[0][:, -1].mean()


@program(f32(128, 64), f32(128, 64))
def contrastive(a, b):
    """InfoNCE of two views, value and gradient."""

    def loss(p):
        u, v = (z / jnp.linalg.norm(z, axis=1, keepdims=True) for z in p)
        return cross_entropy(u @ v.T / 0.07, jnp.arange(128))

    return jax.value_and_grad(loss)((a, b))


@program(f32(16, 32, 32, 3), f32(4, 4, 3, 96), f32(65, 96), *[f32(96, 96)] * 4, f32(96, 192), f32(192, 96))
def vision_transformer(x, patch, position, *p):
    """Patches of 4x4, a block of attention, mean: value and gradient of the weights."""

    def loss(w):
        h = lax.conv_general_dilated(x, w[0] / 7, (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        h = jnp.concatenate([jnp.zeros((16, 1, 96)), h.reshape(16, 64, 96)], 1) + w[1]
        return (block(h, w[2:], causal=False).mean(1) ** 2).mean()

    return jax.value_and_grad(loss)((patch, position, *p))


@program(f32(4, 3, 64, 64), f32(8, 3, 3, 3), f32(8))
def nchw_norm(x, k, scale):
    """A convolution in NCHW, instance norm, relu, as programs from PyTorch have them."""
    h = lax.conv(x, k, (1, 1), "SAME")
    mean, var = h.mean((2, 3), keepdims=True), h.var((2, 3), keepdims=True)
    return nn.relu((h - mean) * lax.rsqrt(var + 1e-5) * scale[None, :, None, None])


@program(f32(1000, 20), f32(20, 16), uniform(50))
def diffusion_sample(x, w, betas):
    """Fifty steps of a sampler of a diffusion model with a tiny network."""
    alphas = jnp.cumprod(1 - betas * 0.02)
    noise = lambda x, t: jnp.tanh(x @ w + t) @ w.T / 16

    def step(x, t):
        a = alphas[t]
        return (x - (1 - a) * noise(x, t / 50)) / jnp.sqrt(a + 1e-3), None

    return lax.scan(step, x, jnp.arange(50), reverse=True)[0]


@program(f32(32, 8), f32(8, 64), f32(64, 8), f32(32, 8))
def implicit_layer(x, w1, w2, target):
    """A deep equilibrium layer: a fixed point in a while loop, differentiated through by unrolled Neumann terms."""

    def step(z, w):
        return jnp.tanh(z @ w[0] / 20) @ w[1] / 20 + x

    def solve(w):
        def go(s):
            return (new := step(s[0], w)), jnp.abs(new - s[0]).max(), s[2] + 1

        return lax.while_loop(lambda s: (s[1] > 1e-5) & (s[2] < 100), go, (x, jnp.float32(1), 0))[0]

    z = lax.stop_gradient(solve((w1, w2)))
    return jax.grad(lambda w: ((step(step(z, w), w) - target) ** 2).mean())((w1, w2))


@program(f32(256, 128), f32(128, 128), f32(128), f32(128))
def quantised_dense(x, w, scale, b):
    """A dense layer with weights and activations rounded to 8 bits, straight through."""
    quantise = lambda v, s: jnp.clip(jnp.round(v / s), -127, 127)
    xs = jnp.abs(x).max(1, keepdims=True) / 127
    ws = jnp.abs(w).max(0, keepdims=True) / 127
    product = lax.dot(quantise(x, xs).astype(jnp.int8), quantise(w, ws).astype(jnp.int8), preferred_element_type=jnp.int32)
    return nn.relu(product.astype(jnp.float32) * xs * ws * scale + b)


@program(f32(64, 100, 16), f32(16, 16), f32(3, 16, 32))
def temporal_convolution(x, w, k):
    """Causal dilated convolutions over time (WaveNet's), four layers with gates."""
    for i in range(4):
        padded = jnp.pad(x, ((0, 0), (2 * 2**i, 0), (0, 0)))
        h = lax.conv_general_dilated(padded, k / 7, (1,), "VALID", rhs_dilation=(2**i,), dimension_numbers=("NWC", "WIO", "NWC"))
        x = x + (jnp.tanh(h[..., :16]) * nn.sigmoid(h[..., 16:])) @ w / 4
    return x


@program(f32(512, 32), f32(512, 32))
def sinkhorn(x, y):
    """Optimal transport by fifty iterations of Sinkhorn's, 512 points each."""
    cost = ((x[:, None] - y[None]) ** 2).sum(-1) / 32

    def step(_, s):
        f, g = s
        f = -0.1 * jax.scipy.special.logsumexp((g[None] - cost) / 0.1, axis=1)
        return f, -0.1 * jax.scipy.special.logsumexp((f[:, None] - cost) / 0.1, axis=0)

    return lax.fori_loop(0, 50, step, (jnp.zeros(512), jnp.zeros(512)))[0]


@program(f32(4, 40), f32(40, 100), f32(100, 40), tolerance=None)
def beam_search(h0, wo, emb):
    """Twenty steps of beam search of width five, states and histories gathered by parents."""
    B, K, V = 4, 5, 100
    h = jnp.repeat(h0[:, None], K, 1)
    score = jnp.where(jnp.arange(K) == 0, 0.0, -1e9) * jnp.ones((B, 1))
    hist = jnp.zeros((B, K, 20), jnp.int32)

    def step(t, c):
        h, score, hist = c
        lp = jax.nn.log_softmax(h @ wo * 0.3) + score[..., None]
        s, i = lax.top_k(lp.reshape(B, K * V), K)
        par, tok = i // V, i % V
        h = jnp.take_along_axis(h, par[..., None], 1)
        hist = jnp.take_along_axis(hist, par[..., None], 1)
        hist = hist.at[:, :, t].set(tok)
        h = jnp.tanh(h * 0.9 + emb[tok] * 0.5)
        return h, s, hist

    return lax.fori_loop(0, 20, step, (h, score, hist))


@program(f32(1000, 8), i32(1000, high=50), f32(50, 8))
def segment_softmax(x, seg, w):
    """Softmax within segments, pooled."""
    s = (x * w[seg]).sum(-1)
    m = jax.ops.segment_max(s, seg, 50)
    e = jnp.exp(s - m[seg])
    z = jax.ops.segment_sum(e, seg, 50)
    return jax.ops.segment_sum((e / z[seg])[:, None] * x, seg, 50)


@program(f32(33, 32), f32(4, 8), f32(4, 8), f32(300, 33), i32(1500, high=300), i32(1500, high=300))
def edge_softmax(w, left, right, x, senders, receivers):
    """A graph attention layer of four heads: scores of 1500 edges, normalized over those that end in a node."""
    h = (x @ w / 6).reshape(300, 4, 8)
    scores = nn.leaky_relu((h * left).sum(-1)[senders] + (h * right).sum(-1)[receivers])
    e = jnp.exp(scores - jax.ops.segment_max(scores, receivers, 300)[receivers])
    share = e / jax.ops.segment_sum(e, receivers, 300)[receivers]
    return nn.elu(jax.ops.segment_sum(share[..., None] * h[senders], receivers, 300).reshape(300, 32))


@program(f32(4, 37, 54), f32(54, 54), f32(54, 54), f32(54, 54), f32(37, 9))
def rotary_heads(x, wq, wk, wv, angle):
    """Attention of three heads of 18 over 37 tokens, whose halves of queries and keys are turned by the token's angles."""

    def turned(y):
        y, z = jnp.split(y, 2, -1)
        return jnp.concatenate([y * jnp.cos(angle) - z * jnp.sin(angle), z * jnp.cos(angle) + y * jnp.sin(angle)], -1)

    def attend(x):
        q, k, v = ((w @ x.T / 7).T.reshape(37, 3, 18).swapaxes(0, 1) for w in (wq, wk, wv))
        return jnp.einsum("hqk,hkd->qhd", nn.softmax(turned(q) @ turned(k).swapaxes(-1, -2) / 4), v).reshape(37, 54)

    return jax.vmap(attend)(x)


@program(f32(32, 4, 64), f32(64, 192), f32(192), f32(64, 64))
def merged_heads(x, w, bias, out):
    """Attention as PyTorch exports it: tokens first, batch and heads as one dimension, keys transposed and then scaled."""
    q, k, v = jnp.split(x @ w / 8 + bias, 3, -1)
    q, k, v = (y.reshape(32, 16, 16).swapaxes(0, 1) for y in (q, k, v))
    scores = (q.reshape(4, 4, 32, 16) / 2).reshape(16, 32, 16) @ (
        k.reshape(4, 4, 32, 16).swapaxes(-1, -2) / 2
    ).reshape(16, 16, 32)
    return (nn.softmax(scores) @ v).swapaxes(0, 1).reshape(32, 4, 64) @ out
