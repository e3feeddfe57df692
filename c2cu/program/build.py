"""What runs a call: the schedule chosen for it, its artifact compiled and loaded."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .. import backends, tune
from ..base import catalogue
from ..base.diagnostics import CompileError, UnsupportedError, lines_of
from ..base.recent import Recent
from ..schedule import registry
from ..schedule.artifact import Artifact, CudaLaunchesArtifact
from ..schedule.choose import Measurement, Plan, Rejected, require_known
from ..schedule.estimate import Device, planned_for, preferred
from ..schedule.schedule import Candidate
from ..schedule.understood import Understood
from . import kept
from .contest import Contest, contested, recalled
from .extents import LENGTHS, Extents, Understandings
from .verify import NATIVE, Verification


@dataclass(frozen=True)
class Built:
    front: Understood
    plan: Plan
    artifact: Artifact
    loaded: Any  # CpuProgram or CudaProgram
    proof: Verification | None = None  # of its results; None where there is nothing to prove
    contest: Contest | None = None  # with a rival; None where it is known what is faster

    @property
    def faster(self) -> Built:
        """This, or its rival if that has turned out to be faster, or the rival of that."""
        return self if self.contest is None or self.contest.winner is None else self.contest.winner.faster

    @property
    def trusted(self) -> Built:
        """What gives the C's results: this, or native where it is known not to."""
        if self.proof is not None:
            self.proof.tell()
        if self.proof is None or not self.proof.different:
            return self
        plan, _ = kept.scheduled(self.front, "cpu", Candidate(NATIVE))
        why = (*self.plan.rejected, (self.plan.schedule, "its results were found to be wrong on this machine"))
        native = self.proof.native()
        return Built(self.front, replace(plan, rejected=why), native.artifact, native)


@dataclass(frozen=True)
class CallInputs:
    """What a call brings: arrays and numbers by name, and how many inputs that is."""

    arguments: Mapping[str, Any]
    p: int | None
    stream: Any = None
    together: bool = False


