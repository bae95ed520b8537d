#!/usr/bin/env python3
"""Compares the #includes of the sources with the order in which layers may include each other.

    include_order.py [ROOT]       prints each violation; exit code 1 if there is one
    include_order.py --self-test  shows that each rule is refused when broken; ends with "N passed, N failed"

The order is docs/architecture.md's. A layer may include what it names below and what that may include in turn. Layers that are
large have rooms, folders inside with an order of their own: "loop/ir" is one, and "loop" stands for the files beside them.
"""

import re
import sys
import tempfile
from pathlib import Path

MAY_INCLUDE = {
    "base": [],
    "array": ["base"],
    "graph": ["array"],
    "text": ["graph"],
    "stablehlo": ["graph"],
    "stablehlo/bytecode": ["stablehlo"],
    "stablehlo/text": ["stablehlo"],
    "stablehlo/import": ["stablehlo"],
    "stablehlo/export": ["stablehlo/import"],
    "proto": ["graph"],
    "read": ["text", "proto", "stablehlo/bytecode", "stablehlo/text", "stablehlo/export"],
    "ffi": ["graph"],
    "linalg/math": ["base"],
    "linalg": ["ffi", "host", "linalg/math"],
    "eval": ["linalg", "ffi"],
    "expand": ["linalg"],
    "loop/target": ["base"],
    "host": [],
    "loop/ir": ["expand", "ffi", "linalg", "host", "loop/target"],
    "loop/verify": ["loop/ir"],
    "loop/decision": ["base"],
    "loop/pass": ["loop/verify", "loop/decision"],
    "loop/regs": ["loop/ir"],
    "loop/lowering": ["loop/regs", "loop/decision"],
    "loop/nest": ["loop/lowering"],
    "loop/linalg": ["loop/nest"],
    "loop/kernels": ["loop/linalg"],
    "loop/plan": ["loop/kernels"],
    "loop": ["loop/plan", "loop/pass"],
    "run": ["array", "host"],
    "emit/interface": ["loop/ir", "run"],
    "emit/llvm": ["emit/interface"],
    "emit/math": ["emit/llvm"],
    "emit/scalar": ["emit/math"],
    "emit/program": ["emit/scalar"],
    "emit": ["emit/program"],
    "pipeline": ["text", "eval", "ffi", "loop", "emit/interface", "run"],
}

# The layer of each public header: a layer may include those of the layers under it.
PUBLIC_LAYER = {
    "base": "base status",
    "array": "type shape shape_util index broadcast broadcast_reason literal literal_util wire",
    "graph": "ops graph builder",
    "text": "text",
    "proto": "proto",
    "stablehlo": "stablehlo",
    "read": "read",
    "ffi": "custom_call",
    "eval": "eval",
    "run": "execute",
    "host": "indim_host",
    "pipeline": "compile",
}
LAYER_OF_PUBLIC = {name: layer for layer, names in PUBLIC_LAYER.items() for name in names.split()}

# All of C11's headers except threads.h and stdatomic.h, which libraries may lack.
STANDARD = set(
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdbool "
    "stddef stdint stdio stdlib stdnoreturn string time uchar wchar wctype".split()
)
# Headers of other libraries and of the system, and the only layers or files that may know of them.
FOREIGN = {
    "protobuf-c/protobuf-c.h": {"array"},
    "dlfcn.h": {"src/run/library.c"},
    "unistd.h": {"src/run/library.c", "src/run/pool.c", "src/run/processors.c", "src/run/amx.c", "src/emit/machine.c", "src/emit/guard.c"},
    "cpuid.h": {"src/run/amx.c"},
    "sys/syscall.h": {"src/run/amx.c"},
    "pthread.h": {"src/run/pool.c", "src/emit/machine.c", "src/emit/guard.c"},
    "sched.h": {"src/run/pool.c", "src/run/processors.c", "src/ffi/xla_api.c"},
    "sys/mman.h": {"src/run/executable.c"},
}
# The same for folders of headers.
FOREIGN_FOLDERS = {"llvm-c": {"emit"}}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(parts):
    """The room, or else the layer, of a file by the folders that it lies in."""
    room = "/".join(parts[:2])
    return room if len(parts) > 2 and room in MAY_INCLUDE else parts[0]


def reachable(layer):
    """The layer itself and all that it may include, directly or through others."""
    found, todo = set(), [layer]
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += MAY_INCLUDE[name]
    return found


