#!/usr/bin/env python3
"""`indim view` and the report behind it: reports are true of many programs, and pages work in a headless Chromium.

    INDIM_BIN=build/indim run.py [--shots FOLDER]

Pages are opened, searched, clicked and typed into; their structure is compared with the program: counts, boxes that do not overlap,
texts. Nothing may come from the network, be written to the console as an error, or run that a program's strings say. --shots keeps
pictures of the pages.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _browser import Page

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
SANITIZED = "build/asan" in INDIM or "build/tsan" in INDIM
passed = failed = 0


def report(what, ok, why=""):
    global passed, failed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print(f"FAILED {what}: {str(why)[:600]}")


def indim(*arguments, code=0):
    done = subprocess.run([INDIM, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if code is not None:
        report(f"indim {' '.join(map(str, arguments))[-80:]}", done.returncode == code, done.stderr)
    return done


# Reports ---------------------------------------------------------------------------------------------------------------

DIRECTIVE = re.compile(r"\.?L(tmp|func_begin)\d+:|\t\.cfi_|\t\.file\t")
# How the first line of a step begins: copies and fills may be cut into pieces for threads, by a loop.
STEP = {"loop": r"(v\d+: .* = )?for ", "host": "host ", "copy": r"copy |for .* parallel", "fill": r"fill |for .* parallel", "while": r"(v\d+: .* = )?while\b"}


def instructions(text):
    """Assembly without what is for debuggers."""
    return [line for line in text.split("\n") if not DIRECTIVE.match(line)]


def meets(a, b):
    return a[0] <= b[1] and b[0] <= a[1]


def check_report(name, data, assembly):
    problems = []
    loops, asm = data["loops"].split("\n"), data["asm"].split("\n")
    if instructions(data["asm"]) != instructions(assembly):
        problems.append("its code is not that of --dump=asm")
    end, owner = 0, {}
    for k, step in enumerate(data["steps"]):
        first, count = step["loop_lines"]
        if first < end or count < 1 or not re.match(STEP[step["kind"]], loops[first].strip()):
            problems.append(f"step {k} is not {step['kind']} at line {first}: {loops[first]}")
        end = first + count
        for first, count in step["asm_lines"]:
            for line in range(first, first + count):
                if line in owner or line >= len(asm):
                    problems.append(f"line {line} of the code is of step {k} and of {owner.get(line)}")
                owner[line] = k
        if step["time"][0] > step["time"][1] or (k > 0 and data["steps"][k - 1]["time"][1] >= step["time"][0]):
            problems.append(f"step {k} is at {step['time']}")
        for storage, moved in step["reads"] + step["writes"]:
            of = data["storages"][storage]
            if moved > of["bytes"]:
                problems.append(f"step {k} moves {moved} bytes of {of}")
            if not of["live"] or not meets(of["live"], step["time"]):
                problems.append(f"step {k} at {step['time']} uses {of}")
    placed = [s for s in data["storages"] if "offset" in s]
    for i, a in enumerate(placed):
        for b in placed[:i]:
            spaces = [(s["offset"], s["offset"] + s["bytes"] - 1) for s in (a, b)]
            if meets(a["live"], b["live"]) and meets(*spaces):
                problems.append(f"{a} and {b} overlap")
        if a["offset"] + a["bytes"] > data["scratch_bytes"]:
            problems.append(f"{a} is outside of {data['scratch_bytes']}")
    most = max((sum(s["bytes"] for s in placed if meets(s["live"], (t["live"][0],) * 2)) for t in placed), default=0)
    if most != data["peak_bytes"] or most > data["scratch_bytes"]:
        problems.append(f"the peak is {most}, not {data['peak_bytes']}")
    for flow in data["flows"]:
        for k, item in enumerate(flow["items"]):
            if (item["place"] == "fused") != ("into" in item) or any(user <= k for user in item.get("into", [])):
                problems.append(f"{item['instruction']} is {item['place']} into {item.get('into')}")
            if item["place"] == "memory" and item["kind"] == "op" and not item.get("reason"):
                problems.append(f"{item['instruction']} is in memory without a reason")
    report(f"the report of {name}", not problems, "; ".join(problems[:3]))


def reports():
    programs = sorted((ROOT / "examples").glob("**/*.hlo")) + sorted((ROOT / "tests/hlo").glob("**/*.hlo"))[::4]
    count = 0
    for path in programs:
        done = indim("compile", "--target=x86-64-v3", "--dump=report,asm", "--json", path, code=None)
        if done.returncode == 0:
            stages = json.loads(done.stdout)
            check_report(path.name, json.loads(stages["report"]), stages["asm"])
            count += 1
    report("programs with a report", count > 50, count)


def numbers(folder):
    """The steps of a report are those of a profile."""
    for name in ("examples/digits/digits.hlo", "tests/hlo/in_place/conditional_read_after.hlo"):
        data = json.loads(indim("compile", "--dump=report", ROOT / name).stdout)
        done = indim("run", "--profile", "--json", "--repeat=3", ROOT / name)
        steps = json.loads(done.stdout)["profile"]["steps"]
        (folder / "profile.json").write_text(done.stdout)
        mine = data["steps"]
        report(f"the steps of {name}", len(steps) > 0 and all(
            s["kind"] == mine[s["step"]]["kind"] and all(s.get(k, 0) in (0, mine[s["step"]][k] * s["runs"]) for k in ("bytes_read", "operations"))
            for s in steps), (mine, steps))


def families():
    """The code of other processors is cut as well."""
    for target in ("aarch64", "riscv64+v"):
        stages = json.loads(indim("compile", f"--target={target}", "--dump=report,asm", "--json", ROOT / "examples/digits/digits.hlo").stdout)
        data = json.loads(stages["report"])
        # On Arm the instructions of prologues stand in another order.
        report(f"the code for {target}", sorted(instructions(data["asm"])) == sorted(instructions(stages["asm"])))
        report(f"each step has code for {target}", all(s["asm_lines"] for s in data["steps"]))


def decisions():
    """Each place and reason, of programs made for it."""
    text = """ENTRY e {
      x = f32[4096] parameter(0)
      i = s32[] parameter(1)
      one = f32[1] constant({1})
      e = f32[4096] exponential(x)
      n = f32[4096] negate(e)
      u = f32[4096] dynamic-update-slice(n, one, i)
      s = f32[8] slice(n), slice={[0:8]}
      z = f32[] constant(0)
      t = f32[64,64] reshape(e)
      m = f32[64,64] transpose(t), dimensions={1,0}
      ROOT r = (f32[4096], f32[8], f32[64,64]) tuple(u, s, m)
    }"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "p.hlo"
        path.write_text(text)
        data = json.loads(indim("compile", "--dump=report", "--target=x86-64-v3", path).stdout)
    items = {i["instruction"]: i for i in data["flows"][0]["items"]}
    report("an argument", items["x"]["kind"] == "parameter" and data["storages"][items["x"]["storage"]]["kind"] == "argument", items["x"])
    report("a costly array with two kernels", items["e"]["place"] == "memory" and "several kernels" in items["e"]["reason"], items["e"])
    report("a result", data["storages"][items["m"]["storage"]]["kind"] == "result" and items["m"]["reason"] == "a result", items["m"])
    report("a reshape", items["t"]["place"] == "fused" and [data["flows"][0]["items"][k]["instruction"] for k in items["t"]["into"]] == ["m"], items["t"])
    report("nobody needs it", "z" not in items or items["z"]["place"] == "none", items.get("z"))


