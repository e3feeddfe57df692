"""Tables that a program computes for itself: the same for all inputs, though C has them as globals.

A global that the kernel writes is each input's own, so a subscript that is read from it would count as one that
depends on data. The trace is made as if such a global were a local array: where it shows that no element is read
before it is written for certain, what the array holds at the start does not matter; and where nothing that varies is
ever stored in it, it is a table. A `static` that only the kernel names becomes a local array then. Another one goes
out; what to do about it is said with the findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..analysis.effects import READ, effects
from ..analysis.facts import INPUT
from ..analysis.uniform import Finding, Uniform, uniform
from ..base.diagnostics import Loc
from ..frontend.kernel import KernelProgram, unseen_statics
from ..ir.nodes import Const, Expr, Kernel, Load, Region
from ..ir.walk import rewritten
from . import trace

OUTPUT = "'{0}' goes out, so each input has its own"
STATIC = "all inputs would have the same '{0}': declare it static, and it does not go out"
ONCE = "fill '{0}' at every call, whatever '{1}' is: then all inputs have the same one"
CONST = "if all inputs have the same '{0}', declare it const"


def with_tables(program: KernelProgram, kernel: Kernel, found: Uniform) -> tuple[Kernel, Uniform]:
    """The kernel and its analysis, those statics being local arrays that the findings lead to and that are tables; and
    with hints about others."""
    if not found.findings:
        return kernel, found
    seen, unseen = effects(found.kernel), unseen_statics(program)
    written = [r for r in kernel.regions if r.storage == "bulk" and r.count > 1 and r.name in seen.writes & seen.reads]
    tables = _tables(kernel, [r for r in written if seen.first.get(r.name) != READ])
    own = [r for r in tables if r.variable in unseen]
    if own != tables:
        own = _tables(kernel, own)  # without the others
    needed: list[Region] = []
    analysis = found
    while more := [r for r in own if r not in needed and any(_leads_to(f, r.loc) for f in analysis.findings)]:
        needed += more
        analysis = uniform(_with_local(kernel, needed))
    told: dict[Loc, tuple[str, str]] = {}
    for b in program.parameters:
        if any(r.loc == b.loc for r in tables):
            told[b.loc] = OUTPUT.format(b.name), STATIC.format(b.name)
        elif b.name not in seen.writes and b.symbol is not None and b.symbol.decl and b.symbol.decl.init is not None:
            told[b.loc] = "", CONST.format(b.name)
    for r, flag in _filled_once(kernel, [r for r in written if r.variable in unseen and r not in own], unseen):
        told[r.loc] = "", ONCE.format(r.variable, flag.variable)
    findings = tuple(_retold(f, told) for f in analysis.findings)
    return _with_local(kernel, needed) if needed else kernel, replace(analysis, findings=findings)


def _filled_once(kernel: Kernel, regions: list[Region], unseen: frozenset[str]) -> list[tuple[Region, Region]]:
    """Which of them would be tables if a flag of the kernel's own did not say that they are filled already."""
    for flag in kernel.regions if regions else ():
        if flag.storage == "bulk" and flag.count == 1 and flag.variable in unseen and flag.type.is_integer:
            if found := _tables(_at_its_start(kernel, flag), regions):
                return [(r, flag) for r in found]
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


def _retold(f: Finding, told: Mapping[Loc, tuple[str, str]]) -> Finding:
    """A finding whose trail leads back to a variable of which there is more to say. ``told``: the last step's message,
    or "", and a hint, by the variable's place."""
    if not f.trail or f.trail[-1].loc not in told:
        return f
    *trail, last = f.trail
    message, hint = told[last.loc]
    return replace(f, trail=(*trail, replace(last, message=message or last.message)), hint=hint)
