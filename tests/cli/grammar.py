#!/usr/bin/env python3
"""editors/hlo.tmLanguage.json: every program is coloured without a scope "invalid", and each name as what the language
server says it is.

    INDIM_BIN=build/indim grammar.py

An interpreter for as much of TextMate's grammars as ours uses: match, begin and end, captures, include.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))
import lsp  # noqa: E402

from _case import finish, report

GRAMMAR = json.loads((ROOT / "editors/hlo.tmLanguage.json").read_text())


def rules_of(patterns):
    for pattern in patterns:
        if "include" in pattern:
            rule = GRAMMAR["repository"][pattern["include"][1:]]
            yield from rules_of(rule["patterns"] if set(rule) == {"patterns"} else [rule])
        else:
            yield pattern


TOP = list(rules_of(GRAMMAR["patterns"]))
COMPILED = {p: re.compile(p) for r in TOP for k in ("match", "begin", "end") if (p := r.get(k))}
COMPILED[r"\\."] = re.compile(r"\\.")


BLANKS = re.compile(r"\s*")


def first_match(rules, line, at):
    """The rule that matches first: at the first character that is no blank, which the last rule takes if no other does."""
    at = BLANKS.match(line, at).end()
    for rule in rules:
        found = COMPILED[rule.get("match") or rule["begin"]].match(line, at)
        if found and found.end() > found.start():
            return rule, found
    return None


def scopes(text):
    """(line, start, end, scope) of each piece."""
    inside = None
    for number, line in enumerate(text.split("\n")):
        at = 0
        while at < len(line):
            if inside:
                end = COMPILED[inside["end"]].search(line, at)
                for inner in COMPILED[inside["patterns"][0]["match"]].finditer(line, at) if "patterns" in inside else ():
                    if end and inner.start() < end.start() < inner.end():
                        end = COMPILED[inside["end"]].search(line, inner.end())
                stop = end.end() if end else len(line)
                yield number, at, stop, inside["name"]
                at, inside = stop, None if end else inside
                continue
            found = first_match(TOP, line, at)
            if not found:
                break
            rule, match = found
            if "begin" in rule:
                inside = rule
                yield number, match.start(), match.end(), rule["name"]
            elif "name" in rule:
                yield number, match.start(), match.end(), rule["name"]
            for group, capture in rule.get("captures", {}).items():
                if match[int(group)]:
                    yield number, *match.span(int(group)), capture["name"]
            at = match.end()


# What the server's kinds of tokens are in the grammar; names are told apart by their places alone.
SAME = {
    "method": {"support.function.hlo"},
    "type": {"storage.type.hlo"},
    "property": {"entity.other.attribute-name.hlo"},
    "function": {"entity.name.function.hlo", "variable.other.hlo"},
    "variable": {"variable.other.definition.hlo", "variable.other.hlo", "variable.parameter.hlo"},
    "parameter": {"variable.other.definition.hlo", "variable.other.hlo", "variable.parameter.hlo", "entity.name.namespace.hlo"},
    "comment": {"comment.line.double-slash.hlo", "comment.block.hlo"},
    "string": {"string.quoted.double.hlo", "string.quoted.single.hlo"},
    "number": {"constant.numeric.hlo", "constant.other.hlo", "constant.language.hlo"},
    "keyword": {"keyword.control.hlo", "constant.language.hlo", "variable.other.hlo"},
}


def test_programs():
    server = lsp.Server()
    legend = server.capabilities["semanticTokensProvider"]["legend"]["tokenTypes"]
    files = [f for folder in ("examples", "tests/programs", "tests/hlo") for f in sorted((ROOT / folder).rglob("*.hlo"))]
    sample = int(os.environ.get("INDIM_TEST_SAMPLE", "1"))
    for file in [f for f in files if "refused" not in f.parts][::sample]:
        text = file.read_text()
        if len(text) > 100_000:
            continue
        coloured = list(scopes(text))
        lines = text.split("\n")
        wrong = [(n + 1, lines[n][a:b]) for n, a, b, scope in coloured if scope.startswith("invalid")]
        report(f"{file.name}: no wrong scope", not wrong, wrong[:5])
        at = {(n, a): (scope, b) for n, a, b, scope in coloured}
        server.open(text)
        data, line, character, different = server.whole("semanticTokens/full")["data"], 0, 0, []
        for i in range(0, len(data), 5):
            line, character = line + data[i], data[i + 1] + (character if data[i] == 0 else 0)
            kind, piece = legend[data[i + 3]], lines[line][character : character + data[i + 2]]
            scope = at.get((line, character), ("nothing", 0))[0]
            if scope not in SAME[kind] and lines[line].isascii():
                different.append((line + 1, piece, kind, scope))
        report(f"{file.name}: the server says the same", not different, different[:5])
    server.end()


def test_language():
    for op in json.loads(subprocess.run([lsp.INDIM, "ops", "--json"], capture_output=True, text=True).stdout):
        text = f"  x = f32[2]{{0}} {op['op']}(y), metadata={{}}"
        report(f"op {op['op']}", ("support.function.hlo", op["op"]) in [(s, text[a:b]) for _, a, b, s in scopes(text)])
    for name in re.findall(r'^INDIM_TYPE\(\w+, \d+, "(\w+)", [1-9]', (ROOT / "include/indim/type.def").read_text(), re.M):
        report(f"type {name}", list(scopes(name)) == [(0, 0, len(name), "storage.type.hlo")], list(scopes(name)))
    for text in ("x = f32[2] add(a, $)", "é", "x = @y", "a & b"):
        report(f"{text!r} is wrong", any(s.startswith("invalid") for *_, s in scopes(text)), "it is not")


if __name__ == "__main__":
    test_language()
    test_programs()
    sys.exit(finish())
