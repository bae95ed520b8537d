#!/usr/bin/env python3
"""Measures the complex functions of the oracle against Arb's ball arithmetic, which encloses the true value.

    INDIM_WITNESS_LIB=build/dev/libindim_witness.so complex_math.py [--samples N] [--seed N] [--only NAME]

For each function and each part: the worst error in units in the last place of the exact result (subnormal spacing below
the normals), for c128, and for c64 arguments with the parts rounded to f32. The points: magnitudes over the whole range
times angles; parts of unrelated magnitudes; the axes with zeros of both signs, which are moved off the axis by 2^-5000
to ask on which side of a cut they lie and what sign a zero result has (not asked of two operands); clouds around poles,
zeros and branch points; and the curves where a part of the result vanishes by cancellation. Fails above 3 ulp, and where
a zero or an infinity has the wrong sign. Poles themselves and operands that are not finite are left to the unit tests.
"""

import argparse
import ctypes
import math
import os
import sys

import numpy as np
from flint import acb, arb, ctx

LIMIT_ULP = 3.0
PI = math.pi
TINY = 5000  # zeros become 2^-TINY; results below 2^-(TINY / 2) are zeros
MOST_BITS = 40_000


class Library:
    def __init__(self, path):
        self.function = ctypes.CDLL(path).witness_complex
        self.function.restype = ctypes.c_int
        self.function.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 3 + [ctypes.c_size_t]

    def __call__(self, name, *args):
        args = [np.ascontiguousarray(a, dtype=np.complex128) for a in args]
        out = np.empty_like(args[0])
        second = args[1].ctypes.data if len(args) > 1 else None
        assert self.function(name.encode(), args[0].ctypes.data, second, out.ctypes.data, out.size) == 0, name
        return out


class Format:
    def __init__(self, mantissa_bits, lowest, highest):
        self.mantissa_bits, self.lowest, self.highest = mantissa_bits, lowest, highest
        self.first_out_of_range = arb(2) ** (highest + 1)

    def error(self, ours, exact):
        """|ours - exact| in ulp of |exact|. |exact| is None for a zero of either sign, -0.0 or 0.0 for one of that sign."""
        if exact is None:
            return 0.0 if ours == 0 else math.inf
        if isinstance(exact, float):
            return 0.0 if ours == 0 and math.copysign(1, ours) == math.copysign(1, exact) else math.inf
        if math.isnan(ours) or (math.copysign(1.0, ours) < 0) != bool(exact < 0):
            return math.inf
        ours, exact = abs(ours), abs(exact)
        if exact > self.first_out_of_range:
            exact = self.first_out_of_range
        ours = self.first_out_of_range if math.isinf(ours) else arb(ours)
        if exact < arb(2) ** self.lowest:
            exponent = self.lowest
        else:
            exponent = min(math.frexp(float(exact.mid() / 4))[1] + 1, self.highest)
        return float((abs(ours - exact) * arb(2) ** (self.mantissa_bits - exponent)).upper())


C128 = Format(52, -1022, 1023)
C64 = Format(23, -126, 127)


def exact_part(x):
    return arb(x) if x else arb(2) ** -TINY * int(math.copysign(1, x))


