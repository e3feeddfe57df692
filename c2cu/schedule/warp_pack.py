"""Packing by warps: batch-first rows of 32 inputs to the registers of 32 threads and back.

A row goes in *units*: words of up to 16 bytes that divide its length. A warp loads the units of its 32 rows in the
order they lie in memory, so that loads coalesce; writes them to a tile in shared memory, a row after the other with
padding; and each lane reads its own row. All loads of a kernel are issued before the first is used; the one tile is
used again for each array and each part of a long row, and for the way back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..base.ctype import Leaf, Scalar
from ..codegen.cuda import type_name
from .slots import Slot

WIDEST = 16  # bytes of a unit
PART = 128  # bytes of a row that go through the tile at once
_UNITS = {16: "uint4", 8: "uint2", 4: "unsigned int", 2: "unsigned short", 1: "unsigned char"}
_WORDS = {16: (".x", ".y", ".z", ".w"), 8: (".x", ".y"), 4: ("",), 2: ("",), 1: ("",)}


@dataclass(frozen=True)
class RowElement:
    """An element of a slot: where it lies in the row, and how it is spelled (assigned on the way in, read on the way
    out)."""

    offset: int
    type: Scalar
    text: str


@dataclass(frozen=True)
class RowPart:
    """``count`` units of a row from byte ``start`` on."""

    slot: int
    number: int
    start: int
    unit: int
    count: int

    @property
    def name(self) -> str:
        return f"c2cu_{self.slot}_{self.number}"

    @property
    def pitch(self) -> int:
        """Bytes from row to row of the tile: an odd number of units, so that lanes that each read a unit of their own
        row do not conflict on banks; of words where a unit is less."""
        step = max(self.unit, 4)
        return step * (-(-self.unit * self.count // step) | 1)

    @property
    def tile(self) -> int:
        """Bytes of the tile; none where each lane's own unit is all there is."""
        return 32 * self.pitch if self.count > 1 else 0

    def says(self, slot: Slot) -> str:
        """A comment that names what the part holds."""
        last = self.start + self.unit * self.count - 1
        name = "what the kernel returns" if slot.name == "return" else slot.name
        return f"/* {name}: bytes {self.start} to {last} of its row, an element after the other */"

    def covers(self, offset: int) -> bool:
        return self.start <= offset < self.start + self.unit * self.count


