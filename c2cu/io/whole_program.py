"""`c2cu run` of a whole program: translated for p runs, compiled, and run on stdin."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import api, backends
from ..base import catalogue, toolchain


def run_program(source: Path, p: int, backend: str, options: Mapping[str, Any]) -> int:
    """Translate the whole program for p runs, compile it, and run it on stdin. Its exit status."""
    target = backend
    if backend == "auto":
        target = "cuda" if toolchain.find_nvcc() and backends.best() == "cuda" else "cpu"
    text = api.translate(source, p=p, target=target, **options)
    with tempfile.TemporaryDirectory(prefix="c2cu-") as folder:
        program = Path(folder) / "program"
        if target == "cuda":
            nvcc = toolchain.find_nvcc()
            if nvcc is None:
                raise catalogue.NO_NVCC.error()
            command = [nvcc, "-O3", "-arch=native", "-x", "cu", "-", "-o", str(program)]
        else:
            compiler = toolchain.find_compiler()
            flags = ("-O3", "-march=native", "-w", *toolchain.exact_flags(compiler))
            command = [*compiler, *flags, "-x", "c", "-", "-o", str(program), "-lm"]
        _compile(command, text)
        sys.stdout.flush()
        return subprocess.run([str(program)]).returncode


def _compile(command: list[str], text: str) -> None:
    try:
        done = subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True)
    except OSError as e:
        raise catalogue.COMPILER_DOES_NOT_START.error(command=command[0], reason=e.strerror) from None
    if done.returncode:
        raise toolchain.rejected(os.path.basename(command[0]), text, done.stderr.decode("utf-8", "replace"))
