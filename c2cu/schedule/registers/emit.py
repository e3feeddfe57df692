"""Schedule ``registers`` (CUDA): one input on each thread, all of it in the thread's registers.

Loops are unrolled until subscripts are constants, and elements become variables. A region whose subscripts do not
become constants, because a loop is too long or because data decides on them, lies in the block's shared memory, a
thread's elements a whole block apart (so that lanes never conflict on banks where they access the same element).
Batch-first arrays come and go by warps, coalesced (see `warp_pack`): one kernel, no working storage in global memory,
no barrier across a block. Where data ends the kernel's main loop, threads refill: see `refill`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from ...analysis.liveness import pressure
from ...analysis.uniform import Uniform, uniform
from ...analysis.webs import webs
from ...analysis.work import TURNS, work
from ...base import catalogue
from ...base.diagnostics import UnsupportedError
from ...base.templates import render
from ...codegen.device_library import with_integers
from ...ir.nodes import Assign, Block, Kernel, Load, Loop, Region, Stmt, Store
from ...ir.passes import Pass, through
from ...ir.simplify import pruned
from ...ir.walk import blocks, expressions, statements, subexpressions, touched
from ...transform.common import common_loads, library_calls
from ...transform.if_convert import if_convert
from ...transform.minmax import minmax
from ...transform.pairs import pairs
from ...transform.scalarize import constant_regions, scalarize
from ...transform.unroll import unroll
from ..artifact import STACK, CudaArtifact, Refilled
from ..slots import Layout, Slot
from .refill import RefillingText, refill
from .text import Placed, RegistersText, stored

BUDGET = 24_000  # statements to unroll, those included that vanish
SHORT = 2_000  # the same, where that makes the kernel too long or too large,
SHORTEST = 300  # or yet too large, and data decides: other programs have other schedules
LONGEST = 10_000  # statements of a kernel: what NVRTC still digests in seconds
CALL = 20  # statements that a call of a function of math.h is as much work for the compiler as
VANISHING = 2  # times as many may be there at first
WORDS = 250  # live 32-bit words: a thread has 255 registers
ARRAYS = 1536  # bytes of arrays that a thread may have in shared memory,
FAR = 8192  # and in local memory
SPILLS = 2048  # bytes of a thread that do not fit registers, where data decides: others have more in local memory
THREADS = 64


def registers(u: Uniform, slots: tuple[Slot, ...], layout: Layout, fp: str, threads: int = THREADS) -> CudaArtifact:
    """CUDA text for blocks of ``threads``. Raises UnsupportedError for a program that is too long or too large for a
    thread."""
    refuse_moved(u.kernel, layout)
    if u.oblivious:
        _refuse_slots(u.kernel, slots)
    leaving = frozenset(r for r in u.kernel.regions if r.name in layout and slots[layout[r.name][0]].writes)
    placed = _fitting(u.kernel, leaving, fp, not u.oblivious)
    form = refill(placed)
    if form is None:
        template, text = "cuda/registers.cu.j2", RegistersText(placed, slots, layout, threads)
    else:
        template, text = "cuda/refill.cu.j2", RefillingText(form, placed, slots, layout, threads)
    source = with_integers(render(template, name=u.kernel.name, threads=threads, **text.values()))
    return CudaArtifact(
        "registers",
        source,
        slots,
        ("--fmad=true",) if fp == "fast" else (),
        inputs=threads,
        threads=threads,
        shared_bytes=text.shared_bytes,
        spills=STACK if u.oblivious else SPILLS + sum(_size(placed, r) for r in placed.far),
        refill=Refilled(form.loop.loc) if form is not None else None,
    )


def _fitting(kernel: Kernel, leaving: frozenset[Region], fp: str, by_data: bool) -> Placed:
    """The kernel with as many of its loops unrolled as a thread has room for. ``by_data``: data decides something: then
    arrays may lie in local memory, as they would under the other schedules. Raises UnsupportedError."""
    errors: list[UnsupportedError] = []
    lengths: set[int] = set()
    for budget in (BUDGET, SHORT, *([SHORTEST] if by_data else [])):
        unrolled = unroll(kernel, budget, whole=True)
        length = sum(1 + CALL * library_calls(s) for s in statements(unrolled.body))
        if length in lengths:
            continue
        lengths.add(length)
        if length > VANISHING * LONGEST:
            errors.append(catalogue.REGISTERS_STATEMENTS.error(kernel.loc, count=length, most=LONGEST))
            continue
        placed = _placed(unrolled, leaving, fp)
        placed = replace(placed, far=_far(placed) if by_data else frozenset())
        error = too_much(kernel, placed, WORDS + SPILLS // 8 if by_data else WORDS)
        if error is None:
            return placed
        errors.append(error)
    raise errors[0]


def refuse_moved(kernel: Kernel, layout: Layout) -> None:
    """Raise UnsupportedError where a member lies at no multiple of its size, from which a GPU does not load."""
    for _, leaf in layout.values():
        if any(at % leaf.type.size for at in (leaf.offset, *(stride for _, stride in leaf.dims))):
            raise catalogue.HOST_LAYOUT.error(kernel.loc, attribute="an attribute")


def _refuse_slots(kernel: Kernel, slots: tuple[Slot, ...]) -> None:
    """Raise UnsupportedError, before any work, for what cannot fit: all that goes out is live at the end."""
    out = sum(s.nbytes for s in slots if s.writes)
    moved = sum(s.nbytes for s in slots if (s.reads or s.writes) and not s.shared)
    if out > 4 * WORDS or moved > 4 * WORDS + ARRAYS:
        raise catalogue.REGISTERS_BYTES.error(
            kernel.loc, bytes=out if out > 4 * WORDS else moved, direction="out" if out > 4 * WORDS else "in and out"
        )


def passes(leaving: frozenset[Region], fp: str, budget: int = BUDGET, loops: tuple[Loop, ...] = ()) -> tuple[Pass, ...]:
    """Elements in variables, selects for small branches and minima for selects. ``leaving``: the regions that go out;
    ``budget``: statements to unroll; ``loops``: those that stay loops."""
    return (
        ("unroll", lambda k: unroll(k, budget, whole=True, rolled=loops)),
        ("scalarize", lambda k: scalarize(k, leaving)),
        ("webs", lambda k: pruned(webs(k).kernel)),
        ("if_convert", if_convert),
        ("minmax", lambda k: pruned(minmax(k, fp == "fast"))),
        ("common", common_loads),
        ("pairs", pairs),
    )


def place(
    kernel: Kernel, leaving: frozenset[Region], fp: str, budget: int = BUDGET, loops: tuple[Loop, ...] = ()
) -> Placed:
    """A kernel after `passes`, taken apart into what brings elements in, what computes and what brings them out."""
    return _placed(through(kernel, passes(leaving, fp, budget, loops)[:1]), leaving, fp)


def _placed(kernel: Kernel, leaving: frozenset[Region], fp: str) -> Placed:
    """The same of a kernel that is unrolled."""
    regions = frozenset(constant_regions(kernel, True))
    u = uniform(through(kernel, passes(leaving, fp)[1:]))
    kernel = u.kernel
    loads: list[Assign] = []
    stores: list[Store] = []
    times = Counter(s.var for s in statements(kernel.body) if isinstance(s, Assign))
    body: list[Stmt] = []
    for s in kernel.body:  # a load may come behind another statement: elements are stored at the end only
        if isinstance(s, Assign) and _loads(s, regions) and (not body or times[s.var] == 1):
            loads.append(s)
        else:
            body.append(s)
    while body and isinstance(final := body[-1], Store) and final.region in regions:
        stores.append(final)
        body.pop()
    arrays, shared_inputs, tables = [], [], []
    accessed = touched(tuple(body))
    for r in kernel.regions:
        if r in regions and r.storage == "bulk":
            continue
        if r.storage == "shared":
            if r.init is None:
                shared_inputs.append(r)
            elif r in accessed:
                tables.append(r)
        elif r in accessed or r in leaving:
            arrays.append(r)
    return Placed(
        tuple(body),
        tuple(loads),
        tuple(reversed(stores)),
        tuple(arrays),
        leaving,
        tuple(shared_inputs),
        tuple(tables),
        stored={r: stored(r, (*loads, *body)) for r in arrays},
        looked_up=frozenset(_looked_up(u, kernel.body)) & frozenset(tables),
        loop=next((k for k, s in _by_work(body) if u.is_ended_by_data(s)), None),
    )


def _looked_up(u: Uniform, block: Block) -> Iterator[Region]:
    """The regions of which data decides which element is loaded."""
    for s in statements(block):
        for e in expressions(s):
            yield from (x.region for x in subexpressions(e) if isinstance(x, Load) and u.is_varying(x.index))


def _by_work(body: list[Stmt]) -> list[tuple[int, Loop]]:
    """The loops of ``body`` with their numbers, those that most is done in first."""
    return sorted(((k, s) for k, s in enumerate(body) if isinstance(s, Loop)), key=lambda x: -work((x[1],)))


def _loads(s: Stmt, regions: frozenset[Region]) -> bool:
    return isinstance(s, Assign) and isinstance(s.value, Load) and s.value.region in regions


def too_much(kernel: Kernel, placed: Placed, most: int = WORDS) -> UnsupportedError | None:
    """What a thread cannot hold, or the compiler not digest. ``most``: words that may be live at once."""
    count = sum(1 for _ in statements(placed.body))
    if count > LONGEST:
        return catalogue.REGISTERS_STATEMENTS.error(kernel.loc, count=count, most=LONGEST)
    for arrays, room in ((frozenset(placed.arrays) - placed.far, ARRAYS), (placed.far, FAR)):
        size = sum(_size(placed, r) for r in arrays)
        if size > room:
            largest = max(arrays, key=lambda r: _size(placed, r))
            return catalogue.REGISTERS_ARRAYS.error(largest.loc, name=largest.name, bytes=size, most=room)
    words = pressure((*placed.loads, *placed.body, *placed.stores))
    if words > most:
        return catalogue.REGISTERS_LIVE.error(kernel.loc, words=words, most=most)
    return None


def _size(placed: Placed, r: Region) -> int:
    return placed.stored[r].size * r.count


def _far(placed: Placed) -> frozenset[Region]:
    """The arrays for local memory, where shared memory has no room for all: those with the fewest accesses a byte."""
    accesses = _accesses(placed.body)
    near = sorted(placed.arrays, key=lambda r: accesses[r] / _size(placed, r))
    far: list[Region] = []
    while near and sum(_size(placed, r) for r in near) > ARRAYS:
        far.append(near.pop(0))
    return frozenset(far)


def _accesses(block: Block) -> Counter[Region]:
    """How often regions are accessed, about."""
    out: Counter[Region] = Counter()
    for s in block:
        if not blocks(s):
            out.update(touched((s,)))
            continue
        out.update(x.region for e in expressions(s) for x in subexpressions(e) if isinstance(x, Load))
        for inner in blocks(s):
            for r, n in _accesses(inner).items():
                out[r] += n * (TURNS if isinstance(s, Loop) else 1)
    return out
