"""rng-bit-generator, rng-get-and-update-state and jax.random against XLA on the CPU, to the bit; rng against its definition.

Every algorithm, with every size of its state, every element type and many shapes: scalars, sizes 0 and 1, odd and even ones
in each dimension, counters that carry into each of their upper words. XLA:CPU hands out the bits of signed integers and
floats as unsigned integers whatever type the program declares, so bytes are compared. Which engines run is asked of the
library; what does not compile is counted.

    INDIM_LIB=.../libindim.so python tests/witness/rng.py [--seed N]
"""

import argparse
import itertools
import os
import sys

import ml_dtypes
import numpy as np

from _sample import sampled
from _xla import Xla
from eval_xla import DTYPES, Indim, IndimError

TYPES = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64", "f8e5m2", "f8e4m3fn",
         "f8e8m0fnu", "u4", "s4", "u2", "s2", "f4e2m1fn"]
ALGORITHMS = {"rng_default": (2, 3), "rng_philox": (2, 3), "rng_three_fry": (2,)}
TOP = (1 << 64) - 1
KEYS = [0, 1, TOP, 0x0123456789ABCDEF]
COUNTERS = [0, 2, 0xFFFFFFFE, 0xFFFFFFFFFFFFFFFD, TOP, 0xFFFFFFFF00000000, 1 << 63]


def shapes(random, many):
    flat = [(n,) for n in (0, 1, 2, 3, 4, 5, 7, 8, 16, 17, 63, 64, 65, 1000)]
    fixed = [(), (2, 3), (3, 2), (3, 3), (3, 5), (5, 3), (1, 1), (1, 7), (7, 1), (0, 3), (3, 0), (2, 0), (4, 6), (3, 4, 5),
             (3, 5, 4), (3, 5, 7), (5, 5, 5), (2, 2, 2, 2), (1, 1, 1), (3, 1, 6), (9, 11, 3)]
    drawn = [tuple(int(n) for n in random.integers(1, 9, random.integers(1, 5))) for _ in range(6)]
    return flat + fixed + drawn if many else [(), (5,), (3, 3), (2, 3), tuple(int(n) for n in random.integers(1, 9, 3))]


def text_of(type_, dims):
    return f"{type_}[{','.join(map(str, dims))}]"


def bits_module(algorithm, state, type_, dims_list):
    """One result tuple: for each shape the new state and the bits."""
    lines = [f"  s = u64[{state}] parameter(0)"]
    members = []
    for i, dims in enumerate(dims_list):
        bits = text_of(type_, dims)
        lines.append(f"  r{i} = (u64[{state}], {bits}) rng-bit-generator(s), algorithm={algorithm}")
        lines.append(f"  a{i} = u64[{state}] get-tuple-element(r{i}), index=0")
        lines.append(f"  b{i} = {bits} get-tuple-element(r{i}), index=1")
        members += [f"a{i}", f"b{i}"]
    lines.append(f"  ROOT out = tuple({', '.join(members)})")
    return "HloModule bits\n\nENTRY main {\n" + "\n".join(lines) + "\n}\n"


COUNTING = """HloModule counting

step {
  c = (s32[], u64[5,2]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  t = u64[5,2] get-tuple-element(c), index=1
  a = u64[2] rng-get-and-update-state(), delta=DELTA
  row = u64[1,2] reshape(a)
  zero = s32[] constant(0)
  one = s32[] constant(1)
  u = u64[5,2] dynamic-update-slice(t, row, i, zero)
  j = s32[] add(i, one)
  ROOT next = (s32[], u64[5,2]) tuple(j, u)
}

again {
  c = (s32[], u64[5,2]) parameter(0)
  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant(5)
  ROOT less = pred[] compare(i, n), direction=LT
}

ENTRY main {
  zero = s32[] constant(0)
  nothing = u64[] constant(0)
  t = u64[5,2] broadcast(nothing), dimensions={}
  x = (s32[], u64[5,2]) tuple(zero, t)
  w = (s32[], u64[5,2]) while(x), condition=again, body=step
  g = u64[5,2] get-tuple-element(w), index=1
  p = u64[2] rng-get-and-update-state(), delta=DELTA
  q = u64[2] rng-get-and-update-state(), delta=DELTA
  ROOT out = (u64[5,2], u64[2], u64[2]) tuple(g, p, q)
}
"""


class Score:
    def __init__(self, indim, xla):
        self.indim = indim
        self.xla = xla
        self.passed = self.failed = self.not_compiled = self.elements = 0

    def count(self, name, good):
        self.passed += good
        self.failed += not good
        if not good:
            print(f"FAILED {name}")

    def compare(self, name, text, types, arguments):
        theirs = self.xla.ask("run", text, arguments)
        for engine in self.indim.engines:
            for given, expected in zip(arguments, theirs):
                expected = [a.view(DTYPES[t]) if a.itemsize == np.dtype(DTYPES[t]).itemsize else a
                            for a, t in zip(expected, types)]
                try:
                    ours = self.indim.run(text, given, expected, engine)
                except IndimError as error:
                    if engine == "native" and "status 3" in str(error):
                        self.not_compiled += 1
                        break
                    print(error)
                    self.count(f"{name} {engine}", False)
                    continue
                wrong = [i for i, (a, b) in enumerate(zip(ours, expected)) if a.tobytes() != b.tobytes()]
                self.elements += sum(a.size for a in expected)
                self.count(f"{name} {engine} {[int(v) for v in given[0]] if given else ''} results {wrong}", not wrong)


