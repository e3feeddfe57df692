"""Initialisers: which value goes to which byte (6.7.9), with brace elision and designators."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeGuard, Union

from pycparser import c_ast as C

from ..base import catalogue, literals
from ..base.ctype import Array, CType, Number, Pointer, Scalar, Struct
from ..base.diagnostics import did_you_mean
from .parse import loc_of
from .tree import children, ends

# (offset in bytes, type of the initialised subobject, its expression or the value of a string's byte)
Item = tuple[int, CType, "C.Node | int"]


def items(
    t: CType, init: C.Node, constant: Callable[[C.Node], int], type_of: Callable[[C.Node], CType | None]
) -> Iterator[Item]:
    """The explicitly initialised subobjects of an object of type ``t``, in order; what is not named is zero."""
    initialised: list[Item] = []
    _Reader(constant, type_of, initialised).fill(t, 0, init)
    yield from initialised


def count_elements(
    init: C.InitList, of: CType, constant: Callable[[C.Node], int], type_of: Callable[[C.Node], CType | None]
) -> int:
    """The length that an initialiser gives to an array ``of []``."""
    reader = _Reader(constant, type_of, [])
    reader.aggregate(Array(of, None), 0, init.exprs, 0, True)
    return reader.longest


def refuse_calls(init: C.Node, name: str, constant: Callable[[C.Node], Number | None]) -> None:
    """Raise UnsupportedError where the initialiser of ``name`` calls a function whose value is not known here."""
    if constant(init) is not None:
        return
    if isinstance(init, C.FuncCall) and isinstance(init.name, C.ID):
        raise catalogue.CALL_IN_INITIALISER.error(loc_of(init), name=name, function=init.name.name)
    for n in children(init):
        refuse_calls(n, name, constant)


def _is_string(node: C.Node) -> TypeGuard[C.Constant]:
    return isinstance(node, C.Constant) and "string" in node.type


#: What an initialiser gives to an object: the expression, a character's code, or the parts by number.
Part = Union[C.Node, int, "dict[int, Part]"]


def tree(t: CType, init: C.Node, constant: Callable[[C.Node], int], type_of: Callable[[int], CType | None]) -> Part:
    """What goes where in an object of type ``t``, in order and without designators; a string for an array of characters
    stays one. What is not named is zero."""
    leaves: list[tuple[tuple[int, ...], CType, C.Node | int]] = []
    _Tree(constant, lambda node: type_of(id(node)), leaves).fill(t, (), init)
    parts: dict[int, Part] = {}
    for path, _, value in leaves:
        if not path:
            return value
        at = parts
        for k in path[:-1]:
            below = at.get(k)
            if not isinstance(below, dict):
                below = at[k] = {}
            at = below
        at[path[-1]] = value
    return parts


def _is_for(t: CType, node: C.Node) -> bool:
    """Whether a node is a string of an array's characters."""
    return isinstance(t, Array) and _is_string(node) and t.of.size == literals.width(node.value)


