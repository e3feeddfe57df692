"""The pipeline on one screen: C in, an artifact out. Each stage is the function its file is named after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from .analysis.effects import may_write
from .analysis.uniform import Uniform, uniform
from .base.diagnostics import InputError, Note, UnsupportedError, lines_of
from .frontend.conform import conforming
from .frontend.kernel import KernelProgram, kernel_program
from .frontend.options import Options
from .frontend.parse import deep, parse
from .frontend.preprocess import Preprocessed, Source, preprocess
from .frontend.refuse import refuse
from .frontend.typed import typed
from .ir.canonical import canonical
from .ir.nodes import Kernel
from .ir.passes import through
from .ir.substitute import bound
from .ir.verify import verify
from .lower import lower
from .schedule import plan as planning
from .schedule.artifact import Artifact
from .schedule.estimate import USUAL, Device, Estimate, estimate, good_enough, preferred, slower
from .schedule.passes import SCHEDULE_PASSES
from .schedule.plan import Candidate, Plan
from .schedule.registry import emit_schedule
from .schedule.understood import Front
from .trace import refuse_faults, trace
from .trace.tables import with_tables


def understand(source: Source, options: Options) -> Front:
    """file.c -preprocess-> text -parse-> AST -typed-> typed AST -kernel_program-> kernel and parameters -lower->
    flat IR -uniform-> analysis -trace-> facts -plan.slots-> what goes in and out, -recognise-> a loop of
    Gaussian-elimination type."""
    pre = source.pre or preprocess(source, options.defines, options.include_dirs)
    with lines_of(pre.sources), conforming(pre):
        return deep(lambda: _understand(source, pre, options))


def asked(source: Source, options: Options) -> Front:
    """The program as a user asks for it. Raises as `understand`, and InputError for shapes that are none of its."""
    front = understand(source, options)
    with lines_of(front.pre.sources):
        planning.require_shapes(front.slots, options.shapes)
    return front


def refuse_numbers(front: Front, values: Mapping[str, int | float]) -> None:
    """Raise UnsupportedError where these values of shared scalars make something go wrong whatever the data."""
    analysis = front.analysis
    assert analysis is not None
    deep(lambda: refuse_faults(trace(analysis, numbers=values)))


def _understand(source: Source, pre: Preprocessed, options: Options) -> Front:
    unit = typed(parse(pre), pre)
    found = kernel_program(unit, options.fn, options.shared, options.shapes)
    extents = bind_extents(found, options)
    if extents:
        return understand(replace(source, pre=None), replace(options, defines={**options.defines, **extents}))
    refuse(found)
    kernel, analysis, why_not = analyse(found, options.values)
    crossed = analysis.kernel if analysis is not None else None
    if crossed is not None and options.values:
        crossed = analysed(found).ir
    facts = trace(analysis) if analysis is not None else None
    refuse_faults(facts)
    slots = planning.slots(found, crossed, facts)
    front = Front(source, pre, found, kernel, analysis, why_not, facts, slots, options.fp, options.pack)
    return replace(front, slots=planning.packed(front, options.pack)) if options.pack else front


@dataclass(frozen=True)
class Middle:
    """A program between its C and a schedule. ``values``: of shared scalars, by name. ``analysis``: None until the pass
    ``separate``, which makes it."""

    program: KernelProgram
    values: Mapping[str, int | float] = field(default_factory=dict)
    kernel: Kernel | None = None
    analysis: Uniform | None = None

    @property
    def ir(self) -> Kernel:
        """The flat IR as it is now."""
        kernel = self.analysis.kernel if self.analysis is not None else self.kernel
        assert kernel is not None
        return kernel


def _lowered(m: Middle) -> Middle:
    kernel = lower(m.program)
    verify(kernel)
    return replace(m, kernel=kernel)


def _with_tables(m: Middle) -> Middle:
    assert m.analysis is not None and m.kernel is not None
    kernel, analysis = with_tables(m.program, m.kernel, m.analysis)
    return replace(m, kernel=kernel, analysis=analysis)


#: What every program goes through, in order; a schedule's own passes follow (``schedule/passes.py``).
#: `translate --emit ir --after PASS` prints what any of them leaves.
PASSES: tuple[tuple[str, Callable[[Middle], Middle]], ...] = (
    ("lower", _lowered),
    ("canonical", lambda m: replace(m, kernel=canonical(m.ir))),
    ("values", lambda m: replace(m, kernel=bound(m.ir, m.values)) if m.values else m),
    ("separate", lambda m: replace(m, analysis=uniform(m.ir))),
    ("tables", _with_tables),
)


def analysed(found: KernelProgram, values: Mapping[str, int | float] | None = None, last: str = "") -> Middle:
    """A program after all of `PASSES`, or after the one called ``last``. Raises UnsupportedError."""
    m = Middle(found, values or {})
    for name, step in PASSES:
        m = step(m)
        if name == last:
            break
    return m


def after(front: Front, name: str) -> Kernel:
    """The flat IR after a pass: one of `PASSES`, or "schedule:pass". Raises InputError for an unknown one, and
    UnsupportedError where the program does not get that far."""
    names = [n for n, _ in PASSES] + [f"{s}:{n}" for s, (ns, _) in SCHEDULE_PASSES.items() for n in ns]
    if name not in names:
        raise InputError("C2CU051", f"there is no pass '{name}'", None, f"choose one of {', '.join(names)}")
    if front.analysis is None:
        assert front.why_not is not None
        raise front.why_not
    schedule, _, last = name.rpartition(":")
    with lines_of(front.pre.sources):
        if not schedule:
            return deep(lambda: analysed(front.program, last=last).ir)
        kernel = front.analysis.kernel
        return deep(lambda: through(kernel, SCHEDULE_PASSES[schedule][1](front), last))


def analyse(
    found: KernelProgram, values: Mapping[str, int | float] | None = None
) -> tuple[Kernel | None, Uniform | None, UnsupportedError | None]:
    """The flat kernel and its analysis, or why there is none."""
    m = Middle(found, values or {})
    try:
        m = _lowered(m)
    except UnsupportedError as e:
        if e.code == "C2CU024":
            raise  # writing a shared variable is wrong under every schedule
        refuse_shared_writes(found)
        e.sources = found.unit.pre.sources  # it may be raised later, where a schedule needs the kernel
        return None, None, e
    for _, step in PASSES[1:]:
        m = step(m)
    return m.kernel, m.analysis, None


def refuse_shared_writes(found: KernelProgram) -> None:
    """Raise UnsupportedError where a program that could not be lowered may write what all inputs share."""
    written = may_write(found)
    for b in found.parameters:
        if b.shared and not b.by_value and b.symbol in written:
            raise UnsupportedError(
                "C2CU024",
                f"'{b.name}' is shared by all inputs and may be written here",
                written[b.symbol],
                "take it out of shared, or write to a copy",
            )


def bind_extents(found: KernelProgram, options: Options) -> dict[str, str]:
    """Macros that spell an extent, with the value that the arrays' shapes want. Raises InputError if they disagree."""
    wanted: dict[str, tuple[int, str]] = {}
    for b in found.parameters:
        shape = options.shapes.get(b.name)
        names = b.symbol.extents if b.symbol is not None else ()
        if shape is None or len(shape) != len(names):
            continue
        for name, n in zip(names, shape):
            if not name:
                continue
            known = wanted.setdefault(name, (n, b.name))
            if known[0] != n:
                message = f"'{known[1]}' wants {name} = {known[0]}, but '{b.name}' wants {name} = {n}"
                if known[1] == b.name:
                    message = f"an input's '{b.name}' has extents {known[0]} and {n}, which are both {name} in the C"
                raise InputError(
                    "C2CU052",
                    message,
                    b.loc,
                    "give arrays whose extents agree",
                    (Note(f"'{name}' is defined here", found.unit.pre.macros[name].loc),),
                )
    macros = found.unit.pre.macros
    return {
        name: str(n)
        for name, (n, _) in wanted.items()
        if not macros[name].overridden and found.unit.scope.names[name].value != n
    }


