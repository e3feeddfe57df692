"""The NVIDIA driver of this machine: the CUDA version that it supports. ``python driver.py`` prints the extra of c2cu
for it, `cuda12` or `cuda13`; the Makefile asks before anything is installed, so that this file needs Python alone."""

from __future__ import annotations

import ctypes
import re
import subprocess

Version = tuple[int, int]
EXTRAS = {12: "cuda12", 13: "cuda13"}  # CUDA's major version -> extra in pyproject.toml


def cuda_version() -> Version | None:
    """The latest CUDA version that the driver supports, of nvidia-smi or libcuda; None where there is no device."""
    return _of_nvidia_smi() or _of_libcuda()


def _of_nvidia_smi() -> Version | None:
    try:
        done = subprocess.run(["nvidia-smi"], capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    m = re.search(r"CUDA (?:UMD )?Version: *(\d+)\.(\d+)", done.stdout)
    return (int(m[1]), int(m[2])) if m else None


def _of_libcuda() -> Version | None:
    try:
        library = ctypes.CDLL("libcuda.so.1")
        number = ctypes.c_int()
        if library.cuInit(0) or library.cuDriverGetVersion(ctypes.byref(number)):
            return None
    except (OSError, AttributeError):
        return None
    return number.value // 1000, number.value % 1000 // 10


def extra(version: Version | None) -> str:
    """The extra for a driver; "" where there is none. A driver also runs what is built for earlier versions of CUDA."""
    fitting = [major for major in EXTRAS if version and major <= version[0]]
    return EXTRAS[max(fitting)] if fitting else ""


if __name__ == "__main__":
    print(extra(cuda_version()))
