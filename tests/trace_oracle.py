"""What a trace must say, found the plain way: run the uniform slice in Python, keep every access, compare all pairs.

And what it must mean: `shuffled` executes the turns of the loops that are called independent in a random order.
"""

from __future__ import annotations

import copy
import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from c2cu.analysis.facts import CERTAIN, INPUT, LOADED, STORED, LoopFacts
from c2cu.analysis.uniform import Uniform
from c2cu.ir.nodes import Assign, Binary, Bitcast, Expr, If, Load, Loop, Region, Select, Stmt, Store, Var, Variable
from c2cu.ir.walk import expressions, operands, statements, subexpressions
from c2cu.trace.sites import needed
from tests.ir_interpreter import Lanes, Number, _Machine

Place = Region | Variable
Turn = tuple[int, int, int]  # number of a loop, which of its entries, which turn of that


@dataclass(frozen=True)
class Access:
    """``covered``: a load of what this turn of each loop around stored before, on this path. ``sure``: a store that
    happens whatever the data."""

    place: Place
    element: int
    store: bool
    turns: tuple[Turn, ...]
    covered: frozenset[int] = frozenset()
    sure: bool = False
    conditional: bool = False


@dataclass
class Expected:
    steps: int = 0
    loads: Counter = field(default_factory=Counter)
    stores: Counter = field(default_factory=Counter)
    elements: dict[Region, list[int]] = field(default_factory=dict)
    faults: set[tuple[str, int, bool]] = field(default_factory=set)  # kind, line, certain
    turns: Counter = field(default_factory=Counter)  # of each loop, by number
    entries: Counter = field(default_factory=Counter)
    longest: Counter = field(default_factory=Counter)
    dependent: dict[int, set[Place]] = field(default_factory=dict)  # loop -> places on which its turns disagree


class OutOfBounds(Exception):
    """An index that cannot be used."""


def expected(u: Uniform, budget: int = 100_000) -> Expected:
    """The facts of a small oblivious kernel."""
    machine = _Tracing(u, budget)
    try:
        machine.block(u.kernel.body, (0,))
    except OutOfBounds:
        pass
    machine.judge()
    return machine.facts


