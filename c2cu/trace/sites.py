"""What the tracer watches: every access of the flat kernel, the loops around it, and the variables worth watching."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..analysis.uniform import Uniform
from ..base.diagnostics import Loc
from ..ir.nodes import Assign, Binary, Block, Const, Expr, If, Load, Loop, Region, Select, Stmt, Store, Var, Variable
from ..ir.walk import blocks, expressions, statements, subexpressions, touched, used

Place = Region | Variable


@dataclass(frozen=True)
class Site:
    """An access in the text. ``loops``: numbers of the loops around it, outermost first. ``conditional``: how many
    branches on data, and early ends, stand before it. ``extent``: how many elements its index may name; ``row``: of one
    dimension."""

    place: Place
    store: bool
    loc: Loc
    loops: tuple[int, ...]
    conditional: int
    extent: int = 1
    row: bool = False


@dataclass(frozen=True)
class Nest:
    """A loop by its number in textual order. ``counters``: uniform integers that its condition tests. ``private``:
    local regions that nothing outside it touches. ``assigned``: the variables that vary and that it assigns; ``live``:
    those of them that something outside it reads."""

    loop: Loop
    number: int
    around: tuple[int, ...]
    counters: tuple[Variable, ...]
    private: frozenset[Region]
    assigned: frozenset[Variable]
    live: tuple[Variable, ...]

    def owns(self, place: Place) -> bool:
        """Whether each turn may have a copy of its own: nobody outside sees what is stored to it."""
        return place in self.assigned if isinstance(place, Variable) else place in self.private


def arms(e: Expr) -> tuple[tuple[Expr, bool, Expr], ...]:
    """Of ``?:``, ``&&`` and ``||``: (condition, the truth of it that C wants, operand) of each operand that C evaluates
    only sometimes."""
    match e:
        case Select(cond=c, yes=a, no=b):
            return (c, True, a), (c, False, b)
        case Binary(op="&&" | "||", left=c, right=b):
            return ((c, e.op == "&&", b),)
    return ()


def uniform_arms(u: Uniform, e: Expr) -> tuple[tuple[Expr, bool, Expr], ...]:
    """`arms` that are evaluated or not, whatever the data."""
    return tuple(x for x in arms(e) if not u.is_varying(x[0]) and not isinstance(x[2], Const))


def nests(u: Uniform) -> dict[int, Nest]:
    """The loops of a kernel by the id of their node."""
    out: dict[int, Nest] = {}
    uses, touches = used(u.kernel.body), touched(u.kernel.body)

    def visit(block: Block, around: tuple[int, ...]) -> None:
        for s in block:
            inner = around
            if isinstance(s, Loop):
                private = frozenset(r for r, n in touched((s,)).items() if r.storage == "local" and touches[r] == n)
                inside = used((s,))
                assigned = [v for v in _assigned((s,)) if v in u.varying]
                live = tuple(v for v in assigned if uses[v] > inside[v])
                out[id(s)] = Nest(s, len(out), around, _counters(s, u), private, frozenset(assigned), live)
                inner = (*around, out[id(s)].number)
            for b in blocks(s):
                visit(b, inner)

    visit(u.kernel.body, ())
    return out


def _assigned(block: Iterable[Stmt]) -> dict[Variable, None]:
    return {s.var: None for s in statements(tuple(block)) if isinstance(s, Assign)}


def _counters(s: Loop, u: Uniform) -> tuple[Variable, ...]:
    stepped = _assigned((s,))
    tested = [x.var for x in subexpressions(s.cond) if isinstance(x, Var)]
    return tuple(v for v in dict.fromkeys(tested) if v in stepped and v.type.is_integer and v not in u.varying)


def carried(u: Uniform) -> frozenset[Variable]:
    """Varying variables that may be read before they are assigned in the same turn of the innermost loop: the others
    carry nothing from turn to turn."""
    return frozenset(v for v in _read_early(u, fresh=True) if v in u.varying)


def doubtful(u: Uniform) -> frozenset[Variable]:
    """Variables that some path of the text reads before it assigns them."""
    return frozenset(_read_early(u, fresh=False))


def _read_early(u: Uniform, fresh: bool) -> set[Variable]:
    walk = _Assigned(fresh)
    walk.block(u.kernel.body)
    return walk.places


@dataclass
class _Assigned:
    """A walk that has in ``known`` what is certainly assigned, and collects in ``places`` what is read where it is not.
    ``fresh``: what was assigned before a turn of a loop does not count. What a function returns is new in ``known``."""

    fresh: bool
    known: set[Variable] = field(default_factory=set)
    places: set[Variable] = field(default_factory=set)

    def block(self, block: Block) -> list[Variable]:
        return [v for s in block for v in self.statement(s)]

    def statement(self, s: Stmt) -> list[Variable]:
        if isinstance(s, Loop):
            return self.loop(s)
        for e in expressions(s):
            self.read(e)
        match s:
            case Assign(var=v):
                return self.add([v])
            case If():
                then, other = self.forgotten(s.then), set(self.forgotten(s.other))
                return self.add([v for v in then if v in other])
        return []

    def read(self, e: Expr) -> None:
        self.places.update(x.var for x in subexpressions(e) if isinstance(x, Var) and x.var not in self.known)

    def loop(self, s: Loop) -> list[Variable]:
        """The head is certain to run; the rest is not."""
        before = self.known
        if self.fresh:
            self.known = set()
        head = self.block(s.head)
        self.read(s.cond)
        self.forgotten((*s.body, *s.step))
        self.known = before
        return self.add(head) if self.fresh else head

    def forgotten(self, block: Block) -> list[Variable]:
        """A block that is not certain to run."""
        new = self.block(block)
        self.known.difference_update(new)
        return new

    def add(self, variables: list[Variable]) -> list[Variable]:
        new = [v for v in dict.fromkeys(variables) if v not in self.known]
        self.known.update(new)
        return new


def data_ends(u: Uniform, s: Loop) -> bool:
    """Whether the turns of a loop depend on data: the program is not oblivious."""
    return u.is_varying(s.cond) or any(f in u.varying for f in s.flags)


def passed_over(u: Uniform) -> frozenset[Place]:
    """What the tracer may miss a store to: it knows neither the subscripts nor the turns that data decides on."""
    places: set[Place] = set()
    for s in statements(u.kernel.body):
        if isinstance(s, Store) and u.is_varying(s.index):
            places.add(s.region)
        if isinstance(s, Loop) and data_ends(u, s):
            places |= changed(s)
    return frozenset(places)


def changed(s: Stmt) -> set[Place]:
    """What a statement, and those inside it, assign or store to."""
    inside = [x for x in statements((s,)) if isinstance(x, (Assign, Store))]
    return {x.var if isinstance(x, Assign) else x.region for x in inside}


def needed(u: Uniform) -> frozenset[Place]:
    """The uniform variables and regions on which addresses and control depend."""
    want: set[Place] = set()

    def add(e: Expr) -> None:
        if u.is_varying(e):
            return
        for x in subexpressions(e):
            if isinstance(x, (Var, Load)):
                want.add(x.var if isinstance(x, Var) else x.region)

    def rows(x: Load | Store) -> None:
        for k in (x.index, *(k for k, _ in x.rows)):
            add(k)

    every = list(statements(u.kernel.body))
    for s in every:
        for x in (x for e in expressions(s) for x in subexpressions(e)):
            if isinstance(x, Load):
                rows(x)
            for cond, _, _ in uniform_arms(u, x):
                add(cond)
        match s:
            case Store():
                rows(s)
            case If(cond=c):
                add(c)
            case Loop(cond=c, flags=flags):
                add(c)
                want.update(flags)
    while True:
        before = len(want)
        for s in every:
            match s:
                case Assign(var=v, value=e) if v in want:
                    add(e)
                case Store(region=r, value=e) if r in want:
                    add(e)
        if len(want) == before:
            return frozenset(want)
