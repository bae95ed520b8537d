#!/usr/bin/env python3
"""The pictures of `indim explain` and `indim broadcast`: their forms, what terminals and environments ask for, and cells read
back from JSON and compared with layouts worked out here.

    INDIM_BIN=build/indim explain.py
"""

import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import numpy as np
from _case import finish, on_terminal, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
SAMPLE = int(os.environ.get("INDIM_TEST_SAMPLE", "1"))
PLAIN = {**{k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "LC_CTYPE", "LANG")}, "LC_ALL": "C.UTF-8"}


def run(*arguments, **environment):
    return subprocess.run(
        [INDIM, *arguments], capture_output=True, text=True, timeout=120, env={**PLAIN, **environment}
    )


# Layouts, from their definition: the sizes in the order of memory, cut by one tile after another.


def places(sizes, order, tiles, padded, index):
    """The place of an index, and how many places there are before the end."""
    widths = [(padded or sizes)[d] for d in reversed(order)]
    at = [index[d] for d in reversed(order)]
    for tile in tiles:
        lead = max(0, len(tile) - len(widths))
        widths, at = [1] * lead + widths, [0] * lead + at
        first = len(widths) - len(tile)
        outer, inner, size, where = [], [], 1, 0
        for entry, width, i in zip(tile, widths[first:], at[first:]):
            size, where = size * width, where * width + i
            if entry != "*":
                outer.append((-(-size // entry), where // entry))
                inner.append((entry, where % entry))
                size, where = 1, 0
        pairs = list(zip(widths[:first], at[:first])) + outer + inner
        widths, at = [w for w, _ in pairs], [i for _, i in pairs]
    place = 0
    for width, i in zip(widths, at):
        place = place * width + i
    return place


def storage(sizes, order, tiles):
    """Bytes of an array of f32 in tiles without *."""
    widths = [sizes[d] for d in reversed(order)]
    for tile in tiles:
        widths = [1] * max(0, len(tile) - len(widths)) + widths
        first = len(widths) - len(tile)
        widths = widths[:first] + [-(-w // t) for w, t in zip(widths[first:], tile)] + tile
    return 4 * int(np.prod(widths))


def waste():
    """The order of dimensions that is said to take less takes the least of all."""
    rng = random.Random(17)
    for _ in range(60 // SAMPLE):
        rank = rng.randrange(1, 5)
        sizes = [rng.choice([1, 1, 2, 3, 7, 16, 40]) for _ in range(rank)]
        order = rng.sample(range(rank), rank)
        tiles = [[rng.choice([2, 4, 8]), rng.choice([8, 16])]] + ([[2, 1]] if rng.random() < 0.5 else [])
        shape = f"f32[{','.join(map(str, sizes))}]{{{','.join(map(str, order))}:T" + "".join(
            "(" + ",".join(map(str, tile)) + ")" for tile in tiles
        ) + "}"
        facts = {b["label"]: b["text"] for b in json.loads(run("explain", "--json", shape).stdout)["picture"]["blocks"] if b["kind"] == "fact"}
        least = min(storage(sizes, other, tiles) for other in itertools.permutations(range(rank)))
        own = storage(sizes, order, tiles)
        report(f"bytes of {shape}", facts["bytes"].startswith(f"{own},"), facts["bytes"])
        said = facts.get("smaller", f"{own} bytes")
        report(f"smaller than {shape}", said.split()[0] == str(least), (said, least))
        if "smaller" in facts:
            other = json.loads(run("explain", "--json", said.split(" as ")[1]).stdout)
            report(f"bytes of what is smaller than {shape}", other["bytes"] == least, other["bytes"])


def grids(picture):
    return [block for block in picture["blocks"] if block["kind"] == "grid"]


def read_back():
    """Small arrays of random layouts: every element in every grid has its place, and memory is complete."""
    rng = random.Random(5)
    for _ in range(150 // SAMPLE):
        rank = rng.randrange(0, 5)
        sizes = [rng.randrange(1, 5) for _ in range(rank)]
        order = rng.sample(range(rank), rank)
        tiles, padded = [], None
        kind = rng.randrange(3)
        if kind == 0:
            for _ in range(rng.randrange(1, 3)):
                tile = [rng.choice([1, 2, 2, 3, 4, "*"]) for _ in range(rng.randrange(1, 4))]
                tile[-1] = 2 if tile[-1] == "*" else tile[-1]
                tiles.append(tile)
        elif kind == 1 and rank:
            padded = [s + rng.randrange(3) for s in sizes]
        layout = ",".join(map(str, order))
        parts = ":T" + "".join("(" + ",".join(map(str, t)) + ")" for t in tiles) if tiles else ""
        parts = ":PAD(" + ",".join(map(str, padded)) + ";zero)" if padded else parts
        shape = f"f32[{','.join(map(str, sizes))}]{{{layout}{parts}}}"
        done = run("explain", "--all", "--json", shape)
        if done.returncode:
            report(f"explain {shape}", False, done.stderr)
            continue
        facts = json.loads(done.stdout)
        indices = list(itertools.product(*map(range, sizes)))
        expected = {n: places(sizes, order, tiles, padded, index) for n, index in enumerate(indices)}
        found = grids(facts["picture"])
        cells = [cell for grid in found for row in grid["rows"] for cell in row]
        wrong = [c for c in cells if c["kind"] == "element" and expected[c["element"]] != c["place"]]
        report(f"places of {shape}", not wrong, wrong[:3])
        memory = [c for row in found[-1]["rows"] for c in row if c["kind"] != "empty"]
        inverse = {place: n for n, place in expected.items()}
        says = [c.get("element") for c in memory]
        whole = facts["places"] == len(memory) and says == [inverse.get(p) for p in range(len(memory))]
        report(f"memory of {shape}", whole, says)
        array = [c for grid in found[:-1] for row in grid["rows"] for c in row if c["kind"] == "element"]
        seen = sorted(c["element"] for c in array)
        times = len(seen) // len(indices)
        report(f"elements of {shape}", seen == sorted(list(range(len(indices))) * times) and times >= 1, seen)


def seeds():
    done = run("explain", "f32[2,3]{0,1:PAD(3,5;zero)}")
    memory = done.stdout.split("  memory,")[1].splitlines()[2]
    report("Y60: memory", memory.replace("│", " ").split() == "a d 0 b e 0 c f 0 0 0 0 0 0 0".split(), memory)
    done = run("explain", "f32[2,3]{1,0:PAD(3,5;zero)}")
    memory = done.stdout.split("  memory,")[1].splitlines()[2]
    report("Y61: memory", memory.replace("│", " ").split() == "a b c 0 0 d e f 0 0 0 0 0 0 0".split(), memory)
    report("the 3x5 picture", "    0  a b c 0 0 " in done.stdout and "    1  d e f 0 0 " in done.stdout, done.stdout)
    facts = json.loads(run("explain", "--json", "f32[2,3]{0,1:PAD(3,5;zero)}").stdout)
    sizes = [facts[name] for name in ("elements", "places", "bytes", "element_bytes", "padding_bytes")]
    report("bytes", sizes == [6, 15, 60, 24, 36], sizes)
    report("shape is explain", run("shape", "f32[2,3]").stdout == run("explain", "f32[2,3]").stdout)


def forms(folder):
    shapes = ["f32[2,3]{0,1}", "f32[3,5]{1,0:T(2,2)}", "(f32[2], (s4[3]{0:E(4)}, token[]), b(f32[2]))", "f32[]", "f32[?]", "f32[0,2]"]
    for shape in shapes:
        svg = run("explain", "--svg", shape)
        tree = xml.etree.ElementTree.fromstring(svg.stdout)
        report(f"SVG of {shape}", svg.returncode == 0 and tree.tag == "{http://www.w3.org/2000/svg}svg", svg)
        page = run("explain", "--html", shape).stdout
        outside = [a for a in re.findall(r"https?://[^\"' )<]+", page) if a != "http://www.w3.org/2000/svg"]
        report(f"HTML of {shape}", page.startswith("<!DOCTYPE html>") and not outside and "<script" not in page, outside)
    file = folder / "picture.svg"
    done = run("explain", "--svg", "f32[2]", "-o", str(file))
    report("-o", done.stdout == "" and file.read_text() == run("explain", "--svg", "f32[2]").stdout, done)
    done = run("explain", "--svg", "f32[2]", "-o", str(folder / "missing" / "x.svg"))
    report("-o to nowhere", done.returncode == 3 and "cannot write" in done.stderr, done)
    hostile = "f32[2]{0} /* <script>alert(1)</script> & \" */"
    page = run("explain", "--html", hostile)
    report("markup in a shape", page.returncode == 0 and "<script" not in page.stdout and "&lt;script" in page.stdout, page.stdout[:300])
    for command, arguments, code, said in (
        ("explain", ["--svg", "--html", "f32[2]"], 2, "one of --svg, --html and --json"),
        ("explain", ["--width", "x", "f32[2]"], 2, "--width: 'x'"),
        ("explain", ["--color=maybe", "f32[2]"], 2, "always, never or auto"),
        ("explain", ["f32[2]", "f32[2]"], 2, "'->'"),
        ("explain", ["f32[2]", "->"], 2, "'->'"),
        ("explain", ["f32[2]", "->", "f32["], 1, "error:"),
        ("explain", ["f32[2,3]{0,0}"], 1, "error:"),
        ("explain", ["f32[4611686018427387904]{0:T(3)}"], 1, "error:"),
        ("broadcast", ["f32[2]"], 2, "give two shapes"),
        ("broadcast", ["f32[2]", "f32[2]", "f32[2]", "--dims=0"], 2, "--dims is for two shapes"),
    ):
        done = run(command, *arguments)
        report(f"{command} {arguments}", done.returncode == code and said in done.stderr, done)
    done = run("explain", "--json", "f32[")
    report("--json refused", done.returncode == 1 and json.loads(done.stdout)["ok"] is False, done.stdout)


def colours(*arguments, **environment):
    """What a terminal gets."""
    return on_terminal([INDIM, *arguments], {**PLAIN, "TERM": "xterm", **environment})[1]


def terminals():
    plain = run("explain", "f32[3,5]{1,0:T(2,2)}").stdout
    report("piped: no colour", "\x1b" not in plain)
    report("a terminal: colour", "\x1b[" in colours("explain", "f32[2]"))
    report("NO_COLOR", "\x1b" not in colours("explain", "f32[2]", NO_COLOR="1"))
    report("TERM=dumb", "\x1b" not in colours("explain", "f32[2]", TERM="dumb"))
    report("--color=always", "\x1b[" in run("explain", "--color=always", "f32[2]").stdout)
    report("--color=never", "\x1b" not in colours("explain", "--color=never", "f32[2]"))
    colourless = re.sub(r"\x1b\[[0-9;]*m", "", run("explain", "--color=always", "f32[3,5]{1,0:T(2,2)}").stdout)
    report("colour adds nothing else", colourless == plain)
    report("Unicode", "┌" in plain and not run("explain", "--ascii", "f32[3,5]{1,0:T(2,2)}").stdout.encode().strip(bytes(range(10, 127))))
    for name in ("C", "POSIX", "de_DE.ISO-8859-1", ""):
        said = run("explain", "f32[3,5]{1,0:T(2,2)}", LC_ALL=name).stdout
        report(f"LC_ALL={name}", said.isascii(), said)
    report("LANG=en_US.UTF-8", "┌" in run("explain", "f32[3,5]{1,0:T(2,2)}", LC_ALL="", LANG="en_US.UTF-8").stdout)
    for width in (40, 60, 100, 200):
        for shape in ("bf16[32,256]{1,0:T(8,128)(2,1)}", "f32[1000,1000]", "f32[7,9,11]{0,2,1}", "s32[300]", "f32[3,5]{1,0:T(2,2)}"):
            said = run("explain", shape, COLUMNS=str(width)).stdout
            widest = max(map(len, said.splitlines()))
            report(f"{shape}, {width} columns", widest <= max(width, 56), widest)
            wide = run("broadcast", shape, "f32[1]" if "[300]" in shape else "f32[]", COLUMNS=str(width))
            widest = max(map(len, wide.stdout.splitlines()[1:] or [""]))
            report(f"broadcast of {shape}, {width} columns", widest <= max(width, 60), widest)
            report(f"{shape}, --width={width}", run("explain", f"--width={width}", shape).stdout == said)


def pairs():
    for a, b, kinds in (
        ("f32[2,3]", "f32[2,3]", [("copy", True)]),
        ("f32[2,3]", "f32[2,3]{0,1}", [("copy", False)]),
        ("f32[2,3]", "f32[3,2]", [("reshape", True), ("transpose", False)]),
        ("f32[2,3]", "f32[3,2]{0,1}", [("transpose", True), ("reshape", False)]),
        ("f32[3,3]", "f32[3,3]{0,1}", [("copy", False), ("transpose", True)]),
        ("f32[2,3,5]", "f32[3,5,2]{1,0,2}", [("transpose", True), ("reshape", False)]),
        ("f32[64,128]", "f32[64,128]{1,0:T(8,128)}", [("copy", True)]),
        ("f32[64,256]", "f32[64,256]{1,0:T(8,128)}", [("copy", False)]),
        ("f32[1024,1024]{1,0:T(8,128)}", "f32[1024,1024]", [("copy", False)]),
        ("f32[1024,4096]", "f32[4194304]", [("reshape", True)]),
        ("f32[1024,4096]{0,1}", "f32[4194304]", [("reshape", False)]),
        ("f32[2,3]{0,1}", "f32[6]", [("reshape", False)]),
        ("f32[2,3]{0,1:PAD(3,5;zero)}", "f32[2,3]{0,1:PAD(3,5;one)}", [("copy", False)]),
        ("f32[2,3]", "f32[2,3]{1,0:S(1)}", [("copy", False)]),
        ("f32[2,3]", "s32[2,3]", [("copy", True)]),
        ("f32[0,3]", "f32[3,0]{0,1}", [("reshape", True), ("transpose", True)]),
        ("f32[2,3]", "f32[2,4]", []),
        ("f32[2,3]", "f64[2,3]", []),
        ("c64[2,3]", "f64[2,3]", []),
        ("f32[?]", "f32[3]", []),
        ("(f32[2])", "f32[2]", []),
    ):
        done = run("explain", "--json", a, "->", b)
        facts = json.loads(done.stdout) if done.returncode == 0 else {"readings": done.stderr}
        got = [(r["kind"], r["bitcast"]) for r in facts["readings"]] if done.returncode == 0 else done.stderr
        report(f"{a} -> {b}", got == kinds, got)
        for reading in facts["readings"]:
            if "free" in reading and not reading["bitcast"]:
                again = json.loads(run("explain", "--json", a, "->", reading["free"]).stdout)["readings"]
                report(f"{a} -> {reading['free']}", (reading["kind"], True) in [(r["kind"], r["bitcast"]) for r in again], again)

    def words(*arguments):
        return " ".join(run("explain", *arguments).stdout.split())

    text = words("f32[2]", "->", "u8[2,4]")
    report("parts of an element", "no byte moves" in text and "bitcast-convert" in text, text)
    for a, b, said in (
        ("c64[2]", "f32[2,2]", "impossible: complex"),
        ("f64[2]", "c64[2]", "impossible: complex"),
        ("pred[2,4]", "f32[2]", "4 pred are the bits of a f32, along A's last dimension; no byte moves"),
        ("pred[3]", "s8[3]", "the bits of each pred are read as s8"),
        ("c64[3]", "c64[3]", "no byte moves"),
        ("s4[8]", "s8[4]", "impossible: 8 elements cannot become 4"),
        ("s4[4,2]{1,0:E(4)}", "s8[4]", "2 s4 are the bits of a s8, along A's last dimension; no byte moves"),
    ):
        report(f"{a} -> {b}", said in words(a, "->", b), words(a, "->", b))
    text = words("f32[2]", "->", "u8[2,4]{0,1}")
    report("parts far from each other", "bytes move" in text and "no byte moves" not in text, text)
    report("in one word", words("f32[2,3]->f32[3,2]") == words("f32[2,3]", "->", "f32[3,2]") == words("f32[2,3] -> f32[3,2]"))
    text = words("f32[3]", "->", "f32[3,3]")
    report("a broadcast", "impossible" in text and "dimensions={0} or {1}" in text, text)
    moved = json.loads(run("explain", "--json", "f32[2,3]", "->", "f32[2,3]{0,1}").stdout)["readings"][0]
    report("what moves", (moved["elements_moved"], moved["elements_looked_at"]) == (4, 6), moved)
    text = words("f32[2,3]", "->", "f64[2,3]")
    report("another type", "convert" in text and "24 bytes are read and 48" in text, text)


def random_broadcasts():
    """Operands and results of random pairs, cell by cell, as NumPy has them once it is told the dims."""
    rng = random.Random(9)
    for _ in range(60 // SAMPLE):
        large = [rng.choice([1, 2, 3, 3, 4]) for _ in range(rng.randrange(1, 4))]
        dims = sorted(rng.sample(range(len(large)), rng.randrange(0, len(large))))
        small = [rng.choice([1, large[d]]) if rng.random() < 0.4 else large[d] for d in dims]
        if rng.random() < 0.3:
            large = [1 if rng.random() < 0.4 else size for size in large]
        swap = rng.random() < 0.5
        texts = [f"f32[{','.join(map(str, sizes))}]" for sizes in (large, small)]
        arguments = [*(reversed(texts) if swap else texts), "--dims", ",".join(map(str, dims)), "--all"]
        done = run("broadcast", "--json", *arguments)
        if done.returncode:
            report(f"broadcast {arguments}", False, done.stderr)
            continue
        aligned = [small[dims.index(d)] if d in dims else 1 for d in range(len(large))]
        first, second = (small, large) if swap else (large, small)
        left = np.arange(1, 1 + int(np.prod(first)), dtype=int)
        right = np.arange(1 + left.size, 1 + left.size + int(np.prod(second)), dtype=int)
        left = left.reshape(aligned if swap else large)
        right = right.reshape(large if swap else aligned)
        total = left + right
        expected = [np.broadcast_to(left, total.shape), np.broadcast_to(right, total.shape), total]
        shown = grids(json.loads(done.stdout)["picture"])[1:]
        got = [[[int(c["text"]) for c in row] for row in grid["rows"]] for grid in shown]
        slices = total.size // (total.shape[-1] * (total.shape[-2] if total.ndim > 1 else 1))
        rows = (slices, total.shape[-2] if total.ndim > 1 else 1, total.shape[-1])
        wanted = [operand.reshape(rows)[i].tolist() for i in range(slices) for operand in expected]
        report(f"values of {arguments}", got == wanted, (got, wanted))


def broadcasts():
    def picture(*arguments):
        return json.loads(run("broadcast", "--json", *arguments).stdout)

    def last(facts):
        return [[int(c["text"]) for c in row] for row in grids(facts["picture"])[-1]["rows"]]

    report("S1", last(picture("f32[2,3]", "f32[3]", "-d1")) == [[8, 10, 12], [11, 13, 15]])
    report("S2", last(picture("f32[2,3]", "f32[]")) == [[8, 9, 10], [11, 12, 13]])
    report("S16", last(picture("f32[4]", "f32[1,2]", "-d0")) == [[6, 7], [7, 8], [8, 9], [9, 10]])
    copies = grids(picture("f32[3,3]", "f32[3]", "-d0")["picture"])[2]["rows"]
    report("S5: rows of one element", [[c["element"] for c in row] for row in copies] == [[0] * 3, [1] * 3, [2] * 3], copies)
    report("S5: what is repeated", all(c.get("repeated", False) == (i > 0) for row in copies for i, c in enumerate(row)), copies)
    refused = picture("f32[7,2,5]", "f32[7,2,6]")
    marked = [(r, c) for r, row in enumerate(grids(refused["picture"])[0]["rows"]) for c, cell in enumerate(row) if "marked" in cell]
    report("S14: what clashes", marked == [(0, 2), (1, 2)] and refused["reason"] == "INCOMPATIBLE", refused)
    report("S8: valid_dims", picture("f32[2,2,2]", "f32[2,2]", "-d0,1")["valid_dims"] == [[0, 1], [0, 2], [1, 2]])
    report("S9: valid_dims of a refusal", picture("f32[2,3,4]", "f32[3,2]", "-d1,0")["valid_dims"] == [])
    text = run("broadcast", "f32[2,3,4,5]", "f32[3]").stderr
    report("dims that fit", "dims that fit   {1}\n" in text, text)
    for arguments, said in (
        (["f32[2,3]", "f32[3]", "-d1"], "as dims {1} say: the same"),
        (["f32[3,3]", "f32[3]", "-d0"], "as dims {1} say: other numbers"),
        (["f32[2,3]", "f32[2]", "-d0"], "would refuse"),
        (["f32[2,1]", "f32[1,3]"], "would make [2,3]: the same"),
        (["f32[2,3]", "f32[3]"], "would have guessed [2,3]"),
    ):
        done = run("broadcast", "--numpy", *arguments)
        report(f"NumPy: {arguments}", said in " ".join((done.stdout + done.stderr).split()), done)
    text = run("broadcast", "f32[2,1]", "f32[1,3]", "f32[]").stdout
    report("three shapes", "f32[2,1] with f32[1,3]: f32[2,3]" in text and "f32[2,3] with f32[]: f32[2,3]" in text, text)
    text = run("broadcast", "f32[<=3,?]", "f32[3,6]").stdout
    report("an operand without bound", "a size is not known: no values" in text, text)
    many = run("broadcast", f"f32[{','.join(['1'] * 64)}]", f"f32[{','.join(['1'] * 32)}]")
    report("lists beyond counting", many.returncode == 1 and "more" in many.stderr, many.stderr[-300:])
    for form in ("--svg", "--html"):
        done = run("broadcast", form, "f32[2,3]", "f32[4]", "-d1")
        report(f"{form} of a refusal", done.returncode == 1 and "</svg>" in done.stdout and "bad" in done.stdout, done.stdout[:200])


with tempfile.TemporaryDirectory() as name:
    read_back()
    waste()
    seeds()
    forms(pathlib.Path(name))
    terminals()
    pairs()
    random_broadcasts()
    broadcasts()
sys.exit(finish())
