"""Packing: batch-first rows of W inputs to lane storage and back, by transposes in registers."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.ctype import UINT, Leaf
from ..codegen.simd import member
from ..ir.nodes import Region
from .slots import Slot

_WORD = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
_SCALAR = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
ROW = 16  # bytes of a row that are transposed at a time, where W elements are not more


def is_plain(slots: tuple[Slot, ...], place: tuple[int, Leaf]) -> bool:
    """Whether a region is the whole of its slot, element after element."""
    index, leaf = place
    return leaf.offset == 0 and leaf.count * leaf.type.size == slots[index].nbytes


def transposes(counts: dict[int, set[int]], lanes: int) -> list[str]:
    """C text: ``pack_*`` and ``unpack_*`` for elements of each size in bytes, which regions have these numbers of."""
    return [text for size in sorted(counts) for text in _of_size(size, counts[size], lanes)]


def _of_size(size: int, counts: set[int], lanes: int) -> Iterator[str]:
    if any(not _is_long(n, size, lanes) for n in counts):
        yield _transpose(size, lanes) + _square(size, lanes)
    if any(_is_long(n, size, lanes) for n in counts):
        yield _long_rows(size, lanes)


def _is_long(count: int, size: int, lanes: int) -> bool:
    """Whether rows of so many elements are transposed 16 bytes at a time, not W elements: where W elements are no more
    than 16 bytes, so that a vector has room for several, or more than a row has."""
    return size * count >= ROW and (size * lanes <= ROW or count < lanes)


def suffix(count: int, size: int, lanes: int) -> str:
    """The end of the name of what packs, or unpacks, so many elements."""
    return ("long_" if _is_long(count, size, lanes) else "") + _WORD[size]


def _long_rows(size: int, lanes: int) -> str:
    """W rows of 16 bytes to as many of W elements each, and back, in steps of instructions that take elements of two
    vectors in turn. Each step turns the bits of an element's place, those of its row before those of its column, left
    by one: after log2(W) steps the columns' come first, after as many more as they are the rows' do again. The last
    elements of a row are done with others before them once more, if they are too few."""
    v, scalar, there = _WORD[size], _SCALAR[size], ROW // size
    low = ", ".join(f"{k}, {there + k}" for k in range(there // 2))
    high = ", ".join(f"{there // 2 + k}, {there + there // 2 + k}" for k in range(there // 2))
    steps = "\n".join(
        f"    y[{2 * k}] = SHUFFLE(row_{v}, row_{v}, x[{k}], x[{k + lanes // 2}], {low});\n"
        f"    y[{2 * k + 1}] = SHUFFLE(row_{v}, row_{v}, x[{k}], x[{k + lanes // 2}], {high});"
        for k in range(lanes // 2)
    )
    forth, back = lanes.bit_length() - 1, there.bit_length() - 1
    done, last = "xy"[forth % 2], "xy"[back % 2]
    load = _each(lanes, f"x[{{k}}] = *(const any_{v} *)(in[{{k}}] + e * sizeof({scalar}));")
    store = _each(lanes, f"((any_{v} *)(to + e))[{{k}}] = {done}[{{k}}];")
    again = _each(lanes, f"x[{{k}}] = ((const any_{v} *)(from + e))[{{k}}];")
    leave = _leave(lanes, f"*(any_{v} *)(out[{{k}}] + e * sizeof({scalar})) = {last}[{{k}}];")

    def turns(count: int) -> str:
        return " ".join(f"zip_{v}({'y, x' if k % 2 else 'x, y'});" for k in range(count))

    return f"""typedef {scalar} row_{v} __attribute__((vector_size({ROW})));
