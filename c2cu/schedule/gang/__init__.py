"""Schedule ``gang`` (CPU): one input in each SIMD lane."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from ...analysis.uniform import uniform
from ...base import toolchain
from ...base.diagnostics import UnsupportedError
from ...ir.passes import Pass, through
from ..artifact import Artifact, CpuNativeArtifact
from ..estimate import Rival
from ..registry import emit_schedule, names
from ..schedule import Candidate, Schedule
from ..understood import Understood
from .chains import has_chains, is_chain
from .cost import CLOSE, known_costs

QUICK = 1.0  # seconds of a compilation that is made to find out whether two gangs are faster,
PAID = 0.5  # and of work from which on: about what the compilation takes
SHORT = 0.02  # seconds of the compilation of a chain for which gang itself prints two gangs


class GangSchedule(Schedule):
    ends_lanes = True
    pass_names = (
        "ends",
        "unread",
        "propagate",
        "unroll",
        "scalarize",
        "select",
        "common",
        "pairs",
        "narrow",
        "fours",
        "repeatable",
    )

    def objection(self, understood: Understood, p: int | None) -> str | None:
        if understood.analysis is None or not (costs := known_costs(understood)).speaks_against:
            return None
        times = f"an input takes about {1 / costs.gain:.2g} times as long as under native, by estimate"
        address = next((f for f in understood.analysed().findings if f.kind == "address"), None)
        if address is None:
            return f"{times}: branches, calls and divisions go lane by lane"
        return f"{address.loc}: {address.message}: lanes would go one by one, and {times}"

    def rival(self, understood: Understood) -> Rival | None:
        costs, two = known_costs(understood), None
        if costs.compilation < QUICK and has_chains(understood):
            two = Rival("gang:two", costs.compilation, worth=PAID)
        if costs.sure_gain >= CLOSE:
            return two
        if costs.gain <= 1 / CLOSE:
            return None
        if costs.speaks_against:
            return Rival("gang", costs.compilation, then=two)
        return Rival(names("cpu")[-1], then=two)

    def alternatives(self, candidate: Candidate, artifact: Artifact) -> list[Candidate]:
        return [Candidate("gang:two")] if candidate.schedule == "gang" else []

    def emit(self, understood: Understood, threads: int, variant: str) -> Artifact:
        from .emit import gang

        kernel = through(understood.analysed().kernel, self.passes(understood))
        native = emit_schedule(names("cpu")[-1], understood, backend="cpu")
        assert isinstance(native, CpuNativeArtifact)
        slots, layout, width = understood.slots, understood.layout, toolchain.vector_bytes()
        made = partial(gang, uniform(kernel), slots, layout, width, understood.trace, native, functions=True)
        if variant == "two":
            return made(gangs=2)
        if known_costs(understood).compilation < SHORT and is_chain(understood):
            with suppress(UnsupportedError):
                return replace(made(gangs=2), schedule="gang")
        return made()

    def passes(self, understood: Understood) -> tuple[Pass, ...]:
        from ...gep import Gep
        from .passes import PASSES
        from .two_steps import two_steps

        g = understood.gep
        return (*PASSES, ("steps", lambda k: two_steps(k, g))) if isinstance(g, Gep) else PASSES
