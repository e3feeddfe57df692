"""Find a loop of Gaussian-elimination type in a flat kernel, by executing its body on symbols."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from ..base.diagnostics import Loc
from ..ir.affine import Affine, affine
from ..ir.canonical import counted
from ..ir.nodes import Assign, Block, Const, Expr, If, Kernel, Load, Loop, Region, Stmt, Store, Var, Variable
from ..ir.walk import blocks, expressions, loads_in, rewrite, statements, subexpressions
from ..transform.minmax import minima
from .cell import Cell, NestShape, Refused, reads
from .fixed import moves
from .form import Gep, NotGep, Part, Place, Range

UNCOUNTED = "this loop does not count up by one to a number"


def recognise(kernel: Kernel) -> Gep | NotGep | None:
    """The kernel as a loop of Gaussian-elimination type; what keeps it from being one; None where it has no three loops
    in one another, or writes no matrix in them."""
    nest = next((s for s in kernel.body if isinstance(s, Loop) and _depth(s) >= 3), None)
    if nest is None:
        return None
    try:
        return _Recogniser(kernel, nest).gep()
    except Refused as e:
        return NotGep(e.message, e.loc, _is_near(nest))


def _is_near(nest: Loop) -> bool:
    """Whether an array is written at places that the outermost counter does not tell, and read at some that it does:
    as row k and column k are, and unlike a product of matrices or a smoothed image."""
    every = list(statements((nest,)))
    counters = {s.var for x in every if isinstance(x, Loop) for s in x.step if isinstance(s, Assign)}
    tells = {s.var for s in nest.step if isinstance(s, Assign)}

    def is_told(e: Expr) -> bool:
        return any(isinstance(x, Var) and x.var in tells for x in subexpressions(e))

    for s in every:
        if isinstance(s, Assign) and s.var not in counters and is_told(s.value):
            tells.add(s.var)
    updated = {s.region for s in every if isinstance(s, Store) and not is_told(s.index)}
    loads = (x for s in every for e in expressions(s) for x in loads_in(e))
    return any(x.region in updated and is_told(x.index) for x in loads)


def _depth(s: Stmt) -> int:
    return isinstance(s, Loop) + max((_depth(x) for b in blocks(s) for x in b), default=0)


@dataclass(frozen=True)
class _Bounded:
    """A counted loop of which both ends are known: ``for (counter = first; counter < high; counter++)``."""

    loop: Loop
    body: Block
    counter: Variable
    first: Affine
    high: int


class _Recogniser:
    def __init__(self, kernel: Kernel, nest: Loop):
        self.kernel, self.nest = kernel, nest
        self.scale: list[Part] = []
        self.late: dict[Variable, int] = {}  # place -> the level of the innermost loop that reads it
        self.early: dict[Variable, int] = {}  # the same of the outermost

    def gep(self) -> Gep:
        loads = ((s.var, s.value) for s in self.kernel.body if isinstance(s, Assign))
        inputs = (v for v, x in loads if isinstance(x, Load) and x.region.count == 1)
        start = Cell(None, inputs=frozenset(inputs))
        for s in self.kernel.body:
            if s is not self.nest and not isinstance(s, Assign):
                raise Refused("this stands outside of the three loops", s.loc)
        for s in self.kernel.body[: self.kernel.body.index(self.nest)]:
            assert isinstance(s, Assign)
            held = start.known(s.value)
            start.env[s.var] = held if isinstance(held, Const) else None
        k = self.counted(self.nest, start)
        if k.first.terms or k.first.constant < 0:
            raise Refused(f"'{k.counter.name}' does not start at a number", k.loop.loc)
        self.k = Range(k.first.constant, k.high)
        outer, inner = self.inner_counters(k)
        self.shape = _shape(k, outer, inner, _copies(self.kernel.body))
        cell = Cell(self.shape, dict(start.env), inputs=start.inputs)
        cell.env[k.counter] = Var(k.counter)
        update = self.step(k.body, cell)
        return self.checked(self.whole(update))

    # loops

    def counted(self, loop: Loop, cell: Cell) -> _Bounded:
        """A loop that counts up by one to a number. In ``cell`` it forgets what the loop changes."""
        if loop.flags or loop.head:
            raise Refused("this loop may be left early", loop.loc)
        c = counted(loop)
        if c is None or c.limit is None or c.by != 1 or c.op not in ("<", "<=", "!="):
            raise Refused(_uncounted(loop), loop.loc)
        first = cell.env.get(c.counter)
        begin = affine(first) if first is not None else None
        if begin is None:
            raise Refused(f"where '{c.counter.name}' starts is no number", loop.loc)
        cell.forget(loop)
        bound = affine(cell.known(c.limit))
        if bound is None or bound.terms:
            raise Refused(_no_number(c.counter, c.limit, cell), loop.loc)
        return _Bounded(loop, loop.body, c.counter, begin, bound.constant + (c.op == "<="))

    def inner_counters(self, k: _Bounded) -> tuple[Variable, Variable]:
        """The counters of the two loops inside, the outer one first."""
        outer = next(s for s in _loops(k.body) if _depth(s) >= 2)
        inner = next(s for s in _loops(outer.body))
        if _depth(inner) > 1:
            fourth = next(s for s in _loops(inner.body))
            raise Refused("this loop is one too many: expected three in one another", fourth.loc)
        counters: list[Variable] = []
        for loop in (outer, inner):
            c = counted(loop)
            if c is None:
                raise Refused(_uncounted(loop), loop.loc)
            counters.append(c.counter)
        return counters[0], counters[1]

    def range(self, c: _Bounded) -> Range:
        k = self.shape.k
        if set(c.first.terms) - {k} or c.first.of(k) not in (0, 1):
            raise Refused(f"'{c.counter.name}' starts at neither a number nor '{k.name}' + a number", c.loop.loc)
        span = Range(c.first.constant, c.high, bool(c.first.terms))
        if span.start(self.k.low) < 0:
            raise Refused(f"'{c.counter.name}' starts below 0", c.loop.loc)
        return span

    # one step of k

    def step(self, body: Block, cell: Cell) -> Part:
        update: Part | None = None
        for s in body:
            if update is not None and not isinstance(s, Assign):
                raise Refused("this follows the loops over rows and columns", s.loc)
            if isinstance(s, Loop) and _depth(s) >= 2:
                update = self.rows_and_columns(s, cell)
            elif isinstance(s, Loop):
                self.one_line(s, cell)
            elif any(isinstance(x, (Loop, Store)) for x in statements((s,))):
                raise Refused("this stands outside of the loops over rows and columns", s.loc)
            else:
                cell.run((s,), 0)
        assert update is not None
        return update

    def one_line(self, loop: Loop, cell: Cell) -> None:
        """A loop over a part of row k or column k."""
        c = self.counted(loop, cell)
        inside = replace(cell, env=dict(cell.env), stores={}, counter=c.counter)
        inside.env[c.counter] = Var(c.counter)
        inside.run(c.body, 1)
        wheres = {where for _, where in inside.stores}
        if len(wheres) != 1 or not wheres <= {"ik", "kj"}:
            k = self.shape.k.name
            raise Refused(f"this loop writes neither a part of row '{k}' nor one of column '{k}'", loop.loc)
        part = self.part(wheres.pop(), inside, self.range(c), loop.loc)
        self.scaled(part, cell)

    def scaled(self, part: Part, cell: Cell) -> None:
        """A part has written row k or column k: what was read of it before is of another time."""
        span = part.columns if part.where == "kj" else part.rows
        for p in part.places:
            if p.where == "kk" and span.has_k() and self.late.get(p.variable, 0) and _writes(part, p.region):
                element = self.shape.element(p.region, "kk")
                raise Refused(f"{element} is read while it may change: read it before the loop", part.loc)
        self.scale.append(part)
        for r, _ in part.values:
            cell.age(r, part.where)
            if span.has_k():
                cell.age(r, "kk")
                cell.age(r, "ik" if part.where == "kj" else "kj")

    def rows_and_columns(self, loop: Loop, cell: Cell) -> Part:
        outer = self.counted(loop, cell)
        cell.env[outer.counter] = Var(outer.counter)
        return self.outer(outer.body, outer, cell, ())

    def outer(self, body: Block, outer: _Bounded, cell: Cell, guards: tuple[Expr, ...]) -> Part:
        """The body of the outer of the two loops. ``guards``: conditions under which it runs."""
        update: Part | None = None
        for s in body:
            if update is not None and not isinstance(s, Assign):
                raise Refused("this follows the inner loop", s.loc)
            match s:
                case Loop():
                    update = self.inner(s, outer, cell, guards)
                case If() if any(isinstance(x, Loop) for x in statements((s,))):
                    yes = any(isinstance(x, Loop) for x in statements(s.then))
                    arm, other = (s.then, s.other) if yes else (s.other, s.then)
                    if any(not isinstance(x, Assign) for x in statements(other)):
                        raise Refused("this is done instead of the inner loop", s.loc)
                    cond = cell.truth(s.cond, 1, not yes)
                    update = self.outer(arm, outer, cell, (*guards, cond))
                case _:
                    cell.run((s,), 1)
                    self.stored_before(outer, cell, guards, s.loc)
        if update is None:
            raise Refused("there is no loop over rows and columns", outer.loop.loc)
        return update

    def stored_before(self, outer: _Bounded, cell: Cell, guards: tuple[Expr, ...], loc: Loc) -> None:
        """Stores before the inner loop: of column k, a row at a time, or of row k, a column at a time."""
        if not cell.stores:
            return
        where = "ik" if outer.counter == self.shape.row else "kj"
        span = self.range(outer)
        if {w for _, w in cell.stores} != {where} or span.has_k():
            line, k = ("column", self.shape.k.name) if where == "ik" else ("row", self.shape.k.name)
            first = f"'{outer.counter.name}' starts after '{k}'"
            raise Refused(f"only {line} '{k}' may be written before the inner loop, and only where {first}", loc)
        cell.under(guards)
        part = self.part(where, cell, span, loc)
        self.scaled(part, cell)
        cell.stores.clear()
        for r, value in part.values:
            cell.reload(value, r, where, 1)

    def inner(self, loop: Loop, outer: _Bounded, cell: Cell, guards: tuple[Expr, ...]) -> Part:
        c = self.counted(loop, cell)
        cell.env[c.counter] = Var(c.counter)
        cell.run(c.body, 2)
        if not cell.stores:
            raise Refused("the inner loop writes no matrix", loop.loc)
        wrong = next((key for key in cell.stores if key[1] != "ij"), None)
        if wrong is not None:
            raise Refused(f"the inner loop also writes {self.shape.element(*wrong)}", loop.loc)
        cell.under(guards)
        by = {outer.counter: self.range(outer), c.counter: self.range(c)}
        return self.built("ij", cell, by[self.shape.row], by[self.shape.column], loop.loc)

    # parts

    def part(self, where: str, cell: Cell, span: Range, loc: Loc) -> Part:
        k = Range(0, 1, True)
        part = self.built(where, cell, *((k, span) if where == "kj" else (span, k)), loc)
        other = next((p for p in part.places if p.where not in (where, "kk")), None)
        if other is not None:
            line = self.shape.element(other.region, where)
            raise Refused(f"it computes {line} from {self.shape.element(other.region, other.where)}", loc)
        return part

    def built(self, where: str, cell: Cell, rows: Range, columns: Range, loc: Loc) -> Part:
        values = tuple((r, minima(v)) for (r, _), v in cell.stores.items())
        for v, level in cell.late.items():
            self.late[v] = max(level, self.late.get(v, 0))
        for v, level in cell.early.items():
            self.early[v] = min(level, self.early.get(v, 2))
        places: dict[Variable, Place] = {}
        for _, value in values:
            for v in reads(value):
                p = cell.places.get(v)
                if v == cell.counter:
                    raise Refused(f"'{v.name}' is computed with, in a loop over one row or column", loc)
                if p is None and v not in (self.shape.k, self.shape.row, self.shape.column):
                    raise Refused(cell.unknown(v), loc)
                if p is not None:
                    if not cell.current(v):
                        element = self.shape.element(p.region, p.where)
                        raise Refused(f"{element} is used as it was before this step wrote it: read it anew", loc)
                    places[v] = p
        return Part(where, values, tuple(places.values()), rows, columns, loc)

    def whole(self, update: Part) -> Gep:
        named = {r for p in (*self.scale, update) for r in (*dict(p.values), *(x.region for x in p.places))}
        strides = tuple((r, self.shape.strides[r]) for r in self.kernel.regions if r in named)
        counters = (self.shape.k, self.shape.row, self.shape.column)
        gep = Gep(self.k, counters, strides, tuple(self.scale), update, True, True, self.nest.loc)
        row, column = moves(gep, self.shape.rows_outside, self.late)
        places = [p.variable for p in update.places if p.where != "ij"]
        levels = tuple((v, self.late[v] if self.late[v] == self.early[v] else -1) for v in places)
        outside = self.shape.rows_outside
        return replace(gep, row_moves=row, column_moves=column, rows_outside=outside, levels=levels)

    def checked(self, g: Gep) -> Gep:
        for r, stride in g.strides:
            if g.columns > stride or (g.rows - 1) * stride + g.columns > r.count:
                raise Refused(f"'{r.name}' is not of {g.rows} rows and {g.columns} columns, as the loops are", r.loc)
        return g


def _uncounted(loop: Loop) -> str:
    """Why a loop is not counted."""
    stepped = [s.var for s in loop.step if isinstance(s, Assign)]
    twice = next((s.var for s in statements(loop.body) if isinstance(s, Assign) and s.var in stepped), None)
    return f"'{twice.name}' is changed in its own loop" if twice is not None else UNCOUNTED


def _loops(block: Block) -> list[Loop]:
    return [s for s in statements(block) if isinstance(s, Loop)]


def _no_number(c: Variable, end: Expr, cell: Cell) -> str:
    """What is wrong with a loop's end."""
    name = next((v.name for v in reads(end) if v in cell.inputs), None)
    if name is not None:
        return f"where '{c.name}' ends is '{name}', which is known only when the program runs"
    return f"where '{c.name}' ends is no number: it depends on data or on another counter"


