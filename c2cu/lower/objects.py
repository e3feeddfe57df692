"""C objects and pointers as lowering sees them: regions and linear indices.

An object is split into its leaves; a pointer is an object, a path to a member, and an index that counts elements of
the type at that path. ``&D[i][0]`` of ``float D[4][8]`` is (D, "", 8*i, float); ``&s[k].y`` is (s, ".y", k, float[3]).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..base import catalogue
from ..base.ctype import BOOL, INT, LONG, Array, CType, Leaf, Pointer, Scalar, Struct, leaves
from ..base.diagnostics import Loc
from ..ir.fold import add, is_constant, multiply
from ..ir.nodes import NOWHERE, Const, Expr, Region, Rows, Variable


@dataclass(eq=False)
class Object:
    """A C object. ``storage`` as in `Region`; ``values``: initial values by byte offset, None where not known.

    ``volatile``: every access stays one.
    """

    name: str
    type: CType
    storage: str
    loc: Loc
    values: dict[int, Const] | None = None
    parts: dict[str, Region | Variable] = field(default_factory=dict)  # path -> where that leaf lives
    volatile: bool = False


@dataclass(frozen=True)
class Ref:
    """Element ``index`` of all those of type ``type`` at ``path`` in ``object``: an lvalue, or a pointer to it.

    ``alone``: what comes after it in memory is another member, so a pointer to it must not move.
    ``rows``: as in `Load`.
    """

    object: Object
    path: str
    index: Expr
    type: CType
    alone: bool = False
    rows: Rows = ()

    def moved(self, by: Expr, loc: Loc = NOWHERE) -> Ref:
        if is_constant(by, 0):
            return self
        if self.alone:
            raise catalogue.LEAVES_MEMBER.error(loc or by.loc, name=self.object.name + self.path)
        return replace(self, index=add(self.index, by))

    def at(self, index: Expr) -> Ref:
        """The same place by another spelling of its index."""
        return replace(self, index=index, rows=())

    def element(self, loc: Loc) -> Ref:
        """Of an array: its first element."""
        assert isinstance(self.type, Array)
        if self.type.length is None:
            if not (isinstance(self.index, Const) and self.index.value == 0):
                raise catalogue.UNSUPPORTED_CONSTRUCT.error(loc, construct=f"'{self.object.name}' of no extent")
            return replace(self, type=self.type.of)
        return replace(self, index=multiply(self.index, self.type.length), type=self.type.of)

    def member(self, name: str, loc: Loc) -> Ref:
        struct = self.type
        assert isinstance(struct, Struct)
        m, *below = struct.path(name)
        if below:
            return self.member(m.name, loc).member(name, loc)
        if m.bits is not None:
            raise catalogue.BIT_FIELD.error(loc, name=name)
        if not struct.union:
            alone = not isinstance(m.type, Array) and (self.alone or len(struct.members) > 1)
            return replace(self, path=f"{self.path}.{name}", type=m.type, alone=alone)
        first = struct.members[0]
        if not all(isinstance(x.type, Scalar) and x.type.size == first.type.size for x in struct.members):
            name = self.object.name + self.path
            raise catalogue.UNION_SIZES.error(loc, name=name)
        if first.type == BOOL and any(x.type != BOOL for x in struct.members):  # a cell of it has no other bits
            name = self.object.name + self.path
            raise catalogue.UNION_BOOL.error(loc, name=name)
        return replace(self, path=f"{self.path}.{first.name}", type=m.type)

    def viewed(self, t: CType, loc: Loc) -> Ref:
        """The same address as a pointer to ``t``; UnsupportedError where elements would be torn apart."""
        ref = self
        while True:
            if ref.type == t:
                return ref
            if isinstance(ref.type, Scalar) and isinstance(t, Scalar) and ref.type.size == t.size:
                return replace(ref, type=t)
            if isinstance(ref.type, Array):
                ref = ref.element(loc)
            elif isinstance(ref.type, Struct) and ref.type.members and not ref.type.union:
                several = len(ref.type.members) > 1
                ref = replace(ref.member(ref.type.members[0].name, loc), alone=ref.alone or several)
            else:
                break
        if isinstance(t, Array) and isinstance(self.type, Scalar) and isinstance(self.index, Const) and t.size:
            rows = int(self.index.value) * self.type.size
            if rows % t.size == 0:
                return replace(self, index=Const(rows // t.size, INT), type=t)
        raise catalogue.OTHER_TYPE.error(loc, name=self.object.name, type=self.type, other=t)


def whole(obj: Object) -> Ref:
    """All of an object."""
    return Ref(obj, "", Const(0, INT), obj.type)


@dataclass(frozen=True)
class Null:
    """A null pointer."""


@dataclass(frozen=True)
class FunctionRef:
    name: str


Target = Ref | Null | FunctionRef  # what a pointer's value can be


@dataclass(eq=False)
class PointerVariable:
    """A C variable of pointer type: what it points into is known at each place; ``index`` changes at run time."""

    name: str
    type: Pointer
    index: Variable
    loc: Loc


Targets = dict[PointerVariable, Target | None]  # what each points to; None: not the same on all paths


def join(a: Targets, b: Targets) -> Targets:
    """What pointers point to after two paths meet; one not set on a path keeps what the other says."""
    out = dict(a)
    for p, target in b.items():
        out[p] = target if p not in out or same_object(out[p], target) else None
    return out


def same_object(a: Target | None, b: Target | None) -> bool:
    """Whether a pointer variable can hold either with no more than a change of its index."""
    if isinstance(a, Ref) and isinstance(b, Ref):
        return (a.object, a.path, a.type, a.alone) == (b.object, b.path, b.type, b.alone)
    return a == b


def leaf_table(t: CType) -> dict[str, Leaf]:
    """Every leaf by its path; an extent that is not known is 0."""
    return {leaf.path: leaf for leaf in leaves(t)}


def index_type(t: Scalar) -> Scalar:
    """Type in which a subscript of type ``t`` is computed: int, or long for what does not fit."""
    return INT if t.size < 4 or t == INT else LONG
