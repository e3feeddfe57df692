"""The pipeline on one screen: C in, an artifact out. Each stage is the function its file is named after."""

from __future__ import annotations

from dataclasses import replace

from . import plan as planning
from .artifact import Artifact
from .conform import conforming
from .diagnostics import InputError, Note, UnsupportedError, lines_of
from .effects import may_write
from .front import Front, Options
from .ir import Kernel
from .lower import lower
from .parse import deep, parse
from .plan import Plan
from .preprocess import Preprocessed, Source, preprocess
from .program import Program, program
from .refuse import refuse
from .schedule import emit_schedule
from .trace import refuse_faults, trace
from .typed import typed
from .uniform import Uniform, uniform
from .verify import verify


def understand(source: Source, options: Options) -> Front:
    """file.c -preprocess-> text -parse-> AST -typed-> typed AST -program-> kernel and borders -lower-> flat IR
    -uniform-> analysis -trace-> facts -plan.slots-> what goes in and out."""
    pre = preprocess(source, options.defines, options.include_dirs)
    with lines_of(pre.sources), conforming(pre):
        return deep(lambda: _understand(source, pre, options))


def _understand(source: Source, pre: Preprocessed, options: Options) -> Front:
    unit = typed(parse(pre), pre)
    found = program(unit, options.fn, options.shared, options.shapes)
    bound = bind_extents(found, options)
    if bound:
        return understand(source, replace(options, defines={**options.defines, **bound}))
    refuse(found)
    kernel, analysis, why_not = analyse(found)
    facts = trace(analysis) if analysis is not None else None
    refuse_faults(facts)
    slots = planning.slots(found, analysis.kernel if analysis is not None else None, facts)
    return Front(source, pre, found, kernel, analysis, why_not, facts, slots, options.fp)


def analyse(found: Program) -> tuple[Kernel | None, Uniform | None, UnsupportedError | None]:
    """The flat kernel and its analysis, or why there is none."""
    try:
        kernel = lower(found)
    except UnsupportedError as e:
        if e.code == "C2CU024":
            raise  # writing a shared variable is wrong under every schedule
        refuse_shared_writes(found)
        e.sources = found.unit.pre.sources  # it may be raised later, where a schedule needs the kernel
        return None, None, e
    verify(kernel)
    return kernel, uniform(kernel), None


def refuse_shared_writes(found: Program) -> None:
    """Raise UnsupportedError where a program that could not be lowered may write what all inputs share."""
    written = may_write(found)
    for b in found.borders:
        if b.shared and not b.by_value and b.symbol in written:
            raise UnsupportedError(
                "C2CU024",
                f"'{b.name}' is shared by all inputs and may be written here",
                written[b.symbol],
                "take it out of shared, or write to a copy",
            )


def bind_extents(found: Program, options: Options) -> dict[str, str]:
    """Macros that spell an extent, with the value that the arrays' shapes want. Raises InputError if they disagree."""
    wanted: dict[str, tuple[int, str]] = {}
    for b in found.borders:
        shape = options.shapes.get(b.name)
        names = b.symbol.extents if b.symbol is not None else ()
        if shape is None or len(shape) != len(names):
            continue
        for name, n in zip(names, shape):
            if not name:
                continue
            known = wanted.setdefault(name, (n, b.name))
            if known[0] != n:
                raise InputError(
                    "C2CU052",
                    f"'{known[1]}' wants {name} = {known[0]}, but '{b.name}' wants {name} = {n}",
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
    front: Front, backend: str, wanted: str = "auto", rejected: planning.Rejected = ()
) -> tuple[Plan, Artifact]:
    """Front -plan-> Plan -schedule-> Artifact. "auto" falls to the next schedule where one cannot take the program;
    ``rejected``: (schedule, why) of those that need not be tried."""
    with lines_of(front.pre.sources):
        planning.require_extents(front.slots)
        while True:
            plan = planning.choose(backend, wanted, front.analysis, front.why_not, rejected)
            try:
                artifact = emit_schedule(plan.schedule, front)
            except UnsupportedError as e:
                if wanted != "auto" or plan.schedule == planning.SCHEDULES[backend][-1]:
                    raise
                rejected = (*plan.rejected, (plan.schedule, planning.said(e)))
            else:
                return replace(plan, lanes=artifact.lanes), artifact
