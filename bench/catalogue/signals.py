"""Signals, images, geometry, graphics, and algorithms on integers and graphs."""

import jax
import jax.numpy as jnp
from jax import lax
from row import c64, f32, i32, program, u8, u32, uniform


@program(f32(16000))
def mel_spectrogram(x):
    """Spectrogram of a second of sound: frames, window, rfft, 40 mel bands, logarithm."""
    frames = x[(jnp.arange(98) * 160)[:, None] + jnp.arange(400)[None]] * jnp.hanning(400)
    power = jnp.abs(jnp.fft.rfft(frames, 512)) ** 2
    bands = jnp.maximum(0, 1 - jnp.abs(jnp.linspace(0, 40, 257)[:, None] - jnp.arange(40)[None]))
    return jnp.log(power @ bands + 1e-6)


@program(f32(20000))
def biquads(x):
    """Four second-order filters in a row over 20,000 samples, by scan."""

    def step(s, x):
        out = []
        for a, b in s:
            y = 0.2 * x + a
            out.append((0.4 * x - 0.3 * y + b, 0.2 * x - 0.1 * y))
            x = y
        return out, x

    return lax.scan(step, [(0.0, 0.0)] * 4, x)[1]


@program(f32(50000))
def exponential_average(x):
    """An exponential moving average by an associative scan."""
    combine = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])
    return lax.associative_scan(combine, (jnp.full(50000, 0.99), 0.01 * x))[1]


@program(f32(4096), f32(128))
def lms_filter(x, d):
    """An adaptive filter of 32 taps over 4,000 samples."""

    def step(w, i):
        u = lax.dynamic_slice(x, (i,), (32,))
        e = x[i + 33] - w @ u
        return w + 0.01 * e * u, e

    return lax.scan(step, d[:32] * 0, jnp.arange(4000))[1]


@program(uniform(480, 640))
def canny_like(x):
    """Edges: Gaussian blur by separable filters, Sobel, magnitude, thinning, threshold."""
    g = jnp.exp(-0.5 * jnp.arange(-3.0, 4) ** 2)
    blur = jax.vmap(lambda r: jnp.convolve(r, g / g.sum(), mode="same"))
    x = blur(blur(x).T).T
    p = jnp.pad(x, 1, mode="edge")
    gx = p[1:-1, 2:] - p[1:-1, :-2]
    gy = p[2:, 1:-1] - p[:-2, 1:-1]
    m = jnp.hypot(gx, gy)
    q = jnp.pad(m, 1)
    thin = jnp.where(jnp.abs(gx) > jnp.abs(gy), (m >= q[1:-1, 2:]) & (m >= q[1:-1, :-2]), (m >= q[2:, 1:-1]) & (m >= q[:-2, 1:-1]))
    return thin & (m > 0.1)


@program(uniform(128, 128))
def bilateral(x):
    """A bilateral filter of 7x7."""
    p = jnp.pad(x, 3, mode="reflect")
    total, weight = jnp.zeros_like(x), jnp.zeros_like(x)
    for i in range(7):
        for j in range(7):
            s = lax.dynamic_slice(p, (i, j), (128, 128))
            w = jnp.exp(-((s - x) ** 2) * 20 - ((i - 3) ** 2 + (j - 3) ** 2) / 8)
            total, weight = total + w * s, weight + w
    return total / weight


@program(uniform(256, 256))
def median_filter(x):
    """A median filter of 3x3 by a sort of nine values at each place."""
    p = jnp.pad(x, 1, mode="edge")
    return jnp.sort(jnp.stack([p[i : i + 256, j : j + 256] for i in range(3) for j in range(3)]), axis=0)[4]


@program(u8(256, 256, 3))
def jpeg_blocks(x):
    """YCbCr, blocks of 8x8, their cosine transforms, quantised."""
    m = jnp.array([[0.299, 0.587, 0.114], [-0.169, -0.331, 0.5], [0.5, -0.419, -0.081]])
    y = x.astype(jnp.float32) @ m.T
    blocks = y.reshape(32, 8, 32, 8, 3).transpose(0, 2, 4, 1, 3)
    k = jnp.cos((2 * jnp.arange(8)[None] + 1) * jnp.arange(8)[:, None] * jnp.pi / 16) / 2
    return jnp.round(jnp.einsum("ai,bj,...ij->...ab", k, k, blocks) / 16).astype(jnp.int16)


