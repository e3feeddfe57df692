"""Schedule ``scan`` (CUDA): one input on each thread, its long arrays in tiles through shared memory."""

from __future__ import annotations

from ...ir.passes import Pass
from ..artifact import Artifact
from ..schedule import Schedule
from ..understood import Understood


class ScanSchedule(Schedule):
    rounds_freely = True
    pass_names = ("unroll", "scalarize", "webs", "if_convert", "minmax", "common", "pairs")

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import scan

        u = understood.whole()
        assert understood.trace is not None
        return scan(u, understood.trace, understood.slots, understood.layout, understood.fp)

    def passes(self, understood: Understood) -> tuple[Pass, ...]:
        from ..registers.emit import BUDGET, passes
        from .emit import kept_loops

        return passes(understood.leaving, understood.fp, BUDGET, kept_loops(understood.whole().kernel))
