"""Tables: global arrays that the kernel fills with the same values for all inputs.

Each input has its own copy of a global that the kernel writes, so a subscript read from one would count as depending on
data. Two checks show that such an array is a table: with the array as a local one, the trace reads no element that was
not certainly written before, so its first contents do not matter; and nothing that varies is ever stored in it. A
table that is `static` and named only by the kernel becomes a local array. Any other is an output; the findings then get
a hint that says what to change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..analysis.effects import READ, effects
from ..analysis.facts import INPUT
from ..analysis.finding import Finding
from ..analysis.uniform import Uniform, uniform
from ..base.diagnostics import Loc
from ..frontend.kernel import KernelProgram, unseen_statics
from ..ir.nodes import Const, Expr, Kernel, Load, Region
from ..ir.walk import rewritten
from . import trace

OUTPUT = "'{0}' goes out, so each input has its own"
STATIC = "all inputs would have the same '{0}': declare it static, and it does not go out"
ONCE = "fill '{0}' at every call, whatever '{1}' is: then all inputs have the same one"
CONST = "if all inputs have the same '{0}', declare it const"


def with_tables(program: KernelProgram, kernel: Kernel, before: Uniform) -> tuple[Kernel, Uniform]:
    """The kernel and its analysis, with statics that are tables as local arrays where findings lead to them, and with
    hints about other variables. ``before``: the analysis of ``kernel`` as it is."""
    if not before.findings:
        return kernel, before
    accesses, unseen = effects(before.kernel), unseen_statics(program)
    written = [
        r for r in kernel.regions if r.storage == "bulk" and r.count > 1 and r.name in accesses.writes & accesses.reads
    ]
    tables = _tables(kernel, [r for r in written if accesses.first.get(r.name) != READ])
    private = [r for r in tables if r.variable in unseen]
    if private != tables:
        private = _tables(kernel, private)  # without the others
    needed: list[Region] = []
    analysis = before
    while more := [r for r in private if r not in needed and any(_leads_to(f, r.loc) for f in analysis.findings)]:
        needed += more
        analysis = uniform(_with_local(kernel, needed))
    explanations: dict[Loc, tuple[str, str]] = {}
    for b in program.parameters:
        if any(r.loc == b.loc for r in tables):
            explanations[b.loc] = OUTPUT.format(b.name), STATIC.format(b.name)
        elif (
            b.name not in accesses.writes and b.symbol is not None and b.symbol.decl and b.symbol.decl.init is not None
        ):
            explanations[b.loc] = "", CONST.format(b.name)
    for r, flag in _filled_once(kernel, [r for r in written if r.variable in unseen and r not in private], unseen):
        explanations[r.loc] = "", ONCE.format(r.variable, flag.variable)
    findings = tuple(_explained(f, explanations) for f in analysis.findings)
    return _with_local(kernel, needed) if needed else kernel, replace(analysis, findings=findings)


def _filled_once(kernel: Kernel, regions: list[Region], unseen: frozenset[str]) -> list[tuple[Region, Region]]:
    """Which of them would be tables if a flag of the kernel's own did not say that they are filled already."""
    for flag in kernel.regions if regions else ():
        if flag.storage == "bulk" and flag.count == 1 and flag.variable in unseen and flag.type.is_integer:
            if tables := _tables(_at_its_start(kernel, flag), regions):
                return [(r, flag) for r in tables]
    return []


def _at_its_start(kernel: Kernel, flag: Region) -> Kernel:
    """What comes in is what C has a scalar begin with."""
    start = Const(flag.init[0] if flag.init else 0, flag.type)

    def load(e: Expr) -> Expr:
        return start if isinstance(e, Load) and e.region == flag else e

    return replace(kernel, body=rewritten(kernel.body, load))


def _tables(kernel: Kernel, regions: list[Region]) -> list[Region]:
    """Which of them are."""
    while regions:
        analysis = uniform(_with_local(kernel, regions))
        wrong = {r.name for r in analysis.varying_regions}
        if not any(r.name in wrong for r in regions):
            facts = trace(analysis)
            if not facts.complete:
                return []
            wrong = {f.region.name for f in facts.regions if f.count(INPUT)}
            if not any(r.name in wrong for r in regions):
                break
        regions = [r for r in regions if r.name not in wrong]
    return regions


def _with_local(kernel: Kernel, regions: list[Region]) -> Kernel:
    local = {r: replace(r, storage="local", init=None) for r in kernel.regions if r in regions}

    def region(r: Region) -> Region:
        return local.get(r, r)

    def load(e: Expr) -> Expr:
        return replace(e, region=region(e.region)) if isinstance(e, Load) else e

    body = rewritten(kernel.body, load, region)
    return replace(kernel, regions=tuple(map(region, kernel.regions)), body=body)


def _leads_to(f: Finding, loc: Loc) -> bool:
    return bool(f.trail) and f.trail[-1].loc == loc


def _explained(f: Finding, explanations: Mapping[Loc, tuple[str, str]]) -> Finding:
    """A finding with the explanation of the variable that its trail leads back to, if there is one. ``explanations``:
    by the variable's place, the message of the trail's last step, or "", and a hint."""
    if not f.trail or f.trail[-1].loc not in explanations:
        return f
    *trail, last = f.trail
    message, hint = explanations[last.loc]
    return replace(f, trail=(*trail, replace(last, message=message or last.message)), hint=hint)
