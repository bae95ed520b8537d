"""The rows of the benchmark: what is computed, on which arguments, and how each peer says it best.

A row has a JAX function, from which generate.py lowers the program's text and XLA's own run is made, and the same
work for NumPy, numexpr, PyTorch, oneDNN and plain C (bench/kernels). `reads` and `writes` are the bytes that must be
moved at least, for rows where memory is the limit. `steps` is how many steps of a loop one run does; times are shown
for one step.
"""

import dataclasses
import functools
import math
import pathlib

import numpy as np

try:
    import jax
    import jax.numpy as jnp
    from jax import lax
except ImportError:  # the texts are kept in the repository; only XLA's own rows need JAX
    jax = jnp = lax = None

try:
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "s8": np.int8,
    "s32": np.int32,
    "bf16": bfloat16,
}
WIDTH = {"f32": 4, "f64": 8, "s8": 1, "s32": 4, "bf16": 2}
PROGRAMS = pathlib.Path(__file__).parent / "programs"
GROUPS = ("small", "streams", "reductions", "layouts", "whole")


@dataclasses.dataclass
class Row:
    name: str
    group: str
    item: int  # of the list of workloads
    args: list  # (type, sizes, kind) for each argument
    fn: object = None  # on JAX arrays
    what: str = ""
    steps: int = 1
    kernel: object = None  # (C function, numbers for it)
    reads: int = 0
    writes: int = 0
    np: object = None  # (arguments, results) -> a function of nothing that fills the results
    ne: object = None  # numexpr's text over a, b, c...
    th: object = None  # on PyTorch tensors: eager and compiled
    tho: object = None  # PyTorch with out=: (arguments, results) -> a function of nothing
    dnn: object = None  # oneDNN's primitives: (sequence, arguments, results)
    donate: tuple = ()  # arguments whose buffer a result takes
    each_run: bool = False  # ours looks at the buffers in each run
    tol: float = 2e-5
    by_size: bool = False  # |tol| is relative to the largest element of a result, as for long sums of both signs
    text: object = None  # the program's text, where JAX cannot say it; may be a function
    ckernel: object = None  # C text of the kernel, where it is generated
    xla_limit: int = 0  # bytes of memory that XLA may take to compile this; 0: no limit

    @property
    def wide(self):
        return any(kind[0] == "f64" for kind in self.args)


ROWS = []


def text_of(row):
    """The program of a row, from the repository or made now."""
    if row.text is not None:
        return row.text() if callable(row.text) else row.text
    return (PROGRAMS / f"{row.name}.hlo").read_text()


def row(name, group, item, args, **more):
    assert all(name != other.name for other in ROWS), name

    def keep(fn):
        ROWS.append(Row(name, group, item, list(args), fn, **more))
        return fn

    return keep


def add(name, group, item, args, fn, **more):
    row(name, group, item, args, **more)(fn)


def make(kind, seed):
    """An argument: (type, sizes, how); the same numbers in every process."""
    name, sizes, how = kind
    random = np.random.default_rng(seed)
    if callable(how):
        values = how(random, sizes)
    elif how == "normal":
        values = random.standard_normal(sizes, dtype=np.float32)
    elif how == "positive":
        values = random.random(sizes, dtype=np.float32) * 2 + np.float32(0.1)
    elif how == "small":
        values = random.standard_normal(sizes, dtype=np.float32) * np.float32(0.1)
    elif how == "integers":
        values = random.integers(-60, 60, sizes)
    elif how == "zeros":
        values = np.zeros(sizes)
    else:
        raise ValueError(how)
    return np.asarray(values).astype(TYPES[name])


def loop(steps, step, *carry):
    """step(*carry) -> carry, so many times, as one program."""
    return lax.fori_loop(0, steps, lambda _, c: step(*c), carry)


# ------------------------------------------------------------------------------------------- small: (1), (2), (3)


def contraction(random, sizes):
    """A matrix that shrinks what it multiplies, so that long chains stay finite."""
    q, _ = np.linalg.qr(random.standard_normal(sizes))
    return 0.9 * q


def rotation(random, sizes):
    q, _ = np.linalg.qr(random.standard_normal(sizes))
    return q


def chain_6x6(ops, steps, x, a, b):
    def body(x):
        for i in range(ops):
            x = x @ a if i % 2 == 0 else x + b
        return (x,)

    return loop(steps, body, x)[0]


for ops, steps in ((10, 1000), (50, 200), (200, 50)):
    add(
        f"chain_6x6_{ops}",
        "small",
        1,
        [("f64", (6, 6), "normal"), ("f64", (6, 6), contraction), ("f64", (6, 6), "small")],
        functools.partial(chain_6x6, ops, steps),
        steps=steps,
        kernel=("chain_6x6", (steps, ops)),
        tol=1e-10,
        what=f"{ops} products and sums of 6x6 f64, in a loop",
    )


@row(
    "while_3x3",
    "small",
    2,
    [("f64", (3, 3), "normal"), ("f64", (3, 3), rotation)],
    steps=100000,
    kernel=("while_3x3", (100000,)),
    tol=1e-8,
    what="while loop, carry multiplied by a 3x3 f64",
)
def while_3x3(x, r):
    return lax.while_loop(lambda c: c[0] < 100000, lambda c: (c[0] + 1, c[1] @ r), (np.int32(0), x))[1]


add(
    "twice_square_10",
    "small",
    3,
    [("f32", (10,), "normal")],
    lambda x: 2 * x * x,
    kernel=("twice_square", (10,)),
    each_run=True,
    np=lambda a, r: lambda: (np.multiply(a[0], 2, out=r[0]), np.multiply(r[0], a[0], out=r[0])),
    ne="2 * a * a",
    th=lambda x: 2 * x * x,
    what="2*x*x on 10 elements: the cost of a call and its checks",
)


# --------------------------------------------------------------------------------------------------- small: (4)


