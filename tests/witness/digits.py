#!/usr/bin/env python3
"""Holds the classifier of examples/digits against XLA: answers, probabilities, and what the demonstration prints.

INDIM_BIN=build/dev/indim digits.py
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

from _xla import Xla

INDIM = os.environ.get("INDIM_BIN", "build/indim")
FOLDER = pathlib.Path("examples/digits")
ARGUMENTS = ("images", "hidden_weights", "hidden_bias", "output_weights", "output_bias")

passed = 0
failures = 0


def case(what, ok, otherwise=""):
    global passed, failures
    passed += bool(ok)
    failures += not ok
    if not ok:
        print(f"FAILED {what}: {otherwise}")


def main():
    expected = json.loads((FOLDER / "expected.json").read_text())
    labels = np.load(FOLDER / "labels.npy")
    digit, probability = np.load(FOLDER / "expected_digit.npy"), np.load(FOLDER / "expected_probability.npy")
    files = [FOLDER / f"{name}.npy" for name in ARGUMENTS]
    case("JAX's accuracy", expected["correct"] == np.sum(digit == labels) and expected["images"] == labels.size)

    theirs = Xla().ask("run", (FOLDER / "digits.hlo").read_text(), [[np.load(file) for file in files]])[0]
    case("XLA's answers are the kept ones", np.array_equal(theirs[0], digit))
    case("XLA's probabilities are the kept ones", np.allclose(theirs[1], probability, rtol=1e-6, atol=0))

    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.npz"
        done = subprocess.run([INDIM, "run", "-o", out, FOLDER / "digits.hlo", *files], capture_output=True)
        case("run", done.returncode == 0, done.stderr.decode())
        if done.returncode == 0:
            with np.load(out) as ours:
                case("types", ours["0"].dtype == np.int32 and ours["1"].dtype == np.float32, repr(dict(ours)))
                case("answers", np.array_equal(ours["0"], digit))
                case("probabilities", np.allclose(ours["1"], probability, rtol=1e-6, atol=0))

    demo = subprocess.run(["examples/demo.sh"], capture_output=True, env={**os.environ, "INDIM": INDIM})
    said = demo.stdout.decode()
    case("demo.sh", demo.returncode == 0, demo.stderr.decode())
    accuracy = f"accuracy {100 * expected['accuracy']:.2f} %; with JAX it was {100 * expected['accuracy']:.2f} %"
    case("demo.sh prints the accuracy", accuracy in said, said)
    case("demo.sh shows right answers", len(re.findall("and it is a", said)) == 4, said)
    case("demo.sh shows wrong answers", len(re.findall("but it is a", said)) == 4, said)
    print(f"{passed} passed, {failures} failed")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