@program(u8(480, 640))
def equalise(x):
    """Equalisation of a histogram: count, cumulate, look up."""
    table = jnp.cumsum(jnp.bincount(x.reshape(-1), length=256))
    return (table[x] * 255 // table[-1]).astype(jnp.uint8)


@program(uniform(200, 200))
def distance_transform(x):
    """Distances to the nearest seed by jump flooding, eight passes."""
    i, j = jnp.meshgrid(jnp.arange(200.0), jnp.arange(200.0), indexing="ij")
    seed = x > 0.99
    bi, bj = jnp.where(seed, i, 1e4), jnp.where(seed, j, 1e4)
    for k in (128, 64, 32, 16, 8, 4, 2, 1):
        for a, b in ((k, 0), (-k, 0), (0, k), (0, -k)):
            ci, cj = jnp.roll(bi, (a, b), (0, 1)), jnp.roll(bj, (a, b), (0, 1))
            near = (ci - i) ** 2 + (cj - j) ** 2 < (bi - i) ** 2 + (bj - j) ** 2
            bi, bj = jnp.where(near, ci, bi), jnp.where(near, cj, bj)
    return jnp.sqrt((bi - i) ** 2 + (bj - j) ** 2)


@program(f32(64, 64))
def optical_flow(x):
    """Horn-Schunck's flow, 50 iterations."""
    y = jnp.roll(x, 1, 1)
    ix, iy, it = jnp.gradient(x, axis=1), jnp.gradient(x, axis=0), y - x
    mean = lambda u: sum(jnp.roll(u, d, a) for d in (1, -1) for a in (0, 1)) / 4

    def step(_, s):
        u, v = mean(s[0]), mean(s[1])
        d = (ix * u + iy * v + it) / (1 + ix**2 + iy**2)
        return u - ix * d, v - iy * d

    return lax.fori_loop(0, 50, step, (0 * x, 0 * x))


@program(f32(1))
def mandelbrot(x):
    """Mandelbrot's set on 256x256, complex numbers, 50 steps."""
    r = jnp.linspace(-2, 1, 256)
    c = r[None] + 1j * jnp.linspace(-1.5, 1.5, 256)[:, None] + x[0] * 0

    def step(_, s):
        z, n = s
        z = jnp.where(n < 1000, z * z + c, z)
        return z, jnp.where(jnp.abs(z) > 2, n, n + 1)

    return lax.fori_loop(0, 50, step, (0 * c, jnp.zeros((256, 256), jnp.int32)))[1]


@program(f32(1))
def sphere_tracing(x):
    """A scene of two spheres and a plane by sphere tracing, normals by grad, 96x96."""
    i, j = jnp.meshgrid(jnp.linspace(-1, 1, 96), jnp.linspace(-1, 1, 96), indexing="ij")
    d = jnp.stack([j, -i, jnp.ones_like(i)], -1).reshape(-1, 3)
    d = d / jnp.linalg.norm(d, axis=1, keepdims=True)

    def scene(p):
        a = jnp.linalg.norm(p - jnp.array([0.5, 0, 3.0])) - 1
        b = jnp.linalg.norm(p - jnp.array([-0.7, 0.3, 2.5])) - 0.5
        return jnp.minimum(jnp.minimum(a, b), p[1] + 1)

    far = lax.fori_loop(0, 40, lambda _, t: t + jax.vmap(scene)(t[:, None] * d), jnp.zeros(96 * 96) + 0 * x[0])
    normal = jax.vmap(jax.grad(scene))(far[:, None] * d)
    return jnp.maximum(normal @ jnp.array([0.5, 0.7, -0.5]), 0).reshape(96, 96)


@program(f32(500, 3, 3), f32(200, 6))
def triangles(t, rays):
    """Rays against triangles (Moeller-Trumbore), 200 times 500, nearest hit."""
    o, d = rays[:, None, :3], rays[:, None, 3:]
    e1, e2 = t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]
    p = jnp.cross(d, e2[None])
    det = (e1 * p).sum(-1)
    s = o - t[None, :, 0]
    u = (s * p).sum(-1) / det
    q = jnp.cross(s, e1[None])
    v = (d * q).sum(-1) / det
    far = (e2 * q).sum(-1) / det
    return jnp.where((u > 0) & (v > 0) & (u + v < 1) & (far > 0), far, jnp.inf).min(1)


