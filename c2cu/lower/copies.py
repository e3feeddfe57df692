"""memcpy, memmove and memset: element by element where both sides have elements, member by member where they do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import INT, LONG, UCHAR, UINT, ULONG, VOID, Array, Pointer, Scalar, Struct
from ..base.diagnostics import Loc
from ..ir.fold import binary, bitcast, cast, is_constant, multiply
from ..ir.nodes import Binary, Cast, Const, Expr
from .context import Context
from .lvalues import pointer_value
from .memory import below, copy_elements, copy_gaps, for_each, load, store
from .objects import LValue, Null, OneOf, Ref, View, has_gaps, in_turn, leaf_table, object_table, seen_as, whole
from .order import before
from .pairs import is_complex, is_pair
from .pointers import exact, for_one_of, read_pointer, write_pointer
from .views import WORDS, locate

MOST_PIECES = 4096  # of a copy that is written member by member


def memory_function(cx: Context, name: str, args: list[C.Node], loc: Loc) -> LValue:
    """Returns what they return: where they wrote. The last argument is evaluated first, as gcc does."""
    count, mark = cx.value(args[2]), len(cx.out)
    if name == "memset":
        byte = cx.saved(cx.value(args[1]), loc)
        to = cx.pinned(followed(cx, args[0], loc), loc)
        count = before(cx, count, mark, loc)
        for_place(cx, to, lambda x: fill(cx, x, byte, count, loc), loc)
        return to
    source = cx.pinned(followed(cx, args[1], loc), loc)
    to = cx.pinned(followed(cx, args[0], loc), loc)
    count = before(cx, count, mark, loc)
    overlap = name == "memmove"
    for_place(cx, to, lambda a: for_place(cx, source, lambda b: copy(cx, a, b, count, overlap, loc), loc), loc)
    return to


def for_place(cx: Context, ref: LValue, body: Callable[[Ref | View], None], loc: Loc) -> None:
    if isinstance(ref, OneOf):
        for_one_of(cx, ref, body, loc)
    else:
        body(ref)


def followed(cx: Context, node: C.Node, loc: Loc) -> LValue:
    """Where a pointer that is not null points."""
    target = pointer_value(cx, node)
    if isinstance(target, OneOf) and target.places:
        return OneOf(target.tag, target.places)
    if not isinstance(target, (Ref, View)):
        raise catalogue.NULL_FOLLOWED.error(loc)
    return target


def copy(cx: Context, to: Ref | View, source: Ref | View, count: Expr, overlap: bool, loc: Loc) -> None:
    """``count`` bytes."""
    a, b = structs(as_object(to, count), loc), structs(as_object(source, count), loc)
    if a is not None and b is not None and a.type == b.type and a.object is not b.object:
        several = divided(count, a.type.size, loc)
        alike = isinstance(a, Ref) and isinstance(b, Ref)  # else bytes of one's gaps may be members of the other
        if several is not None and (alike or not has_gaps(a.type)):
            copy_gaps(cx, a, b, is_whole(a, count))
            for path, leaf in leaf_table(a.type).items():
                copy_elements(cx, below(a, path, loc), below(b, path, loc), multiply(several, leaf.count), loc)
            return
    a, b = elements(to, count, loc), elements(source, count, loc)
    if a is None or b is None:
        copy_members(cx, by_bytes(to, loc), by_bytes(source, loc), count, loc)
        return
    unit = max(a.type.size, b.type.size)
    several = divided(count, unit, loc)
    if several is None:
        unit, several = 1, count
    a, b = as_words(a, unit, loc), as_words(b, unit, loc)

    def move(k: Expr) -> None:
        assert isinstance(a.type, Scalar)
        store(cx, a.moved(k), bitcast(load(cx, b.moved(k), loc), a.type, loc), loc)

    if overlap and a.object is b.object:
        later = binary(">", cast(a.index, LONG), cast(b.index, LONG), INT, loc)
        cx.either(
            later, lambda: for_each(cx, several, move, loc, True), lambda: for_each(cx, several, move, loc), loc, False
        )
        return
    for_each(cx, several, move, loc)


def structs(ref: Ref | View, loc: Loc) -> Ref | View | None:
    """The first struct or complex number at a place; None where there is none."""
    while isinstance(ref.type, Array) and ref.type.length is not None:
        ref = ref.element(loc)
    return ref if isinstance(ref.type, Struct) or is_complex(ref.type) else None


def elements(ref: Ref | View, count: Expr, loc: Loc) -> Ref | View | None:
    """The first of ``count`` bytes of scalars that lie one after the other; None where other members lie between."""
    while isinstance(ref.type, Array):
        ref = ref.element(loc)
    if isinstance(ref, Ref) and is_complex(ref.type) and in_turn(ref.object):
        leaf = object_table(ref.object)[""]
        ref = replace(ref, path="", index=multiply(ref.index, 2), type=leaf.type, rows=())
    if isinstance(ref, Ref) and isinstance(ref.type, Struct):
        table = leaf_table(ref.type)
        if len(table) != 1 or has_gaps(ref.type):
            return None
        ref = below(ref, next(iter(table)), loc)
    if isinstance(ref, Ref):
        if not isinstance(ref.type, Scalar) or is_pair(ref.type) or (ref.alone and not within(count, ref.type.size)):
            return None
        table = object_table(ref.object)
        if ref.path not in table:  # one part of a complex number
            return None
        leaf, several = table[ref.path], len(table) > 1
        farther = isinstance(count, Const) and count.value > extent(ref, loc)  # a variable's bytes are in the array
        if (several and (farther or not leaf.dims)) or not isinstance(leaf.type, Scalar):
            return None
        in_one_piece = not leaf.dims or leaf.dims[-1][1] == leaf.type.size
        if has_gaps(ref.object.type) and (farther or not (in_one_piece or isinstance(count, Const))):
            return None
        return replace(ref, type=leaf.type) if ref.type == VOID else ref
    spot = locate(ref)
    if spot is None or len(object_table(ref.object)) != 1 or not isinstance(spot.leaf.type, Scalar):
        return None
    size = spot.leaf.type.size
    aligned = spot.shift is None and spot.byte == 0
    return replace(ref, type=spot.leaf.type if aligned and ref.scale % size == 0 else UCHAR).normal()


def within(count: Expr, size: int) -> bool:
    return isinstance(count, Const) and count.value <= size


def extent(ref: Ref, loc: Loc) -> int:
    """Bytes from a place to the end of the innermost array around it, as far as that is known."""
    leaf = object_table(ref.object)[ref.path]
    if not leaf.dims or leaf.dims[-1][1] != leaf.type.size:
        return leaf.type.size
    length = leaf.dims[-1][0]
    at = int(ref.index.value) % length if isinstance(ref.index, Const) and length else 0
    return (length - at) * leaf.type.size


def as_words(ref: Ref | View, unit: int, loc: Loc) -> Ref | View:
    """The same place in units of so many bytes."""
    if ref.type.size == unit:
        return ref
    view = seen_as(ref, ref.type, loc) if isinstance(ref, Ref) else ref
    return view.viewed(WORDS[unit], loc).normal()


def by_bytes(ref: Ref | View, loc: Loc) -> View:
    return replace(seen_as(ref, UCHAR, loc) if isinstance(ref, Ref) else ref, type=UCHAR)


def copy_members(cx: Context, to: View, source: View, count: Expr, loc: Loc) -> None:
    """A copy between members that lie differently, or of some of them: what is copied first is read first."""
    writes: list[Callable[[], None]] = []
    between = gaps(to, count, loc)
    if between and (
        cx.gaps_may_hold(source.object) or any(covered(source.farther(Const(k, LONG), 1), 1) for k in between)
    ):
        cx.fill_gaps(to.object)
    for at, size in members(to, count, loc):
        a, b = (replace(x, constant=x.constant + at, type=WORDS.get(size, UCHAR)) for x in (to, source))
        spot = locate(a)
        if spot is not None and isinstance(spot.leaf.type, Pointer):
            target = read_pointer(cx, exact(replace(b, type=spot.leaf.type), loc), loc)
            writes.append(
                lambda a=a, target=target, t=spot.leaf.type: write_pointer(cx, replace(a, type=t), target, loc)
            )
            continue
        for k, part in ((0, size),) if covered(b, size) else tuple((k, 1) for k in range(size)):
            x, y = (replace(v, constant=v.constant + k, type=WORDS[part]) for v in (a, b))
            if covered(y, part):
                value = load(cx, y, loc)
            else:
                cx.read_gaps(source.object, loc)
                value = Const(0, WORDS[part])
            value = cx.saved(value, loc) if to.object is source.object else value
            writes.append(lambda x=x, value=value: store(cx, x, value, loc))
        if to.object is not source.object:
            run(writes)
    run(writes)


def run(writes: list[Callable[[], None]]) -> None:
    for write in writes:
        write()
    writes.clear()


def covered(view: View, size: int) -> bool:
    """Whether so many bytes all are of members."""
    if not isinstance(view.index, Const) and locate(view) is None:
        raise catalogue.MEMORY_OF_STRUCT.error(view.object.loc)
    return all(locate(view.farther(Const(k, LONG), 1)) is not None for k in range(size))


def gaps(view: View, count: Expr, loc: Loc) -> list[int]:
    """Which of ``count`` bytes, from 0, lie between members."""
    inside = {at + k for at, size in members(view, count, loc) for k in range(size)}
    assert isinstance(count, Const)
    return [k for k in range(int(count.value)) if k not in inside]


def members(view: View, count: Expr, loc: Loc) -> list[tuple[int, int]]:
    """The scalars and pointers, whole or in part, in ``count`` bytes: (offset, size) of each."""
    if not isinstance(count, Const):
        raise catalogue.MEMORY_OF_STRUCT.error(loc)
    out, at = [], 0
    while at < count.value:
        spot = locate(replace(view, constant=view.constant + at))
        if spot is None and not isinstance(view.index, Const):
            raise catalogue.MEMORY_OF_STRUCT.error(loc)
        if spot is None:
            at += 1
            continue
        rest = spot.leaf.type.size - spot.byte if spot.shift is None else 1
        size = 1 << min(rest, int(count.value) - at).bit_length() - 1
        out.append((at, size))
        at += size
        if len(out) > MOST_PIECES:
            raise catalogue.MEMORY_OF_STRUCT.error(loc)
    return out


def divided(count: Expr, size: int, loc: Loc) -> Expr | None:
    """A byte count as a count of elements; None where it is not certain to be one."""
    if size == 1:
        return count
    match count:
        case Const(value=n):
            return Const(int(n) // size, LONG) if n % size == 0 else None
        case Binary(op="*", left=a, right=b):
            for x, y in ((a, b), (b, a)):
                if isinstance(y, Const) and y.value % size == 0:
                    return binary("*", x, Const(int(y.value) // size, x.type), x.type, loc)
        case Binary(op="<<", left=a, right=Const(value=n)) if (1 << int(n)) % size == 0:
            return binary("*", a, Const((1 << int(n)) // size, a.type), a.type, loc)
        case Cast(operand=x, type=t) if t.is_integer and t.size >= x.type.size:
            inner = divided(x, size, loc)
            return cast(inner, t) if inner is not None else None
    return None


def fill(cx: Context, to: Ref | View, byte: Expr, count: Expr, loc: Loc) -> None:
    """``count`` bytes that all are ``byte``."""
    if not is_constant(byte, 0):
        cx.fill_gaps(to.object)
    elif has_gaps(to.object.type) and is_whole(to, count):
        cx.clear_gaps(to.object)
    first = structs(as_object(to, count), loc)
    several = divided(count, first.type.size, loc) if first is not None else None
    if first is not None and several is not None:
        for path, leaf in leaf_table(first.type).items():
            fill_elements(cx, below(first, path, loc), byte, multiply(several, leaf.count), loc)
        return
    start = elements(to, count, loc)
    if start is None:
        view = by_bytes(to, loc)
        for at, size in members(view, count, loc):
            here = replace(view, constant=view.constant + at, type=WORDS.get(size, UCHAR))
            spot = locate(here)
            if spot is not None and isinstance(spot.leaf.type, Pointer):
                fill_elements(cx, exact(replace(here, type=spot.leaf.type), loc), byte, Const(1, INT), loc)
            else:
                fill_elements(cx, here, byte, Const(1, INT), loc)
        return
    several = divided(count, start.type.size, loc)
    if several is None:
        start, several = as_words(start, 1, loc), count
    fill_elements(cx, start, byte, several, loc)


def is_whole(ref: Ref | View, count: Expr) -> bool:
    """Whether so many bytes from a place on certainly are all of its object."""
    t = ref.object.type
    if not isinstance(count, Const) or (isinstance(t, Array) and t.length is None) or not is_constant(ref.index, 0):
        return False
    return (ref.path == "" if isinstance(ref, Ref) else ref.constant == 0) and count.value >= t.size


def as_object(ref: Ref | View, count: Expr) -> Ref | View:
    """A place with its object's own type, where so many bytes are all of that."""
    seen = isinstance(ref, View) and is_whole(ref, count) and is_constant(count, ref.object.type.size)
    return whole(ref.object) if seen else ref


def fill_elements(cx: Context, start: Ref | View, byte: Expr, count: Expr, loc: Loc) -> None:
    if isinstance(start.type, Pointer):
        if not (isinstance(byte, Const) and byte.value == 0):
            raise catalogue.MEMSET_VALUE.error(loc)
        for_each(cx, count, lambda k: write_pointer(cx, start.moved(k), Null(), loc), loc)
        return
    assert isinstance(start.type, Scalar)
    value = filled(byte, start.type, loc)
    for_each(cx, count, lambda k: store(cx, start.moved(k), value, loc), loc)


def filled(byte: Expr, t: Scalar, loc: Loc) -> Expr:
    """An element whose bytes all are ``byte``."""
    if isinstance(byte, Const) and byte.value == 0:
        return Const(t.wrap(0), t, loc)
    wide = ULONG if t.size == 8 else UINT
    ones = Const(int.from_bytes(b"\1" * t.size, "little"), wide)
    word = cast(binary("*", cast(cast(byte, UCHAR), wide), ones, wide, loc), WORDS[t.size])
    return bitcast(word, t, loc)
