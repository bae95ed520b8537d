"""Simulations: particles, fields, fluids, rigid bodies, quantum mechanics, chemistry, astronomy."""

import jax
import jax.numpy as jnp
from jax import lax
from row import c64, f32, f64, i32, program, uniform


def scanned(step, state, count):
    return lax.fori_loop(0, count, lambda _, s: step(s), state)


@program(f32(200, 3), f32(200, 3), uniform(200))
def gravity(x, v, mass):
    """Twenty leapfrog steps of 200 bodies, all pairs."""

    def force(x):
        d = x[None] - x[:, None]
        return ((mass[None, :, None] * d) * ((d**2).sum(-1, keepdims=True) + 0.01) ** -1.5).sum(1)

    def step(s):
        v = s[1] + 0.005 * force(s[0])
        x = s[0] + 0.01 * v
        return x, v + 0.005 * force(x)

    return scanned(step, (x, v), 20)


@program(uniform(256, 3, high=8.0), f32(256, 3))
def lennard_jones(x, v):
    """Molecular dynamics of 256 atoms in a periodic box: ten steps of Verlet, forces by grad."""

    def energy(x):
        d = x[:, None] - x[None]
        d = d - 8.0 * jnp.round(d / 8.0)
        r2 = (d**2).sum(-1) + jnp.eye(256) * 100
        s6 = (1 / jnp.maximum(r2, 0.5)) ** 3
        return 2 * (s6 * s6 - s6).sum()

    def step(s):
        x, v = s
        v = v * 0.9 - 0.0001 * jnp.clip(jax.grad(energy)(x), -100, 100)
        return (x + 0.001 * v) % 8.0, v

    return scanned(step, (x, v), 10)


@program(f32(1000, 3), i32(1000, 20, high=1000))
def neighbour_list(x, near):
    """Forces of soft spheres from a list of 20 neighbours each."""
    d = x[near] - x[:, None]
    r = jnp.sqrt((d**2).sum(-1) + 1e-6)
    return (jnp.maximum(1 - r, 0) / r)[..., None] * d


@program(f32(256, 256), f32(256, 256))
def wave_2d(u, v):
    """Wave equation in two dimensions by rolls, 20 steps."""

    def step(s):
        u, v = s
        lap = sum(jnp.roll(u, d, a) for d in (-1, 1) for a in (0, 1)) - 4 * u
        v = v + 0.1 * lap
        return u + 0.1 * v, v

    return scanned(step, (u, v), 20)


@program(f32(128, 128), f32(128, 128))
def reaction_diffusion(u, v):
    """Gray-Scott, 50 steps, Laplacian by pads and slices."""

    def lap(a):
        p = jnp.pad(a, 1, mode="wrap")
        return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * a

    def step(s):
        u, v = s
        uvv = u * v * v
        return u + 0.1 * lap(u) - 0.1 * uvv + 0.02 * (1 - u), v + 0.05 * lap(v) + 0.1 * uvv - 0.06 * v

    return scanned(step, (jnp.tanh(u), jnp.tanh(v)), 50)


@program(f32(64, 64, 64))
def heat_3d(u):
    """Seven-point stencil in three dimensions, slices into the interior, 10 steps."""

    def step(u):
        c = u[1:-1, 1:-1, 1:-1]
        lap = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
        return u.at[1:-1, 1:-1, 1:-1].set(c + 0.1 * (lap - 6 * c))

    return scanned(step, u, 10)


@program(f32(128, 128), f32(128, 128))
def stable_fluids(u, v):
    """Two steps of stable fluids: bilinear advection by gathers, 20 Jacobi iterations for the pressure."""
    i, j = jnp.meshgrid(jnp.arange(128.0), jnp.arange(128.0), indexing="ij")

    def advect(f, u, v):
        return jax.scipy.ndimage.map_coordinates(f, [i - 0.1 * u, j - 0.1 * v], order=1, mode="wrap")

    def step(s):
        u, v = s
        u, v = advect(u, u, v), advect(v, u, v)
        div = (jnp.roll(u, -1, 0) - jnp.roll(u, 1, 0) + jnp.roll(v, -1, 1) - jnp.roll(v, 1, 1)) / 2
        jacobi = lambda p: (jnp.roll(p, 1, 0) + jnp.roll(p, -1, 0) + jnp.roll(p, 1, 1) + jnp.roll(p, -1, 1) - div) / 4
        p = scanned(jacobi, jnp.zeros_like(u), 20)
        return u - (jnp.roll(p, -1, 0) - jnp.roll(p, 1, 0)) / 2, v - (jnp.roll(p, -1, 1) - jnp.roll(p, 1, 1)) / 2

    return scanned(step, (u, v), 2)


