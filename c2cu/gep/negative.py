"""Negative cycles: what a shortest-path program leaves on the diagonal where its input has one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..ir.nodes import Binary, Cast, Expr, Region, Var, Variable
from ..ir.walk import rewrite
from .choice import choices, extremum, guarded
from .form import Gep


class NegativeCycleWarning(UserWarning):
    """An input has a negative cycle: where it can be reached from there are no shortest paths. ``name``: of the matrix
    of distances; ``input``: the number of the first input; ``vertex``: its first vertex on such a cycle; ``count``: of
    inputs that have one."""

    def __init__(self, name: str, input: int, vertex: int, count: int):
        self.name, self.input, self.vertex, self.count = name, input, vertex, count
        more = f" (and {count - 1} more input{'s' * (count > 2)} with one)" if count > 1 else ""
        super().__init__(
            f"input {input}: vertex {vertex} is on a negative cycle, {name}[{vertex}][{vertex}] is below 0{more}:"
            " where it can be reached from there are no shortest paths"
        )


def distances(g: Gep) -> tuple[tuple[Region, int], ...]:
    """The matrices of distances, each with its row's length: ``X[i][j] = min(X[i][j], X[i][k] + X[k][j])``, of numbers
    that may be negative, updated wherever there is a diagonal."""
    return tuple((r, n) for r, n in g.strides if r.type.kind in ("i", "f") and _is_distance(g, r))


def _is_distance(g: Gep, r: Region) -> bool:
    value = dict(g.update.values).get(r)
    places = {p.where: p.variable for p in g.update.places if p.region == r}
    if g.scale or value is None or not {"ij", "ik", "kj"} <= places.keys():
        return False
    return _is_shorter(value, places["ij"], {places["ik"], places["kj"]})


def _is_shorter(value: Expr, old: Variable, via: set[Variable]) -> bool:
    """Whether ``value`` is the lesser of an element and a sum, or, under some condition, the element as it is."""
    value = rewrite(value, lambda x: x.operand if isinstance(x, Cast) else x)
    called = extremum(value, old)
    if called is not None:
        return called.op == "<" and _is_sum(called.t, via)
    less = (c.t for c in choices(value, old) if c.op in ("<", "<=") and c.x == Var(old))
    return _is_sum(guarded(value, old)[1], via) and any(_is_sum(t, via) for t in less)


def _is_sum(e: Expr, via: set[Variable]) -> bool:
    return isinstance(e, Binary) and e.op == "+" and {x.var for x in (e.left, e.right) if isinstance(x, Var)} == via


def cycle_warnings(g: Gep, results: Mapping[str, Any], layout: str) -> Iterator[NegativeCycleWarning]:
    """For each matrix of distances with an element below 0 on its diagonal: a warning with the first such input and
    vertex. ``results``: outputs by name, arrays of NumPy or of a module like it, batch-first or, for
    ``layout="column"``, with the inputs last. Reads the diagonals alone; of an array on a device it waits for them."""
    for r, stride in distances(g):
        if r.name not in results:
            continue
        below = _diagonal(results[r.name], min(g.rows, g.columns), stride, layout) < 0
        if not bool(below.any()):
            continue
        inputs = below.any(1)
        first, count = int(inputs.argmax()), int(inputs.sum())
        yield NegativeCycleWarning(r.name, first, int(below[first].argmax()), count)


def _diagonal(a: Any, n: int, stride: int, layout: str) -> Any:
    """(p, n): each input's diagonal."""
    if layout == "row":
        return a.diagonal(0, 1, 2)[:, :n] if a.ndim == 3 else a.reshape(len(a), -1)[:, :: stride + 1][:, :n]
    return a.diagonal(0, 0, 1)[:, :n] if a.ndim == 3 else a.reshape(-1, a.shape[-1])[:: stride + 1][:n].T
