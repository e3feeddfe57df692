"""Memory that a kernel allocates: an object of a size that lowering knows, until the kernel frees it.

A call stands for one object. In a loop it is another one at every turn, so a pointer to it must not outlive the turn.
"""

from __future__ import annotations

import math
from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, UCHAR, ULONG, VOID, Array
from ..base.diagnostics import Loc
from ..ir.fold import cast
from ..ir.nodes import Const, If, Loop, Region, Stmt, Store
from .context import Context
from .lvalues import pointer_value
from .memory import zero
from .objects import Object, OneOf, Ref, Single, View, whole

MOST = 1 << 26  # bytes of one object: every lane has its own


def allocated(cx: Context, name: str, args: list[C.Node], loc: Loc) -> Ref:
    """A new object, whose type the first pointer to it tells. Raises UnsupportedError where its size is not known."""
    numbers = [cast(cx.value(a), ULONG) for a in reversed(args)]  # in gcc's order
    known = [int(n.value) for n in numbers if isinstance(n, Const)]
    aligned = name != "aligned_alloc" or bool(known) and known[-1].bit_count() == 1
    nbytes = math.prod(known[:1] if name == "aligned_alloc" else known)  # more than a size_t holds, where it is so
    if len(known) != len(args) or nbytes > MOST or not aligned:
        raise catalogue.ALLOCATION.error(loc, name=name)
    obj = cx.new_object("allocated", Array(UCHAR, max(nbytes, 1)), "local", loc)
    obj.allocated, obj.raw, obj.cleared = True, nbytes, name == "calloc"
    cx.clear_gaps(obj)
    if obj.cleared:
        mark = Region(cx.unique("cleared"), BOOL, (1,), "local", None, loc)
        cx.cleared[mark] = obj
        cx.emit(Store(mark, Const(0, UCHAR), Const(0, BOOL), loc))
    return Ref(obj, "", Const(0, ULONG), VOID)


def free(cx: Context, args: list[C.Node], loc: Loc) -> None:
    """From here on no pointer leads to what is freed, if it is known what that is: those that did lead to an object of
    its own, which is not null and ends with its turn of a loop."""
    target = pointer_value(cx, args[0])
    places = [t for _, t in target.targets] if isinstance(target, OneOf) else [target]
    gone = [t.object for t in places if isinstance(t, (Ref, View))]
    if not all(obj.allocated or obj.freed for obj in gone) or (gone and all(obj.freed for obj in gone)):
        raise catalogue.ALLOCATION.error(loc, name="free")
    if len(places) > 1 or not gone:  # it may also be null, and then nothing is freed
        return
    grave = cx.new_object("freed", gone[0].type, "local", loc)
    grave.freed = True
    for cell, known in {**cx.start.places, **cx.env.places}.items():
        if any(_leads_to(t, gone[0]) for t in known):
            cx.env.places[cell] = frozenset(_moved(t, grave) if _leads_to(t, gone[0]) else t for t in known)


def _leads_to(t: Single, obj: Object) -> bool:
    return isinstance(t, (Ref, View)) and t.object is obj


def _moved(t: Single, to: Object) -> Single:
    assert isinstance(t, (Ref, View))
    return replace(t, object=to)


def clearing(cx: Context, block: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
    """The same with statements that set to zero what ``calloc`` allocates, where it does: now its type is known."""
    out: list[Stmt] = []
    for s in block:
        match s:
            case Store(region=r) if r in cx.cleared:
                with cx.block() as zeros:
                    zero(cx, whole(cx.cleared[r]), s.loc)
                out += zeros
                continue
            case If():
                s = replace(s, then=clearing(cx, s.then), other=clearing(cx, s.other))
            case Loop():
                s = replace(s, body=clearing(cx, s.body), step=clearing(cx, s.step), head=clearing(cx, s.head))
        out.append(s)
    return tuple(out)
