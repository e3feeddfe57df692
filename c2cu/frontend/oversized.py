"""Objects that no machine has room for, found before anything is allocated or compiled."""

from __future__ import annotations

from ..base import catalogue
from ..base.ctype import extents, leaf_element
from ..base.diagnostics import Loc
from ..ir.nodes import Kernel
from .kernel import KernelProgram

ADDRESSES = 1 << 47  # bytes that a variable may have which a call's arrays bring: a process has no more addresses
LINKED = 1 << 31  # bytes of one that is the program's own: compilers place no more


def refuse_oversized(program: KernelProgram, kernel: Kernel | None) -> None:
    """Raise InputError for a variable that is larger than any memory. ``kernel``: the program's flat form, if there is
    one; its other regions are what the kernel declares."""
    brought = {b.name for b in program.parameters}
    for b in program.parameters:
        count = 1
        for n in extents(b.type):
            count *= n or 0
        _refuse(b.name, count * leaf_element(b.type).size, ADDRESSES, b.loc)
    for r in kernel.regions if kernel is not None else ():
        if r.variable not in brought:
            _refuse(r.spelling or r.name, r.count * r.type.size, LINKED, r.loc)


def _refuse(name: str, nbytes: int, most: int, loc: Loc) -> None:
    if nbytes > most:
        raise catalogue.OVERSIZED.error(loc, name=name, bytes=nbytes, most=most)
