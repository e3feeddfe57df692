"""Whether an update leaves row k and column k as they are, as far as its form tells."""

from __future__ import annotations

from collections.abc import Mapping

from ..ir.nodes import Region, Var, Variable
from .cell import replaced
from .form import Gep


def moves(g: Gep, rows_outside: bool, late: Mapping[Variable, int]) -> tuple[bool, bool]:
    """(row, column): whether a read of row k or of column k, in the sequential program, may come after a store that
    changes it in the same step. ``late``: the level of the loop that a place is read in, 2 for the innermost."""
    row: set[Region] = set()
    column: set[Region] = set()
    for part in (g.update, *g.scale):
        for p in part.places:
            level = late.get(p.variable, 0)
            if p.where == "kk" and level > 0:
                row.add(p.region)
            if part is g.update and p.where == "kj" and (rows_outside or level == 2):
                row.add(p.region)
            if part is g.update and p.where == "ik" and (not rows_outside or level == 2):
                column.add(p.region)
    return any(not _row_stays(g, r) for r in row), any(not _column_stays(g, r) for r in column)


def _row_stays(g: Gep, r: Region) -> bool:
    k, i, _ = g.counters
    return not g.update.rows.has_k() or _stays(g, r, {i: k}, {"ij": "kj", "ik": "kk"})


def _column_stays(g: Gep, r: Region) -> bool:
    k, _, j = g.counters
    return not g.update.columns.has_k() or _stays(g, r, {j: k}, {"ij": "ik", "kj": "kk"})


def _stays(g: Gep, r: Region, counters: dict[Variable, Variable], places: dict[str, str]) -> bool:
    value = dict(g.update.values).get(r)
    if value is None:
        return True
    names = {(p.region, p.where): p.variable for p in g.update.places}
    by = dict(counters)
    for p in g.update.places:
        if p.where in places:
            where = places[p.where]
            by[p.variable] = names.get((p.region, where), Variable(f"{p.region.name}[{where}]", p.region.type, -1))
    old = by.get(names.get((r, "ij"), Variable("", r.type)))
    return replaced(value, by) == (Var(old) if old is not None else None)
