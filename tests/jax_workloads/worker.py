"""One backend's share of run.py: worker.py FILE runs everything and writes the results, an array for each leaf, to FILE.

The platform comes from JAX_PLATFORMS. Names are PROGRAM/STEP/LEAF for the programs, which are looked at after the first
step and after the last, and FUNCTION/LEAF; "tolerance NAME" is what each may differ by.
"""

import pathlib
import sys
import time

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / folder) for folder in ("bench", "tests/witness")]

import functions  # noqa: E402
import jax  # noqa: E402
import jax_programs  # noqa: E402
from _sample import sampled  # noqa: E402


def leaves(name, tree):
    return {
        name + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }


def run_program(name):
    entry = jax_programs.PROGRAMS[name]
    made = entry.make(small=True)
    state, out = made.state, {}
    for i in range(entry.steps):
        state = made.step(state)
        if i in (0, entry.steps - 1):
            out |= leaves(f"{name}/{i + 1}", made.observe(state))
    return out


def run_function(name):
    with jax.enable_x64(name.endswith("x64")):
        return leaves(name, functions.FUNCTIONS[name][0]())


def main():
    out, failed = {}, []
    for run, names in ((run_program, jax_programs.PROGRAMS), (run_function, functions.FUNCTIONS)):
        for name in sampled(names):
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            start = time.process_time()
            try:
                out |= run(name)
            except Exception as error:
                failed.append(name)
                print(f"{name}: {type(error).__name__}: {error}"[:2000], flush=True)
            print(f"{name}: {time.process_time() - start:.1f} s", file=sys.stderr, flush=True)
    allowed = {name: entry.tolerance for name, entry in jax_programs.PROGRAMS.items()}
    allowed |= {name: tolerance for name, (_, tolerance) in functions.FUNCTIONS.items()}
    out |= {f"tolerance {name}": np.float64(tolerance) for name, tolerance in allowed.items()}
    np.savez(sys.argv[1], **out)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
