"""Schedule ``gep`` (CPU): one large matrix in blocks of steps, columns in SIMD lanes, tiles shared among all cores.

Tiles of 64 x 64 elements take 64 steps at a time, as in the blocked Floyd-Warshall, and in the order of the sequential
program, with copies of row k and column k as they were at step k: see `c2cu.gep.form`. The bits of row k and column k
are compared where they might move; where they do, the program is run again as it stands.
"""

from __future__ import annotations

from ...analysis.uniform import Uniform
from ...base import catalogue
from ...base.ctype import BOOL
from ...base.templates import render
from ...codegen.lanes import complex_parts, extreme_text, fused_text, gather_text, rounded_text, vectors
from ...gep import Gep, NotGep
from ...ir.walk import subexpressions
from ..artifact import CpuTeamArtifact
from ..pack import is_plain
from ..slots import Layout, Slot
from .cpu_text import GepText
from .require_gep import require_gep
from .sequential import sequential_lines

BLOCK = 64


def cpu(
    u: Uniform, recognised: Gep | NotGep | None, slots: tuple[Slot, ...], layout: Layout, native_bytes: int
) -> CpuTeamArtifact:
    """C text for the host compiler. ``native_bytes``: width of the CPU's SIMD registers. Raises UnsupportedError."""
    g = require_gep(u.kernel, recognised)
    _refuse(g, slots, layout)
    widest = _widest(g)
    lanes = native_bytes // widest
    text = GepText(g, slots, layout, lanes, BLOCK, widest == 8, 32 if native_bytes == 64 else 16)
    values = text.values()
    source = render(
        "cpu/gep.c.j2",
        name=u.kernel.name,
        lanes=lanes,
        block=BLOCK,
        vectors=vectors(lanes, widest),
        narrowest=4,
        complex_parts=complex_parts(u.kernel),
        masks=[],
        mask_rep="i32",
        wide_multiply=text.printer.wide_multiply,
        roots=sorted(text.printer.roots),
        rounded=[rounded_text(name, lanes) for name in sorted(text.printer.rounded)],
        gathers=[gather_text(element, own, lanes) for element, own in sorted(text.printer.gathers)],
        bytes=sorted(text.printer.bytes),
        pairs=[],
        constants={},
        fused=[fused_text(rep, lanes) for rep in sorted(text.printer.fused)],
        over=None,
        functions=[],
        unsigned=sorted(text.printer.unsigned),
        extremes=[extreme_text(name, lanes) for name in sorted(text.printer.extremes)],
        redo=sequential_lines(u.kernel, g.regions, slots, layout),
        **values,
    )
    return CpuTeamArtifact("gep", source, slots)


def _refuse(gep: Gep, slots: tuple[Slot, ...], layout: Layout) -> None:
    """Raise UnsupportedError for matrices that tiles cannot hold, and for loops that begin too late."""
    for r in gep.regions:
        if (
            r.storage == "local"
            or (r.storage == "shared" and r.init is not None)
            or r.name not in layout
            or not is_plain(slots, layout[r.name])
        ):
            raise catalogue.GEP_OWN_MATRIX.error(r.loc, name=r.name)
    for part in (*gep.scale, gep.update):
        for x in (part.rows, part.columns):
            if x.after and x.low > 1:
                raise catalogue.GEP_LATE_START.error(part.loc)


def _widest(g: Gep) -> int:
    """Bytes of the widest value in a lane: 4 or 8."""
    types = [r.type for r in g.regions]
    for part in (*g.scale, g.update):
        types += [x.type for _, value in part.values for x in subexpressions(value)]
    return 8 if any(t.size == 8 and t != BOOL for t in types) else 4
