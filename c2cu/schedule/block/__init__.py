"""Schedule ``block`` (CUDA): one input on the threads of a block, or of a part of one.

Arrays live in the block's shared memory. What the trace proved independent is done at once; elements that consecutive
phases keep within a thread stay in its registers; barriers stand only where one thread needs what another wrote.
"""

from __future__ import annotations

from ...artifact import Artifact, Slot
from ...diagnostics import UnsupportedError
from ...emit import render
from ...facts import Trace
from ...if_convert import if_convert
from ...ir import Kernel
from ...minmax import minmax
from ...uniform import Uniform
from .analysed import Analysed
from .builder import Builder
from .choice import Choice, choices, cost
from .phases import Item, phases, uniform_memory
from .text import Layout, values

SHARED_BYTES = 227 << 10  # of a block, at most
BLOCK = 128  # threads that are worth a block


def block(u: Uniform, trace: Trace, slots: tuple[Slot, ...], layout: Layout, fp: str, threads: int = 0) -> Artifact:
    """CUDA text. ``threads``: an input's, 0 for the best by estimate. Raises UnsupportedError."""
    refuse(u, trace)
    items = phases(u, trace.loops)
    if not any(isinstance(x, Analysed) for x in items):
        raise UnsupportedError("C2CU093", "no loop has independent iterations", u.kernel.loc)
    built = _built(u, items, choices(u, trace, items, threads))
    need = sum(r.type.size * (r.count + r.count // 32 + 4) for r in u.kernel.regions if r.storage != "shared")
    if need > SHARED_BYTES:
        raise UnsupportedError(
            "C2CU094", f"an input takes {need} bytes, shared memory has {SHARED_BYTES}", u.kernel.loc
        )
    body = Kernel(u.kernel.name, u.kernel.regions, tuple(built.machine.out), u.kernel.loc)
    body = minmax(if_convert(body), fp == "fast")
    inputs = max(1, BLOCK // built.threads)
    while inputs > 1 and inputs * need > SHARED_BYTES // 4:
        inputs //= 2
    filled = values(u, trace, built, body, slots, layout, inputs)
    text = render("cuda/block.cu.j2", **filled)
    flags = ("--fmad=true",) if fp == "fast" else ()
    threads, shared = built.threads * inputs, inputs * filled["bytes"]
    return Artifact("block", "cuda", text, slots, inputs, flags, threads, shared, False, cost(built))


def refuse(u: Uniform, trace: Trace) -> None:
    """Raise UnsupportedError for what has no proof."""
    if not trace.complete:
        raise UnsupportedError("C2CU093", f"nothing is proved of its loops: {trace.stopped}", u.kernel.loc)
    if trace.faults:
        raise UnsupportedError("C2CU093", "a subscript may leave its array", trace.faults[0].loc)


def _built(u: Uniform, items: list[Item], found: list[Choice]) -> Builder:
    """The cheapest of the choices that can be had."""
    best: tuple[float, Builder] | None = None
    error: UnsupportedError | None = None
    for c in found:
        builder = Builder(u, uniform_memory(u), c.resident, c.radices, c.slots, c.threads)
        try:
            builder.run(items)
        except UnsupportedError as e:
            error = error or e
            continue
        price = cost(builder)
        if best is None or price < best[0]:
            best = price, builder
    if best is None:
        raise error or UnsupportedError("C2CU092", "no number of threads fits these arrays", u.kernel.loc)
    return best[1]
