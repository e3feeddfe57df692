"""Expressions that give a number: side effects become statements, C's promotions and conversions become casts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, INT, LDOUBLE, LONG, ULONG, VOID, Array, Pointer, Scalar, common, promote
from ..base.diagnostics import Loc
from ..base.literals import is_double
from ..frontend.choices import chooses_constant, is_float
from ..frontend.parse import loc_of
from ..ir.evaluate import COMPARISONS
from ..ir.fold import add, binary, cast, is_safe, loads, multiply, truth, unary
from ..ir.nodes import NOWHERE, Assign, Const, Expr, If, Select, Unary, Var
from .complex import arithmetic as complex_arithmetic
from .complex import compared as compared_complex
from .complex import is_true as is_complex_true
from .complex import ordered, real
from .context import Context
from .long_double import as_double
from .lvalues import last_of, lvalue, pointer_value
from .memory import load, store
from .objects import Complex, FunctionRef, LValue, Null, OneOf, Ref, Single, Target, View, seen_as, step_of
from .order import before, has_effects, in_register, read_last, right_first, value_first, without_value
from .pairs import is_complex, is_pair, is_wide, unsupported
from .wide import arithmetic as wide_arithmetic
from .wide import compared as compared_wide
from .wide import is_true, narrowed, widened
from .zeros import is_integer_zero, is_zero, never_minus_zero

V = TypeVar("V")


def value(cx: Context, node: C.Node) -> Expr:
    """The scalar value of an expression, promoted by nobody yet: it has the expression's C type."""
    loc = loc_of(node)
    value_type = cx.unit.types.get(id(node))
    if isinstance(value_type, Scalar) and is_pair(value_type):
        raise unsupported("this use of a number", value_type, loc)
    match node:
        case C.Constant():
            return constant_value(cx, node)
        case C.ID():
            return name_value(cx, node)
        case C.ArrayRef() | C.StructRef() | C.UnaryOp(op="*") | C.CompoundLiteral():
            return load(cx, lvalue(cx, node), loc)
        case C.UnaryOp():
            return unary_value(cx, node)
        case C.BinaryOp(op="&&" | "||") if id(node) not in cx.begun:
            return logical(cx, node)
        case C.BinaryOp():
            return in_order(cx, node)
        case C.Assignment():
            return assignment(cx, node)
        case C.TernaryOp():
            return ternary(cx, node)
        case C.Cast():
            return cast_value(cx, node)
        case C.FuncCall():
            result = cx.call(node)
            if isinstance(result, (Ref, View, OneOf)) and isinstance(result.type, Scalar):
                return load(cx, result, loc)
            if not isinstance(result, (Ref, View, OneOf, Null, FunctionRef, Complex)) and result is not None:
                return result
            raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="the value of this call")
        case C.ExprList() | C.Compound():
            return cx.value(last_of(cx, node))
    raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=type(node).__name__)


def constant_value(cx: Context, node: C.Node) -> Const:
    t = cx.unit.type(node)
    value = cx.unit.constant(node)
    if value is None or not isinstance(t, Scalar):
        raise catalogue.STRING.error(loc_of(node))
    if t == LDOUBLE and not (isinstance(node, C.Constant) and is_double(node.value)):
        raise catalogue.LONG_DOUBLE.error(loc_of(node), what="a value")
    return Const(t.wrap(value), t, loc_of(node))


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
        return Const(int(value), ULONG, loc)
    if op in ("++", "--", "p++", "p--"):
        return increment(cx, node)
    if op in ("__real", "__imag"):
        return part_value(cx, node)
    if op == "!":
        return unary("!", cx.condition(node.expr), INT, loc)
    x = cx.value(node.expr)
    x = cast(x, promote(x.type))
    return x if op == "+" else negated(op, x, loc)


def negated(op: str, x: Expr, loc: Loc) -> Expr:
    """``-x`` or ``~x``. Of a long double, x87 has the value: what is too large for a short is another one there."""
    if x.type == LDOUBLE and not isinstance(x, Const):
        raise catalogue.LONG_DOUBLE.error(loc, what="a value")
    return unary(op, x, x.type, loc)


