"""Memory of the flat kernel: statements as they are written, regions, loads, stores and copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, LONG, Scalar, leaves
from ..base.diagnostics import Loc
from ..frontend.symbols import Symbol
from ..frontend.typed import Unit
from ..ir.evaluate import reinterpreted
from ..ir.fold import binary, bitcast, cast, multiply
from ..ir.nodes import Assign, Const, Expr, If, Load, Loop, Region, Stmt, Store, Var, Variable
from .objects import Object, PointerVariable, Ref, Target, leaf_table

LIMIT = 60_000  # statements of one flat kernel


class MemoryState:
    """State of lowering one kernel, and what reads and writes its objects."""

    def __init__(self, unit: Unit):
        self.unit = unit
        self.out: list[Stmt] = []
        self.names: dict[str, int] = {}
        self.uids = 0
        self.size = 0
        self.regions: list[Region] = []
        self.bindings: dict[int, Object | PointerVariable] = {}  # id(Symbol) -> what it stands for here
        self.targets: dict[PointerVariable, Target | None] = {}  # None: not the same on all paths
        self.conjunctions: set[Variable] = set()  # what && comes to, each read once

    def emit(self, s: Stmt) -> None:
        self.size += 1
        if self.size > LIMIT:
            raise catalogue.TOO_MANY_STATEMENTS.error(s.loc, limit=LIMIT)
        self.out.append(s)

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to the list it yields."""
        outer, self.out = self.out, []
        inner = self.out
        try:
            yield inner
        finally:
            self.out = outer

    def fresh(self, name: str, t: Scalar, loc: Loc, spelling: str = "") -> Variable:
        self.uids += 1
        return Variable(name, t, self.uids, loc, spelling)

    def made(self, name: str, t: Scalar, loc: Loc) -> Variable:
        """A variable that the C program does not have."""
        return replace(self.fresh(name, t, loc), role="temporary")

    def exit_flag(self, name: str, loc: Loc) -> Variable:
        """A flag that says that control has left: what follows is skipped where it is set."""
        return replace(self.fresh(name, BOOL, loc), role="exit")

    def unique(self, name: str) -> str:
        """A region's name that no other has."""
        self.names[name] = self.names.get(name, 0) + 1
        return name if self.names[name] == 1 else self.unique(f"{name}_{self.names[name]}")

    def assign(self, var: Variable, value: Expr, loc: Loc) -> None:
        self.emit(Assign(var, cast(value, var.type), loc))

    def temporary(self, value: Expr, loc: Loc, name: str = "t") -> Expr:
        """``value``, computed here and now."""
        if isinstance(value, Const):
            return value
        var = self.made(name, value.type, loc)
        self.assign(var, value, loc)
        return Var(var, loc)

    def pinned(self, ref: Ref, loc: Loc, name: str = "t") -> Ref:
        """``ref`` with its index computed here and now, whatever is stored later."""
        return ref.at(self.temporary(ref.index, ref.index.loc if ref.index.loc.line else loc, name))

    def meet(self, paths: Iterable[dict[PointerVariable, Target | None]]) -> None:
        """Jumps arrive here too: ``paths`` says what pointers point to at each."""
        for targets in paths:
            self.targets = join(self.targets, targets)

    def part(self, obj: Object, path: str, loc: Loc) -> Region | Variable:
        """Where a leaf lives: a variable where there is just one, else a region."""
        if path in obj.parts:
            return obj.parts[path]
        t, count = leaf_table(obj.type)[path]
        if not isinstance(t, Scalar):
            raise catalogue.POINTER_IN_MEMORY.error(loc, name=obj.name + path)
        if t.size == 16:
            raise catalogue.LONG_DOUBLE.error(loc, what=f"'{obj.name}{path}'")
        if count == 1 and obj.storage != "shared" and not obj.volatile:
            new: Region | Variable = self.fresh(obj.name + path.replace(".", "_"), t, obj.loc, obj.name + path)
        else:
            new = self.region(obj, path, t, count)
        obj.parts[path] = new
        return new

    def region(self, obj: Object, path: str, t: Scalar, count: int) -> Region:
        name = obj.name + path
        new = Region(self.unique(name), t, count, obj.storage, self.initial(obj, path), obj.loc, name)
        self.regions.append(new)
        return new

    def initial(self, obj: Object, path: str) -> tuple[int | float, ...] | None:
        """Initial elements of a leaf, in order; None: zero, or given at run time."""
        if obj.values is None:
            return None
        leaf = next(x for x in leaves(obj.type) if x.path == path)
        offsets = [leaf.offset]
        for extent, stride in leaf.dims:
            offsets = [o + k * stride for o in offsets for k in range(extent)]
        assert isinstance(leaf.type, Scalar)
        zero = Const(0, INT)
        return tuple(_bits(obj.values.get(o, zero), leaf.type) for o in offsets)

    def load(self, ref: Ref, loc: Loc) -> Expr:
        """The value of a scalar lvalue."""
        part, viewed = self.leaf(ref, loc)
        if isinstance(part, Variable):
            return bitcast(Var(part, loc), viewed, loc)
        constant = part.init if part.storage == "shared" else None
        if constant and isinstance(ref.index, Const) and 0 <= ref.index.value < part.count:
            return bitcast(Const(constant[int(ref.index.value)], part.type, loc), viewed, loc)
        return bitcast(Load(part, ref.index, loc, ref.rows), viewed, loc)

    def leaf(self, ref: Ref, loc: Loc) -> tuple[Region | Variable, Scalar]:
        if not isinstance(ref.type, Scalar):
            raise catalogue.POINTER_IN_MEMORY.error(loc, name=ref.object.name + ref.path)
        part = self.part(ref.object, ref.path, loc)
        if part.type.size != ref.type.size:
            raise catalogue.OTHER_TYPE.error(loc, name=part.name, type=part.type, other=ref.type)
        return part, ref.type

    def store(self, ref: Ref, value: Expr, loc: Loc) -> None:
        """``ref = value``; value has the lvalue's type already."""
        part, viewed = self.leaf(ref, loc)
        value = bitcast(value, part.type, loc)
        if isinstance(part, Variable):
            self.emit(Assign(part, value, loc))
            return
        if part.storage == "shared":
            raise catalogue.SHARED_WRITTEN.error(loc, name=ref.object.name)
        self.emit(Store(part, ref.index, value, loc, ref.rows))

    def copy(self, to: Ref, source: Ref, loc: Loc) -> None:
        """Struct or array assignment, leaf by leaf; the first store must not change where the others go."""
        to, source = self.pinned(to, loc), self.pinned(source, loc)
        for path, (_, count) in leaf_table(to.type).items():
            self.copy_elements(
                self.below(to, path, count, loc), self.below(source, path, count, loc), Const(count, INT), loc
            )

    def below(self, ref: Ref, path: str, count: int, loc: Loc) -> Ref:
        """The first scalar at ``path`` inside ``ref``."""
        t, _ = leaf_table(ref.type)[path]
        return Ref(ref.object, ref.path + path, multiply(ref.index, count), t)

    def copy_elements(self, to: Ref, source: Ref, count: Expr, loc: Loc) -> None:
        self.each(count, lambda k: self.store(to.moved(k), self.load(source.moved(k), loc), loc), loc)

    def each(self, count: Expr, body, loc: Loc, backwards: bool = False) -> None:
        """``body(k)`` for k = 0 .. count-1: unrolled where that is short."""
        if isinstance(count, Const) and count.value <= 8:
            ks = range(int(count.value))
            for k in reversed(ks) if backwards else ks:
                body(Const(k, INT))
            return
        k = self.made("k", LONG, loc)
        count = self.temporary(cast(count, LONG), loc)
        one = Const(1, LONG)
        self.assign(k, binary("-", count, one, LONG) if backwards else Const(0, LONG), loc)
        with self.block() as inner:
            body(Var(k, loc))
        condition = (
            binary(">=", Var(k), Const(0, LONG), INT, loc) if backwards else binary("<", Var(k), count, INT, loc)
        )
        step = Assign(k, binary("-" if backwards else "+", Var(k), one, LONG, loc), loc)
        self.emit(Loop(condition, tuple(inner), (step,), loc=loc))

    def either(self, cond: Expr, yes, no, loc: Loc, branch: bool = True) -> None:
        """An `If` around what ``yes()`` and ``no()`` emit; pointers that differ afterwards are marked."""
        if isinstance(cond, Const):
            (yes if cond.value else no)()
            return
        before = dict(self.targets)
        with self.block() as then:
            yes()
        after_yes, self.targets = self.targets, dict(before)
        with self.block() as other:
            no()
        self.targets = join(after_yes, self.targets)
        if then or other:
            self.emit(If(cond, tuple(then), tuple(other), branch, loc))

    # what the classes that come after add

    def value(self, node: C.Node) -> Expr:
        raise NotImplementedError

    def binding(self, symbol: Symbol, loc: Loc) -> Object | PointerVariable:
        raise NotImplementedError

    def initialise(self, ref: Ref, init: C.Node) -> None:
        raise NotImplementedError

    def call(self, node: C.FuncCall) -> Expr | Ref | Target | None:
        raise NotImplementedError

    def effect(self, node: C.Node) -> None:
        raise NotImplementedError


def join(
    a: dict[PointerVariable, Target | None], b: dict[PointerVariable, Target | None]
) -> dict[PointerVariable, Target | None]:
    """What pointers point to after two paths meet; one not set on a path keeps what the other says."""
    out = dict(a)
    for p, target in b.items():
        out[p] = target if p not in out or same_object(out[p], target) else None
    return out


def same_object(a: Target | None, b: Target | None) -> bool:
    """Whether a pointer variable can hold either with no more than a change of its index."""
    if isinstance(a, Ref) and isinstance(b, Ref):
        return (a.object, a.path, a.type, a.alone) == (b.object, b.path, b.type, b.alone)
    return a == b


def _bits(c: Const, t: Scalar) -> int | float:
    """A constant as ``t`` sees it: another member of a union may have been initialised."""
    if c.type.is_float == t.is_float or c.type.size != t.size:
        return t.wrap(c.value)
    value = reinterpreted(c.value, c.type, t)
    if value != value:
        raise catalogue.NAN_BITS.error(c.loc)
    return value
