"""Functions of math.h that take a vector, one argument in each lane.

Each is written in C for one input (``c2cu/math/exp.c``, ...), and goes the way of any kernel to here. Whether its bits
are those of this machine's library is asked before it is used: `same_bits`. docs/math.md says how they were compared.
"""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ...analysis.uniform import uniform
from ...base.cache import Cache, key
from ...base.ctype import DOUBLE, FLOAT, INT, LONG, UINT, ULONG
from ...base.libm import CORRECT, EXACT, FUNCTIONS, LOGARITHMS, PAIRS
from ...base.mathematics import fused
from ...base.package import state
from ...base.templates import render
from ...codegen.correct_functions import FOLDER as CORRECT_FOLDER
from ...codegen.indent import indented
from ...codegen.lane_masks import MaskPrinter
from ...codegen.lanes import extreme_text, fused_text, gather_text, over_text, pair_text, rounded_text
from ...codegen.lookups import lookup_text
from ...codegen.math_calls import host_call, rounds_correctly
from ...codegen.simd import Printer, member, register
from ...frontend.kernel import kernel_program
from ...frontend.link import link
from ...frontend.preprocess import preprocess, read_source
from ...frontend.typed import typed
from ...ir.canonical import canonical
from ...ir.nodes import Call, Kernel, Region
from ...ir.passes import through
from ...lower import lower
from ...transform.early import uniform_ends
from .passes import PASSES
from .text import Emitter, tables

MANY = 16  # places that call a function, beyond which it is not inlined: it would take compilers too long
_CALLED = re.compile(r"\blanes_(\w+)\(")
SLOWER = frozenset({"acosh"})  # than calls, in lanes: for devices alone
FOLDER = Path(__file__).parent.parent.parent / "math"
_any_library: ContextVar[bool] = ContextVar("any_library", default=False)


@contextmanager
def for_any_library() -> Iterator[None]:
    """While this lasts, text that is printed calls the library, as another one than this machine's may be there."""
    token = _any_library.set(True)
    try:
        yield
    finally:
        _any_library.reset(token)


def any_library() -> bool:
    """Whether that is so now."""
    return _any_library.get()


def usable() -> frozenset[str]:
    """The functions that lanes may have instead of the library's, and those that do two of these at once."""
    if any_library():
        return frozenset()
    return names() if rounds_correctly() else names() - SLOWER | PAIRS.keys()


@functools.cache
def _library_like() -> frozenset[str]:
    return frozenset(f.stem for f in FOLDER.glob("*.c")) & FUNCTIONS.keys()


def names() -> frozenset[str]:
    """The functions that there are: like the library's, or those that round correctly and those that all libraries have
    alike."""
    return CORRECT | _library_like() & EXACT if rounds_correctly() else _library_like()


def is_correct(name: str) -> bool:
    """Whether it is one of those that round correctly, with bits that are no library's."""
    return rounds_correctly() and name in CORRECT


@dataclass(frozen=True)
class LanesFunction:
    """``tables``, with what stands apart, and ``text``: C. The rest: what that uses of cpu/lanes.h.j2, see
    `codegen.simd.Printer`; ``lookups``: tables in registers, with name, type, values, and how many of these are looked
    up."""

    name: str
    tables: list[str]
    text: str
    gathers: list[tuple[str, bool]]
    roots: list[str]
    rounded: list[str]
    fused: list[str]
    pairs: list[str]
    unsigned: list[tuple[str, int]]
    extremes: list[str]
    lookups: list[tuple[str, str, list[float], int]]


@dataclass
class FunctionPrinter(MaskPrinter):
    """A function's arguments for which the library is called are rare. That stands apart, so that GCC keeps what is
    usual in registers.

    Attributes:
        apart: C, of each function of the library that is called.
    """

    apart: dict[str, str] = field(default_factory=dict)

    def lane_by_lane(self, e: Call, rep: str) -> str:
        if not all(map(self.varying, e.args)):
            return super().lane_by_lane(e, rep)
        names = [f"x{k}" for k in range(len(e.args))]
        self.apart[e.name] = render(
            "cpu/rare_lanes.c.j2",
            name=e.name,
            rep=rep,
            parameters=[(self.register(a.type), x) for a, x in zip(e.args, names)],
            call=f"{host_call(e.name)}({', '.join(f'{x}[l]' for x in names)})",
        )
        arguments = [self.mask or self.every_lane, *map(self.vector, e.args)]
        return f"rare_{e.name}({', '.join(arguments)})"


