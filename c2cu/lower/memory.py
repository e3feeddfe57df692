"""Objects in memory: regions, loads, stores and copies of their leaves."""

from __future__ import annotations

import math
from dataclasses import replace

from ..base import catalogue
from ..base.ctype import INT, LONG, UINT, ULONG, Array, Leaf, Pointer, Scalar
from ..base.diagnostics import Loc
from ..ir.evaluate import reinterpreted
from ..ir.fold import add, binary, bitcast, cast, is_constant, multiply
from ..ir.nodes import NOWHERE, Assign, Const, Expr, Load, Loop, Region, Store, Var, Variable
from .context import Context
from .objects import (
    Complex,
    LValue,
    Null,
    Object,
    OneOf,
    Pair,
    Ref,
    View,
    Wide,
    has_gaps,
    in_turn,
    leaf_table,
    object_table,
)
from .pairs import atom, unsupported
from .pointers import all_cells, cells_of, for_one_of, read_pointer, write_pointer
from .views import WORDS, ElementPart, fixed, pieces, put_together, replaced


def part_of(cx: Context, obj: Object, path: str, loc: Loc) -> Region | Variable:
    """Where a leaf lives: a variable where there is just one, else a region. An array of one element is a region too,
    for its subscripts to be checked; a member is not, as a struct may end with `[1]` for what comes after it."""
    part = obj.parts.get(path)
    if isinstance(part, (Region, Variable)):
        return part
    leaf = object_table(obj).get(path)
    if leaf is None:
        raise catalogue.UNION_SIZES.error(loc, name=obj.name)
    t = leaf.type
    if not isinstance(t, Scalar):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    if t.size == 16:
        raise catalogue.LONG_DOUBLE.error(loc, what=f"'{obj.name}{path}'")
    array = obj.storage == "local" and isinstance(obj.type, Array)
    if leaf.count == 1 and obj.storage != "shared" and not obj.volatile and not array:
        new: Region | Variable = cx.fresh(obj.name + path.replace(".", "_"), t, obj.loc, obj.name + path)
    else:
        new = new_region(cx, obj, leaf, t)
    obj.parts[path] = new
    return new


def place_of(cx: Context, ref: Ref, loc: Loc) -> tuple[Region | Variable, Expr]:
    """Where a scalar lives, and its index there."""
    if ref.path not in (".real", ".imag") or not in_turn(ref.object):
        return part_of(cx, ref.object, ref.path, loc), ref.index
    index = add(multiply(ref.index, 2), Const(int(ref.path == ".imag"), INT))
    return part_of(cx, ref.object, "", loc), replace(index, loc=ref.index.loc)


def new_region(cx: Context, obj: Object, leaf: Leaf, t: Scalar) -> Region:
    name = obj.name + leaf.path
    new = Region(cx.unique(name), t, leaf.extents, obj.storage, initial_elements(obj, leaf), obj.loc, name)
    cx.regions.append(new)
    return new


def initial_elements(obj: Object, leaf: Leaf) -> tuple[int | float, ...] | None:
    """Initial elements of a leaf, in order; None: zero, or given at run time."""
    if obj.values is None:
        return None
    offsets = [leaf.offset]
    for extent, stride in leaf.dims:
        offsets = [o + k * stride for o in offsets for k in range(extent)]
    assert isinstance(leaf.type, Scalar)
    inside = ((c, fixed(o, leaf)) for o, c in obj.values.items())
    if any(spot and (spot.byte or c.type.size != leaf.type.size) for c, spot in inside):
        return from_bytes(obj, leaf, offsets)
    zero = Const(0, INT)
    return tuple(_bits(obj.values.get(o, zero), leaf.type) for o in offsets)


def from_bytes(obj: Object, leaf: Leaf, offsets: list[int]) -> tuple[int | float, ...]:
    """The elements of a union's leaf, whose members were initialised as other types."""
    image = bytearray(obj.type.size)
    for o, c in (obj.values or {}).items():
        number = reinterpreted(c.value, c.type, WORDS[c.type.size]) if c.type.is_float else c.value
        image[o : o + c.type.size] = (int(number) % (1 << 8 * c.type.size)).to_bytes(c.type.size, "little")
    t = leaf.type
    assert isinstance(t, Scalar)
    words = (Const(int.from_bytes(image[o : o + t.size], "little"), WORDS[t.size], obj.loc) for o in offsets)
    return tuple(_bits(word, t) for word in words)