def scalar_body(ops, steps, language):
    """A loop body of so many scalar operations on 16 values, as HLO text or as C: each takes two of the values and
    replaces one, by a sum, a product with a constant near 1, a difference or a maximum."""
    random = np.random.default_rng(7)
    values = 16
    hlo, c = [], []
    names = [f"v{i}" for i in range(values)]
    for i in range(ops):
        a, b, to = (int(k) for k in random.integers(0, values, 3))
        form = i % 4
        new = f"t{i}"
        if form == 0:
            hlo.append(f"  {new} = f32[] multiply({names[a]}, k{i % 8})")
            c.append(f"v{to} = v{a} * k{i % 8};")
        elif form == 1:
            hlo.append(f"  {new} = f32[] add({names[a]}, {names[b]})")
            c.append(f"v{to} = v{a} + v{b};")
        elif form == 2:
            hlo.append(f"  {new} = f32[] multiply({names[a]}, half)")
            c.append(f"v{to} = v{a} * 0.5f;")
        else:
            hlo.append(f"  {new} = f32[] subtract({names[a]}, {names[b]})")
            c.append(f"v{to} = v{a} - v{b};")
        names[to] = new
    # Back into a bounded range, whatever the chain did.
    constants = [0.5 + i / 64 for i in range(8)]
    if language == "c":
        head = "".join(f"  float v{i} = x[{i}];\n" for i in range(values))
        ks = "".join(f"  const float k{i} = {k}f;\n" for i, k in enumerate(constants))
        tail = "".join(f"    v{i} = v{i} / (1.0f + (v{i} < 0 ? -v{i} : v{i}));\n" for i in range(values))
        out = "".join(f"  y[{i}] = v{i};\n" for i in range(values))
        body = "".join(f"    {line}\n" for line in c)
        return (
            f"#include <stdint.h>\nvoid scalar_body_{ops}(const void *const *a, void *const *r, const int64_t *n) {{\n"
            f"  const float *x = a[0];\n  float *y = r[0];\n{head}{ks}"
            f"  for (int64_t step = 0; step < n[0]; step++) {{\n{body}{tail}  }}\n{out}}}\n"
        )
    carry = "(s32[], " + ", ".join(["f32[]"] * values) + ")"
    lines = [
        f"HloModule scalar_body_{ops}, entry_computation_layout={{(f32[{values}]{{0}})->f32[{values}]{{0}}}}",
        "",
        "body {",
        f"  c = {carry} parameter(0)",
        "  i = s32[] get-tuple-element(c), index=0",
        "  one = s32[] constant(1)",
        "  i1 = s32[] add(i, one)",
        "  half = f32[] constant(0.5)",
        "  unit = f32[] constant(1)",
    ]
    lines += [f"  k{i} = f32[] constant({k})" for i, k in enumerate(constants)]
    lines += [f"  v{i} = f32[] get-tuple-element(c), index={i + 1}" for i in range(values)]
    lines += hlo
    for i in range(values):
        lines += [
            f"  m{i} = f32[] abs({names[i]})",
            f"  d{i} = f32[] add(unit, m{i})",
            f"  w{i} = f32[] divide({names[i]}, d{i})",
        ]
    lines += [
        f"  ROOT out = {carry} tuple(i1, " + ", ".join(f"w{i}" for i in range(values)) + ")",
        "}",
        "",
        "condition {",
        f"  c = {carry} parameter(0)",
        "  i = s32[] get-tuple-element(c), index=0",
        f"  n = s32[] constant({steps})",
        "  ROOT less = pred[] compare(i, n), direction=LT",
        "}",
        "",
        "ENTRY main {",
        f"  x = f32[{values}] parameter(0)",
        "  zero = s32[] constant(0)",
    ]
    for i in range(values):
        lines += [f"  part{i} = f32[1] slice(x), slice={{[{i}:{i + 1}]}}", f"  e{i} = f32[] reshape(part{i})"]
    lines += [
        f"  init = {carry} tuple(zero, " + ", ".join(f"e{i}" for i in range(values)) + ")",
        f"  last = {carry} while(init), condition=condition, body=body",
    ]
    for i in range(values):
        lines += [f"  o{i} = f32[] get-tuple-element(last), index={i + 1}", f"  p{i} = f32[1] reshape(o{i})"]
    lines += [
        f"  ROOT y = f32[{values}] concatenate(" + ", ".join(f"p{i}" for i in range(values)) + "), dimensions={0}",
        "}",
        "",
    ]
    return "\n".join(lines)


for ops, steps in ((300, 400), (1200, 100), (12000, 10)):
    add(
        f"scalar_body_{ops}",
        "small",
        4,
        [("f32", (16,), "normal")],
        None,
        steps=steps,
        tol=1e-4,
        text=functools.partial(scalar_body, ops, steps, "hlo"),
        ckernel=functools.partial(scalar_body, ops, steps, "c"),
        kernel=(f"scalar_body_{ops}", (steps,)),
        xla_limit=4 << 30,
        what=f"loop body of {ops} scalar operations",
    )


def scalars_60(x):
    def step(*v):
        return tuple(np.float32(0.99) * v[i] + np.float32(0.01) * jnp.sin(v[(i + 1) % 60]) for i in range(60))

    return jnp.stack(loop(1000, step, *[x[i] for i in range(60)]))


add(
    "scalars_60",
    "small",
    4,
    [("f32", (60,), "normal")],
    scalars_60,
    steps=1000,
    kernel=("scalars_60", (1000,)),
    tol=1e-4,
    what="60 independent scalars, 0.99 a + 0.01 sin b, in a loop",
)


def matrices_60(x):
    def step(*v):
        return tuple(jnp.tanh(v[i]) + np.float32(0.1) * jnp.sin(v[(i + 1) % 60]) for i in range(60))

    return jnp.stack(loop(200, step, *[x[i] for i in range(60)]))


add(
    "matrices_60",
    "small",
    4,
    [("f32", (60, 3, 3), "normal")],
    matrices_60,
    steps=200,
    kernel=("matrices_60", (200,)),
    tol=1e-4,
    what="60 matrices 3x3, tanh a + 0.1 sin b, in a loop",
)


# --------------------------------------------------------------------------------------------------- small: (5)


def update_slice(n, x, s):
    def step(i, c):
        x, s = c
        at = (i * 37) % (n - 4)
        return lax.dynamic_update_slice(x, s, (at,)), s * np.float32(0.999)

    return lax.fori_loop(0, 1000, step, (x, s))[0]


for n, label in ((100_000, "1e5"), (10_000_000, "1e7")):
    for donate in (False, True):
        add(
            f"update_slice_{label}" + ("_donated" if donate else ""),
            "small",
            5,
            [("f32", (n,), "normal"), ("f32", (4,), "normal")],
            functools.partial(update_slice, n),
            kernel=("update_slice", (n, 1000, int(not donate))),
            donate=(0,) if donate else (),
            what=f"1000 updates of 4 elements in {label}, argument {'donated' if donate else 'kept'}",
        )


# What an update's body reads of the same array, or what else holds it, must not cost a copy of the array.


def in_steps(step, *state, steps=1000):
    return lax.fori_loop(0, steps, lambda i, c: step(i, *c), state)


def reads_slice(x):
    n = x.shape[0]
    return in_steps(
        lambda i, x: (lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i * 91 % (n - 8),), (8,)) * np.float32(0.5), (i * 37 % (n - 8),)),), x
    )


def reads_gather(x):
    n, at = x.shape[0], np.arange(16, dtype=np.int32)
    return in_steps(lambda i, x: (x.at[(at * 31 + i) % n].add(x[(at * 17 + i * 3) % n] * np.float32(0.25)),), x)


def two_arrays(x, y):
    return in_steps(lambda i, x, y: (x.at[i].set(y[i + 1]), y.at[i + 5].set(x[i] * np.float32(0.5))), x, y)


def in_branches(x):
    return in_steps(
        lambda i, x: (lax.cond(x[i] > 0, lambda x: x.at[i].set(x[i + 1]), lambda x: x.at[i + 2].add(np.float32(1)), x),), x
    )


def swaps(x):
    n = x.shape[0]
    return in_steps(lambda i, x: (x.at[i].set(x[i * 5 % n]).at[i * 5 % n].set(x[i]),), x)


def keeps_old(x, s):
    return in_steps(lambda i, x, s: (x.at[i].set(s), s * np.float32(0.5) + x[i]), x, s)


