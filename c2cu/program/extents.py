"""Which understanding of a program serves a call: by the shapes and the numbers that it brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..base.diagnostics import UnsupportedError
from ..base.recent import Recent
from ..frontend.options import Options
from ..frontend.preprocess import Source
from ..schedule.understood import Understood
from ..verdict import judge
from . import kept

TRIES = 8  # numbers that sizes come from which do not help
LENGTHS = 128  # shapes, values of shared scalars and magnitudes of p of which a program remembers what runs them


@dataclass(frozen=True)
class Extents:
    """``shapes``: of one input, by name; ``numbers``: scalar parameters that are given as one number; ``values``: of
    these, and of the shared ones, where they are known without asking a device; ``constants``: globals that the call
    does not bring and the kernel only reads, so that all inputs share the value that the C gives them; ``given``: those
    that it brings although they need not exist (`Understood.begun`)."""

    shapes: Mapping[str, tuple[int, ...]]
    numbers: tuple[str, ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    constants: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


class Understandings:
    """A program understood for each set of shapes and numbers that decide what it is. ``first``: as the source and the
    options have it; ``lengths``: its parameters that are one number for all inputs until a call says otherwise.
    ``strict``: see `judge`."""

    def __init__(self, source: Source, options: Options, layout: str, strict: bool | None):
        self._source, self._options, self._layout, self._strict = source, options, layout, strict
        self._fronts: Recent[Understood] = Recent(LENGTHS)
        self._unhelped: Recent[bool] = Recent(LENGTHS)  # the same stands in the way whatever these numbers are
        self._failed: Recent[dict[tuple, Understood]] = Recent(LENGTHS)  # by numbers of sizes that did not help
        self._faultless: Recent[bool] = Recent(LENGTHS)  # numbers that addresses depend on: none is out of bounds
        self.first = kept.asked(source, options)
        self.lengths = self.first.lengths
        if not self.lengths:
            judge(self.first, strict)

    def __len__(self) -> int:
        return len(self._fronts)

    def why_no_input(self, name: str) -> str:
        """Why a variable of the file is no input; "" where there is none, or nothing keeps it from that."""
        from ..frontend.kernel import why_no_input

        return why_no_input(self.first.program, name)

    def extents(self, arguments: Mapping[str, Any], shared: frozenset[str]) -> Extents:
        """What of a call decides which program runs."""
        from ..runtime import arrays

        arrays.check_names(arguments, self.first.slots, self.why_no_input)
        numbers = tuple(sorted(n for n, v in arguments.items() if self._is_number(n, v)))
        axes = {s.name: len(s.shape) for s in self.first.slots}
        rows = {s.name for s in self.first.slots if arrays.is_rows(arguments.get(s.name), s, self._layout)}
        arrived = ((n, v) for n, v in arguments.items() if n not in numbers and n not in rows and hasattr(v, "shape"))
        inner = {n: self._inner_shape(n, v, n in shared) for n, v in arrived}
        several = self.first.open_structs
        shapes = {  # of others no axis says which it is
            n: s for n, s in inner.items() if len(s) in (0, axes[n]) or (len(s) == 1 and n in several)
        }
        for s in self.first.slots:
            if s.name in arguments and s.name not in numbers and s.name not in inner and s.name not in rows:
                arrays.checked(arguments[s.name], s, self._layout)  # it is neither
            if -1 in s.shape and s.name in inner and s.name not in shapes and s.name not in shared:
                arrays.checked(arguments[s.name], s, self._layout)  # else it would be said that its length is not known
        one = {s.name for s in self.first.slots if not s.shape and (s.name in numbers or s.name in shared)}
        values = {n: v for n, v in arguments.items() if n in one and arrays.is_number(v)}
        given = tuple(n for n in self.first.begun if n in arguments)
        return Extents(shapes, numbers, values, self.constants(arguments), given)

    def constants(self, arguments: Mapping[str, Any]) -> tuple[str, ...]:
        """The globals that all inputs share because a call brings none of them, and the kernel only reads them."""
        return tuple(name for name in self.first.only_read if name not in arguments)

    def of(self, e: Extents) -> tuple[tuple, Understood]:
        """The program understood for these, and their key."""
        from ..runtime import arrays

        slots = self.first.slots
        differing = {s.name: e.shapes[s.name] for s in slots if e.shapes.get(s.name, s.shape) != s.shape}
        which = (tuple(sorted(differing.items())), e.numbers, e.constants, e.given)
        front = self._fronts.of(which, lambda: self._understood(replace(e, shapes=e.shapes if differing else {})))
        if (sizes := front.sized_by) and sizes <= e.values.keys():
            which, front = self._sized(e, sizes, front, which)
        scalars = [s for s in front.slots if s.name in e.values and not str(s.dtype).startswith("complex")]
        numbers = {s.name: arrays.checked(e.values[s.name], s, self._layout) for s in scalars}
        if numbers and front.why_no_gep and (*which, tuple(numbers)) not in self._unhelped:
            values = (*which, _bytes(numbers))  # of that type it may be for these: a number that a bound comes from
            special = self._fronts.of(values, lambda: self._with_numbers(e, numbers, front, which))
            if special is not front:
                return values, special
        self._refuse_faults(e, which, front, numbers)
        return which, front

    def _is_number(self, name: str, value: Any) -> bool:
        """A scalar parameter given as one number: shared."""
        alone = isinstance(value, (bool, int, float, complex)) or getattr(value, "shape", None) == ()
        return alone and name in self.first.scalars

    def _inner_shape(self, name: str, value: Any, shared: bool) -> tuple[int, ...]:
        shape = tuple(int(n) for n in value.shape)
        if shared or any(s.shared for s in self.first.slots if s.name == name):
            return shape
        return shape[1:] if self._layout == "row" else shape[:-1]

    def _with_numbers(self, e: Extents, numbers: Mapping[str, Any], front: Understood, which: tuple) -> Understood:
        """The program understood for these values of scalars that all inputs share; ``front``, understood for any,
        where they make no difference."""
        options = replace(self.options_of(e), values={n: v.item() for n, v in numbers.items()})
        special = kept.understand(self._source, options)
        if special.why_no_gep == front.why_no_gep:
            self._unhelped.of((*which, tuple(numbers)), lambda: True)
        return special if special.is_gep else front

    def _sized(self, e: Extents, names: frozenset[str], front: Understood, which: tuple) -> tuple[tuple, Understood]:
        """The program understood for these values of what its objects' sizes come from, and its key."""
        from ..runtime import arrays

        slots = [s for s in front.slots if s.name in names]
        numbers = {s.name: arrays.checked(e.values[s.name], s, self._layout) for s in slots}
        failed = self._failed.of(which, dict)
        if len(failed) >= TRIES:
            return which, next(iter(failed.values()))
        sized = (*which, _bytes(numbers))
        options = replace(self.options_of(e), values={n: v.item() for n, v in numbers.items()})

        def understood() -> Understood:
            special = kept.understand(self._source, options)
            judge(special if special.analysis is not None else front, self._strict)
            return special

        special = self._fronts.of(sized, understood)
        if special.analysis is not None:
            return sized, special
        failed.setdefault(sized, replace(front, why_not=special.why_not, origin=""))
        return which, next(iter(failed.values()))

    def _refuse_faults(self, e: Extents, which: tuple, front: Understood, numbers: Mapping[str, Any]) -> None:
        """Where addresses depend on such numbers, look for what goes wrong with them: once for each set of them."""
        unknown = front.unknown
        known = {n: v for n, v in numbers.items() if n in unknown}
        if not unknown or len(known) < len(unknown) or (*which, _bytes(known)) in self._faultless:
            return
        kept.faultless(front, {n: v.item() for n, v in known.items()})
        self._faultless.of((*which, _bytes(known)), lambda: True)

    def _understood(self, e: Extents) -> Understood:
        front = self.first
        if not e.shapes.keys() | self._options.shapes.keys() >= set(front.assumed):
            return kept.understand(self._source, self.options_of(e))  # which says where that stands
        if e.constants:
            try:
                front = kept.understand(self._source, self.options_of(e))
            except UnsupportedError:  # a statement writes them that is never reached
                e = replace(e, constants=())
        if not e.constants and (e.shapes or e.numbers or e.given):
            front = kept.understand(self._source, self.options_of(e))
        if self.lengths and not (front.sized_by and front.sized_by <= e.values.keys()):  # else `_sized` does
            judge(front, self._strict)
        return front

    def options_of(self, e: Extents) -> Options:
        return replace(
            self._options,
            shapes={**self._options.shapes, **e.shapes},
            shared=(*self._options.shared, *e.numbers),
            constants=(*self._options.constants, *e.constants),
            given=(*self._options.given, *e.given),
        )


def _bytes(numbers: Mapping[str, Any]) -> tuple[tuple[str, bytes], ...]:
    """A key: by bytes 0.0 is not -0.0, and NaN is NaN."""
    return tuple((n, v.tobytes()) for n, v in numbers.items())