def load(cx: Context, ref: LValue, loc: Loc) -> Expr:
    """The value of a scalar lvalue."""
    if isinstance(ref, OneOf):
        return load_one_of(cx, ref, loc)
    t = scalar_type(ref, loc)
    if isinstance(ref, View) and ref.field is not None:
        return field_of(field_word(cx, ref, loc), ref, t, loc)
    if isinstance(ref, View):
        parts = pieces(ref, t.size, loc, skip_gaps=not cx.gaps_may_hold(ref.object))
        if not parts:  # all of it lies between members
            return Const(t.wrap(0), t, loc)
        loaded = [(x, element(cx, ref.object, x, loc)) for x in parts]
        if len(loaded) == 1 and parts[0].size == loaded[0][1].type.size:
            return bitcast(loaded[0][1], t, loc)
        return bitcast(put_together(loaded, t.size, loc), t, loc)
    part, index = place_of(cx, ref, loc)
    if part.type.size != t.size:
        raise catalogue.OTHER_TYPE.error(loc, name=part.name, type=part.type, other=t)
    if isinstance(part, Variable):
        check_single(cx, part, index, loc)
        return bitcast(cx.settled(part, loc), t, loc)
    constant = part.init if part.storage == "shared" else None
    if constant and isinstance(index, Const) and 0 <= index.value < part.count:
        return bitcast(Const(constant[int(index.value)], part.type, loc), t, loc)
    return bitcast(Load(part, index, loc, ref.rows), t, loc)


def check_single(cx: Context, part: Variable, index: Expr, loc: Loc) -> None:
    """A variable's subscript, if it may be another than 0, is one of an array of one element: for `trace` to check."""
    if is_constant(index, 0):
        return
    name = part.spelling or part.name
    array = Region(cx.unique(f"{part.name}_1"), part.type, (1,), "local", None, part.loc, name)
    cx.regions.append(array)
    cx.singles.add(array)
    cx.emit(Store(array, index, Const(part.type.wrap(0), part.type), loc))


def halves(ref: LValue) -> tuple[LValue, LValue]:
    """The two parts of a number that is a pair."""
    if isinstance(ref, OneOf):
        first, second = (tuple((n, halves(x)[k]) for n, x in ref.places) for k in (0, 1))
        return OneOf(ref.tag, first), OneOf(ref.tag, second)  # pyright: ignore
    assert isinstance(ref.type, Scalar)
    (first, t), (second, _) = ref.type.parts
    if isinstance(ref, View):
        start = ref.viewed(t, NOWHERE)
        return start, start.moved(Const(1, LONG))
    return replace(ref, path=f"{ref.path}.{first}", type=t), replace(ref, path=f"{ref.path}.{second}", type=t)


def load_pair(cx: Context, ref: LValue, loc: Loc) -> Pair:
    assert isinstance(ref.type, Scalar)
    first, second = (atom(cx, load(cx, half, loc), loc) for half in halves(ref))
    return (Complex if ref.type.is_complex else Wide)(first, second, ref.type)


def store_pair(cx: Context, ref: LValue, value: Pair, loc: Loc) -> None:
    for half, part in zip(halves(ref), value.parts):
        store(cx, half, part, loc)
        if isinstance(half, Ref) and isinstance(part, Const) and part.type.is_float:
            place = place_of(cx, half, loc)[0]
            if isinstance(place, Variable) and place.type == part.type:
                cx.env.known[place] = part  # gcc computes products of constants otherwise


def scalar_type(ref: Ref | View, loc: Loc) -> Scalar:
    if isinstance(ref.type, Pointer):
        raise catalogue.POINTER_AS_NUMBER.error(loc)
    if not isinstance(ref.type, Scalar):
        raise catalogue.OTHER_TYPE.error(loc, name=ref.name, type=ref.type, other="number")
    if ref.type.parts:
        raise unsupported("this use of a number", ref.type, loc)
    if ref.type.size == 16:
        raise catalogue.LONG_DOUBLE.error(loc, what=f"'{ref.name}'")
    return ref.type


