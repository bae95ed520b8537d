"""The table of a run: a row for each group of harnesses, and below, what does not pass with its reason."""

import collections
import re

ENGINES = {"eval": "evaluated", "native": "compiled"}
ORDER = ("crashed", "failed", "wrong", "refused", "not run", "not compared", "pass")
BAD = ("crashed", "failed", "wrong")
VERDICTS = ("passes", "refused", "wrong", "no answer")
HEADINGS = ("harnesses", *VERDICTS)
SHOWN = 3  # names after a reason
LONGEST = 100  # of their characters; --only finds the harness with these

HEAD = """# Conformance

JAX has a list of uses of its primitives, its harnesses. Each that JAX supports on the CPU is lowered to the HLO text
that XLA gets and run by XLA, by the evaluator and compiled. Written by `./dev conformance --write`; what agrees means,
group by group, is in `tests/conformance/compare.py`. XLA runs as in the other comparisons: without fused multiply-add
and excess precision.

**passes**: both engines agree with XLA. **refused**: one of them says why it does not run the program. **wrong**: one
differs, fails or crashes. **no answer**: XLA itself has none, or JAX does not lower it. The last two columns are the
worst distances of floating-point results that pass, in units in the last place: of each element, or *of the largest
element of the array* where the order of sums is free. They are distances from XLA, not errors: what our functions
guarantee is in [math.md](math.md).
"""


def outcome(row, engine):
    return row.get(engine, {"outcome": "not run"})


def verdict(row):
    """One word for a row: that of the worse engine."""
    if any(outcome(row, stage)["outcome"] != "ok" for stage in ("lower", "xla")):
        bad = any(outcome(row, engine)["outcome"] in BAD for engine in ENGINES)
        return "wrong" if bad else "no answer"
    word = min((outcome(row, engine)["outcome"] for engine in ENGINES), key=ORDER.index)
    return {"pass": "passes", "refused": "refused"}.get(word, "wrong")


def tally(rows):
    """Outcomes that pass, and those that do not; without those where XLA has no answer."""
    outcomes = [outcome(row, engine)["outcome"] for row in rows for engine in ENGINES if verdict(row) != "no answer"]
    return outcomes.count("pass"), len(outcomes) - outcomes.count("pass")


def text(rows):
    counts = collections.Counter(map(verdict, rows))
    lines = [f"{len(rows)} harnesses: " + ", ".join(f"{counts[word]} {word}" for word in VERDICTS)]
    for title, found in complaints(rows).items():
        lines += [f"{title}:"] + [f"  {len(names)}: {why} ({', '.join(shown(names))})" for why, names in found]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------- complaints


def shown(names):
    return [name[:LONGEST] for name in names[:SHOWN]]


def reason(why):
    """A message without what differs from program to program: places, names, numbers."""
    why = re.sub(r"^status \d+: ", "", why)
    why = re.sub(r"result \d+\[.*", "", why)
    why = re.sub(r"%?[\w-]+(\.\d+)+", "NAME", why)
    why = re.sub(r"\b(pred|bf16|[sufc]\d+\w*)\[[\d,<=]*\](\{[\d,]*\})?", r"\1[..]", why)
    return re.sub(r"\b\d[\d.]*(e[+-]?\d+)?\b", "N", why).strip(" :")


def complaints(rows):
    """Title -> [(reason, names)], the most frequent first; reasons are told apart by group and engines."""
    found = {"Wrong": {}, "Refused": {}, "Without an answer of XLA": {}}
    for row in rows:
        for title, why in row_complaints(row):
            found[title].setdefault(why, []).append(row["name"])
    often = lambda item: (-len(item[1]), item[0])
    return {title: sorted(reasons.items(), key=often) for title, reasons in found.items() if reasons}


def row_complaints(row):
    for stage in ("lower", "xla"):
        if outcome(row, stage)["outcome"] not in ("ok", "not run"):
            yield "Without an answer of XLA", f"{row['group']}: {reason(row[stage]['why'])}"
    whys = {}
    for engine, word in ENGINES.items():
        told = outcome(row, engine)
        if told["outcome"] in BAD or told["outcome"] == "refused":
            title = "Wrong" if told["outcome"] in BAD else "Refused"
            why = told["why"] if told["outcome"] == "crashed" else reason(told["why"])
            whys.setdefault((title, why), []).append(word)
    for (title, why), engines in whys.items():
        yield title, f"{row['group']}, {' and '.join(engines)}: {why}"


# ------------------------------------------------------------------------------------------------------------- page


def worst(rows, engine, unit):
    """The largest distance of the results that pass; "" where none is a floating-point number."""
    ulps = [outcome(row, engine).get("ulp") for row in rows if outcome(row, engine)["outcome"] == "pass"]
    ulps = [ulp for ulp in ulps if ulp is not None]
    if not ulps:
        return ""
    return f"*{max(ulps):.3g}*" if unit == "leaf" else f"{max(ulps):.3g}"


def by(key, rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return sorted(groups.items())


def numbers(rows):
    """The cells of a line: how many, and how many of each verdict."""
    counts = collections.Counter(map(verdict, rows))
    return " | ".join([str(len(rows)), *(str(counts[word] or "") for word in VERDICTS)])


def group_table(rows):
    lines = [f"| group | {' | '.join(HEADINGS)} | evaluated | compiled |", "|---" + "|--:" * 7 + "|"]
    for name, members in by("group", rows):
        unit = members[0]["unit"]
        far = " | ".join(worst(members, engine, unit) for engine in ENGINES)
        lines.append(f"| {name} | {numbers(members)} | {far} |")
    return [*lines, f"| **all** | {numbers(rows)} | | |"]


def type_table(rows):
    """Without distances: those of different groups are no comparison."""
    lines = [f"| element type | {' | '.join(HEADINGS)} |", "|---" + "|--:" * 5 + "|"]
    return lines + [f"| {name} | {numbers(members)} |" for name, members in by("type", rows)]


def page(rows):
    """docs/conformance.md."""
    lines = [HEAD, *group_table(rows), "", "## By element type", "", *type_table(rows)]
    for title, found in complaints(rows).items():
        lines += ["", f"## {title}", ""]
        for why, names in found:
            more = ", ..." if len(names) > SHOWN else ""
            lines.append(f"- {len(names)} of {why} (`{'`, `'.join(shown(names))}`{more})")
    return "\n".join(lines) + "\n"
