"""What goes in and what comes out: reads, writes and their order, region by region."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pycparser import c_ast as C

from ..base.ctype import Scalar
from ..base.diagnostics import Loc
from ..frontend.kernel import KernelProgram, nodes
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..ir.fold import binary, cast, unary
from ..ir.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Const,
    Expr,
    If,
    Kernel,
    Load,
    Loop,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    Variable,
)
from ..ir.walk import expressions, rewrite, statements, subexpressions

#: What happens to a region first: certainly a read, certainly a write, or one of them on some path.
READ, WRITE, MAYBE = "read", "write", "maybe"


@dataclass(frozen=True)
class Effects:
    """``reads``/``writes``: names of regions with any load/store. ``first``: what happens first, by region name."""

    reads: frozenset[str]
    writes: frozenset[str]
    first: dict[str, str]


def effects(kernel: Kernel) -> Effects:
    """The effects of one run of a kernel. Needs dead loads removed (webs, then simplify)."""
    reads: set[str] = set()
    writes: set[str] = set()
    for s in statements(kernel.body):
        if isinstance(s, Store):
            writes.add(s.region.name)
        for e in expressions(s):
            reads.update(x.region.name for x in subexpressions(e) if isinstance(x, Load))
    first: dict[str, str] = {}
    cells, body = _cells(kernel)
    _First(cells).block(body, first, {})
    return Effects(frozenset(reads), frozenset(writes), first)


def _cells(kernel: Kernel) -> tuple[dict[Variable, str], Block]:
    """The variables that bulk scalars live in, and the body without what brings those in and out.

    Lowering loads a bulk scalar at the start and stores it at the end: neither is the program's own access.
    """
    cells: dict[Variable, str] = {}
    body = list(kernel.body)
    for s in body:
        match s:
            case Assign(var=v, value=Load(region=r)) if r.storage == "bulk" and r.count == 1:
                cells[v] = r.name
            case _:
                break
    while body and _leaves(body[-1], cells):
        body.pop()
    return cells, tuple(s for s in body if not (isinstance(s, Assign) and _arrives(s, cells)))


def _arrives(s: Assign, cells: dict[Variable, str]) -> bool:
    return isinstance(s.value, Load) and cells.get(s.var) == s.value.region.name


def _leaves(s: Stmt, cells: dict[Variable, str]) -> bool:
    return isinstance(s, Store) and isinstance(s.value, Var) and cells.get(s.value.var) == s.region.name


@dataclass(frozen=True)
class _First:
    """Finds each region's first access. ``cells``: the variables that stand for a region of one scalar."""

    cells: dict[Variable, str]

    def block(self, block: Block, first: dict[str, str], known: dict[Variable, Const]) -> None:
        """``known``: variables whose value is a known constant."""
        for s in block:
            match s:
                case Assign():
                    self.loads(s.value, first)
                    value = _constant(s.value, known)
                    known.pop(s.var, None)
                    if value is not None:
                        known[s.var] = value
                    if s.var in self.cells:
                        first.setdefault(self.cells[s.var], WRITE)
                case Store():
                    self.loads(s.index, first)
                    self.loads(s.value, first)
                    first.setdefault(s.region.name, WRITE)
                case If():
                    self.loads(s.cond, first)
                    self.branch(s, first, known)
                case Loop():
                    self.loop(s, first, known)

    def branch(self, s: If, first: dict[str, str], known: dict[Variable, Const]) -> None:
        yes, no = dict(first), dict(first)
        self.block(s.then, yes, dict(known))
        self.block(s.other, no, dict(known))
        for name in list(yes) + [n for n in no if n not in yes]:
            a, b = yes.get(name), no.get(name)
            first.setdefault(name, a if a == b and a is not None else MAYBE)
        _forget((s,), known)

    def loop(self, s: Loop, first: dict[str, str], known: dict[Variable, Const]) -> None:
        before = dict(known)
        self.block(s.head, first, before)
        self.loads(s.cond, first)
        entered = _constant(s.cond, before)
        if entered is not None and entered.value:
            self.block(s.body, first, before)
            self.block(s.step, first, before)
        else:
            inside = dict(first)
            self.block(s.body + s.step, inside, before)
            for name in inside:
                first.setdefault(name, MAYBE)
        _forget((s,), known)

    def loads(self, e: Expr, first: dict[str, str]) -> None:
        for x in subexpressions(e):
            if isinstance(x, Load):
                first.setdefault(x.region.name, READ)
            elif isinstance(x, Var) and x.var in self.cells:
                first.setdefault(self.cells[x.var], READ)


