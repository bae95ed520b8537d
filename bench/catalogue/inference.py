"""Probability: samplers, filters, smoothers, likelihoods, optimisation, finance."""

import jax
import jax.numpy as jnp
import jax.scipy.optimize
from jax import lax
from row import f32, f64, i32, program, u32, uniform


def keyed(k):
    return jax.random.wrap_key_data(k)


@program(u32(2), f32(4, 8))
def metropolis(key, start):
    """Random-walk Metropolis: four chains of 500 steps in eight dimensions."""
    target = lambda x: -0.5 * (x**2 / jnp.arange(1.0, 9.0)).sum()

    def chain(key, x):
        def step(s, key):
            a, b = jax.random.split(key)
            new = s[0] + 0.5 * jax.random.normal(a, (8,))
            value = target(new)
            take = jnp.log(jax.random.uniform(b)) < value - s[1]
            return (jnp.where(take, new, s[0]), jnp.where(take, value, s[1])), s[0]

        return lax.scan(step, (x, target(x)), jax.random.split(key, 500))[1]

    return jax.vmap(chain)(jax.random.split(keyed(key), 4), start)


@program(u32(2), f32(300, 6), i32(300, high=2), f32(6))
def hamiltonian(key, x, y, w):
    """Hamiltonian Monte Carlo on a logistic regression: 20 samples of 10 leapfrog steps."""
    energy = lambda w: jnp.sum(jnp.logaddexp(0, x @ w) - y * (x @ w)) + 0.5 * (w**2).sum()
    slope = jax.grad(energy)

    def sample(w, key):
        a, b = jax.random.split(key)
        p = jax.random.normal(a, (6,))

        def leap(_, s):
            p = s[1] - 0.01 * slope(s[0])
            q = s[0] + 0.02 * p
            return q, p - 0.01 * slope(q)

        q, r = lax.fori_loop(0, 10, leap, (w, p))
        gain = energy(w) + 0.5 * (p**2).sum() - energy(q) - 0.5 * (r**2).sum()
        w = jnp.where(jnp.log(jax.random.uniform(b)) < gain, q, w)
        return w, w

    return lax.scan(sample, w, jax.random.split(keyed(key), 20))[1]


@program(u32(2), uniform(50), tolerance=None)  # so does which particles survive
def particle_filter(key, observed):
    """A bootstrap particle filter of 1,000 particles with systematic resampling, 50 steps."""

    def step(x, now):
        key, y = now
        a, b = jax.random.split(key)
        x = 0.9 * x + jax.random.normal(a, (1000,))
        w = jax.nn.softmax(-0.5 * (y - x) ** 2)
        place = (jnp.arange(1000) + jax.random.uniform(b)) / 1000
        x = x[jnp.searchsorted(jnp.cumsum(w), place).clip(0, 999)]
        return x, x.mean()

    return lax.scan(step, jnp.zeros(1000), (jax.random.split(keyed(key), 50), observed))[1]


@program(f32(100, 2), f32(4, 4))
def kalman_filter(y, a):
    """A Kalman filter of four states and two measurements over 100 steps, with likelihood."""
    a = 0.9 * jnp.eye(4) + 0.02 * a
    h = jnp.eye(2, 4)

    def step(s, y):
        m, p = a @ s[0], a @ s[1] @ a.T + 0.1 * jnp.eye(4)
        v, c = y - h @ m, h @ p @ h.T + jnp.eye(2)
        k = jnp.linalg.solve(c, h @ p).T
        ll = -0.5 * (v @ jnp.linalg.solve(c, v) + jnp.linalg.slogdet(c)[1])
        return (m + k @ v, p - k @ h @ p), ll

    return lax.scan(step, (jnp.zeros(4), jnp.eye(4)), y)[1].sum()


@program(f32(64, 50, 3), f32(6, 6))
def kalman_batch(y, a):
    """64 Kalman filters of six states by vmap over 50 steps."""
    a = 0.9 * jnp.eye(6) + 0.02 * a
    h = jnp.eye(3, 6)

    def run(y):
        def step(s, y):
            m, p = a @ s[0], a @ s[1] @ a.T + 0.1 * jnp.eye(6)
            gain = jnp.linalg.solve(h @ p @ h.T + jnp.eye(3), h @ p).T
            return (m + gain @ (y - h @ m), p - gain @ h @ p), m

        return lax.scan(step, (jnp.zeros(6), jnp.eye(6)), y)[1]

    return jax.vmap(run)(y)


@program(f32(200, 16), f32(16, 16))
def hidden_markov(emit, transition):
    """Forward and backward passes of a hidden Markov model of 16 states, 200 steps."""
    log_t = jax.nn.log_softmax(transition)
    forward = lambda a, e: ((n := e + jax.scipy.special.logsumexp(a[:, None] + log_t, axis=0)), n)
    backward = lambda b, e: ((n := jax.scipy.special.logsumexp(log_t + (e + b)[None], axis=1)), n)
    start = jnp.zeros(16)
    return lax.scan(forward, start, emit)[1] + lax.scan(backward, start, emit, reverse=True)[1]


