"""What goes in and what comes out: reads, writes and their order, region by region."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

from pycparser import c_ast as C

from ..base.ctype import VOID, CType, Function, Pointer, Scalar, Struct, holds_pointers
from ..base.diagnostics import Loc
from ..frontend.kernel import KernelProgram, touched
from ..frontend.parse import deep, loc_of
from ..frontend.symbols import Symbol
from ..frontend.tree import children, nodes
from ..frontend.typed import FunctionDef, Unit, decay
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
from ..ir.walk import Order, expressions, rewrite, statements, subexpressions

#: What happens to a region first: certainly a read, certainly a write, or one of them on some path.
READ, WRITE, MAYBE = "read", "write", "maybe"


@dataclass(frozen=True)
class Effects:
    """``reads``/``writes``: names of regions with any load/store. ``first``: what happens first, by region name.
    ``used``: regions that the program itself reads; lowering also loads what may stay as it is. ``read_first``: regions
    that it reads on some path of which it has written no element there."""

    reads: frozenset[str]
    writes: frozenset[str]
    first: dict[str, str]
    used: frozenset[str]
    read_first: frozenset[str]


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
    finder = _First(cells, set(), cache(lambda: Order(body)))
    finder.block(body, first, {})
    used = frozenset(_used(cells, body))
    return Effects(frozenset(reads), frozenset(writes), first, used, frozenset(finder.read_first))


def _used(cells: dict[Variable, str], body: Block) -> Iterator[str]:
    for e in (e for s in statements(body) for e in expressions(s)):
        for x in subexpressions(e):
            if isinstance(x, Load):
                yield x.region.name
            elif isinstance(x, Var) and x.var in cells:
                yield cells[x.var]


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
            case Assign(value=Load(region=r)) if r.storage == "shared" and r.count == 1:
                continue  # a number that all inputs share is loaded at the start too
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
    """Finds each region's first access. ``cells``: the variables that stand for a region of one scalar.
    ``read_first``: see `Effects`."""

    cells: dict[Variable, str]
    read_first: set[str]
    order: Callable[[], Order]

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
        self.forget(s, known)

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
        self.forget(s, known)

    def forget(self, s: Stmt, known: dict[Variable, Const]) -> None:
        for v in [v for v in known if self.order().times_assigned(v, (s,))]:
            del known[v]

    def loads(self, e: Expr, first: dict[str, str]) -> None:
        for x in subexpressions(e):
            if isinstance(x, Load):
                if first.setdefault(x.region.name, READ) == READ:
                    self.read_first.add(x.region.name)
            elif isinstance(x, Var) and x.var in self.cells:
                name = self.cells[x.var]
                if first.setdefault(name, READ) != WRITE:  # where a path wrote an array, it may be this very element
                    self.read_first.add(name)


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

    Variables that may hold addresses of one another, or hold the same address, are put into one class (Steensgaard's
    analysis, in its simplest form). Numbers and bytes carry addresses too, where one was made a number, and where what
    holds one is seen from outside: their copies join classes only if such a variable is in one of them.
    """
    if not program.followed:
        return {b.symbol: b.loc for b in program.parameters if b.symbol is not None and not _points_to_const(b.symbol)}
    return deep(_Writes(program).run)


def only_loaded(program: KernelProgram) -> frozenset[Symbol]:
    """Global variables that are certain not to be written: a kernel, what it calls, and the initialisers of others do
    nothing with them but load their elements and members. An address of one, whatever becomes of it, is too much."""
    if not program.followed or "alias" in program.unit.pre.text:
        return frozenset()
    mentioned: set[Symbol] = set()
    other: set[Symbol] = set()
    unit = program.unit

    def visit(n: C.Node, is_place: bool) -> None:
        root = n
        while isinstance(root, C.ArrayRef) or (isinstance(root, C.StructRef) and root.type == "."):
            root = root.name
        s = unit.symbols.get(id(root)) if isinstance(root, C.ID) else None
        if s is not None and s.is_global:
            mentioned.add(s)
            if is_place or not isinstance(unit.types.get(id(n)), (Scalar, Pointer)):  # an array is an address
                other.add(s)
            while isinstance(n, (C.ArrayRef, C.StructRef)):
                if isinstance(n, C.ArrayRef):
                    visit(n.subscript, False)
                n = n.name
            return
        match n:
            case C.Assignment():
                visit(n.lvalue, True)
                visit(n.rvalue, False)
            case C.UnaryOp(op="&" | "++" | "--" | "p++" | "p--"):
                visit(n.expr, True)
            case _:
                for x in children(n):
                    visit(x, False)

    for f in program.functions:
        visit(f.node.body, False)
    for init in unit.initialisers():
        other |= {unit.symbols[id(n)] for n in nodes(init) if isinstance(n, C.ID) and id(n) in unit.symbols}
    return frozenset(mentioned - other)


