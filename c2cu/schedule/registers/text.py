"""CUDA text of the schedule ``registers``: bring elements in, compute, bring elements out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ...base.ctype import CHAR, DOUBLE, SHORT, UCHAR, UINT, USHORT, Scalar
from ...codegen.cuda import CudaText, element_name, listed, literal, region_name, type_name
from ...codegen.division import OVER, inverse, is_slow
from ...codegen.precedence import NAME
from ...ir.nodes import Assign, Binary, Block, Const, Expr, Load, Region, Stmt, Store, Var, Variable
from ...ir.ranges import Ranges, fits, ranges_of_variables
from ...ir.walk import statements, used, variables
from ..artifact import UNASKED
from ..deferred import Run, run
from ..dividends import looks
from ..slots import Layout, Slot
from ..warp_pack import RowElement, RowPart, enter, fetch, leave, offsets, parts
from .carry_text import add_words
from .long_product import LongProductText, long_products
from .packed import WORD, element_at, packed, place
from .word_sum import WordSum, word_sum

CONSTANT = 1 << 15  # bytes of tables that may lie in constant memory
COPIED = 1 << 13  # bytes of tables that each block copies to its shared memory
ALIGNED = 16
DIVISOR = 16  # bytes of a constant that is divided by
WHOLE = "_all"  # with this a block's array has the name of a thread's
ORIGINAL = "_table"  # with this a table's name is that of what is copied


@dataclass(frozen=True)
class Placed:
    """A kernel in three parts: ``loads`` bring elements into variables, ``body`` computes, ``stores`` bring elements
    out. ``arrays``: regions in memory, ``far``: those of them in local memory, the others are in shared memory.
    ``leaving``: those regions that are outputs; ``shared_inputs``: arrays of which all inputs share one copy;
    ``tables``: constants, ``looked_up``: those of them of which data decides which element is loaded. ``stored``: the
    types that arrays have in memory. ``loop``: the number in ``body`` of the loop that most is done in of those that
    data ends."""

    body: Block
    loads: tuple[Assign, ...]
    stores: tuple[Store, ...]
    arrays: tuple[Region, ...]
    leaving: frozenset[Region]
    shared_inputs: tuple[Region, ...]
    tables: tuple[Region, ...]
    looked_up: frozenset[Region] = frozenset()
    stored: Mapping[Region, Scalar] = field(default_factory=dict)
    far: frozenset[Region] = frozenset()
    loop: int | None = None


class RegistersText(CudaText):
    """Prints a placed kernel for ``threads`` threads a block."""

    swept: frozenset[int] = frozenset()  # slots that schedule ``scan`` streams, which come in and go out in another way

    def __init__(self, placed: Placed, slots: tuple[Slot, ...], layout: Layout, threads: int):
        super().__init__()
        self.placed, self.slots, self.layout, self.threads = placed, slots, layout, threads
        self.outside = {name: list(offsets(leaf)) for name, (_, leaf) in layout.items()}
        self.stored = placed.stored
        self.near = [r for r in placed.arrays if r not in placed.far]
        self.packed = packed(self.near, lambda r: self.stored[r].size, (*placed.loads, *placed.body, *placed.stores))
        self.array_bytes = sum(self.size(r) for r in self.near) * threads
        self.tile_bytes = 0
        self.fetched: list[str] = []
        self.functions: dict[str, str] = {}  # that the body calls, by name
        self.products = 0
        self.runs, self.odd = 0, ""  # of divisions; what says that one had an odd operand
        self.looks: Mapping[int, Expr | None] = {}
        self.divides = False
        self.uids = count(1 + max((v.uid for v in variables((*placed.loads, *placed.body, *placed.stores))), default=0))
        self.divisors: dict[tuple[float, float], tuple[int, float]] = {}  # `inverse` -> its number, of what
        self.uses: Counter[Variable] = Counter()
        self.single = _single(placed.body)
        self.copied = list(_copied(placed))
        self.table_bytes = sum(map(_aligned, self.copied))

    @property
    def shared_bytes(self) -> int:
        """Of a block, once `values` were made, beside arrays of their own."""
        return self.dynamic + self.table_bytes + self.tile_bytes * self.threads // 32

    @property
    def dynamic(self) -> int:
        """Bytes of arrays in the block's shared memory that the launch asks for. Where that need not ask, they are
        arrays of their own: the compiler knows then that a store to one changes no other."""
        whole = self.array_bytes + self.table_bytes + self.tile_bytes * self.threads // 32
        return self.array_bytes if whole > UNASKED else 0

    def size(self, r: Region) -> int:
        """Bytes of a thread's array in shared memory."""
        size = self.stored[r].size * r.count
        return -(-size // WORD) * WORD if r in self.packed else size

    def parts(self, r: Region) -> int:
        """How many elements of a thread lie together."""
        return WORD // self.stored[r].size if r in self.packed else 1

    def values(self) -> dict[str, Any]:
        """The template's values."""
        placed = self.placed
        out = {k: list(self.going_out(k)) for k, s in enumerate(self.slots) if s.writes and k not in self.swept}
        holes = {k: self.holes(k, cells) for k, cells in out.items()}
        self.declare((*placed.loads, *placed.body, *placed.stores), self.single)
        self.declare_kept(holes)
        self.begin(holes)
        self.body()
        self.end(out, holes)
        return {**self.surroundings(), "fetched": self.fetched, "body": self.lines}

    def surroundings(self) -> dict[str, Any]:
        """The template's values for what stands around the kernel's body."""
        return {
            "functions": [text for _, text in sorted(self.functions.items())],
            "slots": self.slots,
            "tables": [*self.divisor_table(), *(self.table(r) for r in self.placed.tables)],
            "arrays": list(self.array_lines()),
            "copied": [line for r, at in self.copies() for line in self.copy(r, at)],
            "array_bytes": self.dynamic + self.table_bytes,
            "tile_bytes": self.tile_bytes,
        }

    def declare_kept(self, holes: Mapping[int, list[RowElement]]) -> None:
        for cells in holes.values():
            for c in cells:
                self.line(f"unsigned int {c.text} = 0;")

    def begin(self, holes: Mapping[int, list[RowElement]]) -> None:
        """Lines that bring everything in."""
        for k in range(len(self.slots)):
            self.enter(k, [*self.coming_in(k), *holes.get(k, ())])
        for s in self.placed.loads:
            if isinstance(s.value, Load) and s.value.region.storage == "shared":
                self.statement(s)

    def end(self, out: Mapping[int, list[RowElement]], holes: Mapping[int, list[RowElement]]) -> None:
        """Lines that bring everything out."""
        for k, cells in out.items():
            self.leave(k, cells, holes[k])

    def copy(self, r: Region, at: int) -> tuple[str, str]:
        """Lines that copy a table."""
        t, name = element_name(r.type), region_name(r)
        turns = f"int k = threadIdx.x; k < {r.count}; k += {self.threads}"
        return (
            f"{t} *const {name} = ({t} *)(c2cu_shared + {at});",
            f"for ({turns}) {name}[k] = {name}{ORIGINAL}[k];",
        )

    def copies(self) -> Iterator[tuple[Region, int]]:
        """Tables in shared memory, behind the arrays, and where they begin."""
        at = self.dynamic
        for r in self.copied:
            yield r, at
            at += _aligned(r)

    def block(self, block: Block) -> None:
        rows = {}
        for product in long_products(block, self.uses, self.single):
            printed = LongProductText(product, self.products, self, self.functions)
            self.products += 1
            rows |= {row.start: (printed, k) for k, row in enumerate(product.rows)}
        k = 0
        while k < len(block):
            if k in rows:
                printed, row = rows[k]
                for text in printed.row(row):
                    self.line(text)
                k = printed.product.rows[row].end
            elif (sum_ := word_sum(block, k, self.uses, self.single)) is not None:
                self.word_sum(sum_)
                k += sum_.length
            elif (divided := run(block, k, self.uids)) is not None:
                self.divisions(divided)
                k += divided.length
            else:
                k += self.together(block, k) or self.alone(block[k])

    def result(self, v: Variable) -> str:
        if v in self.single:
            self.line(f"{type_name(v.type)} {self.variable(v)};")
        return super().result(v)

    def word_sum(self, s: WordSum) -> None:
        results = [self.variable(v) for v in s.results]
        name, text = add_words(s.op, len(results))
        self.functions[name] = text
        operands = [self.expr(e) for e in (*s.left, *s.right)]
        self.line(f"unsigned int {', '.join(results)};")
        self.line(f"{type_name(s.carry.type)} {self.variable(s.carry)} = {name}({', '.join([*results, *operands])});")

    def body(self) -> None:
        self.uses = used((*self.placed.body, *self.placed.stores))
        self.block(self.placed.body)

    def statement(self, s: Stmt) -> None:
        if isinstance(s, Assign) and s.var in self.single:
            # not const: the compiler would try to evaluate each through all before it
            self.line(f"{type_name(s.var.type)} {self.variable(s.var)} = {self.text(s.value)};")
        else:
            super().statement(s)

    def divisions(self, r: Run) -> None:
        """Statements with divisions, by products; as C has it, if one of them had an odd operand."""
        self.runs += 1
        odd = f"c2cu_odd_{self.runs}"
        own = self.single | {new for new, _ in r.copies}
        for v in dict.fromkeys(s.var for s in r.statements if isinstance(s, Assign) and s.var in own):
            self.line(f"{type_name(v.type)} {self.variable(v)};")
        self.line(f"bool {odd} = false;")
        self.odd, self.looks = odd, looks(r.statements)
        self.again(r.statements)
        self.odd = ""
        self.line("/* An operand was too small or too large for c2cu_over to round as / does: once more, with /. */")
        self.open(f"if (__builtin_expect({odd}, 0))")
        self.again(r.statements)
        self.close()
        self.again([Assign(old, Var(new)) for new, old in r.copies])

    def again(self, block: Iterable[Assign | Store]) -> None:
        """Stores, and assignments to variables that are declared."""
        for s in block:
            super().statement(s)

    def binary(self, e: Binary) -> tuple[str, int]:
        if not self.odd or not is_slow(e):
            return super().binary(e)
        self.divides = True
        x = self.text(e.left)
        c = e.right
        if not isinstance(c, Const) or (sums := inverse(c.value)) is None:
            return f"c2cu_over({x}, {self.text(c)}, {self.odd})", NAME
        look = self.looks[id(e)]
        odd = "" if look is None else f", {self.odd}" if look == e.left else f", {self.text(look)}, {self.odd}"
        if len(self.divisors) < CONSTANT // DIVISOR:
            self.divisors.setdefault(sums, (len(self.divisors), float(c.value)))
        number, _ = self.divisors.get(sums, (None, 0.0))
        by = _reciprocal(sums) if number is None else f"c2cu_reciprocals[{number}]"
        return f"c2cu_over({x}, {by}{odd})", NAME

    def divisor_table(self) -> list[str]:
        """The constants that are divided by, where instructions take operands from."""
        entries = [f"    {_reciprocal(sums)}, /* 1 / {c!r} */" for sums, (_, c) in self.divisors.items()]
        constants = ["__constant__ c2cu_reciprocal c2cu_reciprocals[] = {", *entries, "};"] if entries else []
        return [OVER, "\n".join(constants)] if self.divides else []

    # regions

    def table(self, r: Region) -> str:
        size = sum(t.type.size * t.count for t in self.placed.tables if t not in self.placed.looked_up)
        size += DIVISOR * len(self.divisors)
        where = "__constant__" if size <= CONSTANT and r not in self.placed.looked_up else "__device__"
        values = "\n    ".join(listed(literal(v, r.type) for v in r.init or ()))
        name = f"{region_name(r)}{ORIGINAL if r in self.copied else ''}"
        return f"{where} const {element_name(r.type)} {name}[{r.count}] = {{\n    {values}}};"

    def array_lines(self) -> Iterator[str]:
        at = 0
        for r in self.placed.arrays:
            if r in self.placed.far:
                yield f"{element_name(self.stored[r])} {region_name(r)}[{r.count}];"
        for r in self.near:
            t, name, nbytes = element_name(self.stored[r]), region_name(r), self.size(r) * self.threads
            own = "threadIdx.x" if self.parts(r) == 1 else f"{self.parts(r)} * threadIdx.x"
            if self.dynamic:
                yield f"{t} *const {name} = ({t} *)(c2cu_shared + {at}) + {own};"
            else:
                yield f"__shared__ __align__(16) {t} {name}{WHOLE}[{nbytes // self.stored[r].size}];"
                yield f"{t} *const {name} = {name}{WHOLE} + {own};"
            at += nbytes
        for r in self.placed.shared_inputs:
            yield f"const char *const {region_name(r)} = (const char *)slot[{self.layout[r.name][0]}].in;"

    def element(self, r: Region, index: Expr) -> str:
        if r in self.placed.tables:
            return super().element(r, index)
        if r in self.placed.shared_inputs:
            return f"__ldg((const {element_name(r.type)} *)({region_name(r)} + {self.byte(r, index)}))"
        if r in self.placed.far:
            return f"{region_name(r)}[{self.text(index)}]"
        if r not in self.packed:
            return f"{region_name(r)}[{self.expr(index)} * {self.threads}]"
        return f"{region_name(r)}[{place(index, self.parts(r), self.threads, self.expr)}]"

    def load(self, e: Load) -> str:
        text = super().load(e)
        return f"(({type_name(e.type)}){text})" if self.stored.get(e.region, e.type) != e.type else text

    def byte(self, r: Region, index: Expr) -> str:
        """Where an element of a run-time array lies in its slot's bytes."""
        leaf = self.layout[r.name][1]
        if isinstance(index, Const):
            return str(self.outside[r.name][int(index.value)])
        x, inner, terms = self.expr(index), 1, []
        if self.outside[r.name] == [leaf.offset + k * r.type.size for k in range(r.count)]:
            return f"{leaf.offset} + {x} * {r.type.size}ll"
        for extent, stride in reversed(leaf.dims):
            terms.append(f"{x} / {inner} % {extent} * {stride}ll")
            inner *= extent
        return " + ".join([str(leaf.offset), *reversed(terms)])

    # in and out

    def cell(self, r: Region, index: int, text: str) -> RowElement:
        return RowElement(self.outside[r.name][index], r.type, text)

    def whole(self, r: Region) -> Iterator[RowElement]:
        """The elements of an array in memory."""
        for k in range(r.count):
            at = k if r in self.placed.far else element_at(k, self.parts(r), self.threads)
            yield self.cell(r, k, f"{region_name(r)}[{at}]")

    def coming_in(self, k: int) -> Iterator[RowElement]:
        for s in self.placed.loads:
            assert isinstance(s.value, Load) and isinstance(s.value.index, Const)
            r = s.value.region
            if r.storage == "bulk" and self.layout[r.name][0] == k:
                yield self.cell(r, int(s.value.index.value), self.variable(s.var))
        for r in self.placed.arrays:
            if r.storage == "bulk" and self.layout[r.name][0] == k:
                yield from self.whole(r)

    def going_out(self, k: int) -> Iterator[RowElement]:
        for s in self.placed.stores:
            assert isinstance(s.index, Const)
            if self.layout[s.region.name][0] == k:
                yield self.cell(s.region, int(s.index.value), self.expr(s.value))
        for r in self.placed.arrays:
            if r in self.placed.leaving and self.layout[r.name][0] == k:
                yield from self.whole(r)

    def holes(self, k: int, cells: list[RowElement]) -> list[RowElement]:
        """Words of an output that the kernel's variables do not cover: padding, fields that it does not touch."""
        covered = {c.offset + b for c in cells for b in range(c.type.size)}
        size = self.slots[k].nbytes
        t = UCHAR if size % 2 else USHORT if size % 4 else UINT
        holes = [at for at in range(0, size, t.size) if any(at + b not in covered for b in range(t.size))]
        return [RowElement(at, t, f"c2cu_kept_{k}_{at}") for at in holes]

    def enter(self, k: int, cells: list[RowElement]) -> None:
        """Lines that bring a slot in: its rows, or the initial values."""
        fetched = [p for p in parts(k, self.slots[k]) if any(p.covers(c.offset) for c in cells)]
        if not fetched:
            return
        required = self.slots[k].required
        if not required:
            self.open(f"if (slot[{k}].in)")
        for part in fetched:
            for text in self.bring_part(part, cells):
                self.line(text)
        if not required:
            self.otherwise(k)

    def otherwise(self, k: int) -> None:
        """Initial values, where a slot is not given; variables are 0 already."""
        lines = []
        for s in self.placed.loads:
            assert isinstance(s.value, Load) and isinstance(s.value.index, Const)
            r, index = s.value.region, int(s.value.index.value)
            if r.storage == "bulk" and self.layout[r.name][0] == k and r.init is not None:
                lines.append(f"{self.variable(s.var)} = {literal(r.init[index], r.type)};")
        for r in self.placed.arrays:
            if r.storage == "bulk" and self.layout[r.name][0] == k:
                values = zip(self.whole(r), r.init or [0] * r.count)
                lines += (f"{cell.text} = {literal(value, r.type)};" for cell, value in values)
        if lines:
            self.close("} else {")
            self.depth += 1
            for text in lines:
                self.line(text)
        self.close()

    def leave(self, k: int, cells: list[RowElement], holes: list[RowElement]) -> None:
        """Lines that bring a slot out, if the user asks for it."""
        covered = {c.offset + b for c in cells for b in range(c.type.size)}
        for c in holes:
            mask = sum(255 << 8 * b for b in range(c.type.size) if c.offset + b not in covered)
            cells = [*cells, RowElement(c.offset, c.type, f"({c.text} & {mask}u)")]
        self.open(f"if (slot[{k}].out)")
        for part in parts(k, self.slots[k]):
            for text in self.take_part(part, cells):
                self.line(text)
        self.close()

    def bring_part(self, part: RowPart, cells: list[RowElement]) -> list[str]:
        """Lines that give each thread its own elements of a part of a row."""
        self.tile_bytes = max(self.tile_bytes, part.tile)
        self.fetched += fetch(part, self.slots[part.slot])
        return enter(part, self.slots[part.slot], cells)

    def take_part(self, part: RowPart, cells: list[RowElement]) -> list[str]:
        """Lines that store a part of a row from each thread's own elements."""
        self.tile_bytes = max(self.tile_bytes, part.tile)
        return leave(part, self.slots[part.slot], cells)


def _aligned(r: Region) -> int:
    """Bytes of a table in shared memory."""
    return -(-r.type.size * r.count // ALIGNED) * ALIGNED


def _copied(placed: Placed) -> Iterator[Region]:
    """Tables that data looks up: the smallest, as many as there is room for."""
    room = COPIED
    for r in sorted(placed.looked_up, key=lambda r: (_aligned(r), r.name)):
        room -= _aligned(r)
        if room >= 0:
            yield r


def stored(r: Region, block: Block) -> Scalar:
    """The least type that holds every value which ``block`` stores to an array that nothing but it sees."""
    if r.storage != "local" or not r.type.is_integer or r.type.size == 1:
        return r.type
    values = [s.value for s in statements(block) if isinstance(s, Store) and s.region == r]
    ranges = Ranges(ranges_of_variables(block))
    smaller = (t for t in (UCHAR, CHAR, USHORT, SHORT) if t.size < r.type.size)
    return next((t for t in smaller if all(fits(ranges(v), t) for v in values)), r.type)


def _single(block: Block) -> frozenset[Variable]:
    """Variables that are assigned once, outside of loops and branches: declared there. Being webs, they are not read
    before."""
    count = Counter(s.var for s in statements(block) if isinstance(s, Assign))
    return frozenset(s.var for s in block if isinstance(s, Assign) and count[s.var] == 1)


def _reciprocal(sums: tuple[float, float]) -> str:
    return f"{{{', '.join(literal(x, DOUBLE) for x in sums)}}}"
