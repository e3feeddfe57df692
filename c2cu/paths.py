"""Shortest paths, vertex by vertex, from the tables that a Floyd-Warshall kernel computes beside the distances.

Three kinds of table are in use, each with a function here that reads the (n, n) table of one graph:

* `path`: the first step, ``next[i][j] = next[i][k]`` (initially ``next[i][j] = j`` for an edge);
* `by_predecessor`: the last step, ``pred[i][j] = pred[k][j]`` (initially ``pred[i][j] = i`` for an edge);
* `by_middle`: a vertex in the middle, ``mid[i][j] = k`` (initially below 0: the edge itself).

`lengths` checks such a table against the distances. `negative_cycles` finds, from the distances, the vertices for
which there are no shortest paths.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from .base import catalogue
from .base.diagnostics import InputError

if TYPE_CHECKING:
    import numpy


def path(table: Any, source: int, target: int, distances: Any = None) -> list[int]:
    """A shortest path of one graph, from a table of first steps: ``next[i][j]`` is the vertex after i on the path to j.

    Args:
        table: ``(n, n)`` integers. A value outside 0..n-1 means that there is no path.
        source: The first vertex, 0..n-1.
        target: The last vertex, 0..n-1.
        distances: ``(n, n)`` numbers: there is no path where a float is infinite. Without it, the table alone tells.

    Returns:
        The vertices of the path, ``source`` and ``target`` included.

    Raises:
        InputError: There is no path, the table leads in a circle, or an argument is wrong: a ``ValueError``, or a
            ``TypeError`` for a table that is not an ``(n, n)`` array of integers.
    """
    t = _checked(table, distances, source, target)
    vertices = [source]
    while vertices[-1] != target:
        vertices.append(_step(t, vertices[-1], target, source, target))
        _refuse_circle(len(vertices) > len(t), source, target, vertices)
    return vertices


def by_predecessor(table: Any, source: int, target: int, distances: Any = None) -> list[int]:
    """A shortest path of one graph, from a table of last steps: ``pred[i][j]`` comes before j on the path from i.

    Args:
        table: ``(n, n)`` integers. A value outside 0..n-1 means that there is no path.
        source: The first vertex, 0..n-1.
        target: The last vertex, 0..n-1.
        distances: ``(n, n)`` numbers: there is no path where a float is infinite.

    Returns:
        The vertices of the path, ``source`` and ``target`` included.

    Raises:
        InputError: As for `path`.
    """
    t = _checked(table, distances, source, target)
    backwards = [target]
    while backwards[-1] != source:
        backwards.append(_step(t, source, backwards[-1], source, target))
        _refuse_circle(len(backwards) > len(t), source, target, backwards[::-1])
    return backwards[::-1]


def by_middle(table: Any, source: int, target: int, distances: Any = None) -> list[int]:
    """A shortest path of one graph, from a table of middle vertices: ``mid[i][j]`` lies on the path from i to j.

    Args:
        table: ``(n, n)`` integers. A value below 0 means that the path is the edge from i to j.
        source: The first vertex, 0..n-1.
        target: The last vertex, 0..n-1.
        distances: ``(n, n)`` numbers: there is no path where a float is infinite. Without it, an edge is assumed to
            exist wherever the table has a value below 0.

    Returns:
        The vertices of the path, ``source`` and ``target`` included.

    Raises:
        InputError: As for `path`.
    """
    t = _checked(table, distances, source, target)
    if source == target:
        return [source]
    vertices, ahead = [source], [target]
    while ahead:
        i, j = vertices[-1], ahead[-1]
        middle = int(t[i, j])
        if middle >= len(t):
            raise catalogue.TABLE_VERTEX.error(vertex=middle, i=i, j=j, n=len(t))
        if middle < 0:
            vertices.append(ahead.pop())
        else:
            ahead.append(middle)
        _refuse_circle(len(vertices) + len(ahead) > len(t), source, target, [*vertices, *ahead[::-1]])
    return vertices


def lengths(weights: Any, table: Any) -> tuple[numpy.ndarray, numpy.ndarray]:
    """The lengths of all paths of one graph, to compare with its distances.

    Args:
        weights: ``(n, n)`` numbers: the weights of the edges.
        table: ``(n, n)`` integers: a table of first steps, as for `path`.

    Returns:
        Two ``(n, n)`` arrays. The first has the sum of the weights along each path, in the dtype of ``weights`` and
        added in the path's order. The second is bool: whether the path reaches its target.

    Raises:
        InputError: The table leads in a circle, or an argument has the wrong shape or dtype.
    """
    import numpy

    t, w = _checked(table, None, 0, 0), numpy.asarray(weights)
    if w.shape != t.shape:
        raise catalogue.PATHS_SHAPES.error(what="weights", shape=w.shape, table=t.shape)
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
    raise _circle(source, to, "")


def negative_cycles(distances: Any) -> Any:
    """Which vertices lie on a negative cycle. There is no shortest path to any vertex behind one of them.

    Args:
        distances: ``(..., n, n)`` signed numbers, the result of a shortest-path program: a NumPy or a CuPy array.

    Returns:
        ``(..., n)`` bool, in the same module's arrays.
    """
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
        raise catalogue.NOT_A_TABLE.error(shape=t.shape, dtype=t.dtype)
    for name, v in (("source", source), ("target", target)):
        if not hasattr(v, "__index__"):
            raise catalogue.VERTEX_TYPE.error(argument=name, value=f"{v!r:.80}")
        if not 0 <= operator.index(v) < len(t):
            raise catalogue.NO_SUCH_VERTEX.error(argument=name, value=v, last=len(t) - 1)
    if distances is not None:
        d = numpy.asarray(distances)
        if d.shape != t.shape:
            raise catalogue.PATHS_SHAPES.error(what="distances", shape=d.shape, table=t.shape)
        if d.dtype.kind == "f" and numpy.isposinf(d[source, target]):
            raise _no_path(source, target)
    return t


def _no_path(source: int, target: int) -> InputError:
    return catalogue.NO_PATH.error(source=source, target=target)


def _refuse_circle(is_circle: bool, source: int, target: int, vertices: list[int]) -> None:
    if is_circle:
        raise _circle(source, target, f": {', '.join(map(str, vertices[:6]))}, ...")


def _circle(source: int, target: int, vertices: str) -> InputError:
    return catalogue.PATH_CIRCLE.error(source=source, target=target, vertices=vertices)
