"""Numerical methods: linear solvers, eigenvalues, quadrature, roots, splines, automatic differentiation."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import sparse
from row import f32, f64, i32, program, uniform


@program(f32(100, 100), f32(100))
def gmres(a, b):
    """GMRES of jax.scipy on a dense system of 100 unknowns."""
    a = a / 20 + jnp.eye(100)
    return jax.scipy.sparse.linalg.gmres(lambda x: a @ x, b, maxiter=2, restart=20)[0]


@program(f32(200, 200), f32(200))
def bicgstab(a, b):
    """BiCGSTAB on 200 unknowns, 30 iterations at most."""
    a = a / 40 + jnp.eye(200)
    return jax.scipy.sparse.linalg.bicgstab(lambda x: a @ x, b, maxiter=30)[0]


@program(f32(300, 300), f32(300))
def power_iteration(a, x):
    """The largest eigenvalue by 100 products."""

    def step(_, x):
        y = a @ x
        return y / jnp.linalg.norm(y)

    x = lax.fori_loop(0, 100, step, x)
    return jnp.abs(x @ a @ x) * 0 + jnp.linalg.norm(x)


@program(f64(200, 200), f64(200))
def lanczos(a, x):
    """Lanczos' tridiagonal matrix of 30 steps in double precision, vectors kept and orthogonalised."""
    a = a + a.T

    def step(s, i):
        q, v, beta = s
        w = a @ q[i] - beta * v
        alpha = w @ q[i]
        w = w - alpha * q[i]
        w = w - q.T @ (q @ w)
        norm = jnp.linalg.norm(w)
        return (q.at[i + 1].set(w / norm), q[i], norm), (alpha, norm)

    q = jnp.zeros((32, 200)).at[0].set(x / jnp.linalg.norm(x))
    return lax.scan(step, (q, jnp.zeros(200), jnp.float64(0)), jnp.arange(30))[1]


@program(f32(64, 64))
def newton_schulz(a):
    """Orthogonalisation by ten Newton-Schulz steps (Muon's)."""
    x = a / jnp.linalg.norm(a)
    for _ in range(10):
        g = x @ x.T
        x = 3.4445 * x - 4.7750 * g @ x + 2.0315 * g @ (g @ x)
    return x.sum() * 0 + (x @ x.T).trace() / 64


@program(f32(6, 6))
def many_small_products(a):
    """200 products of 6x6 in a row, unrolled."""
    x = a
    for i in range(200):
        x = jnp.tanh(x @ a) + 0.01 * i
    return x


@program(f32(128, 128))
def own_lu(a):
    """LU without pivots written as a loop of rank-one updates."""
    a = a + 20 * jnp.eye(128)
    i = jnp.arange(128)

    def step(k, a):
        factor = jnp.where(i > k, a[:, k] / a[k, k], 0)
        return a - factor[:, None] * jnp.where(i >= k, a[k], 0)[None] + jnp.where((i == k)[None] & (i > k)[:, None], factor[:, None], 0)

    return lax.fori_loop(0, 128, step, a)


@program(f32(60, 60))
def gram_schmidt(a):
    """Modified Gram-Schmidt of 60 columns, updated in place."""

    def step(k, q):
        v = q[:, k] / jnp.linalg.norm(q[:, k])
        q = q.at[:, k].set(v)
        later = (jnp.arange(60) > k).astype(jnp.float32)
        return q - jnp.outer(v, (v @ q) * later)

    q = lax.fori_loop(0, 60, step, a)
    return jnp.abs(q.T @ q).sum()


@program(f32(1000))
def thomas(d):
    """A tridiagonal system of 1,000 by Thomas' algorithm: two scans."""

    def forward(s, d):
        c, e = s
        m = 4 - c
        return (1 / m, (d - e) / m), (1 / m, (d - e) / m)

    _, (c, e) = lax.scan(forward, (0.0, 0.0), d)
    return lax.scan(lambda x, s: ((n := s[1] - s[0] * x), n), 0.0, (c, e), reverse=True)[1]