def lanes_functions(names: Iterable[str]) -> list[LanesFunction]:
    """Each of these functions, ``lanes_NAME``, of a gang with any number of lanes."""
    return [_kept(name) for name in names]


def used(p: Printer, functions: Sequence[LanesFunction], lanes: int) -> dict[str, object]:
    """What cpu/lanes.h.j2 is filled with for what a printer and functions use."""

    def of_all(name: str) -> list[Any]:
        return sorted({*getattr(p, name), *(x for f in functions for x in getattr(f, name))})

    return {
        "roots": of_all("roots"),
        "rounded": [rounded_text(name, lanes) for name in of_all("rounded")],
        "fused": [fused_text(rep, lanes) for rep in of_all("fused")],
        "pairs": [pair_text(rep, lanes) for rep in of_all("pairs")],
        "gathers": [gather_text(element, own, lanes) for element, own in of_all("gathers")],
        "over": over_text(lanes) if p.divides else None,
        "unsigned": of_all("unsigned"),
        "extremes": [extreme_text(name, lanes) for name in of_all("extremes")],
        "bytes": sorted(p.bytes),
        "constants": p.constants or {},
        "functions": texts(functions, lanes, Counter(_CALLED.findall("\n".join(p.lines)))),
    }


def texts(functions: Iterable[LanesFunction], lanes: int, calls: Mapping[str, int]) -> list[str]:
    """The C of functions, and of what they share once. ``calls``: in how many places each is called."""
    shared: dict[str, None] = {}
    for f in functions:
        shared.update(dict.fromkeys(f.tables))
        for name, t, values, count in f.lookups:
            table = Region(name, _TYPES[t], (len(values),), "shared", tuple(values))
            shared[render("cpu/lookups.h.j2", lookups=[lookup_text(table, count, lanes, False)])] = None
    apart = "static __attribute__((noinline))"
    return [*shared, *(f.text.replace("static inline", apart) if calls[f.name] > MANY else f.text for f in functions)]


_TYPES = {t.name: t for t in (DOUBLE, FLOAT, INT, UINT, LONG, ULONG)}


def _kept(name: str) -> LanesFunction:
    entry = key("lanes", name, is_correct(name), name in fused(), state())
    content = Cache().put(entry, ".lanes", lambda: json.dumps(asdict(_made(name))).encode())
    known = json.loads(content)
    pairs = {n: [tuple(x) for x in known[n]] for n in ("gathers", "unsigned", "lookups")}
    return LanesFunction(**{**known, **pairs})


def lowered(name: str, kind: str = "") -> Kernel:
    """A function for one input, as flat IR. ``kind``: "rare" for the one of arguments that are rare."""
    if is_correct(name):
        folder = CORRECT_FOLDER
    else:
        folder = FOLDER / ("fused" if name in fused() and not kind else kind)
    pre = preprocess(read_source(folder / f"{name}.c"))
    program = kernel_program(typed(link(pre).parsed, pre), "_".join(["c2cu", *filter(None, [kind]), name]))
    return uniform_ends(canonical(lower(program)))


def _made(name: str) -> LanesFunction:
    u = uniform(through(uniform(lowered(name)).kernel, PASSES))
    p = FunctionPrinter(u)
    emitter = Emitter(u, p)
    emitter.block(u.kernel.body)
    taken = [r for r in u.kernel.regions if r.storage == "bulk"]
    count = len((PAIRS | LOGARITHMS).get(name, (name,)))
    parameters, results = taken[:-count], taken[-count:]
    text = render(
        "cpu/lanes_function.c.j2",
        name=name,
        rep=register(results[0].type),
        members=[(register(r.type), member(r)) for r in taken],
        parameters=[(register(r.type), r.name, member(r)) for r in parameters],
        results=[member(r) for r in results],
        body=emitter.declarations() + indented(p.lines),
    )
    return LanesFunction(
        name,
        [*tables(u, p), *p.apart.values()],
        text,
        gathers=sorted(p.gathers),
        roots=sorted(p.roots),
        rounded=sorted(p.rounded),
        fused=sorted(p.fused),
        pairs=sorted(p.pairs),
        unsigned=sorted(p.unsigned),
        extremes=sorted(p.extremes),
        lookups=[(r.name, r.type.name, list(r.init or ()), n) for r, n in p.lookups.items()],
    )
