"""Compile the tracer, run it, and read its report."""

from __future__ import annotations

import os
import struct
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..analysis.facts import UNENDED, Conflict, Fault, LoopFacts, RegionFacts, Trace
from ..analysis.uniform import Uniform
from ..base import toolchain
from ..base.cache import Cache, key
from ..base.machine_code import execute
from ..base.version import __version__
from ..ir.nodes import ENDED, Binary, Block, Call, Cast, Expr, Load, Loop, Region, Select, Store, Unary, Var
from ..ir.walk import expressions, operands
from .sites import Nest, Site, uniform_arms
from .steps import COUNTERS, Tracer, Unknown, tracer
from .text import text
from .undefined import Why

BUDGET = 100_000_000  # accesses and turns, after which the tracer stops
QUICK = 500_000  # of these, for a tracer that is not optimised: most do no more, and gcc takes a quarter of the time
MEMORY = 1 << 29  # bytes of records about elements that it may take
SECONDS = 60  # in case it hangs
FLAGS = ("-O2", "-w")
LONG = 100_000  # characters of a tracer that is not optimised: gcc takes the square of a block's length
_STOPPED = {
    Why.BUDGET_SPENT: "it takes more than {:,} accesses",
    Why.DIVIDED: "it divides by zero, or the least integer by -1",
    Why.SHIFTED: "it shifts by more bits than the type has",
    Why.OUTSIDE: "a subscript that others depend on leaves its array",
    Why.CONVERTED: "it converts a number that the integer type does not hold",
    Why.DATA: "data decides how often a loop turns",
    Why.NAN_BITS: "it reads the sign or the bits of a NaN, which C leaves open, or makes one of bits",
}
_KINDS = ("flow", "anti", "output")


class Event(NamedTuple):
    """An access: the element of ``region``, and whether it is a store."""

    region: Region
    element: int
    store: bool


def trace(u: Uniform, cache: Cache | None = None, numbers: Mapping[str, int | float] | None = None) -> Trace:
    """The facts of an oblivious kernel; what is not oblivious, or too long, is `Trace.stopped`, and has faults at most.
    ``numbers``: values of scalars that all inputs share, by name; the tracer is compiled once for all values."""
    facts = _traced(u, cache or Cache(), numbers or {})
    if u.oblivious:
        return facts
    return replace(_nothing("the program is not oblivious", facts.unknown), faults=facts.faults)


def _traced(u: Uniform, cache: Cache, numbers: Mapping[str, int | float]) -> Trace:
    """What is not oblivious is traced as far as no data decides."""
    try:
        t = tracer(u, numbers)
    except Unknown as e:
        names = tuple(r.name for r in e.regions)
        return _nothing(f"addresses or loops depend on '{names[0]}', which only the run brings", names)
    if any(r.count == 0 for r in u.kernel.regions):
        return _nothing("an extent is not known yet")
    if t.memory > MEMORY:
        return _nothing(f"its arrays have more than {MEMORY * t.cells // t.memory} elements")
    arguments, c = _arguments(t, numbers), text(t)
    build = Build(c, BUDGET, optimised=len(c) <= LONG)
    name = key(build.key, *arguments)
    known = cache.get(name, ".trace")
    report = known or _report(build, cache, arguments)
    if not report:  # it is not put into the cache: what did not end may have had a busy machine
        return _nothing(UNENDED)
    if known is None:
        cache.store(name, ".trace", report)
    return _facts(u, t, report, BUDGET)


def _report(build: Build, cache: Cache, arguments: Sequence[str]) -> bytes:
    """What a tracer writes, compiled in less time where that may be enough."""
    if build.optimised:
        report = replace(build, budget=min(QUICK, build.budget), optimised=False).report(cache, arguments)
        if report and struct.unpack_from("=Q", report)[0] != Why.BUDGET_SPENT:
            return report
    return build.report(cache, arguments)


