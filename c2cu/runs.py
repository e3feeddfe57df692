"""`c2cu run`: arrays in files, or a whole program on stdin."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import backends, files, library, toolchain
from .artifact import Slot
from .diagnostics import CompileError, InputError


def run_files(
    program: library.Program,
    inputs: Sequence[str],
    outputs: Sequence[str],
    shared: Sequence[tuple[str, str]],
    p: int | None,
    layout: str = "row",
    group: int | None = None,
) -> None:
    """Load the inputs, run, and write the outputs, each whole or not at all. ``group``: inputs at a time."""
    slots = {s.name: s for s in program.slots}
    targets = _targets(outputs, [s.name for s in slots.values() if s.writes])
    given = _given(inputs, slots)
    _once("--shared", [name for name, _ in shared])
    arrays = {name: _value(path, slots.get(name)) for name, path in shared}
    if group is None:
        results = _by_name(program, program(given, shared=arrays, p=p))
    else:
        results = _in_groups(program, given, arrays, p, layout, group)
    for name, path in targets.items():
        files.write(path, results[name])


def _by_name(program: library.Program, results: Any) -> dict[str, Any]:
    return results if isinstance(results, dict) else {next(s.name for s in program.slots if s.writes): results}


def _in_groups(
    program: library.Program, given: Any, shared: Mapping[str, Any], p: int | None, layout: str, group: int
) -> dict[str, Any]:
    """The outputs, computed ``group`` inputs at a time: the machine holds no more than one group and the results."""
    import numpy

    from .runtime import arrays

    named = arrays.named(given, program.slots)
    fixed = {s.name for s in program.slots if s.shared}
    bulk = {n: a for n, a in named.items() if n not in fixed and getattr(a, "ndim", 0)}
    total = arrays.common_p(bulk, program.slots, layout, p)
    results: dict[str, Any] = {}
    for first in range(0, max(total, 1), group):
        here = (slice(first, first + group),) if layout == "row" else (..., slice(first, first + group))
        part = {**named, **{n: a[here] for n, a in bulk.items()}}
        done = _by_name(program, program(part, shared=shared, p=min(group, total - first)))
        for name, array in done.items():
            if name not in results:
                shape = (total, *array.shape[1:]) if layout == "row" else (*array.shape[:-1], total)
                results[name] = numpy.empty(shape, array.dtype)
            results[name][here] = array
    return results


def _given(inputs: Sequence[str], slots: Mapping[str, Slot]) -> Any:
    """The inputs by name, or the one that has none."""
    if len(inputs) == 1 and "=" not in inputs[0]:
        return files.load(inputs[0], _only(slots))
    pairs = [text.partition("=") for text in inputs]
    unnamed = next((text for text, equals, _ in pairs if not equals), None)
    if unnamed is not None:
        raise InputError("C2CU058", f"--in {unnamed} has no name", None, "with several inputs write --in NAME=FILE")
    _once("--in", [name for name, *_ in pairs])
    return {name: _value(path, slots.get(name)) for name, _, path in pairs}


def _once(option: str, names: Sequence[str]) -> None:
    """Refuse what is given twice: one of the two would go unused."""
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InputError("C2CU058", f"{option} has '{twice}' twice", None, "give it once")


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


def _targets(outputs: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Where each output goes; checked before anything runs. ``names``: the program's outputs."""
    known = f"the outputs: {', '.join(names) or 'none'}"
    if not outputs:
        raise InputError("C2CU058", "no --out says where a result goes", None, f"write --out NAME=FILE; {known}")
    pairs: list[tuple[str, str]] = []
    for text in outputs:
        name, equals, path = text.partition("=")
        if not equals and len(names) != 1:
            raise InputError("C2CU058", f"--out {text} has no name", None, f"write --out NAME=FILE; {known}")
        if not equals:
            name, path = names[0], text
        if name not in names:
            raise InputError("C2CU041", f"'{name}' is no output", None, known)
        files.check_target(path)
        pairs.append((name, path))
    _once("--out", [name for name, _ in pairs])
    _once("--out", [path for _, path in pairs])
    return dict(pairs)


def run_program(source: Path, p: int, backend: str, options: Mapping[str, Any]) -> int:
    """Translate the whole program for p runs, compile it, and run it on stdin. Its exit status."""
    target = backend
    if backend == "auto":
        target = "cuda" if toolchain.find_nvcc() and backends.best() == "cuda" else "cpu"
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
            compiler = toolchain.find_compiler()
            flags = ("-O3", "-march=native", "-w", *toolchain.exact_flags(compiler))
            command = [*compiler, *flags, "-x", "c", "-", "-o", str(program), "-lm"]
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