@program(f32(9, 96, 96))
def lattice_boltzmann(f):
    """Lattice Boltzmann, D2Q9, ten steps of streaming and collision."""
    cx = jnp.array([0, 1, 0, -1, 0, 1, -1, -1, 1.0])
    cy = jnp.array([0, 0, 1, 0, -1, 1, 1, -1, -1.0])
    w = jnp.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)

    def step(f):
        f = jnp.stack([jnp.roll(f[k], (int(x), int(y)), (0, 1)) for k, (x, y) in enumerate(DIRECTIONS)])
        rho = f.sum(0)
        ux, uy = jnp.tensordot(cx, f, 1) / rho, jnp.tensordot(cy, f, 1) / rho
        cu = cx[:, None, None] * ux + cy[:, None, None] * uy
        equal = w[:, None, None] * rho * (1 + 3 * cu + 4.5 * cu**2 - 1.5 * (ux**2 + uy**2))
        return f + (equal - f) / 0.8

    return scanned(step, jnp.exp(0.01 * f) * w[:, None, None], 10)


DIRECTIONS = ((0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1))


@program(f32(512))
def burgers(u):
    """Burgers' equation, finite volumes with a limiter, 100 steps."""

    def step(u):
        left, right = u - jnp.roll(u, 1), jnp.roll(u, -1) - u
        slope = jnp.where(left * right > 0, jnp.where(jnp.abs(left) < jnp.abs(right), left, right), 0)
        ul, ur = u + slope / 2, jnp.roll(u - slope / 2, -1)
        flux = 0.25 * (ul**2 + ur**2) - 0.5 * jnp.maximum(jnp.abs(ul), jnp.abs(ur)) * (ur - ul)
        return u - 0.1 * (flux - jnp.roll(flux, 1))

    return scanned(step, u, 100)


@program(uniform(3, 400, low=0.5, high=1.5))
def euler_1d(q):
    """Compressible flow in one dimension, Rusanov's flux, 50 steps."""

    def flux(q):
        rho, m, e = q
        u = m / rho
        p = 0.4 * (e - 0.5 * m * u)
        return jnp.stack([m, m * u + p, (e + p) * u]), jnp.abs(u) + jnp.sqrt(1.4 * jnp.abs(p) / rho)

    def step(q):
        f, c = flux(q)
        qr, fr, cr = jnp.roll(q, -1, 1), jnp.roll(f, -1, 1), jnp.roll(c, -1)
        face = 0.5 * (f + fr) - 0.5 * jnp.maximum(c, cr) * (qr - q)
        return q - 0.05 * (face - jnp.roll(face, 1, 1))

    return scanned(step, q.at[2].add(2.0), 50)


@program(f32(64, 64), f32(64, 64), f32(64, 64))
def shallow_water(h, u, v):
    """Shallow water on a staggered grid, 30 steps."""

    def step(s):
        h, u, v = s
        u = u - 0.1 * (jnp.roll(h, -1, 1) - h) + 0.01 * v
        v = v - 0.1 * (jnp.roll(h, -1, 0) - h) - 0.01 * u
        return h - 0.1 * (u - jnp.roll(u, 1, 1) + v - jnp.roll(v, 1, 0)), u, v

    return scanned(step, (h, u, v), 30)


@program(c64(1024), f32(1024))
def schroedinger(psi, potential):
    """Split-step Schroedinger equation with Fourier transforms, 20 steps."""
    k = jnp.fft.fftfreq(1024) * 6.28
    kinetic, half = jnp.exp(-0.05j * k**2), jnp.exp(-0.05j * potential)
    return scanned(lambda p: half * jnp.fft.ifft(kinetic * jnp.fft.fft(half * p)), psi, 20)


