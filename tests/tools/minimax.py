#!/usr/bin/env python3
"""Prints the coefficients of src/emit/math*.c: minimax polynomials by Remez's exchange, rounded to their type.

    python3 tests/tools/minimax.py [NAME...]      those arrays, or all; needs mpmath

Each line of FITS says what a polynomial stands for: f(u) on an interval, and the weight of its error, chosen so that the
weighted error is relative to the function's result. The error is printed as a power of two, before and after rounding.
"""
import sys

import mpmath as mp
from mpmath import mpf

mp.mp.dps = 60
GRID = 500


def solve(rows):
    """Gauss elimination with pivots; each row ends with its right-hand side."""
    size = len(rows)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, size):
            factor = rows[i][k] / rows[k][k]
            rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    out = [mpf(0)] * size
    for k in reversed(range(size)):
        out[k] = (rows[k][size] - mp.fsum(rows[k][j] * out[j] for j in range(k + 1, size))) / rows[k][k]
    return out


def extrema(errors):
    """The places of the largest errors of alternating sign."""
    places = []
    for i, error in enumerate(errors):
        if not places or (error > 0) != (errors[places[-1]] > 0):
            places.append(i)
        elif abs(error) > abs(errors[places[-1]]):
            places[-1] = i
    return places


def minimax(f, weight, low, high, count, fixed):
    """Coefficients of u^0..u^(count-1), the first of them |fixed|, and the greatest weighted error."""
    low, high = mpf(low), mpf(high)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / GRID) for i in range(GRID + 1)]
    target = [f(u) - mp.fsum(c * u**p for p, c in enumerate(fixed)) for u in grid]
    weights = [weight(u) for u in grid]
    powers = range(len(fixed), count)
    scale = max(abs(low), abs(high))
    basis = [[(u / scale) ** p for p in powers] for u in grid]
    size = len(powers) + 1
    # Not symmetric: an odd or even function would otherwise make the first system singular.
    at = [round((GRID - 4) * (0.5 - 0.5 * float(mp.cos(mp.pi * (2 * i + 1) / (2 * size)))) + 3) for i in range(size)]
    for _ in range(20):
        rows = [[b * weights[i] for b in basis[i]] + [mpf((-1) ** n), target[i] * weights[i]] for n, i in enumerate(at)]
        solution = solve(rows)
        errors = [(target[i] - mp.fsum(c * b for c, b in zip(solution, basis[i]))) * weights[i] for i in range(GRID + 1)]
        places = extrema(errors)
        while len(places) > size:
            places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
        if len(places) < size:
            break
        at = places
        greatest = max(abs(errors[i]) for i in at)
        if greatest - abs(solution[-1]) < greatest / 1000:
            break
    coefficients = list(fixed) + [c / scale**p for c, p in zip(solution, powers)]
    return coefficients, max(abs(e) for e in errors)


def rounded(value, bits):
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def series(exact, terms):
    """exact(u), and near 0, where that cancels, the first terms of its series."""
    return lambda u: mp.fsum(mpf(t) * u**p for p, t in enumerate(terms)) if abs(u) < mpf("1e-8") else exact(u)


def of_root(exact, terms):
    """The same of z = u^2: exact(u)."""
    return series(lambda z: exact(mp.sqrt(z)), terms)


one = mpf(1)
root_half = mp.sqrt(one / 2)
ln2_half = mp.log(2) / 2 * mpf("1.01")
log_z = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2 * mpf("1.0001")
pi_half = (mp.pi / 2 * mpf("1.001")) ** 2
pi_quarter = pi_half / 4
tiny = mpf("1e-7")


def plain(u):
    return one


def linear(u):
    return abs(u) + tiny


def over_sine(z):
    return (z + tiny) * mp.sqrt(z) / mp.sin(mp.sqrt(z)) if z > 0 else tiny


def squared(u):
    return u * u + tiny


