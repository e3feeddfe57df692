"""Objects seen as other types: bytes as words, words as bytes, the members of a union.

A `View` is a number of bytes into an object. What lies there is put together from the elements of the leaves below it,
whole ones where the view is aligned to them, else their bytes, in the host's order: the least significant first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..base import catalogue
from ..base.ctype import BOOL, INT, LONG, UCHAR, UINT, ULONG, USHORT, Array, Leaf, Scalar, leaf_element
from ..base.diagnostics import Loc
from ..ir.fold import add, binary, bitcast, cast, is_constant, multiply, unary
from ..ir.nodes import Const, Expr
from .objects import View, has_gaps, object_table

WORDS = {1: UCHAR, 2: USHORT, 4: UINT, 8: ULONG}


@dataclass(frozen=True)
class Spot:
    """Byte ``byte`` of element ``index`` of a leaf; where ``shift`` is given, that many bits farther on."""

    leaf: Leaf
    index: Expr
    byte: int
    shift: Expr | None = None


def locate(view: View) -> Spot | None:
    """The first byte of a view; None where it lies between members, or is not known well enough."""
    moving = not is_constant(view.index, 0)
    if isinstance(view.index, Const):
        view, moving = (
            replace(view, index=Const(0, INT), constant=view.constant + int(view.index.value) * view.scale),
            False,
        )
    here = view.constant, view.constant + 1  # a leaf that is there comes before others that the index may lead to
    for leaf in sorted(object_table(view.object).values(), key=lambda leaf: moving and not _overlaps(leaf, here)):
        spot = _moving(view, leaf) if moving else fixed(view.constant, leaf)
        if spot is not None:
            return spot
    return None


def fixed(at: int, leaf: Leaf) -> Spot | None:
    """Where a byte whose offset is known lies in a leaf."""
    rest, index = at - leaf.offset, 0
    for extent, stride in leaf.dims:
        k = rest // stride if stride else 0
        if k < 0 or (extent and k >= extent):
            return None
        index, rest = index * extent + k, rest - k * stride
    return Spot(leaf, Const(index, INT), rest) if 0 <= rest < leaf.type.size else None


def _moving(view: View, leaf: Leaf) -> Spot | None:
    """The same where the offset is computed: the leaf is one array without gaps, or one of an array of structs that the
    view steps over whole."""
    size = leaf.type.size
    if view.inside is not None and not _overlaps(leaf, view.inside):
        return None
    if view.across and not isinstance(view.object.type, Array) and len(object_table(view.object)) > 1:
        return None
    sole = _is_sole(leaf, view)
    if _gapless(leaf):
        if view.inside is not None and not sole:
            return None
        leaf = replace(leaf, dims=((leaf.count, size),))
    if leaf.dims and view.scale % leaf.dims[0][1] == 0:
        stride = leaf.dims[0][1]
        inner = replace(leaf, dims=leaf.dims[1:], offset=leaf.offset)
        ahead, rest = divmod(view.constant - leaf.offset, stride)
        spot = fixed(rest + leaf.offset, inner)
        if spot is None:
            return None
        steps = add(multiply(cast(view.index, LONG), view.scale // stride), Const(ahead, LONG))
        return Spot(leaf, add(multiply(steps, inner.count), cast(spot.index, LONG)), spot.byte)
    if not _gapless(leaf) or not sole:
        return None
    offset = add(multiply(cast(view.index, LONG), view.scale), Const(view.constant - leaf.offset, LONG))
    bits = size.bit_length() - 1
    index = binary(">>", offset, Const(bits, INT), LONG)
    byte = binary("&", offset, Const(size - 1, LONG), LONG)
    return Spot(leaf, index, 0, cast(multiply(byte, 8), INT))


def _gapless(leaf: Leaf) -> bool:
    step = leaf.type.size
    for extent, stride in reversed(leaf.dims):
        if stride != step:
            return False
        step *= extent
    return True


def _is_sole(leaf: Leaf, view: View) -> bool:
    """Whether there is no other leaf where the index of a view may lead."""
    table, inside = object_table(view.object), view.inside
    return len(table) == 1 or inside is not None and not any(_overlaps(x, inside) for x in table.values() if x != leaf)


def _overlaps(leaf: Leaf, inside: tuple[int, int]) -> bool:
    """Whether some of a leaf's elements lie between two bytes, or may."""
    end = leaf.offset + sum(max(extent - 1, 0) * stride for extent, stride in leaf.dims) + leaf.type.size
    return leaf.offset < inside[1] and inside[0] < end