def element(cx: Context, obj: Object, piece: ElementPart, loc: Loc) -> Expr:
    """The element that a piece is part of."""
    return load(cx, Ref(obj, piece.leaf.path, piece.index, piece.leaf.type), loc)


def load_one_of(cx: Context, ref: OneOf, loc: Loc) -> Expr:
    """A load from one of several places: only that one is accessed."""
    first, t = ref.first, scalar_type(ref.first, loc)
    promoted = field_type(first.field[1], t) if isinstance(first, View) and first.field is not None else t
    value = cx.fresh_temporary("loaded", promoted, loc)
    for_one_of(cx, ref, lambda x: cx.assign(value, load(cx, x, loc), loc), loc)
    return Var(value, loc)


def apart(loc: Loc) -> Loc:
    """The same place as another object: where a value is read and stored at one and the same, a whole object is copied,
    which may have members that nothing was written to (`trace.steps`)."""
    return replace(loc)


def store(cx: Context, ref: LValue, value: Expr, loc: Loc) -> None:
    """``ref = value``; value has the lvalue's type already."""
    if isinstance(ref, OneOf):
        value = cx.saved(value, loc)
        pinned = cx.pinned(ref, loc)
        assert isinstance(pinned, OneOf)
        for_one_of(cx, pinned, lambda x: store(cx, x, value, loc), loc)
        return
    t = scalar_type(ref, loc)
    if isinstance(ref, View) and ref.field is not None:
        value = with_field(field_word(cx, ref, loc), value, ref, loc)
        store_parts(cx, ref, pieces(ref, field_bytes(ref), loc), value, loc)
        return
    if isinstance(ref, View):
        store_bytes(cx, ref, t, value, loc)
        return
    part, index = place_of(cx, ref, loc)
    if part.type.size != t.size:
        raise catalogue.OTHER_TYPE.error(loc, name=part.name, type=part.type, other=t)
    value = bitcast(value, part.type, loc)
    if isinstance(part, Variable):
        check_single(cx, part, index, loc)
        cx.emit(Assign(part, value, loc))
        cx.learn(part, value)
        return
    if part.storage == "shared":
        raise catalogue.SHARED_WRITTEN.error(loc, name=ref.object.name)
    cx.emit(Store(part, index, value, loc, ref.rows))


def store_bytes(cx: Context, ref: View, t: Scalar, value: Expr, loc: Loc) -> None:
    """Store into the elements that a view covers, whole or in part. Zero may go between the members of a local struct
    too: a copy of its bytes has zero there."""
    zero = is_constant(value, 0) and math.copysign(1, value.value) > 0  # pyright: ignore
    parts = pieces(ref, t.size, loc, skip_gaps=zero and ref.object.storage == "local")
    if not parts:
        return
    first, cell = parts[0], parts[0].leaf.type
    assert isinstance(cell, Scalar)
    if len(parts) == 1 and first.size == cell.size == t.size:
        store(cx, Ref(ref.object, first.leaf.path, first.index, cell), bitcast(value, cell, loc), loc)
        return
    store_parts(cx, ref, parts, bitcast(value, WORDS[t.size], loc), loc)


def store_parts(cx: Context, ref: View, parts: list[ElementPart], value: Expr, loc: Loc) -> None:
    """Store the bytes of an unsigned number in the elements that they are parts of."""
    bits = cx.saved(value, loc, "bits")
    for x in parts:
        cell = x.leaf.type
        assert isinstance(cell, Scalar)
        x = replace(x, index=cx.saved(x.index, loc), low=cx.saved(x.low, loc))
        place = Ref(ref.object, x.leaf.path, x.index, cell)
        whole_element = x.size == cell.size
        if not whole_element and ref.object.storage == "local":
            cx.half_stored[part_of(cx, ref.object, x.leaf.path, loc)] = None
        old = bits if whole_element else bitcast(load(cx, place, loc), WORDS[cell.size], loc)
        store(cx, place, bitcast(replaced(old, bits, x, loc), cell, loc), loc)


