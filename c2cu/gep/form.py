"""What is known of a loop of Gaussian-elimination type.

Step k of the program is: ``scale`` (row k or column k is computed anew), then ``update``. In an update all (i, j) may
be done at once, or in any order, *if row k and column k keep their bits while it runs*: then every read sees what it
sees in the sequential program, and so do the steps after it, by induction. Where the form of the program does not prove
that (``row_moves``, ``column_moves``), who runs it compares the bits at each step; a Floyd-Warshall moves them only on
a negative cycle.

Nor need a step be finished before the next begins: with copies of column k and row k taken at step k, an element may
take its steps whenever these copies are there, as long as it takes them in order. Blocked schedules are exact so, for
any f and for floating point.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..base.diagnostics import Loc
from ..ir.nodes import Expr, Region, Variable


@dataclass(frozen=True)
class Place:
    """What an expression of a part reads: ``variable`` stands for element ``where`` of ``region``: "ij", "ik", "kj" or
    "kk", row before column."""

    variable: Variable
    region: Region
    where: str


@dataclass(frozen=True)
class Range:
    """A counter's values: ``low`` <= x < ``high``, or k + ``low`` <= x where it begins ``after`` k."""

    low: int
    high: int
    after: bool = False

    def start(self, k: int) -> int:
        return self.low + k if self.after else self.low

    def has_k(self) -> bool:
        """Whether x may be k."""
        return not self.after or self.low <= 0


@dataclass(frozen=True)
class Part:
    """``values``: for each region that it writes, at ``where``, the new value, in terms of ``places`` and of the
    counters. ``rows``/``columns``: which (i, j); one of them is k alone where ``where`` says so."""

    where: str
    values: tuple[tuple[Region, Expr], ...]
    places: tuple[Place, ...]
    rows: Range
    columns: Range
    loc: Loc


@dataclass(frozen=True)
class Gep:
    """``counters``: k, i (of rows) and j (of columns), as variables of the values. ``strides``: elements from a row of
    a region to the next. ``scale``: in order, each over a part of row k ("kj") or column k ("ik"), before the update of
    the same step. ``row_moves``/``column_moves``: whether an update may change what it reads of row k or column k.
    ``rows_outside``: whether the loop over rows is around the one over columns. ``levels``: of the update's places in
    row k and column k, the loop that reads it: 0 of k, 1 the next, 2 the innermost; -1 where that is not one alone."""

    k: Range
    counters: tuple[Variable, Variable, Variable]
    strides: tuple[tuple[Region, int], ...]
    scale: tuple[Part, ...]
    update: Part
    row_moves: bool
    column_moves: bool
    loc: Loc
    rows_outside: bool = True
    levels: tuple[tuple[Variable, int], ...] = ()

    def element(self, region: Region, where: str) -> str:
        """An element as C has it: "D[i][k]"."""
        return element(region, where, self.counters)

    @property
    def regions(self) -> tuple[Region, ...]:
        return tuple(r for r, _ in self.strides)

    @property
    def rows(self) -> int:
        """Rows that are touched, of any matrix."""
        return max(self.k.high, *(p.rows.high for p in (*self.scale, self.update)))

    @property
    def columns(self) -> int:
        return max(self.k.high, *(p.columns.high for p in (*self.scale, self.update)))

    @property
    def updates(self) -> int:
        """How often f is evaluated."""
        u = self.update
        return sum(
            max(0, u.rows.high - u.rows.start(k)) * max(0, u.columns.high - u.columns.start(k))
            for k in range(self.k.low, self.k.high)
        )


def element(region: Region, where: str, counters: tuple[Variable, Variable, Variable]) -> str:
    """Element ``where`` of a region as C has it, with the names of k, i and j."""
    names = dict(zip("kij", (v.name for v in counters)))
    return f"{region.name}[{names[where[0]]}][{names[where[1]]}]"


@dataclass(frozen=True)
class NotGep:
    """Three loops in one another that are not of the type: what stands in the way, and where. ``is_near``: they look as
    if they were meant to be."""

    message: str
    loc: Loc
    is_near: bool = True
