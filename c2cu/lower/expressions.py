"""Expressions that give a number: side effects become statements, C's promotions and conversions become casts."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import INT, LONG, ULONG, VOID, Array, Pointer, Scalar, common, promote
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary, cast, is_safe, loads, truth, unary
from ..ir.nodes import Assign, Const, Expr, If, Select, Var
from .context import Context
from .lvalues import lvalue, pointer_value
from .memory import load, store
from .objects import FunctionRef, Null, Ref, Target, join


def value(cx: Context, node: C.Node) -> Expr:
    """The scalar value of an expression, promoted by nobody yet: it has the expression's C type."""
    loc = loc_of(node)
    match node:
        case C.Constant():
            return constant_value(cx, node)
        case C.ID():
            return name_value(cx, node)
        case C.ArrayRef() | C.StructRef() | C.UnaryOp(op="*") | C.CompoundLiteral():
            return load(cx, lvalue(cx, node), loc)
        case C.UnaryOp():
            return unary_value(cx, node)
        case C.BinaryOp(op="&&" | "||"):
            return logical(cx, node)
        case C.BinaryOp():
            return binary_value(cx, node)
        case C.Assignment():
            return assignment(cx, node)
        case C.TernaryOp():
            return ternary(cx, node)
        case C.Cast():
            return cast_value(cx, node)
        case C.FuncCall():
            result = cx.call(node)
            if not isinstance(result, (Ref, Null, FunctionRef)) and result is not None:
                return result
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="the value of this call")
        case C.ExprList():
            for e in node.exprs[:-1]:
                cx.effect(e)
            return cx.value(node.exprs[-1])
    raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=type(node).__name__)


def constant_value(cx: Context, node: C.Node) -> Const:
    t = cx.unit.type(node)
    value = cx.unit.constant(node)
    if value is None or not isinstance(t, Scalar):
        raise catalogue.STRING.error(loc_of(node))
    return Const(value, t, loc_of(node))


def name_value(cx: Context, node: C.ID) -> Expr:
    symbol = cx.unit.symbol(node)
    if symbol.kind == "constant":
        assert symbol.value is not None and isinstance(symbol.type, Scalar)
        return Const(symbol.value, symbol.type, loc_of(node))
    if isinstance(symbol.type, (Pointer, Array)):
        raise catalogue.POINTER_AS_NUMBER.error(loc_of(node))
    return load(cx, lvalue(cx, node), loc_of(node))


def unary_value(cx: Context, node: C.UnaryOp) -> Expr:
    loc, op = loc_of(node), node.op
    if op in ("sizeof", "_Alignof"):
        value = cx.unit.constant(node)
        assert value is not None
        return Const(value, ULONG, loc)
    if op in ("++", "--", "p++", "p--"):
        return increment(cx, node)
    if op == "!" and isinstance(cx.unit.value_type(node.expr), Pointer):
        return unary("!", pointer_truth(cx, node.expr), INT, loc)
    x = cx.value(node.expr)
    if op == "!":
        return unary("!", truth(x), INT, loc)
    x = cast(x, promote(x.type))
    return x if op == "+" else unary(op, x, x.type, loc)


def pointer_truth(cx: Context, node: C.Node) -> Expr:
    return Const(0 if isinstance(pointer_value(cx, node), Null) else 1, INT, loc_of(node))


def condition(cx: Context, node: C.Node) -> Expr:
    """A controlling expression, as truth."""
    if isinstance(cx.unit.value_type(node), Pointer):
        return pointer_truth(cx, node)
    return truth(cx.value(node), loc_of(node))


def increment(cx: Context, node: C.UnaryOp, used: bool = True) -> Expr:
    """``++`` or ``--``; its value, which no one may ask for unless ``used``."""
    loc, after = loc_of(node), node.op.startswith("p")
    ref = lvalue(cx, node.expr)
    if used:
        ref = stable(cx, ref)
    old = load(cx, ref, loc)
    if after and used:
        old = cx.saved(old, loc, "old")
    t = common(promote(old.type), INT)
    new = binary("+" if "+" in node.op else "-", cast(old, t), Const(t.wrap(1), t), t, loc)
    store(cx, ref, cast(new, old.type), loc)
    return old if after else load(cx, ref, loc)


def stable(cx: Context, ref: Ref) -> Ref:
    """``ref`` with an index that storing to it does not change."""
    return cx.pinned(ref, ref.index.loc, "index") if loads(ref.index) else ref


def binary_value(cx: Context, node: C.BinaryOp) -> Expr:
    a_type, b_type = cx.unit.value_type(node.left), cx.unit.value_type(node.right)
    if isinstance(a_type, Pointer) or isinstance(b_type, Pointer):
        return pointer_binary(cx, node)
    a = cx.value(node.left)
    b = cx.value(node.right)
    return arithmetic(node.op, a, b, loc_of(node))