def part_value(cx: Context, node: C.UnaryOp) -> Expr:
    """GNU's ``__real__ z`` or ``__imag__ z``."""
    loc, second = loc_of(node), node.op == "__imag"
    if isinstance(node.expr, (C.ID, C.ArrayRef, C.StructRef)) and is_complex(cx.unit.type(node.expr)):
        return load(cx, lvalue(cx, node), loc)  # the other part need not be set
    if is_complex(cx.unit.type(node.expr)):
        return cx.complex(node.expr).parts[second]
    x = cx.value(node.expr)
    return Const(x.type.wrap(0), x.type, loc) if second else x


def pointer_truth(cx: Context, node: C.Node) -> Expr:
    """Whether a pointer is not null."""
    loc = loc_of(node)
    match pointer_value(cx, node):
        case Null():
            return Const(0, INT, loc)
        case OneOf(tag=tag, targets=targets) if any(isinstance(t, Null) for _, t in targets):
            test: Expr = Const(1, INT, loc)
            for n, t in targets:
                if isinstance(t, Null):
                    one = binary("!=", tag, Const(n, INT), INT, loc)
                    test = one if isinstance(test, Const) else binary("&&", test, one, INT, loc)
            return test
    return Const(1, INT, loc)


def condition(cx: Context, node: C.Node) -> Expr:
    """A controlling expression, as truth."""
    if isinstance(cx.unit.value_type(node), Pointer):
        return pointer_truth(cx, node)
    if is_wide(cx.unit.type(node)):
        return is_true(cx.wide(node), loc_of(node))
    if is_complex(cx.unit.type(node)):
        return is_complex_true(cx.complex(node), loc_of(node))
    x = cx.value(node)
    return truth(as_double(x, loc_of(node)) if x.type == LDOUBLE else x, loc_of(node))


def increment(cx: Context, node: C.UnaryOp, used: bool = True) -> Expr:
    """``++`` or ``--``; its value, which no one may ask for unless ``used``."""
    loc, after = loc_of(node), node.op.startswith("p")
    ref = lvalue(cx, node.expr)
    if used:
        ref = stable(cx, ref)
    old = load(cx, ref, loc_of(node.expr))
    if after and used:
        old = cx.saved(old, loc, "old")
    t = common(promote(old.type), INT)
    new = binary("+" if "+" in node.op else "-", cast(old, t), Const(t.wrap(1), t), t, loc)
    assert isinstance(ref.type, Scalar)
    store(cx, ref, cast(new, ref.type), loc)
    return old if after else load(cx, ref, loc)


def stable(cx: Context, ref: LValue) -> LValue:
    """``ref`` with an index that storing to it does not change."""
    if isinstance(ref, OneOf) or loads(ref.index):
        return cx.pinned(ref, NOWHERE if isinstance(ref, OneOf) else ref.index.loc, "index")
    return ref


def operands(cx: Context, node: C.BinaryOp) -> tuple[Expr, Expr]:
    """Their values, read in gcc's order."""
    loc = loc_of(node)
    if right_first(cx, node):
        b = cx.value(node.right)
        mark = len(cx.out)
        a = cx.value(node.left)
        return a, before(cx, b, mark, loc)
    a = cx.value(node.left)
    mark = len(cx.out)
    b = cx.value(node.right)
    if len(cx.out) == mark:
        return a, b
    late = read_last(cx, node.op, node.left) and (a.type.is_float, a.type.size) == (b.type.is_float, b.type.size)
    return cx.value(node.left) if late or in_register(cx, node.left) else before(cx, a, mark, loc), b


def in_order(cx: Context, node: C.BinaryOp) -> Expr:
    """An operation; the parts that do not make its value come first."""
    t = cx.unit.type(node)
    if id(node) in cx.begun:
        assert isinstance(t, Scalar)
        return Const(int(node.op == "||"), t, loc_of(node))
    return parts_first(cx, node, lambda: cx.value(node) if id(node) in cx.begun else binary_value(cx, node))


