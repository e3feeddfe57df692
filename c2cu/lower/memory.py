"""Objects in memory: regions, loads, stores and copies of their leaves."""

from __future__ import annotations

from ..base import catalogue
from ..base.ctype import INT, LONG, Scalar, leaves
from ..base.diagnostics import Loc
from ..ir.evaluate import reinterpreted
from ..ir.fold import binary, bitcast, cast, multiply
from ..ir.nodes import Assign, Const, Expr, Load, Loop, Region, Store, Var, Variable
from .context import Context
from .objects import Object, Ref, leaf_table


def part_of(cx: Context, obj: Object, path: str, loc: Loc) -> Region | Variable:
    """Where a leaf lives: a variable where there is just one, else a region."""
    if path in obj.parts:
        return obj.parts[path]
    leaf = leaf_table(obj.type)[path]
    t = leaf.type
    if not isinstance(t, Scalar):
        raise catalogue.POINTER_IN_MEMORY.error(loc, name=obj.name + path)
    if t.size == 16:
        raise catalogue.LONG_DOUBLE.error(loc, what=f"'{obj.name}{path}'")
    if leaf.count == 1 and obj.storage != "shared" and not obj.volatile:
        new: Region | Variable = cx.fresh(obj.name + path.replace(".", "_"), t, obj.loc, obj.name + path)
    else:
        new = new_region(cx, obj, path, t, leaf.extents)
    obj.parts[path] = new
    return new


def new_region(cx: Context, obj: Object, path: str, t: Scalar, extents: tuple[int, ...]) -> Region:
    name = obj.name + path
    new = Region(cx.unique(name), t, extents, obj.storage, initial_elements(obj, path), obj.loc, name)
    cx.regions.append(new)
    return new


def initial_elements(obj: Object, path: str) -> tuple[int | float, ...] | None:
    """Initial elements of a leaf, in order; None: zero, or given at run time."""
    if obj.values is None:
        return None
    leaf = next(x for x in leaves(obj.type) if x.path == path)
    offsets = [leaf.offset]
    for extent, stride in leaf.dims:
        offsets = [o + k * stride for o in offsets for k in range(extent)]
    assert isinstance(leaf.type, Scalar)
    zero = Const(0, INT)
    return tuple(_bits(obj.values.get(o, zero), leaf.type) for o in offsets)


def load(cx: Context, ref: Ref, loc: Loc) -> Expr:
    """The value of a scalar lvalue."""
    part, viewed = leaf_of(cx, ref, loc)
    if isinstance(part, Variable):
        return bitcast(Var(part, loc), viewed, loc)
    constant = part.init if part.storage == "shared" else None
    if constant and isinstance(ref.index, Const) and 0 <= ref.index.value < part.count:
        return bitcast(Const(constant[int(ref.index.value)], part.type, loc), viewed, loc)
    return bitcast(Load(part, ref.index, loc, ref.rows), viewed, loc)


def leaf_of(cx: Context, ref: Ref, loc: Loc) -> tuple[Region | Variable, Scalar]:
    if not isinstance(ref.type, Scalar):
        raise catalogue.POINTER_IN_MEMORY.error(loc, name=ref.object.name + ref.path)
    part = part_of(cx, ref.object, ref.path, loc)
    if part.type.size != ref.type.size:
        raise catalogue.OTHER_TYPE.error(loc, name=part.name, type=part.type, other=ref.type)
    return part, ref.type


def store(cx: Context, ref: Ref, value: Expr, loc: Loc) -> None:
    """``ref = value``; value has the lvalue's type already."""
    part, viewed = leaf_of(cx, ref, loc)
    value = bitcast(value, part.type, loc)
    if isinstance(part, Variable):
        cx.emit(Assign(part, value, loc))
        return
    if part.storage == "shared":
        raise catalogue.SHARED_WRITTEN.error(loc, name=ref.object.name)
    cx.emit(Store(part, ref.index, value, loc, ref.rows))


def copy_object(cx: Context, to: Ref, source: Ref, loc: Loc) -> None:
    """Struct or array assignment, leaf by leaf; the first store must not change where the others go."""
    to, source = cx.pinned(to, loc), cx.pinned(source, loc)
    for path, leaf in leaf_table(to.type).items():
        count = leaf.count
        copy_elements(
            cx, scalars_below(to, path, count, loc), scalars_below(source, path, count, loc), Const(count, INT), loc
        )


def scalars_below(ref: Ref, path: str, count: int, loc: Loc) -> Ref:
    """The first scalar at ``path`` inside ``ref``."""
    return Ref(ref.object, ref.path + path, multiply(ref.index, count), leaf_table(ref.type)[path].type)


def copy_elements(cx: Context, to: Ref, source: Ref, count: Expr, loc: Loc) -> None:
    for_each(cx, count, lambda k: store(cx, to.moved(k), load(cx, source.moved(k), loc), loc), loc)


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


def _bits(c: Const, t: Scalar) -> int | float:
    """A constant as ``t`` sees it: another member of a union may have been initialised."""
    if c.type.is_float == t.is_float or c.type.size != t.size:
        return t.wrap(c.value)
    value = reinterpreted(c.value, c.type, t)
    if value != value:
        raise catalogue.NAN_BITS.error(c.loc)
    return value
