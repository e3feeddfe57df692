"""Packing: batch-first rows of W inputs to lane storage and back, by transposes in registers."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..base.ctype import UINT, Leaf
from ..codegen.simd import member
from ..ir.nodes import Region
from .slots import Layout, Slot

_WORD = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}
_SCALAR = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long"}
ROW = 16  # bytes of a row that are transposed at a time, where W elements are not more
MOST = 64  # elements of several fields that are transposed together
LEAST = 8  # bytes of a row that are worth it


def is_plain(slots: tuple[Slot, ...], place: tuple[int, Leaf]) -> bool:
    """Whether a region is the whole of its slot, element after element."""
    index, leaf = place
    return leaf.offset == 0 and leaf.count * leaf.type.size == slots[index].nbytes


def is_run(leaf: Leaf) -> bool:
    """Whether a region's elements follow each other in its slot, with nothing between them."""
    step = leaf.type.size
    for extent, stride in reversed(leaf.dims):
        if stride != step and extent != 1:
            return False
        step *= extent
    return True


def transposes(counts: dict[int, set[int]], lanes: int) -> list[str]:
    """C text: ``pack_*`` and ``unpack_*`` for elements of each size in bytes, which regions have these numbers of."""
    return [text for size in sorted(counts) for text in _of_size(size, counts[size], lanes)]


def _of_size(size: int, counts: set[int], lanes: int) -> Iterator[str]:
    if any(_is_long(n, size, lanes) for n in counts):
        yield _long_rows(size, lanes)
    blocks = sorted({_block(n, size, lanes) for n in counts if not _is_long(n, size, lanes)})
    if several := [block for block in blocks if block > 1]:
        yield _vectors(size, several[0], lanes)
    for block in blocks:
        yield _squares(size, block, lanes) if block > 1 else _one_by_one(size)


def swaps(sizes: Iterable[int], lanes: int) -> list[str]:
    """C text: ``swapped_*``, which turns the bytes of each lane's number around, for numbers of these sizes."""
    return [_swap(size, lanes) for size in sorted(sizes)]


def _swap(size: int, lanes: int) -> str:
    v, nbytes = _WORD[size], size * lanes
    places = ", ".join(str(k - k % size + size - 1 - k % size) for k in range(nbytes))
    return f"""typedef unsigned char bytes_of_{v} __attribute__((vector_size({nbytes})));
static inline {v} swapped_{v}({v} x) {{
    const bytes_of_{v} b = (bytes_of_{v})x;
    return ({v})SHUFFLE(bytes_of_{v}, bytes_of_{v}, b, b, {places});
}}
"""


def _is_long(count: int, size: int, lanes: int) -> bool:
    """Whether rows of so many elements are transposed 16 bytes at a time: elements of a byte or two, where W of them
    are no more than that, so that a vector has room for several, or more than a row has."""
    return size < 4 and size * count >= ROW and (size * lanes <= ROW or count < lanes)


def _block(count: int, size: int, lanes: int) -> int:
    """How many elements of a row are transposed at a time: W, or if a row has fewer, the power of two that it has.
    1: each is moved by itself."""
    block = 1 << (min(count, lanes).bit_length() - 1)
    return block if block == lanes or block * size >= LEAST else 1


def suffix(count: int, size: int, lanes: int) -> str:
    """The end of the name of what packs, or unpacks, so many elements."""
    v = _WORD[size]
    return f"long_{v}" if _is_long(count, size, lanes) else f"{_block(count, size, lanes)}_{v}"


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


def _vectors(size: int, least: int, lanes: int) -> str:
    """Vectors of ``least`` elements, of twice as many and so on to W, and what makes one of two of the next shorter
    kind, or takes it apart."""
    v, scalar, texts, n = _WORD[size], _SCALAR[size], [], least
    while n <= lanes:
        texts.append(f"typedef {scalar} part_{v}_{n} __attribute__((vector_size({n * size})));\n")
        texts.append(
            f"typedef part_{v}_{n} any_{v}_{n} __attribute__((aligned(1), may_alias)); /* wherever it lies */\n"
        )
        if n > least:
            whole, half = f"part_{v}_{n}", f"part_{v}_{n // 2}"
            head = "static inline __attribute__((always_inline))"
            texts.append(f"""{head} {whole} join_{v}_{n}({half} a, {half} b) {{
#if defined(__clang__) || __GNUC__ >= 12
    return __builtin_shufflevector(a, b, {", ".join(map(str, range(n)))});
#else
    {whole} r;
    memcpy(&r, &a, sizeof a), memcpy((char *)&r + sizeof a, &b, sizeof b);
    return r;
#endif
}}
{head} {half} half_{v}_{n}({whole} x, int upper) {{
#if defined(__clang__) || __GNUC__ >= 12
    const {half} low = __builtin_shufflevector(x, x, {", ".join(map(str, range(n // 2)))});
    const {half} high = __builtin_shufflevector(x, x, {", ".join(map(str, range(n // 2, n)))});
    return upper ? high : low;
#else
    {half} r;
    memcpy(&r, (const char *)&x + (upper ? sizeof r : 0), sizeof r);
    return r;
#endif
}}
""")
        n *= 2
    return "".join(texts)