# Pages -----------------------------------------------------------------------------------------------------------------

BOXES = """(() => [...document.querySelectorAll("#graph .node")].map(n => {
  const r = n.querySelector("rect").getBoundingClientRect();
  const widest = Math.max(...[...n.querySelectorAll("text")].map(t => t.getBoundingClientRect().right));
  return [r.left, r.top, r.right, r.bottom, widest];
}))()"""


def overlapping(boxes):
    return [(a, b) for i, a in enumerate(boxes) for b in boxes[:i] if a[0] < b[2] - .5 and b[0] < a[2] - .5 and a[1] < b[3] - .5 and b[1] < a[3] - .5]


def view(folder, name, path, *options, code=0):
    """The page and its data."""
    page = folder / (name + ".html")
    indim("view", path, "-o", page, *options, code=code)
    text = page.read_text()
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', text, re.S)[1]
    report(f"{name} without its data", len(text) - len(data) < 300_000, len(text) - len(data))
    report(f"nothing of the network in {name}", not re.search(r"""(src|href|url)\s*[=(]\s*["']?https?:""", text.replace(data, "")))
    return page.as_uri(), json.loads(data)


def quiet(browser, name):
    report(f"no errors in {name}", browser.errors == [], browser.errors)
    report(f"no requests in {name}", all(r.startswith("file:") for r in browser.requests), browser.requests)
    browser.errors.clear()
    browser.requests.clear()


