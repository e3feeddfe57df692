"""Bulk runs on Dask arrays, one task for each chunk, on one machine or many. The only file that imports dask.

The client reads the C and all headers, and raises every error that `bulk` would. Each worker receives the preprocessed
text once, and compiles it for its own CPU or GPU.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, cast

from . import backends
from .api import Program
from .base import catalogue
from .base.cache import key
from .base.recent import Recent
from .base.version import __version__
from .frontend.options import Options, by_name, options_of
from .frontend.preprocess import Source, read_source
from .program.verify import patient
from .runtime import arrays, cpu
from .schedule.choose import choose
from .schedule.slots import Slot
from .schedule.understood import Understood

try:
    import dask.array as da  # pyright: ignore[reportMissingImports]
    from dask.array.utils import meta_from_array  # pyright: ignore[reportMissingImports]
    from dask.base import tokenize  # pyright: ignore[reportMissingImports]
    from dask.delayed import delayed  # pyright: ignore[reportMissingImports]
except ImportError:
    raise catalogue.NO_DASK.error() from None

import numpy

__all__ = ["map_bulk"]


def map_bulk(
    src: str | os.PathLike | Sequence[str | os.PathLike],
    inputs: Any,
    *,
    fn: str | None = None,
    shared: Mapping[str, Any] | None = None,
    defines: Mapping[str, Any] | None = None,
    backend: str = "auto",
    schedule: str = "auto",
    fp: str = "exact",
    math: str = "host",
    shapes: Mapping[str, Any] | None = None,
    strict: bool = False,
    include_dirs: Sequence[str] = (),
) -> Any:
    """Run a sequential C program on Dask arrays: `bulk`, lazily, with one task for each chunk.

    The results equal those of `bulk` bit for bit.

    Args:
        src: A path, or C text: a ``str`` with a newline or a brace; a list of them is one program of several files.
        inputs: One Dask array ``(p, *shape)`` of the C type's dtype where the kernel has one bulk input, else a dict of
            them by C name. Each chunk along p is one task. Chunks of several inputs are aligned, and each other axis
            becomes one chunk.
        fn: The kernel function; see `compile`.
        shared: Arrays, Dask arrays and numbers that are one for all inputs, by C name. Each worker receives them once.
        defines: Values of object-like macros, by name; they replace the file's own.
        backend: ``"cuda"``, ``"cpu"``, or ``"auto"``: each worker uses CUDA where its CuPy sees a device, else its CPU.
        schedule: ``"auto"``, or the name of a schedule.
        fp: ``"exact"``, ``"reassociate"`` or ``"fast"``; see `compile`.
        math: ``"host"`` or ``"correct"``; see `compile`.
        shapes: The shape of one input, by name, where neither the C nor an input tells it.
        strict: Make a program that is not oblivious an error instead of a warning.
        include_dirs: Folders in which ``#include`` looks for headers.

    Returns:
        One Dask array where exactly one variable is an output, else a dict of them by C name. NumPy chunks give NumPy
        chunks, and CuPy chunks give CuPy chunks. Outputs that are computed together come from one run of each chunk.

    Raises:
        Error: Whatever `bulk` raises, before any task runs.
        CompileError: Dask is not installed; or, when a chunk is computed, its worker has no C compiler or no device.
        InputError: Dask does not know the length of an array.
    """
    backends.known(backend)
    one_for_all = dict(by_name("shared", shared))
    _require_lengths({**(inputs if isinstance(inputs, Mapping) else {"": inputs}), **one_for_all})
    source = read_source(src)
    options = options_of(fn, shared, defines, shapes, fp, include_dirs, math=math)
    program = Program(source, options, backend, schedule, "row", strict, build=False)
    front, options, values = program.bound(inputs, one_for_all)
    metas = {n: a._meta if isinstance(a, da.Array) else a for n, a in values.items()}
    device = next((m for m in metas.values() if arrays.on_device(m)), None)
    if backend == "cpu":
        backends.refuse_device_arrays(metas)
    best = "cuda" if device is not None else backends.best()
    choose(front, best if backend == "auto" else backend, schedule)
    return _mapped(front, options, backend, schedule, values, device)


def _require_lengths(values: Mapping[str, Any]) -> None:
    """Refuse arrays whose length Dask does not know."""
    for name, a in values.items():
        if isinstance(a, da.Array) and any(math.isnan(n) for n in a.shape):
            which = f"'{name}'" if name else "the input"
            raise catalogue.UNKNOWN_DASK_SHAPE.error(which=which, shape=a.shape)


# the graph


@dataclass(frozen=True)
class _Work:
    """What all tasks of a call have in common: a program, the names of its arrays, what is one for all inputs. It is
    one value of the graph, so Dask takes it to each worker once."""

    key: str
    names: tuple[str, ...]
    source: Source
    options: Options
    backend: str
    schedule: str
    shared: Mapping[str, Any]


def _mapped(
    front: Understood, options: Options, backend: str, schedule: str, values: Mapping[str, Any], device: Any
) -> Any:
    outputs = [s for s in front.slots if s.writes]
    one_for_all = {s.name for s in front.slots if s.shared}
    constants = {n: a for n, a in values.items() if n in one_for_all and not isinstance(a, da.Array)}
    mapped = {n: _whole(a, n in one_for_all) for n, a in values.items() if n not in constants}
    work = _work(front, options, backend, schedule, tuple(mapped), constants)
    token = tokenize(work.key, constants, {n: a.name for n, a in mapped.items()})
    kernel = front.kernel_name
    wrapped = delayed(work, name=f"{kernel}-program-{token}", traverse=False)

    arguments: list[Any] = [wrapped, None]
    axes = 1  # axis 0 is p; every other one is an array's own
    for n, a in mapped.items():
        bulk_axes = 0 if n in one_for_all else 1
        arguments += [a, (*(0,) * bulk_axes, *range(axes, axes + a.ndim - bulk_axes))]
        axes += a.ndim - bulk_axes

    if len(outputs) == 1:
        return _output(outputs[0], f"{kernel}-{token}", device, _run, *arguments, axes=axes)
    chunks = da.blockwise(_run, (0,), *arguments, name=f"{kernel}-{token}", meta=numpy.empty(0, object), dtype=object)
    return {s.name: _output(s, f"{kernel}-{s.name}-{token}", device, itemgetter(s.name), chunks, (0,)) for s in outputs}


def _output(slot: Slot, name: str, device: Any, function: Any, *arguments: Any, axes: int = 1) -> da.Array:
    """``function`` of each chunk, as an array; ``axes``: how many are taken."""
    t = numpy.dtype(slot.dtype)
    shape = slot.shape
    if device is not None and t.kind == "V":  # CuPy has no structured dtypes: structs are bytes there
        t, shape = numpy.dtype("uint8"), (slot.nbytes,)
    kind = numpy.empty(0) if device is None else device
    new = {axes + k: (n,) for k, n in enumerate(shape)}
    meta = meta_from_array(kind, ndim=1 + len(shape), dtype=t)
    return cast(da.Array, da.blockwise(function, (0, *new), *arguments, name=name, new_axes=new, meta=meta, dtype=t))


def _work(
    front: Understood,
    options: Options,
    backend: str,
    schedule: str,
    names: tuple[str, ...],
    constants: Mapping[str, Any],
) -> _Work:
    """``front`` as a worker can have it: with no file of this machine."""
    pre = front.pre
    macros = sorted((m.name, m.value, m.overridden) for m in pre.macros.values())
    settings = (options.fn, options.shared, sorted(options.shapes.items()), options.fp, options.math, backend, schedule)
    name = key(pre.name, pre.text, pre.plain, macros, *settings, __version__)
    others = tuple(replace(s, path=None) for s in front.source.others)
    source = replace(front.source, path=None, pre=pre, others=others)
    return _Work(name, names, source, options, backend, schedule, constants)


def _whole(a: Any, shared: bool) -> da.Array:
    """A Dask array with chunks along p only."""
    a = a if isinstance(a, da.Array) else da.from_array(a)
    axes = range(0 if shared else 1, a.ndim)
    return a.rechunk(dict.fromkeys(axes, -1)) if axes else a


# on a worker

PROGRAMS = 128  # that a process remembers, those last used
_programs: Recent[Program] = Recent(PROGRAMS)


def _run(work: _Work, *blocks: Any) -> Any:
    """A chunk of the output, or of all outputs by name. ``blocks``: of the inputs ``work.names``, in lists."""
    inputs = {n: _only(b) for n, b in zip(work.names, blocks)}
    with cpu.at_most(_share()), patient():
        return _program(work)(inputs, shared=work.shared)


def _only(block: Any) -> Any:
    """The one block that the nested lists hold which stand for an input's inner axes."""
    while isinstance(block, list):
        (block,) = block
    return block


def _program(work: _Work) -> Program:
    """This process's own, compiled on its first chunk."""

    def compiled() -> Program:
        which = (work.source, work.options, work.backend, work.schedule)
        return Program(*which, "row", strict=None, build=False)

    return _programs.of(work.key, compiled)


def _share() -> int | None:
    """How many threads Dask has given to this worker: its part of the machine's cores. None outside a worker."""
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker  # pyright: ignore[reportMissingImports]

    try:
        return get_worker().state.nthreads
    except ValueError:
        return None