@program(f32(400, 3), f32(400, 3))
def icp(a, b):
    """Five steps of iterative closest points: nearest neighbours, a rotation by SVD of 3x3."""

    def step(_, a):
        near = b[jnp.argmin(((a[:, None] - b[None]) ** 2).sum(-1), axis=1)]
        ca, cb = a.mean(0), near.mean(0)
        u, _, v = jnp.linalg.svd((a - ca).T @ (near - cb))
        return (a - ca) @ (u @ v) + cb

    return lax.fori_loop(0, 5, step, a)


@program(i32(64, 64, high=2))
def life(x):
    """Conway's game of life, 100 generations."""

    def step(_, x):
        n = sum(jnp.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1)) - x
        return ((n == 3) | ((x == 1) & (n == 2))).astype(jnp.int32)

    return lax.fori_loop(0, 100, step, x)


@program(uniform(100, 100))
def floyd_warshall(d):
    """All shortest paths of a graph of 100 nodes."""
    return lax.fori_loop(0, 100, lambda k, d: jnp.minimum(d, d[:, k, None] + d[k][None]), d)


@program(i32(5000, high=1000), i32(5000, high=1000))
def page_rank(a, b):
    """PageRank of 1,000 pages and 5,000 links, 30 iterations of scatter-add."""
    out = jnp.zeros(1000).at[a].add(1.0)
    step = lambda _, r: 0.15 / 1000 + 0.85 * jnp.zeros(1000).at[b].add((r / jnp.maximum(out, 1))[a])
    return lax.fori_loop(0, 30, step, jnp.ones(1000) / 1000)


@program(i32(2000, high=300), i32(2000, high=300), uniform(2000))
def bellman_ford(a, b, w):
    """Shortest paths from one node, 50 rounds of scatter-min."""
    return lax.fori_loop(0, 50, lambda _, d: d.at[b].min(d[a] + w), jnp.full(300, 1e9).at[0].set(0))


@program(i32(120, high=4), i32(130, high=4))
def smith_waterman(a, b):
    """Local alignment of two sequences: a scan over rows, an inner scan along each."""

    def row(above, x):
        def cell(left, now):
            y, up, corner = now
            best = jnp.maximum(0, jnp.maximum(corner + jnp.where(x == y, 2, -1), jnp.maximum(up, left) - 1))
            return best, best

        _, line = lax.scan(cell, 0, (b, above[1:], above[:-1]))
        return jnp.concatenate([jnp.zeros(1, jnp.int32), line]), line.max()

    return lax.scan(row, jnp.zeros(131, jnp.int32), a)[1].max()


@program(i32(32, 40, high=26), i32(32, 40, high=26))
def edit_distance(a, b):
    """Edit distances of 32 pairs of words by vmap."""

    def one(a, b):
        def row(above, x):
            def cell(left, now):
                y, up, corner = now
                best = jnp.minimum(corner + (x != y), jnp.minimum(up, left) + 1)
                return best, best

            _, line = lax.scan(cell, above[0] + 1, (b, above[1:], above[:-1]))
            return jnp.concatenate([above[:1] + 1, line]), None

        return lax.scan(row, jnp.arange(41), a)[0][-1]

    return jax.vmap(one)(a, b)


@program(i32(50, low=1, high=30), i32(50, low=1, high=100))
def knapsack(weight, value):
    """A knapsack of 50 things and a capacity of 500, a table updated row by row."""

    def step(best, thing):
        w, v = thing
        i = jnp.arange(501)
        return jnp.maximum(best, jnp.where(i >= w, best[jnp.maximum(i - w, 0)] + v, 0)), None

    return lax.scan(step, jnp.zeros(501, jnp.int32), (weight, value))[0][-1]


@program(u32(4096))
def xorshift_hash(x):
    """A hash of integers: shifts, xors and products of 32 bits, 20 rounds."""

    def step(_, x):
        x = x ^ (x >> 16)
        x = x * jnp.uint32(0x7FEB352D)
        x = x ^ (x >> 15)
        return x * jnp.uint32(0x846CA68B)

    return lax.fori_loop(0, 20, step, x)


@program(u32(16), u32(8))
def sha256(block, state):
    """One block of SHA-256: a schedule of 64 words and 64 rounds, in scans."""
    rotate = lambda x, n: (x >> n) | (x << (32 - n))

    def extend(w, _):
        s0 = rotate(w[1], 7) ^ rotate(w[1], 18) ^ (w[1] >> 3)
        s1 = rotate(w[14], 17) ^ rotate(w[14], 19) ^ (w[14] >> 10)
        new = w[0] + s0 + w[9] + s1
        return jnp.concatenate([w[1:], new[None]]), w[0]

    words = lax.scan(extend, block, None, length=64)[1]

    def step(s, w):
        a, b, c, d, e, f, g, h = s
        t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + w + jnp.uint32(0x428A2F98)
        t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
        return (t1 + t2, a, b, c, d + t1, e, f, g), None

    return jnp.stack(lax.scan(step, tuple(state), words)[0]) + state


