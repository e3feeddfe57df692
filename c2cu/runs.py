"""`c2cu run`: arrays in files, or a whole program on stdin."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import files, library, toolchain
from .artifact import Slot
from .diagnostics import CompileError, InputError


def run_files(
    program: library.Program,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    shared: Mapping[str, str],
    p: int | None,
) -> None:
    """Load the inputs, run, and write the outputs, each whole or not at all."""
    slots = {s.name: s for s in program.slots}
    given: Any = {}
    for text in inputs:
        name, equals, path = text.partition("=")
        if not equals:
            if len(inputs) > 1:
                raise InputError(
                    "C2CU058", f"--in {text} has no name", None, "with several inputs write --in NAME=FILE"
                )
            given = files.load(text, _only(slots))
        else:
            given[name] = _value(path, slots.get(name))
    arrays = {name: _value(path, slots.get(name)) for name, path in shared.items()}
    results = program(given, shared=arrays, p=p)
    if not isinstance(results, dict):
        results = {next(s.name for s in program.slots if s.writes): results}
    targets = _targets(outputs, results)
    for name, path in targets.items():
        files.write(path, results[name])


def _only(slots: Mapping[str, Slot]) -> Slot | None:
    required = [s for s in slots.values() if s.required and not s.shared]
    return required[0] if len(required) == 1 else None


def _value(text: str, slot: Slot | None) -> Any:
    """A file's array, or a number for a scalar."""
    if slot is not None and slot.shape == () and not Path(text).exists():
        for kind in (lambda t: int(t, 0), float):
            try:
                return kind(text)
            except ValueError:
                continue
    return files.load(text, slot)


def _targets(outputs: tuple[str, ...], results: Mapping[str, Any]) -> dict[str, str]:
    targets: dict[str, str] = {}
    for text in outputs:
        name, equals, path = text.partition("=")
        if not equals:
            if len(results) != 1:
                raise InputError(
                    "C2CU058",
                    f"--out {text} has no name",
                    None,
                    f"write --out NAME=FILE; the outputs: {', '.join(results)}",
                )
            name, path = next(iter(results)), text
        if name not in results:
            raise InputError("C2CU041", f"'{name}' is no output", None, f"the outputs: {', '.join(results) or 'none'}")
        targets[name] = path
    return targets


def run_program(source: Path, p: int, backend: str, options: Mapping[str, Any]) -> int:
    """Translate the whole program for p runs, compile it, and run it on stdin. Its exit status."""
    target = backend
    if backend == "auto":
        target = "cuda" if toolchain.find_nvcc() and library.best_backend() == "cuda" else "cpu"
    text = library.translate(source, p=p, target=target, **options)
    with tempfile.TemporaryDirectory(prefix="c2cu-") as folder:
        program = Path(folder) / "program"
        if target == "cuda":
            nvcc = toolchain.find_nvcc()
            if nvcc is None:
                raise CompileError(
                    "C2CU065",
                    "running a whole program on a GPU needs nvcc",
                    None,
                    "use --backend cpu, or arrays with --in and --out",
                )
            command = [nvcc, "-O3", "-arch=native", "-x", "cu", "-", "-o", str(program)]
        else:
            command = [
                *toolchain.find_compiler(),
                "-O3",
                "-march=native",
                "-w",
                "-fwrapv",
                "-fno-strict-aliasing",
                "-ffp-contract=off",
                "-x",
                "c",
                "-",
                "-o",
                str(program),
                "-lm",
            ]
        _compile(command, text)
        sys.stdout.flush()
        return subprocess.run([str(program)]).returncode


def _compile(command: list[str], text: str) -> None:
    from .runtime.cpu import rejected

    try:
        done = subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True)
    except OSError as e:
        raise CompileError("C2CU060", f"the compiler '{command[0]}' does not start: {e.strerror}") from None
    if done.returncode:
        raise rejected(os.path.basename(command[0]), text, done.stderr.decode("utf-8", "replace"))