@program(f32(128, 128))
def vorticity(w):
    """Two-dimensional turbulence, pseudospectral with dealiasing, five steps of RK2."""
    k = jnp.fft.fftfreq(128, 1 / 128)
    kx, ky = jnp.meshgrid(k, jnp.fft.rfftfreq(128, 1 / 128), indexing="ij")
    k2 = kx**2 + ky**2
    inverse = jnp.where(k2 > 0, 1 / jnp.maximum(k2, 1), 0)
    mask = (jnp.abs(kx) < 42) & (ky < 42)

    def rate(wh):
        back = lambda f: jnp.fft.irfft2(f, s=(128, 128))
        psi = wh * inverse
        u, v = back(1j * ky * psi), back(-1j * kx * psi)
        return -(mask * jnp.fft.rfft2(u * back(1j * kx * wh) + v * back(1j * ky * wh))) - 0.001 * k2 * wh

    step = lambda wh: wh + 0.001 * rate(wh + 0.0005 * rate(wh))
    return jnp.fft.irfft2(scanned(step, jnp.fft.rfft2(w), 5), s=(128, 128))


@program(uniform(2, 4000, high=32.0), f32(2, 4000))
def particle_in_cell(x, v):
    """Particles in cells: deposit by scatter-add, field by FFT, gather, push; five steps."""
    k = jnp.fft.fftfreq(32) * 6.28
    k2 = k[:, None] ** 2 + k[None] ** 2
    green = jnp.where(k2 > 0, 1 / jnp.maximum(k2, 1e-6), 0)

    def step(s):
        x, v = s
        cell = x.astype(jnp.int32) % 32
        rho = jnp.zeros((32, 32)).at[cell[0], cell[1]].add(1.0)
        phi = jnp.fft.ifft2(jnp.fft.fft2(rho) * green).real
        field = jnp.stack([jnp.roll(phi, 1, a) - jnp.roll(phi, -1, a) for a in (0, 1)])
        v = v + 0.001 * field[:, cell[0], cell[1]]
        return (x + 0.01 * v) % 32, v

    return scanned(step, (x, v), 5)


@program(c64(*(2,) * 10))
def quantum_circuit(state):
    """Ten qubits, three layers of rotations and controlled gates by tensordot on a rank-10 array."""

    def rotate(state, q, angle):
        c, s = jnp.cos(angle), jnp.sin(angle)
        gate = jnp.array([[c, -s], [s, c]], dtype=jnp.complex64)
        return jnp.moveaxis(jnp.tensordot(gate, state, axes=((1,), (q,))), 0, q)

    def controlled(state, a, b):
        gate = jnp.array([1, 1, 1, -1], dtype=jnp.complex64).reshape(2, 2)
        shape = [1] * 10
        shape[a] = shape[b] = 2
        return state * gate.reshape(shape)

    for layer in range(3):
        for q in range(10):
            state = rotate(state, q, 0.1 * (q + layer))
        for q in range(9):
            state = controlled(state, q, q + 1)
    return jnp.abs(state.reshape(-1)) ** 2


@program(c64(8, 8), c64(8, 8))
def lindblad(rho, h):
    """A master equation of eight levels: 50 steps of RK4 with complex products."""
    h = h + h.conj().T
    rate = lambda r: -1j * (h @ r - r @ h)

    def step(r):
        a = rate(r)
        b = rate(r + 0.005 * a)
        c = rate(r + 0.005 * b)
        return r + 0.01 / 6 * (a + 2 * b + 2 * c + rate(r + 0.01 * c))

    return scanned(step, rho @ rho.conj().T / 64, 50)


