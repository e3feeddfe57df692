"""Declarations: the objects that names are bound to, and their initial values."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import INT, LONG, Array, CType, Pointer, Scalar, Struct
from ..base.diagnostics import Loc, UnsupportedError
from ..frontend.initial import items
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..ir.nodes import Const
from .context import Context
from .expressions import converted
from .lvalues import object_value, pointer_value, set_pointer
from .memory import copy_object, for_each, scalars_below, store
from .objects import Object, PointerVariable, Ref, leaf_table


def binding(cx: Context, symbol: Symbol, loc: Loc) -> Object | PointerVariable:
    """What a name stands for; a global that is no parameter is made on its first use."""
    bound = cx.bindings.get(id(symbol))
    if bound is not None:
        return bound
    if not symbol.is_global or symbol.builtin:
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{symbol.name}'")
    values = initial_values(cx, symbol)
    if symbol.const:
        obj = Object(symbol.name, symbol.type, "shared", symbol.loc, values or {})
    elif symbol.storage == "static-local":
        obj = static_local(cx, symbol, values)
    else:
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{symbol.name}'")
    cx.bindings[id(symbol)] = obj
    return obj


def static_local(cx: Context, symbol: Symbol, values: dict[int, Const] | None) -> Object:
    """A static local of one run: initialised at the start of the kernel."""
    obj = Object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
    with cx.block() as first:
        ref = Ref(obj, "", Const(0, INT), symbol.type)
        zero(cx, ref, symbol.loc)
        if symbol.decl is not None and symbol.decl.init is not None:
            initialise(cx, ref, symbol.decl.init)
    cx.statics += first
    return obj


def initial_values(cx: Context, symbol: Symbol) -> dict[int, Const] | None:
    """The constant initial values of a global by byte offset; None where it has no initialiser."""
    init = symbol.decl.init if symbol.decl is not None else None
    if init is None:
        return None
    out: dict[int, Const] = {}
    for offset, t, e in items(symbol.type, init, cx.unit.require_constant, lambda n: cx.unit.types.get(id(n))):
        value = e if isinstance(e, int) else cx.unit.constant(e)
        if isinstance(t, Pointer) and value == 0:
            continue
        if value is None or not isinstance(t, Scalar):
            at = symbol.loc if isinstance(e, int) else loc_of(e)
            raise catalogue.ADDRESS_IN_INITIALISER.error(at, name=symbol.name)
        out[offset] = Const(t.wrap(value), t, symbol.loc if isinstance(e, int) else loc_of(e))
    return out


def declare(cx: Context, node: C.Decl) -> None:
    """A declaration in a block: bind its name, store its initialiser."""
    symbol = cx.unit.symbols.get(id(node))
    if symbol is None or symbol.is_global:
        return
    if isinstance(symbol.type, Pointer):
        p = PointerVariable(symbol.name, symbol.type, cx.fresh(symbol.name, LONG, symbol.loc), symbol.loc)
        cx.bindings[id(symbol)] = p
        if node.init is not None:
            init = node.init.exprs[0] if isinstance(node.init, C.InitList) else node.init
            set_pointer(cx, p, pointer_value(cx, init), symbol.loc)
        return
    obj = Object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
    if symbol.const and isinstance(symbol.type, Array) and node.init is not None and constant_table(cx, symbol, obj):
        return
    cx.bindings[id(symbol)] = obj
    if node.init is not None:
        initialise(cx, Ref(obj, "", Const(0, INT), symbol.type), node.init)


def constant_table(cx: Context, symbol: Symbol, obj: Object) -> bool:
    """A const local array of constants needs no stores: it is a table."""
    try:
        obj.values = initial_values(cx, symbol)
    except UnsupportedError:
        return False
    obj.storage = "shared"
    cx.bindings[id(symbol)] = obj
    return True


def initialise(cx: Context, ref: Ref, init: C.Node) -> None:
    """Store an initialiser in an object; what a list leaves out is zero."""
    loc = loc_of(init)
    if isinstance(ref.type, Scalar):
        e = init.exprs[0] if isinstance(init, C.InitList) else init
        store(cx, ref, converted(cx.value(e), ref.type, loc), loc)
        return
    if isinstance(ref.type, Struct) and not isinstance(init, C.InitList):
        copy_object(cx, ref, object_value(cx, init), loc)
        return
    initialisers = list(items(ref.type, init, cx.unit.require_constant, lambda n: cx.unit.types.get(id(n))))
    scalars = sum(leaf.count for leaf in leaf_table(ref.type).values())
    if len(initialisers) < scalars or any(isinstance(t, (Array, Struct)) for _, t, _ in initialisers):
        zero(cx, ref, loc)
    for offset, t, e in initialisers:
        at = at_offset(ref, offset, t, loc)
        if isinstance(t, Struct) and isinstance(e, C.Node):
            copy_object(cx, at, object_value(cx, e), loc)
            continue
        if not isinstance(t, Scalar):
            raise catalogue.POINTER_IN_MEMORY.error(loc, name=ref.object.name + ref.path)
        value = Const(e, t, loc) if isinstance(e, int) else converted(cx.value(e), t, loc_of(e))
        store(cx, at, value, loc)


def zero(cx: Context, ref: Ref, loc: Loc) -> None:
    """Set every scalar of an object to zero."""
    for path, leaf in leaf_table(ref.type).items():
        t, count = leaf.type, leaf.count
        if not isinstance(t, Scalar):
            raise catalogue.POINTER_IN_MEMORY.error(loc, name=ref.object.name + path)
        start = scalars_below(ref, path, count, loc)
        for_each(cx, Const(count, INT), lambda k, s=start, t=t: store(cx, s.moved(k), Const(t.wrap(0), t), loc), loc)


def at_offset(ref: Ref, offset: int, t: CType, loc: Loc) -> Ref:
    """The subobject of type ``t`` at a byte offset."""
    while ref.type != t or offset:
        if isinstance(ref.type, Array):
            k, offset = divmod(offset, ref.type.of.size)
            ref = ref.element(loc).moved(Const(k, INT))
        else:
            assert isinstance(ref.type, Struct)
            before = (m for m in ref.type.members if m.offset <= offset)
            m = max(before, key=lambda m: (m.offset, m.type == t))  # in a union, the one that is meant
            ref, offset = ref.member(m.name, loc), offset - m.offset
    return ref