def parts_first(cx: Context, node: C.BinaryOp, value: Callable[[], V]) -> V:
    """What ``value()`` gives for an operation, after the parts that do not make its value."""
    begun = [part for part in without_value(cx, node) if id(part) not in cx.begun]
    for part in begun:
        cx.begun[id(part)] = begin(cx, part)
    try:
        return value()
    finally:
        for part in begun:
            del cx.begun[id(part)]


def begin(cx: Context, part: C.ExprList | C.BinaryOp) -> C.Node | None:
    """Lower what does not make a part's value; the expression that does, None for a constant."""
    if isinstance(part, C.ExprList):
        return last_of(cx, part)
    if part.op in ("&&", "||"):
        cx.effect(part.left)
        return None
    factors = sorted((part.left, part.right), key=lambda x: not is_integer_zero(cx, x))
    for x in factors:
        cx.effect(x)
    return None


def binary_value(cx: Context, node: C.BinaryOp) -> Expr:
    a_type, b_type = cx.unit.value_type(node.left), cx.unit.value_type(node.right)
    if isinstance(a_type, Pointer) or isinstance(b_type, Pointer):
        return pointer_binary(cx, node)
    loc = loc_of(node)
    if is_wide(b_type) and node.op in ("<<", ">>"):
        a = cx.value(node.left)
        return arithmetic(node.op, a, number(cx, node.right, INT, loc), loc)
    if is_wide(a_type) or is_wide(b_type):
        assert isinstance(a_type, Scalar) and isinstance(b_type, Scalar)
        t = common(a_type, b_type)
        return compared_wide(node.op, cx.wide(node.left, t), cx.wide(node.right, t), loc)
    negated = node.op == "&" and isinstance(node.left, C.UnaryOp) and node.left.op == "-"
    pointer = address(cx, node.left.expr if negated else node.left) if node.op in ("&", "%") else None
    if pointer is not None and isinstance(bits := cx.value(node.right), Const):
        low = alignment_of(pointer_value(cx, pointer), node.op, bits, loc)
        low = binary("&", unary("-", low, ULONG, loc), cast(bits, ULONG), ULONG, loc) if negated else low
        t = cx.unit.type(node)
        assert isinstance(t, Scalar)
        return cast(low, t)
    other = address(cx, node.right) if node.op == "-" else None
    if other is not None and (pointer := address(cx, node.left)) is not None:
        t = cx.unit.type(node)
        assert isinstance(t, Scalar)
        return cast(distance(pointer_value(cx, pointer), pointer_value(cx, other), loc), t)
    if is_complex(a_type) or is_complex(b_type):
        assert isinstance(a_type, Scalar) and isinstance(b_type, Scalar)
        t = common(a_type, b_type)
        a, b = ordered(cx, node, lambda x: cx.complex(x, t), not is_complex(a_type))
        assert isinstance(a, Complex) and isinstance(b, Complex)
        return compared_complex(node.op, a, b, loc)
    a, b = operands(cx, node)
    if node.op == "-" and is_zero(cx, node.left, a):
        t = common(a.type, b.type)
        subtrahend = cast(b, t)
        if not isinstance(subtrahend, Const) and never_minus_zero(subtrahend):
            return unary("-", subtrahend, t, loc)
    if node.op == "+":
        for zero, z, x in ((node.left, a, b), (node.right, b, a)):
            if isinstance(x, Unary) and x.op == "-" and is_zero(cx, zero, z) and never_minus_zero(x.operand):
                return x
    return arithmetic(node.op, a, b, loc)


def arithmetic(op: str, a: Expr, b: Expr, loc: Loc) -> Expr:
    """``a op b`` with C's conversions."""
    if op in ("<<", ">>"):
        t = promote(a.type)
        return binary(op, cast(a, t), cast(b, promote(b.type)), t, loc)
    t = common(a.type, b.type)
    if t == LDOUBLE:
        if op not in COMPARISONS:
            raise catalogue.LONG_DOUBLE.error(loc, what="a value")
        return binary(op, as_double(a, loc), as_double(b, loc), INT, loc)
    return binary(op, cast(a, t), cast(b, t), INT if op in COMPARISONS else t, loc)


