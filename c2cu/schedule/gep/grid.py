"""The schedule ``gep`` for one large matrix, or a few (CUDA): the whole device works at each.

Blocked as Floyd-Warshall programs are (Lund and Smith 2010; thesis, 3.2): for each block of steps the tile that holds
these k in rows and columns, then the tiles of its rows and of its columns, then all others, as a product. Rows and
columns k are copied as their step finds them: so each element takes its steps in order, on the operands that the C
program reads, and results are bit-identical for any update and any type.

Each matrix is worked at in a padded copy. Where row k or column k moves in its own step (a negative cycle), a flag is
set, and the matrix is computed again from the input in the order of the C program, by one thread: exact, and slow.
"""

from __future__ import annotations

from collections.abc import Callable

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.templates import render
from ...codegen.device_library import with_integers
from ...gep import Gep
from ..artifact import CudaLaunchesArtifact, Launch
from ..slots import Slot
from . import grid_launches
from .about import noted
from .grid_shape import FULL, GridShape, Storage, storage_of, stored, usual
from .grid_text import Layout, in_pairs, looks, values
from .names import matrix_name

VARIANTS: dict[str, Callable[[GridShape, Storage], tuple[Launch, ...]]] = {
    "staged": grid_launches.staged,
    "streams": grid_launches.streams,
    "graph": grid_launches.streams,
    "single": grid_launches.single,
    "recursive": grid_launches.recursive,
}
ON_STREAMS = ("streams", "graph")  # whose launches run beside each other
SINGLE = 3072, 12288, 6144  # rows from which on, and up to which, one kernel is fastest; of pairs
STEPS = 1 << 16  # blocks of steps, at most: what is launched is listed
VECTOR = 16  # bytes that are copied to shared memory at once
LONGEST = 1 << 24  # rows or columns of a matrix


def usual_variant(gep: Gep, pack: bool = False) -> str:
    """The fastest variant on an H200. For small matrices launches take longer than their work, which a graph shortens;
    for larger ones blocks wait for the last block of each launch, which one kernel avoids; for the largest neither
    matters."""
    n = max(gep.rows, gep.columns)
    if n < SINGLE[0]:
        return "graph"
    return "single" if n < SINGLE[2 if in_pairs(gep, None, pack) else 1] else "streams"


def grid(
    u: Uniform,
    gep: Gep,
    slots: tuple[Slot, ...],
    layout: Layout,
    fp: str,
    variant: str = "auto",
    shape: GridShape | None = None,
    pack: bool = False,
) -> CudaLaunchesArtifact:
    """CUDA text and launches. ``variant``: a name of `VARIANTS`, or auto; ``pack``: all elements fit 15 bits. Raises
    UnsupportedError."""
    variant = usual_variant(gep, pack) if variant == "auto" else variant
    full = variant in FULL
    shape = shape or usual(gep, variant, in_pairs(gep, None, pack))
    pairs = in_pairs(gep, shape, pack)
    if full and shape.depth != shape.tile:
        raise ValueError(f"{variant} wants blocks of as many steps as a tile has rows, not {shape}")
    storage = checked_storage(gep, shape, full, fp, pairs)
    launches = VARIANTS[variant](shape, storage)
    steps = tuple((b, b + 1) for b in range(storage.first, storage.last))
    if variant == "recursive":
        steps = grid_launches.products(launches)
    filled = values(u, gep, slots, layout, fp, shape, storage, steps)

    def listed(launches: tuple[Launch, ...]) -> tuple[Launch, ...]:
        return noted(launches if filled["moves"] else grid_launches.without_again(launches), gep)

    text = render("cuda/gep_grid.cu.j2", slots=slots, variant=variant, no_block=grid_launches.NONE, **filled)
    return CudaLaunchesArtifact(
        f"gep:{variant}",
        with_integers(text),
        slots,
        ("--fmad=true",) if fp == "fast" else (),
        threads=shape.threads,
        launches=listed(launches),
        graph=variant == "graph",
        one_stream=listed(grid_launches.staged(shape, storage)) if variant in ON_STREAMS else (),
    )


def checked_storage(gep: Gep, shape: GridShape, full: bool, fp: str, pairs: bool = False) -> Storage:
    """`storage_of`, where there is one. Raises UnsupportedError for too large a matrix, and for too few or too many
    steps."""
    if any(shape.depth * stored(r, pairs) % VECTOR for r in gep.regions):
        raise ValueError(f"{shape} has rows that are no multiple of {VECTOR} bytes")
    if max(gep.rows, gep.columns) > LONGEST:
        raise catalogue.GEP_TOO_LARGE.error(gep.loc, rows=gep.rows, columns=gep.columns)
    storage = storage_of(gep, shape, full, {r: matrix_name(r) for r in gep.regions}, looks(gep, fp, pairs), pairs)
    if not 0 < storage.last - storage.first <= STEPS:
        raise catalogue.GEP_STEPS.error(gep.loc, steps=max(0, gep.k.high - gep.k.low))
    return storage