class _Reader:
    """``place`` is the offset in bytes; `_Tree` has the numbers of the parts instead."""

    def __init__(self, constant: Callable[[C.Node], int], type_of: Callable[[C.Node], CType | None], out: list[Any]):
        self.constant, self.type_of, self.out = constant, type_of, out
        self.longest = 0

    def inside(self, place: Any, t: CType, k: int) -> Any:
        """The place of the ``k``-th part of an aggregate."""
        if isinstance(t, Array):
            return place + k * t.of.size
        assert isinstance(t, Struct)
        return place + t.members[k].offset

    def fill(self, t: CType, offset: Any, init: C.Node) -> None:
        if isinstance(t, Array) and isinstance(init, C.Constant) and _is_for(t, init):
            self.string(t, offset, init)
        elif not isinstance(init, C.InitList):
            self.out.append((offset, t, init))
        elif isinstance(t, (Scalar, Pointer)):
            self.fill(t, offset, init.exprs[0])
        elif isinstance(t, Array) and len(init.exprs) == 1 and _is_for(t, init.exprs[0]):
            self.string(t, offset, init.exprs[0])
        else:
            self.aggregate(t, offset, init.exprs, 0, True)

    def string(self, t: Array, offset: Any, node: C.Constant) -> None:
        for k, code in enumerate(literals.codes(node.value, t.of.size)[: t.length]):
            value = int(t.of.wrap(code)) if isinstance(t.of, Scalar) else code
            self.out.append((offset + k * t.of.size, t.of, value))

    def part(self, t: CType, k: int, node: C.Node) -> CType:
        """The type of the ``k``-th part of an aggregate."""
        if isinstance(t, Array):
            return t.of
        assert isinstance(t, Struct)
        if k >= len(t.members):
            raise catalogue.TOO_MANY_INITIALISERS.error(loc_of(node), type=t)
        return t.members[k].type

    def aggregate(self, t: CType, offset: Any, exprs: list[C.Node], i: int, braced: bool, k: int = 0) -> int:
        """Consume initialisers for the parts of ``t`` from the ``k``-th on; the index of the first one left."""
        limit = self.parts(t)
        while i < len(exprs):
            e = exprs[i]
            if isinstance(e, C.NamedInitializer):
                if not braced:
                    return i
                *before, e = self.each(e)
                for one in before:
                    *_, (sub, at, _) = self.designated(t, offset, one)
                    self.fill(sub, at, one.expr)
                (_, _, k), *inner, (sub, at, _) = self.designated(t, offset, e)
                self.fill(sub, at, e.expr)
                i += 1
                for within, start, last in reversed(inner):  # what follows continues behind the designated one
                    i = self.aggregate(within, start, exprs, i, False, last + 1)
            else:
                if limit is not None and k >= limit:
                    break
                i = self.one(self.part(t, k, e), self.inside(offset, t, k), exprs, i)
            k += 1
            if isinstance(t, Array) and t.length is None:
                self.longest = max(self.longest, k)
            if not braced and limit is not None and k >= limit:
                return i
        if braced and i < len(exprs):
            raise catalogue.TOO_MANY_INITIALISERS.error(loc_of(exprs[i]), type=t)
        return i

    def one(self, t: CType, offset: Any, exprs: list[C.Node], i: int) -> int:
        e = exprs[i]
        whole = (
            isinstance(e, C.InitList)
            or isinstance(t, (Scalar, Pointer))
            or _is_for(t, e)
            or isinstance(self.type_of(e), Struct)
        )
        if whole:
            self.fill(t, offset, e)
            return i + 1
        if self.parts(t) == 0:  # no initialiser goes into it
            raise catalogue.TOO_MANY_INITIALISERS.error(loc_of(e), type=t)
        return self.aggregate(t, offset, exprs, i, False)

    @staticmethod
    def parts(t: CType) -> int | None:
        if isinstance(t, Array):
            return t.length
        assert isinstance(t, Struct)
        return min(1, len(t.members)) if t.union else len(t.members)

    def each(self, e: C.NamedInitializer) -> list[C.NamedInitializer]:
        """An initialiser for each of the elements that a range designates, or itself."""
        ways: list[list[C.Node]] = []
        for d in e.name:
            first, last = ends(d.expr) if isinstance(d, C.ArrayDesignator) else (None, None)
            if first is last:
                ways.append([d])
                continue
            assert first is not None and last is not None
            numbers = range(int(self.constant(first)), int(self.constant(last)) + 1)  # compilers refuse an empty one
            ways.append([C.ArrayDesignator(C.Constant("int", str(k), d.coord), d.coord) for k in numbers])
        if all(len(way) == 1 and way[0] is d for way, d in zip(ways, e.name)):
            return [e]
        return [C.NamedInitializer(list(names), e.expr, e.coord) for names in itertools.product(*ways)]

    def designated(self, t: CType, offset: Any, e: C.NamedInitializer) -> list[tuple[CType, Any, int]]:
        """(aggregate, its offset, number of the part) from ``t`` inwards; last the designated subobject itself."""
        chain: list[tuple[CType, Any, int]] = []
        for d in e.name:
            if isinstance(t, Struct):
                path = t.path(d.name) if isinstance(d, C.ID) else ()
                if not path:
                    raise catalogue.NO_MEMBER.error(
                        loc_of(d),
                        struct=t,
                        member=getattr(d, "name", "?"),
                        meant=did_you_mean(getattr(d, "name", ""), (m.name for m in t.members)),
                    )
                for m in path:
                    assert isinstance(t, Struct)
                    k = next(k for k, other in enumerate(t.members) if other is m)
                    chain.append((t, offset, k))
                    t, offset = m.type, self.inside(offset, t, k)
            elif isinstance(t, Array):
                k = int(self.constant(d.expr))
                chain.append((t, offset, k))
                t, offset = t.of, self.inside(offset, t, k)
            else:
                raise catalogue.NOTHING_TO_DESIGNATE.error(loc_of(d), type=t)
        return [*chain, (t, offset, 0)]


class _Tree(_Reader):
    def inside(self, place: Any, t: CType, k: int) -> Any:
        return (*place, k)

    def string(self, t: Array, offset: Any, node: C.Constant) -> None:
        self.out.append((offset, t, node))
