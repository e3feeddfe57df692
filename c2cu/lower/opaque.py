"""Structs that only hide another: a context of bytes, whose members nobody names and whose pointers are made those of
one other struct. A variable of such a type is that other struct, with room behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pycparser import c_ast as C

from ..base.ctype import UCHAR, VOID, Array, CType, Member, Pointer, Struct
from ..frontend.tree import nodes
from ..frontend.typed import FunctionDef, Unit, decay


def hidden(unit: Unit, functions: Iterable[FunctionDef]) -> dict[str, Struct]:
    """What variables of these types, by their tags, are in functions."""
    named: set[str] = set()
    inside: dict[str, dict[str, Struct]] = defaultdict(dict)
    types: dict[str, Struct] = {}
    for f in functions:
        for n in nodes(f.node.body):
            if isinstance(n, C.StructRef) and (t := _struct(unit, n.name)) is not None:
                named.add(t.tag)
            elif isinstance(n, C.Cast):
                outer, inner = _struct(unit, n.expr), _struct(unit, n)
                if outer is not None and inner is not None and outer != inner:
                    types[outer.tag], inside[outer.tag][inner.tag] = outer, inner
    ones = {tag: (types[tag], *x.values()) for tag, x in inside.items() if len(x) == 1 and tag not in named}
    last = {tag: (outer, inner) for tag, (outer, inner) in ones.items() if inner.tag not in inside}
    return {tag: _with_room(outer, inner) for tag, (outer, inner) in last.items() if _fits(inner, outer)}


def _struct(unit: Unit, n: C.Node) -> Struct | None:
    """The struct that an expression is, or points to."""
    t: CType = decay(unit.types.get(id(n), VOID))
    t = t.to if isinstance(t, Pointer) else t
    return t if isinstance(t, Struct) else None


def _fits(inner: Struct, outer: Struct) -> bool:
    plain = inner.complete and outer.complete and not (inner.foreign or outer.foreign)
    return plain and 0 < inner.size <= outer.size and inner.align <= outer.align


def _with_room(outer: Struct, inner: Struct) -> Struct:
    members = [Member("hidden", inner, 0)]
    if inner.size < outer.size:
        members.append(Member("room", Array(UCHAR, outer.size - inner.size), inner.size))
    return Struct(f"{outer.tag} that is {inner.tag}", False, tuple(members), outer.size, outer.align)