def arithmetic(op: str, a: Expr, b: Expr, loc: Loc) -> Expr:
    """``a op b`` with C's conversions."""
    if op in ("<<", ">>"):
        t = promote(a.type)
        return binary(op, cast(a, t), cast(b, promote(b.type)), t, loc)
    t = common(a.type, b.type)
    a, b = cast(a, t), cast(b, t)
    if t.size == 16:
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    return binary(op, a, b, INT if op in ("<", "<=", ">", ">=", "==", "!=") else t, loc)


def pointer_binary(cx: Context, node: C.BinaryOp) -> Expr:
    loc = loc_of(node)
    a, b = pointer_or_null(cx, node.left), pointer_or_null(cx, node.right)
    if not (isinstance(a, Ref) and isinstance(b, Ref)):
        if node.op not in ("==", "!="):
            raise catalogue.NULL_COMPARED.error(loc)
        return Const(int((a == b) == (node.op == "==")), INT, loc)
    if (a.object, a.path) != (b.object, b.path) or a.type != b.type:
        if node.op in ("==", "!=") and a.object is not b.object:
            return Const(int(node.op == "!="), INT, loc)
        raise catalogue.DIFFERENT_OBJECTS.error(loc)
    x, y = cast(a.index, LONG), cast(b.index, LONG)
    return binary(node.op, x, y, LONG if node.op == "-" else INT, loc)


def pointer_or_null(cx: Context, node: C.Node) -> Target:
    if isinstance(cx.unit.value_type(node), Scalar):
        if cx.unit.constant(node) == 0:
            return Null()
        raise catalogue.POINTER_AS_NUMBER.error(loc_of(node))
    return pointer_value(cx, node)


def logical(cx: Context, node: C.BinaryOp) -> Expr:
    loc = loc_of(node)
    a = condition(cx, node.left)
    if isinstance(a, Const) and bool(a.value) == (node.op == "||"):
        return Const(int(bool(a.value)), INT, loc)
    before = dict(cx.targets)
    with cx.block() as right:
        b = condition(cx, node.right)
    if not right and is_safe(b, loads(a)):
        return binary(node.op, a, b, INT, loc)
    cx.targets = join(before, cx.targets)
    result = cx.fresh_temporary("both" if node.op == "&&" else "any", INT, loc)
    if node.op == "&&":
        cx.conjunctions.add(result)
    second = (*right, Assign(result, cast(b, INT), loc))
    settled = (Assign(result, Const(int(node.op == "||"), INT), loc),)
    then, other = (second, settled) if node.op == "&&" else (settled, second)
    cx.emit(If(a, then, other, True, loc_of(node.left)))
    return Var(result, loc)


def ternary(cx: Context, node: C.TernaryOp) -> Expr:
    loc, t = loc_of(node), cx.unit.type(node)
    if not isinstance(t, Scalar) or t == VOID:
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="this ?:")
    cond = condition(cx, node.cond)
    if isinstance(cond, Const):
        return cast(cx.value(node.iftrue if cond.value else node.iffalse), t)
    before = dict(cx.targets)
    with cx.block() as yes:
        a = cast(cx.value(node.iftrue), t)
    after_yes, cx.targets = cx.targets, before
    with cx.block() as no:
        b = cast(cx.value(node.iffalse), t)
    cx.targets = join(after_yes, cx.targets)
    if not yes and not no and is_safe(a, loads(cond)) and is_safe(b, loads(cond)):
        return Select(cond, a, b, t, loc)
    result = cx.fresh_temporary("chosen", t, loc)
    cx.emit(If(cond, (*yes, Assign(result, a, loc)), (*no, Assign(result, b, loc)), True, loc_of(node.cond)))
    return Var(result, loc)


def cast_value(cx: Context, node: C.Cast) -> Expr:
    loc, t = loc_of(node), cx.unit.type(node)
    if not isinstance(t, Scalar):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"a cast to '{t}'")
    if isinstance(cx.unit.value_type(node.expr), Pointer):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    e = cx.value(node.expr)
    return Const(0, INT, loc) if t == VOID else converted(e, t, loc)


def converted(e: Expr, t: Scalar, loc: Loc) -> Expr:
    if t.size == 16 or e.type.size == 16:
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    return cast(e, t, loc)


def assignment(cx: Context, node: C.Assignment, used: bool = True) -> Expr:
    """A scalar assignment; its value, which no one may ask for unless ``used``, is what was stored."""
    loc = loc_of(node)
    ref = lvalue(cx, node.lvalue)
    if used:
        ref = stable(cx, ref)
    t = ref.type
    if not isinstance(t, Scalar):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="the value of this assignment")
    if node.op == "=":
        value = converted(cx.value(node.rvalue), t, loc)
    else:
        right = cx.value(node.rvalue)
        value = converted(arithmetic(node.op[:-1], load(cx, ref, loc_of(node.lvalue)), right, loc), t, loc)
    store(cx, ref, value, loc)
    return load(cx, ref, loc) if not isinstance(value, Const) else value
