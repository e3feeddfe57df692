"""`c2cu run`: arrays in files, or a whole program on stdin."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import api, backends
from ..base import toolchain
from ..base.diagnostics import CompileError, InputError
from ..schedule.slots import Slot
from . import files, resume
from .file_runs import FileJob, Say, Streaming, by_name, run_streamed, run_together, together
from .sources import source

SMALL = 32 << 20  # bytes in and out of a run that is done in one call, unless something else is asked for


def run_files(
    program: api.Program,
    inputs: Sequence[str],
    outputs: Sequence[str],
    shared: Sequence[tuple[str, str]],
    p: int | None,
    layout: str = "row",
    streaming: Streaming | None = None,
    say: Say = lambda d: None,
) -> None:
    """Read the inputs, run, and write the outputs, each whole or not at all. ``say``: where notes go."""
    streaming = streaming or Streaming()
    job = _job(program, inputs, outputs, shared, p, layout)
    if streaming.asked or job.total * job.nbytes > SMALL or _chunked(job):
        if together(job, streaming):
            return run_together(job, streaming)
        return run_streamed(job, streaming, say)
    kept = [o for o in job.outputs().values() if o.resumable]
    with resume.locked(kept):
        results = by_name(job.slots, program({n: s.whole() for n, s in job.bulk.items()}, shared=job.fixed, p=p))
        job.check()
        for name, path in job.targets.items():
            files.write(path, results[name])
        resume.abandon(kept)


def _job(
    program: api.Program,
    inputs: Sequence[str],
    outputs: Sequence[str],
    shared: Sequence[tuple[str, str]],
    p: int | None,
    layout: str,
) -> FileJob:
    """Everything is opened and checked; nothing of the data is read yet."""
    from ..runtime import arrays

    slots = {s.name: s for s in program.slots}
    targets = _targets(outputs, [s.name for s in slots.values() if s.writes])
    given = arrays.named(_given(inputs, slots, layout), program.slots)
    _once("--shared", [name for name, _ in shared])
    fixed = {name: _value(path, slots.get(name), layout) for name, path in shared}
    front, _, found = program.bound(given, fixed, p)
    bulk = {s.name: found[s.name] for s in front.slots if s.name in found and not s.shared}
    everything = {**given, **fixed}
    sources = [v for v in everything.values() if hasattr(v, "changed")]
    fixed = {n: _whole(v) for n, v in everything.items() if n not in bulk}
    total = arrays.common_p(bulk, front.slots, layout, p)
    return FileJob(program, bulk, fixed, total, front.slots, targets, layout, sources)


def _chunked(job: FileJob) -> bool:
    """Whether an output can only be written by the group."""
    return any(Path(path).suffix == ".zarr" for path in job.targets.values())


def _whole(value: Any) -> Any:
    return value.whole() if hasattr(value, "whole") else value


def _given(inputs: Sequence[str], slots: Mapping[str, Slot], layout: str) -> Any:
    """The inputs by name, or the one that has none."""
    if len(inputs) == 1 and "=" not in inputs[0]:
        return source(inputs[0], _only(slots), layout)
    pairs = [text.partition("=") for text in inputs]
    unnamed = next((text for text, equals, _ in pairs if not equals), None)
    if unnamed is not None:
        raise InputError("C2CU058", f"--in {unnamed} has no name", None, "with several inputs write --in NAME=FILE")
    _once("--in", [name for name, *_ in pairs])
    _once("--in", [path for *_, path in pairs if path == "-"])
    return {name: _value(path, slots.get(name), layout) for name, _, path in pairs}


def _once(option: str, names: Sequence[str]) -> None:
    """Refuse what is given twice: one of the two would go unused."""
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InputError("C2CU058", f"{option} has '{twice}' twice", None, "give it once")


def _only(slots: Mapping[str, Slot]) -> Slot | None:
    required = [s for s in slots.values() if s.required and not s.shared]
    return required[0] if len(required) == 1 else None


def _value(text: str, slot: Slot | None, layout: str) -> Any:
    """A file's source, or a number for a scalar."""
    if slot is not None and slot.shape == () and not Path(text).exists():
        for kind in (lambda t: int(t, 0), float):
            try:
                return kind(text)
            except ValueError:
                continue
    return source(text, slot, layout)


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
    files.check_apart([path for _, path in pairs])
    return dict(pairs)


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
    from ..base.toolchain import rejected

    try:
        done = subprocess.run(command, input=text.encode("utf-8", "surrogateescape"), capture_output=True)
    except OSError as e:
        raise CompileError("C2CU060", f"the compiler '{command[0]}' does not start: {e.strerror}") from None
    if done.returncode:
        raise rejected(os.path.basename(command[0]), text, done.stderr.decode("utf-8", "replace"))
