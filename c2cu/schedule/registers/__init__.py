"""Schedule ``registers`` (CUDA): one input on each thread, all of it in the thread's registers."""

from __future__ import annotations

from ...analysis.facts import Trace
from ...ir.passes import Pass
from ..artifact import Artifact, CudaArtifact
from ..estimate import Estimate, floor
from ..schedule import Candidate, Schedule
from ..understood import Understood

SHARED = 100 << 10  # bytes of shared memory that a block of twice the threads may take


class RegistersSchedule(Schedule):
    rounds_freely = True
    pass_names = ("unroll", "scalarize", "webs", "if_convert", "minmax", "common", "pairs")

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import THREADS, registers

        u, fp = understood.whole(), understood.fp
        return registers(u, understood.slots, understood.layout, fp, threads or THREADS)

    def passes(self, understood: Understood) -> tuple[Pass, ...]:
        from .emit import passes

        return passes(understood.leaving, understood.fp)

    def estimate(self, artifact: Artifact, trace: Trace) -> Estimate:
        return Estimate(artifact.schedule, floor(artifact, trace))

    def alternatives(self, candidate: Candidate, artifact: Artifact) -> list[Candidate]:
        assert isinstance(artifact, CudaArtifact)
        if 2 * artifact.shared_bytes > SHARED:
            return []
        return [Candidate(candidate.schedule, 2 * artifact.inputs)]