def states(size, random):
    fixed = list(itertools.product(KEYS[:2], COUNTERS)) if size == 2 else \
        [(KEYS[3], low, high) for low in COUNTERS[:5] for high in (0, TOP)]
    drawn = [tuple(int(v) for v in random.integers(0, 1 << 63, size, dtype=np.uint64) * 2 + 1) for _ in range(2)]
    return [[np.array(s, np.uint64)] for s in fixed + drawn + [(TOP,) * size]]


def bit_generators(score, random, every):
    kinds = [(name, size, type_) for name, sizes in ALGORITHMS.items() for size, type_ in itertools.product(sizes, TYPES)]
    for algorithm, size, type_ in sampled(kinds[every - 1 :: every]):
        dims = shapes(random, many=algorithm != "rng_default" and type_ in ("u8", "u32", "u64"))
        text = bits_module(algorithm, size, type_, dims)
        score.compare(f"{algorithm} u64[{size}] {type_}", text, ["u64", type_] * len(dims), states(size, random))


def counters(score):
    for delta in (0, 5, -1, -117515160, (1 << 63) - 1):
        score.compare(f"delta {delta}", COUNTING.replace("DELTA", str(delta)), ["u64"] * 3, [[]])


# ------------------------------------------------------------------------------------------------- rng


def philox(key, low, high, blocks):
    """Words of |blocks| blocks, the published algorithm on NumPy's integers."""
    at = [low + i + (high << 64) for i in range(blocks)]
    x = [np.array([(v >> (32 * w)) & 0xFFFFFFFF for v in at], np.uint64) for w in range(4)]
    k = [key & 0xFFFFFFFF, key >> 32]
    mask, shift = np.uint64(0xFFFFFFFF), np.uint64(32)
    for _ in range(10):
        p, q = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(q >> shift) ^ x[1] ^ np.uint64(k[0]), q & mask, (p >> shift) ^ x[3] ^ np.uint64(k[1]), p & mask]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x, 1).reshape(-1)


def rng_module(type_, a, b, count, distribution):
    return (f"HloModule numbers\n\nENTRY main {{\n  a = {type_}[] constant({a})\n  b = {type_}[] constant({b})\n"
            f"  x = {type_}[{count}] rng(a, b), distribution={distribution}\n  ROOT out = ({type_}[{count}]) tuple(x)\n}}\n")


def numbers(score, type_, a, b, count, distribution="rng_uniform"):
    """The program's numbers by each engine that runs it, twice: a run begins anew."""
    like = [np.zeros(count, DTYPES[type_])]
    text = rng_module(type_, a, b, count, distribution)
    for engine in score.indim.engines:
        try:
            first = score.indim.run(text, [], like, engine)[0]
        except IndimError as error:
            if engine == "eval" or "status 3" not in str(error):
                raise
            score.not_compiled += 1
            continue
        again = score.indim.run(text, [], like, engine)[0]
        score.count(f"{type_} {distribution} {a} {b} {engine}: the same again", first.tobytes() == again.tobytes())
        yield engine, first


def uniform_floats(score):
    count = 20000
    for type_, (a, b) in itertools.product(["f32", "f64", "f16", "bf16"], [(0, 1), (-3, 7), (1, 1.0078125), (2, 2.5)]):
        for engine, x in numbers(score, type_, a, b, count):
            x = x.astype(np.float64)
            score.count(f"{type_} [{a}, {b}) {engine}: inside", bool(np.all((x >= a) & (x < b))))
            if b - a > 0.1:
                u = np.sort((x - a) / (b - a))
                distance = np.max(np.abs(u - np.arange(count) / count))
                step = float(ml_dtypes.finfo(DTYPES[type_]).eps) * max(abs(a), b) / (b - a)
                score.count(f"{type_} [{a}, {b}) {engine}: uniform, {distance:.4f}", distance < 0.016 + step)
    for type_, a, b in [("f32", 5, 5), ("f32", 5, 1), ("f32", "nan", 1), ("f32", 2, "nan"), ("f32", 2, "inf"),
                        ("s32", 4, 4), ("s32", 4, -4), ("u64", 9, 3)]:
        for engine, x in numbers(score, type_, a, b, 9):
            expected = np.full(9, float(a) if type_ == "f32" else a, DTYPES[type_])
            score.count(f"{type_} {a} to {b} {engine}: the first bound", np.array_equal(x, expected, equal_nan=type_ == "f32"))
    for engine, x in numbers(score, "f32", "-3.4028235e38", "3.4028235e38", count):
        score.count(f"the whole of f32 {engine}", bool(np.all(np.isfinite(x)) and x.min() < -3.3e38 and x.max() > 3.3e38))