def schedule(
    front: Front,
    backend: str,
    wanted: str = "auto",
    rejected: planning.Rejected = (),
    p: int | None = None,
    device: Device = USUAL,
) -> tuple[Plan, Artifact]:
    """Front -plan-> Plan -schedule-> Artifact. "auto" takes the first schedule that takes the program, unless a later
    one is far faster by estimate, for ``p`` inputs if that is known. ``rejected``: (schedule, why) of those that were
    tried and found wanting. Raises InputError for an unknown one, UnsupportedError for one by name that cannot be."""
    planning.known(backend, wanted)
    if wanted != "auto":
        return scheduled(front, backend, Candidate(wanted))
    names = [n for n in planning.SCHEDULES[backend] if planning.applies(n, front)]
    found: list[Artifact] = []
    estimates: list[Estimate | None] = []
    reasons = dict(rejected)
    for name in names:
        if name == names[-1] and found:
            break
        reason = reasons.get(name) or planning.objection(name, front, backend, p)
        if reason is not None and name != names[-1]:
            reasons[name] = reason
            continue
        try:
            artifact = emitted(front, Candidate(name), backend)
        except UnsupportedError as e:
            if name == names[-1]:
                raise
            reasons[name] = planning.said(e)
            continue
        found.append(artifact)
        estimates.append(estimate(artifact, front.trace))
        if good_enough(artifact, estimates[-1], front.trace):
            break
    chosen = preferred(estimates, p, device)
    for a, e in zip(found[:chosen], estimates):
        reasons[a.schedule] = slower(e, estimates[chosen], p, device)
    before = names[: names.index(found[chosen].schedule.partition(":")[0])]
    why = tuple((name, reasons[name]) for name in before if name in reasons)
    known = tuple(e for e in estimates if e is not None)
    return planned(backend, found[chosen], why, known), found[chosen]


def scheduled(
    front: Front, backend: str, candidate: Candidate, measured: planning.Measurement | None = None
) -> tuple[Plan, Artifact]:
    """One candidate, without asking whether it is a good choice. Raises UnsupportedError."""
    artifact = emitted(front, candidate, backend)
    e = estimate(artifact, front.trace)
    return planned(backend, artifact, (), () if e is None else (e,), measured), artifact


def emitted(front: Front, candidate: Candidate, backend: str) -> Artifact:
    """A candidate's artifact. Raises UnsupportedError where it does not take the program."""
    with lines_of(front.pre.sources):
        planning.require_extents(front.slots)
        if backend == "cuda":
            planning.require_few(front.slots)
        return deep(lambda: emit_schedule(candidate.schedule, front, candidate.threads, backend))


def planned(
    backend: str,
    artifact: Artifact,
    rejected: planning.Rejected,
    estimates: tuple[Estimate, ...],
    measured: planning.Measurement | None = None,
) -> Plan:
    """The plan that an artifact carries out."""
    threads = (artifact.threads or artifact.lanes) if artifact.target == "cuda" else 0
    launches = tuple(Counter(x.kernel for x in artifact.launches).items())
    return Plan(backend, artifact.schedule, rejected, artifact.lanes, threads, estimates, measured, launches)
