"""Lowering of expressions: side effects become statements, conversions become casts, pointers become indices."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from pycparser import c_ast as C

from . import libm
from .ctype import (
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    UCHAR,
    ULONG,
    VOID,
    Array,
    CType,
    Function,
    Pointer,
    Scalar,
    Struct,
    common,
    leaves,
    promote,
)
from .diagnostics import Loc, UnsupportedError
from .fold import binary, bitcast, cast, is_safe, loads, multiply, truth, unary
from .ir import Assign, Binary, Call, Const, Expr, If, Load, Loop, Region, Select, Stmt, Store, Var, Variable
from .objects import FunctionRef, Null, Object, PointerVariable, Ref, Target, index_type, leaf_table
from .parse import loc_of
from .symbols import Symbol
from .typed import Unit

LIMIT = 60_000  # statements of one flat kernel


class Expressions:
    """State of lowering one kernel, and its expressions. `lower.Lowering` adds statements and calls."""

    def __init__(self, unit: Unit):
        self.unit = unit
        self.out: list[Stmt] = []
        self.names: dict[str, int] = {}
        self.uids = 0
        self.size = 0
        self.regions: list[Region] = []
        self.bindings: dict[int, Object | PointerVariable] = {}  # id(Symbol) -> what it stands for here
        self.targets: dict[PointerVariable, Target | None] = {}  # None: not the same on all paths

    # helpers

    def emit(self, s: Stmt) -> None:
        self.size += 1
        if self.size > LIMIT:
            raise UnsupportedError("C2CU021", f"the kernel has more than {LIMIT} statements after inlining", s.loc)
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

    def fresh(self, name: str, t: Scalar, loc: Loc) -> Variable:
        self.uids += 1
        return Variable(name, t, self.uids, loc)

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
        var = self.fresh(name, value.type, loc)
        self.assign(var, value, loc)
        return Var(var, loc)

    # objects

    def part(self, obj: Object, path: str, loc: Loc) -> Region | Variable:
        """Where a leaf lives: a variable where there is just one, else a region."""
        if path in obj.parts:
            return obj.parts[path]
        t, count = leaf_table(obj.type)[path]
        if not isinstance(t, Scalar):
            raise UnsupportedError("C2CU022", f"'{obj.name}{path}' stores a pointer in memory", loc)
        if t.size == 16:
            raise UnsupportedError("C2CU023", f"'{obj.name}{path}' is long double", loc)
        if count == 1 and obj.storage != "shared":
            new: Region | Variable = self.fresh(obj.name + path.replace(".", "_"), t, obj.loc)
        else:
            new = self.region(obj, path, t, count)
        obj.parts[path] = new
        return new

    def region(self, obj: Object, path: str, t: Scalar, count: int) -> Region:
        new = Region(self.unique(obj.name + path), t, count, obj.storage, self.initial(obj, path), obj.loc)
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
        return tuple(leaf.type.wrap(obj.values.get(o, 0)) for o in offsets)

    def load(self, ref: Ref, loc: Loc) -> Expr:
        """The value of a scalar lvalue."""
        part, viewed = self.leaf(ref, loc)
        if isinstance(part, Variable):
            return bitcast(Var(part, loc), viewed, loc)
        constant = part.init if part.storage == "shared" else None
        if constant and isinstance(ref.index, Const) and 0 <= ref.index.value < part.count:
            return bitcast(Const(constant[int(ref.index.value)], part.type, loc), viewed, loc)
        return bitcast(Load(part, ref.index, loc), viewed, loc)

    def leaf(self, ref: Ref, loc: Loc) -> tuple[Region | Variable, Scalar]:
        if not isinstance(ref.type, Scalar):
            raise UnsupportedError("C2CU022", f"'{ref.object.name}{ref.path}' stores a pointer in memory", loc)
        part = self.part(ref.object, ref.path, loc)
        if part.type.size != ref.type.size:
            raise UnsupportedError("C2CU019", f"'{part.name}' of '{part.type}' is used as '{ref.type}'", loc)
        return part, ref.type

    def store(self, ref: Ref, value: Expr, loc: Loc) -> None:
        """``ref = value``; value has the lvalue's type already."""
        part, viewed = self.leaf(ref, loc)
        value = bitcast(value, part.type, loc)
        if isinstance(part, Variable):
            self.emit(Assign(part, value, loc))
            return
        if part.storage == "shared":
            raise UnsupportedError(
                "C2CU024",
                f"'{ref.object.name}' is shared by all inputs and cannot be written",
                loc,
                "take it out of shared, or write to a copy",
            )
        self.emit(Store(part, ref.index, value, loc))

    def copy(self, to: Ref, source: Ref, loc: Loc) -> None:
        """Struct or array assignment, leaf by leaf."""
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
        k = self.fresh("k", LONG, loc)
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

    # lvalues and pointers

    def lvalue(self, node: C.Node) -> Ref:
        """The object an lvalue designates."""
        loc = loc_of(node)
        match node:
            case C.ID():
                return self.named(node)
            case C.ArrayRef():
                base, subscript = node.name, node.subscript
                if not isinstance(self.unit.value_type(base), Pointer):
                    base, subscript = subscript, base
                index = self.index(subscript)
                return self.pointee(self.pointer(base), self.unit.type(node), loc).moved(index)
            case C.StructRef(type="."):
                return self.object(node.name).member(node.field.name, loc)
            case C.StructRef():
                t = self.unit.value_type(node.name)
                assert isinstance(t, Pointer)
                return self.pointee(self.pointer(node.name), t.to, loc).member(node.field.name, loc)
            case C.UnaryOp(op="*"):
                return self.pointee(self.pointer(node.expr), self.unit.type(node), loc)
            case C.CompoundLiteral():
                obj = Object("literal", self.unit.type(node), "local", loc)
                ref = Ref(obj, "", Const(0, INT), obj.type)
                self.initialise(ref, node.init)
                return ref
        raise UnsupportedError("C2CU014", f"{type(node).__name__} as an object", loc)

    def object(self, node: C.Node) -> Ref:
        """A struct or array value: an lvalue, or a temporary that holds what a call or ``?:`` gives."""
        match node:
            case C.FuncCall():
                result = self.call(node)
                assert isinstance(result, Ref)
                return result
            case C.Assignment() | C.ExprList():
                return self.effect_object(node)
            case C.TernaryOp():
                return self.chosen_object(node)
            case C.Constant():
                raise UnsupportedError("C2CU025", "a string", loc_of(node))
            case C.Cast():
                return self.object(node.expr)
        return self.lvalue(node)

    def effect_object(self, node: C.Node) -> Ref:
        if isinstance(node, C.ExprList):
            for e in node.exprs[:-1]:
                self.effect(e)
            return self.object(node.exprs[-1])
        self.effect(node)
        assert isinstance(node, C.Assignment)
        return self.object(node.lvalue)

    def chosen_object(self, node: C.TernaryOp) -> Ref:
        loc = loc_of(node)
        ref = Ref(Object("chosen", self.unit.type(node), "local", loc), "", Const(0, INT), self.unit.type(node))
        cond = truth(self.value(node.cond))
        self.either(
            cond,
            lambda: self.copy(ref, self.object(node.iftrue), loc),
            lambda: self.copy(ref, self.object(node.iffalse), loc),
            loc,
        )
        return ref

    def named(self, node: C.ID) -> Ref:
        symbol = self.unit.symbol(node)
        bound = self.binding(symbol, loc_of(node))
        if isinstance(bound, PointerVariable):
            raise UnsupportedError("C2CU026", f"a pointer to the pointer '{symbol.name}'", loc_of(node))
        return Ref(bound, "", Const(0, INT), bound.type)

    def binding(self, symbol: Symbol, loc: Loc) -> Object | PointerVariable:
        raise NotImplementedError

    def initialise(self, ref: Ref, init: C.Node) -> None:
        raise NotImplementedError

    def call(self, node: C.FuncCall) -> Expr | Ref | Target | None:
        raise NotImplementedError

    def effect(self, node: C.Node) -> None:
        raise NotImplementedError

    def pointee(self, target: Target, t: CType, loc: Loc) -> Ref:
        match target:
            case Ref():
                return target.viewed(t, loc)
            case Null():
                raise UnsupportedError("C2CU027", "a null pointer is followed", loc)
            case FunctionRef():
                raise UnsupportedError("C2CU027", "a function is used as data", loc)

    def index(self, node: C.Node) -> Expr:
        e = self.value(node)
        return cast(e, index_type(e.type))

    def pointer(self, node: C.Node) -> Target:
        """Where a pointer value points."""
        loc = loc_of(node)
        match node:
            case C.UnaryOp(op="&"):
                if isinstance(self.unit.type(node.expr), Function):
                    return self.pointer(node.expr)
                return self.lvalue(node.expr)
            case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
                return self.step_pointer(node)
            case C.UnaryOp(op="*") if isinstance(self.unit.type(node), Function):
                return self.pointer(node.expr)
            case C.BinaryOp(op="+" | "-"):
                base, by = node.left, node.right
                if not isinstance(self.unit.value_type(base), Pointer):
                    base, by = by, base
                start = self.pointee(self.pointer(base), self.pointed(base), loc)
                index = self.index(by)
                return start.moved(index if node.op == "+" else unary("-", index, index.type, index.loc))
            case C.Cast():
                return self.cast_pointer(node)
            case C.TernaryOp():
                return self.chosen_pointer(node)
            case C.FuncCall():
                result = self.call(node)
                assert isinstance(result, (Ref, Null, FunctionRef)), node
                return result
            case C.Assignment():
                self.effect(node)
                return self.pointer(node.lvalue)
            case C.ExprList():
                for e in node.exprs[:-1]:
                    self.effect(e)
                return self.pointer(node.exprs[-1])
            case C.Constant() if "string" not in node.type and self.unit.constant(node) == 0:
                return Null()
            case C.ID():
                return self.named_pointer(node)
        t = self.unit.type(node)
        if isinstance(t, Array):
            return self.object(node).element(loc)
        raise UnsupportedError("C2CU022", "a pointer that is stored in memory", loc)

    def pointed(self, node: C.Node) -> CType:
        t = self.unit.value_type(node)
        assert isinstance(t, Pointer)
        return t.to

    def named_pointer(self, node: C.ID) -> Target:
        symbol, loc = self.unit.symbol(node), loc_of(node)
        if symbol.kind == "function":
            return FunctionRef(symbol.name)
        if isinstance(symbol.type, Array):
            return self.named(node).element(loc)
        bound = self.binding(symbol, loc)
        if isinstance(bound, Object):
            return self.viewed_border(Ref(bound, "", Const(0, INT), bound.type), symbol, loc)
        return self.current(bound, loc)

    def viewed_border(self, ref: Ref, symbol: Symbol, loc: Loc) -> Target:
        """A pointer parameter of the kernel is bound to the array it points to."""
        if not isinstance(symbol.type, Pointer):
            raise UnsupportedError("C2CU022", f"'{symbol.name}' is no pointer", loc)
        return ref.element(loc) if isinstance(ref.type, Array) and ref.type != symbol.type.to else ref

    def current(self, p: PointerVariable, loc: Loc) -> Target:
        if p not in self.targets:
            raise UnsupportedError("C2CU027", f"pointer '{p.name}' is followed before it is set", loc)
        target = self.targets[p]
        if target is None:
            raise UnsupportedError("C2CU028", f"pointer '{p.name}' may point into different objects here", loc)
        return (
            target if not isinstance(target, Ref) else Ref(target.object, target.path, Var(p.index, loc), target.type)
        )

    def point(self, p: PointerVariable, target: Target, loc: Loc) -> None:
        """``p = target``."""
        if isinstance(target, Ref):
            try:
                target = target.viewed(p.type.to, loc)
            except UnsupportedError:
                pass  # a void pointer, or a view that is cast back before it is used
            self.assign(p.index, target.index, loc)
        self.targets[p] = target

    def step_pointer(self, node: C.UnaryOp) -> Target:
        loc = loc_of(node)
        p = self.pointer_variable(node.expr)
        old = self.current(p, loc)
        if not isinstance(old, Ref):
            raise UnsupportedError("C2CU027", f"'{p.name}' is stepped but points to nothing", loc)
        old = self.pointee(old, p.type.to, loc)
        if node.op.startswith("p"):
            old = Ref(old.object, old.path, self.temporary(old.index, loc, p.name), old.type)
        self.point(p, old.moved(Const(1 if "+" in node.op else -1, INT)), loc)
        return old if node.op.startswith("p") else self.current(p, loc)

    def pointer_variable(self, node: C.Node) -> PointerVariable:
        if isinstance(node, C.ID):
            symbol = self.unit.symbol(node)
            bound = self.binding(symbol, loc_of(node))
            if isinstance(bound, PointerVariable):
                return bound
            if symbol.storage == "param":
                return self.rebound(symbol, bound)
        raise UnsupportedError("C2CU022", "a pointer that is stored in memory", loc_of(node))

    def rebound(self, symbol: Symbol, obj: Object) -> PointerVariable:
        """A pointer parameter of the kernel that the kernel changes: a variable from here on."""
        assert isinstance(symbol.type, Pointer)
        p = PointerVariable(symbol.name, symbol.type, self.fresh(symbol.name, LONG, symbol.loc), symbol.loc)
        self.point(p, self.viewed_border(Ref(obj, "", Const(0, INT), obj.type), symbol, symbol.loc), symbol.loc)
        self.bindings[id(symbol)] = p
        return p

    def cast_pointer(self, node: C.Cast) -> Target:
        loc = loc_of(node)
        if isinstance(self.unit.value_type(node.expr), Scalar):
            if self.unit.constant(node.expr) == 0:
                return Null()
            raise UnsupportedError("C2CU029", "a pointer made from an integer", loc)
        target = self.pointer(node.expr)
        to = self.unit.type(node)
        if isinstance(target, Ref) and isinstance(to, Pointer) and to.to != VOID and not isinstance(to.to, Function):
            try:
                return target.viewed(to.to, loc)
            except UnsupportedError:
                return target  # fine as long as it is cast back: pointee() checks at the access
        return target

    def chosen_pointer(self, node: C.TernaryOp) -> Target:
        loc = loc_of(node)
        t = self.unit.value_type(node)
        assert isinstance(t, Pointer)
        p = PointerVariable("p", t, self.fresh("p", LONG, loc), loc)
        cond = truth(self.value(node.cond))
        self.either(
            cond,
            lambda: self.point(p, self.pointer(node.iftrue), loc),
            lambda: self.point(p, self.pointer(node.iffalse), loc),
            loc,
        )
        return self.current(p, loc)

    # control inside expressions

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

    # scalar values

    def value(self, node: C.Node) -> Expr:
        """The scalar value of an expression, promoted by nobody yet: it has the expression's C type."""
        loc = loc_of(node)
        match node:
            case C.Constant():
                return self.constant(node)
            case C.ID():
                return self.name_value(node)
            case C.ArrayRef() | C.StructRef() | C.UnaryOp(op="*") | C.CompoundLiteral():
                return self.load(self.lvalue(node), loc)
            case C.UnaryOp():
                return self.unary_value(node)
            case C.BinaryOp(op="&&" | "||"):
                return self.logical(node)
            case C.BinaryOp():
                return self.binary_value(node)
            case C.Assignment():
                return self.assignment(node)
            case C.TernaryOp():
                return self.ternary(node)
            case C.Cast():
                return self.cast_value(node)
            case C.FuncCall():
                result = self.call(node)
                if not isinstance(result, (Ref, Null, FunctionRef)) and result is not None:
                    return result
                raise UnsupportedError("C2CU014", "this call as a value", loc)
            case C.ExprList():
                for e in node.exprs[:-1]:
                    self.effect(e)
                return self.value(node.exprs[-1])
        raise UnsupportedError("C2CU014", f"{type(node).__name__} as a value", loc)

    def constant(self, node: C.Node) -> Const:
        t = self.unit.type(node)
        value = self.unit.constant(node)
        if value is None or not isinstance(t, Scalar):
            raise UnsupportedError("C2CU025", "a string", loc_of(node))
        return Const(value, t, loc_of(node))

    def name_value(self, node: C.ID) -> Expr:
        symbol = self.unit.symbol(node)
        if symbol.kind == "constant":
            assert symbol.value is not None and isinstance(symbol.type, Scalar)
            return Const(symbol.value, symbol.type, loc_of(node))
        if isinstance(symbol.type, (Pointer, Array)):
            raise UnsupportedError("C2CU029", f"pointer '{symbol.name}' used as a number", loc_of(node))
        return self.load(self.lvalue(node), loc_of(node))

    def unary_value(self, node: C.UnaryOp) -> Expr:
        loc, op = loc_of(node), node.op
        if op in ("sizeof", "_Alignof"):
            value = self.unit.constant(node)
            assert value is not None
            return Const(value, ULONG, loc)
        if op in ("++", "--", "p++", "p--"):
            return self.step(node)
        if op == "!" and isinstance(self.unit.value_type(node.expr), Pointer):
            return unary("!", self.pointer_truth(node.expr), INT, loc)
        x = self.value(node.expr)
        if op == "!":
            return unary("!", truth(x), INT, loc)
        x = cast(x, promote(x.type))
        return x if op == "+" else unary(op, x, x.type, loc)

    def pointer_truth(self, node: C.Node) -> Expr:
        return Const(0 if isinstance(self.pointer(node), Null) else 1, INT, loc_of(node))

    def condition(self, node: C.Node) -> Expr:
        """A controlling expression, as truth."""
        if isinstance(self.unit.value_type(node), Pointer):
            return self.pointer_truth(node)
        return truth(self.value(node), loc_of(node))

    def step(self, node: C.UnaryOp) -> Expr:
        loc = loc_of(node)
        ref = self.lvalue(node.expr)
        ref = self.pinned(ref, loc)
        old = self.load(ref, loc)
        if node.op.startswith("p"):
            old = self.temporary(old, loc, "old")
        t = common(promote(old.type), INT)
        new = binary("+" if "+" in node.op else "-", cast(old, t), Const(t.wrap(1), t), t, loc)
        self.store(ref, cast(new, old.type), loc)
        return old if node.op.startswith("p") else self.load(ref, loc)

    def pinned(self, ref: Ref, loc: Loc) -> Ref:
        """``ref`` with its index computed once, for an lvalue that is read and then written."""
        if isinstance(ref.index, (Const, Var)) or is_safe(ref.index):
            return ref
        return Ref(ref.object, ref.path, self.temporary(ref.index, ref.index.loc, "index"), ref.type)

    def binary_value(self, node: C.BinaryOp) -> Expr:
        a_type, b_type = self.unit.value_type(node.left), self.unit.value_type(node.right)
        if isinstance(a_type, Pointer) or isinstance(b_type, Pointer):
            return self.pointer_binary(node)
        a = self.value(node.left)
        b = self.value(node.right)
        return self.arithmetic(node.op, a, b, loc_of(node))

    def arithmetic(self, op: str, a: Expr, b: Expr, loc: Loc) -> Expr:
        """``a op b`` with C's conversions."""
        if op in ("<<", ">>"):
            t = promote(a.type)
            return binary(op, cast(a, t), cast(b, promote(b.type)), t, loc)
        t = common(a.type, b.type)
        a, b = cast(a, t), cast(b, t)
        if t.size == 16:
            raise UnsupportedError("C2CU023", "long double arithmetic", loc)
        return binary(op, a, b, INT if op in ("<", "<=", ">", ">=", "==", "!=") else t, loc)

    def pointer_binary(self, node: C.BinaryOp) -> Expr:
        loc = loc_of(node)
        a, b = self.pointer_or_null(node.left), self.pointer_or_null(node.right)
        if not (isinstance(a, Ref) and isinstance(b, Ref)):
            if node.op not in ("==", "!="):
                raise UnsupportedError("C2CU029", "null pointers are compared", loc)
            return Const(int((a == b) == (node.op == "==")), INT, loc)
        if (a.object, a.path) != (b.object, b.path) or a.type != b.type:
            if node.op in ("==", "!=") and a.object is not b.object:
                return Const(int(node.op == "!="), INT, loc)
            raise UnsupportedError("C2CU029", "pointers into different objects are compared or subtracted", loc)
        x, y = cast(a.index, LONG), cast(b.index, LONG)
        return binary(node.op, x, y, LONG if node.op == "-" else INT, loc)

    def pointer_or_null(self, node: C.Node) -> Target:
        if isinstance(self.unit.value_type(node), Scalar):
            if self.unit.constant(node) == 0:
                return Null()
            raise UnsupportedError("C2CU029", "a pointer is compared with a number", loc_of(node))
        return self.pointer(node)

    def logical(self, node: C.BinaryOp) -> Expr:
        loc = loc_of(node)
        a = self.condition(node.left)
        if isinstance(a, Const) and bool(a.value) == (node.op == "||"):
            return Const(int(bool(a.value)), INT, loc)
        before = dict(self.targets)
        with self.block() as right:
            b = self.condition(node.right)
        if not right and is_safe(b, loads(a)):
            return binary(node.op, a, b, INT, loc)
        self.targets = join(before, self.targets)
        result = self.fresh("both" if node.op == "&&" else "any", INT, loc)
        second = (*right, Assign(result, cast(b, INT), loc))
        settled = (Assign(result, Const(int(node.op == "||"), INT), loc),)
        then, other = (second, settled) if node.op == "&&" else (settled, second)
        self.emit(If(a, then, other, True, loc_of(node.left)))
        return Var(result, loc)

    def ternary(self, node: C.TernaryOp) -> Expr:
        loc, t = loc_of(node), self.unit.type(node)
        if not isinstance(t, Scalar) or t == VOID:
            raise UnsupportedError("C2CU014", "?: as a value", loc)
        cond = self.condition(node.cond)
        if isinstance(cond, Const):
            return cast(self.value(node.iftrue if cond.value else node.iffalse), t)
        before = dict(self.targets)
        with self.block() as yes:
            a = cast(self.value(node.iftrue), t)
        after_yes, self.targets = self.targets, before
        with self.block() as no:
            b = cast(self.value(node.iffalse), t)
        self.targets = join(after_yes, self.targets)
        if not yes and not no and is_safe(a, loads(cond)) and is_safe(b, loads(cond)):
            return Select(cond, a, b, t, loc)
        result = self.fresh("chosen", t, loc)
        self.emit(If(cond, (*yes, Assign(result, a, loc)), (*no, Assign(result, b, loc)), True, loc_of(node.cond)))
        return Var(result, loc)

    def cast_value(self, node: C.Cast) -> Expr:
        loc, t = loc_of(node), self.unit.type(node)
        if not isinstance(t, Scalar):
            raise UnsupportedError("C2CU014", f"a cast to '{t}' as a value", loc)
        if isinstance(self.unit.value_type(node.expr), Pointer):
            raise UnsupportedError("C2CU029", "a pointer cast to an integer", loc)
        e = self.value(node.expr)
        return Const(0, INT, loc) if t == VOID else self.converted(e, t, loc)

    def converted(self, e: Expr, t: Scalar, loc: Loc) -> Expr:
        if t.size == 16 or e.type.size == 16:
            raise UnsupportedError("C2CU023", "long double", loc)
        return cast(e, t, loc)

    def assignment(self, node: C.Assignment) -> Expr:
        """A scalar assignment; its value is what was stored."""
        loc = loc_of(node)
        ref = self.lvalue(node.lvalue)
        t = ref.type
        if not isinstance(t, Scalar):
            raise UnsupportedError("C2CU014", "this assignment as a value", loc)
        if node.op == "=":
            value = self.converted(self.value(node.rvalue), t, loc)
        else:
            ref = self.pinned(ref, loc)
            right = self.value(node.rvalue)
            value = self.converted(
                self.arithmetic(node.op[:-1], self.load(ref, loc_of(node.lvalue)), right, loc), t, loc
            )
        self.store(ref, value, loc)
        return self.load(ref, loc) if not isinstance(value, Const) else value

    # library calls

    def library(self, name: str, node: C.FuncCall) -> Expr | None:
        """A call of a C library function: pure ones, and memcpy, memmove, memset."""
        loc = loc_of(node)
        args = node.args.exprs if node.args else []
        name = name.removeprefix("__builtin_")
        if name in ("memcpy", "memmove", "memset"):
            self.memory(name, args, loc)
            return None
        if name in ("inff", "inf", "huge_val", "huge_valf"):
            return Const(math.inf, FLOAT if name in ("inff", "huge_valf") else DOUBLE, loc)
        if name in ("nan", "nanf"):
            return Const(math.nan, FLOAT if name == "nanf" else DOUBLE, loc)
        if name in ("abs", "labs", "llabs"):
            return self.absolute(self.value(args[0]), {"abs": INT}.get(name, LONG), loc)
        if name not in libm.FUNCTIONS:
            raise UnsupportedError("C2CU080", f"library function '{name}'", loc)
        returns, params = libm.FUNCTIONS[name]
        values = []
        for a, t in zip(args, params, strict=True):
            values.append(cast(self.value(a), t))
        return Call(name, tuple(values), returns, loc)

    def absolute(self, x: Expr, t: Scalar, loc: Loc) -> Expr:
        x = cast(x, t)
        return Select(binary("<", x, Const(0, t), INT, loc), unary("-", x, t, loc), x, t, loc)

    def memory(self, name: str, args: list[C.Node], loc: Loc) -> None:
        to = self.scalars(args[0], loc)
        if name == "memset":
            byte = self.value(args[1])
            count = self.elements(args[2], to, loc)
            value = self.filled(byte, to.type, loc)
            self.each(count, lambda k: self.store(to.moved(k), value, loc), loc)
            return
        source = self.scalars(args[1], loc)
        count = self.elements(args[2], to, loc)
        if source.type.size != to.type.size:
            raise UnsupportedError("C2CU019", f"{name} between '{source.type}' and '{to.type}'", loc)
        to, source = (
            Ref(to.object, to.path, self.temporary(to.index, loc), to.type),
            Ref(source.object, source.path, self.temporary(source.index, loc), source.type),
        )

        def move(k: Expr) -> None:
            assert isinstance(to.type, Scalar)
            self.store(to.moved(k), bitcast(self.load(source.moved(k), loc), to.type, loc), loc)

        if name == "memmove" and to.object is source.object:
            later = binary(">", cast(to.index, LONG), cast(source.index, LONG), INT, loc)
            self.either(
                later, lambda: self.each(count, move, loc, True), lambda: self.each(count, move, loc), loc, False
            )
            return
        self.each(count, move, loc)

    def scalars(self, node: C.Node, loc: Loc) -> Ref:
        """The first scalar that a pointer argument points to."""
        target = self.pointer(node)
        if not isinstance(target, Ref):
            raise UnsupportedError("C2CU027", "a null pointer is followed", loc)
        while isinstance(target.type, Array):
            target = target.element(loc)
        if isinstance(target.type, Struct):
            table = leaf_table(target.type)
            sizes = {t.size for t, _ in table.values()}
            if len(table) != 1 or len(sizes) != 1:
                raise UnsupportedError(
                    "C2CU081", "memory function on a struct of several fields", loc, "assign the struct: a = b"
                )
            ((path, (_, count)),) = table.items()
            target = self.below(target, path, count, loc)
        return target

    def elements(self, node: C.Node, ref: Ref, loc: Loc) -> Expr:
        """A byte count as a count of elements."""
        size = ref.type.size
        n = self.value(node)
        if size == 1:
            return n
        if isinstance(n, Const):
            if n.value % size:
                raise UnsupportedError("C2CU081", f"{n.value} bytes are not whole elements of '{ref.type}'", loc)
            return Const(int(n.value) // size, LONG)
        if isinstance(n, Binary) and n.op == "*":
            for a, b in ((n.left, n.right), (n.right, n.left)):
                if isinstance(b, Const) and b.value % size == 0:
                    return binary("*", a, Const(int(b.value) // size, a.type), a.type, loc)
        raise UnsupportedError(
            "C2CU081", f"a byte count that is not written as n * {size}", loc, "write n * sizeof(element)"
        )

    def filled(self, byte: Expr, t: CType, loc: Loc) -> Expr:
        """An element whose bytes all are ``byte``."""
        assert isinstance(t, Scalar)
        if isinstance(byte, Const) and byte.value == 0:
            return Const(t.wrap(0), t, loc)
        if t.size == 1:
            return cast(cast(byte, UCHAR), t)
        if isinstance(byte, Const) and t.is_integer:
            return Const(t.wrap(int.from_bytes(bytes([int(byte.value) & 255]) * t.size, "little")), t, loc)
        raise UnsupportedError("C2CU081", "memset of elements wider than a byte", loc)


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
        return (a.object, a.path, a.type) == (b.object, b.path, b.type)
    return a == b
