"""What a program costs: in time units of the model, on a machine, and which loops stand in the way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..analysis.facts import Conflict, Trace
from ..analysis.uniform import Uniform
from ..base import catalogue
from ..base.ctype import LONG
from ..base.diagnostics import Loc
from ..frontend.parse import deeply
from ..ir.canonical import subscripts
from ..ir.nodes import Const
from ..schedule.roofline import Limits, Roofline, roofline
from ..schedule.slots import Slot, bytes_moved
from ..schedule.understood import Understood
from ..trace import sequence
from .umm import Arrangement, addresses, formula, simulate

WIDTH, LATENCY = 32, 100  # of the model: CUDA's warp, and a latency far above the width
SIMULATED_P, SIMULATED = 2 * WIDTH, 256  # inputs and accesses that are simulated


@dataclass(frozen=True)
class Accesses:
    """The first accesses of a program. ``elements``: the element that each accesses, all arrays of an input numbered
    through; ``n``: how many elements an input has. Elements from n on belong to tables that all inputs share."""

    n: int
    elements: tuple[int, ...]

    def units(self, arrangement: Arrangement, p: int, width: int, latency: int) -> int:
        """Time units by moving the requests through the pipeline."""
        return simulate((addresses(arrangement, e, self.n, p) for e in self.elements), width, latency)


def first_accesses(analysis: Uniform, trace: Trace) -> Accesses:
    """The accesses that the model is simulated with: the first `SIMULATED`."""
    limit = min(SIMULATED, trace.steps)
    unshared = [r for r in analysis.kernel.regions if r.storage != "shared"]
    tables = [r for r in analysis.kernel.regions if r.storage == "shared"]
    start, at = {}, 0
    for r in (*unshared, *tables):
        start[r] = at
        at += r.count
    events = islice(sequence(analysis, 64 + 8 * limit), limit)  # the tracer counts turns of loops as well
    return Accesses(sum(r.count for r in unshared), tuple(start[e.region] + e.element for e in events))


def complete(front: Understood) -> Trace | None:
    """The trace, if it covers the whole program."""
    return front.trace if front.trace is not None and front.trace.complete else None


def untraced(front: Understood) -> str:
    """Why `complete` has no trace to return; "" if it has one."""
    if front.trace is not None:
        scalars = {s.name for s in front.slots if not s.shape}
        known = front.analysis is not None and front.analysis.oblivious  # else a value would not help
        tell = [f"--shared {n}=N" for n in front.trace.unknown if known and n in scalars]
        return front.trace.stopped + (f"; {' '.join(tell)} tells what it is" if tell else "")
    return front.why_not.diagnostic.message if front.why_not is not None else "the program was not traced"


def model(trace: Trace, first: Accesses, p: int | None) -> dict[str, Any]:
    """Time units of the Unified Memory Machine, by formula for p inputs and simulated for a few."""
    tables = sum(r.loads for r in trace.regions if r.region.storage == "shared")
    simulated: dict[str, Any] = {"p": SIMULATED_P, "accesses": len(first.elements)}
    shared = sum(e >= first.n for e in first.elements)
    for arrangement in ("column", "row"):
        by_formula = _units(arrangement, len(first.elements), shared, SIMULATED_P)
        units = first.units(arrangement, SIMULATED_P, WIDTH, LATENCY)
        simulated[arrangement] = {"formula": by_formula, "simulated": units}
    return {
        "width": WIDTH,
        "latency": LATENCY,
        "words": first.n,
        "column": None if p is None else _units("column", trace.steps, tables, p),
        "row": None if p is None else _units("row", trace.steps, tables, p),
        "simulation": simulated,
    }


def _units(arrangement: Arrangement, t: int, tables: int, p: int) -> int:
    """Time units by formula. ``tables``: how many of the accesses read tables: all threads of a warp read the same
    element there, which is one request in either arrangement."""
    return formula(arrangement, t - tables, p, WIDTH, LATENCY) + formula("column", tables, p, WIDTH, LATENCY)


def unknown_length(front: Understood) -> Slot | None:
    """An array whose length neither the C nor an input tells; None if there is none."""
    return next((s for s in front.slots if -1 in s.shape and not s.shared and (s.reads or s.writes)), None)


def on_machine(front: Understood, trace: Trace, limits: Limits, p: int | None) -> Roofline:
    """The least time of p inputs, or of one."""
    accessed = sum((r.loads + r.stores) * r.region.type.size for r in trace.regions)
    return roofline(bytes_moved(front.slots), accessed, trace.operations, limits, 1 if p is None else p)


@deeply
def pictured(front: Understood, limits: Limits | None) -> tuple[str, tuple[int, ...], int, Roofline, Limits]:
    """The arguments of `plot`: the kernel's name, its first accesses, elements of an input, roofline and limits. Raises
    InputError where there is nothing to draw."""
    trace = complete(front)
    if trace is None or front.analysis is None or limits is None:
        raise catalogue.NOTHING_TO_PLOT.error(reason=untraced(front))
    first = first_accesses(front.analysis, trace)
    if not first.elements:
        raise catalogue.NOTHING_TO_PLOT.error(reason="the program accesses no array")
    return front.kernel_name, first.elements, first.n, on_machine(front, trace, limits, None), limits


def widest(analysis: Uniform | None) -> int:
    """Bytes of the widest value that depends on data: 4 or 8."""
    if analysis is None:
        return 4
    sizes = [v.type.size for v in analysis.varying] + [r.type.size for r in analysis.varying_regions]
    return 8 if 8 in sizes else 4


def loops(front: Understood, trace: Trace) -> list[dict[str, Any]]:
    """Every loop in textual order, with the conflicts for which its turns must stay in order."""
    return [
        {
            **place(x.loc),
            "depth": x.depth,
            "entries": x.entries,
            "turns": x.turns,
            "longest": x.longest,
            "independent": x.independent,
            "conflicts": [_conflict(front, c) for c in x.conflicts],
            "barrier": _conflict(front, x.barrier) if x.barrier is not None else None,
        }
        for x in trace.loops
    ]


def faults(trace: Trace) -> list[dict[str, Any]]:
    """What C does not define, and where."""
    return [
        {**place(f.loc), "kind": f.kind, "message": f.message, "certain": f.certain, "counters": dict(f.counters)}
        for f in trace.faults
        if f.kind != "ahead"
    ]


def place(loc: Loc) -> dict[str, Any]:
    return {"file": loc.file, "line": loc.line, "column": loc.column}


def _conflict(front: Understood, c: Conflict) -> dict[str, Any]:
    return {
        "kind": c.kind,
        "name": c.name,
        "element": element(front, c),
        "first": place(c.first),
        "second": place(c.second),
        "conditional": c.conditional,
    }


def element(front: Understood, c: Conflict) -> str:
    """The element that two iterations access, as C spells it: ``D[1][0]``."""
    if c.element < 0:
        return c.name
    named = [r for r in front.analysed().kernel.regions if (r.spelling or r.name) == c.name]
    if len(named) != 1 or "." in c.name:
        return f"{c.name}[{c.element}]"
    apart = subscripts(named[0], Const(c.element, LONG)) or ()
    return c.name + "".join(f"[{k.value}]" for k in apart if isinstance(k, Const))
