"""Lvalues and pointers: the object that an lvalue designates, and where a pointer points."""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue, literals
from ..base.ctype import CHAR, INT, LONG, Array, CType, Function, Pointer, Scalar
from ..base.diagnostics import Loc
from ..frontend.parse import jumps_out, loc_of
from ..ir.fold import cast, unary
from ..ir.nodes import Const, Expr, Rows
from .context import Context
from .memory import copy_object, halves
from .objects import (
    FunctionRef,
    LValue,
    Null,
    Object,
    OneOf,
    Ref,
    Target,
    View,
    index_type,
    whole,
)
from .order import before, in_register
from .pairs import is_complex, is_wide
from .pointers import as_declared, read_pointer, write_pointer
from .wide import narrowed

MOST_PLACES = 16  # that one access is written for


def written(node: C.Node) -> str:
    """The name of the variable that an expression goes through, as far as it has one."""
    while not isinstance(node, C.ID):
        inner = getattr(node, "name", None) or getattr(node, "expr", None)
        if not isinstance(inner, C.Node):
            return "this expression"
        node = inner
    return node.name


def lvalue(cx: Context, node: C.Node) -> LValue:
    """The object an lvalue designates."""
    loc = loc_of(node)
    match node:
        case C.ID():
            return named_object(cx, node)
        case C.ArrayRef():
            base, subscript = node.name, node.subscript
            if not isinstance(cx.unit.value_type(base), Pointer):
                base, subscript = subscript, base
            start = pointee(pointer_value(cx, base), cx.unit.type(node), loc)
            mark = len(cx.out)
            index = index_value(cx, subscript)
            if len(cx.out) > mark:
                start = start_of(cx, base, start, mark, cx.unit.type(node), loc)
            ref = start.moved(index, loc)
            return replace(ref, rows=(*ref.rows, *row_bounds(cx, base, index))) if isinstance(ref, Ref) else ref
        case C.StructRef(type="."):
            return object_value(cx, node.name).member(node.field.name, loc)
        case C.StructRef():
            t = cx.unit.value_type(node.name)
            assert isinstance(t, Pointer)
            return pointee(pointer_value(cx, node.name), cx.unit.declarations.complete(t.to), loc).member(
                node.field.name, loc
            )
        case C.UnaryOp(op="*"):
            return pointee(pointer_value(cx, node.expr), cx.unit.type(node), loc)
        case C.UnaryOp(op="__real" | "__imag") if is_complex(cx.unit.type(node.expr)):
            return halves(lvalue(cx, node.expr))[node.op == "__imag"]
        case C.UnaryOp(op="__real"):
            return lvalue(cx, node.expr)
        case C.CompoundLiteral():
            obj = cx.new_object("literal", cx.unit.type(node), "local", loc)
            ref = whole(obj)
            cx.initialise(ref, node.init)
            return ref
    raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"{type(node).__name__} as an object")


def start_of(cx: Context, base: C.Node, start: LValue, mark: int, t: CType, loc: Loc) -> LValue:
    """Where a pointer pointed before the statements from ``mark`` on, which changed its subscript's variables."""
    if in_register(cx, base):
        return pointee(pointer_value(cx, base), t, loc)
    if isinstance(start, OneOf):
        return start
    index = before(cx, start.index, mark, loc)
    return start if index is start.index else start.at(index)


def row_bounds(cx: Context, base: C.Node, index: Expr) -> Rows:
    """What bounds a subscript of an array that lies within another object."""
    t = cx.unit.types.get(id(base))
    if isinstance(base, C.ID) or not isinstance(t, Array) or t.length is None:
        return ()
    return () if isinstance(index, Const) and 0 <= index.value < t.length else ((index, t.length),)


