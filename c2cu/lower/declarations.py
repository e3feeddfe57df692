"""Declarations: the objects that names are bound to, and their initial values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, FIELDS, INT, UCHAR, ULONG, Array, CType, Pointer, Scalar, Struct
from ..base.diagnostics import Loc, UnsupportedError
from ..frontend.initial import Item, Part, items, refuse_calls, tree
from ..frontend.parse import loc_of
from ..frontend.symbols import Symbol
from ..ir.fold import nearest_integer
from ..ir.nodes import Block, Const, Region, Stmt, Store
from ..ir.walk import statements
from .complex import part_of_type
from .complex_constants import converted_constant
from .context import Context
from .environment import Environment
from .expressions import number
from .lvalues import object_value, pointer_value
from .memory import apart, copy_object, initial_elements, store, store_pair, zero
from .objects import LValue, Null, Object, PointerCells, Ref, View, leaf_table, object_table, whole
from .pairs import is_complex, is_pair
from .pointers import cells_of, exact, put, write_pointer


def binding(cx: Context, symbol: Symbol, loc: Loc) -> Object:
    """What a name stands for; a global that is no parameter is made on its first use."""
    bound = cx.bindings.get(id(symbol))
    if bound is not None:
        return bound
    if not symbol.is_global or symbol.builtin:
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{symbol.name}'")
    if symbol.is_constant:
        values = initial_values(cx, symbol) or {}
        obj = cx.new_object(symbol.name, symbol.type, "shared", symbol.loc, values)
        cx.bindings[id(symbol)] = obj  # before its pointers: they may lead back to it
        start_pointers(cx, obj, symbol)
    elif symbol.storage == "static-local":
        obj = cx.new_object(symbol.name, symbol.type, "local", symbol.loc, volatile=symbol.volatile)
        obj.lasting = True
        cx.static_locals.append((symbol, obj))
        cx.bindings[id(symbol)] = obj
        start_static(cx, obj, symbol)
    else:
        raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{symbol.name}'")
    return obj


@contextmanager
def before_all(cx: Context) -> Iterator[None]:
    """What is lowered inside goes to the start of the kernel; what it makes known holds from there on."""
    outer, cx.env = cx.env, Environment()
    with cx.block() as first:
        yield
    cx.statics += first
    cx.start, cx.env = cx.env.over(cx.start), outer


def start_static(cx: Context, obj: Object, symbol: Symbol) -> None:
    """A static local of one run: initialised at the start of the kernel."""
    with before_all(cx):
        zero(cx, whole(obj), symbol.loc)
        if symbol.decl is not None and symbol.decl.init is not None:
            initialise(cx, whole(obj), symbol.decl.init)


def start_pointers(cx: Context, obj: Object, symbol: Symbol) -> None:
    """What the pointers of a global point to at the start."""
    paths = [path for path, leaf in leaf_table(obj.type).items() if isinstance(leaf.type, Pointer)]
    if not paths:
        return
    init = symbol.decl.init if symbol.decl is not None else None
    with before_all(cx):
        for path in paths:
            cells = cells_of(cx, obj, path, symbol.loc)
            for k in range(cells.count):
                put(cx, Ref(obj, path, Const(k, INT), cells.type), Null(), symbol.loc)
        for offset, t, e in initialisers(cx, symbol.type, init) if init is not None else ():
            if isinstance(t, Pointer) and isinstance(e, C.Node):
                at = at_offset(whole(obj), offset, t, symbol.loc)
                at = exact(at, symbol.loc) if isinstance(at, View) else at
                put(cx, at, pointer_value(cx, e), loc_of(e))
    if obj.storage == "shared":
        for path in paths:
            made_constant(cx, cells_of(cx, obj, path, symbol.loc))


def made_constant(cx: Context, cells: PointerCells) -> None:
    """Pointers that never change need no stores: their tags and indices are tables."""
    if not isinstance(cells.tag, Region) or not isinstance(cells.index, Region):
        return
    old = {cells.tag: [0] * cells.count, cells.index: [0] * cells.count}
    rest: list[Stmt] = []
    for s in cx.statics:
        match s:
            case Store(region=r, index=Const(value=k), value=Const(value=v)) if r in old:
                old[r][int(k)] = int(v)
            case Store(region=r) if r in old:
                return
            case _:
                rest.append(s)
    tag, index = (replace(r, storage="shared", init=tuple(values)) for r, values in old.items())
    cx.regions = [tag if r == cells.tag else index if r == cells.index else r for r in cx.regions]
    cx.statics, cells.tag, cells.index = rest, tag, index


def tables(cx: Context, body: Block) -> dict[Region, Region]:
    """The regions of static locals that ``body`` never writes, each with the table that it is."""
    written = {s.region for s in statements(body) if isinstance(s, Store)}
    table_of: dict[Region, Region] = {}
    for symbol, obj in cx.static_locals:
        regions = [(path, r) for path, r in obj.parts.items() if isinstance(r, Region) and r not in written]
        if not regions or obj.volatile:
            continue
        try:
            obj.values = initial_values(cx, symbol) or {}
        except UnsupportedError:
            continue
        for path, r in regions:
            table_of[r] = replace(r, storage="shared", init=initial_elements(obj, object_table(obj)[path]))
    return table_of


def initialisers(cx: Context, t: CType, init: C.Node) -> Iterator[Item]:
    """What an initialiser of an object of type ``t`` initialises."""
    yield from items(t, init, cx.unit.require_constant, lambda n: cx.unit.types.get(id(n)))


def initial_values(cx: Context, symbol: Symbol) -> dict[int, Const] | None:
    """The constant initial values of a global by byte offset; None where it has no initialiser."""
    init = symbol.decl.init if symbol.decl is not None else None
    if init is None:
        return None
    if has_fields(symbol.type):
        part = tree(symbol.type, init, cx.unit.require_constant, cx.unit.types.get)
        return dict(field_values(cx, symbol, symbol.type, part, 0))
    return constant_values(cx, symbol, symbol.type, init)


def constant_values(cx: Context, symbol: Symbol, of: CType, init: C.Node) -> dict[int, Const]:
    """What a constant initialiser gives to an object of a type, by byte offset."""
    out: dict[int, Const] = {}
    for offset, t, e in initialisers(cx, of, init):
        if isinstance(t, Pointer):
            continue  # `start_pointers`
        if is_complex(t) and isinstance(e, C.Node):
            out.update(complex_elements(cx, symbol, t, offset, e))
            continue
        value = e if isinstance(e, int) else cx.unit.constant(e)
        if value is None or not isinstance(t, Scalar):
            at = symbol.loc if isinstance(e, int) else loc_of(e)
            if isinstance(e, C.Node):
                refuse_calls(e, symbol.name, cx.unit.constant)
            raise catalogue.ADDRESS_IN_INITIALISER.error(at, name=symbol.name)
        loc = symbol.loc if isinstance(e, int) else loc_of(e)
        if t.is_wide:
            for k in (0, 8):
                out[offset + k] = Const(ULONG.wrap(int(value) >> 8 * k), ULONG, loc)
        else:
            integer = not isinstance(value, int) and t.is_integer and t != BOOL
            out[offset] = Const(nearest_integer(value, t) if integer else t.wrap(value), t, loc)
    return out


def field_values(cx: Context, symbol: Symbol, t: CType, part: Part, at: int) -> Iterator[tuple[int, Const]]:
    """The same of an object with bit-fields, whose bytes are given one by one."""
    match t:
        case Array() if isinstance(part, dict):
            for k, value in part.items():
                yield from field_values(cx, symbol, t.of, value, at + k * t.of.size)
        case Struct() if isinstance(part, dict):
            image = 0
            for k, value in part.items():
                m = t.members[k]
                if m.bits is None:
                    yield from field_values(cx, symbol, m.type, value, at + m.offset)
                    continue
                ((_, number),) = field_values(cx, symbol, m.type, value, 0)
                image |= (int(number.value) & ((1 << m.bits) - 1)) << (8 * m.offset + m.bit)
            for k in field_places(t, part):
                yield at + k, Const(image >> 8 * k & 255, UCHAR, symbol.loc)
        case _ if isinstance(part, C.Node):
            values = constant_values(cx, symbol, t, part)
            yield from ((at + offset, value) for offset, value in values.items())


def field_places(t: Struct, part: dict[int, Part]) -> Iterator[int]:
    """The bytes in which the bit-fields of an initialised object lie; of a union, that of the member it gives."""
    if t.union:
        for m in (t.members[k] for k in part):
            yield from range(*m.bytes) if m.bits is not None else ()
        return
    for cell in t.storage:
        if cell.name.startswith(FIELDS):
            yield from range(cell.offset, cell.offset + cell.type.size)


def complex_elements(cx: Context, symbol: Symbol, t: CType, offset: int, e: C.Node) -> Iterator[tuple[int, Const]]:
    """The parts that a constant gives a complex object at an offset."""
    assert isinstance(t, Scalar)
    part_of_type(t, loc_of(e))
    z = converted_constant(cx, e, t)
    if z is None:
        raise catalogue.ADDRESS_IN_INITIALISER.error(loc_of(e), name=symbol.name)
    for k, x in enumerate(z):
        yield offset + k * t.part.size, Const(x, t.part, loc_of(e))


def declare(cx: Context, node: C.Decl) -> None:
    """A declaration in a block: bind its name, store its initialiser."""
    symbol = cx.unit.symbols.get(id(node))
    if symbol is None or symbol.is_global:
        return
    t = symbol.type
    if isinstance(t, Struct) and (node.init is None or _is_zero(cx, node.init)):
        t = cx.hidden.get(t.tag, t)
    obj = cx.new_object(symbol.name, t, "local", symbol.loc, volatile=symbol.volatile)
    if symbol.const and isinstance(symbol.type, Array) and node.init is not None and constant_table(cx, symbol, obj):
        return
    cx.bindings[id(symbol)] = obj
    if node.init is not None and t != symbol.type:
        zero(cx, whole(obj), symbol.loc)
    elif node.init is not None:
        initialise(cx, whole(obj), node.init)
    elif has_fields(t):  # what lies beside a field stays when it is written
        zero(cx, whole(obj), symbol.loc, FIELDS)


def _is_zero(cx: Context, init: C.Node) -> bool:
    """Whether an initialiser has nothing but zeros, of which -0.0 is none."""
    if isinstance(init, C.InitList):
        return all(_is_zero(cx, x) for x in init.exprs)
    value = cx.unit.constant(init)
    return isinstance(value, int) and value == 0


def constant_table(cx: Context, symbol: Symbol, obj: Object) -> bool:
    """A const local array of constants needs no stores: it is a table."""
    if any(isinstance(leaf.type, Pointer) for leaf in leaf_table(symbol.type).values()):
        return False
    try:
        obj.values = initial_values(cx, symbol)
    except UnsupportedError:
        return False
    obj.storage = "shared"
    cx.bindings[id(symbol)] = obj
    return True


def initialise(cx: Context, ref: LValue, init: C.Node) -> None:
    """Store an initialiser in an object; what a list leaves out is zero."""
    loc = loc_of(init)
    if isinstance(ref.type, (Scalar, Pointer)):
        set_value(cx, ref, init.exprs[0] if isinstance(init, C.InitList) else init, loc)
        return
    if isinstance(ref.type, Struct) and not isinstance(init, C.InitList):
        copy_object(cx, ref, object_value(cx, init), loc)
        return
    if has_fields(ref.type):
        zero(cx, ref, loc)
        initialise_parts(cx, ref, tree(ref.type, init, cx.unit.require_constant, cx.unit.types.get), loc)
        return
    assert isinstance(ref, Ref)
    elements = list(initialisers(cx, ref.type, init))
    scalars = sum(leaf.count for leaf in leaf_table(ref.type).values())
    if len(elements) < scalars or any(isinstance(t, (Array, Struct)) for _, t, _ in elements):
        zero(cx, ref, loc)
    for offset, t, e in sorted(elements, key=lambda item: item[0]):  # gcc's order: that of the elements and members
        at = at_offset(ref, offset, t, loc)
        if isinstance(t, Struct) and isinstance(e, C.Node):
            copy_object(cx, at, object_value(cx, e), loc)
        elif isinstance(e, int) and isinstance(t, Scalar):
            store(cx, at, Const(e, t, loc), loc)
        elif isinstance(e, C.Node):
            set_value(cx, at, e, loc)


def has_fields(t: CType) -> bool:
    """Whether a type has bit-fields, of which several have one offset."""
    match t:
        case Array():
            return has_fields(t.of)
        case Struct():
            return any(m.bits is not None or has_fields(m.type) for m in t.members)
    return False


def initialise_parts(cx: Context, ref: LValue, part: Part, loc: Loc) -> None:
    """Store what an initialiser gives to an object and its parts."""
    if isinstance(part, C.Node):
        initialise(cx, ref, part)
        return
    assert isinstance(part, dict)
    for k, value in sorted(part.items()):
        if isinstance(ref.type, Array):
            initialise_parts(cx, ref.element(loc).moved(Const(k, INT)), value, loc)
        else:
            assert isinstance(ref.type, Struct)
            initialise_parts(cx, ref.member(ref.type.members[k].name, loc), value, loc)


def set_value(cx: Context, ref: LValue, e: C.Node, loc: Loc) -> None:
    """Store a number or a pointer."""
    if isinstance(ref.type, Pointer):
        write_pointer(cx, ref, pointer_value(cx, e), loc)
        return
    assert isinstance(ref.type, Scalar)
    if is_pair(ref.type):
        store_pair(cx, ref, cx.pair(e, ref.type), loc)
    else:
        store(cx, ref, number(cx, e, ref.type, loc_of(e)), apart(loc))


def at_offset(ref: Ref | View, offset: int, t: CType, loc: Loc) -> Ref | View:
    """The subobject of type ``t`` at a byte offset."""
    while ref.type != t or offset:
        if isinstance(ref.type, Array):
            k, offset = divmod(offset, ref.type.of.size)
            ref = ref.element(loc).moved(Const(k, INT))
        else:
            assert isinstance(ref.type, Struct)
            m = next(m for m in ref.type.members if _holds(m.type, offset - m.offset, t))  # a union's that is meant
            ref, offset = ref.member(m.name, loc), offset - m.offset
    return ref


def _holds(whole: CType, offset: int, t: CType) -> bool:
    """Whether an object has a subobject of type ``t`` at a byte offset."""
    if offset < 0 or (whole == t and not offset):
        return not offset
    match whole:
        case Array():
            return bool(whole.of.size) and offset < whole.size and _holds(whole.of, offset % whole.of.size, t)
        case Struct():
            return any(_holds(m.type, offset - m.offset, t) for m in whole.members)
    return False
