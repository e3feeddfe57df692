"""C types: sizes, promotions, and how NumPy and CUDA spell them.

The data model is LP64 (64-bit Linux and macOS), little endian: the one of every CUDA host.
Section numbers are those of ISO/IEC 9899:2011.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Union

Number = Union[int, float, Fraction]


@dataclass(frozen=True)
class Scalar:
    """An arithmetic type. ``kind``: b(ool), i(nt), u(nsigned), f(loat), c(omplex); ``size`` in bytes."""

    name: str
    kind: str
    size: int
    rank: int  # integer conversion rank, 6.3.1.1

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def is_integer(self) -> bool:
        return self.kind in "biu"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_wide(self) -> bool:
        """Whether it is an integer of 128 bits."""
        return self.is_integer and self.size == 16

    @property
    def is_complex(self) -> bool:
        return self.kind == "c"

    @property
    def part(self) -> Scalar:
        """Of a complex type: that of its real and its imaginary part."""
        return {8: FLOAT, 16: DOUBLE, 32: LDOUBLE}[self.size]

    @property
    def parts(self) -> tuple[tuple[str, Scalar], ...]:
        """The two numbers that one of this type is made of, in the order of memory, each with its name; () of a type
        that is one number by itself."""
        if self.is_wide:
            return ("low", ULONG), ("high", ULONG)
        return (("real", self.part), ("imag", self.part)) if self.is_complex else ()

    @property
    def bits(self) -> int:
        return 1 if self.kind == "b" else 8 * self.size

    @property
    def numpy(self) -> str:
        """The NumPy dtype's name, such as ``float32`` or ``uint8``; bytes where NumPy has none."""
        if self.is_wide:
            return "V16"
        kinds = {"b": "bool", "i": "int", "u": "uint", "f": "float", "c": "complex"}
        return kinds[self.kind] + (f"{8 * self.size}" if self.kind != "b" else "")

    def wrap(self, value: Number) -> int | float:
        """``value`` converted to this type as 6.3.1 says (signed overflow wraps, as with ``-fwrapv``)."""
        if self.kind == "f":
            return nearest_float(value) if self.size == 4 else float(value)
        if self.kind == "b":
            return int(value != 0)
        bits = 8 * self.size
        n = int(value) & ((1 << bits) - 1)
        return n - (1 << bits) if self.kind == "i" and n >> (bits - 1) else n

    def __str__(self) -> str:
        return self.name


VOID = Scalar("void", "v", 1, 0)
BOOL = Scalar("_Bool", "b", 1, 1)
CHAR = Scalar("char", "i", 1, 2)
SCHAR = Scalar("signed char", "i", 1, 2)
UCHAR = Scalar("unsigned char", "u", 1, 2)
SHORT = Scalar("short", "i", 2, 3)
USHORT = Scalar("unsigned short", "u", 2, 3)
INT = Scalar("int", "i", 4, 4)
UINT = Scalar("unsigned int", "u", 4, 4)
LONG = Scalar("long", "i", 8, 5)
ULONG = Scalar("unsigned long", "u", 8, 5)
LLONG = Scalar("long long", "i", 8, 6)
ULLONG = Scalar("unsigned long long", "u", 8, 6)
FLOAT = Scalar("float", "f", 4, 7)
DOUBLE = Scalar("double", "f", 8, 8)
LDOUBLE = Scalar("long double", "f", 16, 9)
INT128 = Scalar("__int128", "i", 16, 7)
UINT128 = Scalar("unsigned __int128", "u", 16, 7)
CFLOAT = Scalar("_Complex float", "c", 8, 7)
CDOUBLE = Scalar("_Complex double", "c", 16, 8)
CLDOUBLE = Scalar("_Complex long double", "c", 32, 9)

SCALARS = (BOOL, CHAR, SCHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG, LLONG, ULLONG, FLOAT, DOUBLE, LDOUBLE)
_UNSIGNED = {INT: UINT, LONG: ULONG, LLONG: ULLONG, SHORT: USHORT, CHAR: UCHAR, SCHAR: UCHAR, INT128: UINT128}


@dataclass(frozen=True)
class Pointer:
    to: CType
    const: bool = False  # whether what it points to is const
    volatile: bool = field(default=False, compare=False)  # or volatile

    @property
    def size(self) -> int:
        return 8

    def __str__(self) -> str:
        return f"{self.to} *"


@dataclass(frozen=True)
class Array:
    """``length`` is None where the C says ``[]`` or the extent is not known yet."""

    of: CType
    length: int | None

    @property
    def size(self) -> int:
        if self.length is None:
            raise ValueError("incomplete array type")
        return self.of.size * self.length

    def __str__(self) -> str:
        element, dims = self.of, f"[{'' if self.length is None else self.length}]"
        while isinstance(element, Array):
            dims += f"[{'' if element.length is None else element.length}]"
            element = element.of
        return f"{element} {dims}"


