"""The choice: which schedule a program runs under, and why the others do not.

"auto" takes the first schedule that applies, that nothing speaks against and that takes the program, unless a later one
is far faster by estimate.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..base import catalogue
from ..base.diagnostics import UnsupportedError, lines_of
from ..frontend.options import one_of
from . import registry
from .artifact import Artifact, CpuArtifact, CudaArtifact, CudaBandsArtifact, CudaLaunchesArtifact
from .estimate import USUAL, Device, Estimate, Rival, good_enough, planned_for, preferred, slower
from .registry import Entry
from .schedule import Candidate
from .slots import require_extents, require_few
from .understood import Understood

if TYPE_CHECKING:
    from ..analysis.facts import Trace

AUTO = "auto"
Rejected = tuple[tuple[str, str], ...]  # (schedule, why)


@dataclass(frozen=True)
class Measurement:
    """``times``: seconds an input of each candidate, the fastest first, when ``p`` inputs ran. ``rejected``:
    (candidate, why) of those that do not run."""

    p: int
    times: tuple[tuple[Candidate, float], ...]
    rejected: Rejected = ()

    @property
    def winner(self) -> Candidate:
        return self.times[0][0]


@dataclass(frozen=True)
class Plan:
    """Which schedule runs a program, and why.

    Attributes:
        backend: ``"cpu"`` or ``"cuda"``.
        schedule: The schedule's name, with its variant if it has any: ``"gang"``, ``"gep:tiles"``.
        rejected: (schedule, reason) of each that would have come before it.
        lanes: Inputs that one SIMD vector, warp or block runs side by side.
        threads: Threads in a block; 0 on a CPU.
        estimates: Estimated costs of the schedules considered, where there are any.
        measured: The measurement that decided, if ``tune`` made one.
        launches: (kernel, number of launches), where the whole device works at one input.
        rival: What calls compare the schedule with, where no estimate tells which is faster.
    """

    backend: str
    schedule: str
    rejected: Rejected
    lanes: int = 1
    threads: int = 0
    estimates: tuple[Estimate, ...] = ()
    measured: Measurement | None = None
    launches: tuple[tuple[str, int], ...] = ()
    rival: Rival | None = None


def choose(
    understood: Understood,
    backend: str,
    schedule: str = AUTO,
    rejected: Rejected = (),
    p: int | None = None,
    device: Device = USUAL,
) -> tuple[Plan, Artifact]:
    """The plan for ``p`` inputs (None: for many), and the artifact that carries it out. ``schedule``: its name, a
    variant, or "auto". ``rejected``: (schedule, why) of those that were tried in vain. Raises InputError for an unknown
    one, and UnsupportedError for one by name that does not take the program."""
    with planned_for(device):
        return _chosen(understood, backend, schedule, rejected, p, device)


def _chosen(
    understood: Understood, backend: str, schedule: str, rejected: Rejected, p: int | None, device: Device
) -> tuple[Plan, Artifact]:
    require_known(backend, schedule)
    if schedule != AUTO:
        return scheduled(understood, backend, Candidate(schedule))
    entries = applicable(understood, backend)
    reasons = dict(rejected)
    artifacts: list[Artifact] = []
    estimates: list[Estimate | None] = []
    for entry in entries:
        last = entry is entries[-1]
        if last and artifacts:
            break
        reason = reasons.get(entry.name) or objection(entry, understood, p)
        if reason is not None and not last:
            reasons[entry.name] = reason
            continue
        try:
            artifact = emitted(understood, Candidate(entry.name), backend)
        except UnsupportedError as e:
            if last:
                raise
            reasons[entry.name] = reason_of(e)
            continue
        artifacts.append(artifact)
        estimates.append(estimate(entry, artifact, understood.trace))
        if entry.schedule.settles or good_enough(artifact, estimates[-1], understood.trace):
            break
    best = preferred(estimates, p, device)
    for a, e in zip(artifacts[:best], estimates):
        reasons[a.schedule] = slower(e, estimates[best], p, device)
    chosen = registry.find(backend, artifacts[best].schedule)
    before = (e.name for e in entries[: entries.index(chosen)])
    why = tuple((name, reasons[name]) for name in before if name in reasons)
    known = tuple(e for e in estimates if e is not None)
    plan = _plan(backend, artifacts[best], why, known)
    return replace(plan, rival=_rival(understood, entries, chosen, rejected)), artifacts[best]


def _rival(understood: Understood, entries: tuple[Entry, ...], chosen: Entry, rejected: Rejected) -> Rival | None:
    """What the choice is to be measured against, if anything is."""
    if understood.why_not is not None:
        return None
    close = (e.schedule.rival(understood) for e in entries if e is chosen or chosen is entries[-1])
    return next((r for r in close if r is not None and r.schedule not in dict(rejected)), None)


def scheduled(
    understood: Understood, backend: str, candidate: Candidate, measured: Measurement | None = None
) -> tuple[Plan, Artifact]:
    """One candidate, without asking whether it is a good choice. Raises UnsupportedError."""
    artifact = emitted(understood, candidate, backend)
    e = estimate(registry.find(backend, candidate.schedule), artifact, understood.trace)
    return _plan(backend, artifact, (), () if e is None else (e,), measured), artifact


def emitted(understood: Understood, candidate: Candidate, backend: str) -> Artifact:
    """A candidate's artifact. Raises UnsupportedError where it does not take the program, and InputError where an
    extent is not known."""
    from ..frontend.parse import deep

    with lines_of(understood.pre.sources):
        require_extents(understood.slots)
        if backend == "cuda":
            require_few(understood.slots)
        return deep(lambda: registry.emit_schedule(candidate.schedule, understood, candidate.threads, backend))


def estimate(entry: Entry, artifact: Artifact, trace: Trace | None) -> Estimate | None:
    """What an artifact takes; None where there is no exact trace to count with, or nothing is known."""
    return entry.schedule.estimate(artifact, trace) if trace is not None and trace.complete else None


def foreseen(understood: Understood, backend: str, schedule: str) -> Plan:
    """The plan before extents are known: "auto" takes the first that nothing speaks against. Raises InputError for an
    unknown schedule, and UnsupportedError for one by name that cannot be."""
    require_known(backend, schedule)
    last = registry.names(backend)[-1]
    if schedule != AUTO:
        why_not = _obstacle(registry.find(backend, schedule), understood)
        if why_not is not None and schedule != last:
            raise why_not
        return Plan(backend, schedule, ())
    reasons: list[tuple[str, str]] = []
    for entry in applicable(understood, backend)[:-1]:
        reason = objection(entry, understood)
        if reason is None:
            return Plan(backend, entry.name, tuple(reasons))
        reasons.append((entry.name, reason))
    return Plan(backend, last, tuple(reasons))


def require_known(backend: str, schedule: str) -> None:
    """Raises InputError for a schedule that ``backend`` does not have."""
    choices = (AUTO, *registry.names(backend), *registry.variants(backend))
    if isinstance(schedule, str) and schedule not in choices:
        owner = next((b for b in registry.BACKENDS if schedule in registry.all_names(b)), None)
        if owner is not None:
            raise catalogue.OTHER_BACKEND.error(schedule=schedule, owner=owner, backend=backend)
    one_of("schedule", schedule, choices)


def applicable(understood: Understood, backend: str) -> tuple[Entry, ...]:
    """The schedules that are made for programs like this one, the preferred ones first."""
    return tuple(e for e in registry.entries(backend) if e.schedule.applies(understood))


def objection(entry: Entry, understood: Understood, p: int | None = None) -> str | None:
    """Why "auto" should not take a schedule that is not the last. ``p``: how many inputs, if that is known."""
    why_not = _obstacle(entry, understood)
    return reason_of(why_not) if why_not is not None else entry.schedule.objection(understood, p)


def _obstacle(entry: Entry, understood: Understood) -> UnsupportedError | None:
    """Why a schedule that is not the last does not take a program, where the analysis tells."""
    return understood.why_not if entry.schedule.ends_lanes else understood.why_not_whole


def depends_on(p: int, understood: Understood, backend: str, schedule: str) -> bool:
    """Whether so few inputs may want another schedule than many do: few matrices are each done by several threads."""
    if schedule != AUTO or not understood.is_gep:
        return False
    entries = applicable(understood, backend)[:-1]
    return any((objection(e, understood, p) is None) != (objection(e, understood) is None) for e in entries)


def reason_of(e: UnsupportedError) -> str:
    """An error as a reason."""
    return f"{e.diagnostic.loc}: {e.diagnostic.message}"


def _plan(
    backend: str,
    artifact: Artifact,
    rejected: Rejected,
    estimates: tuple[Estimate, ...],
    measured: Measurement | None = None,
) -> Plan:
    """The plan that an artifact carries out."""
    plan = Plan(backend, artifact.schedule, rejected, estimates=estimates, measured=measured)
    match artifact:
        case CpuArtifact():
            return replace(plan, lanes=artifact.lanes)
        case CudaArtifact():
            return replace(plan, lanes=artifact.inputs, threads=artifact.threads)
        case CudaLaunchesArtifact():
            launches = tuple(Counter(x.kernel for x in artifact.launches).items())
            return replace(plan, threads=artifact.threads, launches=launches)
        case CudaBandsArtifact():
            return replace(plan, threads=artifact.threads)
    return plan
