"""c2cu: write it once for one input, run it for millions.

A plain sequential C program is run for p independent inputs at once, on a GPU or in the SIMD lanes of a CPU. The
pipeline, stage by stage and file by file::

    file.c -preprocess-> text -parse-> AST -typed-> typed AST -kernel_program-> kernel and parameters
           -lower-> flat IR -uniform-> uniform / varying, findings -plan-> Plan
           -schedule-> Artifact -runtime-> arrays

Heavy parts (NumPy, CuPy, pycparser, Dask) load on first use. `c2cu.dask` is the same on a cluster; `c2cu.paths`
reads shortest paths from tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .base.version import __version__

if TYPE_CHECKING:
    from . import dask as dask
    from . import paths as paths
    from .api import NotObliviousWarning, Program, Report, bulk, check, compile, library, stream, translate
    from .base.diagnostics import (
        CompileError,
        Error,
        ExitError,
        InputError,
        MismatchError,
        NotObliviousError,
        ParseError,
        UnsupportedError,
    )
    from .base.notices import CacheWarning, MismatchWarning
    from .program import State
    from .streaming.streams import Stream, StreamWarning

_HOMES = {
    **dict.fromkeys(
        ("NotObliviousWarning", "Program", "Report", "bulk", "check", "compile", "library", "stream", "translate"),
        "api",
    ),
    **dict.fromkeys(
        (
            "CompileError",
            "Error",
            "ExitError",
            "InputError",
            "MismatchError",
            "NotObliviousError",
            "ParseError",
            "UnsupportedError",
        ),
        "base.diagnostics",
    ),
    "State": "program",
    **dict.fromkeys(("CacheWarning", "MismatchWarning"), "base.notices"),
    **dict.fromkeys(("Stream", "StreamWarning"), "streaming.streams"),
}

__all__ = [
    "CacheWarning",
    "CompileError",
    "Error",
    "ExitError",
    "InputError",
    "MismatchError",
    "MismatchWarning",
    "NotObliviousError",
    "NotObliviousWarning",
    "ParseError",
    "Program",
    "Report",
    "State",
    "Stream",
    "StreamWarning",
    "UnsupportedError",
    "__version__",
    "bulk",
    "check",
    "compile",
    "library",
    "stream",
    "translate",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("dask", "paths"):
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'c2cu' has no attribute '{name}'")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value
