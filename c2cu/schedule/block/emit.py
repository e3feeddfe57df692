"""Schedule ``block`` (CUDA): one input on the threads of a block, or of a part of one.

Arrays live in the block's shared memory, those of too large an input in memory of the device that the block has for
itself. What the trace proved independent is done at once; elements that consecutive phases keep within a thread stay
in its registers; barriers stand only where one thread needs what another wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...analysis.facts import Trace
from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.diagnostics import UnsupportedError
from ...base.templates import render
from ...codegen.device_library import with_integers
from ...ir.indices import simplified_indices
from ...ir.nodes import Block, Kernel, Region
from ...ir.passes import Pass, through
from ...ir.simplify import simplify
from ...ir.walk import variables
from ...transform.if_convert import if_convert
from ...transform.minmax import minmax
from ...transform.pairs import pairs
from ..artifact import STACK, CudaArtifact
from ..estimate import room
from ..slots import Slot
from .analysed import Analysed
from .builder import REDO, Builder
from .choice import BlockChoice, choices, cost
from .fit import thread_ranges
from .notes import NOTED, SYNCED
from .phases import Item, phases
from .text import Layout, array_bytes, values
from .vectors import NotKnown

BLOCK = 128  # threads that are worth a block
MOST = 1 << 24  # bytes of an input's arrays; where shared memory has less, they lie in memory of the device,
FAR = 6.0  # an access to which takes as many times as long, while its cache holds them
KEPT = frozenset(v.name for v in (NOTED, SYNCED, REDO))  # whatever their webs are


@dataclass(frozen=True)
class BlockProgram:
    """What an input's threads do."""

    builder: Builder
    phases: Kernel  # as the builder left it, before `passes`
    body: Block

    @property
    def threads(self) -> int:
        return self.builder.threads

    @property
    def tables(self) -> list[Region]:
        """Constants beside the kernel's own."""
        return self.builder.machine.tables


def block(u: Uniform, trace: Trace, slots: tuple[Slot, ...], layout: Layout, fp: str, threads: int = 0) -> CudaArtifact:
    """CUDA text. ``threads``: an input's, 0 for the best by estimate. Raises UnsupportedError."""
    program = compiled(u, trace, fp, threads)
    need = array_bytes(u)
    if need > MOST:
        raise catalogue.BLOCK_MEMORY.error(u.kernel.loc, need=need, most=MOST)
    far = need > room()
    inputs = max(1, BLOCK // program.threads)
    while not far and inputs > 1 and inputs * need > room() // 4:
        inputs //= 2
    filled = values(u, trace, program.builder, program.body, slots, layout, inputs)
    text = with_integers(render("cuda/block.cu.j2", slots=slots, far=far, **filled))
    if far:  # in notes
        text = text.replace("shared memory", "the block's memory")
    flags = ("--fmad=true",) if fp == "fast" else ()
    return CudaArtifact(
        "block",
        text,
        slots,
        flags,
        inputs=inputs,
        threads=program.threads * inputs,
        shared_bytes=0 if far else inputs * need,
        spills=STACK,
        cycles=cost(program.builder, FAR if far else 1.0),
    )


def compiled(u: Uniform, trace: Trace, fp: str = "exact", threads: int = 0) -> BlockProgram:
    """The threads' program. Raises UnsupportedError."""
    refuse(u, trace)
    items = phases(u, trace.loops)
    if not any(isinstance(x, Analysed) for x in items):
        raise catalogue.NO_PARALLEL_LOOP.error(u.kernel.loc)
    built = _built(u, items, choices(u, trace, items, threads))
    body = Kernel(u.kernel.name, u.kernel.regions, tuple(built.machine.out), u.kernel.loc)
    return BlockProgram(built, body, through(body, passes(fp, lambda: built.threads)).body)


def passes(fp: str, threads: Callable[[], int]) -> tuple[Pass, ...]:
    """What an input's threads do, with selects for small branches, minima for selects, and short index expressions."""

    def simplify_indices(k: Kernel) -> Kernel:
        return replace(k, body=simplified_indices(k.body, thread_ranges(threads(), k.body)))

    return (
        ("if_convert", if_convert),
        ("minmax", lambda k: minmax(k, fp == "fast")),
        ("simplify_indices", simplify_indices),
        ("pairs", pairs),
        ("prune", prune),
    )


def prune(k: Kernel) -> Kernel:
    """Without what nothing reads; barriers and notes are read by nothing, the note to do it again by the template."""
    kept = (v for v in variables(k.body) if v.name in KEPT)
    return replace(k, body=simplify(k.body, kept))


def refuse(u: Uniform, trace: Trace) -> None:
    """Raise UnsupportedError for what has no proof."""
    if not trace.complete:
        raise catalogue.NOT_TRACED.error(u.kernel.loc, reason=trace.stopped)
    if trace.faults:
        raise catalogue.MAY_LEAVE_ARRAY.error(trace.faults[0].loc)


def _built(u: Uniform, items: list[Item], candidates: list[BlockChoice]) -> Builder:
    """The most promising of the choices that can be had."""
    error: UnsupportedError | None = None
    for c in candidates:
        builder = Builder(u, c.resident, c.radices, c.slots, c.threads)
        try:
            builder.run(items)
        except UnsupportedError as e:
            error = error or e
        except NotKnown as e:
            error = error or catalogue.BLOCK_RUN_TIME.error(u.kernel.loc, name=e)
        else:
            return builder
    raise error or catalogue.BLOCK_THREADS.error(u.kernel.loc)
