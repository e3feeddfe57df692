"""Memory that a kernel allocates: an object of a size that lowering knows, until the kernel frees it.

A call stands for one object. In a loop it is another one at every turn, so a pointer to it must not outlive the turn.
"""

from __future__ import annotations

from dataclasses import replace

from pycparser import c_ast as C

from ..base import catalogue
from ..base.ctype import BOOL, UCHAR, ULONG, VOID, Array
from ..base.diagnostics import Loc
from ..ir.fold import binary, cast
from ..ir.nodes import Const, If, Loop, Region, Stmt, Store
from .context import Context
from .lvalues import pointer_value
from .memory import zero
from .objects import Null, OneOf, Ref, Single, View, whole

MOST = 1 << 26  # bytes of one object: every lane has its own


def allocated(cx: Context, name: str, args: list[C.Node], loc: Loc) -> Ref:
    """A new object, whose type the first pointer to it tells. Raises UnsupportedError where its size is not known."""
    sizes = [cast(cx.value(a), ULONG) for a in (args if name == "calloc" else args[-1:])]
    size = sizes[0] if len(sizes) == 1 else binary("*", sizes[0], sizes[1], ULONG, loc)
    if not isinstance(size, Const) or size.value > MOST:
        raise catalogue.ALLOCATION.error(loc, name=name)
    nbytes = int(size.value)
    obj = cx.new_object("allocated", Array(UCHAR, max(nbytes, 1)), "local", loc)
    obj.allocated, obj.raw, obj.cleared = True, nbytes, name == "calloc"
    if obj.cleared:
        mark = Region(cx.unique("cleared"), BOOL, (1,), "local", None, loc)
        cx.cleared[mark] = obj
        cx.emit(Store(mark, Const(0, UCHAR), Const(0, BOOL), loc))
    return Ref(obj, "", Const(0, ULONG), VOID)


def free(cx: Context, args: list[C.Node], loc: Loc) -> None:
    """From here on no pointer leads to what is freed, if that is known."""
    target = pointer_value(cx, args[0])
    places = [t for _, t in target.targets] if isinstance(target, OneOf) else [target]
    gone = [t.object for t in places if isinstance(t, (Ref, View))]
    if not all(obj.allocated for obj in gone):
        raise catalogue.ALLOCATION.error(loc, name="free")
    if len(gone) > 1:
        return
    for cell, known in {**cx.start.places, **cx.env.places}.items():
        if any(_leads_to(t, gone) for t in known):
            cx.env.places[cell] = frozenset(t for t in known if not _leads_to(t, gone)) or frozenset({Null()})


def _leads_to(t: Single, objects: list) -> bool:
    return isinstance(t, (Ref, View)) and t.object in objects


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