@program(i32(128, 128, high=2), uniform(20, 128, 128))
def ising(spins, uniforms):
    """Ising model: twenty sweeps of a chequerboard's halves."""
    parity = (jnp.arange(128)[:, None] + jnp.arange(128)[None]) % 2

    def step(s, u):
        for colour in (0, 1):
            field = sum(jnp.roll(s, d, a) for d in (-1, 1) for a in (0, 1))
            flip = (u < jnp.exp(-0.8 * s * field)) & (parity == colour)
            s = jnp.where(flip, -s, s)
        return s, s.mean()

    return lax.scan(step, (2 * spins - 1).astype(jnp.float32), uniforms)


@program(f32(200, 4))
def double_pendulum(s):
    """An ensemble of 200 double pendulums, 100 steps of RK4."""

    def rate(s):
        a, b, u, v = (s[:, i] for i in range(4))
        d, m = a - b, 2 - jnp.cos(a - b) ** 2
        du = (-jnp.sin(d) * (v**2 + u**2 * jnp.cos(d)) - 9.8 * (2 * jnp.sin(a) - jnp.sin(b) * jnp.cos(d))) / m
        dv = (jnp.sin(d) * (2 * u**2 + v**2 * jnp.cos(d)) + 19.6 * (jnp.sin(a) * jnp.cos(d) - jnp.sin(b))) / m
        return jnp.stack([u, v, du, dv], 1)

    def step(s):
        k1 = rate(s)
        k2 = rate(s + 0.0005 * k1)
        k3 = rate(s + 0.0005 * k2)
        return s + 0.001 / 6 * (k1 + 2 * k2 + 2 * k3 + rate(s + 0.001 * k3))

    return scanned(step, 0.3 * s, 100)


@program(f64(3))
def lorenz(s):
    """The Lorenz system in double precision: 1,000 steps of RK4, all points kept."""

    def rate(s):
        x, y, z = s
        return jnp.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    def step(s, _):
        k1 = rate(s)
        k2 = rate(s + 0.0005 * k1)
        k3 = rate(s + 0.0005 * k2)
        s = s + 0.001 / 6 * (k1 + 2 * k2 + 2 * k3 + rate(s + 0.001 * k3))
        return s, s

    return lax.scan(step, 1 + 0.1 * s, None, length=1000)[1]


@program(f32(64))
def stiff_chemistry(y):
    """Robertson's reactions in 64 cells: implicit Euler, five Newton steps each, 3x3 systems by vmap."""

    def rate(y):
        a, b, c = y
        return jnp.stack([-0.04 * a + 1e4 * b * c, 0.04 * a - 1e4 * b * c - 3e7 * b * b, 3e7 * b * b])

    def implicit(y0):
        def newton(_, y):
            return y - jnp.linalg.solve(jnp.eye(3) - 1e-4 * jax.jacfwd(rate)(y), y - y0 - 1e-4 * rate(y))

        return lax.fori_loop(0, 5, newton, y0)

    start = jnp.stack([1 - 0.01 * jnp.abs(y), 0 * y, 0.01 * jnp.abs(y)], 1)
    return scanned(jax.vmap(implicit), start, 20)


@program(f32(32, 32, 3))
def cloth(x):
    """A cloth of springs on a grid, 50 steps, damped, pinned at two corners."""

    def step(s):
        x, v = s
        f = jnp.zeros_like(x).at[..., 2].add(-0.1)
        for axis in (0, 1):
            d = jnp.diff(x, axis=axis)
            length = jnp.linalg.norm(d, axis=-1, keepdims=True) + 1e-6
            pull = 10 * (length - 1) * d / length
            pad = [(0, 0)] * 3
            pad[axis] = (0, 1)
            f = f + jnp.pad(pull, pad)
            pad[axis] = (1, 0)
            f = f - jnp.pad(pull, pad)
        v = (0.99 * v + 0.01 * f).at[0, 0].set(0).at[0, -1].set(0)
        return x + 0.01 * v, v

    i, j = jnp.meshgrid(jnp.arange(32.0), jnp.arange(32.0), indexing="ij")
    return scanned(step, (jnp.stack([i, j, 0 * i], -1) + 0.01 * x, 0 * x), 50)[0]