def where(x):
    return in_steps(lambda i, x: (jnp.where(x[i] > 0, x.at[i].set(np.float32(0)), x),), x)


def wave(a, b):
    def step(i, a, b):
        around = jnp.roll(b, 1) - np.float32(2) * b + jnp.roll(b, -1)
        return b, np.float32(2) * b - a + np.float32(0.1) * around

    return in_steps(step, a, b, steps=100)


ARRAY = ("f32", (100_000,), "normal")
for name, function, args, what in (
    ("update_reads_slice", reads_slice, [ARRAY], "1000 updates of 8 elements in 1e5 from 8 others"),
    ("update_reads_gather", reads_gather, [ARRAY], "1000 sums of 16 gathered elements into 16 others of 1e5"),
    ("update_two_arrays", two_arrays, [ARRAY, ARRAY], "1000 steps of two arrays of 1e5, each updated from the other"),
    ("update_in_branches", in_branches, [ARRAY], "1000 updates of 1e5 in one branch or the other"),
    ("update_swaps", swaps, [ARRAY], "1000 times two elements of 1e5 changing places"),
    ("update_keeps_old", keeps_old, [ARRAY, ("f32", (), "normal")], "1000 updates of 1e5, the old element read afterwards"),
    ("update_where", where, [ARRAY], "1000 updates of 1e5 under a select that keeps the array"),
    ("wave_1e5", wave, [ARRAY, ARRAY], "100 steps of a wave of 1e5 points: two arrays, of which one moves on"),
):
    add(name, "small", 5, args, function, what=what, tol=2e-3 if function is wave else 1e-4)


# --------------------------------------------------------------------------------------------------- small: (6)


def lorenz_step(u):
    def rate(u):
        x, y, z = u[0], u[1], u[2]
        return jnp.stack([np.float32(10) * (y - x), x * (np.float32(10) - z) - y, x * y - np.float32(8 / 3) * z])

    h = np.float32(0.005)
    k1 = rate(u)
    k2 = rate(u + h / 2 * k1)
    k3 = rate(u + h / 2 * k2)
    k4 = rate(u + h * k3)
    return (u + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4),)


def bodies_rate(p, mass, power):
    d = p[None, :, :] - p[:, None, :]
    r2 = jnp.sum(d * d, axis=2) + np.float32(0.01)
    w = power(r2) * mass[None, :]
    return jnp.sum(d * w[:, :, None], axis=1)


def three_bodies_step(p, v, mass):
    v = v + np.float32(0.001) * bodies_rate(p, mass, lambda r2: 1 / (r2 * jnp.sqrt(r2)))
    return p + np.float32(0.001) * v, v, mass


def rigid_step(q, w):
    inertia = np.array([1.0, 2.0, 3.0], np.float32)
    h = np.float32(0.001)
    wdot = -jnp.cross(w, inertia * w) / inertia
    s, v = q[0], q[1:]
    qdot = 0.5 * jnp.concatenate([-jnp.sum(v * w)[None], s * w + jnp.cross(v, w)])
    q = q + h * qdot
    return q / jnp.sqrt(jnp.sum(q * q)), w + h * wdot


def inverse_3x3(m):
    a, b, c, d, e, f, g, h, i = (m[r, k] for r in range(3) for k in range(3))
    A, B, C = e * i - f * h, f * g - d * i, d * h - e * g
    adjugate = jnp.stack(
        [A, c * h - b * i, b * f - c * e, B, a * i - c * g, c * d - a * f, C, b * g - a * h, a * e - b * d]
    )
    return adjugate.reshape(3, 3) / (a * A + b * B + c * C)


def kalman_step(x, p, f, h, q, r, z):
    x = f @ x
    p = f @ p @ f.T + q
    s = h @ p @ h.T + r
    k = p @ h.T @ inverse_3x3(s)
    x = x + k @ (z - h @ x)
    p = p - k @ h @ p
    return x, p, f, h, q, r, z


