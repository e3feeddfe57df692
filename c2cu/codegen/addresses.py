"""Addresses in the initialisers of variables that CUDA keeps on the device, which have to be constant there."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base.ctype import Array, Pointer
from ..frontend.tree import nodes
from ..frontend.typed import Unit

CONVERTED = "an address is converted, and more is done with it"
DEEP = "an address leads into an array of three dimensions"


def not_constant(unit: Unit, init: C.Node) -> str:
    """Why an address in ``init`` is not constant to NVRTC 13.0, which refuses some that are so to C; "" where all
    are. Of arrays of three dimensions it compares a subscript with the extent of another dimension."""
    is_led = any(isinstance(n, (C.ArrayRef, C.BinaryOp)) for n in nodes(init))
    for n in nodes(init):
        if not isinstance(unit.types.get(id(n)), (Pointer, Array)):
            continue
        inner = [x for x in nodes(n) if x is not n]
        if isinstance(n, C.Cast) and any(isinstance(x, (C.Cast, C.BinaryOp)) for x in inner):
            return CONVERTED
        if isinstance(n, C.BinaryOp) and any(isinstance(x, C.Cast) for x in inner):
            return CONVERTED
        if is_led and _dimensions(unit, n) >= 3:
            return DEEP
    return ""


def _dimensions(unit: Unit, n: C.Node) -> int:
    t, count = unit.types.get(id(n)), 0
    while isinstance(t, Array):
        t, count = t.of, count + 1
    return count
