"""Programs from files, and files from programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Iterable, Literal

from indim import _indim

if TYPE_CHECKING:
    from typing_extensions import Buffer

# INDIM_COMPILE_CONTRACT and the others (indim/compile.h).
_FAST = {"contract": 1, "reassociate": 2, "reciprocal": 4, "flush": 8}


def _fast_flags(fast):
    if isinstance(fast, bool):
        return sum(_FAST.values()) if fast else 0
    flags = 0
    for name in [fast] if isinstance(fast, str) else fast:
        if name not in _FAST:
            raise ValueError(f"fast: there is no relaxation {name!r}; there are {', '.join(_FAST)}")
        flags |= _FAST[name]
    return flags


def _read(source):
    """The bytes of a program, and the name that its errors have."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        if isinstance(path, str) and "\n" in path:
            raise ValueError("load takes a path or the bytes of a program: text has to be encoded, as by text.encode()")
        with open(path, "rb") as file:
            return file.read(), os.fsdecode(path)
    return source, ""


def _text(choices):
    """Choices as a text: a path has no line end."""
    if choices is None or (isinstance(choices, str) and "\n" in choices):
        return choices
    with open(choices, encoding="utf-8") as file:
        return file.read()


def load(
    path_or_bytes: str | os.PathLike[str] | Buffer,
    *,
    threads: int | None = None,
    target: str | None = None,
    fast: bool | str | Iterable[str] = False,
    engine: Literal["native", "eval", "auto"] = "native",
    without: str | Iterable[str] | None = None,
    choices: str | os.PathLike[str] | None = None,
    numpy: bool = True,
    name: str | None = None,
) -> _indim.Program:
    """Read, check and compile a program.

    path_or_bytes: a path, or the content of a file: StableHLO (a portable artifact, text, or a file of `jax.export`), HLO text or
    XLA's binary HLO; which of them is told by the content.

    threads: the most threads that a call uses; by default `default_threads()`. Results are the same bits for any number.
    target: what the code is for (`targets()`), by default this machine.
    fast: relaxations of IEEE arithmetic: True, or names among "contract", "reassociate", "reciprocal" and "flush"
        (subnormal numbers as zeros).
    engine: "native" compiles; "eval" asks the evaluator, which is slow and right; "auto" compiles, and evaluates what the compiler
    does not do.
    without: decisions of the compiler to leave out, separated by commas.
    choices: the path of a file that `indim tune` wrote, or its text.
    numpy: False: results are `indim.Array`, as they are where NumPy is missing.
    name: what errors call the program, by default the path.

    A program that is refused raises `indim.Error`, with the place and the way out:

    >>> import indim
    >>> indim.load(b"ENTRY e { x = f32[2] parameter(0) y = f32[3] parameter(1) ROOT z = f32[2] add(x, y) }", name="sum.hlo")
    Traceback (most recent call last):
    indim.Error: sum.hlo:1:64: error: z (add): operands differ in dimension 0: 2 in operand 0 (x), which is f32[2], but 3 in ...
    """
    content, path = _read(path_or_bytes)
    if threads is not None and threads < 1:
        raise ValueError(f"threads={threads}: at least 1")
    if without is not None and not isinstance(without, str):
        without = ",".join(without)
    return _indim.load(
        content,
        name=path if name is None else name,
        threads=0 if threads is None else threads,
        target=target,
        fast=_fast_flags(fast),
        engine=engine,
        without=without,
        choices=_text(choices),
        numpy=numpy,
    )


def save_object(program, path, *, header=None, name=None, target=None, triple=None, self_contained=False):
    """Program.save_object."""
    path = os.fspath(path)
    content, header_text, symbol, _ = program._object(
        name=name,
        target=target,
        triple=triple,
        is_self_contained=self_contained,
        is_archive=os.fsdecode(path).endswith((".a", ".lib")),
    )
    with open(path, "wb") as file:
        file.write(content)
    if header is not None:
        with open(header, "wb") as file:
            file.write(header_text)
    return symbol