def lstm_step(x, h, c, wx, wh, b):
    gates = x @ wx + h @ wh + b
    i, f, g, o = jnp.split(gates, 4, axis=1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return x, jax.nn.sigmoid(o) * jnp.tanh(c), c, wx, wh, b


def covariance(random, sizes):
    m = 0.3 * random.standard_normal(sizes)
    return m @ m.T + np.eye(sizes[0])


def motion(random, sizes):
    return np.eye(6) + 0.1 * np.eye(6, k=3)


def both(name, args, step, results, steps, kernel, numbers=(), what="", **more):
    """A system as a loop of many steps, and as one call a step."""
    pick = lambda out: out[0] if results == 1 else tuple(out[:results])
    add(
        name + "_loop",
        "small",
        6,
        args,
        lambda *a: pick(loop(steps, step, *a)),
        steps=steps,
        kernel=(kernel, (steps, *numbers)),
        what=what + ", in a loop",
        **more,
    )
    add(
        name + "_step",
        "small",
        6,
        args,
        lambda *a: pick(step(*a)),
        kernel=(kernel, (1, *numbers)),
        what=what + ", one call",
        **more,
    )


both("lorenz", [("f32", (3,), "normal")], lorenz_step, 1, 10000, "lorenz", what="Lorenz, Runge-Kutta 4", tol=1e-3)
_three = [("f32", (3, 3), "normal"), ("f32", (3, 3), "small"), ("f32", (3,), "positive")]
add(
    "three_bodies_loop",
    "small",
    6,
    _three,
    lambda p, v, m: loop(1000, three_bodies_step, p, v, m)[:2],
    steps=1000,
    kernel=("three_bodies", (1000,)),
    what="three bodies, in a loop",
    tol=1e-3,
)
add(
    "three_bodies_step",
    "small",
    6,
    _three,
    lambda p, v, m: three_bodies_step(p, v, m)[:2],
    kernel=("three_bodies", (1,)),
    what="three bodies, one call",
    tol=1e-4,
)
both(
    "rigid_body",
    [("f32", (4,), "positive"), ("f32", (3,), "normal")],
    rigid_step,
    2,
    1000,
    "rigid_body",
    what="rigid body with a quaternion",
    tol=1e-3,
)
both(
    "kalman",
    [
        ("f32", (6,), "normal"),
        ("f32", (6, 6), covariance),
        ("f32", (6, 6), motion),
        ("f32", (3, 6), "normal"),
        ("f32", (6, 6), covariance),
        ("f32", (3, 3), covariance),
        ("f32", (3,), "normal"),
    ],
    kalman_step,
    2,
    1000,
    "kalman",
    what="Kalman filter, 6 states, 3 measurements",
    tol=5e-3,
)
for batch in (1, 16):
    _lstm = [
        ("f32", (batch, 32), "normal"),
        ("f32", (batch, 32), "small"),
        ("f32", (batch, 32), "small"),
        ("f32", (32, 128), "small"),
        ("f32", (32, 128), "small"),
        ("f32", (128,), "small"),
    ]
    add(
        f"lstm_b{batch}_loop",
        "small",
        6,
        _lstm,
        lambda *a: tuple(loop(100, lstm_step, *a)[1:3]),
        steps=100,
        kernel=("lstm", (100, batch)),
        what=f"LSTM cell 32, batch {batch}, in a loop",
        tol=1e-3,
    )
    add(
        f"lstm_b{batch}_step",
        "small",
        6,
        _lstm,
        lambda *a: tuple(lstm_step(*a)[1:3]),
        kernel=("lstm", (1, batch)),
        what=f"LSTM cell 32, batch {batch}, one call",
        tol=1e-4,
    )


# ---------------------------------------------------------------------------------------------- small: (7), (8)


def bodies_step(p, v, mass):
    v = v + np.float32(0.001) * bodies_rate(p, mass, lambda r2: r2 ** np.float32(-1.5))
    return p + np.float32(0.001) * v, v, mass


for n, steps in ((8, 100), (64, 10), (512, 1)):
    add(
        f"bodies_{n}",
        "small",
        7,
        [("f32", (n, 3), "normal"), ("f32", (n, 3), "small"), ("f32", (n,), "positive")],
        (lambda steps: lambda p, v, m: loop(steps, bodies_step, p, v, m)[:2])(steps),
        steps=steps,
        kernel=("bodies", (steps, n)),
        what=f"{n} bodies with r^-1.5, in a loop",
        tol=1e-3,
    )

add(
    "matmul_4x4_1000",
    "small",
    8,
    [("f32", (1000, 4, 4), "normal"), ("f32", (1000, 4, 4), "normal")],
    lambda a, b: a @ b,
    kernel=("matmul_4x4", (1000,)),
    dnn=lambda d, a, r: d.matmul(a[0], a[1], r[0]),
    np=lambda a, r: lambda: np.matmul(a[0], a[1], out=r[0]),
    th=lambda a, b: a @ b,
    what="1000 products of 4x4",
    tol=1e-4,
)
add(
    "points_3x3",
    "small",
    8,
    [("f32", (100_000, 3), "normal"), ("f32", (3, 3), "normal")],
    lambda a, b: a @ b,
    kernel=("points_3x3", (100_000,)),
    dnn=lambda d, a, r: d.matmul(a[0], a[1], r[0]),
    np=lambda a, r: lambda: np.matmul(a[0], a[1], out=r[0]),
    th=lambda a, b: a @ b,
    what="(1e5,3) @ (3,3)",
    tol=1e-4,
    reads=1_200_000,
    writes=1_200_000,
)


# ------------------------------------------------------------------------------------------------- streams: (9)

LEVELS = {"l2": 128 << 10, "l3": 4 << 20, "dram": 64 << 20}  # bytes of one array

for kind in ("f32", "f64", "bf16", "s8"):
    for level, size in LEVELS.items():
        n = size // WIDTH[kind]
        how = "integers" if kind == "s8" else "normal"
        add(
            f"add_{kind}_{level}",
            "streams",
            9,
            [(kind, (n,), how)] * 2,
            lambda a, b: a + b,
            kernel=(f"add_{kind}", (n,)),
            dnn=(lambda d, a, r: d.add(a[0], a[1], r[0])) if kind in ("f32", "s8") else None,
            reads=2 * size,
            writes=size,
            np=lambda a, r: lambda: np.add(a[0], a[1], out=r[0]),
            ne=None if kind in ("bf16", "s8") else "a + b",
            th=lambda a, b: a + b,
            tho=lambda t, a, r: lambda: t.add(a[0], a[1], out=r[0]),
            what=f"a + b, {kind}",
            tol=1e-2 if kind == "bf16" else 2e-6,
        )

for level, (rows, columns) in {"l2": (128, 256), "l3": (1024, 1024), "dram": (4096, 4096)}.items():
    size = 4 * rows * columns
    matrix = ("f32", (rows, columns), "normal")
    add(
        f"add_row_{level}",
        "streams",
        9,
        [matrix, ("f32", (columns,), "normal")],
        lambda x, v: x + v,
        reads=size,
        writes=size,
        kernel=("add_row", (rows, columns)),
        dnn=lambda d, a, r: d.add(a[0], a[1][None, :], r[0]),
        np=lambda a, r: lambda: np.add(a[0], a[1], out=r[0]),
        ne="a + b",
        th=lambda x, v: x + v,
        tho=lambda t, a, r: lambda: t.add(a[0], a[1], out=r[0]),
        what="x + v, dimensions {1}",
    )
    add(
        f"add_column_{level}",
        "streams",
        9,
        [matrix, ("f32", (rows,), "normal")],
        lambda x, v: x + v[:, None],
        reads=size,
        writes=size,
        kernel=("add_column", (rows, columns)),
        dnn=lambda d, a, r: d.add(a[0], a[1][:, None], r[0]),
        np=lambda a, r: lambda: np.add(a[0], a[1][:, None], out=r[0]),
        th=lambda x, v: x + v[:, None],
        tho=lambda t, a, r: lambda: t.add(a[0], a[1][:, None], out=r[0]),
        what="x + v, dimensions {0}",
    )
    add(
        f"add_scalar_{level}",
        "streams",
        9,
        [matrix, ("f32", (), "normal")],
        lambda x, s: x + s,
        reads=size,
        writes=size,
        kernel=("add_scalar", (rows * columns,)),
        dnn=lambda d, a, r: d.add(a[0], a[1].reshape(1, 1), r[0]),
        np=lambda a, r: lambda: np.add(a[0], a[1], out=r[0]),
        ne="a + b",
        th=lambda x, s: x + s,
        tho=lambda t, a, r: lambda: t.add(a[0], a[1], out=r[0]),
        what="x + scalar",
    )
    add(
        f"outer_{level}",
        "streams",
        9,
        [("f32", (rows, 1), "normal"), ("f32", (1, columns), "normal")],
        lambda x, y: x + y,
        writes=size,
        kernel=("outer", (rows, columns)),
        np=lambda a, r: lambda: np.add(a[0], a[1], out=r[0]),
        ne="a + b",
        th=lambda x, y: x + y,
        tho=lambda t, a, r: lambda: t.add(a[0], a[1], out=r[0]),
        what="(n,1) + (1,m)",
    )

for level, n in {"l2": 64, "l3": 2048, "dram": 32768}.items():
    size = 4 * 2 * n * 256
    add(
        f"rank5_{level}",
        "streams",
        9,
        [("f32", (1, 2, 1, n, 256), "normal"), ("f32", (1, 2, 1, 1, 256), "normal")],
        lambda x, v: x + v,
        reads=size,
        writes=size,
        kernel=("rank5", (2, n, 256)),
        dnn=lambda d, a, r: d.add(a[0], a[1], r[0]),
        np=lambda a, r: lambda: np.add(a[0], a[1], out=r[0]),
        ne="a + b",
        th=lambda x, v: x + v,
        tho=lambda t, a, r: lambda: t.add(a[0], a[1], out=r[0]),
        what=f"rank 5, [1,2,1,{n},256] + [1,2,1,1,256]",
    )


# ------------------------------------------------------------------------------------------------ streams: (10)


def gelu(x, s, b):
    return jax.nn.gelu(x * s + b)


def torch_gelu(x, s, b):
    import torch

    return torch.nn.functional.gelu(x * s + b, approximate="tanh")


def chain10(x, y, tanh=None):
    z = x * y
    z = z + x
    z = z - y * 0.5
    z = z * z
    z = z + 1.0
    z = x / z
    z = z * 2.0 - y
    return z * x


for level, (rows, columns) in {"l2": (128, 256), "l3": (1024, 1024), "dram": (4096, 4096)}.items():
    size = 4 * rows * columns
    matrix = ("f32", (rows, columns), "normal")
    add(
        f"gelu_{level}",
        "streams",
        10,
        [matrix, ("f32", (columns,), "normal"), ("f32", (columns,), "normal")],
        gelu,
        reads=size,
        writes=size,
        kernel=("gelu", (rows, columns)),
        dnn=lambda d, a, r: d.gelu(a[0], a[1], a[2], r[0]),
        th=torch_gelu,
        what="gelu(x*s + b)",
        tol=1e-5,
        ne="0.5 * (a*b+c) * (1 + tanh(0.7978845608 * ((a*b+c) + 0.044715 * (a*b+c)**3)))",
    )
    add(
        f"chain10_{level}",
        "streams",
        10,
        [matrix, matrix],
        chain10,
        reads=2 * size,
        writes=size,
        kernel=("chain10", (rows * columns,)),
        th=chain10,
        ne="(a / ((a*b + a - b*0.5)**2 + 1) * 2 - b) * a",
        np=lambda a, r: lambda: chain10_numpy(a, r),
        what="ten cheap operations",
        tol=1e-4,
    )


def chain10_numpy(a, r):
    x, y = a
    z = r[0]
    np.multiply(x, y, out=z)
    np.add(z, x, out=z)
    np.subtract(z, y * np.float32(0.5), out=z)
    np.multiply(z, z, out=z)
    np.add(z, np.float32(1), out=z)
    np.divide(x, z, out=z)
    np.multiply(z, np.float32(2), out=z)
    np.subtract(z, y, out=z)
    np.multiply(z, x, out=z)


MILLION5 = 5_000_000
for name, how in (("exp", "normal"), ("log", "positive"), ("tanh", "normal"), ("sin", "normal")):
    add(
        f"{name}_5m",
        "streams",
        10,
        [("f32", (MILLION5,), how)],
        (lambda name: lambda x: getattr(jnp, name)(x))(name),
        reads=4 * MILLION5,
        writes=4 * MILLION5,
        kernel=(f"{name}_f32", (MILLION5,)),
        dnn=(lambda name: None if name == "sin" else lambda d, a, r: d.eltwise(name, a[0], r[0]))(name),
        np=(lambda name: lambda a, r: lambda: getattr(np, name)(a[0], out=r[0]))(name),
        ne=f"{name}(a)",
        th=(lambda name: lambda x: getattr(x, name)())(name),
        tho=(lambda name: lambda t, a, r: lambda: getattr(t, name)(a[0], out=r[0]))(name),
        what=f"{name} of 5 million",
        tol=1e-5,
    )
add(
    "power_5m",
    "streams",
    10,
    [("f32", (MILLION5,), "positive"), ("f32", (MILLION5,), "normal")],
    lambda x, y: jnp.power(x, y),
    reads=8 * MILLION5,
    writes=4 * MILLION5,
    kernel=("power_f32", (MILLION5,)),
    np=lambda a, r: lambda: np.power(a[0], a[1], out=r[0]),
    ne="a ** b",
    th=lambda x, y: x**y,
    tho=lambda t, a, r: lambda: t.pow(a[0], a[1], out=r[0]),
    what="power of 5 million",
    tol=1e-5,
)


def adam(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 0.001 * (m / (1 - 0.9)) / ((v / (1 - 0.999)) ** 0.5 + 1e-8), m, v


def adam_jax(p, m, v, g):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return p - 0.001 * (m / (1 - 0.9)) / (jnp.sqrt(v / (1 - 0.999)) + 1e-8), m, v


def adam_torch_fused(t, a, r):
    def one():
        # PyTorch's own fused optimizer step, in place.
        t._fused_adam_(
            [a[0]],
            [a[3]],
            [a[1]],
            [a[2]],
            [],
            [t.tensor(1.0)],
            lr=0.001,
            beta1=0.9,
            beta2=0.999,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        )

    return one


add(
    "adam_1m",
    "streams",
    10,
    [
        ("f32", (1 << 20,), "normal"),
        ("f32", (1 << 20,), "small"),
        ("f32", (1 << 20,), "positive"),
        ("f32", (1 << 20,), "small"),
    ],
    adam_jax,
    donate=(0, 1, 2),
    reads=16 << 20,
    writes=12 << 20,
    kernel=("adam", (1 << 20,)),
    th=adam,
    tho=adam_torch_fused,
    what="Adam step, 1 M parameters, in place",
    tol=1e-4,
)


def heat(x):
    def step(x):
        return (x + np.float32(0.2) * (jnp.roll(x, 1) - 2 * x + jnp.roll(x, -1)),)

    return loop(100, step, x)[0]


add(
    "heat_65536",
    "streams",
    10,
    [("f32", (65536,), "normal")],
    heat,
    steps=100,
    kernel=("heat", (100, 65536)),
    what="heat on a ring of 65,536, in a loop",
    tol=1e-4,
)


# --------------------------------------------------------------------------------------------- reductions: (11)


def sums(label, sizes, axes):
    size = 4 * math.prod(sizes)
    for axis in axes:
        dims = tuple(range(len(sizes))) if axis is None else (axis,)
        add(
            f"sum_{label}_" + ("all" if axis is None else str(axis)),
            "reductions",
            11,
            [("f32", sizes, "normal")],
            (lambda dims: lambda x: jnp.sum(x, axis=dims))(dims),
            reads=size,
            kernel=("sum", (len(sizes), *sizes, -1 if axis is None else axis)),
            dnn=(
                lambda dims: lambda d, a, r: d.sum(
                    a[0], r[0].reshape([1 if i in dims else n for i, n in enumerate(a[0].shape)])
                )
            )(dims),
            np=(lambda dims: lambda a, r: lambda: np.sum(a[0], axis=dims, out=r[0]))(dims),
            th=(lambda dims: lambda x: x.sum(dim=dims))(dims),
            what=f"sum of {label.replace('_', ' ')} over " + ("all" if axis is None else f"axis {axis}"),
            tol=2e-2,
        )


sums("4096x4096", (4096, 4096), (0, 1, None))
sums("128x128x128", (128, 128, 128), (0, 1, 2, None))

add(
    "argmax_4096",
    "reductions",
    11,
    [("f32", (4096, 4096), "normal")],
    lambda x: jnp.argmax(x, axis=1).astype(np.int32),
    reads=64 << 20,
    kernel=("argmax", (4096, 4096)),
    np=lambda a, r: lambda: [np.argmax(a[0], axis=1)],
    th=lambda x: x.argmax(dim=1),
    what="argmax of rows, 4096^2",
    tol=0,
)

_wide = ("f32", (4096, 1024), "normal")
_wide_bytes = 16 << 20
add(
    "softmax",
    "reductions",
    11,
    [_wide],
    lambda x: jax.nn.softmax(x, axis=1),
    reads=_wide_bytes,
    writes=_wide_bytes,
    kernel=("softmax", (4096, 1024)),
    dnn=lambda d, a, r: d.softmax(1, a[0], r[0]),
    th=lambda x: x.softmax(dim=1),
    what="softmax of rows, 4096x1024",
    tol=1e-5,
)


def layer_norm(x, g, b):
    mean = jnp.mean(x, axis=1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, axis=1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1e-5) * g + b


def torch_layer_norm(x, g, b):
    import torch

    return torch.nn.functional.layer_norm(x, (x.shape[1],), g, b, 1e-5)


add(
    "layer_norm",
    "reductions",
    11,
    [_wide, ("f32", (1024,), "normal"), ("f32", (1024,), "normal")],
    layer_norm,
    reads=_wide_bytes,
    writes=_wide_bytes,
    kernel=("layer_norm", (4096, 1024)),
    dnn=lambda d, a, r: d.layer_norm(a[0], a[1], a[2], r[0]),
    th=torch_layer_norm,
    what="layer norm of rows, 4096x1024",
    tol=1e-4,
)
add(
    "cumsum_window",
    "reductions",
    11,
    [_wide],
    lambda x: lax.reduce_window(x, np.float32(0), lax.add, (1, 1024), (1, 1), ((0, 0), (1023, 0))),
    reads=_wide_bytes,
    writes=_wide_bytes,
    kernel=("cumsum", (4096, 1024)),
    np=lambda a, r: lambda: np.cumsum(a[0], axis=1, out=r[0]),
    th=lambda x: x.cumsum(dim=1),
    what="cumulative sum of rows, as reduce-window",
    tol=1e-3,
)
add(
    "cumsum_scan",
    "reductions",
    11,
    [_wide],
    lambda x: jnp.cumsum(x, axis=1),
    reads=_wide_bytes,
    writes=_wide_bytes,
    kernel=("cumsum", (4096, 1024)),
    np=lambda a, r: lambda: np.cumsum(a[0], axis=1, out=r[0]),
    th=lambda x: x.cumsum(dim=1),
    what="cumulative sum of rows, as JAX lowers it",
    tol=1e-3,
)
add(
    "difference_square_sum",
    "reductions",
    11,
    [("f32", (256, 256), "normal")] * 2,
    lambda a, b: jnp.sum((a[:, None, :] - b[None, :, :]) ** 2, axis=2),
    kernel=("difference_square_sum", (256,)),
    th=lambda a, b: ((a[:, None, :] - b[None, :, :]) ** 2).sum(dim=2),
    np=lambda a, r: lambda: np.sum((a[0][:, None, :] - a[1][None, :, :]) ** 2, axis=2, out=r[0]),
    what="differences squared and summed, 256^3",
    tol=1e-4,
)


# ------------------------------------------------------------------------------------------------ layouts: (12)

for rows, columns in ((128, 128), (512, 512), (1024, 1024), (4096, 4096), (1023, 1025), (3001, 2999)):
    size = 4 * rows * columns
    add(
        f"transpose_{rows}x{columns}",
        "layouts",
        12,
        [("f32", (rows, columns), "normal")],
        lambda x: x.T,
        reads=size,
        writes=size,
        kernel=("transpose", (rows, columns)),
        dnn=lambda d, a, r: d.reorder(a[0].T, r[0]),
        np=lambda a, r: lambda: np.copyto(r[0], a[0].T),
        th=lambda x: x.T.contiguous(),
        tho=lambda t, a, r: lambda: r[0].copy_(a[0].T),
        what=f"transpose {rows}x{columns}",
        tol=0,
    )

for order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
    size = 4 * 256 * 128 * 192
    add(
        "permute_" + "".join(map(str, order)),
        "layouts",
        12,
        [("f32", (256, 128, 192), "normal")],
        (lambda order: lambda x: jnp.transpose(x, order))(order),
        reads=size,
        writes=size,
        kernel=("permute", (256, 128, 192, *order)),
        dnn=(lambda order: lambda d, a, r: d.reorder(a[0].transpose(order), r[0]))(order),
        np=(lambda order: lambda a, r: lambda: np.copyto(r[0], a[0].transpose(order)))(order),
        th=(lambda order: lambda x: x.permute(order).contiguous())(order),
        tho=(lambda order: lambda t, a, r: lambda: r[0].copy_(a[0].permute(order)))(order),
        what="permutation " + str(order).replace(" ", "") + " of 256x128x192",
        tol=0,
    )

ADD_TRANSPOSED = """HloModule add_transposed, entry_computation_layout={(f32[SIZE,SIZE]{1,0}, f32[SIZE,SIZE]{0,1})->f32[SIZE,SIZE]{1,0}}

ENTRY main {
  a = f32[SIZE,SIZE]{1,0} parameter(0)
  b = f32[SIZE,SIZE]{0,1} parameter(1)
  ROOT sum = f32[SIZE,SIZE]{1,0} add(a, b)
}
"""
# An argument in a layout that the peers do not have, doubled.
DOUBLED = """HloModule doubled, entry_computation_layout={(ARGUMENT)->RESULT{1,0}}

ENTRY main {
  x = ARGUMENT parameter(0)
  two = f32[] constant(2)
  twos = RESULT{1,0} broadcast(two), dimensions={}
  ROOT y = RESULT{1,0} multiply(x, twos)
}
"""

for n in (1024, 4096):
    size = 4 * n * n
    add(
        f"add_transposed_{n}",
        "layouts",
        12,
        [("f32", (n, n), "normal")] * 2,
        lambda a, b: a + b.T,
        reads=2 * size,
        writes=size,
        text=ADD_TRANSPOSED.replace("SIZE", str(n)),
        kernel=("add_transposed", (n,)),
        dnn=lambda d, a, r: d.add(a[0], a[1].T, r[0]),
        np=lambda a, r: lambda: np.add(a[0], a[1].T, out=r[0]),
        th=lambda a, b: a + b.T,
        tho=lambda t, a, r: lambda: t.add(a[0], a[1].T, out=r[0]),
        what=f"a{{1,0}} + b{{0,1}}, {n}^2",
    )

# Arguments in tiles and with padding. The peers get the bytes as an array of the stored sizes and look at it through
# reshapes and slices.
add(
    "untile_1024",
    "layouts",
    12,
    [("f32", (128, 8, 8, 128), "normal")],
    lambda x: x.transpose(0, 2, 1, 3).reshape(1024, 1024) * np.float32(2),
    reads=4 << 20,
    writes=4 << 20,
    text=DOUBLED.replace("ARGUMENT", "f32[1024,1024]{1,0:T(8,128)}").replace("RESULT", "f32[1024,1024]"),
    kernel=("untile", (1024, 1024)),
    np=lambda a, r: lambda: np.multiply(a[0].transpose(0, 2, 1, 3), np.float32(2), out=r[0].reshape(128, 8, 8, 128)),
    th=lambda x: (x.transpose(1, 2) * 2).reshape(1024, 1024),
    what="an argument in tiles of 8x128, doubled",
)
add(
    "unpad_1000",
    "layouts",
    12,
    [("f32", (1024, 1024), "normal")],
    lambda x: x[:1000, :1000] * np.float32(2),
    reads=4_000_000,
    writes=4_000_000,
    text=DOUBLED.replace("ARGUMENT", "f32[1000,1000]{1,0:PAD(1024,1024;unknown)}").replace("RESULT", "f32[1000,1000]"),
    kernel=("unpad", (1000, 1024)),
    np=lambda a, r: lambda: np.multiply(a[0][:1000, :1000], np.float32(2), out=r[0]),
    th=lambda x: x[:1000, :1000] * 2,
    what="a padded argument, doubled",
)

_m2 = ("f32", (2048, 2048), "normal")
_m2_bytes = 16 << 20
add(
    "concatenate",
    "layouts",
    12,
    [("f32", (2048, 1024), "normal")] * 2,
    lambda a, b: jnp.concatenate([a, b], axis=1),
    reads=_m2_bytes,
    writes=_m2_bytes,
    kernel=("concatenate", (2048, 1024)),
    dnn=lambda d, a, r: d.concatenate(1, a[0], a[1], r[0]),
    np=lambda a, r: lambda: np.concatenate(a, axis=1, out=r[0]),
    th=lambda a, b: torch_cat(a, b),
    tho=lambda t, a, r: lambda: t.cat(a, dim=1, out=r[0]),
    what="concatenate two 2048x1024 by columns",
    tol=0,
)


def torch_cat(a, b):
    import torch

    return torch.cat([a, b], dim=1)


def pad_numpy(a, r):
    r[0][:] = 0
    r[0][3:-3, 5:-5] = a[0]


def torch_pad(x):
    import torch

    return torch.nn.functional.pad(x, (5, 5, 3, 3))


def reverse_torch(x):
    return x.flip(1)


add(
    "pad",
    "layouts",
    12,
    [_m2],
    lambda x: jnp.pad(x, ((3, 3), (5, 5))),
    reads=_m2_bytes,
    writes=4 * 2054 * 2058,
    kernel=("pad", (2048, 2048, 3, 5)),
    np=lambda a, r: lambda: pad_numpy(a, r),
    th=torch_pad,
    what="pad 2048^2 by 3 and 5",
    tol=0,
)
add(
    "slice",
    "layouts",
    12,
    [_m2],
    lambda x: x[5:2005, 7:2007],
    reads=16_000_000,
    writes=16_000_000,
    kernel=("slice", (2000, 2000, 5, 7, 2048)),
    dnn=lambda d, a, r: d.reorder(a[0][5:2005, 7:2007], r[0]),
    np=lambda a, r: lambda: np.copyto(r[0], a[0][5:2005, 7:2007]),
    th=lambda x: x[5:2005, 7:2007].contiguous(),
    tho=lambda t, a, r: lambda: r[0].copy_(a[0][5:2005, 7:2007]),
    what="slice 2000^2 of 2048^2",
    tol=0,
)
add(
    "reverse",
    "layouts",
    12,
    [_m2],
    lambda x: x[:, ::-1],
    reads=_m2_bytes,
    writes=_m2_bytes,
    kernel=("reverse", (2048, 2048)),
    np=lambda a, r: lambda: np.copyto(r[0], a[0][:, ::-1]),
    th=reverse_torch,
    what="reverse the columns of 2048^2",
    tol=0,
)


def stencil(x):
    return jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1) - 4 * x


def torch_stencil(x):
    return x.roll(1, 0) + x.roll(-1, 0) + x.roll(1, 1) + x.roll(-1, 1) - 4 * x


add(
    "roll_stencil",
    "layouts",
    12,
    [_m2],
    stencil,
    reads=_m2_bytes,
    writes=_m2_bytes,
    kernel=("stencil", (2048, 2048)),
    th=torch_stencil,
    np=lambda a, r: lambda: np.copyto(
        r[0], np.roll(a[0], 1, 0) + np.roll(a[0], -1, 0) + np.roll(a[0], 1, 1) + np.roll(a[0], -1, 1) - 4 * a[0]
    ),
    what="five-point stencil by rolls, 2048^2",
    tol=1e-5,
)


# -------------------------------------------------------------------------------------------------- whole: (13)


def mlp(x, w1, b1, w2, b2, w3, b3):
    x = jnp.maximum(x @ w1 + b1, 0)
    x = jnp.maximum(x @ w2 + b2, 0)
    return x @ w3 + b3


def torch_mlp(x, w1, b1, w2, b2, w3, b3):
    import torch

    x = torch.addmm(b1, x, w1).relu()
    x = torch.addmm(b2, x, w2).relu()
    return torch.addmm(b3, x, w3)


def mlp_numpy(a, r):
    x, w1, b1, w2, b2, w3, b3 = a
    h1, h2 = np.empty((x.shape[0], 512), np.float32), np.empty((x.shape[0], 512), np.float32)

    def one():
        np.matmul(x, w1, out=h1)
        np.add(h1, b1, out=h1)
        np.maximum(h1, 0, out=h1)
        np.matmul(h1, w2, out=h2)
        np.add(h2, b2, out=h2)
        np.maximum(h2, 0, out=h2)
        np.matmul(h2, w3, out=r[0])
        np.add(r[0], b3, out=r[0])

    return one


def onednn_mlp(d, a, r):
    x, w1, b1, w2, b2, w3, b3 = a
    h1, h2 = np.zeros((x.shape[0], 512), np.float32), np.zeros((x.shape[0], 512), np.float32)
    d.matmul(x, w1, h1, b1, relu=True)
    d.matmul(h1, w2, h2, b2, relu=True)
    d.matmul(h2, w3, r[0], b3)


def onednn_attention(d, a, r):
    q, k, v = a
    s = np.zeros((4, 8, 256, 256), np.float32)
    d.matmul(q, k.transpose(0, 1, 3, 2), s, scale=1 / 8)
    d.softmax(3, s, s)
    d.matmul(s, v, r[0])


for batch in (1, 128):
    add(
        f"mlp_b{batch}",
        "whole",
        13,
        [
            ("f32", (batch, 784), "normal"),
            ("f32", (784, 512), "small"),
            ("f32", (512,), "small"),
            ("f32", (512, 512), "small"),
            ("f32", (512,), "small"),
            ("f32", (512, 10), "small"),
            ("f32", (10,), "small"),
        ],
        mlp,
        th=torch_mlp,
        np=mlp_numpy,
        kernel=("mlp", (batch,)),
        dnn=onednn_mlp,
        what=f"MLP 784-512-512-10 forward, batch {batch}",
        tol=1e-3,
        reads=4 * (784 * 512 + 512 * 512 + 5120) if batch == 1 else 0,
    )


def attention(q, k, v):
    s = jnp.einsum("bhqd,bhkd->bhqk", q, k) / np.float32(8)
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(s, axis=-1), v)


