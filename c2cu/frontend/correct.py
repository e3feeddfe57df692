"""What ``math="correct"`` refuses: functions of math.h and complex.h of which there is none that rounds correctly."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue, libm
from .kernel import KernelProgram, touched
from .parse import loc_of
from .tree import nodes

_COMPLEX = frozenset(libm.COMPLEX) - {n + f for n in ("creal", "cimag", "conj", "cproj") for f in ("", "f")}
_ROUNDED = libm.DECLARED | _COMPLEX  # of all these, and of long doubles
_KNOWN = libm.CORRECTED | libm.EXACT


def correct(program: KernelProgram) -> None:
    """Raise UnsupportedError for the first such function that the kernel, or what it calls, names; or that the first
    value of a variable has which these name, as a table of functions does."""
    starts = [s.decl.init for s in touched(program.unit, program.functions) if s.decl is not None]
    for part in (*(f.node.body for f in reversed(program.functions)), *starts):
        for n in nodes(part) if part is not None else ():
            if not isinstance(n, C.ID) or n.name in program.unit.functions:
                continue
            name = n.name.removeprefix("__builtin_")
            if name in _KNOWN or not _ROUNDED & {name, name.removesuffix("l")}:
                continue
            symbol = program.unit.symbols.get(id(n))
            if name == n.name and (symbol is None or symbol.kind != "function"):
                continue  # a variable of that name
            other = f"use '{name}f', or " if name + "f" in libm.CORRECT else "use "
            raise catalogue.NOT_CORRECT.error(loc_of(n), name=name, other=other)
