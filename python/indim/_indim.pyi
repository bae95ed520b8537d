from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypedDict, final

from typing_extensions import Buffer

__version__: str

class _HasDlpack(Protocol):
    def __dlpack__(self, *, max_version: tuple[int, int] | None = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

class _HasArray(Protocol):
    def __array__(self) -> Any: ...

# What a call takes: an array of anybody's, or a number for a scalar.
_Argument = Buffer | _HasDlpack | _HasArray | int | float | complex | bool
# Where results can be written.
_Out = Buffer | _HasDlpack

class _Diagnostic(TypedDict):
    status: str
    message: str
    hint: str
    source: str
    line: int
    column: int
    excerpt: str

class Error(Exception):
    status: Literal["SYNTAX", "INVALID", "UNSUPPORTED", "LIMIT", "INTERRUPTED", "IO", "INTERNAL"]
    diagnostics: tuple[_Diagnostic, ...]

@final
class ArraySpec(tuple[str, str, tuple[int, ...]]):
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Binding:
    # The arrays of the results: numpy.ndarray, or Array; one, or a tuple.
    def __call__(self) -> Any: ...

@final
class Program:
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> tuple[ArraySpec, ...]: ...
    @property
    def results(self) -> tuple[ArraySpec, ...]: ...
    @property
    def shapes(self) -> str: ...
    @property
    def engine(self) -> Literal["native", "eval"]: ...
    @property
    def target(self) -> str | None: ...
    @property
    def threads(self) -> int: ...
    @property
    def code_bytes(self) -> int: ...
    @property
    def scratch_bytes(self) -> int: ...
    # One array, or a tuple of them: numpy.ndarray, or Array; those of out= where that is given.
    def __call__(self, *arrays: _Argument, out: _Out | Sequence[_Out | None] | None = None) -> Any: ...
    def bind(self, *arrays: _Argument, out: _Out | Sequence[_Out | None] | None = None) -> Binding: ...
    def explain(self) -> str: ...
    def profile(self, *arrays: _Argument, repeat: int = 10) -> list[dict[str, Any]]: ...
    def text(self, form: Literal["hlo", "stablehlo"] = "hlo") -> str: ...
    def bytecode(self) -> bytes: ...
    def save_object(
        self,
        path: str | PathLike[str],
        *,
        header: str | PathLike[str] | None = None,
        name: str | None = None,
        target: str | None = None,
        triple: str | None = None,
        self_contained: bool = False,
    ) -> str: ...

def load(
    source: Buffer,
    *,
    name: str = "",
    threads: int = 0,
    target: str | None = None,
    fast: int = 0,
    engine: str | None = "native",
    without: str | None = None,
    choices: str | None = None,
    numpy: bool = True,
) -> Program: ...
def targets() -> dict[str, str]: ...
def default_threads() -> int: ...
