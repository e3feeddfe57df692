"""A call that comes again, on a GPU: see `prepared`. Arrays in the host's memory are copied without CuPy's detours."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from ..runtime import arrays
from ..runtime.addresses import address, apart
from ..schedule.slots import Slot, shape_of
from .build import Built
from .extents import Extents
from .signature import MISS, targets

SMALL = 1 << 20  # bytes to and from the host up to which what a copy costs beside its bytes matters
ALIGNED = 256  # bytes: where each array begins in a call's own memory
UP, DOWN, ACROSS = 1, 2, 3  # of cudaMemcpyKind
IN_PLACE = {"registers"}  # schedules in which a thread reads all of its input before it writes


@dataclass(frozen=True)
class _Copied:
    """An array that has another place on the device, ``at`` in the call's own memory. ``entry``: its slot's number."""

    name: str
    entry: int
    at: int
    nbytes: int


@dataclass(frozen=True)
class _Result:
    """``new``: makes room for it where it is to be. ``copied``: how it gets there, if it is written elsewhere."""

    slot: Slot
    entry: int
    new: Callable[[], Any]
    copied: _Copied | None


class PreparedOnDevice:
    """Calls of one signature on a GPU, all decided but for the addresses. Attributes as of `prepared.Prepared`.

    Where an array was on the device, results are; else they are NumPy arrays."""

    def __init__(
        self,
        built: Built,
        extents: Extents,
        arguments: Mapping[str, Any],
        bare: bool,
        p: int,
        fixed: frozenset[str] = frozenset(),
    ):
        """Parameters as of `prepared.Prepared`."""
        from ..runtime.cuda import cupy_module

        self.built, self.extents = built, extents
        self._p, self._bare, self._loaded = p, bare, built.loaded
        self._cupy = cupy = cupy_module()
        self._device = cupy.cuda.runtime.getDevice()
        self._stays = any(isinstance(a, cupy.ndarray) and a.ndim for a in arguments.values())
        self._own = 0  # bytes of a call's own memory
        slots = built.artifact.slots
        self._constants: list[Any] = []  # numbers and fixed arrays, on the device; the table points to them
        self._kept: dict[str, numpy.ndarray] = {}  # fixed arrays on the host
        self._places: list[tuple[int, int, int, bool]] = []  # of fixed arrays: see `apart`
        self._inputs: list[tuple[int, str]] = []
        self._copied: list[_Copied] = []  # from the host
        self._moved: list[tuple[_Copied, int]] = []  # to a fixed array at an address, behind the kernel
        self._outputs: list[_Result] = []
        row = [0] * (4 * max(1, len(slots)))
        for k, s in enumerate(slots):
            value: Any = arguments.get(s.name)
            is_array = getattr(value, "ndim", 0) > 0
            row[4 * k + 1] = s.nbytes if is_array and not s.shared else 0
            if is_array and isinstance(value, cupy.ndarray):
                if s.name in fixed:
                    self._constants.append(value)
                    row[4 * k] = at = value.data.ptr
                    self._places.append((at, at + value.nbytes, k, s.writes))
                else:
                    self._inputs.append((k, s.name))
            elif is_array and isinstance(value, numpy.ndarray):
                self._copied.append(self._room(s, k, value.nbytes))
                if s.name in fixed:
                    self._kept[s.name] = value
            elif value is not None:
                self._constants.append(cupy.asarray(arrays.checked(value, s, "row")))
                row[4 * k] = self._constants[-1].data.ptr
            if s.writes:
                row[4 * k + 3] = s.nbytes
                if s.name not in fixed:
                    self._outputs.append(self._output(s, k))
                elif built.artifact.schedule in IN_PLACE:
                    row[4 * k + 2] = row[4 * k]
                else:
                    self._moved.append((self._room(s, k, p * s.nbytes), row[4 * k]))
        self._row, self._table = row, ctypes.c_longlong * len(row)
        self._wanted = {o.slot.name: (shape_of(o.slot, p, "row"), numpy.dtype(o.slot.dtype)) for o in self._outputs}

    def _room(self, slot: Slot, entry: int, nbytes: int) -> _Copied:
        at, self._own = self._own, self._own + -(-nbytes // ALIGNED) * ALIGNED
        return _Copied(slot.name, entry, at, nbytes)

    def _output(self, slot: Slot, entry: int) -> _Result:
        if self._stays:
            return _Result(slot, entry, functools.partial(arrays.empty, slot, self._p, xp=self._cupy), None)
        copied = self._room(slot, entry, self._p * slot.nbytes)
        return _Result(slot, entry, functools.partial(arrays.empty, slot, self._p), copied)

    @property
    def across(self) -> int:
        """Bytes that a call copies to the device or from it."""
        copied = (*self._copied, *(o.copied for o in self._outputs if o.copied is not None))
        return sum(c.nbytes for c in copied)

    def __call__(self, inputs: Any, shared: Any, out: Any) -> Any:
        """(results, None); `MISS` where ``out`` needs a longer look."""
        done = self.by_name(inputs, shared, out)
        if done is MISS:
            return MISS
        results, exited = done
        return results if len(results) != 1 else results[self._outputs[0].slot.name], exited

    def by_name(self, inputs: Any, shared: Any, out: Any) -> Any:
        """The same, with results as a dict."""
        cupy = self._cupy
        if cupy.cuda.runtime.getDevice() != self._device:
            return MISS
        row = self._row.copy()
        ins = {}
        for k, name in self._inputs:
            ins[name] = array = self._given(name, inputs, shared)
            row[4 * k] = array.data.ptr
        given: Mapping[str, Any] | None = {}
        if out is not None:
            given = targets(out, self._wanted, cupy.ndarray if self._stays else numpy.ndarray)
        if given is None or not self._are_here(given) or not self._apart(ins, given):
            return MISS
        try:
            return self._run(row, inputs, shared, given), None
        except cupy.cuda.memory.OutOfMemoryError:
            return MISS
        except (cupy.cuda.driver.CUDADriverError, cupy.cuda.runtime.CUDARuntimeError) as e:
            from ..runtime.launch import failed

            raise failed(e, self._loaded, self.built.artifact.slots) from None

    def _given(self, name: str, inputs: Any, shared: Any) -> Any:
        array = shared.get(name) if shared is not None else None
        if array is None:
            array = self._kept.get(name)
        if array is None:
            array = inputs if self._bare else inputs[name]
        return array

    def _are_here(self, given: Mapping[str, Any]) -> bool:
        """Whether what a kernel writes itself is on its device."""
        return not self._stays or all(a.data.device_id == self._device for a in given.values())

    def _apart(self, ins: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
        """Whether no array overlaps one that is written, but for a variable its own input where that may be."""
        if not self._stays:
            places = [(at := address(a), at + a.nbytes, k, True) for k, a in enumerate(given.values())]
            return len(places) < 2 or apart(places)
        if not given and not self._places:
            return True
        places = self._places.copy()
        for k, s in enumerate(self.built.artifact.slots):
            for arrays_, written in ((ins, False), (given, True)):
                if s.name in arrays_:
                    at = arrays_[s.name].data.ptr
                    number = k if self.built.artifact.schedule in IN_PLACE or not written else -1 - k
                    places.append((at, at + arrays_[s.name].nbytes, number, written))
        return apart(places)

    def _run(self, row: list[int], inputs: Any, shared: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """The results. ``row``: the table, with the addresses of inputs on the device."""
        from ..runtime.cuda import pinned

        cuda = self._cupy.cuda
        copy, stream = cuda.runtime.memcpyAsync, cuda.get_current_stream().ptr
        memory = cuda.alloc(self._own) if self._own else None
        own = memory.ptr if memory is not None else 0
        awaited = not self._stays
        for c in self._copied:
            source = self._given(c.name, inputs, shared)
            awaited = awaited or pinned(source)
            row[4 * c.entry] = own + c.at
            copy(own + c.at, address(source), c.nbytes, UP, stream)
        results: dict[str, Any] = {}
        for o in self._outputs:
            name = o.slot.name
            results[name] = array = given[name] if name in given else o.new()
            if o.copied is None:
                row[4 * o.entry + 2] = array.data.ptr
            else:
                row[4 * o.entry + 2] = own + o.copied.at
                if array.dtype.kind == "V":  # between members is nothing
                    cuda.runtime.memsetAsync(own + o.copied.at, 0, o.copied.nbytes, stream)
        for c, _ in self._moved:
            row[4 * c.entry + 2] = own + c.at
        self._loaded.run_table(self._table(*row), self._p)
        for c, target in self._moved:
            copy(target, own + c.at, c.nbytes, ACROSS, stream)
        for o in self._outputs:
            if o.copied is not None:
                copy(address(results[o.slot.name]), own + o.copied.at, o.copied.nbytes, DOWN, stream)
        if awaited:  # from and to page-locked memory, which its owner may use again, copies go on behind the call
            cuda.runtime.streamSynchronize(stream)
        return results


def on_device(
    built: Built, extents: Extents, arguments: Mapping[str, Any], bare: bool, p: int, fixed: frozenset[str]
) -> PreparedOnDevice | None:
    """Calls of which one launch of each kernel does all inputs; None where each needs a longer look."""
    from ..runtime.cuda import CudaProgram, cupy_module

    if not isinstance(built.loaded, CudaProgram) or not built.loaded.in_one_turn(p):
        return None
    cupy = cupy_module()
    if any(
        s.name in fixed and s.writes and not isinstance(arguments.get(s.name), cupy.ndarray)
        for s in built.artifact.slots
    ):
        return None  # a state on the host
    here = cupy.cuda.runtime.getDevice()
    if any(isinstance(a, cupy.ndarray) and a.data.device_id != here for a in arguments.values()):
        return None  # copied, or refused
    call = PreparedOnDevice(built, extents, arguments, bare, p, fixed)
    return call if call.across <= SMALL else None
