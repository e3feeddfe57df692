"""About how long ``gang`` and ``native`` take, by counting what each of them does, to tell which of them to run.

A vector does an operation for all lanes at once. What goes lane by lane does not gain from that: functions of the
library, integer divisions, subscripts that depend on data. A branch on data costs an input the arm that it takes; it
costs a gang every arm that one of its lanes takes. A loop that data ends lasts as long as its slowest lane: lanes that
refill are not counted as such yet. The figures are cycles of one core, of an AMD EPYC with AVX-512, about; estimates
are no better than `CLOSE`.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from functools import reduce

from ...analysis.facts import LoopFacts, Trace
from ...analysis.uniform import Uniform, uniform
from ...base import toolchain
from ...base.ctype import BOOL
from ...codegen.division import is_by_constant
from ...codegen.lanes import ROUNDINGS
from ...codegen.simd import TABLE, is_folded, is_table
from ...frontend.parse import deep
from ...ir.canonical import counted
from ...ir.nodes import Assign, Binary, Block, Call, Const, Expr, If, Load, Loop, Region, Stmt, Store
from ...ir.passes import through
from ...ir.walk import expressions, operands, statements, subexpressions
from ...transform.early import is_end
from ...transform.in_bounds import in_bounds
from ..slots import Slot, bytes_moved
from ..understood import Understood
from .functions import names
from .passes import PASSES
from .select import is_small
from .text import FEW_DIVISIONS, by_products

CLOSE = 4.0  # times: where estimates are no further apart, a measurement decides
LONG, WORTH = 5.0, 2.0  # seconds of a compilation that only so much gain is worth
STATEMENT, MASKED = 4e-4, 2e-3  # seconds that one takes to compile; under a branch on data or in a loop that data ends
NODES = 8  # of a statement, beyond which it takes longer
LOOK = 0.3  # seconds from which on gang's passes tell better,
WRITTEN_OUT = 4.0  # and how many times as long as counted in what they make
SCALAR = 0.5  # of an operation on a number, or on a vector of up to 32 bytes
ADDRESS = 0.1  # of one that is the same for all inputs, which compilers move out of loops
QUOTIENT, ROOTS, QUOTIENTS = 4.0, ("sqrt", "sqrtf"), ("/", "%")
WHOLE_QUOTIENT = 8.0  # of integers
PRODUCTS = 4.0  # operations that divide by a constant, with a look at the dividend, where there are some
CALL = 30.0  # a function of the library,
TOGETHER = 50.0  # and one of ours for a vector of 32 bytes: see `functions`
FREE = ("fabs", "fabsf", "copysign", "copysignf")
LARGER = ("fmax", "fmaxf", "fmin", "fminf")
SHORT_CALL, CHOSEN = 6.0, 3.0  # one of these under native, and how many operations it is of a gang
ROUNDING = 2.0  # operations of a vector that round to a whole number
EACH = 3.0  # what a lane costs by itself: it leaves its vector and goes back
LANE = 2.0  # a load or store of one lane, in a row of them
PERMUTED = 2.0  # operations that look up in a part of a table that registers hold
GATHERED = 1.5  # a load of one lane by an instruction that loads for all
MISPREDICTED = 20.0  # a jump that goes another way than the processor thought
SURPRISES = 0.3  # of native's branches on data
ASK = 4.0  # whether any lane takes an arm
TURNS = 16  # of a loop that data ends
PEELED = 16.0  # turns of loops that compilers write out, at most
SLOWEST = 1.5  # times the turns of the mean lane
PACKED, COPIED = 0.12, 0.1  # a byte in or out
BEGUN = 1.0  # before an input's first statement, or a gang's


@dataclass(frozen=True)
class Costs:
    """Cycles of an input under each. ``compilation``: seconds that gang's text takes to compile, about. ``least``:
    cycles under native if its compiler vectorises all loops of which nothing is known that keeps it from that."""

    gang: float
    native: float
    compilation: float
    least: float

    @property
    def gain(self) -> float:
        """How many times as long native takes."""
        return self.native / self.gang

    @property
    def sure_gain(self) -> float:
        """The same, at least."""
        return self.least / self.gang

    @property
    def speaks_against(self) -> bool:
        """Whether native had best run where nothing is measured."""
        return self.gain < (WORTH if self.compilation > LONG else 1)


_known: dict[int, Costs] = {}


def known_costs(understood: Understood) -> Costs:
    """The costs of a program that is analysed, counted once."""
    name = id(understood)
    if name not in _known:
        _known[name] = deep(lambda: _counted(understood))
        weakref.finalize(understood, _known.pop, name, None)
    return _known[name]


def _counted(understood: Understood) -> Costs:
    """The compilation is that of what gang's passes make of the kernel, where it may decide: they write loops out."""
    u, slots, width = understood.analysed(), understood.slots, toolchain.vector_bytes()
    known = costs(u, slots, width, understood.trace)
    if not 1 <= known.gain < WORTH or known.compilation < LOOK:
        return known
    lanes = uniform(through(u.kernel, PASSES))
    return replace(known, compilation=WRITTEN_OUT * costs(lanes, slots, width).compilation)