def _squares(size: int, block: int, lanes: int) -> str:
    """Rows to columns and back, as many elements at a time as ``block`` says. Vector k has those of row k, behind them
    those of row ``block`` + k, and so on: squares that are transposed side by side, in log2(block) steps of two-input
    shuffles. The last elements of a row are done with others before them once more, if they are too few."""
    v, scalar, name = _WORD[size], _SCALAR[size], f"{block}_{_WORD[size]}"

    def joined(row: int, n: int) -> str:
        """The next elements of every ``block``-th row from this one, ``n`` in all."""
        if n == block:
            return f"*(const any_{v}_{n} *)(in[{row}] + e * sizeof({scalar}))"
        return f"join_{v}_{n}({joined(row, n // 2)}, {joined(row + n // 2, n // 2)})"

    def part(row: int) -> str:
        """What a row has of the vector that it lies in."""
        text, n, at = f"v[{row % block}]", lanes, row - row % block
        while n > block:
            upper = at >= n // 2
            text, at = f"half_{v}_{n}({text}, {int(upper)})", at - upper * (n // 2)
            n //= 2
        return text

    load = " ".join(f"v[{k}] = ({v}){joined(k, lanes)};" for k in range(block))
    leave = " ".join(f"*(any_{v}_{block} *)(out[{k}] + e * sizeof({scalar})) = {part(k)};" for k in range(lanes))
    some = f"(const char *)&v[l % {block}] + l / {block} * {block} * sizeof({scalar}), {block} * sizeof({scalar})"
    return f"""{_transpose(size, block, lanes)}
__attribute__((unused)) static void pack_{name}({v} *to, char **in, long n) {{
    {v} v[{block}];
    for (long e = 0; e < n; e += {block}) {{ /* to[e][l] = in[l][e] */
        if (e > n - {block}) e = n - {block};
        {load}
        transpose_{name}(v);
        {" ".join(f"to[e + {k}] = v[{k}];" for k in range(block))}
    }}
}}
__attribute__((unused)) static void unpack_{name}(const {v} *from, char **out, long n, long lanes) {{
    {v} v[{block}];
    for (long e = 0; e < n; e += {block}) {{ /* out[l][e] = from[e][l] */
        if (e > n - {block}) e = n - {block};
        {" ".join(f"v[{k}] = from[e + {k}];" for k in range(block))}
        transpose_{name}(v);
        if (lanes == W) {{ {leave} }}
        else for (int l = 0; l < lanes; l++) memcpy(out[l] + e * sizeof({scalar}), {some});
    }}
}}
"""


def _transpose(size: int, block: int, lanes: int) -> str:
    """Squares of ``block`` x ``block`` elements of ``size`` bytes held side by side in ``block`` vectors."""
    v, steps, s = _WORD[size], [], 1
    mask = f"i{8 * size}"
    while s < block:
        low = ", ".join(str(lanes + j - s if j & s else j) for j in range(lanes))
        high = ", ".join(str(lanes + j if j & s else j + s) for j in range(lanes))
        for i in range(block):
            if not i & s:
                steps.append(f"    x = SHUFFLE({v}, {mask}, v[{i}], v[{i + s}], {low});")
                steps.append(f"    v[{i + s}] = SHUFFLE({v}, {mask}, v[{i}], v[{i + s}], {high}); v[{i}] = x;")
        s *= 2
    head = f"static inline __attribute__((always_inline)) void transpose_{block}_{v}({v} *v) {{"
    what = "    /* v[k][l] to v[l][k]: of each 2s by 2s elements, two quarters change places, for s = 1, 2, 4, ... */"
    return "\n".join([head, what, f"    {v} x;", *steps, "}"])


def _one_by_one(size: int) -> str:
    v, scalar = _WORD[size], _SCALAR[size]
    return f"""__attribute__((unused)) static void pack_1_{v}({v} *to, char **in, long n) {{
    for (long e = 0; e < n; e++) /* to[e][l] = in[l][e] */
        LANES memcpy((char *)&to[e] + l * sizeof({scalar}), in[l] + e * sizeof({scalar}), sizeof({scalar}));
}}
__attribute__((unused)) static void unpack_1_{v}(const {v} *from, char **out, long n, long lanes) {{
    for (long e = 0; e < n; e++) /* out[l][e] = from[e][l] */
        for (int l = 0; l < lanes; l++)
            memcpy(out[l] + e * sizeof({scalar}), (const char *)&from[e] + l * sizeof({scalar}), sizeof({scalar}));
}}
"""


IN_ORDER = "(first + (l < lanes ? l : lanes - 1))"  # lanes past the end repeat the last input, to do what it does
ALIKE = "(block + g->order[first - block + (l < lanes ? l : lanes - 1)])"  # the same, of a block in another order


def _rows_of(k: int, side: str, row: str = IN_ORDER, ended: str = "", offset: int = 0) -> str:
    """Pointers to what stands ``offset`` bytes from the start of the W inputs' rows. ``ended``: the member that says
    which of them are not wanted."""
    place = f"(char *)slot[{k}].{side} + {row} * slot[{k}].{side}_stride" + (f" + {offset}" if offset else "")
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


@dataclass(frozen=True)
class Packing:
    """How the inputs of a gang come in and go out. ``wide``: the kernel keeps numbers of 32 bits without sign in 64."""

    slots: tuple[Slot, ...]
    layout: Layout
    lanes: int
    wide: bool

    def runs(self, regions: Sequence[Region]) -> list[tuple[Region, ...]]:
        """The regions by what is packed at once: the fields of a struct that follow each other, with elements of one
        size and `MOST` in all."""
        made: list[list[Region]] = []
        for r in sorted(regions, key=lambda r: (self.layout[r.name][0], self.layout[r.name][1].offset)):
            if made and self._follows(made[-1], r):
                made[-1].append(r)
            else:
                made.append([r])
        return [tuple(run) for run in made]

    def _follows(self, run: Sequence[Region], r: Region) -> bool:
        (slot, last), (k, leaf) = self.layout[run[-1].name], self.layout[r.name]
        return (
            k == slot
            and leaf.type.size == last.type.size
            and self.is_transposed(last)
            and self.is_transposed(leaf)
            and leaf.offset == last.offset + last.count * last.type.size
            and _count(run) + r.count <= MOST
        )

    def is_transposed(self, leaf: Leaf) -> bool:
        """Whether rows are, and not each element moved by itself."""
        return self.lanes > 1 and is_run(leaf)

    def transposes(self, runs: Sequence[Sequence[Region]]) -> list[str]:
        """C text: what these runs are packed and unpacked by."""
        counts: dict[int, set[int]] = {}
        for run in runs:
            if self.is_transposed(self.layout[run[0].name][1]):
                counts.setdefault(run[0].type.size, set()).add(_count(run))
        return transposes(counts, self.lanes)

    def pack(self, run: Sequence[Region], row: str = IN_ORDER, swapped: Container[Region] = ()) -> list[str]:
        """Lines that bring the regions of a run in, or set them to their initial values. ``row``: the number of the
        input in lane ``l``. ``swapped``: regions whose numbers have their most significant bytes first outside."""
        k, leaf = self.layout[run[0].name]
        first, size = _outside(run[0], self.wide), leaf.type.size
        if self.is_transposed(leaf):
            call = (
                f"pack_{suffix(_count(run), size, self.lanes)}(({_WORD[size]} *){self._row(run)}, in, {_count(run)});"
            )
            bring = [_rows_of(k, "in", row, offset=leaf.offset), call]
            if len(run) > 1:
                parts = [f"memcpy(g->{n}, row + {at}, sizeof g->{n});" for n, at in self._parts(run)]
                bring = [self._declared(run), *bring, *parts]
        else:
            each = f"LANES memcpy((char *)&g->{first}[e] + l * {size}, in[l] + at, {size});"
            bring = [_rows_of(k, "in", row), *_loops(leaf, each)]
        if self._is_vector(run, row):
            vector = f"memcpy(g->{first}, (const char *)slot[{k}].in + first * {size}, {size} * W);"
            bring = _or(k, "in", size, vector, bring)
        for r in run:
            if r in swapped:
                one = f"g->{_outside(r, self.wide)}[e]"
                bring.append(_for_each(r, f"{one} = swapped_{_WORD[size]}({one});"))
        bring += [_for_each(r, f"g->{member(r)}[e] = CONVERT(u64, g->{narrow(r)}[e]);") for r in self._widened(run)]
        return [
            f"if (slot[{k}].in) {{",
            *(f"    {x}" for x in bring),
            "} else {",
            *(f"    {_initial(r)}" for r in run),
            "}",
        ]

    def unpack(self, run: Sequence[Region], row: str = IN_ORDER, ended: str = "") -> list[str]:
        """Lines that bring the regions of a run out, where they are wanted. ``row``: the number of the input in lane
        ``l``. ``ended``: the member that says which lanes have ended early."""
        k, leaf = self.layout[run[0].name]
        first, size = _outside(run[0], self.wide), leaf.type.size
        if self.is_transposed(leaf):
            v, count = _WORD[size], _count(run)
            call = f"unpack_{suffix(count, size, self.lanes)}((const {v} *){self._row(run)}, out, {count}, lanes);"
            take = [_rows_of(k, "out", row, ended, leaf.offset), call]
            if len(run) > 1:
                parts = [f"memcpy(row + {at}, g->{n}, sizeof g->{n});" for n, at in self._parts(run)]
                take = [self._declared(run), *parts, *take]
        else:
            each = f"memcpy(out[l] + at, (char *)&g->{first}[e] + l * {size}, {size});"
            take = [_rows_of(k, "out", row, ended), *_loops(leaf, f"for (int l = 0; l < lanes; l++) {each}")]
        if self._is_vector(run, row) and not ended:
            vector = f"memcpy((char *)slot[{k}].out + first * {size}, g->{first}, {size} * W);"
            take = _or(k, "out", size, vector, take)
        narrowed = [_for_each(r, f"g->{narrow(r)}[e] = CONVERT(u32, g->{member(r)}[e]);") for r in self._widened(run)]
        return [f"if (slot[{k}].out) {{", *(f"    {x}" for x in (*narrowed, *take)), "}"]

    def _row(self, run: Sequence[Region]) -> str:
        """Where a run's elements stand behind each other."""
        return f"g->{_outside(run[0], self.wide)}" if len(run) == 1 else "row"

    @staticmethod
    def _declared(run: Sequence[Region]) -> str:
        return f"{_WORD[run[0].type.size]} row[{_count(run)}];"

    def _parts(self, run: Sequence[Region]) -> Iterator[tuple[str, int]]:
        """The members of a run's regions outside, and where each begins in the run."""
        at = 0
        for r in run:
            yield _outside(r, self.wide), at
            at += r.count

    def _widened(self, run: Sequence[Region]) -> list[Region]:
        return [r for r in run if _outside(r, self.wide) != member(r)]

    def _is_vector(self, run: Sequence[Region], row: str) -> bool:
        """Whether it is a vector as it lies outside, where the W inputs do one after the other."""
        alone = len(run) == 1 and run[0].count == 1
        return self.lanes > 1 and row == IN_ORDER and alone and run[0].type.size == self._slot(run).nbytes

    def _slot(self, run: Sequence[Region]) -> Slot:
        return self.slots[self.layout[run[0].name][0]]


def _count(run: Sequence[Region]) -> int:
    return sum(r.count for r in run)


def _for_each(r: Region, statement: str) -> str:
    return f"for (long e = 0; e < {r.count}; e++) {statement}"


def _initial(r: Region) -> str:
    name = member(r)
    if r.begins_otherwise:
        return f"for (long e = 0; e < {r.count}; e++) LANES g->{name}[e][l] = initial_{name}[e];"
    return f"memset(g->{name}, 0, sizeof g->{name});"


def _or(k: int, side: str, size: int, vector: str, rows: Sequence[str]) -> list[str]:
    """The line for a vector, where the inputs' numbers stand one behind the other; else those for rows."""
    return [
        f"if (lanes == W && slot[{k}].{side}_stride == {size}) {{",
        f"    {vector}",
        "} else {",
        *(f"    {x}" for x in rows),
        "}",
    ]


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
