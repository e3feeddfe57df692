"""Bytes and shorts of a thread, together in words of its block's shared memory.

Elements of a thread lie a whole block apart, so that a warp's lanes want one row at the same subscript. Where all
subscripts say which part of a word they mean, words do, and the compiler makes one access of parts side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...base.ctype import INT
from ...ir.affine import linear
from ...ir.nodes import Block, Const, Expr, Load, Region, Store
from ...ir.walk import expressions, statements, subexpressions

WORD = 4  # bytes


def packed(regions: Iterable[Region], size: Callable[[Region], int], block: Block) -> frozenset[Region]:
    """Those of ``regions`` that lie in words. ``size``: bytes of an element; ``block``: has all accesses."""
    out = {r for r in regions if size(r) < WORD}
    for s in statements(block):
        if isinstance(s, Store) and s.region in out and not _has_part(s.index, WORD // size(s.region)):
            out.discard(s.region)
        for e in expressions(s):
            for x in subexpressions(e):
                if isinstance(x, Load) and x.region in out and not _has_part(x.index, WORD // size(x.region)):
                    out.discard(x.region)
    return frozenset(out)


def _has_part(index: Expr, n: int) -> bool:
    """Whether an element's part of a word of ``n`` is known."""
    return isinstance(index, Const) or (
        index.type.size <= WORD and not any(c % n for c in linear(index).terms.values())
    )


def element_at(index: int, n: int, threads: int) -> int:
    """Elements from a thread's first one to that of a number, of which a word has ``n``."""
    return index // n * n * threads + index % n


def place(index: Expr, n: int, threads: int, text: Callable[[Expr], str]) -> str:
    """The same as text. ``text``: prints an operand."""
    if isinstance(index, Const):
        return str(element_at(int(index.value), n, threads))
    sum_ = linear(index)
    words = [f"{'' if x.type == INT else '(int)'}{text(x)} * {c // n}" for x, c in sum_.terms.items()]
    constant, last = divmod(sum_.constant, n)
    words += [str(constant)] if constant or not words else []
    return f"({' + '.join(words)}) * {n * threads}{f' + {last}' if last else ''}"
