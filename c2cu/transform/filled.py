"""Tables that a kernel fills with the same numbers whatever the data become constants.

C that people have fills its tables when it runs: at each call, or under a flag of its own, ``if (!ready) { fill();
ready = 1; }``, at times one of the table's elements. In a kernel that is called for one input after another the first
call would pay for the others; here each input begins as the C says, so each would fill the table again, and read from
what it has written. So what fills a table is executed once, here, and what it computes is the table.

`under_a_flag` finds branches, anywhere in the kernel, that a flag keeps from being taken twice; `at_each_call` finds
statements of the kernel's own block that fill what data is looked up in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeGuard

from ..analysis.uniform import Uniform
from ..ir.evaluate import Leaf, Value, evaluate
from ..ir.nodes import Assign, Block, Cast, Const, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from ..ir.walk import blocks, expressions, rewritten, statements, subexpressions, unless_same

LEAST = 8  # elements of a table that is filled at each call; shorter ones are as good in registers
LONGEST = 400_000  # operands that are evaluated for one kernel, which takes below a second

LARGEST = 1 << 16  # elements of a table

Memory = dict[Region, list[Value | None]]


def filled(u: Uniform, private: frozenset[str]) -> Kernel:
    """The analysed kernel, in which such tables are regions of constants. ``private``: the bulk variables, by name,
    that nothing outside the kernel names and no call brings. `Kernel.begun` names those of them that are gone."""
    kernel, left = u.kernel, _Budget(LONGEST)
    for find in (under_a_flag, at_each_call):
        while fill := find(kernel, u, private, left):
            kernel = _without(kernel, fill)
    return kernel


@dataclass(frozen=True)
class Fill:
    """``tables``: what is in them in the end; ``statements``: those that fill them, by identity, and that nothing else
    needs; ``begun``: private variables that begin as the C says."""

    tables: Mapping[Region, tuple[int | float, ...]]
    statements: frozenset[int]
    begun: frozenset[str] = frozenset()


def _without(kernel: Kernel, fill: Fill) -> Kernel:
    """The kernel with constants in place of tables that are filled."""
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
    read = {x.region for x in _loads(body)}
    gone = {r for r in kernel.regions if r.variable in fill.begun or r in constant}
    regions = (constant.get(r, r) for r in kernel.regions if r not in gone or constant.get(r) in read)
    return replace(kernel, regions=tuple(regions), body=body, begun=(*kernel.begun, *sorted(fill.begun)))


def at_each_call(kernel: Kernel, u: Uniform, private: frozenset[str], left: _Budget) -> Fill | None:
    """Tables with varying subscripts, all of whose stores are in statements of the kernel's own block that no input
    decides, before others read them."""
    looked_up = {
        x.region
        for x in _loads(kernel.body)
        if x.region.count >= LEAST and _is_own(x.region, private) and u.is_varying(x.index)
    }
    tables = looked_up & {r for s in kernel.body if isinstance(s, Loop) for r in _stored((s,))}
    if not tables:
        return None
    machine, known = _Machine({}, _beginning(kernel), left), set[int]()
    for s in kernel.body:
        if machine.execute(s):
            known.add(id(s))
    filling = {id(s) for s in kernel.body if id(s) in known and not _stored((s,)).isdisjoint(tables)}
    while True:  # what does something else too, or what is not all that fills a table, stays, and then the table does
        used = _Uses(kernel, filling)
        kept = {
            id(s)
            for s in kernel.body
            if id(s) in filling and not (_stored((s,)) <= tables and used.nothing_of(_assigned((s,))))
        }
        wrong = {r for r in tables if r in used.stored or not used.filled_before_read(r) or r not in machine.memory}
        if not kept and not wrong:
            break
        tables -= wrong | {r for s in kernel.body if id(s) in kept for r in _stored((s,))}
        filling = {id(s) for s in kernel.body if id(s) in filling - kept and not _stored((s,)).isdisjoint(tables)}
    values = {r: _elements(r, machine.memory[r]) for r in tables}
    whole = {r: v for r, v in values.items() if v is not None}
    return Fill(whole, frozenset(filling)) if tables and len(whole) == len(tables) else None


def under_a_flag(kernel: Kernel, u: Uniform, private: frozenset[str], left: _Budget) -> Fill | None:
    """Tables that are filled in the one arm of branches that only what these arms write decides: they are taken when a
    branch is first come to, and never again."""
    groups: dict[frozenset[Variable | Region], list[If]] = defaultdict(list)
    for s in statements(kernel.body):
        if isinstance(s, If) and bool(s.then) != bool(s.other) and (flags := _flags(s.cond)):
            groups[flags].append(s)
    for flags, members in groups.items():
        arms = {r for s in members for r in _stored(_arm(s))}
        written = arms | {v for s in members for v in _assigned(_arm(s))}
        if flags <= written and any(_is_own(r, private) for r in arms):
            fill = _Once(kernel, private, left, flags, members).fill()
            if fill is not None:
                return fill
    return None


class _Once:
    """One group of such branches."""

    def __init__(
        self, kernel: Kernel, private: frozenset[str], left: _Budget, flags: Set[Variable | Region], members: list[If]
    ):
        self.kernel, self.private, self.left = kernel, private, left
        self.flags, self.members = flags, members
        self.tables = {r for s in members for r in _stored(_arm(s))}
        self.inside = frozenset(map(id, members))
        self.first = next(k for k, s in enumerate(kernel.body) if any(id(x) in self.inside for x in statements((s,))))
        self.before = [s for s in kernel.body[: self.first] if not _stored((s,)).isdisjoint(self.tables)]
        self.used = _Uses(kernel, self.inside.union(map(id, self.before)))
        self.cells: dict[Variable, Region] = {}  # flags that live in private variables
        self.leaving: Counter[Variable] = Counter()  # how often these are stored there in the end

    def fill(self) -> Fill | None:
        tables, variables = self.tables, {v for s in self.members for v in _assigned(_arm(s))}
        if not all(_is_own(r, self.private) for r in tables) or not all(map(self.does_nothing_else, self.before)):
            return None
        start = self.start()
        if start is None or not all(self.used.reads[v] == self.leaving[v] for v in variables):
            return None
        if any(r in self.used.stored_after(self.first) for r in tables) or not all(map(self.is_filled_first, tables)):
            return None
        end, *others = (self.end(s, *start) for s in self.members)
        if end is None or any(other != end for other in others):
            return None
        cells = {*tables, *self.cells.values()}
        begun = {r.variable for r in cells if r.storage == "bulk"}
        if any(r.variable in begun and r not in cells for r in self.kernel.regions):
            return None
        own = (s for s in self.kernel.body if self.leaves(s) or (isinstance(s, Assign) and s.var in self.flags))
        return Fill(end, self.inside | {id(s) for s in (*self.before, *own)}, frozenset(begun))

    def does_nothing_else(self, s: Stmt) -> bool:
        """Whether a statement only stores in the tables, and loads from none of them."""
        loads = {x.region for x in _loads((s,))}
        return _stored((s,)) <= self.tables and loads.isdisjoint(self.tables) and self.used.nothing_of(_assigned((s,)))

    def start(self) -> tuple[dict[Variable, Value], Memory] | None:
        """What variables and tables hold before any of the branches, and until then; None where it is not known of all
        flags and tables."""
        memory = _beginning(self.kernel)
        memory.update((r, _initial(r)) for r in self.tables if r.storage == "bulk")
        machine, before = _Machine({}, memory, self.left), self.kernel.body[: self.first]
        known, own = {id(s) for s in before if machine.execute(s)}, {id(s) for s in before}
        values: dict[Variable, Value] = {}
        for v, assigned in self.used.assigned.items():
            if len(assigned) != 1 or id(s := assigned[0]) not in own:
                continue
            if v in self.flags and isinstance(s.value, Load) and self.is_of_its_own(s.value.region, v):
                self.cells[v] = s.value.region
                values[v] = _initial(s.value.region)[0]
            elif id(s) in known and v in machine.values:
                values[v] = machine.values[v]
        self.leaving = Counter(v for s in self.kernel.body if (v := self.leaves(s)))
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

    def end(self, s: If, values: dict[Variable, Value], memory: Memory) -> dict[Region, tuple[int | float, ...]] | None:
        """What a branch leaves in the tables; None where it is not certain to be taken once."""
        machine = _Machine(dict(values), {**_beginning(self.kernel), **{r: [*m] for r, m in memory.items()}}, self.left)
        taken = machine.truth(s.cond)
        if taken is not bool(s.then) or not machine.execute_all(_arm(s)) or machine.truth(s.cond) is not bool(s.other):
            return None
        out = {r: _elements(r, machine.memory[r]) for r in self.tables}
        whole = {r: v for r, v in out.items() if v is not None}
        return whole if len(whole) == len(out) else None

    def is_filled_first(self, r: Region) -> bool:
        """Whether all loads of a table come after one of the branches, on every path."""
        return self.filled(self.kernel.body, r, False) is not None

    def filled(self, block: Block, r: Region, already: bool) -> bool | None:
        """Whether a table is filled after a block; None where it is read before."""
        for s in block:
            if id(s) in self.inside:
                already = True
                continue
            if not already and any(x.region == r for e in expressions(s) for x in _loads_of(e)):
                return None
            if isinstance(s, If):
                arms = [self.filled(b, r, already) for b in (s.then, s.other)]
                if None in arms:
                    return None
                already = all(arms)
            elif isinstance(s, Loop):
                head = self.filled(s.head, r, already)
                if head is None or (not head and any(x.region == r for x in _loads_of(s.cond))):
                    return None
                body = self.filled(s.body, r, head)
                if body is None or self.filled(s.step, r, body) is None:
                    return None
        return already


class _Uses:
    """What a kernel's statements do, but for some of them and what is inside of those."""

    def __init__(self, kernel: Kernel, but: Set[int]):
        self.kernel, self.but = kernel, but
        self.reads: dict[Variable, int] = defaultdict(int)
        self.stored: set[Region] = set()
        self.assigned: dict[Variable, list[Assign]] = defaultdict(list)
        for s in self.others(kernel.body):
            if isinstance(s, Store):
                self.stored.add(s.region)
            elif isinstance(s, Assign):
                self.assigned[s.var].append(s)
            elif isinstance(s, Loop):
                for f in s.flags:
                    self.reads[f] += 1
            for e in expressions(s):
                for x in subexpressions(e):
                    if isinstance(x, Var):
                        self.reads[x.var] += 1

    def others(self, block: Block) -> Iterator[Stmt]:
        for s in block:
            if id(s) not in self.but:
                yield s
                for b in blocks(s):
                    yield from self.others(b)

    def nothing_of(self, variables: Set[Variable]) -> bool:
        """Whether these have no other use."""
        return not any(self.reads[v] for v in variables)

    def stored_after(self, first: int) -> set[Region]:
        return {s.region for s in self.others(self.kernel.body[first:]) if isinstance(s, Store)}

    def filled_before_read(self, r: Region) -> bool:
        """Whether no statement but these reads a table before the last of them that stores in it."""
        read = False
        for s in self.kernel.body:
            if id(s) in self.but:
                if read and r in _stored((s,)):
                    return False
            elif any(x.region == r for x in _loads((s,))):
                read = True
        return True


class _NotKnown(Exception):
    """A value is not known here, or there is none."""


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
        except (_NotKnown, ArithmeticError, ValueError):
            for v in _assigned((s,)):
                self.values.pop(v, None)
            for r in _stored((s,)):
                self.memory.pop(r, None)
            return False
        return True

    def execute_all(self, block: Block) -> bool:
        return all(map(self.execute, block))

    def truth(self, cond: Expr) -> bool | None:
        try:
            return bool(self.value(cond))
        except (_NotKnown, ArithmeticError, ValueError):
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
            if not _FITS[0] <= self.value(x.operand) <= _FITS[1]:
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
    """A table's elements. What a local one holds where nothing was stored is never read; another's may be given."""
    if r.storage != "local" and None in cells:
        return None
    return tuple(r.type.wrap(0 if x is None else x) for x in cells)


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


def _loads(block: Block) -> Iterator[Load]:
    return (x for s in statements(block) for e in expressions(s) for x in _loads_of(e))


def _loads_of(e: Expr) -> Iterator[Load]:
    return (x for x in subexpressions(e) if isinstance(x, Load))
