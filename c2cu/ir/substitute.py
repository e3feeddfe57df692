"""Scalars whose value is known, as constants: what a loop's bound comes from is then a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .nodes import Const, Expr, Kernel, Load
from .walk import rewritten


def bound(kernel: Kernel, values: Mapping[str, int | float]) -> Kernel:
    """``kernel`` for these values of scalars that all inputs share, by name."""

    def known(e: Expr) -> Expr:
        if isinstance(e, Load) and e.region.storage == "shared" and e.region.name in values:
            return Const(e.region.type.wrap(values[e.region.name]), e.region.type, e.loc)
        return e

    return replace(kernel, body=rewritten(kernel.body, known))