def settled(part, last):
    """The exact value as Format.error wants it, or False when more bits are needed."""
    if part == 0:
        return None
    if part.is_finite() and abs(part) < arb(2) ** (-TINY // 2):
        if part > 0 or part < 0:
            return 0.0 if part > 0 else -0.0
        return None if last else False
    if part.is_finite() and part.rel_accuracy_bits() >= 90:
        return part
    return False


def evaluate(function, args):
    """Both parts of the exact value, to 90 bits whatever cancels on the way."""
    on_axis = any(a.real == 0 or a.imag == 0 for a in args)
    bits = 160
    while True:
        ctx.prec = bits
        value = function(*(acb(exact_part(a.real), exact_part(a.imag)) for a in args))
        last = bits > MOST_BITS
        parts = [settled(p, last) for p in (value.real, value.imag)]
        if False not in [p if p is False else True for p in parts]:
            ctx.prec = 160
            return parts
        assert not last, (args, value)
        bits = bits * 2 if not on_axis or bits >= 12_000 else 12_000


def exact_expm1(z):
    return z.exp() - 1


def exact_log1p(z):
    return (1 + z).log()


def exact_logistic(z):
    return 1 / (1 + (-z).exp())


def exact_power(z, w):
    return (w * z.log()).exp()


def exact_atan2(y, x):
    i = acb(0, 1)
    return -i * ((x + i * y) / (x * x + y * y).sqrt()).log()


# For tanh and the like far from the imaginary axis, where Arb's own formula would need the bits of exp(2 |x|).
def exact_tanh(z):
    if abs(z.real) < 20:
        return z.sinh() / z.cosh()
    w = (-2 * z if z.real > 0 else 2 * z).exp()
    value = (1 - w) / (1 + w)
    return value if z.real > 0 else -value


def exact_tan(z):
    w = exact_tanh(acb(-z.imag, z.real))
    return acb(w.imag, -w.real)


def exact_sign(z):
    return z / abs(z)


def acosh(z):
    """C's: the real part is not negative, the imaginary part has the sign of z's."""
    w = z.acos()
    return acb(abs(w.imag), w.real * (1 if z.imag > 0 else -1))


def random_sign(rng, count):
    return rng.choice([-1.0, 1.0], count)


def cloud(rng, center, count):
    """Points around |center|, at distances from its spacing to its size."""
    size = max(abs(center), 1e-3)
    distance = size * 2.0 ** rng.uniform(-56, 0, count)
    points = center + distance * np.exp(2j * PI * rng.random(count))
    stretched = center + distance * random_sign(rng, count) + 1j * size * 2.0 ** rng.uniform(-1000, 0, count)
    upright = center + 1j * distance * random_sign(rng, count) + size * 2.0 ** rng.uniform(-1000, 0, count)
    return np.concatenate([points, stretched, upright])


def plane(rng, count, largest):
    """The whole plane up to parts of |largest|, axes included."""
    magnitudes = np.array(
        [5e-324, 1e-310, 1e-300, 1e-200, 1e-160, 1e-100, 1e-50, 1e-20, 1e-16, 1e-8, 1e-3, 0.1, 0.5, 1, 1.5, 2, 3, 10, 20]
        + [36, 45, 100, 300, 700, 709.5, 720, 744, 745.2, 1e3, 1400, 1e5, 1e10, 1e16, 1e20, 1e100, 1e154, 1e200, 1e300]
        + [8.9e307, 1.79e308]
    )
    magnitudes = magnitudes[magnitudes <= largest]
    parts = []
    for angle in np.arange(16) * PI / 8:
        jitter = np.exp(1j * (angle + 2.0 ** rng.uniform(-40, -3, magnitudes.size) * random_sign(rng, magnitudes.size)))
        parts.append(magnitudes * jitter)
    some = np.concatenate([[0.0], magnitudes])
    x, y = np.meshgrid(some, some)
    for sx in (1, -1):
        for sy in (1, -1):
            chosen = (rng.random(x.shape) < min(1.0, count / 2000)) | (x == 0) | (y == 0)
            parts.append((sx * x + 0j).real[chosen] + np.zeros(int(chosen.sum())) * 1j)
            parts[-1].imag = (sy * y)[chosen]
    top = math.log2(largest)
    wide = [2.0 ** rng.uniform(-1074, top, count) * random_sign(rng, count) for _ in range(2)]
    middle = [2.0 ** rng.uniform(-30, min(top, 12), count) * random_sign(rng, count) for _ in range(2)]
    near = [rng.uniform(-10, 10, count) for _ in range(2)]
    for x, y in (wide, middle, near, (wide[0], middle[1]), (middle[0], wide[1])):
        parts.append(x + 1j * y)
    points = np.concatenate(parts)
    return points[np.isfinite(points.real) & np.isfinite(points.imag)]


def step(rng, x):
    """A few neighbours away."""
    return x + rng.integers(-3, 4, x.size) * np.spacing(x)


def circle(rng, count):
    """Around |z| = 1, down to the nearest doubles."""
    y = np.concatenate([rng.uniform(-1, 1, count), 2.0 ** rng.uniform(-300, 0, count) * random_sign(rng, count)])
    x = step(rng, np.sqrt(np.maximum(0, (1 - y) * (1 + y))) * random_sign(rng, y.size))
    z = x + 1j * y
    return np.concatenate([z, y + 1j * x, z * (1 + 2.0 ** rng.uniform(-50, -1, z.size) * random_sign(rng, z.size))])


def expm1_curve(rng, count):
    """Where exp(x) cos(y) = 1 nearly."""
    y = np.concatenate([rng.uniform(-1.57, 1.57, count), 2.0 ** rng.uniform(-500, 0, count), rng.uniform(-1e4, 1e4, count)])
    y = np.concatenate([y, 2.0 ** rng.uniform(20, 1000, count)])
    c = np.cos(y)
    keep = c > 0
    y, c = y[keep], c[keep]
    x = np.where(c > 0.7, -np.log1p(-2 * np.sin(y / 2) ** 2), -np.log(c))
    return step(rng, x) + 1j * y


def logistic_curve(rng, count):
    """Where exp(x) + cos(y) = 0 nearly."""
    y = np.concatenate([rng.uniform(-20, 20, count), PI + 2.0 ** rng.uniform(-50, 0, count), 2.0 ** rng.uniform(20, 900, count)])
    c = np.cos(y)
    keep = c < 0
    y, c = y[keep], c[keep]
    x = np.where(c < -0.7, np.log1p(-2 * np.cos(y / 2) ** 2), np.log(-c))
    return step(rng, x) + 1j * y


ONES = [1, -1, 1j, -1j]
MULTIPLES = [k * PI / 2 for k in (1, 2, 3, 4, 7, 10, 200, 10**6)]
REAL_MULTIPLES = MULTIPLES + [-m for m in MULTIPLES[:3]] + [0]
IMAGINARY_MULTIPLES = [1j * m for m in REAL_MULTIPLES]

# name -> (exact function, largest part, centres of clouds, curves)
UNARY = {
    "abs": (lambda z: acb(abs(z)), 1.79e308, [], []),
    "sign": (exact_sign, 1.79e308, [], []),
    "exp": (acb.exp, 1500, IMAGINARY_MULTIPLES + [709.78, -745.1, 709.78 + PI / 2 * 1j], []),
    "expm1": (exact_expm1, 1500, IMAGINARY_MULTIPLES + [709.78], [expm1_curve]),
    "log": (acb.log, 1.79e308, ONES, [circle]),
    "log1p": (exact_log1p, 1.79e308, ONES + [-2, 0, -1 + 1j], [lambda r, n: circle(r, n) - 1]),
    "logistic": (exact_logistic, 1500, IMAGINARY_MULTIPLES + [-745.1, 37], [logistic_curve]),
    "sqrt": (acb.sqrt, 1.79e308, ONES, []),
    "rsqrt": (acb.rsqrt, 1.79e308, ONES, []),
    "sin": (acb.sin, 1500, REAL_MULTIPLES, []),
    "cos": (acb.cos, 1500, REAL_MULTIPLES, []),
    "tan": (exact_tan, 1500, REAL_MULTIPLES, []),
    "sinh": (acb.sinh, 1500, IMAGINARY_MULTIPLES, []),
    "cosh": (acb.cosh, 1500, IMAGINARY_MULTIPLES, []),
    "tanh": (exact_tanh, 1500, IMAGINARY_MULTIPLES, []),
    "asin": (acb.asin, 1.79e308, ONES + [0], [circle]),
    "acos": (acb.acos, 1.79e308, ONES + [0], [circle]),
    "asinh": (acb.asinh, 1.79e308, ONES + [0], [circle]),
    "acosh": (acosh, 1.79e308, ONES + [0], [circle]),
    "atanh": (acb.atanh, 1.79e308, ONES + [0], [circle]),
}

# The other part may be anything where only one of them grows exponentially.
PERIODIC_IMAGINARY = {"exp", "expm1", "logistic", "sinh", "cosh", "tanh"}
PERIODIC_REAL = {"sin", "cos", "tan"}


def unary_points(rng, name, count):
    _, largest, centres, curves = UNARY[name]
    parts = [plane(rng, count, largest)]
    parts += [cloud(rng, c, max(count // 10, 1)) for c in centres]
    parts += [curve(rng, count) for curve in curves]
    huge = 2.0 ** rng.uniform(0, 1023, count)
    if name in PERIODIC_IMAGINARY:
        parts.append(rng.uniform(-100, 100, count) + 1j * huge)
    if name in PERIODIC_REAL:
        parts.append(huge + 1j * rng.uniform(-100, 100, count))
    return np.concatenate(parts)


def binary_random(rng, count, low, high):
    return [2.0 ** rng.uniform(low, high, count) * random_sign(rng, count) for _ in range(4)]


def product_points(rng, count):
    """Unrelated factors, and such that one part of the product cancels."""
    parts = []
    for low, high in ((-3, 3), (-500, 500), (-1074, 1020)):
        a, b, c, d = binary_random(rng, count, low, high)
        parts.append((a + 1j * b, c + 1j * d))
        parts.append((a + 1j * b, c + 1j * step(rng, a * c / b)))
        parts.append((a + 1j * b, c + 1j * step(rng, -b * c / a)))
    return parts


def power_points(rng, count):
    parts = []
    a, b, c, d = binary_random(rng, count, -3, 3)
    parts.append((a + 1j * b, c + 1j * d))
    # Any base; an exponent that keeps the result in range.
    a, b, c, d = binary_random(rng, count, -1000, 1000)
    base = a + 1j * b
    size = np.abs(np.log(base))
    exponent = np.exp(2j * PI * rng.random(count)) * 2.0 ** rng.uniform(-60, 9.4, count) / size
    parts.append((base, exponent))
    # Bases at the unit circle, large exponents.
    base = circle(rng, count // 3)
    log = np.log(base)
    exponent = 2.0 ** rng.uniform(0, 40, base.size) * random_sign(rng, base.size) + 0j
    parts.append((base, exponent))
    near = 1 + 2.0 ** rng.uniform(-50, -20, count) * np.exp(2j * PI * rng.random(count))
    parts.append((near, 2.0 ** rng.uniform(0, 45, count) * np.exp(2j * PI * rng.random(count))))
    # Whole and half exponents of Gaussian integers and of the axes.
    x, y = rng.integers(-9, 10, count), rng.integers(-9, 10, count)
    keep = (x != 0) | (y != 0)
    parts.append(((x + 1j * y)[keep], rng.integers(-40, 41, count)[keep] / 2 + 0j))
    # The angle of the result next to a multiple of pi / 2: real exponents, then complex ones.
    a, b, _, d = binary_random(rng, count, -2, 2)
    base = a + 1j * b
    arg, length = np.angle(base), np.log(np.abs(base))
    target = rng.integers(-20, 21, count) * PI / 2
    parts.append((base, step(rng, target / arg) + 0j))
    parts.append((base, step(rng, (target - d * length) / arg) + 1j * d))
    base_axis = np.where(rng.random(count) < 0.5, a + 0j, 1j * a)
    parts.append((base_axis, rng.integers(-40, 41, count) / 4 + 1j * np.where(rng.random(count) < 0.5, 0, d)))
    kept = []
    for z, w in parts:
        log = np.log(z)
        result = w * log
        keep = (np.abs(result.real) < 760) & (np.abs(result.imag) < 2.0**45) & np.isfinite(result) & (z != 1) & (w != 0)
        kept.append((z[keep], w[keep]))
    return kept


def atan2_points(rng, count):
    parts = []
    for low, high in ((-2, 2), (-30, 30), (-500, 500)):
        a, b, c, d = binary_random(rng, count, low, high)
        parts.append((a + 1j * b, c + 1j * d))
        parts.append((a + 1j * b, c + 1j * step(rng, c * b / a)))
        parts.append((a + 1j * b, c + 1j * step(rng, -c * a / b)))
        near_pole = 1 + 2.0 ** rng.uniform(-50, -1, count) * np.exp(2j * PI * rng.random(count))
        parts.append((a + 1j * b, (a + 1j * b) * 1j * near_pole * random_sign(rng, count)))
        parts.append((a + 1j * 2.0 ** rng.uniform(-300, -20, count), c + 1j * 2.0 ** rng.uniform(-300, -20, count)))
    return parts


BINARY = {
    "divide_c64": (lambda z, w: z / w, lambda r, n: [(z, np.conj(w)) for z, w in product_points(r, n)]),
    "power": (exact_power, power_points),
    "atan2": (exact_atan2, atan2_points),
}


class Worst:
    def __init__(self):
        self.error, self.where = [0.0, 0.0], [None, None]

    def take(self, number_format, ours, exact, args):
        if len(args) == 2:  # the sign of a zero is that of IEEE arithmetic then, not of a limit
            exact = [None if isinstance(e, float) else e for e in exact]
        for part in range(2):
            error = number_format.error((ours.real, ours.imag)[part].item(), exact[part])
            if not error <= self.error[part]:
                self.error[part], self.where[part] = error, args


def measure(exact_function, number_format, ours, args):
    worst = Worst()
    for i in range(ours.size):
        point = tuple(complex(a[i]) for a in args)
        worst.take(number_format, ours[i], evaluate(exact_function, point), point)
    return worst


def show(value):
    if value is None:
        return ""
    return ", ".join(f"{float.hex(v.real)} {float.hex(v.imag)}i" for v in value)


def off_poles(name, args):
    """Without the points where the function is infinite or undefined."""
    keep = np.logical_and.reduce([np.isfinite(a) for a in args])
    if name in ("sign", "log", "rsqrt"):
        keep &= args[0] != 0
    elif name == "log1p":
        keep &= args[0] != -1
    elif name == "atanh":
        keep &= np.abs(args[0]) != 1
    elif name == "divide_c64":
        keep &= args[1] != 0
    elif name == "power":
        result = args[1] * np.log(args[0])
        keep &= (args[0] != 0) & (np.abs(result.real) < 760) & (np.abs(result.imag) < 2.0**45)
    elif name == "atan2":
        (c, d), (a, b) = ((v.real, v.imag) for v in args)
        keep &= ((a != d) | (b != -c)) & ((a != -d) | (b != c)) & (args[0] != 0)
        # x^2 + y^2 on the root's cut by zeros alone: IEEE arithmetic decides the side, not a limit.
        keep &= (a * b != 0) | (c * d != 0) | ((b == 0) & (d == 0))
    return [a[keep] for a in args]


def points_of(rng, name, count):
    if name in UNARY:
        return UNARY[name][0], [unary_points(rng, name, count)]
    exact, points = BINARY[name]
    pairs = points(rng, count)
    return exact, [np.concatenate([p[k] for p in pairs]) for k in (0, 1)]


def complaints(lib, name, label, worst):
    for part in range(2):
        if not worst.error[part] <= LIMIT_ULP:
            point = worst.where[part]
            result = complex(lib(name, *([p] for p in point))[0])
            print(f"    {label} {('re', 'im')[part]} at {show(point)}: {result}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    options = parser.parse_args()
    lib = Library(os.environ["INDIM_WITNESS_LIB"])
    passed = failed = 0
    print(f"{'function':9} {'points':>7} {'c128: re':>9} {'im':>7} {'c64: re':>9} {'im':>7}")
    for name in [*UNARY, *BINARY]:
        if options.only not in (None, name):
            continue
        rng = np.random.default_rng([options.seed, len(name), *name.encode()])
        with np.errstate(all="ignore"):
            exact, args = points_of(rng, name, options.samples)
            args = off_poles(name, args)
            narrow_args = off_poles(name, [a.astype(np.complex64).astype(np.complex128) for a in args])
            wide = measure(exact, C128, lib(name, *args), args)
            narrow = measure(exact, C64, lib(name, *narrow_args).astype(np.complex64), narrow_args)
        bad = sum(not e <= LIMIT_ULP for e in wide.error + narrow.error)
        failed += bad
        passed += 4 - bad
        errors = f"{wide.error[0]:9.4f} {wide.error[1]:7.4f} {narrow.error[0]:9.4f} {narrow.error[1]:7.4f}"
        print(f"{name:9} {args[0].size:7} {errors}{'   ABOVE THE LIMIT' if bad else ''}")
        if bad:
            complaints(lib, name, "c128", wide)
            complaints(lib, name, "c64", narrow)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