def one_program(browser, folder, shot):
    """A program with everything: each view, search, links, keys, sizes, dark."""
    url, data = view(folder, "digits", ROOT / "examples/digits/digits.hlo", f"--profile={folder / 'profile-digits.json'}")
    browser.open(url)
    shot("program")
    entry = next(c for c in data["computations"] if c["entry"])
    total = sum(len(c["instructions"]) for c in data["computations"])
    get = browser.run
    report("the summary", f"{total} instructions in {len(data['computations'])} computations" in get("document.getElementById('summary').textContent"))
    report("the list has its height", get("document.querySelector('.list').firstChild.style.height") == f"{20 * (total + len(data['computations']))}px")
    report("the root is selected", get("document.querySelector('#detail h2').textContent") == entry["instructions"][entry["root"]][0])
    # Every node is drawn once, none over another, and all texts are inside.
    get("[...document.querySelectorAll('.bar button')].find(b => b.textContent === 'Whole computation').click()")
    browser.settle()
    boxes = get(BOXES)
    report("the graph of the entry", len(boxes) == len(entry["instructions"]), len(boxes))
    report("no nodes overlap", not overlapping(boxes), overlapping(boxes)[:2])
    report("texts are inside of nodes", all(b[4] <= b[2] + 1 for b in boxes), [b for b in boxes if b[4] > b[2] + 1][:3])
    edges = sum(len(set(i[3])) for i in entry["instructions"])
    report("the edges of the entry", get("document.querySelectorAll('#graph .edge').length") == edges, edges)
    shot("graph")
    # Links.
    name = entry["instructions"][5][0]
    browser.open(url + "#" + name)
    report("a shared link", get("document.querySelector('#detail h2').textContent") == name)
    report("its row", name in get("document.querySelector('.list .row.on').textContent"))
    browser.click("#became a")
    report("a link to whom it is fused into", get("location.hash.length") > 1 and get("document.querySelector('#detail h2').textContent") != name)
    inner = next(c for c in data["computations"] if not c["entry"])
    browser.go(f"#{inner['name']}/{inner['instructions'][0][0]}")
    report("a link into another computation", inner["name"] in get("document.querySelector('#detail p').textContent"))
    # Clicks in the list and in the graph.
    browser.click(".list .row:nth-of-type(3) a")
    report("a click in the list", get("document.querySelector('.list .row.on a').getAttribute('href') === location.hash"))
    browser.go("#" + name)
    target = get("(() => { const n = [...document.querySelectorAll('#graph .node:not(.on)')].find(n => { const b = n.getBoundingClientRect(), g = document.getElementById('graph').getBoundingClientRect();"
                 "return b.top > g.top && b.bottom < g.bottom && b.left > g.left && b.right < g.right; }); const b = n.getBoundingClientRect(); return [b.x + 20, b.y + 20, n.querySelector('text').textContent]; })()")
    browser.mouse(target[0], target[1])
    browser.settle()
    report("a click in the graph", get("document.querySelector('#detail h2').textContent").startswith(target[2].rstrip("\u2026")), target)
    # Search.
    browser.key("/")
    report("/ goes to the search", get("document.activeElement.id") == "search")
    browser.type("exp.1")
    report("the first one found", get("document.querySelector('#found a').textContent").startswith("exp.1 = "))
    shot("search")
    browser.key("Enter")
    browser.settle()
    report("Enter goes there", get("location.hash") == "#exp.1" and get("document.getElementById('found').hidden"))
    report("why it is not fused", "several kernels need it" in get("document.getElementById('became').textContent"), get("document.getElementById('became').textContent"))
    browser.run("document.querySelector('.list').focus()")
    browser.key("ArrowDown")
    report("an arrow goes to the next one", get("location.hash") != "#exp.1", get("location.hash"))
    browser.run("document.activeElement.blur()")
    # Shapes.
    browser.go("#images.1")
    at = get("(() => { const b = document.querySelector('.list .row.on a').getBoundingClientRect(); return [b.x + 30, b.y + 10]; })()")
    browser.mouse(at[0] + 3, at[1], click=False)
    browser.run("new Promise(done => setTimeout(done, 500))")
    report("a shape explained", "u8[540,8,8]" in get("document.getElementById('hover').textContent") and get("document.querySelectorAll('#hover svg.shape rect').length") > 50,
           get("document.getElementById('hover').textContent"))
    report("it is in sight", get("(() => { const b = document.getElementById('hover').getBoundingClientRect(); return b.left >= 0 && b.top >= 0 && b.right <= innerWidth && b.bottom <= innerHeight; })()"))
    shot("hover")
    # Steps.
    browser.key("2")
    steps = data["report"]["steps"]
    report("a row for each step", get("document.querySelectorAll('#steps tbody tr').length") == len(steps))
    report("times from the profile", "GB/s" in get("document.querySelector('#steps thead').textContent"))
    report("points of the roofline", get("document.querySelectorAll('#roofline .point').length") > 3)
    shot("steps")
    browser.click("#steps tr[data-step='2'] a")
    report("a step's loops", get("document.querySelector('#detail pre.loops').textContent").startswith("for v"), get("document.getElementById('detail').textContent"))
    first, count = steps[2]["asm_lines"][0]
    lines = data["report"]["asm"].split("\n")[first:first + count]
    report("a step's code", get("document.querySelector('#detail pre.asm').textContent").startswith("\n".join(lines)))
    report("what is fused into it", "Fused into it" in get("document.getElementById('detail').textContent"))
    shot("step")
    # Memory.
    browser.key("3")
    placed = [s for s in data["report"]["storages"] if "offset" in s]
    report("a box for each buffer", get("document.querySelectorAll('#buffers .buffer').length") == len(placed))
    boxes = get("[...document.querySelectorAll('#buffers .buffer')].map(n => { const b = n.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })")
    report("no buffers overlap", not [1 for a, b in overlapping(boxes) if min(a[2], b[2]) - max(a[0], b[0]) > 2 and min(a[3], b[3]) - max(a[1], b[1]) > 2], overlapping(boxes)[:2])
    report("the peak", "live at once" in get("document.getElementById('peak').textContent"))
    browser.click("#storages tbody tr a")
    report("a buffer's page", get("document.querySelector('#detail h2').textContent").startswith("Buffer "))
    shot("memory")
    # The other views.
    for key, what in (("4", "#copies"), ("5", ".list"), ("6", ".list")):
        browser.key(key)
        report(f"view {key}", get(f"document.querySelector('{what}') !== null"))
    shot("code")
    # Dark, narrow.
    browser.go("#exp.1")
    light = get("getComputedStyle(document.body).backgroundColor")
    browser.dark(True)
    dark = get("getComputedStyle(document.body).backgroundColor")
    brightness = lambda colour: sum(map(int, re.findall(r"\d+", colour)[:3]))
    text = get("getComputedStyle(document.body).color")
    report("dark", brightness(dark) < 200 < 600 < brightness(light) and brightness(text) > 500, (light, dark, text))
    shot("dark")
    browser.dark(False)
    browser.size(390, 800)
    browser.settle()
    for place in ("#exp.1", "#!steps", "#!memory", "#!copies", "#!code"):
        browser.go(place)
        report(f"{place} is not wider than a narrow screen", get("document.documentElement.scrollWidth") <= 390, get("document.documentElement.scrollWidth"))
    browser.go("#exp.1")
    shot("narrow")
    boxes = get("['header', 'main', 'aside'].map(t => { const b = document.querySelector(t).getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })")
    report("parts stand below each other", not overlapping(boxes) and all(b[3] - b[1] > 40 for b in boxes), boxes)
    browser.size(1280, 800)
    quiet(browser, "digits")