def object_value(cx: Context, node: C.Node) -> LValue:
    """A struct or array value: an lvalue, or a temporary that holds what a call or ``?:`` gives."""
    match node:
        case C.FuncCall():
            result = cx.call(node)
            assert isinstance(result, (Ref, View, OneOf))
            return result
        case C.Assignment():
            return assign_object(cx, node)
        case C.ExprList() | C.Compound():
            return object_value(cx, last_of(cx, node))
        case C.TernaryOp():
            return chosen_object(cx, node)
        case C.Constant():
            return whole(string_object(cx, node))
        case C.Cast():
            return object_value(cx, node.expr)
    return lvalue(cx, node)


def string_object(cx: Context, node: C.Constant) -> Object:
    """The array that a string literal is."""
    t, loc = cx.unit.type(node), loc_of(node)
    if id(node) not in cx.literals:
        if not isinstance(t, Array) or t.of != CHAR or not node.value.startswith(('"', 'u8"')):
            raise catalogue.STRING.error(loc)
        data = literals.string(node.value) + b"\0"
        values = {k: Const(CHAR.wrap(byte), CHAR, loc) for k, byte in enumerate(data)}
        cx.literals[id(node)] = cx.new_object("string", Array(CHAR, len(data)), "shared", loc, values)
    return cx.literals[id(node)]


def last_of(cx: Context, node: C.ExprList | C.Compound) -> C.Node:
    """The expression whose value a comma expression or GNU's ``({ ... })`` has; what comes before it is lowered."""
    if id(node) in cx.begun:
        rest = cx.begun[id(node)]
        assert rest is not None
        return rest
    if isinstance(node, C.ExprList):
        for e in node.exprs[:-1]:
            cx.effect(e)
        return node.exprs[-1]
    items: list[C.Node] = node.block_items or [C.EmptyStatement(node.coord)]
    *before, last = items
    if jumps_out(node):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc_of(node), construct="a jump in an expression")
    cx.statements(before)
    return last


def assign_object(cx: Context, node: C.Assignment) -> LValue:
    """A struct assignment; the object that was assigned."""
    loc = loc_of(node)
    ref = cx.pinned(lvalue(cx, node.lvalue), loc)
    copy_object(cx, ref, object_value(cx, node.rvalue), loc)
    return ref


def chosen_object(cx: Context, node: C.TernaryOp) -> LValue:
    loc = loc_of(node)
    ref = whole(cx.new_object("chosen", cx.unit.type(node), "local", loc))
    cx.either(
        cx.condition(node.cond),
        lambda: copy_object(cx, ref, object_value(cx, node.iftrue), loc),
        lambda: copy_object(cx, ref, object_value(cx, node.iffalse), loc),
        loc,
    )
    return ref


def named_object(cx: Context, node: C.ID) -> Ref:
    return whole(cx.binding(cx.unit.symbol(node), loc_of(node)))


def pointee(target: Target, t: CType, loc: Loc) -> LValue:
    """What a pointer leads to, as an object of type ``t``."""
    match target:
        case Ref() | View():
            return target.viewed(t, loc)
        case OneOf():
            if len(target.places) > MOST_PLACES:
                raise catalogue.SEVERAL_TARGETS.error(loc, name=target.name)
            if target.places:
                return target.viewed(t, loc)
        case FunctionRef():
            raise catalogue.FUNCTION_AS_DATA.error(loc)
    raise catalogue.NULL_FOLLOWED.error(loc)


def index_value(cx: Context, node: C.Node) -> Expr:
    if is_wide(cx.unit.value_type(node)):
        return narrowed(cx.wide(node), LONG, loc_of(node))
    e = cx.value(node)
    return cast(e, index_type(e.type))