def pointers_set(program: KernelProgram) -> frozenset[Symbol]:
    """The variables whose pointers a kernel and its callees may set, by name or through another pointer."""
    if not program.followed:
        return frozenset(b.symbol for b in program.parameters if b.symbol is not None)
    written = may_write(program)
    unit, named, through = program.unit, set[Symbol](), False
    for f in program.functions:
        for n in nodes(f.node.body):
            match n:
                case C.Assignment(lvalue=place) | C.UnaryOp(op="++" | "--" | "p++" | "p--", expr=place):
                    if not holds_pointers(unit.types.get(id(place))):
                        continue
                    if isinstance(place, C.ID):
                        named.add(unit.symbol(place))
                    else:
                        through = True
                case C.FuncCall(name=C.ID(name=callee)) if callee not in unit.functions:
                    through = through or any(holds_pointers(t) for t in _pointed_to(unit, n))
    return frozenset(written) if through else frozenset(named)


def _pointed_to(unit: Unit, call: C.FuncCall) -> Iterator[CType]:
    """What the arguments of a call that are addresses lead to."""
    for a in call.args.exprs if call.args else ():
        t = decay(unit.types.get(id(a), VOID))
        if isinstance(t, Pointer):
            yield t.to


#: Arguments that functions only read, where GCC knows them without a prototype.
_READ = {"memcpy": (1,), "memmove": (1,), "memcmp": (0, 1), "memchr": (0,), "strlen": (0,), "strcmp": (0, 1)}
_READ["strncmp"] = _READ["memcmp"]
#: Functions whose second argument is where they put an address within the first one.
_TELLS_END = frozenset(f"strto{x}" for x in ("l", "ll", "ul", "ull", "imax", "umax", "d", "f", "ld"))


def _points_to_const(s: Symbol) -> bool:
    return s.const if s.is_global else isinstance(s.type, Pointer) and s.type.const


