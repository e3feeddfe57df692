"""Numbers that the flat IR has as two: integers of 128 bits (`wide`) and complex numbers (`complex`)."""

from __future__ import annotations

from ..base import catalogue
from ..base.ctype import CType, Scalar
from ..base.diagnostics import Loc, UnsupportedError
from ..ir.nodes import Const, Expr, Var
from .context import Context


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
