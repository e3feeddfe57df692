"""Lvalues and pointers: the object that an lvalue designates, and where a pointer points."""

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
from .context import Context
from .memory import copy_object
from .objects import (
    FunctionRef,
    Null,
    Object,
    PointerVariable,
    Ref,
    Target,
    index_type,
    whole,
)


def written(node: C.Node) -> str:
    """The name of the variable that an expression goes through, as far as it has one."""
    while not isinstance(node, C.ID):
        inner = getattr(node, "name", None) or getattr(node, "expr", None)
        if not isinstance(inner, C.Node):
            return "this expression"
        node = inner
    return node.name


def lvalue(cx: Context, node: C.Node) -> Ref:
    """The object an lvalue designates."""
    loc = loc_of(node)
    match node:
        case C.ID():
            return named_object(cx, node)
        case C.ArrayRef():
            base, subscript = node.name, node.subscript
            if not isinstance(cx.unit.value_type(base), Pointer):
                base, subscript = subscript, base
            index = index_value(cx, subscript)
            ref = pointee(pointer_value(cx, base), cx.unit.type(node), loc).moved(index)
            return replace(ref, rows=(*ref.rows, *row_bounds(cx, base, index)))
        case C.StructRef(type="."):
            return object_value(cx, node.name).member(node.field.name, loc)
        case C.StructRef():
            t = cx.unit.value_type(node.name)
            assert isinstance(t, Pointer)
            return pointee(pointer_value(cx, node.name), t.to, loc).member(node.field.name, loc)
        case C.UnaryOp(op="*"):
            return pointee(pointer_value(cx, node.expr), cx.unit.type(node), loc)
        case C.CompoundLiteral():
            obj = Object("literal", cx.unit.type(node), "local", loc)
            ref = whole(obj)
            cx.initialise(ref, node.init)
            return ref
    raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"{type(node).__name__} as an object")


def row_bounds(cx: Context, base: C.Node, index: Expr) -> Rows:
    """What bounds a subscript of an array that lies within another object."""
    t = cx.unit.types.get(id(base))
    if isinstance(base, C.ID) or not isinstance(t, Array) or t.length is None:
        return ()
    return () if isinstance(index, Const) and 0 <= index.value < t.length else ((index, t.length),)


def object_value(cx: Context, node: C.Node) -> Ref:
    """A struct or array value: an lvalue, or a temporary that holds what a call or ``?:`` gives."""
    match node:
        case C.FuncCall():
            result = cx.call(node)
            assert isinstance(result, Ref)
            return result
        case C.Assignment() | C.ExprList():
            return effect_object(cx, node)
        case C.TernaryOp():
            return chosen_object(cx, node)
        case C.Constant():
            raise catalogue.STRING.error(loc_of(node))
        case C.Cast():
            return object_value(cx, node.expr)
    return lvalue(cx, node)


def effect_object(cx: Context, node: C.Node) -> Ref:
    if isinstance(node, C.ExprList):
        for e in node.exprs[:-1]:
            cx.effect(e)
        return object_value(cx, node.exprs[-1])
    assert isinstance(node, C.Assignment)
    return assign_object(cx, node)


def assign_object(cx: Context, node: C.Assignment) -> Ref:
    """A struct assignment; the object that was assigned."""
    loc = loc_of(node)
    ref = cx.pinned(lvalue(cx, node.lvalue), loc)
    copy_object(cx, ref, object_value(cx, node.rvalue), loc)
    return ref


def chosen_object(cx: Context, node: C.TernaryOp) -> Ref:
    loc = loc_of(node)
    ref = Ref(Object("chosen", cx.unit.type(node), "local", loc), "", Const(0, INT), cx.unit.type(node))
    cond = truth(cx.value(node.cond))
    cx.either(
        cond,
        lambda: copy_object(cx, ref, object_value(cx, node.iftrue), loc),
        lambda: copy_object(cx, ref, object_value(cx, node.iffalse), loc),
        loc,
    )
    return ref


def named_object(cx: Context, node: C.ID) -> Ref:
    symbol = cx.unit.symbol(node)
    bound = cx.binding(symbol, loc_of(node))
    if isinstance(bound, PointerVariable):
        raise catalogue.POINTER_TO_POINTER.error(loc_of(node), name=symbol.name)
    return whole(bound)


def pointee(target: Target, t: CType, loc: Loc) -> Ref:
    match target:
        case Ref():
            return target.viewed(t, loc)
        case Null():
            raise catalogue.NULL_FOLLOWED.error(loc)
        case FunctionRef():
            raise catalogue.FUNCTION_AS_DATA.error(loc)


def index_value(cx: Context, node: C.Node) -> Expr:
    e = cx.value(node)
    return cast(e, index_type(e.type))


