"""Sums and differences of long numbers: chains of ``s = a + b + carry; r = low(s); carry = high(s)`` and of
``d = a - b - borrow; r = low(d); borrow = d >> 63``, each as one function of all its words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...base.ctype import UINT
from ...ir.nodes import Assign, Binary, Block, Cast, Const, Expr, Var, Variable
from .carry_chain import SHORTEST, is_high, reads, terms, wide, word


@dataclass(frozen=True)
class WordSum:
    """``results`` are the words of left + right or left - right, ``carry`` what goes out of the last, 0 or 1."""

    op: str
    left: tuple[Expr, ...]
    right: tuple[Expr, ...]
    results: tuple[Variable, ...]
    carry: Variable
    length: int  # statements that it replaces


def word_sum(block: Block, k: int, uses: Counter[Variable], single: frozenset[Variable]) -> WordSum | None:
    """The longest chain that begins with statement ``k``. ``single``: variables that are assigned once."""
    for op in "+-":
        links: list[tuple[Expr, Expr, Variable]] = []
        carry: Variable | None = None
        while (link := _link(block[k + 3 * len(links) :][:3], op, carry, uses, single)) is not None:
            a, b, low, out = link
            if (reads(a) | reads(b)) & {r for _, _, r in links}:
                break  # all operands are read before the first link writes
            links.append((a, b, low))
            carry = out
        if carry is not None and len(links) >= SHORTEST:
            a_words, b_words, results = zip(*links)
            return WordSum(op, a_words, b_words, results, carry, 3 * len(links))
    return None


def _link(
    block: Block, op: str, carry: Variable | None, uses: Counter[Variable], single: frozenset[Variable]
) -> tuple[Expr, Expr, Variable, Variable] | None:
    """(a, b, low word, carry out). ``carry``: that it must take in, None for the first."""
    match block:
        case [Assign(var=s, value=total), Assign(var=l, value=Cast(operand=Var(var=a), type=t)), Assign() as out] if (
            a == s and t == UINT and uses[s] == 2 and {s, l, out.var} <= single and wide(out.var.type)
        ):
            pass
        case _:
            return None
    if carry is not None and uses[carry] != 1:
        return None
    if not (is_high(out.value, Var(s)) if op == "+" else _is_borrow(out.value, Var(s))):
        return None
    summands = terms(total) if op == "+" else _minuend_first(total)
    if carry is not None:
        if Var(carry) not in summands[op == "-" :]:
            return None
        summands.remove(Var(carry))
    words = [x for x in map(word, summands) if x is not None]
    return (words[0], words[1], l, out.var) if len(words) == len(summands) == 2 else None


def _minuend_first(e: Expr) -> list[Expr]:
    """[a, b, c] of the 64-bit a - b - c or a - (b + c)."""
    if isinstance(e, Binary) and e.op == "-" and wide(e.type):
        return [*_minuend_first(e.left), *terms(e.right)]
    return [e]


def _is_borrow(e: Expr, of: Expr) -> bool:
    """Whether ``e`` is 1 where the difference ``of`` of 32-bit words is below zero, else 0."""
    match e:
        case Binary(op=">>", left=x, right=Const(value=63)):
            return x == of
        case Binary(op="&", left=x, right=Const(value=1)) | Binary(op="&", left=Const(value=1), right=x):
            return is_high(x, of)
    return False
