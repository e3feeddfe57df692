"""A block's program, executed thread by thread with a race detector: between two barriers, no two threads touch one
element of shared memory, unless both only read it.

It takes the IR that the CUDA text is printed from, with the elements' places in shared memory that the text has. What
a thread loads in a race it may not use: such loads bring something else in a second run, whose result must be the
same.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from c2cu.analysis.facts import Trace
from c2cu.analysis.uniform import Uniform
from c2cu.base.ctype import BOOL
from c2cu.ir.nodes import Assign, Binary, Cast, Expr, If, Load, Region, Stmt, Store, Unary, Var, Variable
from c2cu.ir.walk import statements, subexpressions
from c2cu.schedule.block.builder import REDO
from c2cu.schedule.block.emit import BlockProgram
from c2cu.schedule.block.fit import ROUND, TID
from c2cu.schedule.block.notes import is_barrier, is_note, words
from tests.ir_interpreter import Lanes, Number, _Machine, run

Data = Mapping[str, Sequence[Number]]  # an input's elements by the region's name


@dataclass
class Ran:
    """``redone``: an iteration depended on another after all, so that the input is executed sequentially. ``raced``:
    the numbers of the loads whose value depends on who comes first; ``arrays``: those that threads race for."""

    memory: dict[str, list[Number]]
    redone: bool
    raced: set[int]
    arrays: set[str]


def check(u: Uniform, trace: Trace, program: BlockProgram, data: Data) -> bool:
    """Compare one input's result with the kernel's own; returns whether it was redone. Raises AssertionError."""
    ran = execute(u, trace, program, data)
    if ran.redone:
        return True  # up to the redoing, races are allowed
    expected = run(u.kernel, [data], budget=1_000_000).memory[0]
    _compare(u, ran, expected, "")
    if ran.raced:
        again = execute(u, trace, program, data, ran.raced)
        assert not again.redone, "a race decides whether it is redone"
        _compare(u, again, expected, "a race: ")
    return False


def _compare(u: Uniform, ran: Ran, expected: Mapping[str, list[Number]], why: str) -> None:
    for r in _written(u):
        if r.storage == "bulk":
            assert repr(ran.memory[r.name]) == repr(expected[r.name]), f"{why}{r.name} differs"


def execute(
    u: Uniform,
    trace: Trace,
    program: BlockProgram,
    data: Data,
    raced: Sequence[int] | set[int] = (),
    clashing: bool = False,
) -> Ran:
    """``raced``: loads that bring anything. ``clashing``: two threads may store to one element."""
    machine = _Threads(u, trace, program, data, frozenset(raced))
    machine.block(program.body, tuple(range(machine.lanes)))
    assert machine.redone or clashing or not machine.clash, machine.clash
    regions = [r for r in u.kernel.regions if r.storage != "shared"]
    memory = {r.name: [machine.memory[r][0][place(r, k)] for k in range(r.count)] for r in regions}
    return Ran(memory, machine.redone, machine.raced, machine.arrays)


def _written(u: Uniform) -> set[Region]:
    return {s.region for s in statements(u.kernel.body) if isinstance(s, Store)}


def place(r: Region, element: int) -> int:
    """As the text's PLACE: a word is left out after each row of banks."""
    return element + element // (128 // r.type.size) if r.type.size >= 4 else element


class _Threads(_Machine):
    """Lanes are threads; they share memory."""

    def __init__(self, u: Uniform, trace: Trace, program: BlockProgram, data: Data, anything: frozenset[int]):
        super().__init__(u.kernel, [data] * program.threads, None, 50_000_000)
        written = _written(u)
        self.anything, self.random = anything, random.Random(1)
        self.redone, self.clash, self.raced, self.loads = False, "", set(), 0
        self.arrays: set[str] = set()
        self.readers: dict[tuple[Region, int], list[tuple[int, int]]] = {}  # (thread, number of the load)
        self.writers: dict[tuple[Region, int], int] = {}
        for r in u.kernel.regions:
            if r.storage == "shared":
                continue
            cells = [self.garbage(r) for _ in range(place(r, max(0, r.count - 1)) + 1)]
            brought = r.storage == "bulk" and trace.comes_in(r.name, r in written)
            for k in range(r.count if brought else 0):
                cells[place(r, k)] = self.memory[r][0][k]
            self.memory[r] = [cells] * self.lanes
        for r in program.tables:
            self.memory[r] = [list(r.init or ())] * self.lanes

    def garbage(self, r: Region) -> Number:
        return r.type.wrap(self.random.randrange(10**6))

    def assign(self, s: Assign, active: Lanes) -> None:
        if is_note(s):
            return
        if is_barrier(s):
            assert len(active) == self.lanes, "a barrier that not all threads reach"
            self.readers.clear()
            self.writers.clear()
            return
        self.redone = self.redone or s.var.name == REDO.name and any(self.values(s.value, active))
        super().assign(s, active)

    def store(self, s: Store, active: Lanes) -> None:
        index, new = self.index(s, active), self.values(s.value, active)
        for thread, i, value in zip(active, index, new):
            key = (s.region, int(i))
            others = {n for other, n in self.readers.get(key, ()) if other != thread}
            self.raced |= others
            if others or self.writers.get(key, thread) != thread:
                self.arrays.add(s.region.name)
            if self.writers.get(key, thread) != thread:
                self.clash = self.clash or f"two threads store {s.region.name} at {i}"
            self.writers[key] = thread
            self.memory[s.region][thread][int(i)] = value

    def evaluate(self, e: Expr, active: Lanes) -> list[Number]:
        match e:
            case Var(var=v) if v.name == TID.name:
                return list(active)
            case Load(region=r) if r.storage != "shared":
                return [self.load(r, thread, int(i)) for thread, i in zip(active, self.index(e, active))]
        return super().evaluate(e, active)

    def load(self, r: Region, thread: int, i: int) -> Number:
        self.loads += 1
        if self.writers.get((r, i), thread) != thread:
            self.raced.add(self.loads)
            self.arrays.add(r.name)
        self.readers.setdefault((r, i), []).append((thread, self.loads))
        return self.garbage(r) if self.loads in self.anything else self.memory[r][thread][i]

    def index(self, e: Load | Store, active: Lanes) -> list[Number]:
        if e.region.storage == "shared":
            return super().index(e, active)
        index = self.values(e.index, active)
        assert all(0 <= i <= place(e.region, e.region.count - 1) for i in index), f"out of bounds: {e}"
        return index


