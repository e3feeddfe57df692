"""Unrolling: loops whose every turn is known are written out, so that subscripts become constants.

Uniform control is executed symbolically. A loop is unrolled if all of it fits in what is left of the budget, else its
inner loops are tried.

By profit, a loop is unrolled only where its counter then decides a branch or a division, where elements of a local
array become variables, where a turn loads what one before it has stored (which then stays in a register), or where that
takes few statements. An address alone is no gain: what a loop of vectors costs beside its loads and stores is little,
and text that does not fit the cache of decoded instructions costs more.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace

from ..analysis.effects import fold_known
from ..ir.affine import Affine, affine
from ..ir.canonical import counted
from ..ir.fold import binary
from ..ir.nodes import (
    TRUE,
    Assign,
    Binary,
    Block,
    Call,
    Const,
    Expr,
    If,
    Kernel,
    Load,
    Loop,
    Region,
    Stmt,
    Store,
    Var,
    Variable,
)
from ..ir.simplify import join, simplify
from ..ir.walk import blocks, expressions, loads_in, statements, subexpressions, used
from .aligned import fold_aligned
from .scalarize import constant_regions

UNIT = 8  # turns in one, of a loop that is too long and whose branches depend on its counter's low bits
SHARE = 8  # such a loop may take this part of what is left of the budget
SHORT = 16  # nodes of a function of the counter that is spelled out where it is used
NEAR = 4  # turns between a store and the load of what it stored
FEW = 64  # statements that are always written out
WORTH = 16  # statements that a decided branch or subscript of a local array is worth
TRIES = 3  # of a loop, in vain
WORK = 40  # budgets of statements that may be tried, also in vain
LANEWISE = 16  # statements that a call counts for, which SIMD code makes lane by lane
VECTOR = ("fabs", "fabsf", "sqrt", "sqrtf")  # calls that are one instruction
BUDGET = 2000  # statements: what a compiler still digests in a few seconds

Known = dict[Variable, Expr]  # constants; in a loop that is unrolled in part also what depends on its counter only


class _TooLong(Exception):
    pass


class _Unknown(_TooLong):
    """Whether there is another turn is not known."""


def unroll(kernel: Kernel, budget: int = BUDGET, whole: bool = False, rolled: tuple[Loop, ...] = ()) -> Kernel:
    """``kernel`` with its short loops written out, as long as they are ``budget`` statements. ``whole``: a loop only
    together with the loops inside it whose turns are known, so that a nest's subscripts all become constants or none.
    ``rolled``: loops that stay loops.
    """
    return _unrolled(kernel, budget, _Unroller(kernel.body, _Folding(), whole, rolled, WORK * budget))


def unroll_by_profit(kernel: Kernel, budget: int = BUDGET) -> Kernel:
    """``kernel`` with those of its short loops written out that decide branches, or subscripts of local arrays of which
    every subscript can be decided so."""
    if not any(isinstance(s, Loop) for s in statements(kernel.body)):
        return kernel
    folding = _Folding()
    arrays: frozenset[Region] = frozenset()
    if any(r.storage == "local" for r in kernel.regions):
        unrolled = _unrolled(kernel, budget, _Unroller(kernel.body, folding, work=WORK * budget))
        arrays = frozenset(constant_regions(unrolled))
    profit = _Profit(arrays, _data(kernel.body, arrays), folding)
    return _unrolled(kernel, budget, _Unroller(kernel.body, folding, work=WORK * budget, profit=profit))


def _unrolled(kernel: Kernel, budget: int, unroller: _Unroller) -> Kernel:
    return replace(kernel, body=simplify(tuple(unroller.block(kernel.body, {}, budget))))


@dataclass
class _Folding:
    """`fold_known` for the expressions of one kernel. It remembers its results, as a loop may be tried many times with
    the same values. ``reads``: an expression and its variables, by its identity; ``folded``: by its identity and what
    is known of each of its variables."""

    reads: dict[int, tuple[Expr, tuple[Variable, ...]]] = field(default_factory=dict)
    folded: dict[tuple[int | Expr | None, ...], Expr] = field(default_factory=dict)

    def __call__(self, e: Expr, known: Known) -> Expr:
        if id(e) not in self.reads:
            self.reads[id(e)] = e, tuple(_variables(e))
        key = (id(e), *map(known.get, self.reads[id(e)][1]))
        if key not in self.folded:
            self.folded[key] = fold_known(e, known)
        return self.folded[key]


@dataclass
class _Profit:
    """What unrolling gains, loop by loop. ``arrays``: the local arrays that can become variables; ``data``: the
    variables that no unrolling decides; ``fold``: of the kernel's expressions; ``causes``: of a variable whose value is
    known, the loops (by identity) that must be unrolled for that; ``gains``: of a loop; ``hopeful``: whether it may
    gain anything at all; ``unpaid``: how often it was tried in vain; ``unrolling``: the loops that are being tried, the
    outermost first; ``decidable``: of a statement (by identity), its divisions and its subscripts of ``arrays``."""

    arrays: frozenset[Region]
    data: frozenset[Variable]
    fold: _Folding
    causes: dict[Variable, frozenset[int]] = field(default_factory=dict)
    gains: dict[int, int] = field(default_factory=dict)
    hopeful: dict[int, bool] = field(default_factory=dict)
    unpaid: dict[int, int] = field(default_factory=dict)
    unrolling: list[int] = field(default_factory=list)
    decidable: dict[int, tuple[list[Expr], list[Expr]]] = field(default_factory=dict)

    def may_pay(self, s: Loop) -> bool:
        """Whether it is worth trying: what the loop changes decides a branch or a subscript inside it."""
        if id(s) not in self.hopeful:
            inside = list(statements((s,)))
            goals = [e for x in inside for e in self.goals(x)]
            goal = {v for e in goals for v in _variables(e)}
            values = [(x.var, _variables(x.value)) for x in inside if isinstance(x, Assign)]
            while more := {v for target, read in values if target in goal for v in read} - goal:
                goal |= more
            changed = {x.var for x in statements(s.step or s.body) if isinstance(x, Assign)}
            innermost = not any(isinstance(x, Loop) for x in inside[1:])
            self.hopeful[id(s)] = innermost or TRUE in goals or bool(changed & goal) or recurs(s)
        return self.hopeful[id(s)] and self.unpaid.get(id(s), 0) < TRIES

    def goals(self, s: Stmt) -> list[Expr]:
        """What is worth deciding in a statement; TRUE where it accesses ``arrays``."""
        out = [s.cond] if isinstance(s, If) and not _has_data(s.cond, self.data, self.arrays) else []
        for x in (x for e in expressions(s) for x in subexpressions(e)):
            if _divides(x) and not _has_data(x, self.data, self.arrays):
                out.append(x)
            if isinstance(x, Load) and x.region in self.arrays:
                return [TRUE]
        return [TRUE] if isinstance(s, Store) and s.region in self.arrays else out

    def of(self, e: Expr) -> frozenset[int]:
        """The loops that decide ``e``."""
        return frozenset[int]().union(
            *(self.causes.get(x.var, ()) for x in subexpressions(e) if isinstance(x, Var)),
        )

    def gain(self, e: Expr) -> None:
        """``e`` has become a constant, and that is worth something."""
        for loop in self.of(e):
            self.gains[loop] = self.gains.get(loop, 0) + 1

    def decided(self, s: Stmt, known: Known) -> None:
        """Count the divisions and the subscripts of ``arrays`` in a statement that have become constants. Such an array
        is carried in registers, which each loop around that is unrolled too saves from being moved."""
        if id(s) not in self.decidable:
            nodes = [x for e in expressions(s) for x in subexpressions(e)]
            accesses = [x for x in (s, *nodes) if isinstance(x, (Load, Store)) and x.region in self.arrays]
            self.decidable[id(s)] = [x for x in nodes if _divides(x)], [x.index for x in accesses]
        divisions, subscripts = self.decidable[id(s)]
        for x in divisions:
            if isinstance(self.fold(x, known), Const):
                self.gain(x)
        for x in subscripts:
            if isinstance(self.fold(x, known), Const):
                for loop in self.unrolling:
                    self.gains[loop] = self.gains.get(loop, 0) + 1

    def carried(self, s: Loop) -> None:
        """What a turn of an unrolled loop leaves is known to the next one only because the loop is unrolled."""
        for x in statements((s,)):
            if isinstance(x, Assign):
                self.causes[x.var] = self.causes.get(x.var, frozenset()) | {id(s)}

    def pays(self, s: Loop, length: int) -> bool:
        """Whether unrolling ``s`` into ``length`` statements is worth it."""
        if length < FEW or length <= WORTH * self.gains.get(id(s), 0) or recurs(s):
            return True
        self.unpaid[id(s)] = self.unpaid.get(id(s), 0) + 1
        return False


def _data(body: Block, arrays: frozenset[Region]) -> frozenset[Variable]:
    """The variables that hold, at some time, what was read from memory or computed by a function."""
    assigned = [s for s in statements(body) if isinstance(s, Assign)]
    data: set[Variable] = set()
    while more := {s.var for s in assigned if s.var not in data and _has_data(s.value, data, arrays)}:
        data |= more
    return frozenset(data)


def _has_data(e: Expr, data: Collection[Variable], arrays: frozenset[Region]) -> bool:
    """Whether ``e`` reads memory, but for tables of constants and for ``arrays``, or one of the variables ``data``."""
    for x in subexpressions(e):
        if isinstance(x, Load) and x.region not in arrays and not (x.region.storage == "shared" and x.region.init):
            return True
        if isinstance(x, Call) or (isinstance(x, Var) and x.var in data):
            return True
    return False


def _divides(e: Expr) -> bool:
    return isinstance(e, Binary) and e.op in ("/", "%") and e.type.is_integer


def _variables(e: Expr) -> set[Variable]:
    return {x.var for x in subexpressions(e) if isinstance(x, Var)}


class _Unroller:
    def __init__(
        self,
        body: Block,
        folding: _Folding,
        whole: bool = False,
        rolled: tuple[Loop, ...] = (),
        work: int = 0,
        profit: _Profit | None = None,
    ) -> None:
        self.uses = used(body)
        self.fold_known = folding
        self.whole, self.rolled, self.profit = whole, rolled, profit
        self.work = work  # statements that may still be tried
        self.failed: dict[int, tuple[int, int]] = {}  # of loops (by identity) that did not fit: their turns, the room
        self.sizes: dict[int, tuple[Stmt, int]] = {}  # of new statements (by identity)
        self.trying = 0  # loops being unrolled: only inside them is there a limit
        self.counter: Variable | None = None  # of the loop being unrolled in part: a multiple of UNIT

    def fold(self, e: Expr, known: Known) -> Expr:
        new = self.fold_known(e, known)
        return new if self.counter is None else fold_aligned(new, self.counter, UNIT)

    def is_known(self, e: Expr) -> bool:
        return isinstance(e, Const) or (self.counter is not None and depends_only_on(e, self.counter))

    def count(self, block: Iterable[Stmt]) -> int:
        """What a block takes of the budget."""
        if self.whole:
            return sum(1 for _ in block)
        length = 0
        for s in block:
            if id(s) not in self.sizes:
                self.sizes[id(s)] = s, own_size(s) + sum(map(self.count, blocks(s)))
            length += self.sizes[id(s)][1]
        return length

    def block(self, block: Block, known: Known, room: int) -> list[Stmt]:
        """The statements of ``block``; ``known`` is updated. Raises _TooLong beyond ``room`` statements."""
        out: list[Stmt] = []
        for s in block:
            self.work -= 1
            if self.trying and self.work < 0:
                raise _TooLong
            new = self.statement(s, known, room)
            room -= self.count(new)
            if self.trying and room < 0:
                raise _TooLong
            out += new
        return out

    def statement(self, s: Stmt, known: Known, room: int) -> list[Stmt]:
        match s:
            case Assign():
                if self.profit is not None:
                    self.profit.decided(s, known)
                    self.profit.causes[s.var] = self.profit.of(s.value)
                value = self.fold(s.value, known)
                known.pop(s.var, None)
                if self.is_known(value):
                    known[s.var] = value
                return [replace(s, value=value)]
            case Store():
                if self.profit is not None:
                    self.profit.decided(s, known)
                return [replace(s, index=self.fold(s.index, known), value=self.fold(s.value, known))]
            case If():
                return self.branch(s, known, room)
            case Loop():
                return self.loop(s, known, room)
        raise AssertionError(s)

    def branch(self, s: If, known: Known, room: int) -> list[Stmt]:
        cond = self.fold(s.cond, known)
        if self.profit is not None:
            self.profit.decided(s, known)
            if isinstance(cond, Const):
                self.profit.gain(s.cond)
        if isinstance(cond, Const):
            return self.block(s.then if cond.value else s.other, known, room)
        yes, no = dict(known), dict(known)
        new = replace(
            s, cond=cond, then=tuple(self.block(s.then, yes, room)), other=tuple(self.block(s.other, no, room))
        )
        known.clear()
        known.update((v, c) for v, c in yes.items() if no.get(v) == c)
        return [new]

    def loop(self, s: Loop, known: Known, room: int) -> list[Stmt]:
        trial = dict(known)
        turns = None if any(s is k for k in self.rolled) else self.attempt(s, trial, room)
        if turns is not None:
            known.clear()
            known.update(trial)
            return turns
        start = known.get(s.step[0].var) if s.step and isinstance(s.step[0], Assign) else None
        _forget(s, known)
        partly = self.partly(s, start, known, room) if isinstance(start, Const) and not self.whole else None
        if partly is not None:
            return [partly]
        inner = dict(known)
        head = tuple(self.block(s.head, inner, room))
        cond = self.fold_known(s.cond, inner)
        body = tuple(self.block(s.body, inner, room))
        step = tuple(self.block(s.step, inner, room))
        return [replace(s, head=head, cond=cond, body=body, step=step)]

    def partly(self, s: Loop, start: Const, known: Known, room: int) -> Loop | None:
        """A loop with UNIT turns in one, if that settles branches. ``start``: of its counter."""
        c = counted(s)
        if c is None or c.limit is None or c.may_end_early or (c.op, c.by) != ("<", 1) or c.counter.type.size < 4:
            return None
        if not isinstance(s.cond, Binary) or s.cond.op != c.op:
            return None  # not in canonical form
        v, end = c.counter, self.fold_known(c.limit, known)
        body, inside = list(statements(s.body)), used(s.body)
        if any(isinstance(x, Loop) for x in body) or self.counter is not None:
            return None
        if any(isinstance(x, Assign) and self.uses[x.var] > inside[x.var] for x in body):
            return None  # it is wanted elsewhere
        if not isinstance(end, Const) or start.value < 0 or start.value % UNIT or end.value % UNIT:
            return None
        out: list[Stmt] = []
        inner = dict(known)
        self.counter = v
        self.trying += 1
        try:
            for k in range(UNIT):
                inner[v] = binary("+", Var(v, s.loc), Const(k, v.type), v.type)
                out += self.block(s.body, inner, room // SHARE - self.count(out))
        except _TooLong:
            return None
        finally:
            self.counter = None
            self.trying -= 1
        turns = join(simplify(tuple(out)), lambda branch: depends_only_on(branch.cond, v))
        tests = [x for x in statements(turns) if isinstance(x, If)]
        if 4 * len(tests) > 3 * UNIT * sum(isinstance(x, If) for x in body):
            return None
        (step,) = s.step
        assert isinstance(step, Assign)
        by = replace(step, value=Binary("+", Var(v, s.loc), Const(UNIT, v.type), v.type, step.value.loc))
        return replace(s, cond=replace(s.cond, right=end), body=turns, step=(by,))

    def attempt(self, s: Loop, known: Known, room: int) -> list[Stmt] | None:
        """All turns of a loop, or None where they are too many or not known."""
        if self.profit is not None and not self.profit.may_pay(s):
            return None
        expected = 0 if self.whole else turns_of(s, known)
        few, large = self.failed.get(id(s), (expected + 1, room))
        if few <= expected and room <= large:
            return None
        self.trying += 1
        gains = dict(self.profit.gains) if self.profit is not None else {}
        if self.profit is not None:
            self.profit.unrolling.append(id(s))
        try:
            turns = self.turns(s, known, room, expected)
            if self.profit is None or self.profit.pays(s, self.count(turns)):
                return turns
            self.profit.gains = gains
            return None
        except _Unknown:
            return None
        except _TooLong:
            if self.whole and self.trying > 1:
                raise
            if expected:
                self.failed[id(s)] = expected, room
            return None
        finally:
            self.trying -= 1
            if self.profit is not None:
                self.profit.unrolling.pop()

    def turns(self, s: Loop, known: Known, room: int, expected: int) -> list[Stmt]:
        """All turns of a loop, one after the other. ``expected``: how many, 0 if that is not known. Raises _TooLong
        where the next one is not known."""
        out: list[Stmt] = []
        done, all_room = 0, room

        def add(block: Block) -> None:
            nonlocal room
            new = self.block(block, known, room)
            room -= self.count(new)
            out.extend(new)

        while not self.flagged(s, known):
            add(s.head)
            cond = self.fold_known(s.cond, known)
            if not isinstance(cond, Const):
                raise _Unknown
            if not cond.value:
                break
            add(s.body)
            if self.flagged(s, known):
                break
            add(s.step)
            if self.profit is not None:
                self.profit.carried(s)
            done += 1
            if done > all_room:
                raise _TooLong  # of turns that do nothing
            if done == UNIT and (all_room - room) * expected > 2 * UNIT * all_room:
                raise _TooLong  # at this rate
        return out

    @staticmethod
    def flagged(s: Loop, known: Known) -> bool:
        for f in s.flags:
            value = known.get(f)
            if not isinstance(value, Const):
                raise _Unknown
            if value.value:
                return True
        return False


def recurs(s: Loop) -> bool:
    """Whether a turn of a counted loop loads an element that one of the last few turns has stored."""
    c = counted(s)
    if c is None:
        return False
    stores: list[tuple[Region, Affine]] = []
    loads: list[tuple[Region, Affine]] = []
    for x in statements(s.body):
        for e in expressions(x):
            loads += [(y.region, a) for y in loads_in(e) if (a := affine(y.index)) is not None]
        if isinstance(x, Store) and (a := affine(x.index)) is not None:
            stores.append((x.region, a))
    for region, stored in stores:
        distance = stored.of(c.counter) * c.by
        for other, loaded in loads:
            if other == region and distance and loaded.terms == stored.terms:
                turns, rest = divmod(stored.constant - loaded.constant, distance)
                if not rest and 1 <= turns <= NEAR:
                    return True
    return False


def turns_of(s: Loop, known: Known) -> int:
    """How many turns a counted loop takes at most, if its first and last are known; 0 for others."""
    c = counted(s)
    if c is None or c.limit is None:
        return 0
    start, end = known.get(c.counter), fold_known(c.limit, known)
    if not isinstance(start, Const) or not isinstance(end, Const) or end.type.is_float:
        return 0
    try:
        return c.turns(int(start.value), int(end.value))
    except ValueError:
        return 0


def size(block: Iterable[Stmt]) -> int:
    """Statements that will be left of a block: assignments of constants vanish, calls are made for each lane."""
    return sum(map(own_size, statements(tuple(block))))


def own_size(s: Stmt) -> int:
    """`size` of a statement without those inside it."""
    if isinstance(s, Assign) and isinstance(s.value, Const):
        return 0
    nodes = (x for e in expressions(s) for x in subexpressions(e))
    return 1 + LANEWISE * sum(isinstance(x, Call) and x.name not in VECTOR for x in nodes)


def depends_only_on(e: Expr, v: Variable) -> bool:
    """Whether ``e`` is a function of one variable."""
    nodes = list(subexpressions(e))
    only = all(x.var == v if isinstance(x, Var) else not isinstance(x, (Load, Call)) for x in nodes)
    return only and e.type.is_integer and len(nodes) <= SHORT


def _forget(s: Stmt, known: Known) -> None:
    for inner in statements((s,)):
        if isinstance(inner, Assign):
            known.pop(inner.var, None)