def _arguments(t: Tracer, numbers: Mapping[str, int | float]) -> list[str]:
    """The values of a tracer's scalars, as it reads them."""
    values = [r.type.wrap(numbers[r.name]) for r in t.numbers]
    return [v.hex() if isinstance(v, float) else str(int(v)) for v in values]


def sequence(u: Uniform, limit: int) -> Iterator[Event]:
    """The first accesses to array elements, in order. Raises Unknown."""
    t = tracer(u)
    report = Build(text(t, record=True), limit).report(Cache(), [])
    for what, where in struct.iter_unpack("=2I", report[: len(report) // 8 * 8]):
        if what < len(t.sites):
            site = t.sites[what]
            if isinstance(site.place, Region):
                yield Event(site.place, where - t.elements[site.place], site.store)


def _nothing(why: str, unknown: tuple[str, ...] = ()) -> Trace:
    return Trace(0, {}, (), (), (), why, unknown)


@dataclass(frozen=True)
class Build:
    """A tracer's C text, and after how many accesses and turns it stops."""

    text: str
    budget: int
    optimised: bool = True

    @property
    def flags(self) -> tuple[str, ...]:
        fast = () if self.optimised else ("-O0",)
        return (*FLAGS, *fast, *toolchain.generated_flags(toolchain.find_compiler()), f"-DBUDGET={self.budget}u")

    @property
    def key(self) -> str:
        return key(self.text, self.flags, toolchain.compiler_version(toolchain.find_compiler()), __version__)

    def report(self, cache: Cache, arguments: Sequence[str]) -> bytes:
        """What the tracer writes; b"" where it does not end by itself. A tracer with arguments stays in the cache."""
        code = cache.put(self.key, ".tracer", self.compile) if arguments else self.compile()
        try:
            done = execute(code, arguments, capture_output=True, timeout=SECONDS, env={**os.environ, "LC_ALL": "C"})
        except subprocess.TimeoutExpired:
            return b""
        return b"" if done.returncode < 0 else done.stdout

    def compile(self) -> bytes:
        return toolchain.compiled((*toolchain.find_compiler(), *self.flags), self.text)


def _facts(u: Uniform, t: Tracer, data: bytes, budget: int) -> Trace:
    at = 0

    def take(form: str) -> tuple[int, ...]:
        nonlocal at
        values = struct.unpack_from("=" + form, data, at)
        at += struct.calcsize("=" + form)
        return values

    why, fault_count, conflict_count = take("3Q")
    blocks = take(f"{len(t.blocks)}Q")
    loops = [take("6Q") for _ in range(max(1, len(t.nests)))]
    faults = [take(f"2I{1 + COUNTERS}q") for _ in range(fault_count)]
    conflicts = [take("4Iq") for _ in range(conflict_count)]
    state = data[at:]
    counts = _Counts(u)
    for (block, test), n in zip(t.blocks, blocks):
        counts.block(block, test, n)
    return Trace(
        sum(counts.loads.values()) + sum(counts.stores.values()),
        dict(counts.operations),
        tuple(_region(r, base, counts, state) for r, base in t.elements.items() if isinstance(r, Region)),
        tuple(_loop(t, n, loops[n.number], conflicts, not why) for n in t.nests),
        _once(_fault(t, f) for f in faults),
        _STOPPED[Why(why)].format(budget) if why else "",
    )


class _Counts:
    """How often what was done, from how often each straight line of statements ran."""

    def __init__(self, u: Uniform) -> None:
        self.u = u
        self.loads: Counter[Region] = Counter()
        self.stores: Counter[Region] = Counter()
        self.operations: Counter[str] = Counter()

    def block(self, block: Block, test: Expr | None, n: int) -> None:
        for s in block:
            if isinstance(s, Store) and s.region != ENDED:
                self.stores[s.region] += n
            for e in expressions(s) if not isinstance(s, Loop) else ():
                self.expression(e, n)
        if test is not None:
            self.expression(test, n)

    def expression(self, e: Expr, n: int) -> bool:
        """Count what ``e`` loads and computes, without the arms that count for themselves; whether it varies."""
        if isinstance(e, Load):
            self.loads[e.region] += n
        apart = uniform_arms(self.u, e)
        rest = [x for x in operands(e) if all(x is not arm for _, _, arm in apart)]
        varies = [self.expression(x, n) for x in rest] + [self.u.is_varying(arm) for _, _, arm in apart]
        if isinstance(e, (Var, Load)):
            return self.u.is_varying(e)
        if not any(varies):
            return False
        kind = _class(e)
        if kind:
            self.operations[kind] += n
        return True


def _class(e: Expr) -> str:
    """The class of an operation, "" for what costs nothing."""
    match e:
        case Call():
            return "call"
        case Binary(op="/" | "%"):
            return "divide"
        case Binary(op="*", type=t) if t.is_integer and t.size == 8:
            return "wide"
        case Binary(left=a):
            return "float" if a.type.is_float else "integer"
        case Unary(type=t) | Select(type=t):
            return "float" if t.is_float else "integer"
        case Cast(operand=x, type=t) if x.type.is_float or t.is_float:
            return "float"
    return ""


def _region(r: Region, base: int, counts: _Counts, state: bytes) -> RegionFacts:
    return RegionFacts(r, counts.loads[r], counts.stores[r], state[base : base + r.count])


def _conflict(t: Tracer, c: tuple[int, ...]) -> Conflict:
    _, kind, first, second, cell = c
    a, b = t.sites[first], t.sites[second]
    element = cell - t.elements[a.place] if isinstance(a.place, Region) else -1
    stores = [x for x in (a, b) if x.store]
    return Conflict(_KINDS[kind], _name(a), element, a.loc, b.loc, any(x.conditional for x in stores))


def _name(site: Site) -> str:
    """What C calls the place."""
    return site.place.spelling or site.place.name


def _loop(t: Tracer, n: Nest, numbers: tuple[int, ...], reported: list[tuple[int, ...]], complete: bool) -> LoopFacts:
    conflicts = []
    if numbers[2] > 1:
        conflicts += [_conflict(t, c) for c in reported if c[0] == n.number]
        conflicts += [Conflict("output", v.name, -1, n.loop.loc, n.loop.loc, False) for v in n.live]
    entries, turns, longest, before, after, cell = numbers
    barrier = None
    if before:
        first, second = t.sites[before - 1], t.sites[after]
        kind = "anti" if not first.store else "output" if second.store else "flow"
        barrier = _conflict(t, (n.number, _KINDS.index(kind), before - 1, after, cell))
    independent = complete and not conflicts
    return LoopFacts(n.loop.loc, len(n.around), entries, turns, longest, independent, tuple(conflicts), barrier)


def _once(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Without what is said twice of a line: ``a[i] += 1`` loads and stores."""
    different: dict[object, Fault] = {}
    for f in faults:
        different.setdefault((f.kind, f.message, f.loc.file, f.loc.line, f.certain, f.counters), f)
    return tuple(different.values())


def _fault(t: Tracer, f: tuple[int, ...]) -> Fault:
    number, kind, index, *values = f
    site = t.sites[number]
    counters = tuple((v.name, x) for v, x in zip(t.counters[number], values))
    certain = not site.conditional
    if kind == Why.UNSET:
        return Fault(
            "uninitialised", f"'{_name(site)}' is read before anything is written to it", site.loc, certain, counters
        )
    extent = f"{site.extent} element{'s' if site.extent != 1 else ''}"
    which = f"element {index} is outside '{_name(site)}', which has {extent}"
    if site.row:
        which = f"subscript {index} is outside this dimension of '{_name(site)}', which has {extent}"
    return Fault("ahead" if kind == Why.AHEAD else "bounds", which, site.loc, certain, counters)