def torch_attention(q, k, v):
    import torch

    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


add(
    "attention",
    "whole",
    13,
    [("f32", (4, 8, 256, 64), "normal")] * 3,
    attention,
    th=torch_attention,
    kernel=("attention", (32, 256, 64)),
    dnn=onednn_attention,
    what="attention 4x8x256x64",
    tol=1e-4,
)


def digits_loss(w1, b1, w2, b2, x, label):
    logits = jnp.tanh(x @ w1 + b1) @ w2 + b2
    hot = jax.nn.one_hot(label, 10, dtype=np.float32)
    return -jnp.mean(jnp.sum(hot * jax.nn.log_softmax(logits), axis=1))


def digits_step(w1, b1, w2, b2, x, label):
    loss, g = jax.value_and_grad(digits_loss, argnums=(0, 1, 2, 3))(w1, b1, w2, b2, x, label)
    return (*(w - np.float32(0.1) * d for w, d in zip((w1, b1, w2, b2), g)), loss)


def torch_digits(w1, b1, w2, b2, x, label):
    import torch

    # The gradient by hand, which is faster than the tape.
    h = torch.addmm(b1, x, w1).tanh()
    logits = torch.addmm(b2, h, w2)
    logp = logits.log_softmax(dim=1)
    hot = torch.nn.functional.one_hot(label.long(), 10)
    n = x.shape[0]
    loss = -(hot * logp).sum(dim=1).mean()
    d = (logp.exp() - hot) / n
    dh = (d @ w2.T) * (1 - h * h)
    return w1 - 0.1 * (x.T @ dh), b1 - 0.1 * dh.sum(dim=0), w2 - 0.1 * (h.T @ d), b2 - 0.1 * d.sum(dim=0), loss