typedef row_{v} any_{v} __attribute__((aligned(1), may_alias)); /* wherever it lies */
static inline __attribute__((always_inline)) void zip_{v}(const row_{v} *x, row_{v} *y) {{
{steps}
}}
__attribute__((unused)) static void pack_long_{v}({v} *to, char **in, long n) {{
    row_{v} x[W], y[W];
    for (long e = 0; e < n; e += {there}) {{ /* to[e][l] = in[l][e] */
        if (e > n - {there}) e = n - {there};
        {load}
        {turns(forth)}
        {store}
    }}
}}
__attribute__((unused)) static void unpack_long_{v}(const {v} *from, char **out, long n, long lanes) {{
    row_{v} x[W], y[W];
    for (long e = 0; e < n; e += {there}) {{ /* out[l][e] = from[e][l] */
        if (e > n - {there}) e = n - {there};
        {again}
        {turns(back)}
        {leave}
    }}
}}
"""


def _each(lanes: int, text: str) -> str:
    """Statements one by one: of a loop GCC makes copies of arrays, which then lie in memory and no longer in
    registers."""
    return " ".join(text.format(k=k) for k in range(lanes))


def _leave(lanes: int, text: str) -> str:
    """The same for the lanes that have inputs."""
    some = f"for (int l = 0; l < lanes; l++) {text.format(k='l')}"
    return f"if (lanes == W) {{ {_each(lanes, text)} }}\n        else {some}"


def _transpose(size: int, lanes: int) -> str:
    """W x W elements of ``size`` bytes held in W vectors, in log2(W) steps of two-input shuffles."""
    v, steps, s = _WORD[size], [], 1
    mask = f"i{8 * size}"
    while s < lanes:
        low = ", ".join(str(lanes + j - s if j & s else j) for j in range(lanes))
        high = ", ".join(str(lanes + j if j & s else j + s) for j in range(lanes))
        for i in range(lanes):
            if not i & s:
                steps.append(f"    x = SHUFFLE({v}, {mask}, v[{i}], v[{i + s}], {low});")
                steps.append(f"    v[{i + s}] = SHUFFLE({v}, {mask}, v[{i}], v[{i + s}], {high}); v[{i}] = x;")
        s *= 2
    head = f"static inline __attribute__((always_inline)) void transpose_{v}({v} *v) {{"
    what = "    /* v[k][l] to v[l][k]: of each 2s by 2s elements, two quarters change places, for s = 1, 2, 4, ... */"
    return "\n".join([head, what, f"    {v} x;", *steps, "}"]) + "\n"


def _square(size: int, lanes: int) -> str:
    v, scalar = _WORD[size], _SCALAR[size]
    load = _each(lanes, f"memcpy(&v[{{k}}], in[{{k}}] + e * sizeof({scalar}), sizeof v[{{k}}]);")
    leave = _leave(lanes, f"memcpy(out[{{k}}] + e * sizeof({scalar}), &v[{{k}}], sizeof v[{{k}}]);")
    return f"""__attribute__((unused)) static void pack_{v}({v} *to, char **in, long n) {{
    {v} v[W];
    long e = 0; /* to[e][l] = in[l][e] */
    for (; n >= W && e < n; e += W) {{
        if (e > n - W) e = n - W;
        {load}
        transpose_{v}(v);
        {_each(lanes, "to[e + {k}] = v[{k}];")}
    }}
    for (; e < n; e++)
        LANES memcpy((char *)&to[e] + l * sizeof({scalar}), in[l] + e * sizeof({scalar}), sizeof({scalar}));
}}
__attribute__((unused)) static void unpack_{v}(const {v} *from, char **out, long n, long lanes) {{
    {v} v[W];
    long e = 0; /* out[l][e] = from[e][l] */
    for (; n >= W && e < n; e += W) {{
        if (e > n - W) e = n - W;
        {_each(lanes, "v[{k}] = from[e + {k}];")}
        transpose_{v}(v);
        {leave}
    }}
    for (; e < n; e++)
        for (int l = 0; l < lanes; l++)
            memcpy(out[l] + e * sizeof({scalar}), (const char *)&from[e] + l * sizeof({scalar}), sizeof({scalar}));
}}
"""


IN_ORDER = "(first + (l < lanes ? l : lanes - 1))"  # lanes past the end repeat the last input, to do what it does
ALIKE = "(block + g->order[first - block + (l < lanes ? l : lanes - 1)])"  # the same, of a block in another order


def _rows_of(k: int, side: str, row: str = IN_ORDER, ended: str = "") -> str:
    """Pointers to the W inputs' rows. ``ended``: the member that says which of them are not wanted."""
    place = f"(char *)slot[{k}].{side} + {row} * slot[{k}].{side}_stride"
    return f"LANES {side}[l] = {f'g->{ended}[0][l] ? g->spare : ' if ended else ''}{place};"