def refuse_layered(owner, path, bracket, name):
    """Why the file |path| of layer |owner| (in src/ or a public header) may not include |name|, or None."""
    if bracket == "<":
        if name.endswith(".h") and name[:-2] in STANDARD:
            return None
        if {owner, owner.partition("/")[0], path} & (FOREIGN.get(name, set()) | FOREIGN_FOLDERS.get(name.partition("/")[0], set())):
            return None
        return f"<{name}> is no header of C11"
    folder, _, rest = name.partition("/")
    if not rest:
        return f'"{name}" has no folder: write "<layer>/{name}"'
    if folder == "indim":
        layer = LAYER_OF_PUBLIC.get(rest.rsplit(".", 1)[0])
        if layer is None:
            return f'"{name}" has no layer: name it in PUBLIC_LAYER of tests/tools/include_order.py'
    else:
        layer = layer_of(name.split("/"))
        if layer not in MAY_INCLUDE:
            return f'"{name}": there is no layer {folder}'
    if layer not in reachable(owner):
        return f'{owner} may not include {layer} ("{name}")'
    return None


def refuse_outside(path, bracket, name):
    """Why a file of tools/, bench/, examples/, pjrt/ or python/ may not include |name|, or None."""
    if bracket == "<" or name.startswith("indim/") or (path.parent / name).is_file():
        return None
    if name == "python_caller.h" and "python" in path.parts:  # pjrt/'s, between the plugin and the extension module
        return None
    if any(path.parent.parent.glob(f"*/{name[:-2]}.hlo")):  # a header that `indim compile` makes of an example
        return None
    return f'"{name}" is no public header'


def violations_of(path, root):
    """The violations of one file as "place: reason"."""
    parts = path.relative_to(root).parts
    text = path.read_text(encoding="utf-8")
    found = []
    for match in INCLUDE.finditer(text):
        bracket, name = match.groups()
        if parts[0] == "src":
            owner = layer_of(parts[1:]) if len(parts) > 2 else path.stem
            reason = f"there is no layer {owner}"
            if owner in MAY_INCLUDE:
                reason = refuse_layered(owner, "/".join(parts), bracket, name)
        elif parts[0] == "include":
            owner = LAYER_OF_PUBLIC.get(path.stem)
            reason = f"{path.name} has no layer: name it in PUBLIC_LAYER of tests/tools/include_order.py"
            if owner is not None:
                reason = refuse_layered(owner, "/".join(parts), bracket, name)
            if reason is None and bracket == '"' and not name.startswith("indim/"):
                reason = f'"{name}" is not public'
        else:
            reason = refuse_outside(path, bracket, name)
        if reason is not None:
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{'/'.join(parts)}:{line}: {reason}")
    return found


def check_tree(root):
    """All violations under |root|, and the number of files read."""
    violations, count = [], 0
    for folder in ("include", "src", "tools", "bench", "examples", "pjrt", "python"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".def"):
                violations += violations_of(path, root)
                count += 1
    return violations, count


