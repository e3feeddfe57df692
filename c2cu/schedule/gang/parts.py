"""A long kernel as several functions, one after the other: a compiler's time grows faster than the length of one.

What several of them name stands in ``struct common``, which the others' registers could not hold either.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...ir.nodes import Block, Kernel, Region, Stmt, Variable
from ...ir.walk import statements, touched, variables

LENGTH = 1000  # statements of a function: of 19,000 in one, GCC 12 takes three times as long
Parts = tuple[Block, ...]


def parts(kernel: Kernel) -> Parts:
    """The kernel's statements, in order: one part where they are few, or a single long one, which is not cut."""
    pieces: list[list[Stmt]] = [[]]
    length = 0
    for s in kernel.body:
        size = sum(1 for _ in statements((s,)))
        if length + size > LENGTH and pieces[-1]:
            pieces.append([])
            length = 0
        pieces[-1].append(s)
        length += size
    if len(pieces) == 2:  # not long enough to be worth what they would share
        return (kernel.body,)
    return tuple(map(tuple, pieces))


@dataclass(frozen=True)
class SharedByParts:
    """What more than one part names, in the order in which it is named first."""

    variables: tuple[Variable, ...]
    regions: tuple[Region, ...]


def common(pieces: Parts) -> SharedByParts:
    names = Counter(v for block in pieces for v in variables(block))
    regions = Counter(r for block in pieces for r in dict.fromkeys(touched(block)))
    return SharedByParts(tuple(v for v, n in names.items() if n > 1), tuple(r for r, n in regions.items() if n > 1))
