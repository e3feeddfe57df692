"""What this machine offers: for `c2cu doctor` and `c2cu explain`."""

from __future__ import annotations

import platform
import sys

from . import toolchain
from .diagnostics import Error
from .runtime import cpu, cuda
from .runtime.cache import Cache
from .version import __version__


def device(backend: str) -> str:
    """The name of what a backend runs on."""
    if backend == "cuda":
        return cuda.device_name()
    return f"{platform.machine()}, {8 * toolchain.vector_bytes()}-bit SIMD, {cpu.threads()} threads"


def can_run() -> bool:
    """Whether any backend works here."""
    return cuda.available() or _compiler() is not None


def _compiler() -> str | None:
    try:
        command = toolchain.find_compiler()
        return f"{' '.join(command)}: {toolchain.compiler_version(command)}"
    except Error:
        return None


def examination() -> str:
    """One line for each thing that matters."""
    rows = [
        ("c2cu", f"{__version__}, Python {platform.python_version()} at {sys.executable}"),
        ("C compiler", _compiler() or "none: install gcc, or pip install 'c2cu[zig]'"),
        ("CPU", device("cpu")),
        ("cache", str(Cache().folder)),
        ("nvcc", toolchain.find_nvcc() or "none: needed only to compile standalone .cu files"),
        (
            "CUDA device",
            cuda.device_name()
            if cuda.available()
            else "none: pip install 'c2cu[cuda12]' or 'c2cu[cuda13]' where there is a GPU",
        ),
    ]
    return "\n".join(f"{what:12} {found}" for what, found in rows)
