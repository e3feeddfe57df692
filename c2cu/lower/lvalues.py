"""Places: what an lvalue names, what a pointer points to; a pointer is a region and an index into it."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import INT, LONG, VOID, Array, CType, Function, Pointer, Scalar
from ..base.diagnostics import Loc, UnsupportedError
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..ir.fold import cast, truth, unary
from ..ir.nodes import Const, Expr, Rows, Var
from .memory import MemoryState
from .objects import FunctionRef, Null, Object, PointerVariable, Ref, Target, index_type


def written(node: C.Node) -> str:
    """The name of the variable that an expression goes through, as far as it has one."""
    while not isinstance(node, C.ID):
        inner = getattr(node, "name", None) or getattr(node, "expr", None)
        if not isinstance(inner, C.Node):
            return "this expression"
        node = inner
    return node.name


class Lvalues(MemoryState):
    """Lvalues and pointers. What they hold of values and calls is lowered by the classes that come after."""

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
                ref = self.pointee(self.pointer(base), self.unit.type(node), loc).moved(index)
                return replace(ref, rows=(*ref.rows, *self.row(base, index)))
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
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"{type(node).__name__} as an object")

    def row(self, base: C.Node, index: Expr) -> Rows:
        """What bounds a subscript of an array that lies within another object."""
        t = self.unit.types.get(id(base))
        if isinstance(base, C.ID) or not isinstance(t, Array) or t.length is None:
            return ()
        return () if isinstance(index, Const) and 0 <= index.value < t.length else ((index, t.length),)

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
                raise catalogue.STRING.error(loc_of(node))
            case C.Cast():
                return self.object(node.expr)
        return self.lvalue(node)

    def effect_object(self, node: C.Node) -> Ref:
        if isinstance(node, C.ExprList):
            for e in node.exprs[:-1]:
                self.effect(e)
            return self.object(node.exprs[-1])
        assert isinstance(node, C.Assignment)
        return self.assign_object(node)

    def assign_object(self, node: C.Assignment) -> Ref:
        """A struct assignment; the object that was assigned."""
        loc = loc_of(node)
        ref = self.pinned(self.lvalue(node.lvalue), loc)
        self.copy(ref, self.object(node.rvalue), loc)
        return ref

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
            raise catalogue.POINTER_TO_POINTER.error(loc_of(node), name=symbol.name)
        return Ref(bound, "", Const(0, INT), bound.type)

    def pointee(self, target: Target, t: CType, loc: Loc) -> Ref:
        match target:
            case Ref():
                return target.viewed(t, loc)
            case Null():
                raise catalogue.NULL_FOLLOWED.error(loc)
            case FunctionRef():
                raise catalogue.FUNCTION_AS_DATA.error(loc)

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
                return replace(self.lvalue(node.expr), rows=())  # one past the end has an address
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
        raise catalogue.POINTER_IN_MEMORY.error(loc, name=written(node))

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
            return self.viewed_parameter(Ref(bound, "", Const(0, INT), bound.type), symbol, loc)
        return self.current(bound, loc)

    def viewed_parameter(self, ref: Ref, symbol: Symbol, loc: Loc) -> Target:
        """A pointer parameter of the kernel is bound to the array it points to."""
        if not isinstance(symbol.type, Pointer):
            raise catalogue.OTHER_TYPE.error(loc, name=symbol.name, type=symbol.type, other="pointer")
        return ref.element(loc) if isinstance(ref.type, Array) and ref.type != symbol.type.to else ref

    def current(self, p: PointerVariable, loc: Loc) -> Target:
        if p not in self.targets:
            raise catalogue.POINTER_UNSET.error(loc, name=p.name)
        target = self.targets[p]
        if target is None:
            raise catalogue.SEVERAL_TARGETS.error(loc, name=p.name)
        return target.at(Var(p.index, loc)) if isinstance(target, Ref) else target

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
            raise catalogue.NULL_FOLLOWED.error(loc)
        old = self.pointee(old, p.type.to, loc)
        if node.op.startswith("p"):
            old = self.pinned(old, loc, p.name)
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
        raise catalogue.POINTER_IN_MEMORY.error(loc_of(node), name=written(node))

    def rebound(self, symbol: Symbol, obj: Object) -> PointerVariable:
        """A pointer parameter of the kernel that the kernel changes: a variable from here on."""
        assert isinstance(symbol.type, Pointer)
        p = PointerVariable(symbol.name, symbol.type, self.fresh(symbol.name, LONG, symbol.loc), symbol.loc)
        self.point(p, self.viewed_parameter(Ref(obj, "", Const(0, INT), obj.type), symbol, symbol.loc), symbol.loc)
        self.bindings[id(symbol)] = p
        return p

    def cast_pointer(self, node: C.Cast) -> Target:
        loc = loc_of(node)
        if isinstance(self.unit.value_type(node.expr), Scalar):
            if self.unit.constant(node.expr) == 0:
                return Null()
            raise catalogue.POINTER_FROM_NUMBER.error(loc)
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
        p = PointerVariable("p", t, self.made("p", LONG, loc), loc)
        cond = truth(self.value(node.cond))
        self.either(
            cond,
            lambda: self.point(p, self.pointer(node.iftrue), loc),
            lambda: self.point(p, self.pointer(node.iffalse), loc),
            loc,
        )
        return self.current(p, loc)