@program(uniform(2000, low=0.1, high=5.0, type="float64"))
def newton_roots(x):
    """Cube roots of 2,000 numbers by Newton in a while loop until the worst has converged."""
    go = lambda s: ((n := s[0] - (s[0] ** 3 - x) / (3 * s[0] ** 2)), jnp.abs(n - s[0]).max())
    return lax.while_loop(lambda s: s[1] > 1e-14, go, (x, jnp.float64(1)))[0]


@program(uniform(1000))
def bisection(x):
    """Inverse of a function by 40 bisections, 1,000 at once."""

    def step(_, s):
        a, b = s
        m = (a + b) / 2
        low = m + jnp.sin(m) < x
        return jnp.where(low, m, a), jnp.where(low, b, m)

    return lax.fori_loop(0, 40, step, (0 * x - 4, 0 * x + 4))[0]


@program(uniform(500, high=3.0))
def quadrature(x):
    """Integrals of 500 functions with 128 nodes."""
    t = jnp.linspace(0, 1, 128)
    return jnp.trapezoid(jnp.exp(-x[:, None] * t[None]) * jnp.cos(5 * t)[None], t, axis=1)


@program(f32(50), uniform(10000, high=48.0))
def cubic_spline(y, x):
    """A natural cubic spline of 50 knots, evaluated at 10,000 places."""
    n = 50
    a = 4 * jnp.eye(n) + jnp.eye(n, k=1) + jnp.eye(n, k=-1)
    m = jnp.linalg.solve(a, jnp.pad(6 * (y[2:] - 2 * y[1:-1] + y[:-2]), 1))
    i = jnp.clip(x.astype(jnp.int32), 0, n - 2)
    t = x - i
    return (1 - t) * y[i] + t * y[i + 1] + ((1 - t) ** 3 - (1 - t)) * m[i] / 6 + (t**3 - t) * m[i + 1] / 6


@program(f32(3), uniform(40, 3))
def adaptive_ode(y, p):
    """Adaptive Runge-Kutta of order 2(1) for 40 parameter sets: a while loop in a vmap with rejected steps."""

    def rate(y, p):
        return jnp.array([p[0] * (y[1] - y[0]), y[0] * (1 - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]])

    def one(p):
        def go(s):
            t, y, h, n = s
            k1 = rate(y, p)
            k2 = rate(y + h * k1, p)
            new, error = y + h / 2 * (k1 + k2), h * jnp.abs(k2 - k1).max() / 2
            good = error < 1e-4
            return jnp.where(good, t + h, t), jnp.where(good, new, y), h * jnp.clip(0.9 * (1e-4 / (error + 1e-9)) ** 0.5, 0.3, 2), n + 1

        return lax.while_loop(lambda s: (s[0] < 1) & (s[3] < 500), go, (0.0, y, 0.01, 0))[1]

    return jax.vmap(one)(p)


@program(f32(40000))
def ode_large_state(y):
    """An adaptive method on a state of 40,000 numbers: the step is kept or not by a conditional."""

    def rate(y):
        return jnp.roll(y, 1) - y + 0.1 * jnp.sin(y)

    def go(s):
        t, y, h, n = s
        k1 = rate(y)
        k2 = rate(y + h * k1)
        error = h * jnp.abs(k2 - k1).max()
        t, y = lax.cond(error < 0.01, lambda: (t + h, y + h / 2 * (k1 + k2)), lambda: (t, y))
        return t, y, h * jnp.clip(0.9 * 0.01 / (error + 1e-9), 0.5, 1.5), n + 1

    return lax.while_loop(lambda s: (s[0] < 0.5) & (s[3] < 200), go, (0.0, y, 0.1, 0))[1]


@program(f32(400, 12), i32(400, 12, high=500), f32(500))
def sparse_matrix(values, columns, x):
    """A sparse matrix of twelve entries a row times a vector, 30 times."""
    step = lambda _, x: x.at[:400].set(jnp.tanh((values * x[columns]).sum(1)))
    return lax.fori_loop(0, 30, step, x)


