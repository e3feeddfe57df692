"""Scalars whose value is known, as constants: what a loop's bound comes from is then a number."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .nodes import Const, Expr, Kernel, Load, Store
from .walk import rewritten, statements


def bound(kernel: Kernel, values: Mapping[str, int | float]) -> Kernel:
    """``kernel`` for these values of scalars, by name, that are the same for all inputs when it starts."""
    stored = {s.region for s in statements(kernel.body) if isinstance(s, Store)}

    def known(e: Expr) -> Expr:
        if isinstance(e, Load) and e.region.name in values and e.region not in stored and e.region.storage != "local":
            return Const(e.region.type.wrap(values[e.region.name]), e.region.type, e.loc)
        return e

    return replace(kernel, body=rewritten(kernel.body, known))
