"""Where a thread's elements lie in the shared memory of its block.

Words of a thread lie a whole block apart, so that a warp's 32 lanes never want one bank, whatever their subscripts.
Bytes and shorts lie together in a word: so no two lanes want other words of a bank, and the compiler makes one access
of those that are side by side.
"""

from __future__ import annotations

from collections.abc import Callable

from ...base.ctype import INT
from ...ir.affine import linear
from ...ir.nodes import Const, Expr

WORD = 4  # bytes

#: The element that lies where ``index`` says, of those of which a word has ``N``.
AT = """template <int T, int N> __device__ __forceinline__ int c2cu_at(int index) {
    return (index & -N) * T + (index & (N - 1));
}"""


def size_of(size: int, count: int) -> int:
    """Bytes of a thread's array of ``count`` elements of ``size`` bytes."""
    return -(-size * count // WORD) * WORD


def unit(size: int) -> int:
    """Bytes from one thread's first element to the next one's."""
    return max(size, WORD)


def element_at(size: int, index: int, threads: int) -> int:
    """Elements from a thread's first one to that of a number."""
    n = max(1, WORD // size)
    return index // n * n * threads + index % n


def place(size: int, index: Expr, threads: int, text: Callable[[Expr], str]) -> tuple[str, bool]:
    """The same as text, and whether that calls `AT`. ``text``: prints an operand."""
    if isinstance(index, Const):
        return str(element_at(size, int(index.value), threads)), False
    n = WORD // size
    if n <= 1:
        return f"{text(index)} * {threads}", False
    sum_ = linear(index)
    if index.type.size > WORD or not sum_.terms or any(c % n for c in sum_.terms.values()):
        return f"c2cu_at<{threads}, {n}>({text(index)})", True
    words = [f"{'' if x.type == INT else '(int)'}{text(x)} * {c // n}" for x, c in sum_.terms.items()]
    constant = sum_.constant // n
    words += [str(constant)] if constant else []
    last = sum_.constant % n
    return f"({' + '.join(words)}) * {n * threads}{f' + {last}' if last else ''}", False
