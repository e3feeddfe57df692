"""The body of a step, executed on symbols: an expression for what is stored, in terms of the elements it reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ..analysis.effects import fold_known
from ..base.ctype import BOOL, INT, Scalar
from ..base.diagnostics import Loc
from ..ir.affine import Affine, affine
from ..ir.fold import binary, is_safe, unary
from ..ir.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Const,
    Expr,
    Extremum,
    If,
    Load,
    Loop,
    Region,
    Select,
    Store,
    Unary,
    Var,
    Variable,
)
from ..ir.walk import rewrite, statements, subexpressions
from .form import Place, element

LARGEST = 300  # nodes of an expression


class Refused(Exception):
    """The program is not of the type, as this place shows."""

    def __init__(self, message: str, loc: Loc):
        super().__init__(message)
        self.message, self.loc = message, loc


@dataclass(frozen=True)
class NestShape:
    """The counters of k, rows and columns; the elements from row to row of each matrix; which loop is outside."""

    k: Variable
    row: Variable
    column: Variable
    strides: dict[Region, int]
    rows_outside: bool

    def where(self, a: Affine, region: Region) -> str:
        """Which element a subscript names: "ij", "ik", "kj", "kk"; "" for another one."""
        stride = self.strides.get(region, 0)
        if not stride:
            return ""
        k, i, j = (Affine(0, {v: 1}) for v in (self.k, self.row, self.column))
        named = {"ij": (i, j), "ik": (i, k), "kj": (k, j), "kk": (k, k)}
        return next((w for w, subscripts in named.items() if subscripts == a.divided(stride)), "")

    def element(self, region: Region, where: str) -> str:
        """An element as C has it."""
        return element(region, where, (self.k, self.row, self.column))

    def spelled(self, a: Affine, region: Region) -> str:
        """A subscript as C has it, as well as can be told."""
        stride = self.strides.get(region, 0)
        if not stride:
            return f"{region.name}[{_sum(a)}]"
        row, column = a.divided(stride)
        return f"{region.name}[{_sum(row)}][{_sum(column)}]"


def _sum(a: Affine) -> str:
    text = " + ".join(v.name if c == 1 else f"{c} * {v.name}" for v, c in a.terms.items())
    if not text:
        return str(a.constant)
    return f"{text} {'-' if a.constant < 0 else '+'} {abs(a.constant)}" if a.constant else text


@dataclass
class Cell:
    """``env``: what variables hold, None for what is not known. ``stores``: new values by region and place.
    ``places``: what variables stand for elements, with ``ages`` to tell reads before and after a store apart.
    ``late``: the level of the innermost loop that reads a place: 0 in k's, 1 in the next, 2 in the innermost;
    ``early``: that of the outermost, -1 where one reads it after its matrix has been written.
    ``maybe_read``: stores that a read of row k or column k may return, as it may be of the same element.
    ``counter``: of a loop over one line alone, which stands for the counter of rows or of columns. ``inputs``: scalars
    that come from outside."""

    shape: NestShape | None
    env: dict[Variable, Expr | None] = field(default_factory=dict)
    stores: dict[tuple[Region, str], Expr] = field(default_factory=dict)
    places: dict[Variable, Place] = field(default_factory=dict)
    ages: dict[tuple[Region, str], int] = field(default_factory=dict)
    late: dict[Variable, int] = field(default_factory=dict)
    early: dict[Variable, int] = field(default_factory=dict)
    maybe_read: set[tuple[Region, str]] = field(default_factory=set)
    counter: Variable | None = None
    inputs: frozenset[Variable] = frozenset()

    def run(self, block: Block, level: int) -> None:
        for s in block:
            match s:
                case Assign():
                    self.env[s.var] = self.value(s.value, level)
                case Store():
                    where = self.where(affine(self.value(s.index, level)), s.region, s.loc, "writes")
                    value = self.value(s.value, level)
                    if (s.region, where) in self.maybe_read & self.stores.keys():
                        raise Refused(
                            f"'{s.region.name}' is written twice here, and read at row or column k in between", s.loc
                        )
                    self.stores[s.region, where] = value
                case If():
                    self.branch(s, level)
                case _:
                    raise Refused("this loop is one too many: the body of the innermost may hold none", s.loc)

    def branch(self, s: If, level: int) -> None:
        """Both arms, and a choice wherever they differ."""
        cond = self.truth(s.cond, level, False)
        env, stores = dict(self.env), dict(self.stores)
        self.run(s.then, level)
        then = self.env, self.stores
        self.env, self.stores = env, stores
        self.run(s.other, level)
        for v in {**then[0], **self.env}:
            a, b = then[0].get(v), self.env.get(v)
            self.env[v] = None if a is None or b is None else _choice(cond, a, b, s.loc)
        for key in {**then[1], **self.stores}:
            a, b = (d[key] if key in d else self.old(*key, level) for d in (then[1], self.stores))
            self.stores[key] = self.small(_choice(cond, a, b, s.loc), s.loc)

    def under(self, guards: tuple[Expr, ...]) -> None:
        """What is stored is stored under these conditions only."""
        for g in guards:
            for key, value in self.stores.items():
                self.stores[key] = self.small(_choice(g, value, self.old(*key, 2), value.loc), value.loc)

    def forget(self, loop: Loop) -> None:
        """What variables hold that the loop changes: in each turn something else."""
        for s in statements((loop,)):
            if isinstance(s, Assign):
                self.env[s.var] = None

    # expressions

    def known(self, e: Expr) -> Expr:
        """``e`` with the constants that variables hold."""
        return fold_known(e, {v: x for v, x in self.env.items() if isinstance(x, Const)})

    def value(self, e: Expr, level: int) -> Expr:
        """``e`` in terms of places and counters."""
        return self.small(rewrite(e, lambda x: self.leaf(x, level)), e.loc)

    def leaf(self, x: Expr, level: int) -> Expr:
        match x:
            case Var(var=v):
                held = self.env.get(v)
                if held is None:
                    raise Refused(self.unknown(v), x.loc)
                return held
            case Load():
                where = self.where(affine(x.index), x.region, x.loc, "reads")
                self.maybe_read |= {(r, w) for r, w in self.stores if r == x.region and w != where}
                return self.stores.get((x.region, where)) or self.old(x.region, where, level)
            case Binary(op="/" | "%", type=t) if t.is_integer and not is_safe(x):
                raise Refused("an integer division by what may be 0", x.loc)
        return x

    def unknown(self, v: Variable) -> str:
        if v in self.inputs:
            return f"'{v.name}' is known only when the program runs"
        return f"'{v.name}' may hold what an earlier turn left in it"

    def old(self, region: Region, where: str, level: int) -> Expr:
        """An element as it is before what is stored now."""
        age = self.ages.get((region, where), 0)
        v = Variable(f"{region.name}[{where[0]}][{where[1]}]", region.type, age)
        self.places[v] = Place(v, region, where)
        if where != "ij":
            self.late[v] = max(level, self.late.get(v, 0))
            written = any(r == region for r, _ in self.stores)
            self.early[v] = min(-1 if written else level, self.early.get(v, 2))
        return Var(v)

    def reload(self, value: Expr, region: Region, where: str, level: int) -> None:
        """Variables that hold what was just stored take it from there."""
        for v, held in self.env.items():
            if held is not None:
                self.env[v] = rewrite(held, lambda x: self.old(region, where, level) if x == value else x)

    def age(self, region: Region, where: str) -> None:
        self.ages[region, where] = self.ages.get((region, where), 0) + 1

    def current(self, v: Variable) -> bool:
        """Whether a place has not been written since it was read."""
        p = self.places[v]
        return v.uid == self.ages.get((p.region, p.where), 0)

    def where(self, a: Affine | None, region: Region, loc: Loc, does: str) -> str:
        assert self.shape is not None
        if a is None:
            raise Refused(
                f"it {does} '{region.name}' at a subscript that depends on data or is no sum of counters", loc
            )
        if self.counter is not None and self.counter in a.terms:
            stride = self.shape.strides.get(region, 0)
            line = self.shape.row if a.of(self.counter) == stride else self.shape.column
            a = Affine(a.constant, {line if v == self.counter else v: c for v, c in a.terms.items()})
        where = self.shape.where(a, region)
        if not where:
            raise Refused(f"it also {does} {self.shape.spelled(a, region)}", loc)
        return where

    def truth(self, e: Expr, level: int, inverse: bool) -> Expr:
        cond = self.value(e, level)
        return unary("!", cond, INT, e.loc) if inverse else cond

    def small(self, e: Expr, loc: Loc) -> Expr:
        if sum(1 for _ in subexpressions(e)) > LARGEST:
            raise Refused(f"an element is computed by more than {LARGEST} operations", loc)
        return e


def _choice(cond: Expr, yes: Expr, no: Expr, loc: Loc) -> Expr:
    if yes == no:
        return yes
    return Select(cond, yes, no, yes.type, loc)


def reads(e: Expr) -> Iterator[Variable]:
    for x in subexpressions(e):
        if isinstance(x, Var):
            yield x.var


def replaced(e: Expr, by: dict[Variable, Variable]) -> Expr:
    """``e`` with other variables, and what that decides decided."""
    return rewrite(e, lambda x: _decided(Var(by.get(x.var, x.var), x.loc) if isinstance(x, Var) else x))


def _decided(x: Expr) -> Expr:
    match x:
        case Binary(op="==" | "<=" | ">=", left=a, right=b) if a == b and a.type.is_integer:
            return Const(1, INT, x.loc)
        case Binary(op="!=" | "<" | ">", left=a, right=b) if a == b and a.type.is_integer:
            return Const(0, INT, x.loc)
        case Binary(left=Const(), right=Const()):
            return binary(x.op, x.left, x.right, x.type, x.loc)
        case Binary(op="&&", left=Const(value=0)) | Binary(op="&&", right=Const(value=0)):
            return Const(0, INT, x.loc)
        case Binary(op="||", left=Const(value=n)) | Binary(op="||", right=Const(value=n)) if n:
            return Const(1, INT, x.loc)
        case Binary(op="|" | "&", left=a, right=b) if a == b:
            return a
        case Binary(op="|" | "&", left=a, right=b) if _absorbs(x.op, a, b):
            return a
        case Cast(operand=Cast(operand=a) as wide, type=t) if a.type == t and t.is_integer and _holds(wide.type, t):
            return a
        case Select(cond=Const(value=n)):
            return x.yes if n else x.no
        case Select() if x.yes == x.no:
            return x.yes
        case Extremum() if x.left == x.right:
            return x.left
        case Extremum(left=Const(), right=Const()) if x.type.is_integer:
            return _decided(replace(x.choice, cond=_decided(x.comparison)))
        case Unary(op="!", operand=Const() as c):
            return unary("!", c, INT, x.loc)
    return x


def _absorbs(op: str, a: Expr, b: Expr) -> bool:
    """``a | a & x`` and ``a & (a | x)`` are ``a``."""
    return isinstance(b, Binary) and b.op == {"|": "&", "&": "|"}[op] and a in (b.left, b.right)


def _holds(wide: Scalar, t: Scalar) -> bool:
    return wide.is_integer and wide.size >= t.size and (wide != BOOL or t == BOOL)
