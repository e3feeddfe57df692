"""`c2cu run` of a whole program: translated for p runs, compiled, and run on stdin."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import api, backends
from ..base import catalogue, toolchain
from ..base.cache import cache_folder
from ..base.scratch import scratch
from ..schedule.choose import AUTO


def run_program(source: Sequence[str | Path], p: int, backend: str, options: Mapping[str, Any]) -> int:
    """Translate the whole program for p runs, compile it, and run it on stdin. Its exit status. ``options``: those of
    `translate`."""
    target = backend
    if backend == "auto":
        target = "cuda" if toolchain.find_nvcc() and backends.best() == "cuda" else "cpu"
    if target == "cuda" and options["schedule"] == AUTO:  # which nvcc takes long to compile
        options = {**options, "schedule": None}
    text = api.translate(source, p=p, target=target, **options)
    with scratch(cache_folder()) as folder:  # where programs may be executed
        program = folder / "program"
        if target == "cuda":
            nvcc = toolchain.find_nvcc()
            if nvcc is None:
                raise catalogue.NO_NVCC.error()
            command = [nvcc, "-O3", "-arch=native", "-x", "cu", "-", "-o", str(program)]
        else:
            compiler = toolchain.find_compiler()
            flags = ("-O3", *toolchain.machine_flags(), "-w", *toolchain.generated_flags(compiler))
            command = [*compiler, *flags, "-x", "c", "-", "-o", str(program), "-lm", "-pthread"]
        _compile(command, text)
        sys.stdout.flush()
        return subprocess.run([str(program)]).returncode


def _compile(command: list[str], text: str) -> None:
    done = toolchain.fed(command, text)
    if done.returncode:
        raise toolchain.rejected(os.path.basename(command[0]), text, done.stderr.decode("utf-8", "replace"))
