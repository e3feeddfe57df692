"""The library: bulk, compile, check, translate. NumPy, which takes long to import, comes only with arrays."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from . import backends, pipeline
from .base.diagnostics import InputError, lines_of
from .frontend.options import Options, by_name, options_of, whole
from .frontend.preprocess import Source, read_source
from .program import Program, lengths
from .schedule.plan import known_values
from .schedule.understood import Front
from .verdict import NotObliviousWarning, Report, judge, report_of

LAYOUTS = ("row", "column")


def compile(
    src: str | os.PathLike,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    layout: str = "row",
    shapes: Mapping[str, Any] | None = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
    tune: bool = False,
    pack: int | None = None,
) -> Program:
    """Compile a C program for bulk runs. Parameters as for `bulk`.

    Raises ParseError, UnsupportedError, NotObliviousError (if ``strict``), CompileError, InputError.
    """
    backends.known(backend)
    if layout not in LAYOUTS:
        raise InputError("C2CU051", f"layout is '{layout}'", None, f"choose one of {', '.join(LAYOUTS)}")
    return Program(
        read_source(src),
        options_of(fn, shared, defines, shapes, fp, include_dirs, pack),
        backend,
        schedule,
        layout,
        strict,
        tune,
    )


_programs: dict[tuple, Program] = {}


def bulk(
    src: str | os.PathLike,
    inputs: Any = None,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    layout: str = "row",
    shapes: Mapping[str, Any] | None = None,
    out: Any = None,
    stream: Any = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
    p: int | None = None,
    tune: bool = False,
    devices: Sequence[int] | None = None,
    pack: int | None = None,
) -> Any:
    """Run a sequential C program on p independent inputs at once.

    ``src``: C text (a str with a newline or a brace) or a path. ``inputs``: an array of shape (p, \\*shape) and the C
    type's dtype, or a dict of them by C name; with ``layout="column"`` (\\*shape, p). ``shared``: one array for all
    inputs, by name. ``defines``: overrides of the file's macros. ``shapes``: extents that no input tells. ``out``:
    arrays to write to; after an error they may be written in part. ``p``: needed only where no input is given.
    ``tune``: measure the candidates on the first inputs, once; the cache keeps the fastest, for later calls without
    ``tune`` too. ``devices``: ordinals of GPUs that work at each matrix together (a loop of Gaussian-elimination type).

    ``pack``: 4, 8 or 16: the elements that shortest paths of integers are found in fit so many bits (at most 32767; let
    the largest stand for no edge), so that a GPU may keep two in a word. An element beyond is refused.

    Returns one array where exactly one is an output, else a dict by name: NumPy arrays for NumPy arrays, CuPy for
    arrays on a device. Equal, bit for bit, to the C compiled with -fwrapv -fno-strict-aliasing -ffp-contract=off.

    Raises ParseError, UnsupportedError, NotObliviousError, CompileError, and InputError (a ValueError; for a wrong
    dtype a TypeError).
    """
    program = remembered(
        src,
        fn=fn,
        shared=tuple(shared or ()),
        defines=defines,
        backend=backend,
        schedule=schedule,
        fp=fp,
        layout=layout,
        shapes=shapes,
        strict=strict,
        include_dirs=include_dirs,
        tune=tune,
        pack=pack,
    )
    return program(inputs, shared=shared, out=out, stream=stream, p=p, devices=devices)


def remembered(src: str | os.PathLike, **options: Any) -> Program:
    """`compile`, once in a process for the same program and options."""
    source = read_source(src)
    named = {n: sorted(by_name(n, options.get(n)).items()) for n in ("defines", "shapes")}
    listed = {n: tuple(map(str, options.get(n) or ())) for n in ("include_dirs", "shared")}
    key = (source.name, source.text, repr(sorted({**options, **named, **listed}.items())), os.environ.get("CC"))
    program = _programs.get(key)
    if program is None or listed["include_dirs"] or re.search(r'#\s*include\s*"', source.text):  # headers may change
        program = _programs[key] = compile(src, **options)
    return program


def stream(
    src: str | os.PathLike,
    batches: Any,
    *,
    group: int | None = None,
    interval: float | str | None = None,
    depth: int | None = None,
    latency_target: float | str | None = None,
    devices: Sequence[int] | None = None,
    memory: int | str | None = None,
    timeline: bool = False,
    copy: bool = True,
    shared: Mapping[str, Any] | None = None,
    **options: Any,
) -> Any:
    """Run a sequential C program on inputs that come in batches; yields results in order, bit-identical to `bulk`'s.

    ``batches``: any iterable of arrays (p, \\*shape), or of dicts of them by C name, each of any p; an array alone is
    one batch. It is read in a thread of its own, ahead of the results by a few groups. The first batch is read at once:
    its shapes decide the rest. Results are arrays, or dicts of them where there are several outputs, for ``group``
    inputs each, however the batches were cut; ``result.first`` is the number of the first input, ``result.latency``
    the seconds since that input arrived.

    ``interval``: seconds, or "5ms"; a group is cut at each, full or not, so that no input waits longer for its group to
    fill (thesis, section 4.5). ``latency_target``: likewise; the largest group that meets it, by measurement on the
    first batch. ``depth``: groups in flight a device. ``devices``: ordinals of GPUs, by default all that are visible.
    ``memory``: bytes of host memory, or "2G", that buffers may take. ``timeline``: note what devices do when, for
    `Stream.spans`. ``copy=False``: batches are not written to before their results are there, so that they need not be
    copied; an array alone never is. Other parameters as for `bulk`.

    Raises what `bulk` raises. What the iterator raises is passed on, after the results for all before it.
    """
    from .streaming.open import open_stream

    program = remembered(src, shared=tuple(by_name("shared", shared)), **options)
    return open_stream(
        program,
        batches,
        shared=shared,
        group=group,
        interval=interval,
        depth=depth,
        latency_target=latency_target,
        devices=devices,
        memory=memory,
        timeline=timeline,
        copy=copy,
    )


def check(
    src: str | os.PathLike,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | Sequence[str] | None = None,
    defines: Mapping[str, Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
) -> Report:
    """The verdict on a program, without compiling it.

    ``shared``: names of what all inputs share; of a dict, values that are numbers are what those scalars are taken for.
    A whole-number parameter that an address or a loop's bound needs is taken as shared (a length, most likely); the
    report's notes say so.
    """
    source = read_source(src)
    options = options_of(fn, shared, defines, shapes, "exact", include_dirs)
    given = shared if isinstance(shared, Mapping) else {}
    plain = ((n, v.item() if hasattr(v, "item") and v.size == 1 else v) for n, v in given.items())
    numbers = {n: str(v) for n, v in plain if isinstance(v, (int, float, str))}
    return check_source(source, options, numbers)


def check_source(source: Source, options: Options, numbers: Mapping[str, str] | None = None) -> Report:
    return report_of(*as_given(source, options, numbers))


def as_given(
    source: Source, options: Options, numbers: Mapping[str, str] | None = None
) -> tuple[Front, tuple[str, ...]]:
    """The program understood as it is most likely to be called, lengths given as one number; notes that say so.
    ``numbers``: what shared scalars are, by name. Raises InputError."""
    front = pipeline.asked(source, options)
    untouched = front.program.unit.variables.keys() - {s.name for s in front.slots}  # globals that make no difference
    numbers = {n: v for n, v in (numbers or {}).items() if n not in untouched}
    if numbers:
        options = replace(options, values=known_values(front.slots, numbers))
        front = pipeline.understand(source, options)
    found = lengths(front)
    if not found:
        return front, ()
    again = pipeline.understand(source, replace(options, shared=(*options.shared, *found)))
    assumed = (b for b in front.program.borders if b.name in found)
    return again, tuple(f"{b.loc}: note: parameter '{b.name}' is taken as one number for all inputs" for b in assumed)


def translate(
    src: str | os.PathLike,
    *,
    p: int,
    threads: int = 64,
    target: str = "cuda",
    group: int | None = None,
    fn: str | None = None,
    defines: Mapping[str, Any] | None = None,
    shared: Sequence[str] | None = None,
    shapes: Mapping[str, Any] | None = None,
    include_dirs: Sequence[str] = (),
) -> str:
    """A standalone program for p inputs: CUDA C for nvcc, or C for a host compiler (``target="cpu"``).

    ``group``: a pipe that takes so many inputs at a time, and writes their results before it reads the last ones.
    """
    from .standalone.program import standalone

    source = read_source(src)
    front = pipeline.asked(source, options_of(fn, shared, defines, shapes, "exact", include_dirs))
    judge(front, strict=False)
    with lines_of(front.pre.sources):
        return standalone(
            front,
            p=whole("p", p),
            threads=whole("threads", threads),
            target=target,
            group=None if group is None else whole("group", group),
        )


__all__ = [
    "NotObliviousWarning",
    "Program",
    "Report",
    "bulk",
    "check",
    "compile",
    "stream",
    "translate",
]