ALIGNED = 16  # where every object begins


def address(cx: Context, node: C.Node) -> C.Node | None:
    """The pointer that an expression makes a number of."""
    while isinstance(node, C.Cast) and isinstance(t := cx.unit.type(node), Scalar) and t.kind in "iu":
        node = node.expr
        if isinstance(cx.unit.value_type(node), Pointer):
            return node
    return None


def alignment_of(target: Target, op: str, bits: Const, loc: Loc) -> Expr:
    """The low bits of an address: all of it that is known. ``op``: & with a mask, or % by a power of two."""
    number = int(bits.value)
    if not (0 <= number < ALIGNED if op == "&" else number in (1, 2, 4, 8, ALIGNED)):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    if isinstance(target, OneOf):
        return by_target(target, lambda one: alignment_of(one, op, bits, loc), loc)
    if isinstance(target, FunctionRef):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    at = bytes_to(target, loc) if isinstance(target, (Ref, View)) else Const(0, LONG)
    return binary("&", cast(at, ULONG), Const(number if op == "&" else number - 1, ULONG), ULONG, loc)


#: Bytes between objects, of which C says no more than that they do not overlap; not zero in narrower types either.
FAR = 1 << 62 | 1 << 30 | 1 << 14 | 1 << 6


def distance(a: Target, b: Target, loc: Loc) -> Expr:
    """The difference of two addresses, in bytes."""
    if isinstance(a, OneOf):
        return by_target(a, lambda one: distance(one, b, loc), loc)
    if isinstance(b, OneOf):
        return by_target(b, lambda one: distance(a, one, loc), loc)
    if not isinstance(a, (Ref, View)) or not isinstance(b, (Ref, View)):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    if a.object is not b.object:
        return Const(FAR, LONG)
    return binary("-", bytes_to(a, loc), bytes_to(b, loc), LONG, loc)


def pointer_binary(cx: Context, node: C.BinaryOp) -> Expr:
    loc = loc_of(node)
    a, b = pointer_value(cx, node.left), pointer_value(cx, node.right)
    return compared(node.op, a, b, loc)


def compared(op: str, a: Target, b: Target, loc: Loc) -> Expr:
    """A comparison or difference of pointers."""
    if isinstance(a, OneOf) and isinstance(b, (Null, FunctionRef)) and op in ("==", "!="):
        return compared(op, b, a, loc)
    if isinstance(a, OneOf):
        return by_target(_comparable(a, op), lambda one: compared(op, one, b, loc), loc)
    if isinstance(b, OneOf):
        return by_target(_comparable(b, op), lambda one: compared(op, a, one, loc), loc)
    if not (isinstance(a, (Ref, View)) and isinstance(b, (Ref, View))):
        if op not in ("==", "!="):
            raise catalogue.NULL_COMPARED.error(loc)
        return Const(int((a == b) == (op == "==")), INT, loc)
    if a.object is not b.object:
        if op in ("==", "!="):
            return Const(int(op == "!="), INT, loc)
        raise catalogue.DIFFERENT_OBJECTS.error(loc)
    size = step_of(a.type)
    if isinstance(a, Ref) and isinstance(b, Ref) and a.path == b.path and a.type == b.type:
        x, y = cast(a.index, LONG), cast(b.index, LONG)
        return binary(op, x, y, LONG if op == "-" else INT, loc)
    x, y = bytes_to(a, loc), bytes_to(b, loc)
    if op != "-":
        return binary(op, x, y, INT, loc)
    return binary("/", binary("-", x, y, LONG, loc), Const(size, LONG), LONG, loc)


def _comparable(ref: OneOf, op: str) -> OneOf:
    """Without null where there are places, as null is not ordered."""
    return OneOf(ref.tag, ref.places) if op not in ("==", "!=") and ref.places else ref