def pointer_value(cx: Context, node: C.Node) -> Target:
    """Where a pointer value points."""
    loc = loc_of(node)
    match node:
        case C.UnaryOp(op="&"):
            if isinstance(cx.unit.type(node.expr), Function):
                return pointer_value(cx, node.expr)
            return replace(lvalue(cx, node.expr), rows=())  # one past the end has an address
        case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
            return step_pointer(cx, node)
        case C.UnaryOp(op="*") if isinstance(cx.unit.type(node), Function):
            return pointer_value(cx, node.expr)
        case C.BinaryOp(op="+" | "-"):
            base, by = node.left, node.right
            if not isinstance(cx.unit.value_type(base), Pointer):
                base, by = by, base
            start = pointee(pointer_value(cx, base), pointed_type(cx, base), loc)
            index = index_value(cx, by)
            return start.moved(index if node.op == "+" else unary("-", index, index.type, index.loc))
        case C.Cast():
            return cast_pointer(cx, node)
        case C.TernaryOp():
            return chosen_pointer(cx, node)
        case C.FuncCall():
            result = cx.call(node)
            assert isinstance(result, (Ref, Null, FunctionRef)), node
            return result
        case C.Assignment():
            cx.effect(node)
            return pointer_value(cx, node.lvalue)
        case C.ExprList():
            for e in node.exprs[:-1]:
                cx.effect(e)
            return pointer_value(cx, node.exprs[-1])
        case C.Constant() if "string" not in node.type and cx.unit.constant(node) == 0:
            return Null()
        case C.ID():
            return named_pointer(cx, node)
    t = cx.unit.type(node)
    if isinstance(t, Array):
        return object_value(cx, node).element(loc)
    raise catalogue.POINTER_IN_MEMORY.error(loc, name=written(node))


def pointed_type(cx: Context, node: C.Node) -> CType:
    t = cx.unit.value_type(node)
    assert isinstance(t, Pointer)
    return t.to


def named_pointer(cx: Context, node: C.ID) -> Target:
    symbol, loc = cx.unit.symbol(node), loc_of(node)
    if symbol.kind == "function":
        return FunctionRef(symbol.name)
    if isinstance(symbol.type, Array):
        return named_object(cx, node).element(loc)
    bound = cx.binding(symbol, loc)
    if isinstance(bound, Object):
        return viewed_parameter(whole(bound), symbol, loc)
    return current_target(cx, bound, loc)


def viewed_parameter(ref: Ref, symbol: Symbol, loc: Loc) -> Target:
    """A pointer parameter of the kernel is bound to the array it points to."""
    if not isinstance(symbol.type, Pointer):
        raise catalogue.OTHER_TYPE.error(loc, name=symbol.name, type=symbol.type, other="pointer")
    return ref.element(loc) if isinstance(ref.type, Array) and ref.type != symbol.type.to else ref


def current_target(cx: Context, p: PointerVariable, loc: Loc) -> Target:
    if p not in cx.targets:
        raise catalogue.POINTER_UNSET.error(loc, name=p.name)
    target = cx.targets[p]
    if target is None:
        raise catalogue.SEVERAL_TARGETS.error(loc, name=p.name)
    return target.at(Var(p.index, loc)) if isinstance(target, Ref) else target


def set_pointer(cx: Context, p: PointerVariable, target: Target, loc: Loc) -> None:
    """``p = target``."""
    if isinstance(target, Ref):
        try:
            target = target.viewed(p.type.to, loc)
        except UnsupportedError:
            pass  # a void pointer, or a view that is cast back before it is used
        cx.assign(p.index, target.index, loc)
    cx.targets[p] = target


def step_pointer(cx: Context, node: C.UnaryOp) -> Target:
    loc = loc_of(node)
    p = pointer_variable(cx, node.expr)
    old = current_target(cx, p, loc)
    if not isinstance(old, Ref):
        raise catalogue.NULL_FOLLOWED.error(loc)
    old = pointee(old, p.type.to, loc)
    if node.op.startswith("p"):
        old = cx.pinned(old, loc, p.name)
    set_pointer(cx, p, old.moved(Const(1 if "+" in node.op else -1, INT)), loc)
    return old if node.op.startswith("p") else current_target(cx, p, loc)


def pointer_variable(cx: Context, node: C.Node) -> PointerVariable:
    if isinstance(node, C.ID):
        symbol = cx.unit.symbol(node)
        bound = cx.binding(symbol, loc_of(node))
        if isinstance(bound, PointerVariable):
            return bound
        if symbol.storage == "param":
            return rebound(cx, symbol, bound)
    raise catalogue.POINTER_IN_MEMORY.error(loc_of(node), name=written(node))


def rebound(cx: Context, symbol: Symbol, obj: Object) -> PointerVariable:
    """A pointer parameter of the kernel that the kernel changes: a variable from here on."""
    assert isinstance(symbol.type, Pointer)
    p = PointerVariable(symbol.name, symbol.type, cx.fresh(symbol.name, LONG, symbol.loc), symbol.loc)
    set_pointer(cx, p, viewed_parameter(whole(obj), symbol, symbol.loc), symbol.loc)
    cx.bindings[id(symbol)] = p
    return p


def cast_pointer(cx: Context, node: C.Cast) -> Target:
    loc = loc_of(node)
    if isinstance(cx.unit.value_type(node.expr), Scalar):
        if cx.unit.constant(node.expr) == 0:
            return Null()
        raise catalogue.POINTER_FROM_NUMBER.error(loc)
    target = pointer_value(cx, node.expr)
    to = cx.unit.type(node)
    if isinstance(target, Ref) and isinstance(to, Pointer) and to.to != VOID and not isinstance(to.to, Function):
        try:
            return target.viewed(to.to, loc)
        except UnsupportedError:
            return target  # fine as long as it is cast back: pointee() checks at the access
    return target


def chosen_pointer(cx: Context, node: C.TernaryOp) -> Target:
    loc = loc_of(node)
    t = cx.unit.value_type(node)
    assert isinstance(t, Pointer)
    p = PointerVariable("p", t, cx.fresh_temporary("p", LONG, loc), loc)
    cond = truth(cx.value(node.cond))
    cx.either(
        cond,
        lambda: set_pointer(cx, p, pointer_value(cx, node.iftrue), loc),
        lambda: set_pointer(cx, p, pointer_value(cx, node.iffalse), loc),
        loc,
    )
    return current_target(cx, p, loc)
