"""Faults of a kernel: a division by zero, or an access to memory that is not there, would end the whole process. They
end the input that is at work, as `exit` does: its status is 128 and the signal's number, as a shell has it."""

from __future__ import annotations

import ctypes
import functools
import threading

from ..base import toolchain
from ..base.aside import Aside
from ..base.cache import Cache, key
from ..base.diagnostics import Error
from ..base.machine_code import library
from ..base.recent import Recent
from ..base.templates import raw, render
from ..base.version import __version__

HANDLER = "cpu/faults.c.j2"
FLAGS = ("-std=gnu11", "-O2", "-fPIC", "-shared", "-w")
GUARD = "c2cu_guard"  # the variable of a library that says where a thread notes where it goes on
#: Exit statuses that signals make, and what sends those.
SIGNALS = {
    132: "an instruction that ends the program, as of __builtin_trap",
    134: "abort or a failed assert",
    135: "an access to memory that is not there",
    136: "a division of whole numbers by zero, or one whose result is too large",
    139: "an access to memory that is not there: by a null pointer, outside of an array, or too deep a recursion",
}


_lock = threading.Lock()
_code: Recent[bytes] = Recent(1)


def guard(loaded: ctypes.CDLL) -> None:
    """Have faults in a library's kernel end its input: it notes where a thread goes on. Does nothing where there is no
    library that could see to it."""
    with _lock:  # of two libraries that watch each would take the other's handler for the user's
        watching = _watching()
    if watching is not None:
        ctypes.c_void_p.in_dll(loaded, GUARD).value = ctypes.cast(watching.c2cu_guard, ctypes.c_void_p).value


def prepare() -> None:
    """Have the library compiled that `guard` needs, if it is not, beside whatever else is compiled."""
    if not len(_code):
        Aside(_compiled)


def _compiled() -> bytes:
    compiler = toolchain.find_compiler()
    name = key("faults", raw(HANDLER), FLAGS, toolchain.compiler_version(compiler), __version__)

    def compiled() -> bytes:  # renders only then: Jinja takes long to import
        return toolchain.compiled((*compiler, *FLAGS), render(HANDLER))

    return _code.of(name, lambda: Cache().put(name, ".so", compiled))


@functools.cache
def _watching() -> ctypes.CDLL | None:
    """The library that handles the signals."""
    try:
        watching = library(_compiled())
    except Error:
        return None
    return watching if watching.c2cu_watch() else None
