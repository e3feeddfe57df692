"""The schedule ``gep`` for one matrix that is larger than the device's memory, or spread over several devices (CUDA).

The matrix is cut into bands of rows. For each band: its blocks of steps are done on its own rows (`grid`, variant
staged), which leaves a copy of each row k as its step found it. Any other band takes these steps with these copies and
its own elements alone, whenever it is on a device. So each element takes its steps in order of k on the operands of the
C program, and results are bit-identical for any update and any type.

The text lacks sizes: how many rows a band has, and where its buffers are, depends on the devices' memory. `bands_plan`
plans on which device each band is at which time.
"""

from __future__ import annotations

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.templates import render
from ...codegen.device_library import with_integers
from ...gep import Gep
from ..artifact import BandMatrix, Bands, CpuTeamArtifact, CudaBandsArtifact
from ..slots import Slot
from .grid import checked_storage
from .grid_shape import GridShape, pivots, read_at, usual
from .grid_text import Layout, values
from .names import matrix_name


def bands(
    u: Uniform,
    gep: Gep,
    slots: tuple[Slot, ...],
    layout: Layout,
    fp: str,
    otherwise: CpuTeamArtifact | None = None,
    shape: GridShape | None = None,
) -> CudaBandsArtifact:
    """CUDA text that lacks the sizes, and the figures from which the runtime computes them. ``otherwise``: runs the
    inputs that devices cannot do, on the CPU. Raises UnsupportedError."""
    shape = shape or usual(gep, "bands")
    initial = next((r for r in gep.regions if r.begins_otherwise), None)
    if initial is not None:
        raise catalogue.GEP_INITIAL.error(initial.loc, name=initial.name)
    storage = checked_storage(gep, shape, False, fp)
    steps = tuple((b, b + 1) for b in range(storage.first, storage.last))
    filled = values(u, gep, slots, layout, fp, shape, storage, steps)
    text = with_integers(render("cuda/gep_bands.cu.j2", **{**filled, "matrix": "const struct c2cu_band matrix"}))
    sizes = {matrix_name(r): r.type.size for r in gep.regions}
    matrices = tuple(
        BandMatrix(m.name, m.slot, sizes[m.name], m.stride, m.count, m.written, _copies(gep, m.name))
        for m in filled["matrices"]
    )
    written = [gep.update, *(p for p in gep.scale if p.where == "ik")]
    spans = tuple((p.rows.low, p.rows.high, p.rows.after) for p in written)
    return CudaBandsArtifact(
        "gep:bands",
        text,
        slots,
        flags=("--fmad=true",) if fp == "fast" else (),
        threads=shape.threads,
        bands=Bands(
            shape.tile,
            shape.depth,
            gep.rows,
            gep.columns,
            storage.height,
            storage.pitch,
            gep.k.low,
            gep.k.high,
            matrices,
            spans,
            tuple(filled["looked"]),
            filled["largest"],
        ),
        otherwise=otherwise,
    )


def _copies(gep: Gep, name: str) -> tuple[str, ...]:
    """The copies that updates and scalings need of a matrix' elements: see `BandMatrix`."""
    copies = [x for x, at in (("u", "ik"), ("v", "kj"), ("w", "kk")) if name in map(matrix_name, read_at(gep, at))]
    return (*copies, *(f"p{n}" for n, part in enumerate(gep.scale) if name in map(matrix_name, pivots(part))))
