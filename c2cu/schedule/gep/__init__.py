"""Schedules ``gep``: loops of Gaussian-elimination type (`c2cu.gep`), blocked, and exact for any update.

`cpu`: one matrix on all cores, its columns in SIMD lanes. `tiles` (CUDA): many small matrices, each in the registers of
a warp or a block. `grid` (CUDA): the whole device works at one large matrix, or at a few; `bits`: at a transitive
closure; `bands`: at a matrix that does not fit it, or with other devices.
"""

from __future__ import annotations

from contextlib import suppress

from ...analysis.facts import Trace
from ...base import toolchain
from ...base.diagnostics import UnsupportedError
from ...gep import NotGep
from ...ir.nodes import Region
from ..artifact import Artifact, CpuTeamArtifact, CudaArtifact
from ..estimate import Estimate, floor
from ..registry import emit_schedule, variants
from ..schedule import Candidate, Schedule
from ..understood import Understood

GANG, CACHE = 16, 1 << 19  # inputs in a gang, and bytes of theirs that a core works on at full speed
FEW, SMALL = 8, 32  # inputs that leave most of a gang's lanes idle, where they have as many rows
LARGE = 256  # threads of a matrix that the whole device may do better


def _looks_like_it(understood: Understood) -> bool:
    """Whether the program is of Gaussian-elimination type, or so near to it that what prevents it is worth telling."""
    gep = understood.gep
    return gep is not None and (not isinstance(gep, NotGep) or gep.is_near)


class CpuGepSchedule(Schedule):
    settles = rounds_freely = True

    def applies(self, understood: Understood) -> bool:
        return _looks_like_it(understood)

    def objection(self, understood: Understood, p: int | None) -> str | None:
        """Many small matrices go side by side, in lanes, rather than each in tiles."""
        gep = understood.gep
        assert gep is not None
        if isinstance(gep, NotGep):
            return f"{gep.loc}: not of Gaussian-elimination type: {gep.message}"
        large = sum(r.count * r.type.size for r in gep.regions) * GANG > CACHE
        if large or (p is not None and p < FEW and gep.rows >= SMALL):
            return None
        return f"{GANG} matrices of {gep.rows} x {gep.columns} side by side fit a core's cache"

    def emit(self, understood: Understood, threads: int, variant: str) -> CpuTeamArtifact:
        from .cpu import cpu

        u = understood.whole()
        return cpu(u, understood.gep, understood.slots, understood.layout, toolchain.vector_bytes())


class CudaGepSchedule(Schedule):
    settles = rounds_freely = True

    def applies(self, understood: Understood) -> bool:
        return _looks_like_it(understood)

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        """Each matrix in registers, or, where it is too large for them or a variant is wanted, the whole device at
        each: on bits if it is a transitive closure."""
        from ...gep.closure import closure
        from .bits import bits
        from .grid import grid
        from .require_gep import require_gep
        from .tiles import LARGEST, tiles

        u = understood.whole()
        gep = require_gep(u.kernel, understood.gep)
        slots, layout, fp = understood.slots, understood.layout, understood.fp
        if variant == "bands":
            from .bands import bands

            return bands(u, gep, slots, layout, fp, self._on_cpu(understood))
        small = max(gep.rows, gep.columns) <= LARGEST
        if variant == "bits" or (not variant and not small and isinstance(closure(gep), Region)):
            return bits(u, gep, slots, layout, fp)
        if variant == "tiles" or (not variant and small):
            try:
                return tiles(u, gep, slots, layout, fp, threads=threads)
            except UnsupportedError:
                if variant or threads:
                    raise
        return grid(u, gep, slots, layout, fp, variant or "auto", pack=understood.pack is not None)

    def _on_cpu(self, understood: Understood) -> CpuTeamArtifact | None:
        """For inputs that devices cannot do."""
        with suppress(UnsupportedError):
            artifact = emit_schedule("gep", understood, backend="cpu")
            assert isinstance(artifact, CpuTeamArtifact)
            return artifact
        return None

    def estimate(self, artifact: Artifact, trace: Trace) -> Estimate | None:
        if not isinstance(artifact, CudaArtifact):
            return None
        cycles = max(artifact.cycles, floor(artifact, trace))
        return Estimate(artifact.schedule, cycles, artifact.threads // artifact.inputs)

    def alternatives(self, candidate: Candidate, artifact: Artifact) -> list[Candidate]:
        name, _, variant = candidate.schedule.partition(":")
        whole_device = [v for v in variants("cuda", "gep") if v not in ("gep:tiles", "gep:bands")]
        if not isinstance(artifact, CudaArtifact):
            return [] if variant else [Candidate(v) for v in sorted(whole_device) if v != artifact.schedule]
        threads = artifact.threads // artifact.inputs
        others = [Candidate(v) for v in whole_device] if threads >= LARGE else []
        return [Candidate(name, n) for n in (threads // 2, 2 * threads) if n] + others
