"""Schedule ``gep`` (CUDA) for many small matrices: one input on the threads of a warp or a block, in their registers.

A thread holds a tile of every matrix. At step k the owners put row k and column k into shared memory, as they are; one
barrier; every thread reads the parts that belong to its tile, computes the scale parts on them (the owners keep the
results) and updates its tile. What a thread reads is of step k whatever the others do meanwhile, as the buffers are
two. A matrix of more elements than registers goes through them in bands of rows: row k stays in shared memory until
all bands have taken step k.

Where an update may change row k or column k, the owners compare the bits of the row and the column before and after, or
the kernel tests the condition that `c2cu.gep.semiring` has proved to be sufficient. One thread computes an input that
fails again from the start, in the order of the C program: outputs are written only at the end.
"""

from __future__ import annotations

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.templates import render
from ...codegen.device_library import with_integers
from ...gep import Gep, NotGep
from ...ir.nodes import Region
from ..artifact import CudaArtifact
from ..pack import is_plain
from ..slots import Slot
from .require_gep import require_gep
from .tiles_shape import Sides, TileShape, cycles, shapes
from .tiles_text import Layout, values

SPILLED = 64  # bytes: a few registers that only what comes before and after the steps wants
LARGEST = 512  # rows or columns that one multiprocessor does in good time


def tiles(
    u: Uniform,
    gep: Gep | NotGep | None,
    slots: tuple[Slot, ...],
    layout: Layout,
    fp: str,
    shape: TileShape | None = None,
    threads: int = 0,
) -> CudaArtifact:
    """CUDA text. ``shape``: the best by estimate if None, of those with so many ``threads`` an input if that is not 0.
    Raises UnsupportedError."""
    g = require_gep(u.kernel, gep)
    _refuse(g, slots, layout)
    sides = sides_of(g)
    candidates = [shape] if shape is not None else shapes(g, sides, threads)
    if not candidates:
        raise catalogue.GEP_THREADS.error(g.loc, threads=threads) if threads else catalogue.GEP_ROWS.error(g.loc)
    s = candidates[0]
    text = with_integers(
        render("cuda/gep_tiles.cu.j2", slots=slots, **values(u.kernel, g, sides, s, slots, layout, fp == "fast"))
    )
    flags = ("--fmad=true",) if fp == "fast" else ()
    return CudaArtifact(
        "gep",
        text,
        slots,
        flags,
        inputs=s.inputs,
        threads=s.block,
        shared_bytes=s.places * s.shared_bytes(sides),
        spills=SPILLED,
        cycles=cycles(s, g, sides),
    )


def _refuse(g: Gep, slots: tuple[Slot, ...], layout: Layout) -> None:
    for r in g.regions:
        if r.storage == "local":
            raise catalogue.GEP_OWN_MATRIX.error(r.loc, name=r.name)
        if r.name in layout and not is_plain(slots, layout[r.name]):
            raise catalogue.PART_OF_STRUCT.error(r.loc, name=r.name)


def sides_of(g: Gep) -> Sides:
    """The matrices whose row k, and those whose column k, a step passes on to all threads. Element [k][k] comes with
    row k."""
    rows: set[Region] = set()
    columns: set[Region] = set()
    for part in (*g.scale, g.update):
        rows |= {p.region for p in part.places if p.where in ("kj", "kk")}
        columns |= {p.region for p in part.places if p.where == "ik"}
        if part.where == "kj":
            rows |= set(dict(part.values))
        if part.where == "ik":
            columns |= set(dict(part.values))
            if part.rows.has_k():
                rows |= {p.region for p in part.places} | set(dict(part.values))
    return Sides(tuple(r for r in g.regions if r in rows), tuple(r for r in g.regions if r in columns))
