"""C objects and pointers as lowering sees them: regions and linear indices.

An object is split into its leaves; a place in it is the object, a path to a member, and an index that counts what has
the type at that path. ``&D[i][0]`` of ``float D[4][8]`` is (D, "", 8*i, float); ``&s[k].y`` is (s, ".y", k,
float[3]).
Where C sees an object as another type, its place is a number of bytes: a `View`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ..base import catalogue
from ..base.ctype import (
    BOOL,
    INT,
    LONG,
    VOID,
    Array,
    CType,
    Function,
    Leaf,
    Member,
    Pointer,
    Scalar,
    Struct,
    leaf_element,
    leaves,
    object_leaves,
)
from ..base.diagnostics import Loc
from ..ir.fold import add, binary, cast, is_constant, multiply
from ..ir.nodes import NOWHERE, Const, Expr, Region, Rows, Variable


@dataclass(eq=False)
class Object:
    """A C object. ``storage`` as in `Region`; ``values``: initial values by byte offset, None where not known.

    ``volatile``: every access stays one. ``born``: how many objects lowering had made before it. ``lasting``: a static,
    which outlives its block. ``allocated``: by a call, and there until it is freed; ``freed``: what stands for it from
    then on. ``raw``: the bytes of an allocated object to which no pointer has given a type yet; ``cleared``: they begin
    as zero. ``gaps``: stands in `Environment` for what lies between its members, which is zero where it is known.
    """

    name: str
    type: CType
    storage: str
    loc: Loc
    values: dict[int, Const] | None = None
    parts: dict[str, Region | Variable | PointerCells] = field(default_factory=dict)  # path -> where that leaf lives
    volatile: bool = False
    born: int = 0
    lasting: bool = False
    allocated: bool = False
    freed: bool = False
    raw: int | None = None
    cleared: bool = False
    gaps: Variable | None = None

    def give_type(self, t: CType) -> None:
        """What is allocated is what the first pointer to it leads to, as often as there is room; bytes, where they were
        used before."""
        assert self.raw is not None
        whole_ones = not self.parts and t.size > 0 and self.raw % t.size == 0 and self.raw > 0
        if self.cleared and any(isinstance(leaf.type, Pointer) for leaf in leaves(t)):
            raise catalogue.ALLOCATION.error(self.loc, name="calloc")  # where none is set, it is known to be null
        if not self.parts and (longer := _longer(t, self.raw)) is not None:
            self.type = longer
        elif whole_ones and self.raw == t.size and isinstance(t, Struct):
            self.type = t
        elif whole_ones:
            self.type = Array(t, self.raw // t.size)
        self.raw = None


def _longer(t: CType, nbytes: int) -> Struct | None:
    """A struct that ends with an array of no or of one element, where memory for more follows it."""
    if not isinstance(t, Struct) or t.union or not t.members or not t.complete:
        return None
    last = t.members[-1]
    if not isinstance(last.type, Array) or (last.type.length or 0) > 1 or nbytes < t.size or not last.type.of.size:
        return None
    if (nbytes - last.offset) // last.type.of.size <= (last.type.length or 0):
        return None
    more = replace(last, type=Array(last.type.of, (nbytes - last.offset) // last.type.of.size))
    return replace(t, tag=f"{t.tag} of {nbytes}", members=(*t.members[:-1], more), size=nbytes)


@dataclass(eq=False)
class PointerCells:
    """Where the pointers of one leaf of an object live: in variables where there is one, else in regions.

    A pointer's value is which of the places lowering knows (`Context.numbers`) it points to, the ``tag``, and the index
    there, both computed at run time; `Environment` has what is known of them before.
    """

    name: str
    type: Pointer
    loc: Loc
    count: int
    tag: Variable | Region
    index: Variable | Region
    born: int
    lasting: bool = False


@dataclass(frozen=True)
class PointerCell:
    """One of `PointerCells`; ``at`` is None where all of them are one to lowering, since they are many."""

    of: PointerCells
    at: int | None


@dataclass(frozen=True)
class Ref:
    """Element ``index`` of all those of type ``type`` at ``path`` in ``object``: an lvalue, or a pointer to it.

    ``alone``: what comes after it in memory is another member. ``rows``: as in `Load`.
    """

    object: Object
    path: str
    index: Expr
    type: CType
    alone: bool = False
    rows: Rows = ()

    @property
    def name(self) -> str:
        """How C calls it, subscripts apart."""
        return self.object.name + self.path

    def moved(self, by: Expr, loc: Loc = NOWHERE) -> Ref | View:
        if is_constant(by, 0):
            return self
        if self.alone:
            return seen_as(self, self.type, loc or by.loc).moved(by, loc)
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

    def member(self, name: str, loc: Loc) -> Ref | View:
        struct = self.type
        assert isinstance(struct, Struct)
        m, *below = struct.path(name)
        if below:
            return self.member(m.name, loc).member(name, loc)
        if m.bits is not None and struct.union and not struct.bytewise:
            raise catalogue.UNION_SIZES.error(loc, name=self.name)
        if m.bits is not None:
            return replace(seen_as(self, struct, loc), across=self.alone).member(name, loc)
        if struct.bytewise:
            view = seen_as(self, m.type, loc)
            # in an array of structs the bounds of one say nothing of a leaf, which lies in all of them
            starts = (leaf.offset for leaf in object_table(self.object).values())
            if isinstance(m.type, Array) and m.type.length and is_constant(view.index, 0) and view.constant in starts:
                view = replace(view, across=False, inside=(view.constant, view.constant + m.type.size))
            return view
        if not struct.union:
            alone = not isinstance(m.type, Array) and (self.alone or len(struct.members) > 1)
            return replace(self, path=f"{self.path}.{name}", type=m.type, alone=alone)
        if not struct.one_cell:
            raise catalogue.UNION_SIZES.error(loc, name=self.name)
        first = struct.members[0]
        if first.type == BOOL and any(x.type != BOOL for x in struct.members):  # a cell of it has no other bits
            raise catalogue.UNION_BOOL.error(loc, name=self.name)
        return replace(self, path=f"{self.path}.{first.name}", type=m.type)

    def viewed(self, t: CType, loc: Loc) -> Ref | View:
        """The same address as a pointer to ``t``."""
        ref: Ref | View = self
        if self.object.raw is not None and t != VOID and not isinstance(t, Function):
            self.object.give_type(t)
        if self.object.allocated and self.type == VOID and t != VOID:
            start = whole(self.object).viewed(t, loc)
            return start if is_constant(self.index, 0) else seen_as(whole(self.object), t, loc).farther(self.index, 1)
        while isinstance(ref, Ref):
            if ref.type == t:
                return ref
            if isinstance(ref.type, Scalar) and isinstance(t, Scalar) and ref.type.size == t.size:
                return seen_as(ref, t, loc) if ref.type.is_complex or t.is_complex else replace(ref, type=t)
            if isinstance(ref.type, Array):
                ref = ref.element(loc)
            elif isinstance(ref.type, Struct) and ref.type.members and not ref.type.union and _plain(ref.type):
                several = len(ref.type.members) > 1
                first = ref.member(ref.type.members[0].name, loc)
                ref = replace(first, alone=ref.alone or several) if isinstance(first, Ref) else first
            else:
                break
        if isinstance(t, Array) and isinstance(self.type, Scalar) and isinstance(self.index, Const) and t.size:
            rows = int(self.index.value) * self.type.size
            if rows % t.size == 0 and not self.alone:
                return replace(self, index=Const(rows // t.size, INT), type=t)
        return seen_as(self, t, loc)


@dataclass(frozen=True)
class View:
    """What lies ``constant + scale * index`` bytes from the start of ``object``, seen as ``type``. ``across``: it is
    made of a pointer to a struct, so an index may lead it from one member into the next. ``inside``: the bytes of the
    member that an index stays in; None once a way leads out of them. ``field``: of a bit-field, the bit of the first
    byte where it begins, and its width."""

    object: Object
    index: Expr
    scale: int
    constant: int
    type: CType
    across: bool = False
    inside: tuple[int, int] | None = None
    field: tuple[int, int] | None = None

    @property
    def name(self) -> str:
        return self.object.name

    @property
    def rows(self) -> Rows:
        return ()

    def moved(self, by: Expr, loc: Loc = NOWHERE) -> View:
        return self.farther(by, self.type.size)

    def farther(self, by: Expr, size: int) -> View:
        """``by * size`` bytes on."""
        if isinstance(by, Const):
            return replace(self, constant=self.constant + int(by.value) * size).bounded()
        if is_constant(self.index, 0):
            return replace(self, index=cast(by, LONG), scale=size)
        common = math.gcd(self.scale, size)
        old = multiply(cast(self.index, LONG), self.scale // common)
        return replace(self, index=add(old, multiply(cast(by, LONG), size // common)), scale=common)

    def bounded(self) -> View:
        """Without the bounds of a member that a known number of bytes has led out of."""
        if self.inside is None or not isinstance(self.index, Const):
            return self
        start, end = self.inside
        return self if start <= self.constant + int(self.index.value) * self.scale < end else self.anywhere()

    def anywhere(self) -> View:
        """A view whose index may lead to any member."""
        return self if self.inside is None else replace(self, inside=None, across=True)

    def at(self, index: Expr) -> View:
        return replace(self, index=index)

    def element(self, loc: Loc) -> View:
        assert isinstance(self.type, Array)
        return replace(self, type=self.type.of)

    def member(self, name: str, loc: Loc) -> View:
        assert isinstance(self.type, Struct)
        m = self.type.member(name)
        assert m is not None
        if m.bits is None:
            return self._inside(m)
        if 32 < m.bits < 64:  # gcc computes in as many bits
            raise catalogue.BIT_FIELD.error(loc, name=name)
        return replace(self, constant=self.constant + m.bytes[0], type=m.type, field=(m.bit % 8, m.bits))

    def _inside(self, m: Member) -> View:
        """A member, in which an index stays where that is an array."""
        assert isinstance(self.type, Struct)
        start, whole = self.constant + m.offset, self.object.type
        inner = replace(self.anywhere(), constant=start, type=m.type)
        is_last = m == self.type.members[-1] and self.constant == 0 and not isinstance(whole, Array)
        scalars = not isinstance(leaf_element(m.type), Struct)
        if not isinstance(m.type, Array) or not is_constant(self.index, 0) or not (scalars or is_last):
            return inner
        if not is_last and m.type.length is None:
            return inner
        end = whole.size if is_last else start + m.type.size
        return replace(inner, across=False, inside=(start, end))

    def viewed(self, t: CType, loc: Loc) -> View:
        view = self if isinstance(t, Scalar) else self.anywhere()  # a struct's members may lie before and behind
        return replace(view, type=t)

    def normal(self) -> View:
        """With as much of the way as possible in the index: the same however often a pointer is stepped."""
        size = step_of(self.type)
        whole, rest = divmod(self.constant, size)
        common = math.gcd(self.scale, size)
        if is_constant(self.index, 0):
            return replace(self, index=Const(whole, LONG), scale=size, constant=rest)
        index = add(multiply(cast(self.index, LONG), self.scale // common), Const(whole * (size // common), LONG))
        return replace(self, index=index, scale=common, constant=rest)


@dataclass(frozen=True)
class Null:
    """A null pointer."""


@dataclass(frozen=True)
class FunctionRef:
    name: str


Place = Ref | View
Single = Ref | View | Null | FunctionRef


@dataclass(frozen=True)
class OneOf:
    """One of several targets, the one whose number is ``tag``: a pointer, or an lvalue that it leads to."""

    tag: Expr
    targets: tuple[tuple[int, Single], ...]

    @property
    def places(self) -> tuple[tuple[int, Place], ...]:
        return tuple((n, t) for n, t in self.targets if isinstance(t, (Ref, View)))

    @property
    def first(self) -> Place:
        return self.places[0][1]

    @property
    def object(self) -> Object:
        return self.first.object

    @property
    def name(self) -> str:
        return self.first.name

    @property
    def type(self) -> CType:
        return self.first.type

    @property
    def rows(self) -> Rows:
        return ()

    def each(self, f: Callable[[Place], Place]) -> OneOf:
        """What ``f`` makes of every place; what is no place is not followed."""
        return OneOf(self.tag, tuple((n, f(t)) for n, t in self.places))

    def moved(self, by: Expr, loc: Loc = NOWHERE) -> OneOf:
        return self.each(lambda t: t.moved(by, loc))

    def element(self, loc: Loc) -> OneOf:
        return self.each(lambda t: t.element(loc))

    def member(self, name: str, loc: Loc) -> OneOf:
        return self.each(lambda t: t.member(name, loc))

    def viewed(self, t: CType, loc: Loc) -> OneOf:
        return self.each(lambda x: x.viewed(t, loc))


LValue = Ref | View | OneOf
Target = Ref | View | Null | FunctionRef | OneOf  # what a pointer's value can be


@dataclass(frozen=True)
class Wide:
    """The value of an integer of 128 bits: its words, which are constants or variables."""

    low: Expr
    high: Expr
    type: Scalar

    @property
    def parts(self) -> tuple[Expr, Expr]:
        return self.low, self.high


@dataclass(frozen=True)
class Complex:
    """The value of a complex number: its parts, which are constants or variables."""

    real: Expr
    imag: Expr
    type: Scalar

    @property
    def parts(self) -> tuple[Expr, Expr]:
        return self.real, self.imag


Pair = Wide | Complex


def whole(obj: Object) -> Ref:
    """All of an object."""
    return Ref(obj, "", Const(0, INT), obj.type)


def at_start(target: Single) -> Single:
    """A target with no index: what tells apart the places a pointer can point to."""
    match target:
        case Ref():
            return replace(target, index=Const(0, INT), rows=())
        case View():
            return replace(target, index=Const(0, INT))
    return target


def leaf_table(t: CType) -> dict[str, Leaf]:
    """Every leaf by its path; an extent that is not known is 0."""
    return t.by_path if isinstance(t, Struct) and t.complete else {leaf.path: leaf for leaf in leaves(t)}


def object_table(obj: Object) -> dict[str, Leaf]:
    """The same of what an object consists of where lowering keeps it."""
    if in_turn(obj):
        return {leaf.path: leaf for leaf in object_leaves(obj.type)}
    return leaf_table(obj.type)


def has_gaps(t: CType) -> bool:
    """Whether some bytes of a struct, or of an array of them, are no member's."""
    element = leaf_element(t)
    if not isinstance(element, Struct) or not element.complete:
        return False
    return sum(leaf.type.size * leaf.count for leaf in leaf_table(element).values()) < element.size