@program(i32(1))
def sieve(x):
    """Primes below 20,000: a sieve by masks in a loop."""
    n = jnp.arange(20_000)
    mark = lambda i, s: s & ((n % (i + 2) != 0) | (n <= i + 2))
    return lax.fori_loop(0, 140, mark, n > 1 + x[0] * 0).sum()


@program(i32(1000, high=1 << 20))
def collatz(n):
    """Lengths of Collatz' sequences of 1,000 numbers, a while loop in a vmap."""

    def one(n):
        return lax.while_loop(lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * (s[0] % (1 << 28)) + 1), s[1] + 1), (n + 1, 0))[1]

    return jax.vmap(one)(n)


@program(i32(256, high=1000))
def bubble_sort(x):
    """An odd-even transposition sort of 256 numbers, all passes."""

    def step(i, x):
        y = jnp.roll(x, -(i % 2))
        pair = y.reshape(128, 2)
        low, high = pair.min(1), pair.max(1)
        wraps = (i % 2 == 1) & (jnp.arange(128) == 127)
        low, high = jnp.where(wraps, pair[:, 0], low), jnp.where(wraps, pair[:, 1], high)
        return jnp.roll(jnp.stack([low, high], 1).reshape(-1), i % 2)

    return lax.fori_loop(0, 256, step, x)


@program(f32(100))
def push_and_pop(x):
    """A stack machine: 100 values pushed and popped at run-time places, twenty times, in a nested scan."""

    def outer(s, k):
        def inner(s, i):
            stack, top = s
            value = stack[top] * 0.5 + x[i]
            return (stack.at[(top + k) % 100].set(value), (top * 7 + 1) % 100), value

        return lax.scan(inner, s, jnp.arange(100))

    return lax.scan(outer, (jnp.zeros(100), 0), jnp.arange(20))[1]


@program(i32(9, 9, high=2))
def sudoku_marks(x):
    """Candidates of a grid of 9x9: rows, columns and blocks by reshapes, twenty rounds."""

    def step(_, c):
        single = c & (c.sum(-1, keepdims=True) == 1)
        seen = single.any(1, keepdims=True) | single.any(0, keepdims=True)
        block = single.reshape(3, 3, 3, 3, 9).any((1, 3), keepdims=True)
        seen = seen | jnp.broadcast_to(block, (3, 3, 3, 3, 9)).reshape(9, 9, 9)
        return jnp.where(single, c, c & ~seen)

    start = jax.nn.one_hot(x + jnp.arange(9), 9).astype(bool) | (x[..., None] == 0)
    return lax.fori_loop(0, 20, step, start)


@program(c64(64, 32), f32(64))
def beamforming(x, angles):
    """A spatial spectrum of an array of 32 sensors: covariance, inverse, 64 directions."""
    r = x.conj().T @ x / 64 + 0.1 * jnp.eye(32)
    steer = jnp.exp(1j * jnp.pi * jnp.arange(32)[None] * jnp.sin(angles)[:, None])
    return 1 / jnp.einsum("ai,ij,aj->a", steer.conj(), jnp.linalg.inv(r), steer).real


@program(f32(180, 128))
def back_projection(sinogram):
    """Filtered back projection of 180 angles to 96x96."""
    filtered = jnp.fft.irfft(jnp.fft.rfft(sinogram, 256) * jnp.linspace(0, 1, 129), 256)[:, :128]
    i, j = jnp.meshgrid(jnp.arange(-48.0, 48), jnp.arange(-48.0, 48), indexing="ij")

    def add(total, now):
        angle, line = now
        place = i * jnp.cos(angle) + j * jnp.sin(angle) + 64
        return total + jnp.interp(place, jnp.arange(128.0), line), None

    return lax.scan(add, jnp.zeros((96, 96)), (jnp.linspace(0, jnp.pi, 180), filtered))[0]