class _Writes:
    def __init__(self, program: KernelProgram):
        self.unit, self.program = program.unit, program
        self.parent: dict[Symbol, Symbol] = {}
        self.through: dict[Symbol, Loc] = {}  # written through a pointer or subscript
        self.direct: dict[Symbol, Loc] = {}
        self.copies: list[tuple[tuple[Symbol, ...], tuple[Symbol, ...]]] = []  # (to, from): of numbers or bytes
        self.holders: set[Symbol] = set()  # addresses that others may copy as numbers or bytes lie here

    @cached_property
    def parts(self) -> tuple[C.Node, ...]:
        """All that is read here: the functions' bodies, and initialisers."""
        return (*(f.node.body for f in self.program.functions), *self.unit.initialisers())

    def find(self, s: Symbol) -> Symbol:
        root = s
        while self.parent.setdefault(root, root) is not root:
            root = self.parent[root]
        while s is not root:
            s, self.parent[s] = self.parent[s], root
        return root

    def run(self) -> dict[Symbol, Loc]:
        for s in (*touched(self.unit, self.program.functions), *self.locals()):
            if holds_pointers(s.type.to if isinstance(s.type, Pointer) else s.type):
                self.holders.add(s)
            if s.is_global and s.decl is not None and s.decl.init is not None:
                self.flow((s,), s.type, s.decl.init)
                for n in nodes(s.decl.init):
                    self.node(n)
        for f in self.program.functions:
            for n in nodes(f.node.body):
                self.node(n)
                if isinstance(n, C.Return) and n.expr is not None:
                    self.flow((f.symbol,), f.returns, n.expr)
        self.copy()
        written: dict[Symbol, Loc] = {}
        for s, loc in self.through.items():
            written.setdefault(self.find(s), loc)
        aliased = {s: written[self.find(s)] for s in list(self.parent) if self.find(s) in written}
        every = {**aliased, **self.through}
        return {**{s: loc for s, loc in every.items() if not self.is_followed(s)}, **self.direct}

    def is_followed(self, s: Symbol) -> bool:
        """Whether what is written through it is never the variable itself, but what it points to."""
        return s.is_global and isinstance(s.type, Pointer) and s not in self.holders

    def locals(self) -> list[Symbol]:
        declared = (self.unit.symbols.get(id(n)) for f in self.program.functions for n in nodes(f.node))
        return [s for s in declared if s is not None and s.kind == "variable" and not s.is_global]

    def node(self, n: C.Node) -> None:
        match n:
            case C.Assignment():
                self.write(n.lvalue)
                self.flow(self.roots(n.lvalue), self.unit.types.get(id(n.lvalue)), n.rvalue)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                self.write(n.expr)
            case C.UnaryOp(op="&"):
                if holds_pointers(self.unit.types.get(id(n.expr))):
                    self.holders.update(self.roots(n.expr))
            case C.Decl() if n.init is not None and id(n) in self.unit.symbols:
                symbol = self.unit.symbols[id(n)]
                if not symbol.is_global:
                    self.flow((symbol,), symbol.type, n.init)
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

    def flow(self, to: tuple[Symbol, ...], t: CType | None, value: C.Node) -> None:
        """``value`` goes into variables, as an object of type ``t``."""
        source = self.roots(value)
        if holds_pointers(t):
            self.join(*to, *source)
            return
        if self.is_computed(value):
            return
        self.copies.append((to, source))
        if self.is_address(value) or self.has_number(value):
            self.holders.update(source)

    def is_computed(self, value: C.Node) -> bool:
        """Whether it is a sum, a product or the like that is no address, nor a part of one."""
        if not isinstance(value, C.BinaryOp) or value.op not in ("+", "-", "*", "/", "%"):
            return False
        t = self.unit.types.get(id(value))
        return isinstance(t, Scalar) and (t.is_float or t.size < 8) and not self.disguises

    @cached_property
    def disguises(self) -> bool:
        """Whether addresses may be numbers somewhere: by casts, in unions, or copied byte by byte."""

        def is_one(n: C.Node) -> bool:
            match n:
                case C.Cast() if not isinstance(n.expr, C.Constant):
                    return self.is_address(n) and isinstance(self.unit.types.get(id(n.expr)), Scalar)
                case C.StructRef():
                    t = self.unit.types.get(id(n.name))
                    t = t.to if isinstance(t, Pointer) else t
                    within = (t, *(m.type for m in t.members)) if isinstance(t, Struct) else ()  # it may have no name
                    return any(isinstance(x, Struct) and x.union and holds_pointers(x) for x in within)
                case C.FuncCall(name=C.ID(name=name)) if name.removeprefix("__builtin_") in ("memcpy", "memmove"):
                    return any(holds_pointers(t) for t in _pointed_to(self.unit, n))
            return False

        return bool(self.having_numbers) or any(is_one(n) for part in self.parts for n in nodes(part))

    def has_number(self, n: C.Node) -> bool:
        """Whether a number is made of an address in an expression."""
        return id(n) in self.having_numbers

    @cached_property
    def having_numbers(self) -> frozenset[int]:
        """Ids of such expressions, of all that is read here."""
        having: set[int] = set()
        for part in self.parts:
            for n in reversed([*nodes(part)]):  # what a node has before the node itself
                if self.makes_number(n) or any(id(x) in having for x in children(n)):
                    having.add(id(n))
        return frozenset(having)

    def makes_number(self, n: C.Node) -> bool:
        if not isinstance(n, C.Cast) or not isinstance(self.unit.types.get(id(n)), Scalar):
            return False
        return isinstance(decay(self.unit.types.get(id(n.expr), VOID)), Pointer)

    def copy(self) -> None:
        """Join classes by copies of numbers, as long as any may be an address."""
        left = self.copies
        while True:
            holding = {self.find(s) for s in self.holders}
            carries = [any(self.find(s) in holding for s in source) for _, source in left]
            if not any(carries):
                return
            for (to, source), carried in zip(left, carries):
                if carried:
                    self.join(*to, *source)
            left = [c for c, carried in zip(left, carries) if not carried]

    def join(self, *symbols: Symbol) -> None:
        for s in symbols[1:]:
            self.parent[self.find(symbols[0])] = self.find(s)

    def roots(self, n: C.Node | None) -> tuple[Symbol, ...]:
        """The variables that an address, an lvalue or a value comes from; a function stands for what it returns."""
        match n:
            case None | C.Constant() | C.Typename() | C.UnaryOp(op="sizeof" | "_Alignof" | "!"):
                return ()
            case C.ID():
                symbol = self.unit.symbols.get(id(n))
                if symbol is None or symbol.kind not in ("variable", "function"):
                    return ()
                defined = self.unit.functions.get(symbol.name) if symbol.kind == "function" else None
                return (defined.symbol if defined is not None else symbol,)
            case C.ArrayRef():
                at, by = (n.name, n.subscript) if self.is_address(n.name) else (n.subscript, n.name)
                return (*self.roots(at), *(self.roots(by) if self.has_number(by) else ()))
            case C.StructRef():
                return self.roots(n.name)
            case C.UnaryOp() | C.Cast() | C.NamedInitializer():
                return self.roots(n.expr)
            case C.BinaryOp(op="&&" | "||" | "<" | "<=" | ">" | ">=" | "==" | "!="):
                return ()
            case C.BinaryOp():
                sides = [x for x in (n.left, n.right) if self.is_address(x) or self.has_number(x)]
                sides = sides or [n.left, n.right]
                return tuple(s for x in sides for s in self.roots(x))
            case C.TernaryOp():
                return (*self.roots(n.iftrue), *self.roots(n.iffalse))
            case C.Assignment():
                return (*self.roots(n.lvalue), *self.roots(n.rvalue))
            case C.ExprList():
                return self.roots(n.exprs[-1])
            case C.Compound():
                return self.roots(n.block_items[-1]) if n.block_items else ()
            case C.InitList():
                return tuple(s for x in n.exprs for s in self.roots(x))
            case C.CompoundLiteral():
                return self.roots(n.init)
            case C.FuncCall(name=C.ID(name=name)) if name in self.unit.functions:
                return self.roots(n.name)
            case C.FuncCall():
                return tuple(s for x in (n.name, *(n.args.exprs if n.args else [])) for s in self.roots(x))
        return tuple(s for x in children(n) for s in self.roots(x))

    def is_address(self, n: C.Node) -> bool:
        return isinstance(decay(self.unit.types.get(id(n), VOID)), Pointer)

    def call(self, n: C.FuncCall) -> None:
        args = n.args.exprs if n.args else []
        name = n.name.name if isinstance(n.name, C.ID) else ""
        f = self.unit.functions.get(name)
        if f is not None:
            for p, a in zip(f.params, args):
                self.flow((p,), p.type, a)
            return
        self.called_back(n.name, args)
        plain = name.removeprefix("__builtin_")
        if plain in ("memcpy", "memmove") and len(args) == 3:
            self.copies.append((self.roots(args[0]), self.roots(args[1])))
        tells_end = plain in _TELLS_END and len(args) > 1 and isinstance(args[1], C.UnaryOp) and args[1].op == "&"
        if tells_end:  # where in its first argument it has stopped goes to a pointer
            end = args[1].expr
            self.write(end)
            self.flow(self.roots(end), self.unit.types.get(id(end)), args[0])
        t = self.function_at(n.name)
        params = t.params if t is not None else ()
        for i, a in enumerate(args):
            p = params[i] if i < len(params) else None
            reads = isinstance(p, Pointer) and p.const and not holds_pointers(p.to)
            if self.is_address(a) and not reads and not (tells_end and i == 1) and i not in _READ.get(plain, ()):
                self.written_through(a)

    def called_back(self, callee: C.Node, args: list[C.Node]) -> None:
        """What a call through a pointer hands to the functions of the program that it may lead to, and what a function
        of the library may hand to those that it is given."""
        symbol = self.unit.symbols.get(id(callee)) if isinstance(callee, C.ID) else None
        library = symbol is not None and symbol.kind == "function"
        if library and not any(self.function_at(a) for a in args):
            return
        for f in self.pointed_to:
            for k, p in enumerate(f.params if library or len(f.params) == len(args) else ()):
                for a in [x for x in args if self.is_address(x)] if library else [args[k]]:
                    self.flow((p,), p.type, a)

    def function_at(self, n: C.Node) -> Function | None:
        """The type of the function that an expression points to; None where it points to none."""
        t = decay(self.unit.types.get(id(n), VOID))
        return t.to if isinstance(t, Pointer) and isinstance(t.to, Function) else None

    @cached_property
    def pointed_to(self) -> list[FunctionDef]:
        """The functions that are not only called by their names."""
        every = [n for part in self.parts for n in nodes(part)]
        called = {id(n.name) for n in every if isinstance(n, C.FuncCall)}
        named = {n.name for n in every if isinstance(n, C.ID) and id(n) not in called}
        return [f for f in self.program.functions if f.name in named]
