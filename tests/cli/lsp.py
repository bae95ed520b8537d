#!/usr/bin/env python3
"""The language server, driven as an editor does: a program is opened, asked about, changed, formatted; and what no editor
sends: garbage, lengths that lie, messages in the wrong order.

    INDIM_BIN=build/indim lsp.py
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading

from _case import finish, report

INDIM = os.path.abspath(os.environ["INDIM_BIN"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
URI = "file:///program.hlo"

PROGRAM = """\
HloModule rows

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

ENTRY %main {
  %x = f32[2,3]{0,1} parameter(0)
  %zero = f32[] constant(0)
  ROOT %r = f32[2] reduce(%x, %zero), dimensions={1}, to_apply=%sum
}
"""


def equal(what, got, wanted):
    report(what, got == wanted, f"got {got!r}, wanted {wanted!r}")


class Server:
    """A server and an editor's side of the talk."""

    def __init__(self, encodings=None, initialize=True, options=()):
        self.process = subprocess.Popen([INDIM, "lsp", "--stdio", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.problems = {}  # by uri: the newest (version, list)
        self.timer = threading.Timer(300, self.process.kill)
        self.timer.start()
        if initialize:
            general = {"general": {"positionEncodings": encodings}} if encodings else {}
            symbols = {"textDocument": {"documentSymbol": {"hierarchicalDocumentSymbolSupport": True}}}
            self.capabilities = self.ask("initialize", {"capabilities": {**general, **symbols}})["capabilities"]
            self.tell("initialized", {})

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def tell(self, method, params=None):
        self.send({"method": method, "params": params or {}})

    def request(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        return self.number

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            assert line, "the server ended"
            if line == b"\r\n":
                break
            name, value = line.split(b":")
            length = int(value) if name == b"Content-Length" else length
        return json.loads(self.process.stdout.read(length))

    def answer(self, number):
        while True:
            message = self.receive()
            if message.get("method") == "textDocument/publishDiagnostics":
                params = message["params"]
                self.problems[params["uri"]] = params.get("version"), params["diagnostics"]
            elif message.get("id") == number:
                return message

    def ask(self, method, params):
        message = self.answer(self.request(method, params))
        assert "error" not in message, message
        return message["result"]

    def error(self, method, params):
        return self.answer(self.request(method, params)).get("error")

    def open(self, text, uri=URI, version=1):
        self.tell(
            "textDocument/didOpen",
            {"textDocument": {"uri": uri, "languageId": "hlo", "version": version, "text": text}},
        )

    def change(self, changes, version, uri=URI):
        self.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def diagnostics(self, version, uri=URI):
        while self.problems.get(uri, (None, None))[0] != version:
            message = self.receive()
            params = message["params"]
            self.problems[params["uri"]] = params.get("version"), params["diagnostics"]
        return self.problems[uri][1]

    def about(self, method, line, character, uri=URI, **more):
        place = {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}
        return self.ask("textDocument/" + method, {**place, **more})

    def whole(self, method, uri=URI, **more):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, **more})

    def end(self):
        self.ask("shutdown", None)
        self.tell("exit")
        code = self.process.wait()
        self.timer.cancel()
        return code


def place(text, needle, nth=0, ahead=0):
    """Line and character of a piece of text."""
    at = -1
    for _ in range(nth + 1):
        at = text.index(needle, at + 1)
    at += ahead
    return text.count("\n", 0, at), at - (text.rfind("\n", 0, at) + 1)


def span(r):
    return (r["start"]["line"], r["start"]["character"], r["end"]["line"], r["end"]["character"])


def apply(text, edits):
    lines = text.splitlines(keepends=True) + [""]
    offset = lambda p: sum(len(l) for l in lines[: p["line"]]) + p["character"]
    for edit in sorted(edits, key=lambda e: span(e["range"]), reverse=True):
        start, end = offset(edit["range"]["start"]), offset(edit["range"]["end"])
        text = text[:start] + edit["newText"] + text[end:]
    return text


def hover(server, text, needle, nth=0, ahead=0):
    found = server.about("hover", *place(text, needle, nth, ahead))
    return found["contents"]["value"] if found else ""


# ------------------------------------------------------------------------------------------------------ as an editor


def test_diagnostics():
    server = Server()
    server.open(PROGRAM)
    equal("a right program has no diagnostics", server.diagnostics(1), [])
    server.open(PROGRAM.replace("f32[2] reduce", "f32[3] reduce"), version=2)
    (problem,) = server.diagnostics(2)
    equal("a verifier's error is at the name", span(problem["range"]), (11, 7, 11, 9))
    report("it has both sides", "f32[3]" in problem["message"] and "f32[2]" in problem["message"], problem)
    equal("it has its code", (problem["code"], problem["source"], problem["severity"]), ("INVALID", "indim", 1))
    # Two mistakes in one text; a hint.
    broken = PROGRAM.replace("add(%a, %b)", "ad(%a, %b)").replace("%x, %zero", "%x, %zerro")
    server.open(broken, version=3)
    problems = server.diagnostics(3)
    equal("two syntax errors are told", len(problems), 2)
    equal("the first is at the op", span(problems[0]["range"]), (*place(broken, "ad("), 5, place(broken, "ad(")[1] + 2))
    report("a hint is told", "hint: did you mean" in problems[1]["message"], problems[1])
    # The same as `indim check --json` says of files that are refused, and nothing of those that are not.
    refused = sorted((ROOT / "tests/hlo/refused").glob("*.hlo"))
    files = refused[:40] + sorted((ROOT / "examples").glob("*/*.hlo"))
    told = json.loads(subprocess.run([INDIM, "check", "--json", *files], capture_output=True, text=True).stdout)
    for version, (file, answer) in enumerate(zip(files, told), 4):
        server.open(file.read_text(), uri=file.as_uri(), version=version)
        problems = server.diagnostics(version, uri=file.as_uri())
        got = [(p["range"]["start"]["line"] + 1, p["message"].split("\nhint: ")[0]) for p in problems if p["severity"] == 1]
        wanted = [(max(e["line"], 1), e["message"].replace(str(file), file.as_uri())) for e in answer["errors"]]
        equal(f"{file.name}: the same diagnostics as check", got, wanted)
    server.tell("textDocument/didClose", {"textDocument": {"uri": URI}})
    equal("a closed document has none", server.diagnostics(None), [])
    equal("shutdown, exit", server.end(), 0)


def test_lint():
    text = "ENTRY e {\n  x = f32[2] parameter(0)\n  unread = f32[2] parameter(1)\n  ROOT s = add(x, x)\n}\n"
    for options, wanted in ((), ["unread-parameter"]), (("--no-lint",), []):
        server = Server(options=options)
        server.open(text)
        problems = server.diagnostics(1)
        equal(f"{options}: what lint finds", [p["code"] for p in problems], wanted)
        for problem in problems:
            equal("it is a warning at the name", (problem["severity"], span(problem["range"])), (2, (2, 2, 2, 8)))
            report("it has the way out", "\nway out: leave it out" in problem["message"], problem)
        server.open(text.replace("add(x, x)", "add(x, y)"), version=2)
        equal("a program with a mistake has the mistake alone", [p["severity"] for p in server.diagnostics(2)], [1])
        equal("shutdown, exit", server.end(), 0)


def test_changes():
    server = Server()
    server.open(PROGRAM)
    text = PROGRAM
    rng = random.Random(1)
    # Random edits: the server's text follows ours, which formatting a text of known content would show, and diagnostics do.
    for version in range(2, 60):
        lines = text.split("\n")
        line = rng.randrange(len(lines))
        start = rng.randrange(len(lines[line]) + 1)
        end = rng.randrange(start, len(lines[line]) + 1)
        added = rng.choice(["", "x", " ", "\n", "é", "\U0001f600", "f32[2]", "}"])
        units = lambda piece: len(piece.encode("utf-16-le")) // 2
        change = {
            "range": {
                "start": {"line": line, "character": units(lines[line][:start])},
                "end": {"line": line, "character": units(lines[line][:end])},
            },
            "text": added,
        }
        server.change([change], version)
        lines[line] = lines[line][:start] + added + lines[line][end:]
        text = "\n".join(lines)
    got = [(span(p["range"]), p["message"]) for p in server.diagnostics(version)]
    server.open(text, uri="file:///fresh.hlo", version=1)
    wanted = [(span(p["range"]), p["message"]) for p in server.diagnostics(1, uri="file:///fresh.hlo")]
    equal("after edits the text is what the editor has", [(s, m.replace("program.hlo", "fresh.hlo")) for s, m in got], wanted)
    # Many changes at once: only the newest text is told of, and the last word is right.
    for version in range(100, 400):
        server.change([{"text": PROGRAM if version == 399 else "garbage"}], version)
    equal("the newest text counts", server.diagnostics(399), [])
    # An edit whose range is none is left out.
    server.change([{"range": {"start": {"line": -1, "character": 0}, "end": {"line": 0, "character": 0}}, "text": "x"}], 400)
    server.change([{"range": "?", "text": "x"}, {"text": 5}], 401)
    equal("malformed edits change nothing", server.diagnostics(401), [])
    server.change([{"range": {"start": {"line": 999, "character": 9}, "end": {"line": 9999, "character": 0}}, "text": "x"}], 402)
    equal("a place behind the end is the end", span(server.diagnostics(402)[0]["range"])[0], PROGRAM.count("\n"))
    equal("shutdown, exit", server.end(), 0)


def test_positions():
    text = 'ENTRY e { ROOT x = f32[] constant(1), metadata={op_name="é\U0001f600"}, nonsense=1 }'
    for encodings, wanted in ((None, "utf-16"), (["utf-16", "utf-32"], "utf-16"), (["utf-32", "utf-8"], "utf-8")):
        server = Server(encodings)
        equal("the encoding", server.capabilities["positionEncoding"], wanted)
        server.open(text)
        (problem,) = server.diagnostics(1)
        before = text[: text.index("nonsense")]
        column = len(before.encode()) if wanted == "utf-8" else len(before.encode("utf-16-le")) // 2
        equal(f"{wanted}: the column behind a character outside the BMP", span(problem["range"])[1], column)
        found = server.about("hover", 0, column + (3 if wanted == "utf-8" else 0))
        report(f"{wanted}: there and back", found is None or "nonsense" not in found, found)
        equal("shutdown, exit", server.end(), 0)


def test_hover():
    server = Server()
    server.open(PROGRAM)
    report("an op", "fold along dimensions=" in hover(server, PROGRAM, "reduce"), hover(server, PROGRAM, "reduce"))
    report("its attributes", "`to_apply=` a computation, required" in hover(server, PROGRAM, "reduce"))
    report("an attribute", "the dimensions that the op works along" in hover(server, PROGRAM, "dimensions"))
    shape = hover(server, PROGRAM, "f32[2,3]{0,1}", ahead=10)
    report("a layout", "y runs fastest, then x (column-major)" in shape, shape)
    report("its memory drawn", "│ a d │ b e │ c f │" in shape, shape)
    use = hover(server, PROGRAM, "%x", 1)
    report("a use has the shape of the definition", "f32[2,3]{0,1}" in use and "parameter" in use, use)
    called = hover(server, PROGRAM, "%sum", 1)
    report("a computation", "(a: f32[], b: f32[]) -> f32[]" in called and "3 instructions" in called, called)
    equal("nothing on a blank", server.about("hover", 1, 0), None)
    tiled = "ENTRY e { ROOT x = bf16[32,256]{1,0:T(8,128)(2,1)} parameter(0) }"
    server.open(tiled, version=2)
    report("tiles", "T(8,128) cuts" in hover(server, tiled, "bf16"), hover(server, tiled, "bf16"))
    padded = "ENTRY e { ROOT x = f32[2,3]{0,1:PAD(3,5;zero)} parameter(0) }"
    server.open(padded, version=3)
    report("padding", "60.0 %" in hover(server, padded, "f32"), hover(server, padded, "f32"))
    # A text that is refused elsewhere, and a shape that is left out.
    broken = PROGRAM.replace("add(%a, %b)", "ad(%a, %b)")
    server.open(broken, version=4)
    report("in a broken text the written shape counts", "f32[2,3]{0,1}" in hover(server, broken, "%x", 1))
    inferred = "ENTRY e {\n  x = f32[2,3] parameter(0)\n  ROOT s = add(x, x)\n}\n"
    server.open(inferred, version=5)
    report("an inferred shape", "f32[2,3]" in hover(server, inferred, "s = "), hover(server, inferred, "s = "))
    (hint,) = server.whole("inlayHint", range={"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}})
    equal("it is hinted", (hint["label"], hint["position"]), ("f32[2,3]", {"line": 2, "character": 11}))
    equal("shutdown, exit", server.end(), 0)


def test_names():
    server = Server()
    server.open(PROGRAM)
    found = server.about("definition", *place(PROGRAM, "%x", 1, 1))
    equal("definition of an instruction", span(found["range"]), (9, 3, 9, 4))
    found = server.about("definition", *place(PROGRAM, "%sum", 1, 2))
    equal("definition of a computation", span(found["range"]), (2, 1, 2, 4))
    uses = server.about("references", *place(PROGRAM, "%a =", 0, 1), context={"includeDeclaration": True})
    equal("references", [span(u["range"])[:2] for u in uses], [(3, 3), (5, 23)])
    uses = server.about("references", *place(PROGRAM, "%a =", 0, 1), context={"includeDeclaration": False})
    equal("references alone", [span(u["range"])[:2] for u in uses], [(5, 23)])
    marks = server.about("documentHighlight", *place(PROGRAM, "%sum", 0, 1))
    equal("highlights", [(span(m["range"])[0], m["kind"]) for m in marks], [(2, 3), (11, 2)])
    edits = server.about("rename", *place(PROGRAM, "%sum", 1, 1), newName="total")["changes"][URI]
    equal("rename", apply(PROGRAM, edits), PROGRAM.replace("%sum", "%total"))
    edits = server.about("rename", *place(PROGRAM, "%x", 1, 1), newName="%input.1")["changes"][URI]
    equal("rename with a %", apply(PROGRAM, edits), PROGRAM.replace("%x", "%input.1"))
    at = {"textDocument": {"uri": URI}, "position": dict(zip(("line", "character"), place(PROGRAM, "%x", 1, 1)))}
    for name in ("zero", "f32", "ROOT", "a b", "", "9", "__a", "x=", "x:"):
        report(f"rename to {name!r} is refused", server.error("textDocument/rename", {**at, "newName": name}), "it was not")
    equal("a place to rename", span(server.about("prepareRename", *place(PROGRAM, "%x", 1, 1))), (11, 27, 11, 28))
    equal("no place to rename", server.about("prepareRename", 0, 2), None)
    tree = server.whole("documentSymbol")
    equal("symbols", [(t["name"], [c["name"] for c in t["children"]]) for t in tree],
          [("sum", ["a", "b", "s"]), ("main", ["x", "zero", "r"])])  # fmt: skip
    equal("a symbol's detail", tree[1]["children"][2]["detail"], "f32[2] reduce")
    equal("folds", [(f["startLine"], f["endLine"]) for f in server.whole("foldingRange")], [(2, 6), (8, 12)])
    # Inline bodies have names of their own scope.
    nested = (
        "ENTRY e {\n  i = s32[] constant(0)\n  ROOT w = s32[] while(i), condition={\n    i = s32[] parameter(0)\n"
        "    ROOT c = pred[] constant(false)\n  }, body={\n    i = s32[] parameter(0)\n    ROOT n = s32[] negate(i)\n  }\n}\n"
    )
    server.open(nested, version=2)
    equal("an inline program is right", server.diagnostics(2), [])
    equal("names in a body are its own", span(server.about("definition", *place(nested, "negate(i", 0, 7))["range"])[0], 6)
    equal("names outside are the outer's", span(server.about("definition", *place(nested, "while(i", 0, 6))["range"])[0], 1)
    report("a body's shapes", "s32[]" in hover(server, nested, "n ="), hover(server, nested, "n ="))
    equal("shutdown, exit", server.end(), 0)


def test_completion():
    server = Server()

    def complete(text):
        before, after = text.split("|")
        server.open(before + after, version=1)
        items = server.about("completion", before.count("\n"), len(before) - (before.rfind("\n") + 1))
        return {i["label"]: i for i in items}, before, before + after

    head = "add {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = add(a, b)\n}\nENTRY e {\n  x = f32[2] parameter(0)\n"
    items, _, _ = complete(head + "  y = |\n}\n")
    report("behind '=' ops and types", {"add", "dot", "f32", "pred"} <= items.keys(), items.keys())
    items, before, text = complete(head + "  y = f32[2] ad|\n}\n")
    report("behind a shape ops", {"add", "add-dependency"} <= items.keys() and "f32" not in items, items.keys())
    equal("the word is replaced", apply(text, [items["add-dependency"]["textEdit"]]), before[:-2] + "add-dependency\n}\n")
    report("an op's meaning", "x + y" in items["add"]["detail"], items["add"])
    items, _, _ = complete(head + "  y = f32[2] add(x, |\n  z = f32[2] parameter(1)\n}\n")
    equal("operands stand before", set(items), {"x"})
    items, _, _ = complete(head + "  z = f32[] constant(0)\n  ROOT y = f32[] reduce(x, z), dimensions={0}, |\n}\n")
    report("attributes that are missing", "to_apply" in items and "dimensions" not in items, items.keys())
    equal("a required one", items["to_apply"]["detail"], "required")
    items, _, _ = complete(head + "  z = f32[] constant(0)\n  ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=|\n}\n")
    equal("computations", set(items), {"add"})
    items, _, _ = complete(head + "  ROOT y = pred[2] compare(x, x), direction=|\n}\n")
    equal("words", set(items), {"EQ", "NE", "GE", "GT", "LE", "LT"})
    items, _, _ = complete(head + "  // y = |\n}\n")
    equal("nothing in a comment", items, {})
    items, _, _ = complete("|")
    equal("the beginning", set(items), {"HloModule", "ENTRY"})
    equal("shutdown, exit", server.end(), 0)


def test_formatting():
    server = Server()
    version = 0

    def formatted(text):
        nonlocal version
        version += 1
        server.open(text, version=version)
        edits = server.whole("formatting", options={"tabSize": 2, "insertSpaces": True})
        return None if edits is None else apply(text, edits)

    def printed(text, *flags):
        return subprocess.run([INDIM, "print", "--no-verify", *flags, "-"], input=text, capture_output=True, text=True).stdout

    messy = "ENTRY   e{x=f32[2] parameter(0) }"
    equal("a text with mistakes stays", formatted(messy), None)
    messy = "ENTRY   e{x = f32[2]  parameter(0)\n\n\n ROOT y = add( x,x)}"
    equal("canonical text", formatted(messy), printed(messy))
    equal("with percents and signatures as they were", formatted(PROGRAM.replace("  ", "\t")),
          printed(PROGRAM, "--percent", "--program-shapes"))  # fmt: skip
    # Programs as XLA and JAX print them; twice gives the same.
    files = sorted((ROOT / "tests/programs").glob("*.hlo"))[::17] + sorted((ROOT / "examples").glob("*/*.hlo"))
    for file in files:
        text = file.read_text()
        once = formatted(text)
        equal(f"{file.name}: the same program", printed(once), printed(text))
        equal(f"{file.name}: formatted twice", formatted(once), once)
        report(f"{file.name}: metadata stays", text.count("metadata=") == once.count("metadata="), "it does not")
    # Comments.
    commented = (
        "// top\nHloModule m // header\n\n/* before */\nadd { // opens\n  a = f32[] parameter(0) // first\n  // between\n"
        "  b = f32[] parameter(1) /* second */\n  ROOT s = f32[] add(a, /*index=1*/ b, /* inside */ )\n".replace(", /* inside */ )", " /* inside */)")
        + "  // last\n} // closes\n// entry\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n// end\n"
    )
    wanted = (
        "// top\nHloModule m // header\n\n/* before */\nadd { // opens\n  a = f32[] parameter(0) // first\n  // between\n"
        "  b = f32[] parameter(1) /* second */\n  /* inside */\n  ROOT s = f32[] add(a, b)\n  // last\n} // closes\n\n"
        "// entry\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n// end\n"
    )
    once = formatted(commented)
    normal = lambda text: [l for l in text.replace(", entry_computation_layout={()->f32[]}", "").splitlines() if l]
    equal("comments stay at their places", normal(once), normal(wanted))
    equal("and again", formatted(once), once)
    rng = random.Random(2)
    for round in range(40):  # a comment at any border between tokens
        text, count = PROGRAM, 0
        for _ in range(5):
            gaps = [i for i, c in enumerate(text) if c in " \n" and not inside_comment(text, i)]
            at = rng.choice(gaps)
            note = rng.choice([f"/* note {count} */", f"// note {count}\n", f"/* note\n {count} */"])
            text, count = text[:at] + " " + note + text[at:], count + 1
        once = formatted(text)
        kept = once is not None and all(f"note {n}" in once.replace("note\n ", "note ") for n in range(count))
        report(f"no comment is lost ({round})", kept, f"{text}\n----\n{once}")
        equal(f"nor doubled ({round})", once.count("note") if once else 0, count)
        equal(f"the same program ({round})", printed(once or ""), printed(text))
    constants = "ENTRY e {\n  ROOT c = f32[20] constant({...})\n}\n"
    once = formatted(constants)
    report("an elided constant stays elided", once is None or "{...}" in once, once)
    equal("shutdown, exit", server.end(), 0)


def inside_comment(text, at):
    """Whether a byte lies in a comment."""
    i = 0
    while i < at:
        if text.startswith("/*", i):
            i = text.index("*/", i) + 2
        elif text.startswith("//", i):
            end = text.find("\n", i)
            i = len(text) if end < 0 else end
        else:
            i += 1
            continue
        if i > at:
            return True
    return False


def test_colours():
    server = Server()
    legend = server.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    for file in sorted((ROOT / "tests/programs").glob("*.hlo"))[::29] + [None]:
        text = PROGRAM if file is None else file.read_text()
        server.open(text)
        data = server.whole("semanticTokens/full")["data"]
        lines, line, character, seen = text.split("\n"), 0, 0, []
        for i in range(0, len(data), 5):
            line, character = line + data[i], data[i + 1] + (character if data[i] == 0 else 0)
            seen.append((legend[data[i + 3]], lines[line][character : character + data[i + 2]], data[i + 4]))
        names = {"name": file.name if file else "PROGRAM"}
        report("a token is not empty", all(t[1].strip() == t[1] != "" for t in seen), names)
        report("keywords", any(t[:2] == ("keyword", "ENTRY") for t in seen), names)
    equal("colours of names", [t for t in seen if t[1] in ("%sum", "%x", "reduce", "dimensions")],
          [("function", "%sum", 1), ("parameter", "%x", 1), ("method", "reduce", 0), ("parameter", "%x", 0),
           ("property", "dimensions", 0), ("function", "%sum", 0)])  # fmt: skip
    equal("shutdown, exit", server.end(), 0)


# ---------------------------------------------------------------------------------------------------- as no editor does


def test_protocol():
    server = Server(initialize=False)
    equal("before initialize", server.error("textDocument/hover", {})["code"], -32002)
    server.ask("initialize", {"capabilities": {}})
    equal("initialize twice", server.error("initialize", {})["code"], -32600)
    equal("an unknown request", server.error("workspace/symbols", {})["code"], -32601)
    server.tell("$/unknown")
    server.tell("unknown/notification")
    equal("a document that is not open", server.error("textDocument/hover", {"textDocument": {"uri": "x"}})["code"], -32602)
    server.open(PROGRAM)
    for params in ({}, {"position": 5}, {"position": {"line": "1", "character": 0}}, {"position": {"line": 1e300, "character": 0}},
                   {"position": {"line": 0.5, "character": 0}}):  # fmt: skip
        for method in ("hover", "completion"):
            given = {"textDocument": {"uri": URI}, **params}
            report(f"{method} with {params}", server.error("textDocument/" + method, given), "no error")
    # Cancelled while it waits: the requests arrive in one write, and so does the cancelling.
    body = b""
    for message in (
        {"id": "a", "method": "textDocument/hover", "params": {"textDocument": {"uri": URI}, "position": {"line": 9, "character": 3}}},
        {"id": "b", "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": URI}}},
        {"method": "$/cancelRequest", "params": {"id": "b"}},
        {"method": "$/cancelRequest", "params": {"id": 7}},
        {"method": "$/cancelRequest"},
    ):
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        body += b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s" % (len(data), data)
    server.send_bytes(body)
    report("one that is not cancelled", "result" in server.answer("a"), "no result")
    equal("one that is", server.answer("b")["error"]["code"], -32800)
    server.ask("shutdown", None)
    equal("after shutdown", server.error("textDocument/hover", {})["code"], -32600)
    server.tell("exit")
    equal("exit after shutdown", server.process.wait(), 0)
    server.timer.cancel()

    server = Server()
    server.tell("exit")
    equal("exit without shutdown", server.process.wait(), 1)
    server.timer.cancel()
    server = Server()
    server.process.stdin.close()
    equal("the input ends", server.process.wait(), 1)
    server.timer.cancel()
    done = subprocess.run([INDIM, "lsp", "file.hlo"], capture_output=True, text=True)
    report("a file is refused", done.returncode == 2 and "the editor sends them" in done.stderr, done)


def test_garbage():
    server = Server()
    for garbage in (
        b"\r\n\r\n",
        b"hello\r\n\r\n",
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"A" * 100_000 + b"\r\n\r\n",
    ):
        server.send_bytes(garbage)
    for body in (
        b"",
        b"{",
        b"[]",
        b"5",
        b"null",
        b"{}",
        b'{"id":1}',
        b'{"jsonrpc":"2.0","id":{},"method":"shutdown"}',
        b'{"jsonrpc":"2.0","method":5,"id":1}',
        b"[" * 100_000,
        b'{"a":"\xff\xfe"}',
        b'{"jsonrpc":"2.0","id":1,"method":"x"} trailing',
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":[]}',
        b'{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":5,"text":{}}}}',
        b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"x"},"contentChanges":5}}',
        b'{"jsonrpc":"2.0","method":"initialized","params":null}',
    ):
        server.send_bytes(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    server.open(PROGRAM, version=9)
    equal("after garbage it still works", server.diagnostics_after_errors(9), [])
    # A message beyond what is kept is read past.
    size = (128 << 20) + 1
    server.send_bytes(b"Content-Length: %d\r\n\r\n" % size)
    block = b" " * (1 << 20)
    for _ in range(size >> 20):
        server.send_bytes(block)
    server.send_bytes(b" ")
    equal("too large a message", server.receive()["error"]["code"], -32700)
    server.open(PROGRAM, version=10)
    equal("and after that", server.diagnostics_after_errors(10), [])
    equal("shutdown, exit", server.end(), 0)
    # A length that lies: the input ends first.
    server = Server()
    server.send_bytes(b"Content-Length: 99999999999999999999999\r\n\r\n{}")
    server.process.stdin.close()
    equal("a length beyond all", server.process.wait(), 1)
    server.timer.cancel()


def test_broken_texts():
    """Every request on texts that are cut, shuffled and hostile: answers, whatever they are."""
    server = Server()
    rng = random.Random(3)
    seeds = [PROGRAM] + [f.read_text()[:3000] for f in sorted((ROOT / "tests/hlo/op").glob("*.hlo"))[::23]]
    hostile = [
        "", "\n", "{", "}", "(", ")" * 1000, "{" * 50_000, "ENTRY", "ENTRY e", "ENTRY e {", "HloModule", "HloModule a, b=", "ROOT", "ROOT =",
        "x =", "x = f32[", "x = (((((", "x = add(" * 5000, "// ", "/*", '"', "'", "%", "%%%", "\x01\x02", "é" * 100, "\U0001f600" * 50,
        "ENTRY e { ROOT w = while(i), body={" * 3000, "a = f32[2]{1,0:T(8,128)(2,1)", "b01f_01io->", "x = -", "x = ->", "FileNames\n1 ",
        "a\r\nb\rc", "ENTRY e { x = f32[" + "1," * 500 + "] parameter(0) }", "a {\n" * 2000, "control-predecessors={a, b",
    ]  # fmt: skip
    methods = ("hover", "definition", "references", "documentHighlight", "prepareRename", "rename", "completion")
    wholes = ("documentSymbol", "foldingRange", "formatting", "semanticTokens/full", "inlayHint")
    for round in range(len(hostile) + 60):
        if round < len(hostile):
            text = hostile[round]
        else:
            text = rng.choice(seeds)
            for _ in range(rng.randrange(1, 4)):
                at, size = rng.randrange(len(text) + 1), rng.choice([0, 1, 5, 200])
                text = text[:at] + rng.choice(["", "{", "}", "(", ")", "\n", '"', "/*", "=", "ROOT ", "é", "x = "]) + text[at + size :]
        server.open(text, version=round)
        lines = text.split("\n")
        line = rng.randrange(len(lines))
        at = {"line": line, "character": rng.randrange(len(lines[line]) + 2)}
        box = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}
        for method in methods + wholes:
            params = {"textDocument": {"uri": URI}, "position": at, "range": box, "newName": "new", "context": {"includeDeclaration": True}}
            message = server.answer(server.request("textDocument/" + method, params))
            report(f"{method} of {text[:40]!r}", "result" in message or "error" in message, message)
    equal("it lives", server.end(), 0)


def after_errors(self, version):
    while self.problems.get(URI, (None, None))[0] != version:
        message = self.receive()
        if "method" in message:
            self.problems[message["params"]["uri"]] = message["params"].get("version"), message["params"]["diagnostics"]
    return self.problems[URI][1]


Server.diagnostics_after_errors = after_errors

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not chosen or name[5:] in chosen):
            test()
    sys.exit(finish())