def parts(k: int, slot: Slot) -> list[RowPart]:
    """The parts of slot ``k``'s rows."""
    unit = min(WIDEST, slot.nbytes & -slot.nbytes)
    starts = range(0, slot.nbytes, PART)
    return [RowPart(k, n, at, unit, min(PART, slot.nbytes - at) // unit) for n, at in enumerate(starts)]


def offsets(leaf: Leaf) -> Iterator[int]:
    """The byte offsets of a leaf's elements in its slot, in order."""
    at = [leaf.offset]
    for extent, stride in leaf.dims:
        at = [a + i * stride for a in at for i in range(extent)]
    return iter(at)


def _part_unit(slot: Slot) -> str:
    """What a row is made of for certain, where it is not aligned to units: elements; bytes of a struct."""
    if not isinstance(slot.dtype, str) or slot.dtype[0] not in "biufc":
        return _UNITS[1]
    bits = int("".join(c for c in slot.dtype if c.isdigit()) or 8)
    return _UNITS[min(bits // (16 if slot.dtype.startswith("c") else 8), 8)]


def fetch(part: RowPart, slot: Slot) -> list[str]:
    """Lines that load a part's units, coalesced, to an array of them."""
    source = f"slot[{part.slot}]"
    args = f"{part.name}, {source}.in, {source}.in_stride, first, rows, {part.start}"
    call = f"c2cu_fetch<{_part_unit(slot)}>({args});"
    guard = "" if slot.required else f"if ({source}.in) "
    return [f"{_UNITS[part.unit]} {part.name}[{part.count}];", guard + call]


def enter(part: RowPart, slot: Slot, cells: Sequence[RowElement]) -> list[str]:
    """Lines that give each lane its own elements of a part that has been fetched."""
    unit = _UNITS[part.unit]
    if part.count == 1:
        lines = [part.says(slot), f"const {unit} c2cu_row[1] = {{{part.name}[0]}};"]
    else:
        lines = [part.says(slot), f"c2cu_spread<{part.pitch}>(tile, {part.name});"]
        lines.append(f"const {unit} *c2cu_row = (const {unit} *)(tile + c2cu_times<{part.pitch}>((unsigned int)lane));")
    for k, inside in _by_unit(part, cells).items():
        lines += [f"const {unit} c2cu_u{k} = c2cu_row[{k}];", *_given(part, k, inside)]
    return _braced(lines)


def enter_alone(part: RowPart, slot: Slot, cells: Sequence[RowElement]) -> list[str]:
    """Lines with which a thread brings in its own elements of a part, of the row of its input ``id``."""
    unit, source = _UNITS[part.unit], f"slot[{part.slot}]"
    lines = [f"const char *const c2cu_row = (const char *){source}.in + id * {source}.in_stride + {part.start};"]
    for k, inside in _by_unit(part, cells).items():
        load = f"c2cu_unit<{_part_unit(slot)}, {unit}>(c2cu_row + {k * part.unit})"
        lines += [f"const {unit} c2cu_u{k} = {load};", *_given(part, k, inside)]
    return _braced(lines)


def _given(part: RowPart, k: int, cells: Sequence[RowElement]) -> list[str]:
    """Lines that take cells from their unit."""
    return [f"{c.text} = {_extracted(c, part, k)};" for c in cells]


def _braced(lines: Sequence[str]) -> list[str]:
    return ["{", *(f"    {x}" for x in lines), "}"]


def leave(part: RowPart, slot: Slot, cells: Sequence[RowElement]) -> list[str]:
    """Lines that store a part's units, coalesced, from each lane's own elements."""
    unit, source = _UNITS[part.unit], f"slot[{part.slot}]"
    args = f"{source}.out, {source}.out_stride, first, rows, {part.start}"
    values = _values(part, cells)
    if part.count == 1:
        put = f"c2cu_put<{_part_unit(slot)}>(c2cu_row, {args});"
        return _braced([part.says(slot), f"const {unit} c2cu_row[1] = {{{values[0]}}};", put])
    lines = [part.says(slot)]
    lines.append(f"{unit} *c2cu_row = ({unit} *)(tile + c2cu_times<{part.pitch}>((unsigned int)lane));")
    lines.append("__syncwarp();")
    lines += [f"c2cu_row[{k}] = {v};" for k, v in enumerate(values)]
    lines.append(f"c2cu_gather<{_part_unit(slot)}, {unit}, {part.count}, {part.pitch}>(tile, {args});")
    return _braced(lines)


def leave_alone(part: RowPart, slot: Slot, cells: Sequence[RowElement]) -> list[str]:
    """Lines with which a thread takes out its own elements of a part, to the row of its input ``id``."""
    unit, target = _UNITS[part.unit], f"slot[{part.slot}]"
    lines = [f"char *const c2cu_row = (char *){target}.out + id * {target}.out_stride + {part.start};"]
    for k, v in enumerate(_values(part, cells)):
        lines.append(f"c2cu_set<{_part_unit(slot)}, {unit}>(c2cu_row + {k * part.unit}, {v});")
    return _braced(lines)


def _values(part: RowPart, cells: Sequence[RowElement]) -> list[str]:
    """A part's units from the cells in them."""
    by_unit = _by_unit(part, cells)
    return [_combined(part, by_unit.get(k, [])) for k in range(part.count)]


def _by_unit(part: RowPart, cells: Sequence[RowElement]) -> dict[int, list[RowElement]]:
    units: dict[int, list[RowElement]] = {}
    for c in sorted(cells, key=lambda c: c.offset):
        if part.covers(c.offset):
            units.setdefault((c.offset - part.start) // part.unit, []).append(c)
    return units


def _extracted(c: RowElement, part: RowPart, k: int) -> str:
    """A cell's value from the unit that holds it."""
    at = c.offset - part.start - k * part.unit
    names = [f"c2cu_u{k}{w}" for w in _WORDS[part.unit]]
    word = names[at // 4]
    t = type_name(c.type)
    if c.type.size == 8:
        bits = f"c2cu_wide({word}, {names[at // 4 + 1]})"
        return f"__longlong_as_double((long long){bits})" if c.type.is_float else f"({t}){bits}"
    if c.type.size == 4:
        return f"__uint_as_float({word})" if c.type.is_float else f"({t}){word}"
    shifted = f"({word} >> {at % 4 * 8})" if at % 4 else word
    return f"({shifted} & 255) != 0" if c.type.kind == "b" else f"({t}){shifted}"


def _combined(part: RowPart, cells: Sequence[RowElement]) -> str:
    """A unit from the cells in it."""
    words: list[list[str]] = [[] for _ in _WORDS[part.unit]]
    for c in cells:
        at = (c.offset - part.start) % part.unit
        x = c.text
        if c.type.size == 8:
            bits = f"(unsigned long long){f'__double_as_longlong({x})' if c.type.is_float else x}"
            words[at // 4].append(f"(unsigned int){bits}")
            words[at // 4 + 1].append(f"(unsigned int)({bits} >> 32)")
        elif c.type.size == 4:
            words[at // 4].append(f"__float_as_uint({x})" if c.type.is_float else f"(unsigned int){x}")
        else:
            bits = f"(unsigned int)(unsigned {'char' if c.type.size == 1 else 'short'}){x}"
            words[at // 4].append(f"{bits} << {at % 4 * 8}" if at % 4 else bits)
    texts = [" | ".join(f"({x})" if len(w) > 1 else x for x in w) or "0u" for w in words]
    if part.unit >= 8:
        return f"make_{_UNITS[part.unit]}({', '.join(texts)})"
    return texts[0] if part.unit == 4 else f"({_UNITS[part.unit]})({texts[0]})"