def alignment(view: View) -> int:
    """The largest power of two, 8 at most, that divides the offset certainly."""
    n = 8
    index = 0 if isinstance(view.index, Const) and view.index.value == 0 else view.scale
    constant = view.constant
    if isinstance(view.index, Const):
        index, constant = 0, constant + int(view.index.value) * view.scale
    while n > 1 and (index % n or constant % n):
        n //= 2
    return n


@dataclass(frozen=True)
class ElementPart:
    """``size`` bytes of an element, from bit ``low`` on, which are bytes ``at`` and on of a value."""

    leaf: Leaf
    index: Expr
    low: Expr
    size: int
    at: int


def is_gap(view: View) -> bool:
    """Whether the first byte of a view certainly belongs to no member: it lies between two, or behind the last."""
    t, at = view.object.type, view.constant
    if not has_gaps(t) or leaf_element(t).foreign or not isinstance(view.index, Const):  # pyright: ignore
        return False
    if isinstance(t, Array) and t.length is None:
        return False
    return 0 <= at + int(view.index.value) * view.scale < t.size and locate(view) is None


def pieces(view: View, size: int, loc: Loc, skip_gaps: bool = False) -> list[ElementPart]:
    """The parts of elements that a value of ``size`` bytes consists of. ``skip_gaps``: but for bytes that lie between
    members."""
    out: list[ElementPart] = []
    at = 0
    while at < size:
        here = replace(view, constant=view.constant + at)
        spot = locate(here)
        if spot is None and skip_gaps and is_gap(here):
            at += 1
            continue
        if spot is None:
            raise catalogue.OTHER_TYPE.error(loc, name=view.name, type=view.object.type, other=view.type)
        element = spot.leaf.type
        if not isinstance(element, Scalar) or element == BOOL and size != 1 or element.size not in WORDS:
            raise catalogue.OTHER_TYPE.error(loc, name=view.name, type=element, other=view.type)
        if spot.shift is None:
            n = min(element.size - spot.byte, size - at)
            low: Expr = Const(8 * spot.byte, INT)
        else:
            n = min(alignment(here), size - at, element.size)
            low = spot.shift
        out.append(ElementPart(spot.leaf, spot.index, low, n, at))
        at += n
    return out


def put_together(parts: list[tuple[ElementPart, Expr]], size: int, loc: Loc) -> Expr:
    """The unsigned number of ``size`` bytes that the elements' values make."""
    wide = ULONG if size > 4 else UINT
    total: Expr | None = None
    for piece, element in parts:
        bits = bitcast(element, WORDS[element.type.size], loc)
        part = narrowed(bits, piece, wide, loc)
        part = binary("<<", part, Const(8 * piece.at, INT), wide, loc) if piece.at else part
        total = part if total is None else binary("|", total, part, wide, loc)
    assert total is not None
    return cast(total, WORDS.get(size, wide))


def narrowed(bits: Expr, piece: ElementPart, wide: Scalar, loc: Loc) -> Expr:
    """The bytes of a piece out of its element, as the low bytes of a ``wide`` number."""
    whole = ULONG if bits.type.size == 8 else UINT
    out = bits
    if not is_constant(piece.low, 0):
        out = binary(">>", cast(bits, whole), piece.low, whole, loc)
    if piece.size < piece.leaf.type.size:
        out = lowest(out, piece.size, loc)
    return cast(out, wide)


def lowest(e: Expr, size: int, loc: Loc) -> Expr:
    """The lowest bytes of an unsigned number."""
    if size in WORDS:
        return cast(e, WORDS[size])
    t = ULONG if e.type.size == 8 else UINT
    return binary("&", cast(e, t), Const((1 << 8 * size) - 1, t), t, loc)


def replaced(old: Expr, value: Expr, piece: ElementPart, loc: Loc) -> Expr:
    """An element's bits, with those of a piece taken from ``value``, an unsigned number."""
    size = piece.leaf.type.size
    wide = ULONG if value.type.size == 8 else UINT
    part = cast(value, wide)
    if piece.at:
        part = binary(">>", part, Const(8 * piece.at, INT), wide, loc)
    part = lowest(part, piece.size, loc)
    if piece.size == size:
        return part
    whole = ULONG if size == 8 else UINT
    mask = binary("<<", Const((1 << 8 * piece.size) - 1, whole), piece.low, whole, loc)
    rest = binary("&", cast(old, whole), unary("~", mask, whole, loc), whole, loc)
    moved = binary("<<", cast(part, whole), piece.low, whole, loc)
    return cast(binary("|", rest, moved, whole, loc), WORDS[size])