def _forget(block: Block, known: dict[Variable, Const]) -> None:
    for s in statements(block):
        if isinstance(s, Assign):
            known.pop(s.var, None)


def _constant(e: Expr, known: dict[Variable, Const]) -> Const | None:
    """The value of ``e`` where the known variables settle it."""
    value = fold_known(e, known)
    return value if isinstance(value, Const) else None


def fold_known(e: Expr, known: Mapping[Variable, Expr]) -> Expr:
    """``e`` with known variables and tables filled in, and constants computed."""

    def step(x: Expr) -> Expr:
        match x:
            case Var(var=v) if v in known:
                return replace(known[v], loc=x.loc)
            case Load(region=r, index=Const(value=k)) if r.storage == "shared" and r.init and 0 <= k < r.count:
                return Const(r.init[int(k)], r.type, x.loc)
            case Binary():
                return binary(x.op, x.left, x.right, x.type, x.loc)
            case Unary(operand=Const()):
                return unary(x.op, x.operand, x.type, x.loc)
            case Cast():
                return cast(x.operand, x.type)
            case Select(cond=Const(value=c)):
                return x.yes if c else x.no
        return x

    return rewrite(e, step)


def may_write(program: KernelProgram) -> dict[Symbol, Loc]:
    """The variables a kernel and its callees may write, and where: for programs that cannot be lowered.

    Pointers that may share a target are put into one class (Steensgaard's analysis, in its simplest form).
    """
    return _Writes(program).run()


class _Writes:
    def __init__(self, program: KernelProgram):
        self.unit, self.program = program.unit, program
        self.parent: dict[Symbol, Symbol] = {}
        self.through: dict[Symbol, Loc] = {}  # written through a pointer or subscript
        self.direct: dict[Symbol, Loc] = {}

    def find(self, s: Symbol) -> Symbol:
        while self.parent.setdefault(s, s) is not s:
            s = self.parent[s]
        return s

    def run(self) -> dict[Symbol, Loc]:
        for f in self.program.functions:
            for n in nodes(f.node.body):
                self.node(n)
                if isinstance(n, C.Return) and n.expr is not None:
                    for s in self.roots(n.expr):
                        self.join(f.symbol, s)
        written = {self.find(s): loc for s, loc in self.through.items()}
        aliased = {s: written[self.find(s)] for s in list(self.parent) if self.find(s) in written}
        return {**aliased, **self.through, **self.direct}

    def node(self, n: C.Node) -> None:
        match n:
            case C.Assignment():
                self.write(n.lvalue)
                self.alias(n.lvalue, n.rvalue)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self.write(n.expr)
            case C.Decl() if n.init is not None and id(n) in self.unit.symbols:
                for s in self.roots(n.init):
                    self.join(self.unit.symbols[id(n)], s)
            case C.FuncCall():
                self.call(n)

    def write(self, lvalue: C.Node) -> None:
        if isinstance(lvalue, C.ID):
            self.direct.setdefault(self.unit.symbol(lvalue), loc_of(lvalue))
        else:
            self.written_through(lvalue)

    def written_through(self, address: C.Node) -> None:
        for s in self.roots(address):
            self.through.setdefault(s, loc_of(address))

    def alias(self, a: C.Node, b: C.Node) -> None:
        if not isinstance(self.unit.types.get(id(a)), Scalar):
            for x in self.roots(a):
                for y in self.roots(b):
                    self.join(x, y)

    def join(self, a: Symbol, b: Symbol) -> None:
        self.parent[self.find(a)] = self.find(b)

    def roots(self, n: C.Node) -> list[Symbol]:
        """The variables an address or lvalue may be derived from; a function stands for what it returns."""
        symbols = [self.unit.symbols[id(x)] for x in nodes(n) if isinstance(x, C.ID) and id(x) in self.unit.symbols]
        return [s for s in symbols if s.kind in ("variable", "function")]

    def call(self, n: C.FuncCall) -> None:
        args = n.args.exprs if n.args else []
        name = n.name.name if isinstance(n.name, C.ID) else ""
        f = self.unit.functions.get(name)
        for i, a in enumerate(args):
            if isinstance(self.unit.value_type(a), Scalar):
                continue
            if f is not None and i < len(f.params):
                for s in self.roots(a):
                    self.join(f.params[i], s)
            elif f is None and (i == 0 or name not in ("memcpy", "memmove")):
                self.written_through(a)
