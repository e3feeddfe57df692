"""Schedule ``gang`` (CPU): one input in each SIMD lane, W inputs in lockstep.

A varying `if` becomes a select, or is skipped when no lane takes it; a varying loop runs until every lane is done;
a varying subscript goes lane by lane. A gang's regions stand lane by lane (``a[i][W]``), so they stay in L1 or L2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform, uniform
from ...base import catalogue
from ...base.ctype import BOOL
from ...base.libm import LOGARITHMS, PAIRS, POWER
from ...base.templates import render
from ...codegen.lane_masks import MaskPrinter
from ...codegen.lanes import (
    BEYOND,
    complex_parts,
    mask_texts,
    vectors,
)
from ...codegen.lookups import lookup_text
from ...codegen.math_calls import rounds_correctly
from ...codegen.simd import Printer, is_folded, member, memory
from ...ir.nodes import ENDED, Assign, Binary, Call, Const, Expr, If, Kernel, Region
from ...ir.walk import expressions, statements, subexpressions
from ...transform.powers import powers
from ...transform.words import Words, words
from .. import pack
from ..artifact import CpuArtifact, CpuNativeArtifact, Refilled
from ..slots import Layout, Slot
from . import alike
from .functions import lanes_functions, usable, used
from .halves import halves
from .parts import LENGTH, parts
from .refill import refill
from .refill_text import RefillText
from .same_bits import equal
from .text import array, by_products, c_name, is_large, tables, whole

POWERS = frozenset({POWER, *LOGARITHMS, *(name for pair in LOGARITHMS.values() for name in pair)})
T = TypeVar("T")
#: Lines under masks beyond which a kernel is compiled with -O2: of two texts that have little else, GCC 12 takes 1.4 s
#: for one of 1,700 lines with -O3, and had not done with one of 4,000 after 280 s (2.8 s with -O2).
MASKED = 2000


def gang(
    u: Uniform,
    slots: tuple[Slot, ...],
    layout: Layout,
    native_bytes: int,
    trace: Trace | None = None,
    again: CpuNativeArtifact | None = None,
    functions: bool = False,
    gangs: int = 1,
) -> CpuArtifact:
    """C text for the host compiler. ``native_bytes``: width of the CPU's SIMD registers. ``trace``: what the program
    touches; what it writes whole before it reads any of it is not packed. ``again``: does the inputs that end early, or
    fault; the artifact has it where some may. ``functions``: those of math.h go side by side where their bits are this
    machine's, see `functions`. ``gangs``: that go side by side, statement by statement, so that each hides what the
    other waits for; raises UnsupportedError where they cannot."""
    ended = member(ENDED) if ENDED in u.kernel.regions else ""
    seen: tuple[Words, ...] = ()
    if not (u.ends_on_data or ended):  # else lanes take new inputs one by one
        u, seen, layout = _in_words(u, slots, layout)
    bulk = [r for r in u.kernel.regions if r.storage == "bulk" and r != ENDED]
    assert again is not None or not ended
    if gangs > 1 and (reason := _apart(u, bool(ended))):
        raise catalogue.TWO_GANGS.error(u.kernel.loc, reason=reason)
    if not ended and not _may_fault(u.kernel, trace):
        again = None
    coming = [r for r in bulk if trace is None or trace.comes_in(r.name, slots[layout[r.name][0]].writes)]
    swapped = frozenset(w.region for w in seen if w.swapped)
    leaving = [r for r in bulk if slots[layout[r.name][0]].writes]
    form = refill(u, native_bytes, coming, [*leaving, *([ENDED] if ended else [])])
    numbers = alike.numbers(u, coming)
    if form is None and again is not None and any(s.reads and s.writes for s in slots):
        numbers = ()  # results may go where inputs are, and after a fault nothing would be left to begin again with
    if numbers:
        form = None
    u = u if form is None else form.u
    known = _known(u) if functions else frozenset()
    if form is None and "pow" in known and not rounds_correctly():
        u, known = uniform(powers(u.kernel, partial(_has_bases, u))), known | POWERS
    widest = 8 if known else _widest(u)
    wide_masks = widest == 8 and native_bytes < 64  # of 32 bits, they would be converted for each choice
    masked = u.ends_on_data or bool(ended) or bool(known) or wide_masks
    half = form is None and not masked and halves(u)
    lanes, wide = native_bytes // (2 if half else widest), widest == 8
    products = widest == 8 and by_products(native_bytes)
    if form is None:
        kind = partial(MaskPrinter, known=known) if masked else partial(Printer, half=half)
        p = kind(u, wide=wide, constants={}, by_products=products)
        emitter, values = whole(u, p, in_parts=not ended, gangs=gangs)
    else:
        p = MaskPrinter(u, wide=wide, common=form.common, known=known, constants={}, by_products=products)
        text = RefillText(form, p)
        values, emitter = text.values(), text.emitter
    shared_inputs = [r for r in u.kernel.regions if r.storage == "shared" and r.init is None and r.name in layout]
    fields = frozenset(r for r in shared_inputs if not pack.is_plain(slots, layout[r.name]))
    packing = pack.Packing(slots, layout, lanes, wide)
    coming_runs, leaving_runs = packing.runs(coming), packing.runs(leaving)
    coming_row = pack.ALIKE if numbers else pack.IN_ORDER
    row = coming_row if form is None else "(begin + id[l < lanes ? l : lanes - 1])"
    members = _members(u, p, fields)
    beyond = BEYOND if any(own and element[1:] in ("8", "16") for element, own in p.gathers) else 0
    text = render(
        "cpu/gang.c.j2" if form is None else "cpu/refill.c.j2",
        name=u.kernel.name,
        lanes=lanes,
        vectors=vectors(lanes, widest),
        narrowest=2 if half else 4,
        masks=mask_texts(lanes, widest) if masked else [],
        mask_bits=native_bytes == 64,  # AVX-512
        mask_rep=_mask(u) if masked else "i32",
        refill=form is not None,
        complex_parts=complex_parts(u.kernel),
        members=members,
        packed_whole=not (ended or beyond or numbers or values.get("common")) and set(_kept(u, fields)) <= {*coming},
        numbers=alike.levels(numbers, slots, layout),
        block=alike.BLOCK,
        row=row,
        ended=ended,
        spare=max((s.nbytes for s in slots if s.writes), default=0) or 1,
        tables=tables(u, p),
        wide_multiply=p.wide_multiply,
        **used(p, lanes_functions(sorted(p.functions)), lanes),
        beyond=beyond,
        lookups=[lookup_text(r, p.lookups[r], lanes, r in p.together, r in p.bytes_of) for r in p.lookups],
        transposes=[
            *packing.transposes([*coming_runs, *leaving_runs]),
            *pack.swaps({r.type.size for r in swapped}, lanes),
        ],
        shared=[line for r in shared_inputs for line in pack.share(r, slots, layout[r.name])],
        pack=[line for run in coming_runs for line in packing.pack(run, coming_row, swapped)],
        unpack=[line for run in leaving_runs for line in packing.unpack(run, row, ended)],
        **values,
    )
    refilled = None if form is None else Refilled(form.loop.loc, form.gangs)
    flags = ("-O2",) if emitter.masked > MASKED else ()
    sorted_by = tuple(r.spelling or r.name for r in numbers)
    at_work = gangs * lanes if form is None else None
    return CpuArtifact(
        "gang" if gangs == 1 else "gang:two",
        text,
        slots,
        flags,
        lanes=lanes,
        refill=refilled,
        alike=sorted_by,
        at_work=alike.BLOCK if numbers else at_work,
        functions=tuple(sorted(p.functions)),
        alone=tuple(sorted(p.alone)),
        ended=bool(ended),
        copy_bytes=_copy_bytes(u, p, fields, lanes) * (gangs if form is None else form.gangs + 2),
        again=again,
    )


def _apart(u: Uniform, ended: bool) -> str:
    """Why gangs cannot go side by side, or ""."""
    if u.ends_on_data or ended:
        return "data ends loops or inputs"
    if len(parts(u.kernel)) > 1:
        return f"the kernel is so long, over {LENGTH} statements, that it is printed as several functions"
    arms = (s.then + s.other for s in statements(u.kernel.body) if isinstance(s, If) and u.is_varying(s.cond))
    inside = (x.var for arm in arms for x in statements(arm) if isinstance(x, Assign))
    counted = next((v for v in inside if v not in u.varying), None)
    return f"a branch on data changes '{counted.name}'" if counted is not None else ""


def _may_fault(kernel: Kernel, trace: Trace | None) -> bool:
    """Whether an input could end the process: by a division of whole numbers, or outside of an array."""
    if trace is None or not trace.complete or trace.faults:
        return True
    return any(isinstance(x, Binary) and x.op in "/%" and not _divides(x) for x in _every(kernel))


def _every(kernel: Kernel) -> Iterator[Expr]:
    return (x for s in statements(kernel.body) for e in expressions(s) for x in subexpressions(e))


def _divides(e: Binary) -> bool:
    """Whether a division has a result, whatever is divided."""
    return e.type.is_float or isinstance(e.right, Const) and e.right.value not in (0, -1)


def _widest(u: Uniform) -> int:
    """Bytes of the widest varying value: 4 or 8."""
    named = any(x.type.size == 8 for x in (*u.varying, *u.varying_regions))
    return 8 if named or any(x.type.size == 8 and u.is_varying(x) for x in _every(u.kernel)) else 4


def _mask(u: Uniform) -> str:
    """The vectors that are a mask, where it has no bits for lanes: as wide as most of what it chooses from."""
    sizes = Counter(x.type.size for x in u.varying if x.type != BOOL)
    return "i64" if sizes[8] > sum(sizes.values()) / 2 else "i32"


def _known(u: Uniform) -> frozenset[str]:
    """The functions of math.h that the kernel calls for all lanes at once."""
    called = {x.name for x in _every(u.kernel) if isinstance(x, Call) and u.is_varying(x) and not is_folded(x)}
    return equal(usable() & {*called, *(name for name, pair in PAIRS.items() if called >= set(pair))})


def _in_words(u: Uniform, slots: tuple[Slot, ...], layout: Layout) -> tuple[Uniform, tuple[Words, ...], Layout]:
    """With words that the kernel puts together from bytes that come in, and where these lie."""

    def are_bytes(r: Region) -> bool:
        if r.storage != "bulk" or r.name not in layout or r.begins_otherwise:
            return False
        k, leaf = layout[r.name]
        return not slots[k].writes and pack.is_run(leaf)

    kernel, seen = words(u.kernel, are_bytes)
    if not seen:
        return u, (), layout
    places = {}
    for w in seen:
        k, leaf = layout[w.of.name]
        step = w.region.type.size
        places[w.region.name] = (k, replace(leaf, type=w.region.type, dims=((w.region.count, step),)))
    return uniform(kernel), seen, {**layout, **places}


def _has_bases(u: Uniform, e: Call) -> bool:
    """Whether a call of pow is made for all lanes at once, each with a base of its own."""
    return u.is_varying(e.args[0]) and not is_folded(e)


def _kept(u: Uniform, fields: frozenset[Region]) -> list[Region]:
    """The regions whose elements stand in ``struct gang``. ``fields``: shared ones that are part of a struct."""
    large = (r for r in u.kernel.regions if r.storage == "local" and is_large(r))
    inside = {*u.varying_regions, *fields, *large}
    return [r for r in u.kernel.regions if r in inside]


def _copy_bytes(u: Uniform, p: Printer, fields: frozenset[Region], lanes: int) -> int:
    """Bytes of the regions of a gang."""
    total = 0
    for r in _kept(u, fields):
        varying = r in u.varying_regions
        total += r.count * (lanes * int(p.memory(r)[1:]) // 8 if varying else r.type.size)
        if varying and r.storage == "bulk" and p.memory(r) != memory(r.type):
            total += r.count * lanes * r.type.size
    return total


def _members(u: Uniform, p: Printer, fields: frozenset[Region]) -> list[str]:
    """Members of ``struct gang``. ``fields``: shared regions that are part of a struct."""
    members: list[str] = []
    inside = {*_kept(u, fields)}
    for r in u.kernel.regions:
        if r in u.varying_regions:
            members.append(f"{p.memory(r)} {member(r)}[{r.count}]")
            if r.storage == "bulk" and p.memory(r) != memory(r.type):
                members.append(f"{memory(r.type)} {pack.narrow(r)}[{r.count}]")
        elif r in inside:
            members.append(array(r))
        elif r.storage == "shared" and r.init is None:
            members.append(f"const {c_name(r.type)} *{member(r)}")
    return members
