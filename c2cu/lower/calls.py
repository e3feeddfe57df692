"""Calls: every function is inlined, its parameters bound to what they stand for."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, LONG, VOID, Pointer, Scalar
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..frontend.typed import FunctionDef
from ..ir.nodes import Const, Expr, Var, Variable
from .context import Context, Frame
from .expressions import converted
from .library import library_call
from .lvalues import current_target, object_value, pointer_value, set_pointer
from .memory import copy_object, store
from .objects import FunctionRef, Object, PointerVariable, Ref, Target, whole


def function_body(cx: Context, f: FunctionDef) -> None:
    """The statements of the innermost frame's function."""
    frame = cx.frames[-1]
    outer, cx.jumps = cx.jumps, []
    cx.assign(frame.flag, Const(0, BOOL), f.loc)
    cx.statements(f.node.body.block_items or [])
    cx.meet(frame.exits)
    cx.jumps = outer


def call(cx: Context, node: C.FuncCall) -> Expr | Ref | Target | None:
    """Inline a call: its value, the object that it returns, or where the pointer that it returns points."""
    loc = loc_of(node)
    callee = callee_name(cx, node)
    if callee not in cx.unit.functions:
        return library_call(cx, callee, node)
    f = cx.unit.require(callee)
    args = node.args.exprs if node.args else []
    if len(args) != len(f.params):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"a call of '{callee}' with {len(args)} arguments")
    saved = {id(p): cx.bindings.get(id(p)) for p in f.params}
    bound = [argument(cx, p, a) for p, a in zip(f.params, args)]
    cx.bindings.update(zip((id(p) for p in f.params), bound))
    frame = Frame(f, cx.exit_flag("returned", f.loc), result_place(cx, f))
    cx.frames.append(frame)
    function_body(cx, f)
    cx.frames.pop()
    cx.bindings.update((k, v) for k, v in saved.items() if v is not None)
    match frame.result:
        case Variable():
            return Var(frame.result, loc)
        case Object():
            return whole(frame.result)
        case PointerVariable():
            return current_target(cx, frame.result, loc)
    return None


def callee_name(cx: Context, node: C.FuncCall) -> str:
    """The name of the function that is called, by itself or through a pointer that is known."""
    if isinstance(node.name, C.ID) and cx.unit.symbol(node.name).kind == "function":
        return node.name.name
    target = pointer_value(cx, node.name)
    if not isinstance(target, FunctionRef):
        raise catalogue.INDIRECT_CALL.error(loc_of(node))
    return target.name


def result_place(cx: Context, f: FunctionDef) -> Variable | Object | PointerVariable | None:
    """What holds a function's result."""
    t = f.returns
    if t == VOID:
        return None
    if isinstance(t, Pointer):
        return PointerVariable(f.name, t, cx.fresh(f.name, LONG, f.loc), f.loc)
    if isinstance(t, Scalar):
        return cx.fresh(f.name, t, f.loc)
    return Object(f.name, t, "local", f.loc)


def argument(cx: Context, p: Symbol, node: C.Node) -> Object | PointerVariable:
    """A parameter, holding the argument's value."""
    loc = loc_of(node)
    if isinstance(p.type, Pointer):
        variable = PointerVariable(p.name, p.type, cx.fresh(p.name, LONG, loc), p.loc)
        target = pointer_value(cx, node)
        set_pointer(cx, variable, target, loc)
        return variable
    obj = Object(p.name, p.type, "local", p.loc, volatile=p.volatile)
    ref = Ref(obj, "", Const(0, INT), p.type)
    if isinstance(p.type, Scalar):
        store(cx, ref, converted(cx.value(node), p.type, loc), loc)
    else:
        copy_object(cx, ref, object_value(cx, node), loc)
    return obj