def narrow(r: Region) -> str:
    """The member that holds a region's elements as they are outside, where the kernel keeps them widened."""
    return "narrow_" + member(r)


def _outside(r: Region, wide: bool) -> str:
    """The member that is packed and unpacked."""
    return narrow(r) if wide and r.type == UINT else member(r)


def share(r: Region, slots: tuple[Slot, ...], place: tuple[int, Leaf]) -> list[str]:
    """Lines that bring a shared region in: where it is, or, if it is a field of structs, element after element."""
    k, leaf = place
    if is_plain(slots, place):
        return [f"g->{member(r)} = slot[{k}].in;"]
    return _loops(leaf, f"memcpy(&g->{member(r)}[e], (const char *)slot[{k}].in + at, {r.type.size});")


def pack(
    r: Region, slots: tuple[Slot, ...], place: tuple[int, Leaf], lanes: int, wide: bool, row: str = IN_ORDER
) -> list[str]:
    """Lines that bring a region in, or set it to its initial value. ``row``: the number of the input in lane ``l``."""
    k, leaf = place
    name, outside = member(r), _outside(r, wide)
    initial = [f"memset(g->{name}, 0, sizeof g->{name});"]
    if r.begins_otherwise:
        initial = [f"for (long e = 0; e < {r.count}; e++) LANES g->{name}[e][l] = initial_{name}[e];"]
    if is_plain(slots, place) and lanes > 1:
        v = _WORD[r.type.size]
        bring = [f"pack_{suffix(r.count, r.type.size, lanes)}(({v} *)g->{outside}, in, {r.count});"]
    else:
        bring = _loops(leaf, f"LANES memcpy((char *)&g->{outside}[e] + l * {r.type.size}, in[l] + at, {r.type.size});")
    if outside != name:
        bring.append(f"for (long e = 0; e < {r.count}; e++) g->{name}[e] = CONVERT(u64, g->{outside}[e]);")
    return [
        f"if (slot[{k}].in) {{",
        "    " + _rows_of(k, "in", row),
        *(f"    {x}" for x in bring),
        "} else {",
        *(f"    {x}" for x in initial),
        "}",
    ]


def unpack(
    r: Region,
    slots: tuple[Slot, ...],
    place: tuple[int, Leaf],
    lanes: int,
    wide: bool,
    row: str = IN_ORDER,
    ended: str = "",
) -> list[str]:
    """Lines that bring a region out, where it is wanted. ``row``: the number of the input in lane ``l``. ``ended``: the
    member that says which lanes have ended early."""
    k, leaf = place
    name, outside = member(r), _outside(r, wide)
    if not slots[k].writes:
        return []
    body: list[str] = []
    if outside != name:
        body.append(f"for (long e = 0; e < {r.count}; e++) g->{outside}[e] = CONVERT(u32, g->{name}[e]);")
    if is_plain(slots, place) and lanes > 1:
        v = _WORD[r.type.size]
        body.append(f"unpack_{suffix(r.count, r.type.size, lanes)}((const {v} *)g->{outside}, out, {r.count}, lanes);")
    else:
        body += _loops(
            leaf,
            f"for (int l = 0; l < lanes; l++) memcpy(out[l] + at, (char *)&g->{outside}[e] + "
            f"l * {r.type.size}, {r.type.size});",
        )
    return [f"if (slot[{k}].out) {{", "    " + _rows_of(k, "out", row, ended), *(f"    {x}" for x in body), "}"]


def _loops(leaf: Leaf, body: str) -> list[str]:
    """Loops over a leaf's elements: ``e`` counts them, ``at`` is the byte offset in the slot."""
    lines, at = ["{", "    long e = 0;"], [str(leaf.offset)]
    for d, (extent, stride) in enumerate(leaf.dims):
        lines.append("    " + "    " * d + f"for (long i{d} = 0; i{d} < {extent}; i{d}++) {{")
        at.append(f"i{d} * {stride}")
    pad = "    " * (len(leaf.dims) + 1)
    lines += [f"{pad}long at = {' + '.join(at)};", f"{pad}{body}", f"{pad}e++;"]
    lines += ["    " + "    " * d + "}" for d in reversed(range(len(leaf.dims)))]
    return [*lines, "}"]
