"""Walks over pycparser's nodes."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast as C
from pycparser.c_generator import CGenerator


class _Fields(dict[type[C.Node], tuple[str, ...]]):
    """The attributes of a class of nodes that hold its children, in the order of `C.Node.children`, which is slow: it
    spells a name for each child."""

    def __missing__(self, kind: type[C.Node]) -> tuple[str, ...]:
        empty = object.__new__(kind)
        for name in kind.__slots__:
            if name != "__weakref__":
                setattr(empty, name, [None])
        self[kind] = tuple(name.partition("[")[0] for name, _ in empty.children())  # pyright: ignore
        return self[kind]


_FIELDS = _Fields()


def children(node: C.Node) -> list[C.Node]:
    """The nodes directly below one, in order."""
    below: list[C.Node] = []
    for name in _FIELDS[type(node)]:
        child = getattr(node, name)
        if child.__class__ is list:
            below += child
        elif child is not None:
            below.append(child)
    return below


RANGE = "..."  # the operator that stands for GNU C's ranges, of case labels and of designators
CGenerator.precedence_map[RANGE] = -1  # it binds least


def ends(value: C.Node) -> tuple[C.Node, C.Node]:
    """The first and the last of the values that a case label or a designator of elements stands for."""
    return (value.left, value.right) if isinstance(value, C.BinaryOp) and value.op == RANGE else (value, value)


def nodes(node: C.Node) -> Iterator[C.Node]:
    """A node and everything below it, in the order of the text."""
    pending = [node]
    while pending:
        n = pending.pop()
        yield n
        below = children(n)
        below.reverse()
        pending += below


def evaluated(n: C.Node) -> Iterator[C.Node]:
    """The nodes of what is evaluated in a part of a program: neither a size nor a type is."""
    if not (isinstance(n, C.Typename) or (isinstance(n, C.UnaryOp) and n.op in ("sizeof", "_Alignof"))):
        yield n
        for child in children(n):
            yield from evaluated(child)
