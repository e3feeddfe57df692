"""Variables that stay from call to call: a program stepped on, as a loop of C calls its function again and again."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy

from .. import backends
from ..base import catalogue, libc, quantities
from ..base.ctype import Pointer, leaf_element, object_leaves
from ..base.diagnostics import Error, ExitError, did_you_mean, lines_of
from ..base.memory import enough_memory
from ..frontend.options import by_name, whole
from ..schedule import registry
from ..schedule.artifact import CpuNativeArtifact
from ..schedule.slots import Slot, require_extents, shape_of
from ..schedule.understood import Understood
from .extents import Extents
from .prepared import AnyPrepared, prepared
from .random_state import first_values
from .run import ended_early
from .signature import MISS, signature
from .verify import FLAGS, NATIVE, patient

ALIGNED = 64  # bytes: where each variable begins


class State:
    """The variables of p inputs that stay from step to step, made by `Program.state`.

    ``state["x"]`` is the variable ``x`` of all inputs, ``(p, *shape)``: a view, which may be read and written between
    steps; ``state["x"] = a`` is the same as ``state["x"][...] = a``, checked. On the CPU it is a NumPy array, on CUDA a
    CuPy array (where a variable of the program is a struct: a NumPy array). One thread at a time may work with a state.

    Attributes:
        program: The program that is stepped.
        p: The number of inputs.
        names: The variables that stay, those first that the kernel writes.
    """

    def __init__(self, program: Any, asked: tuple[str, ...] | None, p: int, initial: Any, shared: Any):
        """``program``: a `Program` all of whose outputs come out. ``asked``: those that the user names, if any."""
        self.program, self.p = program, whole("p", p)
        if not 0 <= self.p <= quantities.MOST:
            raise catalogue.BAD_COUNT.error(p=p, most=quantities.MOST)
        self._layout = program.layout
        values, self._shared = dict(by_name("initial", initial)), dict(by_name("shared", shared))
        values = first_values(values, {s.name: s for s in program.slots}, self._seeds, self._layout)
        front = self._front(values)
        require_extents(front.slots)
        native = registry.emit_schedule(NATIVE, front, backend="cpu")
        assert isinstance(native, CpuNativeArtifact)
        refuse_lost(front, native)
        written = tuple(s for s in front.slots if s.reads and s.writes and not s.shared)
        if not written:
            raise catalogue.NO_STATE.error(front.program.kernel.loc, kernel=front.kernel_name)
        only_read = (s for s in front.slots if s.name in values and s.reads and not s.writes and not s.shared)
        self._slots = {s.name: s for s in (*written, *only_read)}
        for name in values:
            self._slot(name, [s.name for s in front.slots if s.reads and not s.shared])
        self.names = tuple(self._slots)
        self._results = tuple(s.name for s in front.slots if s.writes and s.name not in self._slots)
        # What the kernel only writes stays too, as some of it may not be written; but it is written for the caller.
        self._copies = tuple(s.name for s in written if s.keeps)
        if asked is not None:
            self._copies = tuple(n for n in self.names if n in asked)
            self._results = tuple(n for n in self._results if n in asked or n == "status")
        start = backends.loader("cpu")(replace(native, flags=(*native.flags, *FLAGS))).initial()
        self._shared = {n: _contiguous(a) for n, a in self._shared.items()}
        self._device = None
        if program.backend == "cuda" and all(isinstance(s.dtype, str) for s in front.slots):
            from ..runtime.cuda import cupy_module

            self._device = cupy_module()
        self._start = {s.name: self._placed(self._started(s, values, start)) for s in self._slots.values()}
        self._arrays = self._room()
        self._fixed = frozenset((*self.names, *self._shared))
        self._calls: dict[Hashable, AnyPrepared] = {}
        self.reset()

    def __repr__(self) -> str:
        from ..runtime import arrays

        variables = "; ".join(f"{n}: {arrays.words(s, self._layout)}" for n, s in self._slots.items())
        return f"<c2cu.State p={self.p}, {variables}>"

    def __getitem__(self, name: str) -> Any:
        self._slot(name, self.names)
        return self._arrays[name]

    def __setitem__(self, name: str, value: Any) -> None:
        with lines_of(self.program.sources):
            slot = self._slot(name, self.names)
            self._arrays[name][...] = self._placed(self._checked(value, slot))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def step(self, inputs: Any = None, *, out: Any = None) -> Any:
        """Run the program once for each of the p inputs, on the state as it is.

        Args:
            inputs: What the program reads beside its state: one array ``(p, *shape)`` where that is one variable, else
                a dict of arrays and numbers by C name.
            out: An array, or a dict of arrays by C name, to write results to.

        Returns:
            What the program writes beside its state, and copies of what it never reads and may leave unwritten in part,
            which stays too; or what ``outputs=`` of `compile` names, as copies where it is of the state. One array
            where that is one variable, else a dict by C name. They are where the state is: on CUDA they are CuPy
            arrays, wherever the inputs come from.

        Raises:
            InputError: An array is wrong.
            ExitError: Some inputs ended early; see `bulk`. Their variables are what they were then.

        After Ctrl-C the variables have any values until `reset`, and arrays that were taken from the state before are
        no part of it any more.
        """
        try:
            return self._stepped(inputs, out)
        except Exception:
            raise
        except BaseException:  # threads may still be at work: the state moves away from them
            before, self._arrays = self._arrays, self._room()
            for name, array in before.items():
                self._arrays[name][...] = array
            self._calls.clear()
            raise

    def _stepped(self, inputs: Any, out: Any) -> Any:
        signed = signature(inputs, None, None)
        call = self._calls.get(signed)
        if call is not None:
            try:
                done = call.by_name(inputs, None, out)
                if done is not MISS:
                    results, exited = done
                    if exited is not None:
                        ended_early(exited, call.built, self._chosen(results))
                    return self._chosen(results)
            except (Error, MemoryError):
                with lines_of(self.program.sources), enough_memory():
                    raise
        with lines_of(self.program.sources):
            return self._step(inputs, out, signed)

    def reset(self, mask: Any = None) -> None:
        """Set inputs back to the values that they had at first.

        Args:
            mask: Which: a bool array ``(p,)``; without it, all.

        Raises:
            InputError: The mask is of another shape or dtype.
        """
        if mask is not None and (getattr(mask, "shape", None), str(getattr(mask, "dtype", ""))) != ((self.p,), "bool"):
            raise catalogue.STATE_MASK.error(
                shape=getattr(mask, "shape", ()), dtype=getattr(mask, "dtype", type(mask).__name__), p=self.p
            )
        where = Ellipsis if mask is None else self._placed(mask)
        for name, array in self._arrays.items():
            start = self._start[name]
            self._rows(array)[where] = start if len(start) != self.p else start[where]

    # How a state is made

    def _front(self, values: Mapping[str, Any]) -> Understood:
        """The program understood for the shapes of these arrays."""
        program = self.program
        shapes = {n: tuple(a.shape) for n, a in {**values, **self._shared}.items() if getattr(a, "shape", ())}
        inner = {n: s if n in self._shared else s[1:] if program.layout == "row" else s[:-1] for n, s in shapes.items()}
        known = {s.name: s for s in program.slots}
        fitting = {n: s for n, s in inner.items() if n in known and len(s) == len(known[n].shape)}
        return program.understood(Extents(fitting, ()))

    def _slot(self, name: Any, known: Any) -> Slot:
        if name not in self._slots:
            raise catalogue.UNKNOWN_VARIABLE.error(
                role="state variable", name=name, meant=did_you_mean(str(name), known), known=list(known)
            )
        return self._slots[name]

    def _checked(self, value: Any, slot: Slot) -> Any:
        """``value`` if it fits the variable: an array for p inputs, or a number for all of a scalar."""
        from ..runtime import arrays

        if arrays.is_number(value) and not slot.shape:
            return arrays.checked(value, replace(slot, shared=True), self._layout)
        array = arrays.checked(value, slot, self._layout)
        arrays.common_p({slot.name: array}, (slot,), self._layout, self.p)
        return array

    def _seeds(self, value: Any, slot: Slot) -> numpy.ndarray:
        """A seed for each input, on the host."""
        checked = self._checked(value, slot)
        host = checked.get() if hasattr(checked, "get") else numpy.asarray(checked)
        return numpy.ascontiguousarray(numpy.broadcast_to(host, (self.p,)))

    def _started(self, slot: Slot, values: Mapping[str, Any], start: Mapping[str, bytes]) -> Any:
        """A variable's first values as rows: p of them, or one for all."""
        from ..runtime import arrays

        if slot.name in values:
            checked = self._checked(values[slot.name], slot)
            return self._rows(checked).copy() if checked.shape else checked.reshape(1).copy()
        if slot.name not in start:
            shape = shape_of(slot, self.p, self._layout)
            how = f"give initial values: an array of shape {shape} and dtype {numpy.dtype(slot.dtype)}"
            raise catalogue.MISSING_INPUT.error(slot.loc, name=slot.name, how=how)
        row = numpy.frombuffer(start[slot.name], numpy.dtype(slot.dtype)).reshape(1, *slot.shape)
        return arrays.checked(row, slot, "row")

    def _placed(self, array: Any) -> Any:
        """An array where the variables are."""
        return array if self._device is None else self._device.asarray(array)

    def _room(self) -> dict[str, Any]:
        """Room for the variables: in one piece of memory, or on the device."""
        slots = self._slots.values()
        if self._device is not None:
            return {s.name: self._device.empty(shape_of(s, self.p, self._layout), s.dtype) for s in slots}
        places, at = {}, 0
        for s in slots:
            places[s.name], at = at, at + -(-self.p * s.nbytes // ALIGNED) * ALIGNED
        memory = numpy.zeros(at + ALIGNED, numpy.uint8)
        first = -memory.ctypes.data % ALIGNED
        out = {}
        for s in slots:
            begin = first + places[s.name]
            flat = memory[begin : begin + self.p * s.nbytes].view(s.dtype)
            out[s.name] = flat.reshape(shape_of(s, self.p, self._layout))
        return out

    def _rows(self, array: Any) -> Any:
        """A view with the inputs along the first axis."""
        return array if self._layout == "row" else array.transpose(array.ndim - 1, *range(array.ndim - 1))

    # A step

    def _step(self, inputs: Any, out: Any, signed: Hashable | None) -> Any:
        """A step that is unlike those before."""
        from ..runtime import arrays

        slots = tuple(s for s in self.program.slots if s.name not in self._arrays)
        named = by_name("inputs", arrays.named(inputs, slots))
        for name in named:
            if name in self._arrays:
                raise catalogue.IN_STATE.error(name=name)
        arrays.check_known(named, slots)
        targets = self._named_targets(out)
        arguments = {**self._arrays, **named}
        written = {n: a for n, a in self._arrays.items() if self._slots[n].writes}
        try:
            with patient():  # a state cannot be mended later
                results = self.program(arguments, shared=self._shared, out={**targets, **written}, p=self.p)
        except ExitError as e:
            e.outputs = self._chosen(e.outputs)
            self._remember(signed, inputs, arguments)
            raise
        self._remember(signed, inputs, arguments)
        return self._chosen(results)

    def _named_targets(self, out: Any) -> dict[str, Any]:
        if out is None:
            return {}
        if not isinstance(out, Mapping):
            if len(self._results) != 1:
                raise catalogue.BARE_OUT.error(names=list(self._results))
            return {self._results[0]: out}
        for name in out:
            if name not in self._results:
                raise catalogue.UNKNOWN_VARIABLE.error(
                    role="output", name=name, meant=did_you_mean(str(name), self._results), known=list(self._results)
                )
        return dict(out)

    def _remember(self, signed: Hashable | None, inputs: Any, arguments: Mapping[str, Any]) -> None:
        """How a step was done, for those that are like it."""
        bare = inputs is not None and not isinstance(inputs, Mapping)
        if signed is None:
            return
        every = {**arguments, **self._shared}
        extents, built = self.program.extents_and_built(every, frozenset(self._shared), self.p)
        call = prepared(built, extents, every, bare, self._layout, self.p, self._fixed)
        if call is not None:
            if len(self._calls) >= CALLS:
                self._calls.clear()
            self._calls[signed] = call

    def _chosen(self, results: Any) -> Any:
        """Of a step's results those that are the user's. An array by itself is a variable of the state."""
        chosen = {n: results[n] for n in self._results} if isinstance(results, dict) else {}
        chosen.update((n, self._arrays[n].copy()) for n in self._copies)
        return next(iter(chosen.values())) if len(chosen) == 1 else chosen


CALLS = 64  # signatures of steps that a state remembers


def _contiguous(value: Any) -> Any:
    """An array as calls that come again take it, which only know where it is."""
    if isinstance(value, numpy.ndarray) and value.ndim:
        return numpy.ascontiguousarray(value)
    cupy: Any = sys.modules.get("cupy")
    if cupy is not None and isinstance(value, cupy.ndarray) and value.ndim:
        return cupy.ascontiguousarray(value)
    return value


def refuse_lost(front: Understood, native: CpuNativeArtifact) -> None:
    """Raise UnsupportedError for what the program keeps from call to call, and no variable of a state holds."""
    from ..analysis.effects import effects, may_write
    from ..frontend.kernel import static_locals

    for name, loc in native.calls:
        if name in libc.COUNTS:
            what, how = f"what '{name}' remembers", "use a generator of the program's, with its state in a global"
            raise catalogue.LOST_STATE.error(loc, what=what, how=how)
    written = may_write(front.program)
    for s in static_locals(front.program):
        if not s.is_constant and s in written:
            how = "declare it outside the function: then it is a variable of the state"
            raise catalogue.LOST_STATE.error(s.loc, what=f"the static local '{s.name}'", how=how)
    e = effects(front.kernel) if front.kernel is not None else None
    for b in front.program.parameters:
        if b.kind == "return" or b.shared or b.by_value or b.symbol not in written:
            continue
        for leaf in object_leaves(b.type):
            name = b.name + leaf.path
            touched = e is None or name in e.reads or name in e.writes
            if isinstance(leaf_element(leaf.type), Pointer) and (touched or b.kind == "global" and not leaf.path):
                how = "keep a subscript instead of the address"
                raise catalogue.LOST_STATE.error(b.loc, what=f"the address in '{name}'", how=how)