@program(f32(100, 7), f32(100, 7))
def robot_arm(q, v):
    """Forward kinematics of arms of seven joints and the Jacobian of the hand, 100 configurations."""

    def hand(q):
        def joint(frame, angle):
            c, s = jnp.cos(angle), jnp.sin(angle)
            turn = jnp.array([[c, -s, 0, 0.3], [0, 0, -1, 0.1], [s, c, 0, 0], [0, 0, 0, 1]])
            return frame @ turn, None

        return lax.scan(joint, jnp.eye(4), q)[0][:3, 3]

    return jax.vmap(hand)(q), jax.vmap(lambda q, v: jax.jvp(hand, (q,), (v,))[1])(q, v), jax.vmap(jax.jacfwd(hand))(q)


@program(f32(1000, 4), f32(1000, 3))
def quaternions(q, v):
    """1,000 rigid bodies: quaternions normalised, vectors turned, orientation integrated; 20 steps."""

    def mul(a, b):
        return jnp.concatenate(
            [
                a[:, :1] * b[:, :1] - (a[:, 1:] * b[:, 1:]).sum(1, keepdims=True),
                a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + jnp.cross(a[:, 1:], b[:, 1:]),
            ],
            1,
        )

    def step(q):
        q = q + 0.005 * mul(q, jnp.concatenate([0 * v[:, :1], v], 1))
        return q / jnp.linalg.norm(q, axis=1, keepdims=True)

    return scanned(step, q, 20)


@program(f32(40, 12), f32(40, 12))
def contact_solver(x, v):
    """Forty systems of twelve unknowns with contacts: a projected Gauss-Seidel of thirty sweeps, by vmap."""

    def solve(b, f):
        a = jnp.outer(b, b) + 4 * jnp.eye(12)

        def row(i, z):
            return z.at[i].set(jnp.maximum(0, z[i] + (f[i] - a[i] @ z) / a[i, i]))

        return lax.fori_loop(0, 30, lambda _, z: lax.fori_loop(0, 12, row, z), jnp.zeros(12))

    return jax.vmap(solve)(x, v)


@program(f32(64, 64), f32(64, 64))
def yee(ez, h):
    """Maxwell's equations in two dimensions on Yee's grid with a source, 40 steps."""

    def step(i, s):
        e, hx, hy = s
        hx = hx.at[:, :-1].add(-0.5 * (e[:, 1:] - e[:, :-1]))
        hy = hy.at[:-1].add(0.5 * (e[1:] - e[:-1]))
        e = e.at[1:-1, 1:-1].add(0.5 * (hy[1:-1, 1:-1] - hy[:-2, 1:-1] - hx[1:-1, 1:-1] + hx[1:-1, :-2]))
        return e.at[32, 32].add(jnp.sin(0.3 * i)), hx, hy

    return lax.fori_loop(0, 40, step, (ez, h, h))[0]


@program(f64(500), f64(500))
def kepler(m, e):
    """Kepler's equation in double precision by a while loop of Newton steps until all converge."""
    e = jnp.abs(jnp.tanh(e)) * 0.9

    def go(s):
        x, _, n = s
        d = (x - e * jnp.sin(x) - m) / (1 - e * jnp.cos(x))
        return x - d, jnp.abs(d).max(), n + 1

    return lax.while_loop(lambda s: (s[1] > 1e-12) & (s[2] < 50), go, (m, jnp.float64(1), 0))[0]


@program(f32(60, 60), f32(3600))
def poisson_cg(rhs, x):
    """Poisson's equation by 40 iterations of conjugate gradients on a five-point stencil."""

    def laplace(u):
        p = jnp.pad(u, 1)
        return 4 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2]

    return jax.scipy.sparse.linalg.cg(laplace, rhs, x0=x.reshape(60, 60), maxiter=40)[0]


@program(f32(129, 129))
def multigrid(f):
    """Two V-cycles of multigrid for Poisson's equation, weighted Jacobi as the smoother."""

    def smooth(u, f, count):
        def one(u):
            p = jnp.pad(u, 1)
            return u + 0.2 * (f + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] - 4 * u)

        return scanned(one, u, count)

    def cycle(u, f):
        u = smooth(u, f, 3)
        if f.shape[0] > 9:
            p = jnp.pad(u, 1)
            r = f - (4 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2])
            coarse = cycle(jnp.zeros_like(r[::2, ::2]), 4 * r[::2, ::2])
            u = u + jax.image.resize(coarse, u.shape, "bilinear")
        return smooth(u, f, 3)

    return cycle(cycle(jnp.zeros_like(f), f), f)


