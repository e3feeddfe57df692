"""Scalar parameters whose value is known, as constants: what a loop's bound comes from is then a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .ir import Assign, Const, Expr, Kernel, Load, Stmt
from .walk import rewrite


def bound(kernel: Kernel, values: Mapping[str, int | float]) -> Kernel:
    """``kernel`` for these values of shared scalars, by name: the variables that such a scalar's copy lives in start
    from the constant."""

    def known(e: Expr) -> Expr:
        if isinstance(e, Load) and e.region.storage == "shared" and e.region.name in values:
            return Const(e.region.type.wrap(values[e.region.name]), e.region.type, e.loc)
        return e

    def entry(s: Stmt) -> Stmt:
        return replace(s, value=rewrite(s.value, known)) if isinstance(s, Assign) else s

    return replace(kernel, body=tuple(map(entry, kernel.body)))