@program(f32(300, 20), f32(20, 20))
def viterbi(emit, transition):
    """Viterbi's best path through 300 steps of 20 states, traced back."""

    def step(a, e):
        all = a[:, None] + transition
        return all.max(0) + e, all.argmax(0)

    last, back = lax.scan(step, jnp.zeros(20), emit)
    return lax.scan(lambda s, b: (b[s], s), last.argmax(), back, reverse=True)[1]


@program(u32(2))
def black_scholes_paths(key):
    """An Asian option by 10,000 paths of 64 steps."""
    z = jax.random.normal(keyed(key), (64, 10_000))
    path = jnp.exp(jnp.cumsum(0.02 * z - 0.0002, axis=0))
    return jnp.maximum(path.mean(0) - 1, 0).mean()


@program(uniform(100_000, low=50, high=150), uniform(100_000, low=50, high=150), uniform(100_000, low=0.1, high=2))
def black_scholes(s, k, t):
    """The Black-Scholes formula and its greeks of 100,000 options, by grad."""

    def price(s, k, t):
        d = (jnp.log(s / k) + 0.05 * t) / (0.2 * jnp.sqrt(t))
        return s * jax.scipy.stats.norm.cdf(d) - k * jnp.exp(-0.03 * t) * jax.scipy.stats.norm.cdf(d - 0.2 * jnp.sqrt(t))

    return jax.vmap(jax.value_and_grad(price, argnums=(0, 2)))(s, k, t)


@program(f32(2000))
def binomial_option(noise):
    """An American option on a tree of 500 steps, 20 strikes."""
    strike = 100 + 5 * noise[:20]

    def value(k):
        s = 100 * 1.01 ** (2 * jnp.arange(501.0) - 500)
        back = lambda i, v: jnp.maximum(0.999 * (0.5 * v + 0.5 * jnp.roll(v, -1)), jnp.maximum(k - s, 0))
        return lax.fori_loop(0, 500, back, jnp.maximum(k - s, 0))[0]

    return jax.vmap(value)(strike)


@program(f32(250, 50))
def portfolio(returns):
    """Mean-variance weights by 100 projected gradient steps."""
    c, m = jnp.cov(returns.T), returns.mean(0)

    def step(_, w):
        w = jnp.maximum(w - 0.1 * (c @ w - m), 0)
        return w / w.sum()

    return lax.fori_loop(0, 100, step, jnp.ones(50) / 50)


@program(f32(500), f32(3))
def garch(r, p):
    """Likelihood of a GARCH(1,1) over 500 days and its gradient."""

    def loss(p):
        a, b, c = jax.nn.softplus(p) * 0.3

        def step(h, r):
            h = a + b * r * r + c * h
            return h, jnp.log(h) + r * r / h

        return lax.scan(step, jnp.float32(1), r)[1].sum()

    return jax.value_and_grad(loss)(p)


@program(u32(2), f32(8))
def evolution(key, x):
    """An evolution strategy: 50 generations of 64 on Rastrigin's function."""
    f = lambda x: (x**2 - 10 * jnp.cos(6.28 * x) + 10).sum(-1)

    def step(m, key):
        z = jax.random.normal(key, (64, 8))
        best = jnp.argsort(f(m + 0.3 * z))[:16]
        return m + 0.3 * z[best].mean(0), f(m)

    return lax.scan(step, x, jax.random.split(keyed(key), 50))


@program(f32(10), f32(10, 10))
def bfgs(x, a):
    """A quadratic with a quartic term minimised by jax.scipy.optimize's BFGS."""
    a = a @ a.T + jnp.eye(10)
    f = lambda x: 0.5 * x @ a @ x + 0.01 * (x**4).sum() + x.sum()
    return jax.scipy.optimize.minimize(f, x, method="BFGS", options={"maxiter": 20}).fun


@program(f32(100, 5), f32(100), f32(5), tolerance=None)  # which step is the last good one hangs on roundings
def levenberg_marquardt(x, y, w):
    """Nonlinear least squares: 15 steps with a damped 5x5 system, the damping chosen by a conditional."""
    residual = lambda w: jnp.tanh(x @ w) - y

    def step(_, s):
        w, d = s
        r, j = residual(w), jax.jacfwd(residual)(w)
        new = w - jnp.linalg.solve(j.T @ j + d * jnp.eye(5), j.T @ r)
        return lax.cond((residual(new) ** 2).sum() < (r**2).sum(), lambda: (new, d / 3), lambda: (w, d * 2))

    return lax.fori_loop(0, 15, step, (w, 1.0))


@program(f32(30, 2), f32(2))
def nelder_mead(points, x):
    """Newton's method with a backtracking while loop for each of 30 starts, by vmap."""
    f = lambda z: (1 - z[0]) ** 2 + 100 * (z[1] - z[0] ** 2) ** 2

    def one(z):
        def step(_, z):
            d = -jnp.linalg.solve(jax.hessian(f)(z) + 0.1 * jnp.eye(2), jax.grad(f)(z))
            t = lax.while_loop(lambda t: (f(z + t * d) > f(z)) & (t > 1e-4), lambda t: t / 2, 1.0)
            return z + t * d

        return lax.fori_loop(0, 10, step, z)

    return jax.vmap(one)(points)