# path, its one include, and a part of the expected reason (None: allowed)
SELF_TEST = [
    ("src/base/a.c", '"indim/base.h"', None),
    ("src/base/a.c", "<string.h>", None),
    ("src/base/a.c", '"array/type.h"', "base may not include array"),
    ("src/base/a.c", '"indim/shape.h"', "base may not include array"),
    ("src/base/a.c", "<unistd.h>", "no header of C11"),
    ("src/base/a.c", '"ctx.h"', "has no folder"),
    ("src/array/a.h", '"base/ctx.h"', None),
    ("src/array/a.c", '"graph/module.h"', "array may not include graph"),
    ("src/array/a.c", "<protobuf-c/protobuf-c.h>", None),
    ("src/graph/a.c", "<protobuf-c/protobuf-c.h>", "no header of C11"),
    ("src/graph/a.c", '"text/lexer.h"', "graph may not include text"),
    ("src/text/a.c", '"array/lexer.h"', None),
    ("src/text/a.c", '"eval/eval.h"', "text may not include eval"),
    ("src/proto/a.c", '"graph/module.h"', None),
    ("src/proto/a.c", '"text/parser.h"', "proto may not include text"),
    ("src/read/a.c", '"proto/proto.h"', None),
    ("src/text/a.c", '"read/format.h"', "text may not include read"),
    ("src/eval/a.c", '"text/lexer.h"', "eval may not include text"),
    ("src/linalg/a.c", '"graph/module.h"', None),
    ("src/linalg/a.c", '"eval/value.h"', "linalg may not include eval"),
    ("src/linalg/math/a.c", '"graph/module.h"', "linalg/math may not include graph"),
    ("src/eval/a.c", '"linalg/math/math.h"', None),
    ("src/emit/a.c", '"eval/eval.h"', "emit may not include eval"),
    ("src/run/a.c", '"graph/module.h"', "run may not include graph"),
    ("src/run/a.c", "<pthread.h>", "no header of C11"),
    ("src/run/pool.c", "<pthread.h>", None),
    ("src/run/pool.c", "<dlfcn.h>", "no header of C11"),
    ("src/run/library.c", "<dlfcn.h>", None),
    ("src/eval/pool.c", "<pthread.h>", "no header of C11"),
    ("src/run/a.c", '"indim/compile.h"', "run may not include pipeline"),
    ("src/emit/a.c", '"indim/indim_host.h"', None),
    ("src/emit/a.c", "<llvm-c/Core.h>", None),
    ("src/loop/a.c", "<llvm-c/Core.h>", "no header of C11"),
    ("src/loop/ir/a.c", '"graph/module.h"', None),
    ("src/loop/ir/a.c", '"expand/expand.h"', None),
    ("src/expand/a.c", '"indim/builder.h"', None),
    ("src/expand/a.c", '"loop/ir/loop.h"', "expand may not include loop/ir"),
    ("src/eval/a.c", '"expand/expand.h"', "eval may not include expand"),
    ("src/loop/ir/a.c", '"loop/pass/pass.h"', "loop/ir may not include loop/pass"),
    ("src/loop/ir/a.c", '"loop/lower.h"', "loop/ir may not include loop"),
    ("src/loop/kernels/a.c", '"loop/nest/nest.h"', None),
    ("src/loop/nest/a.c", '"loop/kernels/kernels.h"', "loop/nest may not include loop/kernels"),
    ("src/loop/pass/a.c", '"loop/lowering/lowering.h"', "loop/pass may not include loop/lowering"),
    ("src/loop/lower.c", '"loop/plan/plan.h"', None),
    ("src/loop/strange/a.c", '"loop/plan/plan.h"', None),
    ("src/emit/math/a.c", "<llvm-c/Core.h>", None),
    ("src/emit/math/a.c", '"emit/scalar/scalar.h"', "emit/math may not include emit/scalar"),
    ("src/emit/a.c", '"emit/program/program.h"', None),
    ("src/emit/a.c", '"loop/pass/pass.h"', "emit may not include loop/pass"),
    ("src/pipeline.c", '"emit/object.h"', "pipeline may not include emit"),
    ("src/pipeline.c", "<llvm-c/Core.h>", "no header of C11"),
    ("src/pipeline.c", "<dlfcn.h>", "no header of C11"),
    ("src/pipeline.c", '"loop/lower.h"', None),
    ("src/pipeline.c", '"text/parse.h"', None),
    ("src/pipeline.c", '"base/ctx.h"', None),
    ("src/other/a.c", '"base/ctx.h"', "there is no layer other"),
    ("src/text/a.c", '"other/a.h"', "there is no layer other"),
    ("src/text/a.c", '"indim/strange.h"', "has no layer"),
    ("include/indim/shape.h", '"indim/type.h"', None),
    ("include/indim/shape.h", '"indim/eval.h"', "array may not include eval"),
    ("include/indim/shape.h", '"base/ctx.h"', "is not public"),
    ("include/indim/compile.h", '"indim/execute.h"', None),
    ("include/indim/execute.h", '"indim/graph.h"', "run may not include graph"),
    ("include/indim/execute.h", "<pthread.h>", "no header of C11"),
    ("include/indim/strange.h", '"indim/base.h"', "has no layer"),
    ("tools/indim/a.c", '"indim/shape.h"', None),
    ("tools/indim/a.c", "<unistd.h>", None),
    ("tools/indim/a.c", '"base/ctx.h"', "no public header"),
    ("pjrt/a.c", '"run/executable.h"', "no public header"),
    ("python/src/a.c", '"base/ctx.h"', "no public header"),
    ("python/src/a.c", '"python_caller.h"', None),
    ("bench/a.c", '"text/parse.h"', "no public header"),
]


def self_test():
    passed = failed = 0
    for path, include, expected in SELF_TEST:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(f"// A comment.\n#include {include}\n", encoding="utf-8")
            violations, _ = check_tree(Path(folder))
        ok = not violations if expected is None else len(violations) == 1 and expected in violations[0]
        passed, failed = passed + ok, failed + (not ok)
        if not ok:
            print(f"{path} with {include}: expected {expected!r}, got {violations}")
    print(f"{passed} passed, {failed} failed")
    return failed == 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test() else 1)
    violations, count = check_tree(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve())
    print("\n".join(violations), end="\n" if violations else "")
    print(f"{count} files, {len(violations)} violations")
    sys.exit(1 if violations or count == 0 else 0)


if __name__ == "__main__":
    main()