HOSTILE = [
    "</script><script>window.harmed=1</script>",
    "<img src=x onerror=window.harmed=2>",
    "<!--<script>",
    "]]>&lt;b&gt;&#x22;'\\\\u2028",
    "\u2028\u2029 javascript:window.harmed=3",
    '\\" onmouseover=window.harmed=4 x=\\"',
    "@DATA@ @SCRIPT@ ${window.harmed=5} {{7*7}}",
]


def hostile(browser, folder):
    lines = ["HloModule h", "ENTRY e {", "  x = f32[2] parameter(0)"]
    for k, text in enumerate(HOSTILE):
        quoted = text.replace("\u2028", "\\342\\200\\250").replace("\u2029", "\\342\\200\\251")
        lines.append(f'  c{k} = f32[2] custom-call(x), custom_call_target="{quoted}", metadata={{op_name="{quoted}" source_file="{quoted}" source_line=1}}')
    lines.append(f"  ROOT r = (f32[2]) tuple(c{len(HOSTILE) - 1})\n}}")
    path = folder / "<img src=x onerror=window.harmed=6>&amp;'.hlo"
    path.write_text("\n".join(lines))
    url, data = view(folder, "hostile", path)
    browser.open(url)
    for k in range(len(HOSTILE)):
        browser.go(f"#c{k}")
        browser.mouse(200, 200, click=False)
    for word in ("script", "onerror", "harmed"):
        browser.run(f"(() => {{ const s = document.getElementById('search'); s.value = '{word}'; s.dispatchEvent(new Event('input')); }})()")
        browser.settle()
    for place in ("#!steps", "#!copies", "#!memory", "#%3Cimg%20src=x%20onerror=window.harmed=7%3E", "#!step/<b>", "#%"):
        browser.go(place)
    report("strings of a program do not run", browser.run("window.harmed === undefined && document.images.length === 0"), browser.run("String(window.harmed)"))
    report("they are shown", "</script><script>window.harmed=1</script>" in (browser.go("#c0") or browser.run("document.querySelector('#detail pre').textContent")))
    report("no element of theirs", browser.run("document.querySelectorAll('script').length") == 2)
    quiet(browser, "hostile")