def _writes(part: Part, r: Region) -> bool:
    return r in dict(part.values)


def _shape(k: _Bounded, outer: Variable, inner: Variable, copies: dict[Variable, Expr]) -> NestShape:
    """Which of the counters is a row's, and how long rows are: both show in any subscript with two counters."""
    strides: dict[Region, int] = {}
    rows: Counter[Variable] = Counter()  # what stores and subscripts with k tell, which may not agree
    written = False
    for s in statements(k.body):
        if not isinstance(s, (Assign, Store, If)):
            continue
        accessed = [(x.region, x.index, False) for e in expressions(s) for x in loads_in(e)]
        if isinstance(s, Store):
            accessed.append((s.region, s.index, True))
        for region, index, stored in accessed:
            a = affine(rewrite(index, lambda x: copies.get(x.var, x) if isinstance(x, Var) else x))
            if a is None or len(a.terms) != 2 or min(a.terms.values()) != 1:
                continue
            (column, _), (row, stride) = sorted(a.terms.items(), key=lambda t: t[1])
            if stride > 1:
                strides.setdefault(region, stride)
            if stored and {row, column} == {outer, inner}:
                written = True
                rows[row] += 1
            elif row == k.counter and column in (outer, inner):
                rows[outer if column == inner else inner] += 1
            elif column == k.counter and row in (outer, inner):
                rows[row] += 1
    if not written:
        where = f"'{outer.name}' and '{inner.name}'"
        raise Refused(
            f"no matrix is written at {where}: the two inner loops are to go over rows and columns", k.loop.loc
        )
    row = rows.most_common(1)[0][0]
    return NestShape(k.counter, row, inner if row == outer else outer, strides, row == outer)


def _copies(block: Block) -> dict[Variable, Expr]:
    """What variables that are set once hold, where that may be part of a subscript."""
    count = Counter(s.var for s in statements(block) if isinstance(s, Assign))
    copies: dict[Variable, Expr] = {}
    for s in statements(block):
        if isinstance(s, Assign) and count[s.var] == 1 and affine(s.value) is not None:
            copies[s.var] = rewrite(s.value, lambda x: copies.get(x.var, x) if isinstance(x, Var) else x)
    return copies
