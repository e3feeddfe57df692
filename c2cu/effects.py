"""What goes in and what comes out: reads, writes and their order, region by region."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pycparser import c_ast as C

from .ctype import Pointer
from .fold import binary, cast, unary
from .ir import Assign, Binary, Block, Cast, Const, Expr, If, Kernel, Load, Loop, Select, Store, Unary, Var, Variable
from .program import Program, nodes
from .symbols import Symbol
from .walk import expressions, rewrite, statements, subexpressions

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
    _first(kernel.body, first, {})
    return Effects(frozenset(reads), frozenset(writes), first)


def _first(block: Block, first: dict[str, str], known: dict[Variable, Const]) -> None:
    """Record each region's first access in ``block``; ``known``: variables whose value is a known constant."""
    for s in block:
        match s:
            case Assign():
                _loads(s.value, first)
                value = _constant(s.value, known)
                known.pop(s.var, None)
                if value is not None:
                    known[s.var] = value
            case Store():
                _loads(s.index, first)
                _loads(s.value, first)
                first.setdefault(s.region.name, WRITE)
            case If():
                _loads(s.cond, first)
                _branch(s, first, known)
            case Loop():
                _loop(s, first, known)


def _branch(s: If, first: dict[str, str], known: dict[Variable, Const]) -> None:
    yes, no = dict(first), dict(first)
    _first(s.then, yes, dict(known))
    _first(s.other, no, dict(known))
    for name in list(yes) + [n for n in no if n not in yes]:
        a, b = yes.get(name), no.get(name)
        first.setdefault(name, a if a == b and a is not None else MAYBE)
    _forget((s,), known)


def _loop(s: Loop, first: dict[str, str], known: dict[Variable, Const]) -> None:
    before = dict(known)
    _first(s.head, first, before)
    _loads(s.cond, first)
    entered = _constant(s.cond, before)
    if entered is not None and entered.value:
        _first(s.body, first, before)
        _first(s.step, first, before)
    else:
        inside = dict(first)
        _first(s.body + s.step, inside, before)
        for name in inside:
            first.setdefault(name, MAYBE)
    _forget((s,), known)


def _forget(block: Block, known: dict[Variable, Const]) -> None:
    for s in statements(block):
        if isinstance(s, Assign):
            known.pop(s.var, None)


def _loads(e: Expr, first: dict[str, str]) -> None:
    for x in subexpressions(e):
        if isinstance(x, Load):
            first.setdefault(x.region.name, READ)


def _constant(e: Expr, known: dict[Variable, Const]) -> Const | None:
    """The value of ``e`` where the known variables settle it."""
    value = fold_known(e, known)
    return value if isinstance(value, Const) else None


def fold_known(e: Expr, known: dict[Variable, Const]) -> Expr:
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


def may_write(program: Program) -> frozenset[Symbol]:
    """The variables a kernel and its callees may write, from the AST alone: for programs that cannot be lowered.

    Pointers that may share a target are put into one class (Steensgaard's analysis, in its simplest form).
    """
    return _Writes(program).run()


class _Writes:
    def __init__(self, program: Program):
        self.unit, self.program = program.unit, program
        self.parent: dict[Symbol, Symbol] = {}
        self.through: list[Symbol] = []  # written through a pointer or subscript
        self.direct: list[Symbol] = []

    def find(self, s: Symbol) -> Symbol:
        while self.parent.setdefault(s, s) is not s:
            s = self.parent[s]
        return s

    def run(self) -> frozenset[Symbol]:
        for f in self.program.functions:
            for n in nodes(f.node.body):
                self.node(n)
        written = {self.find(s) for s in self.through}
        aliased = [s for s in self.parent if self.find(s) in written]
        return frozenset([*aliased, *self.direct, *self.through])

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
            self.direct.append(self.unit.symbol(lvalue))
        else:
            self.through += self.roots(lvalue)

    def alias(self, a: C.Node, b: C.Node) -> None:
        if isinstance(self.unit.types.get(id(a)), Pointer):
            for x in self.roots(a):
                for y in self.roots(b):
                    self.join(x, y)

    def join(self, a: Symbol, b: Symbol) -> None:
        self.parent[self.find(a)] = self.find(b)

    def roots(self, n: C.Node) -> list[Symbol]:
        """The variables an address or lvalue may be derived from."""
        found = [self.unit.symbols[id(x)] for x in nodes(n) if isinstance(x, C.ID) and id(x) in self.unit.symbols]
        return [s for s in found if s.kind == "variable"]

    def call(self, n: C.FuncCall) -> None:
        args = n.args.exprs if n.args else []
        name = n.name.name if isinstance(n.name, C.ID) else ""
        f = self.unit.functions.get(name)
        for i, a in enumerate(args):
            if not isinstance(self.unit.value_type(a), Pointer):
                continue
            if f is not None and i < len(f.params):
                for s in self.roots(a):
                    self.join(f.params[i], s)
            elif f is None and (i == 0 or name not in ("memcpy", "memmove")):
                self.through += self.roots(a)