def others(browser, folder, shot):
    """What does not compile, does not verify, comes in another format, or has loops."""
    (folder / "refused.hlo").write_text('ENTRY e { x = f32[2] parameter(0) ROOT c = f32[2] custom-call(x), custom_call_target="nobody_knows" }')
    url, data = view(folder, "refused", folder / "refused.hlo")
    browser.open(url)
    report("why it does not compile", data["report"] is None and "nobody_knows" in browser.run("document.getElementById('problems').textContent"), data["problems"])
    report("its graph", browser.run("document.querySelectorAll('#graph .node').length") == 2)
    for place in ("#!steps", "#!memory", "#!copies", "#!loops", "#!code"):
        browser.go(place)
        report(f"{place} without a report", "not compiled" in browser.run("document.getElementById('main').textContent"))
    shot("refused")
    (folder / "wrong.hlo").write_text("ENTRY e { x = f32[2] parameter(0) ROOT c = f32[3] negate(x) }")
    url, data = view(folder, "wrong", folder / "wrong.hlo", code=1)
    browser.open(url)
    report("what is wrong", browser.run("!document.getElementById('problems').hidden && document.querySelectorAll('#graph .node').length") == 2, data["problems"])
    loop = ("ENTRY e { x = f32[512] parameter(0) n = s32[] parameter(1) z = s32[] constant(0) t = (s32[], s32[], f32[512]) tuple(z, n, x)"
            " w = (s32[], s32[], f32[512]) while(t), condition={ p = (s32[], s32[], f32[512]) parameter(0) i = s32[] get-tuple-element(p), index=0"
            " m = s32[] get-tuple-element(p), index=1 ROOT c = pred[] compare(i, m), direction=LT },"
            " body={ p = (s32[], s32[], f32[512]) parameter(0) i = s32[] get-tuple-element(p), index=0 m = s32[] get-tuple-element(p), index=1 a = f32[512] get-tuple-element(p), index=2"
            " o = s32[] constant(1) j = s32[] add(i, o) s = f32[512] sine(a) ROOT r = (s32[], s32[], f32[512]) tuple(j, m, s) }"
            " ROOT g = f32[512] get-tuple-element(w), index=2 }")
    (folder / "loop.hlo").write_text(loop)
    url, data = view(folder, "loop", folder / "loop.hlo")
    browser.open(url + "#!steps")
    report("a step inside of a loop", any(s.get("inside", [""])[0] == "w" for s in data["report"]["steps"]), data["report"]["steps"])
    report("the table says so", "in w" in browser.run("document.getElementById('steps').textContent"))
    body = next(c["name"] for c in data["computations"] if any(i[0] == "s" for i in c["instructions"]))
    browser.go(f"#{body}/s")
    report("an item of a body", "in the body" in browser.run("document.getElementById('became').textContent"))
    report("who calls the body", "Called by" in browser.run("document.getElementById('detail').textContent"))
    for form in ("stablehlo", "proto"):
        target = folder / ("loop.mlir" if form == "stablehlo" else "loop.pb")
        indim("convert", folder / "loop.hlo", target)
        url, data = view(folder, form, target)
        browser.open(url)
        report(f"a program as {form}", data["report"] is not None and browser.run("document.querySelectorAll('#graph .node').length") > 2)
    for text in ("{", "7", '{"ok":false,"errors":[]}', '{"profile":{"steps":3}}'):
        (folder / "bad.json").write_text(text)
        done = indim("view", "--profile", folder / "bad.json", folder / "loop.hlo", "-o", folder / "none.html", code=1)
        report(f"no profile: {text}", "is no profile" in done.stderr and not (folder / "none.html").exists(), done.stderr)
    for text in ('{"profile":{"steps":[{"step":1e99,"seconds":"x"},null,7]}}', "[]", '{"steps":[{"step":0,"seconds":1e-3}]}'):
        (folder / "odd.json").write_text(text)
        url, data = view(folder, "odd", folder / "loop.hlo", f"--profile={folder / 'odd.json'}")
        browser.open(url + "#!steps")
        report(f"with the profile {text}", browser.run("document.querySelectorAll('#steps tbody tr').length") > 0)
    quiet(browser, "the others")


