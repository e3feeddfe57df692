"""The end of a secret, for a verdict: what a variable holds comes out of a function that makes it public, and a mark
stands where an array's contents are public from. Only a program that is judged has either."""

from __future__ import annotations

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import INT, UCHAR, Pointer, Scalar
from ..base.diagnostics import Error, Loc
from ..frontend.parse import loc_of
from ..ir.fold import is_constant
from ..ir.nodes import MADE_PUBLIC, PUBLIC_FROM, Call, Const, Region, Store, Variable
from .context import Context
from .lvalues import lvalue, pointee, pointer_value, written
from .memory import load, part_of, store
from .objects import Place, Ref, View, leaf_table, object_table
from .views import WORDS


def declassify(cx: Context, node: C.Node | Error) -> None:
    """What an expression names is no secret from here on. Raises UnsupportedError for a part of an array, and what kept
    the expression from being understood."""
    if isinstance(node, Error):
        raise node
    loc, t = loc_of(node), cx.unit.type(node)
    ref = pointee(pointer_value(cx, node), t.to, loc) if isinstance(t, Pointer) else lvalue(cx, node)
    if not isinstance(ref, (Ref, View)):
        raise catalogue.DECLASSIFIED_PART.error(loc, name=written(node), whole="several variables")
    _declassify(cx, ref, isinstance(t, Pointer), written(node), loc)


def _declassify(cx: Context, place: Place, pointed: bool, name: str, loc: Loc) -> None:
    """``pointed``: all that lies from there on."""
    obj = place.object
    at_start = is_constant(place.index, 0) and (isinstance(place, Ref) or place.constant == 0)
    path = place.path if isinstance(place, Ref) else ""
    below = {p: leaf for p, leaf in object_table(obj).items() if not path or p == path or p.startswith(f"{path}.")}
    elements = {f"{path}{p}": leaf.count for p, leaf in leaf_table(place.type).items()}
    all_of_it = pointed or all(elements.get(p) == leaf.count for p, leaf in below.items())
    if not (at_start and all_of_it):
        raise catalogue.DECLASSIFIED_PART.error(loc, name=name, whole=obj.name)
    for p, leaf in below.items():
        if isinstance(leaf.type, Scalar) and leaf.type.size in WORDS:
            part = part_of(cx, obj, p, loc)
            if isinstance(part, Variable):
                here = Ref(obj, p, Const(0, INT), part.type)
                store(cx, here, Call(MADE_PUBLIC, (load(cx, here, loc),), part.type, loc), loc)
            else:
                _mark(cx, part, loc)


def _mark(cx: Context, part: Region, loc: Loc) -> None:
    mark = Region(PUBLIC_FROM + part.name, UCHAR, (1,), "bulk", None, loc)
    if mark not in cx.regions:
        cx.regions.append(mark)
    cx.emit(Store(mark, Const(0, INT), Const(1, UCHAR), loc))