add(
    "digits_training",
    "whole",
    13,
    [
        ("f32", (64, 64), "small"),
        ("f32", (64,), "small"),
        ("f32", (64, 10), "small"),
        ("f32", (10,), "small"),
        ("f32", (128, 64), "positive"),
        ("s32", (128,), lambda random, sizes: random.integers(0, 10, sizes)),
    ],
    digits_step,
    th=torch_digits,
    kernel=("digits_training", (128,)),
    what="digits classifier, training step, batch 128",
    tol=1e-4,
)


# Convolutions as in image, audio and volume networks, NHWC unless said: forward, and the gradients of the image and the filter.


def convolve(x, w, stride=1, padding="SAME", groups=1, dilation=1, channels_last=True):
    places = "DHW"[5 - x.ndim :]
    orders = (f"N{places}C", f"{places}IO", f"N{places}C") if channels_last else (f"NC{places}", f"OI{places}", f"NC{places}")
    return lax.conv_general_dilated(
        x,
        w,
        (stride,) * len(places),
        padding,
        rhs_dilation=(dilation,) * len(places),
        dimension_numbers=orders,
        feature_group_count=groups,
    )


def convolution_rows(name, what, image, filter, out, **how):
    """Forward and both gradients; |out| is the shape of the forward result."""

    def of_image(w, dy):
        return jax.linear_transpose(lambda x: convolve(x, w, **how), jax.ShapeDtypeStruct(image, dy.dtype))(dy)[0]

    def of_filter(x, dy):
        return jax.linear_transpose(lambda w: convolve(x, w, **how), jax.ShapeDtypeStruct(filter, dy.dtype))(dy)[0]

    x, w, dy = (("f32", sizes, "normal") for sizes in (image, filter, out))
    add(f"conv_{name}", "whole", 13, [x, w], lambda x, w: convolve(x, w, **how), what=f"convolution, {what}", tol=1e-4)
    add(f"conv_{name}_dx", "whole", 13, [w, dy], of_image, what=f"its gradient of the image, {what}", tol=1e-4)
    add(f"conv_{name}_dw", "whole", 13, [x, dy], of_filter, what=f"its gradient of the filter, {what}", tol=2e-5, by_size=True)


