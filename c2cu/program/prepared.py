"""A call that comes again: what decides how it is done is looked at once for all arrays of the same names, dtypes and
shapes, and remembered. What then remains of a call is where its arrays are."""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from ..runtime import arrays
from ..runtime.addresses import address
from ..runtime.recycled import LEAST
from ..schedule.artifact import CpuArtifact, CpuNativeArtifact, CudaArtifact
from ..schedule.slots import Slot, shape_of
from ..schedule.understood import Understood
from .build import Built
from .extents import Extents

_DOUBLE = struct.Struct("d")
MISS = object()  # the result of a call that has to be looked at anew
ALONE = 2e4  # nanoseconds of work, about, that are not worth several threads
BRIEF = 1e7  # nanoseconds of work, about, for which Ctrl-C may wait


def signature(inputs: Any, shared: Any, p: Any) -> Hashable | None:
    """What of a call decides how it is done, but for ``out``; None of arrays that are not taken as they are."""
    key: list[Any] = [type(inputs), p]
    if not (p is None or type(p) is int):
        return None
    if type(inputs) is dict:
        complete = _add(key, inputs)
    elif inputs is None:
        complete = True
    else:
        complete = _add(key, {None: inputs})
    if complete and shared is not None:
        key.append("shared")
        complete = type(shared) is dict and _add(key, shared)
    return tuple(key) if complete else None


def _add(key: list[Any], values: Mapping[Any, Any]) -> bool:
    """Add arrays and numbers to a signature; whether each has a place in it."""
    cupy: Any = sys.modules.get("cupy")
    for name, value in values.items():
        t = type(value)
        if cupy is not None and t is cupy.ndarray and value.ndim:
            if not value.flags.c_contiguous:
                return False
            key += (name, value.dtype, value.shape, value.device.id)
        elif t is numpy.ndarray and value.ndim:
            flags = value.flags
            if not (flags.c_contiguous and flags.aligned):
                return False
            key += (name, value.dtype, value.shape)
        elif t is int or t is bool:
            key += (name, t, value)
        elif t is float:
            key += (name, t, _DOUBLE.pack(value))  # a NaN is not another NaN
        elif isinstance(value, numpy.generic):
            key += (name, value.dtype, value.tobytes())
        else:
            return False
    return True


@dataclass(frozen=True)
class _Output:
    """``entry``: its place in the table. ``new``: makes room for it."""

    name: str
    entry: int
    shape: tuple[int, ...]
    dtype: numpy.dtype
    new: Callable[[], numpy.ndarray]


