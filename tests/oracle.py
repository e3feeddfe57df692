"""The judge: the user's own C, compiled by gcc and run input after input."""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.compiled import compiled_once, loaded
from tests.joined import joined


def _lenient() -> list[str]:
    """Flags for C that GCC took, with a warning, until it was 14."""
    if shutil.which("gcc") is None:
        return []
    version = subprocess.check_output(["gcc", "-dumpversion"]).split(b".")[0]
    return ["-fpermissive"] if int(version) >= 14 else []


LENIENT = _lenient()
FLAGS = [*LENIENT, "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off", "-w"]


def with_defines(text: str, defines: dict[str, object]) -> str:
    """The text with ``#define``s of these names replaced."""
    for name, value in defines.items():
        text = re.sub(rf"^#define {name}\b(?!\().*$", f"#define {name} {value}", text, flags=re.M)
    return text


@functools.cache
def executable(text: str) -> Path:
    return compiled_once(["gcc", "-O1", *FLAGS, "-x", "c", "-", "-lm"], text)


def _library(text: str, level: str = "-O1") -> Path:
    return compiled_once(["gcc", level, *FLAGS, "-shared", "-fPIC", "-x", "c", "-", "-lm"], text)


def _accessible(text: str, variables: list[tuple]) -> str:
    """The text without its main, and a function for each variable's address."""
    accessors = [f"void *address_of_{n}(void) {{ return (void *)&{n}; }}" for n, *_ in variables]
    return "\n".join([re.sub(r"\bint main\s*\(", "int original_main(", text), *accessors])


def originals(programs: Sequence[tuple[str, list[tuple]]], fn: str) -> list[Original]:
    """The `Original` of each (text, variables), all compiled in one translation unit."""
    texts = [_accessible(text, variables) for text, variables in programs]
    distinct = [{fn, *(n for v, *_ in variables for n in (v, f"address_of_{v}"))} for _, variables in programs]
    units: dict[int, tuple[Path, str]] = {}
    for text, numbers in joined(texts, distinct):
        library = _library(text)
        units |= {k: (library, f"_of_{k}") for k in numbers}
    return [Original(text, fn, variables, unit=units[k]) for k, (text, variables) in enumerate(programs)]


def run_original(text: str, stdin: str) -> bytes:
    """stdout of one run of a whole program."""
    return subprocess.run([executable(text)], input=stdin.encode(), capture_output=True, check=True).stdout


class Original:
    """A kernel of a C text, callable on one input after another; every run starts from the initial globals.

    ``variables``: (name, dtype, shape) of the globals that go in and out. ``params``: of array parameters, in order.
    ``returns``: the dtype of what it returns, the output ``return``. ``unit``: a library that has the kernel already,
    and what its names end in. ``level``: of gcc's optimisation.
    """

    def __init__(
        self,
        text: str,
        fn: str,
        variables: list[tuple],
        params: list[tuple] = (),
        returns: str = "",
        unit: tuple[Path, str] | None = None,
        level: str = "-O1",
    ):
        self.path, self.suffix = unit or (_library(_accessible(text, variables), level), "")
        self.name, self.returns = fn, returns
        self._load(self.path)
        self.variables, self.params = variables, params
        self.start = {n: self._bytes(n, d, s) for n, d, s in variables}

    def _load(self, path: Path) -> None:
        self.library = loaded(path)
        self.fn = getattr(self.library, self.name + self.suffix)
        self.fn.restype = np.ctypeslib.as_ctypes_type(self.returns) if self.returns else None

    def _address(self, name: str) -> int:
        f = getattr(self.library, f"address_of_{name}{self.suffix}")
        f.restype = ctypes.c_void_p
        return f()

    def _bytes(self, name: str, dtype, shape) -> bytes:
        return ctypes.string_at(self._address(name), np.dtype(dtype).itemsize * int(np.prod(shape)))

    def bulk(self, inputs: dict[str, np.ndarray], p: int, fresh: bool = False) -> dict[str, np.ndarray]:
        """Every variable after each of p runs; ``fresh``: in a library loaded anew, so that statics start anew too."""
        returned = [("return", self.returns, ())] if self.returns else []
        out = {n: np.empty((p, *s), d) for n, d, s in [*self.variables, *self.params, *returned]}
        for k in range(p):
            if fresh:
                with tempfile.NamedTemporaryFile(suffix=".so") as copy:
                    copy.write(self.path.read_bytes())
                    copy.flush()
                    self._load(Path(copy.name))
            for n, initial in self.start.items():
                data = np.ascontiguousarray(inputs[n][k]).tobytes() if n in inputs else initial
                ctypes.memmove(self._address(n), data, len(data))
            buffers = [
                np.ascontiguousarray(inputs[n][k]).copy() if n in inputs else np.zeros(s, d) for n, d, s in self.params
            ]
            value = self.fn(*[ctypes.c_void_p(b.ctypes.data) for b in buffers])
            if self.returns:
                out["return"][k] = value
            for n, d, s in self.variables:
                out[n][k] = np.frombuffer(self._bytes(n, d, s), d).reshape(s)
            for (n, _, _), b in zip(self.params, buffers):
                out[n][k] = b
        return out


def same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal bit for bit, except that any NaN equals any NaN."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.names:
        return all(same(np.ascontiguousarray(a[n]), np.ascontiguousarray(b[n])) for n in a.dtype.names)
    if a.dtype.kind == "c":
        return same(a.real, b.real) and same(a.imag, b.imag)
    if a.dtype.kind == "f":
        nan = np.isnan(a) & np.isnan(b)
        bits = f"u{a.dtype.itemsize}"
        return bool(np.all(nan | (np.ascontiguousarray(a).view(bits) == np.ascontiguousarray(b).view(bits))))
    return bool(np.array_equal(a, b))