class Builds:
    """What runs the inputs of a program, built when it is first needed. ``backend``, ``schedule``: as asked for;
    ``measure``: whether to choose by measurement; ``verify``: one of `verify.MODES`."""

    def __init__(
        self, understandings: Understandings, backend: str, schedule: str, layout: str, measure: bool, verify: str
    ):
        self._understandings, self._backend, self._schedule = understandings, backend, schedule
        self._layout, self._tune, self._verify = layout, measure, verify
        self._built: Recent[Built] = Recent(LENGTHS)
        self._lock = threading.RLock()  # what two threads want first is built once

    def __len__(self) -> int:
        return len(self._built)

    def backend(self) -> str:
        """The one that runs it here."""
        return self._backend if self._backend != "auto" else backends.best()

    def of(self, extents: Extents, call: CallInputs | None = None) -> Built:
        """What runs such inputs, the fastest known for ``call``."""
        backend = self.backend()
        require_known(backend, self._schedule)
        with self._lock, planned_for(backends.device(backend)):
            which, front = self._understandings.of(extents)
            if call is not None and call.together:
                return self._in_bands(front, backend, which)
            p = call.p if call is not None else None
            size = tune.magnitude(p)
            built = self._built.of(
                (*which, size),
                lambda: self._tuned(front, backend, call) or self._planned(front, backend, p, which),
            )
            built = built.faster
            if call is None or self.oversized(backend) in ("", self._schedule) or _fits(built, call):
                return built
            try:
                return self._in_bands(front, backend, which)
            except UnsupportedError:
                return built

    def oversized(self, backend: str) -> str:
        """The variant for inputs that do not fit a device, "" if the schedule that was asked for has none."""
        return registry.oversized(backend, self._schedule)

    def _in_bands(self, front: Understood, backend: str, which: tuple) -> Built:
        """What works at a matrix in bands of rows. Raises UnsupportedError, and InputError where it is not wanted."""
        if backend == "cpu":
            raise catalogue.DEVICES_ON_CPU.error()
        name = self.oversized(backend)
        if not name:
            names = " or ".join(filter(None, (e.oversized for e in registry.entries(backend))))
            raise catalogue.DEVICES_FOR_ONE.error(names=names, schedule=self._schedule)

        def built() -> Built:
            plan, artifact = kept.scheduled(front, backend, Candidate(name))
            return self._loaded(front, plan, artifact)

        return self._built.of((*which, "bands"), built)

    def _tuned(self, front: Understood, backend: str, call: CallInputs | None) -> Built | None:
        """By measurement: one that the cache remembers, or, if that is wanted, one made now."""
        if call is None or not call.p:
            return None
        if registry.is_oversized(backend, self._schedule):
            return None  # there is nothing to choose
        measured = tune.recall(front, backend, self._schedule, call.p)
        if measured is None and self._tune:
            run = backends.timer(backend, front.slots, call.arguments, self._layout, call.stream)
            measured = tune.tune(front, backend, self._schedule, backends.loader(backend), run, call.p)
            if measured is not None:
                tune.remember(front, backend, self._schedule, call.p, measured)
        if measured is None:
            return None
        try:
            return self._scheduled(front, backend, measured.winner, measured)
        except (UnsupportedError, CompileError):
            return None  # the cache remembers nonsense

    def _planned(self, front: Understood, backend: str, p: int | None, which: tuple) -> Built:
        """By facts and estimates: what many inputs want, unless few want something else by far."""
        device = backends.device(backend)
        usual = self._built.of((*which, "usual"), lambda: self._chosen(front, backend, None, device))
        if p is not None and kept.depends_on(p, front, backend, self._schedule):
            return self._chosen(front, backend, p, device)
        estimates = usual.plan.estimates
        if not estimates or estimates[preferred(estimates, p, device)].schedule == usual.plan.schedule:
            return usual
        return self._chosen(front, backend, p, device)

    def _chosen(self, front: Understood, backend: str, p: int | None, device: Device) -> Built:
        """The choice for ``p`` inputs, or, where the compiler's result speaks against it, the next."""
        rejected: Rejected = ()
        while True:
            plan, artifact = kept.chosen(front, backend, self._schedule, rejected, p, device)
            with lines_of(front.pre.sources):
                built = self._measured(front, plan) or self._loaded(front, plan, artifact)
            if self._schedule != "auto" or not built.loaded.drawback:
                return built
            rejected = (*rejected, (plan.schedule, built.loaded.drawback))

    def _measured(self, front: Understood, plan: Plan) -> Built | None:
        """What won an earlier contest."""
        measured = recalled(front, plan)
        if measured is None:
            return None
        assert plan.rival is not None
        try:
            built = self._scheduled(front, plan.backend, measured.winner, measured)
        except (UnsupportedError, CompileError):
            return None  # the cache remembers nonsense
        if (following := plan.rival.after(built.plan.schedule)) is None:
            return built
        plan = replace(built.plan, rival=following)
        return self._measured(front, plan) or contested(replace(built, plan=plan), self._rival_of(front, plan))

    def _rival_of(self, front: Understood, plan: Plan) -> Callable[[Candidate], Built]:
        """What compiles the rivals that a plan may have."""
        return lambda candidate: self._scheduled(front, plan.backend, candidate, None)

    def _scheduled(self, front: Understood, backend: str, candidate: Candidate, measured: Measurement | None) -> Built:
        plan, artifact = kept.scheduled(front, backend, candidate, measured)
        with lines_of(front.pre.sources):
            return self._loaded(front, plan, artifact)

    def _loaded(self, front: Understood, plan: Plan, artifact: Artifact) -> Built:
        proves = self._verify != "off" and plan.schedule != NATIVE
        proof = Verification(front, artifact, plan.backend, self._verify) if proves else None
        built = Built(front, plan, artifact, backends.loader(plan.backend)(artifact), proof)
        return contested(built, self._rival_of(front, plan))


def _fits(built: Built, call: CallInputs) -> bool:
    """Whether the whole device works at one input that fits it, or at arrays that are there."""
    from ..runtime import arrays

    on_device = any(arrays.on_device(a) for a in call.arguments.values())
    if on_device or not isinstance(built.artifact, CudaLaunchesArtifact):
        return True
    slots = built.artifact.slots
    return built.loaded.fits(sum(s.nbytes * ((s.name in call.arguments) + s.writes) for s in slots))