@program(f32(20, 20, 20), f32(20, 8), f32(20, 8), f32(20, 8))
def tensor_factors(t, a, b, c):
    """Five sweeps of alternating least squares for a CP decomposition."""

    def step(_, s):
        a, b, c = s
        solve = lambda m, u, v: jnp.linalg.solve((u.T @ u) * (v.T @ v) + 0.1 * jnp.eye(8), m.T).T
        a = solve(jnp.einsum("ijk,jr,kr->ir", t, b, c), b, c)
        b = solve(jnp.einsum("ijk,ir,kr->jr", t, a, c), a, c)
        return a, b, solve(jnp.einsum("ijk,ir,jr->kr", t, a, b), a, b)

    a, b, c = lax.fori_loop(0, 5, step, (a, b, c))
    return jnp.einsum("ir,jr,kr->ijk", a, b, c)


@program(f32(1000))
def checkpointed(x):
    """Gradient through 50 steps with rematerialisation."""

    def run(x):
        step = jax.checkpoint(lambda x, _: (jnp.sin(x) + 0.1 * jnp.roll(x, 1), None))
        return (lax.scan(step, x, None, length=50)[0] ** 2).sum()

    return jax.grad(run)(x)


@program(f32(30))
def third_derivative(x):
    """Third derivatives of a scalar function at 30 places."""
    f = lambda x: jnp.exp(jnp.sin(x) * x) / (1 + x**2)
    return jax.vmap(jax.grad(jax.grad(jax.grad(f))))(x)


@program(f32(256, 256))
def determinant_lemma(a):
    """Matrix exponential, logarithm of a determinant and an inverse in one program."""
    a = a / 100
    e = jax.scipy.linalg.expm(a)
    return jnp.linalg.slogdet(e)[1], jnp.linalg.inv(e) @ a


@program(f32(8, 8, 8, 8, 8, 8))
def tensor_network(t):
    """Contractions of a network of four small tensors along a ring."""
    a = t[0, 0]
    b = t[1, 1]
    return jnp.einsum("abcd,cdef,efgh,ghab->", a, b, a, b), jnp.einsum("abcd,befd->aecf", a, b)


@program(f32(5000), f32(5000))
def welford(x, y):
    """Running moments of two series by a scan of 5,000 steps."""

    def step(s, now):
        n, mx, my, c, v = s
        x, y = now
        n = n + 1
        dx = x - mx
        mx, my = mx + dx / n, my + (y - my) / n
        return (n, mx, my, c + dx * (y - my), v + dx * (x - mx)), c / n

    return lax.scan(step, (0.0,) * 5, (x, y))[1]


@program(f32(64, 32, 32))
def batched_flow(x):
    """Control flow in a batch: switch on an index of each example, by vmap."""
    branches = [lambda a: a @ a / 6, jnp.sin, lambda a: a.T, lambda a: jnp.cumsum(a, 0)]
    return jax.vmap(lambda i, a: lax.switch(i % 4, branches, a))(jnp.arange(64), x)


@program(f32(1000, 1000))
def switch_whole(x):
    """A switch on a value known at run time between four programs of a large array."""
    branches = [lambda a: a + 1, jnp.tanh, lambda a: a.T, lambda a: a]
    return lax.switch((jnp.abs(x[0, 0]) * 10).astype(jnp.int32) % 4, branches, x)


@program(f32(2000, 64))
def double_buffer(x):
    """Two arrays swapped in a loop of 20 steps, each written from the other."""
    step = lambda _, s: (s[1] * 0.5 + jnp.roll(s[0], 1, 0), s[0])
    return lax.fori_loop(0, 20, step, (x, x * 2))


@program(f32(100, 1000))
def history(x):
    """A loop that writes each step's row into an array that it also reads."""

    def step(i, h):
        new = 0.5 * h[i - 1] + 0.25 * h[jnp.maximum(i - 2, 0)] + 0.1 * x[i]
        return h.at[i].set(new)

    return lax.fori_loop(1, 100, step, jnp.zeros((100, 1000)).at[0].set(x[0]))