@dataclass(frozen=True)
class Member:
    name: str
    type: CType
    offset: int  # in bytes; of a bit-field, that of the unit of its type that it lies in
    bits: int | None = None  # width of a bit-field
    anonymous: bool = False  # a struct or union whose members are found as if they were its owner's; its name is ours
    bit: int = 0  # where a bit-field begins in its unit

    @property
    def bytes(self) -> tuple[int, int]:
        """Where the bytes of a bit-field begin and end."""
        start = 8 * self.offset + self.bit
        return start // 8, (start + (self.bits or 0) + 7) // 8


FIELDS = "c2cu_fields"  # begins the names of what bit-fields lie in


def _cells(first: int, end: int) -> Member:
    """Bytes of a struct, as the largest words that they can be seen as."""
    cell = next(t for t in (ULONG, UINT, USHORT, UCHAR) if first % t.size == end % t.size == 0)
    count = (end - first) // cell.size
    return Member(f"{FIELDS}{first}", cell if count == 1 else Array(cell, count), first)


@dataclass(frozen=True)
class Struct:
    """A struct or union. Compared by ``tag``, which parse makes unique, so that it may refer to itself."""

    tag: str
    union: bool = False
    members: tuple[Member, ...] = field(default=(), compare=False)
    size: int = field(default=0, compare=False)
    align: int = field(default=1, compare=False)
    complete: bool = field(default=True, compare=False)
    #: Bit-fields without a name: the number of the member that follows, the type, the width.
    unnamed: tuple[tuple[int, CType, int], ...] = field(default=(), compare=False)
    foreign: bool = field(default=False, compare=False)  # laid out as plain C would not, or no struct: bytes

    @cached_property
    def by_path(self) -> dict[str, Leaf]:
        """The leaves of a complete struct by their paths."""
        return {leaf.path: leaf for leaf in leaves(self)}

    @cached_property
    def storage(self) -> tuple[Member, ...]:
        """The members as memory has them: bit-fields that lie one after the other, with the bytes between them and up
        to what follows, are one array of cells."""
        if all(m.bits is None for m in self.members):
            return self.members
        out: list[Member] = []
        for k, m in enumerate(self.members):
            if m.bits is None:
                out.append(m)
            elif k == 0 or self.members[k - 1].bits is None:
                following = (x.offset for x in self.members[k:] if x.bits is None)
                out.append(_cells(m.bytes[0] if k else 0, next(following, self.size)))
        return tuple(out)

    @property
    def one_cell(self) -> bool:
        """Whether this is a union of scalars of one size, or of pointers. Its first member then stands for all of
        them."""
        if self.union and self.members and all(isinstance(m.type, Pointer) for m in self.members):
            return True
        scalars = [m.type for m in self.members if isinstance(m.type, Scalar) and m.bits is None]
        cells = (t.size == self.size and not t.is_complex for t in scalars)
        return self.union and len(scalars) == len(self.members) and all(cells)

    @property
    def bytewise(self) -> Scalar | None:
        """Of a union whose members do not have one size: the unsigned type of its smallest scalar, in an array of which
        all members lie. None for any other struct, and where a member is a pointer."""
        if not self.union or self.one_cell or not self.complete:
            return None
        below = (leaf.type for m in self.members for leaf in leaves(m.type))
        sizes = {t.size if isinstance(t, Scalar) else 16 for t in below}
        if not sizes or max(sizes) > 8:
            return None
        return {1: UCHAR, 2: USHORT, 4: UINT, 8: ULONG}[min(sizes)]

    def path(self, name: str) -> tuple[Member, ...]:
        """The member of this name, with the anonymous members around it before it; () if there is none."""
        for m in self.members:
            if m.name == name:
                return (m,)
            if m.anonymous and isinstance(m.type, Struct) and (below := m.type.path(name)):
                return (m, *below)
        return ()

    def member(self, name: str) -> Member | None:
        """The member of this name, at its offset from the start of this struct."""
        if name.startswith(FIELDS):
            return next((m for m in self.storage if m.name == name), None)
        path = self.path(name)
        return replace(path[-1], offset=sum(m.offset for m in path)) if path else None

    @property
    def kind(self) -> str:
        return "union" if self.union else "struct"

    def __str__(self) -> str:
        if self.tag.startswith("__opaque "):
            return self.tag.removeprefix("__opaque ")
        return self.kind if self.tag.startswith("__anonymous") else f"{self.kind} {self.tag}"


def opaque(name: str, size: int, align: int) -> Struct:
    """A type of which nothing but its size is known: 128-bit integers, vectors."""
    return Struct(f"__opaque {name}", size=size, align=align, foreign=True)


@dataclass(frozen=True)
class Function:
    returns: CType
    params: tuple[CType, ...]
    variadic: bool = False
    size: int = 1

    def __str__(self) -> str:
        return f"{self.returns} ({', '.join(map(str, self.params))})"


CType = Union[Scalar, Pointer, Array, Struct, Function]


