"""Every batch is checked against the first one before its inputs join a group."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from ..base import catalogue
from ..base.diagnostics import InputError
from ..runtime import arrays
from ..schedule.slots import Slot, piece
from .batcher import Arrays


@dataclass(frozen=True)
class CountOnly:
    """The batch of a program that takes no arrays: ``p`` inputs."""

    p: int


class BatchCheck:
    """A function from a batch to its arrays, one a slot, and how many inputs they are. It raises InputError.

    ``slots``: the program's, with all extents known; ``first``: the first batch, by name; ``shared``: arrays and
    numbers for all inputs. ``fixed``: these, checked, one a slot or None; ``batched``: which slots come in batches;
    ``outputs``: the names of the outputs.
    """

    def __init__(self, slots: tuple[Slot, ...], layout: str, first: Mapping[str, Any], shared: Mapping[str, Any]):
        self.slots, self._layout, self._shared = slots, layout, dict(shared)
        arrays.check_names({**first, **shared}, slots)
        fixed = {s.name for s in slots if s.shared}
        constant = {n: a for n, a in {**first, **shared}.items() if n in fixed}
        self.fixed = tuple(
            numpy.array(arrays.checked(constant[s.name], s, layout), order="C") if s.name in constant else None
            for s in slots
        )
        self.batched = tuple(s.name in first and s.name not in fixed for s in slots)
        self.outputs = tuple(s.name for s in slots if s.writes)
        batched = [s for s, b in zip(slots, self.batched) if b]
        self._only = batched[0] if len(batched) == 1 else None
        self._count = 0

    def __call__(self, batch: Any) -> tuple[Arrays, int]:
        self._count += 1
        try:
            return self.arrays(batch)
        except InputError as e:
            if self._count == 1:
                raise
            d = e.diagnostic
            raise type(e)(d.code, f"batch {self._count}: {d.message}", d.loc, d.hint, d.notes) from None

    def arrays(self, batch: Any) -> tuple[Arrays, int]:
        """The same, without the batch's number in messages."""
        if isinstance(batch, CountOnly):
            return tuple(None for _ in self.slots), batch.p
        if self._is_surely_right(batch):
            return tuple(batch if b else None for b in self.batched), len(batch)
        named = arrays.named(batch, self.slots)
        arrays.check_names({**named, **self._shared}, self.slots)
        checked = {s.name: self._checked(s, named, b, f) for s, b, f in zip(self.slots, self.batched, self.fixed)}
        present = {n: a for n, a in checked.items() if a is not None}
        return tuple(checked.values()), arrays.common_p(present, self.slots, self._layout, None)

    def _checked(self, slot: Slot, named: Mapping[str, Any], batched: bool, fixed: Any) -> Any:
        """A slot's array if it comes in batches, else None."""
        if slot.name not in named:
            if batched:
                raise catalogue.BATCH_LACKS.error(slot.loc, name=slot.name)
            return None
        array = arrays.checked(named[slot.name], slot, self._layout)
        if fixed is not None and numpy.array(array, order="C").tobytes() != fixed.tobytes():
            raise catalogue.SHARED_CHANGED.error(slot.loc, name=slot.name)
        if not batched and fixed is None:
            raise catalogue.BATCH_ADDS.error(slot.loc, name=slot.name)
        return array if batched else None

    def _is_surely_right(self, batch: Any) -> bool:
        """A quick look that settles it for most batches: there may be millions."""
        slot = self._only
        if slot is None or slot.most is not None or self._layout != "row" or type(batch) is not numpy.ndarray:
            return False
        return batch.dtype == slot.dtype and batch.ndim > 0 and batch.shape[1:] == slot.shape


def regrouped(
    batches: Iterator[Any], check: BatchCheck, group: int | None, layout: str
) -> Iterator[tuple[Arrays, float]]:
    """Arrays on a device, with ``group`` inputs each, and the time at which the first of these arrived. The last arrays
    may have fewer; None: batches stay as they are."""
    axis = 0 if layout == "row" else -1
    waiting: list[Arrays] = []
    count, arrived = 0, time.perf_counter()
    for batch in batches:
        parts, p = check(batch)
        if not count:
            arrived = time.perf_counter()
        waiting.append(parts)
        count += p
        size = group or count
        while count and count >= size:
            joined = _joined(waiting, axis)
            yield _part(joined, 0, size, layout), arrived
            waiting, count = [_part(joined, size, count, layout)], count - size
    if count:
        yield _joined(waiting, axis), arrived


def _joined(parts: list[Arrays], axis: int) -> Arrays:
    from ..runtime.cuda import joined

    return parts[0] if len(parts) == 1 else tuple(None if c[0] is None else joined(c, axis) for c in zip(*parts))


def _part(parts: Arrays, start: int, stop: int, layout: str) -> Arrays:
    return tuple(None if a is None else a[piece(layout, start, stop)] for a in parts)
