"""Pointers in memory: what a variable, a member or an element that holds a pointer points to, read and written.

A pointer is a tag, which of the places it may point to, and an index there. Both are stored as numbers; what is known
of them before the program runs is in the `Environment`, and nothing reads a number that is known.
"""

from __future__ import annotations

from ..base import catalogue
from ..base.ctype import INT, LONG, VOID, Function, Pointer
from ..base.diagnostics import Loc, UnsupportedError
from ..ir.fold import binary, cast
from ..ir.nodes import Const, Expr, Load, Region, Select, Store, Variable
from .context import Context
from .objects import (
    LValue,
    Null,
    Object,
    OneOf,
    PointerCell,
    PointerCells,
    Ref,
    Single,
    Target,
    View,
    at_start,
    leaf_table,
)
from .views import locate

MOST_CELLS = 1024  # elements of an array of pointers that are told apart


def cells_of(cx: Context, obj: Object, path: str, loc: Loc) -> PointerCells:
    """Where the pointers at ``path`` live."""
    part = obj.parts.get(path)
    if isinstance(part, PointerCells):
        return part
    leaf = leaf_table(obj.type).get(path)
    if leaf is None or not isinstance(leaf.type, Pointer):
        raise catalogue.POINTER_IN_MEMORY.error(loc, name=obj.name + path)
    name = obj.name + path
    plain = name.replace(".", "_")
    if leaf.count == 1:
        tag: Variable | Region = cx.fresh(f"{plain}_place", INT, obj.loc, name)
        index: Variable | Region = cx.fresh(plain, LONG, obj.loc, name)
    else:
        tag = Region(cx.unique(f"{plain}_place"), INT, leaf.extents, "local", None, obj.loc, name)
        index = Region(cx.unique(plain), LONG, leaf.extents, "local", None, obj.loc, name)
        cx.regions += [tag, index]
    new = PointerCells(name, leaf.type, obj.loc, leaf.count, tag, index, obj.born, obj.lasting)
    obj.parts[path] = new
    return new


def cell_at(cells: PointerCells, index: Expr) -> PointerCell | None:
    """The cell at an index, None where that is not known."""
    if cells.count == 1:
        return PointerCell(cells, 0)
    if cells.count > MOST_CELLS:
        return PointerCell(cells, None)
    if isinstance(index, Const):
        return PointerCell(cells, int(index.value)) if 0 <= index.value < cells.count else None
    return None


def all_cells(cells: PointerCells) -> list[PointerCell]:
    return (
        [PointerCell(cells, None)] if cells.count > MOST_CELLS else [PointerCell(cells, k) for k in range(cells.count)]
    )


def places_at(cx: Context, cell: PointerCell) -> frozenset[Single]:
    return cx.env.places.get(cell) or cx.start.places.get(cell) or frozenset()


def read_pointer(cx: Context, ref: LValue, loc: Loc) -> Target:
    """Where the pointer that is stored at ``ref`` points."""
    if isinstance(ref, OneOf):
        return _read_one_of(cx, ref, loc)
    if isinstance(ref, View):
        ref = exact(ref, loc)
    cells = cells_of(cx, ref.object, ref.path, loc)
    cell = cell_at(cells, ref.index)
    every = [cell] if cell is not None else all_cells(cells)
    places = frozenset().union(*(places_at(cx, c) for c in every))
    if not places:
        return nowhere(cx, ref, loc)
    if isinstance(cells.index, Variable) and isinstance(cells.tag, Variable):
        index: Expr = cx.settled(cells.index, loc)
        tag: Expr = cx.settled(cells.tag, loc)
    else:
        index, tag = _stored(cx, cells, cell, ref.index, places, loc)
    return target_of(cx, places, tag, index, loc)


def nowhere(cx: Context, ref: Ref, loc: Loc) -> Target:
    """Where a pointer points that was not set: a later turn of a loop may find it set, else it is an error."""
    assert isinstance(ref.type, Pointer)
    if cx.env.reached:
        cx.unset.append((loc, ref.name))
    t = cx.unit.declarations.complete(ref.type.to)
    if isinstance(t, Function) or t == VOID:
        return Null()
    return Ref(cx.new_object("unset", t, "local", loc), "", Const(0, INT), t)


def _stored(
    cx: Context, cells: PointerCells, cell: PointerCell | None, at: Expr, places: frozenset[Single], loc: Loc
) -> tuple[Expr, Expr]:
    """Index and tag of a pointer in a region, loaded only where they are not known."""
    assert isinstance(cells.index, Region) and isinstance(cells.tag, Region)
    known = None
    if cell is not None and cell.at is not None:
        known = cx.env.known[cell] if cell in cx.env.known else cx.start.known.get(cell)
    pointing = any(isinstance(t, (Ref, View)) for t in places)
    index = known if known is not None or not pointing else cx.saved(Load(cells.index, at, loc), loc, cells.index.name)
    tag = cx.saved(Load(cells.tag, at, loc), loc, cells.tag.name) if len(places) > 1 else Const(0, INT)
    return index if index is not None else Const(0, LONG), tag


def target_of(cx: Context, places: frozenset[Single], tag: Expr, index: Expr, loc: Loc) -> Target:
    """The pointer with this tag and index that points to one of ``places``."""
    if isinstance(index, Const) and INT.wrap(index.value) == index.value:
        index = cast(index, INT)  # so that a subscript added to it keeps its type
    numbered = sorted(((cx.number(p), p) for p in places), key=lambda pair: pair[0])
    if len(numbered) > 1 and isinstance(tag, Const):
        numbered = [(n, p) for n, p in numbered if n == tag.value] or numbered
    targets = tuple((n, p.at(index) if isinstance(p, (Ref, View)) else p) for n, p in numbered)
    return targets[0][1] if len(targets) == 1 else OneOf(tag, targets)


