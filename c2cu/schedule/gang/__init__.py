"""Schedule ``gang`` (CPU): one input in each SIMD lane."""

from __future__ import annotations

from ...analysis.uniform import uniform
from ...base import toolchain
from ...ir.passes import Pass, through
from ..artifact import Artifact
from ..schedule import Schedule
from ..understood import Understood


class GangSchedule(Schedule):
    pass_names = ("propagate", "unroll", "scalarize", "select", "common")

    def objection(self, understood: Understood, p: int | None) -> str | None:
        findings = understood.analysis.findings if understood.analysis is not None else ()
        address = next((f for f in findings if f.kind == "address"), None)
        return None if address is None else f"{address.loc}: {address.message}: lanes would go one by one"

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import gang

        kernel = through(understood.analysed().kernel, self.passes(understood))
        return gang(uniform(kernel), understood.slots, understood.layout, toolchain.vector_bytes(), understood.trace)

    def passes(self, understood: Understood) -> tuple[Pass, ...]:
        from .emit import PASSES

        return PASSES
