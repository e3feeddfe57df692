"""Two steps at once of a loop of Gaussian-elimination type: half the loads and stores.

    for k: for i: for j: D[i][j] = f(D[i][j], D[i][k], D[k][j])

becomes, with copies of row k as it is before step k and of row k + 1 as it is after it,

    for i: u = D[i][k], v = f(D[i][k + 1], u, row[k + 1]); for j: D[i][j] = f(f(D[i][j], u, row[j]), v, next[j])

That is exact where row k and column k keep their bits in step k (`gep.form`). `gep.semiring` says what shows that they
might not: where it shows in some lane, and for a last step that is alone, the loops of the C do one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...analysis.uniform import uniform
from ...base.ctype import INT, Scalar
from ...base.diagnostics import Loc
from ...gep import Gep, Place, Range
from ...gep.semiring import Proof, proof
from ...ir.canonical import CountedLoop, counted
from ...ir.nodes import (
    ALONE,
    SOME_LANE,
    ZERO,
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
    Store,
    Var,
    Variable,
)
from ...ir.walk import rewrite, statements, subexpressions
from .halves import halves

LEAST = 8  # rows: with fewer, loops are unrolled


def two_steps(kernel: Kernel, g: Gep) -> Kernel:
    """``kernel``, which is ``g`` and may have been unrolled inside, with two steps at once; as it is where that is not
    exact, or would need a look at all elements."""
    known = _proof(g)
    loops = [s for s in kernel.body if isinstance(s, Loop)]
    if known is None or len(loops) != 1 or not set(g.regions) <= set(kernel.regions):
        return kernel
    (loop,) = loops
    c = counted(loop)
    if c is None or c.by != 1 or c.limit != Const(g.k.high, INT) or c.counter.type != INT:
        return kernel
    if all(r.type.is_integer for r in g.regions) and halves(uniform(kernel)):
        return kernel  # where twice as many inputs go side by side, nobody could say what the vote finds
    steps = _Steps(kernel, g, known, c)
    body = tuple(replace(loop, body=steps.body(loop.body)) if s is loop else s for s in kernel.body)
    return replace(kernel, regions=(*kernel.regions, *steps.row.values(), *steps.next.values()), body=body)


def _proof(g: Gep) -> Proof | None:
    """What one step tests, if each step takes all elements, and f is not of the counters."""
    whole, places = Range(0, g.k.high), {p.variable for p in g.update.places}
    if g.scale or g.k.high < LEAST or (g.k, g.update.rows, g.update.columns) != (whole, whole, whole):
        return None
    read = {x.var for _, f in g.update.values for x in subexpressions(f) if isinstance(x, Var)}
    if not read <= places or any(p.where == "kk" for p in g.update.places):
        return None
    known = proof(g)
    return None if known is None or known.elements is not None else known


class _Steps:
    """``row``: of each matrix whose row k f reads, the copy of it, and ``next`` that of the next row."""

    def __init__(self, kernel: Kernel, g: Gep, known: Proof, c: CountedLoop):
        self.g, self.known, self.k, self.loc = g, known, c.counter, g.update.loc
        self.rows_loc = next((s.loc for s in c.loop.body if isinstance(s, Loop)), self.loc)
        self.strides, self.f = dict(g.strides), dict(g.update.values)
        self.uid = max(s.var.uid for s in statements(kernel.body) if isinstance(s, Assign))
        taken = {r.name for r in kernel.regions}
        self.column = self.read("ik")
        self.row = {r: self._copy(r, "row", taken) for r in self.read("kj")}
        self.next = {r: self._copy(r, "next", taken) for r in self.row}

    def read(self, where: str) -> list[Region]:
        """The matrices of which f reads such an element, and that of the diagonal that is tested."""
        tested = [self.known.region] if where == "kj" else []
        return list(dict.fromkeys([*(p.region for p in self.g.update.places if p.where == where), *tested]))

    def body(self, one: Block) -> Block:
        """A turn of the loop over k. ``one``: a step as the C has it."""
        alone = replace(self.variable("alone"), role=ALONE)
        k, last = Var(self.k), Const(self.g.k.high - 1, INT)
        test = self.test()
        vote = () if test is None else (Assign(alone, Call(SOME_LANE, (test,), INT), self.loc),)
        return (
            Assign(alone, Binary("==", k, last, INT), self.loc),
            If(_no(alone), (*self.copies(), *vote), loc=self.loc),
            If(_no(alone), (*self.both(), Assign(self.k, _plus(k, 1), self.loc)), one, loc=self.loc),
        )

    def copies(self) -> Block:
        """Row k, and row k + 1 as step k leaves it."""
        k, after = Var(self.k), _plus(Var(self.k), 1)
        u = {r: self.variable("u", r.type) for r in self.column}

        def first(j: Expr) -> Block:
            return tuple(Store(copy, j, self.element(r, k, j), self.loc) for r, copy in self.row.items())

        def second(j: Expr) -> Block:
            new = self.of(lambda r: self.element(r, after, j), u, self.row, j)
            return tuple(Store(copy, j, new(r), self.loc) for r, copy in self.next.items())

        return (
            *self.loop("j", first),
            *(Assign(v, self.element(r, after, k), self.loc) for r, v in u.items()),
            *self.loop("j", second),
        )

    def test(self) -> Expr | None:
        """Whether row k or column k may move in one of the two steps, by the element of the diagonal."""
        k, r = Var(self.k), self.known.region
        tests: list[Expr] = []
        for w in (Load(self.row[r], k), Load(self.next[r], _plus(k, 1))):
            if self.known.both is not None:  # x + 0 is x, and does not wrap
                tests.append(Binary("!=", w, Const(0, r.type), INT))
            elif self.known.diagonal is not None:
                tests.append(Binary(self.known.diagonal.op, w, self.known.diagonal.value, INT))
        return Binary("||", tests[0], tests[1], INT) if tests else None

    def both(self) -> Block:
        """Steps k and k + 1 of all rows."""
        k, after = Var(self.k), _plus(Var(self.k), 1)
        u, v = ({r: self.variable(name, r.type) for r in self.column} for name in "uv")
        x, y = ({r: self.variable(name, r.type) for r in self.f} for name in "xy")

        def row(i: Expr) -> Block:
            def element(j: Expr) -> Block:
                once = self.of(lambda r: self.element(r, i, j), u, self.row, j)
                twice = self.of(lambda r: Var(x[r]) if r in x else self.element(r, i, j), v, self.next, j)
                return (
                    *(Assign(x[r], once(r), self.loc) for r in x),
                    *(Assign(y[r], twice(r), self.loc) for r in y),
                    *(Store(r, self.at(r, i, j), Var(y[r]), self.loc) for r in y),
                )

            new = self.of(lambda r: self.element(r, i, after), u, self.row, after)
            return (
                *(Assign(u[r], self.element(r, i, k), self.loc) for r in u),
                *(Assign(v[r], new(r), self.loc) for r in v),
                *self.loop("j", element),
            )

        return self.loop("i", row, self.rows_loc)

    def of(
        self,
        old: Callable[[Region], Expr],
        column: Mapping[Region, Variable],
        row: Mapping[Region, Region],
        j: Expr,
    ) -> Callable[[Region], Expr]:
        """What a step makes of an element of each matrix: f, or the element as it is."""

        def value(place: Place) -> Expr:
            match place.where:
                case "ik":
                    return Var(column[place.region])
                case "kj":
                    return Load(row[place.region], j)
            return old(place.region)

        known = {p.variable: value(p) for p in self.g.update.places}

        def new(r: Region) -> Expr:
            if r not in self.f:
                return old(r)
            return rewrite(self.f[r], lambda e: known.get(e.var, e) if isinstance(e, Var) else e)

        return new

    def at(self, r: Region, i: Expr, j: Expr) -> Expr:
        return Binary("+", Binary("*", i, Const(self.strides[r], INT), INT), j, INT)

    def element(self, r: Region, i: Expr, j: Expr) -> Load:
        return Load(r, self.at(r, i, j), self.loc)

    def loop(self, name: str, body: Callable[[Expr], Block], loc: Loc | None = None) -> Block:
        counter = self.variable(name)
        j = Var(counter)
        cond, step = Binary("<", j, Const(self.g.k.high, INT), INT), Assign(counter, _plus(j, 1), self.loc)
        return Assign(counter, ZERO, self.loc), Loop(cond, body(j), (step,), loc=loc or self.loc)

    def variable(self, name: str, type_: Scalar = INT) -> Variable:
        self.uid += 1
        return Variable(name, type_, self.uid, role="temporary")

    def _copy(self, r: Region, what: str, taken: set[str]) -> Region:
        name = f"{r.name}_{what}"
        while name in taken:
            name += "_"
        taken.add(name)
        return Region(name, r.type, (self.g.k.high,), "local", loc=self.loc)


def _plus(e: Expr, n: int) -> Expr:
    return Binary("+", e, Const(n, INT), INT)


def _no(flag: Variable) -> Expr:
    return Binary("==", Var(flag), ZERO, INT)