def _read_one_of(cx: Context, ref: OneOf, loc: Loc) -> Target:
    """The pointer stored in one of several places."""
    obj = cx.new_object("pointer", ref.type, "local", loc)
    to = Ref(obj, "", Const(0, INT), ref.type)
    for_one_of(cx, ref, lambda t: write_pointer(cx, to, read_pointer(cx, t, loc), loc), loc)
    return read_pointer(cx, to, loc)


def for_one_of(cx: Context, ref: OneOf, body, loc: Loc) -> None:
    """``body(t)`` for the one of several places that it is."""
    *others, (_, last) = ref.places
    if not others:
        body(last)
        return
    (n, t), rest = others[0], OneOf(ref.tag, ref.places[1:])
    is_t = binary("==", ref.tag, Const(n, INT), INT, loc)
    cx.either(is_t, lambda: body(t), lambda: for_one_of(cx, rest, body, loc), loc)


def write_pointer(cx: Context, ref: LValue, target: Target, loc: Loc) -> None:
    """Store a pointer."""
    if isinstance(ref, OneOf):
        for_one_of(cx, pinned_choice(cx, ref, loc), lambda t: write_pointer(cx, t, target, loc), loc)
        return
    if isinstance(ref, View):
        ref = exact(ref, loc)
    if ref.object.storage == "shared":
        raise catalogue.SHARED_WRITTEN.error(loc, name=ref.object.name)
    put(cx, ref, target, loc)


def pinned_choice(cx: Context, ref: OneOf, loc: Loc) -> OneOf:
    pinned = cx.pinned(ref, loc)
    assert isinstance(pinned, OneOf)
    return pinned


def put(cx: Context, ref: Ref, target: Target, loc: Loc) -> None:
    """As `write_pointer`, into one place, which may be constant."""
    assert isinstance(ref.type, Pointer)
    cells = cells_of(cx, ref.object, ref.path, loc)
    cell = cell_at(cells, ref.index)
    if isinstance(target, Ref) and target.object.raw is not None and ref.type.to != VOID:
        target.object.name = ref.name.replace(".", "_")
    places, tag, index = numbers_of(cx, as_declared(target, ref.type, loc), loc)
    if isinstance(cells.index, Variable) and isinstance(cells.tag, Variable):
        assert cell is not None
        cx.env.places[cell] = places
        cx.assign(cells.index, index, loc)  # first: by several targets, it depends on the tag
        cx.learn(cells.index, cast(index, LONG))
        cx.assign(cells.tag, tag, loc)
        cx.learn(cells.tag, tag)
        return
    assert isinstance(cells.index, Region) and isinstance(cells.tag, Region)
    at = cx.saved(ref.index, loc)
    cx.emit(Store(cells.index, at, cast(index, LONG), loc))
    cx.emit(Store(cells.tag, at, cast(tag, INT), loc))
    if cell is not None and cell.at is not None:
        cx.env.places[cell] = places
        known = cast(index, LONG)
        cx.env.known[cell] = known if isinstance(known, Const) else None
        return
    for c in [cell] if cell is not None else all_cells(cells):
        cx.env.places[c] = places_at(cx, c) | places
        cx.env.known[c] = None


def as_declared(target: Target, t: Pointer, loc: Loc) -> Target:
    """A target as a pointer of type ``t`` has it: places that differ in no more than their index look the same."""
    match target:
        case OneOf():
            return OneOf(target.tag, tuple((n, as_declared(x, t, loc)) for n, x in target.targets))  # pyright: ignore
        case Ref() | View():
            if t.to != VOID and not isinstance(t.to, Function):
                try:
                    target = target.viewed(t.to, loc)
                except UnsupportedError:
                    pass  # a view that is cast back before it is used
            return target.normal() if isinstance(target, View) else target
    return target


def numbers_of(cx: Context, target: Target, loc: Loc) -> tuple[frozenset[Single], Expr, Expr]:
    """What a pointer may point to, its tag and its index."""
    if not isinstance(target, OneOf):
        index = target.index if isinstance(target, (Ref, View)) else Const(0, LONG)
        return frozenset({at_start(target)}), Const(cx.number(target), INT), index
    places = frozenset(at_start(t) for _, t in target.targets)
    (_, last), *others = reversed(target.targets)
    index = last.index if isinstance(last, (Ref, View)) else None
    tag: Expr = Const(cx.number(last), INT)
    renumbered = any(cx.number(t) != n for n, t in target.targets)
    for n, t in others:
        is_t = binary("==", target.tag, Const(n, INT), INT, loc)
        tag = Select(is_t, Const(cx.number(t), INT), tag, INT, loc)
        if isinstance(t, (Ref, View)):
            here = cast(t.index, LONG)
            other = here if index is None else cast(index, LONG)
            index = here if other == here else Select(is_t, here, other, LONG, loc)
    return places, tag if renumbered else target.tag, index if index is not None else Const(0, LONG)


def exact(view: View, loc: Loc) -> Ref:
    """The pointer that lies where ``view`` looks: a leaf of the object, whole."""
    spot = locate(view)
    if spot is None or not isinstance(spot.leaf.type, Pointer) or spot.shift is not None or spot.byte:
        raise catalogue.POINTER_IN_MEMORY.error(loc, name=view.name)
    return Ref(view.object, spot.leaf.path, spot.index, spot.leaf.type)