def by_target(ref: OneOf, of: Callable[[Single], Expr], loc: Loc) -> Expr:
    """``of`` the one of several places that a pointer points to."""
    (_, last), *others = reversed(ref.targets)
    out = of(last)
    for n, one in others:
        here = of(one)
        if here != out:
            out = Select(binary("==", ref.tag, Const(n, INT), INT, loc), here, out, out.type, loc)
    return out


NULL, ELSEWHERE = -1, -2  # instead of a place in an array that comes in or goes out


def place_number(cx: Context, target: Target, t: Pointer, loc: Loc) -> Expr:
    """Where a pointer that the kernel returns points: so many of what a ``t`` points to from the start of an array."""
    if isinstance(target, OneOf):
        return by_target(target, lambda one: place_number(cx, one, t, loc), loc)
    if not isinstance(target, (Ref, View)):
        return Const(NULL if isinstance(target, Null) else ELSEWHERE, LONG)
    if not any(target.object is obj for obj in cx.outside):
        return Const(ELSEWHERE, LONG)
    if isinstance(target, Ref) and not target.path and target.type == t.to:
        return cast(target.index, LONG)
    return binary("/", bytes_to(target, loc), Const(step_of(t.to), LONG), LONG, loc)


def bytes_to(ref: Ref | View, loc: Loc) -> Expr:
    """How far a place is from the start of its object."""
    view = seen_as(ref, ref.type, loc) if isinstance(ref, Ref) else ref
    return add(multiply(cast(view.index, LONG), view.scale), Const(view.constant, LONG))


def logical(cx: Context, node: C.BinaryOp) -> Expr:
    loc = loc_of(node)
    a = condition(cx, node.left)
    if isinstance(a, Const):
        if bool(a.value) == (node.op == "||"):
            return Const(int(bool(a.value)), INT, loc)
        return cast(condition(cx, node.right), INT)
    (right, b), _ = cx.arms(lambda: condition(cx, node.right), lambda: None)
    if not right and is_safe(b, loads(a)):
        return binary(node.op, a, b, INT, loc)
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
    if t == LDOUBLE:
        return cast(chosen(cx, node, lambda arm: as_double(cx.value(arm), loc)), t)
    return chosen(cx, node, lambda arm: cast(cx.value(arm), t))


def chosen(cx: Context, node: C.TernaryOp, arm: Callable[[C.Node], Expr]) -> Expr:
    """``c ? a : b``, where ``arm`` gives the value of each of the two."""
    loc, cond = loc_of(node), condition(cx, node.cond)
    if isinstance(cond, Const):
        return arm(node.iftrue if cond.value else node.iffalse)
    (yes, a), (no, b) = cx.arms(lambda: arm(node.iftrue), lambda: arm(node.iffalse))
    if not yes and not no and is_safe(a, loads(cond)) and is_safe(b, loads(cond)):
        return Select(cond, a, b, a.type, loc)
    result = cx.fresh_temporary("chosen", a.type, loc)
    cx.emit(If(cond, (*yes, Assign(result, a, loc)), (*no, Assign(result, b, loc)), True, loc_of(node.cond)))
    return Var(result, loc)


def cast_value(cx: Context, node: C.Cast) -> Expr:
    loc, t = loc_of(node), cx.unit.type(node)
    if not isinstance(t, Scalar):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"a cast to '{t}'")
    if isinstance(cx.unit.value_type(node.expr), Pointer):
        address = cx.unit.constant(node)
        if address is None:
            raise catalogue.POINTER_AS_NUMBER.error(loc)
        return Const(int(address), t, loc)
    if t == VOID:
        cx.effect(node.expr)
        return Const(0, INT, loc)
    return number(cx, node.expr, t, loc)


def number(cx: Context, node: C.Node, t: Scalar, loc: Loc) -> Expr:
    """The value of an expression, converted to ``t``, which has at most 64 bits."""
    if is_wide(cx.unit.types.get(id(node))):
        return narrowed(cx.wide(node), t, loc)
    if t.is_integer and t != BOOL and chooses_constant(cx.unit, node):
        return by_parts(cx, node, lambda e: cast(e, t, loc))
    if is_complex(cx.unit.types.get(id(node))):
        return real(cx.complex(node), t, loc)
    return cast(cx.value(node), t, loc)