def in_turn(obj: Object) -> bool:
    """Whether an object is one array of the parts of complex numbers, the real and the imaginary one in turn: an array
    of them is, and one that `kernel` has put into a region; the parts of any other are variables."""
    t = leaf_element(obj.type)
    return isinstance(t, Scalar) and t.is_complex and (isinstance(obj.type, Array) or "" in obj.parts)


def index_type(t: Scalar) -> Scalar:
    """Type in which a subscript of type ``t`` is computed: int, or long for what does not fit."""
    return INT if t.size < 4 or t == INT else LONG


def step_of(t: CType) -> int:
    """Bytes by which a pointer to ``t`` steps."""
    return 1 if t == VOID or isinstance(t, Function) else max(t.size, 1)


def seen_as(ref: Ref, t: CType, loc: Loc) -> View:
    """The place of ``ref`` by its bytes. Raises UnsupportedError where an extent is not known."""
    dims, offset = around(ref.object.type, ref.path, ref.type, ref, loc)
    across = ref.alone or isinstance(leaf_element(ref.type), Struct)
    view = View(ref.object, Const(0, INT), 1, offset, t, across)
    if ref.path and not across and not isinstance(ref.object.type, Array) and dims[0][0]:
        view = replace(view, inside=(offset, offset + dims[0][0] * dims[0][1]))
    if isinstance(ref.index, Const):
        rest = int(ref.index.value)
        for extent, stride in reversed(dims[1:]):
            rest, k = divmod(rest, extent or 1)
            view = replace(view, constant=view.constant + k * stride)
        return replace(view, constant=view.constant + rest * dims[0][1]).bounded() if dims else view
    while len(dims) > 1 and dims[-2][1] == dims[-1][0] * dims[-1][1]:  # rows without gaps count as one array
        dims = (*dims[:-2], (dims[-2][0] * dims[-1][0], dims[-1][1]))
    rest = cast(ref.index, LONG)
    for extent, stride in reversed(dims[1:]):
        n = Const(extent, LONG)
        view = view.farther(binary("%", rest, n, LONG), stride)
        rest = binary("/", rest, n, LONG)
    return view.farther(rest, dims[0][1]) if dims else view