def uniform_words(score):
    """Against the published generator: key 2, the instruction's place, and the upper half of the counter."""
    count = 1001
    words = philox(2, 0, 0x243F6A8885A308D3, 501)
    wide = words[0::2] | words[1::2] << np.uint64(32)
    for engine, x in numbers(score, "f32", 0, 1, count):
        score.count(f"f32 words {engine}", np.array_equal(x, (words[:count] >> np.uint64(8)).astype(np.float32) * 2.0**-24))
    for engine, x in numbers(score, "f64", 0, 1, count):
        score.count(f"f64 words {engine}", np.array_equal(x, (wide[:count] >> np.uint64(11)).astype(np.float64) * 2.0**-53))
    for type_, a, b in [("s32", -3, 7), ("s32", -(1 << 31), (1 << 31) - 1), ("u8", 3, 255), ("s8", -128, 127), ("u32", 0, 1),
                        ("s64", -(1 << 63), (1 << 63) - 1), ("u64", 5, 1 << 60), ("s16", -9, 9), ("u4", 1, 15)]:
        bits, top = (wide, 64) if type_ in ("s64", "u64") else (words, 32)
        expected = np.array([a + (int(w) * (b - a) >> top) for w in bits[:count]]).astype(DTYPES[type_])
        for engine, x in numbers(score, type_, a, b, count):
            score.count(f"{type_} [{a}, {b}) {engine}", x.tobytes() == expected.tobytes())


def normals(score):
    count = 20000
    u = philox(2, 0, 0x243F6A8885A308D3, count // 2)
    reference = np.sqrt(-2 * np.log(((u[:count] >> np.uint64(8)).astype(float) + 1) * 2.0**-24)) * np.cos(
        2 * np.pi * (u[count:] >> np.uint64(8)).astype(float) * 2.0**-24)
    for type_, mean, deviation in [("f32", 0, 1), ("f64", 0, 1), ("f16", 2, 0.5), ("bf16", 0, 1), ("f32", -3, 7)]:
        for engine, x in numbers(score, type_, mean, deviation, count, "rng_normal"):
            x = (x.astype(np.float64) - mean) / deviation
            if type_ == "f32":
                score.count(f"{type_} normal {engine}: the definition", bool(np.max(np.abs(x - reference)) < 2e-6))
            low, middle, high = np.mean(x < -1), np.mean(np.abs(x) < 0.5), np.mean(x > 2)
            fits = abs(low - 0.1587) < 0.01 and abs(middle - 0.3829) < 0.013 and abs(high - 0.0228) < 0.004
            score.count(f"{type_} normal {engine}: {low:.4f} {middle:.4f} {high:.4f}", bool(fits and np.all(np.isfinite(x))))


# ------------------------------------------------------------------------------------------------- jax.random


def jax_programs():
    """jax.random by each of its generators: name, the lowered program, the key's data, JAX's own result."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp

    r = jax.random
    uses = {
        "bits": lambda key: r.bits(key, (1003,)),
        "bits of a byte": lambda key: r.bits(key, (103, 7), jnp.uint8),
        "split": lambda key: r.bits(r.split(key, 5)[3], (17,)),
        "fold_in": lambda key: r.bits(r.fold_in(key, 5), (17,)),
        "uniform": lambda key: r.uniform(key, (1003,)),
        "randint": lambda key: r.randint(key, (1003,), -5, 17),
        "permutation": lambda key: r.permutation(key, 101),
        "vmap": lambda key: jax.vmap(lambda k: r.bits(k, (5,)))(r.split(key, 4)),
    }
    for impl, (name, use) in sampled(itertools.product(("rbg", "unsafe_rbg", "threefry2x32"), uses.items())):
        function = jax.jit(lambda data: (use(r.wrap_key_data(data, impl=impl)), jnp.int32(0)))
        data = r.key_data(r.key(12345, impl=impl))
        yield f"{impl} {name}", function.lower(data).as_text("hlo"), np.asarray(data), np.asarray(function(data)[0])


def jax_random(score):
    for name, text, data, expected in jax_programs():
        for engine in score.indim.engines:
            try:
                ours = score.indim.run(text, [data], [expected], engine)[0]
            except IndimError as error:
                if engine == "eval" or "status 3" not in str(error):
                    raise
                score.not_compiled += 1
                continue
            score.elements += expected.size
            score.count(f"jax.random, {name} {engine}", ours.tobytes() == expected.tobytes())


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--every", type=int, default=7, help="every so-manieth of the generators' types and sizes; 1: all")
    options = arguments.parse_args()
    score = Score(Indim(os.environ["INDIM_LIB"]), Xla())
    bit_generators(score, np.random.default_rng(options.seed), options.every)
    counters(score)
    uniform_floats(score)
    uniform_words(score)
    normals(score)
    jax_random(score)
    print(f"{score.elements} elements; {score.not_compiled} programs are not compiled yet")
    print(f"{score.passed} passed, {score.failed} failed")
    return 1 if score.failed or not score.passed else 0


if __name__ == "__main__":
    sys.exit(main())
