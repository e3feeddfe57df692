"""Shortest paths, vertex by vertex, from what a Floyd-Warshall kernel keeps beside the distances.

Three tables are in use, and each has its function here; all take one graph's (n, n) table of integers, and the
distances, if given, tell where there is no path:

* `path`: the first step, ``next[i][j] = next[i][k]`` (at first ``next[i][j] = j`` for an edge);
* `by_predecessor`: the last step, ``pred[i][j] = pred[k][j]`` (at first ``pred[i][j] = i`` for an edge);
* `by_middle`: a vertex in the middle, ``mid[i][j] = k`` (at first below 0: the edge itself).
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .base.diagnostics import InputError, InputTypeError

if TYPE_CHECKING:
    import numpy


def path(table: Any, source: int, target: int, distances: Any = None) -> list[int]:
    """The vertices from ``source`` to ``target``, both included, by the first step of each way. What is outside of
    0..n-1 means: no path. ``distances``: (n, n); where they are infinite there is none either.

    Raises InputError for no path, a table that runs in circles, or a vertex that is none; InputTypeError for a table
    that is not (n, n) integers.
    """
    t = _checked(table, distances, source, target)
    found = [source]
    while found[-1] != target:
        found.append(_step(t, found[-1], target, source, target))
        _in_circles(len(found) > len(t), source, target, found)
    return found


def by_predecessor(table: Any, source: int, target: int, distances: Any = None) -> list[int]:
    """As `path`, by the last step of each way."""
    t = _checked(table, distances, source, target)
    found = [target]
    while found[-1] != source:
        found.append(_step(t, source, found[-1], source, target))
        _in_circles(len(found) > len(t), source, target, found[::-1])
    return found[::-1]


def by_middle(table: Any, source: int, target: int, distances: Any = None) -> list[int]:
    """As `path`, by a vertex in the middle of each way; one below 0: there is an edge. Only ``distances`` tell that
    there is no path."""
    t = _checked(table, distances, source, target)
    if source == target:
        return [source]
    found, ahead = [source], [target]
    while ahead:
        middle = int(t[found[-1], ahead[-1]])
        if middle >= len(t):
            raise InputError("C2CU120", f"the table has vertex {middle} at [{found[-1]}][{ahead[-1]}], of {len(t)}")
        if middle < 0:
            found.append(ahead.pop())
        else:
            ahead.append(middle)
        _in_circles(len(found) + len(ahead) > len(t), source, target, [*found, *ahead[::-1]])
    return found


def lengths(weights: Any, table: Any) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Of all pairs at once: the sum of the (n, n) weights along the way that a `path` table tells, in their type and in
    the way's order, and whether it arrives. To compare with distances. Raises InputError for a table that runs in
    circles."""
    import numpy

    t, w = _checked(table, None, 0, 0), numpy.asarray(weights)
    if w.shape != t.shape:
        raise InputError("C2CU120", f"the weights have shape {w.shape}, the table {t.shape}")
    grid: numpy.ndarray = numpy.indices(t.shape)
    at, target = grid[0], grid[1]
    total, going = numpy.zeros_like(w), at != target
    arrived = ~going
    for _ in range(len(t)):
        step = t[at, target]
        going &= (step >= 0) & (step < len(t))
        if not going.any():
            return total, arrived
        total[going] += w[at[going], step[going]]
        at = numpy.where(going, step, at)
        arrived |= going & (at == target)
        going &= at != target
    source, to = divmod(int(going.argmax()), len(t))
    raise _circles(source, to, "")


def negative_cycles(distances: Any) -> Any:
    """Which vertices lie on a negative cycle: (..., n) of bool for (..., n, n) distances after a run, of NumPy or of
    any module like it, CuPy for one."""
    return distances.diagonal(0, -2, -1) < 0


def _step(t: numpy.ndarray, i: int, j: int, source: int, target: int) -> int:
    step = int(t[i, j])
    if not 0 <= step < len(t):
        raise _no_path(source, target)
    return step


def _checked(table: Any, distances: Any, source: int, target: int) -> numpy.ndarray:
    import numpy

    t = numpy.asarray(table)
    if t.ndim != 2 or t.shape[0] != t.shape[1] or t.dtype.kind not in "iu":
        raise InputTypeError(
            "C2CU120", f"the table has shape {t.shape} and dtype {t.dtype}", None, "give one graph's (n, n) integers"
        )
    for name, v in (("source", source), ("target", target)):
        if not hasattr(v, "__index__"):
            raise InputTypeError("C2CU120", f"{name} is {v!r:.80}", None, "give a vertex' number")
        if not 0 <= operator.index(v) < len(t):
            raise InputError("C2CU120", f"{name} is {v}", None, f"the vertices are 0 to {len(t) - 1}")
    if distances is not None:
        d = numpy.asarray(distances)
        if d.shape != t.shape:
            raise InputError("C2CU120", f"the distances have shape {d.shape}, the table {t.shape}")
        if d.dtype.kind == "f" and numpy.isposinf(d[source, target]):
            raise _no_path(source, target)
    return t


def _no_path(source: int, target: int) -> InputError:
    return InputError("C2CU120", f"there is no path from {source} to {target}")


def _in_circles(so: bool, source: int, target: int, found: list[int]) -> None:
    if so:
        raise _circles(source, target, f": {', '.join(map(str, found[:6]))}, ...")


def _circles(source: int, target: int, said: str) -> InputError:
    return InputError(
        "C2CU120",
        f"the table runs in circles from {source} to {target}{said}",
        None,
        "is there a negative cycle, or is it a table of another kind? (next, predecessor and middle differ)",
    )
