"""Batches as a program wants them: every one is checked against the first before its inputs join a group."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy

from ..base.diagnostics import InputError
from ..runtime import arrays
from ..schedule.artifact import Slot, piece
from .batcher import Arrays


@dataclass(frozen=True)
class Count:
    """A batch of a program that takes no arrays: ``p`` inputs."""

    p: int


class Batches:
    """A function from a batch to its arrays, one a slot, and how many inputs they are; it raises InputError.

    ``slots``: the program's, with every extent known; ``first``: the first batch, by name; ``shared``: arrays and
    numbers for all inputs. ``fixed``: these, checked, one a slot or None; ``given``: which slots come in batches.
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
        self.given = tuple(s.name in first and s.name not in fixed for s in slots)
        self.outputs = tuple(s.name for s in slots if s.writes)
        bulk = [s for s, g in zip(slots, self.given) if g]
        self._bare = bulk[0] if len(bulk) == 1 else None
        self._seen = 0

    def __call__(self, batch: Any) -> tuple[Arrays, int]:
        self._seen += 1
        try:
            return self.arrays(batch)
        except InputError as e:
            if self._seen == 1:
                raise
            d = e.diagnostic
            raise type(e)(d.code, f"batch {self._seen}: {d.message}", d.loc, d.hint, d.notes) from None

    def arrays(self, batch: Any) -> tuple[Arrays, int]:
        """The same, for a batch of whatever number."""
        if isinstance(batch, Count):
            return tuple(None for _ in self.slots), batch.p
        if self._is_usual(batch):
            return tuple(batch if g else None for g in self.given), len(batch)
        named = arrays.named(batch, self.slots)
        arrays.check_names({**named, **self._shared}, self.slots)
        found: dict[str, Any] = {}
        for s, given, fixed in zip(self.slots, self.given, self.fixed):
            if s.name not in named:
                if given:
                    raise InputError("C2CU040", f"input '{s.name}' is missing", s.loc, "the first batch had it")
                continue
            array = arrays.checked(named[s.name], s, self._layout)
            if fixed is not None and numpy.array(array, order="C").tobytes() != fixed.tobytes():
                raise InputError(
                    "C2CU047", f"'{s.name}' is shared by all inputs, but differs from the first batch's", s.loc
                )
            if not given and fixed is None:
                raise InputError("C2CU041", f"the first batch had no '{s.name}'", s.loc, "give it in all batches")
            if given:
                found[s.name] = array
        p = arrays.common_p(found, self.slots, self._layout, None)
        return tuple(found.get(s.name) for s in self.slots), p

    def _is_usual(self, batch: Any) -> bool:
        """Whether nothing is wrong with a batch, for sure, and at little cost: there may be millions."""
        slot = self._bare
        if slot is None or slot.most is not None or self._layout != "row" or type(batch) is not numpy.ndarray:
            return False
        return batch.dtype == slot.dtype and batch.ndim > 0 and batch.shape[1:] == slot.shape


def regrouped(batches: Iterator[Any], check: Batches, group: int | None, layout: str) -> Iterator[tuple[Arrays, float]]:
    """Device arrays of ``group`` inputs each, the last may have fewer; None: as they come. With the time of arrival."""
    axis = 0 if layout == "row" else -1
    waiting: list[Arrays] = []
    count, arrived = 0, time.perf_counter()
    for batch in batches:
        found, p = check(batch)
        if not count:
            arrived = time.perf_counter()
        waiting.append(found)
        count += p
        size = group or count
        while count and count >= size:
            whole = _joined(waiting, axis)
            yield _part(whole, 0, size, layout), arrived
            waiting, count = [_part(whole, size, count, layout)], count - size
    if count:
        yield _joined(waiting, axis), arrived


def _joined(parts: list[Arrays], axis: int) -> Arrays:
    from ..runtime.cuda import joined

    return parts[0] if len(parts) == 1 else tuple(None if c[0] is None else joined(c, axis) for c in zip(*parts))


def _part(found: Arrays, start: int, stop: int, layout: str) -> Arrays:
    return tuple(None if a is None else a[piece(layout, start, stop)] for a in found)