def clear_half_stored(cx: Context) -> None:
    """Set to zero what is stored in parts: a store into a part of an element takes the rest from what was there."""
    for part in cx.half_stored:
        zero_of = Const(part.type.wrap(0), part.type)
        if isinstance(part, Variable):
            cx.emit(Assign(part, zero_of))
        else:
            count = Const(part.count, INT)
            for_each(cx, count, lambda k, r=part, z=zero_of: cx.emit(Store(r, k, z, r.loc)), part.loc)


def field_bytes(ref: View) -> int:
    """In how many bytes a bit-field lies."""
    assert ref.field is not None
    bit, width = ref.field
    return (bit + width + 7) // 8


def field_word(cx: Context, ref: View, loc: Loc) -> Expr:
    """The bytes that a bit-field lies in, as a number of 32 or 64 bits."""
    size = field_bytes(ref)
    loaded = [(x, element(cx, ref.object, x, loc)) for x in pieces(ref, size, loc)]
    return cast(put_together(loaded, size, loc), ULONG if size > 4 else UINT)


def field_of(word: Expr, ref: View, t: Scalar, loc: Loc) -> Expr:
    """A bit-field's value out of its bytes, promoted as C promotes it: to int, where that holds all its values."""
    assert ref.field is not None and isinstance(word.type, Scalar)
    bit, width = ref.field
    left = word.type.bits - bit - width
    whole = word.type if t.kind != "i" else LONG if word.type.size == 8 else INT
    value = binary("<<", word, Const(left, INT), word.type, loc) if left else word
    value = binary(">>", cast(value, whole), Const(left + bit, INT), whole, loc) if left + bit else cast(value, whole)
    return cast(value, field_type(width, t))


def field_type(width: int, t: Scalar) -> Scalar:
    """The promoted type of a bit-field that is declared as ``t``."""
    return t if width == 64 else UINT if width == 32 and t.kind == "u" else INT


def with_field(word: Expr, value: Expr, ref: View, loc: Loc) -> Expr:
    """The bytes of a bit-field with another value in it."""
    assert ref.field is not None
    (bit, width), t = ref.field, word.type
    mask = (1 << width) - 1
    new = binary("&", cast(value, t), Const(mask, t), t, loc)
    new = binary("<<", new, Const(bit, INT), t, loc) if bit else new
    rest = Const(t.wrap(~(mask << bit)), t)
    return binary("|", binary("&", word, rest, t, loc), new, t, loc) if rest.value else new


def copy_object(cx: Context, to: LValue, source: LValue, loc: Loc) -> None:
    """Struct or array assignment, leaf by leaf; the first store must not change where the others go."""
    to, source = cx.pinned(to, loc), cx.pinned(source, loc)
    if isinstance(to, OneOf):
        for_one_of(cx, to, lambda x: copy_object(cx, x, source, loc), loc)
        return
    if isinstance(source, OneOf):
        for_one_of(cx, source, lambda x: copy_object(cx, to, x, loc), loc)
        return
    if has_gaps(to.type):
        if isinstance(to, View):
            raise catalogue.COPIED_GAPS.error(loc, name=source.name)
        copy_gaps(cx, to, source, to.type == to.object.type)
    for path, leaf in leaf_table(to.type).items():
        a, b = below(to, path, loc), below(source, path, loc)
        copy_elements(cx, a, b, Const(leaf.count, INT), loc)


def copy_gaps(cx: Context, to: Ref | View, source: Ref | View, whole: bool) -> None:
    """What a copy of structs makes of what lies between their members. ``whole``: it goes to all of an object."""
    if not has_gaps(to.type):
        return
    if isinstance(source, View) or cx.gaps_may_hold(source.object):
        cx.fill_gaps(to.object)
    elif whole:
        cx.clear_gaps(to.object)


