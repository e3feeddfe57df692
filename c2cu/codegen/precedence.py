"""Where parentheses stand in printed C: as few as a reader wants who knows only that products bind before sums.

A text is printed with its *level*, how tightly it binds. What is neither a sum nor a product, a shift for example,
stands in parentheses beside every other operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..ir.evaluate import COMPARISONS
from ..ir.nodes import Binary, Const, Expr

#: Any expression; a sum; a product; a cast or another prefix; a name, a literal or a call.
WHOLE, SUM, PRODUCT, PREFIX, NAME = range(5)
_LEVELS = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "%": PRODUCT}


def enclosed(printed: tuple[str, int], level: int) -> str:
    """A text, in parentheses where it binds less tightly than ``level``."""
    text, binds = printed
    return text if binds >= level else f"({text})"


def infix(e: Binary, operand: Callable[[Expr, int], str]) -> tuple[str, int]:
    """``left op right``. ``operand``: prints one that binds at least that tightly."""
    op, right, binds = e.op, e.right, _LEVELS.get(e.op, WHOLE)
    if op == "+" and isinstance(right, Const) and right.type.is_integer and -(2**31) < right.value < 0:
        op, right = "-", replace(right, value=-right.value)
    if op in COMPARISONS:
        return f"{operand(e.left, SUM)} {op} {operand(right, SUM)}", WHOLE
    least = binds or PREFIX
    return f"{operand(e.left, least)} {op} {operand(right, least + bool(binds))}", binds
