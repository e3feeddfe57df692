"""Schedule ``gang`` (CPU): one input in each SIMD lane, W inputs in lockstep.

A varying `if` becomes a select, or is skipped when no lane takes it; a varying loop runs until every lane is done;
a varying subscript goes lane by lane. A gang's regions stand lane by lane (``a[i][W]``), so they stay in L1 or L2.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform, uniform
from ...base.ctype import Leaf
from ...base.templates import render
from ...codegen.lane_masks import MaskPrinter
from ...codegen.lanes import BEYOND, complex_parts, extreme_text, gather_text, mask_texts, vectors
from ...codegen.lookups import lookup_text, padded
from ...codegen.simd import Printer, literal, member, memory
from ...ir.nodes import ENDED, Binary, Const, Kernel, Region
from ...ir.passes import Pass
from ...ir.walk import expressions, statements, subexpressions
from ...transform.common import common
from ...transform.early import lanes_ended
from ...transform.narrow import narrow
from ...transform.propagate import propagate
from ...transform.scalarize import scalarize
from ...transform.unroll import unroll_by_profit
from .. import pack
from ..artifact import CpuArtifact, CpuNativeArtifact, Refilled
from ..slots import Slot
from .fours import fours
from .halves import halves
from .refill import refill
from .refill_text import RefillText
from .select import selects
from .text import LOCAL_BYTES, Emitter, c_name

Layout = Mapping[str, tuple[int, Leaf]]  # region name -> its slot's number, and where it lies in the slot's bytes
#: Lines under masks beyond which a kernel is compiled with -O2: of two texts that have little else, GCC 12 takes 1.4 s
#: for one of 1,700 lines with -O3, and had not done with one of 4,000 after 280 s (2.8 s with -O2).
MASKED = 2000
#: What a kernel goes through before it is analysed once more and printed.
PASSES: tuple[Pass, ...] = (
    ("ends", lanes_ended),
    ("propagate", propagate),
    ("unroll", unroll_by_profit),
    ("scalarize", scalarize),
    ("select", lambda k: selects(uniform(k))),
    ("common", common),
    ("narrow", narrow),
    ("fours", lambda k: fours(uniform(k))),
)


def gang(
    u: Uniform,
    slots: tuple[Slot, ...],
    layout: Layout,
    native_bytes: int,
    trace: Trace | None = None,
    again: CpuNativeArtifact | None = None,
) -> CpuArtifact:
    """C text for the host compiler. ``native_bytes``: width of the CPU's SIMD registers. ``trace``: what the program
    touches; what it writes whole before it reads any of it is not packed. ``again``: does the inputs that end early, or
    fault; the artifact has it where some may."""
    bulk = [r for r in u.kernel.regions if r.storage == "bulk" and r != ENDED]
    ended = member(ENDED) if ENDED in u.kernel.regions else ""
    assert again is not None or not ended
    if not ended and not _may_fault(u.kernel, trace):
        again = None
    coming = [r for r in bulk if trace is None or trace.comes_in(r.name, slots[layout[r.name][0]].writes)]
    leaving = [r for r in bulk if slots[layout[r.name][0]].writes]
    form = refill(u, native_bytes, coming, [*leaving, *([ENDED] if ended else [])])
    u = u if form is None else form.u
    widest = _widest(u)
    masked = u.ends_on_data or bool(ended)
    half = form is None and not masked and halves(u)
    lanes, wide = native_bytes // (2 if half else widest), widest == 8
    if form is None:
        p = MaskPrinter(u, wide=wide) if masked else Printer(u, wide=wide, half=half)
        emitter = Emitter(u, p)
        emitter.block(u.kernel.body)
        values: dict[str, object] = {"body": emitter.declarations() + p.lines}
    else:
        text = RefillText(form, wide)
        p, values = text.p, text.values()
        emitter = text.emitter
    shared_inputs = [r for r in u.kernel.regions if r.storage == "shared" and r.init is None and r.name in layout]
    fields = frozenset(r for r in shared_inputs if not pack.is_plain(slots, layout[r.name]))
    members, tables = _storage(u, p, fields)
    transposed = sorted({r.type.size for r in bulk if pack.is_plain(slots, layout[r.name])})
    row = pack.IN_ORDER if form is None else "(begin + id[l < lanes ? l : lanes - 1])"
    text = render(
        "cpu/gang.c.j2" if form is None else "cpu/refill.c.j2",
        name=u.kernel.name,
        lanes=lanes,
        vectors=vectors(lanes, widest),
        narrowest=2 if half else 4,
        masks=mask_texts(lanes, widest) if masked else [],
        mask_bits=native_bytes == 64,  # AVX-512
        refill=form is not None,
        complex_parts=complex_parts(u.kernel),
        members=members,
        ended=ended,
        spare=max((s.nbytes for s in slots if s.writes), default=0) or 1,
        tables=tables,
        wide_multiply=p.wide_multiply,
        roots=sorted(p.roots),
        gathers=[gather_text(element, own, lanes) for element, own in sorted(p.gathers)],
        beyond=BEYOND if any(own and element[1:] in ("8", "16") for element, own in p.gathers) else 0,
        lookups=[lookup_text(r, p.lookups[r], lanes, r in p.together) for r in p.lookups],
        bytes=sorted(p.bytes),
        unsigned=sorted(p.unsigned),
        extremes=[extreme_text(name, lanes) for name in sorted(p.extremes)],
        transposes=[pack.transpose(size, lanes) for size in transposed if lanes > 1],
        shared=[line for r in shared_inputs for line in pack.share(r, slots, layout[r.name])],
        pack=[line for r in coming for line in pack.pack(r, slots, layout[r.name], lanes, wide)],
        unpack=[line for r in bulk for line in pack.unpack(r, slots, layout[r.name], lanes, wide, row, ended)],
        **values,
    )
    refilled = None if form is None else Refilled(form.loop.loc, form.gangs)
    flags = ("-O2",) if emitter.masked > MASKED else ()
    return CpuArtifact("gang", text, slots, flags, lanes=lanes, refill=refilled, ended=bool(ended), again=again)


def _may_fault(kernel: Kernel, trace: Trace | None) -> bool:
    """Whether an input could end the process: by a division of whole numbers, or outside of an array."""
    if trace is None or not trace.complete or trace.faults:
        return True
    every = (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))
    return any(isinstance(x, Binary) and x.op in "/%" and not _divides(x) for x in every)


def _divides(e: Binary) -> bool:
    """Whether a division has a result, whatever is divided."""
    return e.type.is_float or isinstance(e.right, Const) and e.right.value not in (0, -1)


def _widest(u: Uniform) -> int:
    """Bytes of the widest varying value: 4 or 8."""
    sizes = [v.type.size for v in u.varying] + [r.type.size for r in u.varying_regions]
    for s in statements(u.kernel.body):
        for e in expressions(s):
            sizes += [x.type.size for x in subexpressions(e) if x.type.size == 8 and u.is_varying(x)]
    return 8 if 8 in sizes else 4


def _storage(u: Uniform, p: Printer, fields: frozenset[Region]) -> tuple[list[str], list[str]]:
    """Members of ``struct gang``, and tables in the text. ``fields``: shared regions that are part of a struct."""
    members: list[str] = []
    tables: list[str] = []
    for r in u.kernel.regions:
        if r in u.varying_regions:
            members.append(f"{p.memory(r)} {member(r)}[{r.count}]")
            if r.storage == "bulk" and p.memory(r) != memory(r.type):
                members.append(f"{memory(r.type)} {pack.narrow(r)}[{r.count}]")
        elif r in fields or (r.storage == "local" and r.type.size * r.count > LOCAL_BYTES):
            members.append(f"{c_name(r.type)} {member(r)}[{r.count}]")
        elif r.storage == "shared" and r.init is None:
            members.append(f"const {c_name(r.type)} *{member(r)}")
        elif r.storage == "shared":
            values = ", ".join(literal(v, r.type) for v in r.init or ())
            count = max(r.count + (BEYOND if r.type.size < 4 else 0), padded(r) if r in p.lookups else 0)
            aligned = "__attribute__((aligned(64))) " if r in p.lookups else ""
            tables.append(f"static const {c_name(r.type)} {member(r)}[{count}] {aligned}= {{{values}}};")
    for r in u.kernel.regions:
        if r.storage == "bulk" and r.init is not None and any(r.init):
            values = ", ".join(literal(v, r.type) for v in r.init)
            tables.append(f"static const {c_name(r.type)} initial_{member(r)}[{r.count}] = {{{values}}};")
    return members, tables