def costs(u: Uniform, slots: tuple[Slot, ...], vector_bytes: int, trace: Trace | None = None) -> Costs:
    """``trace``: which loops the host's compiler may vectorise."""
    lanes = vector_bytes // (8 if any(v.type.size == 8 for v in (*u.varying, *u.varying_regions)) else 4)
    facts: dict[int, LoopFacts] = {}
    if trace is not None and trace.complete:
        loops = (s for s in statements(u.kernel.body) if isinstance(s, Loop))
        facts = {id(s): f for s, f in zip(loops, trace.loops)}
    counter = _Counter(u, lanes, vector_bytes, facts)
    counter.block(u.kernel.body, 1.0, 1.0)
    moved = bytes_moved(slots)
    gang = (BEGUN + counter.gang) / lanes + PACKED * moved
    beside = BEGUN + COPIED * moved
    return Costs(gang, beside + counter.native, counter.compilation, beside + counter.least)


class _Counter:
    def __init__(self, u: Uniform, lanes: int, vector_bytes: int, facts: dict[int, LoopFacts]):
        self.u, self.lanes, self.facts, self.vector_bytes = u, lanes, facts, vector_bytes
        self.vector = SCALAR * max(1, vector_bytes // 32)
        self.width = vector_bytes / 8  # numbers that native does at once where its compiler vectorises, about
        self.gang = self.native = self.compilation = self.least = 0.0
        self.nodes = 0  # of expressions so far
        self.inside = in_bounds(u.kernel.body)
        every = (x for s in statements(u.kernel.body) for e in expressions(s) for x in subexpressions(e))
        self.products = by_products(vector_bytes) and sum(map(is_by_constant, every)) >= FEW_DIVISIONS

    def block(self, block: Block, times: float, chance: float) -> None:
        """``times``: how often a gang comes by; ``chance``: that an input does, whenever its gang may."""
        for s in block:
            self.statement(s, times, chance)

    def statement(self, s: Stmt, times: float, chance: float) -> None:
        before = self.nodes
        gang, native, varying = self.together(expressions(s))
        masked = chance < 1
        self.compilation += (MASKED if masked else STATEMENT) * max(1, (self.nodes - before) / NODES)
        match s:
            case Assign():
                gang += self.vector * (masked and s.var in self.u.varying)
            case Store():
                scattered = self.u.is_varying(s.index)
                gang += (EACH + LANE) * self.lanes if scattered else self.vector * (1 + masked)
                native += SCALAR
            case If():
                self.branch(s, times, chance, varying)
            case Loop():
                self.loop(s, times, chance, gang, native, varying)
                return
        self.add(gang, native, times, chance)

    def add(self, gang: float, native: float, times: float, chance: float) -> None:
        self.gang += times * self.reached(chance) * gang
        self.native += times * chance * native
        self.least += times * chance * native

    def reached(self, chance: float) -> float:
        """The chance that some lane comes by."""
        return 1 - (1 - chance) ** self.lanes

    def branch(self, s: If, times: float, chance: float, varying: bool) -> None:
        arms = [arm for arm in (s.then, s.other) if arm]
        if any(is_end(x) for arm in arms for x in arm):  # which is rare
            self.add(ASK, SCALAR, times, chance)
            for arm in arms:
                if not any(map(is_end, arm)):
                    self.block(arm, times, chance)
            return
        if not varying:
            for arm in arms:
                self.block(arm, times / 2, chance)
            return
        small = all(is_small(self.u, arm, frozenset(), self.inside.get(id(s), frozenset())) for arm in arms)
        if small:  # without a jump, under either
            for arm in arms:
                self.block(arm, times, chance)
            return
        taken = self.reached(chance / 2) / max(self.reached(chance), 1e-300)
        ask = ASK + MISPREDICTED * min(taken, 1 - taken)
        self.add(ask * len(arms), SURPRISES * MISPREDICTED, times, chance)
        for arm in arms:
            self.block(arm, times, chance / 2)

    def loop(self, s: Loop, times: float, chance: float, gang: float, native: float, varying: bool) -> None:
        varying = varying or any(f in self.u.varying for f in s.flags)
        turns = self.turns(s)
        before, least = self.native, self.least
        inside = chance / SLOWEST if varying else chance
        turns = turns * SLOWEST if varying else turns
        self.add(gang + ASK * varying, native, times * turns, inside)
        for block in (s.head, s.body, s.step):
            self.block(block, times * turns, inside)
        facts = self.facts.get(id(s))
        if turns < self.width or not self.is_straight(s.body, PEELED):
            return
        if facts is not None and facts.independent:
            self.native = before + (self.native - before) / self.width
        if facts.independent if facts is not None else not varying:
            self.least = least + (self.least - least) / self.lanes

    def is_straight(self, block: Block, most: float) -> bool:
        """Whether there are no branches in it once compilers have written out its loops, of ``most`` turns in all."""
        loops = [(s, self.turns(s) if written_turns(s) else most + 1) for s in block if isinstance(s, Loop)]
        if sum(n for _, n in loops) > most or any(isinstance(s, If) for s in block):
            return False
        return all(self.is_straight(s.body, most / n) for s, n in loops)

    def turns(self, s: Loop) -> float:
        facts = self.facts.get(id(s))
        if facts is not None and facts.entries:
            return facts.turns / facts.entries
        return written_turns(s) or TURNS

    def together(self, parts: tuple[Expr, ...]) -> tuple[float, float, bool]:
        """(a gang's cycles, an input's under native, whether one of them varies)."""
        known = [self.expression(e) for e in parts]
        return sum(k[0] for k in known), sum(k[1] for k in known), any(k[2] for k in known)

    def expression(self, e: Expr) -> tuple[float, float, bool]:
        gang, native, varying = reduce(_sum, map(self.expression, operands(e)), (0.0, 0.0, False))
        more = self.node(e, varying)
        self.nodes += 1
        return gang + more[0], native + more[1], varying or self.u.is_leaf(e)

    def is_gathered(self, e: Load) -> bool:
        """Whether one instruction loads for all lanes, about: see `codegen.simd.Printer.is_gathered`."""
        long = e.region.type.size >= 4 or e.region in self.u.varying_regions or e.region.init is not None
        return long and self.vector_bytes >= 32

    def parts(self, r: Region) -> float:
        """Parts of a table, each of which a permute looks up in, about: see `codegen.lookups`; else 0."""
        part, most = (64, TABLE) if self.vector_bytes >= 64 else (16, 64)
        nbytes = r.count * r.type.size
        return nbytes / part if is_table(r) and nbytes <= most and self.vector_bytes >= 32 else 0

    def node(self, e: Expr, varying: bool) -> tuple[float, float]:
        """What a node costs beside its operands. ``varying``: whether one of them does."""
        if isinstance(e, Load) and varying and (parts := self.parts(e.region)):
            return self.vector * (1 + PERMUTED * parts), SCALAR
        if isinstance(e, Load) and varying:
            return (GATHERED if self.is_gathered(e) else EACH + LANE) * self.lanes, SCALAR
        if isinstance(e, Load) and self.u.is_leaf(e):
            return self.vector, SCALAR
        if not varying:
            return ADDRESS, ADDRESS
        if isinstance(e, Call) and e.name in ROOTS:
            return QUOTIENT * self.lanes / 2, QUOTIENT
        if isinstance(e, Call) and e.name in ROUNDINGS:
            return ROUNDING * self.vector, SCALAR
        if isinstance(e, Call) and e.name in LARGER and self.vector_bytes >= 32:
            return CHOSEN * self.vector, SHORT_CALL
        if isinstance(e, Call) and e.name in names() and self.vector_bytes >= 32 and not is_folded(e):
            return TOGETHER * self.vector / SCALAR, CALL
        if isinstance(e, Call) and e.name not in FREE:
            return (CALL + EACH) * self.lanes, CALL
        if isinstance(e, Binary) and e.op in QUOTIENTS:
            if e.type.is_integer:
                return (WHOLE_QUOTIENT + EACH) * self.lanes, WHOLE_QUOTIENT
            if self.products and is_by_constant(e):
                return PRODUCTS * self.vector, QUOTIENT
            return QUOTIENT * self.lanes / 2, QUOTIENT
        return self.vector, 0.0 if e.type == BOOL else SCALAR


def written_turns(s: Loop) -> float:
    """The turns of a loop whose limit the text says, about; else 0."""
    loop = counted(s)
    if loop is None or not isinstance(loop.limit, Const) or s.flags:
        return 0.0
    return max(1.0, abs(loop.limit.value) / abs(loop.by))


def _sum(a: tuple[float, float, bool], b: tuple[float, float, bool]) -> tuple[float, float, bool]:
    return a[0] + b[0], a[1] + b[1], a[2] or b[2]
