"""The library functions that lowering knows by name: libm, abs, and those of string.h that move memory."""

from __future__ import annotations

import math

from pycparser import c_ast as C

from ..base import catalogue, libm
from ..base.ctype import DOUBLE, FLOAT, INT, LONG, UCHAR, Array, CType, Scalar, Struct
from ..base.diagnostics import Loc
from ..frontend.parse import loc_of
from ..ir.fold import binary, bitcast, cast, unary
from ..ir.nodes import Binary, Call, Const, Expr, Select
from .context import Context
from .lvalues import pointer_value
from .memory import for_each, load, scalars_below, store
from .objects import Ref, Target, leaf_table


def library_call(cx: Context, name: str, node: C.FuncCall) -> Expr | Target:
    """A call of a C library function: pure ones, and memcpy, memmove, memset."""
    loc = loc_of(node)
    args = node.args.exprs if node.args else []
    name = name.removeprefix("__builtin_")
    if name in ("memcpy", "memmove", "memset"):
        return memory_function(cx, name, args, loc)
    if name in libm.CONSTANTS:
        return Const(*libm.CONSTANTS[name], loc)
    if name == "isnormal":
        return is_normal(cx.value(args[0]), loc)
    if name in ("abs", "labs", "llabs"):
        return absolute(cx.value(args[0]), {"abs": INT}.get(name, LONG), loc)
    if name not in libm.FUNCTIONS:
        raise catalogue.LIBRARY_FUNCTION.error(loc, name=name)
    returns, params = libm.FUNCTIONS[name]
    values = []
    for a, t in zip(args, params, strict=True):
        values.append(cast(cx.value(a), t))
    return Call(name, tuple(values), returns, loc)


def is_normal(x: Expr, loc: Loc) -> Expr:
    """In the argument's own type: a float that is not normal may be so as a double."""
    t, smallest = (FLOAT, 2.0**-126) if x.type == FLOAT else (DOUBLE, 2.0**-1022)
    size = Call("fabsf" if t == FLOAT else "fabs", (cast(x, t),), t, loc)
    large = binary(">=", size, Const(smallest, t), INT, loc)
    return binary("&&", large, binary("<", size, Const(math.inf, t), INT, loc), INT, loc)


def absolute(x: Expr, t: Scalar, loc: Loc) -> Expr:
    x = cast(x, t)
    return Select(binary("<", x, Const(0, t), INT, loc), unary("-", x, t, loc), x, t, loc)


def memory_function(cx: Context, name: str, args: list[C.Node], loc: Loc) -> Ref:
    """Returns what they return: where they wrote."""
    result = cx.pinned(followed_pointer(cx, args[0], loc), loc)
    to = first_scalar(result, loc)
    if name == "memset":
        value = filled_element(cx.saved(cx.value(args[1]), loc), to.type, loc)
        count = element_count(cx, args[2], to, loc)
        for_each(cx, count, lambda k: store(cx, to.moved(k), value, loc), loc)
        return result
    source = first_scalar(followed_pointer(cx, args[1], loc), loc)
    count = element_count(cx, args[2], to, loc)
    if source.type.size != to.type.size:
        raise catalogue.COPY_BETWEEN_TYPES.error(loc, function=name, source=source.type, target=to.type)
    source = cx.pinned(source, loc)

    def move(k: Expr) -> None:
        assert isinstance(to.type, Scalar)
        store(cx, to.moved(k), bitcast(load(cx, source.moved(k), loc), to.type, loc), loc)

    if name == "memmove" and to.object is source.object:
        later = binary(">", cast(to.index, LONG), cast(source.index, LONG), INT, loc)
        cx.either(
            later, lambda: for_each(cx, count, move, loc, True), lambda: for_each(cx, count, move, loc), loc, False
        )
        return result
    for_each(cx, count, move, loc)
    return result


def followed_pointer(cx: Context, node: C.Node, loc: Loc) -> Ref:
    target = pointer_value(cx, node)
    if not isinstance(target, Ref):
        raise catalogue.NULL_FOLLOWED.error(loc)
    return target


def first_scalar(target: Ref, loc: Loc) -> Ref:
    """The first scalar at a place."""
    while isinstance(target.type, Array):
        target = target.element(loc)
    if isinstance(target.type, Struct):
        table = leaf_table(target.type)
        sizes = {leaf.type.size for leaf in table.values()}
        if len(table) != 1 or len(sizes) != 1:
            raise catalogue.MEMORY_OF_STRUCT.error(loc)
        (leaf,) = table.values()
        target = scalars_below(target, leaf.path, leaf.count, loc)
    return target


def element_count(cx: Context, node: C.Node, ref: Ref, loc: Loc) -> Expr:
    """A byte count as a count of elements."""
    size = ref.type.size
    n = cx.value(node)
    if size == 1:
        return n
    if isinstance(n, Const):
        if n.value % size:
            raise catalogue.BYTE_COUNT.error(loc, type=ref.type)
        return Const(int(n.value) // size, LONG)
    if isinstance(n, Binary) and n.op == "*":
        for a, b in ((n.left, n.right), (n.right, n.left)):
            if isinstance(b, Const) and b.value % size == 0:
                return binary("*", a, Const(int(b.value) // size, a.type), a.type, loc)
    raise catalogue.BYTE_COUNT.error(loc, type=ref.type)


def filled_element(byte: Expr, t: CType, loc: Loc) -> Expr:
    """An element whose bytes all are ``byte``."""
    assert isinstance(t, Scalar)
    if isinstance(byte, Const) and byte.value == 0:
        return Const(t.wrap(0), t, loc)
    if t.size == 1:
        return cast(cast(byte, UCHAR), t)
    if isinstance(byte, Const) and t.is_integer:
        return Const(t.wrap(int.from_bytes(bytes([int(byte.value) & 255]) * t.size, "little")), t, loc)
    raise catalogue.MEMSET_VALUE.error(loc)