def around(t: CType, path: str, to: CType, ref: Ref, loc: Loc) -> tuple[tuple[tuple[int, int], ...], int]:
    """The arrays (extent, stride in bytes) around what an index into a member counts, and where the member begins."""
    dims: list[tuple[int, int]] = []
    offset, names = 0, [x for x in path.split(".") if x]
    while True:
        if not names and _counted(t, to):
            break
        if isinstance(t, Array):
            dims.append((t.length or 0, t.of.size))
            t = t.of
        elif names and isinstance(t, Scalar):  # a part of a number that is two
            (_, part), (second, _) = t.parts
            offset, t = offset + (part.size if names.pop() == second else 0), to
        elif names:
            assert isinstance(t, Struct)
            m = t.member(names.pop(0))
            assert m is not None
            offset, t = offset + m.offset, m.type
        else:
            break
    if isinstance(to, Array) and isinstance(t, Scalar):
        return ((0, to.size),), offset  # scalars seen as rows
    if not dims:
        dims.append((1, to.size if not isinstance(to, Function) else 1))
    return tuple(dims), offset


def _counted(t: CType, to: CType) -> bool:
    """Whether ``t`` is what an index counts whose elements are ``to``: scalars may be seen as others of their size."""
    if t == to or (isinstance(t, Array) and isinstance(to, Array) and to.length is None):
        return True
    return isinstance(t, Scalar) and isinstance(to, Scalar)


def _plain(t: Struct) -> bool:
    return not t.bytewise and t.members[0].bits is None