def large(browser, folder):
    count = 2000 if SANITIZED else 20000
    lines = ["HloModule large", "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }", "ENTRY main {",
             "  p = f32[256,64] parameter(0)", "  w = f32[64,64] parameter(1)", "  z = f32[] constant(0)"]
    last = "p"
    while len(lines) < count:
        k = len(lines)
        for j, op in enumerate(["add", "multiply", "subtract", "maximum"] * 9):
            lines.append(f"  e{k}_{j} = f32[256,64] {op}({last if j == 0 else f'e{k}_{j - 1}'}, p)")
        lines += [f"  d{k} = f32[256,64] dot(e{k}_35, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
                  f"  r{k} = f32[256] reduce(d{k}, z), dimensions={{1}}, to_apply=add",
                  f"  b{k} = f32[256,64] broadcast(r{k}), dimensions={{0}}", f"  m{k} = f32[256,64] multiply(d{k}, b{k})"]
        last = f"m{k}"
    lines.append(f"  ROOT out = f32[256,64] negate({last})\n}}")
    (folder / "large.hlo").write_text("\n".join(lines))
    url, data = view(folder, "large", folder / "large.hlo")
    seconds = browser.open(url)
    print(f"{len(lines)} instructions open in {seconds:.2f} s")
    report("few rows exist", browser.run("document.querySelectorAll('.list .row').length") < 120)
    boxes = browser.run(BOXES)
    report("a neighbourhood is drawn", 20 < len(boxes) <= 40 and not overlapping(boxes), len(boxes))
    k = len(lines) // 2
    name = next(i[0] for i in data["computations"][-1]["instructions"][k:] if i[0].startswith("e"))
    browser.go("#" + name)
    report("the list goes there", name + " =" in browser.run("document.querySelector('.list .row.on').textContent"))
    for place in ("#!steps", "#!step/7", "#!memory", "#!copies", "#!loops/5000", "#!code/5000"):
        browser.go(place)
        report(f"{place} of a large program", browser.run("document.querySelectorAll('*').length") < 60000)
    quiet(browser, "large")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shots", type=pathlib.Path, help="keep pictures of the pages there")
    arguments = parser.parse_args()
    reports()
    decisions()
    families()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numbers(folder)
        done = indim("run", "--profile", "--json", "--repeat=3", ROOT / "examples/digits/digits.hlo")
        profile = json.loads(done.stdout)
        profile["profile"].update(bandwidth=2e10, flops=1e11)
        (folder / "profile-digits.json").write_text(json.dumps(profile))
        browser = Page()

        def shot(name):
            if arguments.shots:
                arguments.shots.mkdir(parents=True, exist_ok=True)
                browser.shoot(arguments.shots / f"{name}.png")

        try:
            one_program(browser, folder, shot)
            hostile(browser, folder)
            others(browser, folder, shot)
            large(browser, folder)
        finally:
            browser.close()
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
