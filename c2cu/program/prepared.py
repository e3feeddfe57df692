"""A call that comes again: what decides how it is done is looked at once for all arrays of the same names, dtypes and
shapes, and remembered. What then remains of a call is where its arrays are."""

from __future__ import annotations

import ctypes
import functools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ..runtime import arrays
from ..runtime.addresses import address, apart
from ..runtime.recycled import LEAST
from ..schedule.artifact import CpuArtifact, CpuNativeArtifact, CudaArtifact
from ..schedule.slots import Slot, shape_of
from .brief import BRIEF, is_brief, may_be_brief
from .build import Built
from .contest import Calls
from .extents import Extents
from .signature import MISS, targets

if TYPE_CHECKING:
    from .prepared_cuda import PreparedOnDevice


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
        compared: Calls | None = None,
    ):
        """``arguments``: of the first of these calls. ``bare``: it is one array by itself. ``fixed``: the variables
        whose arrays are the same in each call; they are written in place. ``compared``: the calls of an open contest
        of which they are."""
        self.built, self.extents = built, extents
        self._compared = compared
        self._p, self._bare, self._loaded = p, bare, built.loaded
        slots = built.artifact.slots
        self._constants: list[Any] = []  # numbers and fixed arrays; the table points to them
        self._places: list[tuple[int, int, int, bool]] = []  # of fixed arrays: see `apart`
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
        self._wanted = {o.name: (o.shape, o.dtype) for o in self._outputs}
        ends = [(first, end) for first, end, _, written in self._places if written]
        self._written = (min(ends)[0], max(end for _, end in ends)) if ends else (0, 0)  # fixed arrays, and between
        self._slots, self._brief = len(slots), is_brief(built, p)
        self._measured = not self._brief and may_be_brief(built, p)  # how long a call takes says whether the next is

    def __call__(self, inputs: Any, shared: Any, out: Any) -> Any:
        """(results, exit statuses or None); `MISS` where ``out`` needs a longer look, or a contest the call."""
        done = self.by_name(inputs, shared, out)
        if done is MISS:
            return MISS
        results, exited = done
        return results if len(results) != 1 else results[self._outputs[0].name], exited

    def by_name(self, inputs: Any, shared: Any, out: Any) -> Any:
        """The same, with results as a dict."""
        if self._compared is not None and not self._compared.passes(self._p):
            return MISS
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
        given = {} if out is None else self._targets(out, row)
        if given is None:
            return MISS
        results: dict[str, Any] = {}
        outputs: list[Any] = [None] * self._slots
        for o in self._outputs:
            array = given.get(o.name)
            if array is None:
                array = o.new()
            results[o.name] = outputs[o.entry >> 2] = array
            row[o.entry] = address(array)
        table: Any = self._table(*row)
        if not self._brief:
            table.arrays = ins, outputs, self  # after Ctrl-C threads are still at work
        start = time.perf_counter() if self._measured else 0.0
        exited = self._loaded.run_table(table, outputs, self._p, self._brief)
        if self._measured:
            self._brief = time.perf_counter() - start <= BRIEF * 1e-9
        return results, exited

    def _targets(self, out: Any, row: list[int]) -> dict[str, Any] | None:
        """The arrays of ``out`` by name; None where one is not simply written to, or would be written to while it is
        still to be read. ``row``: where the inputs are."""
        out = targets(out, self._wanted, numpy.ndarray)
        if out is None:
            return None
        places = self._places.copy()
        for o in self._outputs:
            if o.name in out:
                at = address(out[o.name])
                places.append((at, at + out[o.name].nbytes, o.entry // 4, True))
        slots = self.built.artifact.slots
        for entry, _ in self._inputs:
            s, at = slots[entry // 4], row[entry]
            places.append((at, at + (s.nbytes if s.shared else self._p * s.nbytes), entry // 4, False))
        return out if apart(places) else None


def _output(slot: Slot, entry: int, p: int) -> _Output:
    shape, dtype = shape_of(slot, p, "row"), numpy.dtype(slot.dtype)
    new = functools.partial(arrays.empty, slot, p)
    if dtype.kind != "V" and p * slot.nbytes < LEAST:
        new = functools.partial(numpy.empty, shape, dtype)  # the same
    return _Output(slot.name, entry, shape, dtype, new)


AnyPrepared: TypeAlias = "Prepared | PreparedOnDevice"


def prepared(
    built: Built,
    extents: Extents,
    arguments: Mapping[str, Any],
    bare: bool,
    layout: str,
    p: int,
    fixed: frozenset[str] = frozenset(),
) -> AnyPrepared | None:
    """The calls that are as one that has returned was; None where each needs a longer look."""
    built = built.faster
    compared = None
    if built.contest is not None and p:
        calls = built.contest.calls(p)
        compared = calls if calls.winner is None else None
        leader = calls.leader(p)
        built = built if leader is built.contest.first else leader
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
        from .prepared_cuda import on_device

        return on_device(built, extents, arguments, bare, p, fixed)
    return Prepared(built, extents, arguments, bare, p, fixed, compared)
