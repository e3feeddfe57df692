"""Schedule ``scan`` (CUDA): one input on each thread, its long arrays in tiles through shared memory.

Loops at top level that go through long arrays an element after the other stay loops: a warp loads a tile of its inputs'
rows, coalesced, each lane does its turns on its own row of it, and the warp stores the tile; the next tile is under way
meanwhile. Everything else is in registers, as in the schedule ``registers``.
"""

from __future__ import annotations

from dataclasses import replace

from ...analysis.facts import Trace
from ...analysis.finding import Finding
from ...analysis.liveness import pressure
from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.templates import render
from ...codegen.device_library import with_integers
from ...ir.nodes import Const, Kernel, Loop
from ..artifact import STACK, CudaArtifact
from ..registers.emit import BUDGET, THREADS, Layout, place, refuse_moved, too_much
from ..registers.text import Placed
from ..slots import Slot
from .streaming_loop import Sweep, accesses, sweeps, walks
from .text import ScanText

BLOCKS = 16  # of a multiprocessor: 1024 threads, of 64 registers each
NEXT = 32  # words of a thread's next tiles, of those registers
WORDS = 16  # of its variables
PITCH = 1024  # bytes of a row of the tile: more leaves a multiprocessor too few warps


def scan(u: Uniform, trace: Trace, slots: tuple[Slot, ...], layout: Layout, fp: str) -> CudaArtifact:
    """CUDA text. Raises UnsupportedError for a program with no loop through a long array, or that is too large."""
    _refuse_findings(u.findings)
    refuse_moved(u.kernel, layout)
    if not trace.complete:
        raise catalogue.NOT_TRACED.error(u.kernel.loc, reason=trace.stopped)
    if trace.faults:
        raise catalogue.MAY_LEAVE_ARRAY.error(trace.faults[0].loc)
    loops = kept_loops(u.kernel)
    if not loops:
        raise catalogue.SCAN_NO_LOOP.error(u.kernel.loc)
    leaving = frozenset(r for r in u.kernel.regions if r.name in layout and slots[layout[r.name][0]].writes)
    placed = place(u.kernel, leaving, fp, BUDGET, loops)
    streaming_loops = sweeps(placed.body, placed.arrays, slots, layout, trace)
    if not streaming_loops:
        raise catalogue.SCAN_NO_LOOP.error(u.kernel.loc)
    swept = {w.region for s in streaming_loops for w in s.windows}
    placed = replace(placed, arrays=tuple(r for r in placed.arrays if r not in swept), leaving=leaving - swept)
    error = too_much(u.kernel, placed)
    if error is not None:
        raise error
    pitch = max(s.pitch for s in streaming_loops)
    if pitch > PITCH:
        raise catalogue.SCAN_WIDTH.error(streaming_loops[0].walk.loop.loc, bytes=pitch, most=PITCH)
    text = ScanText(placed, slots, layout, THREADS, streaming_loops)
    bounds = _bounds(streaming_loops, placed)
    source = with_integers(
        render("cuda/scan.cu.j2", name=u.kernel.name, threads=THREADS, bounds=bounds, **text.values())
    )
    flags = ("--fmad=true",) if fp == "fast" else ()
    return CudaArtifact(
        "scan", source, slots, flags, inputs=THREADS, threads=THREADS, shared_bytes=text.shared_bytes, spills=STACK
    )


def _refuse_findings(findings: tuple[Finding, ...]) -> None:
    """Raise UnsupportedError where data decides on an address or on the turns of a loop."""
    for f in findings:
        if f.severe:
            raise catalogue.SCAN_DATA.error(f.loc, finding=f.message)


def kept_loops(kernel: Kernel) -> tuple[Loop, ...]:
    """The loops that are worth keeping: at top level, through a bulk array that no other kind of loop uses."""
    loops = tuple(walks(kernel.body))
    bulk = [a for a in accesses(kernel.body, loops) if a.region.storage == "bulk"]
    other = {a.region for a in bulk if a.offset is None and not isinstance(a.index, Const)}
    through = {a.sweep for a in bulk if a.offset is not None and a.region not in other}
    return tuple(x.loop for k, x in enumerate(loops) if k in through)


def _bounds(streaming_loops: tuple[Sweep, ...], placed: Placed) -> str:
    """What __launch_bounds__ says: threads, and blocks that hide latency where registers allow them without spills."""
    following = max(sum(s.tile * w.region.type.size for w in s.windows if w.loaded) // 4 for s in streaming_loops)
    few = following <= NEXT and pressure((*placed.loads, *placed.body, *placed.stores)) <= WORDS
    return f"{THREADS}, {BLOCKS}" if few else str(THREADS)
