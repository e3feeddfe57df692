"""Schedule ``private`` (CUDA): the program's own text, a thread an input, which takes any C."""

from __future__ import annotations

from ...analysis.facts import Trace
from ..artifact import Artifact
from ..estimate import ACCESSES, SECTOR, Estimate, cycles_moved, floor
from ..schedule import Schedule
from ..understood import Understood


class PrivateSchedule(Schedule):
    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import private

        return private(understood.program, understood.slots)

    def estimate(self, artifact: Artifact, trace: Trace) -> Estimate:
        """Each thread fetches its own input's words, apart from its neighbours'."""
        cycles = max(trace.steps / ACCESSES, floor(artifact, trace))
        return Estimate(artifact.schedule, cycles + SECTOR // 4 * cycles_moved(artifact))
