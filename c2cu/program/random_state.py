"""The C library's random numbers in a state: what they go on from are variables of the program, which stay."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy

from ..base import libc
from ..base.mathematics import mathematics
from ..base.random_numbers import after_srand, after_srand48, first_numbers
from ..frontend.preprocess import Source
from ..schedule.slots import Slot

if TYPE_CHECKING:
    from ..frontend.kernel import KernelProgram

#: The functions that seed, the variables of `templates/lower/random.c.j2` that they set, and to what.
SEEDED = {"srand": ("rand_state", after_srand), "srand48": ("rand48_state", after_srand48)}
UNIT = "<random numbers>"


def with_numbers(source: Source, program: KernelProgram) -> Source:
    """The program with a unit that has the generators in C; the same where it calls none."""
    from ..base.templates import render
    from ..schedule.native.emit import calls_out

    called = {name for name, _ in calls_out(program)} & libc.GENERATORS & libc.COUNTS
    if not called or not mathematics().startswith("glibc"):
        return source
    text = render("lower/random.c.j2", first_numbers=first_numbers(), kept=True)
    return replace(source, others=(*source.others, Source(UNIT, text)))


def first_values(
    values: Mapping[str, Any], known: Mapping[str, Slot], seeds_of: Callable[[Any, Slot], numpy.ndarray], layout: str
) -> dict[str, Any]:
    """A state's first values, where seeds stand for what they make of the generators. ``known``: the program's slots
    by name; ``seeds_of``: a value as such a slot takes it, ``(p,)`` for all inputs; ``layout``: of the results."""
    out = dict(values)
    for function, (name, after) in SEEDED.items():
        if function in values and function not in known and name in known:
            slot = replace(known[name], name=function, dtype=numpy.dtype("uint32"), shape=())
            rows = after(seeds_of(out.pop(function), slot))
            out[name] = rows if layout == "row" else numpy.ascontiguousarray(rows.T)
    return out