def crossings(u: Uniform, trace: Trace, program: BlockProgram) -> set[str]:
    """The arrays of which one thread may use an element that another stores, with no barrier between them, whatever
    the data: both arms of every branch on data are gone through. Inside a phase, a thread without an iteration may load
    what it does not use, and an iteration may turn out to depend on another: that is for `check`."""
    machine = _Everywhere(u, trace, program)
    machine.block(program.body, tuple(range(machine.lanes)))
    return machine.arrays


class _Everywhere(_Threads):
    """Threads that only touch what they may touch: the values are those that the thread's number determines, and others
    are all 1."""

    def __init__(self, u: Uniform, trace: Trace, program: BlockProgram):
        data = {r.name: [r.type.wrap(1)] * r.count for r in u.kernel.regions if r.storage != "local"}
        super().__init__(u, trace, program, data, frozenset())
        self.tables = {r for r in u.kernel.regions if r.storage == "shared" and r.init is not None}
        self.tables |= set(program.tables)
        self.determined: set[Variable] = set()  # variables whose values the thread's number determines
        self.phase, self.apart, self.back = 0, False, False  # `apart`: each statement is a phase of its own
        self.users: dict[tuple[Region, int], list[tuple[int, bool, int]]] = {}  # (thread, whether it stores, phase)

    def known(self, e: Expr) -> bool:
        return all(
            (not isinstance(x, Var) or x.var.name == TID.name or x.var in self.determined)
            and (not isinstance(x, Load) or x.region in self.tables)
            for x in subexpressions(e)
        )

    def statement(self, s: Stmt, active: Lanes) -> None:
        self.phase += self.apart or self.back and not isinstance(s, Store)
        self.back &= isinstance(s, Store)
        if is_note(s):
            self.back = words(s).endswith("back to shared memory:")
            if words(s).startswith(("Phase", "No phase")):
                self.apart = words(s).startswith("No phase")
            self.phase += self.back or words(s).startswith("Phase")
        if not isinstance(s, If):
            return super().statement(s, active)
        self.values(s.cond, active)
        yes, no = self.possible(s.cond, active)
        self.block(s.then, yes)
        self.block(s.other, no)

    def possible(self, e: Expr, active: Lanes) -> tuple[Lanes, Lanes]:
        """The lanes in which a condition may hold, and those in which it may not."""
        if self.known(e):
            yes = self.where(e, active)
            return yes, tuple(k for k in active if k not in yes)
        match e:
            case Binary(op="&&" | "||" as op, left=left, right=right):
                (a, b), (c, d) = self.possible(left, active), self.possible(right, active)
                both, either = (a, c), (b, d)
                if op == "||":
                    both, either = either, both
                all_of, any_of = set(both[0]) & set(both[1]), set(either[0]) | set(either[1])
                split = tuple(sorted(all_of)), tuple(sorted(any_of))
                return split if op == "&&" else split[::-1]
            case Unary(op="!", operand=x):
                return self.possible(x, active)[::-1]
            case Cast(operand=x) if e.type == BOOL:
                return self.possible(x, active)
        return active, active

    def assign(self, s: Assign, active: Lanes) -> None:
        if is_barrier(s):
            self.users.clear()
        self.phase += s.var.name == ROUND.name
        known = self.known(s.value) and (s.var in self.determined or s.var not in self.variables)
        super().assign(s, active)
        (self.determined.add if known else self.determined.discard)(s.var)

    def values(self, e: Expr, active: Lanes) -> list[Number]:
        if self.known(e):
            return super().values(e, active)
        for x in subexpressions(e):
            if isinstance(x, Load) and x.region not in self.tables and x.region.storage != "shared":
                for thread, i in zip(active, self.index(x, active)):
                    self.touch(x.region, int(i), thread, False)
        return [e.type.wrap(1)] * len(active)

    def store(self, s: Store, active: Lanes) -> None:
        self.values(s.value, active)
        for thread, i in zip(active, self.index(s, active)):
            self.touch(s.region, int(i), thread, True)

    def touch(self, r: Region, i: int, thread: int, store: bool) -> None:
        users = self.users.setdefault((r, i), [])
        for other, stored, phase in users:
            if other != thread and (store or stored) and phase != self.phase:
                self.arrays.add(r.name)
        users.append((thread, store, self.phase))

    def index(self, e: Load | Store, active: Lanes) -> list[Number]:
        assert self.known(e.index), e
        return super().index(e, active)
