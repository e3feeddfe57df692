"""Schedule ``block`` (CUDA): one input on the threads of a block, or of a part of one."""

from __future__ import annotations

import functools

from ...analysis.facts import Trace
from ...ir.passes import Pass
from ..artifact import Artifact, CudaArtifact
from ..estimate import Estimate, floor
from ..schedule import Candidate, Schedule
from ..understood import Understood


class BlockSchedule(Schedule):
    rounds_freely = True
    pass_names = ("phases", "if_convert", "minmax", "simplify_indices", "pairs", "prune")

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import block

        u = understood.whole()
        assert understood.trace is not None
        return block(u, understood.trace, understood.slots, understood.layout, understood.fp, threads)

    def passes(self, understood: Understood) -> tuple[Pass, ...]:
        from .emit import BlockProgram, compiled, passes

        @functools.cache
        def program() -> BlockProgram:
            assert understood.trace is not None
            return compiled(understood.whole(), understood.trace, understood.fp)

        return (("phases", lambda _: program().phases), *passes(understood.fp, lambda: program().threads))

    def estimate(self, artifact: Artifact, trace: Trace) -> Estimate:
        assert isinstance(artifact, CudaArtifact)
        cycles = max(artifact.cycles, floor(artifact, trace))
        return Estimate(artifact.schedule, cycles, artifact.threads // artifact.inputs)

    def alternatives(self, candidate: Candidate, artifact: Artifact) -> list[Candidate]:
        assert isinstance(artifact, CudaArtifact)
        threads = artifact.threads // artifact.inputs
        return [Candidate(candidate.schedule, n) for n in (threads // 2, 2 * threads) if n]