def pointer_value(cx: Context, node: C.Node) -> Target:
    """Where a pointer value points."""
    loc = loc_of(node)
    match node:
        case C.UnaryOp(op="&"):
            if isinstance(cx.unit.type(node.expr), Function):
                return pointer_value(cx, node.expr)
            ref = lvalue(cx, node.expr)
            return replace(ref, rows=()) if isinstance(ref, Ref) else ref  # one past the end has an address
        case C.UnaryOp(op="++" | "--" | "p++" | "p--"):
            return step_pointer(cx, node)
        case C.UnaryOp(op="*") if isinstance(cx.unit.type(node), Function):
            return pointer_value(cx, node.expr)
        case C.BinaryOp(op="+" | "-"):
            base, by = node.left, node.right
            if not isinstance(cx.unit.value_type(base), Pointer):
                base, by = by, base
            if not isinstance(cx.unit.value_type(base), Pointer):
                raise catalogue.POINTER_FROM_NUMBER.error(loc)
            start = pointee(pointer_value(cx, base), pointed_type(cx, base), loc)
            index = index_value(cx, by)
            return start.moved(index if node.op == "+" else unary("-", index, index.type, index.loc), loc)
        case C.Cast():
            return cast_pointer(cx, node)
        case C.TernaryOp():
            return chosen_pointer(cx, node)
        case C.FuncCall():
            result = cx.call(node)
            if not isinstance(result, (Ref, View, OneOf, Null, FunctionRef)):
                raise catalogue.POINTER_FROM_NUMBER.error(loc)
            return result
        case C.Assignment():
            return assign_pointer(cx, node)
        case C.ExprList() | C.Compound():
            return pointer_value(cx, last_of(cx, node))
        case C.Constant() if "string" in node.type:
            return whole(string_object(cx, node)).element(loc)
        case C.ID() if cx.unit.symbol(node).kind == "function":
            return FunctionRef(node.name)
    t = cx.unit.type(node)
    if isinstance(t, Array):
        return object_value(cx, node).element(loc)
    if isinstance(t, Scalar):
        if cx.unit.constant(node) == 0:
            return Null()
        raise catalogue.POINTER_FROM_NUMBER.error(loc)
    return read_pointer(cx, lvalue(cx, node), loc)


def pointed_type(cx: Context, node: C.Node) -> CType:
    t = cx.unit.value_type(node)
    assert isinstance(t, Pointer)
    return cx.unit.declarations.complete(t.to)


def step_pointer(cx: Context, node: C.UnaryOp) -> Target:
    """``++`` or ``--``: the old place or the new one."""
    loc = loc_of(node)
    ref = cx.pinned(lvalue(cx, node.expr), loc)
    old = pointee(read_pointer(cx, ref, loc), pointed_type(cx, node.expr), loc)
    if node.op.startswith("p"):
        old = cx.pinned(old, loc, ref.name.replace(".", "_"))
    write_pointer(cx, ref, old.moved(Const(1 if "+" in node.op else -1, INT), loc), loc)
    return old if node.op.startswith("p") else read_pointer(cx, ref, loc)


def assign_pointer(cx: Context, node: C.Assignment) -> Target:
    """``=``, ``+=`` or ``-=``; where it points then."""
    loc = loc_of(node)
    ref = cx.pinned(lvalue(cx, node.lvalue), loc)
    if node.op == "=":
        write_pointer(cx, ref, pointer_value(cx, node.rvalue), loc)
    else:
        by = index_value(cx, node.rvalue)
        start = pointee(read_pointer(cx, ref, loc), pointed_type(cx, node.lvalue), loc)
        write_pointer(cx, ref, start.moved(by if node.op == "+=" else unary("-", by, by.type, by.loc), loc), loc)
    return read_pointer(cx, ref, loc)


def cast_pointer(cx: Context, node: C.Cast) -> Target:
    loc = loc_of(node)
    target = pointer_value(cx, node.expr)
    to = cx.unit.type(node)
    return as_declared(target, to, loc) if isinstance(to, Pointer) else target


def chosen_pointer(cx: Context, node: C.TernaryOp) -> Target:
    """``c ? p : q``: it may point to either's places."""
    loc, t = loc_of(node), cx.unit.value_type(node)
    assert isinstance(t, Pointer)
    ref = whole(cx.new_object("chosen", t, "local", loc))
    cx.either(
        cx.condition(node.cond),
        lambda: write_pointer(cx, ref, pointer_value(cx, node.iftrue), loc),
        lambda: write_pointer(cx, ref, pointer_value(cx, node.iffalse), loc),
        loc,
    )
    return read_pointer(cx, ref, loc)