@program(f32(50, 2000))
def ring_buffer(x):
    """A delay line: a ring of 50 rows, one read and one written in each of 500 steps."""

    def step(s, i):
        ring, y = s
        y = 0.9 * y + 0.1 * ring[i % 50]
        return (ring.at[(i + 7) % 50].set(y), y), y[0]

    return lax.scan(step, (x, x[0]), jnp.arange(500))[1]


@program(f32(100))
def nested_loops(x):
    """Twenty loops in a row, each of three loops in each other around sines of a short vector."""

    def nest(depth, y):
        return jnp.sin(y) if depth == 0 else lax.fori_loop(0, 3, lambda i, z: nest(depth - 1, z) + i, y)

    for _ in range(20):
        x = nest(3, x)
    return x


@program(f32(100))
def loops_of_each_length(x):
    """Thirty loops in a row around cosines of a short vector, each of another number of steps."""
    for k in range(30):
        x = lax.fori_loop(0, 10 + k, lambda i, y: jnp.cos(y) + i, x)
    return x


@program(f32(100))
def decisions(x):
    """Fifty conditionals in a row, each with its own sine of a short vector."""
    for k in range(50):
        x = lax.cond(x[0] > k / 50, lambda y: jnp.sin(y) * 2, lambda y, k=k: y + k, x)
    return x


@program(f32(500))
def top_of_top(x):
    """The largest five elements forty times, their sum added to all before the next time."""
    total = 0.0
    for _ in range(40):
        total = lax.top_k(x + total, 5)[0].sum()
    return total


@program(uniform(10_000, low=0.1, high=9))
def newton_each(a):
    """Square roots by Newton's method under vmap, each until it is exact."""

    def root(v):
        return lax.while_loop(lambda s: jnp.abs(s * s - v) > 1e-5 * v, lambda s: (s + v / s) / 2, v)

    return jax.vmap(root)(a)


@program(f64(20, 20, 20))
def tucker_hosvd(x):
    """Higher-order orthogonal iteration, two rounds of eigh-free power iterations."""
    U = [jnp.eye(20)[:, :5] + 0.01 for _ in range(3)]
    for _ in range(2):
        for m in range(3):
            o = [i for i in range(3) if i != m]
            y = jnp.einsum("abc,bi,cj->aij", jnp.moveaxis(x, m, 0), U[o[0]], U[o[1]]).reshape(20, 25)
            G = y @ y.T
            U[m] = jnp.linalg.qr(G @ (G @ U[m]))[0]
    return jnp.abs(jnp.einsum("abc,ai,bj,ck->ijk", x, *U))


@program(f32(6000), i32(6000, 2, high=800), f32(800, 16))
def sparse_product(values, places, x):
    """A sparse matrix of 6000 elements (BCOO) times a dense one."""
    return sparse.BCOO((values, places), shape=(800, 800)) @ x


@program(f32(9 * 4000), i32(9 * 4000, high=4000), f32(4000))
def sparse_rows(values, columns, x):
    """A sparse matrix in compressed rows (BCSR) of nine elements each times a vector, normalised, 20 times."""
    starts = 9 * jnp.arange(4001, dtype=jnp.int32)
    a = sparse.BCSR((values, columns, starts), shape=(4000, 4000))
    return lax.fori_loop(0, 20, lambda _, x: a @ (x / jnp.linalg.norm(x)), x)


@program(uniform(50, low=-1.0, high=1.0))
def descents(x):
    """200 gradient steps on Rosenbrock's function of 50 unknowns, whose squares are powers with a constant exponent."""

    def energy(x):
        return (100 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0).sum()

    return lax.fori_loop(0, 200, lambda _, x: x - 1e-3 * jax.grad(energy)(x), x)


@program(f32(40_000), f32(300, 300), f32(400), f32(400))
def far_kernels(a, b, x, y):
    """Tails: exp where its results are subnormal or 0, in densities, a softmax of large values and a kernel of far points."""
    density = jnp.exp(-0.5 * (40 * jax.nn.sigmoid(a) - 13) ** 2)
    kernel = jnp.exp(-0.5 * (20 * (x[:, None] - y)) ** 2)
    return density, jnp.exp(60 * (b - b.max(-1, keepdims=True))).sum(-1), kernel @ y