exp_rest = series(lambda r: (mp.exp(r) - 1 - r) / r**2, [one / 2, one / 6, one / 24])
log_rest = series(lambda f: (mp.log(1 + f) - f) / f**2, [-one / 2, one / 3, -one / 4])
sin_rest = of_root(lambda r: (mp.sin(r) - r) / r**3, [-one / 6, one / 120, -one / 5040])
cos_rest = of_root(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4, [one / 24, -one / 720, one / 40320])
atan_rest = of_root(lambda t: (mp.atan(t) / t - 1) / t**2, [-one / 3, one / 5, -one / 7])
asin_rest = of_root(lambda t: (mp.asin(t) / t - 1) / t**2, [one / 6, mpf(3) / 40, mpf(15) / 336])
atanh_rest = of_root(lambda s: (2 * mp.atanh(s) / s - 2) / s**2, [2 * one / 3, 2 * one / 5, 2 * one / 7])
atanh_far_rest = of_root(lambda s: ((mp.atanh(s) / s - 1) / s**2 - one / 3) / s**2, [one / 5, one / 7, one / 9])
log2_ratio = of_root(lambda s: 2 * mp.atanh(s) / s / mp.log(2), [2 / mp.log(2), 2 / mp.log(2) / 3])
erf_near = of_root(lambda t: mp.erf(t) / t - 1, [2 / mp.sqrt(mp.pi) - 1, -2 / mp.sqrt(mp.pi) / 3])
MIDDLE = mpf("2.375")


def over_erf(z):
    return mp.sqrt(z) / mp.erf(mp.sqrt(z)) if z > 0 else mp.sqrt(mp.pi) / 2


def erfc_root(t):
    return mp.erfc(t) ** mpf("0.25")


def of_fourth_power(u):
    return 4 * erfc_root(u + MIDDLE) ** 3



# name: type's bits, f, weight, from, to, terms, fixed first terms, how many more are rounded one after the other, each time
# before the rest is fitted anew
FITS = {
    "exp_float": (24, exp_rest, squared, -ln2_half, ln2_half, 5, [], 1),
    "exp_double": (53, exp_rest, squared, -ln2_half, ln2_half, 10, [], 0),
    "log_float": (24, log_rest, linear, root_half - 1, mp.sqrt(2) - 1, 9, [], 0),
    "log_double": (53, atanh_rest, linear, 0, log_z, 7, [], 0),
    "log2_coarse": (53, log2_ratio, plain, 0, log_z, 6, [], 0),
    "exp2_coarse": (53, lambda f: mpf(2) ** f, lambda f: mpf(2) ** -f, -0.5, 0.5, 7, [one], 0),
    "log_rest": (53, atanh_far_rest, plain, 0, log_z, 8, [], 0),
    "sin_half_float": (24, sin_rest, over_sine, 0, pi_half, 4, [], 0),
    "sin_half_double": (53, sin_rest, over_sine, 0, pi_half, 8, [], 0),
    "sin_float": (24, sin_rest, linear, 0, pi_quarter, 3, [], 0),
    "sin_double": (53, sin_rest, linear, 0, pi_quarter, 6, [], 0),
    "cos_float": (24, cos_rest, squared, 0, pi_quarter, 3, [], 0),
    "cos_double": (53, cos_rest, squared, 0, pi_quarter, 6, [], 0),
    "atan_float": (24, atan_rest, linear, 0, 1, 9, [], 0),
    "atan_double": (53, atan_rest, linear, 0, (mp.sqrt(2) - 1) ** 2, 11, [], 0),
    "asin_float": (24, asin_rest, linear, 0, 0.25, 5, [], 0),
    "asin_double": (53, asin_rest, linear, 0, 0.25, 13, [], 0),
    "erf_near_float": (24, erf_near, over_erf, 0, mpf("1.05525") ** 2, 9, [], 0),
    "erf_near_double": (53, erf_near, plain, 0, mpf("0.85") ** 2, 11, [], 0),
    "erf_far_float": (24, lambda u: erfc_root(u + MIDDLE), of_fourth_power, 1.04475 - MIDDLE, 4 - MIDDLE, 9, [], 0),
    "erf_far_double": (53, lambda t: mp.log(mp.erfc(t)), lambda t: mp.erfc(t) / mp.erf(t), 0.84, 6, 20, [], 0),
}


def main():
    for name in sys.argv[1:] or FITS:
        bits, f, weight, low, high, count, fixed, steps = FITS[name]
        exact, error = minimax(f, weight, low, high, count, fixed)
        for _ in range(steps):
            fixed = fixed + [rounded(exact[len(fixed)], bits)]
            exact, _ = minimax(f, weight, low, high, count, fixed)
        kept = [rounded(c, bits) for c in exact]
        places = [mpf(low) + (mpf(high) - mpf(low)) * i / 1000 for i in range(1001)]
        after = max(abs(f(u) - mp.fsum(c * u**p for p, c in enumerate(kept))) * weight(u) for u in places)
        print(f"// {name}: 2^{float(mp.log(error, 2)):.1f}, rounded 2^{float(mp.log(after, 2)):.1f}")
        print("{" + ", ".join(float(c).hex() for c in kept) + "};", flush=True)


if __name__ == "__main__":
    main()
