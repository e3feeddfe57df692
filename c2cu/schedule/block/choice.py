"""How many threads an input gets: the few sensible choices, and what each would cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform
from ...ir.nodes import Block, Const, Load, Loop, Region, Store, Var
from ...ir.walk import expressions, statements, subexpressions
from .analysed import Analysed
from .builder import Builder
from .mapping import factors
from .notes import is_barrier, is_note
from .phases import Item

REGISTERS = 96  # words of elements that a thread may hold
THREADS = 1024
FEWEST = 8
FAVOURED = 32  # words that a thread had best hold
TRIED = 5  # until one can be had
FILE, OTHERS = 65536, 24  # registers of a multiprocessor, and those that a thread needs beside what it holds
BARRIER = 24.0  # cycles, where it holds several warps
WARP_BARRIER = 2.0


@dataclass(frozen=True)
class BlockChoice:
    resident: frozenset[Region]
    radices: tuple[int, ...]
    slots: int
    threads: int


def choices(u: Uniform, trace: Trace, items: list[Item], threads: int) -> list[BlockChoice]:
    """The most promising first."""
    stored = [f for f in trace.regions if f.stores and f.region in u.varying_regions and f.region.count > 1]
    parallel = [x.phase for x in items if isinstance(x, Analysed)]
    if not stored:
        return [BlockChoice(frozenset(), (), 1, threads or 64)]
    main = max(stored, key=lambda f: f.stores).region
    resident = frozenset(f.region for f in stored if f.region.count == main.count)
    shape = next((p.extents for p in parallel if int(np.prod(p.extents)) == main.count), (main.count,))
    radices = factors(shape)
    words = sum(max(1, r.type.size // 4) for r in resident)
    out = []
    for slots in sorted(_products(radices), reverse=True):
        n = main.count // slots
        fits = slots * words <= REGISTERS and n * (slots * words + OTHERS) <= FILE
        if fits and FEWEST <= n <= THREADS and threads in (0, n):
            out.append(BlockChoice(resident, radices, slots, n))
    out.sort(key=lambda c: (c.threads % 32 != 0 and c.threads < 32, abs(c.slots * words - FAVOURED)))
    return out[:TRIED]


def _products(radices: tuple[int, ...]) -> set[int]:
    out = {1}
    for r in radices:
        out |= {x * r for x in out}
    return out


def cost(b: Builder, access: float) -> float:
    """Cycles of a multiprocessor for an input, roughly: the larger of its memory's and arithmetic's. ``access``: to
    memory, of a warp."""
    memory, arithmetic, barriers = _count(tuple(b.machine.out))
    warps = b.threads / 32
    return max(access * memory, arithmetic / 4) * warps + barriers * (BARRIER if b.threads > 32 else WARP_BARRIER)


def _count(block: Block) -> tuple[float, float, float]:
    """(accesses to shared memory, operations, barriers) of a thread."""
    memory = arithmetic = barriers = 0.0
    for s in block:
        if is_barrier(s):
            barriers += 1
            continue
        if is_note(s):
            continue
        if isinstance(s, Loop):
            inner = _count(s.body)
            turns = _turns(s)
            memory, arithmetic, barriers = (x + turns * y for x, y in zip((memory, arithmetic, barriers), inner))
            continue
        for x in statements((s,)):
            memory += isinstance(x, Store)
            for e in (y for z in expressions(x) for y in subexpressions(z)):
                memory += isinstance(e, Load) and e.region.storage != "shared"
                arithmetic += not isinstance(e, (Const, Var, Load))
    return memory, arithmetic, barriers


def _turns(s: Loop) -> int:
    bound = next((x for x in subexpressions(s.cond) if isinstance(x, Const)), None)
    return int(bound.value) if bound is not None else 1