def by_parts(cx: Context, node: C.Node, then: Callable[[Expr], Expr]) -> Expr:
    """What ``then`` makes of a float, made of every part that may be its value: so GCC, to which each is a constant
    if it can be."""
    loc, t = loc_of(node), cx.unit.type(node)
    match node:
        case _ if not is_float(cx.unit, node):
            pass
        case C.ExprList():
            return by_parts(cx, last_of(cx, node), then)
        case C.TernaryOp() if isinstance(t, Scalar):
            return chosen(cx, node, lambda arm: by_parts(cx, arm, lambda e: then(cast(e, t, loc))))
        case C.Cast() if isinstance(t, Scalar):
            return by_parts(cx, node.expr, lambda e: then(cast(e, t, loc)))
        case C.UnaryOp(op="+" | "-"):
            return by_parts(cx, node.expr, lambda e: then(e if node.op == "+" else negated("-", e, loc)))
        case C.BinaryOp(left=left, right=right) if cx.unit.constant(right) is not None:
            return by_parts(cx, left, lambda e: then(arithmetic(node.op, e, cx.value(right), loc)))
        case C.BinaryOp(left=left, right=right) if cx.unit.constant(left) is not None:
            return by_parts(cx, right, lambda e: then(arithmetic(node.op, cx.value(left), e, loc)))
    return then(cx.value(node))


def assignment(cx: Context, node: C.Assignment, used: bool = True) -> Expr:
    """A scalar assignment; its value, which no one may ask for unless ``used``, is what was stored."""
    loc = loc_of(node)
    op, source = node.op[:-1], node.rvalue
    while isinstance(source, C.ExprList):
        source = last_of(cx, source)
    other = cx.unit.value_type(source)
    first, t = None, cx.unit.type(node.lvalue)  # the right side, where it goes before the left
    if not is_pair(other) and has_effects(cx, source) and (op or value_first(cx, source, t)):
        first = number(cx, source, t, loc) if not op and isinstance(t, Scalar) else cx.value(source)
    mark = len(cx.out)
    ref = lvalue(cx, node.lvalue)
    if used:
        ref = stable(cx, ref)
    t = ref.type
    if not isinstance(t, Scalar):
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct="the value of this assignment")
    if first is not None:
        right = before(cx, first, mark, loc)
        right = arithmetic(op, load(cx, ref, loc_of(node.lvalue)), right, loc) if op else right
        value = cast(right, t, loc)
    elif not op:
        mark = len(cx.out)
        value = number(cx, source, t, loc)
        if len(cx.out) > mark and not isinstance(ref, OneOf):
            index = before(cx, ref.index, mark, loc)
            ref = ref if index is ref.index else ref.at(index)
    elif op in ("<<", ">>") and is_wide(other):
        right = number(cx, source, INT, loc)
        value = cast(arithmetic(op, load(cx, ref, loc_of(node.lvalue)), right, loc), t, loc)
    elif is_wide(other):
        right = cx.wide(source)
        left = widened(cx, load(cx, ref, loc_of(node.lvalue)), right.type, loc)
        value = narrowed(wide_arithmetic(cx, op, left, right, loc), t, loc)
    elif isinstance(other, Scalar) and is_complex(other):
        z = cx.complex(source)
        left = load(cx, ref, loc_of(node.lvalue))
        value = real(complex_arithmetic(cx, op, left, z, common(t, other), loc), t, loc)
    else:
        right = cx.value(source)
        value = cast(arithmetic(op, load(cx, ref, loc_of(node.lvalue)), right, loc), t, loc)
    store(cx, ref, value, loc)
    places = [place for _, place in ref.places] if isinstance(ref, OneOf) else [ref]
    cut = any(isinstance(place, View) and place.field is not None for place in places)  # to a bit-field's width
    return load(cx, ref, loc) if cut or not isinstance(value, Const) else value
