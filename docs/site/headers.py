"""The C interface from the comments of the public headers.

A comment right above a declaration, or above several without a blank line between them, belongs to them; one that stands alone
is text; the first is the header's own. "// Name ----" begins a section. Indented lines are kept as they are, |name| is a
parameter.
"""

import re
from typing import NamedTuple

SKIPPED = re.compile(r"#\s*(ifndef|ifdef|if|elif|else|endif|include|undef|error)\b|extern \"C\" \{|\}$")
SECTION = re.compile(r"(.*?) -{5,}$")
NAME = re.compile(r"\b(indim_\w+|INDIM_\w+)\b")
NO_NAMES = {"INDIM_API", "INDIM_CHECKED", "INDIM_PRINTF", "INDIM_STATUS", "INDIM_OP", "INDIM_TYPE", "INDIM_BROADCAST_REASON"}


class Text(NamedTuple):
    lines: list


class Section(NamedTuple):
    title: str


class Declaration(NamedTuple):
    names: list
    code: str
    lines: list


def without_guards(text):
    """Lines that are for the preprocessor or for C++ are left out, but for those inside of a declaration."""
    depth = 0
    for line in text.splitlines():
        code = line.split("//")[0]
        if depth == 0 and SKIPPED.match(line):
            continue
        if re.match(r"#define INDIM_\w+_H$", line) or (line.startswith("}  //") and depth == 0):
            continue
        depth += code.count("{") - code.count("}")
        yield line


def shown(code):
    """Without what only compilers read; what stands below a parenthesis is moved with it."""
    lines = []
    moved = 0
    for line in code.split("\n"):
        plain = re.sub(r"\b(?:INDIM_API|INDIM_CHECKED) ", "", line)
        if line.startswith("INDIM_API"):
            moved = len(line) - len(plain)
        elif not line.startswith(" "):
            moved = 0
        lines.append(plain[moved:] if line.startswith(" " * moved) and moved else plain)
    return "\n".join(lines)


def names_of(code):
    """What a declaration declares."""
    code = re.sub(r"//.*", "", code)
    if found := re.match(r"#define (\w+)", code):
        return [found[1]]
    names = []
    for part in re.findall(r"[^;{}]*(?:\{[^}]*\}[^;{}]*)*;", code, re.S):
        outside = re.sub(r"\{.*\}", " ", part, flags=re.S)
        if "typedef" in outside:
            of_function = re.search(r"typedef [\w\s*]*?(?:\(\*(\w+)\)|(\w+))\s*\(", outside)
            names += [of_function[1] or of_function[2]] if of_function else re.findall(r"(\w+)\s*;", outside)[-1:]
        elif found := re.search(r"(\w+)\s*\(", re.sub(r"INDIM_PRINTF\([^)]*\)", "", outside)):
            names.append(found[1])
        else:
            names += re.findall(r"\b(INDIM_\w+)\s*=", part)
    return [n for n in names if n not in NO_NAMES]


def parts_of(text):
    comment, code, depth = [], [], 0

    def flush():
        nonlocal comment, code
        if code:
            joined = "\n".join(code)
            yield Declaration(names_of(joined), joined, comment)
        elif comment:
            yield Text(comment)
        comment, code = [], []

    for line in without_guards(text):
        if depth == 0 and not line.strip():
            yield from flush()
            continue
        if depth == 0 and line.startswith("//"):
            if found := SECTION.match(line[2:].strip()):
                yield from flush()
                yield Section(found[1])
                continue
            if code and not (code[-1].endswith("\\")):
                yield from flush()
            comment.append(line[3:] if line.startswith("// ") else line[2:])
            continue
        code.append(line)
        plain = line.split("//")[0]
        depth += plain.count("{") - plain.count("}")
    yield from flush()


def paragraphs(lines, link):
    """Markdown of a comment: indented lines as code, |x| and names of the interface as code with links."""
    out, block = [], []

    def flush():
        if block:
            cut = min(len(l) - len(l.lstrip()) for l in block if l.strip())
            out.extend(["", "```text", *(l[cut:] for l in block), "```", ""])
            block.clear()

    for line in lines:
        if line.startswith("  ") and (block or line.strip()):
            block.append(line)
            continue
        flush()
        text = re.sub(r"([\\`*_<>\[\]#])", r"\\\1", line.strip())
        text = re.sub(r"\*?\\?\*?\|(?:\\\*)?([\w.>\\-]+)\|", lambda m: "`" + m[1].replace("\\", "") + "`", text)
        text = re.sub(r"\b(?:indim|INDIM)(?:\\_\w+)+", lambda m: link(m[0].replace("\\", "")), text)
        out.append(text)
    flush()
    return "\n".join(out)


def page(name, text, home):
    """The page of a header; |home| says on which page a name is."""

    def link(word):
        return f"[`{word}`]({'' if home[word] == name else home[word] + '_h.md'}#{word})" if word in home else f"`{word}`"

    parts = list(parts_of(text))
    yield f"# {name}.h\n"
    for number, part in enumerate(parts):
        if isinstance(part, Section):
            yield f"## {part.title}\n"
        elif isinstance(part, Text):
            yield paragraphs(part.lines, link) + "\n"
        else:
            anchors = "".join(f'<a id="{n}"></a>' for n in part.names)
            title = [n for n in part.names if not n.startswith("INDIM_")] or part.names[:1]
            if title:
                yield f"### {', '.join(f'`{n}`' for n in title)} {{ #{name}-{number} }}\n"
            yield f"{anchors}\n\n```c\n{shown(part.code)}\n```\n"
            yield paragraphs(part.lines, link) + "\n"


def homes(headers):
    """Which header declares each name."""
    return {n: name for name, text in headers.items() for p in parts_of(text) if isinstance(p, Declaration) for n in p.names}