def below(ref: Ref | View, path: str, loc: Loc) -> Ref | View:
    """The first scalar or pointer of a leaf inside ``ref``."""
    leaf = leaf_table(ref.type)[path]
    if isinstance(ref, Ref):
        return Ref(ref.object, ref.path + path, multiply(ref.index, leaf.count), leaf.type)
    if any(stride != leaf.type.size for _, stride in leaf.dims[-1:]) or len(leaf.dims) > 1 and not _dense(leaf.dims):
        raise catalogue.OTHER_TYPE.error(loc, name=ref.name, type=ref.object.type, other=ref.type)
    return replace(ref, constant=ref.constant + leaf.offset, type=leaf.type)


def _dense(dims: tuple[tuple[int, int], ...]) -> bool:
    return all(a[1] == b[0] * b[1] for a, b in zip(dims, dims[1:]))


def copy_elements(cx: Context, to: Ref | View, source: Ref | View, count: Expr, loc: Loc) -> None:
    """Scalars or pointers one after the other; where each is known to lowering, pointers are too."""

    def copy(k: Expr) -> None:
        a, b = to.moved(k), source.moved(k)
        if isinstance(a.type, Pointer):
            write_pointer(cx, a, read_pointer(cx, b, loc), loc)
            return
        t = scalar_type(a, loc)
        store(cx, a, bitcast(load(cx, b, loc), t, loc), loc)

    if isinstance(to.type, Pointer) and isinstance(count, Const) and count.value <= 1024:
        for k in range(int(count.value)):
            if not (isinstance(source, Ref) and unset(cx, source.moved(Const(k, INT)), loc)):
                copy(Const(k, INT))
        return
    for_each(cx, count, copy, loc)


def unset(cx: Context, ref: Ref | View, loc: Loc) -> bool:
    """Whether no pointer has been stored there: a copy of it is not set either."""
    if not isinstance(ref, Ref):
        return False
    cells = cells_of(cx, ref.object, ref.path, loc)
    return not any(cx.env.places.get(c) or cx.start.places.get(c) for c in all_cells(cells))


def for_each(cx: Context, count: Expr, body, loc: Loc, backwards: bool = False) -> None:
    """``body(k)`` for k = 0 .. count-1: unrolled where that is short."""
    if isinstance(count, Const) and count.value <= 8:
        ks = range(int(count.value))
        for k in reversed(ks) if backwards else ks:
            body(Const(k, INT))
        return
    k = cx.fresh_temporary("k", LONG, loc)
    count = cx.saved(cast(count, LONG), loc)
    one = Const(1, LONG)
    cx.assign(k, binary("-", count, one, LONG) if backwards else Const(0, LONG), loc)
    with cx.block() as inner:
        body(Var(k, loc))
    condition = binary(">=", Var(k), Const(0, LONG), INT, loc) if backwards else binary("<", Var(k), count, INT, loc)
    step = Assign(k, binary("-" if backwards else "+", Var(k), one, LONG, loc), loc)
    cx.emit(Loop(condition, tuple(inner), (step,), loc=loc))


def zero(cx: Context, ref: LValue, loc: Loc, name: str = "") -> None:
    """Set every scalar and every pointer of an object to zero; with a ``name``, those whose path has it."""
    if isinstance(ref, OneOf):
        for_one_of(cx, ref, lambda x: zero(cx, x, loc, name), loc)
        return
    for path, leaf in leaf_table(ref.type).items():
        if name not in path:
            continue
        t, count = leaf.type, leaf.count
        start = below(ref, path, loc)
        if isinstance(t, Pointer):
            for k in range(count):
                write_pointer(cx, start.moved(Const(k, INT)), Null(), loc)
            continue
        for_each(cx, Const(count, INT), lambda k, s=start, t=t: store(cx, s.moved(k), Const(t.wrap(0), t), loc), loc)


def _bits(c: Const, t: Scalar) -> int | float:
    """A constant as ``t`` sees it: another member of a union may have been initialised."""
    if c.type.is_float == t.is_float or c.type.size != t.size:
        return t.wrap(c.value)
    value = reinterpreted(c.value, c.type, t)
    if value != value:
        raise catalogue.NAN_BITS.error(c.loc)
    return value