class Prepared:
    """Calls of one signature on the CPU, all decided but for the addresses.

    Attributes:
        built: What runs them.
        extents: What of them decided that.
    """

    def __init__(
        self,
        built: Built,
        extents: Extents,
        arguments: Mapping[str, Any],
        bare: bool,
        p: int,
        fixed: frozenset[str] = frozenset(),
    ):
        """``arguments``: of the first of these calls. ``bare``: it is one array by itself. ``fixed``: the variables
        whose arrays are the same in each call; they are written in place."""
        self.built, self.extents = built, extents
        self._p, self._bare, self._loaded = p, bare, built.loaded
        slots = built.artifact.slots
        self._constants: list[Any] = []  # numbers and fixed arrays; the table points to them
        self._places: list[tuple[int, int, int, bool]] = []  # of fixed arrays: see `_apart`
        self._inputs: list[tuple[int, str]] = []  # (place in the table, name)
        self._outputs: list[_Output] = []
        row = [0] * (4 * len(slots))  # see `runtime.cpu.slot_table`
        for k, s in enumerate(slots):
            value = arguments.get(s.name)
            if s.name in fixed and isinstance(value, numpy.ndarray):
                row[4 * k] = at = address(value)
                row[4 * k + 1] = 0 if s.shared else s.nbytes
                self._constants.append(value)
                self._places.append((at, at + value.nbytes, k, s.writes))
            elif isinstance(value, numpy.ndarray):
                self._inputs.append((4 * k, s.name))
                row[4 * k + 1] = 0 if s.shared else s.nbytes
            elif value is not None:
                self._constants.append(numpy.asarray(arrays.checked(value, s, "row")))
                row[4 * k] = address(self._constants[-1])
            if s.writes and s.name in fixed:
                row[4 * k + 2], row[4 * k + 3] = row[4 * k], s.nbytes
            elif s.writes:
                self._outputs.append(_output(s, 4 * k + 2, p))
                row[4 * k + 3] = s.nbytes
        self._row, self._table = row, ctypes.c_ssize_t * max(1, len(row))
        ends = [(first, end) for first, end, _, written in self._places if written]
        self._written = (min(ends)[0], max(end for _, end in ends)) if ends else (0, 0)  # fixed arrays, and between
        self._slots, self._brief = len(slots), _brief(built, p)

    def __call__(self, inputs: Any, shared: Any, out: Any) -> Any:
        """(results, exit statuses or None); `MISS` where ``out`` needs a longer look."""
        done = self.by_name(inputs, shared, out)
        if done is MISS:
            return MISS
        results, exited = done
        return results if len(results) != 1 else results[self._outputs[0].name], exited

    def by_name(self, inputs: Any, shared: Any, out: Any) -> Any:
        """The same, with results as a dict."""
        row = self._row.copy()
        ins = []
        for entry, name in self._inputs:
            array = shared.get(name) if shared is not None else None
            if array is None:
                array = inputs if self._bare else inputs[name]
            ins.append(array)
            row[entry] = at = address(array)
            if at < self._written[1] and at + array.nbytes > self._written[0]:
                return MISS
        targets = {} if out is None else self._targets(out, row)
        if targets is None:
            return MISS
        results: dict[str, Any] = {}
        outputs: list[Any] = [None] * self._slots
        for o in self._outputs:
            array = targets.get(o.name)
            if array is None:
                array = o.new()
            results[o.name] = outputs[o.entry >> 2] = array
            row[o.entry] = address(array)
        table: Any = self._table(*row)
        if not self._brief:
            table.arrays = ins, outputs, self  # after Ctrl-C threads are still at work
        exited = self._loaded.run_table(table, outputs, self._p, self._brief)
        return results, exited

    def _targets(self, out: Any, row: list[int]) -> dict[str, Any] | None:
        """The arrays of ``out`` by name; None where one is not simply written to, or would be written to while it is
        still to be read. ``row``: where the inputs are."""
        if type(out) is not dict:
            if len(self._outputs) != 1:
                return None
            out = {self._outputs[0].name: out}
        places, known = self._places.copy(), 0
        for o in self._outputs:
            array = out.get(o.name)
            if array is None:
                continue
            if type(array) is not numpy.ndarray or array.shape != o.shape or array.dtype != o.dtype:
                return None
            flags = array.flags
            if not (flags.c_contiguous and flags.aligned and flags.writeable):
                return None
            at = address(array)
            places.append((at, at + array.nbytes, o.entry // 4, True))
            known += 1
        if known != len(out):
            return None
        slots = self.built.artifact.slots
        for entry, _ in self._inputs:
            s, at = slots[entry // 4], row[entry]
            places.append((at, at + (s.nbytes if s.shared else self._p * s.nbytes), entry // 4, False))
        return out if _apart(places) else None


def _output(slot: Slot, entry: int, p: int) -> _Output:
    shape, dtype = shape_of(slot, p, "row"), numpy.dtype(slot.dtype)
    new = functools.partial(arrays.empty, slot, p)
    if dtype.kind != "V" and p * slot.nbytes < LEAST:
        new = functools.partial(numpy.empty, shape, dtype)  # the same
    return _Output(slot.name, entry, shape, dtype, new)


def _apart(places: list[tuple[int, int, int, bool]]) -> bool:
    """Whether nothing that is written overlaps anything, but for a variable its own input, from end to end. ``places``:
    of each array its first byte, its end, its variable's number, and whether it is written."""
    places.sort()
    for k, (first, end, number, written) in enumerate(places):
        for other_first, other_end, other_number, other_written in places[k + 1 :]:
            if other_first >= end:
                break
            alike = (first, end, number) == (other_first, other_end, other_number)
            if (written or other_written) and not (alike and written != other_written):
                return False
    return True


def prepared(
    built: Built,
    extents: Extents,
    arguments: Mapping[str, Any],
    bare: bool,
    layout: str,
    p: int,
    fixed: frozenset[str] = frozenset(),
) -> AnyPrepared | None:
    """The calls that are as one that has returned was; None where each needs a longer look. See `Prepared`."""
    built = built.faster
    if built.contest is not None and not built.contest.passes_over(p):
        return None
    artifact = built.artifact
    if not isinstance(artifact, CpuArtifact | CpuNativeArtifact | CudaArtifact) or layout != "row" or not p:
        return None
    if isinstance(artifact, CpuNativeArtifact) and artifact.guessed:
        return None  # the results tell which outputs there are
    if built.proof is not None and not built.proof.settled:
        return None
    if any(s.most is not None for s in artifact.slots):
        return None  # elements are looked at
    if isinstance(artifact, CudaArtifact):
        return on_device(built, extents, arguments, bare, p) if not fixed else None
    return Prepared(built, extents, arguments, bare, p, fixed)


class PreparedOnDevice:
    """Calls of one signature whose arrays are on a CUDA device, all decided but for the addresses. Attributes as of
    `Prepared`."""

    def __init__(self, built: Built, extents: Extents, arguments: Mapping[str, Any], bare: bool, p: int):
        from ..runtime.cuda import cupy_module

        self.built, self.extents = built, extents
        self._p, self._bare, self._loaded = p, bare, built.loaded
        self._cupy = cupy_module()
        self._device = self._cupy.cuda.runtime.getDevice()
        slots = built.artifact.slots
        self._constants: list[Any] = []  # numbers, on the device; the table points to them
        self._inputs: list[tuple[int, str]] = []
        self._outputs: list[tuple[int, Slot, Callable[[], Any]]] = []
        self._table = built.loaded.table([None] * len(slots), [None] * len(slots))
        row = self._table["slots"][0]
        for k, s in enumerate(slots):
            value = arguments.get(s.name)
            if value is not None and isinstance(value, self._cupy.ndarray) and value.ndim:
                self._inputs.append((k, s.name))
                row[k, 1] = 0 if s.shared else s.nbytes
            elif value is not None:
                self._constants.append(self._cupy.asarray(arrays.checked(value, s, "row")))
                row[k, 0] = self._constants[-1].data.ptr
            if s.writes:
                self._outputs.append((k, s, functools.partial(arrays.empty, s, p, xp=self._cupy)))
                row[k, 3] = s.nbytes

    def __call__(self, inputs: Any, shared: Any, out: Any) -> Any:
        """(results, None); `MISS` where it is not that simple."""
        done = self.by_name(inputs, shared, out)
        if done is MISS:
            return MISS
        results, exited = done
        return results if len(results) != 1 else results[self._outputs[0][1].name], exited

    def by_name(self, inputs: Any, shared: Any, out: Any) -> Any:
        """The same, with results as a dict."""
        cupy = self._cupy
        if out is not None or cupy.cuda.runtime.getDevice() != self._device:
            return MISS
        table = self._table.copy()
        row = table["slots"][0]
        for k, name in self._inputs:
            array = shared.get(name) if shared is not None else None
            if array is None:
                array = inputs if self._bare else inputs[name]
            row[k, 0] = array.data.ptr
        results = {}
        try:
            for k, s, new in self._outputs:
                results[s.name] = array = new()
                row[k, 2] = array.data.ptr
            self._loaded.run_table(table, self._p)
        except cupy.cuda.memory.OutOfMemoryError:
            return MISS
        except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as e:
            from ..runtime.launch import failed

            raise failed(e, self._loaded, self.built.artifact.slots) from None
        return results, None


AnyPrepared = Prepared | PreparedOnDevice


def on_device(
    built: Built, extents: Extents, arguments: Mapping[str, Any], bare: bool, p: int
) -> PreparedOnDevice | None:
    """Calls whose arrays are all on a device, where one launch of each kernel does all inputs."""
    from ..runtime.cuda import CudaProgram, cupy_module

    given = [a for a in arguments.values() if getattr(a, "ndim", 0)]
    if not given or not all(isinstance(a, cupy_module().ndarray) for a in given):
        return None
    if not isinstance(built.loaded, CudaProgram) or not built.loaded.in_one_turn(p):
        return None
    return PreparedOnDevice(built, extents, arguments, bare, p)


def _brief(built: Built, p: int) -> bool:
    """Whether the caller's thread does it: see `CpuProgram.run_table`."""
    work = _nanoseconds(built.front, getattr(built.artifact, "lanes", 1), p)
    return work is not None and work <= BRIEF and (work <= ALONE or not built.loaded.divides(p))


def _nanoseconds(front: Understood, lanes: int, p: int) -> float | None:
    """What p inputs take one thread, about; None where data decides."""
    return None if front.work is None else front.work * -(-p // lanes)