def is_packed(s: Struct) -> bool:
    """Whether a struct that attributes lay out is one whose members follow each other without a gap."""
    end = 0
    for m in s.members:
        if m.bits is not None or m.anonymous or m.offset != (0 if s.union else end):
            return False
        end = max(end, m.offset + m.type.size)
    return bool(s.members) and not s.unnamed and s.size == -(-end // s.align) * s.align


def align_of(t: CType) -> int:
    """Alignment in bytes."""
    match t:
        case Array():
            return align_of(t.of)
        case Struct():
            return t.align
        case Scalar() if t.is_complex:
            return t.part.size
        case _:
            return t.size


def holds_pointers(t: CType | None) -> bool:
    """Whether an object of this type holds addresses; what has no type may."""
    match t:
        case None | Pointer() | Function():
            return True
        case Array():
            return holds_pointers(t.of)
        case Struct():
            return any(holds_pointers(m.type) for m in t.members)
    return False


def promote(t: Scalar) -> Scalar:
    """Integer promotion, 6.3.1.1p2."""
    return INT if t.is_integer and t.rank < INT.rank else t


def common(a: Scalar, b: Scalar) -> Scalar:
    """The usual arithmetic conversions, 6.3.1.8."""
    if a.is_complex or b.is_complex:
        return complex_of(common(*(t.part if t.is_complex else t for t in (a, b))))
    if a.is_float or b.is_float:
        return max((t for t in (a, b) if t.is_float), key=lambda t: t.rank)
    a, b = promote(a), promote(b)
    if a == b:
        return a
    if a.kind == b.kind:
        return max(a, b, key=lambda t: t.rank)
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if unsigned.rank >= signed.rank:
        return unsigned
    return signed if signed.size > unsigned.size else _UNSIGNED[signed]


def complex_of(part: Scalar) -> Scalar:
    """The complex type whose parts have this type."""
    return {FLOAT: CFLOAT, DOUBLE: CDOUBLE, LDOUBLE: CLDOUBLE}[part]


def unsigned_of(t: Scalar) -> Scalar:
    """The unsigned type of the same size; ``t`` itself where it is unsigned or floating."""
    return _UNSIGNED.get(t, t)


def leaf_element(t: CType) -> CType:
    """The type of the elements of an array of any number of dimensions; ``t`` itself if it is no array."""
    while isinstance(t, Array):
        t = t.of
    return t


def extents(t: CType) -> tuple[int | None, ...]:
    """The extents of an array type, outermost first; () for anything else."""
    dims: list[int | None] = []
    while isinstance(t, Array):
        dims.append(t.length)
        t = t.of
    return tuple(dims)


@dataclass(frozen=True)
class Leaf:
    """A scalar field of an object, with every array around it: ``dims`` pairs (extent, stride in bytes)."""

    path: str  # "" for a plain array, ".a.b" inside structs
    type: Scalar | Pointer
    offset: int
    dims: tuple[tuple[int, int], ...]

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(extent for extent, _ in self.dims)

    @property
    def count(self) -> int:
        return math.prod(self.extents)


def leaves(t: CType, path: str = "", offset: int = 0, dims: tuple[tuple[int, int], ...] = ()) -> Iterator[Leaf]:
    """The leaves of a complete type, in the order of declaration. One leaf stands for a union of scalars; the members
    of any other union overlap. An integer of 128 bits is two words, a complex number its parts."""
    match t:
        case Array():
            yield from leaves(t.of, path, offset, dims + ((t.length or 0, t.of.size),))
        case Struct() if cell := t.bytewise:
            yield Leaf(path, cell, offset, dims + ((t.size // cell.size, cell.size),))
        case Struct():
            for m in t.members[:1] if t.one_cell else t.storage:
                yield from leaves(m.type, f"{path}.{m.name}", offset + m.offset, dims)
        case Scalar() if t.parts:
            for k, (name, part) in enumerate(t.parts):
                yield Leaf(f"{path}.{name}", part, offset + k * part.size, dims)
        case Scalar() | Pointer():
            yield Leaf(path, t, offset, dims)
        case _:
            raise ValueError(f"no storage for {t}")


def object_leaves(t: CType) -> Iterator[Leaf]:
    """The leaves of an object that goes in or out: complex numbers that are no members are one array of their parts,
    the real and the imaginary one in turn."""
    if not isinstance(element := leaf_element(t), Scalar) or not element.is_complex:
        yield from leaves(t)
        return
    dims: list[tuple[int, int]] = []
    while isinstance(t, Array):
        dims.append((t.length or 0, t.of.size))
        t = t.of
    yield Leaf("", element.part, 0, (*dims, (2, element.part.size)))


def nearest_float(value: int | float | Fraction) -> float:
    """The float32 next to ``value``, ties to even. It rounds once; by way of a double an integer could be rounded
    twice."""
    if isinstance(value, float) or abs(value) < 2**53 and value == int(value):
        try:
            return struct.unpack("<f", struct.pack("<f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    exact = abs(Fraction(value))
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent = max(-126, exponent - (exact < Fraction(2) ** exponent))
    unit = Fraction(2) ** (exponent - 23)
    rounded = round(exact / unit) * unit
    return math.copysign(math.inf if rounded >= 2**128 else float(rounded), value)