class _Tracing(_Machine):
    """One lane that computes what is uniform only, and takes both arms of every branch on data."""

    def __init__(self, u: Uniform, budget: int):
        super().__init__(u.kernel, [{}], None, budget)
        self.u, self.facts, self.log = u, Expected(), []
        self.turns: tuple[Turn, ...] = ()
        self.arms = 0  # branches on data around
        self.path: list[set] = [set()]  # what is stored on this path: (place, element), within each turn around
        self.needed = needed(u)
        self.stored: set = set()
        self.numbers = {id(s): k for k, s in enumerate(_loops(u))}
        self.facts.elements = {r: [0] * r.count for r in u.kernel.regions}

    def statement(self, s: Stmt, active: Lanes) -> None:
        if isinstance(s, If) and self.u.is_varying(s.cond):
            self.values(s.cond, active)
            self.branch(s)
        else:
            super().statement(s, active)

    def branch(self, s: If) -> None:
        self.arms += 1
        paths, outer = [], self.path
        for arm in (s.then, s.other):
            self.path = [set(p) for p in outer]
            self.block(arm, (0,))
            paths.append(self.path)
        self.path = [a & b for a, b in zip(*paths)]
        self.arms -= 1
        if not self.arms:  # what both arms store is stored whatever the data
            both = self.path[-1] - outer[-1]
            self.log += [Access(p, k, True, self.turns, frozenset(), True) for p, k in both]

    def assign(self, s: Assign, active: Lanes) -> None:
        new = self.values(s.value, active, _copied(s))
        if s.var in self.u.varying:
            self.note(s.var, 0, True, s)
        else:
            self.variables[s.var] = new
            self.stored.add((s.var, 0))

    def store(self, s: Store, active: Lanes) -> None:
        (index,) = self.values(s.index, active)
        new = self.values(s.value, active, _copied(s))
        if self.inside(s, index):
            self.note(s.region, index, True, s)
            if s.region not in self.u.varying_regions:
                self.memory[s.region][0][index] = new[0]
        elif s.region not in self.u.varying_regions and s.region in self.needed:
            raise OutOfBounds

    def loop(self, s: Loop, active: Lanes) -> None:
        number = self.numbers[id(s)]
        self.facts.entries[number] += 1
        entry, turn, outer = self.facts.entries[number], 0, self.turns
        while not self.flagged(s):
            self.turns = (*outer, (number, entry, turn))
            self.path.append(set())
            self.block(s.head, active)
            goes = bool(self.values(s.cond, active)[0])
            if goes:
                self.facts.turns[number] += 1
                self.block(s.body, active)
                if not self.flagged(s):
                    self.block(s.step, active)
            self.path.pop()
            turn += 1
            if not goes:
                break
        self.facts.longest[number] = max(self.facts.longest[number], turn - (not self.flagged(s)))
        self.turns = outer

    def flagged(self, s: Loop) -> bool:
        return any(self.variables.get(f, [0])[0] for f in s.flags)

    def values(self, e: Expr, active: Lanes, copied: bool = False) -> list[Number]:
        """0 for what varies; every load is noted, inner ones first."""
        match e:
            case Select() if not self.u.is_varying(e.cond):
                return self.values(e.yes if self.values(e.cond, active)[0] else e.no, active)
            case Select():
                self.values(e.cond, active)
                self.maybe(e.yes)
                self.maybe(e.no)
                return [0]
            case Binary(op="&&" | "||") if not self.u.is_varying(e.left):
                left = bool(self.values(e.left, active)[0])
                return [int(left)] if left == (e.op == "||") else [int(bool(self.values(e.right, active)[0]))]
            case Binary(op="&&" | "||"):
                self.values(e.left, active)
                self.maybe(e.right)
                return [0]
            case Var():
                if e.var in self.u.varying:
                    self.note(e.var, 0, False, e, copied)
                    return [0]
                self.unset(e.var, 0, e, copied)
            case Load():
                (index,) = self.values(e.index, active)
                if not self.inside(e, index):
                    if e.region not in self.u.varying_regions and e.region in self.needed:
                        raise OutOfBounds
                    return [0]
                self.note(e.region, index, False, e, copied)
                return [0 if e.region in self.u.varying_regions else self.memory[e.region][0][index]]
        if self.u.is_varying(e):
            for x in operands(e):
                self.values(x, active, copied and isinstance(e, Bitcast))
            return [0]
        return self.evaluate(e, active)

    def maybe(self, e: Expr) -> None:
        self.arms += 1
        self.values(e, (0,))
        self.arms -= 1

    def inside(self, s: Load | Store, index: Number) -> bool:
        for k, n in s.rows:
            value = _Silent(self).evaluate(k, (0,))[0]
            if not 0 <= value < n:
                self.facts.faults.add(("bounds", s.loc.line, not self.arms))
        if 0 <= index < s.region.count:
            return True
        self.facts.faults.add(("bounds", s.loc.line, not self.arms))
        return False

    def unset(self, place: Place, element: int, node, copied: bool) -> None:
        local = isinstance(place, Variable) or place.storage == "local"
        if local and not copied and not self.arms and (place, element) not in self.stored:
            self.facts.faults.add(("uninitialised", node.loc.line, True))

    def note(self, place: Place, element: int, store: bool, node, copied: bool = False) -> None:
        what = (place, element)
        if not store:
            self.unset(place, element, node, copied)
        covered = frozenset(t[0] for t, path in zip(self.turns, self.path[1:]) if what in path)
        self.log.append(Access(place, element, store, self.turns, covered, not self.arms, bool(self.arms)))
        if isinstance(place, Region):
            self.facts.steps += 1
            (self.facts.stores if store else self.facts.loads)[place] += 1
            bits = self.facts.elements[place]
            bits[element] |= STORED if store else LOADED
            if not store and what not in self.path[0]:
                bits[element] |= INPUT
        if store:
            self.stored.add(what)
            for path in self.path:
                path.add(what)

    # judgement

    def judge(self) -> None:
        for r, bits in self.facts.elements.items():
            for k, b in enumerate(bits):
                if (r, k) in self.path[0]:
                    bits[k] = b | CERTAIN
        uses = _uses(self.u.kernel.body)
        for number, s in enumerate(_loops(self.u)):
            mine = _owned(self.u, s)
            outside = {v for v in mine if isinstance(v, Variable) and uses[v] > _uses((s,))[v]}
            ordered = self.dependent(number, mine, outside) if self.facts.longest[number] > 1 else set()
            self.facts.dependent[number] = ordered

    def dependent(self, number: int, mine: set[Place], outside: set[Variable]) -> set[Place]:
        """Places for which the turns of a loop must go in order."""
        places: set[Place] = set()
        by_place: dict[tuple, list[tuple[int, int, Access]]] = defaultdict(list)  # entry, turn (-1 outside), access
        for a in self.log:
            at = next(((e, t) for n, e, t in a.turns if n == number), (0, -1))
            by_place[a.place, a.element].append((*at, a))
        for (place, _), accesses in by_place.items():
            if place not in mine:
                inner = [x for x in accesses if x[1] >= 0]
                clash = any(x[0] == y[0] and x[1] != y[1] and x[2].store for x in inner for y in inner)
                if clash:
                    places.add(place)
                continue
            for k, (entry, turn, a) in enumerate(accesses):
                if a.store or turn < 0 or number in a.covered:
                    continue
                for e, t, before in reversed(accesses[:k]):
                    if before.store and t >= 0 and (e, t) != (entry, turn):
                        places.add(place)
                    if before.store and before.sure and (e, t) != (entry, turn):
                        break
        return places | (outside & mine)


