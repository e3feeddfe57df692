"""A row of a long product: a chain of ``s = x * y + t + carry; t' = low(s); carry = high(s)``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ...base.ctype import UINT, Scalar
from ...ir.nodes import Assign, Binary, Block, Cast, Const, Expr, Var, Variable
from ...ir.walk import subexpressions

SHORTEST = 4  # links from which on a chain pays


@dataclass(frozen=True)
class Link:
    """``low`` gets the low word of x * y + addend (+ the carry before); None: nothing reads it."""

    x: Expr
    y: Expr
    addend: Expr
    low: Variable | None


@dataclass(frozen=True)
class Chain:
    """``carry``: what goes out of the last link."""

    links: tuple[Link, ...]
    carry: Variable
    length: int  # statements that it replaces

    @property
    def lows(self) -> tuple[Variable, ...]:
        return tuple(k.low for k in self.links if k.low is not None)


def chain(block: Block, k: int, uses: Counter[Variable], single: frozenset[Variable]) -> Chain | None:
    """The longest chain that begins with statement ``k``. ``single``: variables that are assigned once."""
    links: list[Link] = []
    carry: Variable | None = None
    at = k
    while (linked := _link(block, at, carry, uses, single)) is not None:
        link, out, after = linked
        if (reads(link.x) | reads(link.y) | reads(link.addend)) & {x.low for x in links}:
            break  # all operands are read before the first link writes
        links.append(link)
        carry, at = out, after
    return Chain(tuple(links), carry, at - k) if carry is not None and len(links) >= SHORTEST else None


def _link(
    block: Block, k: int, carry: Variable | None, uses: Counter[Variable], single: frozenset[Variable]
) -> tuple[Link, Variable, int] | None:
    """(link, its carry out, the statement after it). ``carry``: that it must take in, None for the first."""
    if carry is not None and uses[carry] != 1:
        return None
    low: Variable | None = None
    match block[k : k + 3]:
        case [Assign(var=s, value=total), Assign(var=l, value=Cast(operand=Var(var=a), type=t)), Assign() as out] if (
            a == s and t == UINT and is_high(out.value, Var(s)) and uses[s] == 2 and {s, l, out.var} <= single
        ):
            low, size = l, 3
        case [Assign(value=Binary(op=">>", left=total)) as out, *_] if is_high(out.value, total) and out.var in single:
            size = 1
        case _:
            return None
    summands = terms(total)
    if carry is not None and Var(carry) not in summands:
        return None
    operands = [x for x in summands if carry is None or x != Var(carry)]
    products = [x for x in operands if isinstance(x, Binary) and x.op == "*"]
    addends = [word(x) for x in operands if x not in products]
    if len(products) != 1 or len(addends) > 1 or len(summands) != len(operands) + (carry is not None):
        return None
    x, y, addend = word(products[0].left), word(products[0].right), addends[0] if addends else Const(0, UINT)
    if x is None or y is None or addend is None:
        return None
    return Link(x, y, addend, low), out.var, k + size


def reads(e: Expr) -> set[Variable]:
    """The variables in ``e``."""
    return {x.var for x in subexpressions(e) if isinstance(x, Var)}


def wide(t: Scalar) -> bool:
    return t.kind == "u" and t.size == 8


def is_high(h: Expr, of: Expr) -> bool:
    """Whether ``h`` is the high word of the 64-bit ``of``."""
    match h:
        case Binary(op=">>", left=x, right=Const(value=32), type=t):
            return x == of and wide(t)
    return False


def terms(e: Expr) -> list[Expr]:
    """The summands of a 64-bit sum."""
    if isinstance(e, Binary) and e.op == "+" and wide(e.type):
        return [*terms(e.left), *terms(e.right)]
    return [e]


def word(e: Expr) -> Expr | None:
    """The 32-bit value that ``e`` widens."""
    match e:
        case Cast(operand=x) if x.type == UINT and wide(e.type):
            return x
        case Const(value=v, type=t) if wide(t) and 0 <= v < 1 << 32:
            return Const(int(v), UINT, e.loc)
    return None