@program(u32(2), f32(500, 2), f32(4, 2))
def mixture_em(key, x, m):
    """Expectation maximisation of a Gaussian mixture of four, 20 iterations."""

    def step(_, s):
        m, c, w = s
        d = x[:, None] - m[None]
        inverse = jnp.linalg.inv(c)
        logp = jnp.log(w) - 0.5 * jnp.einsum("nki,kij,nkj->nk", d, inverse, d) - 0.5 * jnp.linalg.slogdet(c)[1]
        r = jax.nn.softmax(logp)
        n = r.sum(0) + 1e-6
        m = r.T @ x / n[:, None]
        d = x[:, None] - m[None]
        return m, jnp.einsum("nk,nki,nkj->kij", r, d, d) / n[:, None, None] + 0.01 * jnp.eye(2), n / 500

    return lax.fori_loop(0, 20, step, (m, jnp.tile(jnp.eye(2), (4, 1, 1)), jnp.ones(4) / 4))


@program(u32(2))
def gibbs(key):
    """A Gibbs sampler of a bivariate normal, 1,000 steps of single draws."""

    def step(s, key):
        a, b = jax.random.normal(key, (2,))
        x = 0.8 * s[1] + 0.6 * a
        y = 0.8 * x + 0.6 * b
        return (x, y), (x, y)

    return lax.scan(step, (0.0, 0.0), jax.random.split(keyed(key), 1000))[1]


@program(u32(2))
def bootstrap(key):
    """A bootstrap of a median: 200 resamples of 500."""
    data = jax.random.normal(keyed(key), (500,))
    draw = lambda k: jnp.median(data[jax.random.randint(k, (500,), 0, 500)])
    return jax.vmap(draw)(jax.random.split(keyed(key), 200)).std()


@program(u32(2), f32(10, 3))
def thompson(key, arms):
    """A bandit with Thompson's sampling: 500 pulls, counts updated in place."""

    def step(s, key):
        wins, losses = s
        a, b = jax.random.split(key)
        arm = jnp.argmax(jax.random.beta(a, wins + 1, losses + 1))
        won = jax.random.uniform(b) < jax.nn.sigmoid(arms[arm, 0])
        return (wins.at[arm].add(won), losses.at[arm].add(1.0 - won)), arm

    return lax.scan(step, (jnp.zeros(10), jnp.zeros(10)), jax.random.split(keyed(key), 500))[0]


@program(f64(300), f64(5))
def log_likelihoods(x, p):
    """Likelihoods of a few distributions in double precision, and their gradient."""

    def f(p):
        a, b, c = jnp.exp(0.1 * p[:3])
        u = jax.nn.sigmoid(x)
        g = jax.scipy.stats.gamma.logpdf(jnp.abs(x) + 0.1, a).sum() + jax.scipy.stats.beta.logpdf(u, a, b).sum()
        return g + jax.scipy.stats.t.logpdf(x, c).sum() + jax.scipy.stats.norm.logcdf(x * p[3]).sum()

    return jax.value_and_grad(f)(p)


@program(f32(128, 4), f32(4, 4), f32(4, 2))
def lqr(x, a, b):
    """A linear quadratic regulator: Riccati's recursion of 100 steps, then 128 roll-outs."""
    a = 0.5 * jnp.eye(4) + 0.1 * a

    def riccati(p, _):
        k = jnp.linalg.solve(jnp.eye(2) + b.T @ p @ b, b.T @ p @ a)
        return jnp.eye(4) + a.T @ p @ (a - b @ k), k

    _, gains = lax.scan(riccati, jnp.eye(4), None, length=100)
    roll = lambda x, k: ((n := (a - b @ k) @ x), n)
    return jax.vmap(lambda x: lax.scan(roll, x, gains, reverse=True)[1])(x)


@program(f32(30, 2), f32(4))
def model_predictive(u, x):
    """Model predictive control of a cart and pole: ten gradient steps through 30 steps of dynamics."""

    def cost(u):
        def step(s, u):
            x, v, a, w = s
            acc = (u + 0.1 * jnp.sin(a) * (0.5 * w**2 + 9.8 * jnp.cos(a))) / (1 + 0.1 * jnp.sin(a) ** 2)
            s = jnp.array([x + 0.02 * v, v + 0.02 * acc, a + 0.02 * w, w + 0.02 * (9.8 * jnp.sin(a) - acc * jnp.cos(a)) * 2])
            return s, s[2] ** 2 + 0.01 * u**2

        return lax.scan(step, 0.1 * x, u)[1].sum()

    return lax.fori_loop(0, 10, lambda _, u: u - 0.01 * jax.grad(cost)(u), u[:, 0])