@program(uniform(64, 64, low=0.1), uniform(100))
def ray_march(density, angles):
    """Light through a volume: 64 steps along 4,096 rays by interpolation, absorption accumulated."""
    i = jnp.linspace(0, 63, 64)

    def ray(angle):
        def step(s, t):
            light, depth = s
            p = [32 + (i - 32) * jnp.cos(angle) - (t - 32) * jnp.sin(angle), 32 + (i - 32) * jnp.sin(angle) + (t - 32) * jnp.cos(angle)]
            d = jax.scipy.ndimage.map_coordinates(density, p, order=1)
            return (light + jnp.exp(-depth) * d, depth + 0.1 * d), None

        return lax.scan(step, (0 * i, 0 * i), i)[0][0]

    return jax.vmap(ray)(angles * 3.14)


@program(f32(12, 12), f32(12, 12, 12, 12))
def hartree_fock(h, g):
    """Ten self-consistent steps: Fock matrix by einsum, eigenvectors, density."""
    h = h + h.T

    def step(d):
        fock = h + jnp.einsum("ijkl,kl->ij", g, d) / 50 - 0.5 * jnp.einsum("ikjl,kl->ij", g, d) / 50
        c = jnp.linalg.eigh(fock + fock.T)[1][:, :5]
        return 0.5 * d + 0.5 * c @ c.T

    return scanned(step, jnp.zeros((12, 12)), 10)


@program(f32(256, 3), i32(500, high=256), i32(500, high=256))
def spring_network(x, a, b):
    """A network of springs relaxed by 50 steps with momentum, forces by scatter-add."""

    def energy(x):
        return ((jnp.sqrt(((x[a] - x[b]) ** 2).sum(-1) + 1e-6) - 1) ** 2).sum()

    def step(s):
        x, v = s
        v = 0.9 * v - 0.01 * jax.grad(energy)(x)
        return x + v, v

    return scanned(step, (x, 0 * x), 50)[0]


@program(f32(100, 7), f32(7, 4), tolerance=1e-2)
def arm_ik(q, dh):
    """Inverse kinematics of 100 arms of seven joints: damped least squares, ten steps."""
    tgt = jnp.array([0.5, 0.3, 0.4])

    def fk(q):
        T = jnp.eye(4)
        for i in range(7):
            c, s, a, d = jnp.cos(q[i]), jnp.sin(q[i]), dh[i, 0] * 0.2, dh[i, 1] * 0.2
            ca, sa = jnp.cos(dh[i, 2]), jnp.sin(dh[i, 2])
            T = T @ jnp.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
        return T[:3, 3]

    def ik(q):
        def step(_, q):
            J = jax.jacrev(fk)(q)
            e = tgt - fk(q)
            return q + J.T @ jnp.linalg.solve(J @ J.T + 0.1 * jnp.eye(3), e)

        return lax.fori_loop(0, 10, step, q)

    return jax.vmap(ik)(q)


@program(uniform(100, 100, low=1.0, high=2.0))
def staggered_waves(speed):
    """Sound on a staggered grid, differences with edges repeated, 40 steps."""
    forward = lambda f, axis: jnp.diff(f, axis=axis, append=lax.index_in_dim(f, -1, axis))
    back = lambda f, axis: jnp.diff(f, axis=axis, prepend=lax.index_in_dim(f, 0, axis))

    def step(t, s):
        p, u, v = s
        u = 0.999 * (u - 0.2 * forward(p, 0))
        v = 0.999 * (v - 0.2 * forward(p, 1))
        p = p - 0.2 * speed * (back(u, 0) + back(v, 1))
        return p.at[50, 50].add(jnp.sin(0.3 * t)), u, v

    zero = jnp.zeros_like(speed)
    return lax.fori_loop(0, 40, step, (zero, zero, zero))
