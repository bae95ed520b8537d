#!/usr/bin/env python3
"""Calls every public function with NULL for each of its pointers, with and without a context: none may crash.

    INDIM_LIB=build/libindim.so null_pointers.py

Prototypes are read from include/indim/*.h. Each call runs in a process of its own.
"""

import ctypes
import os
import pathlib
import re
import sys

lib = ctypes.CDLL(os.environ["INDIM_LIB"])


class Str(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t)]


def prototypes():
    for header in sorted(pathlib.Path("include/indim").glob("*.h")):
        text = re.sub(r"//.*", "", header.read_text())
        for name, arguments in re.findall(r"INDIM_API[\w\s*]*?\b(indim_\w+)\s*\(([^;]*?)\)\s*(?:INDIM_PRINTF[^;]*)?;", text):
            yield name, [" ".join(a.split()) for a in arguments.split(",") if a.strip() not in ("void", "...")]


def arguments_for(parameters, cx):
    values = []
    for p in parameters:
        if p.startswith("indim_str "):
            values.append(Str(None, 0))
        elif "*" in p or "(" in p:
            values.append(cx if cx is not None and "indim_ctx *cx" in p and "const" not in p else None)
        elif p.startswith("double"):
            values.append(ctypes.c_double(0))
        else:
            values.append(ctypes.c_int64(0))
    return values


def crashes(name, values):
    child = os.fork()
    if child == 0:
        getattr(lib, name)(*values)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


cx = ctypes.c_void_p()
assert lib.indim_ctx_create(None, ctypes.byref(cx)) == 0
passed = failed = 0
for name, parameters in prototypes():
    if not any("*" in p or "(" in p for p in parameters):
        continue
    for context in (None, cx):
        if crashes(name, arguments_for(parameters, context)):
            failed += 1
            print(f"FAILED {name}{'' if context is None else ' with a context'}: NULL crashes it")
        else:
            passed += 1
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