convolution_rows("56x64", "3x3, 56x56x64", (1, 56, 56, 64), (3, 3, 64, 64), (1, 56, 56, 64))
convolution_rows(
    "28x128_s2", "3x3 stride 2, 56x56x64 to 128", (1, 56, 56, 64), (3, 3, 64, 128), (1, 28, 28, 128), stride=2
)
convolution_rows("8x256_b8", "3x3, batch 8, 8x8x256", (8, 8, 8, 256), (3, 3, 256, 256), (8, 8, 8, 256))
convolution_rows("7x512", "3x3, 7x7x512", (1, 7, 7, 512), (3, 3, 512, 512), (1, 7, 7, 512))
convolution_rows("1x1", "1x1, 28x28x128 to 256", (1, 28, 28, 128), (1, 1, 128, 256), (1, 28, 28, 256))
convolution_rows("stem", "7x7 stride 2, 112x112x3 to 64", (1, 112, 112, 3), (7, 7, 3, 64), (1, 56, 56, 64), stride=2)
convolution_rows(
    "nchw",
    "3x3, batch 8, 28x28x64 as NCHW",
    (8, 64, 28, 28),
    (64, 64, 3, 3),
    (8, 64, 28, 28),
    channels_last=False,
)
convolution_rows("cifar", "3x3, batch 8, 32x32x16", (8, 32, 32, 16), (3, 3, 16, 16), (8, 32, 32, 16))
convolution_rows("last", "3x3, 32x32x64 to 3", (1, 32, 32, 64), (3, 3, 64, 3), (1, 32, 32, 3))
convolution_rows("groups", "3x3, 28x28x128, 8 groups", (1, 28, 28, 128), (3, 3, 16, 128), (1, 28, 28, 128), groups=8)
convolution_rows("depthwise", "3x3, 28x28x128", (1, 28, 28, 128), (3, 3, 1, 128), (1, 28, 28, 128), groups=128)
convolution_rows("audio", "9 taps, 4000x64", (1, 4000, 64), (9, 64, 64), (1, 4000, 64))
convolution_rows("audio_dilated", "3 taps 8 apart, 4000x32", (1, 4000, 32), (3, 32, 32), (1, 4000, 32), dilation=8)
convolution_rows("volume", "3x3x3, 16x16x16x16 to 32", (1, 16, 16, 16, 16), (3, 3, 3, 16, 32), (1, 16, 16, 16, 32))
add(
    "conv_transposed",
    "whole",
    13,
    [("f32", (8, 8, 8, 256), "normal"), ("f32", (4, 4, 256, 128), "normal")],
    lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"),
    what="transposed convolution, 4x4 stride 2, batch 8, 8x8x256 to 16x16x128",
    tol=1e-4,
)


def small_network(w1, w2, w3, w4, x):
    for w in (w1, w2, w3):
        x = jax.nn.relu(convolve(x, w))
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ w4


def small_network_step(w1, w2, w3, w4, x, hot):
    def loss(ws):
        return -jnp.mean(jnp.sum(hot * jax.nn.log_softmax(small_network(*ws, x)), axis=1))

    ws = (w1, w2, w3, w4)
    return tuple(w - np.float32(0.01) * d for w, d in zip(ws, jax.grad(loss)(ws)))


add(
    "cifar_training",
    "whole",
    13,
    [
        ("f32", (3, 3, 3, 32), "small"),
        ("f32", (3, 3, 32, 64), "small"),
        ("f32", (3, 3, 64, 128), "small"),
        ("f32", (2048, 10), "small"),
        ("f32", (8, 32, 32, 3), "normal"),
        ("f32", (8, 10), "positive"),
    ],
    small_network_step,
    what="convolutional network, training step, batch 8 of 32x32",
    tol=1e-4,
)