@program(f32(120, 160))
def harris_nms(img):
    """Harris corners: Sobel, Gaussian windows, non-maximum suppression, top 50."""

    def conv(a, k):
        return lax.conv(a[None, None], k[None, None], (1, 1), "SAME")[0, 0]

    s = jnp.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
    gx, gy = conv(img, s), conv(img, s.T)
    k = jnp.exp(-(jnp.arange(-3.0, 4) ** 2) / 4)
    k = jnp.outer(k, k) / k.sum() ** 2
    xx, yy, xy = conv(gx * gx, k), conv(gy * gy, k), conv(gx * gy, k)
    r = xx * yy - xy**2 - 0.05 * (xx + yy) ** 2
    m = lax.reduce_window(r, -jnp.inf, lax.max, (5, 5), (1, 1), "SAME")
    return lax.top_k(jnp.where(r >= m, r, -jnp.inf).reshape(-1), 50)


@program(f32(44100))
def ladder_filter(x):
    """A four-pole nonlinear ladder filter, a scan of one sample each."""

    def step(s, x):
        u = jnp.tanh(x - 1.5 * s[3])
        a = s[0] + 0.2 * (u - jnp.tanh(s[0]))
        b = s[1] + 0.2 * (jnp.tanh(a) - jnp.tanh(s[1]))
        c = s[2] + 0.2 * (jnp.tanh(b) - jnp.tanh(s[2]))
        d = s[3] + 0.2 * (jnp.tanh(c) - jnp.tanh(s[3]))
        return (a, b, c, d), d

    z = jnp.float32(0)
    return lax.scan(step, (z, z, z, z), x[:11025])[1]


@program(i32(30_000, high=3000), i32(30_000, high=3000))
def breadth_first_search(sources, targets):
    """The distance of each node of a random graph from the first, all edges in each step."""

    def step(state):
        before, _ = state
        after = before.at[targets].min(before[sources] + 1)
        return after, jnp.any(after != before)

    start = jnp.full(3000, 1 << 20).at[0].set(0)
    return lax.while_loop(lambda state: state[1], step, (start, True))[0]


@program(u8(64, 200, high=26), u8(64, 200, high=26))
def edit_distances(first, second):
    """Edit distances of 64 pairs of words, a row of each table in each step."""
    places = jnp.arange(201)

    def distance(a, b):
        def next_row(above, at):
            letter, i = at
            best = jnp.minimum(above[:-1] + (b != letter), above[1:] + 1)
            row = jnp.concatenate([jnp.array([i + 1]), best])
            return lax.cummin(row - places) + places, None

        return lax.scan(next_row, places, (a, jnp.arange(200)))[0][-1]

    return jax.vmap(distance)(first, second)


@program(u8(65_536, high=8))
def run_lengths(x):
    """Run-length encoding: values and lengths, by sums of a prefix and scatters."""
    begins = jnp.concatenate([jnp.array([True]), x[1:] != x[:-1]])
    run = jnp.cumsum(begins) - 1
    return jnp.zeros(65_536, jnp.uint8).at[run].set(x), jnp.zeros(65_536, int).at[run].add(1)


@program(uniform(100, 129, 3), uniform(3, low=-0.1, high=0.1))
def undistort_bicubic(image, k):
    """A lens corrected: 16 taps of Catmull and Rom for each pixel of three colours, borders mirrored."""
    height, width, _ = image.shape
    y = (jnp.arange(height) - (height - 1) / 2)[:, None] * 2 / width
    x = (jnp.arange(width) - (width - 1) / 2)[None] * 2 / width
    r = y**2 + x**2
    scale = (1 + r * (k[0] + r * (k[1] + r * k[2]))) * width / 2
    v, u = y * scale + (height - 1) / 2, x * scale + (width - 1) / 2

    def weights(t):
        return (
            ((1 - t / 2) * t - 0.5) * t,
            (1.5 * t - 2.5) * t * t + 1,
            ((2 - 1.5 * t) * t + 0.5) * t,
            (t / 2 - 0.5) * t * t,
        )

    def mirrored(i, n):
        i = jnp.abs(i) % (2 * n - 2)
        return jnp.where(i < n, i, 2 * n - 2 - i)

    rows = [mirrored(jnp.floor(v).astype(jnp.int32) + d, height) for d in range(-1, 3)]
    columns = [mirrored(jnp.floor(u).astype(jnp.int32) + d, width) for d in range(-1, 3)]
    across, down = weights(u - jnp.floor(u)), weights(v - jnp.floor(v))
    lines = [sum(w[..., None] * image[i, j] for w, j in zip(across, columns)) for i in rows]
    return sum(w[..., None] * line for w, line in zip(down, lines))