@program(i32(), f32(10), f32(10, 10))
def walk_until(seed, x, m):
    """A random walk of Metropolis's that stops when it is far enough away: a new key of each step from its number."""
    precision = m @ m.T / 10 + jnp.eye(10)

    def step(s):
        i, x, low = s
        propose, accept = jax.random.split(jax.random.fold_in(jax.random.key(seed), i))
        y = x + 0.3 * jax.random.normal(propose, x.shape)
        other = y @ precision @ y / 2
        is_taken = jnp.log(jax.random.uniform(accept)) < low - other
        return i + 1, jnp.where(is_taken, y, x), jnp.where(is_taken, other, low)

    return lax.while_loop(lambda s: (s[0] < 500) & (s[2] < 1e3), step, (0, x, x @ precision @ x / 2))


@program(f32(5000), f32(5000), f32(5000, 3))
def rotations(yaw, pitch, x):
    """A rotation from two angles for each of 5,000 points, as a matrix of sines and cosines, and the points turned by it."""

    def turn(a, b):
        of_a = jnp.array([[jnp.cos(a), -jnp.sin(a), 0], [jnp.sin(a), jnp.cos(a), 0], [0, 0, 1]])
        return of_a @ jnp.array([[jnp.cos(b), 0, jnp.sin(b)], [0, 1, 0], [-jnp.sin(b), 0, jnp.cos(b)]])

    r = jax.vmap(turn)(yaw, pitch)
    return r, jnp.einsum("nij,nj->ni", r, x)


@program(uniform(300, 12))
def reactions(y):
    """Twelve species in 300 cells, unpacked, six reactions between neighbours in a ring, stacked again; 50 steps."""

    def step(_, y):
        s = list(y)
        rates = [0.1 * (i + 1) * s[2 * i] * s[(2 * i + 3) % 12] for i in range(6)]
        for i, rate in enumerate(rates):
            s[2 * i], s[2 * i + 1], s[(2 * i + 5) % 12] = s[2 * i] - rate, s[2 * i + 1] + rate, s[(2 * i + 5) % 12] * 0.99
        return y + 0.01 * (jnp.stack(s) - y)

    return jax.vmap(lambda y: lax.fori_loop(0, 50, step, y))(y)


@program(f64(80, 80), f64(80), f64(100))
def implicit_steps(a, load, gusts):
    """A vibrating structure of 80 unknowns, 100 implicit steps of Newmark's: each a solution with one Cholesky factor."""
    stiff = a @ a.T / 80 + 4 * jnp.eye(80)
    factor = jax.scipy.linalg.cho_factor(jnp.eye(80) + 0.25 * 0.01 * stiff)

    def step(state, gust):
        u, v, a = state
        guess, v = u + 0.1 * v + 0.25 * 0.01 * a, v + 0.05 * a
        a = jax.scipy.linalg.cho_solve(factor, gust * load - stiff @ guess)
        return (guess + 0.25 * 0.01 * a, v + 0.05 * a, a), guess[0]

    zero = jnp.zeros(80)
    return lax.scan(step, (zero, zero, zero), gusts)


@program(f32(3, 4, 11, 11))
def inverse_iterations(a):
    """Pseudo-inverses of twelve 11 x 11 matrices by six iterations of third order, as an attention by landmarks makes them."""
    a = jax.nn.softmax(a)
    z = a.swapaxes(-1, -2) / (jnp.max(a.sum(-2)) * jnp.max(a.sum(-1)))
    for _ in range(6):
        az = a @ z
        z = 0.25 * z @ (13 * jnp.eye(11) - az @ (15 * jnp.eye(11) - az @ (7 * jnp.eye(11) - az)))
    return z


@program(f32(20_000, 5), f32(5), uniform(5, low=0.5, high=1.0))
def densities(x, mean, scale):
    """Densities of five normal variables, each with its own parameters, and the quantiles of as many logistic ones."""
    return jnp.exp(-0.5 * ((x - mean) / scale) ** 2), jax.scipy.special.ndtri(jax.nn.sigmoid(x * scale + mean))
