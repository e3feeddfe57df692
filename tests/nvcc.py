"""What nvcc makes of CUDA text for an H200."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

_KERNEL = re.compile(r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers", re.S)


def needed(test):
    """Mark a test that calls nvcc, which takes seconds a kernel."""
    return pytest.mark.slow(pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is missing")(test))


class Kernel(NamedTuple):
    """``registers``: of a thread; ``spilled``: bytes of it that they do not hold."""

    registers: int
    spilled: int


def kernels(text: str, folder: Path) -> dict[str, Kernel]:
    """By name. Fails on a warning."""
    source = folder / "x.cu"
    source.write_text(text)
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "--fmad=false", "-cubin", "-Xptxas", "-v", str(source)]
    done = subprocess.run([*command, "-o", str(folder / "x")], capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stderr
    return {name: Kernel(int(used), int(spilled)) for name, spilled, used in _KERNEL.findall(done.stderr)}
