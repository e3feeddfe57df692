"""Numbers that the flat IR has as two: integers of 128 bits (`wide`) and complex numbers (`complex`)."""

from __future__ import annotations

from collections.abc import Callable

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import CType, Scalar
from ..base.diagnostics import Loc, UnsupportedError
from ..ir.nodes import Assign, Const, Expr, Var
from .context import Context
from .objects import Pair


def is_pair(t: CType | None) -> bool:
    return isinstance(t, Scalar) and bool(t.parts)


def is_wide(t: CType | None) -> bool:
    return isinstance(t, Scalar) and t.is_wide


def is_complex(t: CType | None) -> bool:
    return isinstance(t, Scalar) and t.is_complex


def unsupported(what: str, t: Scalar, loc: Loc) -> UnsupportedError:
    """``what`` happens to a number of type ``t``."""
    kind = "of 128 bits" if t.is_wide else "that is complex"
    return catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"{what} {kind}")


def atom(cx: Context, e: Expr, loc: Loc) -> Expr:
    """``e`` as a constant or a variable, which may be read several times."""
    return e if isinstance(e, (Var, Const)) else cx.saved(e, loc, "part")


def chosen(
    cx: Context, node: C.TernaryOp, part: Scalar, names: tuple[str, str], of: Callable[[C.Node], Pair], loc: Loc
) -> tuple[Var, Var]:
    """The parts of a pair that ``?:`` chooses, in variables. ``of``: the value of an arm."""
    first, second = (cx.fresh_temporary(name, part, loc) for name in names)

    def choose(arm: C.Node) -> None:
        a, b = of(arm).parts
        cx.emit(Assign(first, a, loc))
        cx.emit(Assign(second, b, loc))

    cx.either(cx.condition(node.cond), lambda: choose(node.iftrue), lambda: choose(node.iffalse), loc)
    return Var(first, loc), Var(second, loc)
