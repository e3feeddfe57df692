"""Schedule ``thread`` (CUDA): the paper's form, one input on each thread, every array in column storage."""

from __future__ import annotations

from ...analysis.facts import Trace
from ..artifact import Artifact
from ..estimate import ACCESSES, Estimate, cycles_moved, floor
from ..schedule import Schedule
from ..understood import Understood


class ThreadSchedule(Schedule):
    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import THREADS, thread

        return thread(understood.program, understood.slots, threads or THREADS)

    def estimate(self, artifact: Artifact, trace: Trace) -> Estimate:
        """Arrays are packed into columns first, and unpacked after."""
        cycles = max(trace.steps / ACCESSES, floor(artifact, trace))
        return Estimate(artifact.schedule, cycles + 3 * cycles_moved(artifact))
