"""What does not grow: the process while programs are called, loaded and refused, and counts of references."""

import gc
import os
import sys

import indim
import numpy as np
from _cases import ByDlpack, case, main

SQUARE = b"ENTRY e { x = f32[3] parameter(0) ROOT y = f32[3] multiply(x, x) }"
X = np.array([1, 2, 3], "float32")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@case
def calls_do_not_grow():
    program = indim.load(b"ENTRY e { x = f32[1000] parameter(0) n = s32[] parameter(1) y = negate(x) ROOT t = tuple(y, n, x) }")
    plain = indim.load(b"ENTRY e { x = f32[1000] parameter(0) n = s32[] parameter(1) y = negate(x) ROOT t = tuple(y, n, x) }", numpy=False)
    evaluated = indim.load(SQUARE, engine="eval")
    x = np.ones(1000, "f")
    spread = np.ones(2000, "f")[::2]
    o = np.zeros(1000, "f")

    def calls(count):
        for number in range(count):
            program(x, number)
            program(spread, number, out=(o, None, None))
            program(ByDlpack(x), 1)
            program(memoryview(x), 1)
            plain(x, 1)[0].__dlpack__(max_version=(1, 0))
            np.from_dlpack(plain(x, 1)[0])
            program.bind(x, np.array(1, "int32"))()
            program.arguments, program.shapes, repr(program)
            evaluated(X)
            for wrong in [(x,), (x, 1.5), (x.astype("d"), 1), (spread, x), ("x", 1), (ByDlpack(x, device=(2, 0)), 1)]:
                try:
                    program(*wrong)
                except (TypeError, ValueError):
                    pass
                else:
                    raise AssertionError(wrong)

    calls(500)
    gc.collect()
    before = resident()
    references = sys.getrefcount(x), sys.getrefcount(o), sys.getrefcount(None), sys.getrefcount(np.dtype("f")), sys.getrefcount(program)
    calls(10_000)
    gc.collect()
    grown = resident() - before
    after_them = sys.getrefcount(x), sys.getrefcount(o), sys.getrefcount(None), sys.getrefcount(np.dtype("f")), sys.getrefcount(program)
    assert grown < 2_000_000, f"{grown} bytes"
    # None's count moves by a hundred as Python's own caches are emptied; a reference lost in each call is ten thousand.
    assert all(abs(b - a) < 1000 for a, b in zip(references, after_them)), (references, after_them)


@case
def programs_are_freed():
    def make():
        program = indim.load(SQUARE)
        program(X)
        program.explain(), program.text(), program.bytecode(), program.profile(X, repeat=2)
        try:
            indim.load(b"ENTRY e { x = f32[2] parameter(0) ROOT y = f32[3] negate(x) }")
        except indim.Error:
            pass

    for _ in range(20):
        make()
    gc.collect()
    before = resident()
    for _ in range(200):
        make()
    gc.collect()
    assert resident() - before < 10_000_000, resident() - before


if __name__ == "__main__":
    main()