class _Silent(_Machine):
    """Evaluates once more without taking notes."""

    def __init__(self, of: _Tracing):
        self.lanes, self.analysis, self.variables, self.memory, self.split = 1, None, of.variables, of.memory, set()


def _loops(u: Uniform) -> list[Loop]:
    return [s for s in statements(u.kernel.body) if isinstance(s, Loop)]


def _copied(s: Assign | Store) -> bool:
    e = s.value.operand if isinstance(s.value, Bitcast) else s.value
    return isinstance(e, (Load, Var)) and e.loc is s.loc


def _owned(u: Uniform, s: Loop) -> set[Place]:
    """Of what a loop stores to, that of which each turn may have a copy: scalar variables, and arrays only it uses."""
    inside, everywhere = _touches((s,)), _touches(u.kernel.body)
    arrays = {r for r, n in inside.items() if r.storage == "local" and everywhere[r] == n}
    return arrays | {x.var for x in statements((s,)) if isinstance(x, Assign) and x.var in u.varying}


def _nodes(block: Sequence[Stmt]):
    for s in statements(tuple(block)):
        yield s
        for e in expressions(s):
            yield from subexpressions(e)


def _touches(block: Sequence[Stmt]) -> Counter:
    return Counter(x.region for x in _nodes(block) if isinstance(x, (Load, Store)))


def _uses(block: Sequence[Stmt]) -> Counter:
    return Counter(x.var for x in _nodes(block) if isinstance(x, Var))


# what independence means


def memory(u: Uniform, data: Mapping[str, Sequence[Number]]) -> dict[str, list[Number]]:
    """Bulk memory after one sequential run."""
    return _Shuffled(u, data, {}, random.Random(0)).run()


def shuffled(
    u: Uniform, data: Mapping[str, Sequence[Number]], loops: Sequence[LoopFacts], rng: random.Random
) -> dict[str, list[Number]]:
    """The same with the turns of independent loops in random order. Each turn starts with the uniform variables that it
    has in sequence; other scalars, and arrays that only the loop uses, start with what they were before the loop, and
    are nobody's after it."""
    free = {id(s): f.independent for s, f in zip(_loops(u), loops, strict=True)}
    return _Shuffled(u, data, free, rng).run()


class _Shuffled(_Machine):
    GARBAGE = 77

    def __init__(self, u: Uniform, data: Mapping, free: Mapping[int, bool], rng: random.Random):
        super().__init__(u.kernel, [data], None, 1_000_000)
        self.u, self.free, self.rng = u, free, rng
        self.watching: list[dict[Variable, list[Number]]] | None = None

    def run(self) -> dict[str, list[Number]]:
        self.block(self.u.kernel.body, (0,))
        return {r.name: self.memory[r][0] for r in self.u.kernel.regions if r.storage == "bulk"}

    def loop(self, s: Loop, active: Lanes) -> None:
        if not self.free.get(id(s)):
            super().loop(s, active)
            return
        before = copy.deepcopy(self.variables), copy.deepcopy(self.memory)
        starts = self.in_sequence(s, active)
        if len(starts) <= 2:
            return
        after = copy.deepcopy(self.variables)
        self.variables, self.memory = before
        mine = _owned(self.u, s)
        saved = {r: list(self.memory[r][0]) for r in mine if isinstance(r, Region)}
        varying = {v: list(x) for v, x in self.variables.items() if v in mine}
        order = list(range(len(starts)))
        self.rng.shuffle(order)
        for k in order:
            for v in mine:
                self.variables.pop(v, None)
            self.variables = {**self.variables, **copy.deepcopy(starts[k]), **copy.deepcopy(varying)}
            for r, elements in saved.items():
                self.memory[r] = [list(elements)]
            self.turn(s, active)
        for v, x in after.items():
            self.variables[v] = [self.GARBAGE] if v in mine else x
        for r in saved:
            self.memory[r] = [[self.GARBAGE] * r.count]

    def in_sequence(self, s: Loop, active: Lanes) -> list[dict[Variable, list[Number]]]:
        """Execute it in order; the uniform variables at the start of each turn."""
        free, self.free, starts = self.free, {}, []
        while not self.left(s):
            starts.append({v: list(x) for v, x in self.variables.items() if v not in self.u.varying})
            if not self.turn(s, active):
                break
        self.free = free
        return starts

    def left(self, s: Loop) -> bool:
        return any(self.variables.get(f, [0])[0] for f in s.flags)

    def turn(self, s: Loop, active: Lanes) -> bool:
        """Whether it went through."""
        self.block(s.head, active)
        if not self.values(s.cond, active)[0]:
            return False
        self.block(s.body, active)
        if not self.left(s):
            self.block(s.step, active)
        return True
