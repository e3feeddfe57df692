"""Tables that a kernel fills with the same numbers whatever the data become constants.

C that people have fills its tables when it runs: at each call, or under a flag of its own, ``if (!ready) { fill();
ready = 1; }``, at times one of the table's elements. In a kernel that is called for one input after another the first
call would pay for the others; here each input begins as the C says, so each would fill the table again, and read from
what it has written. So what fills a table is executed once, here, and what it computes is the table.

`under_a_flag` finds branches, anywhere in the kernel, that a flag keeps from being taken twice; `at_each_call` finds
statements of the kernel's own block that do it each time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeGuard

from ..analysis.uniform import Uniform
from ..ir.evaluate import Leaf, Value, evaluate
from ..ir.nodes import Assign, Block, Cast, Const, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from ..ir.walk import Order, blocks, expressions, rewritten, statements, subexpressions, unless_same

LEAST = 8  # elements of a table that is filled at each call; shorter ones are as good in registers
LARGEST = 1 << 16  # elements of any
LONGEST = 400_000  # operands that are evaluated for one kernel, which takes below a second

Memory = dict[Region, list[Value | None]]
Elements = dict[Region, tuple[int | float, ...]]


def filled(u: Uniform, private: frozenset[str]) -> Kernel:
    """The analysed kernel, in which such tables are regions of constants. ``private``: the bulk variables, by name,
    that nothing outside the kernel names and no call brings. `Kernel.begun` names those of them that are gone."""
    kernel, left = u.kernel, _Budget(LONGEST)
    for find in (under_a_flag, at_each_call):
        while fill := find(kernel, private, left):
            kernel = _with_constants(kernel, fill)
    return kernel


@dataclass(frozen=True)
class Fill:
    """``tables``: what is in them in the end; ``statements``: those that fill them, by identity, and that nothing else
    needs; ``flags``: regions of the flags that are private variables."""

    tables: Elements
    statements: frozenset[int]
    flags: frozenset[Region] = frozenset()


def _with_constants(kernel: Kernel, fill: Fill) -> Kernel:
    """The kernel with constants in place of tables that are filled, and without what fills them."""
    constant = {r: replace(r, storage="shared", init=values) for r, values in fill.tables.items()}

    def load(e: Expr) -> Expr:
        return replace(e, region=constant[e.region]) if isinstance(e, Load) and e.region in constant else e

    def rest(block: Block) -> Block:
        return unless_same(block, [s for old in block if id(old) not in fill.statements for s in inner(old)])

    def inner(s: Stmt) -> Iterator[Stmt]:
        if isinstance(s, If):
            then, other = rest(s.then), rest(s.other)
            if then or other:
                yield s if then is s.then and other is s.other else replace(s, then=then, other=other)
        elif isinstance(s, Loop):
            head, body, step = map(rest, blocks(s))
            same = head is s.head and body is s.body and step is s.step
            yield s if same else replace(s, head=head, body=body, step=step)
        else:
            yield s

    body = rewritten(rest(kernel.body), load)
    read, gone = {x.region for x in _loads(body)}, constant.keys() | fill.flags
    regions = (constant.get(r, r) for r in kernel.regions if r not in gone or constant.get(r) in read)
    begun = sorted({r.variable for r in gone if r.storage == "bulk"})
    return replace(kernel, regions=tuple(regions), body=body, begun=(*kernel.begun, *begun))


def at_each_call(kernel: Kernel, private: frozenset[str], left: _Budget) -> Fill | None:
    """Tables all of whose stores are in statements of the kernel's own block that no input decides, before others read
    them."""
    in_loops = {r for s in kernel.body if isinstance(s, Loop) for r in _stored((s,))}
    read = {x.region for x in _loads(kernel.body)}
    tables = {r for r in in_loops & read if r.count >= LEAST and _is_own(r, private)}
    if not tables:
        return None
    machine, known = _Machine({}, _beginning(kernel), left), set[int]()
    for s in kernel.body:
        if machine.execute(s):
            known.add(id(s))
    tables = {r for r in tables if r in machine.memory and _elements(r, machine.memory[r]) is not None}
    filling = [s for s in kernel.body if id(s) in known]
    while tables:  # what does something else too stays, and then a table does that it fills
        filling = [s for s in filling if not _stored((s,)).isdisjoint(tables)]
        ours = set(map(id, filling))
        others = [s for s in kernel.body if id(s) not in ours]
        read = {x.var for x in _nodes(others) if isinstance(x, Var)}
        kept = [s for s in filling if not (_stored((s,)) <= tables and read.isdisjoint(_assigned((s,))))]
        early = _read_early(kernel.body, ours)
        wrong = tables & (_stored(tuple(others)) | _stored(tuple(kept)) | early | _of_parts(kernel, tables))
        if not wrong:
            break
        tables -= wrong
    whole = {r: e for r in tables if (e := _elements(r, machine.memory[r])) is not None}
    return Fill(whole, frozenset(map(id, filling))) if whole else None


def _read_early(body: Block, ours: Set[int]) -> set[Region]:
    """What other statements read before one of these stores there."""
    read: set[Region] = set()
    early: set[Region] = set()
    for s in body:
        if id(s) in ours:
            early |= read & _stored((s,))
        else:
            read |= {x.region for x in _loads((s,))}
    return early


def _of_parts(kernel: Kernel, gone: Set[Region]) -> set[Region]:
    """Those that are members of a variable some of which stays."""
    stays = {r.variable for r in kernel.regions if r not in gone and r.storage == "bulk"}
    return {r for r in gone if r.storage == "bulk" and r.variable in stays}


def under_a_flag(kernel: Kernel, private: frozenset[str], left: _Budget) -> Fill | None:
    """Tables that are filled in the one arm of branches that only what these arms write decides: one of them is taken,
    where such a branch is first come to, and none after it."""
    groups: dict[frozenset[Variable | Region], list[If]] = defaultdict(list)
    for s in statements(kernel.body):
        if isinstance(s, If) and bool(s.then) != bool(s.other) and (flags := _flags(s.cond)):
            groups[flags].append(s)
    order: Order | None = None
    first = {s.var: s.value for s in kernel.body if isinstance(s, Assign)}
    for flags, members in groups.items():
        if not all(isinstance(v, Region) or _may_begin(first.get(v), private) for v in flags):
            continue
        tables = {r for s in members for r in _stored(_arm(s))}
        written = tables | {v for s in members for v in _assigned(_arm(s))}
        if flags <= written and tables and all(_is_own(r, private) and r.count <= LARGEST for r in tables):
            order = order or Order(kernel.body)
            fill = _Once(kernel, private, left, flags, members, order).fill()
            if fill is not None:
                return fill
    return None


def _may_begin(value: Expr | None, private: frozenset[str]) -> bool:
    """Whether a flag may begin with this value, whatever the data."""
    return isinstance(value, Const) or (isinstance(value, Load) and value.region.variable in private)


class _Once:
    """One group of such branches."""

    def __init__(
        self,
        kernel: Kernel,
        private: frozenset[str],
        left: _Budget,
        flags: frozenset[Variable | Region],
        members: list[If],
        order: Order,
    ):
        self.kernel, self.private, self.left = kernel, private, left
        self.flags, self.members, self.order = flags, members, order
        self.tables = {r for s in members for r in _stored(_arm(s))}
        self.inside = frozenset(map(id, members))
        self.first = next(k for k, s in enumerate(kernel.body) if any(id(x) in self.inside for x in statements((s,))))
        self.before = [s for s in kernel.body[: self.first] if not _stored((s,)).isdisjoint(self.tables)]
        self.dropped = self.inside.union(map(id, self.before))
        self.cells: dict[Variable, Region] = {}  # flags that live in private variables

    def fill(self) -> Fill | None:
        within = [x for s in self.members for x in statements(_arm(s))]
        if any(id(x) in self.inside for x in within):
            return None  # one stands in another
        outside = [x for s in self.kernel.body for x in self.others(s)]
        if not self.tables.isdisjoint(x.region for x in outside if isinstance(x, Store)):
            return None
        if not all(map(self.does_nothing_else, self.before)) or not all(map(self.fills_before_reads, self.tables)):
            return None
        values = self.start()
        if values is None:
            return None
        leaving = Counter(v for s in self.kernel.body if (v := self.leaves(s)) is not None)
        if any(self.reads_of(v) != leaving[v] for v in _assigned(tuple(self.members))):
            return None
        ends = self.ends(*values)
        gone = self.tables.union(self.cells.values())
        if ends is None or _of_parts(self.kernel, gone):
            return None
        own = (s for s in self.kernel.body if self.leaves(s) or (isinstance(s, Assign) and s.var in self.flags))
        return Fill(ends, self.dropped.union(map(id, own)), frozenset(self.cells.values()))

    def others(self, s: Stmt) -> Iterator[Stmt]:
        """A statement and what is in it, without the branches and what is before them."""
        if id(s) not in self.dropped:
            yield s
            for b in blocks(s):
                for x in b:
                    yield from self.others(x)

    def reads_of(self, v: Variable) -> int:
        """How often others read a variable."""
        return self.order.times_read(v) - sum(self.order.times_read(v, (s,)) for s in (*self.members, *self.before))

    def does_nothing_else(self, s: Stmt) -> bool:
        """Whether a statement only stores in the tables, and loads from none of them."""
        loads = {x.region for x in _loads((s,))}
        mine = all(self.reads_of(v) == 0 for v in _assigned((s,)))
        return _stored((s,)) <= self.tables and loads.isdisjoint(self.tables) and mine

    def start(self) -> tuple[dict[Variable, Value], Memory] | None:
        """What variables and tables hold before any of the branches, and until then; None where it is not known of all
        flags and tables."""
        before = self.kernel.body[: self.first]
        assigned = {s.var: s for s in before if isinstance(s, Assign)}
        if not all(v in assigned for v in self.flags - self.tables):
            return None
        memory = _beginning(self.kernel)
        memory.update((r, _initial(r)) for r in self.tables if r.storage == "bulk")
        machine = _Machine({}, memory, self.left)
        known = {id(s) for s in before if machine.execute(s)}
        values: dict[Variable, Value] = {}
        for v, s in assigned.items():
            elsewhere = self.order.times_assigned(v) - sum(self.order.times_assigned(v, (m,)) for m in self.members)
            if elsewhere != 1:
                continue
            if v in self.flags and isinstance(s.value, Load) and self.is_of_its_own(s.value.region, v):
                self.cells[v] = s.value.region
                values[v] = _initial(s.value.region)[0]
            elif id(s) in known and v in machine.values:
                values[v] = machine.values[v]
        if not (self.flags - self.tables <= values.keys() and self.tables <= machine.memory.keys()):
            return None
        return values, {r: machine.memory[r] for r in self.tables}

    def is_of_its_own(self, r: Region, v: Variable) -> bool:
        """Whether a private variable does nothing but hold this flag from call to call."""
        if r.count != 1 or r.storage != "bulk" or r.variable not in self.private:
            return False
        loads = [x for x in _loads(self.kernel.body) if x.region == r]
        stores = [s for s in statements(self.kernel.body) if isinstance(s, Store) and s.region == r]
        return len(loads) == 1 and all(isinstance(s.value, Var) and s.value.var == v for s in stores)

    def leaves(self, s: Stmt) -> Variable | None:
        """The flag that a statement leaves where it lives."""
        if isinstance(s, Store) and isinstance(s.value, Var) and self.cells.get(s.value.var) == s.region:
            return s.value.var
        return None

    def ends(self, values: dict[Variable, Value], memory: Memory) -> Elements | None:
        """What the tables hold after any of the branches; None where it is not certain that the one that is come to
        first is taken, that no other is after it, and that all leave the same."""
        end: Elements | None = None
        for arm in {_renamed(_arm(s), values): s for s in self.members}.values():
            machine = _Machine(dict(values), _beginning(self.kernel), self.left)
            machine.memory.update((r, [*cells]) for r, cells in memory.items())
            if not (machine.takes(arm) is True and all(map(machine.execute, _arm(arm)))):
                return None
            if any(machine.takes(s) is not False for s in self.members):
                return None
            left = {r: e for r in self.tables if (e := _elements(r, machine.memory[r])) is not None}
            if len(left) < len(self.tables) or (end is not None and repr(left) != repr(end)):
                return None
            end = left
        start = _Machine(values, memory, self.left)
        return end if all(start.takes(s) is True for s in self.members) else None

    def fills_before_reads(self, r: Region) -> bool:
        """Whether all loads of a table come after one of the branches, on every path."""
        return self.filled_after(self.kernel.body, r, False) is not None

    def filled_after(self, block: Block, r: Region, already: bool) -> bool | None:
        """Whether a table is filled after a block; None where it is read before."""
        for s in block:
            if id(s) in self.inside:
                already = True
                continue
            if isinstance(s, Loop):
                head = self.filled_after(s.head, r, already)
                if head is None or (not head and any(x.region == r for x in _loads_of(s.cond))):
                    return None
                body = self.filled_after(s.body, r, head)
                if body is None or self.filled_after(s.step, r, body) is None:
                    return None
                continue
            if not already and any(x.region == r for e in expressions(s) for x in _loads_of(e)):
                return None
            if isinstance(s, If):
                arms = [self.filled_after(b, r, already) for b in (s.then, s.other)]
                if None in arms:
                    return None
                already = all(arms)
        return already


def _renamed(arm: Block, known: Mapping[Variable, Value]) -> Block:
    """With variables called by the order in which they appear, but for those that are known: copies of one function's
    body are the same then."""
    names: dict[Variable, Variable] = {}

    def name(v: Variable) -> Variable:
        return v if v in known else names.setdefault(v, Variable("", v.type, len(names)))

    def block(b: Block) -> Block:
        return tuple(map(statement, rewritten(b, lambda e: Var(name(e.var), e.loc) if isinstance(e, Var) else e)))

    def statement(s: Stmt) -> Stmt:
        match s:
            case Assign():
                return replace(s, var=name(s.var))
            case If():
                return replace(s, then=tuple(map(statement, s.then)), other=tuple(map(statement, s.other)))
            case Loop():
                head, body, step = (tuple(map(statement, b)) for b in blocks(s))
                return replace(s, head=head, body=body, step=step, flags=tuple(map(name, s.flags)))
        return s

    return block(arm)


class _NotKnown(Exception):
    """A value is not known here, or there is none."""


_FAILS = _NotKnown, ArithmeticError, ValueError


class _Budget:
    def __init__(self, operands: int):
        self.operands = operands


class _Machine:
    """Executes what no input decides."""

    def __init__(self, values: dict[Variable, Value], memory: Memory, left: _Budget):
        self.values, self.memory, self.left = values, memory, left
        self.conversions: dict[int, tuple[Expr, list[Cast]]] = {}  # by the identity of the expression, which it keeps

    def execute(self, s: Stmt) -> bool:
        """Whether all that a statement does is known. Where it is not, what it writes is not known from there on."""
        try:
            self.statement(s)
        except _FAILS:
            for v in _assigned((s,)):
                self.values.pop(v, None)
            for r in _stored((s,)):
                self.memory.pop(r, None)
            return False
        return True

    def takes(self, s: If) -> bool | None:
        """Whether a branch goes into its only arm; None where that is not known."""
        try:
            return bool(self.value(s.cond)) == bool(s.then)
        except _FAILS:
            return None

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign():
                self.values[s.var] = self.value(s.value)
            case Store():
                cells = self.cells(s.region)
                value = self.value(s.value)
                cells[self.place(s.region, s.index)] = value
            case If():
                for inner in s.then if self.value(s.cond) else s.other:
                    self.statement(inner)
            case Loop():
                self.loop(s)

    def loop(self, s: Loop) -> None:
        def block(b: Block) -> None:
            for inner in b:
                self.statement(inner)

        def flagged() -> bool:
            return any(self.variable(f) for f in s.flags)

        while not flagged():
            block(s.head)
            if not self.value(s.cond):
                break
            block(s.body)
            if flagged():
                break
            block(s.step)

    def value(self, e: Expr) -> Value:
        if id(e) not in self.conversions:
            self.conversions[id(e)] = e, [x for x in subexpressions(e) if _is_conversion(x)]
        for x in self.conversions[id(e)][1]:
            if not _FITS[0] <= evaluate(x.operand, self.leaf) <= _FITS[1]:
                raise _NotKnown  # C does not say what it is
        return evaluate(e, self.leaf)

    def leaf(self, x: Leaf) -> Value:
        self.left.operands -= 1
        if self.left.operands < 0:
            raise _NotKnown
        match x:
            case Const():
                return x.value
            case Var():
                return self.variable(x.var)
            case Load():
                value = self.cells(x.region)[self.place(x.region, x.index)]
                if value is not None:
                    return value
        raise _NotKnown

    def variable(self, v: Variable) -> Value:
        if v not in self.values:
            raise _NotKnown
        return self.values[v]

    def cells(self, r: Region) -> list[Value | None]:
        if r not in self.memory:
            raise _NotKnown
        return self.memory[r]

    def place(self, r: Region, index: Expr) -> int:
        k = int(self.value(index))
        if not 0 <= k < r.count:
            raise _NotKnown
        return k


_FITS = -(2.0**31), 2.0**31 - 1


def _is_conversion(e: Expr) -> TypeGuard[Cast]:
    return isinstance(e, Cast) and e.type.is_integer and e.operand.type.is_float


def _beginning(kernel: Kernel) -> Memory:
    """What is known of memory where a kernel begins: constants, and that nothing is in what is its own."""
    out: Memory = {}
    for r in kernel.regions:
        if r.storage == "shared" and r.init is not None:
            out[r] = [*r.init]
        elif r.storage != "shared" and r.count <= LARGEST:
            out[r] = [None] * r.count
    return out


def _initial(r: Region) -> list[Value | None]:
    return [*(r.init or [r.type.wrap(0)] * r.count)]


def _elements(r: Region, cells: Sequence[Value | None]) -> tuple[int | float, ...] | None:
    """A table's elements; None where nothing was stored in some: a call may bring these, and to read them is a fault
    that the trace is to see."""
    whole = [x for x in cells if x is not None]
    return tuple(map(r.type.wrap, whole)) if len(whole) == len(cells) else None


def _is_own(r: Region, private: frozenset[str]) -> bool:
    return r.storage == "local" or (r.storage == "bulk" and r.variable in private)


def _flags(cond: Expr) -> frozenset[Variable | Region]:
    """The variables, and arrays at constant subscripts, that alone decide a condition; none where others do."""
    out: set[Variable | Region] = set()
    for x in subexpressions(cond):
        if isinstance(x, Var):
            out.add(x.var)
        elif isinstance(x, Load):
            if not isinstance(x.index, Const):
                return frozenset()
            out.add(x.region)
    return frozenset(out)


def _arm(s: If) -> Block:
    return s.then or s.other


def _stored(block: Block) -> set[Region]:
    return {s.region for s in statements(block) if isinstance(s, Store)}


def _assigned(block: Block) -> set[Variable]:
    return {s.var for s in statements(block) if isinstance(s, Assign)}


def _nodes(block: Sequence[Stmt]) -> Iterator[Expr]:
    return (x for s in statements(tuple(block)) for e in expressions(s) for x in subexpressions(e))


def _loads(block: Block) -> Iterator[Load]:
    return (x for x in _nodes(block) if isinstance(x, Load))


def _loads_of(e: Expr) -> Iterator[Load]:
    return (x for x in subexpressions(e) if isinstance(x, Load))
