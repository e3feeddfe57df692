"""The pipeline on one screen: C in, a program understood out. Each stage is the function its file is named after.

`schedule.choose.choose` goes on from there: it chooses a schedule, which emits an artifact for the runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from .analysis.facts import Trace
from .analysis.uniform import Uniform, uniform
from .base import catalogue
from .base.cache import cache_folder
from .base.ctype import Pointer
from .base.diagnostics import Error, ParseError, UnsupportedError, lines_of
from .codegen.math_calls import rounding_correctly
from .frontend.adapter import adapted, unknown_rows
from .frontend.conform import conforming
from .frontend.correct import correct
from .frontend.kernel import KernelProgram, chosen_kernel, kernel_program, unseen_statics, with_place
from .frontend.link import Linked, link, refuse_other_types
from .frontend.options import Options
from .frontend.oversized import refuse_oversized
from .frontend.parse import deep
from .frontend.preprocess import Preprocessed, Source, preprocess
from .frontend.refuse import refuse, unfollowed
from .frontend.silence import silenced
from .frontend.typed import typed
from .ir.canonical import canonical
from .ir.nodes import Kernel
from .ir.substitute import bound
from .ir.verify import verify
from .lower import lower
from .schedule.slots import Slot, bind_extents, chosen, packed, refuse_shared_writes, require_shapes, slots
from .schedule.understood import Understood, foresee
from .trace import refuse_faults, trace
from .trace.tables import with_tables
from .transform.early import ends_of, uniform_ends
from .transform.filled import filled
from .transform.tabled import tabled

ASSUMED = 24, 40  # bits of the number of elements that an array is taken to have before a call tells; if those are few


def understand(source: Source, options: Options, pre: Preprocessed | None = None) -> Understood:
    """file.c -preprocess-> text -link-> AST of all files -typed-> typed AST -kernel_program-> kernel and parameters
    -lower-> flat IR -uniform-> analysis -trace-> facts -slots-> what goes in and out, -recognise-> a loop of
    Gaussian-elimination type. ``pre``: the text, where it is preprocessed already."""
    cache_folder()  # what it warns of is said at the user's line, not at a thread's
    pre = pre or source.pre or preprocess(source, options.defines, options.include_dirs)
    correctly = rounding_correctly(options.math == "correct")
    with lines_of(pre.sources), conforming(pre) as doubts, correctly:
        return deep(lambda: _understand(source, pre, options, doubts))


def asked(source: Source, options: Options, pre: Preprocessed | None = None) -> Understood:
    """The program as a user asks for it; rows whose length a call tells are taken as long. Raises as `understand`, and
    InputError for shapes that are none of its."""
    try:
        front = understand(source, options, pre)
    except UnsupportedError as e:
        unknown = _unknown(source, options) if e.code == catalogue.VARIABLE_EXTENT.code else {}
        if not unknown:
            raise
        front = _assuming(source, options, unknown)
    with lines_of(front.pre.sources):
        require_shapes(front.slots, options.shapes)
    return front


def _unknown(source: Source, options: Options) -> dict[str, tuple[int | None, ...]]:
    """The extents of parameters with rows of variable length that the options give no shape for."""
    pre = source.pre or preprocess(source, options.defines, options.include_dirs)
    with lines_of(pre.sources):
        unit = deep(lambda: typed(link(pre).parsed, pre))
        unknown = unknown_rows(unit, chosen_kernel(unit, options.fn)[0])
    return {name: extents for name, extents in unknown.items() if name not in options.shapes}


def _assuming(source: Source, options: Options, unknown: Mapping[str, tuple[int | None, ...]]) -> Understood:
    """The program with long rows, with longer ones where something is outside of those."""
    for bits in ASSUMED:
        shapes = {name: tuple(n or 1 << (bits // len(ns)) for n in ns) for name, ns in unknown.items()}
        try:
            front = understand(source, replace(options, shapes={**shapes, **options.shapes}))
            break
        except UnsupportedError as e:
            of_these = any(f"outside '{name}'" in e.diagnostic.message for name in unknown)
            if e.code != catalogue.OUT_OF_BOUNDS.code or not of_these or bits == ASSUMED[-1]:
                raise
    open_ones = (replace(s, shape=(-1,) * len(s.shape)) if s.name in shapes else s for s in front.slots)
    return replace(front, slots=tuple(open_ones), assumed=tuple(shapes))


def refuse_numbers(front: Understood, values: Mapping[str, int | float]) -> None:
    """Raise UnsupportedError where these values of shared scalars make something go wrong whatever the data."""
    analysis = front.analysis
    assert analysis is not None
    with rounding_correctly(front.math == "correct"):
        deep(lambda: refuse_faults(trace(analysis, numbers=values)))


def _understand(source: Source, pre: Preprocessed, options: Options, doubts: list[Error]) -> Understood:
    linked = link(pre)
    if options.stdio == "discard":
        linked = replace(linked, parsed=silenced(linked.parsed))
    pre = replace(pre, sources=pre.sources.spelled(linked.spellings)) if linked.spellings else pre
    with lines_of(pre.sources):
        return _linked(source, pre, linked, options, doubts)


def _linked(source: Source, pre: Preprocessed, linked: Linked, options: Options, doubts: list[Error]) -> Understood:
    unit = typed(linked.parsed, pre)
    refuse_other_types(unit, linked)
    doubts += unit.doubts()
    if options.shapes:
        kernel, _, _ = chosen_kernel(unit, options.fn)
        other = adapted(source, linked, unit, kernel, options)
        if other is not None:
            return understand(*other)
    program = kernel_program(unit, options.fn, options.shared, options.shapes, options.constants, options.values)
    extents = bind_extents(program, options)
    if extents:
        return understand(replace(source, pre=None), replace(options, defines={**options.defines, **extents}))
    at_home = options.math == "host" and not options.portable
    given = frozenset((*options.given, *(options.outputs or ())))
    program = replace(program, given=given, at_home=at_home)
    if options.math == "correct":
        correct(program)
    obstacle, hidden = refuse(program, options.stdio)
    return _analysed(source, pre, linked, replace(program, obstacle=obstacle, hidden=hidden), options, doubts)


def _analysed(
    source: Source, pre: Preprocessed, linked: Linked, program: KernelProgram, options: Options, doubts: list[Error]
) -> Understood:
    kernel, analysis, why_not = analyse(program, options.values)
    if why_not is not None and isinstance(why_not.__cause__, ParseError):
        doubts.append(why_not.__cause__)
    refuse_oversized(program, kernel)
    crossed = analysis.kernel if analysis is not None else None
    if crossed is not None and options.values:
        crossed = analysed(program).ir

    def known(facts: Trace | None, inout: tuple[Slot, ...]) -> Understood:
        return Understood(
            source,
            pre,
            linked,
            program,
            kernel,
            analysis,
            why_not,
            facts,
            inout,
            options.fp,
            options.pack,
            options.stdio,
            options.outputs is not None,
            ends_of(crossed) if crossed is not None else (),
            math=options.math,
        )

    if crossed is not None and not options.pack:
        foresee(crossed, lambda: known(None, chosen(program, slots(program, crossed, None), options)))
    facts = trace(analysis) if analysis is not None else None
    refuse_faults(facts)
    inout = slots(program, crossed, facts)
    if isinstance(program.kernel.returns, Pointer) and not any(s.writes for s in inout):
        return _analysed(source, pre, linked, with_place(program), options, doubts)
    inout = chosen(program, inout, options)
    front = known(facts, inout)
    if not options.pack:
        return front
    return replace(front, slots=packed(inout, front.gep, options.pack, program.kernel.loc))


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


def _tabled(m: Middle) -> Middle:
    return replace(m, kernel=tabled(m.ir, m.program.unit.pre.text)) if m.program.at_home else m


def _filled(m: Middle) -> Middle:
    assert m.analysis is not None
    if not m.analysis.findings:
        return m
    private = unseen_statics(m.program) - m.program.given
    kernel = filled(m.analysis, private)
    return m if kernel is m.analysis.kernel else replace(m, kernel=kernel, analysis=uniform(kernel))


def _with_tables(m: Middle) -> Middle:
    assert m.analysis is not None and m.kernel is not None
    kernel, analysis = with_tables(m.program, m.kernel, m.analysis)
    return replace(m, kernel=kernel, analysis=analysis)


#: What every program goes through, in order; a schedule's own passes follow (`Schedule.passes`).
#: `translate --emit ir --after PASS` prints what any of them leaves.
PASSES: tuple[tuple[str, Callable[[Middle], Middle]], ...] = (
    ("lower", _lowered),
    ("canonical", lambda m: replace(m, kernel=canonical(m.ir))),
    ("values", lambda m: replace(m, kernel=bound(m.ir, m.values)) if m.values else m),
    ("ends", lambda m: replace(m, kernel=uniform_ends(m.ir))),
    ("tabled", _tabled),
    ("separate", lambda m: replace(m, analysis=uniform(m.ir))),
    ("filled", _filled),
    ("tables", _with_tables),
)


def analysed(program: KernelProgram, values: Mapping[str, int | float] | None = None, last: str = "") -> Middle:
    """A program after all of `PASSES`, or after the one called ``last``. Raises UnsupportedError."""
    m = Middle(program, values or {})
    for name, step in PASSES:
        m = step(m)
        if name == last:
            break
    return m


def judged(front: Understood) -> Understood:
    """The program as a verdict on secrets is to see it: what ``#pragma c2cu declassify`` names is none from there on.
    Only ``kernel`` is of use. Raises UnsupportedError for what cannot be declassified."""
    if front.analysis is None or not front.program.declassified:
        return front
    program = replace(front.program, judged=True)
    return replace(front, kernel=deep(lambda: analysed(program, program.values, last="ends")).ir)


def analyse(
    program: KernelProgram, values: Mapping[str, int | float] | None = None
) -> tuple[Kernel | None, Uniform | None, UnsupportedError | None]:
    """The flat kernel and its analysis, or why there is none."""
    m = Middle(program, values or {})
    try:
        if program.hidden is not None:
            raise program.hidden
        for b in program.parameters:  # the kernel may touch one that it does not name
            if (foreign := program.unit.declarations.why_foreign(b.type, with_fields=True)) is not None:
                raise foreign
        m = _lowered(m)
    except (UnsupportedError, ParseError) as error:
        e = unfollowed(error)
        e.__cause__ = error
        if e.code == catalogue.SHARED_WRITTEN.code:
            raise  # writing a shared variable is wrong under every schedule
        refuse_shared_writes(program)
        e.sources = program.unit.pre.sources  # it may be raised later, where a schedule needs the kernel
        return None, None, e
    for _, step in PASSES[1:]:
        m = step(m)
    return m.kernel, m.analysis, None
